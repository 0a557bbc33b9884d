"""Thompson sampling (Thompson, 1933; Chapelle and Li, 2011): an action is chosen as probably as it is the best, by what is known.

Readings: the prior of a mean reward is uniform, Beta(1, 1); rewards need not be 0 or 1, only in [0, 1], and count as so much of a success.
In the simulation phase every value is +∞, as the baseline's are. A Beta is made of two Gammas (Marsaglia and Tsang, 2000), these of
normal numbers (by the polar method) and uniform ones, all from the search's own generator.
"""

import math

import attrs
import numpy as np

from icarus.algebra import argmax, values
from icarus.kernel import History, Theta, child, find, helper, uniform
from icarus.specs.baseline import BASELINE


@helper
def normal(rng: np.ndarray) -> float:
    """A standard normal number."""
    x, square = 0.0, 0.0
    while square >= 1.0 or square == 0.0:
        x, y = 2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0
        square = x * x + y * y
    return x * math.sqrt(-2.0 * math.log(square) / square)


@helper
def gamma(rng: np.ndarray, shape: float) -> float:
    """A Gamma number of this shape, at least 1, and of scale 1."""
    d = shape - 1.0 / 3.0
    while True:
        x = normal(rng)
        v = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        if v > 0.0 and math.log(1.0 - uniform(rng)) < x * x / 2.0 + d - d * v + d * math.log(v):
            return d * v


@values(uniform_in_simulation=True)
def drawn_means(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """a number drawn from Beta(1 + q_ρ, 1 + n − q_ρ) for θ([h # a]~) = (q, n, ·)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        won = gamma(history.rng, 1.0 + stats.reward[step.player])
        losses = gamma(history.rng, 1.0 + max(0.0, stats.visits - stats.reward[step.player]))
        out[i] = won / (won + losses)


THOMPSON = attrs.evolve(BASELINE, name="THOMPSON", policy=argmax().over(drawn_means))  # Thompson-4
