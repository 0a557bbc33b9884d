"""A player near an equilibrium, to play against."""

import functools
import time
from collections.abc import Sequence

import attrs
import numpy as np

from icarus import checks
from icarus.compiler.kernels.rng import seeded, uniform
from icarus.equilibrium.online.searching import OnlineResult
from icarus.equilibrium.online.settings import read, written
from icarus.equilibrium.solvers.cfr import near_equilibrium
from icarus.equilibrium.tree.policies import TabularPolicy
from icarus.equilibrium.tree.tree import tree_of
from icarus.kernel.game import Game, State

EPSILON = 0.001


@attrs.frozen(repr=False)
class NearEquilibrium:
    """A player who draws from an ε-equilibrium, found by CFR+ when he first sits down to a game; for `play` and beside `Agent`.

    Attributes:
        epsilon: its NashConv at most, in the units of the game's gains.

    Raises:
        ValueError: epsilon is not positive.
    """

    epsilon: float = EPSILON

    def __attrs_post_init__(self) -> None:
        checks.real("epsilon", self.epsilon, 0, above=True)

    def __str__(self) -> str:
        return written(self)

    __repr__ = __str__

    @property
    def strategy(self) -> "NearEquilibrium":
        """What the player plays by: himself."""
        return self

    def as_player(self, *, iterations: int | None = None, seconds: float | None = None) -> "NearEquilibrium":
        """Himself, whatever the budget: nothing is searched."""
        return self

    def seated(self, game: Game) -> "SeatedPolicy":
        """The player of one match."""
        return SeatedPolicy(self, _near(game, self.epsilon))

    def search(self, state: State, seed: int | Sequence[int], progress: object = None) -> OnlineResult:
        """An action drawn; nothing is searched, so that there is no progress to tell."""
        return self.seated(state.game).search(state, seed)


@functools.lru_cache(maxsize=4)
def _near(game: Game, epsilon: float) -> TabularPolicy:
    return near_equilibrium(tree_of(game), epsilon)


@attrs.frozen
class SeatedPolicy:
    """A player in one match who draws from a table."""

    agent: NearEquilibrium
    policy: TabularPolicy
    preference: None = None

    def search(self, state: State, seed: int | Sequence[int]) -> OnlineResult:
        """An action drawn, as a search would return it."""
        started, tree = time.perf_counter(), self.policy.tree
        number = tree.set_at(state)
        actions, policy = tree.actions(number), self.policy.at(number).copy()
        point = uniform(seeded(checks.seed(seed)))
        chosen = min(int(np.searchsorted(np.cumsum(policy), point, side="right")), len(actions) - 1)
        nothing, unknown = np.zeros(len(actions), np.int64), np.full(len(actions), np.nan)
        found = (actions[chosen], actions, policy, nothing, unknown, 0, 0, len(tree.decisions))
        return OnlineResult(*found, time.perf_counter() - started, state.clone(), self.agent, seed)


def parse_near_equilibrium(text: str) -> NearEquilibrium:
    """The player written so: "NearEquilibrium()", "NearEquilibrium(epsilon=0.01)".

    Raises:
        ValueError: it is written otherwise.
    """
    return read(text, NearEquilibrium, "a player near an equilibrium")
