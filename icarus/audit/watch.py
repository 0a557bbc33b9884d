"""The process of an audit: a function of a game that does not return is named, and ends the audit, not the program."""

import mmap
import multiprocessing
import os
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from icarus.compiler import defined_at
from icarus.kernel import ROWS, AnyGame
from icarus.kernel.functions import OF_PYTHON_GAMES

SECONDS = 30.0  # in which a function of a game returns, also where it is compiled first
WAITING = 10  # times as long a function may wait, for the processor too
PATIENCE = 2.0  # seconds in which one in plain Python that is stopped can say in which line it was
TICK = 0.1  # seconds
NUMBERS = {name: number for number, name in enumerate(["", *ROWS, *OF_PYTHON_GAMES])}
Progress = Callable[[int, int], None]
T = TypeVar("T")

# In the process of an audit, and shared with the one that watches it: the number of the function that runs, from 1, or 0 for none;
# and how many have been asked.
_shared = memoryview(bytearray(2 * 8)).cast("q")


_ask = AnyGame.ask


def _ask_watched(game: AnyGame, name: str, *inputs: Any) -> Any:
    """`AnyGame.ask` in the process of an audit."""
    before = _shared[0]
    _shared[0] = NUMBERS[name]
    _shared[1] += 1
    try:
        return _ask(game, name, *inputs)
    finally:
        _shared[0] = before


class DoesNotReturnError(Exception):
    """A function of a game does not return; the message names it, and its line."""


def watched(game: AnyGame, audit: Callable[[Progress], T], progress: Progress) -> T:
    """The result of an audit, which runs in a process of its own where there can be one.

    Raises:
        DoesNotReturnError: a function of the game runs for more than `SECONDS`.
        KeyboardInterrupt: Ctrl-C; it names the function that ran.
    """
    if not hasattr(os, "fork"):
        return audit(progress)
    shared = memoryview(mmap.mmap(-1, 2 * 8)).cast("q")
    reading, writing = multiprocessing.Pipe(duplex=False)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or it would be written twice
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that threads are not there afterwards
        child = os.fork()
    if child == 0:
        _work(audit, writing, shared)
    writing.close()
    try:
        return _followed(game, child, reading, shared, progress)
    # the process of the audit may have been interrupted too, and then has said where
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(str(stop) or _running(game, shared)) from None
    finally:
        reading.close()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _work(audit: Callable[[Progress], Any], writing: Connection, shared: memoryview) -> None:
    """Run an audit in this process, send its progress and its result or error, and end the process."""
    global _shared
    _shared = shared
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        AnyGame.ask = _ask_watched  # type: ignore[assignment, method-assign]  # of all games, in this process alone
        try:
            outcome = "result", audit(lambda *done: writing.send(("progress", done)))
        except BaseException as error:
            outcome = "error", error
        try:
            writing.send(outcome)
        # an exception that holds what cannot be sent
        except (TypeError, AttributeError, pickle.PicklingError):
            writing.send(("error", RuntimeError(repr(outcome[1]))))
        sys.stdout.flush()
    finally:
        os._exit(0)


def _followed(
    game: AnyGame, child: int, reading: Connection, shared: memoryview, progress: Progress
) -> Any:
    """The result of the audit in another process, whose functions are watched."""
    calls = -1
    since = _clock(child)
    is_stopped = False
    while True:
        if reading.poll(TICK):
            try:
                kind, value = reading.recv()
            except EOFError:
                raise RuntimeError(
                    f"the process of the audit of {game} has ended {_running(game, shared)}"
                ) from None
            if kind == "result":
                return value
            if kind == "error":
                raise DoesNotReturnError(_late(str(value))) if is_stopped else value
            progress(*value)
        seconds = SECONDS + PATIENCE if is_stopped else SECONDS
        if calls != shared[1]:
            calls = shared[1]
            since = _clock(child)
        elif shared[0] and _clock(child) > since + seconds:
            if is_stopped:  # machine code is not interrupted
                raise DoesNotReturnError(_late(_running(game, shared)))
            os.kill(child, signal.SIGINT)
            is_stopped = True


def _clock(child: int) -> float:
    """The seconds in which a process works, and a tenth of those in which it waits: no game is blamed for a busy machine."""
    if sys.platform != "linux":
        return time.monotonic()
    # clock_getcpuclockid(3)
    return time.clock_gettime(~child << 3 | 2) + time.monotonic() / WAITING


def _late(where: str) -> str:
    return f"a function has not returned after {SECONDS:g} s: {where}"


def _running(game: AnyGame, shared: memoryview) -> str:
    name = [*NUMBERS][shared[0]]
    function = getattr(game, name, None)
    return f"in {name} of {game}{defined_at(function)}" if function else "between two functions"
