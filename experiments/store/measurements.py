"""Measurements of exploitability, one JSON object a line, appended as each is made; what was made before is not made again.

A last line without its end is the trace of a run that was killed, and is dropped; any other that cannot be read is damage.
"""

import json
import os
from pathlib import Path
from typing import Any

from experiments.plan.definition import Refusal

MEASUREMENTS = "exploitability.jsonl"
KEY = ("game", "player", "method", "iterations", "seed")  # what is measured
FIELDS = {**dict.fromkeys(KEY[:3], str), "iterations": int, "seed": int, "improvements": list, "nash_conv": float}

Measurement = dict[str, Any]


def key_of(row: Measurement) -> tuple[Any, ...]:
    """What a row measures."""
    return tuple(row[name] for name in KEY)


def measurements(directory: Path) -> dict[tuple[Any, ...], Measurement]:
    """The rows of a directory by what they measure.

    Raises:
        Refusal: a line that cannot be read, by file and number.
    """
    path = directory / MEASUREMENTS
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            right = isinstance(row, dict) and all(isinstance(row.get(name), kind) for name, kind in FIELDS.items())
        except ValueError:
            right = False
        if not right:
            raise Refusal(f"{path}, line {number}, is no measurement; nothing has been changed")
        found[key_of(row)] = row
    return found


def keep(directory: Path, row: Measurement) -> None:
    """Append a row, after what was written whole."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / MEASUREMENTS).open("ab+") as file:
        file.seek(0)
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)
        file.write(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
