"""What boards and card tables are drawn with: pieces of SVG, and the two layouts that most games share."""

import textwrap
from collections.abc import Iterable
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
