"""Contextual Monte Carlo (CMC; Rimmel and Teytaud, 2010): how good are two actions of one player in the same playout?

Each pair of actions that a player chose in a playout, whichever came first, is a tile. In the simulation a player plays the action whose
tile with his previous action is the best, if it is good enough; at other times, and where no tile is, uniformly.

Readings: tiles are of all phases and of one search; the previous action is one since the root, before which there is no tile. A pair that
occurs twice in a playout counts twice, an action with itself not at all. How often a tile decides (35 %) and what is good enough (a mean
reward above 0.6) are defaults to be tuned.
"""

import numpy as np

from icarus.algebra import ACTION, PLAYER, Enhancement, RewardVisits, capture, epsilon_greedy, initial, values
from icarus.checks import real
from icarus.kernel import CHANCE, NONE, History, Theta, Updates, find, helper, record, update
from icarus.specs.mast import backpropagate
from icarus.specs.variants import variant

SHARE, BOUND = 0.35, 0.6


@helper
def tile(first: int, second: int, player: int) -> int:
    """The record of two actions of a player, whichever came first."""
    return record(min(first, second), max(first, second), player)


@helper
def previous_action(history: History, i: int) -> int:
    """What the player at step i played at his previous decision since the root; NONE where that is his first."""
    for j in range(i - 1, -1, -1):
        if history.steps[j].player == history.steps[i].player:
            return history.steps[j].action
    return NONE


@values
def tiles(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, bound: float = BOUND) -> None:
    """q/n if it is above the bound, 0 otherwise, for θ({b, a}, ρ_t) = (q, n) with b the previous action of ρ_t"""
    present = len(history.steps) - 1
    before, player = previous_action(history, present), history.steps[present].player
    for i in range(len(legal)):
        out[i] = 0.0
        if before != NONE and before != legal[i]:
            stats = find(theta, tile(before, legal[i], player))
            if stats.visits > 0 and stats.reward > bound * stats.visits:
                out[i] = stats.reward / stats.visits


@capture
def capture_tiles(history: History, updates: Updates) -> None:
    """⟨(({a_i, a_j}, ρ), ρ) : 1 ≤ i < j ≤ t, a_i ≠ a_j, both played by ρ⟩"""
    steps = history.steps
    for j in range(len(steps) - 1):
        for i in range(j):
            if steps[i].player == steps[j].player != CHANCE and steps[i].action != steps[j].action:
                update(updates, tile(steps[i].action, steps[j].action, steps[j].player), steps[j].player)


CMC = Enhancement(
    name="CMC",
    records=ACTION**2 * PLAYER,  # CMC-1
    information=RewardVisits,  # CMC-2
    initial=initial(),  # CMC-3
    policy=epsilon_greedy(1 - SHARE).over(tiles),  # CMC-4
    contexts=PLAYER,  # CMC-5
    capture=capture_tiles,  # CMC-6
    backpropagation=backpropagate,  # CMC-7
)


def cmc(share: float = SHARE, bound: float = BOUND) -> Enhancement:
    """Contextual Monte Carlo where tiles decide another share of the time, or with another bound of what is good enough.

    Raises:
        ValueError: one of them is not from 0 to 1.
    """
    share, bound = real("share of cmc", share, 0, 1), real("bound of cmc", bound, 0, 1)
    policy = epsilon_greedy(1 - share).over(tiles(bound=bound))
    return variant(CMC, "cmc", share, bound, policy=policy)
