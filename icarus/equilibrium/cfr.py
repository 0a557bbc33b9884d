"""Counterfactual regret minimization over whole trees: CFR (Zinkevich et al., 2008) and CFR+ (Tammelin, 2014).

As in best responses, an iteration looks at the ends and at what players have seen, and at no history in between: counterfactual values
are gathered from the ends at the views of a player, and passed on from the last view to the first.
"""

import time
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from icarus.checks import count_text, integer, real
from icarus.equilibrium import policies
from icarus.equilibrium.beliefs import shares_of
from icarus.equilibrium.tree import Arrays, GameOrTree, tree_of
from icarus.equilibrium.walk import NOTHING, PLAYERS, kernel
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
        """So many iterations in compiled code, which counts them in `_progress`."""

    def make(self, iterations: int) -> None:
        """Make so many more iterations. Ctrl-C is raised after one, and loses none.

        Raises:
            ValueError: `iterations` is not a positive integer.
        """
        goal, count = self.iterations + integer("iterations", iterations, 1), 1
        while self.iterations < goal:
            started = time.perf_counter()
            self.sample(min(count, goal - self.iterations))
            count = max(
                1, min(8 * count, int(count * SLICE / max(time.perf_counter() - started, 1e-6)))
            )

    def run(self, target: int) -> None:
        """Go on until so many iterations have been made in all.

        Raises:
            ValueError: `target` is not a positive integer.
        """
        if integer("iterations", target, 1) > self.iterations:
            self.make(target - self.iterations)

    @abstractmethod
    def policy_at(self, state: State) -> np.ndarray:
        """The average policy in the information set of a state; uniform where nothing is known. [actions]"""

    @property
    @abstractmethod
    def average(self) -> policies.TabularPolicy:
        """The average policy over the tree of the game; uniform where nothing is known."""

    def exploitability(self) -> policies.Exploitability:
        """How far the average policy is from an equilibrium, if it were kept for a whole match."""
        return policies.exploitability(self.game, self)

    algorithm: object = None  # its settings, if it has any

    def __repr__(self) -> str:
        name = self.algorithm or type(self).__name__
        return f"<{name} in {self.game} after {count_text(self.iterations, 'iteration')}>"


@inlined
def match_regrets(
    regrets: np.ndarray, slot: int, count: int, gamma: float, out: np.ndarray, place: int
) -> None:
    """The mixture in proportion to the positive regrets of `count` slots (Hart and Mas-Colell, 2000), with a share `gamma` of the uniform
    one, which it is where there are none; from `place` on in `out`.
    """
    total = 0.0
    for k in range(count):
        out[place + k] = max(regrets[slot + k], 0.0)
        total += out[place + k]
    even = (gamma if total > 0.0 else 1.0) / count
    scale = (1.0 - gamma) / total if total > 0.0 else 0.0
    for k in range(count):
        out[place + k] = even + scale * out[place + k]


class Regrets(NamedTuple):
    """What counterfactual regret minimization has learned, and room to work in."""

    regrets: np.ndarray  # cumulative [slots]
    # Weights of the average policy: the player's own part in reaching the set, times the iteration in CFR+ [slots].
    sums: np.ndarray
    policy: np.ndarray  # the current one of both players, and chance's outcomes [slots]
    reach: np.ndarray  # [views]
    # of the ends at a player's views, overwritten from the last to the first [views]
    values: np.ndarray
    actions: np.ndarray  # what each is worth: all that is read is written before [slots]


@helper
def update_regrets(tree: Arrays, learned: Regrets, player: int, plus: bool) -> None:
    """Add the counterfactual regrets of a player's actions, given what ends at his views; in CFR+ none falls below 0."""
    for i in range(len(tree.views) - 1, -1, -1):
        view = tree.views[i]
        if view.player != player:
            continue
        if view.set != NOTHING:
            info_set, expected = tree.sets[view.set], 0.0
            for slot in range(info_set.slot, info_set.slot + info_set.count):
                expected += learned.policy[slot] * learned.actions[slot]
            for slot in range(info_set.slot, info_set.slot + info_set.count):
                learned.regrets[slot] += learned.actions[slot] - expected
                if plus and learned.regrets[slot] < 0.0:
                    learned.regrets[slot] = 0.0
            learned.values[i] += expected
        policies.pass_up(view, learned.values[i], learned.values, learned.actions)


@kernel("counterfactual regret minimization")
def minimize(
    tree: Arrays, learned: Regrets, counters: np.ndarray, iterations: int, plus: bool
) -> int:
    """Go on with so many more iterations, counted in one row of PROGRESS: the players in turn, each against the other's newest policy."""
    progress = counters[0]
    for _ in range(iterations):
        for player in range(PLAYERS):
            policies.reach(tree.views, learned.policy, learned.reach)
            for i in range(len(tree.views)):
                learned.values[i] = 0.0
            policies.gather_utilities(tree.ends, learned.reach, player, learned.values)
            update_regrets(tree, learned, player, plus)
            weight = progress.iterations + 1.0 if plus else 1.0
            for i in range(len(tree.sets)):
                info_set = tree.sets[i]
                if info_set.player == player:
                    for slot in range(info_set.slot, info_set.slot + info_set.count):
                        learned.sums[slot] += (
                            weight * learned.reach[info_set.last_view] * learned.policy[slot]
                        )
                    match_regrets(
                        learned.regrets,
                        info_set.slot,
                        info_set.count,
                        0.0,
                        learned.policy,
                        info_set.slot,
                    )
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
        slots, views = len(self.tree.slots), len(self.tree.views)
        self.regrets, self.sums = np.zeros((2, slots))
        policy = policies.uniform_policy(self.tree).probabilities
        self._learned = Regrets(
            self.regrets, self.sums, policy, np.empty(views), np.empty(views), np.empty(slots)
        )

    def policy_at(self, state: State) -> np.ndarray:
        return shares_of(self.sums[self.tree.slots_of(self.tree.set_at(state))])

    @property
    def average(self) -> policies.TabularPolicy:
        return policies.normalise(self.tree, self.sums)

    def sample(self, iterations: int) -> None:
        minimize(self.tree.arrays, self._learned, self._progress, iterations, self.plus)


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
    epsilon, most = real("epsilon", epsilon, 0, above=True), integer("most", most, 1)
    solver = CFRPlus(game)
    while solver.iterations < most:
        more = max(_CHECK_ITERATIONS, solver.iterations // 4)
        solver.run(min(solver.iterations + more, most))
        nash_conv = solver.exploitability().nash_conv
        if nash_conv <= epsilon:
            return solver.average
    spent = f"after {count_text(most, 'iteration')} of CFR+ in {solver.game}"
    raise ValueError(f"{spent} NashConv is {nash_conv:.3g}, not {epsilon:g}")
