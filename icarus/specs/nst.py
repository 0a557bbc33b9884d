"""N-gram selection technique (NST; Tak, Winands and Björnsson, 2012): the average of what 1-, 2- and 3-grams say of an action.

Readings: n-grams as in NAST: the moves as the replying player observed them, his own action last. Those of two and three moves count from k
visits on (k = 7), that of one from the first; an action never played is worth 1. The rule is ε-greedy, ε = 0.2. k and ε are the authors'
settings in general game playing; Ludii has k = 1 and ε = 0.1, `nst(1, epsilon_greedy(0.1))`.
"""

import numpy as np

from icarus.algebra import (
    MOVE,
    PLAYER,
    Enhancement,
    RewardVisits,
    Rule,
    capture,
    check_rule,
    epsilon_greedy,
    initial,
    values,
)
from icarus.checks import integer
from icarus.kernel import CHANCE, UNSEEN, History, Theta, Updates, find, mix, ngram, update
from icarus.specs.mast import backpropagate
from icarus.specs.variants import variant

LONGEST, LEAST, EPSILON = 3, 7, 0.2


@values
def averages(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, least: int = LEAST) -> None:
    """the mean of q/n over θ(⟨…, a_t, a⟩~, ρ_t) = (q, n) for 1, 2 and 3 moves, n ≥ k for 2 and 3; 1 if a was never played"""
    present = len(history.steps) - 1
    player = history.steps[present].player
    for i in range(len(legal)):
        out[i] = 0.0
        grams = 0
        for length in range(1, LONGEST + 1):
            before = ngram(history, present, length - 1)
            if before != UNSEEN:
                stats = find(theta, mix(mix(before, legal[i]), player))
                if stats.visits >= (least if length > 1 else 1):
                    out[i] += stats.reward / stats.visits
                    grams += 1
        out[i] = out[i] / grams if grams > 0 else 1.0


@capture
def capture_ngrams(history: History, updates: Updates) -> None:
    """⟨((⟨a_{i−n+1}, …, a_i⟩, ρ), ρ) : i = 1, …, t, n = 1, 2, 3⟩ with ρ the player of a_i"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        for length in range(1, LONGEST + 1):
            before = ngram(history, i, length - 1)
            if step.player != CHANCE and before != UNSEEN:
                update(updates, mix(mix(before, step.action), step.player), step.player)


NST = Enhancement(
    name="NST",
    records=MOVE * PLAYER | MOVE**2 * PLAYER | MOVE**3 * PLAYER,  # NST-1
    information=RewardVisits,  # NST-2
    initial=initial(),  # NST-3
    policy=epsilon_greedy(EPSILON).over(averages),  # NST-4
    contexts=PLAYER,  # NST-5
    capture=capture_ngrams,  # NST-6
    backpropagation=backpropagate,  # NST-7
)


def nst(least: int = LEAST, rule: Rule | None = None) -> Enhancement:
    """NST with another k, or another rule of reuse than ε-greedy.

    Raises:
        ValueError: k is not an integer of at least 1.
    """
    least = integer("the visits k that an n-gram of NST needs", least, least=1)
    rule = epsilon_greedy(EPSILON) if rule is None else check_rule(rule)
    return variant(NST, "nst", least, rule, policy=rule.over(averages(least=least)))
