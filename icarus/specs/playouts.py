"""Enhancements of other papers that decide in the simulation: by what is known of an action, of pairs, predicates and features."""

import math

import attrs
import numpy as np

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.bandits import DRAW
from icarus.specs.baseline import bits_of, real_of
from icarus.specs.knowledge import place_of_action
from icarus.specs.mast import MAST

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
    stats.batch = max(number, stats.batch)


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
            most = greatest_weight(theta, legal, step.player)
            total = 0.0
            for action in legal:
                total += math.exp(find(theta, record(action, step.player)).weight - most)
            for action in legal:
                weight = find(theta, record(action, step.player)).weight
                towards = 1.0 if action == step.action else 0.0
                change = rate * (towards - math.exp(weight - most) / total)
                update(updates, record(action, step.player), bits_of(change))


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
    stats.weight += real_of(context)


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
    share: Fraction = SHARE,  # read by the rule that `by_share` makes of it
    bound: Fraction = 0.6,
) -> None:
    """q/n if it is above the bound, 0 otherwise, for θ({b, a}, ρ_t) = (q, n) with b the previous action of ρ_t"""
    present = len(history.steps) - 1
    before = previous_action(history, present)
    player = history.steps[present].player
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
        to_come = 2.0 * history.rewards[player] - 1.0  # G
        for i in range(len(history.steps) - 2, -1, -1):
            if history.steps[i].player == player:
                numbers = action_features_at(history, i)[place_of_action(history, i)]
                worth = weighed(theta, numbers, player)  # Q
                for k in range(len(change)):
                    change[k] += rate * (to_come - worth) * numbers[k]
                to_come = (1.0 - trace) * worth + trace * to_come
        for k in range(len(change)):
            # a context is an integer, whose bits the backpropagation reads as a real number
            update(updates, record(k, player), bits_of(change[k]))


FAST = attrs.evolve(
    PPA,
    name="FAST",
    records=Space(("Φ",)) * PLAYER,  # FAST-1
    policy=gibbs(temperature=1).over(weighed_features),  # FAST-4
    capture=capture_differences,  # FAST-6
    parameters=("rate", "trace", "rule"),
)
