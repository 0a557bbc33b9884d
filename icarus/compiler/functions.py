"""Marks for functions that are compiled, and the compiler, which is loaded when it is first asked to compile."""

import contextlib
import functools
import importlib
import logging  # noqa: F401  # its own lock is to be taken after ours where a process forks: it begins to watch that first
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar, cast

# ------------------------------------------------------------------------------------- modules that are slow to load, and their types

# Held while anything of the compiler is loaded or extended: its modules import each other in circles, in which two threads meet; and
# while plain Python is made, which threads share. Who holds the compiler's own lock may take this one, never the other way round.
LOADING = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child has no thread that would load the rest
    os.register_at_fork(
        before=LOADING.acquire, after_in_parent=LOADING.release, after_in_child=LOADING.release
    )


def is_loaded(module: str) -> bool:
    """Whether a module has been loaded, as a whole."""
    loaded = sys.modules.get(module)
    return loaded is not None and not getattr(loaded.__spec__, "_initializing", False)


class Lazy:
    """Stands for a module, as in `types = Lazy("numba.core.types")`; nothing is loaded before an attribute is asked for."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python itself asks of all objects
            raise AttributeError(name)
        if not is_loaded(self.module):
            with LOADING:
                # the package as a whole first, since its modules import one another
                importlib.import_module(self.module.partition(".")[0])
                importlib.import_module(self.module)
        return getattr(sys.modules[self.module], name)


numba = Lazy("numba")
types = Lazy("numba.core.types")
_extending = Lazy("numba.extending")
_dispatchers = Lazy("numba.core.dispatcher")
_templates = Lazy("numba.core.typing.templates")
_errors = Lazy("numba.core.errors")
_pipeline = Lazy("icarus.compiler.pipeline")
_messages = Lazy("icarus.compiler.messages")

# What Numba and LLVM hand to those who extend them is `Any` here: most versions that we run with have no types for it.
F = TypeVar("F", bound=Callable)


class CompilationError(TypeError):
    """A function that cannot be compiled; the message is one sentence with the reason and the line."""


# ------------------------------------------------------------------------------------------------------------------------- helpers

# Bounds checks in everything that is compiled.
DEBUG = os.environ.get("ICARUS_DEBUG", "") not in ("", "0")
# Plain Python of kernels, where nothing is to be compiled.
MAKES_PLAIN: ContextVar[Any] = ContextVar("makes plain", default=None)
# (Function, what makes a body for it), by `overload`.
REPLACEMENTS: list[tuple[Callable, Callable]] = []
_registered: list[Callable] = []  # replacements that the compiler knows of
_in_memory = False


def compiler() -> Any:
    """The module `numba` with our extensions registered; loading it takes longer than a small search."""
    with LOADING:
        numba = importlib.import_module("numba")
        if numba.config.DISABLE_JIT:
            raise CompilationError(
                'NUMBA_DISABLE_JIT is set; unset it, or search in_python(game) with engine="python"'
            )
        if DEBUG:
            numba.config.BOUNDSCHECK = 1  # also in what users hand to the compiler themselves
        # A helper that was compiled for the rows of one table serves those of another that begin with the same fields.
        warnings.filterwarnings("ignore", message=".* has been considered a subtype of ")
        for function, make in REPLACEMENTS[len(_registered) :]:
            _registered.append(function)
            options = {**_pipeline.WITHIN, "forceinline": True, "error_model": "numpy"}
            _extending.overload(function, jit_options=options)(make)
    return numba


class Helper:
    """A function for use inside compiled ones. Called from Python it is compiled too, if it has no `plain`; `py_func` is its source.

    Attributes:
        plain: what is called from Python in its place, without a compiler; None if nothing is.
        targetoptions: what the compiler is asked for.
    """

    def __init__(
        self, function: Callable, plain: Callable | None = None, **targetoptions: object
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.plain, self.targetoptions = function, plain, targetoptions

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What the compiler keeps about the function for others that call it."""
        return compiler().njit(**self.targetoptions, **_pipeline.WITHIN)(self.py_func)

    @functools.cached_property
    def _called_from_python(self) -> Any:
        return compiler().njit(**self.targetoptions)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        return (self._called_from_python if _in_memory else self.dispatcher)._numba_type_

    def forget(self) -> None:
        """Have the function compiled anew when it is next called or met: something that it uses is another by now."""
        for name in ("dispatcher", "_called_from_python"):
            vars(self).pop(name, None)

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        if self.plain is not None:
            return self.plain(*arguments, **keywords)
        try:
            return self._called_from_python(*arguments, **keywords)
        except _errors.TypingError:
            kinds = ", ".join(type(each).__name__ for each in arguments)
            with _messages.compilation_errors(self.py_func, f"{self.py_func.__name__}({kinds})"):
                raise

    def __reduce__(self) -> tuple[Callable, tuple[str, str]]:
        return load_by_name, (self.py_func.__module__, self.py_func.__qualname__)


@contextlib.contextmanager
def parts_in_memory() -> Iterator[None]:
    """Within, what is compiled calls helpers that are machine code in memory each by itself, as the compiler usually does.

    Recursion and exceptions made of values need that.
    """
    global _in_memory
    before, _in_memory = _in_memory, True
    try:
        yield
    finally:
        _in_memory = before


def load_by_name(module: str, name: str) -> Any:
    """What a module has under a name, which may have dots."""
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def _marked(function: F, plain: Callable | None = None, **targetoptions: object) -> F:
    return cast(F, Helper(function, plain, nogil=True, **targetoptions))


def helper(function: F, plain: Callable | None = None) -> F:
    """A function for use inside compiled slots and games; runs as plain Python too."""
    return _marked(function, plain, boundscheck=DEBUG)


def inlined(function: F, plain: Callable | None = None) -> F:
    """A helper on the hottest path: its body is copied into each caller."""
    return _marked(function, plain, boundscheck=DEBUG, forceinline=True, error_model="numpy")


def inlined_once(function: F, boundscheck: bool = DEBUG) -> F:
    """A helper with one caller, into which its body is copied: nothing is handed over that it does not read. Division by 0 raises."""
    return _marked(function, boundscheck=boundscheck, forceinline=True)


def is_helper(value: object) -> bool:
    """Whether a value is a function for use inside compiled ones, whoever marked it."""
    return isinstance(value, Helper) or (
        is_loaded("numba") and isinstance(value, _dispatchers.Dispatcher)
    )


def python_of(function: Callable) -> Callable:
    """The Python function inside a helper: for Python's own occasional use, which is not worth a compilation."""
    return getattr(function, "py_func", function)


class Intrinsic:
    """A function whose machine code is written down: `definition(typing context, types…)` gives its signature and makes the code."""

    def __init__(self, definition: Callable) -> None:
        functools.update_wrapper(self, definition)
        self.definition = definition

    @functools.cached_property
    def _numba_type_(self) -> Any:
        compiler()
        return types.Function(
            _templates.make_intrinsic_template(self, self.definition, self.definition.__name__)
        )

    def __call__(self, *arguments: object) -> Any:
        raise NotImplementedError(f"{self.definition.__name__} can be called in compiled code only")


intrinsic: Any = Intrinsic  # untyped: what it makes is called without the typing context


def overload(function: Callable) -> Callable[[Callable], Callable]:
    """Mark what compiled code has in a function's place: `make(types of its arguments)` gives a body to be compiled."""

    def mark(make: Callable) -> Callable:
        REPLACEMENTS.append((function, make))
        if is_loaded("numba"):
            compiler()
        return make

    return mark


class CompiledCallable:
    """A value that compiled code calls like a function: a slot, or another that holds one."""

    @property
    def compiled(self) -> Callable:
        """The helper that is called in its place.

        Raises:
            AttributeError: it cannot be; the sentence says why.
        """
        raise NotImplementedError

    @property
    def _numba_type_(self) -> Any:
        try:
            return self.compiled._numba_type_  # type: ignore[attr-defined]
        except AttributeError as error:
            raise _errors.TypingError(f"uncallable: {error}") from None
