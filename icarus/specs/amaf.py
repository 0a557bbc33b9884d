"""Specification 2: all moves as first (AMAF), and RAVE, eqs. (14)-(15), its decaying combination with the baseline.

Readings: an action is the same only when the same player plays it. (AMAF-6) as printed does not fit its indices, with a_0 at i = 0
and the action played never updated: it is shifted by one, j = i + 1 included, as the prose says ("not just at the point when that
action was played, but also at all earlier points"); one update for every later occurrence. Its "selection node" is a node in the tree,
where an action is selected or expanded. Read strictly, as in AMAF_STRICT, AMAF knows nothing of a node that has an untried action:
there RAVE draws among all actions, the tried ones too.
"""

from typing import Annotated

import attrs

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.baseline import BASELINE, EXPLORATION


@candidates
def children(history: History, legal: Array, records: Array) -> None:
    """v(θ([h # a]~)) with v((q, n)) = q_ρ/n + c √(log Σ_b θ₂([h # b]~) / n), +∞ if n = 0"""
    for i in range(len(legal)):
        records[i] = child(history, len(history.steps) - 1, legal[i])


@capture(writes_simulation=False)
def capture_siblings(
    history: History,
    updates: Updates,
    last_phase: Annotated[int, Range(SELECTION, EXPANSION)] = EXPANSION,
) -> None:
    """⟨([a₁, …, a_i, a_j]~, ψ) : 0 ≤ i < j ≤ t, a_j legal at h_i, h_i in the tree⟩, printed as [a₁, …, a_{i−1}, a_j]~: shifted by one"""
    steps = history.steps
    for i in range(len(steps) - 1):
        if steps[i].phase <= last_phase:
            player = steps[i].player
            legal = legal_at(history, i)
            last_bits = 0
            numbers = 0
            for action in legal:
                last_bits |= 1 << (action & 63)
                numbers |= action
            # The last six bits rule out most actions that are not legal at h_i. If all numbers are below 64, they tell it of every action.
            for j in range(i, len(steps) - 1):
                action = steps[j].action
                is_likely = steps[j].player == player and last_bits >> (action & 63) & 1 != 0
                if is_likely and (0 <= numbers | action < 64 or action in legal):
                    update(updates, child(history, i, action), 0)


@backpropagation
def backpropagate(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1)"""
    for player in range(len(rewards)):
        stats.reward[player] += rewards[player]
    stats.visits += 1


AMAF = Enhancement(
    name="AMAF",
    records=HISTORY,  # AMAF-1
    information=RewardsVisits,  # AMAF-2
    initial=initial(),  # AMAF-3
    policy=ucb1(EXPLORATION).over(children),  # AMAF-4
    contexts=NOTHING,  # AMAF-5
    capture=capture_siblings,  # AMAF-6
    backpropagation=backpropagate,  # AMAF-7
    parameters=("rule",),
)


# AMAF-6, "selection node" to the letter: no expansion node
AMAF_STRICT = attrs.evolve(AMAF, name="AMAF_STRICT", capture=capture_siblings(last_phase=SELECTION))

# λ_RAVE AMAF ⊕ (1 − λ_RAVE) BASELINE (14); RAVE(k=500) changes the number of visits at which λ_RAVE = ½ (15)
RAVE = with_alias(rave_weight * AMAF ^ (1 - rave_weight) * BASELINE, "RAVE")
RAVE_STRICT = with_alias(rave_weight * AMAF_STRICT ^ (1 - rave_weight) * BASELINE, "RAVE_STRICT")
