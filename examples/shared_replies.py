"""An experiment as a file: LGRF with one reply to a move for all players, where (LGR-1) keeps one for each.

python -m experiments run examples/shared_replies.py --out results/shared-replies

The games, iterations and trials are those of `replies`, which asks for the other reading of LGRF that the paper could have meant.
"""

import attrs
import numpy as np

from icarus import BASELINE, LGRF, MOVE, capture, reply, values
from icarus.kernel import (
    CHANCE,
    MAX_PLAYERS,
    NO_ACTION,
    UNSEEN,
    History,
    Theta,
    Updates,
    find,
    observed,
    record,
    update,
)


@values
def recorded_reply(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """1 for the reply θ([a_t]~ρ_t), 0 for other actions"""
    move = observed(history, len(history.steps) - 1, 1)
    good = NO_ACTION
    if move != UNSEEN:
        good = find(theta, record(move)).reply
    for i in range(len(legal)):
        out[i] = 1.0 if legal[i] == good else 0.0


@capture
def capture_replies(history: History, updates: Updates) -> None:
    """⟨([a_i]~ρ_i, (a_{i+1}, ρ_i)) : i = 1, …, t − 1⟩"""
    for i in range(1, len(history.steps) - 1):
        step = history.steps[i]
        move = observed(history, i, 1)
        if step.player != CHANCE and move != UNSEEN:
            update(updates, record(move), step.action * MAX_PLAYERS + step.player)


LGRF_FOR_ALL = attrs.evolve(
    LGRF, name="LGRF_FOR_ALL", records=MOVE, policy=reply().over(recorded_reply), capture=capture_replies
)

EXPERIMENT = {
    "games": ["hearts", "checkers", "othello"],
    "iterations": 1000,
    "trials": 150,
    "agents": {"-": BASELINE, "LGRF": BASELINE >> LGRF, "for all": BASELINE >> LGRF_FOR_ALL},
}
