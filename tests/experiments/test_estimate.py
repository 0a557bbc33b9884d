"""How long an experiment will take, and the rehearsal that begins by telling it."""

import json

import pytest

from experiments.commands import playing as command
from experiments.commands.main import main
from experiments.plan import loading
from experiments.plan.building import build
from experiments.play import estimate
from experiments.play.estimate import SAMPLES, Pace
from experiments.store import rows as store
from tests.experiments.conftest import a_row, small


@pytest.fixture
def timed(monkeypatch):
    """Games that take 0.2 s and a millisecond for each iteration, without being played."""
    calls = []

    def seconds(experiment, cell, iterations):
        calls.append((str(cell.spec.strategy), iterations))
        return 0.2 + iterations / 1000

    monkeypatch.setattr(estimate, "_time_trial", seconds)
    return calls


def test_the_time_of_all_games_follows_from_that_of_two_sizes(timed):
    experiment = loading.load("figure5", {"games": ["othello"], "iterations": [300, 1000], "trials": 50})
    paces = estimate.measure_paces(experiment)
    assert all((pace.fixed, pace.each) == (pytest.approx(0.2), pytest.approx(0.001)) for pace in paces.values())
    assert len(timed) == 3 * (1 + len(SAMPLES))  # each agent once, whatever the budgets
    assert list(estimate.core_seconds(experiment, paces).values()) == pytest.approx([3 * 50 * 0.5, 3 * 50 * 1.2])
    assert list(estimate.core_seconds(experiment, paces, 5000).values()) == pytest.approx([3 * 50 * 5.2] * 2)


def test_a_game_that_is_no_slower_with_more_iterations_has_no_negative_pace(monkeypatch):
    monkeypatch.setattr(estimate, "_time_trial", lambda experiment, cell, iterations: 1.0 if iterations < 50 else 0.5)
    assert set(estimate.measure_paces(small()).values()) == {Pace(1.0, 0.0)}


def test_games_too_short_to_be_measured_are_timed_with_more_iterations(monkeypatch):
    budgets = []
    monkeypatch.setattr(
        estimate, "_time_trial", lambda experiment, cell, iterations: budgets.append(iterations) or iterations / 10_000
    )
    pace, *_ = estimate.measure_paces(small()).values()
    assert budgets[:5] == [1, 25, 100, 250, 1000]
    assert budgets[5:7] == [2500, 10_000]
    assert pace.each == pytest.approx(1e-4)


def test_every_tree_has_an_iteration_where_games_are_timed(monkeypatch):
    budgets = []
    monkeypatch.setattr(estimate, "_time_trial", lambda experiment, cell, iterations: budgets.append(iterations) or 1.0)
    estimate.measure_paces(loading.load("searches-phantom", {"trials": 1}))
    assert min(budgets) == 1  # MO-ISMCTS against itself
    assert {40, 160} <= set(budgets)


def test_a_budget_in_seconds_is_spent_by_each_decision_with_a_choice():
    table = {
        "name": "timed",
        "games": "kuhn-poker",
        "agents": ["BASELINE"],
        "seconds": [0.5, 2],
        "trials": 3,
        "seats": 0,
    }
    paces = estimate.measure_paces(build(table))
    short, long = (pace.seconds(0) for pace in paces.values())
    assert long == pytest.approx(4 * short)
    assert short in (1.0, 1.5)  # two or three decisions: check or bet, then fold or call


def test_a_real_game_takes_time():
    assert estimate._time_trial(small(), small().cells[0], 2) > 0


def test_the_estimate_tells_this_size_and_the_papers(timed, capsys):
    assert (
        main(["estimate", "figure5", "--games", "othello", "--trials", "60", "--iterations", "800", "--workers", "2"])
        == 0
    )
    printed = capsys.readouterr().out
    assert (
        "figure5, 3 cells of 60 games, 800 iterations per decision: 0.05 core-hours (1 min 30 s with 2 workers)"
        in printed
    )
    assert (
        "figure5, 3 cells of 1000 games, 5000 iterations per decision: 4.3 core-hours (2 h 10 min with 2 workers)"
        in printed
    )


def test_a_rehearsal_leaves_packed_rows_a_report_and_the_claims_and_can_be_continued(
    timed, monkeypatch, tmp_path, capsys
):
    limit = [25]

    def some_games(experiment, out, workers, cluster, share):
        with store.writer(out, experiment) as writer:
            for cell, trial in experiment.games():
                if (cell.key, trial) not in writer.done:
                    if not limit[0]:
                        raise KeyboardInterrupt
                    limit[0] -= 1
                    writer.append(a_row(cell, trial, win=trial % 2 == 0))

    monkeypatch.setattr(command, "_play", some_games)
    arguments = ["rehearse", str(tmp_path / "small"), "--games", "othello", "--trials", "2", "--iterations", "30"]
    assert main(arguments) == 130
    output = capsys.readouterr()
    assert "section8, 20 cells of 2 games, 30 iterations per decision" in output.out
    assert "Stopped; 25 of 40 games are kept" in output.err
    limit[0] = 100
    assert main(arguments) == 0
    output = capsys.readouterr()
    assert "core-hours" not in output.out
    assert "statements of section 8" in output.out
    names = {path.name for path in (tmp_path / "small").iterdir()}
    assert names == {"experiment.json", "results.jsonl.gz", "report.html", "report.md", "figures"}
    assert limit[0] == 100 - 15
    report = (tmp_path / "small" / "report.md").read_bytes()
    assert b"40 of 40 games played." in report
    assert b"Paper against ours" in report
    assert main(["report", str(tmp_path / "small")]) == 0
    assert (tmp_path / "small" / "report.md").read_bytes() == report
    assert json.loads((tmp_path / "small" / "experiment.json").read_text())["name"] == "section8"
