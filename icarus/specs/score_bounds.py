"""Score bounds (Cazenave and Saffidine, 2010) and MCTS-Solver (Winands, Björnsson and Saito, 2008): what is proved of the tree.

A player's worth at a history is what he is sure to get there, whatever the others and chance do. A history that ended the game has its
rewards for bounds of that; any other what its children have: where the player himself is to move the greatest of each bound, where another
is, or chance, the least. So bounds are proved from the end of the game up, for any number of players and outcomes, each player by
his name; with two players whose rewards have the same sum everywhere, the worth is the minimax value.

Readings: bounds are l = 0 and u = 1 before anything is proved. MCTS_SOLVER plays what is proved to be best, and no more what is proved not
to be; SCORE_BOUNDS also cuts an action whose upper bound is no more than another's lower one, and adds γ l + δ u to UCB1, as its paper
does (γ = δ = 0 by default, to be tuned); other selections with them are in bounded.py. Rewards are backpropagated as ever: below a proved
history playouts go on by what is proved, and so tell its worth. In the simulation phase every value is +∞, as the baseline's are. With
more than two players, or rewards of different sums, to take the others for enemies is to be careful, as in paranoid search. Proofs need a
game in which nothing is hidden; in others a search is refused.
"""

import attrs
import numpy as np

from icarus.algebra import (
    COUNT,
    HISTORY,
    LIMIT,
    PLAYER,
    REWARDS,
    Enhancement,
    Space,
    argmax,
    backpropagation,
    capture,
    information,
    initial,
    values,
)
from icarus.kernel import (
    AVAILABLE,
    TERMINAL,
    VISIT,
    History,
    Row,
    Theta,
    Updates,
    child,
    expanded_at,
    find,
    helper,
    legal_at,
    mix,
    update,
)
from icarus.specs.baseline import BASELINE, EXPLORATION, capture_tree
from icarus.specs.first_play_urgency import urgent
from icarus.specs.variants import nonnegative, variant

LEFT_OUT = -1.0  # the value of an action that is not to be played; UCB1's are never below 0
write_ucb1 = helper(urgent.function)


@helper
def proved(history: History, theta: Theta, i: int, action: int, player: int) -> Row:
    """The row with the bounds of a player's worth after an action at step i."""
    return find(theta, mix(child(history, i, action), player))


@helper
def greatest_bounds(history: History, theta: Theta, legal: np.ndarray) -> tuple[float, float]:
    """max l and max u over the legal actions: what the player to move is sure to get, and the most that he may."""
    present, sure, most = len(history.steps) - 1, 0.0, 0.0
    for i in range(len(legal)):
        stats = proved(history, theta, present, legal[i], history.steps[present].player)
        sure, most = max(sure, stats.lower), max(most, stats.upper)
    return sure, most


@values(uniform_in_simulation=True)
def solved(
    history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, exploration: float = EXPLORATION
) -> None:
    """q_ρ/n + c √(log m / n), +∞ if n = 0, for θ([h # a]~) = (q, n, m, ·, ·); but +∞ if l ≥ max u, else −1 if max l ≥ max u or l = u

    for θ([h # a]~, ρ) = (·, ·, ·, l, u), the bounds of what ρ is sure to get after a.
    """
    write_ucb1(history, theta, legal, out, exploration, np.inf)
    present = len(history.steps) - 1
    step = history.steps[present]
    sure, most = greatest_bounds(history, theta, legal)
    for i in range(len(legal)):
        stats = proved(history, theta, present, legal[i], step.player)
        if stats.lower >= most:
            out[i] = np.inf
        elif sure >= most or stats.lower == stats.upper:
            out[i] = LEFT_OUT


@helper
def cut(
    history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, pessimism: float = 0.0, optimism: float = 0.0
) -> None:
    """Change the values of a selection in the tree by what is proved: what is best is +∞, what another is as good as is left out."""
    present = len(history.steps) - 1
    step = history.steps[present]
    sure, most = greatest_bounds(history, theta, legal)
    for i in range(len(legal)):
        stats = proved(history, theta, present, legal[i], step.player)
        out[i] += pessimism * stats.lower + optimism * stats.upper
        if stats.lower >= most:
            out[i] = np.inf
        elif stats.upper <= sure:
            out[i] = LEFT_OUT


@values(uniform_in_simulation=True)
def bounded(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    exploration: float = EXPLORATION,
    pessimism: float = 0.0,
    optimism: float = 0.0,
) -> None:
    """q_ρ/n + c √(log m / n) + γ l + δ u, +∞ if n = 0, for θ([h # a]~) = (q, n, m, ·, ·); but +∞ if l ≥ max u, else −1 if u ≤ max l

    for θ([h # a]~, ρ) = (·, ·, ·, l, u), the bounds of what ρ is sure to get after a.
    """
    write_ucb1(history, theta, legal, out, exploration, np.inf)
    cut(history, theta, legal, out, pessimism, optimism)


@helper
def ask_for_proofs(history: History, theta: Theta, updates: Updates) -> None:
    """Ask for the bounds that a playout which ended in the tree has tightened."""
    steps, last = history.steps, expanded_at(history)
    if steps[last].player == TERMINAL:
        for player in range(len(history.rewards)):
            lower = upper = history.rewards[player]
            for i in range(last, -1, -1):
                if i < last:
                    lower, upper = bounds_by_children(history, theta, i, player, lower, upper)
                key = mix(steps[i].record, player)
                stats = find(theta, key)
                if lower > stats.lower:
                    update(updates, key, np.float64(lower).view(np.int64))
                if upper < stats.upper:
                    update(updates, key, np.float64(-upper).view(np.int64))


@capture(reads_simulation=False, proves=True)
def capture_tree_and_proofs(history: History, theta: Theta, updates: Updates) -> None:
    """ξ of the baseline, and if the game ended in the tree # ⟨(([h_i]~, ρ), l), (([h_i]~, ρ), u) : i = t, …, 0, all ρ⟩

    with (l, u) = (μ_ρ, μ_ρ) for i = t, else (max l, max u) over the children of h_i if ρ is to move, (min l, min u) if not; left out
    where they are known already.
    """
    capture_tree(history, updates)
    ask_for_proofs(history, theta, updates)


@helper
def bounds_by_children(
    history: History, theta: Theta, i: int, player: int, lower: float, upper: float
) -> tuple[float, float]:
    """The bounds of a player's worth at step i: the greatest of the children's if he is to move, else the least.

    Args:
        lower, upper: those of the child by the action played, which θ does not hold yet.
    """
    step = history.steps[i]
    for action in legal_at(history, i):
        if action != step.action:
            stats = proved(history, theta, i, action, player)
            if step.player == player:
                lower, upper = max(lower, stats.lower), max(upper, stats.upper)
            else:
                lower, upper = min(lower, stats.lower), min(upper, stats.upper)
    return lower, upper


@helper
def tightened(stats: Row, context: int) -> bool:
    """Whether a context was a bound; if so it is kept where it says more than the one before."""
    if context > AVAILABLE:  # the bits of a lower bound above 0
        stats.lower = max(stats.lower, np.int64(context).view(np.float64))
    elif context < VISIT:  # the bits of an upper bound with its sign changed, −0 for 0
        stats.upper = min(stats.upper, -np.int64(context).view(np.float64))
    return context > AVAILABLE or context < VISIT


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(q + μ, n + 1, m + 1, ·, ·) if ψ = ψ_visit; (q, n, m + 1, ·, ·) if ψ = ψ_avail; (·, ·, ·, max{l, ψ}, min{u, ψ}) of the bound ψ"""
    if not tightened(stats, context):
        BASELINE.backpropagation(stats, context, rewards)


SCORE_BOUNDS = Enhancement(
    name="SCORE_BOUNDS",
    records=HISTORY | HISTORY * PLAYER,  # SB-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, lower=LIMIT, upper=LIMIT),  # SB-2
    initial=initial(upper=1.0),  # SB-3
    policy=argmax().over(bounded),  # SB-4
    contexts=Space(("{ψ_avail, ψ_visit} ∪ [0, 1] ∪ [0, 1]",)),  # SB-5
    capture=capture_tree_and_proofs,  # SB-6
    backpropagation=backpropagate,  # SB-7
)

MCTS_SOLVER = attrs.evolve(SCORE_BOUNDS, name="MCTS_SOLVER", policy=argmax().over(solved))  # MCTS-Solver-4


def mcts_solver(exploration: float = EXPLORATION) -> Enhancement:
    """MCTS-Solver with another exploration constant.

    Raises:
        ValueError: it is negative.
    """
    parameters = nonnegative("mcts_solver", exploration=exploration)
    return variant(MCTS_SOLVER, "mcts_solver", *parameters.values(), policy=argmax().over(solved(**parameters)))


def score_bounds(pessimism: float = 0.0, optimism: float = 0.0, exploration: float = EXPLORATION) -> Enhancement:
    """Score bounds with another γ, δ or exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    parameters = nonnegative("score_bounds", pessimism=pessimism, optimism=optimism, exploration=exploration)
    return variant(SCORE_BOUNDS, "score_bounds", *parameters.values(), policy=argmax().over(bounded(**parameters)))
