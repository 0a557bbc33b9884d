"""A game as a line of a file, with a checksum of its own: a digit that flips on a disk or on the way is told, never counted.

The checksum is the last field of the object, over all that stands before it. Lines that were written before there were checksums have
none; they are read as they are, and counted as such.
"""

import json
import re
import zlib
from typing import Any

FIELD = "check"
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_END = re.compile(rb',"check":"([0-9a-f]{8})"\}\n?\Z')
_LONGEST_END = 32  # bytes that the end of a line may have


def line_of(row: dict[str, Any]) -> bytes:
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
