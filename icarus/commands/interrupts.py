"""Ctrl-C for a command: what it prints, and how the process ends."""

import contextlib
import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import typer

from icarus import starting
from icarus.commands.options import INTERRUPTED
from icarus.compiler.interrupts import polled_interrupts


def reporting_interrupts(command: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same command, which prints one line when Ctrl-C has ended it; until it begins, Ctrl-C ends the process without a word.

    Args:
        name: of the program, with which the line begins.
    """

    @functools.wraps(command)
    def run(*arguments: Any, **keywords: Any) -> Any:
        try:
            starting.restore_interrupts()
            return command(*arguments, **keywords)
        except KeyboardInterrupt as interrupt:
            print(f"{name}: interrupted{': ' if str(interrupt) else ''}{interrupt}", file=sys.stderr, flush=True)
            raise typer.Exit(INTERRUPTED) from None

    return run


def end(code: int) -> NoReturn:
    """End the process; after Ctrl-C without finalizers: the compiler cannot always take apart what it has half made."""
    if code == INTERRUPTED:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
                stream.flush()
        os._exit(code)
    raise SystemExit(code)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within, Ctrl-C raises KeyboardInterrupt, also out of compiled loops; where these do not return, the second one ends the process."""
    # Elsewhere Ctrl-C is ignored, or somebody else handles it.
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with polled_interrupts() if is_usual else contextlib.nullcontext():
        yield
