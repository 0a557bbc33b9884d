"""What the tables of experiments hold, checked: each function returns the value, or raises a `Refusal` that begins with its path."""

import contextlib
import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from experiments.plan.definition import Refusal
from icarus import checks

SEED_LIMIT = 1 << 63
Table: TypeAlias = Mapping[str, object]  # of an experiment, as a TOML or a Python file has it


@contextlib.contextmanager
def refusing(path: str = "", kinds: tuple[type[Exception], ...] = (ValueError,)) -> Iterator[None]:
    """An error within becomes a `Refusal` that begins with the path, if there is one; a `Refusal` stays as it is.

    Args:
        kinds: of errors; others are raised as they are.
    """
    try:
        yield
    except Refusal:
        raise
    except kinds as error:
        raise Refusal(f"{path}: {error}" if path else str(error)) from None


def nearest(name: str, names: Sequence[str]) -> str:
    """The end of a message about an unknown name: those that look like it, or all."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(names)}"


def require(table: Table, key: str) -> object:
    """The value of a key that must be there."""
    if key not in table:
        raise Refusal(f"{key}: missing; docs/experiments.md has the keys of an experiment")
    return table[key]


def list_of(key: str, table: Table) -> list[object]:
    """The values of a key that may hold a list."""
    value = require(table, key)
    values = value if isinstance(value, list) else [value]
    if not values:
        raise Refusal(f"{key}: the list is empty")
    return values


def paths(key: str, table: Table) -> list[tuple[str, object]]:
    """The values of a key that may hold a list, each with its path."""
    many = isinstance(table.get(key), list)
    return [(f"{key}[{i}]" if many else key, value) for i, value in enumerate(list_of(key, table))]


def text(path: str, value: object) -> str:
    """A string that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise Refusal(f"{path}: {value!r} is not a string")
    return value


def one_of(path: str, value: object, names: Sequence[str]) -> str:
    """One of some names."""
    if isinstance(value, str) and value in names:
        return value
    raise Refusal(f"{path}: {value!r} is unknown{nearest(str(value), names)}")


def positive(path: str, value: object) -> int:
    """An integer of at least 1."""
    with refusing():
        return checks.integer(path, value, least=1)


def positive_real(path: str, value: object) -> float:
    """A number of seconds."""
    with refusing():
        return checks.positive(path, value)


def seed(value: object) -> int:
    """The seed of an experiment."""
    with refusing():
        return checks.integer("seed", value, 0, SEED_LIMIT - 1)


def truth(path: str, value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Refusal(f"{path}: {value!r} is neither true nor false")
    return value
