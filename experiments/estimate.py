"""How long an experiment will take, from a few short games of each agent."""

import math
import time
from collections.abc import Callable

import attrs

from experiments.plan.definition import Cell, Column, Experiment, duration, title
from experiments.run import Trial, play_trial
from icarus.checks import count_text

Kind = tuple[str, tuple[int, ...], str, str, float, float | None]
SAMPLES = (25, 100)  # iterations per decision of the games that are timed
SCALES = (1, 10, 100)  # … as often, until the longer of the two can be measured
LONG_ENOUGH = 0.2  # seconds
WARM_UP = 1  # iterations of a game that is not timed: code is compiled or loaded meanwhile


@attrs.frozen
class Pace:
    """The time of a game of one agent: per game and, besides, per game and iteration."""

    fixed: float
    each: float

    def seconds(self, iterations: int) -> float:
        return self.fixed + self.each * iterations


def measure_paces(experiment: Experiment, log: Callable[[str], None] = lambda text: None) -> dict[Cell, Pace]:
    """The pace of every cell; cells of different budgets in iterations only are measured once."""
    paces: dict[Kind, Pace] = {}
    columns = experiment.columns
    for number, column in enumerate(columns, 1):
        log(f"measuring {title(column, columns)} ({number} of {len(columns)}) …")
        for cell in (cell for cell in experiment.cells if cell.column == column):
            kind = _kind(cell)
            if kind not in paces:
                paces[kind] = _pace(experiment, cell)
    return {cell: paces[_kind(cell)] for cell in experiment.cells}


def _kind(cell: Cell) -> Kind:
    """What cells have in common that differ in nothing but the iterations of all players together."""
    column = cell.column
    return column.game, column.seats, column.opponent.text, cell.spec.text, _share(cell), column.seconds


def _share(cell: Cell) -> float:
    """The agent's budget as a multiple of the opponents'."""
    if cell.own_iterations is None or cell.column.iterations is None:
        return 1.0
    return cell.own_iterations / cell.column.iterations


def _pace(experiment: Experiment, cell: Cell) -> Pace:
    if cell.column.seconds is not None:
        return Pace(cell.column.seconds * _decisions(experiment, cell), 0.0)
    fewest = _fewest(cell)
    _time_trial(experiment, cell, max(WARM_UP, fewest))
    for scale in SCALES:
        small, large = (scale * max(sample, sample // SAMPLES[0] * fewest) for sample in SAMPLES)
        few, many = (_time_trial(experiment, cell, iterations) for iterations in (small, large))
        if many >= LONG_ENOUGH:
            break
    each = max(0.0, (many - few) / (large - small))
    return Pace(max(0.0, few - each * small), each)


def _fewest(cell: Cell) -> int:
    """The smallest budget that gives every tree of both sides an iteration."""
    agent_trees, opponent_trees = (player.scheme.trees for player in (cell.spec, cell.column.opponent))
    return max(opponent_trees, math.ceil(agent_trees / _share(cell)))


def _time_trial(experiment: Experiment, cell: Cell, iterations: int) -> float:
    """The processor's seconds for trial 0 with another budget; the number of decisions is about the same with any."""
    trial = _shorten(experiment, cell, iterations)
    start = time.process_time()  # whatever else the machine is doing
    play_trial(trial)
    return time.process_time() - start


def _decisions(experiment: Experiment, cell: Cell) -> int:
    """How many decisions with a choice trial 0 has with a small budget."""
    result = play_trial(_shorten(experiment, cell, max(SAMPLES[0], _fewest(cell))))
    return sum(1 for decision in result.decisions if decision.legal > 1)


def _shorten(experiment: Experiment, cell: Cell, iterations: int) -> Trial:
    """Trial 0 with another budget."""
    shortened = attrs.evolve(cell, column=attrs.evolve(cell.column, iterations=iterations, seconds=None))
    if cell.own_iterations is not None:
        shortened = attrs.evolve(shortened, own_iterations=math.ceil(_share(cell) * iterations))
    return Trial(shortened, 0, experiment.game_seed(cell, 0))


def core_seconds(experiment: Experiment, paces: dict[Cell, Pace], iterations: int | None = None) -> dict[Column, float]:
    """The time of all games of a column on one processor.

    Args:
        iterations: another budget than the experiment's.
    """
    seconds = dict.fromkeys(experiment.columns, 0.0)
    for cell, pace in paces.items():
        seconds[cell.column] += experiment.trials * pace.seconds(iterations or cell.column.iterations or 0)
    return seconds


def describe(
    experiment: Experiment, seconds: dict[Column, float], workers: int, iterations: int | None = None
) -> list[str]:
    """The estimate in words: a line for each column, and the sum.

    Args:
        iterations: another budget than the experiment's.
    """
    total = sum(seconds.values())
    lines = [f"  {title(column, experiment.columns)}: {_hours(spent)}" for column, spent in seconds.items()]
    budgets = _budgets(experiment) if iterations is None else f"{iterations} iterations"
    size = f"{len(experiment.cells)} cells of {experiment.trials} games, {budgets} per decision"
    shared = f"{duration(total / workers)} with {count_text(workers, 'worker')}"
    return [f"{experiment.name}, {size}: {_hours(total)} ({shared})", *lines]


def _budgets(experiment: Experiment) -> str:
    if seconds := {column.seconds for column in experiment.columns if column.seconds}:
        return f"{', '.join(f'{each:g}' for each in sorted(seconds))} s"
    iterations = {column.iterations for column in experiment.columns if column.iterations}
    return f"{', '.join(map(str, sorted(iterations)))} iterations"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2g} core-hours" if seconds < 1e5 else f"{seconds / 3600:.0f} core-hours"
