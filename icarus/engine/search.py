"""Search: Algorithm 1, lines 1-4 and 18, around the playout loop."""

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial

from icarus import checks
from icarus.algebra import Enhancement
from icarus.compiler.digest import renew_rebound
from icarus.compiler.functions import CompilationError
from icarus.compiler.kernel import presses_as_one
from icarus.compiler.plain_python import interpret, interpret_rebound
from icarus.engine import validation
from icarus.engine.belief import has_belief
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.recommendation import Recommendation, most_visits
from icarus.engine.result import Result, SearchExhausted, SearchInterrupted
from icarus.engine.reuse import reused_records
from icarus.engine.running_search import RunningSearch, Trees, run_within
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.kernel.state import State


def search(
    state: State,
    strategy: Enhancement,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    seed: int | Sequence[int] = 0,
    progress: Callable[[int, float], None] | None = None,
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
        strategy: an enhancement or a composition. (For Online Outcome Sampling see `icarus.equilibrium.online_search`.)
        iterations: the number of playouts; or
        seconds: the wall-clock time; if both are given, the search ends at the first limit.
        seed: an integer ≥ 0, or several as a key. It fixes everything except the clock.
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
    validation.check_state(state)
    validation.check_strategy(strategy)
    validation.check_budget(iterations, seconds)
    checks.seed(seed)
    validation.check_threads(threads)
    validation.check_scheme(scheme, iterations)
    validation.check_recommendation(recommendation)
    validation.check_callable("progress", progress, validation.PROGRESS)
    scheme = scheme.with_cutoff(cutoff)
    engine = validation.checked_engine(engine, state.game, threads)
    start = partial(start_search, state, strategy, seed, threads, scheme, engine, records)
    try:
        return run_search(start, iterations, seconds, progress, recommendation)
    except CompilationError as error:  # its sentence says all: no lines of the engine between it and the call
        raise error.with_traceback(None) from None


def run_search(
    start: Callable[[], RunningSearch],
    iterations: int | None,
    seconds: float | None,
    progress: Callable[[int, float], None] | None = None,
    recommendation: Recommendation = most_visits,
    watch: Callable[[Result], None] | None = None,
) -> Result:
    """The result of a search when its budget is used up, or when it is interrupted.

    Args:
        watch: called about twenty times a second with the result so far, whose records go on changing.
    """
    with presses_as_one():
        running, started = start(), time.perf_counter()

        def result_so_far() -> Result:
            return running.result(time.perf_counter() - started, False, recommendation)

        def follow(iterations: int, elapsed: float) -> None:
            if progress is not None:
                progress(iterations, elapsed)
            if watch is not None:
                watch(result_so_far())

        try:
            with contextlib.closing(running):
                run_within(running, iterations, seconds, started, follow, running.trees, running.expect)
        except KeyboardInterrupt:
            if running.iterations == 0:
                raise
            raise SearchInterrupted(result_so_far()) from None
        except (MemoryError, OverflowError) as error:
            if running.iterations == 0:
                raise
            raise SearchExhausted(result_so_far(), error) from None
        return result_so_far()


def start_search(
    state: State,
    strategy: Enhancement,
    seed: int | Sequence[int] = 0,
    threads: int = 1,
    scheme: Scheme = MO_ISMCTS,
    engine: str = validation.COMPILED,
    records: Result | None = None,
) -> RunningSearch:
    """A search that has made no playout yet: of one tree or of several, in one thread or in several; arguments as in `search`."""
    renew_rebound()
    if engine != validation.COMPILED:
        interpret_rebound()
    validation.check_cutoff(state.game, scheme)
    validation.check_belief(has_belief(state), scheme)
    trees = scheme.trees if scheme.tree_parameter else threads
    if records is not None:
        validation.check_records(records, state, strategy, scheme, trees)
    reuse = reused_records(records, state, strategy, scheme, trees)

    plain = None if engine == validation.COMPILED else interpret

    def tree(i: int) -> CompiledSearch:
        own_seed = seed if trees == 1 and not scheme.tree_parameter else (*checks.seed_key(seed), i)
        return CompiledSearch(state, strategy, own_seed, scheme, reuse[i], plain)

    grown = [tree(i) for i in range(trees)]
    return Trees(grown, seed, threads) if scheme.tree_parameter or threads > 1 else grown[0]
