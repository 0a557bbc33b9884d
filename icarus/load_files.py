"""Files of one's own: enhancements, weights, rules and games from a Python file, for the commands of both packages."""

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import attrs

from icarus import games
from icarus.algebra import Enhancement, Rule
from icarus.algebra.parsing import Operand
from icarus.algebra.weights import WeightFunction
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import PythonGame
from icarus.specs import SPECIFICATIONS

METHODS = ("is_terminal", "current_player", "legal_actions", "apply_action", "returns")  # of OpenSpiel's states
MOST_LACKING = 2  # of these methods, of a class that is meant to have them
DIGITS = 12  # of a digest
LIBRARIES = {"site-packages", "dist-packages"}  # folders of what is installed
Imports: TypeAlias = tuple[
    tuple[str, str], ...
]  # files by their paths from the folder of the one that imports them, with digests


@attrs.frozen(eq=False)
class _File:
    """A file that was run; its games, or functions that make them, by name."""

    module: ModuleType
    games: Mapping[str, AnyGame | Callable[[], AnyGame]]


_loaded: dict[str, _File] = {}  # by the name of the module, so that a file is run once


_in_memory: dict[Path, str] = {}  # digests of imported files, as this process first met them


def digest_of(*paths: str | Path) -> str:
    """A digest of what files hold, one after the other, and of all files that they import, see `imports_of`.

    Raises:
        OSError: one cannot be read. ValueError: an imported file was edited after this process had imported it.
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
        OSError: one cannot be read. ValueError: one was edited after this process had imported it, and would play on as what it was.
    """
    start = Path(path).resolve()
    _look_beside(start)
    pending, files = [(start, "")], set[Path]()
    while pending:
        file, package = pending.pop()
        for name in _imported_names(file, package):
            imported = _file_of(name)
            if imported is not None and imported not in files and imported != start:
                files.add(imported)
                pending.append((imported, name if imported.name == "__init__.py" else name.rpartition(".")[0]))
    return tuple(sorted((os.path.relpath(file, Path(path).parent), digest_in_memory(file)) for file in files))


def digest_in_memory(path: Path) -> str:
    """The digest of an imported file, which is what this process has imported.

    Raises:
        OSError: it cannot be read. ValueError: it was edited after that.
    """
    digest = digest_of_content(path)
    if _in_memory.setdefault(path.resolve(), digest) != digest:
        raise ValueError(
            f"{path} was edited after this process had imported it; start the command, or the workers, again"
        )
    return digest


def _look_beside(path: Path) -> None:
    """Let a file import those beside it, as any program can; what is installed comes before them."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)


def _imported_names(path: Path, package: str) -> Iterator[str]:
    """The modules that the statements of a file import, wherever they stand in it, and what these may be packages of."""
    if path.suffix != ".py":
        return
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from _with_packages(alias.name)
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *filter(None, [node.module])])
                yield from _with_packages(base)
                yield from (f"{base}.{alias.name}" for alias in node.names)


def _with_packages(name: str) -> Iterator[str]:
    """A module and the packages around it, which are run before it."""
    parts = name.split(".")
    return (".".join(parts[: i + 1]) for i in range(len(parts)))


def _file_of(name: str) -> Path | None:
    """The file of a module; None where it is installed, of icarus, or no module."""
    if name.partition(".")[0] in (*sys.stdlib_module_names, "icarus", "experiments"):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):  # what stands before the last dot is not a package
        return None
    path = Path(spec.origin) if spec and spec.origin else None
    return path.resolve() if path and path.is_file() and not set(path.parts) & LIBRARIES else None


def load_files(paths: Iterable[str | Path]) -> dict[str, Operand]:
    """What files define for strategies to name, see `strategy_names`; their games are registered.

    Raises:
        ValueError: see `load_file`; a file defines nothing, or an enhancement under another name than its own or under that of one of
            the library; or two define different games or enhancements of one name.
        TypeError: a file instead of a list of them.
    """
    names: dict[str, Operand] = {}
    defined: dict[tuple[str, str], tuple[object, Path]] = {}
    if isinstance(paths, str | Path):
        raise TypeError(f"load_files needs a list of files, such as ['{paths}'], not {paths!r}")
    for path in map(Path, paths):
        file = _load(path)
        enhancements = strategy_names(file.module)
        _check_names(path, enhancements)
        if not (file.games or enhancements):
            raise ValueError(
                f"{str(path)!r} defines no game, enhancement, weight or rule, and no function that makes one"
            )
        values = [("a game", *item) for item in file.games.items()]
        values += [("an enhancement", *item) for item in enhancements.items() if isinstance(item[1], Enhancement)]
        for kind, name, value in values:
            first, where = defined.setdefault((kind, name), (value, path))
            if not _is_same(first, value):
                raise ValueError(f"{str(where)!r} and {str(path)!r} both define {kind} called {name!r}; rename one")
        names.update(enhancements)
    return names


def load_file(path: Path) -> ModuleType:
    """A Python file as a module, run once for each of its contents; its games can be loaded by name from then on.

    The module has a name that no other has, so that a file called random.py takes nothing from anybody.

    Raises:
        ValueError: there is no such file, running it raised an error (told with its line), or see `imports_of` and `register_games`.
    """
    return _load(path).module


def _load(path: Path) -> _File:
    if not path.exists():
        raise ValueError(f"there is no file {str(path)!r}")
    if path.suffix != ".py" or not path.is_file():
        raise ValueError(f"{str(path)!r} is not a Python file")
    content = path.read_bytes()
    name = f"own_{path.stem}_{_digest(str(path.resolve()).encode() + content)}"
    if name not in _loaded:
        module = _run(name, path, content)
        try:
            _loaded[name] = _File(module, register_games(module, path))
        except ValueError:
            del sys.modules[name]
            raise
    return _loaded[name]


def _run(name: str, path: Path, content: bytes) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    _look_beside(path)
    try:
        # Never from bytecode: that of another content is taken for this one's where both have one length and one second.
        exec(compile(content, str(path), "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:  # whatever somebody's own file raises is told, not traced
        del sys.modules[name]
        raise _failure(path, error) from None
    imports_of(path)  # from now on, an edit of what it has imported is refused
    return module


def _failure(path: Path, error: BaseException) -> ValueError:
    """The one sentence of an error that a file has raised: its line, its kind and what it says."""
    line = getattr(error, "lineno", None) or _line_in(path, error)
    reason = " ".join(str(getattr(error, "msg", None) or error).split()) or "it gives no reason"
    where = f" in line {line}" if line else ""
    return ValueError(f"{str(path)!r} cannot be run: {type(error).__name__}{where}: {reason}")


def _line_in(path: Path, error: BaseException) -> int | None:
    """The last line of the file that an error came through; the path of a frame is whole, a typed one need not be."""
    frame = _last_frame(error, {os.path.realpath(path)})
    return frame and frame.lineno


def _last_frame(error: BaseException, files: Set[str]) -> traceback.FrameSummary | None:
    """Where an error last came through one of these files, given by their whole paths."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame for frame in reversed(frames) if os.path.realpath(frame.filename) in files), None)


def without_modules(text: str) -> str:
    """A text without the names of the modules that files are loaded as, which nobody has written."""
    return re.sub(rf"\bown_\w+_[0-9a-f]{{{DIGITS}}}\.", "", text)


def place_in_file(error: BaseException) -> str | None:
    """Where an error last came through a file that was loaded, as "in f (file, line n)"; None where it did not."""
    frame = _last_frame(error, {os.path.realpath(str(file.module.__file__)) for file in _loaded.values()})
    return frame and f"in {frame.name} ({frame.filename}, line {frame.lineno})"


def sentence_of(error: BaseException) -> str | None:
    """What an error of a user or an author says, in one sentence, with the author's line; None for an error of the library itself."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{str(error.filename)!r} cannot be used: {error.strerror[0].lower()}{error.strerror[1:]}"
    place = place_in_file(error)
    notes = getattr(error, "__notes__", [])  # of an error inside a compiled function
    explains_itself = bool(notes) or isinstance(error, ValueError | TypeError | OSError)
    if place is None and not explains_itself:
        return None
    kind = "" if explains_itself else f"{type(error).__name__}: "
    return kind + without_modules(", ".join(filter(None, [str(error), *(notes or [place])])))


def strategy_names(module: ModuleType) -> Mapping[str, Operand]:
    """What strategies may name: enhancements, weights, rules, and the module's own functions but those of games, which may make them."""
    games_in_it = [*_values(module, Game), *_values(module, PythonGame)]
    of_games = {id(part) for game in games_in_it for part in attrs.asdict(game, recurse=False).values()}

    def usable(name: str, value: object) -> bool:
        defined_here = inspect.isfunction(value) and value.__module__ == module.__name__ and id(value) not in of_games
        return not name.startswith("_") and (defined_here or isinstance(value, Enhancement | WeightFunction | Rule))

    return {name: value for name, value in vars(module).items() if usable(name, value)}


def _check_names(path: Path, names: Mapping[str, Operand]) -> None:
    """Refuse an enhancement that is printed by a name by which no strategy finds it: nothing that was saved with it could be read again.

    One with a name of the library's is refused as well: results that name it would be taken for those of the library's.
    """
    operands = {**SPECIFICATIONS, **names}
    for variable, value in names.items():
        if isinstance(value, Enhancement) and SPECIFICATIONS.get(variable, value) != value:
            raise ValueError(
                f"{str(path)!r} defines another {variable}, which is an enhancement of the library; give it a name of its own"
            )
        single = isinstance(value, Enhancement) and value.components == (value,) and str(value).isidentifier()
        if single and operands.get(str(value)) != value:
            raise ValueError(
                f"{str(path)!r} declares {variable} with the name {str(value)!r}; the name and the variable must be the same"
            )


def register_games(module: ModuleType, path: Path) -> Mapping[str, AnyGame | Callable[[], AnyGame]]:
    """Let `games.load` know the games of a module, see `own_games`; these by name.

    Raises:
        ValueError: another game has the same name, or see `own_games`.
    """
    defined = own_games(module, path)
    for name, game in defined.items():
        if name in games.GAMES and name not in _own_games and not _is_registered(name, game):
            raise _another_game(name, path)
    for name, game in defined.items():
        if name not in games.GAMES or name in _own_games:
            games.GAMES[name] = game
            _own_games.add(name)
    return defined


def own_games(module: ModuleType, path: Path) -> dict[str, AnyGame | Callable[[], AnyGame]]:
    """The games of a module by name: each `Game` and `PythonGame`, and with parameters each own function with "-> Game" or
    "-> PythonGame". Where a compiled and a plain game have the same name, it is the compiled one's.

    Raises:
        ValueError: two of a kind have one name, or such a function makes none.
    """
    makers: dict[str, Callable[[], AnyGame]] = {}
    for value in vars(module).values():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and _makes_a_game(value):
            makers[_make_game(value, path).name] = value
    defined: dict[str, AnyGame | Callable[[], AnyGame]] = {}
    for kind in (PythonGame, Game):
        of_kind: dict[str, AnyGame] = {}
        for game in _values(module, kind):
            if game.name not in makers and not _is_same(of_kind.setdefault(game.name, game), game):
                raise _another_game(game.name, path)
        defined |= of_kind
    return defined | makers


def games_in(module: ModuleType) -> Sequence[AnyGame]:
    """The games that a file has as values: compiled ones, or where there are none those in plain Python."""
    return _values(module, Game) or _values(module, PythonGame)


def games_of_its_own(module: ModuleType) -> Sequence[AnyGame]:
    """Those of `games_in` that icarus does not come with, each once."""
    return list({game.name: game for game in games_in(module) if game.name in _own_games}.values())


def game_of_file(path: Path, otherwise: str) -> AnyGame:
    """The one game that a file defines.

    Args:
        otherwise: what to do beside giving a game by its name, where the file has not just one.

    Raises:
        ValueError: there is no such file; it has no game, or several.
    """
    module = load_file(path)
    own_games = games_of_its_own(module)
    if not own_games and (classes := game_classes(module)):
        raise ValueError(
            f"{str(path)!r} has the class {classes[0].__name__} with OpenSpiel's methods, which icarus check looks at and no search plays; "
            "make a Game or a PythonGame of it (docs/plain-python.md)"
        )
    if not own_games:
        raise ValueError(
            f"{str(path)!r} has no Game(…) or PythonGame(…); give a game that a function makes by its name, {otherwise}"
        )
    if len(own_games) > 1:
        names = ", ".join(map(str, own_games))
        raise ValueError(f"{str(path)!r} has {len(own_games)} games ({names}); give the name of one, {otherwise}")
    return own_games[0]


def game_classes(module: ModuleType) -> list[type]:
    """The classes that a file defines with the methods of OpenSpiel's states."""
    return [each for each, lacking in _classes(module) if not lacking]


def lacking_methods(module: ModuleType) -> str:
    """Of a class that lacks one or two of these methods, a sentence; "" where there is none."""
    near = [(each, lacking) for each, lacking in _classes(module) if 0 < len(lacking) <= MOST_LACKING]
    return "; ".join(
        f"the class {each.__name__} lacks {' and '.join(f'{name}()' for name in lacking)}" for each, lacking in near
    )


def _classes(module: ModuleType) -> list[tuple[type, list[str]]]:
    """The classes that a file defines, with the methods that they lack."""
    values = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]
    return [(each, [name for name in METHODS if not hasattr(each, name)]) for each in values]


def _values(module: ModuleType, kind: type[AnyGame]) -> list[AnyGame]:
    return [value for value in vars(module).values() if isinstance(value, kind)]


def _another_game(name: str, path: Path) -> ValueError:
    return ValueError(f"{str(path)!r} defines another game called {name!r}; give it a name of its own")


def _make_game(function: Callable[[], AnyGame], path: Path) -> AnyGame:
    """The game that a function makes without arguments."""
    try:
        game = function()
    except Exception as error:  # whatever somebody's own file raises is told, not traced
        raise _failure(path, error) from None
    if not isinstance(game, AnyGame):
        raise ValueError(f"{str(path)!r}: {function.__name__}() is annotated to return a game but returns {game!r}")
    return game


# Names that files have registered: a later file, or a later version of it, may replace these.
_own_games: set[str] = set()


def _makes_a_game(function: Callable) -> bool:
    """Whether a function says that it returns a game, and needs no arguments."""
    signature = inspect.signature(function, eval_str=False)
    needed = any(parameter.default is parameter.empty for parameter in signature.parameters.values())
    return signature.return_annotation in (Game, "Game", PythonGame, "PythonGame") and not needed


def _is_registered(name: str, game: object) -> bool:
    """Whether it is the known game of that name, merely imported by a file."""
    return isinstance(game, Game) and _is_same(game, games.load(str(game)))


def _is_same(game: object, known: object) -> bool:
    """Whether two games agree in every part, or are one; enhancements are equal; functions that make games are defined in one place."""
    if isinstance(game, AnyGame) and type(game) is type(known):
        return all(
            _part(getattr(game, field.name)) == _part(getattr(known, field.name)) for field in attrs.fields(type(game))
        )
    return _part(game) == _part(known)


def _part(value: object) -> object:
    """A part of a game; functions, which factories and imports make anew, by where they are defined."""
    if inspect.isfunction(value):
        return os.path.realpath(value.__code__.co_filename), value.__qualname__
    return (value.__module__, value.__qualname__) if callable(value) and hasattr(value, "__qualname__") else value
