"""How long an experiment will take, from a few short games of each agent."""
import time
from collections.abc import Callable

import attrs

from experiments import playing
from experiments.definition import Cell, Column, Experiment
from experiments.playing import Game
from experiments.summary import title
from experiments.terminal import duration

SAMPLES = (25, 100)             # iterations per decision of the games that are timed
WARM_UP = 1                     # iterations of a game that is not timed: code is compiled or loaded meanwhile


@attrs.frozen
class Pace:
    """The time of a game of one agent: per game and, besides, per game and iteration."""

    fixed: float
    each: float

    def seconds(self, iterations: int) -> float:
        return self.fixed + self.each * iterations


def measured(experiment: Experiment, told: Callable[[str], None] = lambda text: None) -> dict[Cell, Pace]:
    """The pace of every cell with a budget in iterations; cells of different budgets only are measured once."""
    found: dict[tuple[str, tuple[int, ...], str, str], Pace] = {}
    columns = experiment.columns
    for number, column in enumerate(columns, 1):
        told(f"measuring {title(column, columns)} ({number} of {len(columns)}) …")
        for cell in (cell for cell in experiment.cells if cell.column == column and column.iterations is not None):
            kind = column.game, column.seats, column.opponent, cell.strategy
            if kind not in found:
                found[kind] = _pace(experiment, cell)
    return {cell: found[kind] for cell in experiment.cells
            if (kind := (cell.column.game, cell.column.seats, cell.column.opponent, cell.strategy)) in found}


def _pace(experiment: Experiment, cell: Cell) -> Pace:
    _timed(experiment, cell, WARM_UP)
    few, many = (_timed(experiment, cell, iterations) for iterations in SAMPLES)
    each = max(0.0, (many - few) / (SAMPLES[1] - SAMPLES[0]))
    return Pace(max(0.0, few - each * SAMPLES[0]), each)


def _timed(experiment: Experiment, cell: Cell, iterations: int) -> float:
    """The processor's seconds for trial 0 with another budget; the number of decisions is about the same with any."""
    shortened = attrs.evolve(cell, column=attrs.evolve(cell.column, iterations=iterations))
    start = time.process_time()                             # whatever else the machine is doing
    playing.record(Game(shortened, 0, experiment.game_seed(cell, 0)))
    return time.process_time() - start


def core_seconds(experiment: Experiment, paces: dict[Cell, Pace], iterations: int | None = None) -> dict[Column, float]:
    """The time of all games of a column on one processor.

    Args:
        iterations: another budget than the experiment's.
    """
    found = dict.fromkeys(experiment.columns, 0.0)
    for cell, pace in paces.items():
        budget = iterations if iterations is not None else cell.column.iterations
        assert budget is not None
        found[cell.column] += experiment.trials * pace.seconds(budget)
    return found


def told(experiment: Experiment, seconds: dict[Column, float], workers: int, iterations: int | str, trials: int) -> list[str]:
    """The estimate in words: a line for each column, and the sum."""
    total = sum(seconds.values())
    lines = [f"  {title(column, experiment.columns)}: {_hours(spent)}" for column, spent in seconds.items()]
    size = f"{len(experiment.cells)} cells of {trials} games, {iterations} iterations per decision"
    shared = f"{duration(total / workers)} with {workers} worker{'s' if workers > 1 else ''}"
    return [f"{experiment.name}, {size}: {_hours(total)} ({shared})", *lines]


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2g} core-hours" if seconds < 1e5 else f"{seconds / 3600:.0f} core-hours"
