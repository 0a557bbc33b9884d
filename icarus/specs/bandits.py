"""Enhancements of other papers that select in the tree: bandits, and what is known of an action anywhere.

Most are the baseline with another policy: `m` counts how often an action was available, an action without visits comes first unless it
says otherwise, and in the simulation phase every value is +∞.
"""

import math
from typing import Annotated

import attrs
import numpy as np

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.baseline import (
    BASELINE,
    EXPLORATION,
    backpropagate,
    bits_of,
    bound_of,
    bounds,
    capture_tree,
    real_of,
    write_bounds,
)

DRAW = 0.5  # the reward of a playout that nobody won
Discount = Annotated[float, Range(0, 1, above=True)]


# --------------------------------------------------------------------------------------------------- first-play urgency


# First-play urgency (Gelly and Wang, 2006): an action without visits is worth a constant, not +∞, so that a good one is played again.
#
# Readings: the urgency is 1 where none is given: with rewards in [0, 1] and their exploration, values about 1 served MoGo best. The
# records are the baseline's, only what an untried action is worth differs; in the simulation phase every value is +∞, as the baseline's
# are.


@values(uniform_in_simulation=True)
def urgent(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    urgency: float = 1.0,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n), the urgency if n = 0 or m = 0, for θ([h # a]~) = (q, n, m)"""
    write_bounds(history, theta, legal, out, exploration)
    for i in range(len(legal)):
        out[i] = out[i] if out[i] < np.inf else urgency


FPU = attrs.evolve(BASELINE, name="FPU", policy=argmax().over(urgent))  # FPU-4


# ----------------------------------------------------------------------------------------------------------- UCB1-Tuned


# UCB1-Tuned (Auer, Cesa-Bianchi and Fischer, 2002, section 4): UCB1 with exploration by the variance of the rewards.
#
# Readings: as in the baseline, m counts how often an action was available, and in the simulation phase every value is +∞. The formula has
# no constant to choose; where one is given, as in Ludii, it stands for the √2 in the bound of the variance.


MOST_VARIANCE = 0.25  # of a reward in [0, 1]


@values(uniform_in_simulation=True)
def tuned(
    history: History, theta: Theta, legal: Array, out: Array, exploration: float = math.sqrt(2.0)
) -> None:
    """q_ρ/n + √(log m / n · min{1/4, s_ρ/n − (q_ρ/n)² + c √(log m / n)}), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, s, n, m)"""
    step = history.steps[-1]
    for i in range(len(legal)):
        out[i] = np.inf
        stats = find(theta, child(history, -1, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            mean = stats.reward[step.player] / stats.visits
            rate = math.log(stats.availability) / stats.visits
            variance = (
                stats.squares[step.player] / stats.visits
                - mean * mean
                + exploration * math.sqrt(rate)
            )
            out[i] = mean + math.sqrt(rate * max(0.0, min(MOST_VARIANCE, variance)))


@backpropagation
def backpropagate_squares(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, s + μ², n + 1, m + 1) if ψ = ψ_visit; (q, s, n, m + 1) if ψ = ψ_avail"""
    backpropagate(stats, context, rewards)
    if context == VISIT:
        for player in range(len(rewards)):
            stats.squares[player] += rewards[player] * rewards[player]


UCB1_TUNED = attrs.evolve(
    BASELINE,
    name="UCB1_TUNED",
    information=information(  # UCB1-Tuned-2
        reward=REWARDS, squares=REWARDS, visits=COUNT, availability=COUNT
    ),
    policy=argmax().over(tuned),  # UCB1-Tuned-4
    backpropagation=backpropagate_squares,  # UCB1-Tuned-7
)


# --------------------------------------------------------------------------------------------------------------- KL-UCB


# KL-UCB (Garivier and Cappé, 2011): the upper confidence bound by the Kullback-Leibler divergence of Bernoulli distributions.
#
# Readings: c = 0 in their Algorithm 1, as they recommend for practice; as in the baseline, m counts how often an action was available,
# and in the simulation phase every value is +∞. Rewards need not be 0 or 1, only in [0, 1].


HALVINGS = 52  # of an interval inside [0, 1]: as fine as a real is near 1


@helper
def divergence(p: float, q: float) -> float:
    """d(p, q) = p log(p/q) + (1 − p) log((1 − p)/(1 − q)), with 0 log 0 = 0; for p ≤ q < 1."""
    rest = (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return rest if p <= 0.0 else p * math.log(p / q) + rest


@helper
def upper_bound(mean: float, most: float) -> float:
    """max{q ∈ [mean, 1] : d(mean, q) ≤ most}, by halving."""
    low, high = mean, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if low < middle < high:
            if divergence(mean, middle) <= most:
                low = middle
            else:
                high = middle
    return low


@values(uniform_in_simulation=True)
def divergence_bounds(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """max{q ∈ [0, 1] : n d(q_ρ/n, q) ≤ log m}, +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m)"""
    step = history.steps[-1]
    for i in range(len(legal)):
        out[i] = np.inf
        stats = find(theta, child(history, -1, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            out[i] = upper_bound(
                stats.reward[step.player] / stats.visits,
                math.log(stats.availability) / stats.visits,
            )


KL_UCB = attrs.evolve(BASELINE, name="KL_UCB", policy=argmax().over(divergence_bounds))  # KL-UCB-4


# ---------------------------------------------------------------------------------------------------- Thompson sampling


# Thompson sampling (Thompson, 1933; Chapelle and Li, 2011): an action is chosen as probably as it is the best, by what is known.
#
# Readings: the prior of a mean reward is uniform, Beta(1, 1); rewards need not be 0 or 1, only in [0, 1], and count as so much of a
# success. In the simulation phase every value is +∞, as the baseline's are. A Beta is made of two Gammas (Marsaglia and Tsang, 2000),
# these of normal numbers (by the polar method) and uniform ones, all from the search's own generator.


@helper
def normal(rng: Array) -> float:
    """A standard normal number."""
    x, square = 0.0, 0.0
    while square >= 1.0 or square == 0.0:
        x, y = 2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0
        square = x * x + y * y
    return x * math.sqrt(-2.0 * math.log(square) / square)


@helper
def gamma(rng: Array, shape: float) -> float:
    """A Gamma number of this shape, at least 1, and of scale 1."""
    d = shape - 1.0 / 3.0
    while True:
        x = normal(rng)
        v = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        if v > 0.0 and math.log(1.0 - uniform(rng)) < x * x / 2.0 + d - d * v + d * math.log(v):
            return d * v


@values(uniform_in_simulation=True)
def drawn_means(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """a number drawn from Beta(1 + q_ρ, 1 + n − q_ρ) for θ([h # a]~) = (q, n, ·)"""
    step = history.steps[-1]
    for i in range(len(legal)):
        stats = find(theta, child(history, -1, legal[i]))
        won = gamma(history.rng, 1.0 + stats.reward[step.player])
        losses = gamma(history.rng, 1.0 + max(0.0, stats.visits - stats.reward[step.player]))
        out[i] = won / (won + losses)


THOMPSON = attrs.evolve(BASELINE, name="THOMPSON", policy=argmax().over(drawn_means))  # Thompson-4


# ------------------------------------------------------------------------------------------------------- discounted UCB


# Discounted UCB (Kocsis and Szepesvári, 2006; Garivier and Moulines, 2008): rewards count the less the longer ago they were.
#
# Whenever an action of a node was available, all that is known of it is multiplied by γ; so the discounted sums over the actions of a
# node are those of the paper, and its n_t(γ), the sum of the discounted visits of all, is the discounted availability.
#
# Readings: exploration is c √(log m / n) with the baseline's c in place of 2B √(ξ log n_t / N_t). In the simulation phase every value is
# +∞, as the baseline's are. γ is a default to be tuned.


@backpropagation
def backpropagate_discounted(
    stats: Row, context: int, rewards: Array, discount: Discount = 0.999
) -> None:
    """(γ q + μ, γ n + 1, γ m + 1) if ψ = ψ_visit; (γ q, γ n, γ m + 1) if ψ = ψ_avail"""
    visited = 1.0 if context == VISIT else 0.0
    for player in range(len(rewards)):
        stats.reward[player] = discount * stats.reward[player] + visited * rewards[player]
    stats.visits = discount * stats.visits + visited
    stats.availability = discount * stats.availability + 1.0


DISCOUNTED_UCB = attrs.evolve(
    BASELINE,
    name="DISCOUNTED_UCB",
    information=information(reward=REWARDS, visits=REAL_COUNT, availability=REAL_COUNT),  # D-UCB-2
    policy=argmax().over(bounds),  # D-UCB-4
    backpropagation=backpropagate_discounted,  # D-UCB-7
)


# ---------------------------------------------------------------------------------------------------------------- GRAVE


# Generalized rapid action value estimation (GRAVE; Cazenave, 2015): AMAF values from the closest ancestor that knows enough.
#
# Readings: an action is the same only when the same player plays it, and counts once in a playout, from a node on; the environment's
# actions have no AMAF value. Where no ancestor has more than `least` visits, the root is asked. An action without visits is worth its
# AMAF value, +∞ where there is none. In the simulation phase every value is +∞, as the baseline's are. The paper tunes `least` (its ref)
# and `bias` for each game, with best values far apart; 50 and 1e-5 are of that range, and Ludii takes 100 and 1e-5. There is no
# exploration in it; Ludii adds that of UCB1, in which an action without visits counts as one visited once.


AS_FIRST = 1  # the context of an action that was played at a history or later


@values(uniform_in_simulation=True)
def estimates(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    least: int = 50,
    bias: float = 1e-5,
    exploration: float = 0.0,
) -> None:
    """(1 − β) q_ρ/n + β q̃_ρ/ñ + c √(log Σ / n), β = ñ/(ñ + n + bias ñ n), for θ([h # a]~) = (q, n, ·, ·), θ([h' # a]~) = (·, ·, q̃, ñ)

    with h' the longest beginning of h that has more than `least` visits, and Σ the visits of all legal actions.
    """
    present = len(history.steps) - 1
    step = history.steps[present]
    out[:] = np.inf
    reference = present
    while reference > 0 and find(theta, history.steps[reference].record).visits <= least:
        reference -= 1
    trials = 0
    for i in range(len(legal)):
        trials += find(theta, child(history, present, legal[i])).visits
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        first = find(
            theta, extended(history.keys[reference, step.perspective], step.player, legal[i])
        )
        n, many = stats.visits, first.visits_as_first
        if n + many > 0:
            beta = many / (many + n + bias * many * n)
            mean = stats.reward[step.player] / n if n > 0 else 0.0
            as_first = first.reward_as_first[step.player] / many if many > 0 else 0.0
            out[i] = (1.0 - beta) * mean + beta * as_first
            out[i] += exploration * math.sqrt(math.log(max(trials, 1)) / max(n, 1))


@capture
def capture_from_tree(history: History, updates: Updates) -> None:
    """⟨([h_i]~, ψ_visit) : 0 ≤ i ≤ t_e⟩ # ⟨([h_i # a]~ρ, ψ_first) : 0 ≤ i ≤ t_e, a played by ρ at h_i or later⟩, each a and ρ once"""
    steps = history.steps
    last = expanded_at(history)
    for i in range(last + 1):
        update(updates, steps[i].record, VISIT)
    for i in range(last + 1):
        for j in range(i, len(steps) - 1):
            step = steps[j]
            if step.player != CHANCE and not was_played(history, i, j):
                update(
                    updates,
                    extended(history.keys[i, step.perspective], step.player, step.action),
                    AS_FIRST,
                )


@helper
def was_played(history: History, i: int, j: int) -> bool:
    """Whether the player at step j played the same action before, at step i or later."""
    steps = history.steps
    for k in range(i, j):
        if steps[k].player == steps[j].player and steps[k].action == steps[j].action:
            return True
    return False


@backpropagation
def backpropagate_as_first(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1, q̃, ñ) if ψ = ψ_visit; (q, n, q̃ + μ, ñ + 1) if ψ = ψ_first"""
    for player in range(len(rewards)):
        if context == VISIT:
            stats.reward[player] += rewards[player]
        else:
            stats.reward_as_first[player] += rewards[player]
    if context == VISIT:
        stats.visits += 1
    else:
        stats.visits_as_first += 1


GRAVE = Enhancement(
    name="GRAVE",
    records=HISTORY,  # GRAVE-1
    information=information(  # GRAVE-2
        reward=REWARDS, visits=COUNT, reward_as_first=REWARDS, visits_as_first=COUNT
    ),
    initial=initial(),  # GRAVE-3
    policy=argmax().over(estimates),  # GRAVE-4
    contexts=Space(("{ψ_first, ψ_visit}",)),  # GRAVE-5
    capture=capture_from_tree,  # GRAVE-6
    backpropagation=backpropagate_as_first,  # GRAVE-7
)


# -------------------------------------------------------------------------------------------------- progressive history


# Progressive history (Nijssen and Winands, 2011): progressive bias by how good an action was anywhere in the search.
#
# Readings: the history heuristic s_a/n_a is of the action and the player who plays it, in all phases, the environment's actions left out;
# n − q is what the playouts through the child lost. c is the baseline's; W = 5. As in the baseline, m counts how often an action was
# available, and in the simulation phase every value is +∞.


@values(uniform_in_simulation=True)
def biased_by_history(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    influence: float = 5.0,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) + s_a/n_a · W/(n − q_ρ + 1), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m), θ(a, ρ) = (s_a, n_a, ·)"""
    step = history.steps[-1]
    for i in range(len(legal)):
        stats = find(theta, child(history, -1, legal[i]))
        out[i] = bound_of(stats, step.player, exploration)
        anywhere = find(theta, record(legal[i], step.player))
        if out[i] < np.inf and anywhere.visits > 0:
            losses = max(0.0, stats.visits - stats.reward[step.player])
            out[i] += anywhere.reward[step.player] / anywhere.visits * influence / (losses + 1.0)


@capture
def capture_tree_and_actions(history: History, updates: Updates) -> None:
    """ξ of the baseline # ⟨((a_i, ρ_i), ψ_visit) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    ask_for_tree_and_actions(history, updates, VISIT)


@helper
def ask_for_tree_and_actions(history: History, updates: Updates, context: int) -> None:
    """The updates of the baseline, then for each action of a player one with this context."""
    capture_tree(history, updates)
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), context)


PROGRESSIVE_HISTORY = attrs.evolve(
    BASELINE,
    name="PROGRESSIVE_HISTORY",
    records=HISTORY | ACTION * PLAYER,  # PH-1
    policy=argmax().over(biased_by_history),  # PH-4
    capture=capture_tree_and_actions,  # PH-6
)


# --------------------------------------------------------------------------------------------------- discounted history


# Progressive history with a discounted history heuristic: what an action was worth anywhere, the last playouts counting most.
#
# The progressive bias of Nijssen and Winands (2011) with the discounting of Kocsis and Szepesvári (2006): whenever an action was played,
# what is known of it is multiplied by γ before the result is added, so that it follows the tree as the search gets deeper.
#
# Readings: those of progressive history. Records of the tree are not discounted (DISCOUNTED_UCB does that). γ is a default to be tuned.


ANYWHERE = 2  # the context of an action, wherever it was played


@capture
def capture_tree_and_discounted_actions(history: History, updates: Updates) -> None:
    """ξ of the baseline # ⟨((a_i, ρ_i), ψ_anywhere) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    ask_for_tree_and_actions(history, updates, ANYWHERE)


@backpropagation
def backpropagate_anywhere(
    stats: Row, context: int, rewards: Array, discount: Discount = 0.99
) -> None:
    """(γ q + μ, γ n + 1, m + 1), γ = 1 if ψ = ψ_visit; (q, n, m + 1) if ψ = ψ_avail"""
    if context != AVAILABLE:
        factor = discount if context == ANYWHERE else 1.0
        for player in range(len(rewards)):
            stats.reward[player] = factor * stats.reward[player] + rewards[player]
        stats.visits = factor * stats.visits + 1.0
    stats.availability += 1


DISCOUNTED_HISTORY = attrs.evolve(
    PROGRESSIVE_HISTORY,
    name="DISCOUNTED_HISTORY",
    information=information(reward=REWARDS, visits=REAL_COUNT, availability=COUNT),  # DH-2
    contexts=Space(("{ψ_avail, ψ_visit, ψ_anywhere}",)),  # DH-5
    capture=capture_tree_and_discounted_actions,  # DH-6
    backpropagation=backpropagate_anywhere,  # DH-7
)


# ------------------------------------------------------------------------------------------------------- relative bonus


# Relative bonus (Pepels, Tak, Lanctot and Winands, 2014): a win in few moves is worth more than one in many.
#
# A playout of t actions won by ρ, whose wins took x̄ actions on average with deviation σ, has the bonus b = −1 + 2/(1 + e^{−k (x̄ −
# t)/σ}) = tanh(k (x̄ − t)/2σ), and whoever won gets α b more, whoever lost as much less, on a scale from −1 to 1.
#
# Readings: rewards here are from 0 to 1, so half of that is added. Length is counted from the root. Where several won, the bonus is by
# the wins of the first of them; a draw has none, nor has any playout before a player's 50th win. α, which the paper estimates as the
# coefficient of a control variate, and k are constants here, defaults to be tuned. Baseline records, and so the values that a search
# tells, have no bonus. In the simulation phase every value is +∞, as the baseline's are.


LEAST_WINS = 50  # wins of a player before there is a bonus
# A context is one integer, whose sign tells its kind: above 0 a bonus, 0 an action that was not played, below 0 the length t of a playout
# that somebody has won, as −t.
NOT_PLAYED = 0
NO_BONUS = 2.0  # a bonus b is the bits of 2 + b: as an integer above 0 for b in [−1, 1]


@helper
def first_winner(rewards: Array) -> int:
    """The first player who got more than a draw; NO_ACTION where nobody did."""
    for player in range(len(rewards)):
        if rewards[player] > DRAW:
            return player
    return NO_ACTION


@helper
def bonus_of(stats: Row, length: int, steepness: float) -> float:
    """b of a playout of this length, by what is known of the winner's playouts; 0 where that is too little."""
    if stats.visits < LEAST_WINS:
        return 0.0
    mean = stats.lengths / stats.visits
    variance = stats.squares / stats.visits - mean * mean
    if variance <= 0.0:
        return 0.0
    return math.tanh(steepness * (mean - length) / (2.0 * math.sqrt(variance)))


@capture
def capture_tree_with_bonus(
    history: History, theta: Theta, updates: Updates, steepness: float = 1.0
) -> None:
    """ξ of the baseline with ψ = b in place of ψ_visit # ⟨(ρ, t)⟩ with ρ the winner"""
    steps = history.steps
    winner = first_winner(history.rewards)
    bonus = 0.0
    if winner != NO_ACTION:
        bonus = bonus_of(find(theta, record(winner)), len(steps) - 1, steepness)
    bits = bits_of(NO_BONUS + bonus)
    last = expanded_at(history)
    for i in range(last + 1):
        update(updates, steps[i].record, bits)
    for i in range(last):
        for action in legal_at(history, i):
            if action != steps[i].action:
                update(updates, child(history, i, action), NOT_PLAYED)
    if winner != NO_ACTION:
        update(updates, record(winner), -(len(steps) - 1))


@backpropagation
def backpropagate_with_bonus(stats: Row, context: int, rewards: Array, bonus: float = 0.25) -> None:
    """(q + μ + α/2 b sgn(2μ − 1), n + 1, m + 1, ·, ·) if ψ = b; (q, n, m + 1, ·, ·) if ψ = ψ_avail;
    (·, n + 1, ·, s + t, s₂ + t²) if ψ = t
    """
    if context >= NOT_PLAYED:
        stats.availability += 1
    if context > NOT_PLAYED:
        share = bonus / 2.0 * (real_of(context) - NO_BONUS)
        for player in range(len(rewards)):
            stats.reward[player] += rewards[player] + share * np.sign(rewards[player] - DRAW)
    else:
        stats.lengths -= context
        stats.squares += context * context
    if context != NOT_PLAYED:
        stats.visits += 1


RELATIVE_BONUS = attrs.evolve(
    BASELINE,
    name="RELATIVE_BONUS",
    records=HISTORY | PLAYER,  # RB-1
    information=information(  # RB-2
        reward=REWARDS, visits=COUNT, availability=COUNT, lengths=REAL, squares=REAL
    ),
    policy=argmax().over(bounds),  # RB-4
    contexts=Space(("[−1, 1] ∪ {ψ_avail} ∪ ℕ",)),  # RB-5
    capture=capture_tree_with_bonus,  # RB-6
    backpropagation=backpropagate_with_bonus,  # RB-7
)
