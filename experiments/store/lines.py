"""A game as a line of a file, with a checksum of its own: a digit that flips on a disk or on the way is told, never counted.

The checksum is the last field of the object, over all that stands before it. Lines that were written before there were checksums have
none; they are read as they are, and counted as such.
"""

import datetime
import json
import re
import zlib
from typing import Any

from experiments.plan.definition import Refusal

FIELD = "check"
LARGEST = 1e12  # no statistics of a game reach it
_FIELDS = {
    "cell": str,
    "game": str,
    "agent": str,
    "strategy": str,
    "opponent": str,
    "trial": int,
    "seat": int,
    "win": bool,
    "reward": float,
    "seed": list,
    "returns": list,
    "actions": list,
    "moves": int,
    "statistics": dict,
    "started": str,
    "seconds": float,
    "provenance": dict,
}
_OPTIONAL = {"role", "iterations", "opponent_iterations", "seconds_per_decision"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_END = re.compile(rb',"check":"([0-9a-f]{8})"\}\n?\Z')
_LONGEST_END = 32  # bytes that the end of a line may have

Row = dict[str, Any]


class Damage(Refusal):
    """A file that does not hold what it should; the message names file and line."""


def line_of(row: Row) -> bytes:
    """A row as a line, with its checksum; one that it had is another's.

    Raises:
        ValueError: a number that is none.
    """
    content = _ENCODER.encode({key: value for key, value in row.items() if key != FIELD}).encode()[:-1]
    return content + f',"{FIELD}":"{zlib.crc32(content):08x}"}}\n'.encode()


def is_whole(line: bytes) -> bool | None:
    """Whether a line is what was written; None where it has no checksum."""
    start = max(0, len(line) - _LONGEST_END)
    end = _END.search(line, start)
    return None if end is None else zlib.crc32(memoryview(line)[: end.start()]) == int(end[1], 16)


def row_of(line: bytes, where: str) -> Row:
    """The game of a line, without its checksum.

    Args:
        where: the file and the line, for what is told.

    Raises:
        Damage: the line is not a row, or it was changed.
    """
    try:
        row = json.loads(line, parse_constant=no_number)
    except (ValueError, RecursionError):
        raise Damage(f"{where}: damaged (not a JSON object)") from None
    if not isinstance(row, dict):
        raise Damage(f"{where}: damaged (not a JSON object)")
    whole = is_whole(line)
    if whole is False or (whole is None and FIELD in row):
        raise Damage(f"{where}: damaged (its checksum is wrong)")
    row.pop(FIELD, None)
    for field, kind in _FIELDS.items():
        if not isinstance(row.get(field), kind) or (kind is int and isinstance(row[field], bool)):
            raise Damage(f"{where}: damaged ({field!r} is {'missing' if field not in row else 'of the wrong kind'})")
    if unknown := row.keys() - _FIELDS.keys() - _OPTIONAL:
        raise Damage(f"{where}: damaged ({min(unknown)!r} is not a field of a game)")
    if wrong := _senseless(row):
        raise Damage(f"{where}: damaged ({wrong!r} is {row[wrong]!r})")
    return row


def no_number(name: str) -> None:
    """Refuse NaN and the infinities, which Python reads though JSON has none."""
    raise ValueError(f"{name} is not JSON")


def _senseless(row: Row) -> str:
    """The first field that holds what no game can have; "" if there is none."""
    try:
        datetime.datetime.fromisoformat(row["started"])
    except ValueError:
        return "started"
    numbers = [value for side in row["statistics"].values() if isinstance(side, dict) for value in side.values()]
    if any(isinstance(value, int | float) and not abs(value) < LARGEST for value in numbers):
        return "statistics"
    if not 0 <= row["seconds"] < LARGEST:
        return "seconds"
    if not all(isinstance(value, int | float) and 0 <= value <= 1 for value in (row["reward"], *row["returns"])):
        return "returns"
    return ""
