"""Specification 2: all moves as first (AMAF), and RAVE, eqs. (14)-(15), its decaying combination with the baseline.

Readings: an action is the same only when the same player plays it; (AMAF-6) is literal, one update for every later occurrence
j > i, the action actually played at h_i included.
"""

from typing import Any

import attrs
import numpy as np

from icarus.algebra import (
    HISTORY,
    NOTHING,
    Enhancement,
    RewardsVisits,
    Rule,
    backpropagation,
    candidates,
    capture,
    checked,
    initial,
    named,
    rave_weight,
    ucb1,
)
from icarus.kernel import SELECTION, History, Updates, child, legal_at, update
from icarus.specs.baseline import BASELINE, EXPLORATION


@candidates
def children(history: History, legal: np.ndarray, records: np.ndarray) -> None:
    """v(θ([h # a]~)) with v((q, n)) = q_ρ/n + c √(log Σ_b θ₂([h # b]~) / n), +∞ if n = 0"""
    for i in range(len(legal)):
        records[i] = child(history, len(history.steps) - 1, legal[i])


@capture(writes_simulation=False)
def capture_siblings(history: History, updates: Updates) -> None:
    """⟨([a₁, …, a_i, a_j]~, ψ) : 0 ≤ i < j ≤ t, a_j legal at h_i, h_i a selection node⟩"""
    steps = history.steps
    for i in range(len(steps) - 1):
        if steps[i].phase == SELECTION:
            legal = legal_at(history, i)
            for j in range(i, len(steps) - 1):
                if steps[j].player == steps[i].player and steps[j].action in legal:
                    update(updates, child(history, i, steps[j].action), 0)


@backpropagation
def backpropagate(seen: Any, context: int, rewards: np.ndarray) -> None:
    """(q + μ, n + 1)"""
    for player in range(len(rewards)):
        seen.reward[player] += rewards[player]
    seen.visits += 1


AMAF = Enhancement(
    name="AMAF",
    records=HISTORY,  # AMAF-1
    information=RewardsVisits,  # AMAF-2
    initial=initial(),  # AMAF-3
    policy=ucb1(EXPLORATION).over(children),  # AMAF-4
    contexts=NOTHING,  # AMAF-5
    capture=capture_siblings,  # AMAF-6
    backpropagation=backpropagate,  # AMAF-7
)


def amaf(rule: Rule) -> Enhancement:
    """AMAF with another rule of reuse."""
    return attrs.evolve(AMAF, name=f"amaf({rule})", policy=checked(rule).over(children))


def rave(k: int = 250) -> Enhancement:
    """λ_RAVE AMAF ⊕ (1 − λ_RAVE) BASELINE (14); k is the number of visits at which λ_RAVE = ½ (15)."""
    weight = rave_weight(k=k)
    return named(weight * AMAF ^ (1 - weight) * BASELINE, "RAVE" if k == rave_weight.values()[0] else f"rave(k={k})")


RAVE = rave()
