"""First-play urgency (Gelly and Wang, 2006): an action without visits is worth a constant, not +∞, so that a good one is played again.

Readings: the urgency is 1 where none is given: with rewards in [0, 1] and their exploration, values about 1 served MoGo best. The
records are the baseline's, only what an untried action is worth differs; in the simulation phase every value is +∞, as the baseline's
are.
"""

import attrs
import numpy as np

from icarus.algebra import Enhancement, argmax, values
from icarus.kernel import History, Theta, child, find
from icarus.specs.baseline import BASELINE, EXPLORATION, bound_of
from icarus.specs.variants import nonnegative, variant

URGENCY = 1.0


@values(uniform_in_simulation=True)
def urgent(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    exploration: float = EXPLORATION,
    urgency: float = URGENCY,
) -> None:
    """q_ρ/n + c √(log m / n), the urgency if n = 0 or m = 0, for θ([h # a]~) = (q, n, m)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        bound = bound_of(find(theta, child(history, present, legal[i])), step.player, exploration)
        out[i] = bound if bound < np.inf else urgency


FPU = attrs.evolve(BASELINE, name="FPU", policy=argmax().over(urgent))  # FPU-4


def fpu(urgency: float = URGENCY, exploration: float = EXPLORATION) -> Enhancement:
    """First-play urgency with another urgency or exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    parameters = nonnegative("fpu", urgency=urgency, exploration=exploration)
    return variant(FPU, "fpu", *parameters.values(), policy=argmax().over(urgent(**parameters)))
