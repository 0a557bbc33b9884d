"""Ctrl-C while compiled code runs: Python's own handler waits until it returns, so a word in memory tells it to.

The system writes a byte as soon as a signal comes (`signal.set_wakeup_fd`); a thread that waits for it rings. A compiled loop that
has heard fewer rings than there were returns at its next step, and Python does what Ctrl-C is to do. A loop inside a function of a game
or slot reads no such word: `at_interrupt` lets a command end the process then.
"""

import contextlib
import functools
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import numpy as np

RINGS = np.zeros(1, np.int64)  # so often have compiled loops been told to return
_NOBODY = -1
_listeners: list[Callable[[], None]] = []
_before = [_NOBODY]  # who was told of signals before, and still is


def ring() -> None:
    """Have every compiled loop of this process return at its next step; what is not meant begins the same playout anew."""
    RINGS[0] += 1


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Have Ctrl-C ring at once, also while compiled code runs. Elsewhere than in the main thread nothing needs to be done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    own = _bell(os.getpid()).fileno()
    before = signal.set_wakeup_fd(own, warn_on_full_buffer=False)
    if before != own:
        _before[0] = before
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)


@functools.cache
def _bell(process: int) -> socket.socket:
    """Where the system writes signals down; a thread of this process reads them."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    threading.Thread(target=_hear, args=(ours,), name="icarus-interrupts", daemon=True).start()
    return theirs


def _hear(ours: socket.socket) -> None:
    while signals := ours.recv(64):
        if signal.SIGINT in signals:
            ring()
            for listener in _listeners:
                listener()
        if _before[0] != _NOBODY:
            with contextlib.suppress(OSError):
                os.write(_before[0], signals)


def at_interrupt(listener: Callable[[], None]) -> Callable[[], None]:
    """Have `listener()` called in a thread of its own at each Ctrl-C, whatever runs; returns a function that ends it."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)
