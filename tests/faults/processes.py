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

from experiments.store import rows as store
from tests.conftest import environment
from tests.faults.harness import TIMEOUT, TYPED, Bench, Wrong, command, completed, rows_of, wait_for_rows

MEGABYTE = 1 << 20
WITHOUT_MEMORY = 120  # seconds for a command that may have little memory


def kill_run(bench: Bench) -> None:
    """The coordinator, or its whole group, gets a signal at any moment; the same command continues."""
    directory, number = (
        bench.fresh(),
        bench.random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]),
    )
    send = bench.random.choice([os.kill, os.killpg])
    with command("run", *TYPED, "--out", directory) as process:
        wait_for_rows(process, directory, bench.random.randrange(0, len(bench.rows)))
        with contextlib.suppress(ProcessLookupError):
            send(process.pid, number)
        _, errors = process.communicate(timeout=TIMEOUT)
    if "Traceback" in errors:
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
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    fields = [line.split(None, 2) for line in listed.splitlines()]
    return [int(pid) for pid, above, args in fields if int(above) == parent and "spawn_main" in args]


def run_twice(bench: Bench) -> None:
    """Two coordinators for one directory: one is refused in a sentence, or finds all done."""
    directory = bench.fresh()
    with command("run", *TYPED, "--out", directory) as one, command("run", *TYPED, "--out", directory) as two:
        told = [process.communicate(timeout=TIMEOUT)[1] for process in (one, two)]
    codes = sorted((one.returncode, two.returncode))
    if codes not in ([0, 0], [0, 2]) or any("Traceback" in text for text in told):
        raise Wrong(f"exit codes {codes}: {told}")
    bench.compare(directory)


def kill_scheduler(bench: Bench) -> None:
    """The scheduler of a dask cluster dies in the middle of a run: it ends in a sentence, and goes on without it."""
    directory, folder = bench.fresh(), bench.fresh()
    folder.mkdir()
    with _dask("dask_scheduler", folder, "--port", "0") as scheduler, _dask("dask_worker", folder, "--nthreads", "1"):
        address = _address(folder)
        arguments = [*TYPED[: TYPED.index("--workers")], "--cluster", address, "--out", directory]
        with command("run", *arguments) as process:
            wait_for_rows(process, directory, 1)
            scheduler.kill()
            _, told = process.communicate(timeout=TIMEOUT)
    if process.returncode not in (0, 1) or "Traceback" in told:
        raise Wrong(f"it ended with {process.returncode}: {told}")
    sentences = [line for line in told.splitlines() if line.startswith("experiments: ")]
    if process.returncode == 1 and not any("scheduler" in line for line in sentences):
        raise Wrong(f"it was not told that the scheduler has gone: {told}")
    completed(bench, directory)


def kill_cluster_worker(bench: Bench) -> None:
    """One of two workers of a dask cluster is killed: its game is played again by the other, and the run goes on by itself."""
    directory, folder = bench.fresh(), bench.fresh()
    folder.mkdir()
    one = _dask("dask_worker", folder, "--nthreads", "1", "--name", "one")
    other = _dask("dask_worker", folder, "--nthreads", "1", "--name", "other")
    with _dask("dask_scheduler", folder, "--port", "0"), one, other:
        arguments = [*TYPED[: TYPED.index("--workers")], "--cluster", _address(folder), "--out", directory]
        with command("run", *arguments) as process:
            wait_for_rows(process, directory, bench.random.randrange(1, len(bench.rows) - 1))
            bench.random.choice([one, other]).kill()
            _, told = process.communicate(timeout=TIMEOUT)
    if process.returncode != 0 or "Traceback" in told:
        raise Wrong(f"a killed worker ended the run with {process.returncode}: {told}")
    bench.compare(directory)


def _dask(name: str, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """A scheduler or a worker, which find each other by a file."""
    call = [sys.executable, "-m", f"distributed.cli.{name}", "--scheduler-file", str(folder / "scheduler.json")]
    more = ["--no-nanny"] if name == "dask_worker" else []
    return _Ended([*call, "--no-dashboard", *more, *arguments], env=environment(), stderr=subprocess.DEVNULL)


class _Ended(subprocess.Popen):  # type: ignore[type-arg]
    """A process that ends with its block."""

    def __exit__(self, *raised: object) -> None:
        self.kill()
        super().__exit__(*raised)  # type: ignore[arg-type]


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
    directory, limit = bench.begun(), bench.random.randrange(150, 1200) * MEGABYTE

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
from icarus import gibbs, mast
sharp = attrs.evolve(mast(gibbs(TAU)), name="sharp")
EXPERIMENT = {"games": "othello", "iterations": 20, "trials": 12, "agents": {"mine": "sharp"}}
"""


def edit_while_running(bench: Bench) -> None:
    """The Python file of a run is edited: it ends in a sentence with both digests; undone, the same command continues to equal rows."""
    folder = bench.fresh()
    folder.mkdir()
    path, arguments = folder / "own.py", ("--workers", 1, "--out")
    path.write_text(OWN.replace("TAU", "1.0"))
    with command("run", path, *arguments, folder / "whole") as process:
        process.communicate(timeout=TIMEOUT)
    with command("run", path, *arguments, folder / "run") as process:
        wait_for_rows(process, folder / "run", bench.random.randrange(1, 4))
        path.write_text(OWN.replace("TAU", "2.0"))
        _, told = process.communicate(timeout=TIMEOUT)
    edited = process.returncode
    with command("run", path, *arguments, folder / "run") as process:
        _, again = process.communicate(timeout=TIMEOUT)
    if process.returncode != 2 or "was edited" not in again or (edited and "was edited" not in told):
        raise Wrong(f"the edit was not told: {told} {again}")
    path.write_text(OWN.replace("TAU", "1.0"))
    with command("run", path, *arguments, folder / "run") as process:
        process.communicate(timeout=TIMEOUT)
    experiment = store.experiment_in(folder / "run")
    if process.returncode or rows_of(folder / "run", experiment) != rows_of(folder / "whole", experiment):
        raise Wrong("after the edit was undone the rows are others")


STARTING = """
from icarus.compiler.kernels.kernel import Kernel
def triple(number):
    return 3 * number
print(Kernel(triple, 1, "triple")(14))
"""


def start_eight(bench: Bench) -> None:
    """Eight processes compile the same for an empty cache at once."""
    folder = bench.fresh()
    results: list[subprocess.CompletedProcess[str]] = []

    def start() -> None:
        call = [sys.executable, "-c", STARTING]
        changed = environment(ICARUS_CACHE_DIR=str(folder))
        results.append(subprocess.run(call, env=changed, text=True, capture_output=True, timeout=TIMEOUT, check=False))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if [(done.returncode, done.stdout, done.stderr) for done in results] != [(0, "42\n", "")] * 8:
        raise Wrong(f"{[(done.returncode, done.stdout, done.stderr) for done in results]}")
    left = [path.name for path in Path(folder).rglob("*.tmp")]
    if left:
        raise Wrong(f"unfinished files are left: {left}")


FAULTS: dict[Callable[[Bench], None], int] = {
    kill_run: 8,
    kill_worker: 4,
    run_twice: 2,
    kill_scheduler: 1,
    kill_cluster_worker: 1,
    take_memory: 4,
    edit_while_running: 1,
    start_eight: 1,
}
