"""What all solvers have in common: regrets, an average policy that converges to an equilibrium, and iterations that Ctrl-C may end."""

from abc import ABC, abstractmethod

import numpy as np

from icarus.checks import integer
from icarus.equilibrium.solvers.best_response import Exploitability, exploitability
from icarus.equilibrium.tree.control import new_control, run_interruptibly
from icarus.equilibrium.tree.policies import TabularPolicy, normalise
from icarus.equilibrium.tree.tree import GameOrTree, tree_of


class Solver(ABC):
    """Counterfactual regret minimization under way: `run` can be called repeatedly.

    Attributes:
        tree: of the game.
        iterations: in each both players' regrets are updated once, in turn.
        regrets, sums: the cumulative regrets, and the weights of the average policy. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`.
    """

    def __init__(self, game: GameOrTree) -> None:
        self.tree, self._control = tree_of(game), new_control()
        self.regrets, self.sums = np.zeros(len(self.tree.slots)), np.zeros(len(self.tree.slots))

    @property
    def iterations(self) -> int:
        """Made so far."""
        return int(self._control["iterations"][0])

    def run(self, iterations: int) -> None:
        """Make so many more iterations. Ctrl-C is raised after one, and loses none."""
        run_interruptibly(self._control, integer("iterations", iterations, 1), self._loop)

    @abstractmethod
    def _loop(self, iterations: int) -> None:
        """At most so many iterations in compiled code, counted in `_control`."""

    @property
    def average(self) -> TabularPolicy:
        """The average policy, which converges to an equilibrium."""
        return normalise(self.tree, self.sums)

    @property
    def current(self) -> TabularPolicy:
        """The policy of the regrets."""
        return normalise(self.tree, np.maximum(self.regrets, 0.0))

    def exploitability(self) -> Exploitability:
        """How far the average policy is from an equilibrium."""
        return exploitability(self.tree, self.average)

    def __repr__(self) -> str:
        return f"<{self} in {self.tree.game} after {self.iterations} iterations>"

    def __str__(self) -> str:
        return type(self).__name__
