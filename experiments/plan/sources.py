"""The Python files that define agents, with digests: an edited file must not play on under the name of what it was."""

import ast
import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from experiments.plan.definition import Cell, Imports, Refusal
from icarus import load_files

NOT_IMPORTED = "none (it is not imported)"
_in_memory: dict[Path, str] = {}  # what the imported files held when this process imported them
LIBRARIES = ("site-packages", "dist-packages")  # folders of what is installed


def digest_of(path: Path) -> str:
    """A digest of what a file holds.

    Raises:
        Refusal: it cannot be read.
    """
    try:
        return load_files.digest_of(path)
    except OSError as error:
        raise Refusal(f"{path}, which defines agents, cannot be read: {error.strerror}") from None


def source_of(module: str) -> str:
    """A digest of a Python file; empty where there is no file.

    Raises:
        Refusal: it cannot be read.
    """
    return digest_of(Path(module)) if module else ""


def imports_of(module: str) -> Imports:
    """The files that a Python file imports, and those that they import; without what is installed.

    Raises:
        Refusal: one cannot be read.
    """
    if not module:
        return ()
    start, pending, files = Path(module), [(Path(module), "")], set[Path]()
    while pending:
        path, package = pending.pop()
        for name in _imported_names(path, package):
            imported = _file_of(name)
            if imported is not None and imported not in files and imported != start:
                files.add(imported)
                is_package = imported.name == "__init__.py"
                pending.append((imported, name if is_package else name.rpartition(".")[0]))
    return tuple(sorted((os.path.relpath(path, start.parent), _digest_in_memory(path)) for path in files))


def first_change(before: Cell, now: Cell) -> tuple[Path, str, str]:
    """The first file that two states of a cell do not agree on: (the file, its digest now, its digest before)."""
    files, files_before = _files(now), _files(before)
    for path in {**files_before, **files}:
        if files.get(path) != files_before.get(path):
            return path, files.get(path, NOT_IMPORTED), files_before.get(path, NOT_IMPORTED)
    raise AssertionError("the two are the same")


def refuse_if_edited(cell: Cell) -> None:
    """Refuse to play a cell whose files are not what they were.

    Raises:
        Refusal: a file was edited or cannot be read; the message has its name and both digests.
    """
    for path, before in _files(cell).items():
        now = digest_of(path) if path == Path(cell.module) else _digest_in_memory(path)
        if before and now != before:
            raise Refusal(f"{path} was edited: its digest is {now}, in the games of this run {before}")


def _digest_in_memory(path: Path) -> str:
    """The digest of an imported file, which is what this process has imported.

    Raises:
        Refusal: it was edited after that.
    """
    digest = digest_of(path)
    if _in_memory.setdefault(path, digest) != digest:
        raise Refusal(f"{path} was edited after this process had imported it; start the command, or the workers, again")
    return digest


def _files(cell: Cell) -> dict[Path, str]:
    """The file of a cell and those that it imports, with their digests."""
    if not cell.module:
        return {}
    start = Path(cell.module)
    imported = {Path(os.path.normpath(start.parent / name)): digest for name, digest in cell.imports}
    return {start: cell.source, **imported}


def _imported_names(path: Path, package: str) -> Iterator[str]:
    """The modules that the statements of a file import, wherever they stand in it, and what these may be packages of."""
    if path.suffix != ".py":
        return
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from _with_packages(alias.name)
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *filter(None, [node.module])])
                yield from _with_packages(base)
                yield from (f"{base}.{alias.name}" for alias in node.names)


def _with_packages(name: str) -> Iterator[str]:
    """A module and the packages around it, which are run before it."""
    parts = name.split(".")
    return (".".join(parts[: i + 1]) for i in range(len(parts)))


def _file_of(name: str) -> Path | None:
    """The file of a module; None where it is installed, of this repository, or no module."""
    if name.partition(".")[0] in (*sys.stdlib_module_names, "icarus", "experiments"):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):  # what stands before the last dot is not a package
        return None
    path = Path(spec.origin) if spec and spec.origin else None
    return path.resolve() if path and path.is_file() and not set(path.parts) & set(LIBRARIES) else None
