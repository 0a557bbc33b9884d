"""Who wins a position of Backgammon: Kleinman's metric for a race, a linear evaluation where there is contact."""

import math
from pathlib import Path

import numpy as np

from icarus.kernel import CHANCE, Facts, helper

CHECKERS_EACH = 15
OFF, BAR = 0, 25  # places of a checker beside the points 1 … 24
POINTS = BAR + 1
NOBODY = -1  # whose turn it is before the opening roll
ON_ROLL = 4  # pips that it is worth to be the next to roll
INPUTS = 4  # of each point: one checker, two, three, and how many more
WEIGHTS = np.load(
    Path(__file__).with_name("backgammon_weights.npy")
)  # [on roll or not, point, input]; [0, 0, 0] stands alone


@helper
def pips(state: Facts, owner: int) -> int:
    """How many points a player's checkers have to go until all are off."""
    total = 0
    for point in range(1, POINTS):
        total += point * int(state.points[owner, point])
    return total


@helper
def _to_play(state: Facts) -> int:
    """Pips of the dice that are still to be played."""
    if state.left > 0 and state.dice[1] == 0:
        return state.left * state.dice[0]
    return state.dice[0] + state.dice[1]


@helper
def _in_contact(state: Facts) -> bool:
    """Whether some checkers still have to pass each other."""
    reach = 0
    for owner in range(2):
        highest = BAR
        while highest > OFF and state.points[owner, highest] == 0:
            highest -= 1
        reach += highest
    return reach > BAR


@helper
def _contact_chance(state: Facts, on_roll: int) -> float:
    """The chance to win of who is to roll, by the weights of the checkers on each point."""
    total = float(WEIGHTS[0, 0, 0])
    for side in range(2):
        owner = on_roll if side == 0 else 1 - on_roll
        total += WEIGHTS[side, OFF, INPUTS - 1] * state.points[owner, OFF]
        for point in range(1, POINTS):
            count = int(state.points[owner, point])
            if 0 < count < INPUTS:
                total += WEIGHTS[side, point, count - 1]
            if point == BAR:
                total += WEIGHTS[side, point, INPUTS - 1] * count
            elif count >= INPUTS:
                total += WEIGHTS[side, point, INPUTS - 1] * (count - INPUTS + 1)
    return 1.0 / (1.0 + math.exp(-total))


@helper
def _race_chance(state: Facts, on_roll: int) -> float:
    """Φ(√(K/2)), K = (D + 4)²/(S − 4), D the lead in pips of who is to roll, S all pips."""
    mine, theirs = pips(state, on_roll), pips(state, 1 - on_roll)
    if state.actor != CHANCE:
        theirs -= int(_to_play(state))
    lead = theirs - mine + ON_ROLL
    all_pips = mine + theirs - ON_ROLL if mine + theirs > ON_ROLL else 1
    return 0.5 * (1.0 + math.erf(lead / (2.0 * math.sqrt(all_pips))))


def heuristic(state: Facts, out: np.ndarray) -> None:
    """The chance to win: of a race by Kleinman's metric, with contact by a linear evaluation.

    Kleinman (Vision Laughs at Counting, 1980) gives a table of chances for K, which this normal distribution fits to a percent. The
    linear evaluation has the inputs of Tesauro's pubeval (1993), and weights that `experiments.play.backgammon_weights` has fitted to a
    stronger player's chances. Who still has dice to play has played them in vain: the other is then to roll. Before the opening roll
    both are equal.
    """
    if state.player == NOBODY:
        out[0] = out[1] = 0.5
        return
    on_roll = int(state.player) if state.actor == CHANCE else 1 - int(state.player)
    out[on_roll] = _contact_chance(state, on_roll) if _in_contact(state) else _race_chance(state, on_roll)
    out[1 - on_roll] = 1.0 - out[on_roll]
