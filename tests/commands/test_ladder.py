"""`icarus ladder` and `--level`: ratings, what is refused, and rows that go on."""

import json
import sys
from pathlib import Path

import pytest

from icarus.commands.cli import run
from icarus.ladder import Engine, ladders
from icarus.ladder.ladders import RANDOM, ZERO, Ladder, Rating, Rung


@pytest.fixture
def short_ladder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ladder of random play and one weak agent."""
    monkeypatch.setattr(ladders, "DATA", tmp_path)
    weak = {"strategy": "BASELINE", "iterations": 2}
    Ladder("othello", (Rung(RANDOM, ZERO), Rung("weak", Rating(50, 20, 80), weak))).write(tmp_path / "othello.json")


def test_a_strategy_is_rated_and_goes_on_from_its_rows(
    short_ladder: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    command = ["ladder", "othello", "MAST", "--iterations", "3", "--rows", str(rows)]
    assert run([*command, "--games", "2"]) == 0
    assert run([*command, "--games", "4"]) == 0
    assert len(rows.read_text().splitlines()) == 4
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("MAST (3 iterations): ") and "95 % interval" in last


def test_an_engine_without_a_finished_game_has_no_rating(
    short_ladder: None, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Path(__file__).parents[1] / "ladder" / "fake_engine.py"
    assert run(["ladder", "othello", "--engine", f"{sys.executable} {fake} illegal", "--games", "2"]) == 1
    output = capsys.readouterr()
    assert output.out.splitlines()[-1].endswith("fake_engine.py illegal has no rating: no game was finished")
    assert "Elo" not in output.out and "void: " in output.err


def test_absent_opponents_are_told_once_for_each_way_to_install_them(
    short_ladder: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "is_installed", lambda engine: False)
    engines = [Rung(f"grhino depth {depth}", Rating(500, 400, 600)) for depth in (1, 2)]
    Ladder("othello", (Rung(RANDOM, ZERO), *engines)).write(ladders.DATA / "othello.json")
    assert run(["ladder", "othello", "MAST", "--iterations", "2", "--games", "2"]) == 0
    notes = " ".join(capsys.readouterr().err.split())
    assert "not installed: grhino depth 1, grhino depth 2; apt-get install grhino" in notes


def test_levels_of_a_report_are_taken_with_a_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"agent": {"strategy": "MAST", "iterations": level}} for level in range(1, 9)]
    (tmp_path / "levels.json").write_text(json.dumps({"games": {"kuhn-poker": rows}}))
    match = ["match", "kuhn-poker", "BASELINE", "--games", "1", "--iterations", "2"]
    assert run([*match, "--level", "5", "--levels", str(tmp_path)]) == 0
    assert "MAST (5 iterations)" in capsys.readouterr().out
