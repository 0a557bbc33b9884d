"""Measurements, one JSON object a line, appended as each is made; what was made before is not made again.

A last line without its end is the trace of a run that was killed, and is dropped; any other that cannot be read is damage.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from experiments.plan.definition import Refusal
from icarus.row_files import append_row, read_lines

Measurement = dict[str, Any]
Key = tuple[object, ...]


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
        rows = {}
        for line, place in read_lines(directory / self.file).items():
            row = _read(line)
            if row is None or not all(isinstance(row.get(name), kind) for name, kind in self.fields.items()):
                raise Refusal(f"{place}, is not a measurement; nothing has been changed")
            rows[self.key_of(row)] = row
        return rows

    def keep(self, directory: Path, row: Measurement) -> None:
        """Append a row, after what was written whole."""
        append_row(directory / self.file, row)

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
        rows = filter(None, map(_read, read_lines(self._path)))
        return {int(row["part"]): {int(number): each for number, each in row["found"].items()} for row in rows}

    def keep(self, part: int, strategies: Mapping[int, Sequence[float]]) -> None:
        """Append a part."""
        append_row(self._path, {"part": int(part), "found": {str(number): each for number, each in strategies.items()}})

    def end(self) -> None:
        """Remove the file: the measurement is kept whole."""
        self._path.unlink(missing_ok=True)


def _read(line: bytes) -> Measurement | None:
    """A line as a row; None where it is none."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
