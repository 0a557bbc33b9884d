"""UCB1-Tuned (Auer, Cesa-Bianchi and Fischer, 2002, section 4): UCB1 with exploration by the variance of the rewards.

Readings: as in the baseline, m counts how often an action was available, and in the simulation phase every value is +∞. The formula has no
constant to choose; where one is given, as in Ludii, it stands for the √2 in the bound of the variance.
"""

import math

import numpy as np

from icarus.algebra import (
    COUNT,
    HISTORY,
    REWARDS,
    VISIT_OR_AVAILABLE,
    Enhancement,
    argmax,
    backpropagation,
    information,
    initial,
    values,
)
from icarus.kernel import VISIT, History, Row, Theta, child, find
from icarus.specs.baseline import capture_tree
from icarus.specs.variants import nonnegative, variant

MOST_VARIANCE = 0.25  # of a reward in [0, 1]
EXPLORATION = math.sqrt(2.0)


@values(uniform_in_simulation=True)
def tuned(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, exploration: float = EXPLORATION) -> None:
    """q_ρ/n + √(log m / n · min{1/4, s_ρ/n − (q_ρ/n)² + c √(log m / n)}), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, s, n, m)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        out[i] = np.inf
        stats = find(theta, child(history, present, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            mean, rate = stats.reward[step.player] / stats.visits, math.log(stats.availability) / stats.visits
            variance = stats.squares[step.player] / stats.visits - mean * mean + exploration * math.sqrt(rate)
            out[i] = mean + math.sqrt(rate * max(0.0, min(MOST_VARIANCE, variance)))


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(q + μ, s + μ², n + 1, m + 1) if ψ = ψ_visit; (q, s, n, m + 1) if ψ = ψ_avail"""
    if context == VISIT:
        for player in range(len(rewards)):
            stats.reward[player] += rewards[player]
            stats.squares[player] += rewards[player] * rewards[player]
        stats.visits += 1
    stats.availability += 1


UCB1_TUNED = Enhancement(
    name="UCB1_TUNED",
    records=HISTORY,  # UCB1-Tuned-1
    information=information(reward=REWARDS, squares=REWARDS, visits=COUNT, availability=COUNT),  # UCB1-Tuned-2
    initial=initial(),  # UCB1-Tuned-3
    policy=argmax().over(tuned),  # UCB1-Tuned-4
    contexts=VISIT_OR_AVAILABLE,  # UCB1-Tuned-5
    capture=capture_tree,  # UCB1-Tuned-6
    backpropagation=backpropagate,  # UCB1-Tuned-7
)


def ucb1_tuned(exploration: float) -> Enhancement:
    """UCB1-Tuned with another constant than √2 in the bound of the variance.

    Raises:
        ValueError: it is negative.
    """
    parameters = nonnegative("ucb1_tuned", exploration=exploration)
    return variant(UCB1_TUNED, "ucb1_tuned", *parameters.values(), policy=argmax().over(tuned(**parameters)))
