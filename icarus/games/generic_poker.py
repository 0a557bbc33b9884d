"""Generic poker, GP(T, C, R, B): T ranks of C cards each; two players ante 1 and are dealt one card each, which the other does not see.

Two rounds of betting, the first player first in each. Who has no bet before him checks or bets; who has one folds, calls, or raises: he
matches it and adds to it. A bet or raise is one of B sizes, 2, 4, …, in the second round twice that; a bet may be raised R times in
all. A round ends when both have checked or one has called. Between the rounds a card is put on the table. At the end a player
whose card is of the table's rank wins; otherwise the higher rank; equal ranks share the pot. After a fold the other takes it. A
net gain g is the reward (g + M) / 2M, where M is the most that a player can pay.

    player 0, paid 3: 2
    player 1, paid 3: 1
    pot: 6
    table: on the table 1
    player 0 to act                                 both have paid 2 more than the ante

Suits do not matter and are left out of the state: `determinize` deals single cards uniformly, so ranks as often as they are left.
"""

import math

import attrs
import numpy as np

from icarus.checks import integer
from icarus.compiler.plain_python import interpret
from icarus.games import kuhn_poker
from icarus.kernel import (
    CHANCE,
    NO_DEAL,
    TERMINAL,
    Facts,
    Game,
    aligned,
    below,
    functions_of,
    helper,
    inlined,
)
from icarus.kernel.scene import Drawing, Hand, Scene, by_buttons, held_by

RANKS, COPIES, RAISES, SIZES = 3, 3, 2, 2  # where no numbers are given
LIMITS = {"ranks": (2, 13), "copies": (1, 8), "raises": (0, 8), "sizes": (1, 4)}
ANTE, UNIT = 1, 2  # what a player pays at the start, and the smallest bet
# actions: a call without a bet before it is a check, BET + i is a bet or raise of size i
FOLD, CALL, BET = range(3)
NO_TABLE = -1

STATE = aligned(
    ("cards", np.int8, (2,)),  # the rank that each player holds
    ("table", np.int8),  # the rank on the table, or NO_TABLE
    ("paid", np.int16, (2,)),  # into the pot
    ("stage", np.int8),  # the round of betting: 0, 1, or 2 when all is over
    ("player", np.int8),  # about to act
    ("bets", np.int8),  # and raises in this round
    ("acted", np.int8),  # actions in this round
    ("folded", np.int8),  # whether a player has folded: the one who is not about to act
    ("ranks", np.int8),
    ("copies", np.int8),
    ("raises", np.int8),
    ("sizes", np.int8),
)


@helper
def _begin(state: Facts, ranks: int, copies: int, raises: int, sizes: int) -> None:
    state.ranks, state.copies, state.raises, state.sizes = ranks, copies, raises, sizes
    state.paid[0], state.paid[1], state.table = ANTE, ANTE, NO_TABLE


def initial(
    state: Facts, rng: np.ndarray, ranks: int, copies: int, raises: int, sizes: int
) -> None:
    _begin(state, ranks, copies, raises, sizes)
    state.cards[0] = below(rng, ranks)
    state.cards[1] = _draw_card(state, 0, rng)


@helper
def _draw_card(state: Facts, holder: int, rng: np.ndarray) -> int:
    """The rank of a card drawn from those that are neither the holder's nor on the table."""
    number = state.ranks * state.copies - (1 if state.table == NO_TABLE else 2)
    rest = below(rng, number)
    rank = 0
    while rest >= _unseen(state, holder, rank):
        rest -= _unseen(state, holder, rank)
        rank += 1
    return rank


@inlined
def _unseen(state: Facts, holder: int, rank: int) -> int:
    """Cards of a rank that are neither the holder's nor on the table."""
    return state.copies - (state.cards[holder] == rank) - (state.table == rank)


def deal(state: Facts, index: int, ranks: int, copies: int, raises: int, sizes: int) -> float:
    """The cards of both players; where a rank has one copy, the second player cannot hold that of the first.

    The second player's ranks are counted from the first player's on, or from the one after it where he cannot hold that.
    """
    others = ranks if copies > 1 else ranks - 1  # ranks that the second player may hold
    if index >= ranks * others:
        return NO_DEAL
    _begin(state, ranks, copies, raises, sizes)
    first = index // others
    second = (first + index % others + (ranks - others)) % ranks
    state.cards[0], state.cards[1] = first, second
    return 1 / ranks * (copies - (first == second)) / (ranks * copies - 1)


def deal_observation(state: Facts, observer: int) -> int:
    return state.cards[observer]


@inlined
def _owed(state: Facts) -> int:
    """What the player about to act must pay to call."""
    return state.paid[1 - state.player] - state.paid[state.player]


def player(state: Facts) -> int:
    if state.folded or state.stage == 2:
        return TERMINAL
    return CHANCE if state.stage == 1 and state.table == NO_TABLE else state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    count = 0
    if state.stage == 1 and state.table == NO_TABLE:
        for rank in range(state.ranks):
            if _remaining(state, rank) > 0:
                actions[count] = rank
                count += 1
        return count
    if _owed(state) > 0:
        actions[0], count = FOLD, 1
    actions[count] = CALL
    count += 1
    if state.bets <= state.raises:
        for size in range(state.sizes):
            actions[count] = BET + size
            count += 1
    return count


@inlined
def _remaining(state: Facts, rank: int) -> int:
    """Cards of a rank that may come on the table."""
    return state.copies - (state.cards[0] == rank) - (state.cards[1] == rank)


def chance(state: Facts, probabilities: np.ndarray) -> None:
    count = 0
    for rank in range(state.ranks):
        if _remaining(state, rank) > 0:
            probabilities[count] = _remaining(state, rank) / (state.ranks * state.copies - 2)
            count += 1


def apply(state: Facts, action: int) -> None:
    if state.stage == 1 and state.table == NO_TABLE:
        state.table = action
        return
    mover = state.player
    state.player = 1 - mover
    state.acted += 1
    if action == FOLD:
        state.folded = 1
    elif action == CALL:
        state.paid[mover] = state.paid[1 - mover]
        if state.acted > 1:
            state.stage += 1
            state.player, state.bets, state.acted = 0, 0, 0
    else:
        state.paid[mover] = state.paid[1 - mover] + UNIT * (action - BET + 1) * (state.stage + 1)
        state.bets += 1


def rewards(state: Facts, out: np.ndarray) -> None:
    winner, most = _winner(state), ANTE + UNIT * state.sizes * (1 + 2) * (state.raises + 1)
    gain = state.paid[1 - winner] if winner >= 0 else 0
    taker = max(winner, 0)
    out[taker], out[1 - taker] = (most + gain) / (2 * most), (most - gain) / (2 * most)


@helper
def _winner(state: Facts) -> int:
    """Who takes the pot; -1 where it is shared."""
    if state.folded:
        return state.player
    if state.cards[0] == state.cards[1]:
        return -1
    if state.cards[1] == state.table:
        return 1
    return 0 if state.cards[0] == state.table or state.cards[0] > state.cards[1] else 1


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Deal the other player a card that the observer does not see."""
    if observer != CHANCE and state.stage < 2:
        state.cards[1 - observer] = _draw_card(state, observer, rng)


def observation(state: Facts, player: int) -> tuple:
    """His own card, the one on the table, and the bets."""
    return (
        state.cards[player],
        state.table,
        state.paid,
        state.stage,
        state.player,
        state.bets,
        state.acted,
    )


def multiplicity(state: Facts) -> float:
    """The number of deals of single cards that the ranks stand for."""
    ranks = [int(rank) for rank in (*state.cards, state.table) if rank != NO_TABLE]
    return math.prod(math.perm(int(state.copies), ranks.count(rank)) for rank in set(ranks))


def derive(state: Facts) -> None:
    """Refuse more cards of a rank than there are; nothing follows from facts that a user sets."""
    cards = [*state.cards, state.table]
    for rank in range(state.ranks):
        if cards.count(rank) > state.copies:
            raise ValueError(
                f"{cards.count(rank)} cards of the rank {rank + 1} are dealt, of {state.copies} at most"
            )


def action_text(state: Facts, action: int) -> str:
    if player(state) == CHANCE:
        return str(action + 1)
    owed = interpret(_owed)(state)
    if action < BET:
        return "fold" if action == FOLD else "call" if owed > 0 else "check"
    return f"{'raise' if owed > 0 else 'bet'} {UNIT * (action - BET + 1) * (state.stage + 1)}"


def scene(state: Facts, seat: int | None) -> Scene:
    """Each player's card, what he has paid, the card on the table, and what is to be done."""
    hands = [
        held_by(seat, i, (f"{state.cards[i] + 1}",), f"paid {state.paid[i]}") for i in range(2)
    ]
    pot = Hand("pot", (f"{sum(map(int, state.paid))}",), kind="stake")
    middle = () if state.table == NO_TABLE else (("on the table", f"{state.table + 1}"),)
    return Scene(rows=(*hands, pot), middle=middle, footer=_doing(state))


def _doing(state: Facts) -> str:
    """What is to be done."""
    if state.folded:
        return f"player {1 - state.player} has folded"
    if state.stage == 2:
        return "the cards are shown"
    if player(state) == CHANCE:
        return "the table is dealt a card"
    bets = f", bets in this round: {state.bets}" if state.bets else ""
    return f"player {state.player} to act{bets}"


BOARD = Drawing(scene, by_buttons)


def generic_poker(
    ranks: int = RANKS, copies: int = COPIES, raises: int = RAISES, sizes: int = SIZES
) -> Game:
    """GP(ranks, copies, raises, sizes).

    Raises:
        ValueError: a number out of its range, or a deck of fewer than three cards.
    """
    settings = {"ranks": ranks, "copies": copies, "raises": raises, "sizes": sizes}
    settings = {
        name: integer(f"{name} of generic-poker", value, *LIMITS[name])
        for name, value in settings.items()
    }
    ranks, copies, raises, sizes = settings.values()
    if ranks * copies < 3:
        raise ValueError(
            f"ranks={ranks}, copies={copies}: two hands and the table need three cards"
        )
    most = ANTE + UNIT * sizes * (1 + 2) * (raises + 1)
    return Game(
        **functions_of(globals()),
        retrace=kuhn_poker.retrace,
        name="generic-poker",
        players=2,
        parameters=settings,
        defaults={"ranks": RANKS, "copies": COPIES, "raises": RAISES, "sizes": SIZES},
        ranges={
            "cards": (0, ranks - 1),
            "table": (NO_TABLE, ranks - 1),
            "paid": (ANTE, most),
            "stage": (0, 2),
            **dict.fromkeys(("player", "folded"), (0, 1)),
            "bets": (0, raises + 1),
            "acted": (0, raises + 3),
            **{name: (value, value) for name, value in settings.items()},
        },
        max_legal=max(ranks, BET + sizes),
        actions=max(ranks, BET + sizes),
        utilities=(-most, most),
    )


# ---------------------------------------------------------------------------------------------------------- Leduc poker


_LEDUC = generic_poker(ranks=3, copies=2, raises=1, sizes=1)
LEDUC_POKER = attrs.evolve(_LEDUC, name="leduc-poker", defaults=_LEDUC.parameters)
