"""Which cases run each time, and which with --slow alone."""

from collections.abc import Iterable
from typing import Any

import pytest

both_engines = pytest.mark.parametrize("engine", ["compiled", "python"])


def slow_variants(pairs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Cases that begin with an enhancement, of which all but the first of each kind are slow: FPU runs each time, fpu(0.6) does not."""
    kinds: set[str] = set()
    cases: list[Any] = []
    for pair in pairs:
        kind = str(pair[0]).partition("(")[0].lower()
        cases.append(pytest.param(*pair, marks=pytest.mark.slow) if kind in kinds else pair)
        kinds.add(kind)
    return cases


def slow_after(first: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parameter, of which all after so many are slow."""
    return [
        case if i < first else pytest.param(case, marks=pytest.mark.slow)
        for i, case in enumerate(cases)
    ]
