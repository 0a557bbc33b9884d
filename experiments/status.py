"""How far a run is and when it will end, as its files tell it."""
import datetime
from collections import Counter, deque
from collections.abc import Iterable

from experiments.definition import Experiment
from experiments.store import Row
from experiments.summary import title
from experiments.terminal import duration

RECENT = 200                    # games from whose ends the pace is taken
PAUSE = 10                      # so many mean game times without any game ending: the run was stopped in between


def state_of(experiment: Experiment, rows: Iterable[Row], running: bool, now: datetime.datetime | None = None) -> str:
    """A few lines: games done, by column; time left and the hour of the end."""
    now = now or datetime.datetime.now(datetime.UTC)
    column_of = {cell.key: cell.column for cell in experiment.cells}
    done, spent = Counter[str](), Counter[str]()
    recent: deque[tuple[datetime.datetime, float]] = deque(maxlen=RECENT)
    for row in rows:
        done[row["cell"]] += 1
        spent[row["cell"]] += row["seconds"]
        start = datetime.datetime.fromisoformat(row["started"])
        recent.append((start + datetime.timedelta(seconds=row["seconds"]), row["seconds"]))
    total = experiment.trials * len(experiment.cells)
    lines = [f"{experiment.name}: {done.total()} of {total} games ({100 * done.total() / total:.1f} %), " +
             ("running" if running else "not running")]
    for column in experiment.columns:
        cells = [key for key, its_column in column_of.items() if its_column == column]
        played = sum(done[key] for key in cells)
        lines.append(f"  {title(column, experiment.columns)}: {played} of {experiment.trials * len(cells)}")
    if done.total() == total:
        return "\n".join([*lines, "complete"])
    if not (left := _seconds_left(experiment, done, spent, list(recent))):
        return "\n".join([*lines, "no pace yet"])
    if running:
        end = (now + datetime.timedelta(seconds=left)).astimezone()
        return "\n".join([*lines, f"{duration(left)} left; ends about {end:%Y-%m-%d %H:%M}"])
    return "\n".join([*lines, f"{duration(left)} left at its last pace; the same command continues"])


def _seconds_left(experiment: Experiment, done: Counter[str], spent: Counter[str],
                  recent: list[tuple[datetime.datetime, float]]) -> float | None:
    """The work left (each cell's games at that cell's mean time) over the number of games that were played side by side."""
    side_by_side = _side_by_side(recent)
    if not side_by_side:
        return None
    mean = spent.total() / done.total()
    work = sum((experiment.trials - done[cell.key]) * (spent[cell.key] / done[cell.key] if done[cell.key] else mean)
               for cell in experiment.cells)
    return work / side_by_side


def _side_by_side(recent: list[tuple[datetime.datetime, float]]) -> float | None:
    """How many games were being played at once, on average, since the last pause."""
    ends = sorted(recent)
    if len(ends) < 2:
        return None
    longest = PAUSE * sum(seconds for _, seconds in ends) / len(ends) + 1
    first = max((i for i in range(1, len(ends)) if (ends[i][0] - ends[i - 1][0]).total_seconds() > longest), default=0)
    played = ends[first:]
    span = (played[-1][0] - played[0][0]).total_seconds()
    return sum(seconds for _, seconds in played[1:]) / span if span > 0 else None
