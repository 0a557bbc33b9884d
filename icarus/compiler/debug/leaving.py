"""Compiled calls that can be left from outside: what ends a loop in a function of a game or slot, which reads no word and hears no bell.

A call notes where it began (setjmp). `leave` sends the thread that makes it a signal of its own; the handler, machine code too, takes it
back there (longjmp), if it is just then in machine code made in this process: what runs elsewhere, in the C library say, may hold a
lock, and is asked again a moment later. Nothing is undone: what the call has written stays written. On Linux with x86-64 or ARM; elsewhere
calls are what they always were.
"""

import contextlib
import ctypes
import functools
import os
import re
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from icarus.compiler.kernels.functions import intrinsic
from icarus.compiler.lazy import Later, types

_llvm: Any = Later("llvmlite.binding")
_ir: Any = Later("llvmlite.ir")
_cgutils: Any = Later("numba.core.cgutils")

LEFT = -(1 << 63) + 0x1EF7  # what a call returns that was left, and almost nothing else does: `was_left` knows
TRIES, PAUSE = 400, 0.002  # how often, and seconds between two tries
_COUNTER = {"x86_64": 168, "aarch64": 440}  # bytes from the start of a ucontext_t to the program counter, on Linux
_MACHINE = os.uname().machine if sys.platform == "linux" else ""
POSSIBLE = _MACHINE in _COUNTER
_NODEFER_RESTART_INFO = 0x40000000 | 0x10000000 | 4
_BUFFER, _ACTIVE, _NUMBER, _LEFT = range(4)  # the words of a thread: a jump buffer's address, whether a call is made, …
_THREAD, _WORDS, _CALL, _RANGES, _FIRST = range(5)  # the words that the handler reads
_BUFFER_WORDS = 64  # more than any jmp_buf takes
_MOST_RANGES = 1000


class Left(KeyboardInterrupt):
    """A compiled call that Ctrl-C ended before it returned."""


class Calls:
    """The compiled calls of a thread, one at a time."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.words = np.zeros(4, np.int64)
        self.address = self.words.ctypes.data
        with _adding:
            _all.add(self)

    def was_left(self) -> bool:
        """Whether the last call was left; told once."""
        left = bool(self.words[_LEFT])
        self.words[_LEFT] = 0
        return left

    def makes(self, number: int) -> bool:
        """Whether the call of a number is being made."""
        return bool(self.words[_ACTIVE] and self.words[_NUMBER] == number)

    def spent(self) -> float:
        """Seconds of a processor that the thread has had; only while it makes a call."""
        return time.clock_gettime(time.pthread_getcpuclockid(self.thread))


_all: "weakref.WeakSet[Calls]" = weakref.WeakSet()
_adding = threading.Lock()
_local = threading.local()


def calls_of_thread() -> Calls:
    """Those of the thread that asks."""
    try:
        return _local.calls
    except AttributeError:
        _local.calls = Calls()
        return _local.calls


@intrinsic
def call_to_leave(typingctx: Any, address: Any, words: Any, arguments: Any) -> Any:
    """Call the entry at an address; LEFT where it was left."""
    arity = arguments.count

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function, words, given = values
        word, inner = _ir.IntType(64), (types.int64,) * arity
        buffer = _cgutils.alloca_once(builder, _ir.ArrayType(word, _BUFFER_WORDS))
        buffer.align = 16
        place = builder.bitcast(buffer, _ir.IntType(8).as_pointer())
        begin = _cgutils.get_or_insert_function(
            builder.module, _ir.FunctionType(_ir.IntType(32), [place.type]), "_setjmp"
        )
        begin.attributes.add("returns_twice")
        result = _cgutils.alloca_once(builder, word)

        def set_word(which: int, value: Any) -> None:
            builder.store_atomic(value, _word_at(builder, words, which), "seq_cst", 8)

        number = builder.load(_word_at(builder, words, _NUMBER))
        set_word(_NUMBER, builder.add(number, word(1)))
        set_word(_BUFFER, builder.ptrtoint(place, word))
        came = builder.call(begin, [place])
        with builder.if_else(builder.icmp_signed("==", came, came.type(0)), likely=True) as (first, again):
            with first:
                set_word(_ACTIVE, word(1))
                kind = context.call_conv.get_function_type(types.int64, inner)
                passed = [builder.extract_value(given, i) for i in range(arity)]
                pointer = builder.inttoptr(function, kind.as_pointer())
                status, found = context.call_conv.call_function(builder, pointer, types.int64, inner, passed)
                set_word(_ACTIVE, word(0))
                with _cgutils.if_unlikely(builder, status.is_error):
                    context.call_conv.return_status_propagate(builder, status)
                builder.store(found, result)
            with again:
                set_word(_ACTIVE, word(0))
                set_word(_LEFT, word(1))
                builder.store(word(LEFT), result)
        return builder.load(result)

    return types.int64(types.int64, types.int64, types.UniTuple(types.int64, arity)), codegen


def _word_at(builder: Any, words: Any, which: int) -> Any:
    word = _ir.IntType(64)
    return builder.inttoptr(builder.add(words, word(8 * which)), word.as_pointer())


def _ask1(address: int, words: int, a: int) -> int:
    return call_to_leave(address, words, (a,))


def _ask2(address: int, words: int, a: int, b: int) -> int:
    return call_to_leave(address, words, (a, b))


def _ask3(address: int, words: int, a: int, b: int, c: int) -> int:
    return call_to_leave(address, words, (a, b, c))


def _ask4(address: int, words: int, a: int, b: int, c: int, d: int) -> int:
    return call_to_leave(address, words, (a, b, c, d))


ASKERS: dict[int, Callable[..., int]] = {1: _ask1, 2: _ask2, 3: _ask3, 4: _ask4}  # by the arguments of what they call


# ------------------------------------------------------------------------------------------------------- leaving from outside


def under_way() -> list[tuple[Calls, int]]:
    """The calls that are being made now, with their numbers."""
    with _adding:
        known = list(_all)
    return [(calls, int(calls.words[_NUMBER])) for calls in known if calls.words[_ACTIVE]]


def leave(calls: Calls, number: int) -> bool:
    """Have a call return that is being made; whether it has."""
    with _lock:
        sent = _handled()
        found = _MADE_HERE.findall(Path("/proc/self/maps").read_text())[:_MOST_RANGES]
        _aimed[_FIRST : _FIRST + 2 * len(found)] = [int(end, 16) for one in found for end in one]
        _aimed[[_WORDS, _CALL, _RANGES, _THREAD]] = calls.address, number, len(found), calls.thread
        for _ in range(TRIES):
            if not calls.makes(number):
                break
            with contextlib.suppress(ProcessLookupError):
                signal.pthread_kill(calls.thread, sent)
            time.sleep(PAUSE)
        _aimed[_THREAD] = 0
    return not calls.makes(number)


_lock = threading.Lock()
_aimed = np.zeros(_FIRST + 2 * _MOST_RANGES, np.uint64)
_MADE_HERE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-xp 00000000 00:00 0\s*$", re.M)


class _Action(ctypes.Structure):
    """struct sigaction of Linux's C libraries."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_uint64 * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


@functools.cache
def _handled() -> int:
    """The number of a signal that nobody handled, to which the handler answers from now on: a late one must not end the process."""
    library, new = ctypes.CDLL(None), _Action(_handler(), (), _NODEFER_RESTART_INFO, None)
    for number in range(int(signal.SIGRTMAX) - 3, int(signal.SIGRTMIN), -1):
        old = _Action()
        library.sigaction(number, None, ctypes.byref(old))
        if old.handler is None:  # SIG_DFL
            library.sigaction(number, ctypes.byref(new), None)
            return number
    raise RuntimeError("every real-time signal is in use")


_alive: list[Any] = []


def _handler() -> int:
    """The address of the handler, made in this process."""
    _llvm.initialize_native_target()
    _llvm.initialize_native_asmprinter()
    machine = _llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = _llvm.create_mcjit_compiler(_llvm.parse_assembly(str(_module())), machine)
    engine.finalize_object()
    _alive.append(engine)
    return engine.get_function_address("leave")


def _module() -> Any:
    """leave(signal, information, context): longjmp, if the thread aimed at makes the call that is meant, in machine code made here."""
    word, number, nothing = _ir.IntType(64), _ir.IntType(32), _ir.VoidType()
    module = _ir.Module()
    function = _ir.Function(module, _ir.FunctionType(nothing, [number, word, word]), "leave")
    itself = _ir.Function(module, _ir.FunctionType(word, []), "pthread_self")
    jump = _ir.Function(module, _ir.FunctionType(nothing, [word, number]), "longjmp")
    blocks = [function.append_basic_block(name) for name in ("start", "look", "next", "compare", "go", "stay")]
    start, look, following, compare, go, stay = blocks
    builder = _ir.IRBuilder(start)

    def aimed(which: int) -> Any:
        return builder.load(_word_at(builder, word(_aimed.ctypes.data), which))

    builder.cbranch(builder.icmp_unsigned("==", builder.call(itself, []), aimed(_THREAD)), look, stay)
    builder.position_at_end(look)
    words = aimed(_WORDS)
    active, call, buffer = (builder.load(_word_at(builder, words, which)) for which in (_ACTIVE, _NUMBER, _BUFFER))
    meant = builder.and_(builder.icmp_unsigned("==", active, word(1)), builder.icmp_unsigned("==", call, aimed(_CALL)))
    counter, count = builder.load(_word_at(builder, function.args[2], _COUNTER[_MACHINE] // 8)), aimed(_RANGES)
    builder.cbranch(meant, following, stay)
    builder.position_at_end(following)
    i = builder.phi(word)
    i.add_incoming(word(0), look)
    builder.cbranch(builder.icmp_unsigned("<", i, count), compare, stay)
    builder.position_at_end(compare)
    place = builder.add(word(_aimed.ctypes.data + 8 * _FIRST), builder.mul(i, word(16)))
    above = builder.icmp_unsigned(">=", counter, builder.load(_word_at(builder, place, 0)))
    below = builder.icmp_unsigned("<", counter, builder.load(_word_at(builder, place, 1)))
    i.add_incoming(builder.add(i, word(1)), compare)
    builder.cbranch(builder.and_(above, below), go, following)
    builder.position_at_end(go)
    builder.call(jump, [buffer, number(1)])
    builder.unreachable()
    builder.position_at_end(stay)
    builder.ret_void()
    return module
