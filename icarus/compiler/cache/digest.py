"""Names for machine code: a digest of everything that a function was made from, so that an edit anywhere never runs stale code."""

import enum
import functools
import hashlib
import importlib.util
import os
import platform
import sys
import types as pytypes
from collections.abc import Callable
from pathlib import Path

import numpy as np

from icarus.compiler.cache.bindings import kernel_cache, watch
from icarus.compiler.cache.dependencies import NONE, names_in, reachable
from icarus.compiler.kernels.functions import DEBUG
from icarus.compiler.lazy import is_loaded, types

PACKAGE = Path(__file__).parent.parent.parent
BELOW = ("compiler", "kernel")  # the folders whose sources name the folder of machine code
# Settings that change no machine code.
HARMLESS = ("CACHE", "COLOR", "CUDA", "DUMP", "FULL", "NUMBA", "RUNNING", "SHOW", "THREADING", "USING")


@kernel_cache
def attributes_read(function: Callable) -> frozenset[str]:
    """The names of all globals and attributes that a function, or a function it reaches, mentions, as globals are bound now."""
    functions = [value for _, value in reachable(function) if isinstance(value, pytypes.FunctionType)]
    return frozenset(name for value in functions for name in names_in(value.__code__))


def unseeded_source(function: Callable) -> str:
    """ "np.random" or "random" where a function, or one it reaches, draws from it; "" where none does."""
    for _, value in reachable(function):
        if isinstance(value, pytypes.FunctionType):
            names = set(names_in(value.__code__))
            for name in names & set(value.__globals__):
                item = value.__globals__[name]
                home = getattr(item, "__name__" if isinstance(item, pytypes.ModuleType) else "__module__", "") or ""
                owner = getattr(getattr(item, "__self__", None), "__class__", type(None)).__module__
                if home.startswith("numpy.random") or owner.startswith("numpy.random"):
                    return "np.random"
                if home == "numpy" and isinstance(item, pytypes.ModuleType) and "random" in names:
                    return "np.random"
                if home == "random" or owner == "random":
                    return "random"
    return ""


def _describe(value: object) -> bytes:
    """A value without what is in it: `reachable` tells of that."""
    kind = f"{type(value).__module__}.{type(value).__qualname__} "
    if isinstance(value, enum.Enum):
        return (kind + value.name).encode() + _describe(value.value)
    if isinstance(value, enum.EnumMeta):
        return (kind + value.__qualname__).encode() + _describe(tuple(value.__members__.items()))
    if isinstance(value, pytypes.FunctionType):
        return _describe(value.__code__)
    if isinstance(value, pytypes.CodeType):
        return _describe_code(value)
    if isinstance(value, np.ndarray | np.generic):
        return (kind + repr((value.dtype, value.shape))).encode() + value.tobytes()
    if isinstance(value, tuple | list | frozenset):
        items = [_describe(item) for item in value]
        return kind.encode() + b"(" + b",".join(sorted(items) if isinstance(value, frozenset) else items) + b")"
    if isinstance(value, int | float | complex | str | bytes | np.dtype | type(None)):
        return (kind + repr(value)).encode()
    if isinstance(value, type):
        plain = int | float | str | bytes | tuple
        members = [
            (name, repr(item)) for name, item in vars(value).items() if name[:2] != "__" and isinstance(item, plain)
        ]
        return (kind + repr((value.__module__, value.__qualname__, sorted(members)))).encode()
    if (
        is_loaded("numba")
        and isinstance(value, types.Type)
        and not isinstance(value, types.Dispatcher | types.Function)
    ):
        return (kind + str(value)).encode()
    return f"{kind} {getattr(value, '__module__', '')} {getattr(value, '__name__', '')}".encode()


def _describe_code(code: pytypes.CodeType) -> bytes:
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    table = getattr(code, "co_exceptiontable", b"")
    place = (code.co_filename, code.co_firstlineno, code.co_linetable) if DEBUG else ()  # then errors tell them
    return code.co_code + table + repr((shape, names, place)).encode() + _describe(code.co_consts)


def _settings() -> list[tuple[str, str]]:
    """The compiler's own settings, by the environment, its file or a program: bounds checks, optimization, the CPU."""
    settings = [(name, value) for name, value in sorted(os.environ.items()) if name.startswith(_PREFIX)]
    settings = [(name, value) for name, value in settings if not name.removeprefix(_PREFIX).startswith(HARMLESS)]
    file = Path(_SETTINGS_FILE)
    if file.is_file():
        settings.append((_SETTINGS_FILE, file.read_text()))
    if not is_loaded("numba"):
        return settings
    usual = _usual_settings(tuple(settings))
    return settings + [(name, value) for name, value in _settings_of(sys.modules[_CONFIG]) if usual.get(name) != value]


_CONFIG, _PREFIX, _SETTINGS_FILE = "numba.core.config", "NUMBA_", ".numba_config.yaml"


def _settings_of(config: pytypes.ModuleType) -> list[tuple[str, str]]:
    names = [name for name in dir(config) if name.isupper() and not name.startswith(HARMLESS)]
    return [(name, repr(getattr(config, name))) for name in names]


@functools.cache
def _usual_settings(settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """The settings of a compiler, as they are before this process changes any."""
    spec = importlib.util.spec_from_file_location("usual_settings", sys.modules[_CONFIG].__file__)
    assert spec is not None and spec.loader is not None
    usual = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(usual)
    return dict(_settings_of(usual))


def digest(function: Callable, *context: object) -> str:
    """A name for the machine code of a function: changes when anything that it was made from changes.

    The arrays that it reads are read-only from here on: their values are compiled in, so that a later change would go unnoticed.
    Globals that are bound anew are noticed by `renew_rebound`.
    """
    hasher = hashlib.sha256(repr((context, _settings())).encode())
    for name, value in reachable(function):
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        watch(value, frozenset(names_in(value.__code__)) if isinstance(value, pytypes.FunctionType) else NONE)
        described = _describe(value)
        hasher.update(f"{name}={len(described)} ".encode() + described)
    return hasher.hexdigest()[:24]


def _version_file(package: str) -> Path:
    """The file that says which version of a package is installed; to read it takes less time than to ask for the version."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(f"{package} is not installed")
    return Path(spec.origin).with_name("_version.py")


def _package_digest() -> str:
    hasher = hashlib.sha256()
    for path in sorted(path for folder in BELOW for path in (PACKAGE / folder).rglob("*.py")):
        hasher.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    compilers = [_version_file(package).read_bytes() for package in ("numba", "llvmlite")]
    versions = (sys.version, np.__version__, *compilers, platform.machine(), DEBUG)
    hasher.update(repr(versions).encode())
    return hasher.hexdigest()[:16]


PACKAGE_DIGEST = _package_digest()  # of the sources at import; names a folder, while `digest` names what is in it
