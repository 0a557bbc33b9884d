"""Playout policy adaptation (PPA; Cazenave, 2015): weights of actions that follow the gradient of what the winners played.

Readings: a playout was won by whoever got more than a draw, μ_ρ > ½; all of his decisions adapt his weights, those in the tree too, and
all by the weights that the playout was played with. An action is the same only when the same player plays it. The rule is Gibbs, τ = 1,
of the paper; its α was tuned for each game: 0.32 is a default to be tuned.
"""

import math

import numpy as np

from icarus.algebra import (
    ACTION,
    ESTIMATE,
    PLAYER,
    Enhancement,
    Space,
    backpropagation,
    capture,
    gibbs,
    information,
    initial,
    values,
)
from icarus.checks import real
from icarus.kernel import CHANCE, History, Row, Theta, Updates, find, helper, legal_at, record, update
from icarus.specs.variants import variant

RATE = 0.32
DRAW = 0.5  # the reward of a playout that nobody won


@values
def weights(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """w for θ(a, ρ) = w"""
    player = history.steps[-1].player
    for i in range(len(legal)):
        out[i] = find(theta, record(legal[i], player)).weight


@capture
def capture_steps_of_winners(history: History, theta: Theta, updates: Updates, rate: float = RATE) -> None:
    """⟨((a, ρ_i), α ([a = a_{i+1}] − p_i(a))) : a legal at h_i, μ_ρi > ½⟩, p_i(a) ∝ e^w with w = θ(a, ρ_i), 0 ≤ i < t"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE and step.count > 1 and history.rewards[step.player] > DRAW:
            legal = legal_at(history, i)
            most, total = greatest_weight(theta, legal, step.player), 0.0
            for action in legal:
                total += math.exp(find(theta, record(action, step.player)).weight - most)
            for action in legal:
                weight = find(theta, record(action, step.player)).weight
                towards = 1.0 if action == step.action else 0.0
                change = rate * (towards - math.exp(weight - most) / total)
                update(updates, record(action, step.player), np.float64(change).view(np.int64))


@helper
def greatest_weight(theta: Theta, legal: np.ndarray, player: int) -> float:
    """The greatest weight of a player's actions, so that no exponential is too great."""
    most = -np.inf
    for action in legal:
        most = max(most, find(theta, record(action, player)).weight)
    return most


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """w + ψ"""
    stats.weight += np.int64(context).view(np.float64)  # a context is an integer: the bits of the change


PPA = Enhancement(
    name="PPA",
    records=ACTION * PLAYER,  # PPA-1
    information=information(weight=ESTIMATE),  # PPA-2
    initial=initial(),  # PPA-3
    policy=gibbs(temperature=1).over(weights),  # PPA-4
    contexts=Space(("ℝ",)),  # PPA-5
    capture=capture_steps_of_winners,  # PPA-6
    backpropagation=backpropagate,  # PPA-7
)


def ppa(rate: float = RATE, temperature: float = 1.0) -> Enhancement:
    """PPA with another rate α, or another temperature.

    Raises:
        ValueError: the rate is negative, or the temperature not above 0.
    """
    rate, rule = real("rate of ppa", rate, 0, 1e9), gibbs(temperature)
    captured = capture_steps_of_winners(rate=rate)
    return variant(PPA, "ppa", rate, temperature, policy=rule.over(weights), capture=captured)
