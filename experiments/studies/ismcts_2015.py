"""ISMCTS over a whole game tree, compiled: a bandit in every information set (Lanctot, Lisý and Bowling, 2015; 2014 for the bandits).

An iteration begins at the deal, or at a history drawn from the information set searched for; goes through the information sets in
memory by their bandits; adds the first that is not there, with an action drawn uniformly; and plays on uniformly. All bandits on the
way learn the reward of their players.

What a player saw of the deal is part of his information sets, his own and the other's alike, and the tree is kept in a match. (In
MO-ISMCTS, which `search` runs, the nodes of the other players do not tell their hands apart, and each decision begins anew.)
"""

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import attrs
import numpy as np

from icarus import checks
from icarus.equilibrium.arrays import END_SET, NOTHING, InfoSet, kernel
from icarus.equilibrium.sampling import draw_slot
from icarus.equilibrium.search import OnlineAlgorithm, OnlineSearch, register
from icarus.equilibrium.tree import GameOrTree, GameTree
from icarus.kernel import CHANCE, inlined, uniform
from icarus.kernel.contract import structure
from icarus.kernel.game import Game

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
def search_by_bandits(tree: Bandits, starts: np.ndarray, sums: np.ndarray, counters: np.ndarray, count: int) -> int:
    """So many iterations.

    Args:
        starts: the histories that iterations begin with.
        sums: of their probabilities up to each, the last 1. [starts]
        counters: [1] of PROGRESS.
    """
    progress = counters[0]
    for _ in range(count):
        start = np.searchsorted(sums, uniform(tree.rng), side="right") if len(starts) > 1 else 0
        progress.depth = max(progress.depth, iterate(tree, starts[start]))
        progress.iterations += 1
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


# The papers': C = 2 max u, where gains go from −max u to max u; γ = 0.2.
EXPLORATION = {UCB1: 1.0, REGRET_MATCHING: 0.2}


@attrs.frozen(kw_only=True, repr=False)
class ISMCTS(OnlineAlgorithm):
    """ISMCTS over a whole game tree, with a bandit in every information set.

    Attributes:
        selection: the bandit: "UCB1", "regret matching" (from rewards over their probabilities; Hart and Mas-Colell, 2000) or "EXP3".
        exploration: c of UCB1, for rewards between 0 and 1, or γ of regret matching, how much of the uniform policy is mixed in; None for
            1.0 and 0.2, as in the papers. EXP3 takes none: its γ falls with the trials (Cowling, Powley and Whitehouse, 2012, eq. 5).

    The policy to play from is the share of the visits, with regret matching and EXP3 the mean of the policies, exploration left out.

    Raises:
        ValueError: a setting has an invalid value.
    """

    selection: str = UCB1
    exploration: float | None = None

    def __attrs_post_init__(self) -> None:
        checks.one_of("selection", self.selection, SELECTIONS)
        if self.exploration is not None:
            if self.selection == EXP3:
                raise ValueError(
                    f"exploration is {self.exploration!r}; EXP3 has no such setting, because it computes its own from the trials"
                )
            most = 1 if self.selection == REGRET_MATCHING else 1e9
            checks.real("exploration", self.exploration, 0, most, above=self.selection == REGRET_MATCHING)

    def begin(self, game: GameOrTree, seed: int | Sequence[int] = 0) -> "ISMCTSSearch":
        """A search that has learned nothing yet."""
        return ISMCTSSearch(game, self, seed=seed)

    def settings(self, game: Game) -> np.ndarray:
        """[1] of BANDIT."""
        settings, (low, high) = np.zeros(1, BANDIT), game.utilities
        settings["selection"], settings["target_set"] = SELECTIONS.index(self.selection), NOTHING
        settings["exploration"] = EXPLORATION.get(self.selection, 0.0) if self.exploration is None else self.exploration
        settings["low"], settings["range"] = low, high - low
        return settings


@functools.lru_cache(maxsize=4)
def _parts_of_chance(tree: GameTree) -> np.ndarray:
    """The probability that chance does its part to come to each history. [nodes]"""
    reach_probabilities = np.zeros(len(tree.nodes))
    reach_by_chance(tree.nodes, tree.sets, tree.slots["probability"].copy(), reach_probabilities)
    return reach_probabilities


class ISMCTSSearch(OnlineSearch):
    """ISMCTS over a whole game tree in one match: `run` may be called at each decision, and the tree stays.

    A search begins with the histories of the information set searched for, each as likely as chance makes it, whatever the players
    did. `make` without a `run` before it searches from the deal.

    Attributes:
        tree: of the game.
        algorithm: the settings.
        arms: what the bandits have learned. [slots] of ARM
        in_memory: whether an information set is. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no settings.
    """

    algorithm: ISMCTS
    LEARNED = ("_learned", "in_memory")

    def __init__(self, game: GameOrTree, algorithm: ISMCTS | None = None, *, seed: int | Sequence[int] = 0) -> None:
        algorithm = ISMCTS() if algorithm is None else algorithm
        if not isinstance(algorithm, ISMCTS):
            raise TypeError(f"the settings must be ISMCTS(selection=…, exploration=…), not {algorithm!r}")
        super().__init__(game, algorithm, seed)
        tree = self.tree
        self._learned = np.zeros((len(tree.slots), len(ARM.names or ())))  # numpy copies records slowly
        self._set_views()
        self._settings = algorithm.settings(tree.game)
        self._path, self._sigma = np.zeros(tree.depth, TRIAL), np.zeros(len(self._visits))
        self._starts, self._shares = np.zeros(1, np.int64), np.ones(1)
        search_by_bandits.prepare(*self._arguments(0))  # compiled before a clock runs

    def _set_views(self) -> None:
        self.arms = self._learned.view(ARM)[:, 0]
        self.sums = self.arms["weight"]

    def __setstate__(self, state: dict[str, object]) -> None:
        """A copy, or what was pickled: its views are of its own array."""
        vars(self).update(state)
        self._set_views()

    def aim(self, number: int) -> None:
        """Begin with the histories of an information set."""
        self._starts = self.tree.histories_of(number)
        self._shares = np.cumsum(_parts_of_chance(self.tree)[self._starts])
        self._shares = self._shares / self._shares[-1]
        self._shares[-1] = 1.0
        self.target_set = number
        self._settings["target_set"] = number

    def sample(self, iterations: int) -> None:
        """At most so many iterations in compiled code."""
        search_by_bandits(*self._arguments(iterations))

    def _arguments(self, iterations: int) -> tuple[object, ...]:
        tree = self.tree
        arrays = Bandits(
            *(tree.nodes, tree.sets, tree.ends, self.arms, self.in_memory, self._visits, self._chance_policy),
            *(self._settings, self._rng, self._path, self._sigma),
        )
        return arrays, self._starts, self._shares, self._progress, iterations

    @property
    def updates(self) -> np.ndarray:  # type: ignore[override]
        """How often the average policy was updated in each information set: the trials of its bandit. [sets]"""
        return np.add.reduceat(self.arms["trials"], self.tree.sets["slot"])

    def values_in(self, number: int) -> np.ndarray:
        """The mean reward after each action of an information set, by UCB1; nan where it was not tried."""
        if self.algorithm.selection != UCB1:
            return super().values_in(number)
        arms = self.arms[self.tree.slots_of(number)]
        return np.divide(arms["score"], arms["trials"], out=np.full(len(arms), np.nan), where=arms["trials"] > 0)


register(ISMCTS, "ISMCTS over a whole game tree")
