"""Games head to head, stitching in parts, costs beside OpenSpiel, and the plans of the papers: made once, read back, drawn."""

import math

import pytest

from experiments.__main__ import main
from experiments.analysis.best_responses import Comparison, Cost, best_response_table
from experiments.analysis.head_to_head import head_to_head_table, mean_reward, pairs, share_text
from experiments.plan.equilibrium import DELTAS, DICE, GAMES, HALF, NEAR, PLANS, UCT, Pairing, Plan, game_of
from experiments.play import exploitability as at_work
from experiments.play.exploitability import measure
from experiments.play.head_to_head import play_pairing
from experiments.report.equilibrium_figures import GAMES_IN_PRINT, draw, points, printed_curve, seconds_of
from experiments.store.measurements import EXPLOITABILITY, HEAD_TO_HEAD, UnderWay
from icarus.equilibrium import Stitching

PAIRING = Pairing("kuhn-poker", ("OOS()",), ("NearEquilibrium(epsilon=0.01)",), (20,), 60)


def played(plan, directory):
    """The blocks of a pairing, and how many were played now."""
    now = []
    return play_pairing(plan, directory, lambda *report: now.append(report)), len(now)


def test_games_are_played_in_whole_blocks_once_and_from_both_seats(tmp_path):
    rows, now = played(PAIRING, tmp_path)
    assert now == len(rows) == 2 and all(len(row["first"]) == len(row["second"]) == HALF for row in rows)
    assert played(PAIRING, tmp_path) == (rows, 0)
    more, now = played(Pairing(PAIRING.game, PAIRING.players, PAIRING.opponents, (20,), 150), tmp_path)
    assert now == 1 and more[:2] == rows and more[2]["first"] != more[1]["first"]
    assert len(HEAD_TO_HEAD.read(tmp_path)) == 3
    (first, second), *_ = pairs(rows).values()
    assert len(first) == len(second) == 50 and set(first + second) <= {0.0, 0.25, 0.75, 1.0}  # by one chip or by two
    table = head_to_head_table(rows)
    assert table.rows[0][:5] == ("kuhn-poker", "OOS()", "NearEquilibrium(epsilon=0.01)", "20", "100")


def test_an_opponent_may_have_more_iterations(tmp_path):
    players = PAIRING.game, PAIRING.players, PAIRING.players, (1,)
    even, _ = played(Pairing(*players, 50), tmp_path)
    uneven, now = played(Pairing(*players, 50, times=1000), tmp_path)
    assert now == 1 and len(HEAD_TO_HEAD.read(tmp_path)) == 2 and uneven[0]["times"] == 1000
    assert sum(uneven[0]["first"] + uneven[0]["second"]) < sum(even[0]["first"] + even[0]["second"])
    assert [row[3] for row in head_to_head_table(even + uneven).rows] == ["1", "1 and 1,000"]


def test_a_mean_reward_has_the_interval_of_its_rewards():
    share = mean_reward([0, 1] * 50)
    assert share.value == 0.5 and share.half == pytest.approx(
        1.984 * math.sqrt(0.25 / 99), rel=1e-3
    )  # Student's, 99 degrees
    assert share.is_decided and share_text(share) == "50.0 ± 10.0 %"


def test_rewards_that_are_all_alike_have_an_interval():
    least = 0.025 ** (1 / 43)  # so likely a win must be, for 43 of 43 to have a chance of 2.5 %
    won, lost, drawn, single = (mean_reward(each) for each in ([1.0] * 43, [0.0] * 43, [0.5] * 43, [1.0]))
    assert (won.value, won.low, won.high) == pytest.approx((1, least, 1))
    assert (lost.value, lost.low, lost.high) == pytest.approx((0, 0, 1 - least))
    assert (drawn.value, drawn.low, drawn.high) == pytest.approx((0.5, least / 2, 1 - least / 2))
    assert (single.low, single.high) == pytest.approx((0.025, 1))
    assert [share_text(each) for each in (won, lost, drawn)] == [
        "100.0 (91.8 to 100.0) %",
        "0.0 (0.0 to 8.2) %",
        "50.0 ± 4.1 %",
    ]
    assert mean_reward([0.1 + 0.2, 0.3] * 20).high > 0.35  # alike but for rounding


def test_stitching_that_was_stopped_goes_on_from_its_parts(tmp_path, monkeypatch):
    plan = Plan(("kuhn-poker",), ("OOS()",), (30,))
    (row,) = plan.rows()
    whole = measure(plan, tmp_path / "whole", lambda *report: None)[0]
    searched, real = [], Stitching.search

    def stopped(self, part):
        if len(searched) == 4:
            raise KeyboardInterrupt
        searched.append(part)
        return real(self, part)

    monkeypatch.setattr(at_work.Stitching, "search", stopped)
    with pytest.raises(KeyboardInterrupt):
        measure(plan, tmp_path, lambda *report: None)
    assert len(UnderWay(tmp_path, EXPLOITABILITY.key_of(row)).parts()) == 4
    monkeypatch.setattr(at_work.Stitching, "search", real)
    again = measure(plan, tmp_path, lambda *report: None)[0]
    assert again["nash_conv"] == whole["nash_conv"] and 0 < again["searches"] < whole["searches"] - 3
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [EXPLOITABILITY.file]


def test_a_search_from_the_deal_is_measured_as_it_converges(tmp_path):
    plan = Plan(("kuhn-poker",), ("OOS()", UCT), (100, 100_000), method="root", missing="a fixed random action")
    rows = measure(plan, tmp_path, lambda *report: None)
    nash_convs = {(row["player"], row["iterations"]): row["nash_conv"] for row in rows}
    assert nash_convs["OOS()", 100_000] < nash_convs["OOS()", 100] and nash_convs[UCT, 100_000] < nash_convs[UCT, 100]
    assert all(row["searches"] == 1 and seconds_of(row) >= 0 for row in rows)
    assert [x for x, _, _ in points(rows, lambda row: row["iterations"], lambda row: row["nash_conv"])] == [
        100,
        100_000,
    ]


def test_every_plan_of_the_papers_can_be_measured():
    for plans in PLANS.values():
        for plan in plans:
            assert plan.rows()


def test_printed_points_are_there_for_every_game_and_curve():
    for game in GAMES:
        for name in ("OOS", "UCT", "RM"):
            assert len(printed_curve(GAMES_IN_PRINT[game], "convergence", name)) == 45
            assert len(printed_curve(GAMES_IN_PRINT[game], "agg_convergence", name)) == 5


def test_figures_are_drawn_from_what_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda file: None)  # of 2,000 invented rows
    assert draw(tmp_path, tmp_path / "empty") == []
    rows, blocks = [], []
    for plan in (plan for name in ("root", "aggregate", "figure-2", "sixteen") for plan in PLANS[name]):
        rows += plan.rows() if isinstance(plan, Plan) else []
        blocks += plan.rows() if isinstance(plan, Pairing) else []
    for number, row in enumerate(rows):
        measured = {"improvements": [], "nash_conv": 1.0 + number % 3, "searches": 2, "processor_seconds": 0.5}
        EXPLOITABILITY.keep(tmp_path, {**row, **measured})
    for block in blocks:
        if block["block"] == 0 and block["game"] == DICE:
            HEAD_TO_HEAD.keep(tmp_path, {**block, "first": [0.0, 1.0], "second": [1.0, 1.0]})
    paths = draw(tmp_path, tmp_path / "drawn")
    assert [path.name for path in paths] == ["root.png", "aggregate.png", "figure-2.png", "sixteen.png", "effects.png"]
    assert all(path.stat().st_size > 20_000 and path.with_suffix(".svg").exists() for path in paths)


def test_what_cannot_be_measured_is_refused_before_work_starts(tmp_path, capsys):
    out = str(tmp_path / "new")
    for arguments, message in (
        (["equilibrium", "table-2", "--out", out], "'table-2' is not a plan; known plans: head-to-head, "),
        (["exploitability", "--out", out, "--method", "root"], "BASELINE starts at a decision of a player"),
        (["exploitability", "--out", out, "--missing", "nothing"], "--missing is 'nothing'; it must be 'uniform' or"),
        (["exploitability", "--out", out, "--missing", "a fixed random action"], "but stitching searches everywhere"),
        (
            ["best-response", "--games", "hearts"],
            "OpenSpiel has no counterpart of 'hearts' here; games with one: kuhn-poker",
        ),
        (["best-response", "--repeats", "0"], "repeats is 0"),
        (["equilibrium-figures", out, "--into", out], "there is no directory"),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_costs_are_told_with_their_ratios():
    table = best_response_table([Comparison("g", [Cost(1.5, 0.1, 2.0)], [Cost(1.5, 10.0, 8.0)])])
    assert table.rows == [("g", "1.500000000", "yes", "0.100", "10.000", "100", "2.0", "8.0", "4.0")]


def test_the_game_of_a_name_is_the_same_each_time_and_deltas_are_the_papers():
    assert (
        game_of("kuhn-poker") is game_of("kuhn-poker") and DELTAS[-1] == 1.0 and NEAR in PLANS["figure-2"][-1].opponents
    )
