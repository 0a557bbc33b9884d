"""The study of equilibria: effects made up to be known, measurements made once, and a page and pictures from committed rows."""

import math
from pathlib import Path

import numpy as np
import pytest

from experiments.papers.combinations import COMBINATIONS
from experiments.statistics import mean_reward, share_text
from experiments.studies import equilibrium_2015 as study
from experiments.studies.equilibrium_2015 import (
    BASELINE,
    Pairing,
    Plan,
    against_baseline,
    effect,
    fill,
    measured_cells,
    spread,
    weighted_sum,
)

ADDED = {"NAST": -0.2, "RAVE": 0.05, "MAST": 0.0, "LGRF": 0.0}
NOISE = (-0.01, 0.0, 0.01)
DOCS = Path(__file__).parent.parent.parent / "docs"


def rows(game="kuhn-poker", iterations=100, noise=NOISE, chosen=COMBINATIONS):
    return [
        {"game": game, "player": each.strategy, "method": "stitching", "iterations": iterations, "seed": seed}
        | {"nash_conv": 1.0 + sum(ADDED[name] for name in each.enhancements) + error}
        for each in chosen
        for seed, error in enumerate(noise)
    ]


def cells(**changes):
    (values,) = measured_cells(rows(**changes)).values()
    return values


def test_an_effect_is_what_the_eight_with_it_have_more_than_the_eight_without():
    values = cells()
    assert {name: effect(values, name).value for name in ADDED} == pytest.approx(ADDED)
    assert [effect(values, name).is_decided for name in ADDED] == [True, True, False, False]
    deviation, freedom = spread(values)
    assert freedom == 32 and deviation == pytest.approx(0.01)
    # 16 means of 3 values each, weighed 1/8: 0.01 √(16 / 64 / 3); Student's quantile with 32 degrees of freedom is 2.0369
    assert effect(values, "MAST").half == pytest.approx(2.0369 * 0.01 * math.sqrt(16 / 64 / 3), rel=1e-4)
    assert weighted_sum(values, {BASELINE: 1.0}).half == pytest.approx(2.0369 * 0.01 / math.sqrt(3), rel=1e-4)


@pytest.mark.parametrize("counts", [(1, 1), (1, 5)])
def test_where_a_combination_has_one_seed_interactions_stand_for_chance(counts):
    luck, squares, covered = np.random.default_rng(0), [], 0
    for _ in range(400):
        values = {
            each.strategy: list(mean + luck.normal(0, 0.02, counts[number > 0]))
            for number, (each, (mean,)) in enumerate(zip(COMBINATIONS, cells(noise=(0.0,)).values(), strict=True))
        }
        squares.append(spread(values)[0] ** 2)
        covered += abs(effect(values, "NAST").value + 0.2) < effect(values, "NAST").half
    assert math.sqrt(np.mean(squares)) == pytest.approx(0.02, rel=0.1)
    assert 365 <= covered <= 396  # 380 expected of 400 intervals of 95 %
    assert against_baseline(cells(noise=(0.0,)), "BASELINE >> NAST2").value == pytest.approx(-0.2)


def test_the_largest_budget_with_all_sixteen_counts():
    some = [*rows(iterations=100), *rows(iterations=1000), *rows(iterations=10_000, chosen=COMBINATIONS[:3])]
    assert list(measured_cells(some)) == [("kuhn-poker", 1000)]
    assert measured_cells(rows(chosen=COMBINATIONS[:15])) == {}


def test_what_was_measured_is_not_measured_again(tmp_path):
    plan = Plan(("kuhn-poker",), ("BASELINE", "OOS(delta=0.5)", "ISMCTS()"), (20, 40))
    made = fill(plan, tmp_path)
    assert len(made) == 6 and all(sum(row["improvements"]) == pytest.approx(row["nash_conv"]) for row in made)
    path = tmp_path / plan.file
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])  # killed while it wrote
    again = fill(plan, tmp_path)
    assert again[:5] == made[:5] and again[5]["nash_conv"] == made[5]["nash_conv"]
    assert path.read_bytes().count(b"\n") == 6 and fill(plan, tmp_path) == again


def test_games_are_played_in_whole_blocks_from_both_seats_and_a_search_from_the_deal_converges(tmp_path):
    blocks = fill(Pairing("kuhn-poker", ("OOS()",), ("NearEquilibrium(epsilon=0.01)",), (20,), 60), tmp_path)
    ((first, second),) = study.pairs(blocks).values()
    assert len(first) == len(second) == 50 and set(first + second) <= {0.0, 0.25, 0.75, 1.0}  # by one chip or by two
    many = Pairing("kuhn-poker", ("OOS()",), ("OOS()",), (1,), 50, times=1000)
    (block,) = fill(many, tmp_path)
    assert block["times"] == 1000 and sum(block["first"] + block["second"]) < 25
    early, late = fill(Plan(("kuhn-poker",), ("OOS()",), (100, 100_000), method="root"), tmp_path)
    assert late["nash_conv"] < early["nash_conv"] / 2


def test_a_mean_reward_has_an_interval_also_where_all_are_alike():
    share = mean_reward([0, 1] * 50)
    assert share_text(share) == "50.0 ± 10.0 %" and share.half == pytest.approx(1.984 * math.sqrt(0.25 / 99), rel=1e-3)
    least = 0.025 ** (1 / 43)  # so likely a win must be, for 43 of 43 to have a chance of 2.5 %
    won, lost, drawn = (mean_reward(each) for each in ([1.0] * 43, [0.0] * 43, [0.5] * 43))
    assert (won.low, won.high, lost.low, lost.high) == pytest.approx((least, 1, 0, 1 - least))
    assert (drawn.low, drawn.high) == pytest.approx((least / 2, 1 - least / 2))
    assert mean_reward([0.1 + 0.2, 0.3] * 20).high > 0.35  # alike but for rounding


def test_the_page_and_its_pictures_come_out_of_the_committed_rows(tmp_path):
    page = tmp_path / "equilibrium.md"
    page.write_bytes((DOCS / "equilibrium.md").read_bytes())
    study.draw(tmp_path, study.RUNS, page)
    assert page.read_bytes() == (DOCS / "equilibrium.md").read_bytes()
    assert all(
        (tmp_path / f"{name}.png").stat().st_size > 20_000 for name in ("root", "aggregate", "sixteen", "effects")
    )
    assert all(plan.rows() for plans in study.PLANS.values() for plan in plans)
