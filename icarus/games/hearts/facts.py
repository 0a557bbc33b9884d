"""Hearts: cards, passes, actions, and the state data."""

import math

import numpy as np

from icarus.compiler.rng import next_word
from icarus.games.cards import CARDS, PACK, RANKS
from icarus.kernel import Facts, helper, inlined, popcount

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
BINOMIAL = np.array([[math.comb(n, k) for k in range(UNSEEN_CARDS + 1)] for n in range(UNSEEN_CARDS + 1)], np.uint64)
MAX_SPLITS = (UNSEEN_CARDS // 3 + 1) ** 3  # three sets of cards, 39 in all, each split between two players
STATE = np.dtype(
    [
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
    ],
    align=True,
)
# With three hidden hands the deals of all splits fit a table: several times cheaper to draw from than `_cards.draw_deal`.
BELIEFS = np.dtype(
    [
        ("sure", np.uint64, (3,)),  # bits: cards that each opponent (observer + 1, + 2, + 3) must hold
        ("needs", np.int8, (3,)),  # cards that each opponent holds besides
        ("shared", np.uint64, (3,)),  # bits: cards that this opponent cannot hold, but both others can
        ("anyone", np.uint64),  # bits: cards that each opponent can hold
        ("splits", np.int64),  # ways to number the cards of `shared` that go to one of the two
        ("deals", np.uint64, (MAX_SPLITS,)),  # deals, of all consistent ones, with this split or one before it
        ("mask", np.uint64),  # the least 2^k − 1 that is no less than the number of consistent deals, less one
    ],
    align=True,
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
def deal(state: Facts, rng: np.ndarray) -> None:
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
