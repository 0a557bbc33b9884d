"""Checkers (English draughts): captures are forced, a chain of jumps must be completed, who cannot move loses.

  8 . w . w . w . w
  7 w . w . w . w .
  6 . w . w . w . w
  5 . . . . . . . .
  4 . . . . . . . .        b, B  a man and a king of Black (player 0, moves first, upwards)
  3 b . b . b . b .        w, W  a man and a king of White (player 1, downwards)
  2 . b . b . b . b
  1 b . b . b . b .
    a b c d e f g h

Men step and jump forwards, kings both ways; among several captures the player chooses freely. Each jump is a decision of its
own, and the next one of the chain belongs to the same piece. A man that reaches the far row is crowned, which ends its
turn. The game is drawn when so many moves of either side in a row (draw_after) brought no capture, also where the last of
them leaves the opponent without a move. Perfect information.

An action is 64 · (square left) + (square reached); squares are 0 (a1), 1 (b1) … 63 (h8).
"""

import re

import numpy as np

from icarus.checks import integer
from icarus.kernel import (
    CONTINUES,
    TERMINAL,
    Facts,
    Game,
    aligned,
    functions_of,
    helper,
    inlined,
    lowest_bit,
    popcount,
)
from icarus.kernel.scene import Drawing, Piece, Scene, grid

SIZE = 8
SQUARES = SIZE * SIZE
DRAW_AFTER = 40
LONGEST_DRAW = np.iinfo(np.int16).max
MOST_MOVES = 12 * 4  # twelve kings, four directions
FLAT, STEEP = SIZE - 1, SIZE + 1  # to the next square on each diagonal: up left, up right
# the squares of the game; a step over the side lands on a light square
DARK = np.uint64(0xAA55AA55AA55AA55)
# men move forwards only: whichever far row one reaches crowns it
FAR_ROWS = np.uint64(0xFF000000000000FF)
BACK_ROWS = (np.uint64(0xFF), np.uint64(0xFF00000000000000))
MAN, KING = 2, 3  # what they are worth
START = (0x000000000055AA55, 0xAA55AA0000000000)
UP_LEFT, UP_RIGHT, DOWN_RIGHT, DOWN_LEFT = range(4)
# from a square to the next one, in the order of these directions
OFFSETS = (FLAT, STEEP, -FLAT, -STEEP)

STATE = aligned(
    ("pieces", np.uint64, (2,)),  # a bit per square for each player
    ("kings", np.uint64),  # those of both players
    ("movers", np.uint64, (4,)),  # the pieces that may move now, for each direction
    ("player", np.int8),  # about to act
    ("capturing", np.int8),  # 1 where the movers jump, 0 where they step
    ("chained", np.int8),  # 1 where the jump continues a chain
    ("quiet_left", np.int16),  # moves without capture that are left before the draw
    ("draw_after", np.int16),
)


@inlined
def _find_movers(state: Facts, pieces: np.uint64, passed: np.uint64, squares: int) -> bool:
    """Set `movers` in each direction: those of the player's `pieces` whose next square is one of `passed`, and whose square so many
    `squares` away is empty. Returns whether there are any."""
    empty = DARK & ~(state.pieces[0] | state.pieces[1])
    kings = pieces & state.kings
    up, down = (pieces, kings) if state.player == 0 else (kings, pieces)
    up_left = up & (passed >> np.uint64(FLAT)) & (empty >> np.uint64(squares * FLAT))
    up_right = up & (passed >> np.uint64(STEEP)) & (empty >> np.uint64(squares * STEEP))
    down_right = down & (passed << np.uint64(FLAT)) & (empty << np.uint64(squares * FLAT))
    down_left = down & (passed << np.uint64(STEEP)) & (empty << np.uint64(squares * STEEP))
    state.movers[UP_LEFT], state.movers[UP_RIGHT] = up_left, up_right
    state.movers[DOWN_RIGHT], state.movers[DOWN_LEFT] = down_right, down_left
    return (up_left | up_right | down_right | down_left) != np.uint64(0)


@helper
def begin_turn(state: Facts) -> None:
    """Find what the player about to act may move at the start of his turn."""
    pieces = state.pieces[state.player]
    state.chained = 0
    state.capturing = 1 if _find_movers(state, pieces, state.pieces[1 - state.player], 2) else 0
    if not state.capturing:
        _find_movers(state, pieces, DARK, 1)


def initial(state: Facts, rng: np.ndarray, draw_after: int) -> None:
    state.pieces[0], state.pieces[1] = np.uint64(START[0]), np.uint64(START[1])
    state.draw_after = draw_after
    state.quiet_left = draw_after
    begin_turn(state)


def player(state: Facts) -> int:
    stuck = (state.movers[0] | state.movers[1] | state.movers[2] | state.movers[3]) == np.uint64(0)
    return TERMINAL if stuck or state.quiet_left == 0 else state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    count = 0
    reach = 2 if state.capturing else 1
    for direction in range(4):
        movers = state.movers[direction]
        offset = OFFSETS[direction] * reach
        while movers:
            actions[count] = lowest_bit(movers) * (SQUARES + 1) + offset
            count += 1
            movers &= movers - np.uint64(1)
    return count


def apply(state: Facts, action: int) -> None:
    origin, target = action // SQUARES, action % SQUARES
    source, destination = np.uint64(1) << np.uint64(origin), np.uint64(1) << np.uint64(target)
    state.pieces[state.player] ^= source | destination
    crowned = False
    if state.kings & source:
        state.kings ^= source | destination
    elif destination & FAR_ROWS:
        state.kings |= destination
        crowned = True
    if state.capturing:
        jumped = np.uint64(1) << np.uint64((origin + target) // 2)
        state.pieces[1 - state.player] ^= jumped
        state.kings &= ~jumped
        state.quiet_left = state.draw_after
        if not crowned and _find_movers(state, destination, state.pieces[1 - state.player], 2):
            state.chained = 1
            return
    else:
        state.quiet_left -= 1
    state.player = 1 - state.player
    begin_turn(state)


def rewards(state: Facts, out: np.ndarray) -> None:
    out[state.player] = 0.5 if state.quiet_left == 0 else 0.0
    out[1 - state.player] = 1.0 - out[state.player]


def episode(state: Facts) -> int:
    """Eq. (21): the player to move, where a capture is available that does not continue a chain."""
    if state.capturing and not state.chained and state.quiet_left > 0:
        return state.player
    return CONTINUES


def features(state: Facts, out: np.ndarray) -> None:
    """What the player to move has more of than the other: men, kings, and men on their own back row, which keep the other's from being
    crowned."""
    mine, theirs = state.pieces[state.player], state.pieces[1 - state.player]
    own_back, other_back = (
        (BACK_ROWS[0], BACK_ROWS[1]) if state.player == 0 else (BACK_ROWS[1], BACK_ROWS[0])
    )
    out[0] = popcount(mine & ~state.kings) - popcount(theirs & ~state.kings)
    out[1] = popcount(mine & state.kings) - popcount(theirs & state.kings)
    out[2] = popcount(mine & ~state.kings & own_back) - popcount(theirs & ~state.kings & other_back)


def action_features(state: Facts, action: int, out: np.ndarray) -> None:
    """Whether a move jumps, and whether it crowns a man."""
    origin, reached = np.uint64(action // SQUARES), np.uint64(1) << np.uint64(action % SQUARES)
    out[0] = state.capturing
    out[1] = 1.0 if reached & FAR_ROWS and not (state.kings >> origin) & np.uint64(1) else 0.0


def heuristic(state: Facts, out: np.ndarray) -> None:
    """The player's share of all material, a king counted three where a man counts two (Samuel, 1959)."""
    black, white = _material(state, 0), _material(state, 1)
    out[0] = black / (black + white)
    out[1] = 1.0 - out[0]


@helper
def _material(state: Facts, owner: int) -> int:
    return MAN * popcount(state.pieces[owner]) + (KING - MAN) * popcount(
        state.pieces[owner] & state.kings
    )


def derive(state: Facts) -> None:
    """Set which pieces may move; in a chain it is the one that `movers` has already.

    Raises:
        ValueError: a square has two pieces, or a king where there is no piece; or no single piece can go on with the chain.
    """
    black, white, kings = int(state.pieces[0]), int(state.pieces[1]), int(state.kings)
    for squares, what in ((black & white, "two pieces"), (kings & ~(black | white), "a king only")):
        if squares:
            raise ValueError(f"{square_text(squares.bit_length() - 1)} has {what} of checkers")
    is_chain, movers = state.chained, np.bitwise_or.reduce(state.movers)
    begin_turn(state)
    if is_chain:
        jumper = movers & state.pieces[state.player]
        others = state.pieces[1 - state.player]
        if popcount(jumper) != 1 or not _find_movers(state, jumper, others, 2):
            raise ValueError(
                "chained of checkers is 1, but `movers` has no single piece that can go on capturing"
            )
        state.chained = 1


def text(state: Facts) -> str:
    """The board from Black's side, with the player to move."""
    rows = []
    for row in reversed(range(SIZE)):
        marks = [_mark(state, square) for square in range(row * SIZE, row * SIZE + SIZE)]
        rows.append(f"{row + 1} {' '.join(marks)}")
    situation = f"{('Black', 'White')[state.player]} to move"
    if player(state) != TERMINAL:
        if state.capturing:
            situation += ", continuing a chain" if state.chained else ", captures forced"
        if state.quiet_left < state.draw_after:
            situation += f", drawn after {state.quiet_left} more without a capture"
    elif state.quiet_left == 0:
        situation = "drawn"
    else:
        situation = f"{('White', 'Black')[state.player]} has won"
    return "\n".join([*rows, "  a b c d e f g h", situation])


def _mark(state: Facts, square: int) -> str:
    mark = "."
    for player, letter in enumerate("bw"):
        if int(state.pieces[player]) >> square & 1:
            mark = letter
    return mark.upper() if int(state.kings) >> square & 1 else mark


def action_text(state: Facts, action: int) -> str:
    """A step as "c3-d4", a jump as "c3xe5"."""
    origin, target = action // SQUARES, action % SQUARES
    jumps = abs(origin - target) not in (FLAT, STEEP)
    return f"{square_text(origin)}{'x' if jumps else '-'}{square_text(target)}"


def square_text(square: int) -> str:
    """A square by its letter and number."""
    return f"{'abcdefgh'[square % SIZE]}{square // SIZE + 1}"


PIECES = {"b": Piece("black", "black"), "w": Piece("white", "white")}
PIECES |= {"B": Piece("black king", "black", "K"), "W": Piece("white king", "white", "K")}


def scene(state: Facts, seat: int | None) -> Scene:
    """The board from Black's side."""
    *board, footer = text(state).split("\n")
    return grid(board, PIECES, ("wood", "ivory"), footer)


def parts(state: Facts, action: int, seat: int | None) -> tuple[str, ...]:
    """A piece's square, and its goal."""
    return square_text(action // SQUARES), square_text(action % SQUARES)


def reading(text: str) -> str:
    """A move by the numbers of its squares, from 1 in the right corner of Black's side, such as "11-15" or "22x15"."""
    number = r"(?<![a-wyz\d])([1-9]|[12]\d|3[0-2])(?![a-wyz\d])"
    return re.sub(number, lambda match: _numbered(int(match[0]) - 1), text, flags=re.IGNORECASE)


def _numbered(number: int) -> str:
    """The square of a number, counted from 0."""
    row, place = divmod(number, SIZE // 2)
    return square_text(SIZE * row + SIZE - 2 - 2 * place + row % 2)


BOARD = Drawing(scene, parts, colours=("black", "white"), reading=reading)


def checkers(draw_after: int = DRAW_AFTER) -> Game:
    """Checkers, drawn when `draw_after` moves in a row brought no capture.

    Raises:
        ValueError: `draw_after` is not an integer in 1 … 32767.
    """
    draw_after = integer("draw_after of checkers", draw_after, 1, LONGEST_DRAW)
    return Game(
        **functions_of(globals()),
        name="checkers",
        players=2,
        ranges={
            **dict.fromkeys(("pieces", "kings", "movers"), (0, int(DARK))),
            **dict.fromkeys(("player", "capturing", "chained"), (0, 1)),
            "quiet_left": (0, draw_after),
            "draw_after": (draw_after, draw_after),
        },
        max_legal=MOST_MOVES,
        actions=SQUARES * SQUARES,
        feature_names=("men", "kings", "back_row"),
        action_feature_names=("captures", "crowns"),
        parameters={"draw_after": draw_after},
        defaults={"draw_after": DRAW_AFTER},
    )
