"""The values v that rules make from the information of records, given by their places in the table."""

import math
from collections.abc import Callable

import numpy as np

from icarus.algebra.information import Information
from icarus.algebra.policy import Policy
from icarus.kernel import Theta, helper, inlined, reward_of

UNVISITED = 1.0  # v of an action without visits, in means (MAST-4)
SMALL = 1 << 12  # logarithms of counts below it are looked up
LOGARITHMS = np.array([-math.inf, *(math.log(count) for count in range(1, SMALL))])


@inlined
def log_of(count: int) -> float:
    """log m, for a count of at least 1."""
    return LOGARITHMS[count] if count < SMALL else math.log(count)


@helper
def ucb1_by_availability(theta: Theta, places: np.ndarray, player: int, out: np.ndarray, exploration: float) -> None:
    """q_ρ/n + c √(log m / n), with m the record's availability (Base-4, EPIC-4); +∞ where n = 0 or m = 0.

    Where one value is +∞ the finite ones cannot matter to an arg max, nor to one over a weighted sum, and are left at 0.
    """
    infinite = False
    for i in range(len(places)):
        stats = theta.rows[places[i]]
        out[i] = 0.0
        if stats.visits == 0 or stats.availability == 0:
            out[i], infinite = np.inf, True
    if not infinite:
        for i in range(len(places)):
            stats = theta.rows[places[i]]
            out[i] = reward_of(stats, player) / stats.visits + exploration * math.sqrt(
                log_of(stats.availability) / stats.visits
            )


@helper
def ucb1_by_visits(theta: Theta, places: np.ndarray, player: int, out: np.ndarray, exploration: float) -> None:
    """q_ρ/n + c √(log Σ / n), with Σ the visits of all legal actions (AMAF-4, NAST-4); +∞ where n = 0, and then as above."""
    infinite, total = False, 0
    for i in range(len(places)):
        visits = theta.rows[places[i]].visits
        total += visits
        out[i] = 0.0
        if visits == 0:
            out[i], infinite = np.inf, True
    if not infinite:
        trials = log_of(total)
        for i in range(len(places)):
            stats = theta.rows[places[i]]
            out[i] = reward_of(stats, player) / stats.visits + exploration * math.sqrt(trials / stats.visits)


@helper
def mean(theta: Theta, places: np.ndarray, player: int, out: np.ndarray) -> None:
    """q_ρ/n, and 1 where n = 0 (MAST-4)."""
    for i in range(len(places)):
        stats = theta.rows[places[i]]
        out[i] = reward_of(stats, player) / stats.visits if stats.visits > 0 else UNVISITED


def rule_values(policy: Policy, information: Information) -> Callable:
    """The function that makes a rule's values from records of this information."""
    if not policy.rule.bandit:
        return mean
    return ucb1_by_availability if "availability" in information.names else ucb1_by_visits
