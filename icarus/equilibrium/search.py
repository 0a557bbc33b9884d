"""Searches that keep a whole game tree, alone and in a match: Online Outcome Sampling (Lanctot, Lisý and Bowling, 2015); their texts."""

import functools
import time
from collections.abc import Callable, Iterable, Sequence

import attrs
import numpy as np

from icarus import checks
from icarus.arena.player import AlgorithmSettings, register
from icarus.compiler.rng import seeded, uniform
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.engine.search import PROGRESS, Algorithm, SearchInterrupted, check_budget, check_callable, run_within
from icarus.equilibrium import sampling
from icarus.equilibrium.arrays import NOTHING
from icarus.equilibrium.cfr import Learner, near_equilibrium
from icarus.equilibrium.policies import TabularPolicy
from icarus.equilibrium.sampling import Sampling
from icarus.equilibrium.tree import GameOrTree, GameTree, refuse_unless_walkable, tree_of
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.game import AnyGame
from icarus.kernel.python_game import check_is_state
from icarus.kernel.state import State


def result_of(
    algorithm: Algorithm, tree: GameTree, state: State, number: int, policy: np.ndarray, rng: np.ndarray
) -> Result:
    """A result without records: an action drawn from the policy in an information set."""
    actions, nothing = tree.actions(number), np.zeros(len(policy))
    index = int(np.searchsorted(np.cumsum(policy), uniform(rng), side="right"))
    return Result(
        actions[min(index, len(actions) - 1)],
        actions,
        nothing.astype(np.int64),
        nothing * np.nan,
        policy,
        iterations=0,
        records={},
        depth=0,
        phase_steps={},
        seconds=0.0,
        memory=tree.nbytes,
        state=state.clone(),
        strategy=algorithm,  # type: ignore[arg-type]  # a search of enhancements has enhancements here
        seed=0,
    )


class _Running:
    """One search of a match, as `run_within` wants it."""

    def __init__(self, search: "OOSSearch") -> None:
        self.search, self.before = search, search.iterations

    @property
    def iterations(self) -> int:
        return self.search.iterations - self.before

    def run(self, target: int) -> None:
        self.search.make(target - self.iterations)


@attrs.frozen
class SeatedOnlineSearch:
    """The player of one match, with the memory of his search."""

    memory: "OOSSearch"
    iterations: int | None
    seconds: float | None

    def search(
        self, state: State, seed: int | Sequence[int], progress: Callable[[int, float], None] | None = None
    ) -> Result:
        """The search for a decision, which builds on those before."""
        return self.memory.run(state, iterations=self.iterations, seconds=self.seconds, seed=seed, progress=progress)


@attrs.frozen(kw_only=True, repr=False)
class OOS(AlgorithmSettings):
    """How Online Outcome Sampling searches (Lanctot, Lisý and Bowling, 2015).

    Attributes:
        target: "information set" (IST): what agrees with all that the searching player knows; or "public subgame" (PST): what agrees
            with the actions that everybody saw.
        delta: δ, the probability that an iteration aims at the target. With 1 convergence is lost.
        exploration: ε of the sampling.
        regret_exploration: γ, the share of the uniform policy in regret matching.

    Raises:
        ValueError: a setting has an invalid value.
    """

    target: str = sampling.INFORMATION_SET
    delta: float = 0.9
    exploration: float = 0.4
    regret_exploration: float = 0.01

    def __attrs_post_init__(self) -> None:
        checks.one_of("target", self.target, sampling.TARGETS)
        checks.real("delta", self.delta, 0, 1)
        checks.real("exploration", self.exploration, 0, 1, above=True)
        checks.real("regret_exploration", self.regret_exploration, 0, 1)

    def seated(
        self, game: AnyGame, *, iterations: int | None = None, seconds: float | None = None
    ) -> SeatedOnlineSearch:
        """The player of one match, with a memory.

        Raises:
            ValueError: no positive budget, or as for a `GameTree`.
        """
        check_budget(iterations, seconds)
        return SeatedOnlineSearch(OOSSearch(game, self), iterations, seconds)


class OOSSearch(Learner):
    """Online Outcome Sampling in one match: `run` may be called at each decision, and what was learned stays.

    Memory begins empty: the first information set of a match enters it with the first sample. `make` without a `run` before it is
    outcome sampling of the whole game.

    Attributes:
        tree: of the game.
        algorithm: the settings.
        iterations: made so far in all, each a pair of traversals.
        regrets, sums: cumulative regrets, and weights of the average policy. [slots]
        in_memory: whether an information set is. [sets]
        updates: how often the average policy was updated in each information set. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no settings.
    """

    algorithm: OOS
    LEARNED = ("regrets", "sums", "updates", "in_memory")  # attributes with what a search has learned

    def __init__(self, game: GameOrTree, algorithm: OOS | None = None, *, seed: int | Sequence[int] = 0) -> None:
        algorithm = OOS() if algorithm is None else algorithm
        if not isinstance(algorithm, OOS):
            raise TypeError(f"the settings must be OOS(target=…, delta=…, …), not {algorithm!r}")
        super().__init__(game)
        tree, self.algorithm, self.target_set = self.tree, algorithm, NOTHING
        widest = int(tree.sets["count"].max())
        self._rng, self.in_memory = seeded(checks.seed(seed)), np.zeros(len(tree.sets), np.uint8)
        self._chance_policy, self._visits = tree.slots["probability"].copy(), np.zeros(widest, np.int64)
        self.regrets, self.updates = np.zeros(len(tree.slots)), np.zeros(len(tree.sets), np.int64)
        self._settings, self._weights = np.zeros(1, sampling.SETTINGS), np.zeros(widest)
        for name in ("delta", "exploration", "regret_exploration"):
            self._settings[name] = getattr(algorithm, name)
        self._settings["target_set"] = NOTHING
        self._path, self._sigma = np.zeros(tree.depth, sampling.STEP), np.zeros((tree.depth, widest))
        self._marks = np.full(len(tree.nodes), sampling.INSIDE, np.uint8)
        self._deals = _sums_of_deals(tree, self._marks)
        sampling.sample_online.prepare(*self._arguments(0))  # compiled before a clock runs

    def aim(self, number: int) -> None:
        """Aim at the target that an information set has."""
        if number != self.target_set:
            self._marks, self.target_set = sampling.target_of(self.tree, number, self.algorithm.target), number
            self._deals = _sums_of_deals(self.tree, self._marks)
            self._settings["target_set"] = number

    @property
    def depth(self) -> int:
        """Actions to the end of the longest history gone through in the tree."""
        return int(self._progress["depth"][0])

    def run(
        self,
        state: State,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        seed: int | Sequence[int] | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> Result:
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
        running, is_interrupted = _Running(self), False
        try:
            run_within(running, iterations, seconds, started, progress)
        except KeyboardInterrupt:
            if running.iterations == 0:
                raise
            is_interrupted = True
        result = result_of(self.algorithm, self.tree, state, number, self.policy_in(number), self._rng)
        result = attrs.evolve(
            result,
            visits=self._visits[: len(result.actions)].copy(),
            iterations=running.iterations,
            depth=self.depth,
            seconds=time.perf_counter() - started,
            seed=() if seed is None else seed,
        )
        if is_interrupted:
            raise SearchInterrupted(result)
        return result

    def policy_in(self, number: int) -> np.ndarray:
        """The policy to play from in an information set, by its number; uniform where nothing is known."""
        weights = self.sums[self.tree.slots_of(number)]
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))

    def memory(self) -> tuple[np.ndarray, ...]:
        """A copy of all that was learned; `recall` brings it back."""
        return tuple(getattr(self, name).copy() for name in self.LEARNED)

    def recall(self, memory: tuple[np.ndarray, ...]) -> None:
        """Go back to what was learned when `memory` was taken."""
        for name, array in zip(self.LEARNED, memory, strict=True):
            getattr(self, name)[...] = array

    def sample(self, iterations: int, forced_path: Sequence[int] = ()) -> None:
        """So many iterations at the target; or one traversal along a path, for player `iterations`, which counts as none."""
        sampling.sample_online(*self._arguments(iterations, forced_path))

    def _arguments(self, iterations: int, forced_path: Sequence[int] = ()) -> tuple[object, ...]:
        tree = self.tree
        arrays = Sampling(
            *(tree.nodes, tree.sets, tree.ends, self.regrets, self.sums, self.updates, self._visits),
            *(self._chance_policy, self.in_memory, self._marks, self._deals, self._settings),
            *(self._rng, self._path, self._sigma, self._weights),
        )
        return arrays, self._progress, np.array(forced_path, np.int64), iterations


def _sums_of_deals(tree: GameTree, marks: np.ndarray) -> np.ndarray:
    """[2, deals]: the sums of the probabilities up to each deal; in row 1 of those that do not leave the target, normalized."""
    probabilities = tree.deals.probabilities
    target_set = probabilities * (marks[1 : 1 + len(probabilities)] != sampling.OUTSIDE)
    if not target_set.any():  # nothing is aimed at yet
        target_set = probabilities
    sums = np.stack([np.cumsum(probabilities), np.cumsum(target_set / target_set.sum())])
    last = [len(probabilities) - 1, int(np.flatnonzero(target_set)[-1])]
    for row in range(2):
        sums[row, last[row] :] = 1.0
    return sums


@attrs.frozen(repr=False)
class NearEquilibrium(AlgorithmSettings):
    """A player who draws from an ε-equilibrium, found by CFR+ when he first sits down to a game. He searches nothing, whatever his budget.

    Attributes:
        epsilon: its NashConv at most, in the units of the game's utilities.

    Raises:
        ValueError: epsilon is not positive.
    """

    epsilon: float = 0.001

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

    def search(self, state: State, seed: int | Sequence[int], progress: object = None) -> Result:
        """An action drawn; nothing is searched, so that there is no progress to tell."""
        number = self.policy.tree.set_at(state)
        rng, policy = seeded(checks.seed(seed)), self.policy.at(number).copy()
        return attrs.evolve(result_of(self.algorithm, self.policy.tree, state, number, policy, rng), seed=seed)


register(OOS, "Online Outcome Sampling")
register(NearEquilibrium, "a player near an equilibrium")


def check_trees(game: AnyGame, players: Iterable[Agent]) -> None:
    """Refuse a game whose tree some player would keep and cannot.

    Args:
        players: with their `strategy`.

    Raises:
        ValueError: not two players, deals in secret, or too large.
    """
    if any(isinstance(player.strategy, Algorithm) for player in players):
        refuse_unless_walkable(game)
