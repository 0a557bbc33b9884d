"""Student's distribution: its upper tail and its quantiles, in plain Python."""

import functools
import math

TINY = 1e-300  # in place of a denominator that is 0
PRECISION = 1e-15
TERMS = 100_000  # of a continued fraction; some ten are needed, for a million degrees of freedom some hundred


def student_tail(value: float, freedom: float) -> float:
    """The chance that Student's t is greater than a value.

    It is half of the regularized incomplete beta function I_x(n/2, 1/2) at x = n / (n + t²), so that far out it is not 1 less what is
    nearly 1.

    Args:
        value: any number, infinity too.
        freedom: degrees of freedom, above 0; infinity is the normal distribution.
    """
    if value < 0:
        return 1 - student_tail(-value, freedom)
    if math.isinf(freedom) or math.isinf(value):
        return 0.5 * math.erfc(value / math.sqrt(2))
    ratio = value / math.sqrt(freedom)  # its square may be beyond what a float holds
    scale = math.hypot(1, ratio)
    inside, outside = 1 / scale, ratio / scale  # the roots of x and of 1 - x
    a, b = freedom / 2, 0.5
    front = 2 * a * _log(inside, outside) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    weight = math.exp(front) * outside
    if inside**2 < (a + 1) / (a + b + 2):
        return weight * _fraction(a, b, inside**2) / a / 2
    return 0.5 - weight * _fraction(b, a, outside**2) / b / 2


def _log(inside: float, outside: float) -> float:
    """The logarithm of the first of two numbers whose squares add up to 1."""
    return 0.5 * math.log1p(-(outside**2)) if outside < inside else math.log(inside)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes, section 6.4).

    Raises:
        ArithmeticError: it does not converge.
    """
    last, inverse = 1.0, 1 / _away_from_0(1 - (a + b) * x / (a + 1))
    value = inverse
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            inverse = 1 / _away_from_0(1 + term * inverse)
            last = _away_from_0(1 + term / last)
            value *= last * inverse
        if abs(last * inverse - 1) < PRECISION:
            return value
    raise ArithmeticError(f"the incomplete beta function of {a}, {b} at {x} does not converge")


def _away_from_0(number: float) -> float:
    return number if abs(number) > TINY else TINY


@functools.cache
def student_quantile(tail: float, freedom: float) -> float:
    """The value that Student's t exceeds with a chance, by bisection of `student_tail`.

    Args:
        tail: above 0 and below 1.
        freedom: degrees of freedom, above 0; infinity is the normal distribution.
    """
    if tail > 0.5:
        return -student_quantile(1 - tail, freedom)
    if tail == 0.5:
        return 0.0
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > tail:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if student_tail(middle, freedom) > tail else (low, middle)
    return high
