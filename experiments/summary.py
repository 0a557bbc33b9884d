"""What the results come to: for each cell its wins, its games and what its searches were like."""
from collections.abc import Iterable

import attrs

from experiments.definition import Cell, Column, Experiment
from experiments.statistics import clopper_pearson
from experiments.store import Row

STATISTICS = ("visits", "value", "depth", "iterations")
NAMES = {"dou-di-zhu": "Dou Di Zhu", "lotr-confrontation": "LOTR:C"}       # where the paper writes more than a capital


@attrs.define
class Tally:
    """The results of one cell.

    Attributes:
        seconds: the time its games took, added up.
        totals: for each of `STATISTICS` the sum over games of the agent's mean, and the number of games that have one.
    """

    cell: Cell
    games: int = 0
    wins: int = 0
    seconds: float = 0.0
    totals: dict[str, tuple[float, int]] = attrs.field(factory=lambda: dict.fromkeys(STATISTICS, (0.0, 0)))

    def add(self, row: Row) -> None:
        self.games += 1
        self.wins += row["win"]
        self.seconds += row["seconds"]
        for name in STATISTICS:
            value = row["statistics"]["agent"].get(name)
            if value is not None:
                total, count = self.totals[name]
                self.totals[name] = total + value, count + 1

    def mean(self, name: str) -> float | None:
        total, count = self.totals[name]
        return total / count if count else None

    @property
    def rate(self) -> float | None:
        return self.wins / self.games if self.games else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Clopper-Pearson interval of the win rate."""
        return clopper_pearson(self.wins, self.games)


def tallies(experiment: Experiment, rows: Iterable[Row]) -> dict[Column, list[Tally]]:
    """The results by column, the agents in the experiment's order."""
    by_key = {cell.key: Tally(cell) for cell in experiment.cells}
    for row in rows:
        by_key[row["cell"]].add(row)
    columns: dict[Column, list[Tally]] = {column: [] for column in experiment.columns}
    for tally in by_key.values():
        columns[tally.cell.column].append(tally)
    return columns


def baseline(column: list[Tally]) -> Tally | None:
    """The agent that is an opponent itself: the measure of evenly matched players."""
    return next((tally for tally in column if tally.cell.strategy == tally.cell.column.opponent and tally.games), None)


def title(column: Column, among: Iterable[Column] = ()) -> str:
    """A column's name: the game, the role, and whatever else its fellows differ in."""
    name = column.game.partition("(")[0]
    text = NAMES.get(name) or name.replace("-", " ").title()
    text += "".join(f" ({part})" for part in (column.variant, column.role) if part)
    fellows = list(among)
    if len({(fellow.iterations, fellow.seconds) for fellow in fellows}) > 1:
        text += f", {budget(column)}"
    if len({fellow.opponent for fellow in fellows}) > 1:
        text += f", against {column.opponent}"
    return text


def budget(column: Column) -> str:
    """What a decision may cost, in words."""
    if column.iterations is not None:
        return f"{column.iterations} iteration{'s' if column.iterations > 1 else ''}"
    return f"{column.seconds:g} s"


def slug(text: str) -> str:
    """A title as part of a file's name."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())
