"""What boards and card tables are drawn with: pieces of SVG, and the two layouts that most games share."""

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Protocol

import attrs

FELT, PAPER, INK, FAINT, EDGE = "#2f5d50", "#f3eee3", "#22252a", "#6b6f76", "#8a8478"
CARD_BACK, RED_INK = "#3d5a80", "#b3261e"
WIDTH = 420  # of a card table
LETTERS = 60  # of a line of text in a picture, so that it can be read on a small screen
ON_FELT = "#f3eee3"
SUITS = "♠♥♦♣"
DISCS = {"X": "black", "O": "white"}  # the colours of players whom a text calls X and O


class Drawing(Protocol):
    """A state as one seat sees it."""

    def svg(self) -> str:
        """A picture: one SVG element, on a ground of its own, with the parts one can click marked `data-part`."""

    def text(self) -> str:
        """The same for a terminal."""


def svg(
    width: float, height: float, parts: Iterable[str], ground: str = PAPER, title: str = "", kind: str = "board"
) -> str:
    """One SVG element of this size on a coloured ground; `kind` is its class in a page."""
    named = f"<title>{escape(title)}</title>" if title else ""
    size = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:g} {height:g}" role="img" class="{kind}" '
        f'font-family="system-ui, sans-serif">{named}<rect {size} rx="6" fill="{ground}"/>{"".join(parts)}</svg>'
    )


def words(
    x: float, y: float, text: str, size: float = 12, anchor: str = "start", fill: str = INK, bold: bool = False
) -> str:
    """Text at a place."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" fill="{fill}"{weight}>{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none", rx: float = 0) -> str:
    """A rectangle."""
    round_ = f' rx="{rx:g}"' if rx else ""
    line = f' stroke="{stroke}"' if stroke != "none" else ""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{round_} fill="{fill}"{line}/>'


def disc(x: float, y: float, radius: float, fill: str) -> str:
    """A round piece."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{INK}"/>'


def part(name: str, *inside: str, label: str = "", holds: str = "") -> str:
    """Something that one can click: its name in a move, the name that is its `label` if that is another, and what it `holds`, in words."""
    description = ", ".join(text for text in (label or name, holds) if text)
    attributes = f' data-shown="{escape(label, quote=True)}"' if label else ""
    attributes += f' aria-label="{escape(description, quote=True)}"' if description != name else ""
    return f'<g data-part="{escape(name, quote=True)}"{attributes}>{"".join(inside)}</g>'


# ----------------------------------------------------------------------------------------------------------------- cards


@attrs.frozen
class Hand:
    """The cards that one player holds: face up, or only how many.

    Attributes:
        name, note: whose, and a remark beside it.
        cards: as written, "Q♠"; None where they lie face down.
        count: how many there are.
        is_own: whether it is the hand of who looks.
    """

    name: str
    cards: tuple[str, ...] | None
    count: int
    note: str = ""
    is_own: bool = False


@attrs.frozen
class CardTable:
    """A card table: the hands, and what lies in the middle.

    Attributes:
        title: a line above.
        hands: the players' in order.
        middle: (label, card) of each card that lies open; None for a card face down.
        footer: what is to be done.
    """

    title: str
    hands: tuple[Hand, ...]
    middle: tuple[tuple[str, str | None], ...] = ()
    footer: str = ""

    def played_from(self, player: int) -> "CardTable":
        """The same with the hand of a player as that of who looks."""
        hands = [attrs.evolve(hand, is_own=number == player) for number, hand in enumerate(self.hands)]
        return attrs.evolve(self, hands=tuple(hands))

    def text(self) -> str:
        lines = [self.title]
        for hand in self.hands:
            note = f", {hand.note}" if hand.note else ""
            content = " ".join(hand.cards) or "-" if hand.cards is not None else f"{hand.count} face down"
            lines.append(f"{hand.name}{note}: {content}")
        if self.middle:
            together = itertools.groupby(self.middle, key=lambda texts: texts[0])
            texts = (" ".join([label, *(card or "face down" for _, card in cards)]) for label, cards in together)
            lines.append("table: " + ", ".join(text.strip() for text in texts))
        return "\n".join([*lines, *([self.footer] if self.footer else [])])

    def svg(self) -> str:
        parts, y = [words(14, 24, self.title, 14, fill=ON_FELT, bold=True)], 40.0
        for hand in (each for each in self.hands if not each.is_own):
            elements, y = _hand(hand, y)
            parts += elements
        if self.middle:
            elements, y = _middle(self.middle, y)
            parts += elements
        for hand in (each for each in self.hands if each.is_own):
            elements, y = _hand(hand, y)
            parts += elements
        if self.footer:
            parts.append(words(14, y + 10, self.footer, 13, fill=ON_FELT))
            y += 22
        return svg(WIDTH, y + 4, parts, FELT, self.title, "cards")


def card(x: float, y: float, name: str | None, width: float = 36, clickable: bool = False) -> str:
    """A card face up, or its back."""
    height = width * 1.4
    if name is None:
        return box(x, y, width, height, CARD_BACK, ON_FELT, 4)
    ink = RED_INK if name[-1] in "♦♥" or name == "rj" else INK
    rank, suit = (name[:-1], name[-1]) if name[-1] in SUITS else (name, "")
    face = [
        box(x, y, width, height, "#fffdf8", EDGE, 4),
        words(x + 4, y + width * 0.42, rank, width * 0.42, fill=ink, bold=True),
    ]
    if suit:
        face.append(words(x + 4, y + width * 0.86, suit, width * 0.44, fill=ink))
    return part(name, *face) if clickable else "".join(face)


def _hand(hand: Hand, y: float) -> tuple[list[str], float]:
    """A hand under its owner's name, smaller where it is another's, and where it ends."""
    title = hand.name + (f" · {hand.note}" if hand.note else "")
    parts = [words(14, y + 12, title, 12, fill=ON_FELT, bold=hand.is_own)]
    y += 18
    if hand.cards is None:
        parts += [card(14 + 13 * i, y, None, 18) for i in range(hand.count)]
        parts.append(words(24 + 13 * hand.count + 10, y + 17, str(hand.count), 12, fill=ON_FELT))
        return parts, y + 34
    width, most = (40.0, 13) if hand.is_own else (24.0, 21)
    across = min(len(hand.cards), most)
    pitch = min(width + 2, (WIDTH - 28 - width) / max(1, across - 1))  # side by side, or on top of each other
    for i, name in enumerate(hand.cards):
        row, column = divmod(i, across)
        parts.append(card(14 + pitch * column, y + row * (width * 1.4 + 4), name, width, clickable=hand.is_own))
    rows = max(1, -(-len(hand.cards) // max(1, across)))
    return parts, y + rows * (width * 1.4 + 4) + 6


def _middle(cards: tuple[tuple[str, str | None], ...], y: float) -> tuple[list[str], float]:
    parts, width, x, line = [], 40.0, 14.0, 0
    for label, name in cards:
        room = max(width, 6.2 * len(label)) + 10
        if x + room > WIDTH - 10:
            x, line = 14.0, line + 1
        top = y + 6 + line * (width * 1.4 + 24)
        parts += [card(x, top, name, width), words(x, top + width * 1.4 + 13, label, 11, fill=ON_FELT)]
        x += room
    return parts, y + 6 + (line + 1) * (width * 1.4 + 24)


# ---------------------------------------------------------------------------------------------------------------- boards


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


@attrs.frozen
class Lines:
    """A state in words, where no picture is known."""

    lines: tuple[str, ...]

    def text(self) -> str:
        return "\n".join(self.lines)

    def svg(self) -> str:
        fold = textwrap.TextWrapper(LETTERS, replace_whitespace=False, subsequent_indent="  ").wrap
        lines = [short for line in self.lines for short in fold(line) or [""]]
        width = max([40, *map(len, lines)]) * 7.3 + 28
        style = 'font-family="ui-monospace, monospace" xml:space="preserve"'
        parts = [
            f'<text x="14" y="{26 + 17 * i}" font-size="12" fill="{INK}" {style}>{escape(line)}</text>'
            for i, line in enumerate(lines)
        ]
        return svg(width, 26 + 17 * len(lines), parts, title="; ".join(self.lines))
