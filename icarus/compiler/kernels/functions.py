"""Marks for functions that are compiled, and the switches of the compiler, which is loaded when it is first asked to compile."""

import contextlib
import functools
import importlib
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from icarus.compiler.cache.symbols import draw_numbers
from icarus.compiler.lazy import LOADING, Lazy, is_loaded, types
from icarus.compiler.numba_types import Dispatcher, NumbaModule, NumbaType

DEBUG = os.environ.get("ICARUS_DEBUG", "") not in ("", "0")  # bounds checks in everything that is compiled
DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")  # the compiled slots run as plain Python
REPLACEMENTS: list[tuple[Callable, Callable]] = []  # (function, what makes a body for it), by `compiled_as`
_extending = Lazy("numba.extending")
_dispatchers = Lazy("numba.core.dispatcher")
_templates = Lazy("numba.core.typing.templates")
_pipeline = Lazy("icarus.compiler.kernels.pipeline")
_in_memory = False
_registered: list[Callable] = []  # replacements that the compiler knows of
F = TypeVar("F", bound=Callable)


def compiler() -> NumbaModule:
    """Numba with our extensions registered; loading it takes longer than a small search."""
    with LOADING:
        numba = importlib.import_module("numba")
        if DEBUG:
            numba.config.BOUNDSCHECK = 1  # also in what users hand to the compiler themselves
        # A helper that was compiled for the rows of one table serves those of another that begin with the same fields.
        warnings.filterwarnings("ignore", message=".* has been considered a subtype of ")
        draw_numbers()
        importlib.import_module("icarus.compiler.kernels.namespaces")
        for function, make in REPLACEMENTS[len(_registered) :]:
            _registered.append(function)
            _extending.overload(
                function, jit_options={**_pipeline.WITHIN, "forceinline": True, "error_model": "numpy"}
            )(make)
    return numba


class Helper:
    """A function for use inside compiled ones. Called from Python it is compiled too; `py_func` is the plain function.

    Attributes:
        targetoptions: what the compiler is asked for.
    """

    def __init__(self, function: Callable, **targetoptions: object) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.targetoptions = function, targetoptions

    @functools.cached_property
    def dispatcher(self) -> Dispatcher:
        """What the compiler keeps about the function for others that call it."""
        return compiler().njit(**self.targetoptions, **_pipeline.WITHIN)(self.py_func)

    @property
    def _numba_type_(self) -> NumbaType:
        dispatcher = self._called_from_python if _in_memory else self.dispatcher
        return dispatcher._numba_type_

    @functools.cached_property
    def _called_from_python(self) -> Dispatcher:
        return compiler().njit(**self.targetoptions)(self.py_func)

    @property
    def dispatchers(self) -> list[Dispatcher]:
        """Those of the two that have been made: `dispatcher`, and the one that is in memory by itself."""
        return [vars(self)[name] for name in ("dispatcher", "_called_from_python") if name in vars(self)]

    def forget(self) -> None:
        """Have the function compiled anew when it is next called or met: something that it uses is another by now."""
        for name in ("dispatcher", "_called_from_python"):
            vars(self).pop(name, None)

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        return self._called_from_python(*arguments, **keywords)

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


def helper(function: F) -> F:
    """A function for use inside compiled slots and games; runs as plain Python too."""
    return function if DISABLED else cast(F, Helper(function, nogil=True, boundscheck=DEBUG))


def inlined(function: F) -> F:
    """A helper on the hottest path: its body is copied into each caller."""
    if DISABLED:
        return function
    return cast(F, Helper(function, nogil=True, boundscheck=DEBUG, forceinline=True, error_model="numpy"))


def is_helper(value: object) -> bool:
    """Whether a value is a function for use inside compiled ones, whoever marked it."""
    return isinstance(value, Helper) or (is_loaded("numba") and isinstance(value, _dispatchers.Dispatcher))


def inlined_once(function: F, boundscheck: bool = DEBUG) -> F:
    """A helper with one caller, into which its body is copied: nothing is handed over that it does not read. Division by 0 raises."""
    return function if DISABLED else cast(F, Helper(function, nogil=True, boundscheck=boundscheck, forceinline=True))


def plain(function: Callable) -> Callable:
    """The Python function inside a helper: for Python's own occasional use, which is not worth a compilation."""
    return getattr(function, "py_func", function)


class Intrinsic:
    """A function whose machine code is written down: `definition(typing context, types…)` gives its signature and makes the code."""

    def __init__(self, definition: Callable) -> None:
        functools.update_wrapper(self, definition)
        self.definition = definition

    @functools.cached_property
    def _numba_type_(self) -> NumbaType:
        compiler()
        return types.Function(_templates.make_intrinsic_template(self, self.definition, self.definition.__name__))

    def __call__(self, *arguments: object) -> Any:
        raise NotImplementedError(f"{self.definition.__name__} can be called in compiled code only")


intrinsic: Any = Intrinsic  # untyped: what it makes is called without the typing context


def compiled_as(function: Callable) -> Callable[[Callable], Callable]:
    """Mark what compiled code has in a function's place: `make(types of its arguments)` gives a body to be compiled."""

    def mark(make: Callable) -> Callable:
        REPLACEMENTS.append((function, make))
        if is_loaded("numba"):
            compiler()
        return make

    return mark
