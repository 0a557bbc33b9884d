"""What people see while games are played: how many, how fast, and the time left."""

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from experiments.plan.titles import duration

PAGE_WIDTH = 140  # characters, where the output is a file
LOG_SECONDS = 30.0  # between two lines of progress, where the output is a file
PACE_SECONDS = 3600.0  # the rate is that of at most the last hour


def console(stderr: bool = False) -> Console:
    """Standard output or standard error; wide enough for a table where it is not a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream, width=None if stream.isatty() else PAGE_WIDTH, highlight=False, markup=False, emoji=False
    )


def rate(games_per_second: float) -> str:
    """How fast games are played, in the unit that suits."""
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if games_per_second * seconds >= 1 or unit == "h":
            return f"{games_per_second * seconds:.1f} games/{unit}"
    raise AssertionError


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(rate(task.speed) if task.speed else "")


class ProgressBar:
    """Games done, their rate and the time left: a bar on a terminal, now and then a line elsewhere. A context manager."""

    def __init__(self, name: str, done: int, total: int) -> None:
        self._console = console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games"),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=self._console,
            speed_estimate_period=PACE_SECONDS,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(name, total=total, completed=done)
        self._done, self._total, self._before = done, total, done
        self._start = self._logged = time.monotonic()

    def __enter__(self) -> "ProgressBar":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def advance(self) -> None:
        """One game more."""
        self._done += 1
        self._bar.advance(self._task)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._logged >= LOG_SECONDS:
            self._logged, pace = now, (self._done - self._before) / (now - self._start)
            remaining = duration((self._total - self._done) / pace)
            self._console.print(f"{self._done} of {self._total} games, {rate(pace)}, {remaining} left")
