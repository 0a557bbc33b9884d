"""Pig: roll a die as often as you dare. A one loses what the turn has won; the first to reach 100 wins."""

import copy

CHANCE = -1
TERMINAL = -4


class Pig:
    TARGET = 100
    HORIZON = 1000  # actions after which nobody has won
    ROLL, HOLD = 0, 1

    def __init__(self):
        self.scores = [0, 0]
        self.turn_total = 0
        self.turn = 0
        self.rolling = False
        self.actions = 0

    def num_players(self):
        return 2

    def winner(self):
        for player, score in enumerate(self.scores):
            if score >= self.TARGET:
                return player
        return None

    def is_terminal(self):
        return self.winner() is not None or self.actions >= self.HORIZON

    def current_player(self):
        if self.is_terminal():
            return TERMINAL
        return CHANCE if self.rolling else self.turn

    def chance_outcomes(self):
        return [(face, 1 / 6) for face in range(1, 7)]

    def legal_actions(self):
        if self.rolling:
            return [face for face, _ in self.chance_outcomes()]
        return [self.ROLL, self.HOLD]

    def apply_action(self, action):
        self.actions += 1
        if self.rolling:
            self.rolling = False
            if action == 1:
                self.turn_total = 0
                self.turn = 1 - self.turn
            else:
                self.turn_total += action
        elif action == self.ROLL:
            self.rolling = True
        else:
            self.scores[self.turn] += self.turn_total
            self.turn_total = 0
            self.turn = 1 - self.turn

    def returns(self):
        winner = self.winner()
        if winner is None:
            return [0, 0]
        return [1 if player == winner else -1 for player in range(2)]

    def clone(self):
        return copy.deepcopy(self)

    def action_to_string(self, action):
        if self.rolling:
            return f"rolls {action}"
        return "roll" if action == self.ROLL else "hold"

    def __str__(self):
        die = ", the die rolls" if self.rolling else ""
        return f"{self.scores[0]}:{self.scores[1]}, player {self.turn} has {self.turn_total}{die} ({self.actions})"
