"""Scenes drawn: every game by one renderer, and a state as a seat may see it.

What a seat is shown is made from a determinization of the state for it, with hidden things face down: even a mistake could only show what
the seat knows, or a guess. Of a game without a board, the text is shown.
"""

import contextlib
import re
import textwrap
import time
from collections.abc import Iterable, Sequence
from html import escape

from icarus.audit.draws import Redraws
from icarus.checks import indices_text
from icarus.compiler.rng import seeded
from icarus.kernel import AnyGame, State, StateData
from icarus.kernel.scene import Hand, Scene, Spot

# A page sets the variables, where it is dark; a picture alone has the colours behind them.
FELT, PAPER, INK = "var(--felt, #2f5d50)", "var(--paper, #f3eee3)", "var(--on-paper, #22252a)"
FAINT, ON_FELT, EDGE, CARD_INK = "var(--faint-on-paper, #6b6f76)", "#f3eee3", "#8a8478", "#22252a"
CARD_BACK, RED_INK = "#3d5a80", "#b3261e"
SIDE, MARGIN, WIDTH = 40.0, 14.0, 420.0  # of a square; around all; of a table with rows
# Of a line of text in a picture, and the size of one, so that it can be read on a small screen.
LETTERS, LETTER = 48, 16
COLOURS = {
    "black": "#1d1f23",
    "white": "#fbf8f0",
    "grey": EDGE,
    "ink": CARD_INK,
    "blue": "#1f5fa8",
    "orange": "#b3501e",
}
COLOURS |= {
    "ivory": "#f3ecd8",
    "parchment": "#f6eed8",
    "sand": "#d9c7a3",
    "wood": "#b88a5b",
    "brown": "#8c6f4c",
    "gold": "#c9a13b",
}
COLOURS |= {"green": "#5b8c6a", "meadow": "#7d9a6b", "stone": "#8a8f86", "purple": "#4a3b52"}
_LABEL = 13  # size of what is written on a point, a region or a wide place
STACK = 5  # pieces that are drawn on one point of a board; of more the last says how many
SUITS, RED = "♣♦♠♥", "♦♥R"
# by the ninths of a die
PIPS = {"1": "4", "2": "26", "3": "246", "4": "0268", "5": "02468", "6": "023568"}


def svg(scene: Scene) -> str:
    """The scene as one SVG element on a ground of its own; what one can click is marked `data-part`."""
    if not (scene.places or scene.rows or scene.middle):
        return _lines([*scene.words, *filter(None, [scene.footer])])
    is_table = bool(scene.rows or scene.middle)
    ink = ON_FELT if is_table else INK
    board_width = (
        max([place.x + place.width for place in scene.places], default=0) * SIDE + 2 * MARGIN
    )
    width = max(WIDTH if is_table else 200, board_width)
    parts = []
    y = MARGIN
    if scene.title:
        parts = [words(MARGIN, 24, scene.title, 14, fill=ink, is_bold=True)]
        y = 40.0
    if scene.places:
        parts += _board(scene.places, scene.paths, y, ink)
        y += max(place.y + place.height for place in scene.places) * SIDE + 8
    last = [row for row in scene.rows if row.is_own]
    for row in (each for each in scene.rows if not each.is_own):
        y = _draw_row(parts, row, y, width)
    if scene.middle:
        y = _draw_middle(parts, scene.middle, y, width)
    for row in last:
        y = _draw_row(parts, row, y, width)
    if scene.footer:
        parts.append(words(MARGIN, y + 10, scene.footer, 13, fill=ink))
        y += 22
    return frame(width, y + 4, parts, FELT if is_table else PAPER, scene.title or scene.footer)


def frame(
    width: float, height: float, parts: Iterable[str], ground: str, title: str, kind: str = "board"
) -> str:
    """One SVG element of this size on a coloured ground; `kind` is its class in a page."""
    size = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:g} {height:g}" role="img" class="{kind}" '
        f'font-family="system-ui, sans-serif"><title>{escape(title)}</title><rect {size} rx="6" fill="{ground}"/>'
        f"{''.join(parts)}</svg>"
    )


def _lines(lines: Sequence[str]) -> str:
    """A picture of text, where nothing else is known."""
    fold = textwrap.TextWrapper(LETTERS, replace_whitespace=False, subsequent_indent="  ").wrap
    short = [each for line in lines for each in fold(line) or [""]]
    width, pitch = max([30, *map(len, short)]) * 0.61 * LETTER + 28, 1.4 * LETTER
    style = f'font-size="{LETTER}" font-family="ui-monospace, monospace" xml:space="preserve"'
    parts = [
        f'<text x="14" y="{28 + pitch * i:g}" fill="{INK}" {style}>{escape(line)}</text>'
        for i, line in enumerate(short)
    ]
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
    style = f'font-size="{size:g}" text-anchor="{anchor}" fill="{COLOURS.get(fill, fill)}"'
    weight = ' font-weight="bold"' if is_bold else ""
    return f'<text x="{x:g}" y="{y:g}" {style}{weight}>{escape(text)}</text>'


def _box(
    x: float, y: float, width: float, height: float, fill: str, stroke: str = EDGE, rx: float = 0
) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{rx:g}"'
    return f'<rect {place} fill="{COLOURS.get(fill, fill)}" stroke="{stroke}"/>'


def _disc(x: float, y: float, radius: float, fill: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{COLOURS.get(fill, fill)}" stroke="{EDGE}"/>'


def _part(
    name: str, inside: Iterable[str], holds: str = "", kind: str = "place", attribute: str = "part"
) -> str:
    """Something that one can click, or that a mark may point out: its name in a move, and what it `holds`, in words."""
    description = f' aria-label="{escape(f"{name}, {holds}", quote=True)}"' if holds else ""
    return f'<g class="{kind}" data-{attribute}="{escape(name, quote=True)}"{description}>{"".join(inside)}</g>'


def _board(
    places: Sequence[Spot], paths: Sequence[tuple[str, str]], top: float, ink: str
) -> list[str]:
    centres = {
        place.name: (
            MARGIN + (place.x + place.width / 2) * SIDE,
            top + (place.y + place.height / 2) * SIDE,
        )
        for place in places
    }
    parts = []
    for begin, end in paths:
        (x1, y1), (x2, y2) = centres[begin], centres[end]
        parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{ink}" opacity=".5"/>'
        )
    return parts + [
        _draw_place(place, MARGIN + place.x * SIDE, top + place.y * SIDE) for place in places
    ]


def _draw_place(place: Spot, x: float, y: float) -> str:
    width, height = place.width * SIDE, place.height * SIDE
    inside = [_box(x, y, width, height, place.fill, rx=8 if place.shape == "region" else 0)]
    if place.shape in ("up", "down"):
        base, tip = (y + height, y + 6) if place.shape == "up" else (y, y + height - 6)
        points = f"{x:g},{base:g} {x + width:g},{base:g} {x + width / 2:g},{tip:g}"
        inside = [_box(x, y, width, height, "transparent", "none")]
        inside.append(f'<polygon points="{points}" fill="{COLOURS.get(place.fill, place.fill)}"/>')
    inside += _draw_pieces(place, x, y, width, height)
    if place.label:
        size = 9 if place.width == place.height else _LABEL
        tips = {"up": (y + size, ON_FELT), "down": (y + height - 4, ON_FELT)}
        at, ink = tips.get(place.shape, (y + size, CARD_INK))
        inside.append(words(x + 3, at, place.label, size, fill=ink))
    return _part(place.name, inside, place.holds())


def _draw_pieces(place: Spot, x: float, y: float, width: float, height: float) -> list[str]:
    """A piece in the middle, several on top of each other; texts below the label."""
    pieces = []
    middle = x + width / 2
    for i, piece in enumerate(place.pieces):
        if piece.is_long:
            top = y + _LABEL + 4 + 21 * i
            size = min(14.0, (width - 8) / (0.58 * len(piece.sign)))
            shape = [_box(x + 3, top, width - 6, 20, piece.fill, rx=3)]
            shape.append(words(middle, top + 15, piece.sign, size, "middle", piece.ink))
        else:
            pitch = min(
                SIDE * 0.76, (height - SIDE * 0.76) / max(1, min(len(place.pieces), STACK) - 1)
            )
            offset = SIDE * 0.38 + pitch * min(i, STACK - 1)
            bases = {"up": y + height - offset, "down": y + offset}
            centre = bases.get(
                place.shape, y + height / 2 if len(place.pieces) == 1 else y + offset
            )
            sign = str(i + 1) if i >= STACK else piece.sign
            shape = [_disc(middle, centre, SIDE * 0.38, piece.fill)] if piece.fill else []
            size = SIDE * (0.45 if piece.fill else 0.62)
            if sign:
                shape.append(
                    words(
                        middle, centre + size * 0.35, sign, size, "middle", piece.ink, is_bold=True
                    )
                )
        pieces.append(
            _part(piece.name, shape, piece.words, "piece") if piece.name else "".join(shape)
        )
    return pieces


def _draw_item(kind: str, x: float, y: float, name: str | None, width: float) -> str:
    """A card, a die, a stake or a text on a plate; or the back of one."""
    height = width * (1.4 if kind == "card" else 1)
    if name is None:
        return _box(x, y, width, height, CARD_BACK, ON_FELT, 4)
    if kind == "plate":
        return _box(x, y, width, 22, "#fffdf8", rx=4) + words(
            x + width / 2, y + 16, name, 13, "middle", CARD_INK
        )
    if kind == "stake":
        return _disc(x + width / 2, y + width / 2, width / 2, "gold") + words(
            x + width / 2, y + width * 0.64, name, width * 0.42, "middle", CARD_INK, is_bold=True
        )
    ink = RED_INK if name[-1] in RED else CARD_INK
    face = [_box(x, y, width, height, "#fffdf8", rx=4)]
    if kind == "die" and name in PIPS:
        for line, column in (divmod(int(pip), 3) for pip in PIPS[name]):
            face.append(
                _disc(x + width * (1 + column) / 4, y + width * (1 + line) / 4, width * 0.08, ink)
            )
        return "".join(face)
    if kind == "die":
        return face[0] + words(
            x + width / 2, y + width * 0.68, name, width * 0.55, "middle", ink, is_bold=True
        )
    rank, suit = (name[:-1], name[-1]) if name[-1] in SUITS else (name, "★" if name in "BR" else "")
    face.append(words(x + 4, y + width * 0.42, rank, width * 0.42, fill=ink, is_bold=True))
    return "".join([*face, words(x + 4, y + width * 0.86, suit, width * 0.44, fill=ink)])


def _draw_row(parts: list[str], row: Hand, y: float, across: float) -> float:
    """A row under its owner's name, smaller where it is another's; returns where it ends."""
    is_empty = not (row.items or row.count)
    title = row.name + (f" · {row.note}" if row.note else "") + (": none" if is_empty else "")
    parts.append(words(MARGIN, y + 12, title, 12, fill=ON_FELT, is_bold=row.is_own))
    if is_empty:
        return y + 20
    items = [None] * row.count if row.items is None else row.items
    x = MARGIN
    y += 18
    size = 18.0 if row.items is None else 40.0 if row.is_own else 26.0
    height = 22 if row.kind == "plate" else size * (1.4 if row.kind == "card" else 1)
    room = across - 2 * MARGIN - size
    overlap = min(size + 3, room / max(1, min(len(items), 13 if row.is_own else 21) - 1))
    overlap = overlap if row.items is not None or row.kind != "card" else min(13.0, overlap)
    for name in items:
        width = 7.6 * len(name or "") + 10 if row.kind == "plate" else size
        if x + width > across - MARGIN + 1:
            x = MARGIN
            y = y + height + 4
        item = _draw_item(row.kind, x, y, name, width)
        parts.append(_part(name, [item], kind=row.kind) if row.is_own and name else item)
        x += width + 4 if row.kind == "plate" else overlap
    if row.items is None:
        parts.append(words(x + 12, y + 15, str(row.count), 12, fill=ON_FELT))
    return y + height + 10


def _draw_middle(
    parts: list[str], cards: Sequence[tuple[str, str | None]], y: float, across: float
) -> float:
    width, x, line = 40.0, MARGIN, 0
    for label, name in cards:
        room = max(width, 6.2 * len(label)) + 10
        if x + room > across - 10:
            x = MARGIN
            line = line + 1
        top = y + 6 + line * (width * 1.4 + 24)
        parts.append(
            _part(
                name or "",
                [_draw_item("card", x, top, name, width)],
                kind="card",
                attribute="shown",
            )
        )
        parts.append(words(x, top + width * 1.4 + 13, label, 11, fill=ON_FELT))
        x += room
    return y + 6 + (line + 1) * (width * 1.4 + 24)


# ------------------------------------------------------------------------------------------------ what a seat may see


HIDDEN = "?"  # stands for a word that a seat does not know, in the text of a game without a picture
# Determinizations of which such a text is made, the seconds after which the fewest are enough, and other deals whose facts are tried.
DRAWS, FEWEST, PATIENCE, DEALS = 100, 12, 0.2, 6
TOKENS = re.compile(r"[\s,;:()]+|[^\s,;:()]+")
_EDGES = re.compile(r"([\[{'\"<]*).*?([\]}'\">]*)")  # of a word, which stay where it is hidden
ESTIMATED = "(estimated: the game has no `observation`, which says what a player knows)"


def drawing(
    state: State, seat: int | None = None, *, drawn_for: bool = False, player: int | None = None
) -> Scene:
    """A state as a seat may see it; as the environment sees it, everything open, for None.

    A game without a board is shown by its text; where it hides information, to a seat only what it knows.

    Args:
        drawn_for: whether the state comes from a determinization for this seat; it is not drawn again then (in a search, games
            need not keep up what players know).
        player: whose row is played from, where all are open.

    Raises:
        ValueError: no such seat.
    """
    game = state.game
    if seat is not None and not 0 <= seat < game.players:
        raise ValueError(f"{game} has {indices_text('seat', game.players)}, not {seat!r}")
    is_open = drawn_for or game.determinize is None or state.is_terminal()
    if game.board is not None:
        view = state if seat is None or is_open else state.determinize(seat, seed=0)
        scene = game.board.scene(view.facts, seat)
        return scene if seat is not None or player is None else scene.opened_to(player)
    return (
        Scene(words=tuple(str(state).split("\n")))
        if seat is None or is_open
        else _certain(state, seat)
    )


def _certain(state: State, seat: int) -> Scene:
    """The text of a state without the words that differ between states that the seat holds for possible.

    The game's observation tells which other states look the same to the seat; without one, draws alone may agree by chance.
    """
    game = state.game
    beliefs = state.beliefs(seat)
    generator = seeded(0)
    began = time.monotonic()
    draws = list[StateData]()
    while len(draws) < FEWEST or len(draws) < DRAWS and time.monotonic() < began + PATIENCE:
        draws.append(state.redraw(seat, beliefs, generator))
    texts = [_tokens(game, data) for data in draws]
    if game.observation is not None:
        deals = [game.new_initial_state(seed=number).data for number in range(DEALS)]
        for data in Redraws(game).alike(draws[0], seat, [*deals, *draws]):
            # an impossible state may be more than a text bears
            with contextlib.suppress(Exception):
                tokens = _tokens(game, data)
                if [*map(len, tokens)] == [*map(len, texts[0])]:
                    texts.append(tokens)
    return Scene(words=_agreed(texts), footer="" if game.observation is not None else ESTIMATED)


def _tokens(game: AnyGame, data: StateData) -> list[list[str]]:
    """The words and what stands between them, of each line of a state's text."""
    return [TOKENS.findall(line) for line in game.text_of(game.facts_of(data)).split("\n")]


def _agreed(texts: Sequence[list[list[str]]]) -> tuple[str, ...]:
    """The words that texts have in common, line by line; nothing, where there are not as many."""
    if len({len(text) for text in texts}) > 1:
        return (HIDDEN,)
    lines = []
    for variants in zip(*texts, strict=True):
        words = [HIDDEN]
        if len({len(line) for line in variants}) == 1:
            words = [_agreed_word({*same}) for same in zip(*variants, strict=True)]
        lines.append("".join(words))
    return tuple(lines)


def _agreed_word(variants: set[str]) -> str:
    """The word, or what stands for those that differ, between the brackets that they have in common."""
    if len(variants) == 1:
        return variants.pop()
    edges = [_EDGES.fullmatch(each).groups() for each in variants]  # type: ignore[union-attr]
    before, after = (
        {*side}.pop() if len({*side}) == 1 else "" for side in zip(*edges, strict=True)
    )
    return f"{before}{HIDDEN}{after}"


def parts(state: State, action: int, scene: Scene, seat: int | None = None) -> tuple[str, ...]:
    """What one clicks, in order, to take an action: parts of the scene; () where only a button does it."""
    board = state.game.board
    explicit = (
        board.parts(state.facts, action, seat)
        if board is not None and board.parts is not None
        else None
    )
    return scene.names_in(state.action_to_string(action)) if explicit is None else explicit


def seen_parts(state: State, action: int) -> tuple[str, ...] | None:
    """The parts in which everybody sees that an action is done in this state; None where a game does not say so."""
    board = state.game.board
    return (
        board.marks(state.facts, action) if board is not None and board.marks is not None else None
    )
