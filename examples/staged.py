"""An enhancement of one's own, built step by step in the documentation: how good was an action at this stage of the playout?"""

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
    gibbs,
    initial,
    search,
)
from icarus.algebra import Space
from icarus.kernel import CHANCE, record, update

STAGE = Space(("ℕ₀",))  # how many times `width` actions lie between the root and the action


@candidates(independent=True)
def staged(history, legal, records, width: int = 8):
    """v(a) = q/n of θ(a, ρ, ⌊t/width⌋)"""
    present = len(history.steps) - 1
    for i in range(len(legal)):
        records[i] = record(legal[i], history.steps[present].player, present // width)


@capture
def capture_staged(history, updates, width: int = 8):
    """⟨((a_i, ρ_i, ⌊(i − 1)/width⌋), ρ_i) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player, i // width), step.player)


def staged_mast(name="STAGED", width=8, temperature=0.1):
    """MAST that keeps the stages of a playout apart."""
    return Enhancement(
        name=name,
        records=ACTION * PLAYER * STAGE,
        information=RewardVisits,
        initial=initial(),
        policy=gibbs(temperature).over(staged(width=width)),
        contexts=PLAYER,
        capture=capture_staged(width=width),
        backpropagation=MAST.backpropagation,
    )


STAGED = staged_mast()

if __name__ == "__main__":
    print(search(games.load("othello").new_initial_state(), BASELINE >> STAGED, iterations=5000))
