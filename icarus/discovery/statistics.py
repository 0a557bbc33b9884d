"""What differences of paired units prove."""

import math
from collections.abc import Sequence

import attrs
import numpy as np

CONFIDENCE = 0.99
ROUNDING = 1e-8  # of differences: rows keep nine decimals of a reward


@attrs.frozen
class Difference:
    """The mean of paired differences.

    Attributes:
        mean: of a unit's score, less the reference's on the same deals.
        error: the standard error of the mean.
        units: how many.
        p: of the one-sided t test that the mean is at most 0.
    """

    mean: float
    error: float
    units: int
    p: float

    def interval(self, confidence: float = CONFIDENCE, limit: float = 1.0) -> tuple[float, float]:
        """A two-sided interval of the mean, by Student's distribution, as far as a mean can be from 0: differences of rewards by 1."""
        width = student_quantile((1 - confidence) / 2, freedom(self.units)) * self.error
        return max(-limit, self.mean - width), min(limit, self.mean + width)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.mean:+.3f} [{low:+.3f}, {high:+.3f}]"


def difference(scores: Sequence[float]) -> Difference:
    """The mean of differences, and how sure it is: by Student's distribution, with Laplace's variance where all are equal.

    Differences that are all equal would have the error 0; a unit at either end of the range [-1, 1] is added to the variance then.
    One unit alone has the variance 1, the largest that there is.
    """
    values = np.array(scores, float)
    number, mean = len(values), float(values.mean())
    variance = 1.0
    if number > 1:
        variance = 2 / (number + 2) if np.ptp(values) < ROUNDING else float(values.var(ddof=1))
    error = math.sqrt(variance / number)
    return Difference(mean, error, number, student_tail(mean / error, freedom(number)))


def freedom(units: int) -> float:
    """The degrees of freedom of the variance of so many units; infinity for one, whose variance is not estimated."""
    return units - 1 if units > 1 else math.inf


def student_tail(value: float, freedom: float) -> float:
    """The probability that Student's t exceeds a value; by the normal distribution for infinitely many degrees of freedom."""
    from scipy.special import stdtr

    return float(stdtr(freedom, -value))


def student_quantile(tail: float, freedom: float) -> float:
    """The value that Student's t exceeds with a probability; degrees of freedom as of `student_tail`."""
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, tail))


def holm(p: Sequence[float]) -> list[float]:
    """p values adjusted for as many tests (Holm, 1979), in the order given."""
    adjusted, most = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        most = max(most, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = most
    return adjusted
