"""An enhancement of one's own: how good was an action after the same player's previous one?"""

import numpy as np

from icarus import (
    ACTION,
    BASELINE,
    MAST,
    PLAYER,
    Enhancement,
    RewardVisits,
    candidates,
    capture,
    games,
    initial,
    search,
    ucb1,
)
from icarus.kernel import CHANCE, NO_RECORD, helper, record, update

NOTHING_YET = -1


@helper
def own_last_action(history, i):
    """What the player at step i played at his previous decision since the root."""
    for j in range(i - 1, -1, -1):
        if history.steps[j].player == history.steps[i].player:
            return history.steps[j].action
    return NOTHING_YET


@candidates
def pairs(history, legal, records):
    """v(θ(b, a, ρ)) with b the player's own previous action"""
    present = len(history.steps) - 1
    before, player = own_last_action(history, present), history.steps[present].player
    for i in range(len(legal)):
        records[i] = NO_RECORD if before == NOTHING_YET else record(before, legal[i], player)


@capture
def capture_pairs(history, updates):
    """⟨((b, a_i, ρ), ρ) : i = 1, …, t, b the previous action of a_i's player ρ⟩"""
    for i in range(len(history.steps) - 1):
        step, before = history.steps[i], own_last_action(history, i)
        if step.player != CHANCE and before != NOTHING_YET:
            update(updates, record(before, step.action, step.player), step.player)


OWN_PAIRS = Enhancement(
    name="OWN_PAIRS",
    records=ACTION * ACTION * PLAYER,
    information=RewardVisits,
    initial=initial(),
    policy=ucb1(0.7).over(pairs),
    contexts=PLAYER,
    capture=capture_pairs,
    backpropagation=MAST.backpropagation,
)

if __name__ == "__main__":
    state = games.load("othello").new_initial_state()
    print(search(state, BASELINE >> OWN_PAIRS, iterations=5000, seed=1))
    print(np.sort(search(state, BASELINE >> (OWN_PAIRS + MAST) / 2, iterations=5000, seed=1).visits))
