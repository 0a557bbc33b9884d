"""Dark Hex on three rows of three: each player connects his two sides, and neither sees the other's marks.

Who tries a square that the other has taken is told so and tries another. It is solved without a tree:

    icarus exploitability dark-hex --with examples/dark_hex.py

    a b c        player 0 connects the first row with the last, player 1 the first column with the last;
     d e f       e touches b, c, d, f, g and h
      g h i
"""

import numpy as np

from icarus import Game
from icarus.kernel import TERMINAL, UNSEEN, append_bits

MARK = 9  # what is seen of the other's mark
BOARD, LEFT, RIGHT = 0b111111111, 0b011011011, 0b110110110  # all squares; all but the last column, and but the first
SIDES = np.array([[0b000000111, 0b111000000], [0b001001001, 0b100100100]])  # that each player connects

STATE = np.dtype(
    [
        ("marks", np.int64, (2,)),  # a bit per square for each player
        ("open", np.int64, (2,)),  # the squares that a player may try
        ("player", np.int8),  # about to try
        ("won", np.int8),  # by the other
    ],
    align=True,
)


def initial(state, rng):
    state.open[0], state.open[1] = BOARD, BOARD


def player(state):
    return TERMINAL if state.won else state.player


def legal(state, actions):
    return append_bits(actions, 0, 0, state.open[state.player])


def apply(state, action):
    mover, square = state.player, 1 << action
    state.open[mover] &= ~square
    if state.marks[1 - mover] & square:
        return
    state.marks[mover] |= square
    reached = state.marks[mover] & SIDES[mover, 0]
    for _ in range(9):
        near = reached << 3 | reached >> 3 | (reached & LEFT) << 1 | (reached & RIGHT) >> 1
        reached = (reached | near | (reached & RIGHT) << 2 | (reached & LEFT) >> 2) & state.marks[mover]
    state.won = reached & SIDES[mover, 1] != 0
    state.player = 1 - mover


def observe(state, action, moves):
    moves[1 - state.player] = UNSEEN if state.marks[1 - state.player] >> action & 1 else MARK


def rewards(state, out):
    out[state.player], out[1 - state.player] = 0.0, 1.0


def text(state):
    marks = ["."] * 9
    for square in range(9):
        for k in range(2):
            if state.marks[k] >> square & 1:
                marks[square] = "XO"[k]
    return "\n".join(" " * row + " ".join(marks[3 * row : 3 * row + 3]) for row in range(3))


def action_text(state, action):
    return "abcdefghi"[action]


DARK_HEX = Game(
    name="dark-hex",
    players=2,
    state=STATE,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    rewards=rewards,
    observe=observe,
    text=text,
    action_text=action_text,
    max_legal=9,
)
