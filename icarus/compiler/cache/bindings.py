"""Globals whose values have been compiled in, and what becomes of machine code where somebody binds one of them anew."""

import functools
import operator
import types as pytypes
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from icarus.compiler.kernels.functions import Helper, is_helper

T = TypeVar("T")
_ABSENT = object()
_bindings: dict[
    tuple[int, str], tuple[dict[str, Any], str, Any]
] = {}  # (namespace, name, value), of users' modules only
_spaces: list[
    tuple[dict[str, Any], Callable, list[Any]]
] = []  # the same by namespaces: what looks names up, and the values
_compiled: "weakref.WeakSet[Any]" = weakref.WeakSet()  # what keeps machine code in which such values stand
_generation = [0]  # how often values have been found bound anew


def kernel_cache(make: Callable[..., T], most: int | None = None) -> Callable[..., T]:
    """`functools.cache` of a function that makes kernels: from `renew_rebound` on, what uses a global that was bound anew is made anew.

    What was made before is kept too, as a search may still use its addresses; where at most so many calls are kept, it holds what it uses.
    """

    @functools.lru_cache(most)
    def made(generation: int, *arguments: Any, **named: Any) -> T:
        return make(*arguments, **named)

    @functools.wraps(make)
    def cached(*arguments: Any, **named: Any) -> T:
        return made(_generation[0], *arguments, **named)

    return cached


def watch(value: Any, names: frozenset[str]) -> None:
    """Remember what is compiled into a function: the values of its globals, and of the modules among them by `names`.

    A helper is told to compile anew later. What belongs to this package is never bound anew.
    """
    if is_helper(value) and (value.py_func.__closure__ or not _is_ours(value.py_func.__module__)):
        _compiled.add(value)
    if isinstance(value, pytypes.FunctionType) and not _is_ours(value.__module__):
        spaces = [value.__globals__]
        modules = [value.__globals__.get(name) for name in names]
        spaces += [vars(m) for m in modules if isinstance(m, pytypes.ModuleType) and not _is_library(m.__name__)]
        for space in spaces:
            for name in names & space.keys():
                _bindings[id(space), name] = (space, name, space[name])
        _spaces.clear()


def renew_rebound() -> int:
    """Have everything compiled anew if a global has been bound to another value since it was compiled in; returns how often it has been."""
    if _is_untouched():
        return _generation[0]
    if all(_is_same(space.get(name, _ABSENT), value) for space, name, value in _bindings.values()):
        for key, (space, name, _) in list(_bindings.items()):
            _bindings[key] = (space, name, space[name])
        _spaces.clear()
        return _generation[0]
    _bindings.clear()
    _spaces.clear()
    _generation[0] += 1
    for compiled in list(_compiled):
        if isinstance(compiled, Helper):
            compiled.forget()
        else:
            compiled.recompile()
    return _generation[0]


def _is_untouched() -> bool:
    """Whether the very objects are bound. Every question to a state asks this, so it is asked of whole namespaces."""
    if not _spaces and _bindings:
        _spaces.extend(_by_namespaces())
    try:
        return all([all(map(operator.is_, look_up(space), values)) for space, look_up, values in _spaces])
    except KeyError:
        return False


def _by_namespaces() -> list[tuple[dict[str, Any], Callable, list[Any]]]:
    grouped: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
    for space, name, value in list(_bindings.values()):
        grouped.setdefault(id(space), (space, {}))[1][name] = value
    # a getter of one name gives no tuple: the first stands there twice
    return [
        (space, operator.itemgetter(*values, next(iter(values))), [*values.values(), next(iter(values.values()))])
        for space, values in grouped.values()
    ]


def _is_same(value: Any, before: Any) -> bool:
    return value is before or (type(value) is type(before) and isinstance(value, _SCALARS) and value == before)


_SCALARS = (int, float, complex, str)


def _is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "icarus"


def _is_library(module: str) -> bool:
    return _is_ours(module) or module.partition(".")[0] in ("numpy", "numba", "math", "operator")
