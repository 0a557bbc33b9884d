"""Twenty-one with eleven cards: one card face down and more face up; who comes nearer to 21 takes one of three lives.

There is one card of each value from 1 to 11. Each player looks at the own card that lies face down, and at no other.
"""

import copy

CHANCE = -1
TERMINAL = -4


class TwentyOne:
    CARDS = 11
    LIVES = 3
    GOAL = 21
    HIT, STAY = 0, 1

    def __init__(self):
        self.lives = [self.LIVES, self.LIVES]
        self.starter = 0
        self.start_round()

    def start_round(self):
        self.hidden = [0, 0]  # 0 before the deal
        self.face_up = [[False] * (self.CARDS + 1) for _ in range(2)]
        self.player = self.starter
        self.drawing = -1  # who is to get a card face up
        self.stayed = False  # the last action was to stay

    def num_players(self):
        return 2

    def is_terminal(self):
        return 0 in self.lives

    def current_player(self):
        if self.is_terminal():
            return TERMINAL
        if 0 in self.hidden or self.drawing >= 0:
            return CHANCE
        return self.player

    def in_deck(self):
        """The cards that nobody has."""
        cards = []
        for card in range(1, self.CARDS + 1):
            if card not in self.hidden and not self.face_up[0][card] and not self.face_up[1][card]:
                cards.append(card)
        return cards

    def chance_outcomes(self):
        cards = self.in_deck()
        return [(card, 1.0 / len(cards)) for card in cards]

    def legal_actions(self):
        if self.current_player() == CHANCE:
            return self.in_deck()
        if len(self.in_deck()) == 0:
            return [self.STAY]
        return [self.HIT, self.STAY]

    def apply_action(self, action):
        if self.current_player() == CHANCE:
            self.give(action)
        elif action == self.HIT:
            self.stayed = False
            self.drawing = self.player
        elif self.stayed:
            self.end_round()
        else:
            self.stayed = True
            self.player = 1 - self.player

    def give(self, card):
        if self.hidden[0] == 0:
            self.hidden[0] = card
        elif self.hidden[1] == 0:
            self.hidden[1] = card
        else:
            self.face_up[self.drawing][card] = True
            self.drawing = -1
            self.player = 1 - self.player

    def total(self, player):
        return self.hidden[player] + sum(card for card in range(1, self.CARDS + 1) if self.face_up[player][card])

    def end_round(self):
        """The nearest to 21 from below wins; if both are above, the nearest from above."""
        totals = [self.total(0), self.total(1)]
        bust = [total > self.GOAL for total in totals]
        distance = [abs(self.GOAL - total) for total in totals]
        if bust[0] != bust[1]:
            self.lives[0 if bust[0] else 1] -= 1
        elif distance[0] != distance[1]:
            self.lives[0 if distance[0] > distance[1] else 1] -= 1
        self.starter = 1 - self.starter
        self.start_round()

    def returns(self):
        if self.lives[0] == self.lives[1] or not self.is_terminal():
            return [0.0, 0.0]
        return [1.0, -1.0] if self.lives[1] == 0 else [-1.0, 1.0]

    def resample(self, player, rng):
        """Another state that the player cannot tell from this one: the opponent's hidden card is drawn again."""
        other = copy.deepcopy(self)
        opponent = 1 - player
        if self.hidden[opponent] > 0:
            cards = []
            for card in range(1, self.CARDS + 1):
                if card != self.hidden[player] and not self.face_up[0][card] and not self.face_up[1][card]:
                    cards.append(card)
            other.hidden[opponent] = rng.choice(cards)
        return other

    def observation(self, player):
        up = tuple(tuple(card for card in range(1, self.CARDS + 1) if cards[card]) for cards in self.face_up)
        dealt = self.hidden[1 - player] > 0
        turn = (self.player, self.drawing, self.stayed, self.starter)
        return self.hidden[player], dealt, up, tuple(self.lives), turn

    def clone(self):
        return copy.deepcopy(self)

    def action_to_string(self, action):
        if self.current_player() == CHANCE:
            return f"card {action}"
        return "hit" if action == self.HIT else "stay"

    def __str__(self):
        parts = [f"lives {self.lives[0]} {self.lives[1]}, first {self.starter}"]
        for player in range(2):
            up = " ".join(str(card) for card in range(1, self.CARDS + 1) if self.face_up[player][card])
            parts.append(f"player {player}: ({self.hidden[player]}) {up}")
        parts.append(f"player {self.player} to act, draws {self.drawing}, stayed {self.stayed}")
        return "\n".join(parts)
