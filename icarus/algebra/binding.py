"""Slot functions as the compiler gets them: with their parameters bound, or for the tree alone."""

import functools
import math
import types as pytypes
from collections.abc import Callable

import numpy as np

from icarus.compiler.functions import helper
from icarus.kernel.contract import History, Theta
from icarus.kernel.history import SIMULATION


@functools.cache
def bind(function: Callable, values: tuple[float, ...]) -> Callable:
    """A helper that is the function with these values for the arguments that have defaults."""
    copy = pytypes.FunctionType(
        function.__code__, function.__globals__, function.__name__, values or None, function.__closure__
    )
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return helper(copy)


@functools.cache
def only_in_tree(inner: Callable) -> Callable:
    """A values function that is called in the tree only: in the simulation phase every value is +∞."""

    @helper
    def values(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, *parameters: float) -> None:
        if history.steps[-1].phase == SIMULATION:
            out[:] = math.inf
        else:
            inner(history, theta, legal, out, *parameters)

    return values
