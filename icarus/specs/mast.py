"""Specification 3: move-average sampling technique (MAST), with the four rules of reuse of section 4.3.2, and tree-only MAST.

Readings: the player in a record is the one who plays the action; the environment's actions have no record (R and Ψ name
players 1, …, κ only). UCB1 counts how often an action was available, which takes a capture of its own.
"""

from typing import Annotated

import attrs

from icarus.algebra import *
from icarus.kernel import *

Phase = Annotated[int, Range(SELECTION, SIMULATION)]
ONLY_AVAILABLE = -1  # the context of an action that was legal but not played


@candidates(independent=True)
def actions(history: History, legal: Array, records: Array) -> None:
    """v(a) = q/n, 1 if n = 0, for θ(a, ρ) = (q, n)"""
    player = history.steps[-1].player
    for i in range(len(legal)):
        records[i] = record(legal[i], player)


@capture
def capture_actions(history: History, updates: Updates, last_phase: Phase = SIMULATION) -> None:
    """⟨((a_i, ρ_i), ρ_i) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE and step.phase <= last_phase:
            update(updates, record(step.action, step.player), step.player)


@backpropagation(bounded_mean=True)
def backpropagate(stats: Row, player: int, rewards: Array) -> None:
    """(q + μ_ρ, n + 1)"""
    stats.reward += rewards[player]
    stats.visits += 1


@capture
def capture_available(history: History, updates: Updates, last_phase: Phase = SIMULATION) -> None:
    """⟨((a_i, ρ_i), ρ_i)⟩ # ⟨((a, ρ_i), ψ_avail) : a ≠ a_i legal⟩ for i = 1, …, t"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE and step.phase <= last_phase:
            for action in legal_at(history, i):
                update(
                    updates,
                    record(action, step.player),
                    step.player if action == step.action else ONLY_AVAILABLE,
                )


@backpropagation(bounded_mean=True)
def backpropagate_available(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ_ρ, n + 1, m + 1) if ψ = ρ; (q, n, m + 1) if ψ = ψ_avail"""
    if context != ONLY_AVAILABLE:
        stats.reward += rewards[context]
        stats.visits += 1
    stats.availability += 1


def count_available(mast: Enhancement) -> Enhancement:
    """MAST with the slots that its rule needs: UCB1 asks how often an action was available."""
    bandit = mast.policy.rule.bandit
    unfit = capture_actions if bandit else capture_available
    # It has the fitting slots already, or a capture of its own, which stays.
    if mast.capture.function is not unfit.function:
        return mast
    fit = capture_available if bandit else capture_actions
    return attrs.evolve(
        mast,
        information=RewardVisitsAvailability if bandit else RewardVisits,
        contexts=PLAYER * Space(("{ψ_avail}",)) if bandit else PLAYER,
        capture=fit(**dict(mast.capture.parameters)),
        backpropagation=backpropagate_available if bandit else backpropagate,
    )


MAST = Enhancement(
    name="MAST",
    records=ACTION * PLAYER,  # MAST-1
    information=RewardVisits,  # MAST-2
    initial=initial(),  # MAST-3
    policy=gibbs(temperature=1).over(actions),  # MAST-4
    contexts=PLAYER,  # MAST-5
    capture=capture_actions,  # MAST-6
    backpropagation=backpropagate,  # MAST-7
    parameters=("rule",),
    adjust=count_available,
)


TO_MAST = attrs.evolve(
    MAST,
    name="TO_MAST",
    capture=capture_actions(last_phase=EXPANSION),  # TO-MAST-6
)
