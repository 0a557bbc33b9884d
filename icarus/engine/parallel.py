"""Several compiled searches at once: independent ones whose root statistics are added up, or threads that share their records.

The compiled loop runs without Python's lock, so each search of a team has a thread of its own. Between two slices of work all threads
stand still; only then do tables grow, and only then is anything read.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TypeVar

import attrs
import numpy as np

from icarus.compiler.interrupts import deferred_interrupts, set_interrupt_flag
from icarus.engine.compiled_search import CompiledSearch, Shared
from icarus.engine.loop.arena import DONE, MORE_ROWS
from icarus.engine.recommendation import Recommendation, most_visits
from icarus.engine.result import RECORDS, Result
from icarus.engine.root_statistics import sum_statistics
from icarus.engine.trees import Team, Trees

T = TypeVar("T")


class Threads:
    """Threads in which compiled searches run at once. None outlives `close`."""

    def __init__(self, searches: Sequence[CompiledSearch], threads: int) -> None:
        self._searches, self._pool = searches, ThreadPoolExecutor(threads, "icarus")

    def make(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Make calls at once; returns when all have ended. An exception in one ends the others, and surfaces as itself."""
        futures: list[Future[T]] = []
        for search in self._searches:
            search.halted = False
        try:
            with deferred_interrupts():  # a call that was submitted and is not in the list would go on unseen
                for call in calls:
                    futures.append(self._pool.submit(call))
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            if not all(future.done() for future in futures):
                self.halt()
            wait(futures)
        return [future.result() for future in futures]

    def halt(self) -> None:
        """Have the searches return at their next step, if they have not yet."""
        for search in self._searches:
            search.halted = True
        set_interrupt_flag()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


class Roots(Trees[CompiledSearch]):
    """Independent compiled searches at once: root parallelism (Chaslot, Winands and van den Herik, 2008)."""

    def __init__(self, searches: Sequence[CompiledSearch], seed: int | Sequence[int], threads: int) -> None:
        super().__init__(searches, seed, threads)
        self._threads = Threads(searches, threads)

    def make(self, calls: Sequence[Callable[[], None]]) -> None:
        """Make the calls of all searches at once."""
        self._threads.make(calls)

    def close(self) -> None:
        """End the threads."""
        self._threads.close()


class SharedRecords(Team[CompiledSearch]):
    """Threads with one table for each component; what one captures, all reuse (section 9)."""

    SHARING = RECORDS

    def __init__(
        self, searches: Sequence[CompiledSearch], seed: int | Sequence[int], threads: int, shared: Shared
    ) -> None:
        super().__init__(searches, seed, threads)
        self._threads, self._shared = Threads(searches, threads), shared

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all, giving room while all threads stand still."""
        while self.iterations < iterations:
            self._shared.control["stop"] = 0
            self._allocate(self._threads.make([partial(self._advance, search, iterations) for search in self.searches]))

    def _advance(self, search: CompiledSearch, iterations: int) -> int:
        try:
            return search.advance(iterations)
        except BaseException:
            self._halt()
            for table in self._shared.tables:  # a function of the user's has failed, perhaps behind a lock:
                table.descriptor["lock"] = 0  # open all of them, so that no thread waits for it
            raise

    def _allocate(self, statuses: Sequence[int]) -> None:
        rows: Counter[int] = Counter()  # that threads had no room for, by table
        for search, status in zip(self.searches, statuses, strict=True):
            if status == MORE_ROWS:
                full, count = search.full_table()
                rows[full] += count
            elif status != DONE:
                search.allocate(status)
        for full, count in rows.items():
            self.searches[0].grow_table(full, count)

    def _halt(self) -> None:
        self._shared.control["stop"] = 1
        self._threads.halt()

    def result(self, seconds: float = 0.0, copied: bool = True, recommendation: Recommendation = most_visits) -> Result:
        """What the threads have found so far; arguments as in `RunningSearch.result`."""
        roots = [search.root() for search in self.searches]
        root = attrs.evolve(roots[0], visits=sum_statistics(roots).visits)  # all else is of the same records
        combined = self.combine(self.searches[0].result(seconds, copied, recommendation), root, seconds)
        if not combined.reusable:
            return combined
        return attrs.evolve(combined, links=np.concatenate([search.links for search in self.searches]))

    def close(self) -> None:
        """End the threads."""
        self._threads.close()
