"""Words that several threads read and write at once, by their addresses: each of these happens as a whole or not at all."""

from typing import Any

from icarus.compiler.kernels.functions import intrinsic
from icarus.compiler.kernels.pointers import WORD_BYTES
from icarus.compiler.lazy import types


def _word_at(context: Any, builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, context.get_value_type(types.int64).as_pointer())


@intrinsic
def atomic_load(typingctx: Any, address: Any) -> Any:
    """The word at an address; what its writer wrote before it is seen too."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_word_at(context, builder, arguments[0]), "acquire", WORD_BYTES)

    return types.int64(types.int64), codegen


@intrinsic
def atomic_store(typingctx: Any, address: Any, word: Any) -> Any:
    """Write the word at an address; whoever reads it sees also what was written before."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[1], _word_at(context, builder, arguments[0]), "release", WORD_BYTES)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def atomic_add(typingctx: Any, address: Any, amount: Any) -> Any:
    """Add to the word at an address; returns what it was before."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _word_at(context, builder, arguments[0]), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def exchanged(typingctx: Any, address: Any, expected: Any, word: Any) -> Any:
    """Write the word at an address if it is the expected one, and tell whether it was."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _word_at(context, builder, arguments[0])
        found = builder.cmpxchg(pointer, arguments[1], arguments[2], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(types.int64, types.int64, types.int64), codegen
