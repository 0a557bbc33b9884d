"""ISMCTS over a whole game tree, compiled: a bandit in every information set (Lanctot, Lisý and Bowling, 2015; 2014 for the bandits).

An iteration begins at the deal, or at a history drawn from the information set searched for; goes through the information sets in
memory by their bandits; adds the first that is not there, with an action drawn uniformly; and plays on uniformly. All bandits on the
way learn the reward of their players.
"""

import math
from typing import NamedTuple

import numpy as np

from icarus.compiler.kernels.atomic import is_interrupted
from icarus.equilibrium.solvers.mccfr import draw_slot
from icarus.equilibrium.tree.arrays import END_SET, InfoSet
from icarus.equilibrium.tree.kernel import kernel, unowned
from icarus.kernel import CHANCE, inlined, uniform
from icarus.kernel.structures import structure

UCB1, REGRET_MATCHING, EXP3 = "UCB1", "regret matching", "EXP3"
SELECTIONS = (UCB1, REGRET_MATCHING, EXP3)


class Bandit:
    """How all bandits of a search choose."""

    selection: int  # index in SELECTIONS
    exploration: float  # c of UCB1, γ of regret matching
    target_set: int  # the information set searched for, whose visits are counted
    low: float  # the utility at a reward of 0
    range: float  # and how much more at one of 1


class Arm:
    """An action in an information set."""

    score: float  # UCB1: sum of rewards; regret matching: regret; EXP3: sum of rewards over their probabilities
    trials: float
    weight: float  # in the average policy, exploration left out


class Trial:
    """A choice of an iteration."""

    set: int
    slot: int
    probability: float  # the probability that the bandit chose this action


BANDIT, ARM, TRIAL = map(structure, (Bandit, Arm, Trial))


class Bandits(NamedTuple):
    """A tree, what is learned about it, and room to choose in."""

    nodes: np.ndarray
    sets: np.ndarray
    ends: np.ndarray
    arms: np.ndarray
    in_memory: np.ndarray
    visits: np.ndarray
    chance_policy: np.ndarray
    settings: np.ndarray  # [1] of BANDIT
    rng: np.ndarray
    path: np.ndarray
    sigma: np.ndarray  # room for the policy of a bandit. [actions]


@inlined
def choose_by_ucb1(tree: Bandits, info_set: InfoSet) -> int:
    """An index: an action not tried yet, drawn uniformly; or the one with the highest q/n + c √(log N / n), equal ones drawn so."""
    total, best, equal, choice = 0.0, -math.inf, 0.0, 0
    for slot in range(info_set.slot, info_set.slot + info_set.count):
        total += tree.arms[slot].trials
    for k in range(info_set.count):
        arm, value = tree.arms[info_set.slot + k], math.inf
        if arm.trials > 0.0:
            value = arm.score / arm.trials + tree.settings[0].exploration * math.sqrt(math.log(total) / arm.trials)
        if value > best:
            best, equal, choice = value, 1.0, k
        elif value == best:
            equal += 1.0
            if uniform(tree.rng) * equal < 1.0:
                choice = k
    return choice


@inlined
def regret_policy(tree: Bandits, info_set: InfoSet) -> float:
    """Into `sigma`: the policy of the regrets; returns γ."""
    total = 0.0
    for k in range(info_set.count):
        tree.sigma[k] = max(tree.arms[info_set.slot + k].score, 0.0)
        total += tree.sigma[k]
    for k in range(info_set.count):
        tree.sigma[k] = tree.sigma[k] / total if total > 0.0 else 1.0 / info_set.count
    return tree.settings[0].exploration


@inlined
def exp3_policy(tree: Bandits, info_set: InfoSet) -> float:
    """Into `sigma`: 1 / Σ_b e^{(s(b) − s(a)) η}; returns γ (Cowling, Powley and Whitehouse, 2012, eqs. 4-6)."""
    arms, trials, most, total = info_set.count, 0.0, -math.inf, 0.0
    for slot in range(info_set.slot, info_set.slot + arms):
        trials += tree.arms[slot].trials
        most = max(most, tree.arms[slot].score)
    gamma = 1.0 if trials == 0.0 else min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * trials)))
    for k in range(arms):
        tree.sigma[k] = math.exp((tree.arms[info_set.slot + k].score - most) * gamma / arms)
        total += tree.sigma[k]
    for k in range(arms):
        tree.sigma[k] /= total
    return gamma


@inlined
def draw_exploring(tree: Bandits, info_set: InfoSet, trial: Trial, gamma: float) -> int:
    """An index drawn by `sigma` with γ of the uniform policy mixed in; its probability is entered."""
    choice = info_set.count - 1
    if uniform(tree.rng) < gamma:
        choice = int(uniform(tree.rng) * info_set.count)
    else:
        point = uniform(tree.rng)
        for k in range(info_set.count - 1):
            point -= tree.sigma[k]
            if point < 0.0:
                choice = k
                break
    trial.probability = gamma / info_set.count + (1.0 - gamma) * tree.sigma[choice]
    for k in range(info_set.count):
        tree.arms[info_set.slot + k].weight += tree.sigma[k]
    return choice


@inlined
def choose(tree: Bandits, info_set: InfoSet, trial: Trial, new: bool) -> int:
    """An index: where an information set is new by uniform choice, then by its bandit; the average policy is updated."""
    if new:
        trial.probability = 1.0 / info_set.count
        choice = int(uniform(tree.rng) * info_set.count)
        if tree.settings[0].selection != 0:
            for k in range(info_set.count):
                tree.arms[info_set.slot + k].weight += trial.probability
    elif tree.settings[0].selection == 0:
        choice = choose_by_ucb1(tree, info_set)
    else:
        gamma = regret_policy(tree, info_set) if tree.settings[0].selection == 1 else exp3_policy(tree, info_set)
        choice = draw_exploring(tree, info_set, trial, gamma)
    if tree.settings[0].selection == 0:
        tree.arms[info_set.slot + choice].weight += 1.0
    return choice


@inlined
def update(tree: Bandits, trial: Trial, reward: float) -> None:
    """Tell a bandit what came of its choice."""
    arm = tree.arms[trial.slot]
    arm.trials += 1.0
    if tree.settings[0].selection == 0:
        arm.score += reward
        return
    arm.score += reward / trial.probability
    if tree.settings[0].selection == 1:
        info_set = tree.sets[trial.set]
        for slot in range(info_set.slot, info_set.slot + info_set.count):
            tree.arms[slot].score -= reward


@inlined
def iterate(tree: Bandits, start: int) -> int:
    """One iteration from a history; returns how many actions of players were made in the tree."""
    node, length, new = start, 0, False
    while tree.nodes[node].set != END_SET:
        number = tree.nodes[node].set
        info_set = tree.sets[number]
        if info_set.player == CHANCE:
            k = draw_slot(tree.chance_policy, info_set, tree.rng) - info_set.slot
        elif new:
            k = int(uniform(tree.rng) * info_set.count)
        else:
            new = tree.in_memory[number] == 0
            tree.in_memory[number] = 1
            k = choose(tree, info_set, tree.path[length], new)
            tree.path[length].set, tree.path[length].slot = number, info_set.slot + k
            length += 1
            if number == tree.settings[0].target_set:
                tree.visits[k] += 1
        node = tree.nodes[node].child + k
    reward = (tree.ends[tree.nodes[node].child].utility - tree.settings[0].low) / tree.settings[0].range
    for i in range(length):
        update(tree, tree.path[i], reward if tree.sets[tree.path[i].set].player == 0 else 1.0 - reward)
    return length


@kernel("search by bandits")
def search_by_bandits(tree: Bandits, starts: np.ndarray, sums: np.ndarray, control: np.ndarray, count: int) -> int:
    """So many iterations; Ctrl-C ends them after one.

    Args:
        starts: the histories that iterations begin with.
        sums: of their probabilities up to each, the last 1. [starts]
        control: counts the iterations made.
    """
    tree, progress = unowned(tree), control[0]
    for _ in range(count):
        start = np.searchsorted(sums, uniform(tree.rng), side="right") if len(starts) > 1 else 0
        progress.depth = max(progress.depth, iterate(tree, starts[start]))
        progress.iterations += 1
        if is_interrupted(progress):
            break
    return 0


@kernel("chance's part in histories")
def reach_by_chance(
    nodes: np.ndarray, sets: np.ndarray, chance_policy: np.ndarray, reach_probabilities: np.ndarray
) -> int:
    """The probability that chance does its part to come to each history. [nodes]"""
    reach_probabilities[0] = 1.0
    for node in range(len(nodes)):
        if nodes[node].set != END_SET:
            info_set = sets[nodes[node].set]
            for k in range(info_set.count):
                part = chance_policy[info_set.slot + k] if info_set.player == CHANCE else 1.0
                reach_probabilities[nodes[node].child + k] = reach_probabilities[node] * part
    return 0
