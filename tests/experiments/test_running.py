"""Runs that are disturbed play the same games as runs that are not."""

import os
import resource
import signal
import time
from pathlib import Path

import pytest

from experiments.plan import loading
from experiments.plan.definition import AgentSpec, Label
from experiments.play.matches import Match
from experiments.play.running import MatchFailed, ProcessPool, games_left, part
from experiments.store import rows as store
from tests.experiments.conftest import SMALL, TIMEOUT, TRIALS, games, small, without_clocks

TOTAL = 3 * TRIALS
FEW = (*SMALL[:-3], 4, *SMALL[-2:])  # games of each agent
TIMED_GAMES, TIMED_ITERATIONS = 40, 8000


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


def test_the_game_of_a_worker_that_is_killed_is_played_again(played):
    experiment = small()
    matches = list(games_left(experiment, set()))
    with ProcessPool(2) as two:
        playing = two.play(matches)
        rows = [next(playing)]
        os.kill(two._workers[0].process.pid, signal.SIGKILL)
        rows += playing
    assert len(rows) == len(matches)
    assert {(row["cell"], row["trial"]): without_clocks(row) for row in rows} == games(played)


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
    parts = [games_left(experiment, set(), part(f"{number}/3")) for number in (1, 2, 3)]
    assert sorted((game.cell.key, game.trial) for games in parts for game in games) == sorted(
        (game.cell.key, game.trial) for game in games_left(experiment, set())
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
    assert code == 1
    count = len(games(tmp_path / "run"))
    assert 8 <= count <= 12
    last = errors.splitlines()[-1]
    assert last == (
        f"experiments: {tmp_path / 'run' / store.RESULTS} cannot take more games (File too large); {count} are kept; "
        "run the same command to continue"
    )
    assert "Traceback" not in errors
    assert call("run", *arguments)[0] == 0
    assert games(tmp_path / "run") == games(played)
    assert len(games(played)) == TOTAL


@pytest.mark.slow
def test_two_workers_play_nearly_twice_as_many_games_per_second_as_one():
    """For games of a second or more; on a machine that has two processors to itself."""
    experiment = loading.load("figure5", {"games": ["othello"], "trials": TIMED_GAMES, "iterations": TIMED_ITERATIONS})
    even = [
        Match(experiment.cells[0], trial, experiment.game_seed(experiment.cells[0], trial))
        for trial in range(TIMED_GAMES)
    ]
    rates = []
    for size in (1, 2):
        with ProcessPool(size) as pool_of_size:
            list(pool_of_size.play(even[: 2 * size]))  # the code is loaded meanwhile
            start = time.monotonic()
            rows = list(pool_of_size.play(even))
            rates.append(len(rows) / (time.monotonic() - start))
        assert sum(row["seconds"] for row in rows) / len(rows) >= 1
    print(f"\n{rates[0]:.3f} and {rates[1]:.3f} games per second: {rates[1] / rates[0]:.2f} times as many")
    assert rates[1] >= 1.85 * rates[0]


def test_a_game_that_raises_an_error_stops_the_run_and_names_itself():
    import attrs

    cell = attrs.evolve(small().cells[0], spec=AgentSpec(Label("NOBODY")))
    with ProcessPool(1) as workers, pytest.raises(MatchFailed) as failed:
        list(workers.play([Match(cell, 3, (1, 2))]))
    assert "trial 3 of Baseline (NOBODY) in othello, seed (1, 2) failed: " in str(failed.value)
    assert "NOBODY" in str(failed.value).partition("failed: ")[2] and "Traceback" not in str(failed.value)


def test_a_game_over_which_processes_die_again_and_again_is_given_up(monkeypatch):
    class Dying:
        def __init__(self):
            self.connection, self.match = object(), None

        def give(self, match):
            self.match = match

        def answer(self):
            return None

        def end(self):
            pass

    monkeypatch.setattr("experiments.play.running.Worker", Dying)
    monkeypatch.setattr("experiments.play.running.wait", list)
    with (
        ProcessPool(1) as workers,
        pytest.raises(MatchFailed, match="3 processes died while playing trial 0 of Baseline"),
    ):
        list(workers.play([next(games_left(small(), set()))]))


@pytest.mark.slow
def test_a_cluster_of_which_processes_are_killed_plays_the_same_games(command, played, tmp_path):
    pytest.importorskip("distributed")
    arguments = ("run", *SMALL, "--cluster", "local", "--workers", 2, "--out", tmp_path / "run")
    with command.start(*arguments) as process:  # the coordinator is killed …
        wait_for_games(tmp_path / "run", 5)
        children = processes_below(process.pid)
        process.kill()
        process.communicate(timeout=TIMEOUT)
    assert gone_soon(children, 30)
    with command.start(*arguments) as process:  # … and of the next run a worker
        wait_for_games(tmp_path / "run", 20)
        os.kill(worker_of_cluster(process.pid), signal.SIGKILL)
        _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, errors
    assert games(tmp_path / "run") == games(played)


@pytest.mark.slow
def test_two_runs_at_once_on_one_scheduler_keep_their_games_apart(command, call, played, tmp_path):
    """They differ in nothing but the seed."""
    distributed = pytest.importorskip("distributed")
    runs = {seed: ("run", *FEW, "--seed", seed, "--out", tmp_path / str(seed)) for seed in (0, 1)}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        started = [command.start(*run, "--cluster", cluster.scheduler_address) for run in runs.values()]
        for process in started:
            with process:
                _, errors = process.communicate(timeout=TIMEOUT)
            assert process.returncode == 0, errors
    first, second = games(tmp_path / "0"), games(tmp_path / "1")
    assert first == {game: row for game, row in games(played).items() if game in first}
    assert not any(first[game] == second[game] for game in first)
    assert call("verify", tmp_path / "1", "--sample", 3)[0] == 0


def worker_of_cluster(process: int) -> int:
    """One of the processes that play: each is the only child of a supervisor, or one of several of the coordinator."""
    workers = [
        child for child in processes_below(process) if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    assert workers
    return max(workers)


def test_a_cluster_that_does_not_answer_is_refused(command, tmp_path):
    pytest.importorskip("distributed")
    done = command("run", *SMALL, "--cluster", "tcp://127.0.0.1:9", "--out", tmp_path / "run")
    assert done.returncode == 2
    assert done.stderr.startswith("experiments: no dask scheduler answers at 'tcp://127.0.0.1:9'")
    assert not (tmp_path / "run").exists()
