"""Scenes: the facts of a position that are to be seen, as a game tells them; `icarus.views.boards` draws them.

A scene has places (squares, points, the regions of a map) with pieces on them, and rows of cards, dice or stakes, each with its owner. What
can be clicked has a name, as moves have it: a place, a piece with a name, the cards of who looks.
"""

import functools
import itertools
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import attrs

from icarus.kernel.contract import Facts


@attrs.frozen
class Piece:
    """What stands on a place: a disc of this colour with a sign on it, or without a colour a sign alone.

    Colours are names, such as "black", "gold", or those of CSS.

    Attributes:
        words: what it is, for who does not see it.
        name: as in moves, where it is clicked itself.
        is_long: whether the sign is a text, on a plate.
    """

    words: str
    fill: str = ""
    sign: str = ""
    name: str = ""
    ink: str = "grey"
    is_long: bool = False


@attrs.frozen
class Spot:
    """A part of a board, with what stands on it.

    Attributes:
        name: as in moves.
        x, y, width, height: in sides of a square; y goes down.
        shape: "square", "region", or "up" or "down" for a point, by where its tip is.
        label: written on it.
    """

    name: str
    x: float
    y: float
    pieces: tuple[Piece, ...] = ()
    fill: str = "ivory"
    label: str = ""
    width: float = 1
    height: float = 1
    shape: str = "square"

    def holds(self) -> str:
        """What stands on it, in words."""
        counts = Counter(piece.words for piece in self.pieces)
        return ", ".join(
            words if count == 1 else f"{count} {words}" for words, count in counts.items()
        )


@attrs.frozen
class Hand:
    """Cards, dice or stakes beside each other: face up, or only how many.

    Attributes:
        name, note: whose, and a remark beside it.
        items: as written, "Q♠"; None where they are hidden.
        count: how many there are, if they are hidden.
        kind: "card", "die", "stake", or "plate" for a text.
        is_own: whether they are those of who looks, who may click on them.
    """

    name: str
    items: tuple[str, ...] | None
    count: int = 0
    note: str = ""
    is_own: bool = False
    kind: str = "card"


@attrs.frozen
class Scene:
    """A position as one seat sees it.

    Attributes:
        title: a line above.
        places: of the board, if there is one.
        paths: pairs of names of places, between which a way leads.
        rows: of cards, dice, stakes; the own ones come last in the picture.
        middle: (label, card) of each card that lies open; None for a card face down.
        footer: what is to be done.
        words: the board in lines of text; by default the places with what stands on them.
    """

    title: str = ""
    places: tuple[Spot, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    rows: tuple[Hand, ...] = ()
    middle: tuple[tuple[str, str | None], ...] = ()
    footer: str = ""
    words: tuple[str, ...] = ()

    def opened_to(self, player: int) -> "Scene":
        """The scene for a player who looks at it: of all rows, that of his number is his own."""
        rows = [attrs.evolve(row, is_own=number == player) for number, row in enumerate(self.rows)]
        return attrs.evolve(self, rows=tuple(rows))

    def with_words(self, change: Callable[[str], str]) -> "Scene":
        """The scene with each of its texts changed; names and cards stay, as moves have them."""
        places = []
        for place in self.places:
            pieces = [
                attrs.evolve(piece, words=change(piece.words), sign=change(piece.sign))
                for piece in place.pieces
            ]
            places.append(attrs.evolve(place, label=change(place.label), pieces=tuple(pieces)))
        rows = [
            attrs.evolve(row, name=change(row.name), note=change(row.note)) for row in self.rows
        ]
        return attrs.evolve(
            self,
            title=change(self.title),
            places=tuple(places),
            rows=tuple(rows),
            middle=tuple((change(label), card) for label, card in self.middle),
            footer=change(self.footer),
            words=tuple(map(change, self.words)),
        )

    def names_in(self, text: str) -> tuple[str, ...]:
        """The names of places, pieces and open cards that a text has, in its order."""
        return tuple(filter(None, self._names.findall(text)))

    @functools.cached_property
    def _names(self) -> re.Pattern[str]:
        names = {place.name for place in self.places}
        names |= {piece.name for place in self.places for piece in place.pieces if piece.name}
        names |= {item for row in self.rows for item in row.items or ()}
        names |= {card for _, card in self.middle if card}
        names.discard("")
        longest_first = sorted(map(re.escape, names), key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")

    def text(self) -> str:
        """The scene for a terminal."""
        standing = [f"{place.name:>11}: {place.holds()}" for place in self.places if place.pieces]
        lines = [*filter(None, [self.title]), *(self.words or standing)]
        for row in self.rows:
            note = f", {row.note}" if row.note else ""
            content = f"{row.count} face down" if row.items is None else " ".join(row.items) or "-"
            lines.append(f"{row.name}{note}: {content}")
        if self.middle:
            texts = []
            for label, pairs in itertools.groupby(self.middle, key=operator.itemgetter(0)):
                cards = [card or "face down" for _, card in pairs]
                texts.append(" ".join([label, *cards]).strip())
            lines.append("table: " + ", ".join(texts))
        return "\n".join([*lines, *filter(None, [self.footer])])


def grid(
    lines: Sequence[str], pieces: Mapping[str, Piece], fills: tuple[str, str], footer: str = ""
) -> Scene:
    """A board of squares, as a game writes it: a line with the letters of the columns, and a line for each row, its number first.

    Args:
        pieces: by their letters in the lines.
        fills: the colours of the squares by turns, that of a1 first.
    """
    heading = next(line for line in lines if line[0] == " ")
    rows = [line.split() for line in lines if line[0] != " "]
    places = []
    for y, (number, *squares) in enumerate(rows):
        for x, (letter, sign) in enumerate(zip(heading.split(), squares, strict=True)):
            standing = (pieces[sign],) if sign in pieces else ()
            # the letters stand in the first row, the numbers in the first column
            label = letter if y == 0 else ""
            label += number if x == 0 else ""
            fill = fills[(x + int(number) - 1) % 2]
            places.append(Spot(letter + number, x, y, standing, fill, label))
    return Scene(places=tuple(places), words=tuple(lines), footer=_in_words(footer, pieces))


def _in_words(footer: str, pieces: Mapping[str, Piece]) -> str:
    """A sentence with what pieces are in place of their letters."""

    def named(letter: re.Match[str]) -> str:
        return pieces[letter[0]].words if letter[0] in pieces else letter[0]

    return re.sub(r"\b\w\b", named, footer)


@attrs.frozen
class Drawing:
    """How a game is drawn, and played by clicks.

    Attributes:
        scene: `scene(facts, seat)`, what a seat sees; None sees everything.
        parts: `parts(facts, action, seat)`, the parts of the scene that one clicks to take an action, in order; where it is None, or says
            so, the parts that the action's text names.
        marks: `marks(facts, action)`, the parts in which everybody sees that something was done, where one may see where, but not what.
        is_choice: whether an action is a choice of cards, which are clicked in any order.
        colours: of the seats' pieces.
        reading: `reading(text)`, the notation of the game for what people write.
    """

    scene: Callable[[Facts, int | None], Scene]
    parts: Callable[[Facts, int, int | None], tuple[str, ...] | None] | None = None
    marks: Callable[[Facts, int], tuple[str, ...]] | None = None
    is_choice: bool = False
    colours: tuple[str, ...] = ()
    reading: Callable[[str], str] = str

    def text(self, facts: Facts) -> str:
        """The scene in words, with all that is hidden."""
        return self.scene(facts, None).text()


def held_by(
    seat: int | None,
    player: int,
    items: tuple[str, ...],
    note: str = "",
    name: str = "",
    kind: str = "card",
) -> Hand:
    """What a player holds, open to him and to None, who sees everything."""
    is_own = seat == player
    title = (name or f"player {player}") + (" (you)" if is_own else "")
    return Hand(title, items if is_own or seat is None else None, len(items), note, is_own, kind)


def by_buttons(state: Facts, action: int, seat: int | None) -> tuple[str, ...]:
    """No parts, for a `Drawing` of a game whose actions, such as "raise 2", name nothing that is drawn."""
    return ()
