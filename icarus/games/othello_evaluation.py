"""Who wins a position of Othello: an n-tuple network, tables of weights for what lies on rows, diagonals, edges and corners.

An n-tuple looks at n squares, each empty, of the player to move or of the other: 3^n contents, with a weight for each (Lucas, "Learning
to play Othello with n-tuple systems", 2008). The same tables read the board from its four sides, and a content and its mirror image weigh
the same, so that all eight symmetries count as one position (Jaśkowski, "Systematic n-tuple networks for Othello position evaluation",
2014). The tuples are some of Logistello's (Buro, "Improving heuristic game-tree search through supervised learning", 2002): the edge with
its X squares, the three rows next to it, the diagonals of four squares and more, and the nine squares of a corner.

    a b c d e f g h              a b c d e f g h              a b c d e f g h
  1 e e e e e e e e            1 . . . 4 5 6 7 8            1 c c c . . . . .
  2 . e . . . . e .            2 . . 4 5 6 7 8 .            2 c c c . . . . .
  3 r r r r r r r r            3 . 4 5 6 7 8 . .            3 c c c . . . . .
  4 . . . . . . . .            4 4 5 6 7 8 . . .            4 . . . . . . . .
  5 . . . . . . . .            5 5 6 7 8 . . . .            5 . . . . . . . .
  6 . . . . . . . .            6 6 7 8 . . . . .            6 . . . . . . . .
  7 . . . . . . . .            7 7 8 . . . . . .            7 . . . . . . . .
  8 . . . . . . . .            8 8 . . . . . . .            8 . . . . . . . .

Beside them there is a weight for how many moves both players have. Each quarter of the game has weights of its own.
"""

import math
from pathlib import Path

import numpy as np

from icarus.games.othello_board import moves, quarter_turn
from icarus.kernel import Facts, helper, inlined, popcount

LINE = 8  # squares
ROWS = 4  # seen from each side, the edge first
DIAGONALS = range(4, LINE + 1)  # their lengths
MIRRORS = (  # of each tuple, which of its squares each one's mirror image is
    (7, 6, 5, 4, 3, 2, 1, 0, 9, 8),
    *[tuple(reversed(range(length))) for length in (*[LINE] * (ROWS - 1), *DIAGONALS)],
    (0, 3, 6, 1, 4, 7, 2, 5, 8),
)
TUPLES, SIDES = len(MIRRORS), 4
READINGS = SIDES * TUPLES + 1  # the last is of both players' numbers of moves
MOST_MOVES = 31  # that have a weight of their own
FIRST = np.cumsum([0, *(3 ** len(mirror) for mirror in MIRRORS)])  # of the weights of each tuple; the last: of moves
PLACES = int(FIRST[-1]) + (MOST_MOVES + 1) ** 2
PHASES, DISCS = 4, 60  # and the discs that are laid in a game, at most
UNIT = 1 / 64  # of a weight, in logits
TERNARY = np.array([int(f"{bits:b}", 3) for bits in range(1 << len(MIRRORS[0]))])  # bits as digits of base 3
ROW = np.uint64(0xFF)  # the first one
DIAGONAL_SQUARES = np.array([sum(1 << (LINE - 1) * i + n - 1 for i in range(n)) for n in DIAGONALS], np.uint64)


def _mirror_classes() -> np.ndarray:
    """int [PLACES]: of each place the lower of its own and that of the mirror image, which has the weight of both."""
    places, images = np.arange(PLACES), []
    for first, mirror in zip(FIRST, MIRRORS, strict=False):
        order = [len(mirror) - 1 - square for square in reversed(mirror)]  # axes: the last square is the first digit
        images.append(first + places[: 3 ** len(mirror)].reshape([3] * len(mirror)).transpose(order).ravel())
    return np.minimum(places, np.concatenate([*images, places[FIRST[-1] :]]))


SHARED = _mirror_classes()
WEIGHTS = np.load(Path(__file__).with_name("othello_weights.npz"))["weights"][:, SHARED]  # int8 [PHASES, PLACES]


@inlined
def _row(board: np.uint64, number: int) -> np.uint64:
    """A row, 0 the edge."""
    return (board >> np.uint64(LINE * number)) & ROW


@inlined
def _edge(board: np.uint64) -> np.uint64:
    """The first row, b2 and g2."""
    return (board & ROW) | ((board >> np.uint64(1)) & np.uint64(0x100)) | ((board >> np.uint64(5)) & np.uint64(0x200))


@inlined
def _corner(board: np.uint64) -> np.uint64:
    """The first three squares of three rows."""
    rows = (board & np.uint64(7)) | ((board >> np.uint64(5)) & np.uint64(0x38))
    return rows | ((board >> np.uint64(10)) & np.uint64(0x1C0))


@inlined
def _diagonal(board: np.uint64, number: int) -> np.uint64:
    """A diagonal that ends on the first row, 0 the shortest; it has one square in each column, so that rows may be laid on one another."""
    board = board & DIAGONAL_SQUARES[number]
    board |= board >> np.uint64(32)
    board |= board >> np.uint64(16)
    return (board | (board >> np.uint64(8))) & ROW


@inlined
def _content(mine: np.uint64, theirs: np.uint64) -> int:
    """What lies on a tuple, as a number of base 3, by the bits of its squares."""
    return TERNARY[mine] + 2 * TERNARY[theirs]


@helper
def read_tuples(mine: np.uint64, theirs: np.uint64, places: np.ndarray) -> None:
    """Write the place of each weight, [READINGS], that counts in a position with these discs of who is to move and of the other."""
    my_moves, their_moves = popcount(moves(mine, theirs)), popcount(moves(theirs, mine))
    places[READINGS - 1] = FIRST[TUPLES] + (MOST_MOVES + 1) * min(my_moves, MOST_MOVES) + min(their_moves, MOST_MOVES)
    k = 0
    for _ in range(SIDES):
        places[k] = _content(_edge(mine), _edge(theirs))
        for row in range(1, ROWS):
            places[k + row] = FIRST[row] + _content(_row(mine, row), _row(theirs, row))
        k += ROWS
        for i in range(len(DIAGONAL_SQUARES)):
            places[k + i] = FIRST[ROWS + i] + _content(_diagonal(mine, i), _diagonal(theirs, i))
        k += len(DIAGONAL_SQUARES)
        places[k] = FIRST[TUPLES - 1] + _content(_corner(mine), _corner(theirs))
        k += 1
        mine, theirs = quarter_turn(mine), quarter_turn(theirs)


@inlined
def phase_of(mine: np.uint64, theirs: np.uint64) -> int:
    """The quarter of the game, by the number of discs."""
    return min((popcount(mine | theirs) - 4) * PHASES // DISCS, PHASES - 1)


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-s}) of who is to move, with s the sum of the weights of what lies on each tuple.

    The weights are learnt from games against itself, by `experiments.play.othello_weights`.
    """
    mine, theirs = state.discs[state.player], state.discs[1 - state.player]
    places = np.empty(READINGS, np.int64)
    read_tuples(mine, theirs, places)
    phase, score = phase_of(mine, theirs), 0
    for k in range(READINGS):
        score += int(WEIGHTS[phase, places[k]])
    out[state.player] = 1.0 / (1.0 + math.exp(-UNIT * score))
    out[1 - state.player] = 1.0 - out[state.player]
