"""Discounted UCB (Kocsis and Szepesvári, 2006; Garivier and Moulines, 2008): rewards count the less the longer ago they were.

Whenever an action of a node was available, all that is known of it is multiplied by γ; so the discounted sums over the actions of a node
are those of the paper, and its n_t(γ), the sum of the discounted visits of all, is the discounted availability.

Readings: exploration is c √(log m / n) with the baseline's c in place of 2B √(ξ log n_t / N_t). In the simulation phase every value is +∞,
as the baseline's are. γ is a default to be tuned.
"""

import math

import numpy as np

from icarus.algebra import (
    HISTORY,
    REAL_COUNT,
    REWARDS,
    VISIT_OR_AVAILABLE,
    Enhancement,
    argmax,
    backpropagation,
    information,
    initial,
)
from icarus.checks import real
from icarus.kernel import VISIT, Row
from icarus.specs.baseline import EXPLORATION, capture_tree
from icarus.specs.first_play_urgency import urgent
from icarus.specs.variants import nonnegative, variant

DISCOUNT = 0.999


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray, discount: float = DISCOUNT) -> None:
    """(γ q + μ, γ n + 1, γ m + 1) if ψ = ψ_visit; (γ q, γ n, γ m + 1) if ψ = ψ_avail"""
    visited = 1.0 if context == VISIT else 0.0
    for player in range(len(rewards)):
        stats.reward[player] = discount * stats.reward[player] + visited * rewards[player]
    stats.visits = discount * stats.visits + visited
    stats.availability = discount * stats.availability + 1.0


DISCOUNTED_UCB = Enhancement(
    name="DISCOUNTED_UCB",
    records=HISTORY,  # D-UCB-1
    information=information(reward=REWARDS, visits=REAL_COUNT, availability=REAL_COUNT),  # D-UCB-2
    initial=initial(),  # D-UCB-3
    policy=argmax().over(urgent(urgency=math.inf)),  # D-UCB-4
    contexts=VISIT_OR_AVAILABLE,  # D-UCB-5
    capture=capture_tree,  # D-UCB-6
    backpropagation=backpropagate,  # D-UCB-7
)


def discounted_ucb(discount: float = DISCOUNT, exploration: float = EXPLORATION) -> Enhancement:
    """Discounted UCB with another γ or exploration constant.

    Raises:
        ValueError: γ is not above 0 and at most 1, or the exploration negative.
    """
    discount = real("discount of discounted_ucb", discount, 0, 1, above=True)
    parameters = nonnegative("discounted_ucb", exploration=exploration)
    return variant(
        DISCOUNTED_UCB,
        "discounted_ucb",
        discount,
        *parameters.values(),
        policy=argmax().over(urgent(urgency=math.inf, **parameters)),
        backpropagation=backpropagate(discount=discount),
    )
