"""Finders that discovery is compared with: random search, NTBEA with the settings of TAG, and Optuna's TPE with replay."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.plan.definition import Refusal
from icarus.discovery.space import Point, Space

REPLAY = 0.3  # share of the games in which the top few of TPE, or those found by repeats of NTBEA, are played again
TOP = 8
# of NTBEA: TAG's kExplore, epsilon and neighbourhoodSize, at their defaults
K_EXPLORE, EPSILON, NEIGHBOURHOOD = 1.0, 0.1, 50


class Means:
    """Sums and counts of scores by point."""

    def __init__(self) -> None:
        self.sums: dict[Point, float] = {}
        self.counts: dict[Point, int] = {}

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Count scores."""
        for point, score in zip(points, scores, strict=True):
            self.sums[point] = self.sums.get(point, 0.0) + score
            self.counts[point] = self.counts.get(point, 0) + 1

    def mean(self, point: Point) -> float:
        """The mean score of a point that was played."""
        return self.sums[point] / self.counts[point]

    def ranked(self) -> list[Point]:
        """The points played, by their means."""
        return sorted(self.sums, key=self.mean, reverse=True)


class RandomSearch(Means):
    """Random points, each played equally often; the luckiest is recommended."""

    def __init__(self, space: Space, budget: int, seed: int, games: int = 100) -> None:
        super().__init__()
        self.space, self.rng, self.games = space, np.random.default_rng(seed), games

    def ask(self) -> list[Point]:
        """One random point, as often as each is played."""
        return [self.space.sample(self.rng)] * self.games

    def finalists(self, number: int) -> list[Point]:
        """The luckiest."""
        return self.ranked()[:number]


class TPE(Means):
    """Optuna's tree-structured Parzen estimator, then the top few of it played again with the rest of the games."""

    def __init__(self, space: Space, budget: int, seed: int, games: int = 50) -> None:
        try:
            import optuna
        except ModuleNotFoundError:
            raise Refusal("Optuna's TPE needs optuna: pip install 'icarus-mcts[finders]'") from None

        super().__init__()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space, self.budget, self.games, self.games_played = space, budget, games, 0
        self.study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        self.trial: Any = None
        self.top: list[Point] = []

    def ask(self) -> list[Point]:
        """A trial of TPE; later the top few."""
        if self.games_played >= self.budget * (1 - REPLAY):
            self.top = self.top or self.ranked()[:TOP]
            return self.top
        self.trial = self.study.ask()
        levels = [
            self.trial.suggest_categorical(name, list(range(len(each)))) for name, each in self.space.factors.items()
        ]
        return [self.space.canonical(levels)] * self.games

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """The mean of a trial's games."""
        super().tell(points, scores)
        self.games_played += len(points)
        if not self.top:
            self.study.tell(self.trial, float(np.mean(scores)))

    def finalists(self, number: int) -> list[Point]:
        """The best of those played again."""
        return sorted(self.top or self.ranked(), key=self.mean, reverse=True)[:number]


class NTBEA(Means):
    """The N-tuple bandit evolutionary algorithm (Lucas, Liu and Perez-Liebana, 2018): 1- and 2-tuples, one game for each evaluation.

    Args:
        repeats: runs that share the budget; the best of each are then played again (TAG's default is 5), or 1 for a single run.
    """

    def __init__(self, space: Space, budget: int, seed: int, repeats: int = 1) -> None:
        super().__init__()
        self.space, self.budget, self.rng, self.repeats = space, budget, np.random.default_rng(seed), repeats
        sizes = [len(levels) + 1 for levels in space.factors.values()]
        tuples = [(k,) for k in range(len(sizes))] + list(itertools.combinations(range(len(sizes)), 2))
        self.first = np.array([t[0] for t in tuples])
        self.second = np.array([t[-1] if len(t) > 1 else -1 for t in tuples])
        self.stride = np.array([sizes[t[-1]] if len(t) > 1 else 1 for t in tuples])
        self.start = np.cumsum([0, *(math.prod(sizes[k] for k in t) for t in tuples)])
        self.games_played, self.winners = 0, list[Point]()
        self._begin()

    def _begin(self) -> None:
        self.total, self.visits, self.run = np.zeros(self.start[-1]), np.zeros(self.start[-1]), 0
        self.current, self.met = self.space.sample(self.rng), dict[Point, None]()

    def _cells(self, points: Sequence[Point]) -> np.ndarray:
        levels = np.hstack([np.array(points) + 1, np.zeros((len(points), 1), int)])
        return self.start[:-1] + levels[:, self.first] * self.stride + levels[:, self.second]

    def _estimates(self, points: Sequence[Point]) -> np.ndarray:
        cells = self._cells(points)
        visited = self.visits[cells] > 0
        means = np.where(visited, self.total[cells] / np.maximum(self.visits[cells], 1), 0.0)
        return means.sum(1) / np.maximum(visited.sum(1), 1)

    def ask(self) -> list[Point]:
        """The point that the run has moved to; later what the runs have found."""
        if self.repeats > 1 and self.games_played >= self.budget * (1 - REPLAY):
            return self.winners or [self.current]
        return [self.current]

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Learn, and move to the best neighbour by its upper bound."""
        super().tell(points, scores)
        self.games_played += len(points)
        if self.winners and self.games_played >= self.budget * (1 - REPLAY) and self.repeats > 1:
            return
        for point, score in zip(points, scores, strict=True):
            cells = self._cells([point])[0]
            self.total[cells] += score
            self.visits[cells] += 1
            self.met[point] = None
        self.run += len(points)
        share = self.budget * ((1 - REPLAY) / self.repeats if self.repeats > 1 else 1)
        if self.run >= share:
            self.winners.append(self._best())
            self._begin()
            return
        near = [self._mutate(self.current) for _ in range(NEIGHBOURHOOD)]
        cells = self._cells(near)
        bonus = np.sqrt(np.log1p(self.run) / (EPSILON + self.visits[cells])).mean(1)
        values = self._estimates(near) + K_EXPLORE * bonus + 1e-6 * self.rng.random(len(near))
        self.current = near[int(np.argmax(values))]

    def _mutate(self, point: Point) -> Point:
        sizes = [len(levels) for levels in self.space.factors.values()]
        forced = int(self.rng.integers(len(sizes)))
        changed = [
            int(self.rng.integers(size)) if k == forced or self.rng.random() < 1 / len(sizes) else level
            for k, (level, size) in enumerate(zip(point, sizes, strict=True))
        ]
        neighbour = self.space.canonical(changed)
        return neighbour if self.space.allows(neighbour) else point

    def _best(self) -> Point:
        points = list(self.met)
        return points[int(np.argmax(self._estimates(points)))]

    def finalists(self, number: int) -> list[Point]:
        """The best by the model; of several runs the best of those played again."""
        if self.repeats > 1:
            return sorted(set(self.winners), key=self.mean, reverse=True)[:number]
        return [self._best()] if self.met else self.winners[:number]
