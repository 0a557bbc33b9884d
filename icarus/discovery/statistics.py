"""What differences of paired units prove."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import attrs
import numpy as np

CONFIDENCE = 0.99


@attrs.frozen
class Difference:
    """The mean of paired differences.

    Attributes:
        mean: of a unit's score, less the reference's on the same deals.
        error: the standard error of the mean.
        units: how many.
        p: of the one-sided test that the mean is at most 0.
    """

    mean: float
    error: float
    units: int
    p: float

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """A two-sided interval of the mean."""
        width = NormalDist().inv_cdf((1 + confidence) / 2) * self.error
        return self.mean - width, self.mean + width

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.mean:+.3f} [{low:+.3f}, {high:+.3f}]"


def difference(scores: Sequence[float]) -> Difference:
    """The mean of differences, and how sure it is: by the normal approximation, with Laplace's variance where all are equal.

    Differences that are all equal would have the error 0; a unit at either end of the range [-1, 1] is added to the variance then.
    """
    values = np.array(scores, float)
    number = len(values)
    variance = values.var(ddof=1) if number > 1 else 1.0
    error = math.sqrt((variance or 2 / (number + 2)) / number)
    mean = float(values.mean())
    return Difference(mean, error, number, 0.5 * math.erfc(mean / error / math.sqrt(2)))  # not 1 less what is nearly 1


def holm(p: Sequence[float]) -> list[float]:
    """p values adjusted for as many tests (Holm, 1979)."""
    adjusted, most = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        most = max(most, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = most
    return adjusted
