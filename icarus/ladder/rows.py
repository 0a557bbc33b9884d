"""Rows of games of a ladder, one JSON object a line, appended as each game ends."""

import json
import os
from pathlib import Path

from icarus.ladder.matches import Row
from icarus.row_files import open_to_append, read_lines


def read_rows(path: Path) -> list[Row]:
    """The games of a file, the packed ones first; none if there is no file. No two have the same row, which says seed, side and time.

    Raises:
        ValueError: a complete line is not a game (the message has its number), or the packed file is damaged.
    """
    return [_row_of(line, place) for line, place in read_lines(path).items()]


def _row_of(line: bytes, place: str) -> Row:
    try:
        row = json.loads(line)
        return {**row, "player": row["player"], "opponent": row["opponent"], "seed": row["seed"]}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{place}, is not a game of a ladder; nothing has been changed") from None


def append_row(path: Path, row: Row) -> None:
    """Write a game after those that were written whole, and have it on the disk."""
    with open_to_append(path, wait=True) as file:
        file.write(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
