"""`icarus discover` from a terminal: a race that is found again, and refusals before the first game."""

from pathlib import Path
from typing import Any

import pytest

from icarus.commands.cli import run
from icarus.discovery.race import Games

SPACE = """
name = "two"
strategy = "BASELINE >> {simulation}"
[factors]
simulation = ["MAST", "NAST2", "LGRF"]
"""


def test_it_prints_the_result_and_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "two.toml").write_text(SPACE)
    command = f"discover kuhn-poker --games 460 --iterations 4 --finalists 2 --space {tmp_path / 'two.toml'} --to {tmp_path / 'race'}"
    assert run(command.split()) == 0
    first = capsys.readouterr().out
    rows = (tmp_path / "race" / "games.jsonl").read_bytes()
    assert "Protocol" in first and (tmp_path / "race" / "result.html").read_text().startswith("<!doctype html>")
    assert run(command.split()) == 0
    assert capsys.readouterr().out == first and (tmp_path / "race" / "games.jsonl").read_bytes() == rows


def test_a_race_that_is_stopped_says_that_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Games.play

    def stop_after_two_batches(games: Games, *arguments: Any) -> list[Any]:
        if len(games.rows) > 30:
            raise KeyboardInterrupt
        return play(games, *arguments)

    monkeypatch.setattr(Games, "play", stop_after_two_batches)
    command = f"discover kuhn-poker --games 3000 --iterations 4 --to {tmp_path / 'race'}"
    assert run(command.split()) == 130
    errors = capsys.readouterr().err
    assert f"the games played are kept in {tmp_path / 'race'}; run the same command to continue" in errors
    assert len((tmp_path / "race" / "games.jsonl").read_bytes().splitlines()) > 30


def test_a_game_of_ones_own_is_checked_before_it_is_raced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stones = Path(__file__).with_name("stones.txt").read_text("utf-8")
    stones = stones.replace('name="stones"', 'name="raced"')  # this process goes on knowing the game
    (tmp_path / "stones.py").write_text(stones.replace('{"stones": (0, STONES)', '{"stones": (0, 5)'))
    (tmp_path / "two.toml").write_text(SPACE)
    command = [
        "discover",
        "stones.py",
        "--games",
        "460",
        "--iterations",
        "4",
        "--finalists",
        "2",
        "--space",
        "two.toml",
        "--to",
        "race",
    ]
    assert run(command) == 2
    assert "raced does not keep its promises" in capsys.readouterr().err and not (tmp_path / "race").exists()
