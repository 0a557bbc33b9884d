"""Progressive bias (Chaslot, Winands, van den Herik, Uiterwijk and Bouzy, 2008): UCB1 and the heuristic of an action, which counts less
and less.

Readings: H of an action is the game's heuristic for the player who acts, of the state that the action leads to, and the
reward where it ends the game; times a weight, 1 where none is given. It is reckoned at every visit, not only from some visits on, as
they do to save time. The records are the baseline's: an action without visits comes first, and in the simulation phase every value is
+∞.
"""

import attrs
import numpy as np

from icarus.algebra import HISTORY, VISIT_OR_AVAILABLE, Enhancement, RewardsVisitsAvailability, argmax, initial, values
from icarus.checks import real
from icarus.kernel import SIMULATION, History, Theta, child, find, lookahead_at
from icarus.specs.baseline import EXPLORATION, backpropagate, bound_of, capture_tree

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
        out[i] = np.inf
        if step.phase != SIMULATION:
            seen = find(theta, child(history, present, legal[i]))
            ahead = lookahead_at(history, present)[i, step.player]
            out[i] = bound_of(seen, step.player, exploration) + weight * ahead / (seen.visits + 1)


PROGRESSIVE_BIAS = Enhancement(
    name="PROGRESSIVE_BIAS",
    records=HISTORY,  # PB-1
    information=RewardsVisitsAvailability,  # PB-2
    initial=initial(),  # PB-3
    policy=argmax().over(biased),  # PB-4
    contexts=VISIT_OR_AVAILABLE,  # PB-5
    capture=capture_tree,  # PB-6
    backpropagation=backpropagate,  # PB-7
)


def progressive_bias(weight: float = WEIGHT, exploration: float = EXPLORATION) -> Enhancement:
    """Progressive bias with another weight of the heuristic, or another exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    weight = real("weight of progressive_bias", weight, 0, 1e9)
    exploration = real("exploration of progressive_bias", exploration, 0, 1e9)
    policy = argmax().over(biased(weight=weight, exploration=exploration))
    return attrs.evolve(PROGRESSIVE_BIAS, name=f"progressive_bias({weight!r}, {exploration!r})", policy=policy)
