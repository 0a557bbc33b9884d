"""Commands with a file whose games are plain Python: what takes a game takes them, or says in a sentence why not."""

import json
import re
from pathlib import Path

import pytest

from icarus import Agent, PythonGame, games
from icarus import load_files as own_files
from icarus.commands.conversation import Conversation, Session
from icarus.load_files import load_file
from icarus.specs import BASELINE
from tests.commands.test_cli import Call, icarus, refused

OTHERS = """
import attrs
from icarus import games, in_python

KUHN = attrs.evolve(in_python(games.load("kuhn-poker")), name="plain-kuhn", seat_names=("Ann", "Bob"))
BOTH = attrs.evolve(in_python(games.load("othello")), name="both")
COMPILED = attrs.evolve(games.load("othello"), name="both")
"""
RACE = """
from icarus import PythonGame

def race(goal: int = 5) -> PythonGame:
    return PythonGame(
        name="race", players=2, parameters={"goal": goal}, defaults={"goal": 5},
        initial=lambda rng, goal: [0, 0, goal],
        player=lambda state: -4 if state[0] >= state[2] else state[1],
        legal=lambda state: [1, 2],
        apply=lambda state, action: state.__setitem__(slice(0, 2), [state[0] + action, 1 - state[1]]),
        rewards=lambda state: [float(state[1] == 1), float(state[1] == 0)],
    )
"""
__all__ = ["icarus"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(games, "GAMES", dict(games.GAMES))
    monkeypatch.setattr(own_files, "_own_games", set())
    monkeypatch.setattr(own_files, "_loaded", {})
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "plain.py"
    path.write_text(RACE + OTHERS)
    return path


def test_a_file_brings_games_in_plain_python_and_of_two_with_one_name_the_compiled(file: Path) -> None:
    load_file(file)
    kuhn, both = games.load("plain-kuhn"), games.load("both")
    assert isinstance(kuhn, PythonGame) and kuhn.seat_names == ("Ann", "Bob")
    assert not isinstance(both, PythonGame)
    assert str(games.load("race(goal=7)")) == "race(goal=7)" and games.load("race").parameters == {"goal": 5}
    with pytest.raises(ValueError, match="race has no parameter 'end'; it takes goal"):
        games.load("race(end=3)")


def test_a_position_is_searched_and_its_tree_written(file: Path, icarus: Call) -> None:
    code, output, _ = icarus("search", "plain-kuhn", "--with", file, "--iterations", 50, "--html", "tree.html")
    assert code == 0 and "plain-kuhn, Ann, BASELINE: 50 iterations" in output
    assert "plain-kuhn" in Path("tree.html").read_text()
    code, output, _ = icarus("search", "plain-kuhn", "--with", file, "--strategy", "OOS()", "--iterations", 50)
    assert code == 0 and "OOS(): 50 iterations" in output


def test_matches_are_played_and_policies_measured(file: Path, icarus: Call) -> None:
    code, output, _ = icarus(
        "match", "race(goal=7)", "BASELINE", "MAST", "--with", file, "--games", 2, "--iterations", 20
    )
    assert code == 0 and "MAST (20 iterations)" in output
    code, output, _ = icarus("exploitability", "plain-kuhn", "--with", file)
    assert code == 0 and "uniform choice: NashConv 0.916667" in output


def test_a_game_is_saved_and_resumed_with_the_names_of_its_seats(file: Path) -> None:
    load_file(file)
    session = Session(games.load("plain-kuhn"), [None, Agent(BASELINE, iterations=20)], 3)
    while session.waits_for is None:
        session.apply(*session.choose())
    session.apply(0)
    session.save(file.with_name("game.txt"))
    resumed = Session.resumed(file.with_name("game.txt"))
    assert resumed.game is session.game and resumed.played == session.played
    assert resumed.name_of(0) == "Ann"


def test_who_acts_hears_what_he_did_whatever_number_his_move_is_seen_by(file: Path) -> None:
    game = PythonGame(
        name="coded",
        players=2,
        initial=lambda rng: [],
        player=lambda state: -4 if len(state) == 2 else len(state),
        legal=lambda state: [0, 1],
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [0.5, 0.5],
        observe=lambda state, action: [action + 10, action + 10],
        determinize=lambda state, observer, beliefs, rng: list(state),
    )
    session = Session(game, [None, None])
    session.apply(1), session.apply(0)
    assert [session.view(0, index) for index in (0, 1)] == [True, False]


def test_a_report_describes_one_and_audits_it_first(file: Path, icarus: Call) -> None:
    file.write_text(RACE + "\nRACE = race()\n")
    arguments = [
        "describe",
        file,
        *["--rounds", "1", "--minutes", "1", "--iterations", "32", "--workers", "1", "--strategy", "MAST"],
    ]
    code, _, _ = icarus(*arguments)
    measures = json.loads((file.parent / "report-race" / "report.json").read_text())
    assert code == 0 and measures["audit"]["outcome"] == "passed" and measures["audit"]["checks"]["repeat"] == "passed"
    assert measures["course"]["random play"]["games"] == 5
    assert "MAST" in (file.parent / "report-race" / "report.html").read_text()
    file.write_text(RACE.replace("[float(state", "[2 * float(state") + "\nRACE = race()\n")
    code, output, _ = icarus("describe", file, "--to", "wrong")
    assert code == 1 and "The audit failed" in output and not Path("wrong", "games.jsonl").exists()


SAME_TEXT = """
from icarus import PythonGame

TREK = PythonGame(
    name="trek", players=2, initial=lambda rng: [], player=lambda state: -4 if len(state) == 3 else len(state) % 2,
    legal=lambda state: [0, 2, 3], apply=lambda state, action: state.append(action), rewards=lambda state: [0.5, 0.5],
    action_text=lambda state, action: "rest" if action > 1 else "go",
)
"""
TWO = "two legal actions are called 'rest' here (2 and 3); action_text of trek must tell them apart"


def test_a_text_of_two_legal_actions_is_refused_and_not_guessed(file: Path, icarus: Call) -> None:
    file.write_text(SAME_TEXT)
    assert refused(icarus("search", file, "--iterations", 5, "--moves", "rest")).startswith(TWO)
    code, output, errors = icarus("search", file, "--iterations", 5, "--moves", "go")
    assert code == 0, errors
    session = Session(games.load("trek"), [None, None])
    typed = Conversation(session, None)
    with pytest.raises(ValueError, match=re.escape(TWO)):
        typed.say("rest")
    typed.say("go"), typed.say("2")  # by its place in the list
    assert [played.action for played in session.played] == [0, 2]
    session.save(file.with_name("game.txt"))
    with pytest.raises(ValueError, match=re.escape(f"cannot be resumed: {TWO}")):
        Session.resumed(file.with_name("game.txt"))
