"""Lines as CSV, and values of an attrs class, a line each."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs

from experiments.plan.definition import Refusal
from icarus.arena.ledger import written_whole

V = TypeVar("V", bound=attrs.AttrsInstance)


def csv_of(lines: Iterable[Iterable[object]]) -> bytes:
    """Lines as the content of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()


def write_values(path: Path, kind: type[V], values: Sequence[V]) -> None:
    """Write what was measured as CSV, under the names of the attributes."""
    with written_whole(path) as file:
        file.write(csv_of([_names(kind), *map(attrs.astuple, values)]))


def read_values(path: Path, kind: type[V]) -> list[V]:
    """What a file holds that `write_values` has written.

    Raises:
        Refusal: it holds something else.
    """
    types: list[Any] = [attribute.type for attribute in attrs.fields(kind)]
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = [*csv.reader(file)] or [[]]
    if tuple(header) != _names(kind):
        raise Refusal(f"{path} was not written by this command: it does not begin with {','.join(_names(kind))}")
    return [kind(*(read(text) for read, text in zip(types, line, strict=True))) for line in lines]


def _names(kind: type[attrs.AttrsInstance]) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in attrs.fields(kind))
