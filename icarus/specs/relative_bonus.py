"""Relative bonus (Pepels, Tak, Lanctot and Winands, 2014): a win in few moves is worth more than one in many.

A playout of t actions won by ρ, whose wins took x̄ actions on average with deviation σ, has the bonus b = −1 + 2/(1 + e^{−k (x̄ − t)/σ}) =
tanh(k (x̄ − t)/2σ), and whoever won gets α b more, whoever lost as much less, on a scale from −1 to 1.

Readings: rewards here are from 0 to 1, so half of that is added. Length is counted from the root. Where several won, the bonus is by the
wins of the first of them; a draw has none, nor has any playout before a player's 50th win. α, which the paper estimates as the coefficient
of a control variate, and k are constants here, defaults to be tuned. Baseline records, and so the values that a search tells, have no
bonus. In the simulation phase every value is +∞, as the baseline's are.
"""

import math

import numpy as np

from icarus.algebra import (
    COUNT,
    HISTORY,
    PLAYER,
    REAL,
    REWARDS,
    Enhancement,
    Space,
    argmax,
    backpropagation,
    capture,
    information,
    initial,
)
from icarus.kernel import NONE, History, Row, Theta, Updates, child, expanded_at, find, helper, legal_at, record, update
from icarus.specs.baseline import EXPLORATION
from icarus.specs.first_play_urgency import urgent
from icarus.specs.variants import nonnegative, variant

STEEPNESS, BONUS = 1.0, 0.25
LEAST = 50  # wins of a player before there is a bonus
DRAW = 0.5  # the reward of a playout that nobody won
ONLY_AVAILABLE = 0  # the context of an action that was not played
NO_BONUS = 2.0  # the context of a history that was reached: the bits of 2 + b, as an integer above 0 for b in [−1, 1]


@helper
def first_winner(rewards: np.ndarray) -> int:
    """The first player who got more than a draw; NONE where nobody did."""
    for player in range(len(rewards)):
        if rewards[player] > DRAW:
            return player
    return NONE


@helper
def bonus_of(stats: Row, length: int, steepness: float) -> float:
    """b of a playout of this length, by what is known of the winner's playouts; 0 where that is too little."""
    if stats.visits < LEAST:
        return 0.0
    mean = stats.lengths / stats.visits
    variance = stats.squares / stats.visits - mean * mean
    if variance <= 0.0:
        return 0.0
    return math.tanh(steepness * (mean - length) / (2.0 * math.sqrt(variance)))


@capture
def capture_tree_with_bonus(history: History, theta: Theta, updates: Updates, steepness: float = STEEPNESS) -> None:
    """ξ of the baseline with ψ = b in place of ψ_visit # ⟨(ρ, t)⟩ with ρ the winner"""
    steps, winner, bonus = history.steps, first_winner(history.rewards), 0.0
    if winner != NONE:
        bonus = bonus_of(find(theta, record(winner)), len(steps) - 1, steepness)
    bits = np.float64(NO_BONUS + bonus).view(np.int64)
    last = expanded_at(history)
    for i in range(last + 1):
        update(updates, steps[i].record, bits)
    for i in range(last):
        for action in legal_at(history, i):
            if action != steps[i].action:
                update(updates, child(history, i, action), ONLY_AVAILABLE)
    if winner != NONE:
        update(updates, record(winner), -(len(steps) - 1))


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray, bonus: float = BONUS) -> None:
    """(q + μ + α/2 b sgn(2μ − 1), n + 1, m + 1, ·, ·) if ψ = b; (q, n, m + 1, ·, ·) if ψ = ψ_avail;
    (·, n + 1, ·, s + t, s₂ + t²) if ψ = t
    """
    if context >= ONLY_AVAILABLE:
        stats.availability += 1
    if context > ONLY_AVAILABLE:
        share = bonus / 2.0 * (np.int64(context).view(np.float64) - NO_BONUS)
        for player in range(len(rewards)):
            stats.reward[player] += rewards[player] + share * np.sign(rewards[player] - DRAW)
    else:
        stats.lengths -= context
        stats.squares += context * context
    if context != ONLY_AVAILABLE:
        stats.visits += 1


RELATIVE_BONUS = Enhancement(
    name="RELATIVE_BONUS",
    records=HISTORY | PLAYER,  # RB-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, lengths=REAL, squares=REAL),  # RB-2
    initial=initial(),  # RB-3
    policy=argmax().over(urgent(urgency=math.inf)),  # RB-4
    contexts=Space(("[−1, 1] ∪ {ψ_avail} ∪ ℕ",)),  # RB-5
    capture=capture_tree_with_bonus,  # RB-6
    backpropagation=backpropagate,  # RB-7
)


def relative_bonus(bonus: float = BONUS, steepness: float = STEEPNESS, exploration: float = EXPLORATION) -> Enhancement:
    """Relative bonus with another α, k or exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    parameters = nonnegative("relative_bonus", bonus=bonus, steepness=steepness, exploration=exploration)
    return variant(
        RELATIVE_BONUS,
        "relative_bonus",
        *parameters.values(),
        policy=argmax().over(urgent(exploration=parameters["exploration"], urgency=math.inf)),
        capture=capture_tree_with_bonus(steepness=parameters["steepness"]),
        backpropagation=backpropagate(bonus=parameters["bonus"]),
    )
