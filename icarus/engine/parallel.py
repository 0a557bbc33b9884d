"""Several threads for one search: independent searches whose root visits are summed, or threads that share their records.

The compiled loop runs without Python's lock, so each search of a team has a thread of its own. Between two slices of work all threads
stand still; only then do tables grow, and only then is anything looked at.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypeVar

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.compiler.debug.leaving import Left
from icarus.compiler.interrupts import ring
from icarus.engine.loop.arena import DONE, MORE_ROWS, SHARED
from icarus.engine.program.lowering import lower
from icarus.engine.records.tables import Table
from icarus.engine.scheme import Scheme
from icarus.kernel.game import Game
from icarus.kernel.history import PHASES

T = TypeVar("T")
ROOTS, RECORDS = "roots", "records"
SHARINGS = (ROOTS, RECORDS)
MOST_THREADS = 1024


def check_threads(threads: Any, sharing: Any) -> None:
    """Refuse a number of threads that is none, and a way of sharing that there is not."""
    checks.integer("threads", threads, least=1, most=MOST_THREADS)
    if sharing not in SHARINGS:
        raise ValueError(f"sharing is {sharing!r}; it must be {' or '.join(map(repr, SHARINGS))}")


def mean_rewards(found: np.ndarray) -> np.ndarray:
    """[actions]: mean rewards from [2, actions] total rewards and numbers of playouts; nan where there is no playout."""
    rewards, counts = found
    return np.divide(rewards, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def visits_of_undominated(visits: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """[actions]: the visits, −1 where another action is proved to be at least as good, and may be better.

    Args:
        bounds: [2, actions], as `Search.root_bounds` has them.
    """
    lower, upper = bounds
    dominated = (lower[None, :] >= upper[:, None]) & (upper[None, :] > lower[:, None])
    return np.where(dominated.any(axis=1), -1, visits)


class Shared:
    """What searches that share their records have in common.

    Attributes:
        tables: one for each component.
        control: [1] of SHARED.
    """

    def __init__(self, game: Game, strategy: Enhancement, scheme: Scheme) -> None:
        self.tables = [Table(component, game) for component in lower(game, strategy, scheme, shared=True).components]
        self.control = np.zeros(1, SHARED)


class Team:
    """Several `Search`es from one root, on so many threads. No thread outlives `close`."""

    SHARING = ""

    def __init__(self, searches: Sequence[Any], seed: Any, threads: int) -> None:
        self.searches, self.seed, self.threads = searches, seed, threads
        self._pool = ThreadPoolExecutor(threads, "icarus")

    @property
    def iterations(self) -> int:
        """Playouts made so far, of all threads."""
        return sum(search.iterations for search in self.searches)

    def side_by_side(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Make calls at once; returns when all have ended. An exception in one ends the others, and surfaces as itself."""
        futures: list[Future[T]] = []
        for search in self.searches:
            search.halted = False
        try:
            for call in calls:
                futures.append(self._pool.submit(call))
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            if not all(future.done() for future in futures):
                self.halt()
            wait(futures)
        return [future.result() for future in futures]

    def halt(self) -> None:
        """Have the threads return at their next step, if they have not yet."""
        for search in self.searches:
            search.halted = True
        ring()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def root_bounds(self) -> np.ndarray:
        """As `Search.root_bounds`: the narrowest of all searches."""
        bounds = [search.root_bounds() for search in self.searches]
        return np.array(
            [np.max([lower for lower, _ in bounds], axis=0), np.min([upper for _, upper in bounds], axis=0)]
        )

    def combined(self, first: Any, seconds: float) -> Any:
        """The `Result` of the first search with what is additive summed over all of them."""
        visits = np.sum([search.root_visits() for search in self.searches], axis=0)
        phase_steps = np.sum([search.phase_steps() for search in self.searches], axis=0).tolist()
        return attrs.evolve(
            first,
            action=self.searches[0].most_visited(visits_of_undominated(visits, self.root_bounds())),
            visits=visits,
            policy=visits / max(1, visits.sum()),
            iterations=self.iterations,
            depth=max(search.depth for search in self.searches),
            phase_steps=dict(zip(PHASES, phase_steps, strict=True)),
            seconds=seconds,
            seed=self.seed,
            threads=self.threads,
            sharing=self.SHARING if self.threads > 1 else None,
        )


class Roots(Team):
    """Independent searches with equal shares of the iterations, whose root visits are summed.

    It is root parallelism (Chaslot, Winands and van den Herik, 2008) where each has a thread, and ensemble UCT (Fern and Lewis, 2011)
    or determinized UCT where the scheme has several trees.
    """

    SHARING = ROOTS

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all."""
        size = len(self.searches)
        shares = [iterations // size + (i < iterations % size) for i in range(size)]
        self.side_by_side([partial(search.run, share) for search, share in zip(self.searches, shares, strict=True)])

    def result(self, seconds: float = 0.0, copied: bool = True) -> Any:
        """What the searches have found so far; `copied` as in `Search.records`."""
        rewards = [search.root_rewards() for search in self.searches]
        parts = tuple(search.result(seconds, copied, own) for search, own in zip(self.searches, rewards, strict=True))
        values = mean_rewards(np.sum(rewards, axis=0))
        return attrs.evolve(
            self.combined(parts[0], seconds), values=values, memory=sum(part.memory for part in parts), parts=parts
        )


class SharedRecords(Team):
    """Threads with one table for each component; what one captures, all reuse (section 9)."""

    SHARING = RECORDS

    def __init__(self, searches: Sequence[Any], seed: Any, threads: int, shared: Shared) -> None:
        super().__init__(searches, seed, threads)
        self._shared = shared

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all, giving room while all threads stand still."""
        while self.iterations < iterations:
            self._shared.control["stop"] = 0
            self._give_room(self.side_by_side([partial(self._advance, search, iterations) for search in self.searches]))

    def _advance(self, search: Any, iterations: int) -> int:
        try:
            return search.advance(iterations)
        except Left:  # all that did not return are left, whatever they wait for: a lock that another holds stays closed
            self.halt()
            raise
        except BaseException:
            self.halt()
            for table in self._shared.tables:  # a function of the user's has failed, perhaps behind a lock:
                table.descriptor["lock"] = 0  # open all of them, so that nobody waits for it
            raise

    def _give_room(self, statuses: Sequence[int]) -> None:
        rows: Counter[int] = Counter()  # that threads had no room for, by table
        for search, status in zip(self.searches, statuses, strict=True):
            if status == MORE_ROWS:
                full, count = search.full_table()
                rows[full] += count
            elif status != DONE:
                search.give_room(status)
        for full, count in rows.items():
            self._shared.tables[full].grow(count)

    def halt(self) -> None:
        self._shared.control["stop"] = 1
        super().halt()

    def result(self, seconds: float = 0.0, copied: bool = True) -> Any:
        """What the threads have found so far; `copied` as in `Search.records`."""
        found = self.combined(self.searches[0].result(seconds, copied), seconds)
        if not found.reusable:
            return found
        return attrs.evolve(found, links=np.concatenate([search.links for search in self.searches]))
