"""Entries: functions of 64-bit integers as machine code, with their addresses."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from numba import njit, types
from numba.core import errors
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from icarus.compiler.cache import DiskCache
from icarus.compiler.digest import digest
from icarus.compiler.functions import DEBUG, DISABLED
from icarus.compiler.messages import CompilationError, mention, reason


class Entry:
    """A compiled function of 64-bit integers, with its address. Whoever holds the address must hold the entry."""

    def __init__(self, function: Callable, arity: int, name: str) -> None:
        if DISABLED:
            raise RuntimeError(f"{name} cannot be compiled: NUMBA_DISABLE_JIT is set; unset it to search")
        signature = types.int64(*(types.int64,) * arity)
        self.name = name
        with global_compiler_lock, interrupts_kept():  # the linker has one list of names for all threads
            self.dispatcher = compiled(function, signature, name)
            result: Any = self.dispatcher.overloads[signature.args]
            self.address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        if self.address == 0:
            raise RuntimeError(f"{name} was compiled, but its machine code is nowhere to be found")

    def __call__(self, *arguments: int) -> int:
        return self.dispatcher(*arguments)


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Within, Ctrl-C is never lost: the compiler calls Python from C, which drops exceptions and goes on with half a result."""
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    before: Any = signal.getsignal(signal.SIGINT)
    pressed: list[int] = []

    def note(number: int, frame: Any) -> None:
        try:
            before(number, frame)
        except BaseException:
            pressed.append(number)
            raise

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception:
        if not pressed:
            raise
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt("interrupted while compiling")


def compiled(function: Callable, signature: Any, name: str, **flags: Any) -> CPUDispatcher:
    """Compile a function for one signature, or load its machine code from the disk cache.

    Raises:
        CompilationError: the compiler refuses the function; the message names it and the line.
    """
    dispatcher = njit(nogil=True, boundscheck=DEBUG, **flags)(function)
    dispatcher._cache = DiskCache(name, digest(function, name, str(signature), sorted(flags.items())))
    try:
        with interrupts_kept():
            dispatcher.compile(signature)
    except errors.NumbaError as error:
        raise CompilationError(f"{name} cannot be compiled: {reason(function, error)}") from None
    except KeyError as error:  # how the compiler says that a record has no such field
        field = str(error.args[0])
        raise CompilationError(
            f"{name} cannot be compiled: no record here has a field {field!r}{mention(function, field)}"
        ) from None
    dispatcher.disable_compile()
    return dispatcher
