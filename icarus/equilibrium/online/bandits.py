"""ISMCTS over a whole game tree, compiled: a bandit in every information set (Lanctot, Lisý and Bowling, 2015; 2014 for the bandits).

An iteration begins at the deal, or at a history drawn from the information set searched for; goes through the information sets in
memory by their bandits; adds the first that is not there, with an action drawn uniformly; and plays on uniformly. All bandits on the
way learn the reward of their players.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from icarus.compiler.kernels.kernel import compiled
from icarus.compiler.kernels.pointers import address_of, array_at
from icarus.compiler.lazy import types
from icarus.equilibrium.solvers.control import CONTROL, is_interrupted
from icarus.equilibrium.solvers.mccfr import draw_slot
from icarus.equilibrium.tree.arrays import END, END_SET, NODE, SET
from icarus.equilibrium.tree.growth import rows
from icarus.kernel import CHANCE, inlined, uniform

UCB1, REGRET_MATCHING, EXP3 = "UCB1", "regret matching", "EXP3"
SELECTIONS = (UCB1, REGRET_MATCHING, EXP3)
BANDIT = np.dtype(
    [
        ("selection", np.int64),  # index in SELECTIONS
        ("exploration", np.float64),  # c of UCB1, γ of regret matching
        ("aimed", np.int64),  # the information set searched for, whose visits are counted
        ("low", np.float64),  # the gain at a reward of 0
        ("range", np.float64),  # and how much more at one of 1
    ],
    align=True,
)
ARM = np.dtype(
    [  # an action in an information set
        (
            "gain",
            np.float64,
        ),  # UCB1: sum of rewards; regret matching: regret; EXP3: sum of rewards over their probabilities
        ("trials", np.float64),
        ("weight", np.float64),  # in the average policy, exploration left out
    ]
)
TRIAL = np.dtype(
    [  # of an iteration
        ("set", np.int64),
        ("slot", np.int64),
        ("chance", np.float64),  # the probability that the bandit chose this action
    ],
    align=True,
)


_REAL, _WORD, _RNG, _BYTE = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.uint8)


class Bandits(NamedTuple):
    """A tree, what is learned about it, and room to choose in."""

    nodes: np.ndarray
    sets: np.ndarray
    ends: np.ndarray
    arms: np.ndarray
    known: np.ndarray
    visits: np.ndarray
    odds: np.ndarray
    settings: Any
    rng: np.ndarray
    path: np.ndarray
    sigma: np.ndarray


@inlined
def by_ucb1(of: Bandits, one: Any) -> int:
    """An index: an action not tried yet, drawn uniformly; or the one with the highest q/n + c √(log N / n), equal ones drawn so."""
    total, best, equal, chosen = 0.0, -math.inf, 0.0, 0
    for slot in range(one.slot, one.slot + one.count):
        total += of.arms[slot].trials
    for k in range(one.count):
        arm, value = of.arms[one.slot + k], math.inf
        if arm.trials > 0.0:
            value = arm.gain / arm.trials + of.settings.exploration * math.sqrt(math.log(total) / arm.trials)
        if value > best:
            best, equal, chosen = value, 1.0, k
        elif value == best:
            equal += 1.0
            if uniform(of.rng) * equal < 1.0:
                chosen = k
    return chosen


@inlined
def match(of: Bandits, one: Any) -> float:
    """Into `sigma`: the policy of the regrets; returns γ."""
    total = 0.0
    for k in range(one.count):
        of.sigma[k] = max(of.arms[one.slot + k].gain, 0.0)
        total += of.sigma[k]
    for k in range(one.count):
        of.sigma[k] = of.sigma[k] / total if total > 0.0 else 1.0 / one.count
    return of.settings.exploration


@inlined
def weigh(of: Bandits, one: Any) -> float:
    """Into `sigma`: 1 / Σ_b e^{(s(b) − s(a)) η}; returns γ (Cowling, Powley and Whitehouse, 2012, eqs. 4-6)."""
    arms, trials, most, total = one.count, 0.0, -math.inf, 0.0
    for slot in range(one.slot, one.slot + arms):
        trials += of.arms[slot].trials
        most = max(most, of.arms[slot].gain)
    gamma = 1.0 if trials == 0.0 else min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * trials)))
    for k in range(arms):
        of.sigma[k] = math.exp((of.arms[one.slot + k].gain - most) * gamma / arms)
        total += of.sigma[k]
    for k in range(arms):
        of.sigma[k] /= total
    return gamma


@inlined
def explored(of: Bandits, one: Any, trial: Any, gamma: float) -> int:
    """An index drawn by `sigma` with γ of the uniform policy mixed in; its probability is entered."""
    chosen = one.count - 1
    if uniform(of.rng) < gamma:
        chosen = int(uniform(of.rng) * one.count)
    else:
        point = uniform(of.rng)
        for k in range(one.count - 1):
            point -= of.sigma[k]
            if point < 0.0:
                chosen = k
                break
    trial.chance = gamma / one.count + (1.0 - gamma) * of.sigma[chosen]
    for k in range(one.count):
        of.arms[one.slot + k].weight += of.sigma[k]
    return chosen


@inlined
def chosen_by_bandit(of: Bandits, one: Any, trial: Any, new: bool) -> int:
    """An index: where an information set is new by uniform choice, then by its bandit; the average policy is updated."""
    if new:
        trial.chance = 1.0 / one.count
        chosen = int(uniform(of.rng) * one.count)
        if of.settings.selection != 0:
            for k in range(one.count):
                of.arms[one.slot + k].weight += trial.chance
    elif of.settings.selection == 0:
        chosen = by_ucb1(of, one)
    else:
        gamma = match(of, one) if of.settings.selection == 1 else weigh(of, one)
        chosen = explored(of, one, trial, gamma)
    if of.settings.selection == 0:
        of.arms[one.slot + chosen].weight += 1.0
    return chosen


@inlined
def learn(of: Bandits, trial: Any, reward: float) -> None:
    """Tell a bandit what came of its choice."""
    arm = of.arms[trial.slot]
    arm.trials += 1.0
    if of.settings.selection == 0:
        arm.gain += reward
        return
    arm.gain += reward / trial.chance
    if of.settings.selection == 1:
        one = of.sets[trial.set]
        for slot in range(one.slot, one.slot + one.count):
            of.arms[slot].gain -= reward


@inlined
def iterate(of: Bandits, start: int) -> int:
    """One iteration from a history; returns how many actions of players were made in the tree."""
    node, length, new = start, 0, False
    while of.nodes[node].set != END_SET:
        number = of.nodes[node].set
        one = of.sets[number]
        if one.player == CHANCE:
            k = draw_slot(of.odds, one, of.rng) - one.slot
        elif new:
            k = int(uniform(of.rng) * one.count)
        else:
            new = of.known[number] == 0
            of.known[number] = 1
            k = chosen_by_bandit(of, one, of.path[length], new)
            of.path[length].set, of.path[length].slot = number, one.slot + k
            length += 1
            if number == of.settings.aimed:
                of.visits[k] += 1
        node = of.nodes[node].child + k
    reward = (of.ends[of.nodes[node].child].gain - of.settings.low) / of.settings.range
    for i in range(length):
        learn(of, of.path[i], reward if of.sets[of.path[i].set].player == 0 else 1.0 - reward)
    return length


def search_by_bandits(
    nodes: np.ndarray,
    sets: np.ndarray,
    ends: np.ndarray,
    arms: np.ndarray,
    known: np.ndarray,
    visits: np.ndarray,
    odds: np.ndarray,
    settings: np.ndarray,
    rng: np.ndarray,
    path: np.ndarray,
    sigma: np.ndarray,
    starts: np.ndarray,
    sums: np.ndarray,
    control: np.ndarray,
    count: int,
) -> int:
    """So many iterations; Ctrl-C ends them after one.

    Args:
        sigma: room for the policy of a bandit. [actions]
        starts: the histories that iterations begin with.
        sums: of their probabilities up to each, the last 1. [starts]
        control: told how many iterations were made.
    """
    of = Bandits(  # views that own nothing, as in Online Outcome Sampling
        array_at(address_of(nodes), len(nodes), NODE),
        array_at(address_of(sets), len(sets), SET),
        array_at(address_of(ends), len(ends), END),
        array_at(address_of(arms), len(arms), ARM),
        array_at(address_of(known), len(known), _BYTE),
        array_at(address_of(visits), len(visits), _WORD),
        array_at(address_of(odds), len(odds), _REAL),
        array_at(address_of(settings), 1, BANDIT)[0],
        array_at(address_of(rng), len(rng), _RNG),
        array_at(address_of(path), len(path), TRIAL),
        array_at(address_of(sigma), len(sigma), _REAL),
    )
    going = array_at(address_of(control), 1, CONTROL)[0]
    for _ in range(count):
        start = np.searchsorted(sums, uniform(rng), side="right") if len(starts) > 1 else 0
        going.deepest = max(going.deepest, iterate(of, starts[start]))
        going.made += 1
        if is_interrupted(going):
            break
    return 0


def reach_by_chance(nodes: np.ndarray, sets: np.ndarray, odds: np.ndarray, reached: np.ndarray) -> int:
    """The probability that chance does its part to come to each history. [nodes]"""
    reached[0] = 1.0
    for node in range(len(nodes)):
        if nodes[node].set != END_SET:
            one = sets[nodes[node].set]
            for k in range(one.count):
                part = odds[one.slot + k] if one.player == CHANCE else 1.0
                reached[nodes[node].child + k] = reached[node] * part
    return 0


@functools.cache
def bandits() -> Any:
    """`search_by_bandits` as machine code."""
    reals = types.float64[::1]
    tables = (rows(NODE), rows(SET), rows(END), rows(ARM), types.uint8[::1], types.int64[::1], reals)
    rest = (rows(BANDIT), types.uint64[::1], rows(TRIAL), reals, types.int64[::1], reals, rows(CONTROL), types.int64)
    return compiled(search_by_bandits, types.int64(*tables, *rest), "search by bandits")


@functools.cache
def reaching_by_chance() -> Any:
    """`reach_by_chance` as machine code."""
    reals = types.float64[::1]
    return compiled(reach_by_chance, types.int64(rows(NODE), rows(SET), reals, reals), "chance's part in histories")
