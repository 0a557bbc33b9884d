"""Kernels: functions of 64-bit integers as machine code, with their addresses."""

import contextlib
import gc
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from icarus.compiler.cache.disk import DiskCache, File
from icarus.compiler.cache.machine import MachineCode
from icarus.compiler.digest import digest
from icarus.compiler.errors import CompilationError
from icarus.compiler.interrupts import deferred_interrupts, handle_pending, listen, runs_compiled_code
from icarus.compiler.kernels.functions import DEBUG, DISABLED, compiler, parts_in_memory
from icarus.compiler.lazy import Lazy, is_loaded, types
from icarus.compiler.messages import about_fields, about_kinds, mention, reason
from icarus.compiler.numba_types import Dispatcher, Signature
from icarus.compiler.read_only import describe_forbidden_write

_pipeline = Lazy("icarus.compiler.kernels.pipeline")
_errors = Lazy("numba.core.errors")
_events = Lazy("numba.core.event")
_lock = Lazy("numba.core.compiler_lock")
_NEEDS_COMPILER = "needs the compiler when it runs"
Stored: TypeAlias = tuple[bytes, str] | str  # an object file with the name of its function; or _NEEDS_COMPILER
Code: TypeAlias = MachineCode | str
_alive: list["Kernel"] = []


class Kernel:
    """A compiled function of 64-bit integers, with its address; it is never freed, since a search may use that.

    Args:
        returns: what the author's function in it must return, in words, for whom it does not.

    Attributes:
        fresh: whether it has just been compiled, and is not from the disk.
    """

    def __init__(self, function: Callable, arity: int, name: str, returns: str = "") -> None:
        if DISABLED:
            raise RuntimeError(f"{name} cannot be compiled: NUMBA_DISABLE_JIT is set; unset it before you search")
        self.name, self.fresh = name, False
        self._file = File(name, digest(function, name, arity))
        with interrupts_between_passes():
            code = self._file.read_early(lambda stored: _load(stored, arity))
        code = code or self._compile(function, arity, returns)
        self._code = _DispatchedCode(function, arity, name) if isinstance(code, str) else code
        self.address: int = self._code.address
        _alive.append(self)

    def __call__(self, *arguments: int) -> int:
        listen()
        return self._code(*arguments)

    def _compile(self, function: Callable, arity: int, returns: str) -> Code:
        load_compiler()
        signature = types.int64(*(types.int64,) * arity)
        with _lock.global_compiler_lock, self._file.compiling(), interrupts_between_passes(), collection_paused():
            code = self._file.read(lambda stored: _load(stored, arity))
            if code is not None:  # another process has just compiled it
                return code
            self.fresh = True
            dispatcher = _pipeline.kernel_dispatcher(function, nogil=True, boundscheck=DEBUG)
            with compilation_errors(function, self.name, returns):
                dispatcher.compile(signature)
            handle_pending()
            result = dispatcher.overloads[signature.args]
            wrong = returns and about_kinds(function, result.type_annotation.typemap.values(), returns)
            if wrong:
                raise CompilationError(f"{self.name} cannot be compiled: {wrong}")
            machine_code = result.library.machine_code()
            alone = result.library.stands_alone()
            stored: Stored = (machine_code, result.fndesc.llvm_func_name) if alone else _NEEDS_COMPILER
            self._file.write(result.library, stored)
            return _load(stored, arity)

    def forget(self) -> None:
        """Keep no machine code of it on the disk."""
        self._file.delete()
        if isinstance(self._code, _DispatchedCode):
            self._code.dispatcher._cache.delete()


def _load(stored: Stored, arity: int) -> Code:
    return stored if isinstance(stored, str) else MachineCode(*stored, arity)


class _DispatchedCode:
    """A function whose machine code works with objects of Python, or raises exceptions made of what it met: the compiler runs it."""

    def __init__(self, function: Callable, arity: int, name: str) -> None:
        load_compiler()
        signature = types.int64(*(types.int64,) * arity)
        with _lock.global_compiler_lock:  # the linker has one list of names for all threads
            with parts_in_memory():
                self.dispatcher = compiled(function, signature, name)
            result = self.dispatcher.overloads[signature.args]
            with interrupts_between_passes():
                self.address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        if self.address == 0:
            raise RuntimeError(f"{name} was compiled, but its machine code was not found")

    @runs_compiled_code
    def __call__(self, *arguments: int) -> int:
        return self.dispatcher(*arguments)


def load_compiler() -> None:
    """Load the compiler, as a whole if at all."""
    with deferred_interrupts():
        compiler()


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Within, no garbage is looked for: the compiler makes millions of objects, and looking through them takes a seventh of its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextlib.contextmanager
def interrupts_between_passes() -> Iterator[None]:
    """Within, Ctrl-C is handled where the compiler begins a pass, or at the end, and nowhere else.

    Anywhere else, an exception comes between what a function of LLVM has done and what Python knows of it, and then memory is freed twice;
    or in a finalizer or a callback, which drop exceptions.
    """
    with deferred_interrupts():
        if not is_loaded("numba"):  # nothing is compiled before it is loaded
            yield
            return
        with _events.install_listener("numba:run_pass", _pipeline.OnPass(handle_pending)):
            yield


def compiled(function: Callable, signature: Signature, name: str, **flags: object) -> Dispatcher:
    """Compile a function for one signature, or load its machine code from the disk cache.

    Raises:
        CompilationError: the compiler refuses the function; the message names it and the line.
    """
    with interrupts_between_passes():
        dispatcher = compiler().njit(nogil=True, boundscheck=DEBUG, **flags)(function)
    cache = dispatcher._cache = DiskCache(name, digest(function, name, str(signature), sorted(flags.items())))
    with _lock.global_compiler_lock, cache.compiling(), compilation_errors(function, name), interrupts_between_passes():
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


@contextlib.contextmanager
def compilation_errors(function: Callable, name: str, returns: str = "") -> Iterator[None]:
    """Within, what the compiler refuses is told in one sentence; arguments as of a `Kernel`.

    Raises:
        CompilationError: the compiler refuses the function; the message names it and the line.
    """
    try:
        yield
    except KeyError as error:  # how the compiler says that a record has no such field
        field = str(error.args[0])
        raise CompilationError(
            f"{name} cannot be compiled: no record here has a field {field!r}{about_fields(error)}{mention(function, field)}"
        ) from None
    except AttributeError as error:
        sentence, missing = (
            describe_forbidden_write(name, error),
            re.fullmatch(r"module '.*' has no attribute '(\w+)'", str(error)),
        )
        if missing:
            sentence = f"cannot be compiled: {error}{mention(function, missing[1])}"
        if not sentence:
            raise
        raise CompilationError(f"{name} {sentence}") from None
    except (_errors.NumbaError, _errors.UnsupportedBytecodeError) as error:  # the second is none of the first
        sentence = describe_forbidden_write(name, error)
        if sentence:
            raise CompilationError(f"{name} {sentence}") from None
        raise CompilationError(f"{name} cannot be compiled: {reason(function, error, returns)}") from None
