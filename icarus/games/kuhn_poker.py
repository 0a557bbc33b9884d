"""Kuhn poker: three cards, J < Q < K; each of two players antes 1 and is dealt one, which the other does not see.

The first player begins. Who has no bet before him passes or bets 1; who has one folds (a pass) or calls (a bet). After two passes in a
row or two bets the cards are shown and the higher one takes the pot; after a fold the player who bet takes it. A player's net
gain g, from -2 to 2, is the reward (g + 2) / 4.

    player 0, paid 1: Q
    player 1, paid 2: K
    pot: 3
    player 0 to act                                 he passed, player 1 bet
"""

import numpy as np

from icarus.compiler.plain_python import interpret
from icarus.kernel import (
    CHANCE,
    NO_DEAL,
    TERMINAL,
    Facts,
    Game,
    State,
    aligned,
    below,
    functions_of,
    helper,
    inlined,
)
from icarus.kernel.scene import Drawing, Hand, Scene, by_buttons, held_by

CARDS = 3
DEALS = CARDS * (CARDS - 1)
PASS, BET = 0, 1
ANTE, STAKE = 1, 2  # what a player pays at least and at most

STATE = aligned(
    ("cards", np.int8, (2,)),  # of each player: 0 … 2 for J, Q, K
    ("paid", np.int8, (2,)),  # into the pot
    ("count", np.int8),  # actions so far
    ("folded", np.int8),  # whether the last action was a pass after a bet
)


def initial(state: Facts, rng: np.ndarray) -> None:
    state.cards[0] = below(rng, CARDS)
    state.cards[1] = _other_card(state.cards[0], rng)
    state.paid[0], state.paid[1] = ANTE, ANTE


def deal(state: Facts, index: int) -> float:
    if index >= DEALS:
        return NO_DEAL
    state.cards[0], step = index // (CARDS - 1), index % (CARDS - 1)
    state.cards[1] = (state.cards[0] + 1 + step) % CARDS
    state.paid[0], state.paid[1] = ANTE, ANTE
    return 1 / DEALS


def deal_observation(state: Facts, observer: int) -> int:
    return state.cards[observer]


@helper
def _other_card(card: int, rng: np.ndarray) -> int:
    return (card + 1 + below(rng, CARDS - 1)) % CARDS


@inlined
def _is_showdown(state: Facts) -> bool:
    """Whether the cards have been shown: after two passes, or a bet that was called."""
    return state.count >= 2 and state.paid[0] == state.paid[1]


def player(state: Facts) -> int:
    return TERMINAL if state.folded or _is_showdown(state) else state.count % 2


def legal(state: Facts, actions: np.ndarray) -> int:
    actions[0], actions[1] = PASS, BET
    return 2


def apply(state: Facts, action: int) -> None:
    mover = state.count % 2
    if action == BET:
        state.paid[mover] += 1
    elif state.paid[1 - mover] > state.paid[mover]:
        state.folded = 1
    state.count += 1


def rewards(state: Facts, out: np.ndarray) -> None:
    winning = state.paid if state.folded else state.cards
    winner = 0 if winning[0] > winning[1] else 1
    gain = state.paid[1 - winner]
    out[winner], out[1 - winner] = (STAKE + gain) / (2 * STAKE), (STAKE - gain) / (2 * STAKE)


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Deal the other player one of the two cards that the observer does not hold."""
    if observer != CHANCE and not _is_showdown(state):
        state.cards[1 - observer] = _other_card(state.cards[observer], rng)


def observation(state: Facts, player: int) -> tuple:
    """His own card, and the bets."""
    return state.cards[player], state.paid, state.count, state.folded


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The start with the deal of `data`, which is its first field, and the actions so far."""
    start, dealt = state.start.copy(), data.dtype.descr[0][0]
    start[dealt] = data[dealt]
    return start, [action for _, action in state.history]


def derive(state: Facts) -> None:
    """Refuse one card for both players; nothing follows from facts that a user sets."""
    if state.cards[0] == state.cards[1]:
        raise ValueError("both players have the same card of kuhn-poker")


def action_text(state: Facts, action: int) -> str:
    mover = state.count % 2
    names = ("fold", "call") if state.paid[1 - mover] > state.paid[mover] else ("pass", "bet")
    return names[action]


def scene(state: Facts, seat: int | None) -> Scene:
    """Each player's card and what he has paid, and who is to act."""
    hands = [held_by(seat, i, ("JQK"[state.cards[i]],), f"paid {state.paid[i]}") for i in range(2)]
    pot = Hand("pot", (f"{sum(map(int, state.paid))}",), kind="stake")
    footer = f"player {state.count % 2} to act"
    if state.folded:
        footer = f"player {(state.count - 1) % 2} has folded"
    elif interpret(_is_showdown)(state):
        footer = "the cards are shown"
    return Scene(rows=(*hands, pot), footer=footer)


BOARD = Drawing(scene, by_buttons)


KUHN_POKER = Game(
    **functions_of(globals()),
    name="kuhn-poker",
    players=2,
    ranges={"cards": (0, CARDS - 1), "paid": (ANTE, STAKE), "count": (0, 3), "folded": (0, 1)},
    max_legal=2,
    actions=2,
    utilities=(-STAKE, STAKE),
)
