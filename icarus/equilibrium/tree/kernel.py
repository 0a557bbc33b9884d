"""Functions of arrays as machine code, compiled for the types of the arguments of their first call."""

from collections.abc import Callable
from typing import Any, TypeVar

from icarus.compiler.kernels.functions import intrinsic
from icarus.compiler.kernels.kernel import compiled
from icarus.compiler.lazy import Lazy, numba, types

cgutils: Any = Lazy("numba.core.cgutils")
T = TypeVar("T")


class Kernel:
    """A function that is compiled, or loaded from the disk cache, at its first call; later ones have arguments of the same types."""

    def __init__(self, function: Callable[..., Any], title: str) -> None:
        self.function, self.title, self._code = function, title, None
        self.__doc__ = function.__doc__

    def prepare(self, *arguments: Any) -> None:
        """Compile it for arguments like these, before a clock runs."""
        if self._code is None:
            self._code = compiled(self.function, tuple(map(numba.typeof, arguments)), self.title)

    def __call__(self, *arguments: Any) -> Any:
        self.prepare(*arguments)
        return self._code(*arguments)  # type: ignore[misc]


def kernel(title: str) -> Callable[[Callable[..., Any]], Kernel]:
    """Mark a function to be compiled.

    Args:
        title: what it is, for messages and the name of its file in the cache.
    """
    return lambda function: Kernel(function, title)


@intrinsic
def unowned(typingctx: Any, arrays: Any) -> Any:
    """The same array, or named tuple of arrays, as views that own nothing: counting references would take longer than the work."""

    def view(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(arrays, types.Array):
            return view(context, builder, arrays, arguments[0])
        values = cgutils.unpack_tuple(builder, arguments[0])
        views = [view(context, builder, *each) for each in zip(arrays, values, strict=True)]
        return context.make_tuple(builder, arrays, views)

    return arrays(arrays), codegen
