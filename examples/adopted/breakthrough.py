"""Breakthrough on six by six: pawns step forwards, capture diagonally, and who reaches the last row wins."""

from copy import deepcopy

SIZE = 6
EMPTY, WHITE, BLACK = 0, 1, 2


class Breakthrough:
    def __init__(self):
        self.board = []
        for row in range(SIZE):
            if row < 2:
                self.board.append([WHITE] * SIZE)
            elif row >= SIZE - 2:
                self.board.append([BLACK] * SIZE)
            else:
                self.board.append([EMPTY] * SIZE)
        self.pieces = [2 * SIZE, 2 * SIZE]
        self.to_move = 0
        self.winner = -1

    def num_players(self):
        return 2

    def current_player(self):
        if self.winner >= 0:
            return -4
        return self.to_move

    def is_terminal(self):
        return self.winner >= 0

    @staticmethod
    def encode(row, column, step):
        """A pawn's square, and -1, 0 or 1 columns to the side."""
        return (row * SIZE + column) * 3 + step + 1

    @staticmethod
    def decode(action):
        square, step = divmod(action, 3)
        row, column = divmod(square, SIZE)
        return row, column, step - 1

    def forward(self):
        return 1 if self.to_move == 0 else -1

    def legal_actions(self):
        actions = []
        mine = self.to_move + 1
        for row in range(SIZE):
            for column in range(SIZE):
                if self.board[row][column] != mine:
                    continue
                new_row = row + self.forward()
                for step in (-1, 0, 1):
                    new_column = column + step
                    if not 0 <= new_column < SIZE:
                        continue
                    target = self.board[new_row][new_column]
                    if target == EMPTY or (step != 0 and target != mine):
                        actions.append(self.encode(row, column, step))
        return actions

    def apply_action(self, action):
        row, column, step = self.decode(action)
        new_row, new_column = row + self.forward(), column + step
        if self.board[new_row][new_column] != EMPTY:
            self.pieces[1 - self.to_move] -= 1
        self.board[new_row][new_column] = self.board[row][column]
        self.board[row][column] = EMPTY
        if new_row in (0, SIZE - 1) or self.pieces[1 - self.to_move] == 0:
            self.winner = self.to_move
        self.to_move = 1 - self.to_move

    def returns(self):
        result = [0.0, 0.0]
        if self.winner >= 0:
            result[self.winner] = 1.0
            result[1 - self.winner] = -1.0
        return result

    def clone(self):
        return deepcopy(self)

    def action_to_string(self, action):
        row, column, step = self.decode(action)
        letters = "abcdef"
        return f"{letters[column]}{row + 1}-{letters[column + step]}{row + 1 + self.forward()}"

    def __str__(self):
        lines = []
        for row in range(SIZE - 1, -1, -1):
            lines.append(str(row + 1) + " " + "".join(".wb"[cell] for cell in self.board[row]))
        lines.append("  abcdef")
        lines.append("white to move" if self.to_move == 0 else "black to move")
        return "\n".join(lines)
