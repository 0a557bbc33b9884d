"""Online Outcome Sampling as a search: its settings, what it remembers in a match, and the player who plays by it."""

import ast
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.policy import RULE_ARGMAX, RULE_EPSILON_GREEDY, RULE_GIBBS, RULE_ROULETTE, RULE_UNIFORM
from icarus.compiler.rng import seeded, uniform
from icarus.engine.result import SearchInterrupted
from icarus.engine.search import check_budget, spend
from icarus.equilibrium.best_response import Exploitability, exploitability
from icarus.equilibrium.outcome import SETTINGS, STEP, online_sampling
from icarus.equilibrium.policies import TabularPolicy, normalised, uniform_policy
from icarus.equilibrium.targets import INFORMATION_SET, OUTSIDE, TARGETS, reaching, target_of
from icarus.equilibrium.tree import GameTree, tree_of
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.game import Game, State
from icarus.specs import MAST, TO_MAST, parse

AVERAGE, CURRENT = "average", "current"
_TAIL_RULES = (RULE_GIBBS, RULE_EPSILON_GREEDY, RULE_ROULETTE, RULE_ARGMAX)
_NAME = "OOS"


def _tail(given: Any) -> Enhancement | None:
    """The policy of the playouts beyond the tree; text is parsed."""
    tail = parse(given) if isinstance(given, str) else given
    if tail is None:
        return None
    if isinstance(tail, Enhancement) and len(tail.components) == 1:
        alike = tail.policy.source == MAST.policy.source and tail.backpropagation == MAST.backpropagation
        if alike and tail.policy.rule.code in _TAIL_RULES and tail.capture in (MAST.capture, TO_MAST.capture):
            return tail
    raise ValueError(
        f"tail is {given!r}; it must be None for uniform choice, or MAST or TO_MAST with a rule other than UCB1, such as "
        "mast(epsilon_greedy(0.2))"
    )


@attrs.frozen(kw_only=True, repr=False)
class OOS:
    """How Online Outcome Sampling searches (Lanctot, Lisý and Bowling, 2015).

    Attributes:
        target: "information set" (IST): what agrees with all that the searching player knows; or "public subgame" (PST): what agrees
            with the actions that everybody saw.
        delta: δ, the probability that an iteration aims at the target. With 1 convergence is lost.
        exploration: ε of the sampling.
        regret_exploration: γ: how much of the uniform policy is mixed into regret matching.
        compensation: the factor w_T of the version of AAMAS 2015 on all updates of a search, so that samples made before the match came
            to the target do not outweigh those made since: w_T = (1 − δ) + δ / π̄(Z_sub), how much more often the target is reached by
            aiming than by the average policy (as the text defines it: the printed formula is 1 for IST).
        tail: who plays on beyond the tree: None for uniform choice, or MAST or TO_MAST by Gibbs, ε-greedy, roulette or argmax.
        play: the "average" policy, or the "current" one of the regrets.

    Raises:
        ValueError: a value that is none of these.
    """

    target: str = INFORMATION_SET
    delta: float = 0.9
    exploration: float = 0.4
    regret_exploration: float = 0.01
    compensation: bool = False
    tail: Enhancement | None = attrs.field(default=None, converter=_tail)
    play: str = AVERAGE

    def __attrs_post_init__(self) -> None:
        for name, known in (("target", TARGETS), ("play", (AVERAGE, CURRENT)), ("compensation", (True, False))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be {known[0]!r} or {known[1]!r}")
        checks.real("delta", self.delta, 0, 1)
        checks.real("exploration", self.exploration, 0, 1, above=True)
        checks.real("regret_exploration", self.regret_exploration, 0, 1)

    def __str__(self) -> str:
        told = []
        for field in attrs.fields(type(self)):
            value = getattr(self, field.name)
            if value != field.default:
                told.append(f"{field.name}={str(value) if field.name == 'tail' else value!r:}")
        return f"{_NAME}({', '.join(told)})"

    __repr__ = __str__

    def settings(self, game: Game) -> np.ndarray:
        """[1] of SETTINGS."""
        settings, (low, high) = np.zeros(1, SETTINGS), game.gains
        for name in ("delta", "exploration", "regret_exploration"):
            settings[name] = getattr(self, name)
        settings["weight"], settings["low"], settings["range"] = 1.0, low, high - low
        settings["rule"] = RULE_UNIFORM if self.tail is None else self.tail.policy.rule.code
        if self.tail is not None:
            settings["parameter"] = next((value for _, value in self.tail.policy.rule.parameters), 0.0)
            settings["beyond"] = self.tail.capture == MAST.capture
        return settings


def parse_oos(text: str) -> OOS:
    """The settings written so: "OOS", "OOS(target='public subgame', delta=0.5)"; `parse_oos(str(settings)) == settings`.

    Raises:
        ValueError: there are no such settings; the message says which there are.
    """
    names = [field.name for field in attrs.fields(OOS)]
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Name) and call.id == _NAME:
            return OOS()
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == _NAME
        assert not call.args and all(keyword.arg in names for keyword in call.keywords)
        given = {keyword.arg: _written(keyword) for keyword in call.keywords}
    except (AssertionError, SyntaxError, TypeError, ValueError):
        raise ValueError(
            f"{text!r} is no search; Online Outcome Sampling is written OOS(delta=0.9, …) with any of {', '.join(names)}"
        ) from None
    return OOS(**given)  # type: ignore[arg-type]


def _written(keyword: ast.keyword) -> Any:
    if keyword.arg == "tail" and not isinstance(keyword.value, ast.Constant):
        return ast.unparse(keyword.value)
    return ast.literal_eval(keyword.value)


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


_LEARNED = ("regrets", "sums", "visits", "known", "totals")


class OnlineSearch:
    """Online Outcome Sampling in one match: `run` may be called at each decision, and what was learned stays.

    Memory begins empty: the first information set of a match enters it with the first sample.

    Attributes:
        tree: of the game.
        scheme: the settings.
        iterations: made so far in all.
        regrets, sums, visits: cumulative regrets, weights of the average policy, samples. [slots]
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
        self.regrets, self.sums, self.visits = np.zeros(slots), np.zeros(slots), np.zeros(slots, np.int64)
        self.known = np.zeros(sets, np.uint8)
        self._kinds, self.totals = _kinds_of(tree)
        self._policy, self._settings = uniform_policy(tree).probabilities, scheme.settings(tree.game)
        self._path, self._weights = np.zeros(tree.depth, STEP), np.zeros(int(tree.sets["count"].max()))
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
            *(tree.nodes, tree.sets, tree.ends, self.regrets, self.sums, self.visits, self._policy, self.known),
            *(self._marks, self._deals, self._kinds, self.totals, self._settings, self._rng, self._path, self._weights),
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
        running, before = _Running(self), self.visits.copy()
        try:
            spend(running, iterations, seconds, started, progress)  # type: ignore[arg-type]
        except KeyboardInterrupt:
            if running.iterations == 0:
                raise
            found = self._result(state, number, running, before, started, seed)
            raise SearchInterrupted(found) from None  # type: ignore[arg-type]
        return self._result(state, number, running, before, started, seed)

    def _result(
        self, state: State, number: int, running: "_Running", before: np.ndarray, started: float, seed: Any
    ) -> OnlineResult:
        one, actions, policy = self.tree.sets[number], self.tree.actions(number), self.policy_in(number)
        own = slice(one["slot"], one["slot"] + one["count"])
        point = uniform(self._rng)
        chosen = min(int(np.searchsorted(np.cumsum(policy), point, side="right")), len(actions) - 1)
        return OnlineResult(
            actions[chosen],
            actions,
            policy,
            self.visits[own] - before[own],
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
