"""Families as the compiler takes them: values of which only parts are called, by their names. Loads Numba."""

from typing import Any

from numba.core import errors, types
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import models, register_model

from icarus.compiler.kernels.callables import Family


class FamilyType(types.Type):
    """What the compiler takes a family for."""

    def __init__(self, family: Family) -> None:
        self.family = family
        super().__init__(f"family of {id(family)}")


@infer_getattr
class _Parts(AttributeTemplate):
    key = FamilyType

    def generic_resolve(self, family: Any, name: Any) -> Any:  # type: ignore[override]
        try:
            return family.family.callee(name).compiled._numba_type_
        except AttributeError as error:
            raise errors.TypingError(f"uncallable: {error}") from None


register_model(FamilyType)(models.OpaqueModel)


@lower_constant(FamilyType)
def _lower_family(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


@lower_getattr_generic(FamilyType)
def _lower_part(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return context.get_dummy_value()
