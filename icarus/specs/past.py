"""Predicate-average sampling technique (PAST; Finnsson and Björnsson, 2010): how good was an action where something was true?

What is true of a state are its features as the game tells them: that the k-th is f, rounded down. An action is worth the greatest of
its mean reward anywhere, as in MAST, and its mean rewards where what is true now was true.

Readings: those of MAST. A mean with a predicate counts from three visits on; an action never played is worth 1. The rule is MAST's own,
Gibbs, τ = 1; both are defaults to be tuned. A game without features is refused.
"""

import math

import numpy as np

from icarus.algebra import (
    ACTION,
    PLAYER,
    Enhancement,
    RewardVisits,
    Rule,
    Space,
    capture,
    check_rule,
    gibbs,
    initial,
    values,
)
from icarus.checks import integer
from icarus.kernel import CHANCE, History, Theta, Updates, find, helper, record, update
from icarus.specs.mast import backpropagate
from icarus.specs.variants import variant

LEAST = 3


@helper
def predicate(history: History, i: int, k: int, action: int) -> int:
    """The record of an action of the player at step i where the k-th feature is what it is there."""
    return record(k, math.floor(history.features[i, k]), action, history.steps[i].player)


@values
def averages(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, least: int = LEAST) -> None:
    """max of q/n for θ(a, ρ) = (q, n) and for all θ(k, ⌊f_k⌋, a, ρ) = (q, n) with n at least 3; 1 if a was never played"""
    present = len(history.steps) - 1
    for i in range(len(legal)):
        anywhere = find(theta, record(legal[i], history.steps[present].player))
        out[i] = anywhere.reward / anywhere.visits if anywhere.visits > 0 else 1.0
        for k in range(history.features.shape[1]):
            stats = find(theta, predicate(history, present, k, legal[i]))
            if stats.visits >= least:
                out[i] = max(out[i], stats.reward / stats.visits)


@capture
def capture_actions_with_predicates(history: History, updates: Updates) -> None:
    """⟨((a_{i+1}, ρ_i), ρ_i)⟩ # ⟨((k, ⌊f_k(h_i)⌋, a_{i+1}, ρ_i), ρ_i) : all k⟩ for i = 0, …, t − 1"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), step.player)
            for k in range(history.features.shape[1]):
                update(updates, predicate(history, i, k, step.action), step.player)


PAST = Enhancement(
    name="PAST",
    records=ACTION * PLAYER | Space(("F", "ℤ")) * ACTION * PLAYER,  # PAST-1
    information=RewardVisits,  # PAST-2
    initial=initial(),  # PAST-3
    policy=gibbs(temperature=1).over(averages),  # PAST-4
    contexts=PLAYER,  # PAST-5
    capture=capture_actions_with_predicates,  # PAST-6
    backpropagation=backpropagate,  # PAST-7
)


def past(least: int = LEAST, rule: Rule | None = None) -> Enhancement:
    """PAST where predicates count from another number of visits on, or with another rule of reuse.

    Raises:
        ValueError: the number is not an integer of at least 1.
    """
    least = integer("the visits that a predicate of PAST needs", least, least=1)
    rule = gibbs(temperature=1) if rule is None else check_rule(rule)
    return variant(PAST, "past", least, rule, policy=rule.over(averages(least=least)))
