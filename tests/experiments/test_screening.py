"""Ranking by positions against ranking by games: how well they agree."""

import numpy as np
import pytest

from experiments.studies.conjecture import Gain, pairs
from experiments.studies.correlation import ACTION, POSITION
from experiments.studies.screening import Choice, agreement


def screened(order: list[str], positions: int = 40) -> list[Choice]:
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 0.01, (positions, len(order)))
    return [
        Choice("", name, position, 0.3 + 0.05 * rank + noise[position, rank])
        for position in range(positions)
        for rank, name in enumerate(order)
    ]


PLAYED = {
    ("", name): np.array([1.0] * wins + [0.0] * (200 - wins))
    for name, wins in zip("ABCDEF", range(60, 180, 20), strict=True)
}


def test_the_same_order_has_tau_one_and_the_opposite_minus_one() -> None:
    same = agreement([*screened(list("ABCDEF")), Choice("", "-", 0, 0.5)], PLAYED, "")
    assert same.agents == 6 and same.tau == pytest.approx(1) and same.low > 0.6 and same.top > 0
    assert agreement(screened(list("FEDCBA")), PLAYED, "").tau == pytest.approx(-1)


def test_a_record_is_paired_with_the_gain_of_the_agent_that_shares_it() -> None:
    correlations = {(("a", ""), ACTION): 0.5, (("a", ""), POSITION): 0.2, (("b", ""), ACTION): 0.9}
    measured = {(("a", ""), "R"): Gain(0.1, 0.05, 50), (("a", ""), "EPIC"): Gain(0.3, 0.05, 50)}
    assert pairs("R", correlations, measured) == [(("a", ""), 0.5, Gain(0.1, 0.05, 50))]
    assert pairs("EPIC", correlations, measured) == [(("a", ""), 0.2, Gain(0.3, 0.05, 50))]
