"""All that a function's machine code is made from: what it reaches through globals, modules, containers, closures and the compiler.

What the compiler puts in a function's place counts as reached from it: the body of an `@intrinsic` or `@overload`.
What counts is what the process holds in memory, never what a file says by now.
"""

import contextlib
import functools
import operator
import types as pytypes
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from icarus.compiler.errors import CompilationError
from icarus.compiler.kernels.callables import CompiledCallable, Namespace
from icarus.compiler.kernels.functions import REPLACEMENTS, Intrinsic
from icarus.compiler.lazy import Lazy, is_loaded, types

_imputils = Lazy("numba.core.imputils")
_templates = Lazy("numba.core.typing.templates")
_extending = Lazy("numba.core.extending")

LIBRARIES = {"numpy", "numba", "llvmlite", "math", "builtins", "_operator", "operator"}  # their versions stand for them
NONE: frozenset[str] = frozenset()
PLAIN = int | float | complex | str | bytes | tuple | np.generic | np.dtype | None  # equal ones are the same
UNSUPPORTED = {  # by the type of what a decorator of the compiler makes: its body is not followed, so an edit would run stale code
    "CFunc": "@cfunc",
    "DUFunc": "@vectorize",
    "GUFunc": "@guvectorize",
    "JitClassType": "@jitclass",
    "StencilFunc": "@stencil",
}
Part = tuple[str, object, frozenset[str]]  # a name, a value, and the names by which a value that is a module is asked


def reachable(function: Callable) -> Iterator[tuple[str, object]]:
    """Every function, flag and constant that a function can reach, by name, in an order that its content decides.

    Containers and what the compiler makes of functions come as themselves and are followed by what is in them. A function of a
    library comes as its name, and what is met again as the number of its first meeting.

    Raises:
        CompilationError: it reaches what a decorator in `UNSUPPORTED` has made.
    """
    pending: list[Part] = [("", function, NONE)]
    pending += [(f"{function_of} by overload", body, NONE) for function_of, body in _overloaded_operators()]
    numbers: dict[tuple[int, frozenset[str]], int] = {}
    alive: list[object] = []  # an address stands for one value as long as that value lives
    while pending:
        name, value, names = pending.pop()
        _refuse_unsupported(name, value)
        if not isinstance(value, PLAIN):
            if (id(value), names) in numbers:
                yield name, f"number {numbers[id(value), names]}"
                continue
            numbers[id(value), names] = len(numbers)
            alive.append(value)
        if _of_a_library(value):
            yield name, f"{type(value).__name__} {_module_of(value)} {getattr(value, '__qualname__', '')}"
        else:
            yield getattr(value, "__qualname__", name) if isinstance(value, pytypes.FunctionType) else name, value
        pending += [(f"{name}.{part}", item, inside) for part, item, inside in reversed(list(_parts(value, names)))]


def _refuse_unsupported(name: str, value: object) -> None:
    decorator = UNSUPPORTED.get(type(value).__name__)
    if decorator and type(value).__module__.startswith("numba."):
        what = name.rpartition(".")[2]
        raise CompilationError(f"{what} is made by {decorator}, which games and slots cannot use; use @helper instead")


def names_in(code: pytypes.CodeType) -> Iterator[str]:
    """The names of globals and attributes that stand in a function's code, and in functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            yield from names_in(constant)


def _module_of(value: object) -> str:
    if isinstance(value, Lazy):
        return value.module
    if isinstance(value, pytypes.ModuleType):
        return str(value.__name__)
    return getattr(value, "__module__", None) or getattr(value, "__globals__", {}).get("__name__") or ""


def _of_a_library(value: object) -> bool:
    kinds = pytypes.FunctionType | pytypes.ModuleType | pytypes.BuiltinFunctionType | Lazy
    return isinstance(value, kinds) and _module_of(value).partition(".")[0] in LIBRARIES


def _parts(value: object, names: frozenset[str]) -> Iterator[Part]:
    """What a value is made of, one step down."""
    if callable(value):
        for body in _replacements(value):
            yield "by overload", body, NONE
    if _of_a_library(value):
        return
    if isinstance(value, tuple | list):
        for i, item in enumerate(value):
            yield str(i), item, NONE
    elif isinstance(value, pytypes.ModuleType):
        for name in sorted(names):
            if hasattr(value, name):
                yield name, getattr(value, name), names
    elif isinstance(value, Namespace):
        for name in sorted(names):
            with contextlib.suppress(AttributeError):  # it has the parts by whose names it is asked
                yield name, value.member(name), NONE
    elif isinstance(value, CompiledCallable):
        yield "", value.compiled, NONE
    elif isinstance(value, pytypes.FunctionType):
        yield from _parts_of_function(value)
    else:
        yield from _parts_of_compiled(value)


def _parts_of_function(function: pytypes.FunctionType) -> Iterator[Part]:
    names = frozenset(names_in(function.__code__))
    values = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        values[name] = content_of(cell)
    for name, item in sorted(values.items()):
        yield name, item, names if isinstance(item, pytypes.ModuleType | Namespace) else NONE
    yield "defaults", function.__defaults__, NONE
    yield "defaults by name", tuple(sorted((function.__kwdefaults__ or {}).items())), NONE
    for name, body in _overloaded_attributes():
        if name in names:
            yield f"{name} by overload", body, NONE


def content_of(cell: pytypes.CellType) -> object:
    """What a cell holds; None while it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _parts_of_compiled(value: object) -> Iterator[Part]:
    """What is inside an object that the compiler knows."""
    if hasattr(value, "py_func"):
        yield "", value.py_func, NONE
        yield "locals", str(sorted(getattr(value, "locals", {}).items())), NONE
        for flag, setting in sorted(getattr(value, "targetoptions", {}).items()):
            yield f"flag {flag}", setting if callable(setting) else str(setting), NONE
    elif isinstance(value, Intrinsic):
        yield "", value.definition, NONE
    elif is_loaded("numba") and isinstance(value, _extending._Intrinsic):
        yield "", value._defn, NONE
    elif is_loaded("numba") and isinstance(value, types.Dispatcher):
        yield "", value.dispatcher, NONE


# ------------------------------------------------------------------------------- what extensions registered with the compiler


def _is_ours(body: object) -> bool:
    return _module_of(body).partition(".")[0] not in LIBRARIES


def _bodies_of(templates: Iterable[object]) -> list[Callable]:
    bodies = (getattr(template, "_overload_func", None) for template in templates)
    return [body for body in bodies if body is not None and _is_ours(body)]


def _replacements(value: object) -> list[Callable]:
    """The bodies that `@overload` or `@lower_builtin` put in a callable's place."""
    return [body for function, body in (*REPLACEMENTS, *_overloads(*_sizes())) if function is value]


def _overloaded_operators() -> list[tuple[str, Callable]]:
    """Bodies for operators, which no name in a function's code mentions."""
    names = {id(function): name for name, function in vars(operator).items()}
    return [(names[id(function)], body) for function, body in _overloads(*_sizes()) if id(function) in names]


def _sizes() -> tuple[int, int]:
    if not is_loaded("numba"):
        return (0, 0)
    return len(_templates.builtin_registry.globals), len(_imputils.builtin_registry.functions)


@functools.lru_cache(maxsize=1)
def _overloads(*sizes: int) -> list[tuple[object, Callable]]:
    """All that was registered by others than a library, or `compiled_as`, with the compiler for a callable: (callable, body)."""
    if not is_loaded("numba"):
        return []
    by_type = [
        (value, body)
        for value, kind in _templates.builtin_registry.globals
        if isinstance(kind, types.Function)
        for body in _bodies_of(kind.templates)
        if (value, body) not in REPLACEMENTS
    ]
    by_lowering = [(value, body) for body, value, _ in _imputils.builtin_registry.functions if _is_ours(body)]
    return by_type + by_lowering


def _overloaded_attributes() -> list[tuple[str, Callable]]:
    """Bodies for attributes and methods: (name, body)."""
    return _attribute_bodies(len(_templates.builtin_registry.attributes)) if is_loaded("numba") else []


@functools.lru_cache(maxsize=1)
def _attribute_bodies(size: int) -> list[tuple[str, Callable]]:
    attributes = _templates.builtin_registry.attributes
    return [(template._attr, body) for template in attributes for body in _bodies_of([template])]
