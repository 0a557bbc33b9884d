"""Enhancements of other papers for decisions of players who choose at once."""

import math

import attrs
import numpy as np

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.baseline import (
    BASELINE,
    EXPLORATION,
    backpropagate,
    bits_of,
    capture_tree,
    real_of,
    write_bounds,
)

# ----------------------------------------------------------------------------------------- simultaneous decisions: EXP3


# EXP3 at simultaneous decisions (Cowling, Powley and Whitehouse, 2012, eqs. 4-6), as an enhancement like the others.
#
# No strategy names it: a scheme `with_exp3()` has it decide, in the tree, where a game marks choices as simultaneous.
#
# Readings: n of (5) is the number of trials of the actions that are legal now, so that the first trial is uniform. All who choose at once
# have their bandits at the history where the first of them is asked; what one chooses is not part of another's record.


@inlined
def trial(history: History, i: int, action: int) -> int:
    """The record of an action at a simultaneous decision: the history before the first of the choices, extended by it."""
    steps, first = history.steps, i
    while (
        first > 0 and steps[first].choice > 1 and steps[first - 1].choice == steps[first].choice - 1
    ):
        first -= 1
    return extended(history.keys[first, steps[i].perspective], steps[i].player, action)


@values
def probabilities(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """p(a) = γ/K + (1 − γ) / Σ_b e^{(s(b) − s(a)) η}, γ = min{1, √(K log K / ((e − 1) n))}, η = γ/K, for θ([h # a]~) = (s, n)"""
    present = len(history.steps) - 1
    arms = len(legal)
    trials = 0
    most = -np.inf
    player = history.steps[present].player
    for i in range(arms):
        stats = find(theta, trial(history, present, legal[i]))
        out[i] = stats.reward[player]
        most = max(most, out[i])
        trials += stats.visits
    gamma = 1.0
    if trials > 0:
        gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * trials)))  # (5)
    eta = gamma / arms  # (6)
    total = 0.0
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
            update(updates, trial(history, i, step.action), bits_of(step.probability))


@backpropagation
def backpropagate_trial(stats: Row, context: int, rewards: Array) -> None:
    """(s + μ/p, n + 1)"""
    probability = real_of(context)
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
    backpropagation=backpropagate_trial,
)


# ------------------------------------------------------------------------------ simultaneous decisions: regret matching


# Regret matching (Hart and Mas-Colell, 2000) where players choose at once: Lanctot, Wittlinger, Winands and Den Teuling, 2013.
#
# All who choose at once hold, at the history before the first of them is asked, how much they regret not to have played each action, and
# the mean reward of every joint action. An action is played with σ(a) = γ/K + (1 − γ) R⁺(a)/Σ_b R⁺(b), uniformly where nobody regrets
# anything. After a playout with reward μ_ρ in which the others played o, R(a) grows by X̄(a, o) − μ_ρ for each other action a of ρ, X̄
# being the mean reward of both together.
#
# Readings: elsewhere in the tree UCB1 decides, by availability as in the baseline; in the simulation phase all values are equal. A joint
# action never played is worth ½, the 0 of rewards from −1 to 1. Where the tree ended between those who choose at once nothing is
# regretted; where the root lies between them, those before it are left out. The action played is the most visited one, not one drawn from
# the average of all σ. γ is a default to be tuned.


UNKNOWN = 0.5  # the mean reward of a joint action that was never played


@values
def matched(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    share: Fraction = 0.2,
    exploration: float = EXPLORATION,
) -> None:
    """γ/K + (1 − γ) R⁺(a)/Σ_b R⁺(b) at a simultaneous decision, R from θ([h # a]~); else 1 where UCB1 is greatest, 0 for other actions"""
    present = len(history.steps) - 1
    step = history.steps[present]
    if step.phase == SIMULATION:
        out[:] = 1.0
    elif step.choice > 0:
        total = 0.0
        for i in range(len(legal)):
            out[i] = max(0.0, find(theta, trial(history, present, legal[i])).regret)
            total += out[i]
        for i in range(len(legal)):
            out[i] = share / len(legal) + (1.0 - share) * (
                out[i] / total if total > 0.0 else 1.0 / len(legal)
            )
    else:
        write_bounds(history, theta, legal, out, exploration)
        most = -np.inf
        for i in range(len(legal)):
            most = max(most, out[i])
        for i in range(len(legal)):
            out[i] = 1.0 if out[i] == most else 0.0


@capture(reads_simulation=False)
def capture_tree_and_regrets(history: History, theta: Theta, updates: Updates) -> None:
    """ξ of the baseline # ⟨(([h # a_i]~, o_i), ψ_visit)⟩ # ⟨([h # a]~, X̄(a, o_i) − μ_ρi) : a ≠ a_i legal⟩ for all i who chose at once at h

    with o_i what the others chose, X̄(a, o_i) = q_ρi/n for θ([h # a]~, o_i) = (q, n, ·, ·), ½ if n = 0, and all of them in the tree.
    """
    capture_tree(history, updates)
    steps = history.steps
    last = expanded_at(history)
    first = 0
    while first < last:
        end = first + 1
        if steps[first].choice > 0:
            while end <= last and steps[end].choice == steps[end - 1].choice + 1:
                end += 1
            for i in range(first, end if end <= last else first):
                ask_for_regrets(history, theta, updates, first, end, i)
        first = end


@helper
def ask_for_regrets(
    history: History, theta: Theta, updates: Updates, first: int, end: int, i: int
) -> None:
    """The updates of the player at step i, who chose at once with those at all steps from `first` to before `end`."""
    step = history.steps[i]
    for action in legal_at(history, i):
        cell = joint(history, first, end, i, action)
        if action != step.action:
            stats = find(theta, cell)
            mean = stats.reward[step.player] / stats.visits if stats.visits > 0 else UNKNOWN
            regret = mean - history.rewards[step.player]
            if regret != 0.0:
                update(updates, trial(history, i, action), bits_of(regret))
        elif end - first > 1:
            update(updates, cell, VISIT)


@helper
def joint(history: History, first: int, end: int, i: int, action: int) -> int:
    """The record of an action of the player at step i with what the others chose at once with it, in their order."""
    key = trial(history, i, action)
    for j in range(first, end):
        if j != i:
            key = mix(key, history.steps[j].action)
    return key


@backpropagation
def backpropagate_regret(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1, m + 1, R) if ψ = ψ_visit; (q, n, m + 1, R) if ψ = ψ_avail; (q, n, m, R + ψ) else"""
    if context in (VISIT, AVAILABLE):
        backpropagate(stats, context, rewards)
    else:
        stats.regret += real_of(context)


REGRET_MATCHING = attrs.evolve(
    BASELINE,
    name="REGRET_MATCHING",
    records=HISTORY | HISTORY * ACTIONS,  # RM-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, regret=REAL),  # RM-2
    policy=roulette().over(matched),  # RM-4
    contexts=Space(("{ψ_avail, ψ_visit} ∪ ℝ",)),  # RM-5
    capture=capture_tree_and_regrets,  # RM-6
    backpropagation=backpropagate_regret,  # RM-7
)
