"""Hearts: four players, 13 tricks a round, every ♥ costs 1 point and ♠Q 13; who has the fewest when someone reaches 50 wins.

Each round the 52 cards are dealt and three are passed: left, right, across, not at all, in turn. The first player passes his
three one at a time, then the others; the receivers see them when all have passed. ♣2 leads; follow suit if able. The first trick takes no
points from a hand that has anything else, and ♥ is not led before a point card has been played, unless nothing else is held. Who
takes all 26 points has 0 of them and the others 26 each. Rewards: lowest score 1, highest 0, otherwise ½; equal scores share the
better value.

    round 3, pass across
    player 0, points 0, score 9: A♣ 5♣ 3♣ 4♦ A♠ 7♠ Q♥ 6♥ 5♥ 4♥
    player 1, points 0, score 21: K♣ Q♣ 9♣ J♦ 8♦ 10♠ 9♠ 4♠ 3♠ A♥
    player 2, points 0, score 9: 7♣ K♦ Q♦ 8♠ 5♠ J♥ 8♥ 7♥ 3♥
    player 3, points 0, score 13: 10♣ 6♣ 9♦ 2♦ Q♠ K♥ 10♥ 9♥ 2♥
    table: player 2 led 3♦, player 3 5♦
    player 0 to play

A player does not see the others' hands, nor which cards pass between others, nor what he is given until all have passed.

A determinized state ends with the round (section 7.2): whole rounds are then drawn from `hearts_rounds.npy`, seats permuted at
each draw, until the threshold is reached, and the rewards follow from that. All draws follow from the state's `fate`, so that
rewards are a function of the state. A search that looks at the true state gets the same from `determinize` by the environment,
which sees every card: it sets `searching` and draws a `fate`, and redeals nothing. In real play `fate` decides the deals to come.

An action is a card to play (suit × 13 + rank), PASS + a card to pass, or one of the environment's: EXCHANGE, when all have
passed, and DEAL, when a new round begins; what those show a player is a move of his own: the cards that he picks up, who leads.
"""

import itertools
import math
from pathlib import Path

import numpy as np

from icarus.checks import integer
from icarus.compiler.plain_python import interpret
from icarus.compiler.rng import RNG_WORDS, next_word
from icarus.games.cards import (
    CARDS,
    PACK,
    RANKS,
    card_text,
    card_texts,
    list_cards,
    refuse_shared,
    suit_cards,
)
from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    Facts,
    below,
    helper,
    inlined,
    lowest_bit,
    popcount,
    shuffle,
)
from icarus.kernel.game import Game, State, aligned, functions_of
from icarus.kernel.scene import Drawing, Scene, held_by

# ---------------------------------------------------------------------------------------- cards, passes, actions, state


PLAYERS = 4
HAND = CARDS // PLAYERS
PASSED_CARDS = 3
ALL_PASSES = PLAYERS * PASSED_CARDS
QUEEN_POINTS = 13
ALL_POINTS = 26
THRESHOLD, MAX_THRESHOLD = 50, 10_000
PASS = CARDS  # PASS + c: pass card c
EXCHANGE = 2 * CARDS
DEAL = EXCHANGE + 1
CARD_PASSED = DEAL + 1  # what the others see of a pass
DEAL_LABEL = PLAYERS  # D of eq. (19); L_i is i
PASSING, EXCHANGING, PLAYING, DEALING, ENDED = range(5)
PASSINGS = ("pass left", "pass right", "pass across", "no passing")
OFFSETS = (1, 3, 2, 0)  # seats from the passer to the receiver
ONE = np.uint64(1)
NONE = np.uint64(0)
HEART_CARDS = np.uint64(((1 << RANKS) - 1) << 3 * RANKS)
CLUB_TWO = np.uint64(1)
SPADE_QUEEN = np.uint64(1 << 2 * RANKS + 10)
POINT_CARDS = np.uint64(HEART_CARDS | SPADE_QUEEN)
UNSEEN_CARDS = CARDS - HAND
BINOMIAL = np.array(
    [[math.comb(n, k) for k in range(UNSEEN_CARDS + 1)] for n in range(UNSEEN_CARDS + 1)], np.uint64
)
# three sets of cards, 39 in all, each split between two players
MAX_SPLITS = (UNSEEN_CARDS // 3 + 1) ** 3
STATE = aligned(
    # Bits: until the exchange what is in hand, then all that is held for the 13 tricks.
    ("held", np.uint64, (PLAYERS,)),
    ("played", np.uint64),  # bits: this round
    ("excluded", np.uint64, (PLAYERS,)),  # bits: cards that a player has shown not to hold
    ("fate", np.uint64),  # seed of the deals to come, in a search of the rounds to come
    ("scores", np.int16, (PLAYERS,)),  # points at the end of the last round
    ("threshold", np.int16),  # a score that ends the game
    ("round_number", np.int16),
    ("passed", np.int8, (PLAYERS, PASSED_CARDS)),  # cards, in the order of passing
    ("trick", np.int8, (PLAYERS,)),  # cards, in the order of playing
    ("points", np.int8, (PLAYERS,)),  # taken this round
    ("phase", np.int8),
    ("player", np.int8),  # ρ
    ("passes", np.int8),  # made this round, 0 … 12
    ("count", np.int8),  # cards in the trick
    ("broken", np.int8),  # ♥ may be led
    ("searching", np.int8),  # the game ends with the round
)
# With three hidden hands the deals of all splits fit a table: several times cheaper to draw from than `cards.draw_deal`.
BELIEFS = aligned(
    ("sure", np.uint64, (3,)),  # bits: cards that each opponent (observer + 1, + 2, + 3) must hold
    ("needs", np.int8, (3,)),  # cards that each opponent holds besides
    ("shared", np.uint64, (3,)),  # bits: cards that this opponent cannot hold, but both others can
    ("anyone", np.uint64),  # bits: cards that each opponent can hold
    ("splits", np.int64),  # ways to number the cards of `shared` that go to one of the two
    # deals, of all consistent ones, with this split or one before it
    ("deals", np.uint64, (MAX_SPLITS,)),
    # the least 2^k − 1 that is no less than the number of consistent deals, less one
    ("mask", np.uint64),
)


@inlined
def card_bit(card: int) -> np.uint64:
    """The set of a single card."""
    return ONE << np.uint64(card)


@inlined
def subset(rng: np.ndarray, cards: np.uint64, size: int) -> np.uint64:
    """A uniformly random set of `size` of the cards: by coins, which treat no card unlike another."""
    chosen = NONE
    while size > 0:
        # A coin for each card. If those with heads are too few, all are chosen, and the others go on; if they are too many, they go on.
        half = cards & next_word(rng)
        excess = popcount(half) - size
        if excess <= 0:
            chosen |= half
            cards ^= half
            size = -excess
        else:
            cards = half
    return chosen


@inlined
def passed_by(state: Facts, player: int) -> np.uint64:
    """The set of cards that a player has passed so far."""
    cards = NONE
    for k in range(min(max(state.passes - PASSED_CARDS * player, 0), PASSED_CARDS)):
        cards |= card_bit(state.passed[player, k])
    return cards


@inlined
def offset(state: Facts) -> int:
    """How many seats on the cards of this round are passed."""
    return OFFSETS[state.round_number & 3]


@inlined
def giver(state: Facts, player: int) -> int:
    """Who passes to a player."""
    return (player - offset(state)) & 3


@helper
def deal_hands(state: Facts, rng: np.ndarray) -> None:
    """Deal every player a hand from a full pack."""
    cards = PACK
    for i in range(PLAYERS):
        state.held[i] = subset(rng, cards, HAND)
        cards ^= state.held[i]


@inlined
def added_score(state: Facts, player: int) -> int:
    """What the round adds to a player's score."""
    if state.points[player] == ALL_POINTS:
        return 0
    for i in range(PLAYERS):
        if state.points[i] == ALL_POINTS:
            return ALL_POINTS
    return state.points[player]


# --------------------------------------------------------------------------------------------- what a position promises


SPREAD = 12.0  # points fewer that make the odds e : 1


@helper
def _danger(state: Facts, player: int) -> float:
    """How high the cards are that a player still holds: high ones take tricks."""
    hand, danger = state.held[player] & ~state.played, 1.0
    for card in range(CARDS):
        if (hand >> np.uint64(card)) & np.uint64(1):
            danger += card % RANKS
    return danger


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-d/SPREAD}), d how many points fewer than the mean of the others a player will have after the round.

    The points that nobody has taken yet go to each player in the proportion of the ranks in his hand.
    """
    # `out` first has the scores that are expected after the round.
    points, dangers, all_points = 0.0, 0.0, 0.0
    for i in range(PLAYERS):
        points += state.points[i]
        dangers += _danger(state, i)
    for i in range(PLAYERS):
        out[i] = (
            state.scores[i] + state.points[i] + (ALL_POINTS - points) * _danger(state, i) / dangers
        )
        all_points += out[i]
    for i in range(PLAYERS):
        fewer = (all_points - out[i]) / (PLAYERS - 1) - out[i]
        out[i] = 1.0 / (1.0 + math.exp(-fewer / SPREAD))


# ------------------------------------------------------------------------------ what a player sees, and determinization


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    """A pass is seen as CARD_PASSED; of EXCHANGE and DEAL each sees the cards that he picks up, and who has the lead."""
    if state.phase == PASSING:
        for i in range(PLAYERS):
            if i != state.player:
                moves[i] = CARD_PASSED
    elif state.phase != PLAYING:
        dealt = state.phase == DEALING
        # Who leads is told after the exchange, or with the deal of a round in which nothing is passed; else 0 stands there.
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
        moves[0] = (
            DEAL
            if observer == PLAYERS
            else _picked_up(state.held[observer] | passed_by(state, observer), 0)
        )
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
        # what this opponent cannot hold, and what the two others cannot
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
def _open_needs(beliefs: Facts, k: int, split: tuple[int, int, int]) -> int:
    """How many cards of `anyone` opponent k needs, if of each `shared[j]` opponent j + 1 gets split[j] and opponent j + 2 the rest."""
    opposite = (k + 1) % 3  # whose shared cards go to k unless they go to k + 2
    return (
        beliefs.needs[k]
        - split[(k + 2) % 3]
        - (popcount(beliefs.shared[opposite]) - split[opposite])
    )


@inlined
def _numbers(beliefs: Facts, split: int) -> tuple[int, int, int]:
    """A split as the numbers of cards of `shared[0]`, `shared[1]`, `shared[2]` that go to opponents 1, 2, 0."""
    second, third = popcount(beliefs.shared[1]) + 1, popcount(beliefs.shared[2]) + 1
    return split // third // second, split // third % second, split % third


@inlined
def _count_deals(beliefs: Facts) -> None:
    """Set `splits`, the running totals `deals`, and `mask`."""
    beliefs.splits = 1
    for k in range(3):
        beliefs.splits *= popcount(beliefs.shared[k]) + 1
    total = NONE
    for split in range(beliefs.splits):
        total += _deals(beliefs, split)
        beliefs.deals[split] = total
    # every bit below the highest one is set, too
    beliefs.mask = total - ONE
    for shift in (1, 2, 4, 8, 16, 32):
        beliefs.mask |= beliefs.mask >> np.uint64(shift)


@inlined
def _deals(beliefs: Facts, split: int) -> np.uint64:
    """The number of consistent deals with this split."""
    numbers, deals = _numbers(beliefs, split), np.uint64(1)
    for k in range(3):
        if _open_needs(beliefs, k, numbers) < 0:
            return np.uint64(0)
        deals *= BINOMIAL[popcount(beliefs.shared[k]), numbers[k]]
    cards, to_first = popcount(beliefs.anyone), _open_needs(beliefs, 0, numbers)
    to_second = _open_needs(beliefs, 1, numbers)
    # what is left of the cards that anyone can hold is the third opponent's
    return deals * BINOMIAL[cards, to_first] * BINOMIAL[cards - to_first, to_second]


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
        deal_hands(state, rng)
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
    split = _numbers(beliefs, _draw_split(beliefs, rng)) if beliefs.splits > 1 else (0, 0, 0)
    for k in range(3):
        i = (observer + 1 + k) & 3
        state.held[i] = state.held[i] & state.played | beliefs.sure[k]
    for k in range(3):
        _share(
            state,
            observer,
            (k + 1) % 3,
            (k + 2) % 3,
            subset(rng, beliefs.shared[k], split[k]),
            beliefs.shared[k],
        )
    part = subset(rng, beliefs.anyone, _open_needs(beliefs, 0, split))
    state.held[(observer + 1) & 3] |= part
    rest = beliefs.anyone ^ part
    _share(state, observer, 1, 2, subset(rng, rest, _open_needs(beliefs, 1, split)), rest)


@inlined
def _share(
    state: Facts, observer: int, first: int, second: int, part: np.uint64, cards: np.uint64
) -> None:
    """Give a part of some cards to one opponent, by his place after the observer, and the rest to another."""
    state.held[(observer + 1 + first) & 3] |= part
    state.held[(observer + 1 + second) & 3] |= cards ^ part


@inlined
def _redraw_pass(state: Facts, passer: int, holder: int, rng: np.ndarray) -> None:
    """Draw which cards a player has passed, in which order, from all that could be they."""
    count = min(max(state.passes - PASSED_CARDS * passer, 0), PASSED_CARDS)
    cards = subset(rng, state.held[holder], count)
    for k in range(count):
        state.passed[passer, k] = lowest_bit(cards)
        cards &= cards - ONE
    shuffle(rng, state.passed[passer], count)


def observation(state: Facts, player: int) -> tuple:
    """His own cards, those that he has passed and been passed, and what lies open."""
    hand = () if state.phase == DEALING else (state.held[player], state.passed[player])
    is_exchanged = state.passes == ALL_PASSES and state.phase == PLAYING
    received = state.passed[giver(state, player)] if is_exchanged else ()
    return (
        hand,
        received,
        state.played,
        state.scores,
        state.trick[: state.count],
        state.points,
        state.phase,
        state.player,
    )


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The data at the beginning of a determinization's round, and the actions from there; after round 1 the first of them is DEAL."""
    facts = data.view(np.recarray)[0]
    if facts.phase == DEALING:
        return data.copy(), []
    dealt = max((n for n, (_, action) in enumerate(state.history) if action == DEAL), default=0)
    actions = [action for _, action in state.history[dealt:]]
    # The passes were drawn anew, with the hands.
    first = int(facts.round_number > 0)  # after DEAL
    actions[first : first + facts.passes] = [
        PASS + int(card) for card in facts.passed.ravel()[: facts.passes]
    ]
    return _start_of_round(facts), actions


def _start_of_round(facts: Facts) -> np.ndarray:
    """The data before DEAL, or before the passes of the first round, with the cards that were dealt in the round."""
    start = np.zeros(1, STATE)
    facts_at_start = start.view(np.recarray)[0]
    for field in ("fate", "threshold", "round_number", "searching", "scores"):
        setattr(facts_at_start, field, getattr(facts, field))
    if facts.round_number > 0:
        facts_at_start.phase, facts_at_start.player = DEALING, CHANCE
    passed = [int(passed_by(facts, i)) for i in range(PLAYERS)]
    for i in range(PLAYERS):
        received = 0 if facts.phase in (PASSING, EXCHANGING) else passed[giver(facts, i)]
        facts_at_start.held[i] = int(facts.held[i]) & ~received | passed[i]
        if facts.phase == ENDED:
            facts_at_start.scores[i] -= added_score(facts, i)
    return start


ROUND_SCORES = np.load(Path(__file__).with_name("hearts_rounds.npy"))  # int8 [rounds, seat]
SEATINGS = np.array(list(itertools.permutations(range(PLAYERS))), np.int8)


@helper
def _generator(fate: np.uint64) -> np.ndarray:
    """A generator seeded from one word (SplitMix64, as the authors of xoshiro seed it)."""
    generator = np.empty(RNG_WORDS, np.uint64)
    for k in range(RNG_WORDS):
        fate += np.uint64(0x9E3779B97F4A7C15)
        word = (fate ^ (fate >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        generator[k] = word ^ (word >> np.uint64(31))
    return generator


def initial(state: Facts, rng: np.ndarray, threshold: int) -> None:
    state.threshold = threshold
    deal_hands(state, rng)
    state.fate = next_word(rng)


def player(state: Facts) -> int:
    return state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    if state.phase != PLAYING and state.phase != PASSING:
        actions[0] = DEAL if state.phase == DEALING else EXCHANGE
        return 1
    cards, base = state.held[state.player], PASS
    if state.phase == PLAYING:
        cards, base = _playable(state, cards & ~state.played), 0
    return list_cards(actions, base, cards)


@inlined
def _playable(state: Facts, hand: np.uint64) -> np.uint64:
    """The cards of a hand that may be played to the trick."""
    if state.count == 0:
        if state.played == NONE:
            return CLUB_TWO
        allowed = hand if state.broken else hand & ~HEART_CARDS
    else:
        allowed = hand & suit_cards(state.trick[0] // RANKS)
        if allowed == NONE and popcount(state.played) < PLAYERS:
            allowed = hand & ~POINT_CARDS
    return allowed if allowed else hand


def apply(state: Facts, action: int) -> None:
    if state.phase == PLAYING:
        _play(state, action)
    elif state.phase == PASSING:
        _pass(state, action - PASS)
    elif state.phase == EXCHANGING:
        for i in range(PLAYERS):
            state.held[i] |= passed_by(state, giver(state, i))
        _begin_tricks(state)
    elif offset(state) == 0:
        _begin_tricks(state)
    else:
        state.phase, state.player = PASSING, 0


@inlined
def _pass(state: Facts, card: int) -> None:
    state.held[state.player] ^= card_bit(card)
    state.passed[state.player, state.passes % PASSED_CARDS] = card
    state.passes += 1
    state.player = state.passes // PASSED_CARDS
    if state.passes == ALL_PASSES:
        state.phase, state.player = EXCHANGING, CHANCE


@inlined
def _begin_tricks(state: Facts) -> None:
    state.phase = PLAYING
    for i in range(PLAYERS):
        if state.held[i] & CLUB_TWO:
            state.player = i


@inlined
def _play(state: Facts, card: int) -> None:
    bit = card_bit(card)
    _exclude(state, card, bit)
    state.trick[state.count] = card
    state.played |= bit
    state.count += 1
    if bit & POINT_CARDS:
        state.broken = 1
    if state.count < PLAYERS:
        state.player = (state.player + 1) & 3
    else:
        _end_trick(state)


@inlined
def _exclude(state: Facts, card: int, bit: np.uint64) -> None:
    """Note what a play shows its player not to hold: whatever would have had to be played instead."""
    if state.count == 0:
        if bit & HEART_CARDS and not state.broken:
            state.excluded[state.player] |= ~HEART_CARDS
    elif card // RANKS != state.trick[0] // RANKS:
        state.excluded[state.player] |= suit_cards(state.trick[0] // RANKS)
        if bit & POINT_CARDS and popcount(state.played) < PLAYERS:
            state.excluded[state.player] |= ~POINT_CARDS


@inlined
def _end_trick(state: Facts) -> None:
    """Give the trick to the highest card of the suit led; its winner leads, or the round ends."""
    leader = state.player + 1  # three have played after him
    best, winner, points = state.trick[0], 0, 0
    for k in range(PLAYERS):
        card = state.trick[k]
        if card > best and card // RANKS == best // RANKS:
            best, winner = card, k
        if card_bit(card) & HEART_CARDS:
            points += 1
        elif card_bit(card) == SPADE_QUEEN:
            points += QUEEN_POINTS
    state.player = (leader + winner) & 3
    state.points[state.player] += points
    if state.played == PACK:
        _end_round(state)
    else:
        state.count = 0


@helper
def _end_round(state: Facts) -> None:
    reached = False
    for i in range(PLAYERS):
        state.scores[i] += added_score(state, i)
        reached = reached or state.scores[i] >= state.threshold
    if reached or state.searching:
        state.phase, state.player = ENDED, TERMINAL
    else:
        _shuffle_deck(state)


@helper
def _shuffle_deck(state: Facts) -> None:
    """Lay out the cards of the next round, face down until DEAL."""
    generator = _generator(state.fate)
    deal_hands(state, generator)
    state.fate = next_word(generator)
    state.phase, state.player = DEALING, CHANCE
    state.round_number += 1
    state.played = NONE
    state.passes, state.count, state.broken = 0, 0, 0
    for i in range(PLAYERS):
        state.excluded[i] = NONE
        state.trick[i], state.points[i] = 0, 0
        for k in range(PASSED_CARDS):
            state.passed[i, k] = 0


def rewards(state: Facts, out: np.ndarray) -> None:
    highest = 0
    for i in range(PLAYERS):
        out[i] = state.scores[i]
        highest = max(highest, state.scores[i])
    if highest < state.threshold:
        _draw_rounds(state, out)
    _place(out)


@helper
def _draw_rounds(state: Facts, totals: np.ndarray) -> None:
    """Add whole rounds, drawn with their seats permuted, until someone reaches the threshold."""
    generator = _generator(state.fate)
    highest = 0.0
    while highest < state.threshold:
        row, seating = below(generator, len(ROUND_SCORES)), below(generator, len(SEATINGS))
        for i in range(PLAYERS):
            totals[i] += ROUND_SCORES[row, SEATINGS[seating, i]]
            highest = max(highest, totals[i])


@inlined
def _place(out: np.ndarray) -> None:
    """Turn scores into rewards: 1 for the first place, 0 for the fourth, else ½; equal scores share the better place."""
    lowest, highest = (
        min(min(out[0], out[1]), min(out[2], out[3])),
        max(max(out[0], out[1]), max(out[2], out[3])),
    )
    last = 0
    for i in range(PLAYERS):
        last += out[i] == highest
    for i in range(PLAYERS):
        out[i] = 1.0 if out[i] == lowest else 0.0 if out[i] == highest and last == 1 else 0.5


def _move_text(move: int) -> str:
    return "passes a card" if move == CARD_PASSED else ""


def episode(state: Facts) -> int:
    """Eq. (19): D at the deal, the first included, and player i where he begins a trick."""
    if state.phase == PLAYING:
        return state.player if state.count == 0 else CONTINUES
    if state.phase == DEALING or (
        state.phase == PASSING and state.passes == 0 and state.round_number == 0
    ):
        return DEAL_LABEL
    return CONTINUES


def action_text(state: Facts, action: int) -> str:
    if action < PASS:
        return card_text(action)
    if action < EXCHANGE:
        return f"pass {card_text(action - PASS)}"
    return "exchange" if action == EXCHANGE else "deal"


def derive(state: Facts) -> None:
    """Refuse a card in two hands; nothing follows from facts that a user sets."""
    refuse_shared("hearts", *state.held)


def scene(state: Facts, seat: int | None) -> Scene:
    """The scores, the hands, the cards that are passed or lie in the trick, and what is to be done."""
    hands, middle = [], list[tuple[str, str | None]]()
    is_passing = state.phase in (PASSING, EXCHANGING)
    for i in range(PLAYERS):
        passed = int(interpret(passed_by)(state, i)) if is_passing else 0
        hand = 0 if state.phase == DEALING else int(state.held[i]) & ~int(state.played) & ~passed
        note = f"points {state.points[i]}, score {state.scores[i]}"
        if seat in (None, i):
            middle += [(f"player {i} passes", name) for name in card_texts(passed)]
        elif passed:
            note += f", passes {passed.bit_count()}"
        hands.append(held_by(seat, i, card_texts(hand), note))
    if state.phase == PLAYING:
        leader = (state.player - state.count) % PLAYERS
        for k in range(state.count):
            label = f"player {(leader + k) % PLAYERS}{' led' if k == 0 else ''}"
            middle.append((label, card_text(int(state.trick[k]))))
    title = f"round {state.round_number + 1}, {PASSINGS[state.round_number % 4]}"
    return Scene(title, rows=tuple(hands), middle=tuple(middle), footer=_doing(state))


def _doing(state: Facts) -> str:
    """What is to be done."""
    if state.phase == ENDED:
        has_winner = max(state.scores) >= state.threshold
        return "the game has ended" if has_winner else "the round has ended"
    if state.phase == DEALING:
        return "to be dealt"
    if state.phase == EXCHANGING:
        return "the cards are to be exchanged"
    if state.phase == PASSING:
        return f"player {state.player} to pass"
    return f"player {state.player} to {'play' if state.count else 'lead'}"


BOARD = Drawing(scene)


def hearts(threshold: int = THRESHOLD) -> Game:
    """Hearts until someone has `threshold` points or more.

    Raises:
        ValueError: a threshold outside 1 … 10,000.
    """
    threshold = integer("the threshold of hearts", threshold, 1, MAX_THRESHOLD)
    return Game(
        **functions_of(globals()),
        move_text=_move_text,
        name="hearts",
        players=PLAYERS,
        ranges={
            **dict.fromkeys(("held", "played"), (0, int(PACK))),
            "scores": (0, threshold + ALL_POINTS),
            "threshold": (threshold, threshold),
            **dict.fromkeys(("passed", "trick"), (0, CARDS - 1)),
            "points": (0, ALL_POINTS),
            "phase": (PASSING, ENDED),
            "player": (TERMINAL, PLAYERS - 1),
            "passes": (0, ALL_PASSES),
            "count": (0, PLAYERS),
            **dict.fromkeys(("broken", "searching"), (0, 1)),
        },
        max_legal=HAND,
        actions=DEAL + 1,
        parameters={"threshold": threshold},
        defaults={"threshold": THRESHOLD},
    )


HEARTS = hearts()
