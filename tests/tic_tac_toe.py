"""Tic-tac-toe, the perfect-information cousin of Phantom: small enough to be known whole.

0 | 1 | 2
3 | 4 | 5        an action is a square; who first has three in a row wins
6 | 7 | 8
"""

import numpy as np

from icarus import Game
from icarus.kernel import TERMINAL, functions_of, helper

SQUARES, FULL = 9, (1 << 9) - 1
LINES = np.array([0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124])
STATE = np.dtype([("marks", np.int64, (2,)), ("player", np.int64)], align=True)


@helper
def has_line(marks):
    for line in LINES:
        if marks & line == line:
            return True
    return False


def initial(state, rng):
    state.player = 0


def player(state):
    over = (
        state.marks[0] | state.marks[1] == FULL
        or has_line(state.marks[0])
        or has_line(state.marks[1])
    )
    return TERMINAL if over else state.player


def legal(state, actions):
    count = 0
    for square in range(SQUARES):
        if (state.marks[0] | state.marks[1]) >> square & 1 == 0:
            actions[count] = square
            count += 1
    return count


def apply(state, action):
    state.marks[state.player] |= 1 << action
    state.player = 1 - state.player


def rewards(state, out):
    for who in range(2):
        out[who] = (
            1.0 if has_line(state.marks[who]) else 0.0 if has_line(state.marks[1 - who]) else 0.5
        )


def text(state):
    marks = "".join(
        "X" if state.marks[0] >> i & 1 else "O" if state.marks[1] >> i & 1 else "."
        for i in range(SQUARES)
    )
    return "\n".join(marks[row : row + 3] for row in (0, 3, 6))


TIC_TAC_TOE = Game(
    **functions_of(globals()),
    name="tic-tac-toe",
    players=2,
    max_legal=SQUARES,
    action_text=lambda state, action: str(int(action)),
)
