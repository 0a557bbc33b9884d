"""Regret matching (Hart and Mas-Colell, 2000) where players choose at once: Lanctot, Wittlinger, Winands and Den Teuling, 2013.

All who choose at once hold, at the history before the first of them is asked, how much they regret not to have played each action, and the
mean reward of every joint action. An action is played with σ(a) = γ/K + (1 − γ) R⁺(a)/Σ_b R⁺(b), uniformly where nobody regrets anything.
After a playout with reward μ_ρ in which the others played o, R(a) grows by X̄(a, o) − μ_ρ for each other action a of ρ, X̄ being the mean
reward of both together.

Readings: elsewhere in the tree UCB1 decides, by availability as in the baseline; in the simulation phase all values are equal. A joint
action never played is worth ½, the 0 of rewards from −1 to 1. Where the tree ended between those who choose at once nothing is
regretted; where the root lies between them, those before it are left out. The action played is the most visited one, not one drawn
from the average of all σ. γ is a default to be tuned.
"""

import numpy as np

from icarus.algebra import (
    ACTIONS,
    COUNT,
    HISTORY,
    REAL,
    REWARDS,
    Enhancement,
    Space,
    backpropagation,
    capture,
    information,
    initial,
    roulette,
    values,
)
from icarus.checks import real
from icarus.kernel import (
    AVAILABLE,
    SIMULATION,
    VISIT,
    History,
    Row,
    Theta,
    Updates,
    expanded_at,
    find,
    helper,
    legal_at,
    mix,
    update,
)
from icarus.specs.baseline import BASELINE, EXPLORATION, capture_tree
from icarus.specs.exp3 import trial
from icarus.specs.first_play_urgency import urgent
from icarus.specs.variants import nonnegative, variant

SHARE = 0.2  # γ: of the choices that are uniform
UNKNOWN = 0.5  # the mean reward of a joint action that was never played
write_ucb1 = helper(urgent.function)


@values
def matched(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    share: float = SHARE,
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
            out[i] = share / len(legal) + (1.0 - share) * (out[i] / total if total > 0.0 else 1.0 / len(legal))
    else:
        write_ucb1(history, theta, legal, out, exploration, np.inf)
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
    steps, last, first = history.steps, expanded_at(history), 0
    while first < last:
        end = first + 1
        if steps[first].choice > 0:
            while end <= last and steps[end].choice == steps[end - 1].choice + 1:
                end += 1
            for i in range(first, end if end <= last else first):
                ask_for_regrets(history, theta, updates, first, end, i)
        first = end


@helper
def ask_for_regrets(history: History, theta: Theta, updates: Updates, first: int, end: int, i: int) -> None:
    """The updates of the player at step i, who chose at once with those at all steps from `first` to before `end`."""
    step = history.steps[i]
    for action in legal_at(history, i):
        cell = joint(history, first, end, i, action)
        if action != step.action:
            stats = find(theta, cell)
            mean = stats.reward[step.player] / stats.visits if stats.visits > 0 else UNKNOWN
            regret = mean - history.rewards[step.player]
            if regret != 0.0:
                update(updates, trial(history, i, action), np.float64(regret).view(np.int64))
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
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(q + μ, n + 1, m + 1, R) if ψ = ψ_visit; (q, n, m + 1, R) if ψ = ψ_avail; (q, n, m, R + ψ) else"""
    if context in (VISIT, AVAILABLE):
        BASELINE.backpropagation(stats, context, rewards)
    else:
        stats.regret += np.int64(context).view(np.float64)  # a context is an integer: the bits of the regret


REGRET_MATCHING = Enhancement(
    name="REGRET_MATCHING",
    records=HISTORY | HISTORY * ACTIONS,  # RM-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, regret=REAL),  # RM-2
    initial=initial(),  # RM-3
    policy=roulette().over(matched),  # RM-4
    contexts=Space(("{ψ_avail, ψ_visit} ∪ ℝ",)),  # RM-5
    capture=capture_tree_and_regrets,  # RM-6
    backpropagation=backpropagate,  # RM-7
)


def regret_matching(share: float = SHARE, exploration: float = EXPLORATION) -> Enhancement:
    """Regret matching with another γ, or another exploration constant where one player chooses.

    Raises:
        ValueError: γ is not from 0 to 1, or the exploration negative.
    """
    share = real("share of regret_matching", share, 0, 1)
    parameters = nonnegative("regret_matching", exploration=exploration)
    policy = roulette().over(matched(share=share, **parameters))
    return variant(REGRET_MATCHING, "regret_matching", share, *parameters.values(), policy=policy)
