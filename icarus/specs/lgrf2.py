"""LGRF-2 (Baier and Drake, 2010): the last good reply to the last two moves, else to the last one, with forgetting.

Readings: those of LGRF. A reply to two moves that is not legal now falls back to the reply to one, and this to uniform; the moves are
those that the replying player observed last.
"""

import numpy as np

from icarus.algebra import ACTION, MOVE, PLAYER, Enhancement, LastReply, capture, initial, reply, values
from icarus.kernel import CHANCE, MAX_PLAYERS, NONE, UNSEEN, History, Theta, Updates, find, observed, record, update
from icarus.specs.lgr import backpropagate_forgetting


@values
def recorded_reply(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """1 for the reply θ([a_{t−1}]~ρ_t, [a_t]~ρ_t, ρ_t) if it is legal, else for θ([a_t]~ρ_t, ρ_t); 0 for other actions"""
    present = len(history.steps) - 1
    player = history.steps[present].player
    last, before, good = observed(history, present, 1), observed(history, present, 2), NONE
    if before != UNSEEN:
        good = find(theta, record(before, last, player)).reply
    if last != UNSEEN and good not in legal:
        good = find(theta, record(last, player)).reply
    for i in range(len(legal)):
        out[i] = 1.0 if legal[i] == good else 0.0


@capture
def capture_replies(history: History, updates: Updates) -> None:
    """⟨(([a_{i−1}]~ρ_i, [a_i]~ρ_i, ρ_i), (a_{i+1}, ρ_i)), (([a_i]~ρ_i, ρ_i), (a_{i+1}, ρ_i)) : i = 1, …, t − 1⟩"""
    for i in range(1, len(history.steps) - 1):
        step = history.steps[i]
        last, before = observed(history, i, 1), observed(history, i, 2)
        context = step.action * MAX_PLAYERS + step.player
        if step.player != CHANCE and before != UNSEEN:
            update(updates, record(before, last, step.player), context)
        if step.player != CHANCE and last != UNSEEN:
            update(updates, record(last, step.player), context)


LGRF2 = Enhancement(
    name="LGRF2",
    records=MOVE**2 * PLAYER | MOVE * PLAYER,  # LGRF-2-1
    information=LastReply,  # LGRF-2-2
    initial=initial(reply=NONE),  # LGRF-2-3
    policy=reply().over(recorded_reply),  # LGRF-2-4
    contexts=ACTION * PLAYER,  # LGRF-2-5
    capture=capture_replies,  # LGRF-2-6
    backpropagation=backpropagate_forgetting,  # LGRF-2-7
)
