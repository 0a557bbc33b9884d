"""States drawn for a seat: a picture and a text in which nothing can be read that the seat may not see.

What is drawn is not the state but a determinization of it for the seat, with hidden things face down: even a mistake in a drawing could
only show what the seat knows, or a guess.
"""

import itertools
import re
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Protocol

import attrs

from icarus.checks import indices_text
from icarus.compiler.rng import seeded
from icarus.games import lotr_confrontation as lotr
from icarus.games.cards import SUIT_SYMBOLS, card_text, card_texts
from icarus.games.checkers import SQUARES, square_text, text as checkers_text
from icarus.games.dou_di_zhu import PASS as NO_PLAY, PLAYER_NAMES, RANK_NAMES, cards_of, cards_played
from icarus.games.hearts import DEALING, EXCHANGING, PASSING, PASSINGS, PLAYERS, PLAYING, doing
from icarus.games.knockout_whist import FACE_DOWN, NO_CARD, OVER, PLAY, text as whist_text, trick_by_player
from icarus.games.othello import PASS, action_text as othello_square, text as othello_text
from icarus.games.phantom import action_text as phantom_square, text as phantom_text
from icarus.kernel import TERMINAL, Facts, State

# A page sets the variables, where it is dark; a picture alone has the colours behind them.
FELT, PAPER, INK = "var(--felt, #2f5d50)", "var(--paper, #f3eee3)", "var(--on-paper, #22252a)"
FAINT, ON_FELT, EDGE, CARD_INK = "var(--faint-on-paper, #6b6f76)", "#f3eee3", "#8a8478", "#22252a"
WIDTH = 420  # of a card table
# Of a line of text in a picture, and the size of one, so that it can be read on a small screen.
LETTERS, LETTER = 48, 16


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
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{EDGE}"/>'


def part(name: str, *inside: str, holds: str = "") -> str:
    """Something that one can click: its name in a move, and what it `holds`, in words."""
    description = f' aria-label="{escape(f"{name}, {holds}", quote=True)}"' if holds else ""
    return f'<g data-part="{escape(name, quote=True)}"{description}>{"".join(inside)}</g>'


@attrs.frozen
class Lines:
    """A state in words, where no picture is known."""

    lines: tuple[str, ...]

    def text(self) -> str:
        return "\n".join(self.lines)

    def svg(self) -> str:
        fold = textwrap.TextWrapper(LETTERS, replace_whitespace=False, subsequent_indent="  ").wrap
        lines = [short for line in self.lines for short in fold(line) or [""]]
        width, pitch = max([30, *map(len, lines)]) * 0.61 * LETTER + 28, 1.4 * LETTER
        style = f'font-size="{LETTER}" font-family="ui-monospace, monospace" xml:space="preserve"'
        parts = [
            f'<text x="14" y="{28 + pitch * i:g}" fill="{INK}" {style}>{escape(line)}</text>'
            for i, line in enumerate(lines)
        ]
        return svg(width, 20 + pitch * len(lines), parts, title="; ".join(self.lines), kind="words")


# ---------------------------------------------------------------------------------------------------- squares


BLACK, WHITE = "#1d1f23", "#fbf8f0"
Piece = tuple[str, str, str]  # its name, the colour of its disc or "" for none, and a letter on it
DISCS = {"X": ("black", BLACK, ""), "O": ("white", WHITE, "")}
CHECKERS = {
    "b": ("black", BLACK, ""),
    "w": ("white", WHITE, ""),
    "B": ("black king", BLACK, "K"),
    "W": ("white king", WHITE, "K"),
}
MARKS = {"X": ("X", "", "X"), "O": ("O", "", "○")}
LETTER_INKS = {"K": "#8a8478", "X": "#1f5fa8", "○": "#b3501e"}


@attrs.frozen
class Grid:
    """A board of squares, as a game writes it: a line of letters, a line for each row, and what is to be done.

    Attributes:
        lines: of the text.
        pieces: by their letters in the text.
        colours: of the squares by turns, that of a1 first.
        marked: the square to be pointed out, such as the last move.
    """

    lines: Sequence[str]
    pieces: Mapping[str, Piece]
    colours: tuple[str, str]
    marked: str = ""

    SIDE, MARGIN = 40.0, 22.0

    def text(self) -> str:
        return "\n".join(self.lines)

    def svg(self) -> str:
        side, margin, (*board, footer) = self.SIDE, self.MARGIN, self.lines
        letters = next(line.split() for line in board if line[0] == " ")
        rows = [line.split() for line in board if line[0] != " "]
        parts = [
            words(margin + (k + 0.5) * side, margin - 7, name, 11, "middle", FAINT) for k, name in enumerate(letters)
        ]
        for i, (number, *squares) in enumerate(rows):
            y = margin + i * side
            parts.append(words(margin - 6, y + side * 0.62, number, 11, "end", FAINT))
            for k, (column, letter) in enumerate(zip(letters, squares, strict=True)):
                colour = self.colours[(k + int(number) - 1) % 2]
                parts.append(self._square(column + number, letter, colour, margin + k * side, y))
        caption = re.sub(r"\b[XO]\b", lambda match: self.pieces[match[0]][0], footer)
        height = margin + side * len(rows)
        parts.append(words(margin, height + 20, caption, 13))
        return svg(max(2 * margin + side * len(letters), 200), height + 32, parts, PAPER, caption)

    def _square(self, name: str, letter: str, colour: str, x: float, y: float) -> str:
        side = self.SIDE
        inside = [box(x, y, side, side, colour, EDGE)]
        if name == self.marked:
            inside.append(box(x + 2, y + 2, side - 4, side - 4, "none", "#d9822b"))
        holds, fill, sign = self.pieces.get(letter, ("", "", ""))
        x, y, size = x + side / 2, y + side / 2, side * (0.45 if fill else 0.62)
        inside += [disc(x, y, side * 0.38, fill)] if fill else []
        inside += [words(x, y + size * 0.35, sign, size, "middle", LETTER_INKS[sign], bold=True)] if sign else []
        return part(name, *inside, holds=holds)


def othello(state: Facts, seat: int | None) -> Drawing:
    """The board, a1 at the upper left; the last disc is pointed out."""
    marked = othello_square(state, state.last) if state.last < PASS else ""
    return Grid(othello_text(state).split("\n"), DISCS, ("#5b8c6a", "#5b8c6a"), marked)


def checkers(state: Facts, seat: int | None) -> Drawing:
    """The board from Black's side."""
    return Grid(checkers_text(state).split("\n"), CHECKERS, ("#b88a5b", "#efe0c4"))


def phantom(state: Facts, seat: int | None) -> Drawing:
    """The seat's own marks, and the other's that it has found, which are small letters in the text; the whole board at the end."""
    *board, footer = phantom_text(state).split("\n")
    if seat is not None and not state.ended:
        board = [line.replace("OX"[seat], ".") for line in board]
        footer = footer if state.player == seat else footer.split(",", 1)[0]
    lines = [line.replace("x", "X").replace("o", "O") for line in board]
    return Grid([*lines, footer], MARKS, ("#f7f4ea", "#f7f4ea"))


# --------------------------------------------------------------------------------------------------------- The Confrontation


def lotr_confrontation(state: Facts, seat: int | None) -> Lines:
    """The board as a side knows it, with Mordor at the top: enemies are named where only one square is possible for them."""
    rows = []
    for square in (square for row in lotr.ROWS for square in row):
        here = [piece for piece in range(2 * lotr.TEAM) if state.pos[piece] == square]
        names = sorted((_piece(state, piece, square, seat) for piece in here), key=lambda name: ("?" in name, name))
        rows.append(f"{lotr.SQUARE_NAMES[square]:>11}: {', '.join(names)}".rstrip())
    for side in (lotr.DARK, lotr.LIGHT):
        team = range(side * lotr.TEAM, (side + 1) * lotr.TEAM)
        dead = ", ".join(lotr.PIECE_NAMES[piece] for piece in team if state.pos[piece] == lotr.DEAD)
        name = lotr.SIDE_NAMES[side]
        rows += [f"{name} holds {lotr.held_cards(state, side)}", f"{name}'s dead: {dead or 'none'}"]
    return Lines((*rows, _situation(state, seat)))


def _piece(state: Facts, piece: int, square: int, seat: int | None) -> str:
    side = piece // lotr.TEAM
    if seat in (None, side) or int(state.possible[piece]) == 1 << square or state.winner != lotr.NOBODY:
        return f"{lotr.PIECE_NAMES[piece]} {lotr.STRENGTH[piece]}"
    return f"{lotr.SIDE_NAMES[side]} ?"


def _situation(state: Facts, seat: int | None) -> str:
    """The decision to be made; who moves unseen is not named to the other side."""
    sentence = lotr.text(state).rsplit("\n", 1)[1]
    if state.winner != lotr.NOBODY or state.node == lotr.MOVE or seat in (None, state.side):
        return sentence
    mover = int(state.fighters[state.side])
    is_known = mover >= 0 and int(state.possible[mover]).bit_count() == 1
    return sentence if is_known else sentence.replace(lotr.PIECE_NAMES[mover], "a piece", 1)


def lotr_marks(state: Facts, action: int) -> tuple[str, ...]:
    """The squares of a move, which both sides see."""
    if action >= lotr.PASS_AMBUSH:
        return ()
    return lotr.SQUARE_NAMES[action // lotr.SQUARES % lotr.SQUARES], lotr.SQUARE_NAMES[action % lotr.SQUARES]


# ---------------------------------------------------------------------------------------------------- cards


CARD_BACK, RED_INK = "#3d5a80", "#b3261e"


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
            elements, y = _drawn_hand(hand, y)
            parts += elements
        if self.middle:
            elements, y = _middle(self.middle, y)
            parts += elements
        for hand in (each for each in self.hands if each.is_own):
            elements, y = _drawn_hand(hand, y)
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
    ink = RED_INK if name[-1] in "♦♥" or name == "R" else CARD_INK
    rank, suit = (name[:-1], name[-1]) if name[-1] in SUIT_SYMBOLS else (name, "★" * (name in JOKERS))
    face = [
        box(x, y, width, height, "#fffdf8", EDGE, 4),
        words(x + 4, y + width * 0.42, rank, width * 0.42, fill=ink, bold=True),
    ]
    if suit:
        face.append(words(x + 4, y + width * 0.86, suit, width * 0.44, fill=ink))
    return part(name, *face) if clickable else "".join(face)


def _drawn_hand(hand: Hand, y: float) -> tuple[list[str], float]:
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


def _hand(seat: int | None, player: int, cards: tuple[str, ...], note: str = "", name: str = "") -> Hand:
    """A player's cards, face down to the others; seat None sees all."""
    is_mine = seat == player
    title = (name or f"player {player}") + (" (you)" if is_mine else "")
    return Hand(title, cards if is_mine or seat is None else None, len(cards), note, is_mine)


def hearts(state: Facts, seat: int | None) -> Drawing:
    """The scores, the trick, and the seat's own hand."""
    passing = PASSINGS[state.round_number % 4]
    hands = []
    for i in range(PLAYERS):
        hidden = state.phase == DEALING
        passed = _passed_cards(state, i)
        cards = () if hidden else card_texts(int(state.held[i]) & ~int(state.played) & ~passed)
        points = int(state.points[i])
        note = f"{points} {'point' if points == 1 else 'points'}, score {state.scores[i]}"
        aside = f", passes {passed.bit_count()}" if passed and seat not in (None, i) else ""
        hands.append(_hand(seat, i, cards, note + aside))
    middle: list[tuple[str, str | None]] = []
    if state.phase == PLAYING:
        leader = (state.player - state.count) % PLAYERS
        for k in range(state.count):
            label = f"P{(leader + k) % PLAYERS}{' led' if k == 0 else ''}"
            middle.append((label, card_text(int(state.trick[k]))))
        footer = f"player {state.player} to {'play' if state.count else 'lead'}"
    elif state.phase in (PASSING, EXCHANGING):
        for i in range(PLAYERS):
            if seat in (None, i):
                middle += [(f"P{i} passes", name) for name in card_texts(_passed_cards(state, i))]
        waits = state.phase == EXCHANGING
        footer = "the cards are to be exchanged" if waits else f"player {state.player} to pass"
    else:
        footer = doing(state)
    return CardTable(f"round {state.round_number + 1}, {passing}", tuple(hands), tuple(middle), footer)


def _passed_cards(state: Facts, player: int) -> int:
    """The cards that a player has laid aside to pass, until they are exchanged."""
    if state.phase not in (PASSING, EXCHANGING):
        return 0
    return sum(1 << int(card) for card in state.passed[player, : min(max(state.passes - 3 * player, 0), 3)])


def knockout_whist(state: Facts, seat: int | None) -> Drawing:
    """Trumps, tricks taken, the trick, and the seat's own hand."""
    title = whist_text(state).split("\n", 1)[0]
    hands = []
    for i in range(state.players):
        if not int(state.alive) >> i & 1:
            hands.append(Hand(f"player {i}", (), 0, "out"))
            continue
        tricks = f"{state.tricks[i]} trick{'' if state.tricks[i] == 1 else 's'}"
        hidden = state.stage not in (PLAY, OVER) and not (seat == i == state.player and state.stage != FACE_DOWN)
        cards = card_texts(int(state.hands[i]))
        hands.append(Hand(f"player {i}", None, len(cards), tricks) if hidden else _hand(seat, i, cards, tricks))
    if state.stage != PLAY:
        return CardTable(title, tuple(hands), (), title)
    middle = [(f"player {player}", card_text(card)) for player, card in trick_by_player(state)]
    if state.turn_up != NO_CARD:
        middle.insert(0, ("turned up", card_text(state.turn_up)))
    title = f"round of {state.hand_size}, trumps {SUIT_SYMBOLS[state.trumps]}"
    return CardTable(title, tuple(hands), tuple(middle), f"player {state.player} to play")


JOKERS, LETTERS_OF_CARDS = "BR", "T: ten; B, R: jokers"


def _card_names(ranks: list[int]) -> tuple[str, ...]:
    return tuple(RANK_NAMES[rank] for rank in ranks)


def dou_di_zhu(state: Facts, seat: int | None) -> Drawing:
    """The play to beat, and the seat's own hand."""
    hands = tuple(
        _hand(seat, i, _card_names(cards_of(hand)), LETTERS_OF_CARDS if seat == i else "", name)
        for i, (name, hand) in enumerate(zip(PLAYER_NAMES, state.hands, strict=True))
    )
    if state.player == TERMINAL:
        winner = "the landlord has won" if state.hands[0] == 0 else "the peasants have won"
        return CardTable("Dou Di Zhu", hands, (), winner)
    name, owner = PLAYER_NAMES[state.player], PLAYER_NAMES[(state.player - state.passes - 1) % 3]
    if state.play == NO_PLAY:
        return CardTable("Dou Di Zhu", hands, (), f"{name} to lead")
    middle = tuple(("", card) for card in _card_names(cards_played(state.play)))
    play = " ".join(_card_names(cards_played(state.play)))
    what = f"add kickers to {play}" if state.kickers_due else f"follow {play} of the {owner}"
    return CardTable("Dou Di Zhu", hands, middle, f"{name} to {what}")


# ---------------------------------------------------------------------------------------------------- states


Parts = Callable[[Facts, int], tuple[str, ...]]


# Of each game with a picture, `draw(facts, seat)`, where seat None sees all, and `parts(facts, action)`, what one clicks to
# take an action. The others are shown in words.
BOARDS: dict[str, tuple[Callable[[Facts, int | None], Drawing], Parts]] = {
    "othello": (othello, lambda state, action: () if action == PASS else (othello_square(state, action),)),
    "checkers": (checkers, lambda state, action: tuple(map(square_text, divmod(action, SQUARES)))),
    "dou-di-zhu": (dou_di_zhu, lambda state, action: () if action == NO_PLAY else _card_names(cards_played(action))),
    "hearts": (hearts, lambda state, action: (card_text(action % 52),) if action < 104 else ()),
    "lotr-confrontation": (lotr_confrontation, lambda state, action: ()),
    "knockout-whist": (knockout_whist, lambda state, action: (card_text(action),) if action < 52 else ()),
    "phantom-mnk": (phantom, lambda state, action: (phantom_square(state, action),)),
}
# Where an action is a set of cards: its parts are clicked in any order.
SELECTED = {"dou-di-zhu"}
# Of a game in which a seat sees where something was done and not what: `marks(facts, action)`, the parts that everybody sees.
SEEN_PARTS: dict[str, Parts] = {"lotr-confrontation": lotr_marks}
# What players' pieces look like, where their seats have no such names.
BLACK_FIRST, CROSS_FIRST = ("black", "white"), ("X", "O")
COLOURS = {"othello": BLACK_FIRST, "checkers": BLACK_FIRST, "backgammon": CROSS_FIRST, "phantom-mnk": CROSS_FIRST}
MARKS_OF_TEXT = ",;:.()[]{}"  # around words
ESTIMATED = "(estimated: the game has no `observation`, which says what a player knows)"
HIDDEN = "?"  # stands for what a seat does not know, in the text of a game without a picture
# Determinizations of which such a text is made, and the seconds after which the fewest are enough.
DRAWS, FEWEST, PATIENCE = 100, 40, 0.2


def drawing(state: State, seat: int | None = None, *, drawn_for: bool = False, player: int | None = None) -> Drawing:
    """A state as a seat may see it; as the environment sees it, everything open, for None.

    A game without a picture is shown by its text; where it hides information, to a seat only what it has observed.

    Args:
        drawn_for: whether the state comes from a determinization for this seat; it is not drawn again then (in a search, games
            need not keep up what players know).
        player: whose hand of cards is played from, where all are open.

    Raises:
        ValueError: no such seat.
    """
    game = state.game
    if seat is not None and not 0 <= seat < game.players:
        raise ValueError(f"{game} has {indices_text('seat', game.players)}, not {seat!r}")
    view = state
    if seat is not None and not drawn_for and game.determinize is not None and not state.is_terminal():
        view = state.determinize(seat, seed=0)
    board = BOARDS.get(game.name)
    if board is not None:
        picture = board[0](view.facts, seat)
        if seat is None and player is not None and isinstance(picture, CardTable):
            return picture.played_from(player)
        return picture
    if seat is None or game.determinize is None or state.is_terminal() or drawn_for:
        return Lines(tuple(str(state).split("\n")))
    return _common(state, seat)


def _common(state: State, seat: int) -> Lines:
    """The text of a state without what differs between states that the seat holds for possible.

    What agrees in all of them by chance is a guess, and gives nothing away: each is drawn from what the seat knows.
    """
    beliefs, generator, began, texts = state.beliefs(seat), seeded(0), time.monotonic(), list[list[str]]()
    while len(texts) < FEWEST or len(texts) < DRAWS and time.monotonic() < began + PATIENCE:
        texts.append(str(state.from_data(state.game, state.redraw(seat, beliefs, generator))).split("\n"))
    estimated = [] if state.game.observation is not None else [ESTIMATED]
    return Lines((*_agreed(texts, _agreed_line), *estimated))


def _agreed(variants: Sequence[list[str]], of_one: Callable[[Sequence[str]], str]) -> list[str]:
    """What lists have in common, place by place; nothing, where their lengths differ."""
    if len({len(variant) for variant in variants}) > 1:
        return [HIDDEN]
    return [of_one(place) for place in zip(*variants, strict=True)]


def _agreed_line(lines: Sequence[str]) -> str:
    return " ".join(_agreed([line.split(" ") for line in lines], _agreed_word))


def _agreed_word(words: Sequence[str]) -> str:
    """A word that is known as a whole, or not at all, and the marks around it."""
    if len({*words}) == 1:
        return words[0]
    marks = {(len(word) - len(word.lstrip(MARKS_OF_TEXT)), word[len(word.rstrip(MARKS_OF_TEXT)) :]) for word in words}
    first, last = next(iter(marks)) if len(marks) == 1 else (0, "")
    return words[0][:first] + HIDDEN + last


def parts(state: State, action: int) -> tuple[str, ...]:
    """What one clicks, in order, to take an action: parts of the drawing; () where only a button does it."""
    board = BOARDS.get(state.game.name)
    return board[1](state.facts, action) if board is not None else ()


def marks(state: State, action: int, in_view: bool = True) -> tuple[str, ...]:
    """The parts of the drawing in which an action shows; where it is not in full view, those that everybody sees.

    Args:
        state: before the action.
        in_view: whether the seat sees which action it is.
    """
    find = SEEN_PARTS.get(state.game.name)
    return find(state.facts, action) if find is not None else parts(state, action) if in_view else ()
