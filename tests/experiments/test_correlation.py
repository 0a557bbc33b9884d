"""Section 6's explanation measured: whether values go together, told apart from noise and from what leaving an action out does."""

import json
import random

import attrs
import numpy as np
import pytest

from experiments.plan.definition import Refusal
from experiments.store import rows as store
from experiments.store.csv_values import read_values, write_values
from experiments.studies.correlation import (
    ACTION,
    HALVES,
    POSITION,
    Shared,
    correlation,
    correlation_table,
    measure_shared_values,
    positions_of,
)
from icarus import games
from tests.experiments.conftest import keep as keep_rows
from tests.experiments.conftest import small

ACTIONS, POSITIONS = 8, 80


def invented(slope, noise=0.03, spread=0.05, seed=1):
    """Positions whose values are known: elsewhere they are `slope` times those now, with as much again of their own."""
    generator, rows = np.random.default_rng(seed), []
    for position in range(POSITIONS):
        now = 0.5 + generator.normal(0, spread, ACTIONS)
        independent = generator.normal(0, spread, ACTIONS)
        for half in range(HALVES):
            estimates = now + generator.normal(0, noise, ACTIONS)
            others = (estimates.sum() - estimates) / (ACTIONS - 1)  # playouts that begin with another action
            later = others + slope * (now - 0.5) + (1 - abs(slope)) * independent + generator.normal(0, noise, ACTIONS)
            rows += [
                Shared("othello", "", position, half, ACTION, action, estimates[action], later[action], 100)
                for action in range(ACTIONS)
            ]
    return rows


@pytest.mark.parametrize("slope, expected", [(1.0, 1.0), (0.5, 0.5**0.5), (0.0, 0.0), (-1.0, -1.0)])
def test_the_correlation_is_that_of_the_true_values_whatever_the_noise(slope, expected):
    for noise in (0.01, 0.05):
        estimate = correlation(invented(slope, noise))
        assert estimate.positions == POSITIONS and estimate.now == pytest.approx(0.05, rel=0.1)
        assert estimate.value == pytest.approx(expected, abs=0.1)
        assert estimate.low - 0.05 <= expected <= estimate.high + 0.05


def test_where_values_hardly_differ_there_is_no_correlation_to_tell():
    estimate = correlation(invented(1.0, spread=0.001))
    assert np.isnan(estimate.value) and estimate.now < 0.005


def test_actions_whose_record_is_hardly_seen_elsewhere_do_not_count():
    few = [Shared(**{**each_of(each), "count": 3 if each.action > 1 else 100}) for each in invented(1.0)]
    assert correlation(few) is None
    (line,) = [row for row in correlation_table(few).rows if row[1] == ACTION]
    assert line == ["Othello", ACTION, "0", "", "", "", ""]


def each_of(shared):
    return {name: getattr(shared, name) for name in Shared.__annotations__}


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(tmp_path, monkeypatch):
    path, row = tmp_path / "one.csv", Shared("othello", "", 0, 0, ACTION, 0, 0.5, 0.5, 100)
    write_values(path, Shared, [row])

    def full(_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_values(path, Shared, [row] * 2)
    assert read_values(path, Shared) == [row] and list(tmp_path.iterdir()) == [path]


def test_positions_of_kept_games_are_measured_and_kept(played, tmp_path, capsys):
    rows = list(measure_shared_values(played, positions=2, iterations=200, seed=1))
    assert {(each.game, each.position, each.half) for each in rows} == {
        ("othello", p, h) for p in (0, 1) for h in (0, 1)
    }
    assert all(0 <= each.now <= 1 and -1e-9 <= each.later <= 1 + 1e-9 and each.count > 0 for each in rows)
    assert {each.kind for each in rows} >= {ACTION} and {each.kind for each in rows} <= {ACTION, POSITION}
    write_values(tmp_path / "one.csv", Shared, rows)
    assert read_values(tmp_path / "one.csv", Shared) == rows
    (tmp_path / "two.csv").write_text("something else\n")
    with pytest.raises(Refusal, match="was not written by this command"):
        read_values(tmp_path / "two.csv", Shared)


def test_positions_in_a_game_of_ones_own_load_its_file(played, tmp_path, monkeypatch):
    monkeypatch.setattr(games, "GAMES", dict(games.GAMES))
    (file := tmp_path / "own.py").write_text(
        "import attrs\nfrom icarus import games\nMINE = attrs.evolve(games.load('othello'), name='mine')\n"
    )
    cell = next(cell for cell in small().cells if cell.is_opponent)
    rows = [row for row in store.rows(played, small()) if row["cell"] == cell.key]
    of_mine = attrs.evolve(cell, column=attrs.evolve(cell.column, game="mine"), module=str(file))
    ((state, _),) = positions_of(of_mine, rows, 1, random.Random(1))
    assert str(state.game) == "mine" and len(state.legal_actions()) > 1


def test_a_game_that_todays_rules_do_not_lead_through_is_refused(played, tmp_path):
    rows = [row for row in store.rows(played, small()) if row["agent"] == "Baseline"][:1]
    altered_row = json.loads(json.dumps(rows[0]))
    altered_row["actions"][3][1] = altered_row["actions"][0][1]  # a square that is taken
    keep_rows(tmp_path, small(), [altered_row])
    with pytest.raises(Refusal, match="was played by other rules than today's"):
        list(measure_shared_values(tmp_path, positions=1, iterations=100, seed=1))


def test_a_run_without_games_of_the_baseline_is_refused(tmp_path):
    keep_rows(tmp_path, small(), [])
    with pytest.raises(Refusal, match="no games of the baseline"):
        list(measure_shared_values(tmp_path, positions=1, iterations=100, seed=1))
