"""Names for machine code: a digest of everything that a function was made from, so that an edit anywhere never runs stale code.

What counts is what the process holds in memory, never what a file says by now. Of the folders in `BELOW` all sources are digested
together; of every other function, what it reaches through globals, modules, containers and closures.
"""

import ast
import contextlib
import dis
import enum
import functools
import hashlib
import importlib.util
import inspect
import linecache
import os
import platform
import sys
import textwrap
import types as pytypes
import weakref
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np

from icarus.compiler import functions
from icarus.compiler.functions import DEBUG, Lazy, is_loaded, types

P = ParamSpec("P")
T = TypeVar("T")
PACKAGE = Path(__file__).parent.parent
BELOW = ("compiler", "kernel", "algebra")  # folders whose sources name the folder of machine code
LOOP = (  # the sources that the machine code of the playout loop is made from
    "algebra/policy.py",
    "algebra/weights.py",
    "compiler/functions.py",
    "compiler/memory.py",
    "compiler/memory.ll",
    "compiler/pipeline.py",
    "compiler/rng.py",
    "compiler/uncounted.ll",
    "engine/loop.py",
    "kernel/contract.py",
    "kernel/features.py",
    "kernel/history.py",
    "kernel/theta.py",
)
KERNELS_OF_LOOP = ("the playout loop", "the growth of a table")
# their versions stand for them
LIBRARIES = {"numpy", "numba", "llvmlite", "math", "builtins", "_operator", "operator"}
_PYTHONS = LIBRARIES | sys.stdlib_module_names  # modules whose text does not count
INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries
DIGESTED = LIBRARIES | {f"icarus.{folder}" for folder in BELOW}
NO_NAMES: frozenset[str] = frozenset()
# Of a variable: globals and a name in them, the cell of a closure, or a function for its defaults.
Place: TypeAlias = tuple[Any, str]
# of these types, equal values are the same
PLAIN = int | float | complex | str | bytes | tuple | np.generic | np.dtype | None
# their content may change while they stay the same objects
MUTABLE = np.ndarray | np.void | tuple | list
UNSUPPORTED = {  # by the type of what a decorator of the compiler makes: its body is not followed, so an edit would run stale code
    "CFunc": "@cfunc",
    "DUFunc": "@vectorize",
    "GUFunc": "@guvectorize",
    "JitClassType": "@jitclass",
    "StencilFunc": "@stencil",
}
HARMLESS = (
    "NUMBA_CACHE",
    "NUMBA_COLOR",
    "NUMBA_DUMP",
    "NUMBA_FULL",
    "NUMBA_NUM",
    "NUMBA_SHOW",
    "NUMBA_THREADING",
)
_imputils = Lazy("numba.core.imputils")
_templates = Lazy("numba.core.typing.templates")
_extending = Lazy("numba.core.extending")


# ------------------------------------------------------------------------------------------------------- what a function reaches


class Reached(NamedTuple):
    """Something that a function reaches."""

    name: str
    value: object
    names: frozenset[str] = NO_NAMES  # by which a value that is a module is asked
    place: Place | None = None  # if it is a variable of a user's


def reachable(
    function: Callable,
    libraries: Set[str] = LIBRARIES,
    is_compiled: bool = True,
    opens_objects: bool = False,
) -> Iterator[Reached]:
    """Every function, flag and constant that a function can reach, in an order that its content decides.

    Where it is compiled, extensions of the compiler come first: they may stand in place of anything that the function names.

    Containers, and what the compiler makes of functions, come as themselves and are followed by what is in them. A function of a
    library comes as its name. What has come before comes again as its number in this order. Partials, methods and classes, which are not
    compiled, are followed only if they are opened.

    Raises:
        CompilationError: it is compiled, and reaches what a decorator in `UNSUPPORTED` has made.
    """
    extensions = _extensions() if is_compiled else []
    # a stack: the last one is followed first
    pending = [*(Reached("an extension", body) for body in extensions), Reached("", function)]
    numbers: dict[tuple[int, frozenset[str]], int] = {}
    alive: list[object] = []  # an address stands for one value as long as that value lives
    while pending:
        part = pending.pop()
        name, value, names, _ = part
        decorator = UNSUPPORTED.get(type(value).__name__)
        if is_compiled and decorator and type(value).__module__.startswith("numba."):
            wrong = f"{name.rpartition('.')[2]} is made by {decorator}"
            raise functions.CompilationError(
                f"{wrong}, which games and slots cannot use; use @helper instead"
            )
        if not isinstance(value, PLAIN):
            if (id(value), names) in numbers:
                yield part._replace(value=f"number {numbers[id(value), names]}")
                continue
            numbers[id(value), names] = len(numbers)
            alive.append(value)
        if _is_of(value, libraries):
            module = _module_of(value)
            yield part._replace(
                value=f"{type(value).__name__} {module} {getattr(value, '__qualname__', '')}"
            )
            # the closure of a function of ours may hold a user's
            parts = list(_variables(value, NO_NAMES)) if module.startswith("icarus.") else []
        else:
            if isinstance(value, pytypes.FunctionType):
                part = part._replace(name=value.__qualname__)
            yield part
            parts = list(_parts(value, names))
            if opens_objects:
                parts += _inside(value)
        pending += [inside._replace(name=f"{name}.{inside.name}") for inside in reversed(parts)]


def _module_of(value: object) -> str:
    if isinstance(value, Lazy):
        return value.module
    if isinstance(value, pytypes.ModuleType):
        return str(value.__name__)
    return (
        getattr(value, "__module__", None)
        or getattr(value, "__globals__", {}).get("__name__")
        or ""
    )


def _is_of(value: object, libraries: Set[str]) -> bool:
    """Whether a value is a function or a module of one of these libraries."""
    kinds = pytypes.FunctionType | pytypes.ModuleType | pytypes.BuiltinFunctionType | Lazy
    if not isinstance(value, kinds):
        return False
    parts = _module_of(value).split(".")
    return parts[0] in libraries or ".".join(parts[:2]) in libraries


def _is_ours(value: object) -> bool:
    return _module_of(value).partition(".")[0] == "icarus"


def names_in(code: pytypes.CodeType) -> Iterator[str]:
    """The names of globals and attributes that stand in a function's code, and in functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            yield from names_in(constant)


def content_of(cell: pytypes.CellType) -> object:
    """The content of a cell; None while it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def current(place: Place) -> object:
    """What a variable is bound to now."""
    space, name = place
    if isinstance(space, pytypes.FunctionType):
        return space.__defaults__
    return space.get(name) if isinstance(space, dict) else content_of(space)


def _variables(value: object, names: frozenset[str]) -> Iterator[Reached]:
    """The variables with these names of a module, or in the globals of a function; and those in the closure of the function."""
    space = (
        vars(value) if isinstance(value, pytypes.ModuleType) else getattr(value, "__globals__", {})
    )
    places: dict[str, Place] = {name: (space, name) for name in names & space.keys()}
    if isinstance(value, pytypes.FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        places |= {name: (cell, "") for name, cell in cells}
    is_users = not _is_ours(value) and not _is_of(value, LIBRARIES)
    for name, place in sorted(places.items()):
        item = current(place)
        asked_by = names if isinstance(item, pytypes.ModuleType) else NO_NAMES
        yield Reached(name, item, asked_by, place if is_users else None)


def _parts(value: object, names: frozenset[str]) -> Iterator[Reached]:
    """What a value is made of, one step down."""
    if isinstance(value, tuple | list):
        yield from (Reached(str(i), item) for i, item in enumerate(value))
    elif isinstance(value, pytypes.ModuleType):
        yield from _variables(value, names)
    elif isinstance(value, functions.CompiledCallable):
        # what cannot be called says so when it is compiled
        with contextlib.suppress(AttributeError):
            yield Reached("", value.compiled)
    elif isinstance(value, pytypes.FunctionType):
        yield from _variables(value, frozenset(names_in(value.__code__)))
        if value.__defaults__ or value.__kwdefaults__:
            items = value.__defaults__, tuple(sorted((value.__kwdefaults__ or {}).items()))
            yield Reached("defaults", items, place=None if _is_ours(value) else (value, ""))
    elif hasattr(value, "py_func"):
        yield Reached("", value.py_func)
        for flag, setting in sorted(
            {**getattr(value, "locals", {}), **getattr(value, "targetoptions", {})}.items()
        ):
            yield Reached(f"flag {flag}", setting if callable(setting) else str(setting))
    elif isinstance(value, functions.Intrinsic):
        yield Reached("", value.definition)
    elif is_loaded("numba") and isinstance(value, _extending._Intrinsic):
        yield Reached("", value._defn)
    elif is_loaded("numba") and isinstance(value, types.Dispatcher):
        yield Reached("", value.dispatcher)


def _inside(value: object) -> Iterator[Reached]:
    """What a partial, a method, a class or the work of a decorator is made of, one step down; nothing of ours and of what is installed."""
    if isinstance(value, pytypes.FunctionType | functions.CompiledCallable) or hasattr(
        value, "py_func"
    ):
        return  # opened already
    if isinstance(value, functools.partial):
        yield Reached("", value.func)
        yield Reached("arguments", (value.args, *sorted(value.keywords.items())))
    elif _is_pythons(value) or _is_ours(value) or _is_installed(value):
        return
    elif hasattr(value, "__wrapped__"):  # of @functools.cache, or @vectorize
        yield Reached("", value.__wrapped__)
    elif isinstance(value, pytypes.MethodType):
        yield Reached("", value.__func__)
        yield from _of_object(value.__self__)
    elif isinstance(value, type):
        yield from (Reached(base.__qualname__, base) for base in value.__bases__)
        for method in _methods_of(value):
            yield from _variables(method, frozenset(names_in(method.__code__)))
    elif callable(value) and not (_is_pythons(type(value)) or _is_installed(type(value))):
        yield from _of_object(value)


def _of_object(value: object) -> Iterator[Reached]:
    """The class of an object that rules call, and its plain attributes, but for those that its methods change while it is played."""
    kind = value if isinstance(value, type) else type(value)
    yield Reached("class", kind)
    changed = set[str]()
    for base in kind.__mro__:
        for method in _methods_of(base):
            if method.__name__ != "__init__":
                steps = dis.get_instructions(method)
                changed.update(step.argval for step in steps if step.opname == "STORE_ATTR")
    for name, item in sorted(getattr(value, "__dict__", {}).items()):
        if isinstance(item, PLAIN | enum.Enum) and name not in changed:
            yield Reached(name, item)


def _methods_of(kind: type) -> Iterator[pytypes.FunctionType]:
    """The functions that a class defines, without those that a decorator has generated, which have no text."""
    for item in vars(kind).values():
        method = item
        # of a static or a class method, a property, a cached one, and of the work of a decorator
        for name in ("__func__", "fget", "func", "__wrapped__"):
            if hasattr(item, name):
                method = getattr(item, name)
                break
        if isinstance(method, pytypes.FunctionType) and method.__code__.co_filename[:1] != "<":
            yield method


def _is_installed(value: object) -> bool:
    """Whether a function or a class is one of a library, not of the author's own files."""
    module = sys.modules.get(_module_of(value))
    folders = Path(getattr(module, "__file__", None) or "").parts
    return not INSTALLED.isdisjoint(folders)


def _is_pythons(value: object) -> bool:
    """Whether a function or a class is one of Python's own, or of a library that the compiler knows."""
    return _module_of(value).partition(".")[0] in _PYTHONS


def _extensions() -> list[Callable]:
    """What others than libraries have registered with the compiler, which may stand in place of any name, operator or attribute."""
    if not is_loaded("numba"):
        return []
    registries = _templates.builtin_registry.globals, _templates.builtin_registry.attributes
    return _registered(*map(len, registries), len(_imputils.builtin_registry.functions))


@functools.lru_cache(maxsize=1)
def _registered(*sizes: int) -> list[Callable]:
    """`_extensions`, kept until a registry has grown: the sizes of the registries are for the cache alone."""
    kinds = [
        kind for _, kind in _templates.builtin_registry.globals if isinstance(kind, types.Function)
    ]
    templates = [
        *_templates.builtin_registry.attributes,
        *(template for kind in kinds for template in kind.templates),
    ]
    bodies = [getattr(template, "_overload_func", None) for template in templates]
    bodies += [body for body, *_ in _imputils.builtin_registry.functions]
    theirs = [
        body
        for body in bodies
        if body is not None and not _is_of(body, LIBRARIES) and not _is_ours(body)
    ]
    # Once each: a notebook's cell that is run again registers its function again.
    by_code = {getattr(body, "__code__", body): body for body in theirs}
    return list(by_code.values())


# ------------------------------------------------------------------------------------------------------------------ what slots read


def unseeded_source(function: Callable) -> str:
    """ "np.random" or "random" where a function, or one it reaches, draws from it; "" where none does."""
    reached = [
        part.value for part in reachable(function) if isinstance(part.value, pytypes.FunctionType)
    ]
    for each in reached:
        names = set(names_in(each.__code__))
        for name in sorted(names & each.__globals__.keys()):
            item = each.__globals__[name]
            # random.random has no module: it is a method of a generator that the module has made
            origin = _module_of(item) or type(getattr(item, "__self__", None)).__module__
            is_numpy = origin == "numpy" and isinstance(item, pytypes.ModuleType)
            if origin.startswith("numpy.random") or (is_numpy and "random" in names):
                return "np.random"
            if origin in ("random", "_random"):
                return "random"
    return ""


# ----------------------------------------------------------------------------------------------------------------------- the digest


def _describe(value: object) -> bytes:
    """A value in bytes, which differ from those of any other value.

    The items of a tuple, a list or a frozen set are a part of them. Those of other containers are not: `reachable` gives each by itself.
    """
    kind = f"{type(value).__module__}.{type(value).__qualname__} "
    if isinstance(value, enum.Enum):
        return (kind + value.name).encode() + _describe(value.value)
    if isinstance(value, pytypes.FunctionType):
        return _describe(value.__code__)
    if isinstance(value, pytypes.CodeType):
        return _describe_code(value)
    if isinstance(value, np.ndarray | np.generic):
        return (kind + repr((value.dtype, value.shape))).encode() + value.tobytes()
    if isinstance(value, tuple | list | frozenset):
        items = [_describe(item) for item in value]
        if isinstance(value, frozenset):
            items.sort()
        return kind.encode() + b"(" + b",".join(items) + b")"
    if isinstance(value, PLAIN):
        return (kind + repr(value)).encode()
    is_type = is_loaded("numba") and isinstance(value, types.Type)
    if is_type and not isinstance(value, types.Dispatcher | types.Function):
        return (kind + str(value)).encode()
    name = (
        f"{kind} {getattr(value, '__module__', '')} {getattr(value, '__qualname__', '')}".encode()
    )
    if isinstance(value, type):
        return name + _describe_attributes(value)
    return name


def _describe_attributes(value: type) -> bytes:
    """The plain attributes of a class, or the members of an enumeration."""
    members = getattr(value, "__members__", vars(value)).items()
    attributes = [
        (key, item)
        for key, item in members
        if key[:2] != "__" and isinstance(item, PLAIN | enum.Enum)
    ]
    return _describe(tuple(attributes))


def _describe_code(code: pytypes.CodeType) -> bytes:
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    # In debugging errors name the file and the line; else to move a function must not compile it anew.
    place = (code.co_filename, code.co_firstlineno, code.co_linetable) if DEBUG else ()
    return (
        code.co_code
        + code.co_exceptiontable
        + repr((shape, names, place)).encode()
        + _describe(code.co_consts)
    )


def settings() -> list[tuple[str, str]]:
    """The compiler's own settings, by the environment or its file: bounds checks, optimization, the CPU."""
    file = Path(".numba_config.yaml")
    names = [name for name in os.environ if name.startswith("NUMBA_")]
    settings = [(name, os.environ[name]) for name in sorted(names) if not name.startswith(HARMLESS)]
    return [*settings, (file.name, file.read_text())] if file.is_file() else settings


def digest(function: Callable, *context: object) -> str:
    """A name for the machine code of a function: changes when anything that it was made from changes.

    What is bound to the names in functions of users, and what their arrays hold, is noticed when it changes, by `renew_rebound`.
    """
    hasher = hashlib.sha256(repr((context, settings())).encode())
    for part in reachable(function, DIGESTED):
        if not isinstance(part.value, functions.Intrinsic):  # which keeps no machine code
            author = getattr(part.value, "py_func", None)
            # The machine code of such a helper may hold values of a user.
            if author is not None and (author.__closure__ or not _is_ours(author)):
                _compiled.add(part.value)
        _bound.update(_bind(part))
        described = _describe(part.value)
        hasher.update(f"{part.name}={len(described)} ".encode() + described)
    return hasher.hexdigest()[:24]


@functools.cache
def _hash_of_package() -> Any:
    return _hash_of(PACKAGE.rglob("*.py"))


def sources_digest(function: Callable) -> str:
    """A name for the machine code of one of the library's own functions, the same in any version of Python.

    It is "" if the function reaches one of a user's.
    """
    hasher = _hash_of_package().copy()
    for part in reachable(function, DIGESTED):
        if isinstance(part.value, pytypes.FunctionType):
            if not _is_ours(part.value):
                return ""
            described = _module_of(part.value).encode()
        else:
            described = _describe(part.value)
        hasher.update(f"{part.name}={len(described)} ".encode() + described)
    return hasher.hexdigest()[:16]


def rules_digest(
    rules: Iterable[Callable | None], *context: object, opens_objects: bool = True
) -> str:
    """A name for what functions do, as their authors have written it, the same in any version of Python.

    Of functions of users, and of classes, which they reach, the text counts, without comments and docstrings. What a process has registered
    with the compiler does not count: another process plays by the same rules without it.

    Args:
        opens_objects: whether partials, methods and classes are followed, and the statements that make dictionaries and sets are read;
            without it, the digest is that of older versions, which their files still have.
    """
    hasher = hashlib.sha256(repr(context).encode())
    written = set[object]()
    described: Any = PLAIN | MUTABLE | enum.Enum
    if opens_objects:
        described |= frozenset | range
    for rule in rules:
        if rule is None:
            continue
        for part in reachable(rule, DIGESTED, is_compiled=False, opens_objects=opens_objects):
            if isinstance(part.value, pytypes.FunctionType | type):
                if part.value not in written:
                    written.add(part.value)
                    hasher.update(_text_of(part.value))
            elif isinstance(part.value, described):
                hasher.update(_describe(part.value))
            elif isinstance(part.value, dict | set) and opens_objects:
                hasher.update(_text_of_variable(part.value))
    return hasher.hexdigest()[:12]


def _text_of_variable(value: object) -> bytes:
    """The statements of users' files that make a dictionary or a set of a module.

    What it holds does not count: the rules may have put it there in a game.
    """
    texts = []
    for module in list(sys.modules.values()):
        # only its content is looked at: a library may load itself when it is asked for anything
        content = vars(module) if isinstance(module, pytypes.ModuleType) else {}
        names = {name for name, item in content.items() if item is value}
        if names and not (_is_ours(module) or _is_pythons(module) or _is_installed(module)):
            lines = linecache.getlines(content.get("__file__") or "")
            texts += [
                ast.unparse(each) for each in _statements("".join(lines)) if _may_write(each, names)
            ]
    return "\n".join(sorted(texts)).encode()


@functools.lru_cache(16)
def _statements(text: str) -> list[ast.stmt]:
    """What a file does when it is loaded, without what it defines."""
    with contextlib.suppress(SyntaxError, ValueError):
        definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        return [each for each in ast.parse(text).body if not isinstance(each, definitions)]
    return []


def _may_write(statement: ast.stmt, names: Set[str]) -> bool:
    """Whether a statement may write to what one of the names stands for; an assignment such as `other = sorted(NAME)` only reads it."""
    is_assignment = isinstance(statement, ast.Assign | ast.AnnAssign)
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if name in names:
                return True
            case ast.Name(id=name) if name in names and not is_assignment:
                return True
            # in an assignment as well: `last = NAME.pop()`, `NAME["a"] = 1`
            case ast.Attribute(value=ast.Name(id=name)) if name in names:
                return True
            case ast.Subscript(value=ast.Name(id=name)) if name in names:
                return True
    return False


def _text_of(value: Any) -> bytes:
    """The text of a function or a class without comments and docstrings; its name if it is Python's own, its code if it has no text."""
    if _is_pythons(value):
        return str(value.__qualname__).encode()
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return _describe(value)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef)
            and ast.get_docstring(node)
            and len(node.body) > 1
        ):
            del node.body[0]
    return ast.unparse(tree).encode()


def _version_file(package: str) -> Path:
    """The file that says which version of a package is installed; to read it takes less time than to ask for the version."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None  # it is installed with this package
    return Path(spec.origin).with_name("_version.py")


def package_digest() -> str:
    """A digest of the sources of the folders in `BELOW`, and of the versions of all else that machine code is made by."""
    if not PACKAGE.is_dir():
        raise ImportError(
            f"icarus reads its own files, and {PACKAGE} is no folder: install it in place of running it from an archive"
        )
    files = [path for folder in BELOW for path in (PACKAGE / folder).iterdir()]
    hasher = _hash_of(path for path in files if path.suffix in (".py", ".ll"))
    compilers = [_version_file(package).read_bytes() for package in ("numba", "llvmlite")]
    hasher.update(
        repr((sys.version, np.__version__, *compilers, platform.machine(), DEBUG)).encode()
    )
    return hasher.hexdigest()[:16]


def _hash_of(files: Iterable[Path]) -> Any:
    hasher = hashlib.sha256()
    for path in sorted(files):
        hasher.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return hasher


# of the sources at import; names a folder, while `digest` names what is in it
PACKAGE_DIGEST = package_digest()
LOOP_DIGEST = _hash_of(PACKAGE / name for name in LOOP).hexdigest()[:16]


# ------------------------------------------------------------------------------------------ what changes while a process runs


class Bound(NamedTuple):
    """What is compiled into machine code from a variable of a user's."""

    place: Place
    value: object
    content: object  # of what may change in place; else None


# all that has been compiled in, by namespace (or cell) and name
_bound: dict[tuple[int, str], Bound] = {}
# helpers that keep machine code in which such values stand
_compiled: "weakref.WeakSet[Any]" = weakref.WeakSet()
_generation = [0]  # how often values have been found changed


def _bind(part: Reached) -> dict[tuple[int, str], Bound]:
    """What a part is bound to now, by its namespace and name, if it is a variable of a user's; else nothing."""
    if part.place is None:
        return {}
    value = current(part.place)
    content = _content(value) if isinstance(value, MUTABLE) else None
    return {(id(part.place[0]), part.place[1]): Bound(part.place, value, content)}


def _holds(bound: Bound) -> bool:
    same = current(bound.place) is bound.value
    return same and (bound.content is None or _content(bound.value) == bound.content)


def _content(value: object) -> object:
    """What a value holds, to be compared with what it holds later."""
    # The text of a dtype takes longer than all else, and a digest alone needs it.
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return _describe(value)


def renew_rebound(variables: Iterable[Bound] | None = None) -> int:
    """Have everything compiled anew if a variable that was compiled in is bound to another value, or its array holds another.

    Returns how often values have been found changed.

    Args:
        variables: those to be looked at; by default all that have been compiled in.
    """
    if not all(map(_holds, list(_bound.values()) if variables is None else variables)):
        _bound.clear()
        _generation[0] += 1
        for compiled in list(_compiled):
            if isinstance(compiled, functions.Helper):
                compiled.forget()
            else:
                compiled.recompile()
    return _generation[0]


def generation() -> int:
    """How often values have been found changed by `renew_rebound`."""
    return _generation[0]


def kernel_cache(make: Callable[P, T], most: int | None = None) -> Callable[P, T]:
    """`functools.cache` for a function that makes kernels, or reads their code; a change that `renew_rebound` finds empties it."""

    @functools.lru_cache(most)
    def made(generation: int, plain: object, *arguments: P.args, **named: P.kwargs) -> T:
        return make(*arguments, **named)

    @functools.wraps(make)
    def cached(*arguments: P.args, **named: P.kwargs) -> T:
        plain = functions.MAKES_PLAIN.get()
        with functions.LOADING if plain else contextlib.nullcontext():
            return made(_generation[0], plain, *arguments, **named)  # type: ignore[arg-type]  # they can be hashed

    return cached


@kernel_cache
def attributes_read(function: Callable) -> frozenset[str]:
    """The names of all globals and attributes that a function, or a function it reaches, mentions, as globals are bound now."""
    codes = [
        part.value.__code__
        for part in reachable(function)
        if isinstance(part.value, pytypes.FunctionType)
    ]
    names = set[str]()
    for code in codes:
        names.update(names_in(code))
        # getattr(history, "keys") has its name as a text
        names.update(text for text in code.co_consts if isinstance(text, str))
    return frozenset(names)


@kernel_cache
def variables_of(*roots: Callable | None) -> list[Bound]:
    """The variables of users that functions reach."""
    bound: dict[tuple[int, str], Bound] = {}
    for root in filter(None, roots):
        for part in reachable(root, DIGESTED):
            bound |= _bind(part)
    return list(bound.values())


def are_bound(variables: list[Bound]) -> bool:
    """Whether variables are bound to the very objects to which they were; what arrays hold is not looked at."""
    for (space, name), value, _ in variables:
        now = space.get(name) if type(space) is dict else current((space, name))
        if now is not value:
            return False
    return True
