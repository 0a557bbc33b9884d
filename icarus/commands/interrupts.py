"""Ctrl-C for a command: it ends whatever runs, be it a loop in compiled code that no bell reaches and nobody can leave."""

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import typer

from icarus import starting
from icarus.commands.options import INTERRUPTED
from icarus.compiler.interrupts import at_interrupt, ended_by, listening

_PATIENCE = 2.0  # seconds in which Ctrl-C should have had its effect


def telling(command: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same command, which says in a line that Ctrl-C has ended it.

    Args:
        name: of the command, for what is told on stderr.
    """

    @functools.wraps(command)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return command(*arguments, **named)
        except KeyboardInterrupt as interrupt:
            print(f"{name}: interrupted{': ' if str(interrupt) else ''}{interrupt}", file=sys.stderr, flush=True)
            raise typer.Exit(INTERRUPTED) from None

    return run


def leave(code: int) -> NoReturn:
    """End the process; after Ctrl-C without tidying up: what the compiler has left half made cannot always be taken apart."""
    if code == INTERRUPTED:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
                stream.flush()
        os._exit(code)
    raise SystemExit(code)


@contextlib.contextmanager
def interrupts(name: str) -> Iterator[None]:
    """Within, Ctrl-C ends whatever runs: what neither returns to Python nor can be left, at the second press.

    Args:
        name: of the command, for what is told on stderr.
    """
    starting.ready()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # it is ignored, or somebody else's affair
        return
    pressed, handled = [0], [0]

    def handle(number: int, frame: Any) -> None:
        handled[0] = max(handled[0] + 1, pressed[0])
        signal.default_int_handler(number, frame)

    def tell() -> None:
        if pressed[0] > handled[0]:
            print(f"{name}: still in compiled code; press Ctrl-C again to end the process", file=sys.stderr, flush=True)

    def press() -> None:
        pressed[0] += 1
        if pressed[0] - handled[0] >= 2:
            told = f"{name}: ended by Ctrl-C in a function of a game or slot that did not return\n"
            os.write(sys.stderr.fileno(), told.encode())
            os._exit(INTERRUPTED)
        reminder = threading.Timer(_PATIENCE, tell)
        reminder.daemon = True
        reminder.start()

    signal.signal(signal.SIGINT, handle)
    end = at_interrupt(press)
    try:
        with listening(), ended_by(handle):
            yield
    finally:
        end()
        signal.signal(signal.SIGINT, signal.default_int_handler)
