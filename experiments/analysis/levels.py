"""How much to search for a strength that is wanted: a monotone fit of ratings over the logarithm of iterations."""

from collections.abc import Mapping

import numpy as np

from icarus.ladder.ladders import Rating


def iterations_for(ratings: Mapping[int, Rating], targets: list[float]) -> list[int]:
    """The iterations at which an agent stands so high, by ratings at some iterations.

    Isotonic regression (pool adjacent violators), weighted by the precision of each rating; linear between the fitted points.
    What lies beyond them is not extrapolated. Without ratings there are none.
    """
    if not ratings:
        return []
    from scipy.optimize import isotonic_regression

    numbers = sorted(ratings)
    value = np.array([ratings[number].value for number in numbers])
    precision = np.array([ratings[number].deviation ** -2 for number in numbers])
    fitted = isotonic_regression(value, weights=precision).x
    return [round(float(np.exp(np.interp(elo, *_rising(fitted, np.log(numbers)))))) for elo in targets]


def _rising(fitted: np.ndarray, logarithms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fitted values without repetitions, and for each the middle of where it is reached."""
    values = np.unique(fitted)
    return values, np.array([logarithms[fitted == value].mean() for value in values])
