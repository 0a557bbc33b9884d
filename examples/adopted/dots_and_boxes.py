"""Dots and Boxes, three by three: draw lines between dots; who closes a box owns it and goes on."""

import copy


class DotsAndBoxes:
    SIZE = 3

    def __init__(self):
        n = self.SIZE
        self.horizontal = [[False] * n for _ in range(n + 1)]  # the line above box (row, column)
        self.vertical = [[False] * (n + 1) for _ in range(n)]  # the line left of box (row, column)
        self.owner = [[-1] * n for _ in range(n)]
        self.score = [0, 0]
        self.player = 0

    def num_players(self):
        return 2

    def min_utility(self):
        return -self.SIZE * self.SIZE

    def max_utility(self):
        return self.SIZE * self.SIZE

    def is_terminal(self):
        return sum(self.score) == self.SIZE * self.SIZE

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def legal_actions(self):
        n = self.SIZE
        actions = []
        for row in range(n + 1):
            for column in range(n):
                if not self.horizontal[row][column]:
                    actions.append(row * n + column)
        for row in range(n):
            for column in range(n + 1):
                if not self.vertical[row][column]:
                    actions.append(n * (n + 1) + row * (n + 1) + column)
        return actions

    def apply_action(self, action):
        n = self.SIZE
        if action < n * (n + 1):
            row, column = action // n, action % n
            self.horizontal[row][column] = True
            closed = self.close(row, column) + self.close(row - 1, column)
        else:
            row, column = divmod(action - n * (n + 1), n + 1)
            self.vertical[row][column] = True
            closed = self.close(row, column) + self.close(row, column - 1)
        self.score[self.player] += closed
        if closed == 0:
            self.player = (self.player + 1) % 2

    def close(self, row, column):
        """Give the box to the player if all its four lines are drawn; how many boxes that were."""
        if row < 0 or row >= self.SIZE or column < 0 or column >= self.SIZE:
            return 0
        lines = (
            self.horizontal[row][column],
            self.horizontal[row + 1][column],
            self.vertical[row][column],
            self.vertical[row][column + 1],
        )
        if all(lines):
            self.owner[row][column] = self.player
            return 1
        return 0

    def returns(self):
        """The difference of the boxes."""
        margin = self.score[0] - self.score[1]
        return [margin, -margin]

    def clone(self):
        return copy.deepcopy(self)

    def __str__(self):
        text = ""
        for row in range(self.SIZE + 1):
            text += "+" + "+".join("-" if line else " " for line in self.horizontal[row]) + "+\n"
            if row < self.SIZE:
                for column in range(self.SIZE + 1):
                    text += "|" if self.vertical[row][column] else " "
                    if column < self.SIZE:
                        text += " AB"[self.owner[row][column] + 1]
                text += "\n"
        return text + f"player {self.player}, {self.score[0]}:{self.score[1]}"
