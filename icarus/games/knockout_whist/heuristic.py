"""What a position of Knockout Whist promises: who is still in, who has a trick, who has most."""

import numpy as np

from icarus.games.knockout_whist.facts import PLAY
from icarus.kernel import Facts, popcount


def heuristic(state: Facts, out: np.ndarray) -> None:
    """Each player's share of all hopes: the chance to take a trick in this round, times one and the share of its tricks that he has.

    Who has no trick yet takes each of those left with the same chance as everybody else.
    """
    alive = popcount(np.uint64(state.alive))
    tricks_left = popcount(state.hands[state.player]) if state.stage == PLAY else 0
    hopes = 0.0
    for player in range(state.players):
        out[player] = 0.0
        if state.alive >> player & 1:
            survival = 1.0
            if state.tricks[player] == 0 and state.stage == PLAY:
                survival = 1.0 - (1.0 - 1.0 / alive) ** tricks_left
            out[player] = survival * (1.0 + state.tricks[player] / state.hand_size)
            hopes += out[player]
    for player in range(state.players):
        out[player] = out[player] / hopes if hopes > 0 else 1.0 / state.players
