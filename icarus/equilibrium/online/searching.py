"""Searches that keep a whole game tree, in a match: what they have in common, what they find, and the players who search so."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.compiler.kernels.rng import seeded, uniform
from icarus.engine.result import SearchInterrupted
from icarus.engine.search import check_budget, spend
from icarus.equilibrium.solvers.best_response import Exploitability, exploitability
from icarus.equilibrium.solvers.control import controls, go_on
from icarus.equilibrium.tree.arrays import NOTHING
from icarus.equilibrium.tree.policies import TabularPolicy, normalised
from icarus.equilibrium.tree.tree import GameTree, tree_of
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.game import Game, State


@attrs.frozen(eq=False, repr=False)
class OnlineResult:
    """What a search found in the state's information set.

    Attributes:
        action: drawn from `policy`.
        actions: the legal ones, in the game's order.
        policy: the probability of each. [actions]
        visits: samples of this search that passed here, by their action. [actions]
        values: mean rewards after each where the search estimates any, else nan (counterfactual values are none). [actions]
        iterations: made in this search; of Online Outcome Sampling each is a pair of traversals.
        depth: actions to the end of the longest history gone through in the tree.
        information_sets: in memory.
        seconds: wall-clock time.
        state, scheme, seed: what was searched, how.
    """

    action: int
    actions: tuple[int, ...]
    policy: np.ndarray
    visits: np.ndarray
    values: np.ndarray
    iterations: int
    depth: int
    information_sets: int
    seconds: float
    state: State
    scheme: Any
    seed: Any

    def __str__(self) -> str:
        texts = [self.state.action_to_string(action) for action in self.actions]
        width = max(len("action"), *map(len, texts)) + 2
        lines = [f"{'action':<{width}}  probability    visits"]
        for i in np.argsort(-self.policy, kind="stable"):
            mark = " *" if self.actions[i] == self.action else ""
            lines.append(f"{texts[i] + mark:<{width}}  {self.policy[i]:>11.3f}  {self.visits[i]:>8}")
        rate = self.iterations / self.seconds if self.seconds > 0 else 0.0
        return (
            f"{self.state.game}, player {self.state.current_player()}, {self.scheme}: {self.iterations} iterations in "
            f"{self.seconds:.2f} s ({rate:,.0f}/s), {self.information_sets} information sets\n" + "\n".join(lines)
        )

    def __repr__(self) -> str:
        return f"<search result: {self.state.action_to_string(self.action)} after {self.iterations} iterations>"


class TreeSearch:
    """A search in one match that keeps the tree of the game: `run` may be called at each decision, and what was learned stays.

    `make` without a `run` before it searches from the deal and aims at nothing.

    Attributes:
        tree: of the game.
        scheme: the settings.
        sums: weights of the average policy. [slots]
        known: whether an information set is in memory. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`.
    """

    LEARNED: tuple[str, ...] = ("sums", "known")  # attributes with what a search has learned

    def __init__(self, game: Game | GameTree, scheme: Any, seed: int | Sequence[int]) -> None:
        self.tree = tree = game if isinstance(game, GameTree) else tree_of(game)
        self.scheme, self._rng, self.aimed = scheme, seeded(checks.seed(seed)), NOTHING
        self.sums, self.known = np.zeros(len(tree.slots)), np.zeros(len(tree.sets), np.uint8)
        self._odds, self._control = tree.slots["probability"].copy(), controls()
        self._visits = np.zeros(int(tree.sets["count"].max()), np.int64)

    def aim(self, number: int) -> None:
        """Search from here on for an information set, by its number."""
        raise NotImplementedError

    def sample(self, iterations: int) -> None:
        """At most so many iterations in compiled code, which enters what it has made in `_control`."""
        raise NotImplementedError

    @property
    def iterations(self) -> int:
        """Made so far, in all."""
        return int(self._control["made"][0])

    @property
    def depth(self) -> int:
        """Actions to the end of the longest history gone through in the tree."""
        return int(self._control["deepest"][0])

    def make(self, iterations: int) -> None:
        """Make so many more iterations. Ctrl-C is raised after one, and loses none."""
        go_on(self._control, iterations, self.sample)

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
            seconds: for how long (wall clock); with both, whichever ends first.
            seed: of the sampling from here on; None to go on with the generator as it is.
            progress: called with (iterations made, seconds elapsed) about twenty times a second.

        Raises:
            ValueError: no positive budget, a terminal or chance state, one of another game, a bad seed.
            SearchInterrupted: a KeyboardInterrupt that carries the result so far.
        """
        check_budget(iterations, seconds)
        if state.current_player() in (CHANCE, TERMINAL):
            raise ValueError("there is no decision to search for: no player is to move here")
        if seed is not None:
            self._rng = seeded(checks.seed(seed))
        number, started = self.tree.set_at(state), time.perf_counter()
        self.aim(number)
        self._visits[:] = 0
        running = _Running(self)
        try:
            spend(running, iterations, seconds, started, progress)  # type: ignore[arg-type]
        except KeyboardInterrupt:
            if running.iterations == 0:
                raise
            found = self._result(state, number, running.iterations, started, seed)
            raise SearchInterrupted(found) from None  # type: ignore[arg-type]
        return self._result(state, number, running.iterations, started, seed)

    def _result(self, state: State, number: int, made: int, started: float, seed: Any) -> OnlineResult:
        actions, policy, point = self.tree.actions(number), self.policy_in(number), uniform(self._rng)
        chosen = min(int(np.searchsorted(np.cumsum(policy), point, side="right")), len(actions) - 1)
        return OnlineResult(
            actions[chosen],
            actions,
            policy,
            self._visits[: len(actions)].copy(),
            self.values_in(number),
            made,
            self.depth,
            int(self.known.sum()),
            time.perf_counter() - started,
            state.clone(),
            self.scheme,
            seed,
        )

    def _of(self, number: int) -> slice:
        """The slots of an information set."""
        one = self.tree.sets[number]
        return slice(int(one["slot"]), int(one["slot"] + one["count"]))

    @property
    def updates(self) -> np.ndarray:
        """How often the average policy was updated in each information set. [sets]"""
        raise NotImplementedError

    def weights(self) -> np.ndarray:
        """What the policy to play from is in proportion to. [slots]"""
        return self.sums

    def policy_in(self, number: int) -> np.ndarray:
        """The policy to play from in an information set, by its number; uniform where nothing is known."""
        weights = self.weights()[self._of(number)]
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))

    def values_in(self, number: int) -> np.ndarray:
        """The mean reward after each action of an information set; nan where none is estimated."""
        return np.full(int(self.tree.sets[number]["count"]), np.nan)

    @property
    def average(self) -> TabularPolicy:
        """The average policy; uniform where nothing is known."""
        return normalised(self.tree, self.sums)

    @property
    def policy(self) -> TabularPolicy:
        """The policy to play from, in the whole game."""
        return normalised(self.tree, self.weights())

    def exploitability(self) -> Exploitability:
        """How far the policy to play from is from an equilibrium, if it were kept for a whole match."""
        return exploitability(self.tree, self.policy)

    def memory(self) -> tuple[np.ndarray, ...]:
        """A copy of all that was learned; `recall` brings it back."""
        return tuple(getattr(self, name).copy() for name in self.LEARNED)

    def recall(self, memory: tuple[np.ndarray, ...]) -> None:
        """Go back to what was learned when `memory` was taken."""
        for name, kept in zip(self.LEARNED, memory, strict=True):
            getattr(self, name)[...] = kept

    def __repr__(self) -> str:
        return f"<{self.scheme} in {self.tree.game} after {self.iterations} iterations>"


class _Running:
    """One search of a match, as `spend` wants it."""

    def __init__(self, search: TreeSearch) -> None:
        self.search, self.before = search, search.iterations

    @property
    def iterations(self) -> int:
        return self.search.iterations - self.before

    def run(self, target: int) -> None:
        self.search.make(target - self.iterations)


@attrs.frozen
class TreeAgent:
    """A player by a search that keeps the tree of the game, and in a match what it has found; for `play` and beside `Agent`.

    Raises:
        TypeError: the scheme are no such settings. ValueError: no positive budget.
    """

    iterations: int | None = attrs.field(default=None, kw_only=True)
    seconds: float | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        check_budget(self.iterations, self.seconds)

    def begin(self, game: Game | GameTree, seed: int | Sequence[int] = 0) -> TreeSearch:
        """A search that has learned nothing yet."""
        raise NotImplementedError

    @property
    def strategy(self) -> Any:
        """What the player plays by: his settings."""
        return self.scheme  # type: ignore[attr-defined]

    def search(
        self, state: State, seed: int | Sequence[int], progress: Callable[[int, float], None] | None = None
    ) -> OnlineResult:
        """A search that begins with an empty memory; `progress` as for `TreeSearch.run`."""
        return self.seated(state.game).search(state, seed, progress)

    def seated(self, game: Game) -> "SeatedTreeAgent":
        """The same player in one match, with a memory."""
        return SeatedTreeAgent(self, self.begin(game))

    def __str__(self) -> str:
        budget = [f"{self.iterations} iterations"] * (self.iterations is not None)
        budget += [f"{self.seconds} s"] * (self.seconds is not None)
        return f"{self.strategy} ({', '.join(budget)})"


@attrs.frozen
class SeatedTreeAgent:
    """A player in one match, with the memory of his search."""

    agent: TreeAgent
    memory: TreeSearch
    preference: None = None

    def search(
        self, state: State, seed: int | Sequence[int], progress: Callable[[int, float], None] | None = None
    ) -> OnlineResult:
        """The search for a decision, which builds on those before."""
        iterations, seconds = self.agent.iterations, self.agent.seconds
        return self.memory.run(state, iterations=iterations, seconds=seconds, seed=seed, progress=progress)
