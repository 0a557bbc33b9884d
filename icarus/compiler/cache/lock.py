"""A lock between processes, which saves work and which nothing depends on."""

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # no Unix: processes do the same work at once
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)
PATIENCE = 60.0  # seconds; a process that was stopped while it held a lock delays no other for longer
_POLL = 0.05  # seconds between two attempts, so that Ctrl-C ends the wait


@contextlib.contextmanager
def lock(path: Path | None) -> Iterator[None]:
    """Hold the lock of a file, which exists only meanwhile.

    The system frees it when its process ends. Where there is no lock to be had within `PATIENCE`, the caller goes on without.
    """
    file = None if path is None or fcntl is None else _open_locked(path)
    try:
        yield
    finally:
        if path is not None and file is not None:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            # Closing is not enough: a process that was forked meanwhile has the file open too.
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)


def _open_locked(path: Path) -> int | None:
    """A file, open and locked; None where that cannot be."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        logger.debug("no lock: %s", error)
        return None
    try:
        _wait_for(file, path)
    except BaseException as error:
        os.close(file)
        if not isinstance(error, OSError):
            raise
        logger.info("no lock: %s", error)
        return None
    return file


def _wait_for(file: int, path: Path) -> None:
    """Lock an open file.

    Raises:
        TimeoutError: another process holds the lock for too long.
        OSError: the file system has no locks.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(f"another process has held {path} for {PATIENCE:g} s") from None
        time.sleep(_POLL)
