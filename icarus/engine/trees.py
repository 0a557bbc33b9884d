"""Several searches from one root, whose results make one."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

import attrs
import numpy as np

from icarus.engine.recommendation import Recommendation, most_visits, recommend
from icarus.engine.result import ROOTS, Result
from icarus.engine.root_statistics import RootStatistics, sum_statistics
from icarus.engine.running_search import TreeSearch
from icarus.kernel.history import PHASES, UNLIMITED

S = TypeVar("S", bound=TreeSearch)


class Team(Generic[S]):
    """Several searches from one root."""

    SHARING = ""

    def __init__(self, searches: Sequence[S], seed: int | Sequence[int], threads: int) -> None:
        self.searches, self.seed, self.threads = searches, seed, threads

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

    def combine(self, first: Result, root: RootStatistics, seconds: float) -> Result:
        """The `Result` of the first search with what is additive summed over all of them, and the action recommended by its rule."""
        phase_steps = np.sum([search.phase_steps() for search in self.searches], axis=0).tolist()
        return attrs.evolve(
            first,
            action=recommend(root, first.recommendation, self.searches[0].rng),
            visits=root.visits,
            values=root.values,
            policy=root.policy,
            iterations=self.iterations,
            depth=max(search.depth for search in self.searches),
            phase_steps=dict(zip(PHASES, phase_steps, strict=True)),
            seconds=seconds,
            seed=self.seed,
            threads=self.threads,
            sharing=self.SHARING if self.threads > 1 else None,
        )


class Trees(Team[S]):
    """Independent searches with equal shares of the iterations, one after the other; their root statistics are added up.

    It is ensemble UCT (Fern and Lewis, 2011), or determinized UCT where each tree is of one determinization.
    """

    SHARING = ROOTS

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all."""
        shares = [iterations // self.trees + (i < iterations % self.trees) for i in range(self.trees)]
        self.make([partial(search.run, share) for search, share in zip(self.searches, shares, strict=True)])

    def make(self, calls: Sequence[Callable[[], None]]) -> None:
        """Make the calls of all searches."""
        for call in calls:
            call()

    def result(self, seconds: float = 0.0, copied: bool = True, recommendation: Recommendation = most_visits) -> Result:
        """What the searches have found so far; arguments as in `RunningSearch.result`."""
        parts = tuple(search.result(seconds, copied, recommendation) for search in self.searches)
        combined = self.combine(parts[0], sum_statistics([search.root() for search in self.searches]), seconds)
        return attrs.evolve(combined, memory=sum(part.memory for part in parts), parts=parts)

    def close(self) -> None:
        """Nothing to end: the searches run in the thread of their caller."""
