"""Specification 5: n-gram average sampling technique (NAST).

Readings: the n-gram is made of the moves as the replying player observed them, his own action last; until n − 1 moves have been
observed since the root there is no record, so the value is +∞. The environment's replies have no record. NAST with n = 1 is
MAST with UCB1 by visits. (NAST-7) is (MAST-7).
"""

import numpy as np

from icarus.algebra import MOVE, PLAYER, Enhancement, RewardVisits, Rule, candidates, capture, check_rule, initial, ucb1
from icarus.checks import integer
from icarus.kernel import CHANCE, NO_RECORD, UNSEEN, History, Updates, mix, ngram, update
from icarus.specs.mast import backpropagate

EXPLORATION = 0.7


@candidates(independent=True)
def ngrams(history: History, legal: np.ndarray, records: np.ndarray, n: int = 2) -> None:
    """v(θ(⟨a_{t−n+2}, …, a_t, a⟩~, ρ_t)) with v((q, n)) = q/n + c √(log Σ_b θ₂(⟨…, b⟩~) / n), +∞ if n = 0"""
    present = len(history.steps) - 1
    player = history.steps[present].player
    before = ngram(history, present, n - 1)
    for i in range(len(legal)):
        records[i] = NO_RECORD if before == UNSEEN else mix(mix(before, legal[i]), player)


@capture
def capture_ngrams(history: History, updates: Updates, n: int = 2) -> None:
    """⟨((⟨a_i, …, a_{i+n−1}⟩, ρ), ρ) : i = 1, …, t − n + 1⟩ with ρ the player of a_{i+n−1}"""
    for i in range(n - 1, len(history.steps) - 1):
        step = history.steps[i]
        before = ngram(history, i, n - 1)
        if step.player != CHANCE and before != UNSEEN:
            update(updates, mix(mix(before, step.action), step.player), step.player)


LONGEST = 1000  # moves of an n-gram; playouts are rarely longer


def nast(n: int = 2, rule: Rule | None = None) -> Enhancement:
    """NAST over n-grams, by UCB1 or another rule of reuse.

    Raises:
        ValueError: n is not an integer from 1 to LONGEST.
    """
    n = integer("the length n of NAST's n-grams", n, least=1, most=LONGEST)
    return Enhancement(
        name=(f"NAST{n}" if n <= 3 else f"nast({n})") if rule is None else f"nast({n}, {rule})",
        records=MOVE**n * PLAYER,  # NAST-1
        information=RewardVisits,  # NAST-2
        initial=initial(),  # NAST-3
        policy=(ucb1(EXPLORATION) if rule is None else check_rule(rule)).over(ngrams(n=n)),  # NAST-4
        contexts=PLAYER,  # NAST-5
        capture=capture_ngrams(n=n),  # NAST-6
        backpropagation=backpropagate,  # NAST-7
    )


NAST = NAST2 = nast(2)
NAST1, NAST3 = nast(1), nast(3)
