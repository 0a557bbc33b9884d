"""Values of an attrs class kept as CSV, a line each."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs

from experiments.plan.definition import Refusal
from icarus.row_files import written_whole

V = TypeVar("V", bound=attrs.AttrsInstance)


def keep(path: Path, kind: type[V], values: Sequence[V]) -> None:
    """Write what was measured as CSV, under the names of the attributes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_names(kind))
    writer.writerows(attrs.astuple(each) for each in values)
    with written_whole(path) as file:
        file.write(text.getvalue().encode())


def kept(path: Path, kind: type[V]) -> list[V]:
    """What a file holds that `keep` has written.

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
