"""Lord of the Rings: The Confrontation: sixteen regions, and pieces that stand with their backs to the enemy."""

import textwrap
from html import escape

import attrs

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
    SQUARES,
    STRENGTH,
    TEAM,
    held_cards,
)
from icarus.games.lotr_confrontation import text as board_text
from icarus.kernel import Facts
from icarus.views.drawing import EDGE, INK, PAPER, box, part, svg, words

COLOURS = ("#e9e2c8", "#3b3f49")  # of Light and Dark
INKS = ("#22252a", "#f3eee3")
WIDTH, CELL_WIDTH, CELL_HEIGHT = 480.0, 118.0, 82.0
LETTERS = 66  # of a line below the board


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
            left, y = (WIDTH - len(row) * width) / 2, 6 + i * CELL_HEIGHT
            parts += [self._region(square, left + k * width, y, width) for k, square in enumerate(row)]
        top = 6 + len(ROWS) * CELL_HEIGHT
        lines = [short for line in self.lines for short in textwrap.wrap(line, LETTERS)]
        parts += [words(10, top + 18 + 17 * i, line, 12) for i, line in enumerate(lines)]
        return svg(WIDTH, top + 24 + 17 * len(lines), parts, PAPER, self.lines[-1])

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
            picture = box(px, py, width - 2, 25, COLOURS[piece.side], INK, 3)
            picture += words(px + width / 2 - 1, py + 17, str(piece), size, "middle", INKS[piece.side])
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
    for square in range(SQUARES):
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
    return PIECE_NAMES[action // (SQUARES * SQUARES)], SQUARE_NAMES[action % SQUARES]


def lotr_marks(state: Facts, action: int) -> tuple[str, ...]:
    """The squares of a move, which both sides see."""
    if action >= PASS_AMBUSH:
        return ()
    return SQUARE_NAMES[action // SQUARES % SQUARES], SQUARE_NAMES[action % SQUARES]
