"""Files that lose nothing when a process is killed: written whole, or a line for each row, appended as the row is made.

A last line without its end is being written, or is the trace of a process that was killed. Rows may be packed: FILE.jsonl.gz then
holds those that came before the lines of FILE.jsonl. Where packing was killed, a line is in both files; it counts once.
"""

import contextlib
import gzip
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

try:
    import fcntl
except ImportError:  # no Unix: nobody is kept from writing to one file twice at once
    fcntl = None  # type: ignore[assignment]

PACKED = ".gz"  # the end of the name of a packed file
UNFINISHED = ".new"  # the end of the name of a file that is being written


@contextlib.contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """The error of a full disk within, which names no file, gets this one."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename is None:
            error.filename = str(path)
        raise


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when all of it is on the disk."""
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with naming_file(path), unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(path)


def read_lines(path: Path) -> dict[bytes, str]:
    """The whole lines of a file, the packed ones first; each with where it is first, as "FILE, line 3".

    Raises:
        ValueError: the packed file is damaged.
    """
    packed, places = packed_path(path), dict[bytes, str]()
    for file, content in ((packed, _unpacked(packed)), (path, path.read_bytes() if path.exists() else b"")):
        for number, line in enumerate(content.split(b"\n")[:-1], 1):
            places.setdefault(line, f"{file}, line {number}")
    return places


def packed_path(path: Path) -> Path:
    """Where the packed lines of a file are."""
    return path.with_name(path.name + PACKED)


def _unpacked(packed: Path) -> bytes:
    try:
        return gzip.decompress(packed.read_bytes()) if packed.exists() else b""
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{packed} is damaged: {error}") from None


def pack_lines(path: Path) -> None:
    """Compress all lines of a file; the same lines always give the same bytes. Whenever it is killed, each line still counts once."""
    lines = read_lines(path)
    if not path.exists() or not lines:
        return
    with written_whole(packed_path(path)) as file:
        file.write(gzip.compress(b"".join(line + b"\n" for line in lines), mtime=0))
    path.unlink()


def open_to_append(path: Path, *, wait: bool = False) -> BinaryIO:
    """A file of rows, open to append for this process alone; its folder is made, and a last line without its end is cut off.

    Args:
        wait: for another process that has the file open so.

    Raises:
        ValueError: another process has it, and is not waited for.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("ab+")
    try:
        _lock(file, wait)
    except BlockingIOError:
        file.close()
        raise ValueError(f"another process is writing to {path}; run one command at a time") from None
    if size := file.seek(0, os.SEEK_END):
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
    return file


def line_of(row: Mapping[str, object]) -> bytes:
    """A row as a line of JSON, with a checksum."""
    content = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return b'%s,"check":"%08x"}\n' % (content[:-1], zlib.crc32(content))


def row_of(line: bytes, place: str, *, unchecked: bool = False) -> dict[str, Any]:
    """The row of a line, without its checksum.

    Args:
        unchecked: rows without a checksum, as they were once written, are taken too.

    Raises:
        ValueError: the line is no row, or has changed since it was written.
    """
    try:
        row = dict(json.loads(line))
        check = row.pop("check", None)
        sound = (unchecked and check is None) or line_of(row).endswith(b'"check":"%s"}\n' % str(check).encode())
    except (ValueError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise ValueError(f"{place}: damaged; the content has changed since it was written")
    return row


def append_row(path: Path, row: Mapping[str, object]) -> None:
    """Write a row as a line with a checksum after those that were written whole, and have it on the disk.

    Raises:
        OSError: it cannot be written; the error names the file.
    """
    with naming_file(path), open_to_append(path, wait=True) as file:
        file.write(line_of(row))
        file.flush()
        os.fsync(file.fileno())


def _lock(file: BinaryIO, wait: bool) -> None:
    """Lock an open file until it is closed, where there are locks.

    Raises:
        BlockingIOError: another process has it, and is not waited for.
    """
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # the file system has no locks
        return
