"""Compiled functions as plain Python: the same source, with all that it calls, where a breakpoint or a print works.

Helpers become the functions inside them; what only machine code can do, such as to read what stands at an address or to call a kernel
by its address, has a stand-in here. So the playout loop itself runs in plain Python too.
"""

import ctypes
import functools
import itertools
import operator
import types as pytypes
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np

from icarus.compiler import memory
from icarus.compiler.digest import content_of, renew_rebound
from icarus.compiler.functions import (
    LOADING,
    MAKES_PLAIN,
    CompiledCallable,
    F,
    Intrinsic,
    is_helper,
)
from icarus.compiler.memory import (
    lowest_bit,
    plain_lowest_bit,
    plain_math,
    plain_popcount,
    popcount,
)
from icarus.compiler.rng import (
    below,
    next_word,
    plain_below,
    plain_next_word,
    plain_uniform,
    uniform,
)

ArrayOrRecord: TypeAlias = np.ndarray | np.void


_COUNT = np.dtype(np.int32)
_element, _write = np.ndarray.__getitem__, np.ndarray.__setitem__


class Integers(np.ndarray):
    """An array of integers that refuses what compiled code would cut down: reals, and integers that have no room."""

    def __setitem__(self, index: Any, value: Any) -> None:
        _refuse_unfit("an array of integers", self.dtype, value)
        _write(self, index, value)


class SmallIntegers(Integers):
    """An array of integers of less than 64 bits, whose elements are read as Python's own: compiled code computes with 64 bits."""

    def __getitem__(self, index: Any) -> Any:
        element = _element(self, index)
        return element if isinstance(element, np.ndarray) else int(element)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


class Unwritten(SmallIntegers):
    """An array of `np.empty` that refuses to read an item before it is written. What numpy makes of the array is not watched."""

    _written: np.ndarray | None = None

    def __array_finalize__(self, source: object) -> None:
        if isinstance(source, Unwritten) and source._written is not None:
            source._written[...] = True  # From now on, others may write to the same memory.

    def __getitem__(self, index: Any) -> Any:
        if self._written is None:
            return as_compiled(_element(self, index))
        element, written = self.view(np.ndarray)[index], self._written[index]
        if isinstance(written, np.ndarray):
            part = element.view(Unwritten)
            part._written = written
            return part
        if not written:
            raise IndexError(
                f"index {index} of an array of np.empty is read before anything is written there"
            )
        return as_compiled(element)

    def __setitem__(self, index: Any, value: Any) -> None:
        _refuse_unfit("an array of integers", self.dtype, value)
        self.view(np.ndarray)[index] = value
        if self._written is not None:
            self._written[index] = True

    def fill(self, value: Any) -> None:
        self[...] = value


def _refuse_unfit(target: str, dtype: np.dtype, value: Any) -> None:
    """Refuse a value that cannot be written to this dtype, if it is one of integers.

    Raises:
        TypeError: a real. ValueError: an integer that has no room.
    """
    if dtype.base.kind not in "iu":
        return
    if isinstance(value, np.ndarray | np.generic):
        is_real = value.dtype.kind == "f"
        # all integers of numpy have room in 64 bits, and those of the same type
        fits = not is_small(dtype) or value.dtype == dtype.base or value.size == 0
        numbers = [] if fits else [value.min(), value.max()]
    else:
        numbers = [value] if isinstance(value, int | float) else [*np.asarray(value, object).flat]
        is_real = any(isinstance(each, float) for each in numbers)
    if is_real:
        raise TypeError(
            f"{target} is given the float {value}, which would be truncated to an integer"
        )
    least, most = _limits(dtype.base)
    for number in numbers:
        if not least <= number <= most:
            raise ValueError(f"{target} is given {number}, which is out of bounds for {dtype.base}")


@functools.cache
def _limits(dtype: np.dtype) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


class Structure:
    """A record with its fields as attributes: small integers are read as Python's own, and integers refuse what has no room."""

    __slots__ = ("_data",)

    def __init__(self, data: np.void) -> None:
        self._data = data

    def __getitem__(self, field: str) -> Any:
        return getattr(self, field)

    def __setitem__(self, field: str, value: Any) -> None:
        setattr(self, field, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)


def _field(name: str, dtype: np.dtype) -> property:
    def write(structure: Structure, value: Any) -> None:
        if dtype == _COUNT and value > _limits(_COUNT)[1]:
            # Compiled code leaves a count full too, and the search then ends with its own message.
            value = _limits(_COUNT)[1]
        _refuse_unfit(name, dtype, value)
        structure._data[name] = value

    if dtype.base.names is not None or (dtype.shape and dtype.base.kind in "iu"):
        return property(lambda structure: as_compiled(structure._data[name]), write)
    if is_small(dtype):
        return property(lambda structure: int(structure._data[name]), write)
    return property(lambda structure: structure._data[name], write)


def _keep_key(structure: Structure, value: Any) -> None:
    raise TypeError(
        "stats.record is the key of a record, which stays; a slot may change its other fields only"
    )


@functools.cache
def _structure_of(dtype: np.dtype) -> Callable[[np.void], Structure]:
    """The class of structures for records of this dtype."""
    fields = {name: _field(name, dtype[name]) for name in dtype.names or ()}
    if next(iter(fields)) == "record":  # a row of θ
        fields["record"] = property(lambda structure: structure._data["record"], _keep_key)
    return type("Structure", (Structure,), {"__slots__": (), **fields})


class RecordArray(np.ndarray):
    """An array of records, each read as a structure; `records.field` is a column of them."""

    def __getitem__(self, index: Any) -> Any:
        return as_compiled(_element(self, index))

    def __getattr__(self, name: str) -> Any:
        if name in (self.dtype.names or ()):
            return self[name]
        raise AttributeError(
            f"these records have no field {name!r}; they have {', '.join(self.dtype.names or ())}"
        )


def is_small(dtype: np.dtype) -> bool:
    """Whether these are integers, or arrays of integers, of less than 64 bits."""
    return dtype.base.kind in "iu" and dtype.base.itemsize < 8


def as_compiled(value: Any) -> Any:
    """An array, a record or a number as it reads in compiled code: fields as attributes, small integers as Python's. It is not copied."""
    if isinstance(value, np.void):
        return _structure_of(value.dtype)(value)
    if isinstance(value, np.generic):
        return int(value) if is_small(value.dtype) else value
    if isinstance(value, Integers):
        return value
    if value.dtype.names is not None:
        return value.view(RecordArray)
    if is_small(value.dtype):
        return value.view(SmallIntegers)
    return value.view(Integers if value.dtype.kind in "iu" else np.ndarray)


def _reads_otherwise(value: object) -> TypeGuard[ArrayOrRecord]:
    """Whether numpy's own array or record reads otherwise than in compiled code."""
    if isinstance(value, np.ndarray) and not isinstance(value, Integers | RecordArray):
        return is_small(value.dtype) or value.dtype.names is not None
    return isinstance(value, np.void)


def _making_arrays(make: Callable) -> Callable:
    """A function of numpy's that makes arrays, which read as in compiled code."""

    @functools.wraps(make)
    def made(*arguments: object, **keywords: object) -> object:
        array = as_compiled(make(*arguments, **keywords))
        if make in _EMPTY and array.dtype.names is None:
            array = array.view(Unwritten)
            array._written = np.zeros(array.shape, bool)
        return array

    return made


# ------------------------------------------------------------------------------------------------- addresses in plain Python


_dtypes: dict[int, np.dtype] = {}  # by their ids, which are hashed faster
_numbers = itertools.count(16, 16)
_functions: "weakref.WeakValueDictionary[int, PlainKernel]" = weakref.WeakValueDictionary()


class PlainKernel:
    """A kernel that has stayed plain Python; by its `address` only plain Python calls it.

    Args:
        function: as plain Python.
        returns: what the author's function in it must return, in words.
    """

    def __init__(self, function: Callable, name: str, returns: str = "") -> None:
        self.name = name
        self.returns = returns
        self.address = next(_numbers)
        self._function = function
        _functions[self.address] = self

    def __call__(self, *arguments: int) -> int:
        result = self._function(*arguments)
        try:
            return operator.index(result)
        except TypeError:
            raise TypeError(
                f"{self.name} returned {result!r}; it must return {self.returns or 'an integer'}"
            ) from None


@contextmanager
def plain_kernels(made_by: "PlainPython | None" = None) -> Iterator[None]:
    """Within, kernels stay plain Python, and nothing is compiled."""
    token = MAKES_PLAIN.set(made_by or interpret)
    try:
        with np.errstate(over="ignore"):  # as compiled code does
            yield
    finally:
        MAKES_PLAIN.reset(token)


def _call(address: int, arguments: tuple[int, ...]) -> np.int64:
    """Plain Python's `call`."""
    return np.int64(_functions[int(address)](*arguments))


@functools.lru_cache(1 << 16)
def _view(address: int, shape: tuple[int, ...], dtype_id: int, writeable: bool) -> Any:
    """A view of the records or numbers at an address; zeros at address 0."""
    dtype = _dtypes[dtype_id]
    count = int(np.prod(shape))
    if address == 0 or count <= 0:
        array = np.zeros(shape, dtype)
    else:
        memory_there: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
        array = np.ndarray(shape, dtype, memory_there)
    array.flags.writeable = writeable
    if not shape:
        return as_compiled(array[()])
    return as_compiled(array)


def _viewed(address: int, *shape_and_dtype: Any, writeable: bool = True) -> Any:
    """Plain Python's `array_at` and its like: the shape has as many numbers as the view has dimensions."""
    dtype = shape_and_dtype[-1]
    _dtypes.setdefault(id(dtype), dtype)
    return _view(int(address), shape_and_dtype[:-1], id(dtype), writeable)


def _unpacked(kinds: tuple[type, ...]) -> Callable[[int], tuple[float, ...]]:
    """Plain Python's `unpack_parameters(kinds)`."""
    words = [ctypes.c_int64 if kind is int else ctypes.c_double for kind in kinds]

    def unpack(address: int) -> tuple[float, ...]:
        return tuple(
            word.from_address(int(address) + memory.WORD_BYTES * i).value
            for i, word in enumerate(words)
        )

    return unpack


# ---------------------------------------------------------------------------------------------------- functions made plain

_viewed_only = functools.partial(_viewed, writeable=False)
_EMPTY = (np.empty, np.empty_like)
_MAKERS = (np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.empty_like)
_STAND_INS: list[tuple[object, Callable]] = [
    *((make, _making_arrays(make)) for make in _MAKERS),
    (popcount, plain_popcount),
    (lowest_bit, plain_lowest_bit),
    *plain_math.items(),
    (next_word, plain_next_word),
    (below, plain_below),
    (uniform, plain_uniform),
    *((view, _viewed) for view in (memory.struct_at, memory.array_at, memory.matrix_at)),
    *((view, _viewed_only) for view in (memory.read_only_array_at, memory.read_only_matrix_at)),
    (memory.call, _call),
    (memory.unlikely, bool),
    (memory.prefetch, lambda address: None),
]

# Most of what names mean, and never a helper nor one of its kind.
_USUAL = (
    pytypes.FunctionType,
    pytypes.BuiltinFunctionType,
    pytypes.ModuleType,
    type,
    int,
    float,
    str,
)

# (what has made plain Python, the globals of a module, how they were then, their copy)
_copies: list[tuple["PlainPython", dict[str, Any], dict[str, Any], dict[str, Any]]] = []


def _one_at_a_time(make: F) -> F:
    """Let one thread at a time make plain Python: another would find globals of which not all are plain."""

    @functools.wraps(make)
    def made(*arguments: Any) -> Any:
        with LOADING:
            return make(*arguments)

    return cast(F, made)


class PlainPython:
    """Makes plain Python of helpers and slots: `interpret(function)`.

    A function keeps its code, so that breakpoints by file and line hold and a traceback shows the author's lines; only its globals are
    a copy in which helpers are plain as well. A function that mentions no helper is given back as it is.

    Args:
        stand_ins: (function, what is called instead of it), beside those that every interpreter has.
    """

    def __init__(self, stand_ins: Iterable[tuple[object, Callable]] = ()) -> None:
        more = list(stand_ins)
        # what the keys of `_results` and `_spaces` are the ids of: kept alive, so that no other value gets the same id
        self._alive: list[object] = [function for function, _ in more]
        self._results: dict[int, Any] = {
            id(function): stand_in for function, stand_in in [*_STAND_INS, *more]
        }
        self._spaces: dict[int, dict[str, Any]] = {}

    @_one_at_a_time
    def __call__(self, value: object) -> Any:
        """The plain Python of a function or a helper, or of a module of helpers; None for None."""
        result = self._results.get(id(value))
        if result is None:
            # A slot has its helper in `compiled`. One that has none stays as it is, and says why when it is called.
            function = value
            if isinstance(value, CompiledCallable):
                function = getattr(value, "compiled", value)
            function = getattr(function, "py_func", function)
            if isinstance(function, pytypes.ModuleType):
                result = type("Module", (), {})()
                # The module has what its names are bound to later, too.
                result.__dict__ = self._space(vars(function))
            elif isinstance(function, Intrinsic):
                result = _unpacked(function.kinds) if hasattr(function, "kinds") else function
            elif _reads_otherwise(function):
                result = as_compiled(function)
            elif isinstance(function, pytypes.FunctionType):
                result = self.inside(function)
            else:
                result = function
            self._alive.append(value)
            self._results[id(value)] = result
        return result

    @_one_at_a_time
    def inside(self, function: Any) -> Callable:
        """A function of Python whose calls are those of plain Python; it is this function itself, even if another stands in for it."""
        space = self._space(function.__globals__)
        cells = function.__closure__ or ()
        changed = [self._changes(content_of(cell)) for cell in cells]
        if space is function.__globals__ and not any(changed):
            return function
        pairs = zip(cells, changed, strict=True)
        closure = tuple(
            pytypes.CellType(self(content_of(cell))) if changes else cell for cell, changes in pairs
        )
        copy = pytypes.FunctionType(
            function.__code__, space, function.__name__, function.__defaults__, closure
        )
        copy.__kwdefaults__, copy.__doc__ = function.__kwdefaults__, function.__doc__
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        return copy

    def _space(self, names: dict[str, Any]) -> dict[str, Any]:
        """A copy of a module's globals in which helpers are plain Python; the globals themselves, if there are no helpers in them."""
        space = self._spaces.get(id(names))
        if space is None:
            changed = [name for name, value in names.items() if self._changes(value)]
            space = dict(names) if changed else names
            # kept before it is filled: helpers of the module call each other
            self._spaces[id(names)] = space
            self._alive.append(names)
            if changed:
                space.update({name: self(names[name]) for name in changed})
                _copies.append((self, names, dict(names), space))
        return space

    def _changes(self, value: object) -> bool:
        """Whether a value is another one in plain Python; a module is if any of its members is."""
        if isinstance(value, pytypes.ModuleType):
            return any(map(self._differs_here, vars(value).values()))
        return self._differs_here(value)

    def _differs_here(self, value: object) -> bool:
        """Whether a value that is no module is another one in plain Python."""
        if not isinstance(value, _USUAL) and (
            is_helper(value)
            or isinstance(value, CompiledCallable | Intrinsic)
            or _reads_otherwise(value)
        ):
            return True
        return self._results.get(id(value), value) is not value


# What it has made once is made for all. It has no stand-ins but those that every interpreter has.
interpret: PlainPython = PlainPython()


@_one_at_a_time
def interpret_rebound() -> None:
    """Have all plain Python functions that were made of compiled ones use the globals as they are bound now."""
    renew_rebound()
    for made_by, names, before, copy in _copies:
        for name, value in list(names.items()):
            if name not in before or before[name] is not value:
                before[name] = value
                copy[name] = made_by(value) if made_by._changes(value) else value
