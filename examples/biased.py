"""Slots made of slots: the baseline with a bias for actions that have done well anywhere, made of the baseline's own slots.

    icarus match othello "BIASED >> BASELINE" BASELINE --with examples/biased.py

The values are the baseline's UCB1 plus the action's mean reward wherever it was played, with less weight the more often it was tried
here: a progressive bias (Chaslot et al., 2008) that is learned. The baseline's values and captures are called unchanged; both kinds of
records are in one table, and are updated by the baseline's backpropagation.
"""

import numpy as np

from icarus import (
    ACTION,
    HISTORY,
    PLAYER,
    VISIT_OR_AVAILABLE,
    Enhancement,
    RewardsVisitsAvailability,
    argmax,
    capture,
    initial,
    values,
)
from icarus.kernel import CHANCE, VISIT, History, Theta, Updates, child, find, record, update
from icarus.specs.baseline import backpropagate, bounds, capture_tree


@values
def biased(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, weight: float = 0.5) -> None:
    """v_BASELINE(a) + weight · q̃_ρ/ñ · 1/(n + 1), with (q̃, ñ) of (a, ρ) and n of [h # a]~"""
    bounds(history, theta, legal, out)
    present = len(history.steps) - 1
    player = history.steps[present].player
    for i in range(len(legal)):
        everywhere = find(theta, record(legal[i], player))
        if everywhere.visits > 0:
            here = find(theta, child(history, present, legal[i]))
            out[i] += weight * everywhere.reward[player] / everywhere.visits / (here.visits + 1)


@capture
def capture_both(history: History, updates: Updates) -> None:
    """ξ_BASELINE(h) # ⟨((a_i, ρ_i), ψ_visit) : i = 1, …, t⟩"""
    capture_tree(history, updates)
    for step in history.steps[:-1]:
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), VISIT)


BIASED = Enhancement(
    name="BIASED",
    records=HISTORY | ACTION * PLAYER,
    information=RewardsVisitsAvailability,
    initial=initial(),
    policy=argmax().over(biased),
    contexts=VISIT_OR_AVAILABLE,
    capture=capture_both,
    backpropagation=backpropagate,
)
