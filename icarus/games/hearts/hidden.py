"""Hearts: what a player sees of an action, and how all that he cannot know is drawn anew."""

import numpy as np

from icarus.compiler.rng import next_word
from icarus.games.cards import CARDS, PACK
from icarus.games.hearts.facts import (
    ALL_PASSES,
    BINOMIAL,
    CARD_PASSED,
    CLUB_TWO,
    DEAL,
    DEALING,
    ENDED,
    EXCHANGING,
    HAND,
    NONE,
    ONE,
    PASS,
    PASSED_CARDS,
    PASSING,
    PLAYERS,
    PLAYING,
    STATE,
    added_score,
    deal,
    giver,
    offset,
    passed_by,
    subset,
)
from icarus.kernel import CHANCE, TERMINAL, Facts, inlined, lowest_bit, popcount, shuffle
from icarus.kernel.state import State


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    """A pass is seen as CARD_PASSED; of EXCHANGE and DEAL each sees the cards that he picks up, and who has the lead."""
    if state.phase == PASSING:
        for i in range(PLAYERS):
            if i != state.player:
                moves[i] = CARD_PASSED
    elif state.phase != PLAYING:
        dealt = state.phase == DEALING
        leads = not dealt or offset(state) == 0
        for i in range(PLAYERS):
            picked_up = state.held[i] if dealt else passed_by(state, giver(state, i))
            moves[i] = _picked_up(picked_up, _club_two_holder(state) if leads else 0)


@inlined
def _picked_up(cards: np.uint64, leader: int) -> int:
    """The move that shows a player these cards: negative, so that it is not an action."""
    return -1 - np.int64(cards | (np.uint64(leader) << np.uint64(CARDS)))  # type: ignore[return-value]


@inlined
def _club_two_holder(state: Facts) -> int:
    """Who has ♣2, or is about to be given it."""
    holder = 0
    for i in range(PLAYERS):
        if (state.held[i] | passed_by(state, giver(state, i))) & CLUB_TWO:
            holder = i
    return holder


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """The cards of the trick; before the tricks, the deal (but the first, which is not an action) and the passes."""
    if state.phase == PLAYING or state.phase == ENDED:
        for k in range(state.count):
            moves[k] = state.trick[k]
        return state.count
    if state.phase == DEALING:
        return 0
    count = 0
    if state.round_number > 0:
        moves[0] = DEAL if observer == PLAYERS else _picked_up(state.held[observer] | passed_by(state, observer), 0)
        count = 1
    for k in range(state.passes):
        passer = k // PASSED_CARDS
        visible = observer in (PLAYERS, passer)
        moves[count + k] = PASS + state.passed[passer, k % PASSED_CARDS] if visible else CARD_PASSED
    return count + state.passes


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    """Sort the unseen cards by who can hold them, and count the deals for each way to split those that only two can hold."""
    if observer == CHANCE:
        return
    unseen = PACK & ~state.played & ~state.held[observer]
    if state.phase == PASSING or state.phase == EXCHANGING:
        unseen &= ~passed_by(state, observer)
    for k in range(3):
        beliefs.needs[k] = HAND - popcount(state.held[(observer + 1 + k) & 3] & state.played)
        beliefs.sure[k] = _certain_cards(state, observer, (observer + 1 + k) & 3)
    unseen &= ~(beliefs.sure[0] | beliefs.sure[1] | beliefs.sure[2])
    beliefs.anyone = unseen
    for k in range(3):
        beliefs.anyone &= ~_excluded_cards(state, observer, k)
    for k in range(3):
        here, next_ = _excluded_cards(state, observer, k), _excluded_cards(state, observer, k + 1)
        last = _excluded_cards(state, observer, k + 2)
        beliefs.shared[k] = unseen & here & ~next_ & ~last
        beliefs.sure[k] |= unseen & ~here & next_ & last
    for k in range(3):
        beliefs.needs[k] -= popcount(beliefs.sure[k])
    _count_deals(beliefs)
    cards, needed = popcount(beliefs.anyone), 0
    for k in range(3):
        cards, needed = cards + popcount(beliefs.shared[k]), needed + beliefs.needs[k]
    going_on = state.phase != DEALING and state.player != TERMINAL
    if going_on and (cards != needed or beliefs.deals[beliefs.splits - 1] == NONE):
        raise ValueError(
            "no deal of hearts agrees with the facts: `held`, `played` and `passed` leave other numbers of cards than "
            "the hands need, or `excluded`, the suits that players cannot hold, leaves no place for a card"
        )


@inlined
def _excluded_cards(state: Facts, observer: int, k: int) -> np.uint64:
    """The cards that an opponent, by his place after the observer, has shown not to hold."""
    return state.excluded[(observer + 1 + k % 3) & 3]


@inlined
def _certain_cards(state: Facts, observer: int, holder: int) -> np.uint64:
    """The cards in another's hand that the observer can name: those he passed to him, and ♣2 when it is about to be led."""
    if state.phase != PLAYING:
        return NONE
    cards = NONE
    if state.passes == ALL_PASSES and giver(state, holder) == observer:
        cards = passed_by(state, observer) & ~state.played
    if state.played == NONE and state.player == holder:
        cards |= CLUB_TWO
    return cards


@inlined
def _open_needs(beliefs: Facts, k: int, first: int, second: int, third: int) -> int:
    """How many of the cards that anyone can hold an opponent has, when so many of each `shared[j]` go to opponent j + 1."""
    split = (first, second, third)
    opposite = (k + 1) % 3  # whose shared cards go to k unless they go to k + 2
    return beliefs.needs[k] - split[(k + 2) % 3] - (popcount(beliefs.shared[opposite]) - split[opposite])


@inlined
def _numbers(beliefs: Facts, split: int) -> tuple[int, int, int]:
    """A split as the numbers of cards of `shared[0]`, `shared[1]`, `shared[2]` that go to opponents 1, 2, 0."""
    second, third = popcount(beliefs.shared[1]) + 1, popcount(beliefs.shared[2]) + 1
    return split // third // second, split // third % second, split % third


@inlined
def _count_deals(beliefs: Facts) -> None:
    beliefs.splits = 1
    for k in range(3):
        beliefs.splits *= popcount(beliefs.shared[k]) + 1
    total = NONE
    for split in range(beliefs.splits):
        total += _deals(beliefs, split)
        beliefs.deals[split] = total
    beliefs.mask = total - ONE
    for shift in (1, 2, 4, 8, 16, 32):
        beliefs.mask |= beliefs.mask >> np.uint64(shift)


@inlined
def _deals(beliefs: Facts, split: int) -> np.uint64:
    """The number of consistent deals with this split."""
    first, second, third = _numbers(beliefs, split)
    deals = ONE
    for k in range(3):
        if _open_needs(beliefs, k, first, second, third) < 0:
            return NONE
        deals *= BINOMIAL[popcount(beliefs.shared[k]), (first, second, third)[k]]
    cards, number = popcount(beliefs.anyone), _open_needs(beliefs, 0, first, second, third)
    return deals * BINOMIAL[cards, number] * BINOMIAL[cards - number, _open_needs(beliefs, 1, first, second, third)]


@inlined
def _draw_split(beliefs: Facts, rng: np.ndarray) -> int:
    """A split, as likely as its share of the consistent deals."""
    rank = next_word(rng) & beliefs.mask
    while rank >= beliefs.deals[beliefs.splits - 1]:
        rank = next_word(rng) & beliefs.mask
    low, high = 0, beliefs.splits - 1
    while low < high:
        middle = (low + high) // 2
        if beliefs.deals[middle] > rank:
            high = middle
        else:
            low = middle + 1
    return low


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """All deals, with all passes, that agree with what the observer has seen are equally likely."""
    state.searching = 1
    state.fate = next_word(rng)
    if observer == CHANCE:
        return
    if state.phase == DEALING:
        deal(state, rng)
        return
    _redeal(state, observer, beliefs, rng)
    if state.phase == PASSING or state.phase == EXCHANGING:
        for i in range(PLAYERS):
            if i != observer:
                _redraw_pass(state, i, i, rng)
                state.held[i] &= ~passed_by(state, i)
    elif state.passes == ALL_PASSES:
        for i in range(PLAYERS):
            receiver = (i + offset(state)) & 3
            if i != observer and receiver != observer:
                _redraw_pass(state, i, receiver, rng)


@inlined
def _redeal(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Give each opponent, besides what he has played, a new hand; before the exchange with the cards that he has passed."""
    first, second, third = beliefs.sure[0], beliefs.sure[1], beliefs.sure[2]
    to_second, to_third, to_first = 0, 0, 0
    if beliefs.splits > 1:
        to_second, to_third, to_first = _numbers(beliefs, _draw_split(beliefs, rng))
        part = subset(rng, beliefs.shared[0], to_second)
        second |= part
        third |= beliefs.shared[0] ^ part
        part = subset(rng, beliefs.shared[1], to_third)
        third |= part
        first |= beliefs.shared[1] ^ part
        part = subset(rng, beliefs.shared[2], to_first)
        first |= part
        second |= beliefs.shared[2] ^ part
    part = subset(rng, beliefs.anyone, _open_needs(beliefs, 0, to_second, to_third, to_first))
    rest = beliefs.anyone ^ part
    first |= part
    part = subset(rng, rest, _open_needs(beliefs, 1, to_second, to_third, to_first))
    second |= part
    third |= rest ^ part
    hands = (first, second, third)
    for k in range(3):
        i = (observer + 1 + k) & 3
        state.held[i] = state.held[i] & state.played | hands[k]


@inlined
def _redraw_pass(state: Facts, passer: int, holder: int, rng: np.ndarray) -> None:
    """Draw which cards a player has passed, in which order, from all that could be they."""
    count = min(max(state.passes - PASSED_CARDS * passer, 0), PASSED_CARDS)
    cards = subset(rng, state.held[holder], count)
    for k in range(count):
        state.passed[passer, k] = lowest_bit(cards)
        cards &= cards - ONE
    shuffle(rng, state.passed[passer], count)


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """What leads to a determinization since its round began: from the initial state, or from where DEAL is to happen."""
    facts = data.view(np.recarray)[0]
    if facts.phase == DEALING:
        return data.copy(), []
    dealt = max((n for n, (_, action) in enumerate(state.history) if action == DEAL), default=0)
    actions = [action for _, action in state.history[dealt:]]
    first = int(facts.round_number > 0)  # after DEAL
    actions[first : first + facts.passes] = [PASS + int(card) for card in facts.passed.ravel()[: facts.passes]]
    return _start_of_round(facts), actions


def _start_of_round(facts: Facts) -> np.ndarray:
    """The data before the passes of a round, with the cards that were dealt in it."""
    start = np.zeros(1, STATE)
    facts_at_start = start.view(np.recarray)[0]
    for field in ("fate", "threshold", "round_number", "searching"):
        setattr(facts_at_start, field, getattr(facts, field))
    facts_at_start.phase, facts_at_start.player = (DEALING, CHANCE) if facts.round_number > 0 else (PASSING, 0)
    passed = [int(passed_by(facts, i)) for i in range(PLAYERS)]
    for i in range(PLAYERS):
        received = 0 if facts.phase in (PASSING, EXCHANGING) else passed[giver(facts, i)]
        facts_at_start.held[i] = int(facts.held[i]) & ~received | passed[i]
        facts_at_start.scores[i] = facts.scores[i] - (added_score(facts, i) if facts.phase == ENDED else 0)
    return start
