"""Measurements, one JSON object a line, appended as each is made; what was made before is not made again.

A last line without its end is the trace of a run that was killed, and is dropped; any other that cannot be read is damage.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from experiments.plan.definition import Refusal

Measurement = dict[str, Any]
Key = tuple[Any, ...]


@attrs.frozen
class Ledger:
    """A file of measurements.

    Attributes:
        file: its name in a directory.
        key: the fields that say what is measured.
        fields: what every row has, with the kind of each.
    """

    file: str
    key: tuple[str, ...]
    fields: Mapping[str, type]

    def key_of(self, row: Measurement) -> Key:
        """What a row measures; None for a field that it does not have."""
        return tuple(row.get(name) for name in self.key)

    def read(self, directory: Path) -> dict[Key, Measurement]:
        """The rows of a directory by what they measure.

        Raises:
            Refusal: a line that cannot be read, by file and number.
        """
        path = directory / self.file
        rows = {}
        for number, row in enumerate(_lines(path), 1):
            if not isinstance(row, dict) or not all(
                isinstance(row.get(name), kind) for name, kind in self.fields.items()
            ):
                raise Refusal(f"{path}, line {number}, is not a measurement; nothing has been changed")
            rows[self.key_of(row)] = row
        return rows

    def keep(self, directory: Path, row: Measurement) -> None:
        """Append a row, after what was written whole."""
        _append(directory / self.file, row)

    def fill(
        self,
        directory: Path,
        identities: Sequence[Measurement],
        make: Callable[[Measurement], Measurement],
        log: Callable[[int, int, Measurement], None],
    ) -> list[Measurement]:
        """Make what a directory lacks of the wanted measurements; returns them all.

        Args:
            log: called with (measurements there are, in all, the next one).

        Raises:
            Refusal: a directory that cannot be understood.
        """
        rows = self.read(directory)
        lacking = [row for row in identities if self.key_of(row) not in rows]
        for number, row in enumerate(lacking):
            log(len(identities) - len(lacking) + number, len(identities), row)
            rows[self.key_of(row)] = row_made = make(row)
            self.keep(directory, row_made)
            UnderWay(directory, self.key_of(row)).end()
        return [rows[self.key_of(row)] for row in identities]


EXPLOITABILITY = Ledger(
    "exploitability.jsonl",
    ("game", "player", "method", "iterations", "seed"),
    {
        **dict.fromkeys(("game", "player", "method"), str),
        **dict.fromkeys(("iterations", "seed"), int),
        "improvements": list,
        "nash_conv": float,
    },
)
HEAD_TO_HEAD = Ledger(
    "head-to-head.jsonl",
    ("game", "one", "other", "iterations", "times", "block"),
    {
        **dict.fromkeys(("game", "one", "other"), str),
        **dict.fromkeys(("iterations", "block"), int),
        "first": list,
        "second": list,
    },
)


class UnderWay:
    """The parts of one long measurement that are made already: a file beside the ledger's, removed when it is whole.

    Args:
        key: what is measured.
    """

    def __init__(self, directory: Path, key: Key) -> None:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:12]
        self._path = directory / f"under-way-{name}.jsonl"

    def parts(self) -> dict[int, dict[int, list[float]]]:
        """What was found in each part, as `Stitching.search` returned it."""
        return {
            int(row["part"]): {int(number): strategy for number, strategy in row["found"].items()}
            for row in _lines(self._path)
            if isinstance(row, dict)
        }

    def keep(self, part: int, strategies: Mapping[int, Sequence[float]]) -> None:
        """Append a part."""
        _append(
            self._path, {"part": int(part), "found": {str(number): strategy for number, strategy in strategies.items()}}
        )

    def end(self) -> None:
        """Remove the file: the measurement is kept whole."""
        self._path.unlink(missing_ok=True)


def _lines(path: Path) -> list[Any]:
    """The whole lines of a file, read; None for one that cannot be."""
    rows = []
    for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            rows.append(None)
    return rows


def _append(path: Path, row: Mapping[str, Any]) -> None:
    """Write a line after what was written whole, and have it on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(0)
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)
        file.write(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
