"""What the results come to: for each cell its wins, its games and what its searches were like."""

import math
from collections.abc import Iterable, Mapping

import attrs

from experiments.plan.definition import Cell, Column

STATISTICS = ("visits", "value", "depth", "iterations")
MILLION = 10**6
DRAW = 0.5  # what a drawn game of two counts in scores


@attrs.frozen
class Moments:
    """What is needed of numbers for their mean and its error, exactly.

    Attributes:
        count: how many there are.
        total, squares: their sum and the sum of their squares, in millionths and millionths of millionths.
    """

    count: int = 0
    total: int = 0
    squares: int = 0

    @property
    def mean(self) -> float | None:
        return self.total / self.count / MILLION if self.count else None

    @property
    def error(self) -> float | None:
        """The standard error of the mean."""
        if self.count < 2:
            return None
        spread = self.count * self.squares - self.total**2
        return math.sqrt(max(spread, 0) / (self.count**2 * (self.count - 1))) / MILLION


@attrs.define
class Tally:
    """The results of one cell.

    Attributes:
        draws: drawn games; there are none where more than two play.
        millionths: the time its games took, added up, in millionths of a second.
        moments: for each of `STATISTICS` those of the agent's means, over its games.
        due: the games of the cell's first interim analysis; 0 where there is none.
        rewards: the moments of the agent's rewards.
        is_graded: whether somebody got another reward than that of a win, a draw of two, or a loss, in a game that is not one of
            section 8: what counts is then the mean reward, not the wins.
    """

    cell: Cell
    games: int = 0
    wins: int = 0
    draws: int = 0
    millionths: int = 0
    moments: dict[str, Moments] = attrs.field(factory=lambda: dict.fromkeys(STATISTICS, Moments()))
    due: int = 0
    rewards: Moments = Moments()
    is_graded: bool = False

    @property
    def seconds(self) -> float:
        return self.millionths / MILLION

    @property
    def rate(self) -> float | None:
        return self.wins / self.games if self.games else None

    @property
    def score(self) -> float | None:
        """The mean of its games, a draw counting one half."""
        return (self.wins + DRAW * self.draws) / self.games if self.games else None


Columns = dict[Column, list[Tally]]
Outcomes = Mapping[tuple[str, int], float]  # what counts of each game, by cell key and trial


def blank(cells: Iterable[Cell]) -> list[Tally]:
    """Tallies before any game."""
    return [Tally(cell) for cell in cells]


def any_graded(column: Iterable[Tally]) -> bool:
    """Whether the agents of a column are compared by their mean rewards."""
    return any(tally.is_graded for tally in column)


def baseline(column: list[Tally]) -> Tally | None:
    """The agent that is an opponent itself: the measure of evenly matched players."""
    return next((tally for tally in column if tally.cell.is_opponent and tally.games), None)
