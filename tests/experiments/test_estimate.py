"""How long an experiment will take, and the rehearsal that begins by telling it."""

import pytest

from experiments import estimate
from experiments.commands import main
from experiments.estimate import SAMPLES, Pace
from experiments.plan import loading
from experiments.plan.loading import build
from tests.experiments.conftest import small


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
