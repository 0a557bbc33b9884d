"""EXP3 at simultaneous decisions (Cowling, Powley and Whitehouse, 2012, eqs. 4-6), as an enhancement like the others.

No strategy names it: a scheme `with_exp3()` has it decide, in the tree, where a game marks choices as simultaneous.

Readings: n of (5) is the number of trials of the actions that are legal now, so that the first trial is uniform. All who choose at
once have their bandits at the history where the first of them is asked; what one chooses is not part of another's record.
"""

import math

import numpy as np

from icarus.algebra import (
    HISTORY,
    Enhancement,
    RewardsVisits,
    Space,
    backpropagation,
    capture,
    initial,
    roulette,
    values,
)
from icarus.kernel import SIMULATION, History, Row, Theta, Updates, extended, find, inlined, update


@inlined
def trial(history: History, i: int, action: int) -> int:
    """The record of an action at a simultaneous decision: the history before the first of the choices, extended by it."""
    step, first = history.steps[i], i
    while (
        first > 0
        and history.steps[first].choice > 1
        and history.steps[first - 1].choice == history.steps[first].choice - 1
    ):
        first -= 1
    return extended(history.keys[first, step.perspective], step.player, action)


@values
def probabilities(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """p(a) = γ/K + (1 − γ) / Σ_b e^{(s(b) − s(a)) η}, γ = min{1, √(K log K / ((e − 1) n))}, η = γ/K, for θ([h # a]~) = (s, n)"""
    present, arms, trials, most = len(history.steps) - 1, len(legal), 0, -np.inf
    player = history.steps[present].player
    for i in range(arms):
        stats = find(theta, trial(history, present, legal[i]))
        out[i] = stats.reward[player]
        most = max(most, out[i])
        trials += stats.visits
    gamma = 1.0
    if trials > 0:
        gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * trials)))  # (5)
    eta, total = gamma / arms, 0.0  # (6)
    for i in range(arms):  # scaled by e^(-most η), so that no sum is too great
        out[i] = math.exp((out[i] - most) * eta)
        total += out[i]
    for i in range(arms):
        out[i] = gamma / arms + (1.0 - gamma) * out[i] / total  # (4)


@capture(reads_simulation=False, writes_simulation=False)
def capture_trials(history: History, updates: Updates) -> None:
    """⟨([h_i # a_{i+1}]~, p(a_{i+1})) : h_i a simultaneous decision in the tree⟩"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.phase == SIMULATION:
            return
        if step.choice > 0:
            update(updates, trial(history, i, step.action), np.float64(step.probability).view(np.int64))


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(s + μ/p, n + 1)"""
    probability = np.int64(context).view(np.float64)  # a context is an integer: the bits of p
    for player in range(len(rewards)):
        stats.reward[player] += rewards[player] / probability
    stats.visits += 1


EXP3 = Enhancement(
    name="EXP3",
    records=HISTORY,
    information=RewardsVisits,
    initial=initial(),
    policy=roulette().over(probabilities),
    contexts=Space(("(0, 1]",)),
    capture=capture_trials,
    backpropagation=backpropagate,
)
