"""Knockout Whist: trick-taking in rounds of 7, 6, … 1 cards; who takes no trick is out; the last one left wins.

Each round is dealt from a full pack. In the first the card turned up after the deal names trumps and the player left of the
dealer leads; in later ones whoever took most tricks in the round before (of several, one drawn at random) looks at his new hand,
names trumps and leads. Follow suit if able, otherwise play anything. The highest trump takes the trick, or else the highest card
of the suit led, and its taker leads to the next. Somebody takes a trick in each round, and the last has a single trick: one
player is left at its end at the latest. The winner's reward is 1, the others' 0. The last seat deals first, so that the
first leads. There is no second chance ("dog's life") for the first player out.

    round of 7, trumps ♥
    player 0, 1 trick: A♣ 10♣ 9♦ 2♦ J♠
    player 1, 0 tricks: K♣ 8♣ A♦ Q♠ 7♥
    player 2, 0 tricks: 5♣ J♦ 6♠ 3♠ 9♥ 2♥
    table: turned up 4♥, player 0 5♠, player 1 9♠
    player 2 to play

A player sees his own hand, all cards played and the turn-up; not the other hands, the undealt stock and the coming deals.

An action is a card, the choice of trumps, or the environment's DEAL, which each player sees as his own hand: the next hands are
drawn when a round ends, and lie face down until then. They come from a generator inside the state: deals are too many to be
listed as the outcomes of a chance state. The draw between equals for the choice of trumps is such a state, with an outcome for each
of them.
"""

import numpy as np

from icarus.checks import integer
from icarus.compiler import RNG_WORDS, copy_items, next_word
from icarus.games import cards as pack
from icarus.games.cards import (
    CARDS,
    PACK,
    RANKS,
    SUITS,
    draw_deal,
    list_cards,
    prepare_deal,
    suit_cards,
    suits_cards,
)
from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    Facts,
    State,
    below,
    helper,
    inlined,
    lowest_bit,
    popcount,
)
from icarus.kernel.game import Game, aligned, functions_of
from icarus.kernel.scene import Drawing, Hand, Scene, held_by

# --------------------------------------------------------------------------------------- rounds, actions, stages, state


ROUNDS = 7  # the first is of 7 cards
FEWEST, MOST = 2, 7  # players
PLAYERS = 4  # unless something else is said
NO_CARD = -1
TRUMPS = CARDS  # actions: 0 … 51 play a card, 52 … 55 name a suit trumps,
CHOOSER = TRUMPS + SUITS  # 56 … 62 let one of the players with most tricks choose,
DEAL = CHOOSER + MOST  # 63 hands out the cards of a new round
HAND_SEEN = 1 << CARDS  # DEAL as a player sees it is this and his own hand
PLAY, CHOOSE, DRAW, FACE_DOWN, OVER = range(5)  # stages: who is about to do what
STATE = aligned(
    # cards held; in stages DRAW and FACE_DOWN those of the next round
    ("hands", np.uint64, (MOST,)),
    ("played", np.uint64),  # cards played in this round
    ("deals", np.uint64, (RNG_WORDS,)),  # the generator of the coming deals
    ("arranged_hands", np.uint64, (MOST,)),  # of a coming round, where they are laid out beforehand
    ("arranged_deals", np.uint64, (RNG_WORDS,)),  # the generator after that round's deal
    ("tricks", np.int8, (MOST,)),  # taken in this round
    # suits that a player has failed to follow in this round, a bit for each
    ("voids", np.int8, (MOST,)),
    ("trick", np.int8, (MOST,)),  # cards played to the current trick, in order
    ("count", np.int8),  # how many of these
    ("players", np.int8),  # seats in use; one dtype serves any number of players, compiled once
    ("alive", np.int8),  # players not out, a bit for each
    ("player", np.int8),  # about to play or to choose; in stage FACE_DOWN he who will choose
    ("best", np.int8),  # the card that is taking the trick
    ("taker", np.int8),  # who played it
    ("hand_size", np.int8),  # cards dealt to each in this round
    ("trumps", np.int8),  # suit
    ("turn_up", np.int8),  # card; NO_CARD after the first round
    ("stage", np.int8),
    ("arranged", np.int8),  # the hand size of the round laid out beforehand; 0 for none
)
STOCK = MOST  # the hidden hand after the players', in the constrained deal
BELIEFS = aligned(*pack.deal_fields(MOST + 1))


# --------------------------------------------------------------------------------------------- what a position promises


def heuristic(state: Facts, out: np.ndarray) -> None:
    """Each player's share of all hopes. A hope is the probability to take a trick in this round, times 1 + the share of its tricks taken.

    Who has no trick yet is taken to win each trick that is left with the same probability as everybody else.
    """
    alive = popcount(np.uint64(state.alive))
    tricks_left = popcount(state.hands[state.player]) if state.stage == PLAY else 0
    hopes = 0.0
    for player in range(state.players):
        out[player] = 0.0
        if state.alive >> player & 1:
            survival = 1.0
            if state.tricks[player] == 0 and state.stage == PLAY:
                survival = 1.0 - (1.0 - 1.0 / alive) ** tricks_left
            out[player] = survival * (1.0 + state.tricks[player] / state.hand_size)
            hopes += out[player]
    for player in range(state.players):
        out[player] = out[player] / hopes if hopes > 0 else 1.0 / state.players


# ------------------------------------------------------------------------------ what a player sees, and determinization


@inlined
def draw_cards(rng: np.ndarray, count: int, dealt: np.uint64) -> np.uint64:
    """Draw cards that are not dealt yet; a set of them."""
    cards = np.uint64(0)
    while count > 0:
        card = np.uint64(1) << np.uint64(below(rng, CARDS))
        if (dealt | cards) & card == np.uint64(0):
            cards |= card
            count -= 1
    return cards


@helper
def deal_hands(state: Facts) -> np.uint64:
    """Give each player who is not out a new hand; returns all cards dealt."""
    dealt = np.uint64(0)
    for player in range(MOST):
        hand = (
            draw_cards(state.deals, state.hand_size, dealt)
            if state.alive >> player & 1
            else np.uint64(0)
        )
        state.hands[player] = hand
        dealt |= hand
    return dealt


@helper
def lay_next_hands(state: Facts) -> None:
    """Deal the next round face down, as arranged beforehand or at random."""
    state.hand_size -= 1
    state.played = np.uint64(0)
    state.turn_up = NO_CARD
    for player in range(MOST):
        state.voids[player] = 0
    if state.arranged == state.hand_size:
        copy_items(state.hands, state.arranged_hands)
        copy_items(state.deals, state.arranged_deals)
        _forget_arranged(state)
    else:
        deal_hands(state)


@helper
def _forget_arranged(state: Facts) -> None:
    state.arranged = 0
    state.arranged_hands[:] = np.uint64(0)
    state.arranged_deals[:] = np.uint64(0)


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    """Of DEAL, each player sees his own hand (none, if he is out)."""
    if action == DEAL:
        for player in range(state.players):
            moves[player] = HAND_SEEN | np.int64(state.hands[player])


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    if state.stage > CHOOSE or observer == CHANCE:
        return
    visible = state.hands[observer] | state.played
    if state.turn_up != NO_CARD:
        visible |= np.uint64(1) << np.uint64(state.turn_up)
    beliefs.unseen = PACK & ~visible
    stock = popcount(beliefs.unseen)
    for player in range(MOST):
        beliefs.sizes[player] = 0 if player == observer else popcount(state.hands[player])
        beliefs.barred[player] = suits_cards(state.voids[player])
        stock -= beliefs.sizes[player]
    beliefs.sizes[STOCK] = stock
    prepare_deal(beliefs)


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Redraw the coming deals, and the hands that the observer does not see; the environment sees all."""
    for i in range(RNG_WORDS):
        state.deals[i] = next_word(rng)
    _forget_arranged(state)
    if observer == CHANCE:
        return
    if state.stage <= CHOOSE:
        draw_deal(beliefs, rng)
        for player in range(MOST):
            if player != observer:
                state.hands[player] = beliefs.dealt[player]
    elif state.stage != OVER:
        deal_hands(state)


def episode(state: Facts) -> int:
    """The leader of a new trick; κ where the cards of a new round are about to be handed out."""
    if state.stage == FACE_DOWN:
        return state.players
    return state.player if state.stage == PLAY and state.count == 0 else CONTINUES


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """The cards of the current trick; where trumps are about to be named, the DEAL."""
    if state.stage == CHOOSE:
        moves[0] = (
            DEAL if observer == state.players else HAND_SEEN | np.int64(state.hands[observer])
        )
        return 1
    for i in range(state.count):
        moves[i] = state.trick[i]
    return state.count


def observation(state: Facts, player: int) -> tuple:
    """His own hand, once he has taken it up, and what lies open."""
    hand = state.hands[player] if state.stage <= CHOOSE else 0
    return (
        hand,
        state.played,
        state.tricks,
        state.voids,
        state.trick[: state.count],
        state.alive,
        state.trumps,
        state.turn_up,
        state.stage,
    )


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The start, with the hands of `data` laid out for the round that it belongs to, and the actions so far."""
    world, start = data.view(np.recarray)[0], state.start.copy()
    facts = start.view(np.recarray)[0]
    actions = [action for _, action in state.history]
    hands = [int(hand) for hand in world.hands]
    # To deal the round again, what was played in it is added. In the two stages before DEAL nothing of the next round is played.
    if world.stage not in (DRAW, FACE_DOWN):
        dealt = max((n for n, action in enumerate(actions, 1) if action == DEAL), default=0)
        for player, action in state.history[dealt:]:
            if action < TRUMPS:
                hands[player] |= 1 << action
    if world.hand_size == facts.hand_size:
        facts.hands[:], facts.deals[:] = hands, world.deals
    else:
        facts.arranged = world.hand_size
        facts.arranged_hands[:], facts.arranged_deals[:] = hands, world.deals
    return start, actions


def initial(state: Facts, rng: np.ndarray, players: int) -> None:
    for i in range(RNG_WORDS):
        state.deals[i] = next_word(rng)
    state.players = players
    state.alive = (1 << players) - 1
    state.hand_size = ROUNDS
    dealt = deal_hands(state)
    state.turn_up = lowest_bit(draw_cards(state.deals, 1, dealt))
    state.trumps = state.turn_up // RANKS


def player(state: Facts) -> int:
    if state.stage <= CHOOSE:
        return state.player
    return TERMINAL if state.stage == OVER else CHANCE


def legal(state: Facts, actions: np.ndarray) -> int:
    if state.stage == PLAY:
        return list_cards(actions, 0, _playable(state))
    if state.stage == CHOOSE:
        for suit in range(SUITS):
            actions[suit] = TRUMPS + suit
        return SUITS
    if state.stage == DRAW:
        return _list_choosers(state, actions)
    actions[0] = DEAL
    return 1


@inlined
def _playable(state: Facts) -> np.uint64:
    """The cards that the player to move may play: of the suit led, if he has any."""
    hand = state.hands[state.player]
    if state.count > 0:
        following = hand & suit_cards(state.trick[0] // RANKS)
        if following != np.uint64(0):
            return following
    return hand


@inlined
def _most_tricks(state: Facts) -> int:
    most = 0
    for player in range(MOST):
        most = max(most, state.tricks[player])
    return most


@helper
def _list_choosers(state: Facts, actions: np.ndarray) -> int:
    """One outcome for each player who took most tricks."""
    most, count = _most_tricks(state), 0
    for player in range(MOST):
        if state.tricks[player] == most:
            actions[count] = CHOOSER + player
            count += 1
    return count


def chance(state: Facts, probabilities: np.ndarray) -> None:
    """Each of the players who took most tricks is as likely; the one DEAL is certain."""
    most, count = _most_tricks(state), 0
    for player in range(MOST):
        count += state.tricks[player] == most
    outcomes = count if state.stage == DRAW else 1
    for i in range(outcomes):
        probabilities[i] = 1.0 / outcomes


def apply(state: Facts, action: int) -> None:
    if action < TRUMPS:
        _play(state, action)
    elif action < CHOOSER:
        state.trumps = action - TRUMPS
        state.stage = PLAY
    elif action < DEAL:
        state.player = action - CHOOSER
        state.count = 0
        state.stage = FACE_DOWN
    else:
        for player in range(MOST):
            state.tricks[player] = 0
        state.stage = CHOOSE


@inlined
def _play(state: Facts, card: int) -> None:
    """Play a card to the trick; a full trick is taken."""
    bit = np.uint64(1) << np.uint64(card)
    state.hands[state.player] &= ~bit
    state.played |= bit
    suit = card // RANKS
    led = state.trick[0] // RANKS
    state.trick[state.count] = card
    if state.count > 0 and suit != led:
        state.voids[state.player] |= 1 << led
    if state.count == 0 or _beats(card, state.best, state.trumps):
        state.best = card
        state.taker = state.player
    state.count += 1
    if state.count == popcount(np.uint64(state.alive)):
        _end_trick(state)
    else:
        state.player = _left_of(state, state.player)


@inlined
def _beats(card: int, best: int, trumps: int) -> bool:
    """Whether a card takes the trick from the best one so far."""
    suit = card // RANKS
    return card > best if suit == best // RANKS else suit == trumps


@inlined
def _left_of(state: Facts, player: int) -> int:
    """The next player who is not out."""
    following = player
    while True:
        following = following + 1 if following + 1 < MOST else 0
        if state.alive >> following & 1:
            return following


@inlined
def _end_trick(state: Facts) -> None:
    state.tricks[state.taker] += 1
    state.player = state.taker
    if state.hands[state.taker] == np.uint64(0):
        _end_round(state)
    else:
        state.count = 0


@helper
def _end_round(state: Facts) -> None:
    """Put out who took no trick; unless one is left, lay the next hands face down."""
    most, chooser, equals, alive = _most_tricks(state), 0, 0, 0
    for player in range(MOST):
        if state.tricks[player] > 0:
            alive |= 1 << player
        if state.tricks[player] == most:
            chooser = player
            equals += 1
    state.alive = alive
    state.stage = OVER
    if equals > 1:
        state.stage = DRAW
        lay_next_hands(state)
    elif popcount(np.uint64(alive)) > 1:
        state.stage = FACE_DOWN
        state.player = chooser
        state.count = 0
        lay_next_hands(state)


def rewards(state: Facts, out: np.ndarray) -> None:
    for player in range(state.players):
        out[player] = state.alive >> player & 1


def trick_by_player(state: Facts) -> list[tuple[int, int]]:
    """(player, card) of the current trick, in order; the last of them sits right of the player to move."""
    order = [(state.player + i) % state.players for i in range(state.players)]
    alive = [player for player in order if int(state.alive) >> player & 1]
    return list(zip(alive[len(alive) - state.count :], state.trick.tolist(), strict=False))


def action_text(state: Facts, action: int) -> str:
    if action < TRUMPS:
        return pack.card_text(action)
    if action < CHOOSER:
        return f"{pack.SUIT_SYMBOLS[action - TRUMPS]} trumps"
    return "deal" if action == DEAL else f"player {action - CHOOSER} chooses"


def derive(state: Facts) -> None:
    """Refuse a card in two hands, or in a hand after it was played; nothing follows from facts that a user sets."""
    pack.refuse_shared("knockout-whist", state.played, *state.hands)


def scene(state: Facts, seat: int | None) -> Scene:
    """Trumps, tricks taken, the hands and the trick, and what is to be done."""
    title, hands, middle = f"round of {state.hand_size}", [], list[tuple[str, str | None]]()
    if state.stage in (DRAW, FACE_DOWN):
        seat = CHANCE  # no player sees a hand
    for i in range(state.players):
        if not int(state.alive) >> i & 1:
            hands.append(Hand(f"player {i}", (), note="out"))
            continue
        tricks = f"{state.tricks[i]} trick{'' if state.tricks[i] == 1 else 's'}"
        hands.append(held_by(seat, i, pack.card_texts(int(state.hands[i])), tricks))
    if state.stage == PLAY:
        title += f", trumps {pack.SUIT_SYMBOLS[state.trumps]}"
        if state.turn_up != NO_CARD:
            middle.append(("turned up", pack.card_text(state.turn_up)))
        for player, card in trick_by_player(state):
            middle.append((f"player {player}", pack.card_text(card)))
    return Scene(title, rows=tuple(hands), middle=tuple(middle), footer=_doing(state))


def _doing(state: Facts) -> str:
    """What is to be done."""
    return (
        f"player {state.player} to play",
        f"player {state.player} names trumps",
        "a draw for the choice of trumps",
        "the cards are to be dealt",
        f"player {int(state.alive).bit_length() - 1} has won",
    )[state.stage]


BOARD = Drawing(scene)


def knockout_whist(players: int = PLAYERS) -> Game:
    """Knockout Whist for 2 to 7 players.

    Raises:
        ValueError: another number of players.
    """
    players = integer("players of knockout-whist", players, FEWEST, MOST)
    return Game(
        **functions_of(globals()),
        name="knockout-whist",
        players=players,
        parameters={"players": players},
        defaults={"players": PLAYERS},
        ranges={
            **dict.fromkeys(("hands", "played", "arranged_hands"), (0, int(PACK))),
            **dict.fromkeys(("tricks", "arranged"), (0, ROUNDS)),
            "voids": (0, (1 << SUITS) - 1),
            **dict.fromkeys(("trick", "best"), (0, CARDS - 1)),
            "count": (0, players),
            "players": (players, players),
            "alive": (1, (1 << players) - 1),
            **dict.fromkeys(("player", "taker"), (0, players - 1)),
            "hand_size": (1, ROUNDS),
            "trumps": (0, SUITS - 1),
            "turn_up": (NO_CARD, CARDS - 1),
            "stage": (PLAY, OVER),
        },
        max_legal=ROUNDS,
        actions=DEAL + 1,
    )
