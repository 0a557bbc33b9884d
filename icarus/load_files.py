"""Files of one's own: enhancements, weights, rules and games from a Python file, for the commands of both packages."""

import ast
import contextlib
import errno
import hashlib
import importlib.util
import inspect
import io
import itertools
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from importlib.abc import PathEntryFinder
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

import attrs

from icarus import games
from icarus.algebra import Enhancement, Rule, WeightFunction
from icarus.algebra.parsing import Operand
from icarus.compiler import without_modules
from icarus.compiler.digest import INSTALLED
from icarus.kernel import AnyGame, Game, PythonGame
from icarus.kernel.functions import AUTHOR_ERRORS
from icarus.specs import NAMES, SPECIFICATIONS

# of OpenSpiel's states
METHODS = ("is_terminal", "current_player", "legal_actions", "apply_action", "returns")
DIGITS = 12  # of a digest
ANOTHER = "defines another game called {!r}; give it a name of its own"
# files by their paths from the one that imports them, with digests
Imports: TypeAlias = tuple[tuple[str, str], ...]
# or functions that make them, by name
Games: TypeAlias = Mapping[str, AnyGame | Callable[[], AnyGame]]

# by the name of the module, so that a file is run once
_loaded: dict[str, tuple[ModuleType, Games]] = {}
# names that files have registered: a later file, or version of one, may replace these
_own_games: set[str] = set()
OWN = "own_"  # the beginning of the names of modules that are loaded files

# ---------------------------------------------------------------------------------------------- what a file depends on


_in_memory: dict[Path, str] = {}  # digests of imported files, as this process first met them


def digest_of(*paths: str | Path) -> str:
    """A digest of what files hold, one after the other, and of all files that they import, see `imports_of`.

    Raises:
        OSError: a file cannot be read. ValueError: an imported file was edited after this process had imported it.
    """
    content = b"".join(Path(path).read_bytes() for path in paths)
    imports = sorted({each for path in paths for each in imports_of(path)})
    return _digest(content + "".join(f"\n{name} {digest}" for name, digest in imports).encode())


def digest_of_content(path: str | Path) -> str:
    """A digest of what a file holds, whatever it imports.

    Raises:
        OSError: it cannot be read.
    """
    return _digest(Path(path).read_bytes())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def imports_of(path: str | Path) -> Imports:
    """The files that a Python file imports, and those that they import, with digests; without what is installed.

    Raises:
        OSError: a file cannot be read. ValueError: an imported file was edited after this process had imported it, and would play on as
            it was; or this process has imported another file by the name of one beside this file.
    """
    start = Path(path).resolve()
    _look_beside(start)
    pending = [(start, "")]
    files = set[Path]()
    while pending:
        file, package = pending.pop()
        for name in _imported_names(file, package):
            imported = _file_of(name)
            if imported is None or imported == start:
                continue
            beside = start.with_name(f"{name}.py")
            if file == start and beside.is_file() and imported != beside:
                raise ValueError(
                    f"{path} would import {imported}, not {beside}; give one of the two another name"
                )
            if imported not in files:
                files.add(imported)
                # Its relative imports start from its package, which a package is itself.
                is_package = imported.name == "__init__.py"
                pending.append((imported, name if is_package else name.rpartition(".")[0]))
    return tuple(
        sorted((os.path.relpath(file, Path(path).parent), digest_in_memory(file)) for file in files)
    )


def digest_in_memory(path: Path) -> str:
    """The digest of an imported file, which is still as this process has imported it.

    Raises:
        OSError: it cannot be read. ValueError: it was edited since.
    """
    digest = digest_of_content(path)
    if _in_memory.setdefault(path.resolve(), digest) != digest:
        raise ValueError(
            f"{path} was edited after this process had imported it; start the command, or the workers, again"
        )
    return digest


class _SourceLoader(SourceFileLoader):
    """The loader of a file as it is, never from bytecode, which may be that of another content of the same length and the same second."""

    def get_code(self, fullname: str) -> CodeType:
        content = self.get_data(self.path)
        code: CodeType = self.source_to_code(content, self.path)
        _keep_text(self.path, content)
        return code


def _keep_text(path: str, content: bytes) -> None:
    """Let the text of functions be that which was loaded, whatever the file says by now."""
    text = importlib.util.decode_source(content)
    lines = io.StringIO(text).readlines()  # as Python counts them
    linecache.cache[path] = len(text), None, lines, path


def _finder_in(folder: str) -> PathEntryFinder:
    """The finder of modules in a user's folder; an ImportError for a folder of a library, which other finders take."""
    package = Path(__file__).parent
    others = package, package.parent / "experiments", Path(os.__file__).parent
    is_installed = set(Path(folder).parts) & INSTALLED
    if is_installed or any(Path(folder).is_relative_to(each) for each in others):
        raise ImportError
    return FileFinder.path_hook(
        (ExtensionFileLoader, EXTENSION_SUFFIXES), (_SourceLoader, SOURCE_SUFFIXES)
    )(folder)


def _look_beside(path: Path) -> None:
    """Let a file import the files beside it, as any program can; what is installed comes before them."""
    if _finder_in not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder_in)
        sys.path_importer_cache.clear()
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)


def _imported_names(path: Path, package: str) -> Iterator[str]:
    """The modules that the statements of a file import, wherever they stand in it, and the packages around these."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # no source of Python's, or none that can be run
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            with contextlib.suppress(ImportError):  # relative, where there is no such package
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("import_module", "__import__")
        ):
            names = [str(each.value) for each in node.args[:1] if isinstance(each, ast.Constant)]
        for name in names:
            yield from itertools.accumulate(name.split("."), "{}.{}".format)


def _file_of(name: str) -> Path | None:
    """The file of a user's module; None for a module that is installed or of icarus, and where there is no such module."""
    if name.partition(".")[0] in (*sys.stdlib_module_names, "icarus", "experiments"):
        return None
    try:
        spec = importlib.util.find_spec(name)
    # What stands before the last dot is run for it: it may be no package, or raise whatever somebody's code raises.
    except AUTHOR_ERRORS:
        return None
    if not spec or not spec.origin:
        return None
    path = Path(spec.origin)
    is_of_user = path.is_file() and not set(path.parts) & INSTALLED
    return path.resolve() if is_of_user else None


# ------------------------------------------------------------------------------------------------------ files are run


def load_files(paths: Iterable[str | Path]) -> dict[str, Operand]:
    """What strategies may name of what files define, see `strategy_names`; games of the files are registered.

    Raises:
        ValueError: see `load_file`; a file defines nothing, or an enhancement under another name than its own, or what strategies name
            under a name of the library's; or two define different games, enhancements, weights or rules of one name.
    """
    names: dict[str, Operand] = {}
    defined: dict[tuple[str, str], tuple[object, Path]] = {}
    for path in map(Path, paths):
        module, games_of_file = _load(path)
        enhancements = strategy_names(module)
        _check_names(path, enhancements)
        if not (games_of_file or enhancements):
            raise _refused(
                path, "defines no game, enhancement, weight or rule, and no function that makes one"
            )
        values: list[tuple[str, str, object]] = [
            ("a game", name, game) for name, game in games_of_file.items()
        ]
        for name, value in enhancements.items():
            if isinstance(value, Enhancement):
                values.append(("an enhancement", name, value))
            elif isinstance(value, WeightFunction | Rule):
                values.append(("a weight or a rule", name, value))
        for kind, name, value in values:
            first, where = defined.setdefault((kind, name), (value, path))
            if _identity(first) != _identity(value):
                raise ValueError(
                    f"{str(where)!r} and {str(path)!r} both define {kind} called {name!r}; rename one"
                )
        names.update(enhancements)
    return names


def names_in(paths: Iterable[Path]) -> dict[str, Operand]:
    """What strategies may name of what files define, without the checks of `load_files`; errors as of `load_file`."""
    names: dict[str, Operand] = {}
    for path in paths:
        names.update(strategy_names(load_file(path)))
    return names


def load_file(path: Path) -> ModuleType:
    """A Python file as a module, run once for each of its contents; its games can be loaded by name from then on.

    The module has a name that no other has, so that a file called random.py takes nothing from anybody.

    Raises:
        ValueError: there is no such file, running it raised an error (told with its line), or one of its games has the name of another.
    """
    return _load(path)[0]


def _load(path: Path) -> tuple[ModuleType, Games]:
    """A file as a module, run once for each of its contents, and its games, whose names are this file's from now on."""
    if not path.exists():
        raise ValueError(f"there is no file {str(path)!r}")
    if path.suffix != ".py" or not path.is_file():
        raise _refused(path, "is not a Python file")
    content = path.read_bytes()
    name = f"{OWN}{path.stem}_{_digest(os.fsencode(path.resolve()) + content)}"
    if name not in _loaded:
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = str(path.absolute())  # wherever the process is when somebody asks
        _look_beside(path)
        try:
            # never from bytecode, see `_SourceLoader`
            code = compile(content, str(path), "exec", dont_inherit=True)
            # functions have the first name, the module and its classes the second
            for name_of_file in (str(path), module.__file__):
                _keep_text(name_of_file, content)
            exec(code, vars(module))
            imports_of(path)  # from now on, an edit of what it has imported is refused
            _loaded[name] = module, _registered(module, path)
        except AUTHOR_ERRORS as error:
            del sys.modules[name]
            raise _failure(path, error) from None
    # Another file, or version of this one, may have taken the names of its games since.
    module, games_of_file = _loaded[name]
    games.GAMES.update({each: game for each, game in games_of_file.items() if each in _own_games})
    return module, games_of_file


def _failure(path: Path, error: BaseException) -> BaseException:
    """The error to raise for one that a file has raised, in one sentence: its line, its kind and what it says."""
    frame = _last_frame(error, {os.path.realpath(path)})
    line = getattr(error, "lineno", None) or (frame and frame.lineno)
    if (
        line is None
        and isinstance(error, ValueError | OSError)
        and not isinstance(error, UnicodeError)
    ):
        # Without a line of the file it is a refusal of a game's name or of an imported file, which says all itself.
        return error
    reason = " ".join(str(getattr(error, "msg", None) or error).split()) or "it gives no reason"
    place = f" in line {line}" if line else ""
    return _refused(path, f"cannot be run: {type(error).__name__}{place}: {reason}")


def _refused(path: Path, why: str) -> ValueError:
    return ValueError(f"{str(path)!r} {why}")


def _last_frame(error: BaseException, files: Set[str]) -> traceback.FrameSummary | None:
    """The last frame of an error's traceback in one of these files, given by their whole paths."""
    frames = traceback.extract_tb(error.__traceback__)
    return next(
        (frame for frame in reversed(frames) if os.path.realpath(frame.filename) in files), None
    )


def sentence_of(error: BaseException) -> str | None:
    """A sentence that tells an error of a user or an author, with the author's line; None for an error of the library itself."""
    if isinstance(error, OSError) and error.strerror:
        is_full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        if is_full or error.filename is not None:
            what = "the output" if error.filename is None else repr(str(error.filename))
            return f"{what} cannot be used: {error.strerror[0].lower()}{error.strerror[1:]}"
    frame = _last_frame(
        error, {os.path.realpath(str(module.__file__)) for module, _ in _loaded.values()}
    )
    place = [f"in {frame.name} ({frame.filename}, line {frame.lineno})"] if frame else []
    notes = getattr(error, "__notes__", [])  # of an error inside a compiled function
    explains_itself = bool(notes) or isinstance(error, ValueError | TypeError | OSError)
    if frame is None and not explains_itself:
        return None
    is_sentence = explains_itself and " " in str(error)
    kind = "" if is_sentence else f"{type(error).__name__}: "
    return kind + without_modules(", ".join(filter(None, [str(error), *(notes or place)])))


# ------------------------------------------------------------------------------------------------ what a file defines


def strategy_names(module: ModuleType) -> Mapping[str, Operand]:
    """What strategies may name: enhancements, weights and rules; and the module's own functions, which may make one of these.

    Functions that a game consists of are no strategies.
    """
    parts = [attrs.asdict(game, recurse=False).values() for game in _values(module, AnyGame)]
    of_games = {id(part) for part in itertools.chain(*parts)}

    def usable(name: str, value: object) -> bool:
        if name.startswith("_"):
            return False
        if inspect.isfunction(value):
            return value.__module__ == module.__name__ and id(value) not in of_games
        return isinstance(value, Enhancement | WeightFunction | Rule)

    return {name: value for name, value in vars(module).items() if usable(name, value)}


def _check_names(path: Path, names: Mapping[str, Operand]) -> None:
    """Refuse an enhancement whose name is not its variable's: nothing that was saved with it could be read again.

    Refuse an enhancement, a weight or a rule with a name of the library's, too: its results would be taken for those of the library's.
    """
    known = {**NAMES, **names}
    for variable, value in names.items():
        if not isinstance(value, Enhancement | WeightFunction | Rule):
            continue
        if NAMES.get(variable, value) != value:
            kind = "an enhancement" if variable in SPECIFICATIONS else "a weight or a rule"
            raise _refused(
                path,
                f"defines another {variable}, which is {kind} of the library; give it a name of its own",
            )
        if isinstance(value, Rule):
            continue
        name = value.name if isinstance(value, WeightFunction) else str(value)
        if name.isidentifier() and known.get(name) != value:
            raise _refused(
                path,
                f"declares {variable} with the name {name!r}; the name and the variable must be the same",
            )
        near = [
            each
            for each, another in known.items()
            if isinstance(another, Enhancement) and each.lower() == variable.lower()
        ]
        if len(near) > 1:
            raise _refused(
                path,
                f"declares {' and '.join(near)}, which differ in capital letters alone; rename one",
            )


def _registered(module: ModuleType, path: Path) -> Games:
    """The games of a module by name, which `games.load` knows from then on.

    They are each `Game` and `PythonGame`, and with parameters what each own function with "-> Game" or "-> PythonGame" makes. Of one name
    a function comes before a `Game`, and a `Game` before a `PythonGame`.
    """
    by_makers: dict[str, Callable[[], AnyGame]] = {}
    for maker in filter(_makes_a_game, _values_of_its_own(module, FunctionType)):
        name = _make_game(maker, path).name
        if by_makers.setdefault(name, maker) is not maker:
            raise _refused(path, ANOTHER.format(name))
    defined: dict[str, AnyGame | Callable[[], AnyGame]] = {}
    # The same game may have two variables, but two games must not have one name.
    for game in [*_values(module, PythonGame), *_values(module, Game)]:
        known = defined.get(game.name, game)
        is_another = type(known) is type(game) and _identity(known) != _identity(game)
        if is_another and game.name not in by_makers:
            raise _refused(path, ANOTHER.format(game.name))
        defined[game.name] = game
    defined |= by_makers
    new = {
        name: game
        for name, game in defined.items()
        if name not in games.GAMES or name in _own_games
    }
    # A game of the library may be imported into the file as it is, but none may take its name.
    for name in defined.keys() - new.keys():
        same = defined[name]
        if not isinstance(same, Game) or _identity(same) != _identity(games.load(str(same))):
            raise _refused(path, ANOTHER.format(name))
    games.GAMES.update(new)
    _own_games.update(new)
    return defined


def games_in(module: ModuleType) -> Sequence[AnyGame]:
    """The games that a file has as values: compiled ones, or where there are none those in plain Python."""
    return _values(module, Game) or _values(module, PythonGame)


def games_of_its_own(module: ModuleType) -> Sequence[AnyGame]:
    """The games of `games_in` without those of the library, each once."""
    return list({game.name: game for game in games_in(module) if game.name in _own_games}.values())


def file_of_game(game: AnyGame) -> Path | None:
    """The file that defines a game, or makes it by its name; None where no file that was loaded does."""
    for module, games_of_file in _loaded.values():
        if game.name in games_of_file and _identity(games.load(str(game))) == _identity(game):
            return Path(str(module.__file__))
    return None


def game_of_file(path: Path, otherwise: str) -> AnyGame:
    """The one game that a file defines.

    Args:
        otherwise: what to do beside giving a game by its name, where the file has not just one.

    Raises:
        ValueError: there is no such file; it has no game, or several.
    """
    module = load_file(path)
    own_games = games_of_its_own(module)
    if len(own_games) == 1:
        return own_games[0]
    if own_games:
        names = ", ".join(map(str, own_games))
        raise _refused(
            path, f"has {len(own_games)} games ({names}); give the name of one, {otherwise}"
        )
    classes = game_classes(module)
    if classes:
        line = f"game = icarus.bridges.seats.game_of({classes[0].__name__})"
        raise _refused(path, f"has a class and no game; make one by a line in a file: {line}")
    names = ", ".join(sorted({*map(str, games_in(module))}))
    if names:
        raise _refused(path, f"has games of the library alone ({names}); give the name of one")
    raise _refused(
        path,
        f"has no Game(…) or PythonGame(…); give a game that a function makes by its name, {otherwise}",
    )


def game_classes(module: ModuleType) -> list[type]:
    """The classes that a file defines with the methods of OpenSpiel's states."""
    classes = _values_of_its_own(module, type)
    return [each for each in classes if all(hasattr(each, name) for name in METHODS)]


def _values(module: ModuleType, kind: type) -> list[Any]:
    return [value for value in vars(module).values() if isinstance(value, kind)]


def _values_of_its_own(module: ModuleType, kind: type) -> list[Any]:
    return [value for value in _values(module, kind) if value.__module__ == module.__name__]


def _make_game(function: Callable[[], AnyGame], path: Path) -> AnyGame:
    """The game that a function makes without arguments."""
    game = function()
    if not isinstance(game, AnyGame):
        raise _refused(
            path, f"{function.__name__}() is annotated to return a game but returns {game!r}"
        )
    return game


def _makes_a_game(function: Callable) -> bool:
    """Whether a function says that it returns a game, and needs no arguments."""
    signature = inspect.signature(function)
    needed = any(
        parameter.default is parameter.empty for parameter in signature.parameters.values()
    )
    return signature.return_annotation in (Game, "Game", PythonGame, "PythonGame") and not needed


def _identity(value: object) -> object:
    """What is equal just for values that are the same.

    For games these are all their parts; for functions, which factories and imports make anew, the place where they are defined, and the
    numbers and texts that a factory has given them.
    """
    if isinstance(value, AnyGame):
        return type(value), [
            _identity(getattr(value, field.name)) for field in attrs.fields(type(value))
        ]
    if inspect.isfunction(value):
        code = value.__code__
        contents = [cell.cell_contents for cell in value.__closure__ or ()]
        plain = [each for each in contents if isinstance(each, int | float | str)]
        return os.path.realpath(code.co_filename), value.__qualname__, code.co_firstlineno, plain
    if callable(value) and hasattr(value, "__qualname__"):
        return value.__module__, value.__qualname__
    return value
