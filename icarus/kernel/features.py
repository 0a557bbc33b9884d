"""What a game tells of a state beyond its rules: features, features of actions, and a heuristic.

They are compiled when a slot, or an early cut-off, first reads them, and refused in a game that has none.
"""

import math
from typing import Any

import numpy as np

from icarus.compiler.functions import inlined

# Bits of what is read of a history, and of the same, as fields of it.
FEATURES, ACTION_FEATURES, LOOKAHEAD, ENDINGS = TABLES = (1, 2, 4, 8)
NAMES = ("features", "action_features", "lookahead", "endings")
KINDS = ("features", "action_features", "heuristic")  # what a game may tell


@inlined
def is_finite(numbers: np.ndarray) -> bool:
    """Whether none of the numbers is NaN or infinite."""
    for number in numbers:
        if not math.isfinite(number):
            return False
    return True


@inlined
def are_rewards(numbers: np.ndarray) -> bool:
    """Whether all of the numbers are in [0, 1]."""
    for number in numbers:
        if not 0.0 <= number <= 1.0:
            return False
    return True


def column_of(game: Any, name: str) -> int:
    """The place of a feature of states, or of one of actions, among those of a game.

    Raises:
        ValueError: the game has no such feature.
    """
    for names in (game.feature_names, game.action_feature_names):
        if name in names:
            return names.index(name)
    features = ", ".join([*game.feature_names, *game.action_feature_names])
    raise ValueError(f"{game} has no feature {name!r}; it has {features or 'none'}")
