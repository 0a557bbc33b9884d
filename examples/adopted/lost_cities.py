"""Lost Cities with three small expeditions: cards in rising order, handshakes that multiply, and piles to take back from.

Nine cards of each colour: two handshakes, then 2 to 8. A card is 9 * colour + rank; ranks 0 and 1 are the handshakes.
"""

import random
from copy import deepcopy

COLOURS = 3
RANKS = 9
CARDS = COLOURS * RANKS
HAND = 5
COST = 15
MAX_TURNS = 60

DISCARD = CARDS  # + card
DRAW = 2 * CARDS  # from the deck
TAKE = DRAW + 1  # + colour: from the pile of discarded cards


class LostCities:
    def __init__(self, rng=random):
        cards = list(range(CARDS))
        rng.shuffle(cards)
        self.hands = [cards[:HAND], cards[HAND : 2 * HAND]]
        self.deck = cards[2 * HAND :]
        self.piles = [[] for _ in range(COLOURS)]
        self.laid = [[False] * CARDS for _ in range(2)]
        self.last = [[-1] * COLOURS for _ in range(2)]  # the rank laid last on each expedition
        self.taken = [False] * CARDS  # from a pile into a hand, where both know it
        self.just_discarded = -1  # the colour that must not be taken back at once
        self.drawing = False
        self.player = 0
        self.turns = 0

    def num_players(self):
        return 2

    def is_terminal(self):
        return len(self.deck) == 0 or self.turns == MAX_TURNS

    def current_player(self):
        if self.is_terminal():
            return -4
        return self.player

    def can_play(self, card):
        """Handshakes come first, and then every card must be higher than the last one."""
        last = self.last[self.player][card // RANKS]
        return last < 2 or last < card % RANKS

    def legal_actions(self):
        actions = []
        if self.drawing:
            actions.append(DRAW)
            for colour in range(COLOURS):
                if self.piles[colour] and colour != self.just_discarded:
                    actions.append(TAKE + colour)
        else:
            for card in sorted(self.hands[self.player]):
                if self.can_play(card):
                    actions.append(card)
                actions.append(DISCARD + card)
        return actions

    def apply_action(self, action):
        hand = self.hands[self.player]
        if action < DRAW:
            card = action % CARDS
            colour = card // RANKS
            hand.remove(card)
            self.taken[card] = False
            if action < DISCARD:
                self.laid[self.player][card] = True
                self.last[self.player][colour] = card % RANKS
                self.just_discarded = -1
            else:
                self.piles[colour].append(card)
                self.just_discarded = colour
            self.drawing = True
        else:
            if action == DRAW:
                hand.append(self.deck.pop())
            else:
                card = self.piles[action - TAKE].pop()
                self.taken[card] = True
                hand.append(card)
            self.just_discarded = -1
            self.drawing = False
            self.player = 1 - self.player
            self.turns += 1

    def score(self, player):
        total = 0
        for colour in range(COLOURS):
            ranks = [rank for rank in range(RANKS) if self.laid[player][colour * RANKS + rank]]
            if not ranks:
                continue
            handshakes = sum(1 for rank in ranks if rank < 2)
            total += (sum(rank for rank in ranks if rank >= 2) - COST) * (1 + handshakes)
            if len(ranks) >= 8:
                total += 20
        return total

    def returns(self):
        if not self.is_terminal():
            return [0, 0]
        first, second = self.score(0), self.score(1)
        if first == second:
            return [0, 0]
        return [1, -1] if first > second else [-1, 1]

    def resample(self, player, rng):
        """Shuffle the deck with the opponent's cards, without those taken from a pile."""
        opponent = 1 - player
        known = sorted(card for card in self.hands[opponent] if self.taken[card])
        unknown = sorted(self.deck + [card for card in self.hands[opponent] if not self.taken[card]])
        rng.shuffle(unknown)
        missing = len(self.hands[opponent]) - len(known)
        state = deepcopy(self)
        state.hands[opponent] = known + unknown[:missing]
        state.deck = unknown[missing:]
        return state

    def observation(self, player):
        theirs = self.hands[1 - player]
        known = tuple(sorted(card for card in theirs if self.taken[card]))
        own = tuple((card, self.taken[card]) for card in sorted(self.hands[player]))
        piles = tuple(tuple(pile) for pile in self.piles)
        laid = tuple(tuple(side) for side in self.laid)
        turn = (self.player, self.drawing, self.just_discarded, self.turns)
        return own, known, len(theirs), len(self.deck), piles, laid, turn

    def clone(self):
        return deepcopy(self)

    def action_to_string(self, action):
        if action == DRAW:
            return "draw"
        if action >= TAKE:
            return "take " + "RGB"[action - TAKE]
        return ("discard " if action >= DISCARD else "play ") + self.name(action % CARDS)

    def name(self, card):
        return "RGB"[card // RANKS] + (str(card % RANKS) if card % RANKS >= 2 else "hH"[card % RANKS])

    def __str__(self):
        lines = []
        for player in range(2):
            hand = [self.name(card) + ("*" if self.taken[card] else "") for card in sorted(self.hands[player])]
            laid = " ".join(self.name(card) for card in range(CARDS) if self.laid[player][card])
            lines.append(f"player {player}: {' '.join(hand)}; laid {laid}")
        lines.append("piles " + " | ".join(" ".join(self.name(card) for card in pile) for pile in self.piles))
        lines.append("deck " + " ".join(self.name(card) for card in self.deck))
        lines.append(f"player {self.player}, drawing {self.drawing}, not {self.just_discarded}, turn {self.turns}")
        return "\n".join(lines)
