"""Mean rewards of one player against another, with their 95 % intervals."""

import math
from collections.abc import Sequence

import attrs
import numpy as np

from experiments.analysis.statistics import Estimate, constant_reward, student_mean

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
