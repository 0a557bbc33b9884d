"""Which cases run each time, and which with --slow alone."""

from collections.abc import Iterable
from typing import Any

import pytest

both_engines = pytest.mark.parametrize("engine", ["compiled", "python"])


def slow_variants(texts: Iterable[str]) -> list[Any]:
    """Enhancements, of which all but the first of each kind are slow: FPU runs each time, fpu(0.6) does not."""
    kinds: set[str] = set()
    cases: list[Any] = []
    for text in texts:
        kind = text.partition("(")[0].lower()
        cases.append(pytest.param(text, marks=pytest.mark.slow) if kind in kinds else text)
        kinds.add(kind)
    return cases


def slow_if(is_slow: object) -> list[Any]:
    """The marks of a case that is slow, or of one that is not."""
    return [pytest.mark.slow] if is_slow else []


def slow_after(first: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parameter, of which all after so many are slow."""
    return [
        case if i < first else pytest.param(case, marks=pytest.mark.slow)
        for i, case in enumerate(cases)
    ]


# Every slot is compiled anew for each number of players: what reads the rewards of more than two shows with three.
by_players = pytest.mark.parametrize("players", slow_after(1, [(2, 3), (1, 4)]), ids=str)


# They are put together of UCB1_TUNED or PROGRESSIVE_HISTORY and of score bounds. BOUNDED_GRAVE, put together of GRAVE as they are,
# is compiled each time; in plain Python `tests/specs/test_catalogue.py` compares all three with their twins.
PUT_TOGETHER = {"BOUNDED_UCB1_TUNED", "BOUNDED_PROGRESSIVE_HISTORY"}


def is_put_together(text: str) -> bool:
    """Whether an enhancement is one of these, with whatever parameters."""
    return text.partition("(")[0].upper() in PUT_TOGETHER


def slow_if_put_together(cases: Iterable[Any]) -> list[Any]:
    """Enhancements, or their texts, of which these are slow."""
    return [
        pytest.param(case, marks=pytest.mark.slow) if is_put_together(str(case)) else case
        for case in cases
    ]
