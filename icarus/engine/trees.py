"""Several searches from one root, whose results make one."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import attrs
import numpy as np

from icarus.engine.recommendation import Recommendation, most_visits, recommend
from icarus.engine.result import Result
from icarus.engine.root_statistics import sum_statistics
from icarus.engine.running_search import TreeSearch
from icarus.kernel.history import PHASES, UNLIMITED


class Trees:
    """Independent searches with equal shares of the iterations, whose root statistics are added up.

    It is ensemble UCT (Fern and Lewis, 2011), or determinized UCT where each tree is of one determinization; in several threads it is root
    parallelism (Chaslot, Winands and van den Herik, 2008). The compiled loop runs without Python's lock.
    """

    def __init__(self, searches: Sequence[TreeSearch], seed: int | Sequence[int], threads: int) -> None:
        self.searches, self.seed, self.threads = searches, seed, threads
        self._pool = ThreadPoolExecutor(threads, "icarus")  # starts no thread before it is given work

    @property
    def trees(self) -> int:
        """How many searches share the iterations."""
        return len(self.searches)

    @property
    def iterations(self) -> int:
        """Playouts made so far, by all searches together."""
        return sum(search.iterations for search in self.searches)

    def expect(self, iterations: int) -> None:
        """Tell slots how many playouts there will be in all: an equal share for each search."""
        for search in self.searches:
            search.expect(iterations if iterations == UNLIMITED else max(1, iterations // self.trees))

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all. An exception of a search surfaces as itself when all have ended."""
        shares = [iterations // self.trees + (i < iterations % self.trees) for i in range(self.trees)]
        if self.threads == 1:
            for search, share in zip(self.searches, shares, strict=True):
                search.run(share)
        else:
            runs = [self._pool.submit(search.run, share) for search, share in zip(self.searches, shares, strict=True)]
            wait(runs)
            for run in runs:
                run.result()

    def result(self, seconds: float = 0.0, copied: bool = True, recommendation: Recommendation = most_visits) -> Result:
        """What the searches have found so far; arguments as in `RunningSearch.result`."""
        parts = tuple(search.result(seconds, copied, recommendation) for search in self.searches)
        root = sum_statistics([search.root() for search in self.searches])
        phase_steps = np.sum([search.phase_steps() for search in self.searches], axis=0).tolist()
        return attrs.evolve(
            parts[0],
            action=recommend(root, recommendation, self.searches[0].rng),
            visits=root.visits,
            values=root.values,
            policy=root.policy,
            iterations=self.iterations,
            depth=max(search.depth for search in self.searches),
            phase_steps=dict(zip(PHASES, phase_steps, strict=True)),
            seconds=seconds,
            seed=self.seed,
            threads=self.threads,
            memory=sum(part.memory for part in parts),
            parts=parts,
        )

    def close(self) -> None:
        """End the threads, when they have done what they were given."""
        self._pool.shutdown()
