"""Ctrl-C while compiled code runs: Python's own handler waits until it returns, so a flag in memory asks it to.

The system writes a byte as soon as a signal comes (`signal.set_wakeup_fd`); a thread that waits for it sets the flag. A compiled loop polls
the flag and returns at its next step, and Python raises KeyboardInterrupt. A function of a game or slot that never returns polls nothing:
there the second Ctrl-C ends the process.
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
from types import CodeType, FrameType
from typing import NoReturn, TypeAlias

import numpy as np

SignalHandler: TypeAlias = Callable[[int, FrameType | None], object]
INTERRUPT_FLAG = np.zeros(1, np.int64)  # a loop returns when this count is another than it was when the loop started
EXIT_CODE = 130  # of a process that Ctrl-C has ended
PATIENCE = 1.0  # seconds in which a loop that polls has returned, on a busy machine too
_AGAIN = 0.05  # seconds until a lost Ctrl-C is sent once more
_NO_DESCRIPTOR = -1
_compiled_calls: set[CodeType] = set()  # the code of Python functions that run compiled code
_late: list[FrameType] = []  # calls of compiled code that had not returned when the user was told so
_reminders: list[threading.Timer] = []  # the one that runs, if one does
_previous = [_NO_DESCRIPTOR]  # where the system wrote signals before; they are passed on
_permanent = [False]  # whether signals set the flag beyond a `polled_interrupts` block, too
_held_handler: list[SignalHandler] = []  # whose signals a `deferred_interrupts` block holds back
_pending: list[int] = []  # the signals that came in it


class Handler:
    """Python's own handler of Ctrl-C, but several presses within `PATIENCE` count as one: the second must not meet the code that keeps a
    result.

    Attributes:
        raised: when it last raised KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.raised = -PATIENCE

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        now = time.monotonic()
        if now - self.raised >= PATIENCE:
            self.raised = now
            raise KeyboardInterrupt


def set_interrupt_flag() -> None:
    """Have every compiled loop of this process return at its next step; a loop without an interrupt plays the same playout again."""
    INTERRUPT_FLAG[0] += 1


def runs_compiled_code(function: Callable) -> Callable:
    """Mark a Python function whose call is a call of compiled code: the second Ctrl-C ends the process if it does not return."""
    _compiled_calls.add(function.__code__)
    return function


@contextlib.contextmanager
def polled_interrupts() -> Iterator[None]:
    """Within, Ctrl-C sets the interrupt flag at once, also while compiled code runs. Does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, usual = _take_wakeup(), signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if usual:
            signal.signal(signal.SIGINT, Handler())
        with _resent():
            yield
    finally:
        if usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)


@contextlib.contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Within, Ctrl-C is handled at the end of the block, or at `handle_pending` in it: an exception amid its statements would do harm.

    Whoever handles it, does so then. Does nothing outside the main thread, in another such block, and where Ctrl-C is ignored.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is _note or not callable(handler):
        yield
        return
    _held_handler[:] = [handler]
    _pending.clear()
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        handle_pending()


def handle_pending() -> None:
    """Handle a Ctrl-C that is held back; raises KeyboardInterrupt, if there is no other handler."""
    if _pending and threading.current_thread() is threading.main_thread():
        _pending.clear()
        _held_handler[0](signal.SIGINT, None)


def _note(number: int, frame: FrameType | None) -> None:
    """Handle the signal within `deferred_interrupts`."""
    _pending.append(number)


@contextlib.contextmanager
def _resent() -> Iterator[None]:
    """Send a Ctrl-C again that came in a finalizer, which drops every exception: the compiler runs many of them."""
    hook, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)

    def resend(dropped: "sys.UnraisableHookArgs") -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            hook(dropped)
            return
        if isinstance(handler, Handler):
            handler.raised = -PATIENCE
        _start_timer(_AGAIN, signal.pthread_kill, threading.get_ident(), signal.SIGINT)

    sys.unraisablehook = resend
    try:
        yield
    finally:
        if sys.unraisablehook is resend:
            sys.unraisablehook = hook


def listen() -> None:
    """Listen from now on, unless another handler has asked for signals. A child of this process asks for itself."""
    if not _permanent[0] and threading.get_ident() == threading.main_thread().ident:
        _permanent[0] = True
        before = _take_wakeup()
        if before not in (_NO_DESCRIPTOR, _wakeup_socket(os.getpid()).fileno()):
            signal.set_wakeup_fd(before, warn_on_full_buffer=False)


def _take_wakeup() -> int:
    """Have the system write signals to our socket; returns where it wrote them before."""
    ours = _wakeup_socket(os.getpid()).fileno()
    before = signal.set_wakeup_fd(ours, warn_on_full_buffer=False)
    if before != ours:
        _previous[0] = before
    return before


def _forget() -> None:
    _late.clear()
    _reminders.clear()
    if _permanent[0]:
        _permanent[0] = False
        signal.set_wakeup_fd(_NO_DESCRIPTOR)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@functools.cache
def _wakeup_socket(process: int) -> socket.socket:
    """Where the system writes signals; a thread of this process reads them."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    threading.Thread(target=_receive, args=(reader,), name="icarus-interrupts", daemon=True).start()
    return writer


def _receive(reader: socket.socket) -> None:
    while signals := reader.recv(64):
        if signal.SIGINT in signals:
            set_interrupt_flag()
            handler = signal.getsignal(signal.SIGINT)
            handler = _held_handler[0] if handler is _note else handler
            if handler is signal.default_int_handler or isinstance(handler, Handler):
                _end_or_remind()
        if _previous[0] != _NO_DESCRIPTOR:
            with contextlib.suppress(OSError):
                os.write(_previous[0], signals)


# ------------------------------------------------------------------------------------ compiled code that does not return


def _end_or_remind() -> None:
    """End the process if the user was told that a call does not return, and it still has not; otherwise tell the user in a moment."""
    running = _calls_under_way()
    if any(call in running for call in _late):
        _end()
    if running and not any(timer.is_alive() for timer in _reminders):
        _reminders[:] = [_start_timer(PATIENCE, _remind, running)]


def _remind(calls: list[FrameType]) -> None:
    running = _calls_under_way()
    _late[:] = [call for call in calls if call in running]
    calls.clear()
    if _late:
        print("icarus: still in compiled code; press Ctrl-C again to end the process", file=sys.stderr, flush=True)


def _end() -> NoReturn:
    """End the process with one sentence; what it has printed is given a moment to be written."""
    _start_timer(0, sys.stdout.flush).join(_AGAIN)
    os.write(2, b"icarus: ended by the second Ctrl-C: a function of a game or slot did not return\n")
    os._exit(EXIT_CODE)


def _calls_under_way() -> list[FrameType]:
    """The calls of compiled code that threads of this process make now."""
    return [frame for frame in sys._current_frames().values() if frame.f_code in _compiled_calls]


def _start_timer(seconds: float, function: Callable, *arguments: object) -> threading.Timer:
    timer = threading.Timer(seconds, function, arguments)
    timer.daemon = True
    timer.start()
    return timer
