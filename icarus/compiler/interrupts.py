"""Ctrl-C while compiled code runs: Python's own handler waits until it returns, so a word in memory tells it to.

The system writes a byte as soon as a signal comes (`signal.set_wakeup_fd`); a thread that waits for it rings. A compiled loop that
has heard fewer rings than there were returns at its next step, and Python does what Ctrl-C is to do. A loop inside a function of a game
or slot reads no such word: where a call has not returned a moment later, it is left (`leaving`).
"""

import contextlib
import functools
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from icarus.compiler.debug import leaving

RINGS = np.zeros(1, np.int64)  # so often have compiled loops been told to return
PATIENCE = 0.5  # seconds of a processor in which a compiled call should have returned
_LOOK = 0.05  # seconds between two looks whether it has
_NOBODY = -1
_listeners: list[Callable[[], None]] = []
_ending: list[Callable] = [signal.default_int_handler]  # handlers of Ctrl-C that are to end what runs
_before = [_NOBODY]  # who was told of signals before, and still is
_listens = [False]  # whether this process has asked to be told of signals for good


def ring() -> None:
    """Have every compiled loop of this process return at its next step; what is not meant begins the same playout anew."""
    RINGS[0] += 1


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Have Ctrl-C ring at once, also while compiled code runs. Elsewhere than in the main thread nothing needs to be done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _ask_to_be_told()
    try:
        with _heard_again():
            yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)


@contextlib.contextmanager
def _heard_again() -> Iterator[None]:
    """Have a Ctrl-C come once more that met a finalizer, out of which Python lets no exception: the compiler runs many."""
    told = sys.unraisablehook

    def tell(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            told(lost)
            return
        again = threading.Timer(_LOOK, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
        again.daemon = True
        again.start()

    sys.unraisablehook = tell
    try:
        yield
    finally:
        if sys.unraisablehook is tell:
            sys.unraisablehook = told


def listen() -> None:
    """Have Ctrl-C ring from now on, as long as nobody else asks to be told of signals; a child of this process asks for itself."""
    if not _listens[0] and threading.get_ident() == threading.main_thread().ident:
        _listens[0] = True
        before = _ask_to_be_told()
        if before not in (_NOBODY, _bell(os.getpid()).fileno()):
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)


def _ask_to_be_told() -> int:
    """Be told of signals; returns who was before."""
    own = _bell(os.getpid()).fileno()
    before = signal.set_wakeup_fd(own, warn_on_full_buffer=False)
    if before != own:
        _before[0] = before
    return before


def _forget() -> None:
    if _listens[0]:
        _listens[0] = False
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


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
            made = leaving.under_way()
            if made and signal.getsignal(signal.SIGINT) in _ending:
                threading.Thread(target=_leave, args=(made,), name="icarus-leaving", daemon=True).start()
            for listener in _listeners:
                listener()
        if _before[0] != _NOBODY:
            with contextlib.suppress(OSError):
                os.write(_before[0], signals)


def _leave(made: list[tuple[leaving.Calls, int]]) -> None:
    """Leave those of the calls that have not returned though they had the time for it, a processor's: a machine may be busy."""
    began = {calls: calls.spent() for calls, number in made if calls.makes(number)}
    while made := [(calls, number) for calls, number in made if calls.makes(number)]:
        late = [(calls, number) for calls, number in made if calls.spent() - began[calls] > PATIENCE]
        if late and not all([leaving.leave(calls, number) for calls, number in late]) and not _listeners:
            told = "icarus: a function of a game or slot does not return; only the end of the process ends it"
            print(told, file=sys.stderr, flush=True)
            return
        time.sleep(_LOOK)


def at_interrupt(listener: Callable[[], None]) -> Callable[[], None]:
    """Have `listener()` called in a thread of its own at each Ctrl-C, whatever runs; returns a function that ends it."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


@contextlib.contextmanager
def ended_by(handler: Callable) -> Iterator[None]:
    """Within, a handler of Ctrl-C that ends what runs is known as such."""
    _ending.append(handler)
    try:
        yield
    finally:
        _ending.remove(handler)
