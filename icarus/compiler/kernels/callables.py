"""Values that compiled functions may call, or whose parts they may call by name: slots, and the enhancements that have them.

A slot is not a function but a value that holds one. Where an author's function mentions such a value, as in
`MAST.capture(history, updates)`, the compiler is told here to take the function that it stands for.
"""

from collections.abc import Callable

from icarus.compiler.lazy import Lazy
from icarus.compiler.numba_types import NumbaType

_namespaces = Lazy("icarus.compiler.kernels.namespaces")
_errors = Lazy("numba.core.errors")


class CompiledCallable:
    """A value that compiled code calls like a function."""

    @property
    def compiled(self) -> Callable:
        """The helper that is called in its place.

        Raises:
            AttributeError: it cannot be; the sentence says why.
        """
        raise NotImplementedError

    @property
    def _numba_type_(self) -> NumbaType:
        try:
            return self.compiled._numba_type_  # type: ignore[attr-defined]
        except AttributeError as error:
            raise _errors.TypingError(f"uncallable: {error}") from None


class Namespace:
    """A value whose parts compiled code may call by their names."""

    def member(self, name: str) -> CompiledCallable:
        """The part with a name.

        Raises:
            AttributeError: it has none that can be called; the sentence says which it has.
        """
        raise NotImplementedError

    @property
    def _numba_type_(self) -> NumbaType:
        return _namespaces.NamespaceType(self)
