"""Progressive history with a discounted history heuristic: what an action was worth anywhere, the last playouts counting most.

The progressive bias of Nijssen and Winands (2011) with the discounting of Kocsis and Szepesvári (2006): whenever an action was played, what
is known of it is multiplied by γ before the result is added, so that it follows the tree as the search gets deeper.

Readings: those of progressive history. Records of the tree are not discounted (DISCOUNTED_UCB does that). γ is a default to be tuned.
"""

import numpy as np

from icarus.algebra import (
    ACTION,
    COUNT,
    HISTORY,
    PLAYER,
    REAL_COUNT,
    REWARDS,
    Enhancement,
    Space,
    argmax,
    backpropagation,
    capture,
    information,
    initial,
)
from icarus.checks import real
from icarus.kernel import AVAILABLE, CHANCE, History, Row, Updates, record, update
from icarus.specs.baseline import EXPLORATION, capture_tree
from icarus.specs.progressive_history import INFLUENCE, biased
from icarus.specs.variants import nonnegative, variant

DISCOUNT = 0.99
ANYWHERE = 2  # the context of an action, wherever it was played


@capture
def capture_tree_and_discounted_actions(history: History, updates: Updates) -> None:
    """ξ of the baseline # ⟨((a_i, ρ_i), ψ_anywhere) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    capture_tree(history, updates)
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), ANYWHERE)


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray, discount: float = DISCOUNT) -> None:
    """(γ q + μ, γ n + 1, m + 1), γ = 1 if ψ = ψ_visit; (q, n, m + 1) if ψ = ψ_avail"""
    if context != AVAILABLE:
        factor = discount if context == ANYWHERE else 1.0
        for player in range(len(rewards)):
            stats.reward[player] = factor * stats.reward[player] + rewards[player]
        stats.visits = factor * stats.visits + 1.0
    stats.availability += 1


DISCOUNTED_HISTORY = Enhancement(
    name="DISCOUNTED_HISTORY",
    records=HISTORY | ACTION * PLAYER,  # DH-1
    information=information(reward=REWARDS, visits=REAL_COUNT, availability=COUNT),  # DH-2
    initial=initial(),  # DH-3
    policy=argmax().over(biased),  # DH-4
    contexts=Space(("{ψ_avail, ψ_visit, ψ_anywhere}",)),  # DH-5
    capture=capture_tree_and_discounted_actions,  # DH-6
    backpropagation=backpropagate,  # DH-7
)


def discounted_history(
    discount: float = DISCOUNT, influence: float = INFLUENCE, exploration: float = EXPLORATION
) -> Enhancement:
    """Discounted history with another γ, influence W or exploration constant.

    Raises:
        ValueError: γ is not above 0 and at most 1, or one of the others negative.
    """
    discount = real("discount of discounted_history", discount, 0, 1, above=True)
    parameters = nonnegative("discounted_history", influence=influence, exploration=exploration)
    return variant(
        DISCOUNTED_HISTORY,
        "discounted_history",
        discount,
        *parameters.values(),
        policy=argmax().over(biased(**parameters)),
        backpropagation=backpropagate(discount=discount),
    )
