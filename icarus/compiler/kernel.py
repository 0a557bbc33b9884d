"""Kernels: functions of 64-bit integers as machine code with an address, kept on disk as object files that need no compiler.

A file lies in a folder of the user's own, which nobody else may write to, and its checksum shows whether it is whole. Two processes that
need the same at once both compile it; what the last one writes takes the place of what the first one wrote, as a whole.
"""

import contextlib
import ctypes
import functools
import gc
import hashlib
import logging
import os
import pickle
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from inspect import get_annotations
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from icarus.compiler.digest import (
    KERNELS_OF_LOOP,
    LOOP_DIGEST,
    PACKAGE,
    PACKAGE_DIGEST,
    digest,
    settings,
    sources_digest,
)
from icarus.compiler.functions import (
    DEBUG,
    MAKES_PLAIN,
    CompilationError,
    Lazy,
    compiler,
    inlined_once,
    parts_in_memory,
    types,
)
from icarus.compiler.memory import array_at, kind_of, pack_parameters, unpack_parameters
from icarus.compiler.messages import about_kinds, compilation_errors, location
from icarus.compiler.plain_python import PlainKernel

_llvm = Lazy("llvmlite.binding")
_lock = Lazy("numba.core.compiler_lock")
_pipeline = Lazy("icarus.compiler.pipeline")

logger = logging.getLogger(__name__)
TOLD_AFTER = 1.0  # seconds of compiling
UNUSED_DAYS = 30  # machine code of other versions is deleted after this
# the note of an error of which no line is known
UNPLACED = 'engine="python" shows in which function and line'
_OTHERS_WRITE = 0o022  # mode bits
_CHECKSUM = hashlib.sha256().digest_size
_RAISED = 0  # with a status above it a function has raised an exception
_alive: list["CompiledFunction"] = []


class CompiledFunction:
    """A compiled function of 64-bit integers, with its address; it is never freed, since a search may use that.

    Args:
        returns: what the author's function in it must return, in words, for the message if it does not.
        check: called once it is compiled; if it raises, the machine code is not kept.

    Raises:
        CompilationError: the compiler refuses the function; the message names it and the line.
    """

    def __new__(
        cls, function: Callable, arity: int, name: str, returns: str = "", **_: object
    ) -> Any:
        """A kernel, which stays plain Python where nothing is to be compiled."""
        made_by = MAKES_PLAIN.get()
        if made_by is None:
            return object.__new__(cls)
        return PlainKernel(made_by(function), name, returns)

    def __init__(
        self,
        function: Callable,
        arity: int,
        name: str,
        returns: str = "",
        check: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.function = function
        file = _file_of(name, digest(function, name, arity, this_machine()))
        with uninterrupted():
            code = load(file, name, arity, made_for())
            if code is None:
                shipped, level = shipped_file(name, function)
                code = load(shipped, name, arity, level)
        self._code: MachineCode | CodeInMemory = code or self._compile(arity, file, returns, check)
        self.address: int = self._code.address
        _alive.append(self)

    def __call__(self, *arguments: int) -> int:
        return self._code(*arguments)

    def _compile(
        self, arity: int, file: Path | None, returns: str, check: Callable[[], None] | None
    ) -> "MachineCode | CodeInMemory":
        """The machine code of the function, which is kept in the file if other processes can use it."""
        with uninterrupted():
            # To make the target takes the lock below while another is held; made first, no two threads wait for each other.
            bool(compiler().core.registry.cpu_target.target_context)
        with (
            long_work_announced(),
            _lock.global_compiler_lock,
            uninterrupted(),
            collection_paused(),
        ):
            with compilation_errors(self.function, self.name, returns):
                dispatcher = _pipeline.kernel_dispatcher(
                    self.function, nogil=True, boundscheck=DEBUG
                )
                dispatcher.compile(types.int64(*(types.int64,) * arity))
                (result,) = dispatcher.overloads.values()
                if returns:
                    kinds = result.type_annotation.typemap.values()
                    wrong = about_kinds(self.function, kinds, returns)
                    if wrong:
                        raise CompilationError(f"{self.name} cannot be compiled: {wrong}")
                if check is not None:
                    check()
            handle_pending()
            code = result.library.machine_code()
            symbol = result.fndesc.llvm_func_name
            if not result.library.stands_alone():
                return CodeInMemory(self.function, arity)
            _write(file, b"\0".join([*_label(self.name, arity, made_for()), symbol.encode(), code]))
            return MachineCode(code, symbol, arity)


class MachineCode:
    """A function of 64-bit integers, ready to run.

    Args:
        code: an object file that needs nothing but the C library.
        symbol: the function's name in it.
        arity: how many integers it takes.
    """

    def __init__(self, code: bytes, symbol: str, arity: int) -> None:
        self._engine = _llvm.create_mcjit_compiler(
            _llvm.parse_assembly(""), _target().create_target_machine()
        )
        self._engine.add_object_file(_llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address(symbol)
        if self.address == 0:
            raise ValueError(f"no function {symbol} is in it")
        pointers = (ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(_Raised))
        self._call = ctypes.CFUNCTYPE(ctypes.c_int32, *pointers, *(ctypes.c_int64,) * arity)(
            self.address
        )

    def __call__(self, *arguments: int) -> int:
        result, raised = ctypes.c_int64(), _Raised()
        if self._call(ctypes.byref(result), ctypes.byref(raised), *arguments) > _RAISED:
            _raise(ctypes.string_at(raised.contents.pickled, raised.contents.length))
        return result.value


class CodeInMemory:
    """A function that each process compiles for itself: it works with objects of Python, or raises exceptions made of values."""

    def __init__(self, function: Callable, arity: int) -> None:
        with parts_in_memory():
            self._dispatcher = compiler().njit(nogil=True, boundscheck=DEBUG)(function)
            self._dispatcher.compile(types.int64(*(types.int64,) * arity))
        (result,) = self._dispatcher.overloads.values()
        self.address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)

    def __call__(self, *arguments: int) -> int:
        return self._dispatcher(*arguments)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Within, no garbage is collected: the compiler makes millions of objects, and to look through them takes a seventh of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def long_work_announced() -> Iterator[None]:
    """Within, compiling that takes long is announced, once in a process, in a terminal or a notebook, and not in a pipe."""
    timer = threading.Timer(TOLD_AFTER, _tell)
    is_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    is_page = os.environ.get("TTY_INTERACTIVE") == "0"  # a page is built, at which nobody looks
    if sys.stderr and (sys.stderr.isatty() or is_notebook) and not is_page:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@functools.cache
def _tell() -> None:
    where = f"machine code is kept in {cache_folder() or 'memory only'}"
    print(
        f"icarus is compiling, which takes some seconds and happens once; {where}",
        file=sys.stderr,
        flush=True,
    )


# ------------------------------------------------------------------------------------------------------------------------ Ctrl-C

PATIENCE = 1.0  # seconds in which several presses count as one
# what would handle the signals that `uninterrupted` holds back
_held_handler: list[Callable[[int, FrameType | None], object]] = []
_pending: list[int] = []  # the signals held back so far


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Within, Ctrl-C is held back until the end, or until `handle_pending`.

    If KeyboardInterrupt came after LLVM has freed an object, and before Python has noted it, Python would free it again.
    """
    handler = signal.getsignal(signal.SIGINT)
    # signals are for the main thread; this one is held back already, or nothing of Python's handles it
    if (
        threading.current_thread() is not threading.main_thread()
        or handler is _note
        or not callable(handler)
    ):
        yield
        return
    _held_handler[:] = [handler]
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        handle_pending()


def _note(number: int, frame: FrameType | None) -> None:
    _pending.append(number)


def handle_pending() -> None:
    """Handle a Ctrl-C that is held back; raises KeyboardInterrupt, if there is no other handler."""
    if _pending and threading.current_thread() is threading.main_thread():
        _pending.clear()
        _held_handler[0](signal.SIGINT, None)


@contextlib.contextmanager
def presses_as_one() -> Iterator[None]:
    """Within, presses of Ctrl-C within `PATIENCE` count as one: the second must not meet the code that keeps a result."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    raised = -PATIENCE

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal raised
        if time.monotonic() - raised >= PATIENCE:
            raised = time.monotonic()
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# ----------------------------------------------------------------------------------------------------------------- the processor


class _RaisedException(ctypes.Structure):
    """An exception as compiled code describes it: pickled, and without anything that was known only when it ran."""

    _fields_ = [("pickled", ctypes.c_void_p), ("length", ctypes.c_int32)]


_Raised = ctypes.POINTER(_RaisedException)  # found once, and not in each call


@functools.cache
def this_machine() -> tuple[str, str, str]:
    """The processor for which machine code is made: its target triple, its name and its features."""
    return (
        _llvm.get_process_triple(),
        _llvm.get_host_cpu_name(),
        _llvm.get_host_cpu_features().flatten(),
    )


def made_for() -> str:
    """The processor that the compiler makes machine code for: this one, or another by its settings."""
    triple, name, features = this_machine()
    return f"{triple} {os.environ.get('NUMBA_CPU_NAME', name)} {os.environ.get('NUMBA_CPU_FEATURES', features)}"


@functools.cache
def _target() -> Any:
    _llvm.initialize_native_target()
    _llvm.initialize_native_asmprinter()
    return _llvm.Target.from_triple(_llvm.get_process_triple())


@functools.cache
def _is_of_package(file: str) -> bool:
    """Whether a file is the package's own: its machine code may have been made in another folder, where the package stood too."""
    _, package, inside = f"/{Path(file).as_posix()}".rpartition(f"/{PACKAGE.name}/")
    return package != "" and (PACKAGE / inside).is_file()


def _raise(pickled: bytes) -> None:
    """Raise an exception where the line of its `raise` can be seen, as far as it is known."""
    kind, arguments, place = pickle.loads(pickled)
    # In a list, from which the line that raises it pops it: a frame of its traceback that named it would be a circle, which keeps all
    # variables of the frames in memory.
    errors = [kind(*arguments)]
    if place is None:
        errors[0].add_note(UNPLACED)
        raise errors.pop()
    function, file, line = place
    if not _is_of_package(file):  # the package's own sentences need no place
        errors[0].add_note(f"in {function} ({location(file, line)})")
    exec(_raise_at(function, file, line), {"errors": errors})


@functools.cache
def _raise_at(function: str, file: str, line: int) -> CodeType:
    return compile("\n" * (line - 1) + "raise errors.pop()", file, "exec").replace(co_name=function)


def call_compiled(errors: list[BaseException], function: Callable, *arguments: object) -> Any:
    """What compiled code returns; raises what a function that it calls back has raised, and has kept in `errors`."""
    errors.clear()
    try:
        result = function(*arguments)
    except SystemError:
        if not errors:
            raise
    if errors:  # compiled code may have returned as if nothing had been raised
        raise errors[0]
    return result


# ---------------------------------------------------------------------------------------------------------------------- the disk


def cache_root() -> Path:
    """The folder of all cached machine code: $ICARUS_CACHE_DIR, or `icarus` in the user's cache folder."""
    folder = os.environ.get("ICARUS_CACHE_DIR")
    if folder:
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "icarus"


@functools.cache
def cache_folder() -> Path | None:
    """The folder for this version of the package, private to the user; None where there can be none."""
    try:
        folder = cache_root().absolute() / PACKAGE_DIGEST
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        has_owners = hasattr(os, "geteuid")  # elsewhere modes say nothing of other users
        if has_owners and (status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE):
            raise PermissionError(f"other users may write to {folder}")
        os.utime(folder)
        for version in folder.parent.glob("[0-9a-f]" * len(PACKAGE_DIGEST)):
            with contextlib.suppress(OSError):  # another process may be deleting it
                if version.stat().st_mtime < time.time() - UNUSED_DAYS * 86400:
                    shutil.rmtree(version)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        logger.warning(
            "machine code cannot be cached, so every start compiles again: %s; set ICARUS_CACHE_DIR to a directory of your own",
            error,
        )
        return None
    return folder


class ProcessorLevel(NamedTuple):
    """Processors for which the package brings the machine code of its loop.

    Attributes:
        features: what they can do.
        name, tuning: what the compiler takes them for.
    """

    machine: str
    features: str = ""
    name: str = "generic"
    tuning: str = ""

    @property
    def triple(self) -> str:
        return f"{self.machine}-unknown-linux-gnu"


_AVX2 = "+avx2 +bmi +bmi2 +f16c +fma +lzcnt +movbe"
_AVX512 = f"{_AVX2} +avx512f +avx512bw +avx512cd +avx512dq +avx512vl"
LEVELS = {  # the newest first
    "x86-64-v4": ProcessorLevel("x86_64", _AVX512, "x86-64-v4", "+prefer-256-bit"),
    "x86-64-v3": ProcessorLevel("x86_64", _AVX2, "x86-64-v3"),
    "aarch64": ProcessorLevel("aarch64"),
}


def levels_here() -> list[str]:
    """The levels of this processor, the newest first."""
    triple, _, features = this_machine()
    here = {name: level for name, level in LEVELS.items() if triple == level.triple}
    return [
        name for name, level in here.items() if {*level.features.split()} <= {*features.split(",")}
    ]


def shipped_file(name: str, function: Callable, level: str = "") -> tuple[Path | None, str]:
    """The package's file of the machine code of a kernel, made of these very sources, and its processor; (None, "") without one.

    Args:
        level: of processors, of which the file may be missing; by default the newest of this processor's that has a file. There is none
            where the compiler has other settings than when the files were made.
    """
    folder = PACKAGE / "compiler" / "shipped"
    levels = [level]
    if not level:
        levels = [] if DEBUG or settings() else levels_here()
    for each in levels:
        start = f"{_plain(name)}-{each}-"
        # The digest takes long: it is computed only if there is any file of this kernel for this level.
        if level or any(folder.glob(f"{start}*")):
            key = LOOP_DIGEST if name in KERNELS_OF_LOOP else sources_digest(function)
            file = folder / f"{start}{key}.bin"
            if level or (key and file.is_file()):
                return file, f"{LEVELS[each].triple} {LEVELS[each].name} {LEVELS[each].tuning}"
    return None, ""


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:80]


def _file_of(name: str, key: str) -> Path | None:
    folder = cache_folder()
    return folder and folder / f"{_plain(name)}-{key}.bin"


def _label(name: str, arity: int, processor: str) -> list[bytes]:
    """The beginning of a file of machine code, which says what it is: a renamed file is not run."""
    return [name.encode(), str(arity).encode(), processor.encode()]


def load(file: Path | None, name: str, arity: int, processor: str) -> MachineCode | None:
    """The function in a file; None if the file is missing or damaged, or has another function, or one for another processor."""
    try:
        stored = b"" if file is None else file.read_bytes()
    except OSError:
        return None
    checksum, content = stored[:_CHECKSUM], stored[_CHECKSUM:]
    if not content or hashlib.sha256(content).digest() != checksum:
        return None
    *label, symbol, code = content.split(b"\0", 4)
    if label != _label(name, arity, processor):
        return None
    return MachineCode(code, symbol.decode(), arity)


def _write(file: Path | None, content: bytes) -> None:
    if file is None:
        return
    unfinished = file.with_suffix(f".{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        unfinished.write_bytes(hashlib.sha256(content).digest() + content)
        unfinished.replace(file)
    except OSError as error:  # a full disk costs the next start its time, never this run its result
        logger.warning("machine code of %s is not kept: %s", file.name, error)
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _compiled(function: Callable, kinds: tuple[Any, ...], title: str) -> CompiledFunction:
    """The kernel of an `array_kernel` for arguments of these kinds."""
    inner = inlined_once(function)
    unpack = unpack_parameters(kinds)

    def kernel(arguments: int, out: int) -> int:
        array_at(out, 1, np.dtype(np.float64))[0] = inner(*unpack(arguments))
        return 0

    return CompiledFunction(kernel, 2, title)


def array_kernel(title: str) -> Callable[[Callable], Callable[..., Any]]:
    """Mark a function of arrays that is compiled, or loaded from the disk, at its first call.

    The arguments of later calls must be of the same kinds, integers or reals, which is not checked. The function returns a number of the
    type that its annotation says, a float without one.

    Args:
        title: what it is, for messages and the name of its file in the cache.
    """

    def marked(function: Callable) -> Callable[..., Any]:
        code: CompiledFunction | None = None

        @functools.wraps(function)
        def called(*arguments: object) -> Any:
            nonlocal code
            code = code or _compiled(function, tuple(map(kind_of, arguments)), title)
            words = pack_parameters(arguments)
            out = np.zeros(1)
            code(words.ctypes.data, out.ctypes.data)
            return get_annotations(function, eval_str=True).get("return", float)(out[0])

        return called

    return marked
