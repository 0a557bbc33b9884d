"""Scenes drawn: every game by one renderer, and a state as a seat may see it.

What a seat is shown is made from a determinization of the state for it, with hidden things face down: even a mistake could only show what
the seat knows, or a guess. Of a game without a board, the text is shown.
"""

import contextlib
import html
import re
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from icarus.audit.draws import Redraws
from icarus.checks import integer
from icarus.compiler.rng import seeded
from icarus.kernel import State, StateData
from icarus.kernel.python_game import value_text
from icarus.kernel.scene import Hand, Scene, Spot

# A page sets the variables, where it is dark; a picture alone has the colours behind them.
FELT, PAPER, INK = "var(--felt, #2f5d50)", "var(--paper, #f3eee3)", "var(--on-paper, #22252a)"
FAINT, ON_FELT, EDGE, CARD_INK = "var(--faint-on-paper, #6b6f76)", "#f3eee3", "#8a8478", "#22252a"
CARD_BACK, _FACE, RED_INK = "#3d5a80", "#fffdf8", "#b3261e"
SIDE, MARGIN, WIDTH = 40.0, 14.0, 392.0  # of a square; around all; of a table with rows
# Of a line of text in a picture, and the size of one, so that it can be read on a small screen.
LETTERS, LETTER = 48, 16
COLOURS = {
    "black": "#1d1f23",
    "white": "#fbf8f0",
    "grey": EDGE,
    "ink": CARD_INK,
    "blue": "#1f5fa8",
    "orange": "#b3501e",
    "ivory": "#f3ecd8",
    "parchment": "#f6eed8",
    "sand": "#d9c7a3",
    "wood": "#b88a5b",
    "brown": "#8c6f4c",
    "gold": "#c9a13b",
    "green": "#5b8c6a",
    "meadow": "#7d9a6b",
    "stone": "#8a8f86",
    "purple": "#4a3b52",
}
# The colours of a terminal, and what XML must not have.
_INVISIBLE = re.compile(r"\x1b\[[\d;]*m|[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LABEL = 13  # size of what is written on a point, a region or a wide place
_CARD = 40.0  # how wide a card is, and how large most other things
_GAP = 4  # between two things of a row
_STACKED = 13  # from a card face down to the next one
IN_A_LINE = 13  # cards of a row that overlap, rather than go on in a second line
STACK = 5  # pieces that are drawn on one point of a board; of more the last says how many
SUITS, RED = ("♣", "♦", "♠", "♥"), ("♦", "♥", "R")
_HEIGHTS = {"card": 56, "plate": 22}  # of what is not as high as it is wide
# by the ninths of a die
PIPS = {"1": "4", "2": "26", "3": "246", "4": "0268", "5": "02468", "6": "023568"}


def svg(scene: Scene) -> str:
    """The scene as one SVG element on a ground of its own; what one can click is marked `data-part`."""
    is_table = bool(scene.rows or scene.middle)
    if not (scene.places or is_table):
        return _lines([*scene.words, *filter(None, [scene.footer])])
    right = max((place.x + place.width for place in scene.places), default=0) * SIDE
    room = max(WIDTH if is_table else 200, right)
    parts = []
    y = MARGIN
    for height, picture in _blocks(scene, ON_FELT if is_table else INK, room):
        parts.append(_at(MARGIN, y, picture))
        y += height
    ground = FELT if is_table else PAPER
    return frame(room + 2 * MARGIN, y + 4, parts, ground, scene.title or scene.footer)


def _blocks(scene: Scene, ink: str, room: float) -> Iterator[tuple[float, str]]:
    """What stands below each other, with its height: the own row comes last."""
    if scene.title:
        yield 26, words(0, 10, scene.title, 14, fill=ink, is_bold=True)
    if scene.places:
        height = max(place.y + place.height for place in scene.places) * SIDE
        yield height + 8, _board(scene, ink)
    yield from (_row(row, room) for row in scene.rows if not row.is_own)
    if scene.middle:
        yield _flow([_open_card(*card) for card in scene.middle], 80, room)
    yield from (_row(row, room) for row in scene.rows if row.is_own)
    if scene.footer:
        yield 22, words(0, 10, scene.footer, 13, fill=ink)


def frame(
    width: float, height: float, parts: Iterable[str], ground: str, title: str, kind: str = "board"
) -> str:
    """One SVG element of this size on a coloured ground; `kind` is its class in a page."""
    size = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:g} {height:g}" role="img" class="{kind}" '
        f'font-family="system-ui, sans-serif"><title>{_escaped(title)}</title><rect {size} rx="6" fill="{ground}"/>'
        f"{''.join(parts)}</svg>"
    )


def _escaped(text: str) -> str:
    """Text for XML."""
    return html.escape(_INVISIBLE.sub("", text))


def _lines(lines: Sequence[str]) -> str:
    """A picture of text, where nothing else is known."""
    fold = textwrap.TextWrapper(LETTERS, replace_whitespace=False, subsequent_indent="  ").wrap
    short = [each for line in lines for each in fold(_INVISIBLE.sub("", line)) or [""]]
    # a letter is 0.61 of its size wide; an emoji, or a letter of Chinese, twice as wide
    width = max([30, *map(cell_len, short)]) * 0.61 * LETTER + 28
    pitch = 1.4 * LETTER
    texts = (words(14, 28 + pitch * i, line, LETTER) for i, line in enumerate(short))
    parts = ['<g font-family="ui-monospace, monospace" xml:space="preserve">', *texts, "</g>"]
    return frame(width, 20 + pitch * len(short), parts, PAPER, "; ".join(lines), "words")


def words(
    x: float,
    y: float,
    text: str,
    size: float = 12,
    anchor: str = "start",
    fill: str = INK,
    is_bold: bool = False,
) -> str:
    """Text at a place."""
    if not text:
        return ""
    style = f'font-size="{size:g}" text-anchor="{anchor}" fill="{COLOURS.get(fill, fill)}"'
    weight = ' font-weight="bold"' if is_bold else ""
    return f'<text x="{x:g}" y="{y:g}" {style}{weight}>{_escaped(text)}</text>'


def _box(width: float, height: float, fill: str, stroke: str = EDGE, rx: float = 0) -> str:
    size = f'width="{width:g}" height="{height:g}" rx="{rx:g}"'
    return f'<rect {size} fill="{COLOURS.get(fill, fill)}" stroke="{stroke}"/>'


def _disc(x: float, y: float, radius: float, fill: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{COLOURS.get(fill, fill)}" stroke="{EDGE}"/>'


def _part(name: str, inside: str, kind: str, holds: str = "", attribute: str = "part") -> str:
    """Something that one can click, or that a mark may point out: its name in a move, and what it `holds`, in words."""
    description = f' aria-label="{_escaped(f"{name}, {holds}")}"' if holds else ""
    return f'<g class="{kind}" data-{attribute}="{_escaped(name)}"{description}>{inside}</g>'


def _at(x: float, y: float, picture: str) -> str:
    return f'<g transform="translate({x:g} {y:g})">{picture}</g>'


def _board(scene: Scene, ink: str) -> str:
    """The ways between the places, and the places."""
    middles = {
        place.name: f"{(place.x + place.width / 2) * SIDE:g} {(place.y + place.height / 2) * SIDE:g}"
        for place in scene.places
    }
    paths = [
        f'<path d="M{middles[begin]}L{middles[end]}" stroke="{ink}" opacity=".5"/>'
        for begin, end in scene.paths
    ]
    places = [_at(place.x * SIDE, place.y * SIDE, _place(place)) for place in scene.places]
    return "".join(paths + places)


def _place(place: Spot) -> str:
    """The ground of a place, its pieces and its label, which is at the top, or at the tip of a point."""
    width, height = place.width * SIDE, place.height * SIDE
    size: float = 9 if place.width == place.height else _LABEL
    ground = _box(width, height, place.fill, rx=8 if place.shape == "region" else 0)
    baseline, ink = size, CARD_INK
    if place.shape in ("up", "down"):
        ink, base, tip = ON_FELT, height, 6.0
        if place.shape == "down":
            baseline, base, tip = height - 4, 0, height - 6
        # the box can be clicked beside the triangle, too
        points = f"0,{base:g} {width:g},{base:g} {width / 2:g},{tip:g}"
        ground = _box(width, height, "transparent", "none")
        ground += f'<polygon points="{points}" fill="{COLOURS.get(place.fill, place.fill)}"/>'
    label = words(3, baseline, place.label, size, fill=ink)
    inside = "".join([ground, *_pieces(place, width, height), label])
    return _part(place.name, inside, "place", place.holds())


def _pieces(place: Spot, width: float, height: float) -> Iterator[str]:
    """The pictures of a place's pieces: one alone is in the middle, several lie on each other from the top; a point has them at its base.

    Long ones lie below each other, below the label.
    """
    radius, last = SIDE * 0.38, min(len(place.pieces), STACK) - 1
    pitch = min(2 * radius, (height - 2 * radius) / max(1, last))
    for i, piece in enumerate(place.pieces):
        sign = piece.sign
        if piece.is_long:
            y = _LABEL + 14.0 + 21 * i
            shape = _at(3, y - 10, _box(width - 6, 20, piece.fill, rx=3))
            # so that the sign has room
            size = min(14, (width - 8) / (0.58 * max(1, cell_len(sign))))
        else:
            y = radius + pitch * min(i, last)
            if place.shape == "up":
                y = height - y
            elif place.shape != "down" and last == 0:
                y = height / 2
            shape = _disc(width / 2, y, radius, piece.fill) if piece.fill else ""
            size = 18.0 if piece.fill else 25.0
            # those beyond STACK lie on the last place, and say how many there are
            if i > last:
                sign = str(i + 1)
        is_bold = not piece.is_long
        text = words(width / 2, y + size * 0.35, sign, size, "middle", piece.ink, is_bold)
        picture = shape + text
        yield _part(piece.name, picture, "piece", piece.words) if piece.name else picture


def _item(kind: str, name: str | None) -> tuple[float, str]:
    """The width and the picture of a card, a die, a stake or a text on a plate; of its back, if it has no name."""
    width = 7.6 * cell_len(name or "") + 10 if kind == "plate" else _CARD
    height = _HEIGHTS.get(kind, _CARD)
    if name is None:
        return width, _box(width, height, CARD_BACK, ON_FELT, 4)
    ink = RED_INK if name.endswith(RED) else CARD_INK
    shape = _box(width, height, _FACE, EDGE, 4)
    if kind == "card":
        suit = ""
        if name.endswith(SUITS):
            suit = name[-1]
        elif name in ("B", "R"):  # the black and the red joker
            suit = "★"
        rank = name.removesuffix(suit)
        inside = words(4, 17, rank, 17, fill=ink, is_bold=True) + words(4, 34, suit, 18, fill=ink)
    elif kind == "plate":
        inside = words(width / 2, 16, name, 13, "middle", CARD_INK)
    elif kind == "die" and name in PIPS:
        spots = (divmod(int(pip), 3) for pip in PIPS[name])
        inside = "".join(_disc(10 + 10 * column, 10 + 10 * line, 3, ink) for line, column in spots)
    else:
        inside = words(20, 26, name, 17, "middle", ink, is_bold=True)
        shape = _disc(20, 20, 20, "gold") if kind == "stake" else shape
    return width, shape + inside


def _row(row: Hand, room: float) -> tuple[float, str]:
    """The height of a row under its owner's name, smaller where it is another's, and how it is drawn."""
    items: Sequence[str | None] = row.items or [None] * row.count
    count = f"{row.count} hidden" if row.items is None else ""
    title = " · ".join(filter(None, [row.name, row.note, count])) + ("" if items else ": none")
    picture = words(0, 12, title, fill=ON_FELT, is_bold=row.is_own)
    is_plate = row.kind == "plate"
    scale = 1.0
    if not (row.is_own or is_plate):
        scale = 0.65 if row.items else 0.45
    things = []
    for name in items:
        width, item = _item(row.kind, name)
        step = width * scale + _GAP
        if not is_plate:  # so close that IN_A_LINE of them have room
            step = min(step, (room - _CARD * scale) / max(1, min(len(items), IN_A_LINE) - 1))
        if row.items is None and row.kind == "card":
            step = min(step, _STACKED)
        item = _part(name, item, row.kind) if row.is_own and name else item
        things.append((step, f'<g transform="scale({scale:g})">{item}</g>'))
    height, below = _flow(things, _HEIGHTS.get(row.kind, _CARD) * scale + _GAP, room)
    return height + 22, picture + _at(0, 18, below)


def _open_card(label: str, name: str | None) -> tuple[float, str]:
    """How much room a card takes that lies open, with what is said of it below."""
    card = _part(name or "", _item("card", name)[1], "card", attribute="shown")
    return max(40, 6.2 * cell_len(label)) + 10, card + words(0, 69, label, 11, fill=ON_FELT)


def _flow(things: Sequence[tuple[float, str]], height: float, room: float) -> tuple[float, str]:
    """Pictures beside each other, each with its distance to the next one, on lines of this height; with the height of all lines."""
    x = y = 0.0
    parts = []
    for step, picture in things:
        if x and x + step > room:
            x = 0
            y += height
        parts.append(_at(x, y, picture))
        x += step
    return y + height if parts else 0, "".join(parts)


# ------------------------------------------------------------------------------------------------ what a seat may see


HIDDEN = "?"  # stands for a word that a seat does not know, in the text of a game without a picture
# Determinizations of which such a text is made, the seconds after which the fewest are enough, and other deals whose facts are tried.
DRAWS, FEWEST, PATIENCE, DEALS = 100, 12, 0.2, 6
# What stands between lines, and between words: brackets and quotation marks only where they open or close.
_BETWEEN = r"\s,;:()\[\]{}<>'\""
LINE = re.compile(r"(\n)")
WORD = re.compile(rf"(\s+|[,;:()]|(?<![^{_BETWEEN}])[\[{{<'\"]|[\]}}>'\"](?![^{_BETWEEN}]))")
ESTIMATED = "(estimated: the game has no `observation`, which says what a player knows)"


def drawing(state: State, seat: int | None = None, *, drawn_for: bool = False) -> Scene:
    """A state as a seat may see it; as the environment sees it, everything open, for None.

    A game without a board is shown by its text; where it hides information, to a seat only what it knows.

    Args:
        drawn_for: whether the state comes from a determinization for this seat; it is not drawn again then (in a search, games
            need not keep up what players know).

    Raises:
        ValueError: no such seat.
    """
    game = state.game
    if seat is not None:
        integer("seat", seat, 0, game.players - 1)
    if seat is None or drawn_for or game.determinize is None or state.is_terminal():
        view = state
    elif game.board is None:
        return _certain(state, seat)
    else:
        view = state.determinize(seat, seed=0)
    if game.board is None:
        return Scene(words=tuple(str(view).split("\n")))
    return game.board.scene(view.facts, seat)


def _certain(state: State, seat: int) -> Scene:
    """The text of a state without the words that differ between states that the seat holds for possible.

    The game's observation tells which other states look the same to the seat; without one, draws alone may agree by chance. It is shown
    itself where a line is hidden as a whole, with what the seat knows of it.
    """
    game = state.game
    beliefs = state.beliefs(seat)
    generator = seeded(0)
    began = time.monotonic()
    draws = list[StateData]()
    while len(draws) < FEWEST or len(draws) < DRAWS and time.monotonic() < began + PATIENCE:
        draws.append(state.redraw(seat, beliefs, generator))
    texts = [game.text_of(game.facts_of(data)) for data in draws]
    footer = ESTIMATED
    if game.observation is not None:
        footer = ""
        deals = [game.new_initial_state(seed=number).data for number in range(DEALS)]
        for data in Redraws(game).alike(draws[0], seat, [*deals, *draws]):
            # These states need not be possible: the text of one may fail, or have other words, so that all would be hidden.
            with contextlib.suppress(Exception):
                text = game.text_of(game.facts_of(data))
                if len(WORD.split(text)) == len(WORD.split(texts[0])):
                    texts.append(text)
    lines = _agreed(texts).split("\n")
    if game.observation is not None and HIDDEN in lines:
        view = game.observation(game.facts_of(draws[0]), seat)
        lines += f"observation: {value_text(view)}".split("\n")
    return Scene(words=tuple(lines), footer=footer)


def _agreed(texts: Sequence[str], cuts: Sequence[re.Pattern[str]] = (LINE, WORD)) -> str:
    """The text that several have in common, with HIDDEN for each word that differs, and for a line or a text of other words."""
    if len({*texts}) == 1:
        return texts[0]
    pieces = [cuts[0].split(text) for text in texts] if cuts else []
    if len({*map(len, pieces)}) != 1:
        return HIDDEN
    return "".join(_agreed(same, cuts[1:]) for same in zip(*pieces, strict=True))


def parts(state: State, action: int, scene: Scene, seat: int | None = None) -> tuple[str, ...]:
    """The parts of the scene that one clicks, in order, to take an action; () where only a button does it."""
    board = state.game.board
    names = board.parts(state.facts, action, seat) if board and board.parts else None
    return scene.names_in(state.action_to_string(action)) if names is None else names


def seen_parts(state: State, action: int) -> tuple[str, ...]:
    """The parts in which everybody sees that an action is done in this state; () where a game does not say so."""
    board = state.game.board
    return board.marks(state.facts, action) if board and board.marks else ()
