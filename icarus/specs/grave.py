"""Generalized rapid action value estimation (GRAVE; Cazenave, 2015): AMAF values from the closest ancestor that knows enough.

Readings: an action is the same only when the same player plays it, and counts once in a playout, from a node on; the environment's
actions have no AMAF value. Where no ancestor has more than `least` visits, the root is asked. An action without visits is worth its
AMAF value, +∞ where there is none. In the simulation phase every value is +∞, as the baseline's are. The paper tunes `least` (its ref)
and `bias` for each game, with best values far apart; 50 and 1e-5 are of that range, and Ludii takes 100 and 1e-5. There is no
exploration in it; Ludii adds that of UCB1, in which an action without visits counts as one visited once.
"""

import math

import numpy as np

from icarus.algebra import (
    COUNT,
    HISTORY,
    REWARDS,
    Enhancement,
    Space,
    argmax,
    backpropagation,
    capture,
    information,
    initial,
    values,
)
from icarus.checks import integer
from icarus.kernel import (
    CHANCE,
    VISIT,
    History,
    Row,
    Theta,
    Updates,
    child,
    expanded_at,
    extended,
    find,
    helper,
    update,
)
from icarus.specs.variants import nonnegative, variant

LEAST, BIAS = 50, 1e-5
AS_FIRST = 1  # the context of an action that was played at a history or later


@values(uniform_in_simulation=True)
def estimates(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    least: int = LEAST,
    bias: float = BIAS,
    exploration: float = 0.0,
) -> None:
    """(1 − β) q_ρ/n + β q̃_ρ/ñ + c √(log Σ / n), β = ñ/(ñ + n + bias ñ n), for θ([h # a]~) = (q, n, ·, ·), θ([h' # a]~) = (·, ·, q̃, ñ)

    with h' the longest beginning of h that has more than `least` visits, and Σ the visits of all legal actions.
    """
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        out[i] = np.inf
    reference = present
    while reference > 0 and find(theta, history.steps[reference].record).visits <= least:
        reference -= 1
    trials = 0
    for i in range(len(legal)):
        trials += find(theta, child(history, present, legal[i])).visits
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        first = find(theta, extended(history.keys[reference, step.perspective], step.player, legal[i]))
        n, many = stats.visits, first.visits_as_first
        if n + many > 0:
            beta = many / (many + n + bias * many * n)
            mean = stats.reward[step.player] / n if n > 0 else 0.0
            as_first = first.reward_as_first[step.player] / many if many > 0 else 0.0
            out[i] = (1.0 - beta) * mean + beta * as_first
            out[i] += exploration * math.sqrt(math.log(max(trials, 1)) / max(n, 1))


@capture
def capture_from_tree(history: History, updates: Updates) -> None:
    """⟨([h_i]~, ψ_visit) : 0 ≤ i ≤ t_e⟩ # ⟨([h_i # a]~ρ, ψ_first) : 0 ≤ i ≤ t_e, a played by ρ at h_i or later⟩, each a and ρ once"""
    steps, last = history.steps, expanded_at(history)
    for i in range(last + 1):
        update(updates, steps[i].record, VISIT)
    for i in range(last + 1):
        for j in range(i, len(steps) - 1):
            if steps[j].player != CHANCE and not was_played(history, i, j):
                update(
                    updates, extended(history.keys[i, steps[j].perspective], steps[j].player, steps[j].action), AS_FIRST
                )


@helper
def was_played(history: History, i: int, j: int) -> bool:
    """Whether the player at step j played the same action before, at step i or later."""
    steps = history.steps
    for k in range(i, j):
        if steps[k].player == steps[j].player and steps[k].action == steps[j].action:
            return True
    return False


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(q + μ, n + 1, q̃, ñ) if ψ = ψ_visit; (q, n, q̃ + μ, ñ + 1) if ψ = ψ_first"""
    for player in range(len(rewards)):
        if context == VISIT:
            stats.reward[player] += rewards[player]
        else:
            stats.reward_as_first[player] += rewards[player]
    if context == VISIT:
        stats.visits += 1
    else:
        stats.visits_as_first += 1


GRAVE = Enhancement(
    name="GRAVE",
    records=HISTORY,  # GRAVE-1
    information=information(reward=REWARDS, visits=COUNT, reward_as_first=REWARDS, visits_as_first=COUNT),  # GRAVE-2
    initial=initial(),  # GRAVE-3
    policy=argmax().over(estimates),  # GRAVE-4
    contexts=Space(("{ψ_first, ψ_visit}",)),  # GRAVE-5
    capture=capture_from_tree,  # GRAVE-6
    backpropagation=backpropagate,  # GRAVE-7
)


def grave(least: int = LEAST, bias: float = BIAS, exploration: float = 0.0) -> Enhancement:
    """GRAVE with another number of visits that an ancestor must exceed, another bias, or exploration.

    Raises:
        ValueError: one of them is negative.
    """
    least = integer("least of grave", least, least=0)
    parameters = nonnegative("grave", bias=bias, exploration=exploration)
    policy = argmax().over(estimates(least=least, **parameters))
    return variant(GRAVE, "grave", least, *parameters.values(), policy=policy)
