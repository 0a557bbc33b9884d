"""MAST with decay (Tak, Winands and Björnsson, 2014): what was learnt long ago counts less than what was learnt just now.

Simulation decay: when an action was played, what is known of it is multiplied by γ before the result is added. Batch decay: after every so
many iterations all that is known is multiplied by γ. Their move decay, between the moves of a game, belongs to no slot, because an
enhancement knows one search only: it is `Agent(BASELINE >> MAST, move_decay=γ)`, whose records are reused from move to move.

Readings: simulation decay is of the actions of the playout, once for each time that they were played. Batch decay is put off until an
action is played again, which changes no mean. γ, and the size of a batch, are defaults to be tuned. The rule is MAST's own, Gibbs, τ = 1;
an action never played is worth 1.
"""

import attrs
import numpy as np

from icarus.algebra import (
    ACTION,
    NUMBER,
    PLAYER,
    REAL_COUNT,
    REWARD,
    Enhancement,
    Rule,
    Space,
    backpropagation,
    capture,
    check_rule,
    gibbs,
    information,
    initial,
    values,
)
from icarus.checks import integer, real
from icarus.kernel import CHANCE, MAX_PLAYERS, History, Row, Theta, Updates, find, record, update
from icarus.specs.mast import capture_actions
from icarus.specs.variants import variant

DECAY, BATCH_DECAY, BATCH = 0.95, 0.8, 1000
MOST_ITERATIONS = (1 << 31) - 1


@values
def means(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """q/n, 1 if n = 0, for θ(a, ρ) = (q, n, ·)"""
    player = history.steps[-1].player
    for i in range(len(legal)):
        stats = find(theta, record(legal[i], player))
        out[i] = stats.reward / stats.visits if stats.visits > 0 else 1.0


@backpropagation
def backpropagate(stats: Row, player: int, rewards: np.ndarray, decay: float = DECAY) -> None:
    """(γ q + μ_ρ, γ n + 1, ·)"""
    stats.reward = decay * stats.reward + rewards[player]
    stats.visits = decay * stats.visits + 1.0


MAST_SIMULATION_DECAY = Enhancement(
    name="MAST_SIMULATION_DECAY",
    records=ACTION * PLAYER,  # MAST-Decay-1
    information=information(reward=REWARD, visits=REAL_COUNT, batch=NUMBER),  # MAST-Decay-2
    initial=initial(),  # MAST-Decay-3
    policy=gibbs(temperature=1).over(means),  # MAST-Decay-4
    contexts=PLAYER,  # MAST-Decay-5
    capture=capture_actions,  # MAST-Decay-6
    backpropagation=backpropagate,  # MAST-Decay-7
)


@capture
def capture_actions_with_batch(history: History, updates: Updates, batch: int = BATCH) -> None:
    """⟨((a_i, ρ_i), (ρ_i, ⌊iteration/batch⌋)) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    number = history.iteration // batch
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), number * MAX_PLAYERS + step.player)


@backpropagation
def backpropagate_with_batch(stats: Row, context: int, rewards: np.ndarray, decay: float = BATCH_DECAY) -> None:
    """(γ^{k−b} q + μ_ρ, γ^{k−b} n + 1, k) for ψ = (ρ, k), θ(a, ρ) = (q, n, b); (q + μ_ρ, n + 1, b) if k < b"""
    number = context // MAX_PLAYERS
    factor = decay ** max(0, number - stats.batch)
    stats.reward = factor * stats.reward + rewards[context % MAX_PLAYERS]
    stats.visits = factor * stats.visits + 1.0
    stats.batch = max(number, stats.batch)  # of threads with the same records one may be a batch behind


MAST_BATCH_DECAY = attrs.evolve(
    MAST_SIMULATION_DECAY,
    name="MAST_BATCH_DECAY",
    contexts=PLAYER * Space(("ℕ₀",)),
    capture=capture_actions_with_batch,
    backpropagation=backpropagate_with_batch,
)


def mast_simulation_decay(decay: float = DECAY, rule: Rule | None = None) -> Enhancement:
    """MAST with simulation decay by another γ, or with another rule of reuse.

    Raises:
        ValueError: γ is not from 0 to 1.
    """
    decay, rule = real("decay of mast_simulation_decay", decay, 0, 1), _rule(rule)
    slots = {"policy": rule.over(means), "backpropagation": backpropagate(decay=decay)}
    return variant(MAST_SIMULATION_DECAY, "mast_simulation_decay", decay, rule, **slots)


def mast_batch_decay(decay: float = BATCH_DECAY, batch: int = BATCH, rule: Rule | None = None) -> Enhancement:
    """MAST with batch decay by another γ, after another number of iterations, or with another rule of reuse.

    Raises:
        ValueError: γ is not from 0 to 1, or the batch no integer of at least 1.
    """
    decay, rule = real("decay of mast_batch_decay", decay, 0, 1), _rule(rule)
    batch = integer("batch of mast_batch_decay", batch, least=1, most=MOST_ITERATIONS)
    return variant(
        MAST_BATCH_DECAY,
        "mast_batch_decay",
        decay,
        batch,
        rule,
        policy=rule.over(means),
        capture=capture_actions_with_batch(batch=batch),
        backpropagation=backpropagate_with_batch(decay=decay),
    )


def _rule(rule: Rule | None) -> Rule:
    return gibbs(temperature=1) if rule is None else check_rule(rule)
