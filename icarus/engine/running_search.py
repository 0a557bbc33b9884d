"""A search under way: what searches of one tree and of several have in common, and how a budget is spent."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Protocol

import attrs
import numpy as np

from icarus.algebra import Enhancement
from icarus.checks import count_text
from icarus.engine.recommendation import Recommendation, RootStatistics, most_visits, recommend, sum_statistics
from icarus.engine.result import Result
from icarus.engine.scheme import Scheme
from icarus.engine.tables import Records
from icarus.kernel.game import LONGEST
from icarus.kernel.history import PHASES, UNLIMITED, Root
from icarus.kernel.state import State

SLICE = 0.05  # seconds of work between two polls of the clock and of Ctrl-C
FIRST_SLICE = 8  # iterations before the first poll
QUOTED_ACTIONS = 10  # in a message


class IterativeProcess(Protocol):
    """What a budget is spent on."""

    @property
    def iterations(self) -> int:
        """Iterations made so far."""

    def run(self, iterations: int) -> None:
        """Go on until so many iterations have been made in all."""


class RunningSearch(IterativeProcess, Protocol):
    """A search under way, of one tree or of several."""

    def expect(self, iterations: int) -> None:
        """Tell slots how many iterations there will be in all (`History.budget`)."""

    @property
    def trees(self) -> int:
        """How many searches share the iterations; each is to make one at least."""

    def result(self, seconds: float = 0.0, copied: bool = True, recommendation: Recommendation = most_visits) -> Result:
        """What is known so far.

        Args:
            copied: whether the records are to stay as they are when the search goes on.
            recommendation: the rule of line 18.
        """

    def close(self) -> None:
        """End what the search has begun, such as threads."""


class TreeSearch(RunningSearch, Protocol):
    """A search under way of one tree.

    Attributes:
        state: the root; a copy.
        root_keys: where its histories begin.
    """

    state: State
    strategy: Enhancement
    seed: int | Sequence[int]
    scheme: Scheme
    root_keys: Root

    @property
    def earlier_iterations(self) -> int:
        """Playouts of the searches with whose records this one began."""

    @property
    def depth(self) -> int:
        """Actions from the root to the deepest history in the tree."""

    @property
    def memory(self) -> int:
        """Bytes of the records."""

    @property
    def rng(self) -> np.ndarray:
        """The generator, as it stands."""

    def phase_steps(self) -> np.ndarray:
        """Decisions made in selection, expansion and simulation."""

    def root(self) -> RootStatistics:
        """What is known of the actions at the root."""

    def records(self, copied: bool = True) -> Mapping[str, Records]:
        """The records of every component of the strategy and of the baseline, by name; `copied` as in `result`."""


def result_of(search: TreeSearch, seconds: float, copied: bool, recommendation: Recommendation) -> Result:
    """What a search of one tree has found so far; arguments as in `RunningSearch.result`."""
    root = search.root()
    return Result(
        action=recommend(root, recommendation, search.rng),
        actions=root.actions,
        visits=root.visits,
        values=root.values,
        policy=root.policy,
        iterations=search.iterations,
        earlier_iterations=search.earlier_iterations,
        records=search.records(copied),
        depth=search.depth,
        phase_steps=dict(zip(PHASES, search.phase_steps().tolist(), strict=True)),
        seconds=seconds,
        memory=search.memory,
        state=search.state,
        strategy=search.strategy,
        seed=search.seed,
        scheme=search.scheme,
        recommendation=recommendation,
        root=search.root_keys,
    )


def run_within(
    search: IterativeProcess,
    iterations: int | None,
    seconds: float | None,
    started: float,
    progress: Callable[[int, float], None] | None = None,
    trees: int = 1,
    expect: Callable[[int], None] = lambda iterations: None,
) -> None:
    """Run until a budget is used up, in slices between which Ctrl-C, the clock and `progress` get their due.

    Args:
        started: the clock when the search began.
        trees: how many make one iteration each at least, whatever the time.
        expect: called with the iterations that the budget will come to, as far as is known by now.
    """
    limit = iterations if iterations is not None else UNLIMITED
    deadline = started + seconds if seconds is not None else None
    target = max(FIRST_SLICE, trees)
    expect(limit)
    while search.iterations < limit:
        before, iterations_before = time.perf_counter(), search.iterations
        search.run(min(target, limit))
        now, gained = time.perf_counter(), search.iterations - iterations_before
        if progress is not None:
            progress(search.iterations, now - started)
        if deadline is not None and now >= deadline:
            break
        rate = gained / max(now - before, 1e-9)
        remaining = SLICE if deadline is None else min(SLICE, deadline - now)
        if deadline is not None:
            expect(min(limit, search.iterations + int(rate * (deadline - now))))
        target = search.iterations + max(1, min(int(rate * remaining), 8 * gained))


def too_long_message(state: State, actions: Sequence[int]) -> str:
    """The message about a playout from a root that began with these actions and does not end."""
    first = " ".join(map(str, actions[:QUOTED_ACTIONS]))
    last_actions = " ".join(str(action) for _, action in state.history[-QUOTED_ACTIONS:])
    unlimited = state.game.max_length == LONGEST
    limit = "and it has no max_length, which would say how long a game can be" if unlimited else "its max_length"
    return (
        f"a playout of {state.game} has not ended after {state.game.max_length} actions, {limit}; "
        f"after {count_text(len(state.history), 'action')} of the game (the last: {last_actions or 'none'}) it started with {first} …"
    )


# --------------------------------------------------------------- Several searches from one root, whose results make one


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
