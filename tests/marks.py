"""Which cases run each time, and which with --slow alone."""

from collections.abc import Iterable
from typing import Any

import pytest


def slow_after(first: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parameter, of which all after so many are slow."""
    return [case if i < first else pytest.param(case, marks=pytest.mark.slow) for i, case in enumerate(cases)]
