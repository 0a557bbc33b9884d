"""Phantom m,n,k: m columns, n rows, and who first has k of his marks in a row, column or diagonal wins; neither sees the other's.

Who tries a square that the other has taken is told so and tries another; no square of one's own may be tried. A full board is a draw.

      a b c d
    4 . . . .        X, O  marks that the other player has not found
    3 . X . .        x, o  marks that he has found
    2 . x . o
    1 . . O .        Player 1 (O) has tried b2 and found it taken, player 0 (X) d2
    X to move

A player sees his own tries; of the other's, that a mark was made, but not where, and nothing of those that fail. Whether his own
try has failed he learns from what follows: it is his turn again, or a mark of the other's comes first. When the game
ends, the board is shown.

An action is the bit of a square, row * (columns + 1) + column: an empty column keeps lines from running around the board.
None of the environment's is needed to tell who has failed.

**What a player cannot know.** He knows which squares he found taken, how many marks the other has, and that they make no line. So
the other's marks are those found and any more, as many as are missing, elsewhere than on his own, without a line among them; and
the other may have found any of his marks that were there in time. Of the orders of marks and of failed tries, only the last mark
and the tries of the present turn belong to a state. `determinize` is uniform over the states in this sense. (A square found taken
was taken by then: this rules out orders of the other's marks, equally many for each set of them, but never a set.)
"""

import itertools

import numpy as np

from icarus.checks import integer
from icarus.compiler.rng import next_word
from icarus.kernel import append_bits, below, helper, inlined, lowest_bit, popcount, uniform
from icarus.kernel.contract import CHANCE, CONTINUES, TERMINAL, UNSEEN, Facts
from icarus.kernel.game import Game, State, aligned, functions_of
from icarus.kernel.scene import Drawing, Piece, Scene, grid

COLUMNS, ROWS, IN_A_ROW = 4, 4, 4  # where no numbers are given
BITS = 64
SIDE = 8  # the longest that is possible
SQUARES = 56  # 7 × 8, the largest board that fits 64 bits with its empty column
MOST = SQUARES // 2  # marks of one player
MARK = BITS  # what is seen of the other's mark
NOWHERE = -1  # the last mark before there is one
GOING_ON, WON, DRAWN = range(3)
_DRAWS = 1_000_000  # of marks without a line, before it is said that there are none

STATE = aligned(
    ("marks", np.uint64, (2,)),  # a bit per square for each player
    # the squares a player may try: neither his own nor found to be the other's
    ("open", np.uint64, (2,)),
    ("tries", np.int8, (MOST,)),  # that have failed in this turn, in order
    ("failed", np.int8),  # how many of these
    ("last", np.int8),  # the mark that ended the previous turn, or NOWHERE
    ("player", np.int8),  # about to try
    ("ended", np.int8),  # GOING_ON, WON by the player who is not about to try, or DRAWN
    ("columns", np.int8),
    ("rows", np.int8),
    ("in_a_row", np.int8),
)

BELIEFS = aligned(
    ("found", np.uint64),  # marks of the other's that the observer has found
    # where more may be: neither found nor his own, nor completing a line of those found
    ("squares", np.int8, (SQUARES,)),
    ("count", np.int8),  # how many of these
    ("missing", np.int8),  # how many more marks there are
)


def _count_knowledge() -> np.ndarray:
    """[last, marks]: the number of histories of what a player has found of so many marks of the other's.

    A history is the set of marks that he found in earlier turns, and those that he has found by failed tries of this turn, in their order.
    If `last` is 1 there is one mark besides, the newest, which he can have found in this turn only.
    """
    ways = [[0] * (MOST + 1), [0] * (MOST + 1)]
    for marks in range(MOST + 1):
        for last in range(2):
            # Either he tries no more: each mark was found in earlier turns or not.
            ways[last][marks] = 1 << marks
            # Or his next try finds one of the marks,
            if marks > 0:
                ways[last][marks] += marks * ways[last][marks - 1]
            # or the newest.
            if last == 1:
                ways[last][marks] += ways[0][marks]
    return np.array(ways, np.float64)


KNOWLEDGE = _count_knowledge()


def initial(state: Facts, rng: np.ndarray, columns: int, rows: int, in_a_row: int) -> None:
    for row in range(rows):
        for column in range(columns):
            state.open[0] |= np.uint64(1) << np.uint64(row * (columns + 1) + column)
    state.open[1] = state.open[0]
    state.last = NOWHERE
    state.columns, state.rows, state.in_a_row = columns, rows, in_a_row


def player(state: Facts) -> int:
    return state.player if state.ended == GOING_ON else TERMINAL


def legal(state: Facts, actions: np.ndarray) -> int:
    return append_bits(actions, 0, 0, state.open[state.player])


@inlined
def _has_line(state: Facts, marks: np.uint64) -> bool:
    """Whether some of a player's marks are as many in a row as win."""
    stride = state.columns + 1
    for step in (1, stride - 1, stride, stride + 1):
        line = marks
        for _ in range(state.in_a_row - 1):
            line &= line >> np.uint64(step)
        if line != np.uint64(0):
            return True
    return False


def apply(state: Facts, action: int) -> None:
    mover, opponent = state.player, 1 - state.player
    square = np.uint64(1) << np.uint64(action)
    state.open[mover] &= ~square
    if state.marks[opponent] & square != np.uint64(0):
        state.tries[state.failed] = action
        state.failed += 1
        return
    state.marks[mover] |= square
    state.last = action
    _forget_tries(state)
    if _has_line(state, state.marks[mover]):
        state.ended = WON
    elif state.open[mover] & ~state.marks[opponent] == np.uint64(0):
        state.ended = DRAWN
    state.player = opponent


@inlined
def _forget_tries(state: Facts) -> None:
    for i in range(state.failed):
        state.tries[i] = 0
    state.failed = 0


def rewards(state: Facts, out: np.ndarray) -> None:
    won = 1.0 if state.ended == WON else 0.5
    out[1 - state.player], out[state.player] = won, 1.0 - won


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    opponent = 1 - state.player
    failed = (state.marks[opponent] >> np.uint64(action)) & np.uint64(1) != np.uint64(0)
    moves[opponent] = UNSEEN if failed else MARK


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    if observer == CHANCE or state.ended != GOING_ON:
        return
    marks, squares = state.marks[1 - observer], state.open[observer]
    beliefs.found = marks & ~squares
    # the number of marks is seen, and so is the number found
    beliefs.missing = popcount(marks & squares)
    beliefs.count = 0
    while squares != np.uint64(0):
        square = squares & (~squares + np.uint64(1))
        if not _has_line(state, beliefs.found | square):
            beliefs.squares[beliefs.count] = lowest_bit(square)
            beliefs.count += 1
        squares ^= square
    if beliefs.missing > beliefs.count or _has_line(state, beliefs.found):
        raise ValueError(
            "the other's `marks` in phantom-mnk cannot be where the observer's `open` leaves room for them: each order of them "
            "makes a line, which would have ended the game"
        )


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Redraw the other's marks, and what he has found of the observer's."""
    if observer == CHANCE or state.ended != GOING_ON:
        return
    opponent = 1 - observer
    # The whole board: squares that he may still try, among them those with marks that he has not found; his own marks; those found.
    board = state.open[observer] | state.marks[observer] | beliefs.found
    marks = _draw_marks(state, beliefs, rng)
    state.marks[opponent] = marks
    # The marks of the observer that the other has found: in earlier turns he may have found each or not, all equally likely.
    if state.player == observer:
        found_by_other = state.marks[observer] & next_word(rng)
        state.last = _draw_last(state, marks & state.open[observer], rng)  # he has not found it
    else:  # the other has tried in this turn, too
        found_by_other = _draw_tries(state, state.marks[observer], rng)
    state.open[opponent] = board & ~(marks | found_by_other)


def observation(state: Facts, player: int) -> tuple:
    """His own marks, and the squares that he may try."""
    return state.marks[player], state.open[player], state.player, state.ended


@inlined
def _draw_marks(state: Facts, beliefs: Facts, rng: np.ndarray) -> np.uint64:
    """Those found and a set of others (Floyd's method), drawn again as long as there is a line among them."""
    for _ in range(_DRAWS):
        marks = beliefs.found
        for i in range(beliefs.count - beliefs.missing, beliefs.count):
            square = np.uint64(1) << np.uint64(beliefs.squares[below(rng, i + 1)])
            if marks & square != np.uint64(0):
                square = np.uint64(1) << np.uint64(beliefs.squares[i])
            marks |= square
        if not _has_line(state, marks):
            return marks
    raise ValueError(
        "none of a million draws of the other's `marks` in phantom-mnk is without a line, which would have ended the game"
    )


@inlined
def _draw_bit(squares: np.uint64, rng: np.ndarray) -> np.uint64:
    """A random one of some squares, as a bit."""
    for _ in range(below(rng, popcount(squares))):
        squares &= squares - np.uint64(1)
    return squares & (~squares + np.uint64(1))


@inlined
def _draw_last(state: Facts, unfound: np.uint64, rng: np.ndarray) -> int:
    """Which of the other's marks was made last: one not found before this turn."""
    for i in range(state.failed):
        unfound |= np.uint64(1) << np.uint64(state.tries[i])
    return NOWHERE if unfound == np.uint64(0) else lowest_bit(_draw_bit(unfound, rng))


@helper
def _draw_tries(state: Facts, marks: np.uint64, rng: np.ndarray) -> np.uint64:
    """Redraw the tries of the player to move in this turn; returns all of the observer's marks that he has found.

    What he does next is drawn by the three terms of `_count_knowledge`: he tries no more, or finds the last mark, or one of the others.
    """
    _forget_tries(state)
    last = np.uint64(0) if state.last == NOWHERE else np.uint64(1) << np.uint64(state.last)
    candidates, tried = marks & ~last, np.uint64(0)
    while True:
        count = popcount(candidates)  # of marks that he may still try, or may have found earlier
        point = uniform(rng) * KNOWLEDGE[0 if last == np.uint64(0) else 1, count] - 2.0**count
        if point < 0.0:  # he tries no more
            return tried | (candidates & next_word(rng))
        if last != np.uint64(0) and point < KNOWLEDGE[0, count]:
            square = last
            last = np.uint64(0)
        else:
            square = _draw_bit(candidates, rng)
            candidates ^= square
        tried |= square
        state.tries[state.failed] = lowest_bit(square)
        state.failed += 1


def episode(state: Facts) -> int:
    """The player who begins his turn; failed tries belong to it."""
    return state.player if state.failed == 0 else CONTINUES


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """The failed tries of this turn, which the other player does not notice."""
    if observer == 1 - state.player:
        return 0
    for i in range(state.failed):
        moves[i] = state.tries[i]
    return state.failed


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The start, and actions in which the observer does what he did and his opponent marks and tries what `data` says.

    The opponent first marks what the observer found, in the order of the finds, so that it is there in time, and last what he marked
    last; what he had found before this turn he finds in his last finished turn.
    """
    actions = [action for _, action in state.history]
    if (data == state.data).all():
        return state.start.copy(), actions
    facts, world = state.facts, data.view(np.recarray)[0]
    mover = int(facts.player)
    # A determinization leaves what its observer did: if the mover's part is the same, it was made for him.
    observer = mover if _by_mover(facts) == _by_mover(world) else 1 - mover
    opponent = 1 - observer
    tries = world.tries[: world.failed].tolist() if opponent == mover else []
    found_before = [each for each in _squares(_found_marks(world, opponent)) if each not in tries]
    marks = _marks_in_order(state, world, observer)
    retraced: list[int] = []
    for who, turn in itertools.groupby(state.history, lambda step: step[0]):
        if who == observer:
            retraced += [action for _, action in turn]
        elif marks:  # a turn that the opponent has finished, by a mark
            if len(marks) == 1:
                retraced += found_before
            retraced.append(marks.pop(0))
    return state.start.copy(), retraced + tries


def _by_mover(facts: Facts) -> tuple[int, int, list[int]]:
    """What the player to move marked, found and tried: all that a determinization for the other player can change."""
    return (
        int(facts.marks[facts.player]),
        _found_marks(facts, facts.player),
        facts.tries[: facts.failed].tolist(),
    )


def _found_marks(facts: Facts, player: int) -> int:
    """The marks of the other that a player has found."""
    return int(facts.marks[1 - player] & ~facts.open[player])


def _squares(squares: int) -> list[int]:
    return [square for square in range(BITS) if squares >> square & 1]


def _marks_in_order(state: State, world: Facts, observer: int) -> list[int]:
    """The marks of the observer's opponent in a determinization, in an order in which they may have been made."""
    marks = int(world.marks[1 - observer])
    tried = [action for who, action in state.history if who == observer and marks >> action & 1]
    marked = tried + [square for square in _squares(marks) if square not in tried]
    last = [int(world.last)] if world.player == observer and world.last != NOWHERE else []
    return [square for square in marked if square not in last] + last


def derive(state: Facts) -> None:
    """Refuse a square with two marks; nothing follows from facts that a user sets."""
    if both := int(state.marks[0]) & int(state.marks[1]):
        raise ValueError(f"{action_text(state, both.bit_length() - 1)} has two marks")


def text(state: Facts) -> str:
    """The board, small letters for marks that the other player has found, and who is to move."""
    lines = ["  " + " ".join("abcdefgh"[: state.columns])]
    for row in range(state.rows - 1, -1, -1):
        squares = range(row * (state.columns + 1), row * (state.columns + 1) + state.columns)
        lines.append(f"{row + 1} " + " ".join(_square_text(state, square) for square in squares))
    situations = (f"{'XO'[state.player]} to move", f"{'OX'[state.player]} has won", "a draw")
    situation = situations[state.ended]
    if state.failed:
        tried = ", ".join(action_text(state, square) for square in state.tries[: state.failed])
        situation += f", found {tried} taken"
    return "\n".join([*lines, situation])


def _square_text(state: Facts, square: int) -> str:
    for player in range(2):
        if int(state.marks[player]) >> square & 1:
            return "xo"[player] if _found_marks(state, 1 - player) >> square & 1 else "XO"[player]
    return "."


def action_text(state: Facts, action: int) -> str:
    row, column = divmod(int(action), state.columns + 1)
    return f"{'abcdefgh'[column]}{row + 1}"


CROSS_AND_RING = {"X": Piece("X", sign="X", ink="blue"), "O": Piece("O", sign="○", ink="orange")}


def scene(state: Facts, seat: int | None) -> Scene:
    """The seat's own marks, and the other's that it has found, which are small letters in the text; the whole board at the end."""
    *board, footer = text(state).split("\n")
    if seat is not None and not state.ended:
        # capital letters are marks of the other's that it has not found
        board = [line.replace("OX"[seat], ".") for line in board]
        # of the other's tries nothing is seen
        footer = footer if state.player == seat else footer.split(",", 1)[0]
    return grid(
        [line.replace("x", "X").replace("o", "O") for line in board],
        CROSS_AND_RING,
        ("ivory", "ivory"),
        footer,
    )


BOARD = Drawing(scene, colours=("X", "O"))


def phantom(columns: int = COLUMNS, rows: int = ROWS, in_a_row: int = IN_A_ROW) -> Game:
    """The phantom m,n,k-game for m columns, n rows and k in a row.

    Raises:
        ValueError: a board of too few or too many squares, or lines that are shorter than 2 or do not fit the board.
    """
    settings = {"columns": columns, "rows": rows, "in_a_row": in_a_row}
    settings = {name: integer(f"{name} of phantom-mnk", value) for name, value in settings.items()}
    columns, rows, in_a_row = settings.values()
    if not (1 <= columns <= SIDE and 1 <= rows <= SIDE and 2 <= columns * rows <= SQUARES):
        raise ValueError(
            f"columns={columns!r}, rows={rows!r}: each must be 1 to {SIDE}, and at least 2 and at most {SQUARES} squares in all"
        )
    if not 2 <= in_a_row <= max(columns, rows):
        raise ValueError(
            f"in_a_row={in_a_row!r}: on a board of {columns} × {rows} it must be 2 to {max(columns, rows)}"
        )
    return Game(
        **functions_of(globals()),
        name="phantom-mnk",
        players=2,
        parameters=settings,
        defaults={"columns": COLUMNS, "rows": ROWS, "in_a_row": IN_A_ROW},
        seat_names=("First", "Second"),
        ranges={
            **dict.fromkeys(("marks", "open"), (0, (1 << (columns + 1) * rows) - 1)),
            "tries": (0, (columns + 1) * rows - 1),
            "failed": (0, MOST),
            "last": (NOWHERE, (columns + 1) * rows - 1),
            "player": (0, 1),
            "ended": (GOING_ON, DRAWN),
            **{name: (value, value) for name, value in settings.items()},
        },
        max_legal=SQUARES,
        actions=(columns + 1) * rows,
    )
