"""Which enhancement makes ISMCTS less exploitable: main effects of the sixteen combinations, by numbers made up to have known ones."""

import math

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.analysis.enhancement_effects import (
    BASELINE,
    against_baseline,
    effect,
    effects_table,
    measured_cells,
    ranking_table,
    spread,
    weighted_sum,
)
from experiments.papers.combinations import COMBINATIONS
from experiments.store.measurements import EXPLOITABILITY

ADDED = {"NAST": -0.2, "RAVE": 0.05, "MAST": 0.0, "LGRF": 0.0}
NOISE = (-0.01, 0.0, 0.01)


def rows(game="kuhn-poker", iterations=100, noise=NOISE, chosen=COMBINATIONS):
    return [
        {
            "game": game,
            "player": each.strategy,
            "method": "stitching",
            "iterations": iterations,
            "seed": seed,
            "improvements": [],
            "nash_conv": 1.0 + sum(ADDED[name] for name in each.enhancements) + error,
        }
        for each in chosen
        for seed, error in enumerate(noise)
    ]


def cells(**changes):
    (values,) = measured_cells(rows(**changes)).values()
    return values


def test_an_effect_is_what_the_eight_with_it_have_more_than_the_eight_without():
    values = cells()
    for name, added in ADDED.items():
        assert effect(values, name).value == pytest.approx(added)
    assert (
        effect(values, "NAST").is_decided
        and effect(values, "RAVE").is_decided
        and not effect(values, "MAST").is_decided
    )


def test_the_spread_between_seeds_is_that_of_all_combinations_together():
    deviation, freedom = spread(cells())
    assert freedom == 32 and deviation == pytest.approx(0.01)
    # 16 means of 3 values each, weighted_sum 1/8: 0.01 √(16 / 64 / 3); Student's quantile with 32 degrees of freedom is 2.0369
    assert effect(cells(), "MAST").half == pytest.approx(2.0369 * 0.01 * math.sqrt(16 / 64 / 3), rel=1e-4)
    assert weighted_sum(cells(), {BASELINE: 1.0}).half == pytest.approx(2.0369 * 0.01 / math.sqrt(3), rel=1e-4)


def test_with_one_seed_the_interactions_of_three_and_more_stand_for_chance():
    luck = np.random.default_rng(0)
    halves, covered = [], 0
    for _ in range(200):
        values = {
            each.strategy: [value + luck.normal(0, 0.02)]
            for each, (value,) in zip(COMBINATIONS, cells(noise=(0.0,)).values(), strict=True)
        }
        halves.append(spread(values)[0] ** 2)
        covered += abs(effect(values, "NAST").value + 0.2) < effect(values, "NAST").half
    assert spread(values)[1] == 5
    assert math.sqrt(np.mean(halves)) == pytest.approx(0.02, rel=0.1)
    assert 180 <= covered <= 198  # 190 expected of 200 intervals of 95 %
    assert against_baseline(cells(noise=(0.0,)), "BASELINE >> NAST2").value == pytest.approx(-0.2)


def test_where_some_have_one_seed_and_others_several_an_interaction_varies_as_a_single_value():
    luck = np.random.default_rng(1)
    deviations = []
    for _ in range(400):
        mixed = {
            each.strategy: list(luck.normal(0, 0.02, 5 if number else 1)) for number, each in enumerate(COMBINATIONS)
        }
        deviations.append(spread(mixed)[0] ** 2)
    assert math.sqrt(np.mean(deviations)) == pytest.approx(0.02, rel=0.1)


def test_the_largest_budget_with_all_sixteen_counts():
    some = [*rows(iterations=100), *rows(iterations=1000), *rows(iterations=10_000, chosen=COMBINATIONS[:3])]
    assert list(measured_cells(some)) == [("kuhn-poker", 1000)]
    assert measured_cells(rows(chosen=COMBINATIONS[:15])) == {}


def test_tables_rank_players_and_mark_effects_that_are_decided():
    by_game = measured_cells([*rows(), *rows("leduc-poker", 1000)])
    ranked = ranking_table(by_game)
    assert ranked.header == ("", "player", "mean", "kuhn-poker, 100", "leduc-poker, 1,000")
    assert ranked.rows[0][1:3] == ("BASELINE >> NAST2", "-20.0 %") and "RAVE" in ranked.rows[-1][1]
    assert effects_table(by_game).rows[0] == ("NAST", "-0.200 ± 0.006 *", "-0.200 ± 0.006 *")
    assert effects_table(by_game).rows[2] == ("MAST", "0.000 ± 0.006", "0.000 ± 0.006")


def test_the_command_tells_both_tables_or_what_is_missing(tmp_path, capsys):
    assert main(["equilibrium-effects", str(tmp_path / "none")]) == 2
    assert "there is no directory" in capsys.readouterr().err
    assert main(["equilibrium-effects", str(tmp_path)]) == 2
    assert "no game in which all sixteen combinations were measured" in capsys.readouterr().err
    for row in rows():
        EXPLOITABILITY.keep(tmp_path, row)
    assert main(["equilibrium-effects", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "what each enhancement adds" in output and "NAST" in output
