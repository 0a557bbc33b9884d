"""Dou Di Zhu: a landlord with 20 cards against two peasants with 17 each; whoever first has no cards left wins for his side.

    landlord    3 3 3 5 5 6 6 8 8 9 T J Q Q K K K A 2 R
    peasant 1   3 4 4 4 6 7 7 7 8 9 9 T T Q A A B
    peasant 2   4 5 5 6 7 8 9 T J J J Q K A 2 2 2
    landlord to lead

54 cards; suits do not matter. Ranks from 3 up to A, 2, the black joker B and the red joker R; T is ten. The landlord leads any
play; the next players follow with a higher play of the same category, length and kind of kickers, or with a bomb (four of a
rank), a higher bomb on a bomb, the nuke (both jokers) on anything, or pass. Two passes in a row give the lead to whoever made
the last play. Categories: solo 3; run of five or more solos 34567; pair 33; run of three or more pairs 334455; trio 333 and run
of trios 333444, bare or with one kicker each, all solos 333+1 or all pairs 333+2; quadplex, four with two kickers, 3333+1+1 or
3333+2+2; bomb 3333; nuke BR. Runs end at A. Kickers differ in rank from the main group and from each other and are never both
jokers.

Nobody sees the others' cards; all plays are seen by all. There is no bidding: player 0 is the landlord, and which three cards he
got for it is not told. A play with kickers is two decisions in a row: the base, then all kickers at once. An action is PASS, a
base play (an index of PLAYS), or a set of kickers (a bit for each rank, plus SOLO_KICKERS or PAIR_KICKERS).
"""

import math

import numpy as np

from icarus.games.dou_di_zhu.heuristic import heuristic
from icarus.games.dou_di_zhu.plays import (
    EVERY_LANE,
    KICKERS,
    LANDLORD_CARDS,
    NUKE,
    PAIR_KICKERS,
    PASS,
    RANK_COUNT,
    RANK_NAMES,
    RANKS,
    SOLO_KICKERS,
    SUITED_RANKS,
    cards_of,
    cards_played,
    count_of,
    hand_after,
    hand_of,
    hand_with,
    has_kickers,
    holding,
    list_follows,
    list_kickers,
    list_leads,
    play_text,
)
from icarus.kernel import CHANCE, CONTINUES, TERMINAL, Facts, below, helper, inlined, popcount, shuffle
from icarus.kernel.game import Game
from icarus.kernel.state import State

PLAYERS = 3
LANDLORD = 0
PLAYER_NAMES = ("landlord", "peasant 1", "peasant 2")
DECK = np.array([*range(SUITED_RANKS)] * 4 + [SUITED_RANKS, SUITED_RANKS + 1], np.int8)  # the rank of each card
ONE = np.uint64(1)
MOST_KICKER_SETS = 165  # three solos of 11, beside a run of three trios; a lead has at most 88 plays

STATE = np.dtype(
    [
        ("hands", np.uint64, (PLAYERS,)),  # four lanes of 16 bits: bit r of lane k for more than k cards of rank r
        ("play", np.int16),  # the play to beat, or the one that awaits its kickers; PASS when the player leads
        ("player", np.int8),  # about to act; TERMINAL when a hand is empty
        ("passes", np.int8),  # in a row since the last play
        ("kickers_due", np.int8),  # 1 between a base play and its kickers
    ],
    align=True,
)

BELIEFS = np.dtype(
    [
        ("unseen", np.int64),  # how many cards the observer does not see
        ("cards", np.uint64, (RANK_COUNT,)),  # of each rank, which of the unseen cards 0 … unseen−1 are its
    ],
    align=True,
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


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The deal that leads to a determinization: what each player holds there, and what he has played."""
    start = np.zeros(1, STATE)
    for i in range(PLAYERS):
        cards = cards_of(data["hands"][0, i])
        for mover, action in state.history:
            cards += cards_played(action) if mover == i else []
        start["hands"][0, i] = hand_of(cards)
    return start, [action for _, action in state.history]


def multiplicity(state: Facts) -> float:
    """Deals of single cards among those to the three hands, of which a state has the mere ranks."""
    return 1 / math.prod(math.factorial(count_of(hand, rank)) for hand in state.hands for rank in range(RANK_COUNT))


def text(state: Facts) -> str:
    """All hands, the play to beat, and the player to act."""
    rows = [
        f"{name:9}   {' '.join(RANK_NAMES[rank] for rank in cards_of(hand))}".rstrip()
        for name, hand in zip(PLAYER_NAMES, state.hands, strict=True)
    ]
    if state.player == TERMINAL:
        return "\n".join([*rows, "landlord wins" if state.hands[LANDLORD] == 0 else "peasants win"])
    play, owner = play_text(state.play), PLAYER_NAMES[(state.player - state.passes - 1) % PLAYERS]
    task = (
        "lead" if state.play == PASS else f"add kickers to {play}" if state.kickers_due else f"follow {play} of {owner}"
    )
    return "\n".join([*rows, f"{PLAYER_NAMES[state.player]} to {task}"])


def action_text(state: Facts, action: int) -> str:
    return play_text(action)


DOU_DI_ZHU = Game(
    name="dou-di-zhu",
    players=PLAYERS,
    state=STATE,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    rewards=rewards,
    ranges={
        "hands": (0, int(RANKS * EVERY_LANE)),
        "play": (PASS, NUKE),
        "player": (TERMINAL, PLAYERS - 1),
        "passes": (0, PLAYERS - 2),
        "kickers_due": (0, 1),
    },
    max_legal=MOST_KICKER_SETS,
    actions=PAIR_KICKERS + (1 << RANK_COUNT),
    determinize=determinize,
    beliefs=BELIEFS,
    prepare=prepare,
    episode=episode,
    retrace=retrace,
    multiplicity=multiplicity,
    heuristic=heuristic,
    text=text,
    action_text=action_text,
    seat_names=tuple(name.capitalize() for name in PLAYER_NAMES),
)
