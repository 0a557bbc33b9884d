"""Specification 4: last good reply (LGR), and LGR with forgetting (LGRF).

Readings: the move replied to is the last one that the replying player observed; the environment's replies have no record. A
stored reply that is not legal now falls back to uniform. (LGR-7) is literal: μ_ρ > 0, so with rewards from 0 to 1 a draw keeps a reply.
LGRF_SIGNED takes them from −1 to 1, as many papers do: a draw, or less than half of the points, forgets.
"""

import attrs
import numpy as np

from icarus.algebra import (
    ACTION,
    MOVE,
    PLAYER,
    Enhancement,
    LastReply,
    backpropagation,
    capture,
    initial,
    reply,
    values,
)
from icarus.kernel import (
    CHANCE,
    MAX_PLAYERS,
    NONE,
    UNSEEN,
    History,
    Row,
    Theta,
    Updates,
    find,
    observed,
    record,
    update,
)


@values
def recorded_reply(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """1 for the reply θ([a_t]~ρ_t, ρ_t), 0 for other actions"""
    present = len(history.steps) - 1
    move = observed(history, present, 1)
    good = NONE
    if move != UNSEEN:
        good = find(theta, record(move, history.steps[present].player)).reply
    for i in range(len(legal)):
        out[i] = 1.0 if legal[i] == good else 0.0


@capture
def capture_replies(history: History, updates: Updates) -> None:
    """⟨(([a_i]~ρ_i, ρ_i), (a_{i+1}, ρ_i)) : i = 1, …, t − 1⟩"""
    for i in range(1, len(history.steps) - 1):
        step = history.steps[i]
        move = observed(history, i, 1)
        if step.player != CHANCE and move != UNSEEN:
            update(updates, record(move, step.player), step.action * MAX_PLAYERS + step.player)


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """a_new if μ_ρ > 0; a_old otherwise"""
    if rewards[context % MAX_PLAYERS] > 0:
        stats.reply = context // MAX_PLAYERS


LGR = Enhancement(
    name="LGR",
    records=MOVE * PLAYER,  # LGR-1
    information=LastReply,  # LGR-2
    initial=initial(reply=NONE),  # LGR-3
    policy=reply().over(recorded_reply),  # LGR-4
    contexts=ACTION * PLAYER,  # LGR-5
    capture=capture_replies,  # LGR-6
    backpropagation=backpropagate,  # LGR-7
)


@backpropagation
def backpropagate_forgetting(stats: Row, context: int, rewards: np.ndarray) -> None:
    """a_new if μ_ρ > 0; ⊥ if a_old = a_new and μ_ρ ≤ 0; a_old otherwise"""
    if rewards[context % MAX_PLAYERS] > 0:
        stats.reply = context // MAX_PLAYERS
    elif stats.reply == context // MAX_PLAYERS:
        stats.reply = NONE


LGRF = attrs.evolve(LGR, name="LGRF", backpropagation=backpropagate_forgetting)  # LGRF-7


@backpropagation
def backpropagate_signed(stats: Row, context: int, rewards: np.ndarray) -> None:
    """a_new if 2μ_ρ − 1 > 0; ⊥ if a_old = a_new and 2μ_ρ − 1 ≤ 0; a_old otherwise"""
    if 2 * rewards[context % MAX_PLAYERS] - 1 > 0:
        stats.reply = context // MAX_PLAYERS
    elif stats.reply == context // MAX_PLAYERS:
        stats.reply = NONE


LGRF_SIGNED = attrs.evolve(LGR, name="LGRF_SIGNED", backpropagation=backpropagate_signed)
