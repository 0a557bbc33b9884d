"""A Bayesian factorial model of how good the points of a space are: main effects, effects of pairs, and what is left over for each point.

    f(x) = μ + Σ_k w_k(x_k) + Σ_{k<l} w_kl(x_k, x_l) + r(x),   w_k ~ N(0, s₁²), w_kl ~ N(0, s₂²), r ~ N(0, s₃²)

A score is f(x) + b + noise, b the effect of its batch: all points of a batch meet the same deals and opponents, so that what is learned
are paired differences within batches. The batch effects are fitted by turns with the rest (backfitting). A factor that is switched off
has a level of its own.
"""

import itertools
import math
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from icarus.discovery.space import Point, SearchSpace

Reals = NDArray[np.float64]
# Of μ around 1/2, s₁, s₂, s₃: standard deviations of mean rewards, before anything is known.
SCALES = (0.25, 0.03, 0.02, 0.02)
ROUNDS = 4  # of backfitting
LEAST_NOISE = 0.05  # standard deviation of a score


class Features:
    """The levels of points as columns: a constant, one for each level, one for each pair of levels of two factors.

    Attributes:
        deviations: [width]: the prior standard deviation of each column's weight.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = [size + 1 for size in sizes]  # INACTIVE is -1, the last place
        self._first = np.cumsum([1, *self.sizes])[:-1]
        pairs = list(itertools.combinations(range(len(sizes)), 2))
        self._pairs = np.array(pairs, np.int64).reshape(-1, 2)
        counts = [self.sizes[k] * self.sizes[m] for k, m in pairs]
        starts = 1 + sum(self.sizes)
        self._first_pair = starts + np.cumsum([0, *counts])[:-1]
        self.width = starts + sum(counts)
        self.deviations = np.repeat(SCALES[:3], [1, sum(self.sizes), sum(counts)])

    def columns(self, points: Sequence[Point]) -> NDArray[np.int64]:
        """The columns that are 1: [points, 1 + factors + pairs of factors]."""
        levels = np.array(points, np.int64).reshape(len(points), -1)
        levels = np.where(levels < 0, np.array(self.sizes) - 1, levels)
        k, m = self._pairs[:, 0], self._pairs[:, 1]
        pairs = self._first_pair + levels[:, k] * np.array(self.sizes)[m] + levels[:, m]
        return np.hstack([np.zeros((len(levels), 1), np.int64), self._first + levels, pairs])


@attrs.define
class FactorialPosterior:
    """What is known of a space: a Gaussian over the weights, held by the points played, which are fewer than the weights.

    Attributes:
        columns: [points, columns] that are 1 for each point played.
        scores, noise: [points]: mean score less 1/2, and the variance of what the weights leave over of it.
        precision: [points, points]: the inverse of the scores' prior covariance.
        mean: [width] of the weights.
        observed: what is left over for the points that were played: {point: (mean score, its precision)}.
    """

    features: Features
    columns: NDArray[np.int64]
    scores: Reals
    noise: Reals
    precision: Reals
    mean: Reals
    observed: dict[Point, tuple[float, float]]

    def drawn(self, points: Sequence[Point], worlds: int, rng: np.random.Generator) -> Reals:
        """f of points in worlds drawn from the posterior (Thompson sampling): [worlds, points].

        A world is drawn from the prior and moved by what its scores would have to change (Matheron's rule).
        """
        weights = self.features.deviations * rng.standard_normal((worlds, self.features.width))
        fitted = _sums(self.columns, weights) + np.sqrt(self.noise) * rng.standard_normal(
            (worlds, len(self.noise))
        )
        weights += [
            _spread(self.features, self.columns, gap)
            for gap in (self.scores - fitted) @ self.precision
        ]
        sums = 0.5 + _sums(self.features.columns(points), weights)
        return self._with_rest(points, sums, rng)

    def means(self, points: Sequence[Point]) -> Reals:
        """E[f] of points."""
        sums = 0.5 + _sums(self.features.columns(points), self.mean[None])
        return self._with_rest(points, sums, None)[0]

    def _with_rest(
        self, points: Sequence[Point], sums: Reals, rng: np.random.Generator | None
    ) -> Reals:
        """f of points, by the sums of their weights: r(x) is added, drawn from its posterior, or without a generator its mean."""
        prior_precision = 1 / SCALES[3] ** 2
        score, precision = np.array([self.observed.get(point, (0.0, 0.0)) for point in points]).T
        means = sums + precision * (score - sums) / (precision + prior_precision)
        if rng is None:
            return means
        return means + rng.standard_normal(sums.shape) / np.sqrt(precision + prior_precision)


def fit(
    features: Features, points: Sequence[Point], batches: Sequence[int], scores: Sequence[float]
) -> FactorialPosterior:
    """The posterior of a space by scores: the points played, the batch of each, and what each got."""
    index_of_point = {point: i for i, point in enumerate(dict.fromkeys(points))}
    distinct = list(index_of_point)
    point_of_score = np.array([index_of_point[point] for point in points])
    batch = np.unique(np.array(batches), return_inverse=True)[1]
    y = np.array(scores) - 0.5  # score i is of the point point_of_score[i], in the batch batch[i]
    count_of_point = np.bincount(point_of_score).astype(float)
    columns = features.columns(distinct)
    prior = _covariance(features, columns)
    effects = np.zeros(batch.max() + 1)
    noise = max(LEAST_NOISE**2, _within(y, point_of_score, count_of_point))
    # by turns: the points without the effects of batches, then the effects without what is expected of the points
    for turn in range(ROUNDS):
        means = np.bincount(point_of_score, y - effects[batch]) / count_of_point
        variance_of_mean = SCALES[3] ** 2 + noise / count_of_point
        precision = np.asarray(np.linalg.inv(prior + np.diag(variance_of_mean)), np.float64)
        # In the last round the batch effects stay, so that `means`, `precision` and `noise` belong together.
        if turn < ROUNDS - 1:
            fitted = prior @ (precision @ means)
            effects = _batch_effects(y - fitted[point_of_score], batch, noise)
            noise = max(LEAST_NOISE**2, _within(y - effects[batch], point_of_score, count_of_point))
    mean = _spread(features, columns, precision @ means)
    observed = {
        point: (float(score) + 0.5, float(count) / noise)
        for point, score, count in zip(distinct, means, count_of_point, strict=True)
    }
    return FactorialPosterior(features, columns, means, variance_of_mean, precision, mean, observed)


def _within(y: Reals, point_of_score: NDArray[np.int64], count_of_point: Reals) -> float:
    """The variance of a score around the mean of its point; that of all scores where no point was played twice."""
    freedom = len(y) - len(count_of_point)
    if freedom < 10:
        return float(y.var())
    means = np.bincount(point_of_score, y) / count_of_point
    return float(((y - means[point_of_score]) ** 2).sum() / freedom)


def _batch_effects(gaps: Reals, batch: NDArray[np.int64], noise: float) -> Reals:
    """The effect of each batch: the mean gap, shrunk by how much batches differ beyond noise."""
    size = np.bincount(batch).astype(float)
    means = np.bincount(batch, gaps) / size
    between = max(0.0, float(means.var() - (noise / size).mean()))
    return between / (between + noise / size) * (means - gaps.mean())


def _sums(columns: NDArray[np.int64], weights: Reals) -> Reals:
    """The sums of the weights of each point's columns: [worlds, points]."""
    sums = np.zeros((len(weights), len(columns)))
    for place in columns.T:
        sums += weights[:, place]
    return sums


def _spread(features: Features, columns: NDArray[np.int64], gaps: Reals) -> Reals:
    """How gaps of points change the weights: each column by its prior variance times the gaps of the points that have it."""
    each = np.repeat(gaps, columns.shape[1])
    return features.deviations**2 * np.bincount(columns.ravel(), each, minlength=features.width)


def _covariance(features: Features, columns: NDArray[np.int64]) -> Reals:
    """The prior covariance of the points' sums, by the levels that two points have in common."""
    levels = columns[:, 1 : 1 + len(features.sizes)]
    common = sum((level[:, None] == level[None, :]).astype(float) for level in levels.T)
    constant, main, pair, _ = SCALES
    return np.asarray(constant**2 + main**2 * common + pair**2 * common * (common - 1) / 2)


# ------------------------------------------------------------------------------------------------------------------------- finder


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

    def __init__(self, space: SearchSpace, budget: int, seed: int | Sequence[int] = 0) -> None:
        self.space = space
        self.budget = budget
        self.rng = np.random.default_rng(seed)
        self.features = Features([len(levels) for levels in space.factors.values()])
        self.points: list[Point] = []
        self.batches: list[int] = []
        self.scores: list[float] = []
        self._fitted_at = 0  # scores that there were at the last fit
        self._left = list[Point]()  # the finalists that are still played
        self.posterior: FactorialPosterior | None = None
        self._pool: list[Point] = []  # to choose from, the incumbent first
        self.incumbent = space.default

    def ask(self) -> list[Point]:
        """A batch of points: at first the default and random ones; then the best of worlds drawn; in the finale those that are left."""
        remaining = self.budget - len(self.scores)
        if self.posterior is None:
            return [self.space.default, *(self.space.sample(self.rng) for _ in range(BATCH - 1))]
        if remaining <= self.budget * FINALE:
            return self._finalists_left(remaining)
        pool = self._pool
        chosen = [0]  # places in the pool, of the incumbent first
        # In each world drawn, which says what every point of the pool is worth, the best of those not chosen yet.
        for world in self.posterior.drawn(pool, min(BATCH, len(pool)) - 1, self.rng):
            world[chosen] = -np.inf
            chosen.append(int(np.argmax(world)))
        return [pool[i] for i in chosen]

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Learn from a batch; the model is fitted anew from time to time."""
        self.batches += [len(self.points)] * len(points)
        self.points += points
        self.scores += scores
        if len(self.scores) >= self._fitted_at * REFIT:
            self.refit()

    def refit(self) -> None:
        """Fit the posterior to all scores."""
        self.posterior = fit(self.features, self.points, self.batches, self.scores)
        self._fitted_at = len(self.scores)
        best = self._rank()[:FINALISTS]
        near = [point for each in best[:NEIGHBOURHOODS] for point in self.space.neighbours(each)]
        self._pool = list(
            dict.fromkeys([*best, *near, *(self.space.sample(self.rng) for _ in range(POOL))])
        )
        self.incumbent = best[0]

    def finalists(self, number: int) -> list[Point]:
        """The best points played, by the posterior mean; those of the finale first."""
        self.refit()
        return sorted(self._rank(), key=lambda point: point not in self._left)[:number]

    def _rank(self) -> list[Point]:
        """The points played, the best first by the posterior mean."""
        assert self.posterior is not None
        points = list(dict.fromkeys(self.points))
        return [points[i] for i in np.argsort(-self.posterior.means(points), kind="stable")]

    def _finalists_left(self, remaining: int) -> list[Point]:
        """The finalists that are still played: all in the first stage of the finale, in each later one the better half of those before."""
        stages = int(math.log2(FINALISTS))
        share_played = 1 - remaining / (self.budget * FINALE)
        keep = FINALISTS // 2 ** min(stages - 1, int(stages * share_played))
        if not self._left:
            self.refit()
            self._left = self._rank()[:FINALISTS]
        if keep < len(self._left):
            self.refit()
            self._left = [point for point in self._rank() if point in self._left][:keep]
        return list(self._left)
