"""Dou Di Zhu: a landlord with 20 cards against two peasants with 17 each; whoever first has no cards left wins for his side.

    landlord: 3 3 3 5 5 6 6 8 8 9 T J Q Q K K K A 2 R
    peasant 1: 3 4 4 4 6 7 7 7 8 9 9 T T Q A A B
    peasant 2: 4 5 5 6 7 8 9 T J J J Q K A 2 2 2
    landlord to lead

54 cards; suits do not matter. Ranks from 3 up to A, 2, the black joker B and the red joker R; T is ten. The landlord leads any
play; the next players follow with a higher play of the same category, length and kind of kickers, or with a bomb (four of a
rank), a higher bomb on a bomb, the nuke (both jokers) on anything, or pass. Two passes in a row give the lead to whoever made
the last play. Categories: solo 3; run of five or more solos 34567; pair 33; run of three or more pairs 334455; trio 333 and run
of trios 333444, bare or with one kicker each, all solos 333+1 or all pairs 333+2; quadplex, four with two kickers, 3333+1+1 or
3333+2+2; bomb 3333; nuke BR. Runs end at A. Kickers differ in rank from the main group and from each other and are never both
jokers.

Nobody sees the others' cards; all plays are seen by all. There is no bidding: the first player is the landlord, and which three
cards he got for it is not told. A play with kickers is two decisions in a row: the base, then all kickers at once.

An action is PASS, a base play (an index of PLAYS), or a set of kickers (a bit for each rank, plus SOLO_KICKERS or PAIR_KICKERS).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    Facts,
    append_bits,
    below,
    helper,
    inlined,
    popcount,
    shuffle,
)
from icarus.kernel.game import Game, State, aligned, functions_of
from icarus.kernel.scene import Drawing, Scene, held_by

# ------------------------------------------------------------------------------------------------------ hands and plays


RANK_NAMES = "3456789TJQKA2BR"  # B and R: the black and the red joker
RANK_COUNT = len(RANK_NAMES)
SUITED_RANKS = 13  # 3 … A 2: four cards each; a joker is a single card
RUN_RANKS = 12  # 3 … A: the ranks of which runs are made
LANDLORD_CARDS = 20
RANKS = np.uint64((1 << RANK_COUNT) - 1)
IN_RUNS = np.uint64((1 << RUN_RANKS) - 1)
JOKERS = np.uint64(0b11 << SUITED_RANKS)
ONE, NONE = np.uint64(1), np.uint64(0)

# A hand is four lanes of 16 bits: bit r of lane k tells whether the hand has more than k cards of rank r. A lane is thus the set
# of ranks that offer a solo, a pair, a trio, a four, and playing cards of some ranks moves their bits down by whole lanes.
LANE = 16
LANES = 4
EVERY_LANE = np.uint64(0x0001000100010001)  # times a set of ranks: that set in each lane
PAIRS, TRIOS, FOURS = np.uint64(LANE), np.uint64(2 * LANE), np.uint64(3 * LANE)  # shifts to lanes
# Of rank 3: 0 … 4.
HOLDINGS = np.array(
    [sum(1 << LANE * lane for lane in range(copies)) for copies in range(LANES + 1)], np.uint64
)

SHORTEST_SOLO_RUN, SHORTEST_PAIR_RUN, SHORTEST_TRIO_RUN = 5, 3, 2
CATEGORIES_WITH_RUNS = (  # cards of each rank, size of the kickers, shortest run
    *((1, 0, SHORTEST_SOLO_RUN), (2, 0, SHORTEST_PAIR_RUN)),
    *((3, size, SHORTEST_TRIO_RUN) for size in range(3)),
)
KICKERS_TO_FOUR = 2


class Play(NamedTuple):
    """A base play: `copies` cards of each of `length` ranks in a row from `start`, and how many kickers of what size follow."""

    copies: int
    length: int
    start: int
    kickers: int = 0
    kicker_size: int = 0  # 1 for solos, 2 for pairs


def _all_plays() -> Iterator[Play]:
    """Every base play that 20 cards allow, those of one category and length together and rising; bombs and nuke last."""
    yield Play(copies=0, length=0, start=0)
    for copies, kicker_size, shortest in CATEGORIES_WITH_RUNS:
        for length in (1, *range(shortest, RUN_RANKS + 1)):
            kickers = length if kicker_size else 0
            starts = RANK_COUNT if copies == 1 else SUITED_RANKS
            if length > 1:
                starts = RUN_RANKS - length + 1
            if length * copies + kickers * kicker_size <= LANDLORD_CARDS:
                yield from (
                    Play(copies, length, start, kickers, kicker_size) for start in range(starts)
                )
    for kicker_size in (1, 2):
        yield from (Play(4, 1, rank, KICKERS_TO_FOUR, kicker_size) for rank in range(SUITED_RANKS))
    yield from (Play(4, 1, rank) for rank in range(SUITED_RANKS))
    yield Play(copies=1, length=2, start=SUITED_RANKS)


PLAYS = tuple(_all_plays())
PASS = 0
NUKE = len(PLAYS) - 1
BOMB = NUKE - SUITED_RANKS  # the lowest of the bombs
SOLO_KICKERS, PAIR_KICKERS = 1 << LANE, 2 << LANE  # plus a set of ranks: kickers as an action

# Of each base play:
LENGTH = np.array([play.length for play in PLAYS], np.int64)
# the same from rank 3
LOWEST = np.array([action - play.start for action, play in enumerate(PLAYS)], np.int64)
# its set of ranks
TAKEN = np.array([((1 << play.length) - 1) << play.start for play in PLAYS], np.uint64)
# the ranks above its start
HIGHER = np.array([(1 << RANK_COUNT) - (2 << play.start) for play in PLAYS], np.uint64)
# to the lane of its ranks
SHIFT = np.array([LANE * max(play.copies - 1, 0) for play in PLAYS], np.uint64)
KICKERS = np.array([play.kickers for play in PLAYS], np.int64)
# To the lane of its kickers.
KICKER_SHIFT = np.array([LANE * max(play.kicker_size - 1, 0) for play in PLAYS], np.uint64)


def _from_rank_3(copies: int, kicker_size: int) -> np.ndarray:
    """The play of a category from rank 3, for each length; 0 where there is none."""
    plays = np.zeros(RUN_RANKS + 1, np.int64)
    for action, play in enumerate(PLAYS[:BOMB]):
        if play.start == 0 and (play.copies, play.kicker_size) == (copies, kicker_size):
            plays[play.length] = action
    return plays


SOLO, PAIR, TRIO = (_from_rank_3(copies, 0) for copies in (1, 2, 3))
TRIO_SOLO, TRIO_PAIR, FOUR_SOLO, FOUR_PAIR = (
    _from_rank_3(copies, size) for copies in (3, 4) for size in (1, 2)
)


@inlined
def hand_with(hand: np.uint64, rank: int) -> np.uint64:
    """The hand after receiving a card: its rank's bit goes into the first lane in which it is not set."""
    card = ONE << np.uint64(rank)
    return hand | ((hand & (card * EVERY_LANE)) << np.uint64(LANE)) | card


@inlined
def holding(rank: int, cards: int) -> np.uint64:
    """A hand of so many cards of one rank."""
    return HOLDINGS[cards] << np.uint64(rank)


@inlined
def count_of(hand: np.uint64, rank: int) -> int:
    """How many cards of a rank the hand has."""
    return popcount((hand >> np.uint64(rank)) & EVERY_LANE)


@inlined
def _without(hand: np.uint64, ranks: np.uint64, shift: np.uint64) -> np.uint64:
    """The hand without shift/16 + 1 cards of each of these ranks."""
    lanes = ranks * EVERY_LANE
    return (hand & ~lanes) | (((hand & lanes) >> shift) >> np.uint64(LANE))


@inlined
def hand_after(hand: np.uint64, action: int) -> np.uint64:
    """The hand after a base play or kickers."""
    if action >= SOLO_KICKERS:
        return _without(hand, np.uint64(action) & RANKS, PAIRS if action >= PAIR_KICKERS else NONE)
    return _without(hand, TAKEN[action], SHIFT[action])


@inlined
def _lane(hand: np.uint64, shift: np.uint64) -> np.uint64:
    """The ranks of which the hand has more than shift/16 cards."""
    return (hand >> shift) & RANKS


@inlined
def _run_starts(ranks: np.uint64, length: int) -> np.uint64:
    """The ranks from which `length` ranks in a row are in the set."""
    starts = ranks
    for step in range(1, length):
        starts &= ranks >> np.uint64(step)
    return starts


@inlined
def _most_kickers(ranks: np.uint64) -> int:
    """How many kickers these ranks offer at once: both jokers are never taken."""
    return popcount(ranks) - (1 if ranks & JOKERS == JOKERS else 0)


@inlined
def _listed_nuke(actions: np.ndarray, count: int, hand: np.uint64) -> int:
    """List the nuke where the hand has it; returns the new count."""
    if hand & JOKERS == JOKERS:
        actions[count] = NUKE
        count += 1
    return count


@inlined
def _listed_runs(
    actions: np.ndarray, count: int, from_rank_3: np.ndarray, ranks: np.uint64, shortest: int
) -> int:
    """List the runs of one category, of every length."""
    length, starts = shortest, _run_starts(ranks, shortest)
    while starts:
        count = append_bits(actions, count, from_rank_3[length], starts)
        starts &= ranks >> np.uint64(length)
        length += 1
    return count


@inlined
def _listed_trios(
    actions: np.ndarray, count: int, trios: np.uint64, most_solos: int, most_pairs: int
) -> int:
    """List trios and their runs, bare and with kickers; the ranks of the trios count among the solos and pairs."""
    length, starts = 1, trios
    while starts:
        count = append_bits(actions, count, TRIO[length], starts)
        if most_solos >= 2 * length:
            count = append_bits(actions, count, TRIO_SOLO[length], starts)
        if most_pairs >= 2 * length:
            count = append_bits(actions, count, TRIO_PAIR[length], starts)
        starts &= (trios & IN_RUNS) >> np.uint64(length)
        length += 1
    return count


@helper
def list_leads(hand: np.uint64, actions: np.ndarray) -> int:
    """Every base play that the hand offers and can provide with kickers."""
    solos, pairs, trios = _lane(hand, NONE), _lane(hand, PAIRS), _lane(hand, TRIOS)
    count = append_bits(actions, 0, SOLO[1], solos)
    count = _listed_runs(actions, count, SOLO, solos & IN_RUNS, SHORTEST_SOLO_RUN)
    count = append_bits(actions, count, PAIR[1], pairs)
    count = _listed_runs(actions, count, PAIR, pairs & IN_RUNS, SHORTEST_PAIR_RUN)
    if trios:
        fours, most_solos, most_pairs = _lane(hand, FOURS), _most_kickers(solos), popcount(pairs)
        count = _listed_trios(actions, count, trios, most_solos, most_pairs)
        if most_solos >= 1 + KICKERS_TO_FOUR:
            count = append_bits(actions, count, FOUR_SOLO[1], fours)
        if most_pairs >= 1 + KICKERS_TO_FOUR:
            count = append_bits(actions, count, FOUR_PAIR[1], fours)
        count = append_bits(actions, count, BOMB, fours)
    return _listed_nuke(actions, count, hand)


@helper
def list_follows(hand: np.uint64, play: int, actions: np.ndarray) -> int:
    """PASS, and every base play that beats another."""
    actions[0] = PASS
    if play == NUKE:
        return 1
    ranks, length, count = _lane(hand, SHIFT[play]), LENGTH[play], 1
    if (
        KICKERS[play] == 0
        or _most_kickers(_lane(hand, KICKER_SHIFT[play])) >= length + KICKERS[play]
    ):
        starts = _run_starts(ranks & IN_RUNS, length) if length > 1 else ranks
        count = append_bits(actions, count, LOWEST[play], starts & HIGHER[play])
    if play < BOMB:
        count = append_bits(actions, count, BOMB, _lane(hand, FOURS))
    return _listed_nuke(actions, count, hand)


@inlined
def _kicker_ranks(hand: np.uint64, play: int) -> np.uint64:
    """The ranks of possible kickers to a base play that is already on the table."""
    return _lane(hand, KICKER_SHIFT[play]) & ~TAKEN[play]


@inlined
def has_kickers(hand: np.uint64, play: int) -> bool:
    """Whether a hand has kickers to a base play that is already on the table."""
    return _most_kickers(_kicker_ranks(hand, play)) >= KICKERS[play]


@inlined
def _lowest_ranks(ranks: np.uint64, count: int) -> np.uint64:
    """The lowest few of a set of ranks."""
    rest = ranks
    for _ in range(count):
        rest &= rest - ONE
    return ranks ^ rest


@inlined
def _next_subset(chosen: np.uint64, ranks: np.uint64) -> np.uint64:
    """The next larger subset of as many of these ranks; empty after the last."""
    # With all other bits set, adding the lowest chosen bit carries up to the next rank that is not chosen.
    carried = (chosen | (RANKS & ~ranks)) + (chosen & ~(chosen - ONE))
    if carried > RANKS:
        return NONE
    # The ranks from there up stay; those that the carry has cleared are made up for by the lowest ones.
    upper = carried & ranks
    return upper | _lowest_ranks(ranks, popcount(chosen) - popcount(upper))


@helper
def list_kickers(hand: np.uint64, play: int, actions: np.ndarray) -> int:
    """Every set of kickers to a base play."""
    # the ranks that can be kickers; and the number for pairs or for solos, to which an action adds its set of ranks
    ranks, kind = _kicker_ranks(hand, play), PAIR_KICKERS if KICKER_SHIFT[play] else SOLO_KICKERS
    count, chosen = 0, _lowest_ranks(ranks, KICKERS[play])
    while chosen:
        # both jokers are never kickers together
        if chosen & JOKERS != JOKERS:
            actions[count] = kind + np.int64(chosen)
            count += 1
        chosen = _next_subset(chosen, ranks)
    return count


def cards_of(hand: int) -> list[int]:
    """The ranks of a hand's cards, rising."""
    return [
        rank
        for rank in range(RANK_COUNT)
        for lane in range(LANES)
        if int(hand) >> (LANE * lane + rank) & 1
    ]


def hand_of(cards: list[int]) -> int:
    """The hand of cards of these ranks."""
    return sum(int(HOLDINGS[cards.count(rank)]) << rank for rank in range(RANK_COUNT))


def cards_played(action: int) -> list[int]:
    """The ranks of the cards that an action plays, rising; none for PASS."""
    if action >= SOLO_KICKERS:
        return sorted(cards_of(action % SOLO_KICKERS) * (action // SOLO_KICKERS))
    play = PLAYS[action]
    return [
        rank for rank in range(play.start, play.start + play.length) for _ in range(play.copies)
    ]


def action_text(state: Facts, action: int) -> str:
    """An action as players write it: 333+1 for a trio that takes a solo as kicker, and then +4."""
    if action == PASS:
        return "pass"
    if action >= SOLO_KICKERS:
        return "+" + " ".join(
            RANK_NAMES[rank] * (action // SOLO_KICKERS) for rank in cards_of(action % SOLO_KICKERS)
        )
    base = "".join(RANK_NAMES[rank] for rank in cards_played(action))
    return base + f"+{PLAYS[action].kicker_size}" * PLAYS[action].kickers


# --------------------------------------------------------------------------------------------- what a position promises


TWOS = 12  # the rank of 2
CONTROL = 0.75  # plays that a 2, a joker or a bomb is worth
STEEPNESS = 0.45  # by play
LEAD = 0.5  # plays that it is worth to be about to act


@helper
def _plays(hand: np.uint64) -> float:
    """About how many plays a hand takes: one for each rank, less what its 2s, jokers and bombs win."""
    ranks = popcount(hand & RANKS)
    twos = popcount((hand >> np.uint64(TWOS)) & EVERY_LANE)
    controls = twos + popcount(hand & JOKERS) + popcount((hand >> FOURS) & RANKS)
    return ranks - CONTROL * controls


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-s}) for the landlord, s in proportion to how many plays fewer he needs than the better of the peasants."""
    nearest = min(_plays(state.hands[1]), _plays(state.hands[2]))
    ahead = nearest - _plays(state.hands[0])
    ahead += LEAD if state.player == 0 else -LEAD
    out[0] = 1.0 / (1.0 + math.exp(-STEEPNESS * ahead))
    out[1] = out[2] = 1.0 - out[0]


PLAYERS = 3
LANDLORD = 0
PLAYER_NAMES = ("landlord", "peasant 1", "peasant 2")
# the rank of each card
DECK = np.array([*range(SUITED_RANKS)] * 4 + [SUITED_RANKS, SUITED_RANKS + 1], np.int8)
# three solos of 11, beside a run of three trios; a lead has at most 88 plays
MOST_KICKER_SETS = 165

STATE = aligned(
    # four lanes of 16 bits: bit r of lane k for more than k cards of rank r
    ("hands", np.uint64, (PLAYERS,)),
    # the play to beat, or the one that awaits its kickers; PASS when the player leads
    ("play", np.int16),
    ("player", np.int8),  # about to act; TERMINAL when a hand is empty
    ("passes", np.int8),  # in a row since the last play
    ("kickers_due", np.int8),  # 1 between a base play and its kickers
)

BELIEFS = aligned(
    ("unseen", np.int64),  # how many cards the observer does not see
    # of each rank, which of the unseen cards 0 … unseen−1 are its
    ("cards", np.uint64, (RANK_COUNT,)),
)


def initial(state: Facts, rng: np.ndarray) -> None:
    cards = DECK.copy()
    shuffle(rng, cards, len(cards))
    for i in range(len(cards)):
        owner = LANDLORD if i < LANDLORD_CARDS else 1 + (i - LANDLORD_CARDS) % (PLAYERS - 1)
        state.hands[owner] = hand_with(state.hands[owner], cards[i])


def player(state: Facts) -> int:
    return state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    hand = state.hands[state.player]
    if state.kickers_due:
        return list_kickers(hand, state.play, actions)
    if state.play == PASS:
        return list_leads(hand, actions)
    return list_follows(hand, state.play, actions)


def apply(state: Facts, action: int) -> None:
    mover = state.player
    state.kickers_due = 0
    if action == PASS:
        state.passes += 1
        if state.passes == PLAYERS - 1:
            state.play, state.passes = PASS, 0
    else:
        hand = hand_after(state.hands[mover], action)
        state.hands[mover] = hand
        if action < SOLO_KICKERS:
            state.play, state.passes = action, 0
            if KICKERS[action]:
                state.kickers_due = 1
                return
        if hand == 0:
            state.player = TERMINAL
            return
    state.player = mover + 1 if mover + 1 < PLAYERS else 0


def rewards(state: Facts, out: np.ndarray) -> None:
    landlord_won = state.hands[LANDLORD] == 0
    for i in range(PLAYERS):
        out[i] = 1.0 if (i == LANDLORD) == landlord_won else 0.0


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    """Number, by rank, the cards that the observer does not see: those that he does not hold and that are not played."""
    beliefs.unseen = 0
    for rank in range(RANK_COUNT):
        cards = 0
        for opponent in range(PLAYERS):
            if opponent != observer:
                cards += count_of(state.hands[opponent], rank)
        beliefs.cards[rank] = ((ONE << np.uint64(cards)) - ONE) << np.uint64(beliefs.unseen)
        beliefs.unseen += cards


@inlined
def random_subset(rng: np.ndarray, size: int, count: int) -> np.uint64:
    """A uniformly random set of `size` of the numbers 0 … count−1 (Floyd's algorithm)."""
    numbers = np.uint64(0)
    for last in range(count - size, count):
        number = ONE << np.uint64(below(rng, last + 1))
        numbers |= ONE << np.uint64(last) if numbers & number else number
    return numbers


@helper
def _redeal(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Deal the unseen cards anew to the two others, to each as many as he holds."""
    first, second = (observer + 1) % PLAYERS, (observer + 2) % PLAYERS
    to_first = random_subset(rng, popcount(state.hands[first]), beliefs.unseen)
    first_hand, second_hand = np.uint64(0), np.uint64(0)
    for rank in range(RANK_COUNT):
        cards = beliefs.cards[rank]
        first_hand |= holding(rank, popcount(cards & to_first))
        second_hand |= holding(rank, popcount(cards & ~to_first))
    state.hands[first], state.hands[second] = first_hand, second_hand


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Deal the unseen cards anew; a player who has announced kickers is known to have them."""
    if observer == CHANCE:
        return
    _redeal(state, observer, beliefs, rng)
    if state.kickers_due and state.player != observer:
        while not has_kickers(state.hands[state.player], state.play):
            _redeal(state, observer, beliefs, rng)


def episode(state: Facts) -> int:
    """Eq. (18): the player who is about to lead."""
    return state.player if state.play == PASS else CONTINUES


def observation(state: Facts, player: int) -> tuple:
    """His own cards, and the play to beat."""
    return state.hands[player], state.play, state.player, state.passes, state.kickers_due


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The deal that leads to a determinization: what each player holds there, and what he has played."""
    start = np.zeros(1, STATE)
    for i in range(PLAYERS):
        cards = cards_of(data["hands"][0, i])
        for mover, action in state.history:
            if mover == i:
                cards += cards_played(action)
        start["hands"][0, i] = hand_of(cards)
    return start, [action for _, action in state.history]


def multiplicity(state: Facts) -> float:
    """The number of deals of single cards that the ranks in a state stand for, up to a factor that all states share."""
    return 1 / math.prod(
        math.factorial(count_of(hand, rank)) for hand in state.hands for rank in range(RANK_COUNT)
    )


LETTERS_OF_CARDS = "T: ten; B, R: jokers"


def _card_names(ranks: list[int]) -> tuple[str, ...]:
    return tuple(RANK_NAMES[rank] for rank in ranks)


def derive(state: Facts) -> None:
    """Refuse more than four cards of a rank, or two of one joker; nothing follows from facts that a user sets."""
    hands = [int(hand) for hand in state.hands]
    for hand in hands:
        if hand_of(cards_of(hand)) != hand:
            raise ValueError(f"{hand} is no hand of dou-di-zhu; hand_of(cards) makes one")
    cards = [card for hand in hands for card in cards_of(hand)]
    for rank, name in enumerate(RANK_NAMES):
        most = LANES if rank < SUITED_RANKS else 1
        if cards.count(rank) > most:
            raise ValueError(
                f"the hands of dou-di-zhu have {cards.count(rank)} cards {name}, of {most} at most"
            )


def scene(state: Facts, seat: int | None) -> Scene:
    """The play to beat, and the seat's own hand."""
    hands = []
    for i, name in enumerate(PLAYER_NAMES):
        note = LETTERS_OF_CARDS if seat == i else ""
        hands.append(held_by(seat, i, _card_names(cards_of(state.hands[i])), note, name))
    played = _card_names(cards_played(state.play))
    if state.player == TERMINAL:
        footer = "the landlord has won" if state.hands[0] == 0 else "the peasants have won"
    elif state.play == PASS:
        footer = f"{PLAYER_NAMES[state.player]} to lead"
    else:
        cards = " ".join(played)
        owner = PLAYER_NAMES[(state.player - state.passes - 1) % PLAYERS]
        what = f"add kickers to {cards}" if state.kickers_due else f"follow {cards} of the {owner}"
        footer = f"{PLAYER_NAMES[state.player]} to {what}"
    return Scene(rows=tuple(hands), middle=tuple(("", card) for card in played), footer=footer)


def parts(state: Facts, action: int, seat: int | None) -> tuple[str, ...]:
    """The cards, one by one."""
    return _card_names(cards_played(action))


BOARD = Drawing(scene, parts, is_choice=True)


DOU_DI_ZHU = Game(
    **functions_of(globals()),
    name="dou-di-zhu",
    players=PLAYERS,
    ranges={
        "hands": (0, int(RANKS * EVERY_LANE)),
        "play": (PASS, NUKE),
        "player": (TERMINAL, PLAYERS - 1),
        "passes": (0, PLAYERS - 2),
        "kickers_due": (0, 1),
    },
    max_legal=MOST_KICKER_SETS,
    actions=PAIR_KICKERS + (1 << RANK_COUNT),
    seat_names=tuple(name.capitalize() for name in PLAYER_NAMES),
)
