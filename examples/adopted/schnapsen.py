"""Schnapsen without closing the stock: twenty cards, marriages, and the first with 66 points wins.

Card 5 * suit + rank; the ranks are jack, queen, king, ten, ace. The deal comes from the generator of random numbers.
"""

import copy
import random


class Schnapsen:
    POINTS = [2, 3, 4, 10, 11]
    RANKS = "JQKTA"
    SUITS = "cdhs"
    MARRIAGE = 20  # + card: the queen or king is led, and its partner shown
    EXCHANGE = 40  # the jack of trumps against the trump that lies open

    def __init__(self, rng=random):
        deck = list(range(20))
        rng.shuffle(deck)
        self.hands = [deck[:5], deck[5:10]]
        self.stock = deck[10:]  # the card at its bottom, stock[0], lies open
        self.trump = self.stock[0] // 5
        self.table = -1  # the card that was led
        self.player = 0
        self.points = [0, 0]
        self.pending = [0, 0]  # points of marriages that count after the first trick
        self.tricks = [0, 0]
        self.played = [False] * 20
        self.shown = [False] * 20  # cards in a hand that both players know
        self.winner = -1

    def num_players(self):
        return 2

    def min_utility(self):
        return -3

    def max_utility(self):
        return 3

    def is_terminal(self):
        return self.winner >= 0

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def partner(self, card):
        """The king of a queen, the queen of a king, else -1."""
        return card + 1 if card % 5 == 1 else card - 1 if card % 5 == 2 else -1

    def beats(self, answer, lead):
        if answer // 5 == lead // 5:
            return answer > lead
        return answer // 5 == self.trump

    def legal_actions(self):
        hand = self.hands[self.player]
        if self.table >= 0:
            return self.answers(hand)
        actions = sorted(hand)
        for card in sorted(hand):
            if self.partner(card) in hand:
                actions.append(self.MARRIAGE + card)
        if self.stock and 5 * self.trump in hand:
            actions.append(self.EXCHANGE)
        return actions

    def answers(self, hand):
        """Anything while there is a stock; then one must follow suit and win if one can, or else trump."""
        if self.stock:
            return sorted(hand)
        suit = self.table // 5
        following = [card for card in hand if card // 5 == suit]
        winning = [card for card in following if card > self.table]
        trumps = [card for card in hand if card // 5 == self.trump]
        for choice in (winning, following, trumps):
            if choice:
                return sorted(choice)
        return sorted(hand)

    def apply_action(self, action):
        if action == self.EXCHANGE:
            self.exchange()
            return
        card = action % 20
        if action >= self.MARRIAGE:
            self.pending[self.player] += 40 if card // 5 == self.trump else 20
            self.shown[self.partner(card)] = True
        self.hands[self.player].remove(card)
        self.played[card] = True
        self.shown[card] = False
        if self.table < 0:
            self.table = card
            self.count_marriages(self.player)
            if self.winner < 0:
                self.player = 1 - self.player
        else:
            self.end_trick(card)

    def exchange(self):
        jack = 5 * self.trump
        hand = self.hands[self.player]
        hand[hand.index(jack)] = self.stock[0]
        self.shown[self.stock[0]] = True
        self.shown[jack] = False
        self.stock[0] = jack

    def count_marriages(self, player):
        if self.tricks[player] > 0:
            self.points[player] += self.pending[player]
            self.pending[player] = 0
        if self.points[player] >= 66:
            self.winner = player

    def end_trick(self, card):
        taker = self.player if self.beats(card, self.table) else 1 - self.player
        self.tricks[taker] += 1
        self.points[taker] += self.POINTS[card % 5] + self.POINTS[self.table % 5]
        self.table = -1
        self.player = taker
        self.count_marriages(taker)
        if self.winner < 0 and self.stock:
            self.hands[taker].append(self.stock.pop())
            last = self.stock.pop()
            if not self.stock:
                self.shown[last] = True
            self.hands[1 - taker].append(last)
        elif self.winner < 0 and not self.hands[taker]:
            self.winner = taker  # nobody has 66: the last trick decides

    def returns(self):
        if self.winner < 0:
            return [0, 0]
        loser = 1 - self.winner
        won = 3 if self.tricks[loser] == 0 else 2 if self.points[loser] < 33 else 1
        return [won, -won] if self.winner == 0 else [-won, won]

    def resample(self, player, rng):
        """Deal all cards again that the player has not seen."""
        state = copy.deepcopy(self)
        opponent = 1 - player
        open_card = self.stock[:1]
        kept = [card for card in sorted(self.hands[opponent]) if self.shown[card]]
        unseen = [
            card
            for card in range(20)
            if card not in self.hands[player] and not self.played[card] and card not in open_card and card not in kept
        ]
        rng.shuffle(unseen)
        count = len(self.hands[opponent]) - len(kept)
        state.hands[opponent] = kept + unseen[:count]
        state.stock = open_card + unseen[count:]
        return state

    def observation(self, player):
        """What the player knows now. Cards played earlier are known, and their order from the history."""
        theirs = tuple(sorted(card for card in self.hands[1 - player] if self.shown[card]))
        own = tuple((card, self.shown[card]) for card in sorted(self.hands[player]))
        public = (self.table, self.trump, tuple(self.stock[:1]), len(self.stock), tuple(self.played), self.player)
        return own, theirs, public, tuple(self.points), tuple(self.pending), tuple(self.tricks), self.winner

    def clone(self):
        return copy.deepcopy(self)

    def name(self, card):
        return self.RANKS[card % 5] + self.SUITS[card // 5]

    def action_to_string(self, action):
        if action == self.EXCHANGE:
            return "exchange the jack"
        return self.name(action % 20) + (" with marriage" if action >= self.MARRIAGE else "")

    def __str__(self):
        lines = []
        for player in range(2):
            cards = " ".join(self.name(c) + ("*" if self.shown[c] else "") for c in sorted(self.hands[player]))
            lines.append(
                f"{cards}; {self.points[player]} + {self.pending[player]} points, {self.tricks[player]} tricks"
            )
        lines.append("stock: " + " ".join(self.name(card) for card in self.stock))
        lines.append(f"trump {self.SUITS[self.trump]}, table {self.table}, player {self.player} to act")
        return "\n".join(lines)
