"""II-Goofspiel(N): two players with cards 1 … N bid for points 1, 2, …, N in this order; they see who won a bid, not the cards.

In each round both bid a card of their hands at once. The higher takes the points of the round, equal bids leave them to nobody,
and the cards are spent. After N rounds the player with more points wins; equal points are a draw. Cards and points may also be
0 … N − 1 (lowest=0: the round for 0 points is worth nothing), and the points may come from the highest down (descending=1).

    round 3 of 4; ahead: player 1 by 3
    player 0: 3
    player 1: 1 4
    player 0 has bid: 1 2 4
    player 1 has bid: 2 3                           player 0 knows of 2 3, 2 4, 3 4, 4 3 as what these may be
    player 0 has won: -
    player 1 has won: 1 2
    at stake: 3
    player 1 to bid

An action is a card. Bidding at once is two decisions, player 0's first. Neither sees a bid of the other's, only its result:
player 0 as the move by which he sees player 1's bid, player 1 as the one by which he sees player 0's next bid. (Nobody decides
anything in between, so no action of the environment needs to tell it.)

`determinize` draws uniformly from the sequences of the other's bids that agree with all results and the observer's own bids.
"""

import numpy as np

from icarus.checks import integer
from icarus.compiler.plain_python import interpret
from icarus.games.cards import choose_filler, count_ways
from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    Facts,
    Integer,
    State,
    below,
    inlined,
    lowest_bit,
)
from icarus.kernel.game import Game, aligned, functions_of
from icarus.kernel.scene import Drawing, Hand, Scene, held_by

CARDS = 6  # where no number is given
LOWEST, ASCENDING = 1, 0
# cards; with more, too many sequences of bids could agree for one draw below 2**32
FEWEST, MOST = 2, 13
# what is seen of the other's bid: the latest result
TIED, FIRST_WON, SECOND_WON, NO_RESULT = range(MOST + 1, MOST + 5)

STATE = aligned(
    ("bids", np.int8, (2, MOST)),  # of each player in each round
    ("hands", np.int16, (2,)),  # a bit for each card, the lowest being bit 0
    ("cards", np.int8),  # N
    ("lowest", np.int8),  # card, and points: what the first bit of a hand stands for
    ("descending", np.int8),  # whether the highest points come first
    ("rounds", np.int8),  # finished
    ("player", np.int8),  # about to bid
    ("lead", np.int8),  # points of player 0 over those of player 1
)

BELIEFS = aligned(
    ("bids", np.int8),  # that the other has made
    ("possible", np.int16, (MOST,)),  # cards that each of them may have been
    ("ways", np.int64, (1 << MOST,)),  # per set of cards bid in the first rounds: to bid the others
)


def initial(state: Facts, rng: np.ndarray, cards: int, lowest: int, descending: int) -> None:
    state.cards, state.lowest, state.descending = cards, lowest, descending
    state.hands[0], state.hands[1] = (1 << cards) - 1, (1 << cards) - 1


@inlined
def _pack(state: Facts) -> Integer:
    cards = np.int64(state.cards)  # of 64 bits, also where this runs as plain Python
    return (1 << cards) - 1


def player(state: Facts) -> int:
    return TERMINAL if state.rounds == state.cards else state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    hand, count = state.hands[state.player], 0
    for i in range(state.cards):
        if hand >> i & 1:
            actions[count] = i + state.lowest
            count += 1
    return count


def apply(state: Facts, action: int) -> None:
    bidder = state.player
    state.bids[bidder, state.rounds] = action
    state.hands[bidder] &= ~(1 << (action - state.lowest))
    state.player = 1 - bidder
    if bidder == 1:
        result, stake = _result(state.bids[0, state.rounds], action), points(state)
        if result != TIED:
            state.lead += stake if result == FIRST_WON else -stake
        state.rounds += 1


@inlined
def points(state: Facts) -> int:
    """The points at stake in the present round."""
    return state.lowest + (state.cards - 1 - state.rounds if state.descending else state.rounds)


@inlined
def _result(first: int, second: int) -> int:
    return TIED if first == second else FIRST_WON if first > second else SECOND_WON


def rewards(state: Facts, out: np.ndarray) -> None:
    out[0] = 1.0 if state.lead > 0 else 0.5 if state.lead == 0 else 0.0
    out[1] = 1.0 - out[0]


@inlined
def _last_result(state: Facts) -> int:
    return (
        NO_RESULT
        if state.rounds == 0
        else _result(state.bids[0, state.rounds - 1], state.bids[1, state.rounds - 1])
    )


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    if state.player == 0:
        moves[1] = _last_result(state)
    else:
        moves[0] = _result(state.bids[0, state.rounds], action)


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    """Count the sequences of bids that agree, from the last round back."""
    if observer == CHANCE:
        return
    opponent, pack = 1 - observer, _pack(state)
    beliefs.bids = state.rounds + (1 if opponent == 0 and state.player == 1 else 0)
    for i in range(beliefs.bids):
        beliefs.possible[i] = _possible(state, observer, i) if i < state.rounds else pack
    count_ways(beliefs.possible, beliefs.bids, beliefs.ways[: pack + 1])
    if beliefs.ways[0] == 0:
        raise ValueError(
            "no sequence of the other's bids in goofspiel agrees with `bids` of the observer and with who won each round"
        )


@inlined
def _possible(state: Facts, observer: int, i: int) -> Integer:
    """The cards that the other may have bid in a finished round, by its result: a bit for each."""
    bid = np.int64(state.bids[observer, i] - state.lowest)
    opposing = state.bids[1 - observer, i] - state.lowest
    lower, equal = (1 << bid) - 1, 1 << bid
    if bid == opposing:
        return equal
    return lower if bid > opposing else _pack(state) & ~(lower | equal)


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Redraw all bids of the other."""
    if observer == CHANCE:
        return
    opponent, used, rank = 1 - observer, 0, below(rng, beliefs.ways[0])
    for i in range(beliefs.bids):
        bit, rank = choose_filler(beliefs.possible[i], used, beliefs.ways, rank)
        state.bids[opponent, i] = lowest_bit(np.uint64(bit)) + state.lowest
        used |= bit
    state.hands[opponent] = _pack(state) & ~used


def episode(state: Facts) -> int:
    """The number of a round that begins."""
    return state.rounds + 1 if state.player == 0 else CONTINUES


def simultaneous(state: Facts) -> int:
    """Both bid at once; player 0 is asked first."""
    return state.player + 1


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """Player 0's bid, where player 1 is about to bid."""
    if state.player == 0:
        return 0
    moves[0] = _last_result(state) if observer == 1 else state.bids[0, state.rounds]
    return 1


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The start, and the bids of `data`."""
    bids = data.view(np.recarray)[0].bids
    return state.start.copy(), [int(bids[i % 2, i // 2]) for i in range(len(state.history))]


def observation(state: Facts, player: int) -> tuple:
    """His own bids and cards, and the lead."""
    return state.bids[player], state.hands[player], state.rounds, state.player, state.lead


def derive(state: Facts) -> None:
    """Set the hands and the lead, which follow from the bids.

    Raises:
        ValueError: a player bids a card that he does not have, or has bid before.
    """
    cards, rounds = int(state.cards), int(state.rounds)
    for bidder in range(2):
        hand = (1 << cards) - 1
        # player 1 decides when player 0 has bid in the present round
        count = rounds + 1 if bidder == 0 and state.player == 1 and rounds < cards else rounds
        for bid in state.bids[bidder, :count].tolist():
            card = 1 << bid >> int(state.lowest)
            if not hand & card:
                raise ValueError(f"player {bidder} has no card {bid} in goofspiel to bid here")
            hand ^= card
        state.hands[bidder] = hand
    state.lead = 0
    for stake, winner in zip(_stakes(state), _winners(state), strict=False):
        if winner is not None:
            state.lead += stake if winner == 0 else -stake


def _stakes(state: Facts) -> range:
    """The points of each round."""
    stakes = range(state.lowest, state.lowest + state.cards)
    return stakes[::-1] if state.descending else stakes


def _winners(state: Facts) -> list[int | None]:
    """Who has won each round so far; None where the bids were equal."""
    bids = state.bids[:, : state.rounds].T.tolist()
    return [None if first == second else int(second > first) for first, second in bids]


def action_text(state: Facts, action: int) -> str:
    return str(action)


def scene(state: Facts, seat: int | None) -> Scene:
    """The points at stake, the cards that are left and the bids; of the other's bids only who won, unless they were equal."""
    rounds, is_over = int(state.rounds), player(state) == TERMINAL
    lead = "level"
    if state.lead:
        lead = f"ahead: player {int(state.lead < 0)} by {abs(int(state.lead))}"
    title = f"the end; {lead}" if is_over else f"round {rounds + 1} of {state.cards}; {lead}"
    viewer = None if is_over else seat
    hands, bids, stakes, winners = [], [], [], _winners(state)
    for i in range(2):
        cards = [
            f"{card + state.lowest}"
            for card in range(state.cards)
            if int(state.hands[i]) >> card & 1
        ]
        hands.append(held_by(viewer, i, tuple(cards)))
        is_other = viewer == 1 - i  # who sees the bids of a round only if they were equal
        texts = [
            "?" if is_other and winner is not None else f"{bid}"
            for bid, winner in zip(state.bids[i], winners, strict=False)
        ]
        if i == 0 and state.player == 1 and not is_over:
            texts.append("?" if is_other else f"{state.bids[0, rounds]}")
        bids.append(Hand(f"player {i} has bid", tuple(texts)))
        rounds_won = zip(_stakes(state), winners, strict=False)
        won = tuple(f"{stake}" for stake, winner in rounds_won if winner == i)
        stakes.append(Hand(f"player {i} has won", won, kind="stake"))
    if not is_over:
        stakes.append(Hand("at stake", (f"{interpret(points)(state)}",), kind="stake"))
    footer = "" if is_over else f"player {state.player} to bid"
    return Scene(title, rows=(*hands, *bids, *stakes), footer=footer)


BOARD = Drawing(scene)


def goofspiel(cards: int = CARDS, lowest: int = LOWEST, descending: int = ASCENDING) -> Game:
    """II-Goofspiel with so many cards.

    Args:
        lowest: card and points: 1, or 0 as in the experiments of Lanctot, Lisý and Bowling's longer paper.
        descending: 1 where the highest points come first.

    Raises:
        ValueError: another number of cards than 2 to 13; lowest or descending that is not 0 or 1.
    """
    cards = integer("cards of goofspiel", cards, FEWEST, MOST)
    lowest = integer("lowest of goofspiel", lowest, 0, 1)
    descending = integer("descending of goofspiel", descending, 0, 1)
    settings = {"cards": cards, "lowest": lowest, "descending": descending}
    all_points = sum(range(lowest, lowest + cards))
    return Game(
        **functions_of(globals()),
        name="goofspiel",
        players=2,
        parameters=settings,
        defaults={"cards": CARDS, "lowest": LOWEST, "descending": ASCENDING},
        ranges={
            "bids": (0, cards - 1 + lowest),
            "hands": (0, (1 << cards) - 1),
            **{name: (value, value) for name, value in settings.items()},
            "rounds": (0, cards),
            "player": (0, 1),
            "lead": (-all_points, all_points),
        },
        max_legal=MOST,
        actions=cards + lowest,
    )
