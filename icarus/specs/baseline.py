"""Specification 1: the baseline, MO-ISMCTS with UCB1 over the subset of actions that are available.

Readings: the playout is in the tree up to the first history whose record has n = 0, which is the expanded one (t_e); the
environment's histories have records like everyone's. In the simulation phase every value is +∞, so the choice is uniform.
"""

import math

import numpy as np

from icarus.algebra import *
from icarus.kernel import *

EXPLORATION = 0.7


@candidates
def children(history: History, legal: Array, records: Array) -> None:
    """v(θ([h # a]~)) with v((q, n, m)) = q_ρ/n + c √(log m / n), +∞ if n = 0 or m = 0"""
    for i in range(len(legal)):
        records[i] = child(history, len(history.steps) - 1, legal[i])


@capture(reads_simulation=False, writes_simulation=False)
def capture_tree(history: History, updates: Updates) -> None:
    """⟨([a₁, …, a_i]~, ψ_visit) : 0 ≤ i ≤ t_e⟩ # ⟨([a₁, …, a_{i−1}, a]~, ψ_avail) : 0 < i ≤ t_e, a legal, a ≠ a_i⟩"""
    steps = history.steps
    last = expanded_at(history)
    for i in range(last + 1):
        update(updates, steps[i].record, VISIT)
    for i in range(last):
        for action in legal_at(history, i):
            if action != steps[i].action:
                update(updates, child(history, i, action), AVAILABLE)


@backpropagation
def backpropagate(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1, m + 1) if ψ = ψ_visit; (q, n, m + 1) if ψ = ψ_avail"""
    if context == VISIT:
        for player in range(len(rewards)):
            stats.reward[player] += rewards[player]
        stats.visits += 1
    stats.availability += 1


BASELINE = Enhancement(
    name="BASELINE",
    records=HISTORY,  # Base-1
    information=RewardsVisitsAvailability,  # Base-2
    initial=initial(),  # Base-3
    policy=ucb1(EXPLORATION).over(children),  # Base-4
    contexts=VISIT_OR_AVAILABLE,  # Base-5
    capture=capture_tree,  # Base-6
    backpropagation=backpropagate,  # Base-7
)


@helper
def bound_of(stats: Row, player: int, exploration: float) -> float:
    """q_ρ/n + c √(log max{m, 1} / n), +∞ if n = 0 or m = 0, for (q, n, m): what other enhancements add to.

    A count in which older playouts weigh less is below 1 where records of an earlier search have decayed.
    """
    if stats.visits == 0 or stats.availability == 0:
        return np.inf
    trials = math.log(max(stats.availability, 1))
    return stats.reward[player] / stats.visits + exploration * math.sqrt(trials / stats.visits)


@helper
def write_bounds(
    history: History, theta: Theta, legal: Array, out: Array, exploration: float
) -> None:
    """The baseline's values of all legal actions."""
    player = history.steps[-1].player
    for i in range(len(legal)):
        out[i] = bound_of(find(theta, child(history, -1, legal[i])), player, exploration)


@values(uniform_in_simulation=True)
def bounds(
    history: History, theta: Theta, legal: Array, out: Array, exploration: float = EXPLORATION
) -> None:
    """q_ρ/n + c √(log m / n), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m, …)"""
    write_bounds(history, theta, legal, out, exploration)


@inlined
def bits_of(real: float) -> np.int64:
    """A real as a context, which is an integer: its bits."""
    return np.float64(real).view(np.int64)


@inlined
def real_of(context: int) -> float:
    """The real that a context has the bits of."""
    return np.int64(context).view(np.float64)
