"""Searches that keep a whole game tree: what they have in common, alone and in a match."""

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from icarus import checks
from icarus.compiler.kernels.rng import seeded
from icarus.engine.algorithm import Algorithm
from icarus.engine.result import SearchInterrupted
from icarus.engine.running_search import run_within
from icarus.engine.validation import PROGRESS, check_budget, check_callable
from icarus.equilibrium.online.result import OnlineResult, draw
from icarus.equilibrium.online.settings import Settings
from icarus.equilibrium.solvers.best_response import Exploitability, exploitability
from icarus.equilibrium.solvers.solver import Learner
from icarus.equilibrium.tree.arrays import NOTHING
from icarus.equilibrium.tree.policies import TabularPolicy, normalise
from icarus.equilibrium.tree.tree import GameOrTree
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.game import AnyGame
from icarus.kernel.python_game import check_is_state
from icarus.kernel.state import State


class TreeSearch(Learner):
    """A search in one match that keeps the tree of the game: `run` may be called at each decision, and what was learned stays.

    `make` without a `run` before it searches from the deal and aims at nothing.

    Attributes:
        tree: of the game.
        algorithm: the settings.
        sums: weights of the average policy. [slots]
        in_memory: whether an information set is. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`.
    """

    algorithm: Algorithm
    LEARNED: tuple[str, ...] = ("sums", "in_memory")  # attributes with what a search has learned

    def __init__(self, game: GameOrTree, algorithm: Algorithm, seed: int | Sequence[int]) -> None:
        super().__init__(game)
        tree, self.algorithm, self.target_set = self.tree, algorithm, NOTHING
        self._rng, self.in_memory = seeded(checks.seed(seed)), np.zeros(len(tree.sets), np.uint8)
        self._chance_policy = tree.slots["probability"].copy()
        self._visits = np.zeros(int(tree.sets["count"].max()), np.int64)

    @abstractmethod
    def aim(self, number: int) -> None:
        """Search from here on for an information set, by its number."""

    @property
    def depth(self) -> int:
        """Actions to the end of the longest history gone through in the tree."""
        return int(self._control["depth"][0])

    def run(
        self,
        state: State,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        seed: int | Sequence[int] | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> OnlineResult:
        """Search for the player to move in a state of the match.

        Args:
            iterations: how many to make; or
            seconds: the wall-clock time; with both, the search ends at the first limit.
            seed: of the sampling from here on; None to go on with the generator as it is.
            progress: called with (iterations made, seconds elapsed) about twenty times a second.

        Raises:
            ValueError: no positive budget, a terminal or chance state, one of another game, a bad seed.
            TypeError: `state` is not a state, or `progress` no function.
            SearchInterrupted: a KeyboardInterrupt that carries the result so far.
        """
        check_budget(iterations, seconds)
        check_is_state("run", state)
        check_callable("progress", progress, PROGRESS)
        if state.current_player() in (CHANCE, TERMINAL):
            raise ValueError("there is no decision to search for: no player is to move here")
        if seed is not None:
            self._rng = seeded(checks.seed(seed))
        number, started = self.tree.set_at(state), time.perf_counter()
        self.aim(number)
        self._visits[:] = 0
        running = _Running(self)
        try:
            run_within(running, iterations, seconds, started, progress)
        except KeyboardInterrupt:
            if running.iterations == 0:
                raise
            result = self._result(state, number, running.iterations, started, seed)
            raise SearchInterrupted(result) from None  # type: ignore[arg-type]
        return self._result(state, number, running.iterations, started, seed)

    def _result(
        self, state: State, number: int, iterations: int, started: float, seed: int | Sequence[int] | None
    ) -> OnlineResult:
        actions, policy = self.tree.actions(number), self.policy_in(number)
        return OnlineResult(
            draw(actions, policy, self._rng),
            actions,
            policy,
            self._visits[: len(actions)].copy(),
            self.values_in(number),
            iterations,
            self.depth,
            int(self.in_memory.sum()),
            time.perf_counter() - started,
            state.clone(),
            self.algorithm,
            seed,
        )

    @property
    @abstractmethod
    def updates(self) -> np.ndarray:
        """How often the average policy was updated in each information set. [sets]"""

    def weights(self) -> np.ndarray:
        """What the policy to play from is in proportion to. [slots]"""
        return self.sums

    def policy_in(self, number: int) -> np.ndarray:
        """The policy to play from in an information set, by its number; uniform where nothing is known."""
        weights = self.weights()[self.tree.slots_of(number)]
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))

    def values_in(self, number: int) -> np.ndarray:
        """The mean reward after each action of an information set; nan where none is estimated."""
        return np.full(int(self.tree.sets[number]["count"]), np.nan)

    @property
    def policy(self) -> TabularPolicy:
        """The policy to play from, in the whole game."""
        return normalise(self.tree, self.weights())

    def exploitability(self) -> Exploitability:
        """How far the policy to play from is from an equilibrium, if it were kept for a whole match."""
        return exploitability(self.tree, self.policy)

    def memory(self) -> tuple[np.ndarray, ...]:
        """A copy of all that was learned; `recall` brings it back."""
        return tuple(getattr(self, name).copy() for name in self.LEARNED)

    def recall(self, memory: tuple[np.ndarray, ...]) -> None:
        """Go back to what was learned when `memory` was taken."""
        for name, array in zip(self.LEARNED, memory, strict=True):
            getattr(self, name)[...] = array

    def __repr__(self) -> str:
        return f"<{self.algorithm} in {self.tree.game} after {checks.count_text(self.iterations, 'iteration')}>"


class _Running:
    """One search of a match, as `run_within` wants it."""

    def __init__(self, search: TreeSearch) -> None:
        self.search, self.before = search, search.iterations

    @property
    def iterations(self) -> int:
        return self.search.iterations - self.before

    def run(self, target: int) -> None:
        self.search.make(target - self.iterations)


@attrs.frozen
class SeatedTreeSearch:
    """The player of one match, with the memory of his search."""

    memory: TreeSearch
    iterations: int | None
    seconds: float | None
    preference: None = None

    def search(
        self, state: State, seed: int | Sequence[int], progress: Callable[[int, float], None] | None = None
    ) -> OnlineResult:
        """The search for a decision, which builds on those before."""
        return self.memory.run(state, iterations=self.iterations, seconds=self.seconds, seed=seed, progress=progress)


class OnlineAlgorithm(Settings):
    """An algorithm that keeps the whole tree of a game, and in a match what it has learned."""

    __slots__ = ()

    @abstractmethod
    def begin(self, game: GameOrTree, seed: int | Sequence[int] = 0) -> TreeSearch:
        """A search that has learned nothing yet."""

    def seated(self, game: AnyGame, *, iterations: int | None = None, seconds: float | None = None) -> SeatedTreeSearch:
        """The player of one match, with a memory.

        Raises:
            ValueError: no positive budget, or as for a `GameTree`.
        """
        check_budget(iterations, seconds)
        return SeatedTreeSearch(self.begin(game), iterations, seconds)


def online_search(
    state: State,
    algorithm: Algorithm,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    seed: int | Sequence[int] = 0,
    progress: Callable[[int, float], None] | None = None,
) -> OnlineResult:
    """Choose an action for the player to move by an algorithm that keeps the tree of the game, with an empty memory.

        >>> state = icarus.games.load("leduc-poker").new_initial_state(seed=1)
        >>> print(online_search(state, OOS(target="public subgame"), iterations=1000).policy)

    Args:
        state: a state in which a player is about to act.
        algorithm: `OOS(…)`, `ISMCTS(…)` or `NearEquilibrium(…)`. In a match `Agent(OOS(…), iterations=…)` plays by it, and remembers.
        iterations: how many to make; or
        seconds: the wall-clock time; with both, the search ends at the first limit.
        seed: an integer ≥ 0, or several as a key. It fixes everything except the clock.
        progress: called with (iterations made, seconds elapsed) about twenty times a second.

    Raises:
        ValueError: no positive budget, a terminal or chance state, a bad seed; as for a `GameTree`.
        TypeError: no state; no algorithm (for an enhancement there is `icarus.search`); `progress` is no function.
        SearchInterrupted: a KeyboardInterrupt that carries the result so far.
    """
    if not isinstance(algorithm, Algorithm):
        raise TypeError(
            f"an algorithm must be OOS(…), ISMCTS(…) or NearEquilibrium(…), not {algorithm!r}; see also icarus.search"
        )
    check_is_state("online_search", state)
    check_callable("progress", progress, PROGRESS)
    player = algorithm.seated(state.game, iterations=iterations, seconds=seconds)
    result: OnlineResult = player.search(state, seed, progress)
    return result
