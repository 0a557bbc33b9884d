"""The files of a run: experiment.json (what is played) and results.jsonl (one object per game played, appended as it ends).

Everything else in the directory is derived from these two. A run may be killed at any instant: a last line without its end is
the trace of that, and is dropped. Any other line that is not a game of the experiment is damage: it is reported and left alone.
A run that has ended may be packed to results.jsonl.gz, which is read like the other and unpacked when the run continues. A run may
grow: experiment.json is written again with more trials, agents or games, and the rows stay.

A line has a checksum of its own, its last field, over all that stands before it: a digit that flips is told, never counted. Lines that
were written before there were checksums have none; they are read as they are, and counted as such.
"""

import collections
import contextlib
import datetime
import fcntl
import gzip
import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from experiments.plan.definition import Experiment, Refusal, difference, extends, first_change, from_settings
from icarus.arena.ledger import UNFINISHED, written_whole

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


EXPERIMENT, RESULTS, PACKED = "experiment.json", "results.jsonl", "results.jsonl.gz"
FORMAT = 1  # of both files
CHUNK = 1 << 20  # bytes read at once
PATIENCE = 1.0  # seconds for which a directory may be looked at (see `being_written`) before it counts as taken
SYNC_SECONDS = 1.0  # the disk is asked to keep what it has at most this often; a killed process loses nothing


class Unknown(Refusal):
    """A run that began before digests of Python files were kept: nothing tells whether its file is the same."""


def experiment_in(directory: Path) -> Experiment:
    """The experiment to which a directory belongs.

    Raises:
        Refusal: to none.
        Damage: experiment.json cannot be understood.
    """
    path = directory / EXPERIMENT
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=no_number)
        if content["format"] != FORMAT:
            raise Damage(f"{path} has format {content['format']!r}; this version reads format {FORMAT}")
        return from_settings(content)
    except (FileNotFoundError, NotADirectoryError):
        inside = ", ".join(sorted(path.parent.name for path in directory.glob(f"*/{EXPERIMENT}")))
        hint = f"; give one of its directories: {inside}" if inside else ""
        raise Refusal(f"{directory} has no experiment (it has no {EXPERIMENT}){hint}") from None
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}") from None
    except Damage:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Damage(f"{path} is damaged: {type(error).__name__}: {error}") from None


def rows(directory: Path, experiment: Experiment) -> Iterator[Row]:
    """The games played so far, in the order in which they ended.

    Raises:
        Damage: a line is not a game of this experiment, or is there twice.
    """
    return (row for row, _ in _scan(results_in(directory), experiment))


def check(directory: Path, experiment: Experiment) -> None:
    """Read all games, and refuse the first damaged one, see `rows`."""
    collections.deque(rows(directory, experiment), maxlen=0)


def count_unchecked(directory: Path) -> int:
    """How many of the games were kept before lines had checksums.

    Raises:
        Damage: a line does not have the checksum that it was written with.
    """
    path = results_in(directory)
    if not path.exists():
        return 0
    count = 0
    with open_rows(path) as file, _sound(path):
        for number, line in enumerate(file, 1):
            whole = is_whole(line)
            if whole is False:
                row_of(line, f"{path}, line {number}")  # which tells what is wrong with it
            count += whole is None and line.endswith(b"\n")
    return count


def results_in(directory: Path) -> Path:
    """The file of the games played; it need not be there yet."""
    plain, packed = directory / RESULTS, directory / PACKED
    return packed if packed.exists() and not plain.exists() else plain


def is_of_a_run(path: Path) -> bool:
    """Whether a path, by whatever name or link, is one of the files from which a run is read."""
    directory = path.resolve().parent
    if not (directory / EXPERIMENT).exists():
        return False
    names = (EXPERIMENT, RESULTS, PACKED)
    return path.resolve().name in names or any(
        path.exists() and (directory / name).exists() and path.samefile(directory / name) for name in names
    )


def open_rows(path: Path) -> BinaryIO | gzip.GzipFile:
    """The file, packed or not; what is read of a packed one is to be `_sound`."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def pack(directory: Path) -> Path:
    """Compress the games of a run; the same games always give the same file.

    Raises:
        Refusal: the run is going on.
        Damage: there is a packed file already that the plain one does not continue.
    """
    plain, packed = directory / RESULTS, directory / PACKED
    with _lock(directory):
        if plain.exists():
            _check_continued(directory)
            _compress(plain, packed)
            plain.unlink()
    return packed


def packed_copy(directory: Path, target: Path) -> Path:
    """The games of a run, which may be going on in this process, packed in another directory; what was there is replaced."""
    target.mkdir(parents=True, exist_ok=True)
    with written_whole(target / EXPERIMENT) as file:
        file.write((directory / EXPERIMENT).read_bytes())
    _compress(directory / RESULTS, target / PACKED)
    return target / PACKED


def _compress(plain: Path, packed: Path) -> None:
    with (
        plain.open("rb") as source,
        written_whole(packed) as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as target,
    ):
        shutil.copyfileobj(source, target)


def _unpack(directory: Path) -> None:
    """A run that continues appends to a plain file. Whenever it is killed, one of the two is whole; the plain one counts."""
    plain, packed = directory / RESULTS, directory / PACKED
    if packed.exists():
        if not plain.exists():
            with _sound(packed), gzip.open(packed, "rb") as source, written_whole(plain) as target:
                shutil.copyfileobj(source, target)
        else:
            _check_continued(directory)
        packed.unlink()


def _check_continued(directory: Path) -> None:
    """Refuse a plain file beside a packed one whose games it does not begin with."""
    plain, packed = directory / RESULTS, directory / PACKED
    if packed.exists() and not _begins_with(plain, packed):
        raise Damage(
            f"{directory} has both {RESULTS} and {PACKED}, and the first does not continue the second; "
            "move one of them to its own directory with experiment.json, and merge the two"
        )


def _begins_with(plain: Path, packed: Path) -> bool:
    """Whether a file holds all that a packed one holds, and perhaps more after it."""
    with _sound(packed), plain.open("rb") as whole, gzip.open(packed, "rb") as part:
        while piece := part.read(CHUNK):
            if whole.read(len(piece)) != piece:
                return False
    return True


@contextlib.contextmanager
def _sound(packed: Path) -> Iterator[None]:
    """Tell of a packed file that cannot be unpacked to its end."""
    try:
        if packed.suffix == ".gz" and not packed.stat().st_size:
            raise EOFError("it is empty")
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Damage(f"{packed} is damaged: {error}") from None


def _scan(path: Path, experiment: Experiment) -> Iterator[tuple[Row, int]]:
    """Each row with the position in the file after it; a torn last line is passed over."""
    try:
        file = open_rows(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}") from None
    cells = {cell.key for cell in experiment.cells}
    first_lines: dict[tuple[str, int], int] = {}
    end = 0
    with file, _sound(path):
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            row = row_of(line, f"{path}, line {number}")
            game = row["cell"], row["trial"]
            if row["cell"] not in cells or not 0 <= row["trial"] < experiment.trials:
                raise Damage(
                    f"{path}, line {number}: not a game of this experiment (cell {row['cell']}, trial {row['trial']})"
                )
            if first_lines.setdefault(game, number) != number:
                raise Damage(f"{path}, line {number}: the same game as in line {first_lines[game]}")
            end += len(line)
            yield row, end


class NotKept(Exception):
    """A game that has ended could not be written; those before it are kept."""


class Writer:
    """The results of one experiment, open for this process alone.

    Attributes:
        done: the games that need not be played again, as (cell key, trial), each with its `Column.outcome`.
        dropped: the bytes of a torn last line, if there was one.
    """

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self.done: dict[tuple[str, int], float] = {}
        self._columns = {cell.key: cell.column for cell in experiment.cells}
        end = 0
        for row, end in _scan(path, experiment):  # noqa: B007  (the last end is needed)
            self._note(row)
        self._file = path.open("ab", buffering=0)
        self.dropped = self._file.tell() - end
        if self.dropped:
            self._file.truncate(end)
        self._end = end
        self._synced = time.monotonic()

    def append(self, row: Row) -> None:
        """Keep a game that has ended.

        Raises:
            NotKept: it cannot be written, for example because the disk is full.
        """
        line = line_of(row)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)  # the part of a line that was written
            full = f"{self._file.name} cannot take more games ({error.strerror}); {len(self.done)} are kept"
            raise NotKept(f"{full}; run the same command to continue") from None
        self._end += len(line)
        self._note(row)
        if time.monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def _note(self, row: Row) -> None:
        self.done[row["cell"], row["trial"]] = self._columns[row["cell"]].outcome(row["win"], row["reward"])

    def sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        self.sync()
        self._file.close()


@contextlib.contextmanager
def writer(directory: Path, experiment: Experiment) -> Iterator[Writer]:
    """The directory's results, to be continued; a new directory is made. A run may grow in trials, agents and games.

    Raises:
        Refusal: it belongs to another experiment or to other settings, or is being written by another process.
        Damage: see `rows`. Nothing has been changed then.
    """
    with _lock(directory):
        grows = _claim(directory, experiment)
        _unpack(directory)
        writer = Writer(directory / RESULTS, experiment)
        try:
            if grows:
                _write_experiment(directory, experiment)
            yield writer
        finally:
            writer.close()


@contextlib.contextmanager
def _lock(directory: Path) -> Iterator[None]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise Refusal(f"{directory} cannot be used as a directory for results: {error.strerror}") from None
    until = time.monotonic() + PATIENCE
    while not _take_lock(handle):
        if time.monotonic() > until:
            os.close(handle)
            raise Refusal(f"another run is writing to {directory}")
        time.sleep(PATIENCE / 20)
    try:
        yield
    finally:
        os.close(handle)


def _take_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def being_written(directory: Path) -> bool:
    """Whether a run is going on there now (on this machine)."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)


def _claim(directory: Path, experiment: Experiment) -> bool:
    """Make a new directory the experiment's. Returns whether one that is there must grow to hold it."""
    path = directory / EXPERIMENT
    if path.exists():
        stored = experiment_in(directory)
        if not extends(experiment, stored):
            _refuse_edited(directory, experiment)
            raise Refusal(
                f"{directory} belongs to another run: {difference(stored, experiment)}; choose another directory"
            )
        return stored != experiment
    unfinished = path.name + UNFINISHED
    if strange := sorted(item.name for item in directory.iterdir() if item.name != unfinished):
        raise Refusal(
            f"{directory} has other files ({', '.join(strange[:3])}) but no {EXPERIMENT}; choose an empty directory"
        )
    _write_experiment(directory, experiment)
    return False


def _write_experiment(directory: Path, experiment: Experiment) -> None:
    with written_whole(directory / EXPERIMENT) as file:
        file.write(json.dumps({"format": FORMAT, **experiment.settings()}, indent=1, ensure_ascii=False).encode())


def adopt(directory: Path, experiment: Experiment) -> None:
    """Have a run that has not kept what its Python file held keep what the file holds now: its games come out the same.

    Raises:
        Refusal: another process is writing there.
    """
    with _lock(directory):
        _write_experiment(directory, experiment)


def _refuse_edited(directory: Path, experiment: Experiment) -> None:
    """Say so where all that differs is what a Python file holds, or one that it imports."""
    by_key = {cell.key: cell for cell in experiment.cells}
    for stored in experiment_in(directory).cells:
        now = by_key.get(stored.key, stored)
        if stored == now or attrs.evolve(stored, source=now.source, imports=now.imports) != now:
            continue
        if not stored.source:
            raise Unknown(f"the run in {directory} did not keep a digest of {now.module} when it started")
        if stored.source == now.source and not stored.imports:
            raise Unknown(f"the run in {directory} did not keep digests of the files that {now.module} imports")
        path, digest, before = first_change(stored, now)
        raise Refusal(
            f"{path} was edited after the run in {directory} had started: its digest is {digest}, in that run {before}; "
            f"undo the edit, or choose another directory"
        )
