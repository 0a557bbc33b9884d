"""Selection in the tree without knowledge: other bandits, what is known of an action anywhere, and players who choose at once.

Most are the baseline with another policy: `m` counts how often an action was available, and in the simulation phase every value is +∞.
"""

import math
from typing import Annotated

import attrs
import numpy as np

from icarus.algebra import (
    ACTION,
    ACTIONS,
    COUNT,
    HISTORY,
    PLAYER,
    REAL,
    REAL_COUNT,
    REWARDS,
    VISIT_OR_AVAILABLE,
    Enhancement,
    RewardsVisits,
    RewardsVisitsAvailability,
    Space,
    argmax,
    backpropagation,
    capture,
    information,
    initial,
    roulette,
    values,
)
from icarus.algebra.slots import Fraction, Range
from icarus.kernel import (
    AVAILABLE,
    CHANCE,
    NONE,
    SIMULATION,
    VISIT,
    History,
    Row,
    Theta,
    Updates,
    child,
    expanded_at,
    extended,
    find,
    helper,
    inlined,
    legal_at,
    mix,
    record,
    uniform,
    update,
)
from icarus.specs.baseline import BASELINE, EXPLORATION, backpropagate, bound_of, bounds, capture_tree, write_bounds

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
    legal: np.ndarray,
    out: np.ndarray,
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
    history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, exploration: float = math.sqrt(2.0)
) -> None:
    """q_ρ/n + √(log m / n · min{1/4, s_ρ/n − (q_ρ/n)² + c √(log m / n)}), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, s, n, m)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        out[i] = np.inf
        stats = find(theta, child(history, present, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            mean, rate = stats.reward[step.player] / stats.visits, math.log(stats.availability) / stats.visits
            variance = stats.squares[step.player] / stats.visits - mean * mean + exploration * math.sqrt(rate)
            out[i] = mean + math.sqrt(rate * max(0.0, min(MOST_VARIANCE, variance)))


@backpropagation
def backpropagate_squares(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(q + μ, s + μ², n + 1, m + 1) if ψ = ψ_visit; (q, s, n, m + 1) if ψ = ψ_avail"""
    if context == VISIT:
        for player in range(len(rewards)):
            stats.reward[player] += rewards[player]
            stats.squares[player] += rewards[player] * rewards[player]
        stats.visits += 1
    stats.availability += 1


UCB1_TUNED = Enhancement(
    name="UCB1_TUNED",
    records=HISTORY,  # UCB1-Tuned-1
    information=information(reward=REWARDS, squares=REWARDS, visits=COUNT, availability=COUNT),  # UCB1-Tuned-2
    initial=initial(),  # UCB1-Tuned-3
    policy=argmax().over(tuned),  # UCB1-Tuned-4
    contexts=VISIT_OR_AVAILABLE,  # UCB1-Tuned-5
    capture=capture_tree,  # UCB1-Tuned-6
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
def divergence_bounds(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """max{q ∈ [0, 1] : n d(q_ρ/n, q) ≤ log m}, +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        out[i] = np.inf
        stats = find(theta, child(history, present, legal[i]))
        if stats.visits > 0 and stats.availability > 0:
            out[i] = upper_bound(stats.reward[step.player] / stats.visits, math.log(stats.availability) / stats.visits)


KL_UCB = attrs.evolve(BASELINE, name="KL_UCB", policy=argmax().over(divergence_bounds))  # KL-UCB-4


# ---------------------------------------------------------------------------------------------------- Thompson sampling


# Thompson sampling (Thompson, 1933; Chapelle and Li, 2011): an action is chosen as probably as it is the best, by what is known.
#
# Readings: the prior of a mean reward is uniform, Beta(1, 1); rewards need not be 0 or 1, only in [0, 1], and count as so much of a
# success. In the simulation phase every value is +∞, as the baseline's are. A Beta is made of two Gammas (Marsaglia and Tsang, 2000),
# these of normal numbers (by the polar method) and uniform ones, all from the search's own generator.


@helper
def normal(rng: np.ndarray) -> float:
    """A standard normal number."""
    x, square = 0.0, 0.0
    while square >= 1.0 or square == 0.0:
        x, y = 2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0
        square = x * x + y * y
    return x * math.sqrt(-2.0 * math.log(square) / square)


@helper
def gamma(rng: np.ndarray, shape: float) -> float:
    """A Gamma number of this shape, at least 1, and of scale 1."""
    d = shape - 1.0 / 3.0
    while True:
        x = normal(rng)
        v = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        if v > 0.0 and math.log(1.0 - uniform(rng)) < x * x / 2.0 + d - d * v + d * math.log(v):
            return d * v


@values(uniform_in_simulation=True)
def drawn_means(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """a number drawn from Beta(1 + q_ρ, 1 + n − q_ρ) for θ([h # a]~) = (q, n, ·)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
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
def backpropagate_discounted(stats: Row, context: int, rewards: np.ndarray, discount: Discount = 0.999) -> None:
    """(γ q + μ, γ n + 1, γ m + 1) if ψ = ψ_visit; (γ q, γ n, γ m + 1) if ψ = ψ_avail"""
    visited = 1.0 if context == VISIT else 0.0
    for player in range(len(rewards)):
        stats.reward[player] = discount * stats.reward[player] + visited * rewards[player]
    stats.visits = discount * stats.visits + visited
    stats.availability = discount * stats.availability + 1.0


DISCOUNTED_UCB = Enhancement(
    name="DISCOUNTED_UCB",
    records=HISTORY,  # D-UCB-1
    information=information(reward=REWARDS, visits=REAL_COUNT, availability=REAL_COUNT),  # D-UCB-2
    initial=initial(),  # D-UCB-3
    policy=argmax().over(bounds),  # D-UCB-4
    contexts=VISIT_OR_AVAILABLE,  # D-UCB-5
    capture=capture_tree,  # D-UCB-6
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
    legal: np.ndarray,
    out: np.ndarray,
    least: int = 50,
    bias: float = 1e-5,
    exploration: float = 0.0,
) -> None:
    """(1 − β) q_ρ/n + β q̃_ρ/ñ + c √(log Σ / n), β = ñ/(ñ + n + bias ñ n), for θ([h # a]~) = (q, n, ·, ·), θ([h' # a]~) = (·, ·, q̃, ñ)

    with h' the longest beginning of h that has more than `least` visits, and Σ the visits of all legal actions.
    """
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        out[i] = np.inf
    reference = present
    while reference > 0 and find(theta, history.steps[reference].record).visits <= least:
        reference -= 1
    trials = 0
    for i in range(len(legal)):
        trials += find(theta, child(history, present, legal[i])).visits
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        first = find(theta, extended(history.keys[reference, step.perspective], step.player, legal[i]))
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
            if steps[j].player != CHANCE and not was_played(history, i, j):
                update(
                    updates, extended(history.keys[i, steps[j].perspective], steps[j].player, steps[j].action), AS_FIRST
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
def backpropagate_as_first(stats: Row, context: int, rewards: np.ndarray) -> None:
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
    information=information(reward=REWARDS, visits=COUNT, reward_as_first=REWARDS, visits_as_first=COUNT),  # GRAVE-2
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
    legal: np.ndarray,
    out: np.ndarray,
    influence: float = 5.0,
    exploration: float = EXPLORATION,
) -> None:
    """q_ρ/n + c √(log m / n) + s_a/n_a · W/(n − q_ρ + 1), +∞ if n = 0 or m = 0, for θ([h # a]~) = (q, n, m), θ(a, ρ) = (s_a, n_a, ·)"""
    present = len(history.steps) - 1
    step = history.steps[present]
    for i in range(len(legal)):
        stats = find(theta, child(history, present, legal[i]))
        out[i] = bound_of(stats, step.player, exploration)
        anywhere = find(theta, record(legal[i], step.player))
        # Another thread may be between its update of the one and of the other.
        if out[i] < np.inf and anywhere.visits > 0:
            losses = max(0.0, stats.visits - stats.reward[step.player])
            out[i] += anywhere.reward[step.player] / anywhere.visits * influence / (losses + 1.0)


@capture
def capture_tree_and_actions(history: History, updates: Updates) -> None:
    """ξ of the baseline # ⟨((a_i, ρ_i), ψ_visit) : i = 1, …, t⟩ with ρ_i the player of a_i"""
    capture_tree(history, updates)
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), VISIT)


PROGRESSIVE_HISTORY = Enhancement(
    name="PROGRESSIVE_HISTORY",
    records=HISTORY | ACTION * PLAYER,  # PH-1
    information=RewardsVisitsAvailability,  # PH-2
    initial=initial(),  # PH-3
    policy=argmax().over(biased_by_history),  # PH-4
    contexts=VISIT_OR_AVAILABLE,  # PH-5
    capture=capture_tree_and_actions,  # PH-6
    backpropagation=backpropagate,  # PH-7
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
    capture_tree(history, updates)
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, record(step.action, step.player), ANYWHERE)


@backpropagation
def backpropagate_anywhere(stats: Row, context: int, rewards: np.ndarray, discount: Discount = 0.99) -> None:
    """(γ q + μ, γ n + 1, m + 1), γ = 1 if ψ = ψ_visit; (q, n, m + 1) if ψ = ψ_avail"""
    if context != AVAILABLE:
        factor = discount if context == ANYWHERE else 1.0
        for player in range(len(rewards)):
            stats.reward[player] = factor * stats.reward[player] + rewards[player]
        stats.visits = factor * stats.visits + 1.0
    stats.availability += 1


DISCOUNTED_HISTORY = Enhancement(
    name="DISCOUNTED_HISTORY",
    records=HISTORY | ACTION * PLAYER,  # DH-1
    information=information(reward=REWARDS, visits=REAL_COUNT, availability=COUNT),  # DH-2
    initial=initial(),  # DH-3
    policy=argmax().over(biased_by_history),  # DH-4
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
def first_winner(rewards: np.ndarray) -> int:
    """The first player who got more than a draw; NONE where nobody did."""
    for player in range(len(rewards)):
        if rewards[player] > DRAW:
            return player
    return NONE


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
def capture_tree_with_bonus(history: History, theta: Theta, updates: Updates, steepness: float = 1.0) -> None:
    """ξ of the baseline with ψ = b in place of ψ_visit # ⟨(ρ, t)⟩ with ρ the winner"""
    steps, winner, bonus = history.steps, first_winner(history.rewards), 0.0
    if winner != NONE:
        bonus = bonus_of(find(theta, record(winner)), len(steps) - 1, steepness)
    bits = np.float64(NO_BONUS + bonus).view(np.int64)
    last = expanded_at(history)
    for i in range(last + 1):
        update(updates, steps[i].record, bits)
    for i in range(last):
        for action in legal_at(history, i):
            if action != steps[i].action:
                update(updates, child(history, i, action), NOT_PLAYED)
    if winner != NONE:
        update(updates, record(winner), -(len(steps) - 1))


@backpropagation
def backpropagate_with_bonus(stats: Row, context: int, rewards: np.ndarray, bonus: float = 0.25) -> None:
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


RELATIVE_BONUS = Enhancement(
    name="RELATIVE_BONUS",
    records=HISTORY | PLAYER,  # RB-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, lengths=REAL, squares=REAL),  # RB-2
    initial=initial(),  # RB-3
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
    step, first = history.steps[i], i
    while (
        first > 0
        and history.steps[first].choice > 1
        and history.steps[first - 1].choice == history.steps[first].choice - 1
    ):
        first -= 1
    return extended(history.keys[first, step.perspective], step.player, action)


@values
def probabilities(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
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
            update(updates, trial(history, i, step.action), np.float64(step.probability).view(np.int64))


@backpropagation
def backpropagate_trial(stats: Row, context: int, rewards: np.ndarray) -> None:
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
    legal: np.ndarray,
    out: np.ndarray,
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
            out[i] = share / len(legal) + (1.0 - share) * (out[i] / total if total > 0.0 else 1.0 / len(legal))
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
def ask_for_regrets(history: History, theta: Theta, updates: Updates, first: int, end: int, i: int) -> None:
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
def backpropagate_regret(stats: Row, context: int, rewards: np.ndarray) -> None:
    """(q + μ, n + 1, m + 1, R) if ψ = ψ_visit; (q, n, m + 1, R) if ψ = ψ_avail; (q, n, m, R + ψ) else"""
    if context in (VISIT, AVAILABLE):
        backpropagate(stats, context, rewards)
    else:
        stats.regret += np.int64(context).view(np.float64)  # a context is an integer: the bits of the regret


REGRET_MATCHING = Enhancement(
    name="REGRET_MATCHING",
    records=HISTORY | HISTORY * ACTIONS,  # RM-1
    information=information(reward=REWARDS, visits=COUNT, availability=COUNT, regret=REAL),  # RM-2
    initial=initial(),  # RM-3
    policy=roulette().over(matched),  # RM-4
    contexts=Space(("{ψ_avail, ψ_visit} ∪ ℝ",)),  # RM-5
    capture=capture_tree_and_regrets,  # RM-6
    backpropagation=backpropagate_regret,  # RM-7
)
