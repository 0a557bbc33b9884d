"""Finders: which points of a space to play next, and which is best by what they got. None of them plays; all are asked and told.

A finder is asked for a batch of points, which then meet the same deals and opponents, and is told their scores. At the end it is asked
for its finalists, the best first.
"""

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from icarus.discovery.model import Features, Posterior, fit
from icarus.discovery.space import Point, Space

BATCH = 8  # points, the incumbent among them
POOL = 1000  # random points among which Thompson sampling chooses
NEIGHBOURHOODS = 3  # best points whose neighbours are there too
REFIT = 1.15  # the model is fitted anew when there are so many times as many scores
FINALE = 0.3  # share of the budget in which the best few are halved
FINALISTS = 8
POPULATION = 24  # points of an evolution


class Finder(Protocol):
    """How a space is searched."""

    def ask(self) -> list[Point]:
        """The points of the next batch."""

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """What the points of a batch got: mean rewards of the same games."""

    def finalists(self, number: int) -> list[Point]:
        """The best points so far, the best first."""

    @property
    def incumbent(self) -> Point:
        """The point that is best as far as is known."""


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


def first_points(space: Space, number: int, rng: np.random.Generator) -> list[Point]:
    """The default and random points, all different: so many in all, where so many are met."""
    points = {space.default: None}
    for _ in range(10 * number):
        if len(points) < number:
            points[space.sample(rng)] = None
    return list(points)


class Halving:
    """Sequential halving of random points (Karnin, Koren and Somekh, 2013): no model, so nothing that can be wrong with it.

    Args:
        budget: how many scores there will be. As many points begin as can have 8 scores in the first stage.
    """

    def __init__(self, space: Space, budget: int, seed: int | Sequence[int] = 0) -> None:
        self.alive = first_points(space, max(2, min(256, budget // 64)), np.random.default_rng(seed))
        self.budget = budget
        self.stages = max(1, math.ceil(math.log2(len(self.alive))))
        self.sums: dict[Point, float] = dict.fromkeys(self.alive, 0.0)
        self.counts: dict[Point, int] = dict.fromkeys(self.alive, 0)
        self.spent = self.stage = 0

    @property
    def incumbent(self) -> Point:
        """The point of the best mean among those that are left."""
        return self._rank()[0]

    def ask(self) -> list[Point]:
        """All points that are left."""
        return self.alive

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Count; at the end of a stage the worse half is dropped."""
        for point, score in zip(points, scores, strict=True):
            self.sums[point] += score
            self.counts[point] += 1
        self.spent += len(points)
        while self.stage < self.stages - 1 and self.spent >= self.budget * (self.stage + 1) / self.stages:
            self.stage += 1
            self.alive = self._rank()[: max(1, (len(self.alive) + 1) // 2)]

    def finalists(self, number: int) -> list[Point]:
        """Those that are left, then those that were dropped last."""
        rest = sorted(
            set(self.sums) - set(self.alive), key=lambda point: (-self.counts[point], -self._mean(point), point)
        )
        return (self._rank() + rest)[:number]

    def _rank(self) -> list[Point]:
        return sorted(self.alive, key=self._mean, reverse=True)

    def _mean(self, point: Point) -> float:
        return self.sums[point] / max(1, self.counts[point])


class Evolution:
    """A steady state of points that are crossed and mutated; the worst by its shrunk mean gives way.

    Args:
        budget: how many scores there will be.
    """

    def __init__(self, space: Space, budget: int, seed: int | Sequence[int] = 0) -> None:
        self.space, self.rng = space, np.random.default_rng(seed)
        self.population = first_points(space, POPULATION, self.rng)
        self.sums: dict[Point, float] = {}
        self.counts: dict[Point, int] = {}

    @property
    def incumbent(self) -> Point:
        """The point of the best shrunk mean."""
        return max(self.population, key=self._shrunk)

    def ask(self) -> list[Point]:
        """Half of a batch are children, half are those of the population that are most worth another look."""
        unplayed = [point for point in self.population if point not in self.counts]
        if unplayed:
            return unplayed[:BATCH]
        parents = sorted(self.population, key=self._upper, reverse=True)
        again, children = parents[: BATCH // 2], list[Point]()
        for _ in range(BATCH - len(again)):
            first, second = (parents[min(int(i) for i in self.rng.integers(len(parents), size=2))] for _ in range(2))
            children.append(self.space.mutated(self.space.crossed(first, second, self.rng), self.rng))
        return list(dict.fromkeys([*again, *children]))

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Count, and let the worst give way."""
        for point, score in zip(points, scores, strict=True):
            self.sums[point] = self.sums.get(point, 0.0) + score
            self.counts[point] = self.counts.get(point, 0) + 1
        self.population = list(dict.fromkeys([*self.population, *points]))
        parents = [point for point in self.population if point in self.counts]
        if len(parents) == len(self.population):
            self.population = sorted(parents, key=self._shrunk, reverse=True)[:POPULATION]

    def finalists(self, number: int) -> list[Point]:
        """The best of the population by their shrunk means."""
        return sorted((p for p in self.population if p in self.counts), key=self._shrunk, reverse=True)[:number]

    def _shrunk(self, point: Point) -> float:
        mean = sum(self.sums.values()) / max(1, sum(self.counts.values()))
        return (self.sums.get(point, 0.0) + PRIOR_SCORES * mean) / (self.counts.get(point, 0) + PRIOR_SCORES)

    def _upper(self, point: Point) -> float:
        return self._shrunk(point) + 0.5 / math.sqrt(self.counts[point] + PRIOR_SCORES)


PRIOR_SCORES = 10  # by which a mean is drawn to that of all
FINDERS: dict[str, Callable[[Space, int, int | Sequence[int]], Finder]] = {
    "factorial": Factorial,
    "halving": Halving,
    "evolution": Evolution,
}
