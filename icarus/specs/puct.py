"""PUCT: predictor and upper confidence bound (Rosin, 2011), in the form of Silver et al. (2017, 2018): exploration in proportion to a
predicted P.

Readings: P is made of the game's heuristic: P(a) ∝ e^(H of a / τ) for the player who acts, τ = 0.1; they learn it. Rewards are
in [0, 1], theirs in [−1, 1]: their Q = 0 of an action without visits is 1/2 here, and their c = 1.25 is 0.625; it does not grow with
the visits. As in the baseline, m counts how often an action was available, which is √ΣN where all always are. In the simulation phase
every value is +∞.
"""

import math

import attrs
import numpy as np

from icarus.algebra import Enhancement, argmax, values
from icarus.checks import real
from icarus.kernel import History, Theta, child, find, lookahead_at
from icarus.specs.baseline import BASELINE
from icarus.specs.variants import variant

EXPLORATION, TEMPERATURE, UNTRIED = 0.625, 0.1, 0.5


@values(uniform_in_simulation=True)
def predicted(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    exploration: float = EXPLORATION,
    temperature: float = TEMPERATURE,
) -> None:
    """q_ρ/n + c P(a) √m / (1 + n), with 1/2 for q_ρ/n if n = 0, for θ([h # a]~) = (q, n, m), P(a) ∝ e^(H of a for ρ / τ)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    lookahead, most, total = lookahead_at(history, present), 0.0, 0.0
    for i in range(len(legal)):
        most = max(most, lookahead[i, step.player])
    for i in range(len(legal)):
        total += math.exp((lookahead[i, step.player] - most) / temperature)
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        probability = math.exp((lookahead[i, step.player] - most) / temperature) / total
        mean = stats.reward[step.player] / stats.visits if stats.visits > 0 else UNTRIED
        out[i] = mean + exploration * probability * math.sqrt(stats.availability) / (1 + stats.visits)


PUCT = attrs.evolve(
    BASELINE,
    name="PUCT",
    policy=argmax().over(predicted),  # PUCT-4
)


def puct(exploration: float = EXPLORATION, temperature: float = TEMPERATURE) -> Enhancement:
    """PUCT with another exploration constant, or another temperature of the predicted probabilities.

    Raises:
        ValueError: the exploration is negative, or the temperature not positive.
    """
    exploration = real("exploration of puct", exploration, 0, 1e9)
    temperature = real("temperature of puct", temperature, 0, 1e9, above=True)
    policy = argmax().over(predicted(exploration=exploration, temperature=temperature))
    return variant(PUCT, "puct", exploration, temperature, policy=policy)
