"""A player near an equilibrium, to play against."""

import functools
import time
from collections.abc import Sequence

import attrs
import numpy as np

from icarus import checks
from icarus.compiler.kernels.rng import seeded
from icarus.equilibrium.online.result import OnlineResult, draw
from icarus.equilibrium.online.settings import Settings
from icarus.equilibrium.solvers.cfr import near_equilibrium
from icarus.equilibrium.tree.policies import TabularPolicy
from icarus.equilibrium.tree.tree import GameTree, tree_of
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State

EPSILON = 0.001


@attrs.frozen(repr=False)
class NearEquilibrium(Settings):
    """A player who draws from an ε-equilibrium, found by CFR+ when he first sits down to a game. He searches nothing, whatever his budget.

    Attributes:
        epsilon: its NashConv at most, in the units of the game's utilities.

    Raises:
        ValueError: epsilon is not positive.
    """

    epsilon: float = EPSILON

    def __attrs_post_init__(self) -> None:
        checks.real("epsilon", self.epsilon, 0, above=True)

    def seated(self, game: AnyGame, *, iterations: int | None = None, seconds: float | None = None) -> "SeatedPolicy":
        """The player of one match."""
        return SeatedPolicy(self, _near(tree_of(game), self.epsilon))


@functools.lru_cache(maxsize=4)
def _near(tree: GameTree, epsilon: float) -> TabularPolicy:
    return near_equilibrium(tree, epsilon)


@attrs.frozen
class SeatedPolicy:
    """A player in one match who draws from a table."""

    algorithm: NearEquilibrium
    policy: TabularPolicy
    preference: None = None

    def search(self, state: State, seed: int | Sequence[int], progress: object = None) -> OnlineResult:
        """An action drawn; nothing is searched, so that there is no progress to tell."""
        started, tree = time.perf_counter(), self.policy.tree
        number = tree.set_at(state)
        actions, policy = tree.actions(number), self.policy.at(number).copy()
        action = draw(actions, policy, seeded(checks.seed(seed)))
        visits, values = np.zeros(len(actions), np.int64), np.full(len(actions), np.nan)
        seconds = time.perf_counter() - started
        return OnlineResult(
            *(action, actions, policy, visits, values, 0, 0, len(tree.decisions), seconds),
            *(state.clone(), self.algorithm, seed),
        )
