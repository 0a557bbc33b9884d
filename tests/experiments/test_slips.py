"""What people and disks do to runs: each slip is done on purpose, and gives the right result or one sentence."""

import gc
import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import matplotlib
import pytest

from experiments.plan import loading
from experiments.plan.definition import Refusal
from experiments.play import matches
from experiments.play.matches import Match
from experiments.play.running import Cluster
from experiments.store import rows as store
from experiments.store.results import results_of
from tests.conftest import child_process
from tests.experiments.conftest import Call, Command, a_row, keep, small


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    """A run of ten invented games."""
    experiment = small()
    return keep(tmp_path / "run", experiment, [a_row(experiment.cells[0], trial) for trial in range(10)])


def test_a_directory_with_brackets_in_its_name_is_itself(tmp_path: Path) -> None:
    experiment = small()
    keep(tmp_path / "run1", experiment, [a_row(experiment.cells[0], trial) for trial in range(3)])
    for name in ("run[1]", "run*", "run?", "run{1,2}", "it's"):
        keep(tmp_path / name, experiment, [a_row(experiment.cells[0], trial) for trial in range(7)])
        with results_of(tmp_path / name) as results:
            assert sum(tally.games for tally in results.tallies()) == 7, name
            assert results.origins().first


OWN = """
import attrs
from icarus import MAST, gibbs
sharp = attrs.evolve(MAST(gibbs(TAU)), name="sharp")
EXPERIMENT = {"games": "othello", "iterations": 20, "trials": 4, "agents": {"mine": "sharp"}}
"""


def test_a_run_is_not_continued_after_its_python_file_was_edited(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN.replace("TAU", "1.0"))
    first = loading.load(str(path), {})
    keep(tmp_path / "run", first, [a_row(first.cells[0], 0)])
    path.write_text(OWN.replace("TAU", "2.0"))
    second = loading.load(str(path), {})
    sources = {first.cells[0].source, second.cells[0].source}
    assert len(sources) == 2
    with pytest.raises(Refusal, match="was edited after the run") as refusal, store.writer(tmp_path / "run", second):
        pass
    assert all(source in str(refusal.value) for source in sources)
    game = Match(first.cells[0], 0, first.game_seed(first.cells[0], 0))
    with pytest.raises(Refusal, match="was edited") as refusal:  # while the run goes on
        matches.play_match(game)
    assert all(source in str(refusal.value) for source in sources)
    path.write_text(OWN.replace("TAU", "1.0"))
    with store.writer(tmp_path / "run", loading.load(str(path), {})) as writer:
        assert len(writer.done) == 1


def test_verify_compares_statistics_too(played: Path) -> None:
    experiment = store.experiment_in(played)
    row = next(iter(store.rows(played, experiment)))
    cell = next(cell for cell in experiment.cells if cell.key == row["cell"])
    game = Match(cell, row["trial"], tuple(row["seed"]))
    message, same = matches.compare_with_replay(row, game, experiment)
    assert same, message
    row["statistics"]["agent"]["depth"] += 1
    message, same = matches.compare_with_replay(row, game, experiment)
    assert not same
    assert "depth of its searches was" in message


@pytest.mark.slow
def test_verify_says_which_python_file_it_runs(tmp_path: Path, command: Command) -> None:
    (tmp_path / "own.py").write_text(OWN.replace("TAU", "1.0"))
    assert command("run", "own.py", "--trials", 1, "--workers", 1, "--out", "run").returncode == 0
    done = command("verify", "run", "--sample", 1)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"run uses a Python file, which is run now: {tmp_path / 'own.py'}\n"


def _packed(directory: Path) -> bytes:
    return gzip.compress((directory / store.RESULTS).read_bytes())


def test_of_two_files_of_games_none_is_deleted_unread(run_directory: Path) -> None:
    experiment = small()
    packed = run_directory / store.PACKED
    packed.write_bytes(_packed(run_directory))
    with store.writer(run_directory, experiment) as writer:  # the plain one holds all of the packed one
        assert len(writer.done) == 10
    assert not packed.exists()
    lines = (run_directory / store.RESULTS).read_bytes().splitlines(keepends=True)
    packed.write_bytes(gzip.compress(b"".join(reversed(lines))))
    before = packed.read_bytes()
    with (
        pytest.raises(store.Damage, match="has both results.jsonl and results.jsonl.gz"),
        store.writer(run_directory, experiment),
    ):
        pass
    assert packed.read_bytes() == before
    assert (run_directory / store.RESULTS).read_bytes() == b"".join(lines)


def test_a_status_at_the_same_moment_does_not_refuse_a_run(run_directory: Path) -> None:
    looking = f"import fcntl, os, sys; h = os.open({str(run_directory)!r}, os.O_RDONLY); fcntl.flock(h, fcntl.LOCK_SH)"
    looking += "; print('held', flush=True); sys.stdin.read()"
    with child_process([sys.executable, "-c", looking], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        threading.Timer(store.PATIENCE / 4, process.stdin.close).start()  # type: ignore[union-attr]
        with store.writer(run_directory, small()) as writer:
            assert len(writer.done) == 10


def _line(directory: Path, change: Callable[[dict[str, Any]], None] | str) -> None:
    """Change the third line of the games of a run."""
    path = directory / store.RESULTS
    lines = path.read_text().splitlines()
    row = json.loads(lines[2])
    del row["check"]
    if callable(change):
        change(row)
    lines[2] = change if isinstance(change, str) else json.dumps(row)
    path.write_text("".join(line + "\n" for line in lines))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.update(seconds=float("nan")), "not a JSON object"),
        (lambda row: row.update(seconds=1e308), "'seconds' is 1e+308"),
        (lambda row: row["statistics"]["agent"].update(depth=1e308), "'statistics' is"),
        (lambda row: row.update(reward=7.0), "'returns' is"),
        (lambda row: row.update(returns=[1e308, 0.0]), "'returns' is"),
        (lambda row: row.update(started="2020-13-45"), "'started' is '2020-13-45'"),
        (lambda row: row.update(started="yesterday"), "'started' is 'yesterday'"),
        pytest.param("[" * 100_000, "not a JSON object", id="deep"),
    ],
)
@pytest.mark.parametrize("name", ["status", "query"])
def test_a_row_that_makes_no_sense_is_told_with_its_line(
    run_directory: Path, call: Call, change: Any, message: str, name: str
) -> None:
    _line(run_directory, change)
    if isinstance(change, str):
        gc.collect()  # so that nothing that other tests have left open is found in the depth, where a warning cannot be told
    code, _, errors = call(name, run_directory, *(["SELECT count(*) FROM games"] if name == "query" else []))
    assert code in (1, 2) and errors.startswith("experiments: ") and errors.count("\n") == 1
    assert f"line 3: damaged ({message}" in errors


def test_a_packed_file_that_is_cut_short_is_told(run_directory: Path, call: Call) -> None:
    whole = _packed(run_directory)
    (run_directory / store.RESULTS).unlink()
    for size in (0, 5, len(whole) // 2, len(whole) - 4):
        (run_directory / store.PACKED).write_bytes(whole[:size])
        code, _, errors = call("status", run_directory)
        assert code in (1, 2) and errors.startswith("experiments: ") and errors.count("\n") == 1
        assert "results.jsonl.gz is damaged" in errors
        with pytest.raises(store.Damage), store.writer(run_directory, small()):
            pass
        assert (run_directory / store.PACKED).read_bytes() == whole[:size]


def test_commands_need_no_home(run_directory: Path, command: Command) -> None:
    fonts = {"MPLCONFIGDIR": matplotlib.get_cachedir()}  # Matplotlib would look through all fonts of the machine
    command.environment = {
        key: value for key, value in command.environment.items() if key not in ("HOME", "XDG_CACHE_HOME")
    } | fonts
    done = command("report", run_directory)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_games_of_other_seeds_have_other_names_on_a_cluster() -> None:
    names: list[str] = []

    class Client:
        def submit(self, function: Any, game: Any, key: str, pure: bool) -> None:
            names.append(key)

    cluster = Cluster("local", 1)
    cluster._client = Client()
    experiment = small()
    for seed in (0, 1):
        variant = attrs.evolve(experiment, seed=seed)
        for cell in variant.cells:
            for trial in range(3):
                cluster._submit(Match(cell, trial, variant.game_seed(cell, trial)))
    assert len(set(names)) == len(names) == 6 * len(experiment.cells)
