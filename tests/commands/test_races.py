"""`icarus describe`, `discover` and `ladder`: games that are kept and gone on with, and what they come to."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icarus.arena.ledger import Ledger
from icarus.arena.player import Entrant
from icarus.audit import AuditReport
from icarus.commands.cli import run
from icarus.commands.describe import (
    EVEN,
    LEVELS,
    Plan,
    course,
    levels,
    measures_of,
    page_of,
    report_row,
    seats,
)
from icarus.discovery.race import KEY, RaceGames
from icarus.engine.match import Agent
from icarus.games import load
from icarus.ladder import Engine
from icarus.ladder.ladders import RANDOM, ZERO, Ladder, Rating, Rung
from icarus.load_files import digest_of
from icarus.statistics import mean_of
from icarus.views.document import Table, html

COMMAND = "describe my_game.py --rounds {} --iterations 32 --strategy RAVE"


def report(rounds: int) -> int:
    return run(COMMAND.format(rounds).split())


def test_from_a_new_game_to_its_report_which_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["new", "my_game"]) == 0
    folder = tmp_path / "describe-my-game"
    assert report(1) == 0
    said, rows = capsys.readouterr().out, (folder / "games.jsonl").read_bytes()
    assert "Findings\n" in said
    assert "Audit\n  passed\n" in said
    with (folder / "games.jsonl").open("ab") as file:
        file.write(b'{"stream":"even')  # what is being written when a report is killed
    monkeypatch.setattr("icarus.commands.new.audit", None)  # the audit is kept too
    assert report(2) == 0
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    gone_on = (folder / "games.jsonl").read_bytes()
    assert gone_on.startswith(rows)
    assert gone_on.count(b"\n") == 2 * rows.count(b"\n")
    measures = json.loads((folder / "report.json").read_text())
    capsys.readouterr()
    assert measures["audit"]["outcome"] == "passed"
    assert measures["course"]["random play"]["games"] == "10"
    assert measures["strategies"][0]["score"]["count"] == 2  # deals
    assert not measures["levels"]
    assert "About 10 would do: --rounds 10" in measures["no_levels"]
    assert not (folder / "levels.json").exists()
    assert report(12) == 0
    measures = json.loads((folder / "report.json").read_text())
    capsys.readouterr()
    assert all(level["step"]["low"] > 0 for level in measures["levels"])
    iterations = [level["agent"]["iterations"] for level in measures["levels"]]
    assert {*iterations} <= {1, 2, 4, 8, 16, 32, 64, 128}
    assert iterations == sorted(iterations)
    assert json.loads((folder / "levels.json").read_text())["games"] == {
        "my-game": measures["levels"]
    }
    highest = len(iterations)
    assert (
        str(Agent.at_level(load("my-game"), highest, levels=folder))
        == f"BASELINE ({iterations[-1]} iterations)"
    )
    level = ["--level", str(highest), "--levels", "describe-my-game"]
    assert (
        run(["match", "my_game.py", "BASELINE", *level, "--games", "1", "--iterations", "2"]) == 0
    )
    assert f"BASELINE ({iterations[-1]} iterations)" in capsys.readouterr().out
    page = (folder / "report.html").read_text()
    assert not re.search(r"(src|href)=.(?!#|data:)|@import|url\((?!#)", page)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("icarus.commands.describe.Ledger.play", interrupt)
        (folder / "report.html").unlink()
        assert report(3) == 130  # and the page of what has been played is written
        said = capsys.readouterr()
        assert "stopped after" in said.err
        assert "Findings\n" in said.out
        assert (folder / "report.html").exists()
        assert run([*COMMAND.format(1).split(), "--to", "another"]) == 130  # before the first game
        assert "No game has been played yet." in Path("another/report.html").read_text()
        capsys.readouterr()

    source = (tmp_path / "my_game.py").read_text()
    (tmp_path / "my_game.py").write_text(source + "\n# other rules\n")
    assert report(2) == 2
    assert "another report: digest is" in capsys.readouterr().err
    contents = {path: path.read_bytes() for path in folder.iterdir()}
    (tmp_path / "my_game.py").write_text(source.replace("return ", "return 0 * ", 1))
    assert report(2) == 2  # also where the audit would fail, and its page would replace the report
    assert {path: path.read_bytes() for path in folder.iterdir()} == contents
    (tmp_path / "race").mkdir()
    (tmp_path / "race" / "games.jsonl").touch()
    assert run([*COMMAND.format(1).split(), "--to", "race"]) == 2
    assert "race has games of another command" in capsys.readouterr().err


def test_a_game_that_fails_the_audit_is_not_played(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run(["new", "my_game"])
    source = (tmp_path / "my_game.py").read_text()
    (tmp_path / "my_game.py").write_text(source.replace("= 1.0", "= 1.5"))
    assert report(1) == 1
    assert "FAILED: rewards" in capsys.readouterr().out
    assert "Nothing was played" in (tmp_path / "describe-my-game" / "report.html").read_text()
    assert not (tmp_path / "describe-my-game" / "games.jsonl").exists()


def test_the_course_of_games_counts_lengths_choices_draws_and_seats():
    won = {"returns": [0.0, 1.0], "length": 10, "choices": [2, 2, 2, 1, 2, 2, 2]}
    drawn = {"returns": [0.5, 0.5], "length": 4, "choices": [100, 1]}
    cells = course(load("othello"), [won, drawn])
    assert cells["actions"] == "7.0 ± 3.0, from 4 to 10"
    assert cells["decisions"] == "4.5"
    assert cells["choices of a decision"] == "12.7 in the mean, at most 100"
    assert cells["forced decisions"] == "22%"
    assert cells["size of the game tree, about"] == "10^2"
    assert cells["drawn games"].startswith("50% [")
    assert cells["mean reward of player 1"].startswith("0.750 [")
    assert cells["player 1 is first"].startswith("75% [")
    assert cells["mean reward of player 0"].startswith("0.250 [0.000, ")  # no reward is below


def test_findings_are_ordered_by_size_and_an_effect_of_nothing_is_none():
    """By hand: of 40 games seat 1 is first in 30; A scores .9 in 50 deals and B, 0 and 1 by turns, one half."""
    returns = np.array([[0.0, 1.0]] * 30 + [[1.0, 0.0]] * 10)
    scores = {"A": mean_of([1.0] * 45 + [0.0] * 5, 0.0), "B": mean_of([0.0, 1.0] * 20, 0.0)}
    strategies = [{"strategy": name, "score": score} for name, score in scores.items()]
    measures = {"levels": [], "plan": {"iterations": 128}, "course": {}, "strategies": strategies}
    measures["seats"] = seats(load("othello"), returns)
    report = AuditReport("othello", 1, 1, 1, True, (), 1.0)
    told, untold = (each for each in page_of(report, measures) if isinstance(each, Table))
    told_shares = [" ".join([who, share.split()[0], even]) for who, _, share, even, _ in told.rows]
    assert told_shares == ["A 90% 50%", "player 0 25% 50%", "player 1 75% 50%"]
    assert [row[0] for row in untold.rows] == ["B"]
    page = html("othello", list(page_of(report, measures)))
    assert "<details><summary>passed</summary>" in page  # the audit is folded away


def test_where_rewards_are_shared_nothing_is_said_of_levels():
    even, reason = levels(Plan("shared", (), "", 32, (), 0), [{"score": 0.5, "deal": 0}] * 60, 1.0)
    assert not even
    assert reason.startswith("All games were even, as where rewards are shared")


def test_a_report_of_few_games_does_not_say_that_there_were_none():
    measures = {"levels": [], "seats": {}, "strategies": [], "plan": {"iterations": 128}}
    report = AuditReport("othello", 1, 1, 1, True, (), 1.0)
    for played, said in ({}, "No game"), ({"random play": {"games": "4"}}, "Too few games"):
        _, findings, *_ = page_of(report, measures | {"course": played})
        assert findings.text.startswith(said)


PATIENCE = """
from icarus import PythonGame
from icarus.kernel import TERMINAL
PATIENCE = PythonGame(
    name="patience", players=1, initial=lambda rng: [], player=lambda state: 0 if len(state) < 3 else TERMINAL,
    legal=lambda state: [0, 1], apply=lambda state, action: state.append(action), rewards=lambda state: [sum(state) / 3],
)
"""


def test_two_who_are_compared_in_a_game_of_one_player_play_by_themselves(tmp_path):
    file = tmp_path / "patience.py"
    file.write_text(PATIENCE)
    plan = Plan("patience", (str(file),), digest_of(file), 20, ("MAST",), 1)
    best = Entrant("BASELINE", iterations=20)
    scores = {
        round(report_row(plan.match(LEVELS, best, Entrant(), deal))["score"], 2)
        for deal in range(6)
    }
    # three ones, and as many by luck
    assert scores <= {1.0, 0.75, 0.6, 0.5}
    assert len(scores) > 1
    rows = Ledger(None, KEY).play(
        [match for match in plan.round(0) if match.key[0] != LEVELS], report_row
    )
    measures = measures_of(plan, load("patience"), rows)
    assert "mean reward of player 0" in measures["course"][EVEN]
    assert "drawn games" not in measures["course"][EVEN]
    assert measures["strategies"][0]["score"].count == 1


# ------------------------------------------------------------------------------------------------------------------- races


SPACE = """
name = "two"
strategy = "BASELINE >> {simulation}"
[factors]
simulation = ["MAST", "NAST2", "LGRF"]
"""
RACE = "discover kuhn-poker --games 240 --iterations 4 --finalists 1 --space two.toml --to race"


def test_a_race_is_stopped_and_goes_on_to_its_result(tmp_path, capsys, monkeypatch):
    play = RaceGames.play

    def stop_after_two_batches(games: RaceGames, *arguments) -> list[Any]:
        if len(games.rows) > 30:
            raise KeyboardInterrupt
        return play(games, *arguments)

    monkeypatch.chdir(tmp_path)
    Path("two.toml").write_text(SPACE)
    with monkeypatch.context() as patch:
        patch.setattr(RaceGames, "play", stop_after_two_batches)
        assert run(RACE.split()) == 130
    said = capsys.readouterr().err
    assert "the games played are kept in race; run the same command to continue" in said
    assert re.search(
        r"^about \d+ minutes here; 0\.\d\d is the lead in mean reward that", said, re.M
    )
    rows = Path("race/games.jsonl").read_bytes()
    assert len(rows.splitlines()) > 30
    assert run(RACE.split()) == 0
    assert "Protocol" in capsys.readouterr().out
    assert Path("race/games.jsonl").read_bytes().startswith(rows)
    assert Path("race/result.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("line", [RACE, "describe kuhn-poker --to page"])
def test_who_stops_before_the_first_game_is_told_that_nothing_is_wrong(
    line, tmp_path, capsys, monkeypatch
):
    def stop(*arguments, **keywords) -> None:
        raise KeyboardInterrupt("search interrupted after 2 iterations")

    monkeypatch.chdir(tmp_path)
    Path("two.toml").write_text(SPACE)
    monkeypatch.setattr("icarus.discovery.discover.check_strategies", stop)
    monkeypatch.setattr("icarus.commands.describe.play", stop)
    assert run(line.split()) == 130
    assert capsys.readouterr().err.endswith(
        "stopped before the first game; the audit is kept; run the same command to continue\n"
    )


def test_a_game_of_ones_own_is_checked_before_it_is_raced(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stones = Path(__file__).with_name("stones.txt").read_text("utf-8")
    Path("stones.py").write_text(stones.replace('{"stones": (0, STONES)', '{"stones": (0, 5)'))
    Path("two.toml").write_text(SPACE)
    with monkeypatch.context() as patch:
        patch.setattr(
            "icarus.commands.discover.require_promises", lambda *_: pytest.fail("an audit")
        )
        assert run(RACE.replace("kuhn-poker --games 240", "stones.py --games 3").split()) == 2
    assert "a budget of 3 games proves nothing" in capsys.readouterr().err
    assert run(RACE.replace("kuhn-poker", "stones.py").split()) == 2
    assert "stones does not keep its promises" in capsys.readouterr().err
    assert not Path("race").exists()


# ------------------------------------------------------------------------------------------------------------------ ladders


@pytest.fixture
def short_ladder(monkeypatch):
    """A ladder of random play, one weak agent, and engines that are not installed."""
    monkeypatch.setattr(Engine, "is_installed", lambda engine: False)
    weak = Rung("weak", Rating(50, 20, 80), Entrant("BASELINE", iterations=2))
    engines = [Rung(f"grhino depth {depth}", Rating(500, 400, 600)) for depth in (1, 2)]
    ladder = Ladder("othello", (Rung(RANDOM, ZERO), weak, *engines))
    monkeypatch.setattr("icarus.commands.ladder.read_ladder", lambda game: ladder)


def test_a_strategy_is_rated_and_goes_on_from_its_rows(short_ladder, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    for games_so_far in ("2", "4"):
        command = f"ladder othello MAST --iterations 3 --rows {rows} --games {games_so_far}"
        assert run(command.split()) == 0
        assert len(rows.read_text().splitlines()) == int(games_so_far)
    printed = capsys.readouterr()
    assert "not installed: grhino depth 1, grhino depth 2; apt-get install grhino" in " ".join(
        printed.err.split()
    )
    last = printed.out.splitlines()[-1]
    assert last.startswith("MAST (3 iterations): ")
    assert "95 % interval" in last


def test_who_is_rated_reads_the_evaluation_and_has_rows_of_his_own(short_ladder, tmp_path):
    rows = tmp_path / "rows.jsonl"
    command = f"ladder othello BASELINE --cutoff 0 --iterations 9 --games 2 --rows {rows}".split()
    assert run(command) == 0
    assert run([*command, "--evaluation", "experiments/runs/learned/othello.npz"]) == 0
    own, _, learned, _ = map(json.loads, rows.read_text().splitlines())
    assert "evaluation" in learned["player"]
    assert learned["actions"] != own["actions"]


def test_an_engine_without_a_finished_game_has_no_rating(short_ladder, capsys):
    fake = Path(__file__).parents[1] / "ladder" / "fake_engine.py"
    assert (
        run(["ladder", "othello", "--engine", f"{sys.executable} {fake} illegal", "--games", "2"])
        == 1
    )
    output = capsys.readouterr()
    assert output.out.splitlines()[-1].endswith(
        "fake_engine.py illegal has no rating: no game was finished"
    )
    assert "Elo" not in output.out
    assert "void: " in output.err


def test_an_engine_ends_with_a_command_that_is_refused(tmp_path, monkeypatch, capsys):
    start, started = Engine.start, []

    def kept(engine: Engine) -> Any:
        started.append(start(engine))
        return started[-1]

    monkeypatch.setattr(Engine, "start", kept)
    fake = Path(__file__).parents[1] / "ladder" / "fake_engine.py"
    rows = tmp_path / "rows.jsonl"
    rows.write_text("{}\n")
    command = ["ladder", "othello", "--engine", f"{sys.executable} {fake} good"]
    assert run([*command, "--rows", str(rows)]) == 2
    assert "damaged" in capsys.readouterr().err
    assert [engine._child.poll() is None for engine in started] == [False]
