"""Machine code on disk, one file for each compiled function, named by its digest.

A file is read only where it is whole and nobody but its reader could have written it: it holds a checksum, bound to its name, and it
lies, like its folder, in the hands of the user who runs the process.
"""

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from icarus.compiler.cache.lock import lock
from icarus.compiler.cache.machine import this_machine
from icarus.compiler.cache.symbols import counted_names, unresolved_names
from icarus.compiler.digest import PACKAGE_DIGEST
from icarus.compiler.lazy import Lazy
from icarus.compiler.numba_types import CodeLibrary, CompileResult, Signature, TargetContext

_compiler = Lazy("numba.core.compiler")
_serialize = Lazy("numba.core.serialize")

logger = logging.getLogger(__name__)
UNUSED_DAYS = 30  # machine code of other versions is deleted after this
PRIVATE = 0o700  # the mode of a folder of machine code
_FOLDER = re.compile(r"[0-9a-f]{16}")
_FILE = re.compile(r".*-[0-9a-f]{24}(\.bin|\.lock|\.\d+(\.\d+)?\.tmp)")
_CHECKSUM_BYTES = hashlib.sha256().digest_size
_on_compile: list[Callable[[str], None]] = []
T = TypeVar("T")


class UnsafeError(OSError):
    """Machine code that somebody else could have written."""


def cache_root() -> Path:
    """The folder of all cached machine code: $ICARUS_CACHE_DIR, or `icarus` in the user's cache folder."""
    folder = os.environ.get("ICARUS_CACHE_DIR")
    if folder:
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "icarus"


@functools.cache
def cache_folder() -> Path | None:
    """The folder for this version of the package, private to the user; None where there can be none."""
    try:
        folder = cache_root() / PACKAGE_DIGEST
        folder.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE, exist_ok=True)
        _refuse_strangers(folder, folder.lstat())
        folder.chmod(PRIVATE)
        os.utime(folder)
        for sibling in folder.parent.iterdir():
            if _FOLDER.fullmatch(sibling.name) and sibling != folder:
                _clean(sibling)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        logger.warning(
            "machine code cannot be cached, so every start compiles again: %s; set ICARUS_CACHE_DIR to a directory of your own",
            error,
        )
        return None
    return folder


def _refuse_strangers(path: Path, status: os.stat_result) -> None:
    """
    Raises:
        UnsafeError: the file or directory belongs to another user, others may write to it, or it is neither file nor directory.
    """
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        raise UnsafeError(f"{path} is neither a file nor a directory")
    if status.st_uid != os.geteuid():
        raise UnsafeError(f"{path} belongs to user {status.st_uid}, not to user {os.geteuid()}, who runs this process")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeError(f"other users may write to {path} (its mode is {stat.filemode(status.st_mode)})")


def _clean(folder: Path) -> None:
    """Delete the machine code in a folder that nobody has used for long, and the folder if nothing else is in it."""
    try:
        status = folder.lstat()
        _refuse_strangers(folder, status)
        if stat.S_ISDIR(status.st_mode) and time.time() - status.st_mtime > UNUSED_DAYS * 86400:
            for file in folder.iterdir():
                if _FILE.fullmatch(file.name) and stat.S_ISREG(file.lstat().st_mode):
                    file.unlink()
            folder.rmdir()
    except OSError as error:  # another process was faster, or something in it is not ours
        logger.debug("%s is not removed: %s", folder, error)


class File:
    """What is kept of one compiled function, in a file named by its digest; a file that is damaged or not our own is none."""

    def __init__(self, name: str, key: str) -> None:
        folder = cache_folder()
        self._name, self._key = name, key
        self._path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)[:80]}-{key}.bin" if folder else None

    def read(self, use: Callable[[Any], T]) -> T | None:
        """What `use` makes of the file's content; None where there is nothing that it could use, and listeners are called."""
        try:
            if (result := self._use(use)) is not None:
                return result
        except FileNotFoundError:
            pass
        except Exception as error:  # a torn or foreign file: whatever it raises, compiling anew is right
            logger.warning("machine code of %s is compiled again: %s", self._name, str(error) or repr(error))
        for listener in _on_compile:
            listener(self._name)
        return None

    def read_early(self, use: Callable[[Any], T]) -> T | None:
        """As `read`, without a call of listeners: where there is nothing, the caller reads again within `compiling`."""
        with contextlib.suppress(Exception):
            return self._use(use)
        return None

    def _use(self, use: Callable[[Any], T]) -> T | None:
        if self._path is None:
            return None
        machine, stored = pickle.loads(self._content(self._path))
        return use(stored) if machine == this_machine() else None

    def compiling(self) -> contextlib.AbstractContextManager[None]:
        """Within, no other process compiles the same; it reads what this one keeps. To exclude deadlocks, a thread takes the compiler's
        own lock first."""
        return lock(self._path.with_suffix(".lock") if self._path else None)

    def _content(self, path: Path) -> bytes:
        """What was kept in a file.

        Raises:
            UnsafeError: somebody else could have written it.
            ValueError: it is not what was written.
        """
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            _refuse_strangers(path, os.fstat(file.fileno()))
            stored = file.read()
        content = stored[_CHECKSUM_BYTES:]
        if stored[:_CHECKSUM_BYTES] != self._checksum(content):
            raise ValueError(f"{path} is damaged")
        return content

    def _checksum(self, content: bytes) -> bytes:
        return hashlib.sha256(self._key.encode() + content).digest()

    def write(self, library: CodeLibrary, value: object) -> None:
        """Keep something that was made from a library, unless that holds a name which another process could give too."""
        if self._path is None or library.has_dynamic_globals or unresolved_names(library):
            return
        shared = next(counted_names(library), None)
        if shared is not None:
            logger.info(
                "machine code of %s is not kept: %s was compiled before icarus was imported", self._name, shared
            )
            return
        content = _serialize.dumps((this_machine(), value))
        unfinished = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
                file.write(self._checksum(content) + content)
            os.replace(unfinished, self._path)
        except OSError as error:  # a full disk costs the next start its time, never this run its result
            logger.warning("machine code of %s is not kept: %s", self._name, error)
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def delete(self) -> None:
        """Keep nothing."""
        if self._path:
            self._path.unlink(missing_ok=True)


class DiskCache(File):
    """A file as a dispatcher of the compiler uses it."""

    def load_overload(self, sig: Signature, target_context: TargetContext) -> CompileResult | None:
        target_context.refresh()
        return self.read(lambda stored: _compiler.CompileResult._rebuild(target_context, *stored))

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        if not data.lifted:
            self.write(data.library, data._reduce())


def on_compile(listener: Callable[[str], None]) -> Callable[[], None]:
    """Have `listener(name)` called before each compilation; returns a function that ends it."""
    _on_compile.append(listener)
    return lambda: _on_compile.remove(listener)
