"""Namespaces as the compiler takes them: values of which only parts are called, by their names. Loads Numba."""

from typing import Any

from numba.core import errors, types
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import models, register_model

from icarus.compiler.kernels.callables import Namespace


class NamespaceType(types.Type):
    """What the compiler takes a namespace for."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        super().__init__(f"namespace of {id(namespace)}")


@infer_getattr
class _Parts(AttributeTemplate):
    key = NamespaceType

    def generic_resolve(self, namespace: Any, name: Any) -> Any:  # type: ignore[override]
        try:
            return namespace.namespace.member(name).compiled._numba_type_
        except AttributeError as error:
            raise errors.TypingError(f"uncallable: {error}") from None


register_model(NamespaceType)(models.OpaqueModel)


@lower_constant(NamespaceType)
def _lower_namespace(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


@lower_getattr_generic(NamespaceType)
def _lower_part(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return context.get_dummy_value()
