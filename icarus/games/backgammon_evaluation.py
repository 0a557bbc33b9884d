"""Who wins a position of Backgammon: a network with one hidden layer, in the manner of Tesauro's TD-Gammon (1995)."""

import math
from pathlib import Path

import numpy as np

from icarus.kernel import Facts, helper

CHECKERS_EACH = 15
FACES = 6
OFF, BAR = 0, 25  # places of a checker beside the points 1 … 24
POINTS = BAR + 1
NOBODY = -1  # whose turn it is before the opening roll
INPUTS = 4  # of a place: one checker there, two, three, and each one more
# Which dice are left: the larger, 0 where it is played; and the smaller, or FACES + how many there are of one number.
DICE_LEFT = (FACES + 1, FACES + 5)
WEIGHTS = np.load(Path(__file__).with_name("backgammon_weights.npy")).astype(float)  # [row, unit]
UNITS = WEIGHTS.shape[1]
CHECKERS = WEIGHTS[: 2 * POINTS * INPUTS].reshape(2, POINTS, INPUTS, UNITS)  # the mover's checkers, and the other's
DICE = WEIGHTS[2 * POINTS * INPUTS : -1].reshape(*DICE_LEFT, UNITS)
OUTPUT = WEIGHTS[-1]


@helper
def pips(state: Facts, owner: int) -> int:
    """How many points a player's checkers have to go until all are off."""
    total = 0
    for point in range(1, POINTS):
        total += point * int(state.points[owner, point])
    return total


@helper
def _chance(state: Facts, mover: int) -> float:
    """The chance to win of who is to roll, or still has dice to play."""
    smaller = int(state.dice[1])
    sums = DICE[state.dice[0], smaller if smaller > 0 else FACES + state.left].copy()
    for side in range(2):
        owner = mover if side == 0 else 1 - mover
        for place in range(POINTS):
            count = int(state.points[owner, place])
            if count > 0:
                _add(sums, CHECKERS[side, place, min(count, INPUTS - 1) - 1], 1)
            if count >= INPUTS:
                _add(sums, CHECKERS[side, place, INPUTS - 1], count - INPUTS + 1)
    total = 0.0
    for unit in range(UNITS):
        total += OUTPUT[unit] * sums[unit] / (1.0 + abs(sums[unit]))
    return 1.0 / (1.0 + math.exp(-total))


@helper
def _add(sums: np.ndarray, weights: np.ndarray, times: int) -> None:
    """A loop, as an expression of arrays makes a call take six times as long."""
    for unit in range(UNITS):
        sums[unit] += times * weights[unit]


def heuristic(state: Facts, out: np.ndarray) -> None:
    """The chance to win by a network that `experiments.play.backgammon_weights` has fitted to a stronger player's chances.

    Its inputs are the checkers on each place, seen by whose turn it is, and the dice that he has yet to play. Before the opening roll both
    are equal.
    """
    if state.player == NOBODY:
        out[0] = out[1] = 0.5
        return
    mover = int(state.player)
    out[mover] = _chance(state, mover)
    out[1 - mover] = 1.0 - out[mover]
