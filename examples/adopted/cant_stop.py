"""Can't Stop for two: pair four dice, climb columns with three runners, and stop before a roll fits nowhere."""

import copy

CHANCE, TERMINAL = -1, -4


class CantStop:
    PLAYERS = 2
    COLUMNS_TO_WIN = 3
    LENGTH = [0, 0, 3, 5, 7, 9, 11, 13, 11, 9, 7, 5, 3]  # of columns 2 to 12
    RUNNERS = 3
    MAX_TURNS = 200
    GO_ON, STOP = 0, 1
    DICE, PAIRING, DECISION = 0, 1, 2

    def __init__(self):
        self.reached = [[0] * 13 for _ in range(self.PLAYERS)]  # the square of each column, by player
        self.runners = [0] * 13  # squares climbed in this turn
        self.dice = [0, 0, 0, 0]
        self.rolled = 0
        self.phase = self.DICE
        self.player = 0
        self.turns = 0

    def num_players(self):
        return self.PLAYERS

    def columns_won(self, player):
        return sum(1 for c in range(2, 13) if self.reached[player][c] == self.LENGTH[c])

    def is_terminal(self):
        if self.turns >= self.MAX_TURNS:
            return True
        return any(self.columns_won(p) >= self.COLUMNS_TO_WIN for p in range(self.PLAYERS))

    def current_player(self):
        if self.is_terminal():
            return TERMINAL
        return CHANCE if self.phase == self.DICE else self.player

    def chance_outcomes(self):
        return [(face, 1.0 / 6.0) for face in range(1, 7)]

    def is_open(self, column):
        """Nobody has won the column, and this turn has not reached its top."""
        if any(self.reached[p][column] == self.LENGTH[column] for p in range(self.PLAYERS)):
            return False
        return self.reached[self.player][column] + self.runners[column] < self.LENGTH[column]

    def free_runners(self):
        return self.RUNNERS - len([c for c in range(2, 13) if self.runners[c] > 0])

    def can_climb(self, column):
        return self.is_open(column) and (self.runners[column] > 0 or self.free_runners() > 0)

    def can_climb_both(self, first, second):
        if not self.can_climb(first) or not self.can_climb(second):
            return False
        if first == second:
            here = self.reached[self.player][first] + self.runners[first]
            return here + 2 <= self.LENGTH[first]
        needed = (self.runners[first] == 0) + (self.runners[second] == 0)
        return needed <= self.free_runners()

    def pairings(self):
        """Actions 13 * first + second, or 13 * first where one sum alone can climb."""
        a, b, c, d = self.dice
        actions = []
        for first, second in ((a + b, c + d), (a + c, b + d), (a + d, b + c)):
            low, high = min(first, second), max(first, second)
            if self.can_climb_both(low, high):
                options = [13 * low + high]
            else:
                options = [13 * column for column in (low, high) if self.can_climb(column)]
            for action in options:
                if action not in actions:
                    actions.append(action)
        return actions

    def legal_actions(self):
        if self.phase == self.DICE:
            return list(range(1, 7))
        if self.phase == self.PAIRING:
            return self.pairings()
        return [self.GO_ON, self.STOP]

    def apply_action(self, action):
        if self.phase == self.DICE:
            self.dice[self.rolled] = action
            self.rolled += 1
            if self.rolled == 4:
                if self.pairings():
                    self.phase = self.PAIRING
                else:
                    self.end_turn()
        elif self.phase == self.PAIRING:
            first, second = action // 13, action % 13
            self.runners[first] += 1
            if second > 0:
                self.runners[second] += 1
            self.phase = self.DECISION
        elif action == self.STOP:
            for column in range(2, 13):
                self.reached[self.player][column] += self.runners[column]
            self.end_turn()
        else:
            self.pick_up_dice()

    def pick_up_dice(self):
        self.dice = [0, 0, 0, 0]
        self.rolled = 0
        self.phase = self.DICE

    def end_turn(self):
        self.pick_up_dice()
        self.runners = [0] * 13
        self.player = (self.player + 1) % self.PLAYERS
        self.turns += 1

    def returns(self):
        won = [self.columns_won(p) for p in range(self.PLAYERS)]
        if won[0] == won[1]:
            return [0.0, 0.0]
        return [1.0, -1.0] if won[0] > won[1] else [-1.0, 1.0]

    def clone(self):
        return copy.deepcopy(self)

    def action_to_string(self, action):
        if self.phase == self.DICE:
            return f"die {action}"
        if self.phase == self.DECISION:
            return "stop" if action == self.STOP else "go on"
        return f"climb {action // 13}" + (f" and {action % 13}" if action % 13 else "")

    def __str__(self):
        lines = [f"{c:2}: {self.reached[0][c]:2} {self.reached[1][c]:2} +{self.runners[c]}" for c in range(2, 13)]
        lines.append(f"dice {self.dice[: self.rolled]}, phase {self.phase}, player {self.player}, turn {self.turns}")
        return "\n".join(lines)
