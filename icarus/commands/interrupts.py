"""Ctrl-C for a command: it ends whatever runs, be it a loop in compiled code that no bell reaches."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from icarus.commands.options import INTERRUPTED
from icarus.engine.interrupts import at_interrupt, listening

_PATIENCE = 2.0  # seconds in which Ctrl-C should have had its effect


@contextlib.contextmanager
def interrupts(name: str) -> Iterator[None]:
    """Within, Ctrl-C ends whatever runs: what never returns to Python, a loop in a function of a game or slot, at the second press.

    Args:
        name: of the command, for what is told on stderr.
    """
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
        with listening():
            yield
    finally:
        end()
        signal.signal(signal.SIGINT, signal.default_int_handler)
