"""Numbers with their intervals, and tests of whether a mean is above 0."""

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

CONFIDENCE = 0.95
NORMAL_95 = 1.959963984540054
ROUNDING = 1e-8  # of values: rows keep nine decimals of a reward
GRID = 2520  # which all numbers to 10 divide


@attrs.frozen
class Estimate:
    """A number with its interval; of several replications at once arrays.

    Attributes:
        count: of the values that it rests on, where that is known.
    """

    value: Any
    low: Any
    high: Any
    count: int = 0

    @property
    def half(self) -> Any:
        """Half of an interval that reaches as far to either side."""
        return self.high - self.value

    @property
    def deviation(self) -> Any:
        """The standard deviation of a normal distribution, of which the interval holds 95 %."""
        return (self.high - self.low) / (2 * NORMAL_95)

    @property
    def is_decided(self) -> Any:
        """Whether 0 lies outside the interval."""
        return (self.low > 0) | (self.high < 0)

    def __format__(self, form: str) -> str:
        """The number and its interval in a format, such as "+.3f" of a difference."""
        form = form or ".3f"
        return f"{self.value:{form}} [{self.low:{form}}, {self.high:{form}}]"

    def __str__(self) -> str:
        return format(self)


def mean_of(
    values: Sequence[float], least: float = -1.0, most: float = 1.0, confidence: float = CONFIDENCE
) -> Estimate:
    """The mean of values with its interval (`mean_interval`). Each value, and so the mean, lies between `least` and `most`.

    Raises:
        ValueError: there is no value.
    """
    if len(values) == 0:
        raise ValueError("of no values there is no mean")
    numbers = np.array(values, float)
    count = len(numbers)
    mean = float(numbers.mean())
    error = 0.0
    if np.ptp(numbers) > ROUNDING:
        error = float(numbers.std(ddof=1)) / math.sqrt(count)
    low, high = mean_interval(mean, error, count, least, most, confidence)
    return Estimate(mean, low, high, count)


def paired_difference(
    scores: Sequence[float], usual: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """The mean of rewards less the usual ones on the same deals, within what rewards from 0 to 1 allow."""
    return mean_of([a - b for a, b in zip(scores, usual, strict=True)], confidence=confidence)


def mean_interval(
    mean: float, error: float, count: int, least: float, most: float, confidence: float
) -> tuple[float, float]:
    """A two-sided interval of a mean by Student's distribution, cut off at `least` and `most`, between which all values are.

    Values that are all equal have the error 0, which says nothing. A value has then at least the chance `certain` to be such again, Clopper
    and Pearson's bound for n of n, and is else from `least` to `most`; for wins alone, which are 1, this is their interval.
    """
    if not error:
        certain = ((1 - confidence) / 2) ** (1 / count)
        return certain * mean + (1 - certain) * least, certain * mean + (1 - certain) * most
    width = student_quantile((1 - confidence) / 2, count - 1) * error
    return max(least, mean - width), min(most, mean + width)


def student_quantile(tail: float, freedom: float) -> float:
    """The value that Student's t with so many degrees of freedom exceeds with a probability."""
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, tail))


def sign_flip(differences: Sequence[float]) -> float:
    """The p value of no difference, by the exact sign-flip test (Fisher, 1935): the share of all 2^n ways to choose the signs of the
    differences whose sum is at least theirs. It cannot be below 2^-n.

    Without a difference each is as likely to be so much above 0 as below. A mean of 0 alone, of small gains and rare great losses, is
    told from it more often than p says.

    The differences are rounded to 1 / `GRID`, to either side of 0 alike, so that the test remains exact.
    """
    steps = np.rint(np.array(differences) * GRID).astype(int)
    steps //= max(1, np.gcd.reduce(steps))
    # The probability of each sum of the sizes whose sign is +, if each sign is a fair coin; without sizes the sum is 0.
    chances = np.zeros(np.abs(steps).sum() + 1)
    chances[0] = 1.0
    reach = 1
    for size in np.sort(np.abs(steps)):
        chances[:reach] /= 2
        chances[size : reach + size] += chances[:reach].copy()
        reach += size
    # The sum of all is at least theirs just where the sum of those with + is at least that of the positive differences.
    return float(chances[steps[steps > 0].sum() :].sum())


def holm(p: Sequence[float]) -> list[float]:
    """p values adjusted for as many tests (Holm, 1979), in the order given."""
    adjusted = [0.0] * len(p)
    most = 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        most = max(most, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = most
    return adjusted
