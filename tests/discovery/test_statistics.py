"""What differences of paired units prove."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from icarus.discovery.race import (
    LEAST_UNITS,
    POWER,
    USELESS,
    detectable,
    difference,
    holm,
    plan_units,
    student_quantile,
    student_tail,
    units_needed,
)


def test_students_distribution() -> None:
    for tail, value in ((0.05, 1.812), (0.01, 2.764), (0.005, 3.169)):  # of 10 degrees of freedom, as tables print it
        assert student_quantile(tail, 10) == pytest.approx(value, abs=5e-4)
        assert student_tail(value, 10) == pytest.approx(tail, rel=0.002)
    assert student_tail(-1.812, 10) == pytest.approx(0.95, rel=0.002)
    assert student_tail(0, 5) == 0.5 and student_tail(math.inf, 5) == 0 == student_tail(1e200, 5)
    assert student_tail(1e300, 1) == pytest.approx(1 / math.pi / 1e300, rel=1e-12)
    assert student_tail(40, 20) == pytest.approx(stats.t.sf(40, 20), rel=1e-10)
    assert student_tail(3, math.inf) == pytest.approx(stats.norm.sf(3))
    assert student_quantile(0.005, math.inf) == pytest.approx(stats.norm.isf(0.005))


def test_holm_and_differences() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    scores = [0.5, 0.0, 0.5, 0.0]
    actual, expected = difference(scores), stats.ttest_1samp(scores, 0, alternative="greater")
    assert actual.mean == 0.25 and actual.error == pytest.approx(0.1443, abs=1e-3)
    assert actual.p == pytest.approx(expected.pvalue)
    assert actual.interval(0.98) == pytest.approx(stats.ttest_1samp(scores, 0).confidence_interval(0.98), abs=1e-12)
    assert difference([0.0] * 50).p == 0.5
    assert 0 < difference([0.5] * 72).p < 1e-30  # not 0, however sure it is


def test_one_unit_proves_nothing() -> None:
    alone = difference([1.0])
    assert alone.error == 1 and alone.p > 0.1
    assert alone.interval(limit=math.inf) == pytest.approx((1 - 2.576, 1 + 2.576), abs=0.001)
    assert alone.interval() == (-1, 1)  # no difference of rewards is larger


@pytest.mark.parametrize("scores", [[0.1] * 20, [0.3 - 0.2, 0.1] * 10, [1 / 3, 0.333333333] * 10])
def test_units_that_differ_by_rounding_alone_have_laplaces_variance(scores: list[float]) -> None:
    assert difference(scores).error == pytest.approx(math.sqrt(2 / 22 / 20))


@pytest.mark.parametrize("units", [10, 20, 60])
def test_what_is_claimed_at_a_level_is_wrong_no_more_often(units: int) -> None:
    generator = np.random.default_rng(units)
    differences = [difference(scores) for scores in generator.choice([-0.5, 0.0, 0.5], (4000, units))]
    # by the normal distribution .012 and .006 of 10 and 20
    assert np.mean([each.p < 0.002 for each in differences]) < 0.0045
    assert np.mean([low <= 0 <= high for low, high in (each.interval() for each in differences)]) > 0.982


@pytest.mark.parametrize("level", [0.002, 0.01, 0.05])
def test_what_a_proof_detects_it_finds_with_its_power(level: float) -> None:
    for units in (LEAST_UNITS, 60, 200):
        shift = detectable(units, 0.4, level) / 0.4 * math.sqrt(units)
        power = stats.nct.sf(stats.t.isf(level, units - 1), units - 1, shift)
        assert power == pytest.approx(POWER, abs=0.012)
    assert detectable(1, 0.4, level) == math.inf


def test_what_a_budget_detects() -> None:
    assert detectable(6500, 0.5 * 2**0.5, 0.01) == pytest.approx(0.028, abs=0.001)
    assert plan_units(4000, 2, 5, 8, 0.354, 0.01, 1) == (1200, 109, 22)


@pytest.mark.parametrize(("seats", "finalists", "deviation"), [(1, 1, 0.7), (2, 5, 0.35), (4, 20, 0.25), (2, 2, 0.7)])
@pytest.mark.parametrize("games", [1, 300])
def test_the_budget_that_a_refusal_names_suffices(seats: int, finalists: int, deviation: float, games: int) -> None:
    with pytest.raises(ValueError, match="proves nothing: .*could detect") as refusal:
        plan_units(games, seats, finalists, 8, deviation, 0.01, 1)
    enough = re.search(r"give at least (\d+) games", str(refusal.value))
    assert enough
    units = plan_units(int(enough[1]), seats, finalists, 8, deviation, 0.01, 1)[1]
    assert units == units_needed(deviation, 0.01 / finalists)
    assert detectable(units, deviation, 0.01 / finalists) <= USELESS
    assert units == LEAST_UNITS or detectable(units - 1, deviation, 0.01 / finalists) > USELESS
