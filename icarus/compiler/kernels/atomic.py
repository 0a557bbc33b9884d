"""Words that several threads read and write at once, by their addresses: each of these happens as a whole or not at all."""

from collections.abc import Sequence
from typing import Protocol

from icarus.compiler.kernels.functions import inlined, intrinsic
from icarus.compiler.kernels.pointers import WORD_BYTES
from icarus.compiler.lazy import types
from icarus.compiler.numba_types import Builder, Definition, NumbaType, Signature, TargetContext, TypingContext, Value


def _word_at(context: TargetContext, builder: Builder, address: Value) -> Value:
    return builder.inttoptr(address, context.get_value_type(types.int64).as_pointer())


@intrinsic
def atomic_load(typingctx: TypingContext, address: NumbaType) -> Definition:
    """The word at an address; what its writer wrote before it is seen too."""

    def codegen(context: TargetContext, builder: Builder, signature: Signature, arguments: Sequence[Value]) -> Value:
        return builder.load_atomic(_word_at(context, builder, arguments[0]), "acquire", WORD_BYTES)

    return types.int64(types.int64), codegen


@intrinsic
def atomic_store(typingctx: TypingContext, address: NumbaType, word: NumbaType) -> Definition:
    """Write the word at an address; whoever reads it sees also what was written before."""

    def codegen(context: TargetContext, builder: Builder, signature: Signature, arguments: Sequence[Value]) -> Value:
        builder.store_atomic(arguments[1], _word_at(context, builder, arguments[0]), "release", WORD_BYTES)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def atomic_store_half(typingctx: TypingContext, address: NumbaType, number: NumbaType) -> Definition:
    """`atomic_store` for a number of 32 bits."""

    def codegen(context: TargetContext, builder: Builder, signature: Signature, arguments: Sequence[Value]) -> Value:
        half = context.get_value_type(types.int32)
        pointer = builder.inttoptr(arguments[0], half.as_pointer())
        builder.store_atomic(builder.trunc(arguments[1], half), pointer, "release", WORD_BYTES // 2)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def atomic_add(typingctx: TypingContext, address: NumbaType, amount: NumbaType) -> Definition:
    """Add to the word at an address; returns what it was before."""

    def codegen(context: TargetContext, builder: Builder, signature: Signature, arguments: Sequence[Value]) -> Value:
        return builder.atomic_rmw("add", _word_at(context, builder, arguments[0]), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def compare_and_swap(typingctx: TypingContext, address: NumbaType, expected: NumbaType, word: NumbaType) -> Definition:
    """Write the word at an address if it is the expected one, and tell whether it was."""

    def codegen(context: TargetContext, builder: Builder, signature: Signature, arguments: Sequence[Value]) -> Value:
        pointer = _word_at(context, builder, arguments[0])
        result = builder.cmpxchg(pointer, arguments[1], arguments[2], "seq_cst", "seq_cst")
        return builder.extract_value(result, 1)

    return types.boolean(types.int64, types.int64, types.int64), codegen


class Interruptible(Protocol):
    """A structure of what a compiled loop works on, as far as its end by Ctrl-C is concerned."""

    interrupt_flag: int  # the address of `icarus.compiler.interrupts.INTERRUPT_FLAG`
    flag_at_start: int  # what it was when the loop started


@inlined
def is_interrupted(loop: Interruptible) -> bool:
    """Whether a loop is to return: the interrupt flag is not what it was when the loop started."""
    return atomic_load(loop.interrupt_flag) != loop.flag_at_start
