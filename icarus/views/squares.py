"""Boards: Othello, Checkers and the phantom m,n,k-games on squares, Backgammon, and the regions of The Confrontation."""

import re
import textwrap
from collections.abc import Callable, Mapping
from html import escape

import attrs

from icarus.games.backgammon import BAR, OFF, POINTS, ROLL
from icarus.games.backgammon import text as backgammon_text
from icarus.games.checkers import SQUARES, square_text
from icarus.games.checkers import text as checkers_text
from icarus.games.lotr_confrontation import (
    DARK,
    DEAD,
    LIGHT,
    MOVE,
    NOBODY,
    PASS_AMBUSH,
    PIECE_NAMES,
    ROWS,
    SIDE_NAMES,
    SQUARE_NAMES,
    STRENGTH,
    TEAM,
    held_cards,
)
from icarus.games.lotr_confrontation import SQUARES as REGIONS
from icarus.games.lotr_confrontation import text as board_text
from icarus.games.othello import PASS, SIZE
from icarus.games.othello import action_text as othello_square
from icarus.games.othello import text as othello_text
from icarus.games.phantom import action_text as phantom_square
from icarus.games.phantom import text as phantom_text
from icarus.kernel import Facts
from icarus.views.drawing import DISCS, EDGE, FAINT, INK, PAPER, Drawing, box, disc, part, svg, words


def in_colours(text: str) -> str:
    """A text with the players called by the colours of their pieces, not X and O."""
    return re.sub(r"\b[XO]\b", lambda match: DISCS[match[0]], text)


@attrs.frozen
class Grid:
    """A board of squares.

    Attributes:
        columns, rows: how many; square (0, 0) is at the lower left.
        pieces: what stands on a square: (letter for a terminal, a function that draws it at its middle with the side of a square).
        colour: of a square.
        footer: what is to be done; `caption`, the same below the picture, where it calls pieces otherwise than by letters.
        marked: squares to be pointed out, such as the last move.
        top_down: whether row 1 is at the top.
        names: of the pieces, by their letters, where the letter says too little.
    """

    columns: int
    rows: int
    pieces: Mapping[tuple[int, int], tuple[str, Callable[[float, float, float], str]]]
    colour: Callable[[int, int], str]
    footer: str = ""
    marked: frozenset[tuple[int, int]] = frozenset()
    top_down: bool = False
    caption: str = ""
    names: Mapping[str, str] = attrs.field(factory=dict)

    SIDE = 40.0

    def _order(self) -> list[int]:
        return list(range(self.rows)) if self.top_down else list(reversed(range(self.rows)))

    def text(self) -> str:
        letters = "  " + " ".join("abcdefghijkl"[: self.columns])
        lines = [
            f"{row + 1} " + " ".join(self.pieces.get((column, row), (".", None))[0] for column in range(self.columns))
            for row in self._order()
        ]
        return "\n".join([letters, *lines, self.footer] if self.top_down else [*lines, letters, self.footer])

    def svg(self) -> str:
        side, margin, parts = self.SIDE, 22.0, []
        for i, row in enumerate(self._order()):
            y = margin + i * side
            parts.append(words(margin - 6, y + side * 0.62, str(row + 1), 11, "end", FAINT))
            for column in range(self.columns):
                parts.append(self._square(column, row, margin + column * side, y))
        width, height = 2 * margin + side * self.columns, margin + side * self.rows
        for column in range(self.columns):
            parts.append(words(margin + (column + 0.5) * side, margin - 7, "abcdefghijkl"[column], 11, "middle", FAINT))
        caption = self.caption or self.footer
        parts += [words(margin, height + 20, caption, 13)] if caption else []
        return svg(max(width, 200), height + 32, parts, PAPER, caption)

    def _square(self, column: int, row: int, x: float, y: float) -> str:
        side = self.SIDE
        inside = [box(x, y, side, side, self.colour(column, row), EDGE)]
        if (column, row) in self.marked:
            inside.append(box(x + 2, y + 2, side - 4, side - 4, "none", "#d9822b"))
        if (column, row) in self.pieces:
            inside.append(self.pieces[column, row][1](x + side / 2, y + side / 2, side))
        letter = self.pieces.get((column, row), ("", None))[0]
        return part(f"{'abcdefghijkl'[column]}{row + 1}", *inside, holds=self.names.get(letter, letter))


BLACK, WHITE = "#1d1f23", "#fbf8f0"
CHECKERS = {"b": "black", "w": "white", "B": "black king", "W": "white king"}
Drawn = Callable[[float, float, float], str]


def _disc(fill: str, letter: str = "") -> Drawn:
    contrast = WHITE if fill == BLACK else INK

    def draw(x: float, y: float, side: float) -> str:
        crown = words(x, y + side * 0.16, letter, side * 0.45, "middle", contrast, bold=True) if letter else ""
        return disc(x, y, side * 0.38, fill) + crown

    return draw


def _bits(squares: int) -> list[int]:
    return [square for square in range(64) if int(squares) >> square & 1]


def othello(state: Facts, seat: int | None) -> Drawing:
    """The board, a1 at the upper left; the last disc is pointed out."""
    pieces = {
        (square % SIZE, square // SIZE): ("XO"[player], _disc((BLACK, WHITE)[player]))
        for player in range(2)
        for square in _bits(state.discs[player])
    }
    last = int(state.last)
    marked = frozenset({(last % SIZE, last // SIZE)}) if last < PASS else frozenset()
    footer = othello_text(state).rsplit("\n", 1)[1]
    caption = in_colours(footer)
    return Grid(
        SIZE, SIZE, pieces, lambda column, row: "#5b8c6a", footer, marked, top_down=True, caption=caption, names=DISCS
    )


def checkers(state: Facts, seat: int | None) -> Drawing:
    """The board from Black's side."""
    pieces = {}
    for player in range(2):
        for square in _bits(state.pieces[player]):
            king = int(state.kings) >> square & 1
            letter = "bw"[player].upper() if king else "bw"[player]
            pieces[square % 8, square // 8] = (letter, _disc((BLACK, WHITE)[player], "K" if king else ""))
    footer = checkers_text(state).rsplit("\n", 1)[1]
    return Grid(
        8, 8, pieces, lambda column, row: "#b88a5b" if (column + row) % 2 == 0 else "#efe0c4", footer, names=CHECKERS
    )


def phantom(state: Facts, seat: int | None) -> Drawing:
    """The seat's own marks, and the other's that it has found; the whole board at the end."""
    looks = None if state.ended else seat
    pieces: dict[tuple[int, int], tuple[str, Drawn]] = {}
    for player in range(2):
        for square in _bits(state.marks[player]):
            row, column = divmod(square, int(state.columns) + 1)
            if looks in (None, player) or not int(state.open[looks]) >> square & 1:
                pieces[column, row] = ("XO"[player], _mark("X○"[player]))
    footer = phantom_text(state).rsplit("\n", 1)[1]
    if looks is not None and state.player != looks:
        footer = footer.split(",", 1)[0]
    return Grid(int(state.columns), int(state.rows), pieces, lambda column, row: "#f7f4ea", footer)


def _mark(letter: str) -> Drawn:
    fill = "#1f5fa8" if letter == "X" else "#b3501e"
    return lambda x, y, side: words(x, y + side * 0.22, letter, side * 0.62, "middle", fill, bold=True)


def othello_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The square where the disc goes."""
    return () if action == PASS else (othello_square(state, action),)


def checkers_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The square left, and the square reached."""
    return tuple(map(square_text, divmod(action, SQUARES)))


def phantom_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The square that is tried."""
    return (phantom_square(state, action),)


# ------------------------------------------------------------------------------------------------------------ Backgammon

CHECKER_COLOURS = ("#1d1f23", "#fbf8f0")  # of X and O
CHECKER_NAMES = ("black", "white")
AREA = "transparent"  # of what takes clicks beside a triangle or a text
POINT, HEIGHT, MARGIN = 30.0, 160.0, 20.0


@attrs.frozen
class Points:
    """The board from the side of X.

    Attributes:
        points: (owner, checkers) of the points 1 … 24 as X numbers them.
        bar, off: checkers of each player beside the board.
        dice: still to be played.
        words: the board in text.
        seat: whose numbers the points have; each player counts them towards his own home.
    """

    points: tuple[tuple[int, int], ...]
    bar: tuple[int, int]
    off: tuple[int, int]
    dice: tuple[int, ...]
    words: str
    seat: int | None = None

    def text(self) -> str:
        return self.words

    def svg(self) -> str:
        width = 2 * MARGIN + 13 * POINT + 40
        parts = [box(MARGIN, 24, 13 * POINT, 2 * HEIGHT + 40, "#d8c3a0", EDGE)]
        parts.append(box(MARGIN + 6 * POINT, 24, POINT, 2 * HEIGHT + 40, "#b59b72"))
        parts += [self._point(point) for point in range(1, 25)]
        parts += [self._bar(owner) for owner in range(2) if self.bar[owner]]  # what is empty cannot be clicked
        for owner in range(2):
            x, y = MARGIN + 13 * POINT + 10, 60.0 + 250 * (1 - owner)
            inside = box(x - 6, y - 25, 54, 40, AREA), words(x, y, f"{self.off[owner]} off", 12)
            holds = f"{self.off[owner]} {CHECKER_NAMES[owner]}"
            parts.append(part(f"{CHECKER_NAMES[owner]} off", *inside, label="off", holds=holds))
        for i, die in enumerate(self.dice):
            x = MARGIN + 7.6 * POINT + 36 * i
            parts.append(box(x, 24 + HEIGHT + 6, 28, 28, "#fffdf8", INK, 5))
            parts.append(words(x + 14, HEIGHT + 50, str(die), 17, "middle", bold=True))
        counts = f"; points as {CHECKER_NAMES[self.seat or 0]} counts them"
        footer = in_colours(self.words.rsplit("\n", 1)[1]) + counts
        return svg(width, 2 * HEIGHT + 112, [*parts, words(MARGIN, 2 * HEIGHT + 100, footer, 13)], PAPER, footer)

    def _point(self, point: int) -> str:
        upper = point > 12
        column = point - 13 if upper else 12 - point
        x = MARGIN + POINT * (column + (column > 5))
        foot, tip = (24.0, 24 + HEIGHT * 0.9) if upper else (64 + 2 * HEIGHT, 64 + HEIGHT * 1.1)
        fill = "#a4713f" if point % 2 else "#8c8f7a"
        label, (owner, count) = str(BAR - point if self.seat == 1 else point), self.points[point - 1]
        inside = [f'<path d="M{x:g} {foot:g}h{POINT:g}L{x + POINT / 2:g} {tip:g}z" fill="{fill}"/>']
        inside.append(
            box(x, 6 if upper else tip, POINT, tip - 6 if upper else foot + 20 - tip, AREA)
        )  # with the number
        inside.append(words(x + POINT / 2, 17 if upper else foot + 15, label, 11, "middle", "#6b6f76"))
        step = min(2 * 13.0, (HEIGHT - 20) / max(1, count))
        for i in range(count):
            y = foot + (14 + step * i) * (1 if upper else -1)
            inside.append(disc(x + POINT / 2, y, 13, CHECKER_COLOURS[owner]))
        holds = f"{count} {CHECKER_NAMES[owner]}" if count else ""
        return part(str(point), *inside, label=label if self.seat == 1 else "", holds=holds)

    def _bar(self, owner: int) -> str:
        x, count = MARGIN + 6.5 * POINT, self.bar[owner]
        inside = [
            disc(x, 24 + HEIGHT + (50 + 20 * i) * (1 if owner else -1) + 20, 12, CHECKER_COLOURS[owner])
            for i in range(count)
        ]
        return part(f"{CHECKER_NAMES[owner]} bar", *inside, label="bar", holds=f"{count} {CHECKER_NAMES[owner]}")


def backgammon(state: Facts, seat: int | None) -> Points:
    """The board and the dice; both players see all of it."""
    points = []
    for point in range(1, 25):
        count, opposing = int(state.points[0, point]), int(state.points[1, BAR - point])
        points.append((0, count) if count else (1, opposing))
    dice = [int(die) for die in state.dice if die] if state.actor >= 0 else []
    if len(dice) == 1:
        dice *= int(state.left)
    bar, off = ((int(state.points[0, place]), int(state.points[1, place])) for place in (BAR, OFF))
    return Points(tuple(points), bar, off, tuple(dice), backgammon_text(state), seat)


def backgammon_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The point left, as X numbers it, and the point reached; bar and home of who moves."""
    if action >= ROLL:
        return ()
    die, source = action // POINTS + 1, action % POINTS
    target = max(source - die, OFF)
    places = [place if state.player == 0 or place in (BAR, OFF) else BAR - place for place in (source, target)]
    name = CHECKER_NAMES[state.player]
    return tuple(f"{name} bar" if place == BAR else f"{name} off" if place == OFF else str(place) for place in places)


# --------------------------------------------------------------------------------------------------------- The Confrontation

SIDE_COLOURS = ("#e9e2c8", "#3b3f49")  # of Light and Dark
SIDE_INKS = ("#22252a", "#f3eee3")
REGIONS_WIDTH, CELL_WIDTH, CELL_HEIGHT = 480.0, 118.0, 82.0
LINE_LETTERS = 66  # of a line below the board


@attrs.frozen
class Piece:
    """A piece on the board: its name where the seat knows it, and whom it may be where it does not."""

    side: int
    name: str | None
    strength: int = 0
    suspects: str = ""
    is_own: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.strength}" if self.name else "?"


@attrs.frozen
class Regions:
    """The board with Mordor at the top.

    Attributes:
        pieces: those of each square.
        lines: the hands, the dead, and what is to be done.
    """

    pieces: tuple[tuple[Piece, ...], ...]
    lines: tuple[str, ...]

    def text(self) -> str:
        rows = []
        for row in ROWS:
            for square in row:
                names = [str(each) if each.name else f"{SIDE_NAMES[each.side]} ?" for each in self.pieces[square]]
                rows.append(f"{SQUARE_NAMES[square]:>11}: {', '.join(names)}".rstrip())
        return "\n".join([*rows, *self.lines])

    def svg(self) -> str:
        parts = []
        for i, row in enumerate(ROWS):
            width = CELL_WIDTH * (2 if len(row) == 1 else 1)  # Mordor and the Shire hold four pieces
            left, y = (REGIONS_WIDTH - len(row) * width) / 2, 6 + i * CELL_HEIGHT
            parts += [self._region(square, left + k * width, y, width) for k, square in enumerate(row)]
        top = 6 + len(ROWS) * CELL_HEIGHT
        lines = [short for line in self.lines for short in textwrap.wrap(line, LINE_LETTERS)]
        parts += [words(10, top + 18 + 17 * i, line, 12) for i, line in enumerate(lines)]
        return svg(REGIONS_WIDTH, top + 24 + 17 * len(lines), parts, PAPER, self.lines[-1])

    def _region(self, square: int, x: float, y: float, room: float) -> str:
        inside = [box(x + 2, y + 2, room - 4, CELL_HEIGHT - 4, "#dcd6c4", EDGE, 5)]
        inside.append(words(x + room / 2, y + 15, SQUARE_NAMES[square], 11, "middle", "#55585e"))
        pieces = self.pieces[square]
        across = 1 if len(pieces) <= 2 and room == CELL_WIDTH else 2
        width = (room - 12) / across
        for k, piece in enumerate(pieces):
            row, column = divmod(k, across)
            px, py = x + 6 + column * width, y + 20 + row * 28
            size = min(13.0, 1.7 * (width - 4) / len(str(piece)))
            name = f"<title>{escape(piece.suspects)}</title>" if piece.suspects else ""
            picture = box(px, py, width - 2, 25, SIDE_COLOURS[piece.side], INK, 3)
            picture += words(px + width / 2 - 1, py + 17, str(piece), size, "middle", SIDE_INKS[piece.side])
            inside.append(
                part(piece.name, picture, holds=f"strength {piece.strength}")
                if piece.is_own and piece.name
                else f"<g>{name}{picture}</g>"
            )
        others = [
            str(each) if each.name else f"{SIDE_NAMES[each.side]}, {each.suspects}"
            for each in pieces
            if not each.is_own
        ]
        return part(SQUARE_NAMES[square], *inside, holds="; ".join(others))


def lotr_confrontation(state: Facts, seat: int | None) -> Regions:
    """The board as a side knows it: enemies are named where only one square is possible for them."""
    squares: list[tuple[Piece, ...]] = []
    for square in range(REGIONS):
        here = [piece for piece in range(2 * TEAM) if state.pos[piece] == square]
        pieces = [_piece(state, piece, square, seat) for piece in here]
        squares.append(tuple(sorted(pieces, key=lambda piece: (piece.name is None, piece.name or ""))))
    lines = []
    for side in (DARK, LIGHT):
        dead = ", ".join(PIECE_NAMES[piece] for piece in _team(side) if state.pos[piece] == DEAD)
        name = SIDE_NAMES[side]
        lines += [f"{name} holds {held_cards(state, side)}", f"{name}'s dead: {dead or 'none'}"]
    return Regions(tuple(squares), (*lines, _situation(state, seat)))


def _team(side: int) -> range:
    return range(side * TEAM, side * TEAM + TEAM)


def _piece(state: Facts, piece: int, square: int, seat: int | None) -> Piece:
    side = piece // TEAM
    alone = int(state.possible[piece]) == 1 << square
    if seat in (None, side) or alone or state.winner != NOBODY:
        return Piece(side, PIECE_NAMES[piece], int(STRENGTH[piece]), is_own=seat in (None, side))
    names = [PIECE_NAMES[suspect] for suspect in _team(side) if int(state.possible[suspect]) >> square & 1]
    return Piece(side, None, suspects="may be " + ", ".join(names))


def _situation(state: Facts, seat: int | None) -> str:
    """The decision to be made; who moves unseen is not named to the other side."""
    sentence = board_text(state).rsplit("\n", 1)[1]
    if state.winner != NOBODY or state.node == MOVE or seat in (None, state.side):
        return sentence
    mover = int(state.fighters[state.side])
    is_known = mover >= 0 and int(state.possible[mover]).bit_count() == 1
    return sentence if is_known else sentence.replace(PIECE_NAMES[mover], "a piece", 1)


def lotr_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The piece that moves, and the square reached."""
    if action >= PASS_AMBUSH:
        return ()
    return PIECE_NAMES[action // (REGIONS * REGIONS)], SQUARE_NAMES[action % REGIONS]


def lotr_marks(state: Facts, action: int) -> tuple[str, ...]:
    """The squares of a move, which both sides see."""
    if action >= PASS_AMBUSH:
        return ()
    return SQUARE_NAMES[action // REGIONS % REGIONS], SQUARE_NAMES[action % REGIONS]
