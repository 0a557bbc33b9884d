"""Pointers as integers: addresses viewed as arrays and structures, and calls through addresses.

A compiled *kernel* takes and returns 64-bit integers only; pointers travel as integers and are viewed as arrays and structures on
arrival. One uniform signature is what lets the playout loop, compiled once, call any game and any specification by address.
"""

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from icarus.compiler.functions import Intrinsic, Lazy, inlined, intrinsic, numba, types

ir = Lazy("llvmlite.ir")
cgutils = Lazy("numba.core.cgutils")
_extending, _models = Lazy("numba.extending"), Lazy("numba.core.datamodel.models")

WORD_BYTES = 8


def offset_of(dtype: np.dtype, field: str) -> int:
    """Where a field begins in a structure, in bytes."""
    assert dtype.fields is not None
    return dtype.fields[field][1]


@intrinsic
def address_of(typingctx: Any, array: Any) -> Any:
    """The address of the first element of an array, as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.int64))

    return types.int64(array), codegen


def _view(context: Any, builder: Any, array_type: Any, address: Any, *shape: Any) -> Any:
    """An array of one or two dimensions at an address."""
    array = context.make_array(array_type)(context, builder)
    size = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(array_type.dtype))
    )
    strides = [*(builder.mul(columns, size) for columns in shape[1:]), size]
    pointer = builder.inttoptr(address, array.data.type)
    context.populate_array(
        array, data=pointer, shape=list(shape), strides=strides, itemsize=size, meminfo=None
    )
    return array._getvalue()


@functools.cache
def _read_only_types() -> tuple[type, type]:
    """The types of a read-only structure, and of an array that is a field of one."""

    # Classes made by `type`, since a class statement would load Numba with this module.
    def init(field: Any, array: Any) -> None:
        types.NestedArray.__init__(field, array.dtype, array.shape)
        field.name = f"readonly {field.name}"

    record = type("ReadOnlyRecord", (types.Record,), {})
    field = type("ReadOnlyField", (types.NestedArray,), {"mutable": False, "__init__": init})
    _extending.register_model(record)(_models.RecordModel)
    _extending.register_model(field)(_models.NestedArrayModel)
    return record, field


def _read_only(item: Any) -> Any:
    """The type of an item of a read-only array."""
    if not isinstance(item, types.Record):
        return item
    record, array = _read_only_types()
    fields = [(name, field._asdict()) for name, field in item.fields.items()]
    for _, field in fields:
        field["type"] = (
            array(field["type"]) if isinstance(field["type"], types.NestedArray) else field["type"]
        )
    return record(fields, item.size, item.aligned)


def is_read_only(item: Any) -> bool:
    """Whether a type is that of a read-only structure."""
    return isinstance(item, _read_only_types()[0])


def _view_at(dtype: Any, dimensions: int = 1, readonly: bool = False) -> Any:
    """What views items of `dtype` at an address as an array, given the lengths of its dimensions."""
    item = _read_only(dtype.dtype) if readonly else dtype.dtype
    array_type = types.Array(item, dimensions, "C", readonly=readonly)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        return _view(context, builder, array_type, *arguments[:-1])

    return array_type(types.int64, *[types.int64] * dimensions, dtype), codegen


@intrinsic
def array_at(typingctx: Any, address: Any, length: Any, dtype: Any) -> Any:
    """View `length` items of `dtype` at an address as a one-dimensional array, without a copy."""
    return _view_at(dtype)


@intrinsic
def matrix_at(typingctx: Any, address: Any, rows: Any, columns: Any, dtype: Any) -> Any:
    """View `rows` × `columns` items of `dtype` at an address as a two-dimensional array, without a copy."""
    return _view_at(dtype, 2)


@intrinsic
def read_only_array_at(typingctx: Any, address: Any, length: Any, dtype: Any) -> Any:
    """As `array_at`, an array that the compiler lets nobody write to, nor to the arrays in its structures."""
    return _view_at(dtype, readonly=True)


@intrinsic
def read_only_matrix_at(typingctx: Any, address: Any, rows: Any, columns: Any, dtype: Any) -> Any:
    """As `matrix_at`, an array that the compiler lets nobody write to."""
    return _view_at(dtype, 2, readonly=True)


@intrinsic
def struct_at(typingctx: Any, address: Any, dtype: Any) -> Any:
    """View the bytes at an address as one structure of `dtype`, without a copy."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(dtype.dtype))

    return dtype.dtype(types.int64, dtype), codegen


# Of a parameter: int, float, (dtype, dimensions) of an array, or (class, kinds) of a named tuple.
ParameterKind: TypeAlias = Any


@functools.cache
def unpack_parameters(kinds: tuple[ParameterKind, ...]) -> Intrinsic:
    """An intrinsic that reads consecutive parameters at an address as a tuple; `pack_parameters` writes them there.

    An array is a word for its address and one for each length.
    """

    def type_of(kind: ParameterKind) -> Any:
        if not isinstance(kind, tuple):
            return types.int64 if kind is int else types.float64
        first, rest = kind
        if isinstance(first, np.dtype):
            return types.Array(numba.from_dtype(first), rest, "C")
        return types.NamedTuple(list(map(type_of, rest)), first)

    @intrinsic
    def unpack(typingctx: Any, address: Any) -> Any:
        tuple_type = types.Tuple(list(map(type_of, kinds)))

        def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
            places = itertools.count(0, WORD_BYTES)

            def load(kind: Any) -> Any:
                place = builder.add(arguments[0], context.get_constant(types.int64, next(places)))
                return builder.load(
                    builder.inttoptr(place, context.get_value_type(kind).as_pointer())
                )

            def read(kind: Any) -> Any:
                if isinstance(kind, types.Array):
                    return _view(
                        context, builder, kind, *(load(types.int64) for _ in range(1 + kind.ndim))
                    )
                if isinstance(kind, types.BaseTuple):
                    return context.make_tuple(builder, kind, [read(item) for item in kind.types])
                return load(kind)

            return read(tuple_type)

        return tuple_type(types.int64), codegen

    unpack.kinds = kinds
    return unpack


def kind_of(value: Any) -> ParameterKind:
    """The kind of a parameter: an integer, a real, an array or a named tuple of such."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    if isinstance(value, tuple):
        return type(value), tuple(map(kind_of, value))
    return float if isinstance(value, float) else int


def pack_parameters(values: Iterable[Any]) -> np.ndarray:
    """Parameters as words, for `unpack_parameters` of their kinds; arrays, which must be contiguous, are not copied."""
    return np.array(list(itertools.chain(*map(_words_of, values))) or [0], np.int64)


def _words_of(value: Any) -> Iterable[int]:
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("an array that compiled code is given must be contiguous")
        return value.ctypes.data, *value.shape
    if isinstance(value, tuple):
        return itertools.chain(*map(_words_of, value))
    return (int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value),)


@intrinsic
def call(typingctx: Any, address: Any, arguments: Any) -> Any:
    """Call the kernel at an address, of so many integers; what it raises is passed on."""
    arity = len(arguments)
    signature_types = (types.int64,) * arity

    def codegen(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        words = [builder.extract_value(values[1], i) for i in range(arity)]
        function_type = context.call_conv.get_function_type(types.int64, signature_types)
        pointer = builder.inttoptr(values[0], function_type.as_pointer())
        status, result = context.call_conv.call_function(
            builder, pointer, types.int64, signature_types, words
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.int64, types.UniTuple(types.int64, arity)), codegen


@intrinsic
def unlikely(typingctx: Any, condition: Any) -> Any:
    """A condition that hardly ever holds: what is done then is put where it is not in the way."""

    def codegen(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        bit = ir.IntType(1)
        expected = builder.module.declare_intrinsic(
            "llvm.expect", [bit], ir.FunctionType(bit, [bit, bit])
        )
        return builder.call(expected, [values[0], ir.Constant(bit, 0)])

    return types.boolean(types.boolean), codegen


@intrinsic
def popcount(typingctx: Any, word: Any) -> Any:
    """The number of one bits in a 64-bit word."""
    return types.int64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(
        arguments[0]
    )


@intrinsic
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """The index of the lowest one bit in a 64-bit word (64 for zero)."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), codegen


def plain_popcount(word: int) -> int:
    """`popcount` in plain Python."""
    return (int(word) & (1 << 64) - 1).bit_count()


def plain_lowest_bit(word: int) -> int:
    """`lowest_bit` in plain Python."""
    bits = int(word) & (1 << 64) - 1
    return (bits & -bits).bit_length() - 1 if bits else 64


def _quietly(function: Callable) -> Callable:
    """What compiled code has in place of a function of `math`: where it would raise, the number that NumPy gives, ∞ or NaN."""
    by_numpy = getattr(np, function.__name__)

    def computed(*numbers: float) -> float:
        try:
            return function(*numbers)
        except (OverflowError, ValueError):
            with np.errstate(all="ignore"):
                return float(by_numpy(*map(np.float64, numbers)))

    return computed


_ROOTS_AND_LOGARITHMS = (
    math.sqrt,
    math.exp,
    math.expm1,
    math.log,
    math.log2,
    math.log10,
    math.log1p,
)
plain_math = {function: _quietly(function) for function in _ROOTS_AND_LOGARITHMS}


BLOCK = 8  # bits that are written at once, where there is room


@inlined
def append_bits(items: np.ndarray, count: int, base: int | np.int64, bits: int | np.integer) -> int:
    """Append base + i to `count` items for each one bit i of a 64-bit word, the lowest first; returns their new number.

    Bits are written in blocks, so that the processor need not guess how many there are: up to 7 items after the last may be overwritten.
    """
    rest = np.uint64(bits)
    end = count + popcount(rest)
    if end + BLOCK - 1 <= len(items):
        while count < end:
            for i in range(BLOCK):
                items[count + i] = base + lowest_bit(rest)
                rest &= rest - np.uint64(1)
            count += BLOCK
        return end
    while rest != np.uint64(0):
        items[count] = base + lowest_bit(rest)
        count += 1
        rest &= rest - np.uint64(1)
    return count


@inlined
def copy_items(target: np.ndarray, source: np.ndarray) -> None:
    """`target[:] = source` would tell two lengths that differ in a sentence of its own making, which takes seconds to compile."""
    for i in range(len(target)):
        target[i] = source[i]


class Words:
    """Words of 64 bits side by side in code that is being made, with operators of NumPy's arrays."""

    def __init__(self, builder: Any, vector: Any) -> None:
        self.builder, self.vector = builder, vector

    def _by(self, operation: str, value: Any) -> "Words":
        right = (
            value.vector
            if isinstance(value, Words)
            else ir.Constant(self.vector.type, value.tolist())
        )
        return Words(self.builder, getattr(self.builder, operation)(self.vector, right))

    __and__, __or__ = functools.partialmethod(_by, "and_"), functools.partialmethod(_by, "or_")
    __lshift__, __rshift__ = (
        functools.partialmethod(_by, "shl"),
        functools.partialmethod(_by, "lshr"),
    )

    def __invert__(self) -> "Words":
        return Words(self.builder, self.builder.not_(self.vector))


def side_by_side(function: Callable) -> Any:
    """Mark a function of words of 64 bits that computes with arrays [4] of them, by NumPy's operators; what is called gives their OR.

    Compiled code computes in vectors, of as many registers as the processor needs for them.
    """

    def combined(*words: np.uint64) -> np.uint64:
        return np.bitwise_or.reduce(function(*words))

    def definition(typingctx: Any, *words: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
            vector = ir.VectorType(ir.IntType(64), 4)
            none, place = ir.Constant(vector, ir.Undefined), ir.IntType(32)
            first_place = ir.Constant(ir.VectorType(place, 4), None)
            first = [builder.insert_element(none, word, place(0)) for word in arguments]
            all_four = [builder.shuffle_vector(each, none, first_place) for each in first]
            union = ir.FunctionType(vector.element, [vector]), "llvm.vector.reduce.or.v4i64"
            result = function(*[Words(builder, each) for each in all_four]).vector
            return builder.call(cgutils.get_or_insert_function(builder.module, *union), [result])

        return types.uint64(*[types.uint64] * len(words)), codegen

    context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(definition)["__signature__"] = inspect.Signature(
        [context, *inspect.signature(function).parameters.values()]
    )
    compiled = intrinsic(definition)
    compiled.py_func = combined
    return compiled


@intrinsic
def prefetch(typingctx: Any, address: Any) -> Any:
    """Have the processor fetch what stands at an address, to be written soon."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, *3 * [number]])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        for_writing, near, data = number(1), number(3), number(1)
        builder.call(fetch, [builder.inttoptr(arguments[0], byte), for_writing, near, data])
        return context.get_dummy_value()

    return types.void(types.int64), codegen
