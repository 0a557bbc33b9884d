"""Othello: 8×8, black moves first, a player without a move passes, two passes end the game, more discs win.

    a b c d e f g h
  1 . . . . . . . .
  2 . . . . . . . .
  3 . . . * . . . .        * Black's legal moves, d3 c4 f5 e6
  4 . . * O X . . .        X Black (player 0), O White (player 1)
  5 . . . X O * . .
  6 . . . . * . . .
  7 . . . . . . . .
  8 . . . . . . . .

Perfect information. An action is the square, 0 (a1) … 63 (h8) by rows, or PASS.
"""

import numpy as np

from icarus.games.othello_board import flips, moves
from icarus.games.othello_evaluation import heuristic
from icarus.kernel import CONTINUES, TERMINAL, Facts, append_bits, popcount
from icarus.kernel.game import Game, Tensor

SIZE = 8
PASS = SIZE * SIZE
NOWHERE = PASS + 1  # the last square before anything was played
EDGE = np.uint64(0xFF818181818181FF)
START = ((1 << 28) | (1 << 35), (1 << 27) | (1 << 36))

CORNERS = (0, 7, 56, 63)
X_SQUARES = (9, 14, 49, 54)  # diagonally next to each of these
CORNER_SQUARES = np.uint64(sum(1 << square for square in CORNERS))

STATE = np.dtype(
    [
        ("discs", np.uint64, (2,)),  # a bit per square for each player
        ("player", np.int8),  # about to act
        ("passes", np.int8),  # in a row; two end the game
        ("last", np.int8),  # the previous action: a square, PASS or NOWHERE
    ],
    align=True,
)


def initial(state: Facts, rng: np.ndarray) -> None:
    state.discs[0], state.discs[1] = np.uint64(START[0]), np.uint64(START[1])
    state.last = NOWHERE


def player(state: Facts) -> int:
    return TERMINAL if state.passes == 2 else state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    squares = moves(state.discs[state.player], state.discs[1 - state.player])
    count = append_bits(actions, 0, 0, squares)
    if count == 0:
        actions[0] = PASS
        count = 1
    return count


def apply(state: Facts, action: int) -> None:
    if action == PASS:
        state.passes += 1
    else:
        mine, theirs = state.discs[state.player], state.discs[1 - state.player]
        disc = np.uint64(1) << np.uint64(action)
        flipped = flips(mine, theirs, disc)
        state.discs[state.player] = mine | flipped | disc
        state.discs[1 - state.player] = theirs & ~flipped
        state.passes = 0
    state.last = action
    state.player = 1 - state.player


def rewards(state: Facts, out: np.ndarray) -> None:
    lead = popcount(state.discs[0]) - popcount(state.discs[1])
    out[0] = 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0
    out[1] = 1.0 - out[0]


def episode(state: Facts) -> int:
    """Eq. (22): the player to move, where the previous move was on an edge square."""
    if state.last < PASS and (EDGE >> np.uint64(state.last)) & np.uint64(1):
        return state.player
    return CONTINUES


def features(state: Facts, out: np.ndarray) -> None:
    """What the player to move has more of than the other: corners, moves, discs."""
    mine, theirs = state.discs[state.player], state.discs[1 - state.player]
    out[0] = popcount(mine & CORNER_SQUARES) - popcount(theirs & CORNER_SQUARES)
    out[1] = popcount(moves(mine, theirs)) - popcount(moves(theirs, mine))
    out[2] = popcount(mine) - popcount(theirs)


def action_features(state: Facts, action: int, out: np.ndarray) -> None:
    """Whether a move takes a corner, and whether it goes diagonally next to an empty one."""
    out[0] = out[1] = 0.0
    for i in range(4):
        if action == CORNERS[i]:
            out[0] = 1.0
        elif action == X_SQUARES[i] and not ((state.discs[0] | state.discs[1]) >> np.uint64(CORNERS[i])) & np.uint64(1):
            out[1] = 1.0


def text(state: Facts) -> str:
    """The board, with the player to move."""
    rows = ["  a b c d e f g h"]
    for row in range(SIZE):
        marks = (
            "X" if int(state.discs[0]) >> square & 1 else "O" if int(state.discs[1]) >> square & 1 else "."
            for square in range(row * SIZE, row * SIZE + SIZE)
        )
        rows.append(f"{row + 1} " + " ".join(marks))
    discs = f"X {int(state.discs[0]).bit_count()}, O {int(state.discs[1]).bit_count()}"
    return "\n".join([*rows, discs if state.passes == 2 else f"{discs}; {'XO'[state.player]} to move"])


def action_text(state: Facts, action: int) -> str:
    return "pass" if action == PASS else f"{'abcdefgh'[action % SIZE]}{action // SIZE + 1}"


def observation(state: Facts, observer: int, out: np.ndarray) -> None:
    """As OpenSpiel: three boards with rows from the top, of empty squares, his own discs and the other's."""
    for square in range(PASS):
        owner = next((i for i in range(2) if int(state.discs[i]) >> square & 1), -1)
        plane = 0 if owner == -1 else 1 + (owner != observer)
        out[plane, square // SIZE, square % SIZE] = 1


OTHELLO = Game(
    name="othello",
    players=2,
    state=STATE,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    rewards=rewards,
    ranges={"player": (0, 1), "passes": (0, 2), "last": (0, NOWHERE)},
    max_legal=SIZE * SIZE - 4,
    actions=PASS + 1,
    episode=episode,
    features=features,
    feature_names=("corners", "mobility", "discs"),
    action_features=action_features,
    action_feature_names=("corner", "x_square"),
    heuristic=heuristic,
    observation_tensor=Tensor((3, SIZE, SIZE), observation),
    text=text,
    action_text=action_text,
)
