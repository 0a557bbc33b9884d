"""What compiled slots write where it would be lost or do harm, read off the types that the compiler found."""

from collections.abc import Callable, Iterator
from typing import Any

from icarus.compiler.cache.dependencies import reachable
from icarus.compiler.errors import CompilationError
from icarus.compiler.kernels.functions import Helper, is_helper, plain
from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.lazy import Lazy, types

ir: Any = Lazy("numba.core.ir")
_annotations: Any = Lazy("numba.core.annotations.type_annotations")


def refuse_cuts(kernel: Kernel, function: Callable, label: str) -> Kernel:
    """Refuse a backpropagation function that writes a real where only an integer has room: it would be cut down to one.

    Raises:
        CompilationError: it does; its machine code is not kept.
    """
    for found, written in _written(kernel, function):
        field, kind = _place(found, written, ())
        if isinstance(kind, types.Integer) and isinstance(found.typemap[written.value.name], types.Float):
            _refuse(kernel, f"{label} writes a real to {field}, which would cut it down to an integer", written)
    return kernel


def refuse_changes(kernel: Kernel, function: Callable, label: str, lent: tuple[type, ...], legal: str = "") -> Kernel:
    """Refuse a function that writes to θ or to the history: it is given them to be read.

    Args:
        lent: the classes of what it is given to read; records count as such too.
        legal: the name of its argument that holds the legal actions, if it has one.

    Raises:
        CompilationError: it does; its machine code is not kept.
    """
    for found, written in _written(kernel, function):
        field, _ = _place(found, written, lent)
        if legal and found.func_id.func is plain(function) and _is_argument(found, written.target.name, legal):
            _refuse(kernel, f"{label} writes to {legal}, the legal actions, which it is given to read", written)
        if field:
            _refuse(
                kernel,
                f"{label} writes to {field} of what it is given to read; only backpropagation changes θ",
                written,
            )
    return kernel


def _is_argument(found: Any, name: str, argument: str) -> bool:
    """Whether a variable is this argument of a function, by another name perhaps."""
    made = {s.target.name: s.value for block in found.blocks.values() for s in block.body if isinstance(s, ir.Assign)}
    value = made.get(name)
    while isinstance(value, ir.Var):
        value = made.get(value.name)
    return isinstance(value, ir.Arg) and value.name == argument


def _refuse(kernel: Kernel, told: str, written: Any) -> None:
    kernel.forget()
    raise CompilationError(f"{told} ({written.loc.filename}, line {written.loc.line})")


def _written(kernel: Kernel, function: Callable) -> Iterator[tuple[Any, Any]]:
    """The writing statements of an author's function and of all that it reaches; none where machine code came from the disk."""
    if not kernel.fresh:
        return
    for _, value in reachable(function):
        if is_helper(value) and not value.py_func.__module__.startswith(("icarus.kernel", "icarus.compiler")):
            dispatchers = value.dispatchers if isinstance(value, Helper) else [value]
            for made in (made for dispatcher in dispatchers for made in dispatcher.overloads.values()):
                if isinstance(made.type_annotation, _annotations.TypeAnnotation):
                    for block in made.type_annotation.blocks.values():
                        for statement in block.body:
                            if isinstance(statement, ir.SetAttr | ir.SetItem | ir.StaticSetItem):
                                yield made.type_annotation, statement


def _place(found: Any, written: Any, lent: tuple[type, ...]) -> tuple[str, Any]:
    """The field of a record or of something lent that a statement writes to, and the type that it has room for; or ("", None)."""
    target = found.typemap[written.target.name]
    if isinstance(written, ir.SetAttr):
        return (written.attr, target.typeof(written.attr)) if isinstance(target, types.Record) else ("", None)
    if isinstance(target, types.Record):
        return str(written.index), target.typeof(written.index)
    field = _field_behind(found, written.target.name, lent)
    return field, target.dtype if isinstance(target, types.Array) else None


def _field_behind(found: Any, name: str, lent: tuple[type, ...]) -> str:
    """The field that an array was taken from, by attributes and items; "" where it is no part of a record or of something lent."""
    made = {s.target.name: s.value for block in found.blocks.values() for s in block.body if isinstance(s, ir.Assign)}
    value, field = made.get(name), ""
    while isinstance(value, ir.Var) or (isinstance(value, ir.Expr) and value.op in _PARTS):
        if isinstance(value, ir.Expr):
            field = value.attr if value.op == "getattr" else field
            owner = found.typemap[value.value.name]
            if (isinstance(owner, types.NamedTuple) and owner.instance_class in lent) or isinstance(
                owner, types.Record
            ):
                return field
            value = value.value
        value = made.get(value.name)
    return ""


_PARTS = ("getattr", "getitem", "static_getitem")
