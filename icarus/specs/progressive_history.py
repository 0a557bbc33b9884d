"""Progressive history (Nijssen and Winands, 2011): progressive bias by how good an action was anywhere in the search.

Readings: the history heuristic s_a/n_a is of the action and the player who plays it, in all phases, the environment's actions left
out; n − q is what the playouts through the child lost. c is the baseline's; W = 5. As in the baseline, m counts how often an action
was available, and in the simulation phase every value is +∞.
"""

import numpy as np

from icarus.algebra import (
    ACTION,
    HISTORY,
    PLAYER,
    VISIT_OR_AVAILABLE,
    Enhancement,
    RewardsVisitsAvailability,
    argmax,
    capture,
    initial,
    values,
)
from icarus.kernel import CHANCE, VISIT, History, Theta, Updates, child, find, record, update
from icarus.specs.baseline import EXPLORATION, backpropagate, bound_of, capture_tree
from icarus.specs.variants import nonnegative, variant

INFLUENCE = 5.0


@values(uniform_in_simulation=True)
def biased(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    influence: float = INFLUENCE,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) + s_a/n_a · W/(n − q_ρ + 1), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m), θ(a, ρ) = (s_a, n_a, ·)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        out[i] = bound_of(stats, step.player, exploration)
        anywhere = find(theta, record(legal[i], step.player))
        # Another thread may be between its update of the one and of the other.
        if out[i] < np.inf and anywhere.visits > 0:
            losses = max(0.0, stats.visits - stats.reward[step.player])
            out[i] += anywhere.reward[step.player] / anywhere.visits * influence / (losses + 1.0)


@capture
def capture_tree_and_actions(history: History, updates: Updates) -> None:
    """ξ of the baseline # ⟨((a_i, ρ_i), ψ_visit) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    capture_tree(history, updates)
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), VISIT)


PROGRESSIVE_HISTORY = Enhancement(
    name="PROGRESSIVE_HISTORY",
    records=HISTORY | ACTION * PLAYER,  # PH-1
    information=RewardsVisitsAvailability,  # PH-2
    initial=initial(),  # PH-3
    policy=argmax().over(biased),  # PH-4
    contexts=VISIT_OR_AVAILABLE,  # PH-5
    capture=capture_tree_and_actions,  # PH-6
    backpropagation=backpropagate,  # PH-7
)


def progressive_history(influence: float = INFLUENCE, exploration: float = EXPLORATION) -> Enhancement:
    """Progressive history with another influence W or exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    parameters = nonnegative("progressive_history", influence=influence, exploration=exploration)
    policy = argmax().over(biased(**parameters))
    return variant(PROGRESSIVE_HISTORY, "progressive_history", *parameters.values(), policy=policy)
