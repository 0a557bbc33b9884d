"""Structures that Python and compiled code share: a class declares the fields, `structure` lays them out as a C compiler does."""

from typing import Annotated, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

Address: TypeAlias = int  # of the first byte of something in memory; 0 is nothing
Short: TypeAlias = Annotated[int, np.int32]  # an integer of 32 bits
Integer: TypeAlias = int | np.integer  # of any width


def structure(fields: type) -> np.dtype:
    """The dtype of a class whose annotations are its fields.

    An `int` or `Address` takes 64 bits, a `float` too; `Annotated[type, dtype]` says another dtype, `Annotated[np.ndarray, dtype, count]`
    is an array, and a class is a structure within.
    """
    hints = get_type_hints(fields, include_extras=True)
    return np.dtype([(name, *_layout(kind)) for name, kind in hints.items()], align=True)


def _layout(kind: type) -> tuple[object, ...]:
    if get_origin(kind) is Annotated:
        return get_args(kind)[1:]
    return ({int: np.int64, float: np.float64}.get(kind) or structure(kind),)
