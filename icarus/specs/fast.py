"""Features-to-action sampling technique (FAST; Finnsson and Björnsson, 2010): what weights of features, learnt by TD(λ), say of an action.

What the game tells of an action is weighed: Q(a) = Σ_k w_k φ_k(a). After a playout the weights of each player go by the delta rule towards
the λ-returns of his decisions, which lie between what he thought of his later ones and what he got.

Readings: the paper finds pieces and cells of a board by templates, learns a linear value of states made of these, and has a formula for
each template by which its weights tell what an action is worth, to save the states that actions lead to. Here the game tells features of
actions, so the linear value is of an action where it is played. Rewards count from −1 to 1: with two players that is the difference of
both, as in the paper. All decisions of a playout count, those in the tree too, and all by the weights that it was played with. The rule is
MAST's own, Gibbs, τ = 1. α and λ are defaults to be tuned, α the smaller the greater the features are. A game without features of actions
is refused.
"""

import numpy as np

from icarus.algebra import (
    ESTIMATE,
    PLAYER,
    Enhancement,
    Rule,
    Space,
    capture,
    check_rule,
    gibbs,
    information,
    initial,
    values,
)
from icarus.checks import real
from icarus.kernel import History, Theta, Updates, action_features_at, find, helper, record, update
from icarus.specs.implicit_minimax import place_of_action
from icarus.specs.ppa import backpropagate
from icarus.specs.variants import variant

RATE, TRACE = 0.01, 0.99


@helper
def weighed(theta: Theta, numbers: np.ndarray, player: int) -> float:
    """Σ_k w_k φ_k for the weights of a player and what is told of an action."""
    worth = 0.0
    for k in range(len(numbers)):
        worth += find(theta, record(k, player)).weight * numbers[k]
    return worth


@values
def weighed_features(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """Σ_k w_k φ_k(a) for θ(k, ρ_t) = w_k, φ_k(a) the k-th feature of a"""
    present = len(history.steps) - 1
    for i in range(len(legal)):
        out[i] = weighed(theta, action_features_at(history, present)[i], history.steps[present].player)


@capture
def capture_differences(
    history: History, theta: Theta, updates: Updates, rate: float = RATE, trace: float = TRACE
) -> None:
    """⟨((k, ρ), α Σ_j (G_j − Q_j) φ_k(a_j)) : all k and ρ⟩ over the decisions j of ρ, the last one m, with Q_j = Σ_k w_k φ_k(a_j),

    w_k = θ(k, ρ), G_m = 2 μ_ρ − 1, G_j = (1 − λ) Q_{j+1} + λ G_{j+1} for j < m.
    """
    change = np.empty(history.action_features.shape[1])
    for player in range(len(history.rewards)):
        change[:] = 0.0
        to_come = 2.0 * history.rewards[player] - 1.0
        for i in range(len(history.steps) - 2, -1, -1):
            if history.steps[i].player == player:
                numbers = action_features_at(history, i)[place_of_action(history, i)]
                worth = weighed(theta, numbers, player)
                for k in range(len(change)):
                    change[k] += rate * (to_come - worth) * numbers[k]
                to_come = (1.0 - trace) * worth + trace * to_come
        for k in range(len(change)):
            update(updates, record(k, player), np.float64(change[k]).view(np.int64))


FAST = Enhancement(
    name="FAST",
    records=Space(("Φ",)) * PLAYER,  # FAST-1
    information=information(weight=ESTIMATE),  # FAST-2
    initial=initial(),  # FAST-3
    policy=gibbs(temperature=1).over(weighed_features),  # FAST-4
    contexts=Space(("ℝ",)),  # FAST-5
    capture=capture_differences,  # FAST-6
    backpropagation=backpropagate,  # FAST-7
)


def fast(rate: float = RATE, trace: float = TRACE, rule: Rule | None = None) -> Enhancement:
    """FAST with another rate α, another λ, or another rule of reuse.

    Raises:
        ValueError: the rate is negative, or λ not from 0 to 1.
    """
    rate, trace = real("rate of fast", rate, 0, 1e9), real("trace of fast", trace, 0, 1)
    rule = gibbs(temperature=1) if rule is None else check_rule(rule)
    captured = capture_differences(rate=rate, trace=trace)
    return variant(FAST, "fast", rate, trace, rule, policy=rule.over(weighed_features), capture=captured)
