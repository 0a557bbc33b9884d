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

A disc is laid so that it and another of its colour enclose a straight row of the other's discs, at least one: all such rows are turned.

An action is the square, 0 (a1) … 63 (h8) by rows, or PASS.
"""

import math
from pathlib import Path

import numpy as np

from icarus.compiler.memory import side_by_side
from icarus.kernel import CONTINUES, TERMINAL, Facts, append_bits, helper, inlined, popcount
from icarus.kernel.game import Game, aligned, functions_of
from icarus.kernel.scene import Drawing, Piece, Scene, grid

# ------------------------------------------------------------------------------------ the board as two words of 64 bits


STEPS = np.array([1, 8, 7, 9], np.uint64)  # along a row, a column, and the diagonals
# Where discs may be flipped along them: a line that runs sideways must not wrap around the board.
INNER = np.array(
    [0x7E7E7E7E7E7E7E7E, 0xFFFFFFFFFFFFFFFF, 0x7E7E7E7E7E7E7E7E, 0x7E7E7E7E7E7E7E7E], np.uint64
)
EVEN_ROWS = np.uint64(0x00FF00FF00FF00FF)
EVEN_PAIRS = np.uint64(0x0000FFFF0000FFFF)  # of rows


def _lines(ends: np.ndarray, between: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The discs in unbroken lines that begin next to any of these squares, along each axis: one way, and the other way."""
    # one disc next to an end, then the second one, then two at a time, by the pairs that lie side by side
    left, right = between & (ends << STEPS), between & (ends >> STEPS)
    left |= between & (left << STEPS)
    right |= between & (right >> STEPS)
    pairs = between & (between << STEPS)
    for _ in range(2):  # a line has at most six discs between its ends
        left |= pairs & (left << 2 * STEPS)
        right |= (pairs >> STEPS) & (right >> 2 * STEPS)
    return left, right


@side_by_side
def moves(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The squares where a disc flips something."""
    left, right = _lines(mine, theirs & INNER)
    return ((left << STEPS) | (right >> STEPS)) & ~(mine | theirs)


@side_by_side
def flips(mine: np.ndarray, theirs: np.ndarray, disc: np.ndarray) -> np.ndarray:
    """The discs flipped by a new disc."""
    left, right = _lines(disc, theirs & INNER)
    from_right, from_left = _lines(mine, theirs & INNER)  # lines that an own disc ends
    return (left & from_left) | (right & from_right)


@inlined
def quarter_turn(board: np.uint64) -> np.uint64:
    """The board seen from the next side: transposed (Warren, Hacker's Delight, 7-3), and its rows in reverse order."""
    swapped = (board ^ (board >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
    board = board ^ swapped ^ (swapped << np.uint64(7))
    swapped = (board ^ (board >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
    board = board ^ swapped ^ (swapped << np.uint64(14))
    swapped = (board ^ (board >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
    board = board ^ swapped ^ (swapped << np.uint64(28))
    board = ((board >> np.uint64(8)) & EVEN_ROWS) | ((board & EVEN_ROWS) << np.uint64(8))
    board = ((board >> np.uint64(16)) & EVEN_PAIRS) | ((board & EVEN_PAIRS) << np.uint64(16))
    return (board >> np.uint64(32)) | (board << np.uint64(32))


# ------------------------------------------------------------------------------ who wins a position: an n-tuple network


SIZE = 8
ROWS = 4  # seen from each side, the edge first
DIAGONALS = range(4, SIZE + 1)  # their lengths
# Of the tuples: the edge with b2 and g2, rows, diagonals, a corner.
LENGTHS = (SIZE + 2, *[SIZE] * (ROWS - 1), *DIAGONALS, 9)
TUPLES, SIDES = len(LENGTHS), 4
READINGS = SIDES * TUPLES + 1  # the last is of both players' numbers of moves
MOST_MOVES = 31  # that have a weight of their own
# of the weights of each tuple; the last: of moves
FIRST = np.cumsum([0, *(3**length for length in LENGTHS)])
PLACES = int(FIRST[-1]) + (MOST_MOVES + 1) ** 2
PHASES, DISCS = 4, 60  # and the discs that are laid in a game, at most
UNIT = 1 / 64  # of a weight, in logits
# bits as digits of base 3
TERNARY = np.array([int(f"{bits:b}", 3) for bits in range(1 << LENGTHS[0])])
ROW = np.uint64(0xFF)  # the first one
DIAGONAL_SQUARES = np.array(
    [sum(1 << (SIZE - 1) * i + n - 1 for i in range(n)) for n in DIAGONALS], np.uint64
)


# int8 [PHASES, PLACES]
WEIGHTS = np.load(Path(__file__).with_name("othello_weights.npz"))["weights"]


@inlined
def _row(board: np.uint64, number: int) -> np.uint64:
    """A row, 0 the edge."""
    return (board >> np.uint64(SIZE * number)) & ROW


@inlined
def _edge(board: np.uint64) -> np.uint64:
    """The first row, b2 and g2."""
    return (
        (board & ROW)
        | ((board >> np.uint64(1)) & np.uint64(0x100))
        | ((board >> np.uint64(5)) & np.uint64(0x200))
    )


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
    places[READINGS - 1] = (
        FIRST[TUPLES] + (MOST_MOVES + 1) * min(my_moves, MOST_MOVES) + min(their_moves, MOST_MOVES)
    )
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

    The weights are learnt from games against itself; `docs/ladder.md` names the program.
    """
    mine, theirs = state.discs[state.player], state.discs[1 - state.player]
    places = np.empty(READINGS, np.int64)
    read_tuples(mine, theirs, places)
    phase, score = phase_of(mine, theirs), 0
    for k in range(READINGS):
        score += int(WEIGHTS[phase, places[k]])
    out[state.player] = 1.0 / (1.0 + math.exp(-UNIT * score))
    out[1 - state.player] = 1.0 - out[state.player]


PASS = SIZE * SIZE
NOWHERE = PASS + 1  # the last square before anything was played
EDGE = np.uint64(0xFF818181818181FF)
START = ((1 << 28) | (1 << 35), (1 << 27) | (1 << 36))

CORNERS = (0, 7, 56, 63)
X_SQUARES = (9, 14, 49, 54)  # diagonally next to each of these
CORNER_SQUARES = np.uint64(sum(1 << square for square in CORNERS))

STATE = aligned(
    ("discs", np.uint64, (2,)),  # a bit per square for each player
    ("player", np.int8),  # about to act
    ("passes", np.int8),  # in a row; two end the game
    ("last", np.int8),  # the previous action: a square, PASS or NOWHERE
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
        elif action == X_SQUARES[i] and not (
            (state.discs[0] | state.discs[1]) >> np.uint64(CORNERS[i])
        ) & np.uint64(1):
            out[1] = 1.0


def derive(state: Facts) -> None:
    """Refuse a square with two discs; nothing follows from facts that a user sets."""
    if both := int(state.discs[0]) & int(state.discs[1]):
        raise ValueError(f"{action_text(state, both.bit_length() - 1)} has two discs of othello")


def text(state: Facts) -> str:
    """The board, with the player to move."""
    rows = ["  a b c d e f g h"]
    marks = ["."] * SIZE * SIZE
    for player, letter in enumerate("XO"):
        for square in range(SIZE * SIZE):
            if int(state.discs[player]) >> square & 1:
                marks[square] = letter
    for row in range(SIZE):
        rows.append(f"{row + 1} " + " ".join(marks[row * SIZE : row * SIZE + SIZE]))
    discs = f"X {int(state.discs[0]).bit_count()}, O {int(state.discs[1]).bit_count()}"
    to_move = "" if state.passes == 2 else f"; {'XO'[state.player]} to move"
    return "\n".join([*rows, discs + to_move])


def action_text(state: Facts, action: int) -> str:
    return "pass" if action == PASS else f"{'abcdefgh'[action % SIZE]}{action // SIZE + 1}"


PIECES = {"X": Piece("black", "black"), "O": Piece("white", "white")}


def scene(state: Facts, seat: int | None) -> Scene:
    """The board, a1 at the upper left."""
    *board, footer = text(state).split("\n")
    return grid(board, PIECES, ("green", "green"), footer)


BOARD = Drawing(scene, colours=("black", "white"))


OTHELLO = Game(
    **functions_of(globals()),
    name="othello",
    players=2,
    ranges={"player": (0, 1), "passes": (0, 2), "last": (0, NOWHERE)},
    max_legal=SIZE * SIZE - 4,
    actions=PASS + 1,
    feature_names=("corners", "mobility", "discs"),
    action_feature_names=("corner", "x_square"),
)
