"""A pack of 52 cards, and deals, of cards or of pieces in places, drawn uniformly from all those that agree with what is known.

A card is `suit * 13 + rank`, suits ♣ ♦ ♠ ♥ = 0 … 3, ranks 2 … A = 0 … 12. A set of cards is a uint64 with a bit for each card.

**Constrained deals.** The `unseen` cards lie in hidden hands of known sizes (an undealt stock is one more hand), and of each hand
it is known that certain cards are not in it (`barred`: a suit that its owner failed to follow, …). Cards known to lie in a
certain hand are taken out by the caller beforehand: they are neither in `unseen` nor counted in `sizes`.

    BELIEFS = aligned(*deal_fields(hands=3), ("own", np.int64))

    def prepare(state, observer, beliefs):            # once per search
        beliefs.unseen = ...                          # uint64
        for hand in range(3):
            beliefs.sizes[hand] = ...                 # they sum to the number of unseen cards; 0 for a hand not in use
            beliefs.barred[hand] = ...                # uint64; may name cards that are not unseen
        prepare_deal(beliefs)

    def determinize(state, observer, beliefs, rng):   # each iteration
        draw_deal(beliefs, rng)
        ... = beliefs.dealt[hand]                     # uint64

**Method.** Hands with the same barred cards form a *group*, dealt as one large hand and split by a shuffle. Unseen cards barred
from the same groups form a *class* and are interchangeable, so that the number of deals depends only on how many cards of each
class each group takes. `prepare_deal` counts, by dynamic programming over the groups, the ways to deal the remaining groups from
each possible remainder of the classes. `draw_deal` draws for one group after another how many cards of each class it takes, with
probability proportional to the ways, and then which: nothing is ever rejected. Counts are float64, exact below 2**53 and within
some 10**-15 of themselves above. With voids alone the classes are at most the four suits; one single card apart (♠Q) makes five.
"""

import math

import numpy as np

from icarus.compiler.memory import copy_items
from icarus.kernel import (
    Facts,
    Integer,
    append_bits,
    below,
    helper,
    inlined,
    lowest_bit,
    popcount,
    uniform,
)

SUITS = 4
RANKS = 13
CARDS = SUITS * RANKS
PACK = np.uint64((1 << CARDS) - 1)
SUIT = np.uint64((1 << RANKS) - 1)  # the cards of suit 0
SUIT_SYMBOLS = "♣♦♠♥"
RANK_NAMES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")

CLASSES = 5  # of interchangeable cards: four suits and one card apart
OPEN = CLASSES - 1  # the classes that a group with barred cards can hold, at most
WAYS = (RANKS + 1) ** 3  # remainders of all classes but the largest, at most
BINOMIAL = np.array(
    [[math.comb(n, k) for k in range(CARDS + 1)] for n in range(CARDS + 1)], np.float64
)


def card_text(card: int) -> str:
    """A card as players write it: "Q♠"."""
    return RANK_NAMES[card % RANKS] + SUIT_SYMBOLS[card // RANKS]


def cards_in(cards: Integer) -> list[int]:
    """The cards of a set, lowest first."""
    return [card for card in range(CARDS) if int(cards) >> card & 1]


def card_texts(cards: Integer) -> tuple[str, ...]:
    """A set of cards by suits, high cards first: "A♣", "10♣", "Q♠"."""
    return tuple(
        card_text(card) for card in sorted(cards_in(cards), key=lambda card: (card // RANKS, -card))
    )


def refuse_shared(game: str, *sets: Integer) -> None:
    """Refuse a card that is in two of some sets of cards, in facts of a game that a user sets."""
    union = 0
    for cards in map(int, sets):
        for card in cards_in(union & cards):
            raise ValueError(f"{card_text(card)} of {game} is in two places")
        union |= cards


@inlined
def list_cards(actions: np.ndarray, base: int, cards: np.uint64) -> int:
    """Write base + card for each of some cards; returns how many there are.

    Facts set by hand may give more cards than there is room for: then nothing is written.
    """
    count = popcount(cards)
    return append_bits(actions, 0, base, cards) if count <= len(actions) else count


@inlined
def suit_cards(suit: int) -> np.uint64:
    """All cards of a suit."""
    return SUIT << np.uint64(suit * RANKS)


@inlined
def suits_cards(suits: int) -> np.uint64:
    """All cards of a set of suits (a bit for each)."""
    cards = np.uint64(0)
    for suit in range(SUITS):
        if suits >> suit & 1:
            cards |= suit_cards(suit)
    return cards


def deal_fields(hands: int) -> list[tuple]:
    """The fields that a `beliefs` dtype needs for constrained deals to `hands` hidden hands (the stock is one of them)."""
    return [
        ("unseen", np.uint64),  # given: the cards to be dealt
        ("sizes", np.int8, (hands,)),  # given: how many of them each hand holds
        ("barred", np.uint64, (hands,)),  # given: cards known not to be in a hand
        ("dealt", np.uint64, (hands,)),  # drawn
        ("groups", np.int8),  # how many; one without barred cards comes last
        ("group", np.int8, (hands,)),  # of each hand; -1 for a hand of no cards
        ("group_sizes", np.int8, (hands,)),
        ("group_barred", np.uint64, (hands,)),
        # the classes that a group can hold, filled up with an empty class
        ("open", np.int8, (hands, OPEN)),
        ("classes", np.int8),
        ("class_cards", np.uint64, (CLASSES,)),
        ("class_sizes", np.int8, (CLASSES + 1,)),  # the last class is always empty
        ("class_starts", np.int8, (CLASSES + 1,)),  # of each class in `order`
        ("order", np.int8, (CARDS,)),  # the unseen cards by classes
        # remainders of the classes -> index of `ways`; 0 for the largest, implied
        ("steps", np.int64, (CLASSES + 1,)),
        ("total", np.float64),  # the ways to deal the classes to all groups
        # to deal group 1, 2, … and those after it, for each remainder
        ("ways", np.float64, (max(hands - 1, 1), WAYS)),
        ("left", np.int8, (CLASSES + 1,)),  # working space: what remains of each class
        ("taken", np.int8, (OPEN,)),  # of each open class by the group being dealt
        ("cards", np.int8, (CARDS,)),  # the remaining cards, by classes
        ("gathered", np.int8, (CARDS,)),  # the cards of the group being dealt
    ]


@helper
def prepare_deal(deal: Facts) -> None:
    """Count the ways to deal `deal.unseen` to hands of `deal.sizes` without the cards in `deal.barred`.

    Raises:
        ValueError: the sizes do not sum to the number of unseen cards, no deal fits, or there are more classes than provided for.
    """
    _form_groups(deal)
    _form_classes(deal)
    size = popcount(deal.unseen)
    for group in range(deal.groups):
        size -= deal.group_sizes[group]
    if size != 0:
        raise ValueError("the sizes of the hidden hands must sum to the number of unseen cards")
    remainders = _number_classes(deal)
    for group in range(deal.groups - 1, 0, -1):
        size += deal.group_sizes[group]  # what this group and those after it hold
        for index in range(remainders):
            deal.ways[group - 1, index] = (
                _ways_from(deal, group, size) if _set_left(deal, index, size) else 0.0
            )
    copy_items(deal.left, deal.class_sizes)
    deal.total = _ways_from(deal, 0, popcount(deal.unseen)) if deal.groups > 0 else 1.0
    if deal.total <= 0.0:
        raise ValueError("no deal agrees with the barred cards")


@helper
def _form_groups(deal: Facts) -> None:
    """Hands with the same barred cards become a group, one without any the last."""
    deal.groups = 0
    # first the hands with barred cards, then those without
    for free in range(2):
        for hand in range(len(deal.sizes)):
            barred = deal.barred[hand] & deal.unseen
            if deal.sizes[hand] == 0:
                deal.group[hand] = -1
            elif (barred == np.uint64(0)) == (free == 1):
                _join(deal, hand, barred)


@inlined
def _join(deal: Facts, hand: int, barred: np.uint64) -> None:
    """Put a hand into the group with its barred cards, a new one if need be."""
    group = 0
    while group < deal.groups and deal.group_barred[group] != barred:
        group += 1
    if group == deal.groups:
        deal.groups += 1
        deal.group_barred[group] = barred
        deal.group_sizes[group] = 0
    deal.group[hand] = group
    deal.group_sizes[group] += deal.sizes[hand]


@helper
def _form_classes(deal: Facts) -> None:
    """Unseen cards barred from the same groups become a class; lists them, and the classes open to each group."""
    deal.classes, start, rest = 0, 0, deal.unseen
    while rest != np.uint64(0):
        if deal.classes == CLASSES:
            raise ValueError(
                "the barred cards make more than five classes of interchangeable cards"
            )
        card = np.uint64(1) << np.uint64(lowest_bit(rest))
        same = rest
        for group in range(deal.groups):
            barred = deal.group_barred[group]
            same &= barred if barred & card else ~barred
        deal.class_cards[deal.classes] = same
        deal.class_sizes[deal.classes] = popcount(same)
        deal.class_starts[deal.classes] = start
        deal.classes += 1
        rest &= ~same
        start = append_bits(deal.order, start, 0, same)
    deal.class_sizes[deal.classes :] = 0
    for group in range(deal.groups):
        _list_open(deal, group)


@helper
def _list_open(deal: Facts, group: int) -> None:
    """The classes that a group can hold. Only the last group can be open to all five; it takes what remains."""
    count = 0
    deal.open[group, :] = CLASSES
    for k in range(deal.classes):
        if not deal.class_cards[k] & deal.group_barred[group] and count < OPEN:
            deal.open[group, count] = k
            count += 1


@helper
def _number_classes(deal: Facts) -> int:
    """Number the remainders of all classes but the largest; returns how many there are."""
    largest = 0
    for k in range(deal.classes):
        if deal.class_sizes[k] > deal.class_sizes[largest]:
            largest = k
    remainders = 1
    deal.steps[:] = 0
    for k in range(deal.classes):
        if k != largest:
            deal.steps[k] = remainders
            remainders *= int(deal.class_sizes[k]) + 1
    if remainders > WAYS:
        raise ValueError("the classes of interchangeable cards have more than 14**3 remainders")
    return remainders


@helper
def _set_left(deal: Facts, index: int, size: int) -> bool:
    """Write the remainder of this index, of `size` cards in all, into `deal.left`; False if there is none.

    The index has a digit for each class but the largest (its step is 0, see `_number_classes`), which has what the others leave of `size`.
    """
    # If there are no classes at all: the spare one behind them, which has no cards, so that only size 0 fits.
    largest = CLASSES
    rest = size
    deal.left[:] = 0
    for k in range(deal.classes):
        if deal.steps[k] == 0:
            largest = k
        else:
            deal.left[k] = index // deal.steps[k] % (deal.class_sizes[k] + 1)
            rest -= deal.left[k]
    if not 0 <= rest <= deal.class_sizes[largest]:
        return False
    deal.left[largest] = rest
    return True


@helper
def _ways_from(deal: Facts, group: int, size: int) -> float:
    """The ways to deal what is left, `size` cards, to this group and those after it."""
    if group < deal.groups - 1:
        return _walk(deal, group, math.inf)
    for k in range(deal.classes):
        if deal.left[k] > 0 and deal.class_cards[k] & deal.group_barred[group]:
            return 0.0
    return 1.0


@helper
def _walk(deal: Facts, group: int, target: float) -> float:
    """The sum, over all that a group can take of its four open classes, of the ways to take it and to deal the rest to the groups after it.

    The walk ends where the sum exceeds `target`; `deal.taken` is then what is taken of each open class.
    """
    a, b, c, d = deal.open[group, 0], deal.open[group, 1], deal.open[group, 2], deal.open[group, 3]
    left_a, left_b, left_c, left_d = deal.left[a], deal.left[b], deal.left[c], deal.left[d]
    size = deal.group_sizes[group]
    start = _index(deal)
    total = 0.0
    for take_a in range(max(0, size - left_b - left_c - left_d), min(size, left_a) + 1):
        after_a, index_a = size - take_a, start - take_a * deal.steps[a]
        for take_b in range(max(0, after_a - left_c - left_d), min(after_a, left_b) + 1):
            after_b, index_b = after_a - take_b, index_a - take_b * deal.steps[b]
            ways_b = BINOMIAL[left_a, take_a] * BINOMIAL[left_b, take_b]
            for take_c in range(max(0, after_b - left_d), min(after_b, left_c) + 1):
                take_d = after_b - take_c
                index = index_b - take_c * deal.steps[c] - take_d * deal.steps[d]
                ways = (
                    ways_b
                    * BINOMIAL[left_c, take_c]
                    * BINOMIAL[left_d, take_d]
                    * deal.ways[group, index]
                )
                if ways > 0.0:
                    deal.taken[0], deal.taken[1], deal.taken[2], deal.taken[3] = (
                        take_a,
                        take_b,
                        take_c,
                        take_d,
                    )
                    total += ways
                    if total > target:
                        return total
    return total


@inlined
def _index(deal: Facts) -> int:
    """The index, in `ways`, of what is left of each class."""
    index = 0
    for k in range(deal.classes):
        index += deal.left[k] * deal.steps[k]
    return index


@helper
def draw_deal(deal: Facts, rng: np.ndarray) -> None:
    """Draw one of the deals, all equally likely, into `deal.dealt`; after `prepare_deal`."""
    copy_items(deal.cards, deal.order)
    copy_items(deal.left, deal.class_sizes)
    deal.dealt[:] = np.uint64(0)
    rest = deal.unseen
    for group in range(deal.groups - 1):
        ways = deal.total if group == 0 else deal.ways[group - 1, _index(deal)]
        _walk(deal, group, uniform(rng) * ways)
        count = 0
        for i in range(OPEN):
            count = _take(deal, deal.open[group, i], deal.taken[i], count, rng)
        rest = _split(deal, group, count, rest, rng)
    if deal.groups > 0:
        _split(deal, deal.groups - 1, _take_rest(deal), rest, rng)


@inlined
def _take(deal: Facts, k: int, number: int, count: int, rng: np.ndarray) -> int:
    """Move random cards of class k to the `count` cards gathered so far; returns the new count."""
    start, remaining = deal.class_starts[k], deal.left[k]
    for _ in range(number):
        i = start + below(rng, remaining)
        remaining -= 1
        deal.gathered[count] = deal.cards[i]
        deal.cards[i] = deal.cards[start + remaining]
        count += 1
    deal.left[k] = remaining
    return count


@inlined
def _take_rest(deal: Facts) -> int:
    """Gather all cards that are left; returns how many."""
    count = 0
    for k in range(deal.classes):
        for i in range(deal.class_starts[k], deal.class_starts[k] + deal.left[k]):
            deal.gathered[count] = deal.cards[i]
            count += 1
    return count


@helper
def _split(deal: Facts, group: int, count: int, rest: np.uint64, rng: np.ndarray) -> np.uint64:
    """Deal the gathered cards of a group to its hands at random; returns what is left of `rest`, the cards not dealt before."""
    for hand in range(len(deal.sizes)):
        if deal.group[hand] == group:
            # The last hand of the last group takes all that is left; every other one draws from its group's cards.
            hand_cards = rest
            if count > deal.sizes[hand] or group < deal.groups - 1:
                hand_cards = np.uint64(0)
                for _ in range(deal.sizes[hand]):
                    i = below(rng, count)
                    count -= 1
                    hand_cards |= np.uint64(1) << np.uint64(deal.gathered[i])
                    deal.gathered[i] = deal.gathered[count]
            deal.dealt[hand] = hand_cards
            rest &= ~hand_cards
    return rest


# ------------------------------------------------------------------- what fills places, each by one of its own candidates


@helper
def count_ways(candidates: np.ndarray, places: int, ways: np.ndarray) -> None:
    """Write into ways[mask] in how many ways the remaining places can be filled, once the items of `mask` fill the first ones.

    An item is a bit, and fills one place at most; `candidates[place]` are the items that can fill a place.
    """
    for mask in range(len(ways) - 1, -1, -1):
        place = popcount(np.uint64(mask))
        total = 1 if place == places else 0
        if place < places:
            rest = candidates[place] & ~mask
            while rest:
                total += ways[mask | (rest & -rest)]  # the lowest bit of `rest`
                rest &= rest - 1
        ways[mask] = total


@inlined
def choose_filler(candidates: Integer, mask: int, ways: np.ndarray, rank: int) -> tuple[int, int]:
    """The item, as a bit, that the filling of this rank has in the next place; and the rank among the fillings with that item there.

    The items of `mask` fill the places before; `candidates` can fill the next one, and `ways` is that of `count_ways`.
    """
    rest = int(candidates) & ~mask
    bit = rest & -rest
    while rank >= ways[mask | bit]:
        rank -= ways[mask | bit]
        rest ^= bit
        bit = rest & -rest
    return bit, rank
