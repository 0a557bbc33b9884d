"""Search: Algorithm 1, lines 1-4 and 18, around the compiled playout loop."""

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from icarus import checks
from icarus.algebra import Enhancement, Sum
from icarus.compiler.interrupts import listening
from icarus.engine.algorithm import Algorithm
from icarus.engine.compiled_search import Search
from icarus.engine.parallel import RECORDS, ROOTS, Roots, Shared, SharedRecords, check_threads
from icarus.engine.records.reuse import warm_starts_of
from icarus.engine.records.tables import Records
from icarus.engine.reference.search import begin_search_in_python
from icarus.engine.result import Result, SearchExhausted, SearchInterrupted
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.state import State

COMPILED, PYTHON = "compiled", "python"
ENGINES = (COMPILED, PYTHON)
SLICE = 0.05  # seconds of compiled work between two looks at the clock and at Ctrl-C
FIRST_SLICE = 8  # iterations before the first look


def search(
    state: State,
    strategy: Enhancement,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    seed: int | Sequence[int] = 0,
    progress: Callable[[int, float], None] | None = None,
    threads: int = 1,
    sharing: str = ROOTS,
    scheme: Scheme = MO_ISMCTS,
    cutoff: int | None = None,
    engine: str | None = None,
    records: Result | None = None,
) -> Result:
    """Algorithm 1: choose an action for the player to move by MO-ISMCTS with a strategy of information capture and reuse.

    Args:
        state: a state in which a player is about to act.
        strategy: an enhancement or a composition. (For Online Outcome Sampling and its like see `icarus.equilibrium.online_search`.)
        iterations: how many playouts to make; or
        seconds: for how long (wall clock); with both, whichever ends first.
        seed: an integer ≥ 0, or several as a key. Fixes everything but the clock.
        progress: called with (iterations made, seconds elapsed) about twenty times a second.
        threads: how many search at once; the iterations are those of all together.
        sharing: what several threads share. "roots": each searches on its own, with a seed made of the seed and its number, and
            the visits of the root's actions are summed; the seed and the number of threads fix the result. "records": all work
            on the same records, section 9 of the paper. No update is lost and no record is entered twice, but a policy may
            read a record that is just being updated, new rewards with the old count, say; and which thread comes first is the
            clock's affair, so the result can NOT be reproduced, whatever the seed. With one thread it says nothing.
        scheme: another search of the information-set family: SO_ISMCTS, SO_ISMCTS_POM, DeterminizedUCT(40), or, to measure what hidden
            information is worth, one that cheats: CheatingUCT, CheatingEnsembleUCT(40). Several trees have the iterations and the
            threads of all together.
        cutoff: after how many actions of simulation a playout is cut off, with the game's heuristic for its rewards; where it is not given,
            as the scheme says, which is mostly never.
        engine: "compiled", or "python": the same search by the plain Python of all slots and of the game, hundreds of times slower, in
            which breakpoints and prints work; same seed, same records, same result. A `PythonGame` knows only the latter.
        records: the result of an earlier search from here or from before, with whose records the search begins; its visits count too.

    Raises:
        ValueError: no positive budget, a terminal or chance state, a bad seed, weights that do not sum to 1, no such sharing, fewer
            iterations than trees; no such engine, several threads in Python; a cut-off without a heuristic; records that do not fit.
        TypeError: something that is no state, no enhancement or no scheme.
        SearchInterrupted: a KeyboardInterrupt that carries the result so far. SearchExhausted: memory has run out, or a count is full;
            it carries the result so far too. ValueError also: a playout of more than the game's `max_length` actions.
    """
    check_search(state, strategy, iterations, seconds, seed)
    check_threads(threads, sharing)
    check_scheme(scheme, iterations, threads, sharing)
    scheme = scheme.with_cutoff(cutoff)
    engine = checked_engine(engine, state.game, threads)
    begin = partial(begin_search, state, strategy, seed, threads, sharing, scheme, engine, records)
    return spent(begin, iterations, seconds, progress)


def spent(
    begin: Callable[[], Any],
    iterations: int | None,
    seconds: float | None,
    progress: Callable[[int, float], None] | None = None,
) -> Result:
    """What a search finds when it has spent its budget, or is interrupted."""
    with listening():
        running, started = begin(), time.perf_counter()
        try:
            with contextlib.closing(running):
                spend(running, iterations, seconds, started, progress)
        except KeyboardInterrupt as interrupt:
            if running.iterations == 0:
                raise
            found = running.result(time.perf_counter() - started, copied=False)
            raise SearchInterrupted(found, str(interrupt)) from None
        except (MemoryError, OverflowError) as error:
            if running.iterations == 0:
                raise
            raise SearchExhausted(running.result(time.perf_counter() - started, copied=False), error) from None
        return running.result(time.perf_counter() - started, copied=False)


def begin_search(
    state: State,
    strategy: Enhancement,
    seed: int | Sequence[int] = 0,
    threads: int = 1,
    sharing: str = ROOTS,
    scheme: Scheme = MO_ISMCTS,
    engine: str = COMPILED,
    records: Result | None = None,
    reusable: bool = True,
) -> "Search | Roots | SharedRecords":
    """A search that has made no playout yet: by itself, or of several trees or threads; arguments as in `search`.

    Args:
        reusable: whether a later search may begin with its records. False spares what that costs, 1 to 7 % of the time.
    """
    if engine == PYTHON:
        return begin_search_in_python(state, strategy, seed, scheme, records, reusable)
    if threads == 1 and not scheme.counted:
        (warm_start,) = warm_starts_of(records, state, strategy, scheme, 1)
        return Search(state, strategy, seed, scheme, None, warm_start, reusable)
    if sharing == RECORDS and any(part.initial.function for part in strategy.components):
        raise ValueError(
            f"sharing is {RECORDS!r}, but records of {strategy} begin with what a function tells; it must be {ROOTS!r}"
        )
    key = tuple(seed) if isinstance(seed, Sequence) else (seed,)
    seeds = [(*key, i) for i in range(scheme.trees if scheme.counted else threads)]
    if scheme.counted or sharing == ROOTS:
        begun = zip(seeds, warm_starts_of(records, state, strategy, scheme, len(seeds)), strict=True)
        trees = [Search(state, strategy, own, scheme, None, warm_start, reusable) for own, warm_start in begun]
        return Roots(trees, seed, threads)
    (first,) = warm_starts_of(records, state, strategy, scheme, 1)
    shared = Shared(scheme.seen(state.game), strategy, scheme)
    if first is not None:
        first.fill(shared.tables)
    begun = zip(seeds, [first, *[None] * (len(seeds) - 1)], strict=True)
    searches = [Search(state, strategy, own, scheme, shared, warm_start, reusable) for own, warm_start in begun]
    return SharedRecords(searches, seed, threads, shared)


def spend(
    running: "Search | Roots | SharedRecords",
    iterations: int | None,
    seconds: float | None,
    started: float,
    progress: Callable[[int, float], None] | None,
) -> None:
    """Run until a budget is used up, in slices between which Ctrl-C, the clock and `progress` get their due."""
    limit = iterations if iterations is not None else 1 << 62
    deadline = started + seconds if seconds is not None else None
    target, rate = max(FIRST_SLICE, len(getattr(running, "searches", ()))), 0.0
    while running.iterations < limit:
        before, made = time.perf_counter(), running.iterations
        running.run(min(target, limit))
        now = time.perf_counter()
        rate = (running.iterations - made) / max(now - before, 1e-9)
        if progress is not None:
            progress(running.iterations, now - started)
        if deadline is not None and now >= deadline:
            break
        left = SLICE if deadline is None else min(SLICE, deadline - now)
        target = running.iterations + max(1, min(int(rate * left), 8 * (running.iterations - made)))


def check_search(state: Any, strategy: Any, iterations: Any, seconds: Any, seed: Any) -> None:
    """Refuse what is no state to search, no strategy, no budget or no seed."""
    if not isinstance(state, State):
        raise TypeError(f"search looks at a State, such as games.load('othello').new_initial_state(), not at {state!r}")
    if isinstance(strategy, Sum):
        raise ValueError(
            f"the weights of ({strategy}) do not sum to 1: it is no strategy yet; divide it by {len(strategy.terms)}"
        )
    if isinstance(strategy, Algorithm):
        raise TypeError(
            f"{strategy} is another algorithm, not a strategy of search(): call "
            f"icarus.equilibrium.online_search(state, {strategy}, iterations=…)"
        )
    if not isinstance(strategy, Enhancement):
        raise TypeError(
            f"a strategy is an Enhancement, such as RAVE >> MAST or parse('RAVE >> MAST'), not {strategy!r}"
        )
    check_budget(iterations, seconds)
    checks.seed(seed)
    player = state.current_player()
    if player in (CHANCE, TERMINAL):
        told = "the game has ended" if player == TERMINAL else "chance acts here: apply one of chance_outcomes()"
        raise ValueError(f"there is no decision to search for: {told}")


def checked_engine(engine: Any, game: AnyGame, threads: int) -> str:
    """The engine that is to search, by name; refuses what is none, and what it cannot do."""
    if engine not in (None, *ENGINES):
        raise ValueError(f"engine is {engine!r}; it must be {' or '.join(map(repr, ENGINES))}")
    compilable = isinstance(game, Game)
    if engine == COMPILED and not compilable:
        raise ValueError(f"{game} is a PythonGame, which nobody can compile; its engine is {PYTHON!r}")
    if (engine == PYTHON or not compilable) and threads > 1:
        raise ValueError(f"threads is {threads!r}; the engine {PYTHON!r} searches in one")
    return engine or (COMPILED if compilable else PYTHON)


def check_budget(iterations: Any, seconds: Any) -> None:
    """Refuse a budget that is missing, no number, or not positive."""
    if iterations is None and seconds is None:
        raise ValueError("a search needs a budget: iterations=5000 or seconds=1.0")
    if iterations is not None:
        checks.integer("iterations", iterations, least=1)
    if seconds is not None:
        checks.positive("seconds", seconds)


def check_scheme(scheme: Any, iterations: Any, threads: int = 1, sharing: str = ROOTS) -> None:
    """Refuse what is no scheme, fewer iterations than it has trees, and records shared between trees."""
    if not isinstance(scheme, Scheme):
        raise TypeError(f"a scheme is a Scheme, such as SO_ISMCTS or parse_scheme('SO_ISMCTS'), not {scheme!r}")
    if iterations is not None and iterations < scheme.trees:
        raise ValueError(
            f"iterations is {iterations!r}; {scheme} needs at least one for each of its {scheme.trees} trees"
        )
    if scheme.counted and threads > 1 and sharing == RECORDS:
        raise ValueError(
            f"sharing is {RECORDS!r}, but each tree of {scheme} has records of its own; it must be {ROOTS!r}"
        )


__all__ = ["Records", "Result", "Search", "SearchInterrupted", "begin_search", "check_budget", "check_scheme", "search"]
