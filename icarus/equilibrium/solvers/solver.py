"""What all solvers have in common: regrets, an average policy that converges to an equilibrium, and iterations that Ctrl-C may end."""

from abc import ABC, abstractmethod

import numpy as np

from icarus.checks import count_text, integer
from icarus.equilibrium.solvers.best_response import Exploitability, exploitability
from icarus.equilibrium.tree.control import new_control, run_interruptibly
from icarus.equilibrium.tree.policies import TabularPolicy, normalise
from icarus.equilibrium.tree.tree import GameOrTree, tree_of


class Learner(ABC):
    """What learns an average policy over a whole tree, in iterations of compiled code that Ctrl-C may end.

    Attributes:
        tree: of the game.
        sums: weights of the average policy. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`.
    """

    def __init__(self, game: GameOrTree) -> None:
        self.tree, self._control = tree_of(game), new_control()
        self.sums = np.zeros(len(self.tree.slots))

    @property
    def iterations(self) -> int:
        """Made so far, in all."""
        return int(self._control["iterations"][0])

    @abstractmethod
    def sample(self, iterations: int) -> None:
        """At most so many iterations in compiled code, which enters what it has made in `_control`."""

    def make(self, iterations: int) -> None:
        """Make so many more iterations. Ctrl-C is raised after one, and loses none.

        Raises:
            ValueError: `iterations` is not a positive integer.
        """
        run_interruptibly(self._control, integer("iterations", iterations, 1), self.sample)

    @property
    def average(self) -> TabularPolicy:
        """The average policy; uniform where nothing is known."""
        return normalise(self.tree, self.sums)


class Solver(Learner):
    """Counterfactual regret minimization under way: `run` can be called repeatedly. The average policy converges to an equilibrium.

    Attributes:
        tree: of the game.
        iterations: in each both players' regrets are updated once, in turn.
        regrets, sums: the cumulative regrets, and the weights of the average policy. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`.
    """

    def __init__(self, game: GameOrTree) -> None:
        super().__init__(game)
        self.regrets = np.zeros(len(self.tree.slots))

    def run(self, iterations: int) -> None:
        """Make so many more iterations. Ctrl-C is raised after one, and loses none.

        Raises:
            ValueError: `iterations` is not a positive integer.
        """
        self.make(iterations)

    @property
    def current(self) -> TabularPolicy:
        """The policy of the regrets."""
        return normalise(self.tree, np.maximum(self.regrets, 0.0))

    def exploitability(self) -> Exploitability:
        """How far the average policy is from an equilibrium."""
        return exploitability(self.tree, self.average)

    def __repr__(self) -> str:
        return f"<{self} in {self.tree.game} after {count_text(self.iterations, 'iteration')}>"

    def __str__(self) -> str:
        return type(self).__name__
