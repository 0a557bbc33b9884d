"""What a position of Dou Di Zhu promises: plays until the hand is empty, and the cards that win the lead."""

import math

import numpy as np

from icarus.games.dou_di_zhu.plays import EVERY_LANE, FOURS, JOKERS, RANKS
from icarus.kernel import Facts, helper, popcount

TWOS = 12  # the rank of 2
CONTROL = 0.75  # plays that a 2, a joker or a bomb is worth
STEEPNESS = 0.45  # by play
LEAD = 0.5  # plays that it is worth to be about to act


@helper
def _plays(hand: np.uint64) -> float:
    """About how many plays a hand takes: one for each rank, less what its 2s, jokers and bombs win."""
    ranks = popcount(hand & RANKS)
    twos = popcount((hand >> np.uint64(TWOS)) & EVERY_LANE)
    controls = twos + popcount(hand & JOKERS) + popcount((hand >> FOURS) & RANKS)
    return ranks - CONTROL * controls


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-s}) for the landlord, s in proportion to how many plays fewer he needs than the better of the peasants."""
    nearest = min(_plays(state.hands[1]), _plays(state.hands[2]))
    ahead = nearest - _plays(state.hands[0])
    ahead += LEAD if state.player == 0 else -LEAD
    out[0] = 1.0 / (1.0 + math.exp(-STEEPNESS * ahead))
    out[1] = out[2] = 1.0 - out[0]
