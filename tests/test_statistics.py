"""Means with their intervals, and tests of whether a mean is above 0."""

import itertools

import numpy as np
import pytest
from scipy import stats

from icarus.statistics import GRID, mean_of, paired_difference, sign_flip


def test_a_difference_has_students_interval_as_far_as_a_mean_can_be():
    scores = [0.5, 0.0, 0.5, 0.0]
    actual = mean_of(scores, -9, 9, 0.98)
    assert (actual.value, actual.count) == (0.25, 4)
    interval = stats.ttest_1samp(scores, 0).confidence_interval(0.98)
    assert (actual.low, actual.high) == pytest.approx(tuple(interval), abs=1e-12)
    assert mean_of(scores, -0.5, 0.5, 0.98).high == 0.5  # which no mean can pass


def test_of_no_values_there_is_no_mean():
    for mean in (lambda: mean_of([]), lambda: paired_difference([], [])):
        with pytest.raises(ValueError, match="of no values there is no mean"):
            mean()


@pytest.mark.parametrize("scores", [[0.1] * 20, [0.3 - 0.2, 0.1] * 10, [1 / 3, 0.333333333] * 10])
def test_units_that_differ_by_rounding_alone_have_the_interval_of_as_many_wins(scores):
    actual = mean_of(scores, -0.5, 0.5, 0.95)
    # of something else than what was seen
    rare = 1 - stats.binomtest(20, 20).proportion_ci(0.95).low
    assert (actual.low, actual.high) == pytest.approx(
        (scores[0] - rare * (0.5 + scores[0]), scores[0] + rare * (0.5 - scores[0]))
    )


@pytest.mark.parametrize(
    "scores", [[0.5] * 9, [0.0] * 3, [0.25, -1 / 3, 0.5, 0.5, 0.0, -0.25, 0.1234, -0.7]], ids=str
)
def test_the_sign_flip_test_counts_the_signs_whose_sum_is_as_large(scores):
    signs = np.array(list(itertools.product((-1, 1), repeat=len(scores))))
    steps = np.rint(np.array(scores) * GRID)
    assert sign_flip(scores) == pytest.approx(np.mean(signs @ steps >= steps.sum()))
    assert sign_flip([0.5] * 72) == 2.0**-72  # the least p of 72 units


@pytest.mark.parametrize(
    ("scores", "p"),
    # thirds, as rows keep them, come to 0 in two ways
    [
        ([-0.333333333, -0.666666667, 1.0], 5 / 8),
        ([0.0003, 0.5], 1 / 4),  # nearer to a step than to none
        ([0.0001, 0.5], 1 / 2),
    ],
)
def test_the_sign_flip_test_rounds_to_the_nearest_step(scores, p):
    assert sign_flip(scores) == p


def test_a_paired_difference_reaches_as_far_as_rewards_allow():
    gain = paired_difference([1.0, 1.0, 0.0], [0.0, 0.0, 0.5])
    unbounded = stats.ttest_1samp([1.0, 1.0, -0.5], 0).confidence_interval(0.95)
    assert gain.high == 1 < unbounded.high
    assert gain.low == max(-1, unbounded.low)


@pytest.mark.parametrize("chance", [0.05, 0.03])
def test_who_seldom_wins_may_have_won_none_by_chance(chance):
    """The candidate never wins: the difference is minus the chance of the reference, which has won none in many a sample."""
    samples = np.random.default_rng(1).random((400, 20)) < chance
    estimates = [paired_difference(np.zeros(20), usual.astype(float)) for usual in samples]
    assert np.mean([each.low <= -chance <= each.high for each in estimates]) >= 0.95


@pytest.mark.parametrize("units", [10, 20, 60])
def test_what_is_claimed_at_a_level_is_wrong_no_more_often(units):
    samples = np.random.default_rng(units).choice([-0.5, 0.0, 0.5], (4000, units))
    assert np.mean([sign_flip(scores) < 0.01 for scores in samples]) < 0.012
    assert (
        np.mean(
            [
                each.low <= 0 <= each.high
                for each in (mean_of(scores, confidence=0.99) for scores in samples)
            ]
        )
        > 0.982
    )
