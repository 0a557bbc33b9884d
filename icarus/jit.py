"""Compilation: flags, the disk cache, addresses, and calls through them. Only this file and atomic.py know the compiler's internals.

A compiled *entry* takes and returns 64-bit integers only; pointers travel as integers and are viewed as arrays and records on
arrival. One uniform signature is what lets the playout loop, compiled once, call any game and any specification by address.

Machine code is cached on disk under a digest of everything it was made from: the flags, the versions of Python, numpy and
numba, the sources of the engine, and the code, constants and (inside this package) source files of every function that the
entry can reach. An edit anywhere therefore never runs stale machine code, and functions typed into a notebook are cached too.
"""
import dis
import functools
import hashlib
import logging
import os
import pickle
import platform
import re
import shutil
import sys
import time
import types as pytypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, errors
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.extending import intrinsic as _intrinsic

logger = logging.getLogger(__name__)

PACKAGE = Path(__file__).parent
DEBUG = os.environ.get("ICARUS_DEBUG", "") not in ("", "0")     # bounds checks in everything that is compiled
DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")                       # the compiled slots run as plain Python
UNUSED_DAYS = 30                                                # machine code of other versions is deleted after this

intrinsic: Any = _intrinsic                                     # untyped: what it makes is called without the typing context
_on_compile: list[Callable[[str], None]] = []


class CompilationError(TypeError):
    """A function that the compiler refuses, told in one sentence."""


def helper(function: Callable) -> Any:
    """A function for use inside compiled slots and games; runs as plain Python too."""
    return njit(nogil=True, boundscheck=DEBUG)(function)


def inlined(function: Callable) -> Any:
    """A helper on the hottest path: its body is copied into each caller."""
    return njit(nogil=True, boundscheck=DEBUG, forceinline=True, error_model="numpy")(function)


def plain(function: Callable) -> Callable:
    """The Python function inside a helper: for Python's own occasional use, which is not worth a compilation."""
    return getattr(function, "py_func", function)


# ------------------------------------------------------------------------------------------------ pointers as integers

@intrinsic
def address_of(typingctx: Any, array: Any) -> Any:
    """The address of the first element of an array, as an integer."""
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.int64))
    return types.int64(array), codegen


@intrinsic
def array_at(typingctx: Any, address: Any, length: Any, dtype: Any) -> Any:
    """View `length` items of `dtype` at an address as a one-dimensional array, without a copy."""
    array_type = types.Array(dtype.dtype, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(dtype.dtype))
        item_size = context.get_constant(types.intp, size)
        pointer = builder.inttoptr(arguments[0], array.data.type)
        context.populate_array(array, data=pointer, shape=[arguments[1]], strides=[item_size], itemsize=item_size, meminfo=None)
        return array._getvalue()
    return array_type(types.int64, types.int64, dtype), codegen


@intrinsic
def matrix_at(typingctx: Any, address: Any, rows: Any, columns: Any, dtype: Any) -> Any:
    """View `rows` × `columns` items of `dtype` at an address as a two-dimensional array, without a copy."""
    array_type = types.Array(dtype.dtype, 2, "C")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        item_size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dtype.dtype)))
        pointer = builder.inttoptr(arguments[0], array.data.type)
        row_size = builder.mul(arguments[2], item_size)
        context.populate_array(array, data=pointer, shape=[arguments[1], arguments[2]], strides=[row_size, item_size],
                               itemsize=item_size, meminfo=None)
        return array._getvalue()
    return array_type(types.int64, types.int64, types.int64, dtype), codegen


@intrinsic
def record_at(typingctx: Any, address: Any, dtype: Any) -> Any:
    """View the bytes at an address as one record of `dtype`, without a copy."""
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(dtype.dtype))
    return dtype.dtype(types.int64, dtype), codegen


def _unpack(kinds: tuple[type, ...]) -> Any:
    """An intrinsic that reads consecutive 8-byte parameters at an address as a tuple of int64 and float64."""
    tuple_type = types.Tuple([types.int64 if kind is int else types.float64 for kind in kinds])

    @intrinsic
    def unpack(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            loaded = []
            for i, item in enumerate(tuple_type.types):
                at = builder.add(arguments[0], context.get_constant(types.int64, 8 * i))
                loaded.append(builder.load(builder.inttoptr(at, context.get_value_type(item).as_pointer())))
            return context.make_tuple(builder, tuple_type, loaded)
        return tuple_type(types.int64), codegen
    return unpack


unpack_parameters = functools.lru_cache(maxsize=None)(_unpack)


def _caller(arity: int) -> Any:
    signature_types = (types.int64,) * arity

    @intrinsic
    def call(typingctx: Any, address: Any, arguments: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given = [builder.extract_value(values[1], i) for i in range(arity)]
            function_type = context.call_conv.get_function_type(types.int64, signature_types)
            pointer = builder.inttoptr(values[0], function_type.as_pointer())
            status, result = context.call_conv.call_function(builder, pointer, types.int64, signature_types, given)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result
        return types.int64(types.int64, types.UniTuple(types.int64, arity)), codegen
    return call


call1, call2, call3, call4, call5, call6, call7 = (_caller(arity) for arity in range(1, 8))


@intrinsic
def foreign3(typingctx: Any, address: Any, arguments: Any) -> Any:
    """Call the C function of three integers at an address; what it returns is ignored."""
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = ir.IntType(64)
        pointer = builder.inttoptr(values[0], ir.FunctionType(word, [word] * 3).as_pointer())
        builder.call(pointer, [builder.extract_value(values[1], i) for i in range(3)])
        return context.get_dummy_value()
    return types.none(types.int64, types.UniTuple(types.int64, 3)), codegen


@intrinsic
def popcount(typingctx: Any, word: Any) -> Any:
    """The number of one bits in a 64-bit word."""
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])
    return types.int64(types.uint64), codegen


@intrinsic
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """The index of the lowest one bit in a 64-bit word (64 for zero)."""
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))
    return types.int64(types.uint64), codegen


if DISABLED:
    def popcount(word: int) -> int:
        return int(word).bit_count()

    def lowest_bit(word: int) -> int:
        return ((int(word) & -int(word)).bit_length() - 1) % 65


# -------------------------------------------------------------------------------------------------------- what is reached

LIBRARIES = {"numpy", "numba", "math", "builtins"}               # their versions stand for what they hold


def reachable(function: Callable) -> Iterator[tuple[str, Any]]:
    """Every function, flag and constant that a function can reach through globals, modules, containers and closures, by name."""
    pending: list[tuple[str, Any, frozenset[str]]] = [("", function, frozenset())]
    seen: set[tuple[int, frozenset[str]]] = set()
    while pending:
        name, value, names = pending.pop()
        if hasattr(value, "py_func"):
            yield f"{name} flags", tuple(sorted((key, str(flag)) for key, flag in value.targetoptions.items()))
            value = value.py_func
        module = value.__name__ if isinstance(value, pytypes.ModuleType) else getattr(value, "__module__", None) or ""
        if isinstance(value, pytypes.FunctionType | pytypes.ModuleType):
            if (id(value), names) in seen or module.partition(".")[0] in LIBRARIES:
                continue
            seen.add((id(value), names))
        if isinstance(value, pytypes.FunctionType):
            yield value.__qualname__, value
            names = frozenset(_names(value.__code__))
            found = {name: value.__globals__[name] for name in names if name in value.__globals__}
            found.update({name: cell.cell_contents for name, cell in
                          zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)})
            for name, item in sorted(found.items()):
                pending.append((name, item, names if isinstance(item, pytypes.ModuleType) else frozenset()))
        elif isinstance(value, pytypes.ModuleType):
            pending += [(f"{module}.{inside}", getattr(value, inside), names) for inside in sorted(names) if hasattr(value, inside)]
        elif isinstance(value, tuple | list) and any(callable(item) for item in value):
            pending += [(f"{name}[{i}]", item, frozenset()) for i, item in enumerate(value)]
        else:
            yield name, value


def _names(code: pytypes.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            yield from _names(constant)


@functools.cache
def attributes_read(function: Callable) -> frozenset[str]:
    """The names of all globals and attributes that a function, or a function it reaches, mentions."""
    functions = [value for _, value in reachable(function) if isinstance(value, pytypes.FunctionType)]
    return frozenset(name for value in functions for name in _names(value.__code__))


def _describe(value: Any) -> bytes:
    if isinstance(value, pytypes.FunctionType):
        return _describe(value.__code__) + repr(value.__defaults__).encode()
    if isinstance(value, pytypes.CodeType):
        constants = b"|".join(_describe(constant) for constant in value.co_consts)
        return value.co_code + repr((value.co_names, value.co_varnames, value.co_freevars)).encode() + constants
    if isinstance(value, np.ndarray):
        return repr(value.dtype).encode() + repr(value.shape).encode() + value.tobytes()
    if isinstance(value, int | float | complex | str | bytes | np.generic | np.dtype | frozenset | type(None)):
        return repr(value).encode()
    if isinstance(value, tuple | list):
        return b"(" + b",".join(_describe(item) for item in value) + b")"
    if isinstance(value, type):
        members = sorted((name, repr(member)) for name, member in vars(value).items()
                         if not name.startswith("__") and isinstance(member, int | float | str | bytes | tuple))
        return repr((value.__qualname__, members)).encode()
    return f"{type(value).__qualname__} {getattr(value, '__qualname__', '')}".encode()


def digest(function: Callable, *context: Any) -> str:
    """A name for the machine code of a function: changes when anything that it was made from changes."""
    hasher = hashlib.sha256(repr(context).encode())
    for name, value in reachable(function):
        hasher.update(name.encode() + b"=" + _describe(value) + b";")
        if isinstance(value, pytypes.FunctionType) and PACKAGE in Path(value.__code__.co_filename).parents:
            hasher.update(_source(value.__code__.co_filename))
    return hasher.hexdigest()[:24]


@functools.cache
def _source(path: str) -> bytes:
    return Path(path).read_bytes()


@functools.cache
def package_digest() -> str:
    """A name for the engine's sources and the tools that compile them; games and specifications enter with `digest`."""
    hasher = hashlib.sha256()
    for path in sorted(PACKAGE.glob("*.py")):
        hasher.update(path.name.encode() + b"\0" + path.read_bytes())
    versions = (sys.version, np.__version__, numba.__version__, llvmlite.__version__, platform.machine(), DEBUG)
    hasher.update(repr(versions).encode())
    return hasher.hexdigest()[:16]


# ------------------------------------------------------------------------------------------------------------ disk cache

def cache_root() -> Path:
    """The folder of all cached machine code: $ICARUS_CACHE_DIR, or `icarus` in the user's cache folder."""
    named = os.environ.get("ICARUS_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "icarus"


@functools.cache
def cache_folder() -> Path | None:
    """The folder for this version of the package; None where the disk cannot be written."""
    folder = cache_root() / package_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in cache_root().iterdir():
            ours = re.fullmatch(r"[0-9a-f]{16}", other.name) is not None and other != folder
            if ours and time.time() - other.stat().st_mtime > UNUSED_DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError as error:
        logger.warning("no cache of machine code: %s", error)
    return None


class _DiskCache(_Cache):
    """One file for each compiled function, named by its digest; a file that cannot be read is compiled anew."""

    def __init__(self, name: str, key: str) -> None:
        folder = cache_folder()
        self._name = name
        self._path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)[:80]}-{key}.bin" if folder else None
        self._enabled = self._path is not None

    @property
    def cache_path(self) -> str:
        return str(self._path.parent) if self._path else ""

    def enable(self) -> None:
        self._enabled = self._path is not None

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        if self._path:
            self._path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if self._enabled and self._path and self._path.exists():
            target_context.refresh()
            try:
                magic, payload = pickle.loads(self._path.read_bytes())
                if magic == target_context.codegen().magic_tuple():
                    return CompileResult._rebuild(target_context, *payload)
            except Exception as error:     # a torn or foreign file: whatever it raises, compiling anew is right
                logger.warning("machine code of %s is compiled anew: %r", self._name, error)
        for listener in _on_compile:
            listener(self._name)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._enabled or self._path is None or data.lifted or data.library.has_dynamic_globals:
            return
        unfinished = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            unfinished.write_bytes(dumps((data.codegen.magic_tuple(), data._reduce())))
            os.replace(unfinished, self._path)
        except OSError as error:           # a full disk costs the next start its time, never this run its result
            logger.warning("machine code of %s is not kept: %s", self._name, error)
            unfinished.unlink(missing_ok=True)


def on_compile(listener: Callable[[str], None]) -> Callable[[], None]:
    """Have `listener(name)` called before each compilation; returns a function that ends it."""
    _on_compile.append(listener)
    return lambda: _on_compile.remove(listener)


# --------------------------------------------------------------------------------------------------------------- entries

class Entry:
    """A compiled function of 64-bit integers, with its address. Whoever holds the address must hold the entry."""

    def __init__(self, function: Callable, arity: int, name: str) -> None:
        if DISABLED:
            raise RuntimeError(f"{name} cannot be compiled: NUMBA_DISABLE_JIT is set; unset it to search")
        signature = types.int64(*(types.int64,) * arity)
        self.name = name
        self.dispatcher = compiled(function, signature, name)
        result: Any = self.dispatcher.overloads[signature.args]
        self.address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)

    def __call__(self, *arguments: int) -> int:
        return self.dispatcher(*arguments)


def compiled(function: Callable, signature: Any, name: str, **flags: Any) -> CPUDispatcher:
    """Compile a function for one signature, or load its machine code from the disk cache.

    Raises:
        CompilationError: the compiler refuses the function; the message names it and the line.
    """
    dispatcher = njit(nogil=True, boundscheck=DEBUG, **flags)(function)
    dispatcher._cache = _DiskCache(name, digest(function, name, str(signature), sorted(flags.items())))
    try:
        dispatcher.compile(signature)
    except errors.NumbaError as error:
        raise CompilationError(f"{name} cannot be compiled: {_reason(function, error)}") from None
    except KeyError as error:             # how the compiler says that a record has no such field
        field = str(error.args[0])
        raise CompilationError(f"{name} cannot be compiled: no record here has a field {field!r}{_mention(function, field)}") from None
    dispatcher.disable_compile()
    return dispatcher


def _mention(function: Callable, mentioned: str) -> str:
    """Where a name stands in the code that a function reaches, as " (file, line n)"; "" if nowhere."""
    for _, value in reachable(function):
        if isinstance(value, pytypes.FunctionType):
            for instruction in dis.get_instructions(value):
                if instruction.argval == mentioned and instruction.opname in ("LOAD_ATTR", "STORE_ATTR", "LOAD_GLOBAL", "LOAD_METHOD"):
                    line = instruction.positions.lineno if instruction.positions else "?"
                    return f" ({value.__code__.co_filename}, line {line})"
    return ""


def _reason(function: Callable, error: Exception) -> str:
    """What the compiler says, reduced to what is wrong and where."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    unknown = re.search(r"name '(\w+)' is not defined", text)
    if unknown:
        return f"the name {unknown[1]!r} is not defined{_mention(function, unknown[1])}"
    places = [(Path(path).resolve(), line) for path, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
    own = [place for place in places if place[0].parent != PACKAGE] or places
    told = [line.strip().removeprefix("- ") for line in text.splitlines()]
    skipped = ("Failed in", "During:", "File ", "<source", "^", "This error", "There are", "raised from", "Overload", "In definition")
    reasons = [line for line in told if line and not line.startswith(skipped) and not set(line) <= set("~^- ")]
    wanted = ("No implementation", "Unknown attribute", "Untyped", "Cannot", "Invalid use", "undefined", "not")
    reason = next((line for line in reasons if any(word in line for word in wanted)), reasons[0] if reasons else "it cannot be typed")
    call = next((line.removeprefix(">>> ") for line in told if line.startswith(">>> ")), "")
    where = f" ({own[0][0]}, line {own[0][1]})" if own else ""
    return f"{reason.removesuffix(' found for signature:')} {call}".strip().rstrip(":.") + where
