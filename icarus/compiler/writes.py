"""What compiled slots write where it would be lost or do harm, read off the types that the compiler found."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from icarus.compiler.cache.dependencies import reachable
from icarus.compiler.errors import CompilationError
from icarus.compiler.kernels.functions import Helper, is_helper, plain
from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.lazy import Lazy, types
from icarus.compiler.numba_types import Dispatcher, NumbaType, Statement, TypedFunction

ir = Lazy("numba.core.ir")
_annotations = Lazy("numba.core.annotations.type_annotations")
Lent: TypeAlias = tuple[type | np.dtype, ...]


def refuse_cuts(kernel: Kernel, function: Callable, label: str) -> Kernel:
    """Refuse a backpropagation function that writes a real where only an integer has room: it would be cut down to one.

    Raises:
        CompilationError: it does; its machine code is not kept.
    """
    for typed, statement in _writes(kernel, function):
        field, kind = _target(typed, statement, ())
        if isinstance(kind, types.Integer) and isinstance(typed.typemap[statement.value.name], types.Float):
            _refuse(kernel, f"{label} writes a float to {field}, which would truncate it to an integer", statement)
    return kernel


def refuse_changes(kernel: Kernel, function: Callable, label: str, lent: Lent, legal: str = "") -> Kernel:
    """Refuse a function that writes to θ or to the history: it is given them to be read.

    Args:
        lent: the classes of what it is given to read, and the types of records in it; rows of θ count as such too.
        legal: the name of its argument that holds the legal actions, if it has one.

    Raises:
        CompilationError: it does; its machine code is not kept.
    """
    for typed, statement in _writes(kernel, function):
        field, _ = _target(typed, statement, lent)
        if legal and typed.func_id.func is plain(function) and _is_argument(typed, statement.target.name, legal):
            _refuse(kernel, f"{label} writes to {legal}, the legal actions, which are read-only", statement)
        if field:
            _refuse(
                kernel, f"{label} writes to {field} of a read-only argument; only backpropagation changes θ", statement
            )
    return kernel


def _is_argument(typed: TypedFunction, name: str, argument: str) -> bool:
    """Whether a variable is this argument of a function, by another name perhaps."""
    values = {s.target.name: s.value for block in typed.blocks.values() for s in block.body if isinstance(s, ir.Assign)}
    value = values.get(name)
    while isinstance(value, ir.Var):
        value = values.get(value.name)
    return isinstance(value, ir.Arg) and value.name == argument


def _refuse(kernel: Kernel, message: str, statement: Statement) -> None:
    kernel.forget()
    raise CompilationError(f"{message} ({statement.loc.filename}, line {statement.loc.line})")


def _writes(kernel: Kernel, function: Callable) -> Iterator[tuple[TypedFunction, Statement]]:
    """The writing statements of an author's function and of all that it reaches; none where machine code came from the disk."""
    if not kernel.fresh:
        return
    for _, value in reachable(function):
        if (
            callable(value)
            and is_helper(value)
            and not plain(value).__module__.startswith(("icarus.kernel", "icarus.compiler"))
        ):
            dispatchers: list[Dispatcher] = value.dispatchers if isinstance(value, Helper) else [value]
            for version in (version for dispatcher in dispatchers for version in dispatcher.overloads.values()):
                if isinstance(version.type_annotation, _annotations.TypeAnnotation):
                    for block in version.type_annotation.blocks.values():
                        for statement in block.body:
                            if isinstance(statement, ir.SetAttr | ir.SetItem | ir.StaticSetItem):
                                yield version.type_annotation, statement


def _target(typed: TypedFunction, statement: Statement, lent: Lent) -> tuple[str, NumbaType]:
    """The field of something lent that a statement writes to, and the type that it has room for; or ("", None)."""
    target = typed.typemap[statement.target.name]
    if isinstance(target, types.Record):
        name = statement.attr if isinstance(statement, ir.SetAttr) else str(statement.index)
        return (name, target.typeof(name)) if _is_lent(target, lent) else ("", None)
    if isinstance(statement, ir.SetAttr):
        return "", None
    field = _field_behind(typed, statement.target.name, lent)
    return field, target.dtype if isinstance(target, types.Array) else None


def _is_lent(record: NumbaType, lent: Lent) -> bool:
    """Whether records of a type are rows of θ, which their keys show, or lent; those that a function has made for itself are not."""
    return "record" in record.fields or any(
        isinstance(kind, np.dtype) and set(kind.names or ()) == record.fields.keys() for kind in lent
    )


def _field_behind(typed: TypedFunction, name: str, lent: Lent) -> str:
    """The field that an array was taken from, by attributes and items; "" where it is not part of a record or of something lent."""
    values = {s.target.name: s.value for block in typed.blocks.values() for s in block.body if isinstance(s, ir.Assign)}
    value, field = values.get(name), ""
    while isinstance(value, ir.Var) or (isinstance(value, ir.Expr) and value.op in _PARTS):
        if isinstance(value, ir.Expr):
            field = value.attr if value.op == "getattr" else field
            owner = typed.typemap[value.value.name]
            named = isinstance(owner, types.NamedTuple) and owner.instance_class in lent
            if named or (isinstance(owner, types.Record) and _is_lent(owner, lent)):
                return field
            value = value.value
        value = values.get(value.name)
    return ""


_PARTS = ("getattr", "getitem", "static_getitem")
