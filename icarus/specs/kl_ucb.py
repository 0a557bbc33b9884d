"""KL-UCB (Garivier and Cappé, 2011): the upper confidence bound by the Kullback-Leibler divergence of Bernoulli distributions.

Readings: c = 0 in their Algorithm 1, as they recommend for practice; as in the baseline, m counts how often an action was available, and
in the simulation phase every value is +∞. Rewards need not be 0 or 1, only in [0, 1].
"""

import math

import numpy as np

from icarus.algebra import HISTORY, VISIT_OR_AVAILABLE, Enhancement, RewardsVisitsAvailability, argmax, initial, values
from icarus.kernel import SIMULATION, History, Theta, child, find, helper
from icarus.specs.baseline import backpropagate, capture_tree

HALVINGS = 52  # of an interval inside [0, 1]: as fine as a real is near 1


@helper
def divergence(p: float, q: float) -> float:
    """d(p, q) = p log(p/q) + (1 − p) log((1 − p)/(1 − q)), with 0 log 0 = 0; for p ≤ q < 1."""
    rest = (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return rest if p <= 0.0 else p * math.log(p / q) + rest


@helper
def upper_bound(mean: float, most: float) -> float:
    """max{q ∈ [mean, 1] : d(mean, q) ≤ most}, by halving."""
    low, high = mean, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if low < middle < high:
            if divergence(mean, middle) <= most:
                low = middle
            else:
                high = middle
    return low


@values(uniform_in_simulation=True)
def bounds(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """max{q ∈ [0, 1] : n d(q_ρ/n, q) ≤ log m}, +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        out[i] = np.inf
        if step.phase != SIMULATION:
            seen = find(theta, child(history, present, legal[i]))
            if seen.visits > 0 and seen.availability > 0:
                out[i] = upper_bound(seen.reward[step.player] / seen.visits, math.log(seen.availability) / seen.visits)


KL_UCB = Enhancement(
    name="KL_UCB",
    records=HISTORY,  # KL-UCB-1
    information=RewardsVisitsAvailability,  # KL-UCB-2
    initial=initial(),  # KL-UCB-3
    policy=argmax().over(bounds),  # KL-UCB-4
    contexts=VISIT_OR_AVAILABLE,  # KL-UCB-5
    capture=capture_tree,  # KL-UCB-6
    backpropagation=backpropagate,  # KL-UCB-7
)
