"""What the tables of experiments hold, checked: each function returns the value, or raises a `Refusal` that begins with its path."""

import contextlib
import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from experiments.plan.definition import Refusal
from icarus import checks

SEED_LIMIT = 1 << 63


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """What is found wrong with a value within becomes a `Refusal`."""
    try:
        yield
    except ValueError as error:
        raise Refusal(str(error)) from None


def nearest(name: str, names: Any) -> str:
    """The end of a message about an unknown name: those that look like it, or all."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(names)}"


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
    """A string that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise Refusal(f"{path}: {value!r} is not a string")
    return value


def one_of(path: str, value: Any, names: tuple[str, ...]) -> str:
    """One of some names."""
    if value not in names:
        raise Refusal(f"{path}: {value!r} is unknown{nearest(str(value), names)}")
    return value


def positive(path: str, value: Any) -> int:
    """A whole number of at least 1.

    Raises:
        Refusal: it is not.
    """
    with refused():
        return checks.integer(path, value, least=1)


def positive_real(path: str, value: Any) -> float:
    """A number of seconds."""
    with refused():
        return checks.positive(path, value)


def seed(value: Any) -> int:
    """The seed of an experiment."""
    with refused():
        return checks.integer("seed", value, 0, SEED_LIMIT - 1)


def truth(path: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Refusal(f"{path}: {value!r} is neither true nor false")
    return value
