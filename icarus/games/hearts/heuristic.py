"""What a position of Hearts promises: points taken, and points still to come."""

import math

import numpy as np

from icarus.games.cards import CARDS, RANKS
from icarus.games.hearts.facts import ALL_POINTS, PLAYERS
from icarus.kernel import Facts, helper

SPREAD = 12.0  # points fewer that make the odds e : 1


@helper
def _danger(state: Facts, player: int) -> float:
    """How high the cards are that a player still holds: high ones take tricks."""
    hand, danger = state.held[player] & ~state.played, 1.0
    for card in range(CARDS):
        if (hand >> np.uint64(card)) & np.uint64(1):
            danger += card % RANKS
    return danger


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-d/SPREAD}), d how many points fewer than the mean of the others a player will have after the round.

    The points that nobody has taken yet go to each player in the proportion of the ranks in his hand.
    """
    points, dangers, all_points = 0.0, 0.0, 0.0
    for i in range(PLAYERS):
        points += state.points[i]
        dangers += _danger(state, i)
    for i in range(PLAYERS):
        out[i] = state.scores[i] + state.points[i] + (ALL_POINTS - points) * _danger(state, i) / dangers
        all_points += out[i]
    for i in range(PLAYERS):
        fewer = (all_points - out[i]) / (PLAYERS - 1) - out[i]
        out[i] = 1.0 / (1.0 + math.exp(-fewer / SPREAD))
