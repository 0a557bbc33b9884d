"""Decisive moves (Teytaud and Teytaud, 2010): who can win at once does, in the tree and in the simulation; otherwise UCT.

Anti-decisive moves, those without which the other player could win at once, are known to a game only: `anti_decisive(feature)` takes them
from a feature of actions, above 0 where an action prevents a loss at once. Who cannot win at once plays one of them.

Readings: to win is to end the game with a reward of 1, in the determinized state of the playout. Elsewhere UCB1 decides in the tree, and in
the simulation phase every value is +∞, as in the baseline.
"""

import attrs
import numpy as np

from icarus.algebra import Enhancement, argmax, values
from icarus.kernel import SIMULATION, History, Theta, action_features_at, child, endings_at, find, helper
from icarus.specs.baseline import BASELINE, EXPLORATION, bound_of
from icarus.specs.variants import nonnegative, variant

WON, LEFT_OUT = 1.0, -1.0  # the reward of a win; the value of what is not to be played, as UCB1's are never below 0


@helper
def write_bounds(
    history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, urgent: np.ndarray, exploration: float
) -> None:
    """The baseline's values of urgent actions, LEFT_OUT for the others; of all where none is urgent."""
    present = len(history.steps) - 1
    step, some = history.steps[present], urgent.any()
    for i in range(len(legal)):
        out[i] = np.inf
        if some and not urgent[i]:
            out[i] = LEFT_OUT
        elif step.phase != SIMULATION:
            out[i] = bound_of(find(theta, child(history, present, legal[i])), step.player, exploration)


@helper
def wins(history: History, i: int) -> np.ndarray:
    """[count]: whether each legal action at step i wins at once."""
    return endings_at(history, i)[:, history.steps[i].player] == WON


@values
def winning(
    history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, exploration: float = EXPLORATION
) -> None:
    """q_ρ/n + c √(log m / n), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m); −1 if another action wins at once, and a does not"""
    write_bounds(history, theta, legal, out, wins(history, len(history.steps) - 1), exploration)


@values
def winning_or_preventing(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    feature: str = "prevents",
    exploration: float = EXPLORATION,
) -> None:
    """as without features; −1 also if no action wins at once, but another prevents a loss, and a does not"""
    present = len(history.steps) - 1
    urgent = wins(history, present)
    if not urgent.any():
        urgent = action_features_at(history, present)[:, feature] > 0.0  # type: ignore[index]  # a name stands for its column
    write_bounds(history, theta, legal, out, urgent, exploration)


DECISIVE = attrs.evolve(BASELINE, name="DECISIVE", policy=argmax().over(winning))  # Decisive-4


def decisive(exploration: float = EXPLORATION) -> Enhancement:
    """Decisive moves with another exploration constant.

    Raises:
        ValueError: it is negative.
    """
    parameters = nonnegative("decisive", exploration=exploration)
    return variant(DECISIVE, "decisive", *parameters.values(), policy=argmax().over(winning(**parameters)))


def anti_decisive(feature: str, exploration: float = EXPLORATION) -> Enhancement:
    """Decisive and anti-decisive moves, the latter where this feature of actions is above 0.

    Raises:
        TypeError: the feature is not a str. ValueError: the exploration is negative.
    """
    parameters = nonnegative("anti_decisive", exploration=exploration)
    policy = argmax().over(winning_or_preventing(feature=feature, **parameters))
    return variant(DECISIVE, "anti_decisive", feature, *parameters.values(), policy=policy)
