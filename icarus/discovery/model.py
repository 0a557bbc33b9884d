"""A Bayesian factorial model of how good the points of a space are: main effects, effects of pairs, and what is left over for each point.

    f(x) = μ + Σ_k w_k(x_k) + Σ_{k<l} w_kl(x_k, x_l) + r(x),   w_k ~ N(0, s₁²), w_kl ~ N(0, s₂²), r ~ N(0, s₃²)

A score is f(x) + b + noise, b the effect of its batch: all points of a batch meet the same deals and opponents, so that what is learned
are paired differences within batches. The batch effects are fitted by turns with the rest (backfitting). A factor that is switched off
has a level of its own.
"""

import itertools
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from icarus.discovery.space import Point

Reals = NDArray[np.float64]
SCALES = (
    0.25,
    0.03,
    0.02,
    0.02,
)  # of μ around 1/2, s₁, s₂, s₃: standard deviations of mean rewards, before anything is known
ROUNDS = 4  # of backfitting
LEAST_NOISE = 0.05  # standard deviation of a score


class Features:
    """The levels of points as columns: a constant, one for each level, one for each pair of levels of two factors that was met.

    Attributes:
        kinds: of each column: 0 the constant, 1 a level, 2 a pair.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = [size + 1 for size in sizes]  # INACTIVE is -1, the last place
        self._first = np.cumsum([1, *self.sizes])[:-1]
        pairs = list(itertools.combinations(range(len(sizes)), 2))
        self._pairs = np.array(pairs, np.int64).reshape(-1, 2)
        counts = [self.sizes[k] * self.sizes[m] for k, m in pairs]
        starts = 1 + sum(self.sizes)
        self._first_pair = starts + np.cumsum([0, *counts])[:-1] if counts else np.zeros(0, np.int64)
        self.width = starts + sum(counts)
        self.kinds = np.concatenate([[0], np.ones(sum(self.sizes), int), np.full(sum(counts), 2)])

    def columns(self, points: Sequence[Point]) -> NDArray[np.int64]:
        """The columns that are 1: [points, 1 + factors + pairs of factors]."""
        levels = np.array(points, np.int64).reshape(len(points), -1)
        levels = np.where(levels < 0, np.array(self.sizes) - 1, levels)
        k, m = self._pairs[:, 0], self._pairs[:, 1]
        pairs = self._first_pair + levels[:, k] * np.array(self.sizes)[m] + levels[:, m]
        return np.hstack([np.zeros((len(levels), 1), np.int64), self._first + levels, pairs])


@attrs.define
class Posterior:
    """What is known of a space.

    Attributes:
        columns: places of the columns that were met, -1 for others, whose weight has its prior still.
        mean: [met] of the weights; root: [met, met], Σ = root rootᵀ.
        observed: what is left over for the points that were played: {point: (mean gap before shrinking, its precision)}.
    """

    features: Features
    columns: NDArray[np.int64]
    mean: Reals
    root: Reals
    observed: dict[Point, tuple[float, float]]

    def drawn(self, points: Sequence[Point], worlds: int, rng: np.random.Generator) -> Reals:
        """f of points in worlds drawn from the posterior (Thompson sampling): [worlds, points]."""
        weights = self.mean + rng.standard_normal((worlds, len(self.mean))) @ self.root.T
        unmet = self._prior_deviations() * rng.standard_normal((worlds, self.features.width))
        return self._with_rest(points, self._sums(points, weights, unmet), rng)

    def means(self, points: Sequence[Point]) -> Reals:
        """E[f] of points."""
        return self._with_rest(points, self._sums(points, self.mean[None], np.zeros((1, self.features.width))), None)[0]

    def deviations(self, points: Sequence[Point]) -> Reals:
        """The standard deviation of what the factors say of points, relative to a default point's constant."""
        places = self.columns[self.features.columns(points)]
        chosen = np.where(places[..., None] >= 0, self.root[np.maximum(places, 0)], 0.0).sum(1)
        return np.sqrt((chosen**2).sum(-1))

    def effect(self, place: int) -> tuple[float, float]:
        """The mean and the standard deviation of the weight of a column; those of the prior where it was not met."""
        at = self.columns[place]
        if at < 0:
            return 0.0, float(self._prior_deviations()[place])
        return float(self.mean[at]), float(np.sqrt((self.root[at] ** 2).sum()))

    def _prior_deviations(self) -> Reals:
        return np.array(SCALES[:3])[self.features.kinds]

    def _sums(self, points: Sequence[Point], weights: Reals, unmet: Reals) -> Reals:
        everything = unmet.copy()
        met = self.columns >= 0
        everything[:, met] = weights[:, self.columns[met]]
        columns, sums = self.features.columns(points), np.full((len(weights), len(points)), 0.5)
        for place in columns.T:
            sums += everything[:, place]
        return sums

    def _with_rest(self, points: Sequence[Point], sums: Reals, rng: np.random.Generator | None) -> Reals:
        prior = 1 / SCALES[3] ** 2
        known = [self.observed.get(point, (0.0, 0.0)) for point in points]
        score, precision = np.array([each[0] for each in known]), np.array([each[1] for each in known])
        shrunk = precision * (score - sums) / (precision + prior)
        noise = rng.standard_normal(sums.shape) / np.sqrt(precision + prior) if rng is not None else 0.0
        return sums + shrunk + noise


def fit(features: Features, points: Sequence[Point], batches: Sequence[int], scores: Sequence[float]) -> Posterior:
    """The posterior of a space by scores: the points played, the batch of each, and what each got."""
    distinct, which = _distinct(points)
    batch, y = np.unique(np.array(batches), return_inverse=True)[1], np.array(scores) - 0.5
    number = np.bincount(which).astype(float)
    columns = features.columns(distinct)
    met, places = np.unique(columns, return_inverse=True)
    design = np.zeros((len(distinct), len(met)))
    np.put_along_axis(design, places.reshape(columns.shape), 1.0, 1)
    effects = np.zeros(batch.max() + 1)
    noise = max(LEAST_NOISE**2, _within(y, which, number))
    prior = np.array(SCALES[:3])[features.kinds[met]] ** -2.0
    for turn in range(ROUNDS):
        means = np.bincount(which, y - effects[batch]) / number
        weights, root = _solved(design, prior, means, 1 / (SCALES[3] ** 2 + noise / number))
        if turn < ROUNDS - 1:
            effects = _batch_effects(y - (design @ weights)[which], batch, noise)
            noise = max(LEAST_NOISE**2, _within(y - effects[batch], which, number))
    table = np.full(features.width, -1, np.int64)
    table[met] = np.arange(len(met))
    observed = {
        point: (float(mean) + 0.5, float(count) / noise)
        for point, mean, count in zip(distinct, means, number, strict=True)
    }
    return Posterior(features, table, weights, root, observed)


def _distinct(points: Sequence[Point]) -> tuple[list[Point], NDArray[np.int64]]:
    place: dict[Point, int] = {}
    which = np.array([place.setdefault(point, len(place)) for point in points])
    return list(place), which


def _within(y: Reals, which: NDArray[np.int64], number: Reals) -> float:
    """The variance of a score around the mean of its point; that of all scores where no point was played twice."""
    freedom = len(y) - len(number)
    if freedom < 10:
        return float(y.var())
    return float(((y - (np.bincount(which, y) / number)[which]) ** 2).sum() / freedom)


def _batch_effects(gaps: Reals, batch: NDArray[np.int64], noise: float) -> Reals:
    """The effect of each batch: the mean gap, shrunk by how much batches differ beyond noise."""
    size = np.bincount(batch).astype(float)
    means = np.bincount(batch, gaps) / size
    between = max(0.0, float(means.var() - (noise / size).mean()))
    return between / (between + noise / size) * (means - gaps.mean())


def _solved(design: Reals, prior: Reals, means: Reals, weight: Reals) -> tuple[Reals, Reals]:
    """The mean of the weights, and a root of their covariance, by Bayesian linear regression."""
    lower = np.linalg.cholesky((design.T * weight) @ design + np.diag(prior))
    inverse = np.linalg.inv(lower)
    return inverse.T @ (inverse @ (design.T @ (weight * means))), inverse.T
