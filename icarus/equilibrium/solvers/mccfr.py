"""Monte Carlo counterfactual regret minimization over whole trees (Lanctot, Waugh, Zinkevich and Bowling, 2009).

External sampling draws chance and the other player and tries all actions of one's own; outcome sampling draws a single end, with some
exploration where the player whose regrets are updated acts. Each iteration updates both players, in turn; average policies are
updated where the other player acts.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from icarus import checks
from icarus.compiler.kernels.atomic import is_interrupted
from icarus.compiler.kernels.rng import seeded
from icarus.equilibrium.solvers.regret_matching import match_regrets
from icarus.equilibrium.solvers.solver import Solver
from icarus.equilibrium.tree.arrays import END_SET, PLAYERS, End, InfoSet
from icarus.equilibrium.tree.kernel import kernel, unowned
from icarus.equilibrium.tree.tree import GameOrTree
from icarus.kernel import CHANCE, helper, inlined, uniform
from icarus.kernel.structures import structure

EXTERNAL, OUTCOME = "external", "outcome"
EXPLORATION = 0.6  # of outcome sampling, as in the experiments of 2009


class Step:
    """A step of a sampled history."""

    set: int
    slot: int  # of the action drawn
    others: float  # probability that the other player and chance do their part up to here
    node: int  # the history itself
    tried: int  # actions done with


STEP = structure(Step)


class Solving(NamedTuple):
    """A tree and what is learned about it."""

    nodes: np.ndarray
    sets: np.ndarray
    slots: np.ndarray
    ends: np.ndarray
    regrets: np.ndarray
    sums: np.ndarray
    policy: np.ndarray
    rng: np.ndarray


@inlined
def draw_slot(probabilities: np.ndarray, info_set: InfoSet, rng: np.ndarray) -> int:
    """A slot of an information set, drawn by the probabilities of all slots."""
    point = uniform(rng)
    for slot in range(info_set.slot, info_set.slot + info_set.count - 1):
        point -= probabilities[slot]
        if point < 0.0:
            return slot
    return info_set.slot + info_set.count - 1


@inlined
def end_value(end: End, player: int) -> float:
    """What a player wins at an end."""
    return end.utility if player == 0 else -end.utility


@inlined
def draw_child(tree: Solving, node: int) -> int:
    """The history after an action of chance or of the other player, drawn; his average policy is updated."""
    info_set = tree.sets[tree.nodes[node].set]
    if info_set.player != CHANCE:
        match_regrets(tree.regrets, info_set.slot, info_set.count, tree.policy)
        for slot in range(info_set.slot, info_set.slot + info_set.count):
            tree.sums[slot] += tree.policy[slot]
    return tree.nodes[node].child + draw_slot(tree.policy, info_set, tree.rng) - info_set.slot


@inlined
def update_regrets_of(tree: Solving, info_set: InfoSet, values: np.ndarray) -> float:
    """Update the regrets of an information set, given what each of its actions is worth; returns what it is worth itself."""
    mixed = 0.0
    for k in range(info_set.count):
        mixed += tree.policy[info_set.slot + k] * values[k]
    for k in range(info_set.count):
        tree.regrets[info_set.slot + k] += values[k] - mixed
    return mixed


@helper
def external_sampling(tree: Solving, player: int, path: np.ndarray, values: np.ndarray) -> None:
    """Walk all actions of a player, and for each one drawn of chance and of the other, from the start; update his regrets.

    Args:
        values: room for what the actions along a path are worth. [depth, actions]
    """
    node, depth = 0, -1
    while True:
        if tree.nodes[node].set != END_SET:
            info_set = tree.sets[tree.nodes[node].set]
            if info_set.player == player:
                match_regrets(tree.regrets, info_set.slot, info_set.count, tree.policy)
                depth += 1
                path[depth].set, path[depth].node, path[depth].tried = tree.nodes[node].set, node, 0
                node = tree.nodes[node].child
            else:
                node = draw_child(tree, node)
            continue
        value = end_value(tree.ends[tree.nodes[node].child], player)
        while depth >= 0:
            step, info_set = path[depth], tree.sets[path[depth].set]
            values[depth, step.tried] = value
            step.tried += 1
            if step.tried < info_set.count:
                node = tree.nodes[step.node].child + step.tried
                break
            value = update_regrets_of(tree, info_set, values[depth])
            depth -= 1
        if depth < 0:
            return


@inlined
def draw_exploring(tree: Solving, info_set: InfoSet, exploration: float) -> int:
    """A slot drawn by the current policy, or with the probability of exploration uniformly."""
    if uniform(tree.rng) < exploration:
        return info_set.slot + int(uniform(tree.rng) * info_set.count)
    return draw_slot(tree.policy, info_set, tree.rng)


@helper
def outcome_sampling(tree: Solving, player: int, exploration: float, path: np.ndarray) -> None:
    """Draw one end; update a player's regrets, and the other's average policy, along its history."""
    node, depth, others, sampled = 0, 0, 1.0, 1.0
    while tree.nodes[node].set != END_SET:
        step, info_set = path[depth], tree.sets[tree.nodes[node].set]
        if info_set.player != CHANCE:
            match_regrets(tree.regrets, info_set.slot, info_set.count, tree.policy)
        exploration_here = exploration if info_set.player == player else 0.0
        slot = draw_exploring(tree, info_set, exploration_here)
        step.set, step.slot, step.others = tree.nodes[node].set, slot, others
        if info_set.player not in (player, CHANCE):
            for i in range(info_set.slot, info_set.slot + info_set.count):
                tree.sums[i] += others / sampled * tree.policy[i]
        sampled *= exploration_here / info_set.count + (1.0 - exploration_here) * tree.policy[slot]
        others *= 1.0 if info_set.player == player else tree.policy[slot]
        node = tree.nodes[node].child + slot - info_set.slot
        depth += 1
    update_regrets(tree, player, path[:depth], end_value(tree.ends[tree.nodes[node].child], player) / sampled)


@inlined
def update_regrets(tree: Solving, player: int, path: np.ndarray, value: float) -> None:
    """Add the sampled counterfactual regrets, from the end of a path back to its start.

    Args:
        value: the utility at its end over the probability of the sample.
    """
    tail = 1.0  # probability of what follows the action drawn
    for depth in range(len(path) - 1, -1, -1):
        step = path[depth]
        info_set, reach = tree.sets[step.set], tail * tree.policy[step.slot]
        if info_set.player == player:
            for slot in range(info_set.slot, info_set.slot + info_set.count):
                tree.regrets[slot] -= reach * value * step.others
            tree.regrets[step.slot] += tail * value * step.others
        tail = reach


@kernel("Monte Carlo counterfactual regret minimization")
def sample(
    tree: Solving, path: np.ndarray, values: np.ndarray, exploration: float, control: np.ndarray, iterations: int
) -> int:
    """So many iterations of outcome sampling, or of external sampling where exploration is negative; Ctrl-C ends it after one.

    Args:
        path, values: room for a path, and for what the actions along it are worth. [depth], [depth, actions]
        control: counts the iterations made.
    """
    tree, progress = unowned(tree), control[0]
    for _ in range(iterations):
        for player in range(PLAYERS):
            if exploration < 0.0:
                external_sampling(tree, player, path, values)
            else:
                outcome_sampling(tree, player, exploration, path)
        progress.iterations += 1
        if is_interrupted(progress):
            break
    return 0


class MCCFR(Solver):
    """Monte Carlo counterfactual regret minimization under way; `run` can be called repeatedly.

    Args:
        sampling: "external" or "outcome".
        exploration: ε of outcome sampling.
        seed: an integer ≥ 0, or several as a key. It fixes everything.

    Attributes as of a `Solver`.

    Raises:
        ValueError, TypeError: as for a `GameTree`; no such sampling; exploration that is not above 0 and at most 1; a bad seed.
    """

    def __init__(
        self,
        game: GameOrTree,
        sampling: str = EXTERNAL,
        *,
        exploration: float = EXPLORATION,
        seed: int | Sequence[int] = 0,
    ) -> None:
        checks.one_of("sampling", sampling, (EXTERNAL, OUTCOME))
        self.exploration = checks.real("exploration", exploration, 0, 1, above=True)
        key = checks.seed(seed)
        super().__init__(game)
        self.sampling = sampling
        self._policy, self._rng = self.tree.slots["probability"].copy(), seeded(key)
        self._path = np.zeros(self.tree.depth, STEP)
        self._values = np.zeros((self.tree.depth, int(self.tree.sets["count"].max())))

    def sample(self, iterations: int) -> None:
        tree = self.tree
        arrays = (tree.nodes, tree.sets, tree.slots, tree.ends, self.regrets, self.sums, self._policy, self._rng)
        exploration = self.exploration if self.sampling == OUTCOME else -1.0
        sample(Solving(*arrays), self._path, self._values, exploration, self._control, iterations)

    def __str__(self) -> str:
        return f"MCCFR by {self.sampling} sampling"
