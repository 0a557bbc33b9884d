"""Implicit minimax backups (Lanctot, Winands, Pepels and Sturtevant, 2014): rewards, and beside them the heuristic backed up by minimax.

Readings: the heuristic has a value for each player, so what is backed up is the vector that is best for the player who acts (max^n),
which is minimax for two whose values sum to 1. It is that of the children in the tree; of a child without visits, its heuristic. Where
chance acts it is the mean of the outcomes met, by their visits. A new history begins with its heuristic, which at the end of the game
is the reward. α = 0.4. Contexts are integers, so values are told to ω in units of 2^-40. An action without visits comes first, and in
the simulation phase every value is +∞.
"""

import math

import numpy as np

from icarus.algebra import (
    COUNT,
    ESTIMATES,
    HISTORY,
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
from icarus.checks import real
from icarus.kernel import (
    CHANCE,
    MAX_PLAYERS,
    History,
    Row,
    Theta,
    Updates,
    child,
    expanded_at,
    find,
    helper,
    legal_at,
    lookahead_at,
    update,
)
from icarus.specs.baseline import BASELINE, EXPLORATION, capture_tree
from icarus.specs.variants import nonnegative, variant

ALPHA = 0.4
UNIT = 1 << 40  # in which values are told
FIRST_VALUE = 2  # contexts from here on tell a value and its player, those below are the baseline's


@values(uniform_in_simulation=True)
def mixed(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    alpha: float = ALPHA,
    exploration: float = EXPLORATION,
) -> None:
    """(1 − α) q_ρ/n + α v_ρ + c √(log m / n), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m, v)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        out[i] = np.inf
        stats = find(theta, child(history, present, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            out[i] = (1.0 - alpha) * (stats.reward[step.player] / stats.visits) + alpha * stats.worth[step.player]
            out[i] += exploration * math.sqrt(math.log(stats.availability) / stats.visits)


@capture(reads_simulation=False, writes_simulation=False)
def capture_worths(history: History, theta: Theta, updates: Updates) -> None:
    """ξ of the baseline # ⟨([a₁, …, a_i]~, (v_ρ, ρ)) : i = t_e, …, 1, ρ = 1, …, κ⟩, v of h_(t_e) its heuristic, of the others backed up"""
    capture_tree(history, updates)
    steps, last = history.steps, expanded_at(history)
    worth = np.zeros(history.lookahead.shape[1])
    for i in range(last - 1, -1, -1):
        for player in range(len(worth)):
            if i == last - 1:
                worth[player] = lookahead_at(history, i)[place_of_action(history, i), player]
            number = player + MAX_PLAYERS * int(worth[player] * UNIT + 0.5)
            update(updates, steps[i + 1].record, FIRST_VALUE + number)
        back_up(history, theta, i, worth)


@helper
def place_of_action(history: History, i: int) -> int:
    """The place of the action that was played at step i among the legal ones."""
    place = 0
    while legal_at(history, i)[place] != history.steps[i].action:
        place += 1
    return place


@helper
def back_up(history: History, theta: Theta, i: int, worth: np.ndarray) -> None:
    """Change what the played child of step i is worth to what the history of step i is: best for its player, or the mean over chance.

    In loops over the players: expressions of arrays take the compiler seconds.
    """
    step, place = history.steps[i], place_of_action(history, i)
    of_child, best, total, visits, most = np.zeros(len(worth)), np.zeros(len(worth)), np.zeros(len(worth)), 0, -1.0
    for k in range(step.count):
        stats = find(theta, child(history, i, legal_at(history, i)[k]))
        for player in range(len(worth)):
            of_child[player] = stats.worth[player] if stats.visits > 0 else lookahead_at(history, i)[k, player]
            if k == place:
                of_child[player] = worth[player]
        times = stats.visits + 1 if k == place else stats.visits
        visits += times
        is_best = step.player != CHANCE and of_child[step.player] > most
        for player in range(len(worth)):
            total[player] += times * of_child[player]
            if is_best:
                best[player] = of_child[player]
        if is_best:
            most = best[step.player]
    for player in range(len(worth)):
        worth[player] = total[player] / visits if step.player == CHANCE else best[player]


@backpropagation
def backpropagate(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(q + μ, n + 1, m + 1, v) if ψ = ψ_visit; (q, n, m + 1, v) if ψ = ψ_avail; (q, n, m, v with v_ρ) if ψ = (v_ρ, ρ)"""
    if context >= FIRST_VALUE:
        stats.worth[(context - FIRST_VALUE) % MAX_PLAYERS] = (context - FIRST_VALUE) // MAX_PLAYERS / UNIT
    else:
        BASELINE.backpropagation(stats, context, rewards)


IMPLICIT_MINIMAX = Enhancement(
    name="IMPLICIT_MINIMAX",
    records=HISTORY,  # IM-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, worth=ESTIMATES),  # IM-2
    initial=initial(),  # IM-3
    policy=argmax().over(mixed),  # IM-4
    contexts=Space(("({ψ_avail, ψ_visit} ∪ [0, 1])",)) * PLAYER,  # IM-5
    capture=capture_worths,  # IM-6
    backpropagation=backpropagate,  # IM-7
)


def implicit_minimax(alpha: float = ALPHA, exploration: float = EXPLORATION) -> Enhancement:
    """Implicit minimax backups with another share α of the heuristic, or another exploration constant.

    Raises:
        ValueError: α is not in [0, 1], or the exploration is negative.
    """
    alpha = real("alpha of implicit_minimax", alpha, 0, 1)
    parameters = nonnegative("implicit_minimax", exploration=exploration)
    policy = argmax().over(mixed(alpha=alpha, **parameters))
    return variant(IMPLICIT_MINIMAX, "implicit_minimax", alpha, *parameters.values(), policy=policy)
