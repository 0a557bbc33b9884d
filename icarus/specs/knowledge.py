"""Enhancements of other papers that read what the game tells, or what is proved.

Of the first, most are the baseline with another policy, as those of `bandits.py`.
"""

import math
from typing import Annotated, Any

import attrs
import numpy as np

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.bandits import GRAVE, PROGRESSIVE_HISTORY, UCB1_TUNED
from icarus.specs.baseline import (
    BASELINE,
    EXPLORATION,
    backpropagate,
    bits_of,
    bound_of,
    capture_tree,
    real_of,
    write_bounds,
)

LEFT_OUT = -1.0  # the value of an action that is not to be played; UCB1's are never below 0


# ----------------------------------------------------------------------------------------------------- progressive bias


# Progressive bias (Chaslot, Winands, van den Herik, Uiterwijk and Bouzy, 2008): UCB1 and the heuristic of an action, which counts less
# and less.
#
# Readings: H of an action is the game's heuristic for the player who acts, of the state that the action leads to, and the reward where it
# ends the game; times a weight, 1 where none is given. It is reckoned at every visit, not only from some visits on, as they do to save
# time. The records are the baseline's: an action without visits comes first, and in the simulation phase every value is +∞.


@values(uniform_in_simulation=True)
def biased_by_heuristic(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    weight: float = 1.0,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) + H_a/(n + 1), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m), H_a the weighted heuristic of a for ρ"""
    step = history.steps[-1]
    for i in range(len(legal)):
        stats = find(theta, child(history, -1, legal[i]))
        ahead = lookahead_at(history, -1)[i, step.player]
        out[i] = bound_of(stats, step.player, exploration) + weight * ahead / (stats.visits + 1)


PROGRESSIVE_BIAS = attrs.evolve(
    BASELINE,
    name="PROGRESSIVE_BIAS",
    policy=argmax().over(biased_by_heuristic),  # PB-4
)


# ----------------------------------------------------------------------------------- progressive unpruning and widening


# Progressive unpruning (Chaslot, Winands, van den Herik, Uiterwijk and Bouzy, 2008) and progressive widening (Coulom, 2007): at a history
# that was seldom visited only the actions of the best heuristic are searched, and the more of them the more often it is visited.
#
# Readings: actions are ordered by their lookahead for the player who acts, equal ones as the game lists them, anew for the actions that
# are legal in each determinization. Unpruning: up to T = 30 visits of the history all actions are open and equal, as in simulation, then
# the k = 5 best, and one more whenever its visits exceed A B^(k − 5), A = 50, B = 1.3. Widening: the best one from the start, and the (k
# + 1)-th after t_k visits, t_0 = 0, t_(k+1) = t_k + 40 · 1.4^k. The records are the baseline's; among the open actions UCB1 decides; in
# the simulation phase every value is +∞.


PRUNED = -1e9  # the value of what is not searched: finite, for weighted sums
AboveOne = Annotated[float, Range(1, 1e3, above=True)]


@helper
def open_best(
    history: History, theta: Theta, legal: Array, out: Array, width: int, exploration: float
) -> None:
    """UCB1's values of as many actions as are open, the best by their lookahead; the others are pruned."""
    lookahead = lookahead_at(history, -1)
    player = history.steps[-1].player
    for i in range(len(legal)):
        better = 0
        for j in range(len(legal)):
            mine, theirs = lookahead[i, player], lookahead[j, player]
            better += theirs > mine or (theirs == mine and j < i)
        stats = find(theta, child(history, -1, legal[i]))
        out[i] = bound_of(stats, player, exploration) if better < width else PRUNED


@values(uniform_in_simulation=True)
def unpruned(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    after: int = 30,
    first: Count = 5,
    pace: Positive = 50.0,
    growth: AboveOne = 1.3,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) for the k(N) actions of the best lookahead, N the visits of h; +∞ for all if N ≤ T

    k(N) the least k ≥ k_init with N ≤ A B^(k − k_init); T is `after`, k_init `first`, A `pace` and B `growth`
    """
    out[:] = np.inf
    visits, width = find(theta, history.steps[-1].record).visits, first
    if visits > after:
        while width < len(legal) and visits > pace * growth ** (width - first):
            width += 1
        open_best(history, theta, legal, out, width, exploration)


@values(uniform_in_simulation=True)
def widened(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    pace: Positive = 40.0,
    growth: AboveOne = 1.4,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) for the k(N) actions of the best lookahead, N the visits of h

    k(N) the greatest k with N ≥ t_(k − 1), t_0 = 0, t_k = t_(k − 1) + A B^(k − 1)
    """
    out[:] = np.inf
    visits, width, due, wait = find(theta, history.steps[-1].record).visits, 1, pace, pace
    while width < len(legal) and visits >= due:
        wait *= growth
        due += wait
        width += 1
    open_best(history, theta, legal, out, width, exploration)


PROGRESSIVE_UNPRUNING = attrs.evolve(
    BASELINE,
    name="PROGRESSIVE_UNPRUNING",
    policy=argmax().over(unpruned),  # PU-4
)


PROGRESSIVE_WIDENING = attrs.evolve(
    BASELINE,
    name="PROGRESSIVE_WIDENING",
    policy=argmax().over(widened),  # PW-4
)


# ----------------------------------------------------------------------------------------------------------------- PUCT


# PUCT: predictor and upper confidence bound (Rosin, 2011), in the form of Silver et al. (2017, 2018): exploration in proportion to a
# predicted P.
#
# Readings: P is made of the game's heuristic: P(a) ∝ e^(H of a / τ) for the player who acts, τ = 0.1; they learn it. Rewards are in [0,
# 1], theirs in [−1, 1]: their Q = 0 of an action without visits is 1/2 here, and their c = 1.25 is 0.625; it does not grow with the
# visits. As in the baseline, m counts how often an action was available, ΣN where all always are. So m is 0 at a new node: P does not
# count there, and the first child is drawn uniformly; `PUCT(least=1)` starts with the child that P prefers. In the simulation phase every
# value is +∞.


UNTRIED = 0.5


@values(uniform_in_simulation=True)
def predicted(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    exploration: float = 0.625,
    temperature: Positive = 0.1,
    least: Annotated[int, Range(0, 1)] = 0,
) -> None:
    """q_ρ/n + c P(a) √max(m, least) / (1 + n), with 1/2 for q_ρ/n if n = 0, for θ([h # a]~) = (q, n, m), P(a) ∝ e^(H of a for ρ / τ)"""
    step = history.steps[-1]
    ahead = lookahead_at(history, -1)[:, step.player]
    most = 0.0
    total = 0.0
    for i in range(len(legal)):
        most = max(most, ahead[i])
    for i in range(len(legal)):
        total += math.exp((ahead[i] - most) / temperature)
    for i in range(len(legal)):
        stats = find(theta, child(history, -1, legal[i]))
        probability = math.exp((ahead[i] - most) / temperature) / total
        mean = stats.reward[step.player] / stats.visits if stats.visits > 0 else UNTRIED
        out[i] = mean + exploration * probability * math.sqrt(max(stats.availability, least)) / (
            1 + stats.visits
        )


PUCT = attrs.evolve(
    BASELINE,
    name="PUCT",
    policy=argmax().over(predicted),  # PUCT-4
    parameters=("exploration", "temperature"),
)


# --------------------------------------------------------------------------------------------- implicit minimax backups


# Implicit minimax backups (Lanctot, Winands, Pepels and Sturtevant, 2014): rewards, and beside them the heuristic backed up by minimax.
#
# Readings: the heuristic has a value for each player, so what is backed up is the vector that is best for the player who acts (max^n),
# which is minimax for two whose values sum to 1. It is that of the children in the tree; of a child without visits, its heuristic. Where
# chance acts it is the mean of the outcomes met, by their visits. A new history begins with its heuristic, which at the end of the game
# is the reward. α = 0.4. Contexts are integers, so values are told to ω in units of 2^-40. An action without visits comes first, and in
# the simulation phase every value is +∞.


UNIT = 1 << 40  # in which values are told
FIRST_VALUE = 2  # contexts from here on tell a value and its player, those below are the baseline's


@values(uniform_in_simulation=True)
def mixed(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    alpha: Fraction = 0.4,
    exploration: float = EXPLORATION,
) -> None:
    """(1 − α) q_ρ/n + α v_ρ + c √(log m / n), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m, v)"""
    step = history.steps[-1]
    for i in range(len(legal)):
        out[i] = np.inf
        stats = find(theta, child(history, -1, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            out[i] = (1.0 - alpha) * (
                stats.reward[step.player] / stats.visits
            ) + alpha * stats.worth[step.player]
            out[i] += exploration * math.sqrt(math.log(stats.availability) / stats.visits)


@capture(reads_simulation=False, writes_simulation=False)
def capture_worths(history: History, theta: Theta, updates: Updates) -> None:
    """ξ of the baseline # ⟨([a₁, …, a_i]~, (v_ρ, ρ)) : i = t_e, …, 1, ρ = 1, …, κ⟩, v of h_(t_e) its heuristic, of the others backed up"""
    capture_tree(history, updates)
    steps = history.steps
    last = expanded_at(history)
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
def back_up(history: History, theta: Theta, i: int, worth: Array) -> None:
    """Overwrite the worth of the child that was played at step i, to each player, by the worth of the history of step i.

    Where a player is to move, that is the worth of the child that is best for him; where chance is, the mean over its children by visits. A
    child without visits is worth what the heuristic says. In loops over the players: expressions of arrays take the compiler seconds.
    """
    step = history.steps[i]
    place = place_of_action(history, i)
    of_child = np.zeros(len(worth))
    best = np.zeros(len(worth))
    total = np.zeros(len(worth))
    visits = 0
    most = -1.0
    for k in range(step.count):
        stats = find(theta, child(history, i, legal_at(history, i)[k]))
        for player in range(len(worth)):
            of_child[player] = (
                stats.worth[player] if stats.visits > 0 else lookahead_at(history, i)[k, player]
            )
            if k == place:
                of_child[player] = worth[player]
        # The record of the child that was played does not count this playout yet.
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
def backpropagate_worths(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1, m + 1, v) if ψ = ψ_visit; (q, n, m + 1, v) if ψ = ψ_avail; (q, n, m, v with v_ρ) if ψ = (v_ρ, ρ)"""
    if context >= FIRST_VALUE:
        stats.worth[(context - FIRST_VALUE) % MAX_PLAYERS] = (
            (context - FIRST_VALUE) // MAX_PLAYERS / UNIT
        )
    else:
        backpropagate(stats, context, rewards)


IMPLICIT_MINIMAX = attrs.evolve(
    BASELINE,
    name="IMPLICIT_MINIMAX",
    information=information(  # IM-2
        reward=REWARDS, visits=COUNT, availability=COUNT, worth=ESTIMATES
    ),
    policy=argmax().over(mixed),  # IM-4
    contexts=Space(("({ψ_avail, ψ_visit} ∪ [0, 1])",)) * PLAYER,  # IM-5
    capture=capture_worths,  # IM-6
    backpropagation=backpropagate_worths,  # IM-7
)


# ------------------------------------------------------------------------------------------------------- decisive moves


# Decisive moves (Teytaud and Teytaud, 2010): who can win at once does, in the tree and in the simulation; otherwise UCT.
#
# Readings: to win is to end the game with a reward of 1, in the determinized state of the playout. Elsewhere UCB1 decides in the tree,
# and in the simulation phase every value is +∞, as in the baseline.


WON = 1.0  # the reward of a win


@values
def winning(
    history: History, theta: Theta, legal: Array, out: Array, exploration: float = EXPLORATION
) -> None:
    """q_ρ/n + c √(log m / n), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m); −1 if another action wins at once, and a does not"""
    step = history.steps[-1]
    wins = endings_at(history, -1)[:, step.player] == WON
    for i in range(len(legal)):
        out[i] = np.inf
        if not wins[i] and wins.any():
            out[i] = LEFT_OUT
        elif step.phase != SIMULATION:
            out[i] = bound_of(find(theta, child(history, -1, legal[i])), step.player, exploration)


DECISIVE = attrs.evolve(BASELINE, name="DECISIVE", policy=argmax().over(winning))  # Decisive-4


# ----------------------------------------------------------------------------------------- score bounds and MCTS-Solver


# Score bounds (Cazenave and Saffidine, 2010) and MCTS-Solver (Winands, Björnsson and Saito, 2008): what is proved of the tree.
#
# A player's worth at a history is what he is sure to get there, whatever the others and chance do. A history that ended the game has its
# rewards for bounds of that; any other what its children have: where the player himself is to move the greatest of each bound, where
# another is, or chance, the least. So bounds are proved from the end of the game up, for any number of players and outcomes, each player
# by his name; with two players whose rewards have the same sum everywhere, the worth is the minimax value.
#
# Readings: bounds are l = 0 and u = 1 before anything is proved. MCTS_SOLVER plays what is proved to be best, and no more what is proved
# not to be; SCORE_BOUNDS also cuts an action whose upper bound is no more than another's lower one, and adds γ l + δ u to UCB1, as its
# paper does (γ = δ = 0 by default, to be tuned); `bounded` gives them to other selections. Rewards are backpropagated as ever: below
# a proved history playouts go on by what is proved, and so tell its worth. In the simulation phase every value is +∞, as the baseline's
# are. With more than two players, or rewards of different sums, to take the others for enemies is to be careful, as in paranoid search.
# Proofs need a game in which nothing is hidden; in others a search is refused.


@helper
def proved(history: History, theta: Theta, i: int, action: int, player: int) -> Row:
    """The row with the bounds of a player's worth after an action at step i."""
    return find(theta, mix(child(history, i, action), player))


@helper
def greatest_bounds(history: History, theta: Theta, legal: Array) -> tuple[float, float]:
    """max l and max u over the legal actions: what the player to move is sure to get, and the most that he may."""
    sure, most = 0.0, 0.0
    for i in range(len(legal)):
        stats = proved(history, theta, -1, legal[i], history.steps[-1].player)
        sure, most = max(sure, stats.lower), max(most, stats.upper)
    return sure, most


@values(uniform_in_simulation=True)
def solved(
    history: History, theta: Theta, legal: Array, out: Array, exploration: float = EXPLORATION
) -> None:
    """q_ρ/n + c √(log m / n), +∞ if n = 0, for θ([h # a]~) = (q, n, m, ·, ·); but +∞ if l ≥ max u, else −1 if max l ≥ max u or l = u

    for θ([h # a]~, ρ) = (·, ·, ·, l, u), the bounds of what ρ is sure to get after a.
    """
    write_bounds(history, theta, legal, out, exploration)
    step = history.steps[-1]
    sure, most = greatest_bounds(history, theta, legal)
    for i in range(len(legal)):
        stats = proved(history, theta, -1, legal[i], step.player)
        if stats.lower >= most:  # proven best
            out[i] = np.inf
        # another one is proven best, or there is nothing more to learn of this one
        elif sure >= most or stats.lower == stats.upper:
            out[i] = LEFT_OUT


@helper
def cut(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    pessimism: float = 0.0,
    optimism: float = 0.0,
) -> None:
    """Change UCB's values in the tree by what is proved: +∞ if an action is best; left out if it gets no more than another surely does.

    Elsewhere the proven lower and upper bound are added, by the weights `pessimism` and `optimism`.
    """
    step = history.steps[-1]
    # what the player surely gets by his best action, and the most that he can get
    sure, most = greatest_bounds(history, theta, legal)
    for i in range(len(legal)):
        stats = proved(history, theta, -1, legal[i], step.player)
        out[i] += pessimism * stats.lower + optimism * stats.upper
        if stats.lower >= most:
            out[i] = np.inf
        elif stats.upper <= sure:
            out[i] = LEFT_OUT


@values(uniform_in_simulation=True)
def within_bounds(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    pessimism: float = 0.0,
    optimism: float = 0.0,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) + γ l + δ u, +∞ if n = 0, for θ([h # a]~) = (q, n, m, ·, ·); but +∞ if l ≥ max u, else −1 if u ≤ max l

    for θ([h # a]~, ρ) = (·, ·, ·, l, u), the bounds of what ρ is sure to get after a.
    """
    write_bounds(history, theta, legal, out, exploration)
    cut(history, theta, legal, out, pessimism, optimism)


@helper
def ask_for_proofs(history: History, theta: Theta, updates: Updates) -> None:
    """Ask for the bounds that a playout which ended in the tree has tightened."""
    steps = history.steps
    last = expanded_at(history)
    if steps[last].player == TERMINAL:
        for player in range(len(history.rewards)):
            lower = upper = history.rewards[player]
            for i in range(last, -1, -1):
                if i < last:
                    lower, upper = bounds_by_children(history, theta, i, player, lower, upper)
                key = mix(steps[i].record, player)
                stats = find(theta, key)
                if lower > stats.lower:
                    update(updates, key, bits_of(lower))
                if upper < stats.upper:
                    update(updates, key, bits_of(-upper))


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
        stats.lower = max(stats.lower, real_of(context))
    elif context < VISIT:  # the bits of an upper bound with its sign changed, −0 for 0
        stats.upper = min(stats.upper, -real_of(context))
    return context > AVAILABLE or context < VISIT


@backpropagation
def backpropagate_proofs(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1, m + 1, ·, ·) if ψ = ψ_visit; (q, n, m + 1, ·, ·) if ψ = ψ_avail; (·, ·, ·, max{l, ψ}, min{u, ψ}) of the bound ψ"""
    if not tightened(stats, context):
        backpropagate(stats, context, rewards)


SCORE_BOUNDS = Enhancement(
    name="SCORE_BOUNDS",
    records=HISTORY | HISTORY * PLAYER,  # SB-1
    information=information(  # SB-2
        reward=REWARDS, visits=COUNT, availability=COUNT, lower=LIMIT, upper=LIMIT
    ),
    initial=initial(upper=1.0),  # SB-3
    policy=argmax().over(within_bounds),  # SB-4
    contexts=Space(("{ψ_avail, ψ_visit} ∪ [0, 1] ∪ [0, 1]",)),  # SB-5
    capture=capture_tree_and_proofs,  # SB-6
    backpropagation=backpropagate_proofs,  # SB-7
)


MCTS_SOLVER = attrs.evolve(
    SCORE_BOUNDS,
    name="MCTS_SOLVER",
    policy=argmax().over(solved),  # MCTS-Solver-4
)


def bounded(enhancement: Enhancement) -> Enhancement:
    """A selection in the tree with score bounds: what is proved best is played, and what is proved no better than another action is not.

    Its readings are those of SCORE_BOUNDS, without weights of the bounds, and of the selection: one by a `@values` function, whose capture
    function does not read θ.
    """
    slots: Any = (enhancement.policy.source, enhancement.capture, enhancement.backpropagation)
    source, of_tree, add = slots
    select = helper(source.function)
    name = enhancement.name

    def cut_values(
        history: History, theta: Theta, legal: Array, out: Array, *parameters: float
    ) -> None:
        select(history, theta, legal, out, *parameters)
        cut(history, theta, legal, out)

    def capture_and_prove(history: History, theta: Theta, updates: Updates) -> None:
        of_tree(history, updates)
        ask_for_proofs(history, theta, updates)

    def add_or_tighten(stats: Row, context: int, rewards: Array) -> None:
        if not tightened(stats, context):
            add(stats, context, rewards)

    functions = {
        "policy.source": cut_values,
        "capture": capture_and_prove,
        "backpropagation": add_or_tighten,
    }
    for slot, function in functions.items():
        function.__qualname__ = f"BOUNDED_{name}.{slot}"  # where another process finds it
    cut_values.__doc__ = (
        f"v of {name}, but +∞ if l ≥ max u, else −1 if u ≤ max l, for θ([h # a]~, ρ) = (…, l, u)"
    )
    cut_values.__annotations__ |= {name: source.annotation(name) for name, _ in source.parameters}
    capture_and_prove.__doc__ = f"ξ of {name} # the bounds of ξ of SCORE_BOUNDS"
    add_or_tighten.__doc__ = f"ω of {name}; (…, max{{l, ψ}}, min{{u, ψ}}) of the bound ψ"
    return attrs.evolve(
        enhancement,
        name=f"BOUNDED_{name}",
        records=enhancement.records | HISTORY * PLAYER,  # Bounded-1
        information=information(  # Bounded-2
            **dict(enhancement.information.fields), lower=LIMIT, upper=LIMIT
        ),
        initial=initial(upper=1.0),  # Bounded-3
        policy=argmax().over(attrs.evolve(source, function=cut_values)),  # Bounded-4
        contexts=Space((f"{enhancement.contexts} ∪ [0, 1] ∪ [0, 1]",)),  # Bounded-5
        capture=capture(  # Bounded-6
            capture_and_prove, reads_simulation=of_tree.reads_simulation, proves=True
        ),
        backpropagation=backpropagation(add_or_tighten),  # Bounded-7
    )


BOUNDED_UCB1_TUNED = bounded(UCB1_TUNED)
BOUNDED_PROGRESSIVE_HISTORY = bounded(PROGRESSIVE_HISTORY)
BOUNDED_GRAVE = bounded(GRAVE)
