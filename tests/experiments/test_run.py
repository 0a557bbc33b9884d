"""Runs that are disturbed play the same games as runs that are not; files that have changed are told."""

import json
import os
import re
import resource
import signal
import sys
import time
from pathlib import Path

import attrs
import pytest

from experiments import results as store
from experiments.plan import definition, loading
from experiments.plan.definition import AgentSpec, Label, from_settings, imports_of
from experiments.run import Trial, compare_with_replay, part, play_trial, trials_of
from icarus import games as games_by_name
from icarus import load_files
from icarus.arena.workers import GameFailed, workers
from tests.experiments.conftest import SMALL, TIMEOUT, TRIALS, Command, games, play, small

TOTAL = 3 * TRIALS


def processes_below(process: int) -> set[int]:
    """The processes that a process started, and theirs."""
    descendants = set()
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            descendants |= {child} | processes_below(child)
    return descendants


def gone_soon(processes: set[int], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(Path(f"/proc/{process}").exists() and running(process) for process in processes):
            return True
        time.sleep(0.05)
    return False


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for_games(directory: Path, count: int) -> None:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        path = directory / store.RESULTS
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError(f"no {count} games within {TIMEOUT} seconds")


def disturbed(command, out: Path, signal_number: int, to_group: bool) -> tuple[int, str, set[int]]:
    """Start a run, send it a signal in the middle: (exit code, standard error, the processes it had started)."""
    with command.start("run", *SMALL, "--workers", 2, "--out", out) as process:
        wait_for_games(out, 5)
        children = processes_below(process.pid)
        (os.killpg if to_group else os.kill)(process.pid, signal_number)
        _, errors = process.communicate(timeout=TIMEOUT)
    return process.returncode, errors, children


def table(text: str) -> str:
    return text[: text.rindex("NAST")]


def test_a_run_killed_in_the_middle_is_completed_by_the_same_command(command, call, played, tmp_path):
    code, _, children = disturbed(command, tmp_path / "run", signal.SIGKILL, to_group=False)
    assert code == -signal.SIGKILL
    assert len(children) >= 2
    assert gone_soon(children)
    content = (tmp_path / "run" / store.RESULTS).read_bytes()
    whole = content[: content.rindex(b"\n") + 1]
    assert 5 <= whole.count(b"\n") < TOTAL
    code, again, _ = call("run", *SMALL, "--workers", 2, "--out", tmp_path / "run")
    assert code == 0
    assert (tmp_path / "run" / store.RESULTS).read_bytes().startswith(whole)
    assert games(tmp_path / "run") == games(played)
    code, undisturbed, _ = call("run", *SMALL, "--out", played)
    assert code == 0 and table(again) == table(undisturbed)


def test_ctrl_c_stops_at_once_keeps_what_is_finished_and_tells_how_to_go_on(command, call, played, tmp_path):
    code, errors, children = disturbed(command, tmp_path / "run", signal.SIGINT, to_group=True)
    assert code == 130
    assert "Traceback" not in errors
    count = len(games(tmp_path / "run"))
    assert (
        f"Stopped; {count} of {TOTAL} games are kept in {tmp_path / 'run'}. Run the same command to continue." in errors
    )
    assert gone_soon(children)
    assert call("run", *SMALL, "--workers", 1, "--out", tmp_path / "run")[0] == 0
    assert games(tmp_path / "run") == games(played)


def test_a_complete_run_is_not_played_again(call, played):
    before = (played / store.RESULTS).read_bytes()
    assert call("run", *SMALL, "--out", played)[0] == 0
    assert (played / store.RESULTS).read_bytes() == before


@pytest.mark.slow
def test_two_machines_divide_an_experiment_and_merge_it(command, played, tmp_path):
    for number in (1, 2):
        done = command("run", *SMALL, "--part", f"{number}/2", "--out", tmp_path / str(number))
        assert done.returncode == 0, done.stderr
        assert len(games(tmp_path / str(number))) == TOTAL / 2
    merged = command("merge", tmp_path / "both", tmp_path / "1", tmp_path / "2", tmp_path / "1")
    assert merged.stderr.startswith(f"{TOTAL} games added")
    assert games(tmp_path / "both") == games(played)


def test_the_parts_of_an_experiment_are_disjoint_and_complete():
    experiment = small()
    parts = [trials_of(experiment, part(f"{number}/3")) for number in (1, 2, 3)]
    assert sorted(trial.key for trials in parts for trial in trials) == sorted(
        trial.key for trial in trials_of(experiment)
    )


def test_a_run_on_a_full_disk_stops_with_one_sentence_and_continues(call, played, tmp_path):
    """No file may grow beyond some games."""
    room = sum(map(len, (played / store.RESULTS).read_bytes().splitlines(keepends=True)[:10])) + 100
    arguments = [*map(str, SMALL), "--workers", "1", "--out", str(tmp_path / "run")]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        code, _, errors = call("run", *arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 2 and 8 <= len(games(tmp_path / "run")) <= 12
    assert (
        errors.splitlines()[-1] == f"experiments: '{tmp_path / 'run' / store.RESULTS}' cannot be used: file too large"
    )
    assert call("run", *arguments)[0] == 0
    assert games(tmp_path / "run") == games(played)


def test_a_game_that_raises_an_error_stops_the_run_and_names_itself(tmp_path):
    experiment = small()
    cells = tuple(attrs.evolve(cell, spec=AgentSpec(Label(f"NOBODY{i}"))) for i, cell in enumerate(experiment.cells))
    with workers(2) as two, pytest.raises(GameFailed) as failed:
        play(attrs.evolve(experiment, cells=cells), tmp_path, two)
    message = str(failed.value)
    assert re.match(r"trial \d of \w+ \(NOBODY\d\) in othello, seed \(0, \d+, \d+, \d\) failed: ", message)
    assert "NOBODY" in message.partition("failed: ")[2] and "Traceback" not in message


@pytest.mark.slow
def test_a_cluster_of_which_processes_are_killed_plays_the_same_games(command, played, tmp_path):
    pytest.importorskip("distributed")
    arguments = ("run", *SMALL, "--cluster", "local", "--workers", 2, "--out", tmp_path / "run")
    with command.start(*arguments) as process:  # the coordinator is killed
        wait_for_games(tmp_path / "run", 5)
        children = processes_below(process.pid)
        process.kill()
        process.communicate(timeout=TIMEOUT)
    assert gone_soon(children, 30)
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert games(tmp_path / "run") == games(played)


def test_a_cluster_that_does_not_answer_is_refused(call, tmp_path):
    pytest.importorskip("distributed")
    code, _, errors = call("run", *SMALL, "--cluster", "tcp://127.0.0.1:9", "--out", tmp_path / "run")
    assert code == 2 and errors.startswith("experiments: no dask scheduler answers at 'tcp://127.0.0.1:9'")
    assert not (tmp_path / "run").exists()


# ----------------------------------------------------------------------------------------------- games played again


def test_verify_compares_statistics_too(played):
    experiment = store.experiment_in(played)
    kept = next(iter(store.rows(played, experiment)))
    cell = next(cell for cell in experiment.cells if cell.key == kept["cell"])
    trial = Trial(cell, kept["trial"], tuple(kept["seed"]))
    assert compare_with_replay(kept, trial, experiment)[1]
    kept["statistics"]["agent"]["depth"] += 1
    message, same = compare_with_replay(kept, trial, experiment)
    assert not same and "depth of its searches was" in message


# -------------------------------------------- what a Python file imports is digested with it: no two agents in one cell

EXPERIMENT = """
from icarus import BASELINE
from beside import TAU
EXPERIMENT = {"games": "othello", "iterations": 5, "trials": 1, "agents": ["BASELINE"]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A Python file that imports a file and a package, which import others; a process that has imported none of them."""
    (tmp_path / "own.py").write_text(EXPERIMENT + "def later():\n    import often.deep\n")
    (tmp_path / "beside.py").write_text("import json, numpy\nfrom further import TAU\n")
    (tmp_path / "further.py").write_text("TAU = 1.0\n")
    (tmp_path / "unused.py").write_text("TAU = 1.0\n")
    (tmp_path / "often").mkdir()
    (tmp_path / "often" / "__init__.py").write_text("from . import near\n")
    (tmp_path / "often" / "near.py").write_text("")
    (tmp_path / "often" / "deep.py").write_text("from .near import *\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(load_files, "_in_memory", {})
    monkeypatch.setattr(games_by_name, "GAMES", dict(games_by_name.GAMES))
    yield tmp_path
    for name in ("beside", "further", "often", "often.near", "often.deep"):
        sys.modules.pop(name, None)


def test_what_a_file_imports_is_found_wherever_it_stands_and_through_others(folder):
    digests = dict(imports_of(str(folder / "own.py")))
    assert list(digests) == ["beside.py", "further.py", "often/__init__.py", "often/deep.py", "often/near.py"]
    assert digests["further.py"] == definition.digest_of(folder / "further.py")


def test_a_file_that_imports_nothing_of_ones_own_is_kept_as_before(folder):
    (folder / "alone.py").write_text(
        "import math\nEXPERIMENT = {'games': 'othello', 'iterations': 5, 'agents': ['RAVE']}\n"
    )
    (cell,) = loading.load(str(folder / "alone.py"), {}).cells
    assert cell.imports == () and cell.source and "imports" not in cell.settings()


def test_settings_keep_what_the_imported_files_held(folder):
    experiment = loading.load(str(folder / "own.py"), {})
    assert from_settings(json.loads(json.dumps(experiment.settings()))) == experiment
    assert experiment.settings()["cells"][0]["imports"].keys() >= {"beside.py", "further.py"}


def test_a_run_is_refused_after_an_edit_of_a_file_that_its_file_imports(folder, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    play(loading.load(str(folder / "own.py"), {}), directory)
    before = definition.digest_of(folder / "further.py")
    (folder / "further.py").write_text("TAU = 0.001\n")
    load_files._in_memory.clear()  # another process
    now = definition.digest_of(folder / "further.py")
    message = f"{folder / 'further.py'} was edited after the run in {directory} had started: its digest is {now}, "
    message += f"in that run {before}"
    with pytest.raises(ValueError, match=re.escape(message)):
        play(loading.load(str(folder / "own.py"), {}), directory)


def test_a_match_is_refused_after_an_edit_and_names_the_file_and_both_digests(folder):
    (cell,) = loading.load(str(folder / "own.py"), {}).cells
    before = definition.digest_of(folder / "beside.py")
    (folder / "beside.py").write_text("TAU = 2.0\n")
    with pytest.raises(ValueError, match="beside.py was edited after this process had imported it; start the command"):
        play_trial(Trial(cell, 0, (1, 2)))
    load_files._in_memory.clear()
    now = definition.digest_of(folder / "beside.py")
    with pytest.raises(
        ValueError, match=f"beside.py was edited: its digest is {now}, in the games of this run {before}"
    ):
        play_trial(Trial(cell, 0, (1, 2)))


GAME = """
import attrs
from icarus import MAST, games
from further import TAU
MINE = attrs.evolve(games.load("kuhn-poker"), name="mine")
QUICK = attrs.evolve(MAST, name="QUICK")
"""
TOML = 'games = ["kuhn-poker", "game.py"]\niterations = 5\ntrials = 1\nagents = ["BASELINE >> QUICK"]\n'


def test_a_toml_file_names_the_file_of_a_game_which_is_digested(folder, call, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (folder / "game.py").write_text(GAME)
    (folder / "own.toml").write_text(TOML)
    code, _, errors = call("run", folder / "own.toml", "--workers", 1, "--out", "run")
    assert code == 0, errors
    cells = store.experiment_in(folder.parent / "run").cells
    assert [cell.column.game for cell in cells] == ["kuhn-poker", "mine"]
    for cell in cells:
        assert cell.module == str(folder / "game.py") and dict(cell.imports).keys() == {"further.py"}
        assert cell.source == definition.digest_of(folder / "game.py")
    assert call("verify", "run")[0] == 0
    (folder / "game.py").write_text(GAME + "# edited\n")
    done = Command(folder.parent)("verify", "run")
    assert done.returncode == 2 and f"{folder / 'game.py'} was edited: its digest is" in done.stderr


@pytest.mark.parametrize(
    ("games", "message"),
    [
        (
            '["game.py", "further.py"]',
            "games: game.py and further.py are two files; write the experiment as a .py file",
        ),
        (
            '"further.py"',
            "has no Game(…) or PythonGame(…); give a game that a function makes by its name, and write the",
        ),
        ('"none.py"', "none.py"),
    ],
)
def test_a_file_in_a_table_that_is_no_game_is_refused(folder, games, message):
    (folder / "own.toml").write_text(TOML.replace('["kuhn-poker", "game.py"]', games))
    with pytest.raises(ValueError, match=f"own.toml: .*{re.escape(message)}"):
        loading.load(str(folder / "own.toml"), {})


def test_verify_names_an_imported_file_that_was_edited(folder, call, monkeypatch):
    monkeypatch.chdir(folder)
    assert call("run", "own.py", "--workers", 1, "--out", "run")[0] == 0
    assert call("verify", "run")[0] == 0
    (folder / "further.py").write_text("TAU = 2.0\n")
    done = Command(folder)("verify", "run")
    assert done.returncode == 2 and f"{folder / 'further.py'} was edited: its digest is" in done.stderr
    (folder / "further.py").write_text("TAU = 1.0\n")
    assert Command(folder)("verify", "run").returncode == 0
