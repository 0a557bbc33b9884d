"""PUCT: predictor and upper confidence bound (Rosin, 2011), in the form of Silver et al. (2017, 2018): exploration in proportion to a
predicted P.

Readings: P is made of the game's heuristic: P(a) ∝ e^(H of a / τ) for the player who acts, τ = 0.1; they learn it. Rewards are
in [0, 1], theirs in [−1, 1]: their Q = 0 of an action without visits is 1/2 here, and their c = 1.25 is 0.625; it does not grow with
the visits. As in the baseline, m counts how often an action was available, ΣN where all always are. So m is 0 at a new node: P does not
count there, and the first child is drawn uniformly; `puct(least=1)` starts with the child that P prefers. In the simulation phase
every value is +∞.
"""

import math

import attrs
import numpy as np

from icarus.algebra import Enhancement, argmax, values
from icarus.checks import integer, real
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
    least: int = 0,
) -> None:
    """q_ρ/n + c P(a) √max(m, least) / (1 + n), with 1/2 for q_ρ/n if n = 0, for θ([h # a]~) = (q, n, m), P(a) ∝ e^(H of a for ρ / τ)"""
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
        out[i] = mean + exploration * probability * math.sqrt(max(stats.availability, least)) / (1 + stats.visits)


PUCT = attrs.evolve(BASELINE, name="PUCT", policy=argmax().over(predicted))  # PUCT-4


def puct(exploration: float = EXPLORATION, temperature: float = TEMPERATURE, least: int = 0) -> Enhancement:
    """PUCT with another exploration constant, another temperature of the predicted probabilities, or one that starts with the prior.

    Args:
        least: m counts as at least this. 0 is the formula; with 1 the first child of a node is the one that P prefers.

    Raises:
        ValueError: the exploration or `least` is negative, or the temperature not positive.
    """
    exploration = real("exploration of puct", exploration, 0, 1e9)
    temperature = real("temperature of puct", temperature, 0, 1e9, above=True)
    least = integer("least of puct", least, least=0, most=1)
    policy = argmax().over(predicted(exploration=exploration, temperature=temperature, least=least))
    return variant(PUCT, "puct", exploration, temperature, *[least] * (least > 0), policy=policy)
