"""Counterfactual regret minimization over whole trees: CFR (Zinkevich et al., 2008) and CFR+ (Tammelin, 2014).

As in best responses, an iteration looks at the ends and at what players have seen, and at no history in between: counterfactual values
are gathered from the ends at the views of a player, and passed on from the last view to the first.
"""

import time
from abc import ABC, abstractmethod

import numpy as np

from icarus.checks import count_text, integer, real
from icarus.compiler import array_kernel
from icarus.equilibrium import policies
from icarus.equilibrium.beliefs import shares_of
from icarus.equilibrium.tree import Arrays, GameOrTree, tree_of
from icarus.equilibrium.walk import NOTHING, PLAYERS
from icarus.kernel import AnyGame, State, helper, inlined, structure

SLICE = 0.05  # seconds of compiled code between two chances for Ctrl-C
_CHECK_ITERATIONS = 64  # iterations, at least, between two computations of NashConv


class LoopProgress:
    """How far a compiled loop has come."""

    iterations: int  # iterations, in all
    depth: int  # actions that the tree was gone through, at most


PROGRESS = structure(LoopProgress)


class Learner(ABC):
    """What learns an average policy, in iterations of compiled code between which Ctrl-C may end it."""

    def __init__(self, game: AnyGame) -> None:
        self.game, self._progress = game, np.zeros(1, PROGRESS)

    @property
    def iterations(self) -> int:
        """Made so far, in all."""
        return int(self._progress["iterations"][0])

    @abstractmethod
    def sample(self, iterations: int) -> None:
        """Make iterations in compiled code, which counts them in `_progress`."""

    def make(self, iterations: int) -> None:
        """Make `iterations` more, as `run`.

        Raises:
            ValueError: `iterations` is not a positive integer.
        """
        self.run(self.iterations + integer("iterations", iterations, 1))

    def run(self, target: int) -> None:
        """Go on until `target` iterations have been made in all. Ctrl-C is raised between two, and loses none.

        Raises:
            ValueError: `target` is not a positive integer.
        """
        goal = integer("iterations", target, 1)
        count = 1
        while self.iterations < goal:
            started = time.perf_counter()
            self.sample(min(count, goal - self.iterations))
            elapsed = max(time.perf_counter() - started, 1e-6)
            in_slice = max(1, int(count * SLICE / elapsed))
            count = min(8 * count, in_slice)

    @abstractmethod
    def policy_at(self, state: State) -> np.ndarray:
        """The average policy in the information set of a state; uniform where nothing is known. [actions]"""

    @property
    def average(self) -> policies.TabularPolicy:
        """The average policy over the tree of the game, if that is not too large; uniform where nothing is known."""
        return policies.tabulate(self.game, self.policy_at)

    def exploitability(self) -> policies.Exploitability:
        """How far the average policy is from an equilibrium, if it were kept for a whole match."""
        return policies.exploitability(self.game, self)

    algorithm: object = None  # its settings, if it has any

    def __repr__(self) -> str:
        name = self.algorithm or type(self).__name__
        return f"<{name} in {self.game} after {count_text(self.iterations, 'iteration')}>"


@inlined
def match_regrets(regrets: np.ndarray, count: int, gamma: float, out: np.ndarray) -> None:
    """The mixture in proportion to the positive ones of the first `count` regrets (Hart and Mas-Colell, 2000), with a share `gamma` of the
    uniform one, which it is where there are none.
    """
    total = 0.0
    for k in range(count):
        out[k] = max(regrets[k], 0.0)
        total += out[k]
    even = (gamma if total > 0.0 else 1.0) / count
    scale = (1.0 - gamma) / total if total > 0.0 else 0.0
    for k in range(count):
        out[k] = even + scale * out[k]


@helper
def update_regrets(
    tree: Arrays,
    policy: np.ndarray,
    values: np.ndarray,
    actions: np.ndarray,
    regrets: np.ndarray,
    player: int,
    least: float,
) -> None:
    """Add the counterfactual regrets of a player's actions, given the values of what ends at his views; none falls below the least.

    Args:
        actions: room for what each is worth; all that is read is written before. [slots]
    """
    for i in range(len(tree.views) - 1, -1, -1):
        view = tree.views[i]
        if view.player != player:
            continue
        if view.set != NOTHING:
            info_set, expected = tree.sets[view.set], 0.0
            slots = range(info_set.slot, info_set.slot + info_set.count)
            for slot in slots:
                expected += policy[slot] * actions[slot]
            for slot in slots:
                regrets[slot] = max(regrets[slot] + (actions[slot] - expected), least)
            values[i] += expected
        policies.pass_up(view, values[i], values, actions)


@array_kernel("counterfactual regret minimization")
def minimize(
    tree: Arrays,
    regrets: np.ndarray,
    sums: np.ndarray,
    policy: np.ndarray,
    counters: np.ndarray,
    iterations: int,
    plus: bool,
) -> int:
    """Go on with so many more iterations, counted in one row of PROGRESS: the players in turn, each against the other's newest policy.

    Args:
        regrets: cumulative. [slots]
        sums: weights of the average policy: the player's own part in reaching the set, times the iteration in CFR+. [slots]
        policy: the current one of both players. [slots]
    """
    progress, reached = counters[0], np.empty(len(tree.views))
    values, actions = np.empty(len(tree.views)), np.empty(len(policy))
    for _ in range(iterations):
        weight, least = (progress.iterations + 1.0, 0.0) if plus else (1.0, -np.inf)
        for player in range(PLAYERS):
            policies.reach(tree.views, policy, reached)
            values[:] = 0.0
            policies.gather_utilities(tree.ends, reached, player, values)
            update_regrets(tree, policy, values, actions, regrets, player, least)
            for i in range(len(tree.sets)):
                info_set = tree.sets[i]
                first, count = info_set.slot, info_set.count
                if info_set.player == player:
                    for slot in range(first, first + count):
                        sums[slot] += weight * reached[info_set.last_view] * policy[slot]
                    match_regrets(regrets[first:], count, 0.0, policy[first:])
        progress.iterations += 1
    return 0


class CFR(Learner):
    """Counterfactual regret minimization under way: `run(n)` goes on to n iterations in all. The average converges to an equilibrium.

    Attributes:
        tree: of the game.
        iterations: in each both players' regrets are updated once, in turn.
        regrets, sums: the cumulative regrets, and the weights of the average policy. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`.
    """

    plus = False

    def __init__(self, game: GameOrTree) -> None:
        self.tree = tree_of(game)
        super().__init__(self.tree.game)
        self.regrets, self.sums = np.zeros((2, len(self.tree.slots)))
        self._policy = policies.uniform_policy(self.tree).probabilities

    def policy_at(self, state: State) -> np.ndarray:
        return shares_of(self.sums[self.tree.slots_of(self.tree.set_at(state))])

    @property
    def average(self) -> policies.TabularPolicy:
        return policies.normalise(self.tree, self.sums)

    def exploitability(self) -> policies.Exploitability:
        return policies.exploitability(self.tree, self)

    def sample(self, iterations: int) -> None:
        minimize(
            self.tree.arrays,
            self.regrets,
            self.sums,
            self._policy,
            self._progress,
            iterations,
            self.plus,
        )


class CFRPlus(CFR):
    """CFR+: regrets do not fall below 0, and the average weighs each iteration by its number."""

    plus = True


def near_equilibrium(
    game: GameOrTree, epsilon: float = 0.001, most: int = 1_000_000
) -> policies.TabularPolicy:
    """An ε-equilibrium by CFR+: its NashConv is at most `epsilon`, in the units of the game's utilities.

    Args:
        most: iterations after which to give up.

    Raises:
        ValueError: epsilon is not positive, it was not reached, or the game has no tree (see `GameTree`).
    """
    epsilon = real("epsilon", epsilon, 0, above=True)
    most = integer("most", most, 1)
    solver = CFRPlus(game)
    while solver.iterations < most:
        more = max(_CHECK_ITERATIONS, solver.iterations // 4)
        solver.run(min(solver.iterations + more, most))
        nash_conv = solver.exploitability().nash_conv
        if nash_conv <= epsilon:
            return solver.average
    spent = f"after {count_text(most, 'iteration')} of CFR+ in {solver.game}"
    raise ValueError(f"{spent} NashConv is {nash_conv:.3g}, not {epsilon:g}")
