"""KL-UCB (Garivier and Cappé, 2011): the upper confidence bound by the Kullback-Leibler divergence of Bernoulli distributions.

Readings: c = 0 in their Algorithm 1, as they recommend for practice; as in the baseline, m counts how often an action was available, and
in the simulation phase every value is +∞. Rewards need not be 0 or 1, only in [0, 1].
"""

import math

import attrs
import numpy as np

from icarus.algebra import argmax, values
from icarus.kernel import History, Theta, child, find, helper
from icarus.specs.baseline import BASELINE

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
        stats = find(theta, child(history, present, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            out[i] = upper_bound(stats.reward[step.player] / stats.visits, math.log(stats.availability) / stats.visits)


KL_UCB = attrs.evolve(BASELINE, name="KL_UCB", policy=argmax().over(bounds))  # KL-UCB-4
