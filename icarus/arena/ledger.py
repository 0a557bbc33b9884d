"""Files that lose nothing when a process is killed: written whole, or a ledger, which is a line for each game, appended as it ends.

A last line without its end is being written, or is the trace of a process that was killed. Rows may be packed: FILE.jsonl.gz then
holds those that came before the lines of FILE.jsonl. Where packing was killed, a game is in both files; it counts once.
"""

import contextlib
import functools
import gzip
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias

import msgspec
import numpy as np

from icarus import checks
from icarus.arena.workers import ALONE, Workers

try:
    import fcntl
except ImportError:  # no Unix: nobody is kept from writing to one file twice at once
    fcntl = None  # type: ignore[assignment]

GameRow: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[Any, ...]
PACKED = ".gz"  # the end of the name of a packed file
UNFINISHED = ".new"  # the end of the name of a file that is being written
# the disk is asked to keep what it has at most this often; a killed process loses nothing
SYNC_SECONDS = 1.0
_CHECK = re.compile(rb',"check":"([0-9a-f]{8})"\}\n\Z')
_LONGEST_CHECK = 32  # bytes


@contextlib.contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """An OSError within that names no file, as that of a full disk, or the unfinished file, names this one."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename in (None, f"{path}{UNFINISHED}"):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_whole(path: Path, content: str | bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file that appears under its name only when all of it is on the disk.

    Args:
        content: what the file is to hold, or a function that writes it into the file that it is given.

    Raises:
        OSError: it cannot be written; the error names the file.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    with naming_file(path):
        try:
            with unfinished.open("wb") as file:
                if callable(content):
                    content(file)
                else:
                    file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def new_file(path: Path) -> Path:
    """The path of a file that is to be written.

    Raises:
        ValueError: the file exists, or its directory does not exist.
    """
    if path.exists():
        raise ValueError(f"{str(path)!r} exists and is not overwritten; give a new file")
    if not path.parent.is_dir():
        raise ValueError(
            f"{str(path)!r} cannot be written: there is no directory {str(path.parent)!r}"
        )
    return path


def check_settings(path: Path, settings: Mapping[str, object], what: str, *files: Path) -> None:
    """Refuse a directory that holds something else than what these settings say.

    Args:
        path: the file of the settings, which were written before the first game.
        what: a word for what is played there, such as "race"; it stands in the message.
        files: of the games, and others that go by these settings.

    Raises:
        ValueError: the settings there are others, or cannot be read; there are games without settings; or a file is in its place.
    """
    nearest = next(each for each in path.parents if each.exists())
    if not nearest.is_dir():
        raise ValueError(f"{path.parent} cannot be a directory, since {nearest} is a file")
    if not path.exists():
        if any(file.exists() or packed_path(file).exists() for file in files):
            raise ValueError(
                f"{path.parent} has games of another command: there is no {path.name} in it; choose another directory"
            )
        return
    try:
        there = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    here = msgspec.json.decode(msgspec.json.encode(settings))
    for key in here | there:
        value_there, value_here = there.get(key, msgspec.UNSET), here.get(key, msgspec.UNSET)
        if value_there != value_here:
            was, now = checks.differing(str(value_there), str(value_here), 100)
            raise ValueError(
                f"{path.parent} has another {what}: {key} is {was} there and {now} here; choose another directory"
            )


def write_settings(path: Path, settings: Mapping[str, object]) -> None:
    """Write settings into a directory, which is made, where they are not written yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write_whole(path, json.dumps(settings, indent=1, ensure_ascii=False))


# -------------------------------------------------------------------------------------------------------------------------- lines


def python_number(value: object) -> object:
    """A number of numpy's as Python's own, for what writes JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"JSON cannot hold {value!r}: no number, text, list or table of these")


def line_of(row: Mapping[str, object]) -> bytes:
    """A row as a line of JSON, with a checksum of what stands before it."""
    text = json.dumps(
        row, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=python_number
    )
    content = text.encode()[:-1]
    return b'%s,"check":"%08x"}\n' % (content, zlib.crc32(content))


def checksum_in(line: bytes) -> re.Match[bytes] | None:
    """The checksum at the end of a line, where it has one."""
    return _CHECK.search(line, max(0, len(line) - _LONGEST_CHECK))


def row_of(line: bytes, place: str, *, unchecked: bool = False) -> GameRow:
    """The row of a line, without its checksum.

    Args:
        place: where the line stands, as the message names it.
        unchecked: rows without a checksum, as they were once written, are taken too.

    Raises:
        ValueError: the line is no row, or has changed since it was written.
    """
    checksum = checksum_in(line)
    try:
        row = dict(msgspec.json.decode(line))
        has_check = row.pop("check", None) is not None
        if checksum is None:
            is_sound = unchecked and not has_check  # a checksum that is not at the end is damage
        else:
            content = line[: checksum.start()]
            number = int(checksum[1], 16)
            # The checksum is that of what stands before it. In the oldest ledgers it was computed with the closing brace.
            is_sound = number == zlib.crc32(content) or number == zlib.crc32(content + b"}")
    except (ValueError, TypeError, RecursionError):
        is_sound = False
    if not is_sound:
        raise ValueError(f"{place}: damaged (no row of a game, or changed since it was written)")
    return row


def packed_path(path: Path) -> Path:
    """Where the packed lines of a file are."""
    return path.with_name(path.name + PACKED)


def read_lines(path: str | Path) -> Iterator[tuple[bytes, str]]:
    """The whole lines of a file, the packed ones first; each with where it is, as "FILE, line 3".

    Raises:
        ValueError: the packed file is damaged.
    """
    path = Path(path)
    for file in filter(Path.exists, (packed_path(path), path)):
        try:
            with gzip.open(file) if file.suffix == PACKED else file.open("rb") as lines:
                # gzip takes an empty file for one without lines
                if not lines.peek(1) and file.suffix == PACKED:
                    raise EOFError("it is empty")
                for number, line in enumerate(lines, 1):
                    if line.endswith(b"\n"):
                        yield line, f"{file}, line {number}"
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{file} is damaged: {error}") from None


def read_rows(
    path: str | Path,
    fields: Sequence[str],
    shape: Any = GameRow,
    *,
    unchecked: bool = False,
    strict: bool = False,
) -> Iterator[GameRow]:
    """The rows of a ledger in their order, each game once.

    Args:
        fields: of a row, that name its game.
        shape: of a row, as `msgspec.convert` takes a type.
        unchecked: see `row_of`.
        strict: whether all rows of one game must be the same; otherwise the first of them counts.

    Raises:
        ValueError: a line is damaged, has another shape or lacks a field that names its game, the packed file is damaged, or rows of
            one game differ.
    """
    digests: dict[Key, int] = {}
    for line, place in read_lines(path):
        row = row_of(line, place, unchecked=unchecked)
        try:
            msgspec.convert(row, shape)
            # A GameRow may lack any field; any other shape says itself what a row needs.
            if shape is GameRow and not row.keys() >= {*fields}:
                raise msgspec.ValidationError(f"a row needs {', '.join(fields)}")
        except msgspec.ValidationError as error:
            raise ValueError(f"{place}: damaged ({error})") from None
        key, digest = key_of(row, fields), hash(line)
        try:
            is_new = key not in digests
        except TypeError:  # an object in a field cannot be hashed
            raise ValueError(
                f"{place}: damaged (a field that names its game is no number, text or list of these)"
            ) from None
        if is_new:
            digests[key] = digest
            yield row
        elif strict and digests[key] != digest:
            raise ValueError(f"{place}: damaged; a line above is another row of the same game")


def key_of(row: GameRow, fields: Sequence[str]) -> Key:
    """What tells a row's game from all others."""
    values = map(row.get, fields)
    return tuple([tuple(value) if isinstance(value, list) else value for value in values])


# ------------------------------------------------------------------------------------------------------------------------- ledger


class Ledger:
    """Rows of games, each game once, and no other state: in memory and, where a path is given, in a file of a line each.

    A context manager: no other process may write to the file until it ends.

    Args:
        path: of the file; its folder is made, and the beginning of a row at its end, left by a killed process, is cut off.
        fields: of a row, that name its game: the `key` of the match that it comes from. A row begins with the first of them.
        shape, reading: see `read_rows`.

    Raises:
        TypeError: `fields` is a text. ValueError: another process writes to the file, a line is damaged, or the file holds something
            else. The file is left as it was.

    Attributes:
        rows: of the games played, by their keys, in the order in which they ended.
    """

    def __init__(
        self, path: str | Path | None, fields: Sequence[str], shape: Any = GameRow, **reading: bool
    ) -> None:
        if isinstance(fields, str):
            raise TypeError(f"fields is {fields!r}; it must be a list")
        self.path = path = None if path is None else Path(path)
        self.fields = tuple(fields)
        self._synced = time.monotonic()
        self.rows: dict[Key, GameRow] = {}
        self._file: BinaryIO | None = None
        if path is None:
            return
        is_new = not path.exists()
        self._file = open_to_append(path)
        try:
            for row in read_rows(path, fields, shape, **reading):
                self.note(row)
            self._cut_unfinished(path, self._file)
        except ValueError:
            # It was made, empty, when it was opened to append; then the packed one beside it is damaged.
            if is_new:
                path.unlink()
            self.__exit__()
            raise

    def _cut_unfinished(self, path: Path, file: BinaryIO) -> None:
        """Cut off a last line without its end, after all lines before it were read.

        Raises:
            ValueError: it is not what is left of a row.
        """
        file.seek(0)
        content = file.read()
        end = content.rfind(b"\n") + 1
        if end == len(content):
            return
        if not is_unfinished_row(content[end:], self.fields[0], is_first=not self.rows):
            raise ValueError(
                f"{path}: the last line has no end and is not a row of such games; choose another file"
            )
        file.truncate(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None and self.path is not None:
            with naming_file(self.path):
                self._file.close()

    def __contains__(self, row: GameRow) -> bool:
        """Whether the game of a row is among those played, whatever its result."""
        return key_of(row, self.fields) in self.rows

    def note(self, row: GameRow) -> None:
        """Hold a row in memory; a ledger that needs less of its rows overrides it."""
        self.rows[key_of(row, self.fields)] = row

    def keep(self, row: GameRow) -> None:
        """Hold the row of a game that has ended, and write it.

        Raises:
            OSError: it cannot be written; the error names the file.
        """
        if self.path is not None and self._file is not None:
            with naming_file(self.path):
                self._file.write(line_of(row))
                self._file.flush()
                if time.monotonic() - self._synced >= SYNC_SECONDS:
                    os.fsync(self._file.fileno())
                    self._synced = time.monotonic()
        self.note(row)

    def played(
        self, matches: Iterable[Any], play: Callable[[Any], GameRow], workers: Workers = ALONE
    ) -> Iterator[GameRow]:
        """Play those games that are not kept; gives out each row as its game ends, when it is kept.

        Args:
            matches: each has a `key`, as a `Match` has.
            play: plays one, and says what its row has beside the key; other processes must be able to import it.

        Raises:
            GameFailed: see `Workers.results`.
        """
        missing = {each.key: each for each in matches if each.key not in self.rows}
        whole = functools.partial(whole_row, self.fields, play)
        for row in workers.results(whole, missing.values()):
            self.keep(row)
            yield row

    def play(
        self, matches: Iterable[Any], play: Callable[[Any], GameRow], workers: Workers = ALONE
    ) -> list[GameRow]:
        """The rows of games in their order; see `played`."""
        requested = list(matches)
        for _ in self.played(requested, play, workers):
            pass
        return [self.rows[each.key] for each in requested]


def whole_row(fields: Sequence[str], play: Callable[[Any], GameRow], match: Any) -> GameRow:
    """Play a match: its row, which has its key in the fields of a ledger, and what `play` tells.

    Raises:
        ValueError: the key is none for these fields, or what `play` tells has another value of one of them.
    """
    names = ", ".join(fields)
    if len(match.key) != len(fields):
        raise ValueError(f"the key {match.key} does not have a value for each field: {names}")
    key = zip(fields, match.key, strict=True)
    row = {name: list(value) if isinstance(value, tuple) else value for name, value in key}
    row |= play(match)
    if key_of(row, fields) != match.key:
        raise ValueError(
            f"the game of the key {match.key} has {key_of(row, fields)} in its row, which tells one of the fields itself: {names}; "
            "give that field another name"
        )
    return row


def is_unfinished_row(line: bytes, field: str, *, is_first: bool) -> bool:
    """Whether a line without its end is what is left of a row of a ledger, whose writer was killed.

    Args:
        field: with which rows begin.
        is_first: no row of the ledger stands before it. Then it may be the whole content of another file, which must not be lost.
    """
    if not is_first:
        # after a loss of power zeros may stand for what was written
        return line.strip(b"\0")[:2] in (b"", b"{", b'{"')
    if not line.startswith(b'{"%s":' % field.encode()):
        return False
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return True
    # whole JSON: a row that lacks the end of its line has a checksum, the content of another file has none
    return checksum_in(line + b"\n") is not None


def open_to_append(path: Path) -> BinaryIO:
    """A file of rows, open to append for this process alone; its folder is made.

    Raises:
        ValueError: another process has it, it is a packed file, or no file but a device or a pipe.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path} is a device or a pipe, which keeps no rows; give a file")
    if path.suffix == PACKED:
        raise ValueError(
            f"{path} is packed and cannot go on; give {path.with_suffix('')}, which is read with it"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("ab+")
    if not lock(file):
        file.close()
        raise ValueError(f"another process is writing to {path}; run one command at a time")
    return file


def lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed, where there are locks; False where another process has it."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # the file system has no locks
            pass
    return True
