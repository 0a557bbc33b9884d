"""The finder: which points of a space to play next, and which is best by what they got. It does not play; it is asked and told.

It is asked for a batch of points, which then meet the same deals and opponents, and is told their scores. At the end it is asked for its
finalists, the best first.
"""

import math
from collections.abc import Sequence

import numpy as np

from icarus.discovery.model import Features, Posterior, fit
from icarus.discovery.space import Point, Space

BATCH = 8  # points, the incumbent among them
POOL = 1000  # random points among which Thompson sampling chooses
NEIGHBOURHOODS = 3  # best points whose neighbours are there too
REFIT = 1.15  # the model is fitted anew when there are so many times as many scores
FINALE = 0.3  # share of the budget in which the best few are halved
FINALISTS = 8


class Factorial:
    """Thompson sampling over the factorial model, then sequential halving of the best by its posterior.

    Args:
        budget: how many scores there will be.
    """

    def __init__(self, space: Space, budget: int, seed: int | Sequence[int] = 0) -> None:
        self.space, self.budget, self.rng = space, budget, np.random.default_rng(seed)
        self.features = Features([len(levels) for levels in space.factors.values()])
        self.points: list[Point] = []
        self.batches: list[int] = []
        self.scores: list[float] = []
        self._number, self._fitted_at, self._halves = 0, 0, list[Point]()
        self.posterior: Posterior | None = None
        self._pool: list[Point] = []
        self.incumbent = space.default

    def ask(self) -> list[Point]:
        """A batch of points: at first the default and random ones; then the best of worlds drawn; in the finale those that are left."""
        remaining = self.budget - len(self.scores)
        if self.posterior is None:
            return [self.space.default, *(self.space.sample(self.rng) for _ in range(BATCH - 1))]
        if remaining <= self.budget * FINALE:
            return self._halve(remaining)
        pool, chosen = self._pool, [0]
        for world in self.posterior.drawn(pool, min(BATCH, len(pool)) - 1, self.rng):
            world[chosen] = -np.inf
            chosen.append(int(np.argmax(world)))
        return [pool[i] for i in chosen]

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Learn from a batch; the model is fitted anew from time to time."""
        self.points += points
        self.scores += scores
        self.batches += [self._number] * len(points)
        self._number += 1
        if len(self.scores) >= self._fitted_at * REFIT:
            self.refit()

    def refit(self) -> Posterior:
        """The posterior by all scores."""
        self.posterior = fit(self.features, self.points, self.batches, self.scores)
        self._fitted_at = len(self.scores)
        best = self._rank()[:FINALISTS]
        near = [point for each in best[:NEIGHBOURHOODS] for point in self.space.neighbours(each)]
        self._pool = list(dict.fromkeys([*best, *near, *(self.space.sample(self.rng) for _ in range(POOL))]))
        self.incumbent = best[0]
        return self.posterior

    def finalists(self, number: int) -> list[Point]:
        """The best points played, by the posterior mean; those of the finale first."""
        self.refit()
        return sorted(self._rank(), key=lambda point: point not in self._halves)[:number]

    def _rank(self) -> list[Point]:
        assert self.posterior is not None
        points = list(dict.fromkeys(self.points))
        return [points[i] for i in np.argsort(-self.posterior.means(points), kind="stable")]

    def _halve(self, remaining: int) -> list[Point]:
        """The finalists, of whom as time goes on only the better half is played."""
        stages = int(math.log2(FINALISTS))
        stage = min(stages - 1, int(stages * (1 - remaining / (self.budget * FINALE))))
        if not self._halves:
            self.refit()
            self._halves = self._rank()[:FINALISTS]
        keep = FINALISTS >> stage
        if keep < len(self._halves):
            self.refit()
            self._halves = [point for point in self._rank() if point in self._halves][:keep]
        return list(self._halves)
