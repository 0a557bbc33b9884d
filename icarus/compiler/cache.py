"""Machine code on disk, one file for each compiled function, named by its digest."""

import functools
import logging
import os
import pickle
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from icarus.compiler.digest import package_digest

logger = logging.getLogger(__name__)
UNUSED_DAYS = 30  # machine code of other versions is deleted after this
_on_compile: list[Callable[[str], None]] = []


def cache_root() -> Path:
    """The folder of all cached machine code: $ICARUS_CACHE_DIR, or `icarus` in the user's cache folder."""
    named = os.environ.get("ICARUS_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "icarus"


@functools.cache
def cache_folder() -> Path | None:
    """The folder for this version of the package; None where the disk cannot be written."""
    folder = cache_root() / package_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in cache_root().iterdir():
            ours = re.fullmatch(r"[0-9a-f]{16}", other.name) is not None and other != folder
            if ours and time.time() - other.stat().st_mtime > UNUSED_DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError as error:
        logger.warning("no cache of machine code: %s", error)
    return None


class DiskCache(_Cache):
    """One file for each compiled function, named by its digest; a file that cannot be read is compiled anew."""

    def __init__(self, name: str, key: str) -> None:
        folder = cache_folder()
        self._name = name
        self._path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)[:80]}-{key}.bin" if folder else None
        self._enabled = self._path is not None

    @property
    def cache_path(self) -> str:
        return str(self._path.parent) if self._path else ""

    def enable(self) -> None:
        self._enabled = self._path is not None

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        if self._path:
            self._path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if self._enabled and self._path and self._path.exists():
            target_context.refresh()
            try:
                magic, payload = pickle.loads(self._path.read_bytes())
                if magic == target_context.codegen().magic_tuple():
                    return CompileResult._rebuild(target_context, *payload)
            except Exception as error:  # a torn or foreign file: whatever it raises, compiling anew is right
                logger.warning("machine code of %s is compiled anew: %r", self._name, error)
        for listener in _on_compile:
            listener(self._name)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._enabled or self._path is None or data.lifted or data.library.has_dynamic_globals:
            return
        unfinished = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            unfinished.write_bytes(dumps((data.codegen.magic_tuple(), data._reduce())))
            os.replace(unfinished, self._path)
        except OSError as error:  # a full disk costs the next start its time, never this run its result
            logger.warning("machine code of %s is not kept: %s", self._name, error)
            unfinished.unlink(missing_ok=True)


def on_compile(listener: Callable[[str], None]) -> Callable[[], None]:
    """Have `listener(name)` called before each compilation; returns a function that ends it."""
    _on_compile.append(listener)
    return lambda: _on_compile.remove(listener)
