"""Namespaces as the compiler takes them: values of which only parts are called, by their names. Loads Numba."""

from numba.core import errors, types
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import models, register_model

from icarus.compiler.functions import Builder, Namespace, NumbaType, TargetContext, Value


class NamespaceType(types.Type):
    """What the compiler takes a namespace for."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        super().__init__(f"namespace of {id(namespace)}")


@infer_getattr
class _Parts(AttributeTemplate):
    key = NamespaceType

    def generic_resolve(self, namespace: NamespaceType, name: str) -> NumbaType:  # type: ignore[override]
        try:
            return namespace.namespace.member(name).compiled._numba_type_  # type: ignore[attr-defined]
        except AttributeError as error:
            raise errors.TypingError(f"uncallable: {error}") from None


register_model(NamespaceType)(models.OpaqueModel)


@lower_constant(NamespaceType)
def _lower_namespace(context: TargetContext, builder: Builder, kind: NamespaceType, value: Namespace) -> Value:
    return context.get_dummy_value()


@lower_getattr_generic(NamespaceType)
def _lower_part(context: TargetContext, builder: Builder, kind: NamespaceType, value: Value, name: str) -> Value:
    return context.get_dummy_value()
