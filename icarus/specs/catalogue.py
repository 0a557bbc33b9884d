"""The catalogue: enhancements of other papers.

First selection in the tree: bandits, what is known of an action anywhere, players who choose at once. Most are the baseline with another
policy: `m` counts how often an action was available, an action without visits comes first unless it says otherwise, and in the simulation
phase every value is +∞. Then what games tell, and what is proved. Last policies of the simulation: what is known of an action, whatever the
state, and of pairs, predicates and features.
"""

import math
from typing import Annotated, Any

import attrs
import numpy as np

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.baseline import (
    BASELINE,
    EXPLORATION,
    backpropagate,
    bound_of,
    bounds,
    capture_tree,
    write_bounds,
)
from icarus.specs.mast import MAST

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
            mean, rate = (
                stats.reward[step.player] / stats.visits,
                math.log(stats.availability) / stats.visits,
            )
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
    information=information(
        reward=REWARDS, squares=REWARDS, visits=COUNT, availability=COUNT
    ),  # UCB1-Tuned-2
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
    steps, last = history.steps, expanded_at(history)
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
    information=information(
        reward=REWARDS, visits=COUNT, reward_as_first=REWARDS, visits_as_first=COUNT
    ),  # GRAVE-2
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
NOT_PLAYED = 0  # the context of an action that was not played
NO_BONUS = 2.0  # the context of a history that was reached: the bits of 2 + b, as an integer above 0 for b in [−1, 1]


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
    steps, winner, bonus = history.steps, first_winner(history.rewards), 0.0
    if winner != NO_ACTION:
        bonus = bonus_of(find(theta, record(winner)), len(steps) - 1, steepness)
    bits = np.float64(NO_BONUS + bonus).view(np.int64)
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
        share = bonus / 2.0 * (np.int64(context).view(np.float64) - NO_BONUS)
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
    information=information(
        reward=REWARDS, visits=COUNT, availability=COUNT, lengths=REAL, squares=REAL
    ),  # RB-2
    policy=argmax().over(bounds),  # RB-4
    contexts=Space(("[−1, 1] ∪ {ψ_avail} ∪ ℕ",)),  # RB-5
    capture=capture_tree_with_bonus,  # RB-6
    backpropagation=backpropagate_with_bonus,  # RB-7
)


# ----------------------------------------------------------------------------------------- simultaneous decisions: EXP3


# EXP3 at simultaneous decisions (Cowling, Powley and Whitehouse, 2012, eqs. 4-6), as an enhancement like the others.
#
# No strategy names it: a scheme `with_exp3()` has it decide, in the tree, where a game marks choices as simultaneous.
#
# Readings: n of (5) is the number of trials of the actions that are legal now, so that the first trial is uniform. All who choose at once
# have their bandits at the history where the first of them is asked; what one chooses is not part of another's record.


@inlined
def trial(history: History, i: int, action: int) -> int:
    """The record of an action at a simultaneous decision: the history before the first of the choices, extended by it."""
    steps, first = history.steps, i
    while (
        first > 0 and steps[first].choice > 1 and steps[first - 1].choice == steps[first].choice - 1
    ):
        first -= 1
    return extended(history.keys[first, steps[i].perspective], steps[i].player, action)


@values
def probabilities(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """p(a) = γ/K + (1 − γ) / Σ_b e^{(s(b) − s(a)) η}, γ = min{1, √(K log K / ((e − 1) n))}, η = γ/K, for θ([h # a]~) = (s, n)"""
    present, arms, trials, most = len(history.steps) - 1, len(legal), 0, -np.inf
    player = history.steps[present].player
    for i in range(arms):
        stats = find(theta, trial(history, present, legal[i]))
        out[i] = stats.reward[player]
        most = max(most, out[i])
        trials += stats.visits
    gamma = 1.0
    if trials > 0:
        gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * trials)))  # (5)
    eta, total = gamma / arms, 0.0  # (6)
    for i in range(arms):  # scaled by e^(-most η), so that no sum is too great
        out[i] = math.exp((out[i] - most) * eta)
        total += out[i]
    for i in range(arms):
        out[i] = gamma / arms + (1.0 - gamma) * out[i] / total  # (4)


@capture(reads_simulation=False, writes_simulation=False)
def capture_trials(history: History, updates: Updates) -> None:
    """⟨([h_i # a_{i+1}]~, p(a_{i+1})) : h_i a simultaneous decision in the tree⟩"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.phase == SIMULATION:
            return
        if step.choice > 0:
            update(
                updates, trial(history, i, step.action), np.float64(step.probability).view(np.int64)
            )


@backpropagation
def backpropagate_trial(stats: Row, context: int, rewards: Array) -> None:
    """(s + μ/p, n + 1)"""
    probability = np.int64(context).view(np.float64)  # a context is an integer: the bits of p
    for player in range(len(rewards)):
        stats.reward[player] += rewards[player] / probability
    stats.visits += 1


EXP3 = Enhancement(
    name="EXP3",
    records=HISTORY,
    information=RewardsVisits,
    initial=initial(),
    policy=roulette().over(probabilities),
    contexts=Space(("(0, 1]",)),
    capture=capture_trials,
    backpropagation=backpropagate_trial,
)


# ------------------------------------------------------------------------------ simultaneous decisions: regret matching


# Regret matching (Hart and Mas-Colell, 2000) where players choose at once: Lanctot, Wittlinger, Winands and Den Teuling, 2013.
#
# All who choose at once hold, at the history before the first of them is asked, how much they regret not to have played each action, and
# the mean reward of every joint action. An action is played with σ(a) = γ/K + (1 − γ) R⁺(a)/Σ_b R⁺(b), uniformly where nobody regrets
# anything. After a playout with reward μ_ρ in which the others played o, R(a) grows by X̄(a, o) − μ_ρ for each other action a of ρ, X̄
# being the mean reward of both together.
#
# Readings: elsewhere in the tree UCB1 decides, by availability as in the baseline; in the simulation phase all values are equal. A joint
# action never played is worth ½, the 0 of rewards from −1 to 1. Where the tree ended between those who choose at once nothing is
# regretted; where the root lies between them, those before it are left out. The action played is the most visited one, not one drawn from
# the average of all σ. γ is a default to be tuned.


UNKNOWN = 0.5  # the mean reward of a joint action that was never played


@values
def matched(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    share: Fraction = 0.2,
    exploration: float = EXPLORATION,
) -> None:
    """γ/K + (1 − γ) R⁺(a)/Σ_b R⁺(b) at a simultaneous decision, R from θ([h # a]~); else 1 where UCB1 is greatest, 0 for other actions"""
    present = len(history.steps) - 1
    step = history.steps[present]
    if step.phase == SIMULATION:
        out[:] = 1.0
    elif step.choice > 0:
        total = 0.0
        for i in range(len(legal)):
            out[i] = max(0.0, find(theta, trial(history, present, legal[i])).regret)
            total += out[i]
        for i in range(len(legal)):
            out[i] = share / len(legal) + (1.0 - share) * (
                out[i] / total if total > 0.0 else 1.0 / len(legal)
            )
    else:
        write_bounds(history, theta, legal, out, exploration)
        most = -np.inf
        for i in range(len(legal)):
            most = max(most, out[i])
        for i in range(len(legal)):
            out[i] = 1.0 if out[i] == most else 0.0


@capture(reads_simulation=False)
def capture_tree_and_regrets(history: History, theta: Theta, updates: Updates) -> None:
    """ξ of the baseline # ⟨(([h # a_i]~, o_i), ψ_visit)⟩ # ⟨([h # a]~, X̄(a, o_i) − μ_ρi) : a ≠ a_i legal⟩ for all i who chose at once at h

    with o_i what the others chose, X̄(a, o_i) = q_ρi/n for θ([h # a]~, o_i) = (q, n, ·, ·), ½ if n = 0, and all of them in the tree.
    """
    capture_tree(history, updates)
    steps, last, first = history.steps, expanded_at(history), 0
    while first < last:
        end = first + 1
        if steps[first].choice > 0:
            while end <= last and steps[end].choice == steps[end - 1].choice + 1:
                end += 1
            for i in range(first, end if end <= last else first):
                ask_for_regrets(history, theta, updates, first, end, i)
        first = end


@helper
def ask_for_regrets(
    history: History, theta: Theta, updates: Updates, first: int, end: int, i: int
) -> None:
    """The updates of the player at step i, who chose at once with those at all steps from `first` to before `end`."""
    step = history.steps[i]
    for action in legal_at(history, i):
        cell = joint(history, first, end, i, action)
        if action != step.action:
            stats = find(theta, cell)
            mean = stats.reward[step.player] / stats.visits if stats.visits > 0 else UNKNOWN
            regret = mean - history.rewards[step.player]
            if regret != 0.0:
                update(updates, trial(history, i, action), np.float64(regret).view(np.int64))
        elif end - first > 1:
            update(updates, cell, VISIT)


@helper
def joint(history: History, first: int, end: int, i: int, action: int) -> int:
    """The record of an action of the player at step i with what the others chose at once with it, in their order."""
    key = trial(history, i, action)
    for j in range(first, end):
        if j != i:
            key = mix(key, history.steps[j].action)
    return key


@backpropagation
def backpropagate_regret(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1, m + 1, R) if ψ = ψ_visit; (q, n, m + 1, R) if ψ = ψ_avail; (q, n, m, R + ψ) else"""
    if context in (VISIT, AVAILABLE):
        backpropagate(stats, context, rewards)
    else:
        stats.regret += np.int64(context).view(
            np.float64
        )  # a context is an integer: the bits of the regret


REGRET_MATCHING = attrs.evolve(
    BASELINE,
    name="REGRET_MATCHING",
    records=HISTORY | HISTORY * ACTIONS,  # RM-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, regret=REAL),  # RM-2
    policy=roulette().over(matched),  # RM-4
    contexts=Space(("{ψ_avail, ψ_visit} ∪ ℝ",)),  # RM-5
    capture=capture_tree_and_regrets,  # RM-6
    backpropagation=backpropagate_regret,  # RM-7
)


# ======================================================================== what the game tells, or what is proved


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
    BASELINE, name="PROGRESSIVE_BIAS", policy=argmax().over(biased_by_heuristic)
)  # PB-4


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
    lookahead, player = lookahead_at(history, -1), history.steps[-1].player
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

    k(N) the least k ≥ k_init with N ≤ A B^(k − k_init)
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
    BASELINE, name="PROGRESSIVE_UNPRUNING", policy=argmax().over(unpruned)
)  # PU-4


PROGRESSIVE_WIDENING = attrs.evolve(
    BASELINE, name="PROGRESSIVE_WIDENING", policy=argmax().over(widened)
)  # PW-4


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
    ahead, most, total = lookahead_at(history, -1)[:, step.player], 0.0, 0.0
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
def back_up(history: History, theta: Theta, i: int, worth: Array) -> None:
    """Change what the played child of step i is worth to what the history of step i is: best for its player, or the mean over chance.

    In loops over the players: expressions of arrays take the compiler seconds.
    """
    step, place = history.steps[i], place_of_action(history, i)
    of_child, best, total, visits, most = (
        np.zeros(len(worth)),
        np.zeros(len(worth)),
        np.zeros(len(worth)),
        0,
        -1.0,
    )
    for k in range(step.count):
        stats = find(theta, child(history, i, legal_at(history, i)[k]))
        for player in range(len(worth)):
            of_child[player] = (
                stats.worth[player] if stats.visits > 0 else lookahead_at(history, i)[k, player]
            )
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
    information=information(
        reward=REWARDS, visits=COUNT, availability=COUNT, worth=ESTIMATES
    ),  # IM-2
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
        if stats.lower >= most:
            out[i] = np.inf
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
    """Change the values of a selection in the tree by what is proved: what is best is +∞, what another is as good as is left out."""
    step = history.steps[-1]
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
def backpropagate_proofs(stats: Row, context: int, rewards: Array) -> None:
    """(q + μ, n + 1, m + 1, ·, ·) if ψ = ψ_visit; (q, n, m + 1, ·, ·) if ψ = ψ_avail; (·, ·, ·, max{l, ψ}, min{u, ψ}) of the bound ψ"""
    if not tightened(stats, context):
        backpropagate(stats, context, rewards)


SCORE_BOUNDS = Enhancement(
    name="SCORE_BOUNDS",
    records=HISTORY | HISTORY * PLAYER,  # SB-1
    information=information(
        reward=REWARDS, visits=COUNT, availability=COUNT, lower=LIMIT, upper=LIMIT
    ),  # SB-2
    initial=initial(upper=1.0),  # SB-3
    policy=argmax().over(within_bounds),  # SB-4
    contexts=Space(("{ψ_avail, ψ_visit} ∪ [0, 1] ∪ [0, 1]",)),  # SB-5
    capture=capture_tree_and_proofs,  # SB-6
    backpropagation=backpropagate_proofs,  # SB-7
)


MCTS_SOLVER = attrs.evolve(
    SCORE_BOUNDS, name="MCTS_SOLVER", policy=argmax().over(solved)
)  # MCTS-Solver-4


def bounded(enhancement: Enhancement) -> Enhancement:
    """A selection in the tree with score bounds: what is proved best is played, and what is proved no better than another action is not.

    Its readings are those of SCORE_BOUNDS, without weights of the bounds, and of the selection: one by a `@values` function, whose capture
    function does not read θ.
    """
    slots: Any = (enhancement.policy.source, enhancement.capture, enhancement.backpropagation)
    source, of_tree, add = slots
    select, name = helper(source.function), enhancement.name

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
    cut_values.__annotations__ |= source.function.__annotations__
    capture_and_prove.__doc__ = f"ξ of {name} # the bounds of ξ of SCORE_BOUNDS"
    add_or_tighten.__doc__ = f"ω of {name}; (…, max{{l, ψ}}, min{{u, ψ}}) of the bound ψ"
    return attrs.evolve(
        enhancement,
        name=f"BOUNDED_{name}",
        records=enhancement.records | HISTORY * PLAYER,  # Bounded-1
        information=information(
            **dict(enhancement.information.fields), lower=LIMIT, upper=LIMIT
        ),  # Bounded-2
        initial=initial(upper=1.0),  # Bounded-3
        policy=argmax().over(attrs.evolve(source, function=cut_values)),  # Bounded-4
        contexts=Space((f"{enhancement.contexts} ∪ [0, 1] ∪ [0, 1]",)),  # Bounded-5
        capture=capture(
            capture_and_prove, reads_simulation=of_tree.reads_simulation, proves=True
        ),  # Bounded-6
        backpropagation=backpropagation(add_or_tighten),  # Bounded-7
    )


BOUNDED_UCB1_TUNED = bounded(UCB1_TUNED)
BOUNDED_PROGRESSIVE_HISTORY = bounded(PROGRESSIVE_HISTORY)
BOUNDED_GRAVE = bounded(GRAVE)


# ======================================================================== policies of the simulation


# ------------------------------------------------------------------------------------------------------ MAST with decay


# MAST with decay (Tak, Winands and Björnsson, 2014): what was learnt long ago counts less than what was learnt just now.
#
# Simulation decay: when an action was played, what is known of it is multiplied by γ before the result is added. Batch decay: after every
# so many iterations all that is known is multiplied by γ. Their move decay, between the moves of a game, belongs to no slot, because an
# enhancement knows one search only: it is `Agent(BASELINE >> MAST, move_decay=γ)`, whose records are reused from move to move.
#
# Readings: simulation decay is of the actions of the playout, once for each time that they were played. Batch decay is put off until an
# action is played again, which changes no mean. γ, and the size of a batch, are defaults to be tuned. The rule is MAST's own, Gibbs, τ =
# 1; an action never played is worth 1.


@values
def means(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """q/n, 1 if n = 0, for θ(a, ρ) = (q, n, ·)"""
    player = history.steps[-1].player
    for i in range(len(legal)):
        stats = find(theta, record(legal[i], player))
        out[i] = stats.reward / stats.visits if stats.visits > 0 else 1.0


@backpropagation
def backpropagate_decaying(stats: Row, player: int, rewards: Array, decay: Fraction = 0.95) -> None:
    """(γ q + μ_ρ, γ n + 1, ·)"""
    stats.reward = decay * stats.reward + rewards[player]
    stats.visits = decay * stats.visits + 1.0


MAST_SIMULATION_DECAY = attrs.evolve(
    MAST,
    name="MAST_SIMULATION_DECAY",
    information=information(reward=REWARD, visits=REAL_COUNT, batch=NUMBER),  # MAST-Decay-2
    policy=gibbs(temperature=1).over(means),  # MAST-Decay-4
    backpropagation=backpropagate_decaying,  # MAST-Decay-7
    parameters=("decay", "rule"),
    adjust=None,
)


@capture
def capture_actions_with_batch(history: History, updates: Updates, batch: Count = 1000) -> None:
    """⟨((a_i, ρ_i), (ρ_i, ⌊iteration/batch⌋)) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    number = history.iteration // batch
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), number * MAX_PLAYERS + step.player)


@backpropagation
def backpropagate_with_batch(
    stats: Row, context: int, rewards: Array, decay: Fraction = 0.8
) -> None:
    """(γ^{k−b} q + μ_ρ, γ^{k−b} n + 1, k) for ψ = (ρ, k), θ(a, ρ) = (q, n, b); (q + μ_ρ, n + 1, b) if k < b"""
    number = context // MAX_PLAYERS
    factor = decay ** max(0, number - stats.batch)
    stats.reward = factor * stats.reward + rewards[context % MAX_PLAYERS]
    stats.visits = factor * stats.visits + 1.0
    stats.batch = max(
        number, stats.batch
    )  # of threads with the same records one may be a batch behind


MAST_BATCH_DECAY = attrs.evolve(
    MAST_SIMULATION_DECAY,
    name="MAST_BATCH_DECAY",
    contexts=PLAYER * Space(("ℕ₀",)),
    capture=capture_actions_with_batch,
    backpropagation=backpropagate_with_batch,
    parameters=("decay", "batch", "rule"),
)


# -------------------------------------------------------------------------------------- playout policy adaptation (PPA)


# Playout policy adaptation (PPA; Cazenave, 2015): weights of actions that follow the gradient of what the winners played.
#
# Readings: a playout was won by whoever got more than a draw, μ_ρ > ½; all of his decisions adapt his weights, those in the tree too, and
# all by the weights that the playout was played with. An action is the same only when the same player plays it. The rule is Gibbs, τ = 1,
# of the paper; its α was tuned for each game: 0.32 is a default to be tuned.


@values
def weights(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """w for θ(a, ρ) = w"""
    player = history.steps[-1].player
    for i in range(len(legal)):
        out[i] = find(theta, record(legal[i], player)).weight


@capture
def capture_steps_of_winners(
    history: History, theta: Theta, updates: Updates, rate: float = 0.32
) -> None:
    """⟨((a, ρ_i), α ([a = a_{i+1}] − p_i(a))) : a legal at h_i, μ_ρi > ½⟩, p_i(a) ∝ e^w with w = θ(a, ρ_i), 0 ≤ i < t"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE and step.count > 1 and history.rewards[step.player] > DRAW:
            legal = legal_at(history, i)
            most, total = greatest_weight(theta, legal, step.player), 0.0
            for action in legal:
                total += math.exp(find(theta, record(action, step.player)).weight - most)
            for action in legal:
                weight = find(theta, record(action, step.player)).weight
                towards = 1.0 if action == step.action else 0.0
                change = rate * (towards - math.exp(weight - most) / total)
                update(updates, record(action, step.player), np.float64(change).view(np.int64))


@helper
def greatest_weight(theta: Theta, legal: Array, player: int) -> float:
    """The greatest weight of a player's actions, so that no exponential is too great."""
    most = -np.inf
    for action in legal:
        most = max(most, find(theta, record(action, player)).weight)
    return most


@backpropagation
def add_change(stats: Row, context: int, rewards: Array) -> None:
    """w + ψ"""
    stats.weight += np.int64(context).view(
        np.float64
    )  # a context is an integer: the bits of the change


PPA = Enhancement(
    name="PPA",
    records=ACTION * PLAYER,  # PPA-1
    information=information(weight=ESTIMATE),  # PPA-2
    initial=initial(),  # PPA-3
    policy=gibbs(temperature=1).over(weights),  # PPA-4
    contexts=Space(("ℝ",)),  # PPA-5
    capture=capture_steps_of_winners,  # PPA-6
    backpropagation=add_change,  # PPA-7
)


# ----------------------------------------------------------------------------------------- contextual Monte Carlo (CMC)


# Contextual Monte Carlo (CMC; Rimmel and Teytaud, 2010): how good are two actions of one player in the same playout?
#
# Each pair of actions that a player chose in a playout, whichever came first, is a tile. In the simulation a player plays the action
# whose tile with his previous action is the best, if it is good enough; at other times, and where no tile is, uniformly.
#
# Readings: tiles are of all phases and of one search; the previous action is one since the root, before which there is no tile. A pair
# that occurs twice in a playout counts twice, an action with itself not at all. How often a tile decides (35 %) and what is good enough
# (a mean reward above 0.6) are defaults to be tuned.


SHARE = 0.35


@helper
def tile(first: int, second: int, player: int) -> int:
    """The record of two actions of a player, whichever came first."""
    return record(min(first, second), max(first, second), player)


@helper
def previous_action(history: History, i: int) -> int:
    """What the player at step i played at his previous decision since the root; NO_ACTION where that is his first."""
    for j in range(i - 1, -1, -1):
        if history.steps[j].player == history.steps[i].player:
            return history.steps[j].action
    return NO_ACTION


@values
def tiles(
    history: History,
    theta: Theta,
    legal: Array,
    out: Array,
    share: Fraction = SHARE,
    bound: Fraction = 0.6,
) -> None:
    """q/n if it is above the bound, 0 otherwise, for θ({b, a}, ρ_t) = (q, n) with b the previous action of ρ_t"""
    present = len(history.steps) - 1
    before, player = previous_action(history, present), history.steps[present].player
    for i in range(len(legal)):
        out[i] = 0.0
        if before != NO_ACTION and before != legal[i]:
            stats = find(theta, tile(before, legal[i], player))
            if stats.visits > 0 and stats.reward > bound * stats.visits:
                out[i] = stats.reward / stats.visits


@capture
def capture_tiles(history: History, updates: Updates) -> None:
    """⟨(({a_i, a_j}, ρ), ρ) : 1 ≤ i < j ≤ t, a_i ≠ a_j, both played by ρ⟩"""
    steps = history.steps
    for j in range(len(steps) - 1):
        for i in range(j):
            if steps[i].player == steps[j].player != CHANCE and steps[i].action != steps[j].action:
                update(
                    updates,
                    tile(steps[i].action, steps[j].action, steps[j].player),
                    steps[j].player,
                )


def by_share(cmc: Enhancement) -> Enhancement:
    """CMC with the rule of its share: tiles decide so often, and chance at other times."""
    source = cmc.policy.source
    return attrs.evolve(
        cmc, policy=epsilon_greedy(1 - float(dict(source.parameters)["share"])).over(source)
    )


CMC = attrs.evolve(
    MAST,
    name="CMC",
    records=ACTION**2 * PLAYER,  # CMC-1
    policy=epsilon_greedy(1 - SHARE).over(tiles),  # CMC-4
    capture=capture_tiles,  # CMC-6
    parameters=("share", "bound"),
    adjust=by_share,
)


# -------------------------------------------------------------------------- predicate-average sampling technique (PAST)


# Predicate-average sampling technique (PAST; Finnsson and Björnsson, 2010): how good was an action where something was true?
#
# What is true of a state are its features as the game tells them: that the k-th is f, rounded down. An action is worth the greatest of
# its mean reward anywhere, as in MAST, and its mean rewards where what is true now was true.
#
# Readings: those of MAST. A mean with a predicate counts from three visits on; an action never played is worth 1. The rule is MAST's own,
# Gibbs, τ = 1; both are defaults to be tuned. A game without features is refused.


@helper
def predicate(history: History, i: int, k: int, action: int) -> int:
    """The record of an action of the player at step i where the k-th feature is what it is there."""
    return record(k, math.floor(history.features[i, k]), action, history.steps[i].player)


@values
def greatest_mean(
    history: History, theta: Theta, legal: Array, out: Array, least: Count = 3
) -> None:
    """max of q/n for θ(a, ρ) = (q, n) and for all θ(k, ⌊f_k⌋, a, ρ) = (q, n) with n at least 3; 1 if a was never played"""
    for i in range(len(legal)):
        anywhere = find(theta, record(legal[i], history.steps[-1].player))
        out[i] = anywhere.reward / anywhere.visits if anywhere.visits > 0 else 1.0
        for k in range(history.features.shape[1]):
            stats = find(theta, predicate(history, -1, k, legal[i]))
            if stats.visits >= least:
                out[i] = max(out[i], stats.reward / stats.visits)


@capture
def capture_actions_with_predicates(history: History, updates: Updates) -> None:
    """⟨((a_{i+1}, ρ_i), ρ_i)⟩ # ⟨((k, ⌊f_k(h_i)⌋, a_{i+1}, ρ_i), ρ_i) : all k⟩ for i = 0, …, t − 1"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), step.player)
            for k in range(history.features.shape[1]):
                update(updates, predicate(history, i, k, step.action), step.player)


PAST = attrs.evolve(
    MAST,
    name="PAST",
    records=ACTION * PLAYER | Space(("F", "ℤ")) * ACTION * PLAYER,  # PAST-1
    policy=gibbs(temperature=1).over(greatest_mean),  # PAST-4
    capture=capture_actions_with_predicates,  # PAST-6
    parameters=("least", "rule"),
    adjust=None,
)


# ------------------------------------------------------------------------- features-to-action sampling technique (FAST)


# Features-to-action sampling technique (FAST; Finnsson and Björnsson, 2010): what weights of features, learnt by TD(λ), say of an action.
#
# What the game tells of an action is weighed: Q(a) = Σ_k w_k φ_k(a). After a playout the weights of each player go by the delta rule
# towards the λ-returns of his decisions, which lie between what he thought of his later ones and what he got.
#
# Readings: the paper finds pieces and cells of a board by templates, learns a linear value of states made of these, and has a formula for
# each template by which its weights tell what an action is worth, to save the states that actions lead to. Here the game tells features
# of actions, so the linear value is of an action where it is played. Rewards count from −1 to 1: with two players that is the difference
# of both, as in the paper. All decisions of a playout count, those in the tree too, and all by the weights that it was played with. The
# rule is MAST's own, Gibbs, τ = 1. α and λ are defaults to be tuned, α the smaller the greater the features are. A game without features
# of actions is refused.


@helper
def weighed(theta: Theta, numbers: Array, player: int) -> float:
    """Σ_k w_k φ_k for the weights of a player and what is told of an action."""
    worth = 0.0
    for k in range(len(numbers)):
        worth += find(theta, record(k, player)).weight * numbers[k]
    return worth


@values
def weighed_features(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """Σ_k w_k φ_k(a) for θ(k, ρ_t) = w_k, φ_k(a) the k-th feature of a"""
    for i in range(len(legal)):
        out[i] = weighed(theta, action_features_at(history, -1)[i], history.steps[-1].player)


@capture
def capture_differences(
    history: History, theta: Theta, updates: Updates, rate: float = 0.01, trace: Fraction = 0.99
) -> None:
    """⟨((k, ρ), α Σ_j (G_j − Q_j) φ_k(a_j)) : all k and ρ⟩ over the decisions j of ρ, the last one m, with Q_j = Σ_k w_k φ_k(a_j),

    w_k = θ(k, ρ), G_m = 2 μ_ρ − 1, G_j = (1 − λ) Q_{j+1} + λ G_{j+1} for j < m.
    """
    change = np.empty(history.action_features.shape[1])
    for player in range(len(history.rewards)):
        change[:] = 0.0
        to_come = 2.0 * history.rewards[player] - 1.0
        for i in range(len(history.steps) - 2, -1, -1):
            if history.steps[i].player == player:
                numbers = action_features_at(history, i)[place_of_action(history, i)]
                worth = weighed(theta, numbers, player)
                for k in range(len(change)):
                    change[k] += rate * (to_come - worth) * numbers[k]
                to_come = (1.0 - trace) * worth + trace * to_come
        for k in range(len(change)):
            update(updates, record(k, player), np.float64(change[k]).view(np.int64))


FAST = attrs.evolve(
    PPA,
    name="FAST",
    records=Space(("Φ",)) * PLAYER,  # FAST-1
    policy=gibbs(temperature=1).over(weighed_features),  # FAST-4
    capture=capture_differences,  # FAST-6
    parameters=("rate", "trace", "rule"),
)
