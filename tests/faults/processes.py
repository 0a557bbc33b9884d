"""Faults of processes: kills of all kinds, no memory, two coordinators, edits while a run goes on, many starts at once."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from experiments import results as store
from tests.conftest import environment
from tests.faults.harness import (
    TIMEOUT,
    TYPED,
    Bench,
    Wrong,
    command,
    completed,
    rows_of,
    wait_for_rows,
    wait_for_work,
)

MEGABYTE = 1 << 20
WITHOUT_MEMORY = 120  # seconds for a command that may have little memory


def kill_run(bench: Bench) -> None:
    """The coordinator, or its whole group, gets a signal at any moment; the same command continues."""
    directory = bench.fresh()
    number = bench.random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    send = bench.random.choice([os.kill, os.killpg])
    with command("run", *TYPED, "--out", directory) as process:
        wait_for_rows(process, directory, bench.random.randrange(0, len(bench.rows)))
        with contextlib.suppress(ProcessLookupError):
            send(process.pid, number)
        _, errors = process.communicate(timeout=TIMEOUT)
    # Python itself tells of a process that was just being started by one that is no more.
    is_orphan = number is signal.SIGKILL and "pickle.load(from_parent)" in errors
    if errors.count("Traceback") > is_orphan:
        raise Wrong(f"after {number.name}: {errors}")
    completed(bench, directory)


def kill_worker(bench: Bench) -> None:
    """A process that plays is killed: its game is played again, and the run goes on by itself."""
    directory = bench.fresh()
    with command("run", *TYPED, "--out", directory) as process:
        wait_for_rows(process, directory, bench.random.randrange(1, len(bench.rows) - 1))
        for child in _children(process.pid)[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, errors = process.communicate(timeout=TIMEOUT)
    if process.returncode != 0:
        raise Wrong(f"a killed worker ended the run: {errors}")
    bench.compare(directory)


def _children(parent: int) -> list[int]:
    """The processes that play for a coordinator."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    fields = [line.split(None, 2) for line in listed.splitlines()]
    return [
        int(pid) for pid, above, args in fields if int(above) == parent and "spawn_main" in args
    ]


def run_twice(bench: Bench) -> None:
    """Two coordinators for one directory: one is refused in a sentence, or finds all done."""
    directory = bench.fresh()
    with (
        command("run", *TYPED, "--out", directory) as first,
        command("run", *TYPED, "--out", directory) as second,
    ):
        errors = [process.communicate(timeout=TIMEOUT)[1] for process in (first, second)]
    codes = sorted((first.returncode, second.returncode))
    if codes not in ([0, 0], [0, 2]) or any("Traceback" in text for text in errors):
        raise Wrong(f"exit codes {codes}: {errors}")
    bench.compare(directory)


def kill_scheduler(bench: Bench) -> None:
    """The scheduler of a dask cluster dies in the middle of a run: it ends in a sentence, and goes on without it."""
    directory, folder = bench.fresh(), bench.fresh()
    folder.mkdir()
    with (
        _dask("dask_scheduler", folder, "--port", "0") as scheduler,
        _dask("dask_worker", folder, "--nthreads", "1"),
    ):
        address = _address(folder)
        arguments = [*TYPED[: TYPED.index("--workers")], "--cluster", address, "--out", directory]
        with command("run", *arguments) as process:
            wait_for_rows(process, directory, 1)
            scheduler.kill()
            _, stderr = process.communicate(timeout=TIMEOUT)
    if process.returncode not in (0, 1) or "Traceback" in stderr:
        raise Wrong(f"it ended with {process.returncode}: {stderr}")
    sentences = [line for line in stderr.splitlines() if line.startswith("experiments: ")]
    if process.returncode == 1 and not any("scheduler" in line for line in sentences):
        raise Wrong(f"it was not told that the scheduler has gone: {stderr}")
    completed(bench, directory)


def kill_cluster_worker(bench: Bench) -> None:
    """One of two workers of a dask cluster is killed: its game is played again by the other, and the run goes on by itself."""
    directory, folder = bench.fresh(), bench.fresh()
    folder.mkdir()
    first_worker = _dask("dask_worker", folder, "--nthreads", "1", "--name", "one")
    second_worker = _dask("dask_worker", folder, "--nthreads", "1", "--name", "other")
    with _dask("dask_scheduler", folder, "--port", "0"), first_worker, second_worker:
        arguments = [
            *TYPED[: TYPED.index("--workers")],
            "--cluster",
            _address(folder),
            "--out",
            directory,
        ]
        with command("run", *arguments) as process:
            wait_for_rows(process, directory, bench.random.randrange(1, len(bench.rows) - 1))
            bench.random.choice([first_worker, second_worker]).kill()
            _, stderr = process.communicate(timeout=TIMEOUT)
    if process.returncode != 0 or "Traceback" in stderr:
        raise Wrong(f"a killed worker ended the run with {process.returncode}: {stderr}")
    bench.compare(directory)


def _dask(name: str, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """A scheduler or a worker, which find each other by a file."""
    call = [
        sys.executable,
        "-m",
        f"distributed.cli.{name}",
        "--scheduler-file",
        str(folder / "scheduler.json"),
    ]
    more = ["--no-nanny"] if name == "dask_worker" else []
    return _Ended(
        [*call, "--no-dashboard", *more, *arguments], env=environment(), stderr=subprocess.DEVNULL
    )


class _Ended(subprocess.Popen):
    """A process that ends with its block."""

    def __exit__(self, *raised: object) -> None:
        self.kill()
        super().__exit__(*raised)


def _address(folder: Path) -> str:
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads((folder / "scheduler.json").read_text())["address"])
        time.sleep(0.1)
    raise Wrong("no scheduler started")


def take_memory(bench: Bench) -> None:
    """The run may have so little memory; later there is enough. With some 150 MB OpenBLAS waits for ever while it is loaded: then it is
    killed."""
    directory, limit = bench.incomplete_copy(), bench.random.randrange(150, 1200) * MEGABYTE

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    with (
        command("run", *TYPED, "--out", directory, preexec_fn=limited) as process,
        contextlib.suppress(subprocess.TimeoutExpired),
    ):
        process.communicate(timeout=WITHOUT_MEMORY)
    completed(bench, directory)


OWN = """
import attrs
from icarus import MAST, gibbs
from beside import TAU
sharp = attrs.evolve(MAST(gibbs(TAU)), name="sharp")
EXPERIMENT = {"games": "othello", "iterations": 20, "trials": 12, "agents": {"mine": "sharp"}}
"""


def edit_while_running(bench: Bench) -> None:
    """The Python file of a run is edited, or one that it imports: the run ends in a sentence with both digests.

    When the edit is undone, the same command continues to equal rows.
    """
    folder = bench.fresh()
    folder.mkdir()
    path, beside, arguments = folder / "own.py", folder / "beside.py", ("--workers", 1, "--out")
    path.write_text(OWN)
    beside.write_text("TAU = 1.0\n")
    edited_file = bench.random.choice([path, beside])
    content = edited_file.read_text()
    with command("run", path, *arguments, folder / "whole", cwd=folder) as process:
        process.communicate(timeout=TIMEOUT)
    with command("run", path, *arguments, folder / "run", cwd=folder) as process:
        wait_for_rows(process, folder / "run", bench.random.randrange(1, 4))
        edited_file.write_text(content + "TAU = 2.0\n")
        _, stderr = process.communicate(timeout=TIMEOUT)
    edited = process.returncode
    with command("run", path, *arguments, folder / "run", cwd=folder) as process:
        _, again = process.communicate(timeout=TIMEOUT)
    if (
        process.returncode != 2
        or "was edited" not in again
        or (edited and "was edited" not in stderr)
    ):
        raise Wrong(f"the edit was not told: {stderr} {again}")
    edited_file.write_text(content)
    with command("run", path, *arguments, folder / "run", cwd=folder) as process:
        process.communicate(timeout=TIMEOUT)
    experiment = store.experiment_in(folder / "run")
    if process.returncode or rows_of(folder / "run", experiment) != rows_of(
        folder / "whole", experiment
    ):
        raise Wrong("after the edit was undone the rows are others")


def press_in_bunches(bench: Bench) -> None:
    """Bunches of Ctrl-C while searches run, allocate, compile and have threads: none hangs, none loses its result."""
    call = [
        sys.executable,
        "-m",
        "tests.compiler.test_interrupts",
        "100",
        str(bench.random.randrange(1 << 30)),
    ]
    done = subprocess.run(
        call, env=environment(), text=True, capture_output=True, timeout=TIMEOUT, check=False
    )
    if done.returncode:
        raise Wrong(f"it ended with {done.returncode}: {done.stderr}")
    lost = {
        kind: counts
        for kind, counts in json.loads(done.stdout.splitlines()[-1])["kept"].items()
        if len(set(counts)) > 1
    }
    if lost:
        raise Wrong(f"searches that kept their results, of all: {lost}")


def interrupt_compilation(bench: Bench) -> None:
    """Ctrl-C at any moment of a search whose machine code is still to be made: one sentence; the next search compiles the rest."""
    folder = bench.fresh()
    call = [sys.executable, "-m", "icarus", "search", "kuhn-poker", "--iterations", "10"]
    changed = environment(ICARUS_CACHE_DIR=str(folder))
    with subprocess.Popen(
        call, env=changed, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        wait_for_work(process, bench.random.uniform(1.0, 10.0))
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=TIMEOUT)[1]
    if (
        process.returncode not in (0, 130, -signal.SIGINT)
        or "Traceback" in stderr
        or "Exception ignored" in stderr
    ):
        raise Wrong(f"it ended with {process.returncode}: {stderr}")
    done = subprocess.run(
        call, env=changed, text=True, capture_output=True, timeout=TIMEOUT, check=False
    )
    if done.returncode:
        raise Wrong(f"the next search ended with {done.returncode}: {done.stderr}")


STARTING = """
from icarus.compiler.kernel import CompiledFunction
def triple(number):
    return 3 * number
print(CompiledFunction(triple, 1, "triple")(14))
"""


def start_eight(bench: Bench) -> None:
    """Eight processes compile the same for an empty cache at once."""
    folder = bench.fresh()
    results: list[subprocess.CompletedProcess[str]] = []

    def start() -> None:
        call = [sys.executable, "-c", STARTING]
        changed = environment(ICARUS_CACHE_DIR=str(folder))
        results.append(
            subprocess.run(
                call, env=changed, text=True, capture_output=True, timeout=TIMEOUT, check=False
            )
        )

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if [(done.returncode, done.stdout, done.stderr) for done in results] != [(0, "42\n", "")] * 8:
        raise Wrong(f"{[(done.returncode, done.stdout, done.stderr) for done in results]}")
    leftovers = [path.name for path in Path(folder).rglob("*.tmp")]
    if leftovers:
        raise Wrong(f"unfinished files are left: {leftovers}")


FAULTS: dict[Callable[[Bench], None], int] = {
    kill_run: 8,
    kill_worker: 4,
    run_twice: 2,
    kill_scheduler: 1,
    kill_cluster_worker: 1,
    take_memory: 4,
    edit_while_running: 6,
    press_in_bunches: 5,
    interrupt_compilation: 12,
    start_eight: 1,
}
