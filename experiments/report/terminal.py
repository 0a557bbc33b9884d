"""What people see while and after experiments run: progress, tables, durations."""

import sys
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from experiments.plan.definition import Column
from experiments.plan.titles import budget, duration, title
from experiments.store.summary import Tally, baseline
from experiments.weigh.statistics import clopper_pearson

PAGE_WIDTH = 140  # characters, where the output is a file
LOG_SECONDS = 30.0  # between two lines of progress, where the output is a file
PACE_SECONDS = 3600.0  # the rate is that of at most the last hour


def console(stderr: bool = False) -> Console:
    """Standard output or standard error; wide enough for a table where it is not a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else PAGE_WIDTH, highlight=False)


def rate(games_per_second: float) -> str:
    """How fast games are played, in the unit that suits."""
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if games_per_second * seconds >= 1 or unit == "h":
            return f"{games_per_second * seconds:.1f} games/{unit}"
    raise AssertionError


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(rate(task.speed) if task.speed else "")


class Meter:
    """Games done, their rate and the time left: a bar on a terminal, now and then a line elsewhere. A context manager."""

    def __init__(self, name: str, done: int, total: int) -> None:
        self._console = console(stderr=True)
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
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

    def __enter__(self) -> "Meter":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self) -> None:
        """One game more."""
        self._done += 1
        self._bar.advance(self._task)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._logged >= LOG_SECONDS:
            self._logged, pace = now, (self._done - self._before) / (now - self._start)
            left = duration((self._total - self._done) / pace)
            self._console.print(f"{self._done} of {self._total} games, {rate(pace)}, {left} left")


def results_table(column: Column, tallies: list[Tally], among: list[Column]) -> Table:
    """The wins of a column's agents; the last but one column compares with evenly matched players (Figure 4's band).

    Where games were drawn, a column counts them, and the value after it takes each for half a win.
    """
    name, against, drawn = (
        title(column, among),
        f", against {column.opponent.caption}",
        any(tally.draws for tally in tallies),
    )
    table = Table(
        title=f"{name.removesuffix(against)}: {budget(column)} per decision{against}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        title_style="bold",
    )
    draws = ("Draws", "Value") if drawn else ()
    for heading in ("Agent", "Wins", "Games", "Win rate", "95 % interval", *draws, "Band", "Strategy"):
        table.add_column(
            heading,
            justify="left" if heading in ("Agent", "Strategy", "Band") else "right",
            no_wrap=heading != "Strategy",
        )
    for tally in tallies:
        table.add_row(
            Text(tally.cell.agent),
            str(tally.wins),
            str(tally.games),
            *rate_texts(tally),
            *(draw_texts(tally) * drawn),
            band(tally, baseline(tallies)),
            Text(tally.cell.player.caption),
        )
    return table


def plain_table(names: Sequence[str], found: Iterable[Sequence[Any]], caption: str | None = None) -> Table:
    """The answer to a query, or a table of a document."""
    table = Table(*names, box=box.SIMPLE_HEAD, title=caption, title_justify="left", title_style="bold")
    for row in found:
        texts = ("" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row)
        table.add_row(*map(Text, texts))
    return table


def rate_texts(tally: Tally) -> tuple[str, str]:
    """Win rate and interval as texts, in percent."""
    if tally.rate is None:
        return "", ""
    low, high = clopper_pearson(tally.wins, tally.games)
    return f"{100 * tally.rate:.1f} %", f"{100 * low:.1f} - {100 * high:.1f} %"


def draw_texts(tally: Tally) -> list[str]:
    """How many games were drawn, and the win rate with a draw as half a win."""
    return [str(tally.draws), "" if tally.value is None else f"{100 * tally.value:.1f} %"]


def band(tally: Tally, even: Tally | None) -> str:
    """Where a win rate lies against the interval of evenly matched players: "above", "below" or nothing."""
    if even is None or tally.rate is None:
        return ""
    low, high = clopper_pearson(even.wins, even.games)
    return "above" if tally.rate > high else "below" if tally.rate < low else ""
