"""Globals whose values have been compiled in, and what becomes of machine code when one of them is bound anew."""

import functools
import operator
import types as pytypes
import weakref
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeAlias, TypeVar

from icarus.compiler.cache.dependencies import names_in, reachable
from icarus.compiler.kernels.functions import Helper, is_helper

P = ParamSpec("P")
T = TypeVar("T")
Bindings: TypeAlias = dict[tuple[int, str], tuple[dict[str, Any], str, Any]]  # (namespace, name, value)
# Namespaces, what looks their names up, and the values.
Spaces: TypeAlias = list[tuple[dict[str, Any], Callable, list[Any]]]
_ABSENT = object()
_bindings: Bindings = {}  # of users' modules only
_spaces: Spaces = []  # the same
_compiled: "weakref.WeakSet[Any]" = weakref.WeakSet()  # what keeps machine code in which such values stand
_generation = [0]  # how often values have been found bound anew


def permanent_cache(make: Callable[P, T]) -> Callable[P, T]:
    """`functools.cache` whose values all stay: of two that threads make at once it drops one, whose address a search may use."""
    values: list[T] = []

    @functools.cache
    def made(*arguments: P.args, **named: P.kwargs) -> T:
        value = make(*arguments, **named)
        values.append(value)
        return value

    return made  # type: ignore[return-value]  # to mypy it takes any arguments


def kernel_cache(make: Callable[P, T], most: int | None = None) -> Callable[P, T]:
    """`functools.cache` of a function that makes kernels, or looks at what they are made from: from `renew_rebound` on, what uses a global
    that was bound anew is made anew.

    What was made before is kept too, as a search may still use its addresses; where at most so many calls are kept, it holds what it uses.
    """

    @permanent_cache if most is None else functools.lru_cache(most)
    def made(generation: int, *arguments: P.args, **named: P.kwargs) -> T:
        return make(*arguments, **named)

    @functools.wraps(make)
    def cached(*arguments: P.args, **named: P.kwargs) -> T:
        return made(_generation[0], *arguments, **named)

    return cached


def watch(value: Any, names: frozenset[str]) -> None:
    """Remember what is compiled into a function: the values of its globals, and of the modules among them by `names`.

    A helper is told to compile anew later. What belongs to this package is never bound anew.
    """
    if is_helper(value) and (value.py_func.__closure__ or not _is_ours(value.py_func.__module__)):
        _compiled.add(value)
    if isinstance(value, pytypes.FunctionType) and not _is_ours(value.__module__):
        _bindings.update(_bound_in(value, names))
        _spaces.clear()


def _bound_in(function: pytypes.FunctionType, names: frozenset[str]) -> Bindings:
    """What the names in a function of a user's mean in its own namespace and in the modules that it names."""
    spaces = [function.__globals__]
    modules = [function.__globals__.get(name) for name in names]
    spaces += [vars(m) for m in modules if isinstance(m, pytypes.ModuleType) and not _is_library(m.__name__)]
    return {(id(space), name): (space, name, space[name]) for space in spaces for name in names & space.keys()}


class Current:
    """Whether functions can be used as they have been compiled: true until something that they reach is bound anew.

    Everything that was ever compiled is looked at where a search begins; here, before every question to a state, only what concerns it.
    """

    def __init__(self, functions: Iterable[Callable | None]) -> None:
        self._functions = tuple(functions)
        self.renew()

    def renew(self) -> None:
        """Begin again with what is bound now, which has been found to be the same."""
        bindings: Bindings = {}
        for function in self._functions:
            for _, value in () if function is None else reachable(function):
                if isinstance(value, pytypes.FunctionType) and not _is_ours(value.__module__):
                    bindings.update(_bound_in(value, frozenset(names_in(value.__code__))))
        self._generation, self._spaces = _generation[0], _by_namespaces(bindings)

    def __bool__(self) -> bool:
        return self._generation == _generation[0] and _are_untouched(self._spaces)


@kernel_cache
def current(*functions: Callable | None) -> Current:
    """Whether these can still be used; shared by all games that use them, for what they reach takes milliseconds to find."""
    return Current(functions)


def renew_rebound() -> None:
    """Have everything compiled anew if a global has been bound to another value since it was compiled in."""
    if _is_untouched():
        return
    if all(_is_same(space.get(name, _ABSENT), value) for space, name, value in _bindings.values()):
        for key, (space, name, _) in list(_bindings.items()):
            _bindings[key] = (space, name, space[name])
        _spaces.clear()
        return
    _bindings.clear()
    _spaces.clear()
    _generation[0] += 1
    for compiled in list(_compiled):
        if isinstance(compiled, Helper):
            compiled.forget()
        else:
            compiled.recompile()


def _is_untouched() -> bool:
    """Whether the very objects are bound, everywhere."""
    if not _spaces and _bindings:
        _spaces.extend(_by_namespaces(_bindings))
    return _are_untouched(_spaces)


def _are_untouched(spaces: Spaces) -> bool:
    try:
        return all([all(map(operator.is_, look_up(space), values)) for space, look_up, values in spaces])
    except KeyError:
        return False


def _by_namespaces(bindings: Bindings) -> Spaces:
    grouped: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
    for space, name, value in list(bindings.values()):
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
