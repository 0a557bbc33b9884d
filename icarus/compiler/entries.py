"""Entries: functions of 64-bit integers as machine code, with their addresses."""

from collections.abc import Callable
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
        with global_compiler_lock:  # the linker has one list of names for all threads
            self.dispatcher = compiled(function, signature, name)
            result: Any = self.dispatcher.overloads[signature.args]
            self.address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        if self.address == 0:
            raise RuntimeError(f"{name} was compiled, but its machine code is nowhere to be found")

    def __call__(self, *arguments: int) -> int:
        return self.dispatcher(*arguments)


def compiled(function: Callable, signature: Any, name: str, **flags: Any) -> CPUDispatcher:
    """Compile a function for one signature, or load its machine code from the disk cache.

    Raises:
        CompilationError: the compiler refuses the function; the message names it and the line.
    """
    dispatcher = njit(nogil=True, boundscheck=DEBUG, **flags)(function)
    dispatcher._cache = DiskCache(name, digest(function, name, str(signature), sorted(flags.items())))
    try:
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
