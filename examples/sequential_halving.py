"""Sequential Halving at the root (Karnin, Koren and Somekh, 2013), UCB1 below: an enhancement that knows the budget of its search.

The budget is divided into ⌈log₂ K⌉ rounds. In a round every action that is left at the root is tried equally often; then the half with the
lower means is dropped. The paper's UCB1 decides which action to try next; this decides which to recommend, as Pepels et al. (2014).

    search(state, HALVING >> MAST, iterations=4000, recommendation=last_one)
"""

import numpy as np

from icarus import (
    BASELINE,
    COUNT,
    HISTORY,
    MAST,
    REWARDS,
    VISIT_OR_AVAILABLE,
    Enhancement,
    argmax,
    backpropagation,
    capture,
    games,
    information,
    initial,
    search,
    values,
)
from icarus.kernel import child, find, helper, legal_at, update
from icarus.specs.baseline import EXPLORATION, backpropagate, bound_of, capture_tree

DROPPED = 2  # a context, beside those of the baseline: a visit, and an action that was available
write_visits, add_visit = helper(capture_tree.function), helper(backpropagate.function)


@helper
def quota(arms, budget, remaining):
    """How often each action has been tried when the round ends in which so many of all are left."""
    rounds, size = 0, arms
    while size > 1:
        size = (size + 1) // 2
        rounds += 1
    total, size = 0, arms
    while size >= max(remaining, 2):
        total += budget // (size * rounds)
        size = (size + 1) // 2
    return total


@values(uniform_in_simulation=True)
def halve(history, theta, legal, out):
    """At the root −n, −∞ once dropped: the least tried of those that are left. Elsewhere UCB1."""
    present = len(history.steps) - 1
    player = history.steps[present].player
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        if present > 0:
            out[i] = bound_of(stats, player, EXPLORATION)
        else:
            out[i] = -np.inf if stats.dropped > 0 else -float(stats.visits)


@capture(reads_simulation=False, writes_simulation=False)
def capture_halves(history, theta, updates):
    """What the baseline captures; where a round ends, also ([a]~, ψ_drop) for each action a of the lower half."""
    write_visits(history, updates)
    if len(history.steps) < 2 or find(theta, history.steps[0].record).visits == 0:
        return  # the first playout expands the root, and tries none of its actions
    arms, player, tried = legal_at(history, 0), history.steps[0].player, history.steps[0].action
    visits, means, left = np.zeros(len(arms)), np.zeros(len(arms)), 0
    for i in range(len(arms)):
        stats = find(theta, child(history, 0, arms[i]))
        visits[i], reward = stats.visits, stats.reward[player]
        if arms[i] == tried:  # by this playout, which is not counted yet
            visits[i] += 1
            reward += history.rewards[player]
        if stats.dropped > 0:
            means[i] = -np.inf
        else:
            means[i] = reward / max(visits[i], 1.0)
            left += 1
    target = quota(len(arms), history.budget - 1, left)
    for i in range(len(arms)):
        if left == 1 or (means[i] > -np.inf and visits[i] < target):
            return  # the round goes on, or there is no more
    for _ in range(left // 2):
        worst = -1
        for i in range(len(arms)):
            if means[i] > -np.inf and (worst < 0 or means[i] <= means[worst]):
                worst = i
        means[worst] = -np.inf
        update(updates, child(history, 0, arms[worst]), DROPPED)


@backpropagation
def drop_or_count(stats, context, rewards):
    """Mark what is dropped; count all else as the baseline does."""
    if context == DROPPED:
        stats.dropped = 1
    else:
        add_visit(stats, context, rewards)


HALVING = Enhancement(
    name="HALVING",
    records=HISTORY,
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, dropped=COUNT),
    initial=initial(),
    policy=argmax().over(halve),
    contexts=VISIT_OR_AVAILABLE,
    capture=capture_halves,
    backpropagation=drop_or_count,
)


def last_one(root):
    """Recommend the action that was tried most often; of the last two, which were tried equally often, the better."""
    return root.playouts + np.nan_to_num(root.values) / 2


if __name__ == "__main__":
    state = games.load("othello").new_initial_state()
    for strategy, rule in ((BASELINE >> MAST, None), (HALVING >> MAST, last_one)):
        how = {} if rule is None else {"recommendation": rule}
        print(search(state, strategy, iterations=4000, seed=1, **how), end="\n\n")
