"""Functions of arrays as machine code, compiled for the types of the arguments of their first call."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from icarus.compiler.kernels.functions import intrinsic
from icarus.compiler.kernels.kernel import compiled
from icarus.compiler.lazy import Lazy, numba, types
from icarus.compiler.numba_types import Builder, Definition, NumbaType, Signature, TargetContext, TypingContext, Value

cgutils = Lazy("numba.core.cgutils")
T = TypeVar("T")


class Kernel:
    """A function that is compiled, or loaded from the disk cache, at its first call; later ones have arguments of the same types."""

    def __init__(self, function: Callable, title: str) -> None:
        self.function, self.title, self._code = function, title, None
        self.__doc__ = function.__doc__

    def prepare(self, *arguments: object) -> None:
        """Compile it for arguments like these, before a clock runs."""
        if self._code is None:
            self._code = compiled(self.function, tuple(map(numba.typeof, arguments)), self.title)

    def __call__(self, *arguments: object) -> Any:
        self.prepare(*arguments)
        return self._code(*arguments)  # type: ignore[misc]


def kernel(title: str) -> Callable[[Callable], Kernel]:
    """Mark a function to be compiled.

    Args:
        title: what it is, for messages and the name of its file in the cache.
    """
    return lambda function: Kernel(function, title)


@intrinsic
def unowned(typingctx: TypingContext, arrays: NumbaType) -> Definition:
    """The same array, or named tuple of arrays, as views that own nothing: counting references would take longer than the work."""

    def view(context: TargetContext, builder: Builder, kind: NumbaType, value: Value) -> Value:
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    def codegen(context: TargetContext, builder: Builder, signature: Signature, arguments: Sequence[Value]) -> Value:
        if isinstance(arrays, types.Array):
            return view(context, builder, arrays, arguments[0])
        values = cgutils.unpack_tuple(builder, arguments[0])
        views = [view(context, builder, *each) for each in zip(arrays, values, strict=True)]
        return context.make_tuple(builder, arrays, views)

    return arrays(arrays), codegen
