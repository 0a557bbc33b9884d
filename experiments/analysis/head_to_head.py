"""What games of one player against another come to: mean rewards, with their 95 % intervals."""

import math
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from experiments.analysis.document import Table
from experiments.analysis.statistics import NINETY_FIVE
from experiments.store.measurements import Measurement


@attrs.frozen
class Share:
    """The mean reward of a player, 1 for a win and 1/2 for a draw.

    Attributes:
        games: played.
        mean: of the rewards.
        half: of the 95 % interval around it.
    """

    games: int
    mean: float
    half: float

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} ± {100 * self.half:.1f} %"


def share_of(rewards: Sequence[float]) -> Share:
    """The mean of rewards, with the interval of the normal approximation."""
    values = np.asarray(rewards, float)
    half = NINETY_FIVE * values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Share(len(values), float(values.mean()), float(half))


Pair = tuple[str, str, str, int]  # game, one player, the other, iterations


def pairs(rows: Iterable[Measurement]) -> dict[Pair, tuple[list[float], list[float]]]:
    """The rewards of the one player of each pair, where he sat first and where he sat second."""
    found: dict[Pair, tuple[list[float], list[float]]] = {}
    for row in rows:
        first, second = found.setdefault((row["game"], row["one"], row["other"], row["iterations"]), ([], []))
        first += row["first"]
        second += row["second"]
    return found


def head_to_head_table(rows: Iterable[Measurement]) -> Table:
    """A row for each pair and budget: the share of the one player in either seat and in both."""
    body = tuple(
        (
            game,
            one,
            other,
            f"{iterations:,}",
            str(len(first) + len(second)),
            *map(str, map(share_of, (first, second, first + second))),
        )
        for (game, one, other, iterations), (first, second) in pairs(rows).items()
    )
    header = ("game", "player", "against", "iterations", "games", "sitting first", "sitting second", "both")
    return Table("share of the points, a draw counting half; 95 % intervals", header, body)
