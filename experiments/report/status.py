"""How far a run is and when it will end, as its files tell it."""

import datetime

from experiments.plan.definition import Experiment
from experiments.plan.titles import duration, title
from experiments.store.results import Results
from experiments.store.summary import MILLION, Tally

RECENT = 200  # games from whose ends the pace is taken
PAUSE = 10  # so many mean game times without any game ending: the run was stopped in between

Ending = tuple[datetime.datetime, float]  # when a game ended, and how many seconds it took


def without_checksum(games: int) -> str:
    """What is said of games that cannot be checked."""
    return f"{games} games have no checksum, because they are older than the checksums"


def state_of(results: Results, running: bool, now: datetime.datetime | None = None) -> str:
    """A few lines: games done, by column; time left and the hour of the end."""
    now = now or datetime.datetime.now(datetime.UTC)
    experiment, tallies = results.runs[0].experiment, results.tallies()
    done, total = sum(tally.games for tally in tallies), experiment.trials * len(experiment.cells)
    state = "running" if running else "not running"
    lines = [f"{experiment.name}: {done} of {total} games ({100 * done / total:.1f} %), {state}"]
    for column in experiment.columns:
        cells = [tally for tally in tallies if tally.cell.column == column]
        column_games = sum(tally.games for tally in cells)
        lines.append(f"  {title(column, experiment.columns)}: {column_games} of {experiment.trials * len(cells)}")
    if results.unchecked:
        lines.append(without_checksum(results.unchecked))
    if done == total:
        return "\n".join([*lines, "complete"])
    if not (remaining := _seconds_left(experiment, tallies, _recent(results))):
        return "\n".join([*lines, "the pace is not known yet"])
    if running:
        end = (now + datetime.timedelta(seconds=remaining)).astimezone()
        return "\n".join([*lines, f"{duration(remaining)} left; ends about {end:%Y-%m-%d %H:%M}"])
    return "\n".join([*lines, f"{duration(remaining)} left at its last pace; run the same command to continue"])


def _recent(results: Results) -> list[Ending]:
    recent = results.select("SELECT started, seconds FROM games ORDER BY started DESC LIMIT ?", RECENT)
    spans = [(datetime.datetime.fromisoformat(started), millionths / MILLION) for started, millionths in recent]
    return sorted((start + datetime.timedelta(seconds=seconds), seconds) for start, seconds in spans)


def _seconds_left(experiment: Experiment, tallies: list[Tally], recent: list[Ending]) -> float | None:
    """The work left (each cell's games at that cell's mean time) over the number of games that were played side by side."""
    side_by_side = _side_by_side(recent)
    if not side_by_side:
        return None
    mean = sum(tally.seconds for tally in tallies) / sum(tally.games for tally in tallies)
    work = sum(
        (experiment.trials - tally.games) * (tally.seconds / tally.games if tally.games else mean) for tally in tallies
    )
    return work / side_by_side


def _side_by_side(ends: list[Ending]) -> float | None:
    """How many games were being played at once, on average, since the last pause."""
    if len(ends) < 2:
        return None
    longest = PAUSE * sum(seconds for _, seconds in ends) / len(ends) + 1
    first = max((i for i in range(1, len(ends)) if (ends[i][0] - ends[i - 1][0]).total_seconds() > longest), default=0)
    recent = ends[first:]
    span = (recent[-1][0] - recent[0][0]).total_seconds()
    return sum(seconds for _, seconds in recent[1:]) / span if span > 0 else None
