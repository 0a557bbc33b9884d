"""Finders on landscapes whose truth is known."""

import numpy as np
import pytest

from icarus.discovery.finders import Factorial, Features, fit
from icarus.discovery.space import Point, Space
from tests.discovery.test_space import points_of

SIZES = (4, 3, 3, 2)
SPACE = Space(
    "synthetic",
    {"strategy": " ".join(f"{{f{k}}}" for k in range(len(SIZES)))},
    {f"f{k}": tuple(range(size)) for k, size in enumerate(SIZES)},
)
EFFECTS = [np.linspace(-0.12, 0.12, size) for size in SIZES]


def rate(point: Point) -> float:
    return 0.5 + sum(EFFECTS[k][level] for k, level in enumerate(point))


def recommended(seed: int, budget: int = 1200) -> float:
    finder, rng, spent = Factorial(SPACE, budget, seed), np.random.default_rng(seed + 100), 0
    while spent < budget:
        points, luck = finder.ask()[: budget - spent], rng.normal(0, 0.1)
        finder.tell(points, [float(rng.random() < rate(point)) + luck for point in points])
        spent += len(points)
    return rate(finder.finalists(1)[0])


def test_a_finder_finds_what_is_clearly_good() -> None:
    assert np.mean([recommended(seed) for seed in range(2)]) > 0.75


def test_the_same_seed_asks_the_same() -> None:
    def run() -> list[list[Point]]:
        finder, batches = Factorial(SPACE, 300, 5), []
        for _ in range(20):
            batches.append(list(finder.ask()))
            finder.tell(batches[-1], [rate(point) for point in batches[-1]])
        return batches

    assert run() == run()


def test_the_model_recovers_main_effects_through_effects_of_batches() -> None:
    rng = np.random.default_rng(3)
    points = [SPACE.sample(rng) for _ in range(1600)]
    batches = [i // 8 for i in range(len(points))]
    luck = rng.normal(0, 0.5, 200)
    scores = [rate(point) + luck[batch] + rng.normal(0, 0.2) for point, batch in zip(points, batches, strict=True)]
    posterior = fit(Features(SIZES), points, batches, scores)
    everything = points_of(SPACE)
    gap = posterior.means(everything) - np.array([rate(point) for point in everything])
    assert np.std(gap) < 0.05
    assert np.corrcoef(posterior.drawn(everything, 50, rng).mean(0), posterior.means(everything))[0, 1] > 0.98


def test_a_contrast_has_the_deviation_of_worlds_drawn_and_of_the_whole_covariance() -> None:
    rng, features = np.random.default_rng(4), Features(SIZES)
    points = [SPACE.sample(rng) for _ in range(1600)]
    posterior = fit(features, points, [i // 8 for i in range(1600)], [rate(p) + rng.normal(0, 0.2) for p in points])
    columns = np.zeros((len(posterior.columns), features.width))
    np.put_along_axis(columns, posterior.columns, 1.0, axis=1)
    moved = columns * features.deviations**2
    covariance = np.diag(features.deviations**2) - moved.T @ posterior.precision @ moved
    first = 1
    for size in SIZES:
        for level in range(size):
            centred = np.zeros(features.width)
            centred[first : first + size] = (np.arange(size) == level) - 1 / size
            mean, deviation = posterior.contrast({i: centred[i] for i in range(first, first + size)})
            assert mean == pytest.approx(centred @ posterior.mean)
            assert deviation == pytest.approx(np.sqrt(centred @ covariance @ centred))
            raw = posterior.contrast({first + level: 1.0})[1]
            assert deviation < raw  # the part that all levels of a factor share cannot be known
        first += size + 1  # the last one is of a factor that is switched off


def test_what_was_never_met_has_the_prior() -> None:
    posterior = fit(Features(SIZES), [(0, 0, 0, 0)] * 4, [0, 1, 2, 3], [1.0, 0.0, 1.0, 1.0])
    assert posterior.contrast({2: 1.0}) == (0.0, pytest.approx(0.03))
    drawn = posterior.drawn([(3, 2, 2, 1), (0, 0, 0, 0)], 400, np.random.default_rng(0))
    assert drawn[:, 0].std() > drawn[:, 1].std() * 0.5 > 0
