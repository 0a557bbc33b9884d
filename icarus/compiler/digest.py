"""Names for machine code: a digest of everything that a function was made from, so that an edit anywhere never runs stale code."""

import functools
import hashlib
import platform
import sys
import types as pytypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

from icarus.compiler.functions import DEBUG

PACKAGE = Path(__file__).parent.parent
BELOW = (
    "compiler",
    "kernel",
)  # whose sources stand for themselves: what they have the compiler do is no function that is reached
LIBRARIES = {"numpy", "numba", "math", "builtins"}  # their versions stand for what they hold


def reachable(function: Callable) -> Iterator[tuple[str, Any]]:
    """Every function, flag and constant that a function can reach through globals, modules, containers and closures, by name."""
    pending: list[tuple[str, Any, frozenset[str]]] = [("", function, frozenset())]
    seen: set[tuple[int, frozenset[str]]] = set()
    while pending:
        name, value, names = pending.pop()
        if hasattr(value, "py_func"):
            yield f"{name} flags", tuple(sorted((key, str(flag)) for key, flag in value.targetoptions.items()))
            value = value.py_func
        module = value.__name__ if isinstance(value, pytypes.ModuleType) else getattr(value, "__module__", None) or ""
        if isinstance(value, pytypes.FunctionType | pytypes.ModuleType):
            if (id(value), names) in seen or module.partition(".")[0] in LIBRARIES:
                continue
            seen.add((id(value), names))
        if isinstance(value, pytypes.FunctionType):
            yield value.__qualname__, value
            names = frozenset(_names(value.__code__))
            found = {name: value.__globals__[name] for name in names if name in value.__globals__}
            found.update(
                {
                    name: cell.cell_contents
                    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
                }
            )
            for name, item in sorted(found.items()):
                pending.append((name, item, names if isinstance(item, pytypes.ModuleType) else frozenset()))
        elif isinstance(value, pytypes.ModuleType):
            pending += [
                (f"{module}.{inside}", getattr(value, inside), names)
                for inside in sorted(names)
                if hasattr(value, inside)
            ]
        elif isinstance(value, tuple | list) and any(callable(item) for item in value):
            pending += [(f"{name}[{i}]", item, frozenset()) for i, item in enumerate(value)]
        else:
            yield name, value


def _names(code: pytypes.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            yield from _names(constant)


@functools.cache
def attributes_read(function: Callable) -> frozenset[str]:
    """The names of all globals and attributes that a function, or a function it reaches, mentions."""
    functions = [value for _, value in reachable(function) if isinstance(value, pytypes.FunctionType)]
    return frozenset(name for value in functions for name in _names(value.__code__))


def _describe(value: Any) -> bytes:
    if isinstance(value, pytypes.FunctionType):
        return _describe(value.__code__) + repr(value.__defaults__).encode()
    if isinstance(value, pytypes.CodeType):
        constants = b"|".join(_describe(constant) for constant in value.co_consts)
        return value.co_code + repr((value.co_names, value.co_varnames, value.co_freevars)).encode() + constants
    if isinstance(value, np.ndarray):
        return repr(value.dtype).encode() + repr(value.shape).encode() + value.tobytes()
    if isinstance(value, int | float | complex | str | bytes | np.generic | np.dtype | frozenset | type(None)):
        return repr(value).encode()
    if isinstance(value, tuple | list):
        return b"(" + b",".join(_describe(item) for item in value) + b")"
    if isinstance(value, type):
        members = sorted(
            (name, repr(member))
            for name, member in vars(value).items()
            if not name.startswith("__") and isinstance(member, int | float | str | bytes | tuple)
        )
        return repr((value.__qualname__, members)).encode()
    return f"{type(value).__qualname__} {getattr(value, '__qualname__', '')}".encode()


def digest(function: Callable, *context: Any) -> str:
    """A name for the machine code of a function: changes when anything that it was made from changes."""
    hasher = hashlib.sha256(repr(context).encode())
    for name, value in reachable(function):
        hasher.update(name.encode() + b"=" + _describe(value) + b";")
        if isinstance(value, pytypes.FunctionType) and PACKAGE in Path(value.__code__.co_filename).parents:
            hasher.update(_source(value.__code__.co_filename))
    return hasher.hexdigest()[:24]


@functools.cache
def _source(path: str) -> bytes:
    return Path(path).read_bytes()


@functools.cache
def package_digest() -> str:
    """A name for the engine's sources and the tools that compile them; games and specifications enter with `digest`."""
    hasher = hashlib.sha256()
    for path in sorted(path for folder in BELOW for path in (PACKAGE / folder).glob("*.py")):
        hasher.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    versions = (sys.version, np.__version__, numba.__version__, llvmlite.__version__, platform.machine(), DEBUG)
    hasher.update(repr(versions).encode())
    return hasher.hexdigest()[:16]
