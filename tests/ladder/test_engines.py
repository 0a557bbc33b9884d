"""Engines in processes of their own: whoever dies, hangs or cheats costs one game, told in one sentence."""

import re
import sys
import time
from pathlib import Path

import pytest

from icarus import Agent, games, parse, play
from icarus.arena.player import RandomPlayer
from icarus.ladder.engines import ENGINES, Engine, EngineFailed, EnginePlayer, Process, engine_of
from icarus.ladder.ladders import play_game

OTHELLO = games.load("othello")
FAKE = str(Path(__file__).with_name("fake_engine.py"))


def fake(mode: str, *more: str, seconds: float = 60) -> EnginePlayer:
    return EnginePlayer(Engine(f"fake {mode}", "othello", (sys.executable, FAKE, mode, *more), seconds=seconds))


def test_an_engine_plays_whole_games_with_both_sides() -> None:
    engine = fake("good")
    for side in range(2):
        row = play_game(OTHELLO, RandomPlayer(), engine, seed=(1, 0), side=side)
        assert row["score"] == row["returns"][side]
        assert row["engines"] == {"fake good": ["Fake 1.0", f"{FAKE} good"]}
        assert (
            row["actions"][:4] == play_game(OTHELLO, RandomPlayer(), RandomPlayer(), seed=(1, 0), side=0)["actions"][:4]
        )
    engine.close()


def texts_after(actions: list[int]) -> list[str]:
    """What may be played after some actions."""
    state = OTHELLO.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return list(map(state.action_to_string, state.legal_actions()))


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("dies", "fake dies died at genmove; its last output: the table is on fire"),
        ("hangs", "fake hangs did not answer genmove within 5 s"),
        ("illegal", "fake illegal plays 'a9', which is not legal here; legal: "),
        ("refuses", "fake refuses refused genmove: cannot think"),
    ],
)
def test_a_game_whose_engine_fails_is_void_and_the_next_one_is_played(mode: str, sentence: str, tmp_path: Path) -> None:
    engine = fake(mode, str(tmp_path / "once"), seconds=5 if mode == "hangs" else 60)  # which a busy machine keeps to
    void = play_game(OTHELLO, RandomPlayer(), engine, seed=(1, 0), side=0)
    legal = ", ".join(texts_after(void["actions"])) if mode == "illegal" else ""
    assert void["void"] == sentence + legal
    assert "score" not in void
    assert play_game(OTHELLO, RandomPlayer(), engine, seed=(1, 0), side=1)["score"] in (0, 0.5, 1)
    engine.close()


def test_an_engine_that_is_missing_is_told_with_how_to_install_it() -> None:
    missing = Engine("nobody", "othello", ("/no/such/engine",), installation="build it")
    assert not missing.is_installed()
    assert not Engine("nobody", "othello", (sys.executable,), module="no_such_module").is_installed()
    with pytest.raises(
        EngineFailed, match=r"^nobody cannot be started: /no/such/engine: No such file or directory; build it$"
    ):
        missing.start()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("Welcome\n\n= Fake\n\n", "fake answered 'Welcome' to name; an answer begins with = or ?"),
        ("= Fake\n", "fake did not answer name within 5 s: '= Fake' came without the empty line that ends an answer"),
        ("= F" + "a" * 110_000, "fake answered name with more than 100,000 characters"),
    ],
)
def test_a_program_that_does_not_keep_to_the_protocol_is_told_how(output: str, sentence: str) -> None:
    program = f"import time; print({output!r}, end='', flush=True); time.sleep(60)"
    process = Process("fake", (sys.executable, "-c", program), 5.0)
    with pytest.raises(EngineFailed, match=re.escape(sentence)):
        process.ask("name")


def test_an_engine_that_drips_and_left_a_child_behind_is_ended_with_it() -> None:
    program = """import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
print("=", child.pid)
while True: print("thinking", flush=True); time.sleep(0.2)"""
    process, started = Process("fake", (sys.executable, "-c", program), 2.0), time.monotonic()
    with pytest.raises(EngineFailed, match="fake did not answer name within 2 s"):
        process.ask("name")
    assert time.monotonic() - started < 30


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="no engine of othello is called 'pubeval'; known: grhino depth 1,"):
        engine_of(OTHELLO, "pubeval")
    assert engine_of(OTHELLO, "mine", "edax -gtp -level 3").command == ("edax", "-gtp", "-level", "3")
    with pytest.raises(ValueError, match=r"no engine of othello is called ' '; known: grhino depth 1,.* 5000$"):
        engine_of(OTHELLO, " ", " ")


def test_a_program_that_speaks_gtp_is_refused_in_games_that_gtp_has_no_words_for() -> None:
    for name in ("backgammon", "hearts"):
        with pytest.raises(ValueError, match="programs that speak GTP play othello and checkers only"):
            engine_of(games.load(name), "edax -gtp", "edax -gtp")
    assert engine_of(games.load("checkers"), "mine", "mine -gtp").command == ("mine", "-gtp")


def test_an_engine_is_a_player_for_any_match() -> None:
    engine = fake("good")
    agents = [Agent(parse("BASELINE"), iterations=10), engine]
    log = play(OTHELLO, agents)
    assert log.agents == ("BASELINE (10 iterations)", "fake good")
    engine.close()


@pytest.mark.parametrize(
    "name",
    [
        *("grhino depth 1", "rust-reversi matrix 2", "py-draughts depth 1", "pubeval", "RLCard rules"),
        pytest.param("OpenSpiel ISMCTS 0.01 s", marks=pytest.mark.slow),
    ],
)
def test_an_installed_engine_plays_two_games_without_a_void_one(name: str) -> None:
    engine = ENGINES[name]
    if not engine.is_installed():
        pytest.skip(f"{name} is not installed: {engine.installation}")
    player = EnginePlayer(engine)
    game = games.load("hearts(threshold=20)" if engine.game == "hearts" else engine.game)
    rows = [play_game(game, RandomPlayer(), player, seed=(1, 0), side=side) for side in range(2)]
    player.close()
    assert not [row["void"] for row in rows if "void" in row]
