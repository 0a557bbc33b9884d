"""Card games on a table: Hearts, Knockout Whist, Dou Di Zhu, and the small ones, Goofspiel, Kuhn poker and Liar's Dice."""

from icarus.games.cards import SUIT_SYMBOLS, card_text, card_texts
from icarus.games.dou_di_zhu import PASS as NO_PLAY
from icarus.games.dou_di_zhu import PLAYER_NAMES, PLAYS, RANK_NAMES, SOLO_KICKERS, cards_of, cards_played
from icarus.games.generic_poker import NO_TABLE
from icarus.games.generic_poker import text as poker_text
from icarus.games.goofspiel import points
from icarus.games.hearts import DEALING, EXCHANGING, PASSING, PASSINGS, PLAYERS, PLAYING, doing
from icarus.games.knockout_whist import FACE_DOWN, NO_CARD, OVER, PLAY, trick_by_player
from icarus.games.knockout_whist import text as whist_text
from icarus.games.liars_dice import LIAR, NO_BID, face_name
from icarus.games.liars_dice import action_text as bid_text
from icarus.kernel import TERMINAL, Facts
from icarus.views.drawing import CardTable, Drawing, Hand


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


def goofspiel(state: Facts, seat: int | None) -> Drawing:
    """The points at stake, the seat's own cards and bids."""
    over = state.rounds == state.cards
    stake = "the end" if over else f"round {state.rounds + 1} of {state.cards}, points at stake: {points(state)}"
    lead = "level" if state.lead == 0 else f"player {int(state.lead < 0)} is ahead by {abs(int(state.lead))}"
    hands = []
    for i in range(2):
        cards = tuple(str(card + state.lowest) for card in range(state.cards) if int(state.hands[i]) >> card & 1)
        bids = " ".join(str(bid) for bid in state.bids[i, : state.rounds])
        hands.append(_hand(seat, i, cards, f"has bid {bids}" if bids and seat in (None, i) else ""))
    middle: tuple[tuple[str, str | None], ...] = ()
    if not over and state.player == 1:
        middle = (("player 0 bids", str(state.bids[0, state.rounds]) if seat in (None, 0) else None),)
    return CardTable(stake, tuple(hands), middle, lead if over else f"{lead}; player {state.player} to bid")


def kuhn_poker(state: Facts, seat: int | None) -> Drawing:
    """The seat's own card, and what both have paid."""
    is_showdown = state.count >= 2 and state.paid[0] == state.paid[1]
    hands = tuple(
        _hand(None if is_showdown else seat, i, ("JQK"[state.cards[i]],), f"has paid {state.paid[i]}") for i in range(2)
    )
    actor = int(state.count % 2)
    footer = f"player {1 - actor} has folded" if state.folded else f"player {actor} to act"
    return CardTable("Kuhn poker", hands, (), "the cards are shown" if is_showdown else footer)


def poker(state: Facts, seat: int | None) -> Drawing:
    """The seat's own card, the card on the table, and what both have paid."""
    looks = None if state.stage == 2 else seat
    hands = tuple(_hand(looks, i, (str(state.cards[i] + 1),), f"has paid {state.paid[i]}") for i in range(2))
    table = () if state.table == NO_TABLE else (("the table", str(state.table + 1)),)
    return CardTable("Poker", hands, table, poker_text(state).split("\n")[-1])


def liars_dice(state: Facts, seat: int | None) -> Drawing:
    """The seat's own dice, and the last bid."""
    looks = None if state.called else seat
    hands = tuple(
        _hand(looks, i, tuple(face_name(state, face) for face in state.faces[i, : state.dice[i]])) for i in range(2)
    )
    bidder, opponent = (state.player, 1 - state.player) if state.called else (1 - state.player, state.player)
    bid = "no bid yet" if state.bid == NO_BID else f"player {bidder} has bid {bid_text(state, state.bid)}"
    return CardTable("Liar's Dice", hands, (), f"{bid}; player {opponent} {'has called' if state.called else 'to act'}")


def card_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The card that an action plays or passes."""
    return (card_text(action % 52),) if action < 104 else ()


def whist_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The card that an action plays."""
    return (card_text(action),) if action < 52 else ()


def bid_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The card that is bid."""
    return (str(action),) if action != LIAR else ()
