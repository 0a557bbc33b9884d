"""Workers: a process that dies is replaced, every task comes once, and failures are told in a sentence."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, Future
from pathlib import Path
from typing import Any

import pytest

from icarus.arena.workers import ALONE, GameFailed, Workers, workers


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with workers(2) as playing:
        yield playing


def squared(number: int) -> int:
    return number**2


def dying_once(task: tuple[str, int]) -> int:
    """Kills its process unless the file of the task is there; leaves the file."""
    path = Path(task[0])
    if task[1] == 3 and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task[1]


def failing(number: int) -> int:
    if number == 2:
        raise ValueError("it is two")
    return number


def killing(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_every_task_comes_once(two: Workers) -> None:
    assert list(ALONE.results(squared, range(5))) == [0, 1, 4, 9, 16]
    assert sorted(two.results(squared, range(5))) == [0, 1, 4, 9, 16]


def test_a_process_that_dies_is_replaced(two: Workers, tmp_path: Path) -> None:
    assert sorted(two.results(dying_once, [(str(tmp_path / "died"), i) for i in range(8)])) == list(range(8))


def test_a_task_that_fails_or_kills_is_named(two: Workers) -> None:
    with pytest.raises(GameFailed, match="2 failed: it is two"):
        list(two.results(failing, [1, 2]))
    with pytest.raises(GameFailed, match="3 processes died while playing 1"):
        list(two.results(killing, range(4)))


def test_a_cluster_that_has_gone_is_told() -> None:
    class Gone(Executor):
        def submit(self, function: Any, *arguments: Any, **options: Any) -> Future:
            future: Future = Future()
            future.set_exception(CancelledError())
            return future

    with pytest.raises(GameFailed, match="does not answer any more .* run the same command to continue"):
        list(Workers(1, Gone).results(squared, [1]))


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(
        "import os, signal, time\nfrom pathlib import Path\nfrom icarus.arena.workers import workers\n"
        "def note(path):\n    Path(path).write_text(str(os.getpid()))\n    time.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    with workers(2) as playing:\n        list(playing.results(note, [os.environ['NOTE']]))\n"
    )
    note = tmp_path / "child"
    parent = subprocess.Popen([sys.executable, str(program)], env={**os.environ, "NOTE": str(note)})
    while not (note.exists() and note.read_text()):
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    child = int(note.read_text())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()
