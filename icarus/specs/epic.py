"""Specification 7: episodic information capture and reuse (EPIC).

Readings: positions-in-episode count from the start of the game, not from the root of the search. An action taken where
e(s) ∈ E is the first of that episode; the record of h # a is the position-in-episode of h extended by a, also when a ends the
episode. Before a game's first label the initial position counts as labelled, with a label of its own. (EPIC-7) is (Base-7).
(EPIC-6) is literal: i begins at 0, so the record that the move to the root leads to is visited in every iteration. With
`capture_positions(first=1)` it is not; in 1,000 deals each of two games that made no difference beyond 2.5 % (docs/reproduction-causes.md).
"""

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.baseline import backpropagate


@candidates
def positions(history: History, legal: Array, records: Array) -> None:
    """v(θ(η([h # a]~))) with v((q, n, m)) = q_ρ/n + c √(log m / n), +∞ if n = 0"""
    present = history.steps[-1]
    position = history.episodes[-1, present.perspective]
    player = present.player
    for i in range(len(legal)):
        records[i] = extended(position, player, legal[i])


@capture
def capture_positions(history: History, updates: Updates, first: int = 0) -> None:
    """⟨(η([a₁, …, a_i]~), ψ_visit) : 0 ≤ i ≤ t⟩ # ⟨(η([a₁, …, a_{i−1}, a]~), ψ_avail) : 0 < i ≤ t, a legal, a ≠ a_i⟩"""
    steps = history.steps
    for i in range(first, len(steps)):
        update(updates, steps[i].episode, VISIT)
    for i in range(len(steps) - 1):
        position = history.episodes[i, steps[i].perspective]
        player = steps[i].player
        played = steps[i].action
        for action in legal_at(history, i):
            if action != played:
                update(updates, extended(position, player, action), AVAILABLE)


EPIC = Enhancement(
    name="EPIC",
    records=POSITION,  # EPIC-1
    information=RewardsVisitsAvailability,  # EPIC-2
    initial=initial(),  # EPIC-3
    policy=ucb1(0.7).over(positions),  # EPIC-4
    contexts=VISIT_OR_AVAILABLE,  # EPIC-5
    capture=capture_positions,  # EPIC-6
    backpropagation=backpropagate,  # EPIC-7
    parameters=("rule",),
)
