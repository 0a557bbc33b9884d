"""What a position of The Confrontation promises: pieces left, Frodo's way, and Dark's pieces in the Shire."""

import math

import numpy as np

from icarus.games.lotr_confrontation.facts import DARK, DEAD, FRODO, LIGHT, SHIRE
from icarus.kernel import Facts

# Of each square, from the Shire to Mordor.
ROW = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 0], np.int64)
PIECE, ROW_OF_FRODO, IN_SHIRE = 0.3, 0.15, 0.6  # what they add to the logarithm of the odds


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-s}) for Light, s of the pieces that each side has lost, the row of Frodo, and Dark's pieces in the Shire."""
    score = PIECE * (int(state.count[DARK, DEAD]) - int(state.count[LIGHT, DEAD]))
    score += ROW_OF_FRODO * ROW[state.pos[FRODO]] - IN_SHIRE * int(state.count[DARK, SHIRE])
    out[LIGHT] = 1.0 / (1.0 + math.exp(-score))
    out[DARK] = 1.0 - out[LIGHT]
