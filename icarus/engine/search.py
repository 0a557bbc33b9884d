"""Search: Algorithm 1, lines 1-4 and 18, around the playout loop."""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias

import attrs

from icarus import checks
from icarus.algebra import Enhancement, UnnormalizedMixture
from icarus.checks import count_text
from icarus.compiler import (
    CompilationError,
    interpret,
    interpret_rebound,
    presses_as_one,
    uninterrupted,
)
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.lowering import COUNT_OVERFLOW
from icarus.engine.result import (
    Recommendation,
    Result,
    most_visits,
    recommend,
    reused_records,
    sum_statistics,
)
from icarus.engine.scheme import GONE, MO_ISMCTS, Scheme
from icarus.kernel import (
    CHANCE,
    PHASES,
    TERMINAL,
    UNLIMITED,
    AnyGame,
    Evaluation,
    Game,
    PythonGame,
    State,
    check_is_state,
    read_evaluation,
)  # fmt: skip

SLICE = 0.05  # seconds of work between two polls of the clock and of Ctrl-C
FIRST_SLICE = 8  # iterations before the first poll
COMPILED, PYTHON = "compiled", "python"
MOST_THREADS = 1024
Progress: TypeAlias = Callable[[int, float], None]
PROGRESS = "a function of (iterations made, seconds elapsed)"


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search; `result` is what it had found by then."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        return f"search interrupted after {count_text(self.result.iterations, 'iteration')}"


class SearchExhausted(RuntimeError):
    """A search that cannot go on, since memory has run out or a count is full; `result` is what it had found by then."""

    def __init__(self, result: Result, error: MemoryError | OverflowError) -> None:
        super().__init__(result, error)
        self.result = result

    def __str__(self) -> str:
        result, error = self.args
        why = "memory has run out" if isinstance(error, MemoryError) else str(error)
        return f"the search ended after {count_text(result.iterations, 'iteration')}: {why}"


def search(
    state: State,
    strategy: Enhancement,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    seed: int | Sequence[int] = 0,
    progress: Progress | None = None,
    threads: int = 1,
    scheme: Scheme = MO_ISMCTS,
    cutoff: int | None = None,
    engine: str | None = None,
    records: Result | None = None,
    recommendation: Recommendation = most_visits,
) -> Result:
    """Algorithm 1: choose an action for the player to move by MO-ISMCTS with a strategy of information capture and reuse.

    Args:
        state: a state in which a player is about to act.
        strategy: an enhancement or a composition. (`icarus.Agent` takes Online Outcome Sampling too.)
        iterations: the number of playouts; or
        seconds: the wall-clock time; if both are given, the search ends at the first limit.
        seed: an integer ≥ 0, or several as a key, at whose end zeros count for nothing: (7, 0) is 7. An integer of more than 32 bits is the
            key of its words: 2**32 + 5 is (5, 1). It fixes everything except the clock.
        progress: called with (iterations made, seconds elapsed) about twenty times a second.
        threads: the number of threads; `iterations` is the sum over all threads. Each thread searches separately, with a seed made from
            the seed and its number; the visits of the root's actions are summed.
        scheme: another search of the information-set family: SO_ISMCTS, SO_ISMCTS_POM, DeterminizedUCT(40), or, to measure the value of
            hidden information, one that cheats: CheatingUCT, CheatingEnsembleUCT(40). Several trees share the iterations and the threads.
        cutoff: the number of actions of simulation after which a playout ends, with the game's heuristic as its rewards; by default
            that of the scheme, which is mostly none.
        engine: "compiled", or "python": the same search with the loop, all slots and the game in plain Python, thousands of times slower,
            in which breakpoints and prints work; same seed, same records, same result. Both search a `PythonGame`.
        records: the result of an earlier search from this state or an earlier one; the search starts with its records and visits.
        recommendation: the rule of line 18, a function of `RootStatistics` that gives each action a score: most_visits, greatest_value,
            secure_child of `icarus`, or another.

    Raises:
        ValueError: no positive budget, a terminal or chance state, a bad seed, weights that do not sum to 1, fewer
            iterations than trees; no such engine, several threads in Python; a cut-off without a heuristic; records that do not fit.
        TypeError: an argument that is not a state, an enhancement or a scheme.
        SearchInterrupted: a KeyboardInterrupt that carries the result so far. SearchExhausted: memory has run out, or a count is full;
            it carries the result so far too. Also ValueError: a playout of more than the game's `max_length` actions.
    """
    settings = Search(
        strategy,
        iterations=iterations,
        seconds=seconds,
        threads=threads,
        scheme=scheme,
        cutoff=cutoff,
        recommendation=recommendation,
        engine=engine,
    )
    try:
        return settings.run(state, seed, records, progress)
    # its sentence says all: no lines of the engine between it and the call
    except CompilationError as error:
        raise error.with_traceback(None) from None


# ---------------------------------------------------------------------------------------------- what a search is given


SearchResult: TypeAlias = Any
"""A `Result`, or what has `action`, `actions`, `policy`, `visits`, `values`, `iterations`, `depth` and `seconds` of one."""


class SeatedPlayer(Protocol):
    """The player of one match, with what he may remember of it."""

    def search(self, state: State, seed: tuple[int, ...]) -> SearchResult:
        """The search for a decision."""


class Algorithm(ABC):
    """The settings of another algorithm than Algorithm 1, such as `OOS(…)` of `icarus.equilibrium`; its text is how they are written."""

    @abstractmethod
    def seated(
        self, game: AnyGame, *, iterations: int | None = None, seconds: float | None = None
    ) -> Any:
        """The player of one match, who spends this budget on each decision and remembers what it has learned.

        It is a `SeatedPlayer`, whose `search` takes a function of `Progress` besides.

        Raises:
            ValueError: no positive budget.
        """

    @abstractmethod
    def check_playable(self, game: AnyGame) -> None:
        """Refuse a game that it cannot play, before anything is searched.

        Raises:
            ValueError: it cannot; the message says why.
        """


def check_callable(name: str, value: object, expected: str) -> None:
    """Refuse what is neither None nor a function.

    Raises:
        TypeError: it is something else; the message begins with `name`.
    """
    if value is not None and not callable(value):
        raise TypeError(f"{name} is {value!r}; it must be {expected}")


def check_budget(iterations: Any, seconds: Any) -> tuple[int | None, float | None]:
    """A budget in Python's own numbers.

    Raises:
        ValueError: neither is given, or one is not a positive number.
    """
    if iterations is None and seconds is None:
        raise ValueError("a search needs a budget: iterations=5000 or seconds=1.0")
    if iterations is not None:
        checks.integer("iterations", iterations, least=1)
        iterations = checks.integer("iterations", iterations, most=UNLIMITED)
    if seconds is not None:
        number = checks.positive("seconds", seconds)
        seconds = seconds if type(seconds) is int else number
    return iterations, seconds


def _check_strategy(instance: object, attribute: attrs.Attribute, value: object) -> None:
    if isinstance(value, UnnormalizedMixture):
        raise ValueError(f"the weights of the strategy ({value}) {value.refusal}")
    if not isinstance(value, Enhancement | Algorithm):
        raise TypeError(
            f"a strategy must be an Enhancement, such as RAVE >> MAST or parse('RAVE >> MAST'), not {value!r}"
        )


def _evaluation(value: Any) -> Any:
    return value if isinstance(value, Evaluation | None) else read_evaluation(value)


@attrs.frozen(repr=False)
class Search:
    """How to search, whatever the state: arguments as of `search`, which are checked here and nowhere else."""

    strategy: Enhancement | Algorithm = attrs.field(validator=_check_strategy)
    iterations: int | None = attrs.field(default=None, kw_only=True)
    seconds: float | None = attrs.field(default=None, kw_only=True)
    threads: int = attrs.field(default=1, kw_only=True)
    scheme: Scheme = attrs.field(default=MO_ISMCTS, kw_only=True)
    # a part of the scheme, which is compared
    cutoff: int | None = attrs.field(default=None, kw_only=True, eq=False)
    recommendation: Recommendation = attrs.field(default=most_visits, kw_only=True)
    engine: str | None = attrs.field(default=None, kw_only=True)
    evaluation: Evaluation | None = attrs.field(default=None, kw_only=True, converter=_evaluation)

    def __attrs_post_init__(self) -> None:
        iterations, seconds = check_budget(self.iterations, self.seconds)
        threads = checks.integer("threads", self.threads, least=1, most=MOST_THREADS)
        for name, number in {
            "iterations": iterations,
            "seconds": seconds,
            "threads": threads,
        }.items():
            object.__setattr__(self, name, number)
        scheme = self.scheme
        if not isinstance(scheme, Scheme):
            raise TypeError(
                f"a scheme must be a Scheme, such as SO_ISMCTS or parse_scheme('SO_ISMCTS'), not {scheme!r}"
            )
        if scheme.root == GONE:
            raise ValueError(
                f"{scheme} is gone, since it played worse in every game: see docs/schemes.md"
            )
        if self.iterations is not None and self.iterations < scheme.trees:
            raise ValueError(
                f"iterations is {self.iterations!r}; {scheme} needs at least one for each of its {scheme.trees} trees"
            )
        if not callable(self.recommendation):
            raise TypeError(
                f"recommendation is {self.recommendation!r}; it must be a function that gives each action a score, "
                "such as icarus.most_visits"
            )
        if self.cutoff is not None:
            scheme = scheme.with_cutoff(self.cutoff)
            object.__setattr__(self, "scheme", scheme)
            object.__setattr__(self, "cutoff", scheme.cutoff)
        if self.engine is not None:
            engine = checks.one_of("engine", self.engine, (COMPILED, PYTHON))
            object.__setattr__(self, "engine", engine)
        if self.threads > 1 and self.engine == PYTHON:
            raise ValueError(
                f"threads is {self.threads!r}; the engine {PYTHON!r} searches in one thread"
            )

    def check(self, state: State) -> Enhancement:
        """Refuse a state in which this is no search; returns the strategy.

        Raises:
            TypeError, ValueError: see `search`.
        """
        check_is_state("search", state)
        game = state.game
        player = state.current_player()
        strategy = self.strategy
        if not isinstance(strategy, Enhancement):
            raise TypeError(
                f"{strategy} is another algorithm, not a strategy of search(): call "
                f"icarus.Agent({strategy}, iterations=…).search(state, seed)"
            )
        if game.observe is not None and game.determinize is None:
            raise ValueError(
                f"{game} has observe but no determinize, so that a search would see what observe hides: give it "
                "determinize(state, observer, beliefs, rng), or no observe where nothing is hidden"
            )
        if player in (CHANCE, TERMINAL):
            reason = (
                "the game has ended"
                if player == TERMINAL
                else "chance acts here: apply one of chance_outcomes()"
            )
            raise ValueError(f"there is no decision to search for: {reason}")
        if self.threads > 1 and not isinstance(game, Game):
            raise ValueError(
                f"threads is {self.threads!r}; {game} is a PythonGame, whose functions run in one thread"
            )
        check_cutoff(game, self.scheme)
        return strategy

    def begin(
        self, state: State, seed: int | Sequence[int] = 0, records: Result | None = None
    ) -> "RunningSearch":
        """A search that has made no playout yet: of one tree or of several, in one thread or in several."""
        if self.evaluation is not None:
            check_is_state("search", state)
            state = state.with_evaluation(self.evaluation)
        strategy = self.check(state)
        scheme = self.scheme
        seed = checks.seed(seed)
        plain = interpret if self.engine == PYTHON else None
        game = state.game
        is_interpreted = isinstance(game, PythonGame) and game.is_interpreted
        if plain is not None or is_interpreted:
            interpret_rebound()
        trees = scheme.trees if scheme.tree_parameter else self.threads
        is_one = trees == 1 and not scheme.tree_parameter
        seeds = [seed] if is_one else [(*checks.seed_key(seed), i) for i in range(trees)]
        reused = reused_records(records, state, strategy, scheme, trees)
        grown = [
            CompiledSearch(state, strategy, key, scheme, reuse, plain)
            for key, reuse in zip(seeds, reused, strict=True)
        ]
        return grown[0] if is_one else Trees(grown, seed, self.threads)

    def run(
        self,
        state: State,
        seed: int | Sequence[int] = 0,
        records: Result | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """The result when the budget is used up, or when the search is interrupted; arguments and errors as of `search`."""
        check_callable("progress", progress, PROGRESS)
        one_slice = (
            self.threads == 1 and self.iterations is not None and self.iterations <= FIRST_SLICE
        )
        # A search of one slice is over before a second Ctrl-C could meet what puts its result together.
        with contextlib.nullcontext() if one_slice else presses_as_one():
            running, started = self.begin(state, seed, records), time.perf_counter()

            def result_so_far() -> Result:
                return running.result(time.perf_counter() - started, self.recommendation)

            try:
                run_within(
                    running,
                    self.iterations,
                    self.seconds,
                    started,
                    progress,
                    running.trees,
                    running.expect,
                )
            except KeyboardInterrupt:
                if running.iterations == 0:
                    raise
                raise SearchInterrupted(result_so_far()) from None
            except (MemoryError, OverflowError) as error:
                # Another OverflowError is one of a game's function, or of a slot in plain Python.
                is_exhausted = isinstance(error, MemoryError) or str(error) == COUNT_OVERFLOW
                if running.iterations == 0 or not is_exhausted:
                    raise
                raise SearchExhausted(result_so_far(), error) from None
            return result_so_far()


def check_cutoff(game: AnyGame, scheme: Scheme) -> None:
    """Refuse a cut-off in a game that has no heuristic for the rewards.

    Raises:
        ValueError: the scheme has a cut-off, and the game has no heuristic.
    """
    if scheme.cutoff is not None and game.heuristic is None:
        raise ValueError(
            f"cutoff is {scheme.cutoff}, but {game} has no heuristic to end playouts with; give Game(heuristic=…)"
        )


# -------------------------------------------------------------------------------------------------- how a budget is spent


def run_within(
    search: Any,
    iterations: int | None,
    seconds: float | None,
    started: float,
    progress: Progress | None = None,
    trees: int = 1,
    expect: Callable[[int], None] = lambda iterations: None,
) -> None:
    """Run until a budget is used up, in slices between which Ctrl-C, the clock and `progress` get their due.

    Args:
        search: has the `iterations` made so far, and `run(iterations)`, which goes on until so many have been made in all.
        started: the clock when the search began.
        trees: how many there are; each makes one iteration at least, whatever the time.
        expect: called with the iterations that the budget will come to, as far as is known by now.
    """
    limit = iterations if iterations is not None else UNLIMITED
    deadline = started + seconds if seconds is not None else None
    target = max(FIRST_SLICE, trees)
    expect(limit)
    while search.iterations < limit:
        before = time.perf_counter()
        iterations_before = search.iterations
        search.run(min(target, limit))
        now = time.perf_counter()
        gained = search.iterations - iterations_before
        if progress is not None:
            progress(search.iterations, now - started)
        if deadline is not None and now >= deadline:
            break
        rate = gained / max(now - before, 1e-9)
        remaining = SLICE if deadline is None else min(SLICE, deadline - now)
        if deadline is not None:
            expect(int(min(limit, search.iterations + rate * (deadline - now))))
        # at most 8 times as many as in this slice, since one measured rate may be wrong
        target = search.iterations + max(1, min(int(rate * remaining), 8 * gained))


# --------------------------------------------------------------- Several searches from one root, whose results make one


class Trees:
    """Independent searches with equal shares of the iterations, whose root statistics are added up.

    It is ensemble UCT (Fern and Lewis, 2011), or determinized UCT where each tree is of one determinization; in several threads it is root
    parallelism (Chaslot, Winands and van den Herik, 2008). The compiled loop runs without Python's lock.
    """

    def __init__(
        self, searches: Sequence[CompiledSearch], seed: int | Sequence[int], threads: int
    ) -> None:
        self.searches, self.seed, self.threads = searches, seed, threads
        self.trees = len(searches)

    @property
    def iterations(self) -> int:
        """Playouts made so far, by all searches together."""
        return sum(search.iterations for search in self.searches)

    def expect(self, iterations: int) -> None:
        """Tell the slots of each search how many playouts it will make."""
        shares = [UNLIMITED] * self.trees
        if iterations < UNLIMITED:
            shares = self._shares(iterations)
        for search, share in zip(self.searches, shares, strict=True):
            search.expect(share)

    def _shares(self, iterations: int) -> list[int]:
        """How many of so many playouts each search makes."""
        share, rest = divmod(iterations, self.trees)
        return [share + 1] * rest + [share] * (self.trees - rest)

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all. An exception of a search surfaces as itself when all have ended."""
        shares = self._shares(iterations)
        if self.threads == 1:
            for search, share in zip(self.searches, shares, strict=True):
                search.run(share)
        else:
            with ThreadPoolExecutor(self.threads, "icarus") as pool:
                try:
                    with uninterrupted():  # the pool waits only for threads that it knows of
                        runs = [
                            pool.submit(each.run, share)
                            for each, share in zip(self.searches, shares, strict=True)
                        ]
                except RuntimeError:  # the system's word for no memory, or too many threads
                    raise MemoryError(
                        f"the system starts no {self.threads} threads here; search with fewer"
                    ) from None
                for run in runs:
                    run.result()

    def result(self, seconds: float = 0.0, recommendation: Recommendation = most_visits) -> Result:
        """What the searches have found; arguments as in `CompiledSearch.result`."""
        parts = tuple(search.result(seconds, recommendation) for search in self.searches)
        root = sum_statistics([part._statistics for part in parts])
        return attrs.evolve(
            parts[0],
            action=recommend(root, recommendation, self.searches[0].rng),
            visits=root.visits,
            statistics=root,
            iterations=self.iterations,
            earlier_iterations=sum(part.earlier_iterations for part in parts),
            depth=max(part.depth for part in parts),
            phase_steps={phase: sum(part.phase_steps[phase] for part in parts) for phase in PHASES},
            seconds=seconds,
            seed=self.seed,
            threads=self.threads,
            memory=sum(part.memory for part in parts),
            parts=parts,
        )


RunningSearch: TypeAlias = CompiledSearch | Trees
