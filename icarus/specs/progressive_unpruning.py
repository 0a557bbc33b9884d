"""Progressive unpruning (Chaslot, Winands, van den Herik, Uiterwijk and Bouzy, 2008) and progressive widening (Coulom, 2007): at a
history that was seldom visited only the actions of the best heuristic are searched, and the more of them the more often it is
visited.

Readings: actions are ordered by their lookahead for the player who acts, equal ones as the game lists them, anew for the actions that
are legal in each determinization. Unpruning: up to T = 30 visits of the history all actions are open and equal, as in simulation,
then the k = 5 best, and one more whenever its visits exceed A B^(k − 5), A = 50, B = 1.3. Widening: the best one from the start, and
the (k + 1)-th after t_k visits, t_0 = 0, t_(k+1) = t_k + 40 · 1.4^k. The records are the baseline's; among the open actions UCB1
decides; in the simulation phase every value is +∞.
"""

import attrs
import numpy as np

from icarus.algebra import Enhancement, argmax, values
from icarus.checks import integer, real
from icarus.kernel import History, Theta, child, find, helper, lookahead_at
from icarus.specs.baseline import BASELINE, EXPLORATION, bound_of
from icarus.specs.variants import variant

AFTER, FIRST, PACE, GROWTH = 30, 5, 50.0, 1.3
WIDENING_PACE, WIDENING_GROWTH = 40.0, 1.4
PRUNED = -1e9  # the value of what is not searched: finite, for weighted sums


@helper
def open_best(
    history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, width: int, exploration: float
) -> None:
    """UCB1's values of as many actions as are open, the best by their lookahead; the others are pruned."""
    present = len(history.steps) - 1
    lookahead, player = lookahead_at(history, present), history.steps[present].player
    for i in range(len(legal)):
        better = 0
        for j in range(len(legal)):
            mine, theirs = lookahead[i, player], lookahead[j, player]
            better += theirs > mine or (theirs == mine and j < i)
        stats = find(theta, child(history, present, legal[i]))
        out[i] = bound_of(stats, player, exploration) if better < width else PRUNED


@values(uniform_in_simulation=True)
def unpruned(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    after: int = AFTER,
    first: int = FIRST,
    pace: float = PACE,
    growth: float = GROWTH,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) for the k(N) actions of the best lookahead, N the visits of h; +∞ for all if N ≤ T

    k(N) the least k ≥ k_init with N ≤ A B^(k − k_init)
    """
    step = history.steps[-1]
    out[:] = np.inf
    visits, width = find(theta, step.record).visits, first
    if visits > after:
        while width < len(legal) and visits > pace * growth ** (width - first):
            width += 1
        open_best(history, theta, legal, out, width, exploration)


@values(uniform_in_simulation=True)
def widened(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    pace: float = WIDENING_PACE,
    growth: float = WIDENING_GROWTH,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) for the k(N) actions of the best lookahead, N the visits of h

    k(N) the greatest k with N ≥ t_(k − 1), t_0 = 0, t_k = t_(k − 1) + A B^(k − 1)
    """
    step = history.steps[-1]
    out[:] = np.inf
    visits, width, due, wait = find(theta, step.record).visits, 1, pace, pace
    while width < len(legal) and visits >= due:
        wait *= growth
        due += wait
        width += 1
    open_best(history, theta, legal, out, width, exploration)


PROGRESSIVE_UNPRUNING = attrs.evolve(BASELINE, name="PROGRESSIVE_UNPRUNING", policy=argmax().over(unpruned))  # PU-4

PROGRESSIVE_WIDENING = attrs.evolve(BASELINE, name="PROGRESSIVE_WIDENING", policy=argmax().over(widened))  # PW-4


def progressive_unpruning(
    after: int = AFTER, first: int = FIRST, pace: float = PACE, growth: float = GROWTH, exploration: float = EXPLORATION
) -> Enhancement:
    """Progressive unpruning with another T, k_init, A, B or exploration constant.

    Raises:
        ValueError: no action would be open, the waiting times would not grow, or a number is negative.
    """
    parameters = {
        "after": integer("after of progressive_unpruning", after, least=0),
        "first": integer("first of progressive_unpruning", first, least=1),
        "pace": real("pace of progressive_unpruning", pace, 0, 1e9, above=True),
        "growth": real("growth of progressive_unpruning", growth, 1, 1e3, above=True),
        "exploration": real("exploration of progressive_unpruning", exploration, 0, 1e9),
    }
    policy = argmax().over(unpruned(**parameters))
    return variant(PROGRESSIVE_UNPRUNING, "progressive_unpruning", *parameters.values(), policy=policy)


def progressive_widening(
    pace: float = WIDENING_PACE, growth: float = WIDENING_GROWTH, exploration: float = EXPLORATION
) -> Enhancement:
    """Progressive widening with another pace A, growth B or exploration constant.

    Raises:
        ValueError: the waiting times would not grow, or a number is negative.
    """
    parameters = {
        "pace": real("pace of progressive_widening", pace, 0, 1e9, above=True),
        "growth": real("growth of progressive_widening", growth, 1, 1e3, above=True),
        "exploration": real("exploration of progressive_widening", exploration, 0, 1e9),
    }
    policy = argmax().over(widened(**parameters))
    return variant(PROGRESSIVE_WIDENING, "progressive_widening", *parameters.values(), policy=policy)
