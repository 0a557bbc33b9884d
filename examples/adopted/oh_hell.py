"""Oh Hell, one deal for three players: bid how many of five tricks you will take; only an exact bid scores its bonus."""

import copy
import random


class OhHell:
    """Card 6 * suit + rank, of 24. The card turned up after the deal makes its suit trumps."""

    PLAYERS = 3
    CARDS = 5
    SUITS = 4
    RANKS = 6
    BID = 24  # + number of tricks
    BONUS = 10

    def __init__(self, rng=random):
        deck = list(range(self.SUITS * self.RANKS))
        rng.shuffle(deck)
        self.hands = [deck[p * self.CARDS : (p + 1) * self.CARDS] for p in range(self.PLAYERS)]
        self.turned = deck[self.PLAYERS * self.CARDS]
        self.bids = [-1] * self.PLAYERS
        self.tricks = [0] * self.PLAYERS
        self.table = [-1] * self.PLAYERS  # the card that each has played to this trick
        self.leader = 0
        self.player = 0
        self.seen = [False] * (self.SUITS * self.RANKS)  # played, or turned up
        self.seen[self.turned] = True
        self.void = [[False] * self.SUITS for _ in range(self.PLAYERS)]  # did not follow the suit

    def num_players(self):
        return self.PLAYERS

    def min_utility(self):
        return 0

    def max_utility(self):
        return self.BONUS + self.CARDS

    def is_terminal(self):
        return sum(self.tricks) == self.CARDS

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def bidding(self):
        return -1 in self.bids

    def legal_actions(self):
        if self.bidding():
            bids = list(range(self.CARDS + 1))
            if self.player == self.PLAYERS - 1:  # the last bid must not make all bids fit
                bids = [bid for bid in bids if self.bids[0] + self.bids[1] + bid != self.CARDS]
            return [self.BID + bid for bid in bids]
        hand = self.hands[self.player]
        if self.player != self.leader:
            suit = self.table[self.leader] // self.RANKS
            following = [card for card in hand if card // self.RANKS == suit]
            if following:
                return sorted(following)
        return sorted(hand)

    def apply_action(self, action):
        if action >= self.BID:
            self.bids[self.player] = action - self.BID
            self.player = (self.player + 1) % self.PLAYERS
            return
        if self.player != self.leader:
            suit = self.table[self.leader] // self.RANKS
            if action // self.RANKS != suit:
                self.void[self.player][suit] = True
        self.hands[self.player].remove(action)
        self.seen[action] = True
        self.table[self.player] = action
        self.player = (self.player + 1) % self.PLAYERS
        if self.player == self.leader:
            self.end_trick()

    def strength(self, card):
        suit = card // self.RANKS
        if suit == self.turned // self.RANKS:
            return 100 + card
        if suit == self.table[self.leader] // self.RANKS:
            return card
        return -1

    def end_trick(self):
        winner = max(range(self.PLAYERS), key=lambda p: self.strength(self.table[p]))
        self.tricks[winner] += 1
        self.table = [-1] * self.PLAYERS
        self.leader = winner
        self.player = winner

    def returns(self):
        if not self.is_terminal():
            return [0.0] * self.PLAYERS
        scores = []
        for bid, tricks in zip(self.bids, self.tricks, strict=True):
            scores.append(float(tricks + self.BONUS if bid == tricks else tricks))
        return scores

    def resample(self, player, rng):
        """Deal the unseen cards until nobody holds a suit that he could not follow."""
        unseen = [c for c in range(self.SUITS * self.RANKS) if not self.seen[c] and c not in self.hands[player]]
        state = copy.deepcopy(self)
        fits = False
        while not fits:
            rng.shuffle(unseen)
            fits = True
            start = 0
            for p in range(self.PLAYERS):
                if p == player:
                    continue
                end = start + len(self.hands[p])
                state.hands[p] = unseen[start:end]
                start = end
                if any(self.void[p][card // self.RANKS] for card in state.hands[p]):
                    fits = False
        return state

    def observation(self, player):
        sizes = tuple(len(hand) for hand in self.hands)
        public = (self.turned, tuple(self.bids), tuple(self.tricks), tuple(self.table), self.leader, self.player)
        return (
            tuple(sorted(self.hands[player])),
            sizes,
            public,
            tuple(self.seen),
            tuple(tuple(suits) for suits in self.void),
        )

    def clone(self):
        return copy.deepcopy(self)

    def action_to_string(self, action):
        if action >= self.BID:
            return f"bid {action - self.BID}"
        return "9TJQKA"[action % self.RANKS] + "cdhs"[action // self.RANKS]

    def __str__(self):
        lines = []
        for p in range(self.PLAYERS):
            hand = " ".join(self.action_to_string(card) for card in sorted(self.hands[p]))
            void = "".join("cdhs"[suit] for suit in range(self.SUITS) if self.void[p][suit])
            lines.append(f"{p}: {hand}; bid {self.bids[p]}, {self.tricks[p]} tricks, void {void}")
        gone = " ".join(self.action_to_string(card) for card in range(24) if self.seen[card])
        lines.append(f"turned {self.action_to_string(self.turned)}, seen {gone}")
        lines.append(f"table {self.table}, leader {self.leader}, player {self.player}")
        return "\n".join(lines)
