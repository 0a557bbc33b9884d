"""Machine code as the bytes of an object file: linked into the process and called by its address, without the compiler."""

import ctypes
import functools
import pickle
from pathlib import Path
from typing import NoReturn

from icarus.compiler.digest import PACKAGE
from icarus.compiler.interrupts import runs_compiled_code
from icarus.compiler.lazy import Lazy
from icarus.compiler.location import location
from icarus.compiler.numba_types import Target

_llvm = Lazy("llvmlite.binding")
UNPLACED = 'engine="python" shows in which function and line'  # of an error of which no line is known
_RAISED = 0  # a greater status: the function has raised an exception, and says where it is described


class _RaisedException(ctypes.Structure):
    """An exception as compiled code describes it: pickled, and without anything that was known only when it ran."""

    _fields_ = [("pickled", ctypes.c_void_p), ("length", ctypes.c_int32)]


@functools.cache
def this_machine() -> tuple[str, str, str]:
    """The processor for which machine code is made: its target triple, its name and its features."""
    return _llvm.get_process_triple(), _llvm.get_host_cpu_name(), _llvm.get_host_cpu_features().flatten()


@functools.cache
def _target() -> Target:
    _llvm.initialize_native_target()
    _llvm.initialize_native_asmprinter()
    return _llvm.Target.from_triple(_llvm.get_process_triple())


class MachineCode:
    """A function of 64-bit integers, ready to run.

    Args:
        code: an object file that needs nothing but the C library.
        symbol: the function's name in it.
        arity: how many integers it takes.
    """

    def __init__(self, code: bytes, symbol: str, arity: int) -> None:
        self._engine = _llvm.create_mcjit_compiler(_llvm.parse_assembly(""), _target().create_target_machine())
        self._engine.add_object_file(_llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address(symbol)
        if self.address == 0:
            raise ValueError(f"no function {symbol} is in it")
        pointers = (ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.POINTER(_RaisedException)))
        self._call = ctypes.CFUNCTYPE(ctypes.c_int32, *pointers, *(ctypes.c_int64,) * arity)(self.address)

    @runs_compiled_code
    def __call__(self, *arguments: int) -> int:
        result, raised = ctypes.c_int64(), ctypes.POINTER(_RaisedException)()
        if self._call(ctypes.byref(result), ctypes.byref(raised), *arguments) > _RAISED:
            _raise(ctypes.string_at(raised.contents.pickled, raised.contents.length))
        return result.value


def _is_ours(file: Path) -> bool:
    """Whether a file is the package's own, here or in the copy of it whose machine code this is."""
    parts = file.parts
    inside = parts[len(parts) - parts[::-1].index(PACKAGE.name) :] if PACKAGE.name in parts else ()
    return bool(inside) and PACKAGE.joinpath(*inside).is_file()


def _raise(pickled: bytes) -> NoReturn:
    """Raise an exception where the line of its `raise` can be seen, as far as it is known."""
    kind, arguments, place = pickle.loads(pickled)
    error = kind(*arguments)
    if place is None:
        error.add_note(UNPLACED)
        raise error
    function, file, line = place
    if not _is_ours(Path(file)):  # the package's own sentences need no place
        error.add_note(f"in {function} ({location(file, line)})")
    code = compile("\n" * (line - 1) + "raise error", file, "exec").replace(co_name=function)
    exec(code, {"error": error})
    raise error
