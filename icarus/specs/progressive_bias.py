"""Progressive bias (Chaslot, Winands, van den Herik, Uiterwijk and Bouzy, 2008): UCB1 and the heuristic of an action, which counts less
and less.

Readings: H of an action is the game's heuristic for the player who acts, of the state that the action leads to, and the
reward where it ends the game; times a weight, 1 where none is given. It is reckoned at every visit, not only from some visits on, as
they do to save time. The records are the baseline's: an action without visits comes first, and in the simulation phase every value is
+∞.
"""

import attrs
import numpy as np

from icarus.algebra import Enhancement, argmax, values
from icarus.kernel import History, Theta, child, find, lookahead_at
from icarus.specs.baseline import BASELINE, EXPLORATION, bound_of
from icarus.specs.variants import nonnegative, variant

WEIGHT = 1.0


@values(uniform_in_simulation=True)
def biased(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    weight: float = WEIGHT,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) + H_a/(n + 1), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m), H_a the weighted heuristic of a for ρ"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        ahead = lookahead_at(history, present)[i, step.player]
        out[i] = bound_of(stats, step.player, exploration) + weight * ahead / (stats.visits + 1)


PROGRESSIVE_BIAS = attrs.evolve(BASELINE, name="PROGRESSIVE_BIAS", policy=argmax().over(biased))  # PB-4


def progressive_bias(weight: float = WEIGHT, exploration: float = EXPLORATION) -> Enhancement:
    """Progressive bias with another weight of the heuristic, or another exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    parameters = nonnegative("progressive_bias", weight=weight, exploration=exploration)
    return variant(
        PROGRESSIVE_BIAS, "progressive_bias", *parameters.values(), policy=argmax().over(biased(**parameters))
    )
