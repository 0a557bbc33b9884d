"""Connect Four: two players drop discs into seven columns, and four in a line win."""

import copy


class ConnectFour:
    ROWS = 6
    COLUMNS = 7
    EMPTY = -1

    def __init__(self):
        self.board = [[self.EMPTY] * self.COLUMNS for _ in range(self.ROWS)]  # row 0 is at the bottom
        self.player = 0
        self.discs = 0
        self.winner = self.EMPTY

    def num_players(self):
        return 2

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def is_terminal(self):
        return self.winner != self.EMPTY or self.discs == self.ROWS * self.COLUMNS

    def legal_actions(self):
        return [column for column in range(self.COLUMNS) if self.board[self.ROWS - 1][column] == self.EMPTY]

    def apply_action(self, action):
        row = 0
        while self.board[row][action] != self.EMPTY:
            row += 1
        self.board[row][action] = self.player
        self.discs += 1
        if self.wins(row, action):
            self.winner = self.player
        self.player = 1 - self.player

    def wins(self, row, column):
        """Does the disc that was just dropped complete a line of four?"""
        for step_row, step_column in ((0, 1), (1, 0), (1, 1), (1, -1)):
            length = 1
            length += self.count(row, column, step_row, step_column)
            length += self.count(row, column, -step_row, -step_column)
            if length >= 4:
                return True
        return False

    def count(self, row, column, step_row, step_column):
        """How many discs of the player follow in one direction."""
        found = 0
        row += step_row
        column += step_column
        while 0 <= row < self.ROWS and 0 <= column < self.COLUMNS and self.board[row][column] == self.player:
            found += 1
            row += step_row
            column += step_column
        return found

    def returns(self):
        if self.winner == self.EMPTY:
            return [0.0, 0.0]
        return [1.0, -1.0] if self.winner == 0 else [-1.0, 1.0]

    def clone(self):
        return copy.deepcopy(self)

    def action_to_string(self, action):
        return f"column {action + 1}"

    def __str__(self):
        rows = ["".join(".XO"[cell + 1] for cell in row) for row in reversed(self.board)]
        return "\n".join(rows) + f"\n{'XO'[self.player]} to move"
