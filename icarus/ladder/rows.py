"""Rows of games, one JSON object a line, appended as each game ends; a last line without its end is the trace of a run that was killed."""

import json
import os
from pathlib import Path

from icarus.ladder.matches import Row


def read_rows(path: Path) -> list[Row]:
    """The games of a file; none if there is no file.

    Raises:
        ValueError: a whole line is no game, by its number.
    """
    rows = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1] if path.exists() else [], 1):
        try:
            row = json.loads(line)
            rows.append({**row, "player": row["player"], "opponent": row["opponent"], "seed": row["seed"]})
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}, line {number}, is no game of a ladder; nothing has been changed") from None
    return rows


def append_row(path: Path, row: Row) -> None:
    """Write a game after those that were written whole, and have it on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size and not (content := file.read()).endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)
        file.write(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
