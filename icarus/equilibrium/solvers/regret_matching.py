"""Regret matching: the current policy of regrets, and where regrets and weights of averages are kept."""

import numpy as np

from icarus.kernel import helper, inlined


@inlined
def match_regrets(regrets: np.ndarray, first: int, count: int, out: np.ndarray) -> None:
    """The mixture in proportion to the positive regrets of `count` slots; uniform where there are none (Hart and Mas-Colell, 2000)."""
    total = 0.0
    for slot in range(first, first + count):
        if regrets[slot] > 0.0:
            total += regrets[slot]
    for slot in range(first, first + count):
        out[slot] = max(regrets[slot], 0.0) / total if total > 0.0 else 1.0 / count


@helper
def match_all(sets: np.ndarray, regrets: np.ndarray, player: int, out: np.ndarray) -> None:
    """The current policy of a player in all his information sets."""
    for i in range(len(sets)):
        if sets[i].player == player:
            match_regrets(regrets, sets[i].slot, sets[i].count, out)
