"""Mean rewards of one player against another, with their 95 % intervals."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from experiments.analysis.document import Table
from experiments.analysis.statistics import NINETY_FIVE, Estimate
from experiments.store.measurements import Measurement


def mean_reward(rewards: Sequence[float]) -> Estimate:
    """The mean of rewards, 1 for a win and 1/2 for a draw, with the interval of the normal approximation."""
    values = np.asarray(rewards, float)
    mean, half = float(values.mean()), math.nan
    if len(values) > 1:
        half = float(NINETY_FIVE * values.std(ddof=1) / math.sqrt(len(values)))
    return Estimate(mean, mean - half, mean + half)


def share_text(estimate: Estimate) -> str:
    """A share in percent with half of its interval."""
    return f"{100 * estimate.value:.1f} ± {100 * estimate.half:.1f} %"


def budget_text(iterations: int, times: int) -> str:
    """The iterations of a player, and those of his opponent where he has more."""
    return f"{iterations:,}" if times == 1 else f"{iterations:,} and {iterations * times:,}"


Pair = tuple[str, str, str, int, int]  # game, one player, the other, iterations, how many times as many the other has


def pairs(rows: Iterable[Measurement]) -> dict[Pair, tuple[list[float], list[float]]]:
    """The rewards of the one player of each pair, where he sat first and where he sat second."""
    rewards: dict[Pair, tuple[list[float], list[float]]] = {}
    for row in rows:
        pair = row["game"], row["one"], row["other"], row["iterations"], row.get("times", 1)
        first, second = rewards.setdefault(pair, ([], []))
        first += row["first"]
        second += row["second"]
    return rewards


def head_to_head_table(rows: Iterable[Measurement]) -> Table:
    """A row for each pair and budget: the share of the one player in either seat and in both."""
    body = tuple(
        (
            game,
            player,
            opponent,
            budget_text(iterations, times),
            str(len(first) + len(second)),
            *(share_text(mean_reward(rewards)) for rewards in (first, second, first + second)),
        )
        for (game, player, opponent, iterations, times), (first, second) in pairs(rows).items()
    )
    header = ("game", "player", "against", "iterations", "games", "sitting first", "sitting second", "both")
    return Table("share of the points, a draw counting half; 95 % intervals", header, body)
