"""Marks for functions that are compiled, and the switches of the compiler."""

import os
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.extending import intrinsic as _intrinsic

DEBUG = os.environ.get("ICARUS_DEBUG", "") not in ("", "0")  # bounds checks in everything that is compiled
DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")  # the compiled slots run as plain Python
intrinsic: Any = _intrinsic  # untyped: what it makes is called without the typing context


def helper(function: Callable) -> Any:
    """A function for use inside compiled slots and games; runs as plain Python too."""
    return njit(nogil=True, boundscheck=DEBUG)(function)


def inlined(function: Callable) -> Any:
    """A helper on the hottest path: its body is copied into each caller."""
    return njit(nogil=True, boundscheck=DEBUG, forceinline=True, error_model="numpy")(function)


def embedded(function: Callable) -> Any:
    """A helper with one caller, into which its body is copied: nothing is handed over that it does not read. Division by 0 raises."""
    return njit(nogil=True, boundscheck=DEBUG, forceinline=True)(function)


def plain(function: Callable) -> Callable:
    """The Python function inside a helper: for Python's own occasional use, which is not worth a compilation."""
    return getattr(function, "py_func", function)
