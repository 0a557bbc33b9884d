"""A small game with a hidden stock, which the players draw from in turn: its samplers with faults are what audits are tested by.

Twelve cards; each of three players begins with two. In his turn he draws one or passes. Most points after six turns win.
"""

import numpy as np

from icarus import Game
from icarus.kernel import CHANCE, CONTINUES, TERMINAL, functions_of, helper, shuffle

CARDS, PLAYERS, HAND, TURNS = 12, 3, 2, 6
STOCK, DRAW, PASS, BACK = PLAYERS, CARDS, CARDS + 1, CARDS + 2
STATE = np.dtype(
    [("place", np.int8, (CARDS,)), ("drawing", np.int8), ("turn", np.int8)], align=True
)


def initial(state, rng):
    cards = np.arange(CARDS)
    shuffle(rng, cards, CARDS)
    for i in range(CARDS):
        state.place[cards[i]] = i // HAND if i < HAND * PLAYERS else STOCK


def player(state):
    if state.turn == TURNS:
        return TERMINAL
    return CHANCE if state.drawing else state.turn % PLAYERS


def legal(state, actions):
    if not state.drawing:
        actions[0], actions[1] = DRAW, PASS
        return 2
    count = 0
    for card in range(CARDS):
        if state.place[card] == STOCK:
            actions[count] = card
            count += 1
    return count


def apply(state, action):
    if action == DRAW:
        state.drawing = 1
        return
    if state.drawing:
        state.place[action] = state.turn % PLAYERS
        state.drawing = 0
    state.turn += 1


def rewards(state, out):
    points = np.zeros(PLAYERS + 1, np.int64)
    for card in range(CARDS):
        points[state.place[card]] += card
    best = max(points[0], points[1], points[2])
    for i in range(PLAYERS):
        out[i] = 1.0 if points[i] == best else 0.0


def observe(state, action, moves):
    if state.drawing:
        for i in range(PLAYERS):
            if i != state.turn % PLAYERS:
                moves[i] = BACK


def determinize(state, observer, beliefs, rng):
    if observer != CHANCE:
        _redraw(state, observer, STOCK, rng)


def peeping(state, observer, beliefs, rng):
    """The stock is left as it truly is."""
    if observer != CHANCE:
        _redraw(state, observer, STOCK - 1, rng)


def redrawing_for_chance(state, observer, beliefs, rng):
    _redraw(state, observer, STOCK, rng)


@helper
def _redraw(state, observer, last, rng):
    unseen, count = np.empty(CARDS, np.int64), 0
    counts = np.zeros(PLAYERS + 1, np.int64)
    for card in range(CARDS):
        place = state.place[card]
        if place <= last and place != observer:
            unseen[count] = card
            count += 1
            counts[place] += 1
    shuffle(rng, unseen, count)
    j = 0
    for where in range(PLAYERS + 1):
        for _ in range(counts[where]):
            state.place[unseen[j]] = where
            j += 1


def episode(state):
    return CONTINUES if state.drawing else state.turn


def text(state):
    hands = ("stock" if place == STOCK else f"player {place}" for place in range(PLAYERS + 1))
    cards = [
        " ".join(f"c{card}" for card in range(CARDS) if state.place[card] == place)
        for place in range(PLAYERS + 1)
    ]
    turn = f"turn {state.turn}{', drawing' * bool(state.drawing)}"
    return "; ".join(f"{who}: {hand}" for who, hand in zip(hands, cards, strict=True)) + f"; {turn}"


def action_text(state, action):
    return {DRAW: "draw", PASS: "pass"}.get(int(action), f"c{action}")


STOCK_GAME = Game(
    **functions_of(globals()), name="stock", players=PLAYERS, max_legal=CARDS, max_length=2 * TURNS
)
