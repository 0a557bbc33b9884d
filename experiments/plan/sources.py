"""The Python files that define agents, with digests: an edited file must not play on under the name of what it was."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from experiments.plan.cells import Cell
from experiments.plan.refusal import Refusal
from icarus import load_files
from icarus.load_files import Imports

_NOT_IMPORTED = "none (it is not imported)"
T = TypeVar("T")


def digest_of(path: Path) -> str:
    """A digest of what a file holds.

    Raises:
        Refusal: it cannot be read.
    """
    return _refusing(load_files.digest_of_content, path)


def source_of(module: str) -> str:
    """A digest of a Python file; empty where there is no file.

    Raises:
        Refusal: it cannot be read.
    """
    return digest_of(Path(module)) if module else ""


def imports_of(module: str) -> Imports:
    """The files that a Python file imports, and those that they import; without what is installed.

    Raises:
        Refusal: one cannot be read, or was edited after this process had imported it.
    """
    return _refusing(load_files.imports_of, module) if module else ()


def _refusing(function: Callable[[Any], T], path: str | Path) -> T:
    try:
        return function(path)
    except OSError as error:
        raise Refusal(
            f"{error.filename}, which defines agents, cannot be read: {error.strerror}"
        ) from None
    except ValueError as error:
        raise Refusal(str(error)) from None


def first_change(before: Cell, now: Cell) -> tuple[Path, str, str]:
    """The first file that two states of a cell do not agree on: (the file, its digest now, its digest before)."""
    files, files_before = _files(now), _files(before)
    for path in {**files_before, **files}:
        if files.get(path) != files_before.get(path):
            return path, files.get(path, _NOT_IMPORTED), files_before.get(path, _NOT_IMPORTED)
    raise AssertionError("the two are the same")


def refuse_if_edited(cell: Cell) -> None:
    """Refuse to play a cell whose files are not what they were.

    Raises:
        Refusal: a file was edited or cannot be read; the message has its name and both digests.
    """
    for path, before in _files(cell).items():
        # The cell's own file plays as the disk has it: an edited one is run again. An import plays as this process has it in memory.
        now = (
            digest_of(path)
            if path == Path(cell.module)
            else _refusing(load_files.digest_in_memory, path)
        )
        # An experiment that was begun before digests were kept has none.
        if before and now != before:
            raise Refusal(
                f"{path} was edited: its digest is {now}, in the games of this run {before}"
            )


def _files(cell: Cell) -> dict[Path, str]:
    """The file of a cell and those that it imports, with their digests."""
    if not cell.module:
        return {}
    start = Path(cell.module)
    imported = {
        Path(os.path.normpath(start.parent / name)): digest for name, digest in cell.imports
    }
    return {start: cell.source, **imported}
