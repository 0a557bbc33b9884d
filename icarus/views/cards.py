"""Card games on a table: Hearts, Knockout Whist and Dou Di Zhu."""

import itertools

import attrs

from icarus.games.cards import SUIT_SYMBOLS, card_text, card_texts
from icarus.games.dou_di_zhu import PASS as NO_PLAY
from icarus.games.dou_di_zhu import PLAYER_NAMES, PLAYS, RANK_NAMES, SOLO_KICKERS, cards_of, cards_played
from icarus.games.hearts import DEALING, EXCHANGING, PASSING, PASSINGS, PLAYERS, PLAYING, doing
from icarus.games.knockout_whist import FACE_DOWN, NO_CARD, OVER, PLAY, trick_by_player
from icarus.games.knockout_whist import text as whist_text
from icarus.kernel import TERMINAL, Facts
from icarus.views.drawing import EDGE, FELT, INK, ON_FELT, SUITS, WIDTH, Drawing, box, part, svg, words

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
    ink = RED_INK if name[-1] in "♦♥" or name == "rj" else INK
    rank, suit = (name[:-1], name[-1]) if name[-1] in SUITS else (name, "")
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


# Of Dou Di Zhu, where they are not their letters: B and R are the jokers.
CARD_NAMES = {"T": "10", "B": "bj", "R": "rj"}
JOKERS = "bj, rj: the jokers"
KICKERS = {1: "a single card", 2: "a pair"}


def _card_names(ranks: list[int]) -> tuple[str, ...]:
    return tuple(CARD_NAMES.get(RANK_NAMES[rank], RANK_NAMES[rank]) for rank in ranks)


def dou_di_zhu_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The cards that an action plays."""
    return () if action == NO_PLAY else _card_names(cards_played(action))


def dou_di_zhu_label(action: int) -> str:
    """An action in words: "8 8 8, then a single card"."""
    if action == NO_PLAY:
        return "pass"
    cards = " ".join(_card_names(cards_played(action)))
    if action >= SOLO_KICKERS or not PLAYS[action].kickers:
        return cards
    size, count = PLAYS[action].kicker_size, PLAYS[action].kickers
    return f"{cards}, then {KICKERS[size] if count == 1 else f'{count} {KICKERS[size][2:]}s'}"


def dou_di_zhu(state: Facts, seat: int | None) -> Drawing:
    """The play to beat, and the seat's own hand."""
    hands = tuple(
        _hand(seat, i, _card_names(cards_of(hand)), JOKERS if seat == i else "", name)
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


def card_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The card that an action plays or passes."""
    return (card_text(action % 52),) if action < 104 else ()


def whist_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The card that an action plays."""
    return (card_text(action),) if action < 52 else ()
