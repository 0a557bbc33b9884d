"""Studies run once on tiny inputs, what their tables say is computed by hand, and committed rows give the documents' tables."""

import json
import math
import re

import numpy as np
import pandas
import pytest
import typer
from typer.testing import CliRunner

from experiments.papers import COMBINATIONS
from experiments.plan.refusal import Refusal
from experiments.studies import (
    branching,
    discovery,
    equilibrium_2015,
    large_games,
    positions,
    rates,
    values,
)
from experiments.studies.equilibrium_2015 import complete_cells, effect, spread, weighted_sum
from experiments.studies.positions import ACTION, SHARED, correlation_of
from experiments.studies.public_trees import PublicCFR
from icarus import RAVE, Agent, exploitability, games
from icarus.arena.ledger import Ledger, line_of
from icarus.compiler.rng import seeded
from icarus.equilibrium import CFRPlus, OOSSearch
from tests.conftest import ROOT
from tests.games.test_dou_di_zhu import position as dou_di_zhu_position

RUNS = ROOT / "experiments" / "runs"


def shown(app, *arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


# ---------------------------------------------------------------------------------------------------- discovery's rows


def test_a_duel_is_judged_by_the_deals_of_which_all_games_are_there(tmp_path):
    path, names = tmp_path / "games.jsonl", ("player", "seat", "returns")
    games_of_deal = ("a", 0, [1, 0]), ("a", 1, [1, 0]), ("b", 0, [0.25, 0.5])
    rows = [
        {"stream": "proof", "opponent": "b", "deal": deal, **dict(zip(names, values, strict=True))}
        for deal in range(5)
        for values in games_of_deal
    ]
    path.write_bytes(b"".join(map(line_of, [*rows[:13], rows[14]])))  # the last deal lacks a game
    ((pair, difference),) = discovery.differences_in(path).items()
    assert pair == ("a", "b")
    assert difference.count == 4
    assert difference.value == pytest.approx(((1 + 0) - (0.25 + 0.5)) / 2)
    assert shown(discovery.app, "duels", path).startswith("games, 4 units: +0.125")


# ----------------------------------------------------------------------------------------------------------- positions

HERE = 80


def invented(slope, noise=0.03, spread=0.05, actions=8):
    """Positions whose values are known: elsewhere they are `slope` times those now, with as much again of their own."""
    generator, rows = np.random.default_rng(1), []
    for position in range(HERE):
        now = 0.5 + generator.normal(0, spread, actions)
        independent = generator.normal(0, spread, actions)
        for half in range(2):
            estimates = now + generator.normal(0, noise, actions)
            # playouts that begin with another action
            others = (estimates.sum() - estimates) / (actions - 1)
            later = (
                others
                + slope * (now - 0.5)
                + (1 - abs(slope)) * independent
                + generator.normal(0, noise, actions)
            )
            rows += [
                (
                    "othello",
                    "",
                    position,
                    half,
                    ACTION,
                    action,
                    estimates[action],
                    later[action],
                    100,
                )
                for action in range(actions)
            ]
    return pandas.DataFrame(rows, columns=[*SHARED])


@pytest.mark.parametrize("slope, expected", [(1.0, 1.0), (0.5, 0.5**0.5), (0.0, 0.0), (-1.0, -1.0)])
def test_the_correlation_is_that_of_the_true_values_whatever_the_noise(slope, expected):
    for noise in (0.01, 0.05):
        count, now, _, estimate = correlation_of(invented(slope, noise))
        assert count == HERE
        assert now == pytest.approx(0.05, rel=0.1)
        assert estimate.value == pytest.approx(expected, abs=0.1)
        assert estimate.low - 0.05 <= expected <= estimate.high + 0.05


def test_positions_of_a_run_are_read_and_nothing_else(tmp_path):
    assert "Othello" in shown(positions.app, "correlation", RUNS / "correlation" / "rehearsal.csv")
    assert "N   1000 iterations, 200 positions" in shown(
        positions.app, "shapes", RUNS / "tree-shape" / "othello.csv"
    )
    (path := tmp_path / "shared.csv").write_text("something else\n")
    with pytest.raises(Refusal, match="was not written by this command"):
        positions.read_values(path, SHARED)


PLAYED = {
    ("", name): np.repeat([1.0, 0.0], (wins, 200 - wins))
    for name, wins in zip("ABCDEF", range(60, 180, 20), strict=True)
}


def screened(order: str, number: int = 40) -> pandas.DataFrame:
    noise = np.random.default_rng(0).normal(0, 0.01, (number, len(order)))
    values = pandas.DataFrame(0.3 + 0.05 * np.arange(len(order)) + noise, columns=[*order])
    rows = values.assign(**{"-": 0.5, "role": "", "position": range(number)})
    return rows.melt(["role", "position"], var_name="agent")


def test_the_same_order_has_tau_one_and_the_opposite_minus_one():
    same = positions.agreement(screened("ABCDEF"), PLAYED, "")
    assert same["agents"] == 6
    assert same["tau"] == pytest.approx(1)
    assert same["low"] > 0.6
    assert same["top"] > 0
    assert positions.agreement(screened("FEDCBA"), PLAYED, "")["tau"] == pytest.approx(-1)


# --------------------------------------------------------------------------------------------------------- equilibrium

ADDED = {"NAST": -0.2, "RAVE": 0.05, "MAST": 0.0, "LGRF": 0.0}


def measured_rows(iterations=100, noise=(-0.01, 0.0, 0.01), chosen=COMBINATIONS):
    return [
        {
            "game": "kuhn-poker",
            "player": each.strategy,
            "method": "stitching",
            "iterations": iterations,
            "seed": seed,
        }
        | {"nash_conv": 1.0 + sum(ADDED[name] for name in each.enhancements) + error}
        for each in chosen
        for seed, error in enumerate(noise)
    ]


def cells(**changes):
    (values,) = complete_cells(measured_rows(**changes)).values()
    return values


def test_an_effect_is_what_the_eight_with_it_have_more_than_the_eight_without():
    values = cells()
    assert {name: effect(values, name).value for name in ADDED} == pytest.approx(ADDED)
    assert [effect(values, name).is_decided for name in ADDED] == [True, True, False, False]
    deviation, freedom = spread(values)
    assert freedom == 32
    assert deviation == pytest.approx(0.01)
    # 16 means of 3 values each, weighed 1/8: 0.01 √(16 / 64 / 3); Student's quantile with 32 degrees of freedom is 2.0369
    assert effect(values, "MAST").half == pytest.approx(
        2.0369 * 0.01 * math.sqrt(16 / 64 / 3), rel=1e-4
    )
    assert weighted_sum(values, {"BASELINE": 1.0}).half == pytest.approx(
        2.0369 * 0.01 / math.sqrt(3), rel=1e-4
    )


def test_the_page_of_equilibria_and_its_pictures_come_out_of_the_committed_rows(tmp_path):
    page, committed = tmp_path / "tables.md", (equilibrium_2015.RUNS / "tables.md").read_bytes()
    page.write_bytes(committed)
    equilibrium_2015.draw(tmp_path, equilibrium_2015.RUNS, page)
    assert page.read_bytes() == committed
    assert (tmp_path / "root.png").stat().st_size > 20_000


# ----------------------------------------------------------------------------------- Table II of 2012: leading plays


def plays_of(*hands, seed=0):
    """The leading plays where the landlord, who leads, and the peasants hold these cards."""
    return branching.measure_deal(dou_di_zhu_position(*hands).data[0], seeded(seed)).tolist()


@pytest.mark.parametrize(
    "cards, plays",
    [
        ("4", "4"),
        ("3334", "3 4 33 333 333+4"),
        ("BR33", "3 B R 33 BR"),
        ("33344", "3 4 33 44 333 333+4 333+44"),
        ("34567", "3 4 5 6 7 34567"),
        ("3333456", "3 4 5 6 33 333 3333 333+4 333+5 333+6 3333+4+5 3333+4+6 3333+5+6"),
    ],
)
def test_leading_plays_count_each_choice_of_kickers(cards, plays):
    assert plays_of("T", cards, "J")[0] == len(plays.split()) + 1


def test_plays_are_added_over_the_peasants_and_those_of_no_determinization_do_not_count():
    assert plays_of("T", "3", "4", seed=1) == [2, 2, 4, 4, 4]  # each has the three or the four
    assert plays_of("34567", "3", "3", seed=1) == [2, 2, 2, 2, 2]


def test_random_deals_branch_as_published_within_five_percent_and_the_interval_is_students():
    for _, measured, interval, _, ratio in branching.table(
        branching.measure_deals(400, seed=2012)
    ).rows:
        low, high = map(float, interval.split(" - "))
        assert 0.95 < float(ratio) < 1.05
        assert low < float(measured) < high
    of_three = branching.table(np.array([[1.1e5], [1.2e5], [1.3e5]]).repeat(5, axis=1))
    assert of_three.rows[0][2] == "95158.6 - 144841.4"  # 120,000 ∓ 4.30265 · 10,000 / √3


def test_searches_of_a_version_and_evaluations_are_measured(monkeypatch):
    measured = rates.searches(ROOT, "{} here", "kuhn-poker", 100, ["BASELINE"], 1)
    assert [*measured] == ["BASELINE here", f"{rates.KEPT} here"]
    assert all(seconds > 0 for seconds in measured.values())
    with pytest.raises(ValueError, match="cannot be measured: .*no game is called 'no-game'"):
        rates.searches(ROOT, "{}", "no-game", 100, [], 1)
    monkeypatch.setattr(rates, "EVALUATIONS", 10)
    assert rates.evaluation("kuhn-poker")(0)[rates.EVALUATION] > 0


def test_a_rate_is_told_with_its_quartiles_and_beside_others(monkeypatch, tmp_path):
    def measured(version, subject, *_):
        return {subject.format("BASELINE"): 1 / 2 if version == tmp_path else 1 / 3}

    monkeypatch.setattr(rates, "searches", measured)
    monkeypatch.setattr(rates, "evaluation", lambda _: lambda seed: {"evaluation": 1 / (1 + seed)})
    app, out = typer.Typer(), tmp_path / "out"
    app.command()(rates.rates)
    options = "--games", "hex", "--rounds", 3, "--before", tmp_path, "--out", out
    lines = [re.split("  +", line) for line in shown(app, *options).splitlines()]
    same = "1.00 (1.00 to 1.00)"
    assert ["hex", "3 (3 to 3)", "-", same, "1.50 (1.50 to 1.50)", "BASELINE"] in lines
    assert ["hex", "2 (2 to 2)", "-", "0.67 (0.50 to 0.83)", "-", "evaluation"] in lines
    machine, first, *_ = map(json.loads, out.read_text().splitlines())
    assert machine["processor"]
    assert first == {"game": "hex", "subject": "BASELINE", "microseconds": [333333.333] * 3}


def test_the_share_that_is_recovered_and_the_bounds_are_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(large_games, "EXACT", ("kuhn-poker",))
    monkeypatch.setattr(large_games, "TARGETS", ("CFR+ 4", "OOS 1000", "BASELINE 100"))
    large_games.shares(out := tmp_path / "shares.jsonl")
    assert all(row["bound"] < row["nash_conv"] + 1e-9 for row in equilibrium_2015.rows_of(out))
    assert shown(large_games.app, "recovered", str(out)).count("1.00") >= 4
    large_games.bounds(
        out := tmp_path / "bounds.jsonl", "kuhn-poker", ["RAVE"], iterations=9, matches=2, seeds=2
    )
    measured = equilibrium_2015.rows_of(out)
    with Ledger(out, ("player", "seed")) as ledger:  # as if the others were bounded alike
        for name in equilibrium_2015.SIXTEEN:
            for row in measured if name != "RAVE" else []:
                ledger.keep(row | {"player": name})
    assert "RAVE  " in shown(large_games.app, "sixteen", str(out))
    assert shown(large_games.app, "seats", str(out)).count("kuhn-poker") == 16
    for bound in (0.25, 0.75):
        with Ledger(out, ("seed",)) as ledger:
            row = {"game": "trio", "player": "X", "iterations": 9, "particles": 2, "seed": bound}
            ledger.keep(row | {"gains": [bound, 2 * bound, -bound]})
    line = next(
        line for line in shown(large_games.app, "seats", str(out)).splitlines() if "trio" in line
    )
    assert "0.500 ± 3.177 1.000 ± 6.353 -0.500 ± 3.177 0.333 ± 2.118" in line


def test_the_sixteen_are_measured_as_they_are_played(monkeypatch, tmp_path):
    monkeypatch.setattr(equilibrium_2015, "SMALL", ("kuhn-poker",))
    monkeypatch.setattr(equilibrium_2015, "SINGLE", 2)
    out = tmp_path / "played.jsonl"
    equilibrium_2015.measure(out, iterations=9, seeds=4)
    rows = equilibrium_2015.rows_of(out)
    assert len(rows) == 16 * 2 * (2 + 1)
    mean = next(
        row
        for row in rows
        if (row["player"], row["play"], row["seeds"]) == ("RAVE", "most visited", 4)
    )
    again = exploitability(games.load("kuhn-poker"), Agent(RAVE, iterations=9), seeds=4)
    assert mean["nash_conv"] == again.estimate
    equilibrium_2015.measure(out, iterations=9, seeds=4)
    assert len(equilibrium_2015.rows_of(out)) == len(rows)
    printed = shown(equilibrium_2015.app, "played", str(out))
    assert f"{again.estimate:.3f} [{again.lower:.3f}, {again.upper:.3f}]" in printed
    assert "effects: most visited, mean" in printed


def test_what_outcome_sampling_has_learned_is_measured_by_iterations(monkeypatch, tmp_path):
    monkeypatch.setattr(large_games, "LARGE", {"leduc-poker": (10, 10_000)})
    out = tmp_path / "learned.jsonl"
    large_games.learned(out, seeds=2)
    rows = equilibrium_2015.rows_of(out)
    assert [(row["iterations"], row["seed"]) for row in rows] == [
        (10, 0),
        (10_000, 0),
        (10, 1),
        (10_000, 1),
    ]
    search = OOSSearch(games.load("leduc-poker"), seed=1)
    search.run(10_000)
    assert rows[-1]["nash_conv"] == pytest.approx(
        exploitability(search.game, search.average).nash_conv
    )
    line = next(
        line for line in shown(large_games.app, "curve", str(out)).splitlines() if "10,000" in line
    )
    low, high = sorted(row["nash_conv"] for row in rows[1::2])
    assert low < float(line.split()[2]) < high
    assert line.split()[-1] == "2"


@pytest.mark.parametrize(
    "name", ["kuhn-poker", "leduc-poker", "liars-dice(faces=4)", "generic-poker(raises=1)"]
)
def test_regrets_of_summed_histories_are_those_of_the_whole_tree(monkeypatch, name):
    monkeypatch.setattr("experiments.studies.public_trees.BLOCK", 100)
    summed, by_all = PublicCFR(games.load(name)), CFRPlus(games.load(name))
    by_all.run(10)
    for _ in range(by_all.iterations):
        summed.run()
    responses = summed.traverse(0, 0.0), summed.traverse(1, 0.0)
    assert responses == pytest.approx(by_all.exploitability().best_responses, abs=1e-9)


def test_discounted_regrets_come_nearer_also_in_single_precision(monkeypatch):
    distances = []
    for discounts, largest in ((False, 1 << 26), (True, 1 << 26), (True, 0)):
        monkeypatch.setattr("experiments.studies.public_trees.SINGLE", largest)
        solver = PublicCFR(games.load("liars-dice(faces=4)"), 2)
        solver.discounts = discounts
        for _ in range(200):
            solver.run()
        distances.append(solver.traverse(0, 0.0) + solver.traverse(1, 0.0))
    assert 0 < distances[1] < 0.9 * distances[0]
    assert distances[2] == pytest.approx(distances[1], abs=1e-5)


def test_the_value_of_a_game_is_bracketed(tmp_path):
    shown(values.app, tmp_path / "rows.jsonl", "kuhn-poker", "--iterations", 200)
    row = equilibrium_2015.rows_of(tmp_path / "rows.jsonl")[-1]
    assert row["iterations"] == 200
    assert row["bracket"][0] < -1 / 18 < row["bracket"][1] < row["bracket"][0] + 0.002
    for iterations in (3, 7):
        values.value(tmp_path / "parts.jsonl", "kuhn-poker", iterations, keep=tmp_path / "kept.npz")
    values.value(tmp_path / "whole.jsonl", "kuhn-poker", 7)
    last = [
        equilibrium_2015.rows_of(tmp_path / f"{name}.jsonl")[-1]["bracket"]
        for name in ("parts", "whole")
    ]
    assert last[0] == last[1]
    np.savez(tmp_path / "old.npz", game="kuhn-poker", iterations=7, learned=np.zeros(3))
    for game, file, refusal in (
        ("kuhn-poker", "old.npz", "old.npz was kept by another version"),
        ("leduc-poker", "kept.npz", "learned in kuhn-poker, not in leduc-poker"),
    ):
        with pytest.raises(ValueError, match=refusal):
            values.value(tmp_path / "other.jsonl", game, keep=tmp_path / file)
    for name, refusal in (("goofspiel", "shown something else"), ("leduc-poker", "large")):
        with pytest.raises(ValueError, match=refusal):
            PublicCFR(games.load(name), gigabytes=1e-6)
