"""Where compiled code is, in a debug build (ICARUS_DEBUG=1): every line of an author's function leaves its place behind.

An author's function is any that is not the engine's own: of a user's file, a game, a specification. Each thread has a few words of
memory in which the line stands that it came to last. Whatever is raised afterwards, by the line itself, by what it calls or by the engine
that looks at what was returned, is told with this place. A call that goes too deep is an error, before the stack ends; and where a
function touches memory that is nobody's, the process ends with a sentence that names the place, not with a segmentation fault alone.
"""

import ctypes
import functools
import os
import signal
import threading
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core import ir as numba_ir
from numba.core.lowering import Lower

PACKAGE = Path(__file__).parent.parent.parent
OURS = (
    "commands",
    "compiler",
    "engine",
    "equilibrium",
    "kernel",
)  # rooms of the package whose functions are no author's
DEEPEST = 1 << 20  # bytes of stack that calls of author's functions may take
OUTSIDE = "index is out of bounds"
_LIBRARIES = tuple(str(Path(module.__file__ or "").parent) + os.sep for module in (numba, np))
# The words of a thread: addresses of a text and of two frames, an index and a size, whether a call is made.
_PLACE, _BASE, _FRAME, _INDEX, _SIZE, _INSIDE = range(6)
_WORDS = 8
_THREADS = 4096  # a power of two; the threads of a process are told apart by the address of each
_words = np.zeros((_THREADS, _WORDS), np.int64)
_WORD, _BYTE = ir.IntType(64), ir.IntType(8)
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")
_FAULT = b"icarus: a compiled function touched memory that is not its own, "
_SLOT = "icarus_words_of_thread"


class Placed:
    """A compiled function of a debug build: what it raises tells where."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    def __call__(self, *arguments: Any) -> Any:
        words = _own_words()
        words[:] = 0
        words[_INSIDE] = 1
        try:
            return self._dispatcher(*arguments)
        except Exception as error:
            _tell(error, words)
            raise
        finally:
            words[_INSIDE] = 0


def _own_words() -> np.ndarray:
    return _words[(threading.get_ident() >> 12) & (_THREADS - 1)]


def last() -> str:
    """Where the last compiled call of this thread was last, as ", in f (file, line n)"; "" where no author's function was called."""
    place = int(_own_words()[_PLACE])
    return f", {ctypes.string_at(place).decode()}" if place else ""


def _tell(error: Exception, words: np.ndarray) -> None:
    """Have an error say where it was raised, unless it is one that knows better or says nothing of a function."""
    if not words[_PLACE] or isinstance(error, MemoryError | OverflowError) or hasattr(type(error), "elsewhere"):
        return
    told = str(error)
    if told == OUTSIDE and words[_SIZE] >= 0:
        index, size = int(words[_INDEX]), int(words[_SIZE])
        told = f"index {index if index >= 0 else index - size} is out of bounds where there are {size}"  # counted from the end
    place = ctypes.string_at(int(words[_PLACE])).decode()
    error.args = (f"{told or type(error).__name__}, {place}",)
    error.place = place  # type: ignore[attr-defined]


# -------------------------------------------------------------------------------------------- what the compiler is to add


@functools.cache
def is_authors(path: str, module: str) -> bool:
    """Whether a function in a file is an author's."""
    if module.partition(".")[0] in ("numba", "numpy", "llvmlite") or path.startswith(_LIBRARIES):
        return False
    return not any(path.startswith(str(PACKAGE / room) + os.sep) for room in OURS)


def _words_of_thread(builder: Any) -> Any:
    """The address of the words of the thread that runs."""
    kind = ir.FunctionType(_WORD, [])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, _SLOT), [])


def _at(builder: Any, words: Any, which: int) -> Any:
    return builder.inttoptr(builder.add(words, _WORD(8 * which)), _WORD.as_pointer())


_lower = Lower.lower_inst


def _lower_placed(self: Any, inst: Any) -> None:
    """Before a line of an author's function its place; what is called leaves places of its own, so after it the line's again."""
    function, value = self.func_ir.func_id, getattr(inst, "value", None)
    authors = is_authors(function.filename, function.modname)
    if authors and not isinstance(value, numba_ir.Arg):
        _leave_place(self, function, inst.loc)
    _lower(self, inst)
    if authors and isinstance(value, numba_ir.Expr) and value.op not in ("getattr", "cast"):
        self._left = (0, 0)


def _leave_place(self: Any, function: Any, loc: Any) -> None:
    """Leave the place of a line, and on the first of a function see how deep it is."""
    before, here = getattr(self, "_left", None), (id(self._cur_ir_block), loc.line)
    if before == here:
        return
    place = f"in {function.func_qualname} ({loc.filename}, line {loc.line})"
    words = _words_of_thread(self.builder)
    text = self.builder.ptrtoint(self.context.insert_const_string(self.module, place), _WORD)
    self.builder.store_atomic(text, _at(self.builder, words, _PLACE), "monotonic", 8)
    if before is None:
        _measure_depth(self, words, loc)
    self._left = here


def _measure_depth(self: Any, words: Any, loc: Any) -> None:
    builder = self.builder
    frame = builder.ptrtoint(cgutils.alloca_once(builder, _BYTE), _WORD)
    builder.store_atomic(frame, _at(builder, words, _FRAME), "monotonic", 8)  # it escapes: no call becomes a jump
    base = builder.load(_at(builder, words, _BASE))
    first = builder.icmp_signed("==", base, _WORD(0))
    builder.store(builder.select(first, frame, base), _at(builder, words, _BASE))
    deep = builder.and_(builder.not_(first), builder.icmp_signed(">", builder.sub(base, frame), _WORD(DEEPEST)))
    with cgutils.if_unlikely(builder, deep):
        self.return_exception(RecursionError, ("calls go too deep, as where a function calls itself without end",), loc)


def _check_bounds(context: Any, builder: Any, index: Any, size: Any, axis: Any = None) -> None:
    """An index from 0 to size − 1, or an error that knows both."""
    below = builder.icmp_signed("<", index, index.type(0))
    with cgutils.if_unlikely(builder, builder.or_(below, builder.icmp_signed(">=", index, size))):
        words = _words_of_thread(builder)
        for which, value in ((_INDEX, index), (_SIZE, size)):
            builder.store(builder.sext(value, _WORD) if value.type.width < 64 else value, _at(builder, words, which))
        context.call_conv.return_user_exc(builder, IndexError, (OUTSIDE,))


@functools.cache
def install() -> None:
    """Have everything that is compiled from now on leave its places, and faults tell them."""
    slot = _native(_slot_module(), _SLOT)
    llvm.add_symbol(_SLOT, slot)
    Lower.lower_inst = _lower_placed  # type: ignore[method-assign]
    cgutils.do_boundscheck = _check_bounds
    _catch_faults()


# ------------------------------------------------------------------------------------------------------ made in each process

_alive: list[Any] = []


def _native(module: ir.Module, name: str) -> int:
    """The address of a function of a module as machine code."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), _machine())
    engine.finalize_object()
    _alive.append(engine)
    return engine.get_function_address(name)


def _machine() -> Any:
    return llvm.Target.from_default_triple().create_target_machine(jit=True)


def _slot_module() -> ir.Module:
    """The address of the words of the thread that asks."""
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(_WORD, []), _SLOT)
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(_slot(module, builder))
    return module


def _slot(module: ir.Module, builder: Any) -> Any:
    itself = builder.call(ir.Function(module, ir.FunctionType(_WORD, []), "pthread_self"), [])
    which = builder.and_(builder.lshr(itself, _WORD(12)), _WORD(_THREADS - 1))
    return builder.add(builder.mul(which, _WORD(8 * _WORDS)), _WORD(_words.ctypes.data))


def _catch_faults() -> None:
    """Tell the place of a fault and end the process; elsewhere than in compiled functions a fault is what it was."""
    library = ctypes.CDLL(None)
    handler = _native(_fault_module(), "fault")
    library.signal.argtypes, library.signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    for name in _FAULTS:
        library.signal(int(getattr(signal, name)), handler)


def _fault_module() -> ir.Module:
    """A signal handler: write the place to stderr and end the process with 1; without a place, let the signal do what it does."""
    module, number = ir.Module(), ir.IntType(32)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [number]), "fault")
    write = ir.Function(module, ir.FunctionType(_WORD, [number, _WORD, _WORD]), "write")
    length = ir.Function(module, ir.FunctionType(_WORD, [_WORD]), "strlen")
    reset = ir.Function(module, ir.FunctionType(_WORD, [number, _WORD]), "signal")
    leave = ir.Function(module, ir.FunctionType(ir.VoidType(), [number]), "_exit")
    builder = ir.IRBuilder(function.append_basic_block())
    words = _slot(module, builder)
    place, inside = (builder.load(_at(builder, words, which)) for which in (_PLACE, _INSIDE))
    with builder.if_else(builder.icmp_signed("!=", builder.mul(place, inside), _WORD(0))) as (known, unknown):
        with known:
            for text, size in ((_fault, len(_FAULT)), (None, None), (_newline, 1)):
                address = place if text is None else _WORD(ctypes.addressof(text))
                builder.call(
                    write, [number(2), address, builder.call(length, [place]) if size is None else _WORD(size)]
                )
            builder.call(leave, [number(1)])
        with unknown:
            builder.call(reset, [function.args[0], _WORD(0)])
    builder.ret_void()
    return module


_fault, _newline = ctypes.create_string_buffer(_FAULT), ctypes.create_string_buffer(b"\n")
