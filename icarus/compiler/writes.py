"""What compiled slots write where it would be lost or do harm, read off the types that the compiler found."""

from collections.abc import Callable, Iterator
from typing import NoReturn

from icarus.compiler.digest import reachable
from icarus.compiler.errors import CompilationError
from icarus.compiler.kernels.functions import Helper, is_helper, plain
from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.kernels.pointers import is_read_only
from icarus.compiler.lazy import Lazy, types
from icarus.compiler.location import location
from icarus.compiler.messages import defined_at
from icarus.compiler.numba_types import CompileResult, Dispatcher, NumbaType, Statement, TypedFunction
from icarus.compiler.read_only import describe_write

ir = Lazy("numba.core.ir")
_annotations = Lazy("numba.core.annotations.type_annotations")
OWN = ("icarus.kernel", "icarus.compiler")  # modules in which no author's mistake lies


def refuse_cuts(kernel: Kernel, function: Callable, label: str) -> Kernel:
    """Refuse a function that writes a float where only an integer has room: in a row of θ, or in an array that is an argument.

    Raises:
        CompilationError: it does; its machine code is not kept.
    """
    for typed, statement in _writes(kernel, function):
        target, kind = _target(typed, statement)
        if isinstance(kind, types.Integer) and _is_float(typed.typemap[statement.value.name]):
            place = f"({location(statement.loc.filename, statement.loc.line)})"
            _refuse(kernel, f"{label} writes a float to {target}, which would truncate it to an integer {place}")
    return kernel


def refuse_changes(kernel: Kernel, function: Callable, label: str) -> Kernel:
    """Refuse a function that writes to a read-only structure: a step of the history, a row of θ. (The compiler refuses arrays.)

    Raises:
        CompilationError: it does; its machine code is not kept.
    """
    for typed, statement in _writes(kernel, function):
        if is_read_only(typed.typemap[statement.target.name]):
            _refuse(kernel, f"{label} {describe_write(label, (statement.loc.filename, statement.loc.line))}")
    return kernel


def refuse_places(kernel: Kernel, function: Callable, label: str, history: type) -> Kernel:
    """Refuse a function that takes a field of its history by its place: what a slot reads is found by the names of fields.

    Raises:
        CompilationError: it does; its machine code is not kept.
    """
    for typed, statement in _statements(kernel, function):
        value = getattr(statement, "value", None)
        if not (isinstance(value, ir.Expr) and value.op in _BY_PLACE):
            continue
        if getattr(typed.typemap[value.value.name], "instance_class", None) is history:
            place = f"({location(statement.loc.filename, statement.loc.line)})"
            by_name = "read it by its name, as in history.moves"
            _refuse(kernel, f"{label} reads a field of the history by its index, as in history[1]; {by_name} {place}")
    return kernel


def _refuse(kernel: Kernel, message: str) -> NoReturn:
    kernel.forget()
    raise CompilationError(message)


def refuse_result(kernel: Kernel, function: Callable, sentence: str) -> Kernel:
    """Refuse a function that returns a value, or has a `yield`, where nobody takes what it returns.

    Raises:
        CompilationError: it does, told by this sentence; its machine code is not kept.
    """
    for version in _versions(function) if kernel.fresh else ():
        if not isinstance(version.signature.return_type, types.NoneType):
            _refuse(kernel, f"{sentence}{defined_at(function)}")
    return kernel


def _versions(function: object) -> list[CompileResult]:
    """What the compiler has made of a function, for each of the types that it was called with."""
    dispatchers: list[Dispatcher] = function.dispatchers if isinstance(function, Helper) else [function]
    return [version for dispatcher in dispatchers for version in list(dispatcher.overloads.values())]


def _writes(kernel: Kernel, function: Callable) -> Iterator[tuple[TypedFunction, Statement]]:
    """The writing statements of an author's function and of all that it reaches."""
    for typed, statement in _statements(kernel, function):
        if isinstance(statement, ir.SetAttr | ir.SetItem | ir.StaticSetItem):
            yield typed, statement


def _statements(kernel: Kernel, function: Callable) -> Iterator[tuple[TypedFunction, Statement]]:
    """The statements of an author's function and of all that it reaches; none where machine code came from the disk."""
    if not kernel.fresh:
        return
    for _, value, _ in reachable(function):
        is_helper_of_author = (
            callable(value) and is_helper(value) and not (plain(value).__module__ or "").startswith(OWN)
        )
        for version in _versions(value) if is_helper_of_author else ():
            if isinstance(version.type_annotation, _annotations.TypeAnnotation):
                for block in version.type_annotation.blocks.values():
                    for statement in block.body:
                        yield version.type_annotation, statement


def _target(typed: TypedFunction, statement: Statement) -> tuple[str, NumbaType]:
    """The field of a row of θ, or the array, that a statement writes to, and the type that it has room for; or ("", None)."""
    target = typed.typemap[statement.target.name]
    if isinstance(target, types.Record):
        name = statement.attr if isinstance(statement, ir.SetAttr) else str(statement.index)
        return (name, target.typeof(name)) if _is_row(target) else ("", None)
    name = "" if isinstance(statement, ir.SetAttr) else _origin(typed, statement.target.name)
    return name, target.dtype if name else None


def _is_float(kind: NumbaType) -> bool:
    """Whether a type is a float's, or that of an array of them."""
    return isinstance(kind.dtype if isinstance(kind, types.Array) else kind, types.Float)


def _is_row(kind: NumbaType) -> bool:
    """Whether a value of a type is a row of θ, which its key shows."""
    return isinstance(kind, types.Record) and "record" in kind.fields


def _origin(typed: TypedFunction, name: str) -> str:
    """The field of a row that an array was taken from, by attributes and items, or the argument that it is; else ""."""
    values = {s.target.name: s.value for block in typed.blocks.values() for s in block.body if isinstance(s, ir.Assign)}
    value = values.get(name)
    while isinstance(value, ir.Var) or (isinstance(value, ir.Expr) and value.op in _PARTS):
        if isinstance(value, ir.Expr):
            if value.op == "getattr" and _is_row(typed.typemap[value.value.name]):
                return str(value.attr)
            value = value.value
        value = values.get(value.name)
    return str(value.name) if isinstance(value, ir.Arg) else ""


_BY_PLACE = ("getitem", "static_getitem", "exhaust_iter", "getiter")
_PARTS = ("getattr", "getitem", "static_getitem")
