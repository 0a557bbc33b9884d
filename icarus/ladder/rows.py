"""Rows of games of a ladder, one JSON object a line."""

import json
from pathlib import Path

from icarus.ladder.matches import Row
from icarus.row_files import read_lines


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
