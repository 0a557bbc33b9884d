"""What the tables of experiments hold, checked: each function returns the value, or raises a `Refusal` that begins with its path."""

import difflib
from collections.abc import Mapping
from typing import Any

from experiments.plan.definition import Refusal

SEED_LIMIT = 1 << 63


def nearest(name: str, known: Any) -> str:
    """The end of a message about an unknown name: those that look like it, or all."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(known)}"


def required(table: Mapping[str, Any], key: str) -> Any:
    """The value of a key that must be there."""
    if key not in table:
        raise Refusal(f"{key}: missing")
    return table[key]


def listed(key: str, table: Mapping[str, Any]) -> list[Any]:
    """The values of a key that may hold a list."""
    value = required(table, key)
    values = value if isinstance(value, list) else [value]
    if not values:
        raise Refusal(f"{key}: the list is empty")
    return values


def paths(key: str, table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The values of a key that may hold a list, each with its path."""
    many = isinstance(table.get(key), list)
    return [(f"{key}[{i}]" if many else key, value) for i, value in enumerate(listed(key, table))]


def text(path: str, value: Any) -> str:
    """A text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise Refusal(f"{path}: {value!r} is not a text")
    return value


def one_of(path: str, value: Any, known: tuple[str, ...]) -> str:
    """One of some names."""
    if value not in known:
        raise Refusal(f"{path}: {value!r} is unknown{nearest(str(value), known)}")
    return value


def positive(path: str, value: Any) -> int:
    """A whole number of at least 1.

    Raises:
        Refusal: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Refusal(f"{path}: {value!r} is not a whole number of at least 1")
    return value


def positive_real(path: str, value: Any) -> float:
    """A number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise Refusal(f"{path}: {value!r} is not a number of seconds above 0")
    return float(value)


def seed(value: Any) -> int:
    """The seed of an experiment."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < SEED_LIMIT:
        raise Refusal(f"seed: {value!r} is not a whole number from 0 to {SEED_LIMIT - 1}")
    return value


def truth(path: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Refusal(f"{path}: {value!r} is neither true nor false")
    return value
