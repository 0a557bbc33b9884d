"""Files of one's own: enhancements, weights, rules and games from a Python file, for the commands of both packages."""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
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

DIGITS = 12  # of a digest
_Named: TypeAlias = Game | PythonGame | Callable[..., Game | PythonGame]
_loaded: dict[str, ModuleType] = {}  # by the name of the module, so that a file is run once


def digest_of(*paths: str | Path) -> str:
    """A digest of what files hold, one after the other.

    Raises:
        OSError: one cannot be read.
    """
    return _digest(b"".join(Path(path).read_bytes() for path in paths))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def load_files(paths: Iterable[Path]) -> dict[str, Operand]:
    """What files define for strategies to name, see `strategy_names`; their games are registered.

    Raises:
        ValueError: see `load_file` and `register_games`.
    """
    names: dict[str, Operand] = {}
    for path in paths:
        names.update(strategy_names(load_file(path)))
    return names


def load_file(path: Path) -> ModuleType:
    """A Python file as a module, run once for each of its contents; its games can be loaded by name from then on.

    The module has a name that no other has, so that a file called random.py takes nothing from anybody.

    Raises:
        ValueError: there is no such file, running it raised an error (told with its line), or see `register_games`.
    """
    if path.suffix != ".py" or not path.is_file():
        raise ValueError(f"{str(path)!r} is no Python file")
    name = f"own_{path.stem}_{_digest(str(path.resolve()).encode() + path.read_bytes())}"
    if name not in _loaded:
        module = _run(name, path)
        try:
            register_games(module, path)
        except ValueError:
            del sys.modules[name]
            raise
        _loaded[name] = module
    return _loaded[name]


def _run(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever somebody's own file raises is told, not traced
        del sys.modules[name]
        line = getattr(error, "lineno", None) or _line_in(path, error)
        reason = getattr(error, "msg", None) or error
        raise ValueError(f"{str(path)!r} cannot be run: {type(error).__name__} in line {line}: {reason}") from None
    return module


def _line_in(path: Path, error: BaseException) -> int | str:
    """The last line of the file that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), None) or "?"


def strategy_names(module: ModuleType) -> Mapping[str, Operand]:
    """What strategies may name: enhancements, weights, rules, and the module's own functions, which may make them."""

    def usable(name: str, value: object) -> bool:
        defined_here = inspect.isfunction(value) and value.__module__ == module.__name__
        return not name.startswith("_") and (defined_here or isinstance(value, Enhancement | WeightFunction | Rule))

    return {name: value for name, value in vars(module).items() if usable(name, value)}


def register_games(module: ModuleType, path: Path) -> None:
    """Let `games.load` know the games of a module: each `Game` and `PythonGame`, and with parameters each own function with "-> Game" or
    "-> PythonGame". Where a compiled and a plain game have the same name, it is the compiled one's.

    Raises:
        ValueError: another game has the same name.
    """
    compiled, plain = games_in(module)
    defined: dict[str, _Named] = {game.name: game for game in plain}
    defined |= {game.name: game for game in compiled}
    for value in vars(module).values():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and _makes_a_game(value):
            defined[value().name] = value
    for name, game in defined.items():
        if name in games.GAMES and name not in _own_games and not _is_registered(name, game):
            raise ValueError(f"{str(path)!r} defines another game called {name!r}; give it a name of its own")
    for name, game in defined.items():
        if name not in games.GAMES or name in _own_games:
            games.GAMES[name] = game
            _own_games.add(name)


# Names that files have registered: a later file, or a later version of it, may replace these.
_own_games: set[str] = set()


def games_in(module: ModuleType) -> tuple[list[Game], list[PythonGame]]:
    """The games that a file has as values: compiled ones, and those in plain Python."""
    values = vars(module).values()
    return [x for x in values if isinstance(x, Game)], [x for x in values if isinstance(x, PythonGame)]


def _makes_a_game(function: Callable) -> bool:
    """Whether a function says that it returns a game, and needs no arguments."""
    signature = inspect.signature(function, eval_str=False)
    needed = any(parameter.default is parameter.empty for parameter in signature.parameters.values())
    return signature.return_annotation in (Game, "Game", PythonGame, "PythonGame") and not needed


def _is_registered(name: str, game: object) -> bool:
    """Whether it is the known game of that name, merely imported by a file, in whose every part it agrees."""
    if not isinstance(game, Game):
        return False
    registered = games.load(str(game))
    return all(_part(game, field.name) == _part(registered, field.name) for field in attrs.fields(Game))


def _part(game: AnyGame, name: str) -> object:
    """A field of a game; functions, which factories make anew, by where they are defined."""
    value = getattr(game, name)
    return (value.__module__, value.__qualname__) if callable(value) else value
