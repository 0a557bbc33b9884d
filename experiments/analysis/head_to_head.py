"""Mean rewards of one player against another, with their 95 % intervals."""

import math
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from experiments.analysis.statistics import Estimate, constant_reward, student_mean
from experiments.store.measurements import Measurement
from icarus.views.document import Table

ROUNDING = 1e-9  # of shared points: below it there is no difference
INTERVALS = "95 % intervals by Student's t, where all are alike by Clopper and Pearson's bound"


def mean_reward(rewards: Sequence[float]) -> Estimate:
    """The mean of rewards from 0 to 1, 1 for a win and 1/2 for a draw, with Student's interval, or see `constant_reward`."""
    if np.ptp(rewards) > ROUNDING:
        return student_mean(rewards)
    return constant_reward(float(np.mean(rewards)), len(rewards))


def share_text(estimate: Estimate) -> str:
    """A share in percent with its interval."""
    return f"{interval_text(Estimate(*(100 * each for each in attrs.astuple(estimate))), 1)} %"


def interval_text(estimate: Estimate, digits: int) -> str:
    """A number with half of its interval, or with both ends where it reaches further to one side."""
    value, low, high = (f"{each:.{digits}f}" for each in attrs.astuple(estimate))
    if math.isclose(estimate.half, estimate.value - estimate.low, abs_tol=ROUNDING):
        return f"{value} ± {estimate.half:.{digits}f}"
    return f"{value} ({low} to {high})"


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
    return Table(f"share of the points, a draw counting half; {INTERVALS}", header, body)
