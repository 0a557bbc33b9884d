"""Rows of games, one JSON object a line, appended as each game ends; a last line without its end is the trace of a run that was killed.

Rows may be packed: FILE.jsonl.gz then holds those that came before the rows of FILE.jsonl. Where packing was killed, the packed file ends
with rows that FILE.jsonl still begins with; these count once.
"""

import gzip
import json
import os
from pathlib import Path
from typing import BinaryIO

from icarus.ladder.matches import Row

PACKED = ".gz"  # the end of the name of the packed file


def read_rows(path: Path) -> list[Row]:
    """The games of a file, the packed ones first; none if there is no file.

    Raises:
        ValueError: a whole line is no game, by its number; or the packed file is damaged.
    """
    packed, plain = _lines(_unpacked(path)), _lines(_content(path))
    return _rows(_packed(path), packed) + _rows(path, plain)[_in_both(packed, plain) :]


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _lines(content: bytes) -> list[bytes]:
    """The whole lines, without their ends."""
    return content.split(b"\n")[:-1]


def _in_both(packed: list[bytes], plain: list[bytes]) -> int:
    """How many lines of the plain file the packed one ends with: no two games have the same row, which says seed, side and time."""
    longest = min(len(packed), len(plain))
    return next((number for number in range(longest, 0, -1) if packed[-number:] == plain[:number]), 0)


def _rows(path: Path, lines: list[bytes]) -> list[Row]:
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            rows.append({**row, "player": row["player"], "opponent": row["opponent"], "seed": row["seed"]})
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}, line {number}, is no game of a ladder; nothing has been changed") from None
    return rows


def _packed(path: Path) -> Path:
    return path.with_name(path.name + PACKED)


def _unpacked(path: Path) -> bytes:
    packed = _packed(path)
    try:
        return gzip.decompress(packed.read_bytes()) if packed.exists() else b""
    except (OSError, EOFError) as error:
        raise ValueError(f"{packed} is damaged: {error}; nothing has been changed") from None


def append_row(path: Path, row: Row) -> None:
    """Write a game after those that were written whole, and have it on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        _drop_torn_line(file)
        file.write(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _drop_torn_line(file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    if not size:
        return
    file.seek(-1, os.SEEK_END)
    if file.read() != b"\n":
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)


def pack_rows(path: Path) -> None:
    """Compress all games of a file; the same games always give the same bytes. Whenever it is killed, each game still counts once."""
    rows = read_rows(path)
    if not path.exists() or not rows:
        return
    packed, plain = _lines(_unpacked(path)), _lines(_content(path))
    content = b"".join(line + b"\n" for line in packed + plain[_in_both(packed, plain) :])
    unfinished = path.with_name(path.name + ".new")
    with unfinished.open("wb") as file:
        file.write(gzip.compress(content, mtime=0))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(_packed(path))
    path.unlink()
