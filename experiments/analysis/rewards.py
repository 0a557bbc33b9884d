"""What agents are compared by: the share of games won, or where rewards are graded, such as points or money, the mean reward."""

from collections.abc import Sequence

from experiments.analysis.statistics import (
    Estimate,
    clopper_pearson,
    constant_reward,
    fisher_p_value,
    holm,
    student,
    welch_p_value,
)
from experiments.store.summary import Moments, Tally, any_graded, baseline


def mean_of(rewards: Moments) -> Estimate:
    """The mean of rewards, one at least, with Student's interval as far as rewards reach, or see `constant_reward`."""
    assert rewards.mean is not None
    if not rewards.error:
        return constant_reward(rewards.mean, rewards.count)
    estimate = student(rewards.mean, rewards.error, rewards.count)
    return Estimate(estimate.value, max(0.0, estimate.low), min(1.0, estimate.high))


def strengths(column: Sequence[Tally]) -> list[Estimate | None]:
    """What the agents of a column are compared by, each with its 95 % interval; None of an agent without games."""
    measure = mean_reward if any_graded(column) else win_rate
    return [measure(tally) if tally.games else None for tally in column]


def mean_reward(tally: Tally) -> Estimate:
    """The mean reward of an agent."""
    return mean_of(tally.rewards)


def win_rate(tally: Tally) -> Estimate:
    """The share of games that an agent won, with the interval of Clopper and Pearson."""
    return Estimate(tally.wins / tally.games, *clopper_pearson(tally.wins, tally.games))


def win_p_values(column: Sequence[Tally]) -> dict[str, float]:
    """By cell key, the p-value of its win rate being that of evenly matched players (Fisher's exact test, Holm over the column)."""
    even = baseline(list(column))
    if even is None:
        return {}
    tested = [tally for tally in column if tally is not even and tally.games]
    p_values = [fisher_p_value((tally.wins, tally.games), (even.wins, even.games)) for tally in tested]
    return {tally.cell.key: p for tally, p in zip(tested, holm(p_values), strict=True)}


def reward_p_values(column: Sequence[Tally]) -> dict[str, float]:
    """By cell key, the p-value of its mean reward being that of evenly matched players (Welch's t test, Holm over the column)."""
    even = baseline(list(column))
    tested = [tally for tally in column if tally is not even and tally.rewards.error is not None]
    if even is None or even.rewards.error is None:
        return {}
    p_values = [welch_p_value(_mean(tally), _mean(even)) for tally in tested]
    return {tally.cell.key: p for tally, p in zip(tested, holm(p_values), strict=True)}


def _mean(tally: Tally) -> tuple[float, float, int]:
    assert tally.rewards.mean is not None and tally.rewards.error is not None
    return tally.rewards.mean, tally.rewards.error, tally.rewards.count
