"""A tiny run that nothing disturbs, and what every disturbed one must come to: the same rows, or one sentence and nothing lost."""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

from experiments import results as store
from experiments.plan import loading
from experiments.plan.cells import Experiment
from experiments.run import run
from icarus.arena.workers import ALONE
from tests.conftest import environment

TRIALS, ITERATIONS = 4, 10
TYPED = (
    "figure5",
    "--games",
    "othello",
    "--trials",
    str(TRIALS),
    "--iterations",
    str(ITERATIONS),
    "--workers",
    "2",
)
TIMEOUT = 600  # seconds for one command on a busy machine
_CLOCKS = ("seconds", "started", "provenance")


class Wrong(Exception):
    """A fault that ended otherwise than it should."""


def play(experiment: Experiment, directory: Path) -> None:
    """Play what is missing, in this process."""
    for _ in run(experiment, directory, ALONE):
        pass


@attrs.define
class Bench:
    """Where faults are done.

    Attributes:
        folder: for the files of all runs.
        random: what draws the faults.
        experiment: what is played.
        whole: the undisturbed run.
        rows: its rows without clocks.
    """

    folder: Path
    random: random.Random
    experiment: Experiment
    whole: Path
    rows: dict[tuple[str, int], Any]
    _number: int = 0

    @classmethod
    def create(cls, folder: Path, seed: int) -> "Bench":
        """Play the undisturbed run."""
        experiment = loading.load(
            "figure5", {"games": ["othello"], "trials": TRIALS, "iterations": ITERATIONS}
        )
        play(experiment, folder / "whole")
        return cls(
            folder,
            random.Random(seed),
            experiment,
            folder / "whole",
            rows_of(folder / "whole", experiment),
        )

    def fresh(self) -> Path:
        """A directory that there is not yet."""
        self._number += 1
        return self.folder / f"run{self._number}"

    def copy(self) -> Path:
        """A copy of the undisturbed run."""
        return Path(shutil.copytree(self.whole, self.fresh()))

    def incomplete_copy(self) -> Path:
        """A copy of which some games are missing."""
        directory = self.copy()
        lines = (directory / store.RESULTS).read_bytes().splitlines(keepends=True)
        (directory / store.RESULTS).write_bytes(
            b"".join(lines[: self.random.randrange(len(lines) - 2, len(lines))])
        )
        return directory

    def resume(self, directory: Path) -> None:
        """Play what is missing, and compare."""
        play(self.experiment, directory)
        self.compare(directory)

    def compare(self, directory: Path) -> None:
        """
        Raises:
            Wrong: the run has other rows than the undisturbed one.
        """
        rows = rows_of(directory, self.experiment)
        if rows != self.rows:
            different = [game for game in self.rows if rows.get(game) != self.rows[game]]
            raise Wrong(
                f"{directory} has {len(rows)} rows for {len(self.rows)}; {len(different)} are not the undisturbed run's"
            )

    def refused(self, kind: type[Exception], work: Callable[[], object]) -> str:
        """What is told when work is refused; one sentence.

        Raises:
            Wrong: it was not refused, or told otherwise.
        """
        try:
            work()
        except kind as error:
            if not str(error) or "\n" in str(error):
                raise Wrong(f"told in other than one line: {error}") from None
            return str(error)
        raise Wrong(f"nothing was refused by {kind.__name__}")


def rows_of(directory: Path, experiment: Experiment) -> dict[tuple[str, int], Any]:
    """The rows of a run without clocks, with digests of actions, as packed rows have them."""
    rows = {}
    for row in store.rows(directory, experiment):
        row["actions"] = store.digest_of_actions(row["actions"])
        rows[row["cell"], row["trial"]] = timeless(row)
    return rows


def timeless(value):
    """A value without what clocks say."""
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if key not in _CLOCKS}
    return value


@contextlib.contextmanager
def command(*arguments: object, **options) -> Iterator[subprocess.Popen[str]]:
    """`python -m experiments` in a process group of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *map(str, arguments)],
        env=environment(),
        text=True,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        **options,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
        process.communicate()


def completed(bench: Bench, directory: Path) -> None:
    """The same command once more, undisturbed, and its rows."""
    with command("run", *TYPED, "--out", directory) as process:
        _, errors = process.communicate(timeout=TIMEOUT)
    if process.returncode != 0:
        raise Wrong(f"the same command did not continue: {errors}")
    bench.compare(directory)


def wait_for_work(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process has used so much of a processor, or has ended."""
    until = time.monotonic() + TIMEOUT
    while process.poll() is None and time.monotonic() < until:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") >= seconds:
            return
        time.sleep(0.01)


def wait_for_rows(process: subprocess.Popen[str], directory: Path, count: int) -> None:
    """Wait until so many rows are kept, or the process has ended."""
    until = time.monotonic() + TIMEOUT
    path = directory / store.RESULTS
    while process.poll() is None and time.monotonic() < until:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
