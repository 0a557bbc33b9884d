"""Hands and plays of Dou Di Zhu: the table of base plays, and what a hand offers to lead, to follow and to add as kickers."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from icarus.kernel import append_bits, helper, inlined, popcount

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
HOLDINGS = np.array([sum(1 << LANE * lane for lane in range(copies)) for copies in range(LANES + 1)], np.uint64)

SHORTEST_SOLO_RUN, SHORTEST_PAIR_RUN, SHORTEST_TRIO_RUN = 5, 3, 2
CATEGORIES_WITH_RUNS = (  # cards of each rank, size of the kickers, shortest run
    (1, 0, SHORTEST_SOLO_RUN),
    (2, 0, SHORTEST_PAIR_RUN),
    (3, 0, SHORTEST_TRIO_RUN),
    (3, 1, SHORTEST_TRIO_RUN),
    (3, 2, SHORTEST_TRIO_RUN),
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
            if length * copies + kickers * kicker_size <= LANDLORD_CARDS:
                ranks = RUN_RANKS - length + 1 if length > 1 else RANK_COUNT if copies == 1 else SUITED_RANKS
                yield from (Play(copies, length, start, kickers, kicker_size) for start in range(ranks))
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
LOWEST = np.array([action - play.start for action, play in enumerate(PLAYS)], np.int64)  # the same from rank 3
TAKEN = np.array([((1 << play.length) - 1) << play.start for play in PLAYS], np.uint64)  # its set of ranks
HIGHER = np.array([(1 << RANK_COUNT) - (2 << play.start) for play in PLAYS], np.uint64)  # the ranks above its start
SHIFT = np.array([LANE * max(play.copies - 1, 0) for play in PLAYS], np.uint64)  # to the lane of its ranks
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
TRIO_SOLO, TRIO_PAIR, FOUR_SOLO, FOUR_PAIR = (_from_rank_3(copies, size) for copies in (3, 4) for size in (1, 2))


@inlined
def hand_with(hand: np.uint64, rank: int) -> np.uint64:
    """The hand after receiving a card."""
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
    if hand & JOKERS == JOKERS:
        actions[count] = NUKE
        count += 1
    return count


@inlined
def _listed_runs(actions: np.ndarray, count: int, from_rank_3: np.ndarray, ranks: np.uint64, shortest: int) -> int:
    """List the runs of one category, of every length."""
    length, starts = shortest, _run_starts(ranks, shortest)
    while starts:
        count = append_bits(actions, count, from_rank_3[length], starts)
        starts &= ranks >> np.uint64(length)
        length += 1
    return count


@inlined
def _listed_trios(actions: np.ndarray, count: int, trios: np.uint64, most_solos: int, most_pairs: int) -> int:
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
    if KICKERS[play] == 0 or _most_kickers(_lane(hand, KICKER_SHIFT[play])) >= length + KICKERS[play]:
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
    carried = (chosen | (RANKS & ~ranks)) + (chosen & ~(chosen - ONE))
    if carried > RANKS:
        return NONE
    upper = carried & ranks
    return upper | _lowest_ranks(ranks, popcount(chosen) - popcount(upper))


@helper
def list_kickers(hand: np.uint64, play: int, actions: np.ndarray) -> int:
    """Every set of kickers to a base play."""
    ranks, kind = _kicker_ranks(hand, play), PAIR_KICKERS if KICKER_SHIFT[play] else SOLO_KICKERS
    count, chosen = 0, _lowest_ranks(ranks, KICKERS[play])
    while chosen:
        if chosen & JOKERS != JOKERS:
            actions[count] = kind + np.int64(chosen)
            count += 1
        chosen = _next_subset(chosen, ranks)
    return count


def cards_of(hand: int) -> list[int]:
    """The ranks of a hand's cards, rising."""
    return [rank for rank in range(RANK_COUNT) for lane in range(LANES) if int(hand) >> (LANE * lane + rank) & 1]


def hand_of(cards: list[int]) -> int:
    """The hand of cards of these ranks."""
    return sum(int(HOLDINGS[cards.count(rank)]) << rank for rank in range(RANK_COUNT))


def cards_played(action: int) -> list[int]:
    """The ranks of the cards that an action plays, rising."""
    if action >= SOLO_KICKERS:
        return sorted(cards_of(action % SOLO_KICKERS) * (action // SOLO_KICKERS))
    play = PLAYS[action]
    return [rank for rank in range(play.start, play.start + play.length) for _ in range(play.copies)]


def play_text(action: int) -> str:
    """An action as players write it: 333+1 for a trio that takes a solo as kicker, and then +4."""
    if action == PASS:
        return "pass"
    if action >= SOLO_KICKERS:
        return "+" + " ".join(RANK_NAMES[rank] * (action // SOLO_KICKERS) for rank in cards_of(action % SOLO_KICKERS))
    return (
        "".join(RANK_NAMES[rank] for rank in cards_played(action))
        + f"+{PLAYS[action].kicker_size}" * PLAYS[action].kickers
    )
