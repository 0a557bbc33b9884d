"""First-play urgency (Gelly and Wang, 2006): an action without visits is worth a constant, not +∞, so that a good one is played again.

Readings: the records are the baseline's, only what an untried action is worth differs; in the simulation phase every value is +∞, as
the baseline's are.
"""

import math

import attrs
import numpy as np

from icarus.algebra import HISTORY, VISIT_OR_AVAILABLE, Enhancement, RewardsVisitsAvailability, argmax, initial, values
from icarus.checks import real
from icarus.kernel import SIMULATION, History, Theta, child, find
from icarus.specs.baseline import EXPLORATION, backpropagate, capture_tree

URGENCY = 1.0


@values
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
        out[i] = np.inf
        if step.phase != SIMULATION:
            seen = find(theta, child(history, present, legal[i]))
            out[i] = urgency
            if seen.visits > 0 and seen.availability > 0:
                out[i] = seen.reward[step.player] / seen.visits + exploration * math.sqrt(
                    math.log(seen.availability) / seen.visits
                )


FPU = Enhancement(
    name="FPU",
    records=HISTORY,  # FPU-1
    information=RewardsVisitsAvailability,  # FPU-2
    initial=initial(),  # FPU-3
    policy=argmax().over(urgent),  # FPU-4
    contexts=VISIT_OR_AVAILABLE,  # FPU-5
    capture=capture_tree,  # FPU-6
    backpropagation=backpropagate,  # FPU-7
)


def fpu(urgency: float = URGENCY, exploration: float = EXPLORATION) -> Enhancement:
    """First-play urgency with another urgency or exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    urgency, exploration = real("urgency of fpu", urgency, 0, 1e9), real("exploration of fpu", exploration, 0, 1e9)
    policy = argmax().over(urgent(exploration=exploration, urgency=urgency))
    return attrs.evolve(FPU, name=f"fpu({urgency!r}, {exploration!r})", policy=policy)
