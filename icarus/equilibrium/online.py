"""Online Outcome Sampling as a search: what it remembers in a match, what it finds, and the player who plays by it."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.compiler.rng import seeded, uniform
from icarus.engine.result import SearchInterrupted
from icarus.engine.search import check_budget, spend
from icarus.equilibrium.best_response import Exploitability, exploitability
from icarus.equilibrium.oos import AVERAGE, OOS
from icarus.equilibrium.outcome import STEP, online_sampling
from icarus.equilibrium.policies import TabularPolicy, normalised
from icarus.equilibrium.targets import OUTSIDE, reaching, target_of
from icarus.equilibrium.tree import GameTree, tree_of
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.game import Game, State


@attrs.frozen(eq=False, repr=False)
class OnlineResult:
    """What a search by Online Outcome Sampling found in the state's information set.

    Attributes:
        action: drawn from `policy`.
        actions: the legal ones, in the game's order.
        policy: the probability of each, average or current as the scheme says. [actions]
        visits: samples of this search that passed here, by their action. [actions]
        values: nan: the algorithm estimates counterfactual values, not mean rewards. [actions]
        iterations: made in this search, each a pair of traversals.
        depth: actions from the deal to the end of the longest history gone through in the tree.
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
    scheme: OOS
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


_LEARNED = ("regrets", "sums", "known", "totals")


class OnlineSearch:
    """Online Outcome Sampling in one match: `run` may be called at each decision, and what was learned stays.

    Memory begins empty: the first information set of a match enters it with the first sample.

    Attributes:
        tree: of the game.
        scheme: the settings.
        iterations: made so far in all.
        regrets, sums: cumulative regrets, and weights of the average policy. [slots]
        known: whether an information set is in memory. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no settings.
    """

    def __init__(self, game: Game | GameTree, scheme: OOS | None = None, *, seed: int | Sequence[int] = 0) -> None:
        scheme = OOS() if scheme is None else scheme
        if not isinstance(scheme, OOS):
            raise TypeError(f"{scheme!r} are no settings; they are OOS(target=…, delta=…, …)")
        self.tree = tree = game if isinstance(game, GameTree) else tree_of(game)
        self.scheme, self.iterations, self._rng = scheme, 0, seeded(checks.seed(seed))
        slots, sets = len(tree.slots), len(tree.sets)
        self.regrets, self.sums = np.zeros(slots), np.zeros(slots)
        self.known = np.zeros(sets, np.uint8)
        self._kinds, self.totals = _kinds_of(tree)
        self._odds, self._settings = tree.slots["probability"].copy(), scheme.settings(tree.game)
        widest = int(tree.sets["count"].max())
        self._visits, self._weights = np.zeros(widest, np.int64), np.zeros(widest)
        self._path, self._sigma = np.zeros(tree.depth, STEP), np.zeros((tree.depth, widest))
        self._aimed, self._marks, self.depth = -1, np.zeros(len(tree.nodes), np.uint8), 0
        self._deals = _sums_of_deals(tree, self._marks)
        online_sampling()  # compiled before a clock runs

    def aim(self, number: int) -> None:
        """Aim at the target that an information set has."""
        if number != self._aimed:
            self._marks, self._aimed = target_of(self.tree, number, self.scheme.target), number
            self._deals = _sums_of_deals(self.tree, self._marks)
        if self.scheme.compensation:
            tree, delta = self.tree, self.scheme.delta
            reached = reaching()(tree.nodes, tree.sets, self.average.probabilities, self._marks)
            self._settings["weight"] = 1 / (1 - delta + delta / reached) if reached > 0 else 1.0

    def make(self, iterations: int, forced: Sequence[int] = ()) -> None:
        """Make so many iterations at the target; or one traversal along a path, for player `iterations`."""
        tree = self.tree
        depth = online_sampling()(
            *(tree.nodes, tree.sets, tree.ends, self.regrets, self.sums, self._visits, self._odds, self.known),
            *(
                self._marks,
                self._deals,
                self._kinds,
                self.totals,
                self._settings,
                self._rng,
                self._path,
                self._sigma,
                self._weights,
            ),
            *(np.array(forced, np.int64), iterations),
        )
        self.depth = max(self.depth, depth)

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
        self._visits[:], self._settings["aimed"] = 0, number
        running = _Running(self)
        try:
            spend(running, iterations, seconds, started, progress)  # type: ignore[arg-type]
        except KeyboardInterrupt:
            if running.iterations == 0:
                raise
            found = self._result(state, number, running, started, seed)
            raise SearchInterrupted(found) from None  # type: ignore[arg-type]
        return self._result(state, number, running, started, seed)

    def _result(self, state: State, number: int, running: "_Running", started: float, seed: Any) -> OnlineResult:
        actions, policy, point = self.tree.actions(number), self.policy_in(number), uniform(self._rng)
        chosen = min(int(np.searchsorted(np.cumsum(policy), point, side="right")), len(actions) - 1)
        return OnlineResult(
            actions[chosen],
            actions,
            policy,
            self._visits[: len(actions)].copy(),
            np.full(len(actions), np.nan),
            running.iterations,
            self.depth,
            int(self.known.sum()),
            time.perf_counter() - started,
            state.clone(),
            self.scheme,
            seed,
        )

    def policy_in(self, number: int) -> np.ndarray:
        """The policy to play from in an information set, by its number; uniform where nothing is known."""
        one = self.tree.sets[number]
        weights = self.sums if self.scheme.play == AVERAGE else np.maximum(self.regrets, 0)
        weights = weights[one["slot"] : one["slot"] + one["count"]]
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))

    @property
    def weight(self) -> float:
        """w_T: the factor on all updates of the search under way."""
        return float(1 / self._settings["weight"][0])

    @property
    def average(self) -> TabularPolicy:
        """The average policy; uniform where nothing is known."""
        return normalised(self.tree, self.sums)

    @property
    def current(self) -> TabularPolicy:
        """The policy of the regrets."""
        return normalised(self.tree, np.maximum(self.regrets, 0.0))

    def exploitability(self) -> Exploitability:
        """How far the policy to play from is from an equilibrium, if it were kept for a whole match."""
        return exploitability(self.tree, self.average if self.scheme.play == AVERAGE else self.current)

    def memory(self) -> tuple[np.ndarray, ...]:
        """A copy of all that was learned; `recall` brings it back."""
        return tuple(getattr(self, name).copy() for name in _LEARNED)

    def recall(self, memory: tuple[np.ndarray, ...]) -> None:
        """Go back to what was learned when `memory` was taken."""
        for name, kept in zip(_LEARNED, memory, strict=True):
            getattr(self, name)[...] = kept

    def __repr__(self) -> str:
        return f"<{self.scheme} in {self.tree.game} after {self.iterations} iterations>"


def _kinds_of(tree: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """For each slot the row of its (player, action), and an empty row (q, n) for each of these."""
    movers = np.repeat(tree.sets["player"], tree.sets["count"]).astype(np.int64)
    pairs, kinds = np.unique(np.stack([movers, tree.slots["action"]], 1), axis=0, return_inverse=True)
    return kinds.reshape(-1).astype(np.int32), np.zeros((len(pairs), 2))


def _sums_of_deals(tree: GameTree, marks: np.ndarray) -> np.ndarray:
    """[2, deals]: the sums of the probabilities up to each deal; in row 1 of those that do not leave the target, normalized."""
    probabilities = tree.deals.probabilities
    aimed = probabilities * (marks[1 : 1 + len(probabilities)] != OUTSIDE)
    if not aimed.any():  # nothing is aimed at yet
        aimed = probabilities
    sums = np.stack([np.cumsum(probabilities), np.cumsum(aimed / aimed.sum())])
    last = [len(probabilities) - 1, int(np.flatnonzero(aimed)[-1])]
    for row in range(2):
        sums[row, last[row] :] = 1.0
    return sums


class _Running:
    """One search of a match, as `spend` wants it."""

    def __init__(self, search: OnlineSearch) -> None:
        self.search, self.iterations = search, 0

    def run(self, target: int) -> None:
        self.search.make(target - self.iterations)
        self.search.iterations += target - self.iterations
        self.iterations = target


@attrs.frozen
class OOSAgent:
    """A player who searches by Online Outcome Sampling, and in a match remembers what he has found; for `play` and beside `Agent`.

    Raises:
        TypeError: the scheme are no settings. ValueError: no positive budget.
    """

    scheme: OOS = attrs.field(factory=OOS, validator=attrs.validators.instance_of(OOS))
    iterations: int | None = attrs.field(default=None, kw_only=True)
    seconds: float | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        check_budget(self.iterations, self.seconds)

    def search(self, state: State, seed: int | Sequence[int]) -> OnlineResult:
        """A search that begins with an empty memory."""
        return self.seated(state.game).search(state, seed)

    @property
    def strategy(self) -> OOS:
        """What the player plays by."""
        return self.scheme

    def seated(self, game: Game) -> "SeatedOOS":
        """The same player in one match, with a memory."""
        return SeatedOOS(self, OnlineSearch(game, self.scheme))

    def __str__(self) -> str:
        budget = [f"{self.iterations} iterations"] * (self.iterations is not None)
        budget += [f"{self.seconds} s"] * (self.seconds is not None)
        return f"{self.scheme} ({', '.join(budget)})"


@attrs.frozen
class SeatedOOS:
    """A player in one match, by Online Outcome Sampling, with his memory."""

    agent: OOSAgent
    memory: OnlineSearch
    preference: None = None

    def search(self, state: State, seed: int | Sequence[int]) -> OnlineResult:
        """The search for a decision, which builds on those before."""
        return self.memory.run(state, iterations=self.agent.iterations, seconds=self.agent.seconds, seed=seed)
