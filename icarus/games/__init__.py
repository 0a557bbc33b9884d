"""The games, by name."""

import ast
import difflib
import functools
import inspect
import re
import sys
from collections.abc import Callable

from icarus.checks import excerpt
from icarus.compiler import python_of
from icarus.games import lotr_confrontation
from icarus.games.backgammon import BACKGAMMON
from icarus.games.checkers import checkers
from icarus.games.dou_di_zhu import DOU_DI_ZHU
from icarus.games.generic_poker import LEDUC_POKER, generic_poker
from icarus.games.goofspiel import goofspiel
from icarus.games.hearts import hearts
from icarus.games.knockout_whist import knockout_whist
from icarus.games.kuhn_poker import KUHN_POKER
from icarus.games.liars_dice import liars_dice
from icarus.games.othello import OTHELLO
from icarus.games.phantom import phantom
from icarus.kernel import AnyGame, Game, State

GAMES: dict[str, AnyGame | Callable[..., AnyGame]] = {
    "othello": OTHELLO,
    "checkers": checkers,
    "backgammon": BACKGAMMON,
    "dou-di-zhu": DOU_DI_ZHU,
    "hearts": hearts,
    "lotr-confrontation": lotr_confrontation.lotr_confrontation,
    "knockout-whist": knockout_whist,
    "phantom-mnk": phantom,
    "kuhn-poker": KUHN_POKER,
    "leduc-poker": LEDUC_POKER,
    "generic-poker": generic_poker,
    "liars-dice": liars_dice,
    "goofspiel": goofspiel,
}
LIBRARY = frozenset(GAMES)  # before a file has brought its own

LONGEST = 200  # characters of a name with its parameters
_PAIR = re.compile(r"(\w+)\s*=\s*([-+.\w]+)")
_NAME = re.compile(rf"\s*([^(]*?)\s*(?:\(\s*((?:{_PAIR.pattern}\s*(?:,\s*|(?=\))))*)\)\s*)?")


def names() -> list[str]:
    """The names that `load` knows."""
    return list(GAMES)


def rules_of(game: AnyGame) -> str:
    """The rules of a game, by the docstring of a module: that of its name in the library, or the one that defines its `initial`.

    Of a game that a bridge has made there are none: "".
    """
    module = f"icarus.games.{game.name.replace('-', '_')}"
    if game.name not in LIBRARY or module not in sys.modules:
        initial = inspect.unwrap(python_of(game.initial))
        while isinstance(initial, functools.partial):
            initial = initial.func
        module = getattr(initial, "__module__", "")
    is_bridge = module.startswith("icarus.") and not module.startswith("icarus.games.")
    if is_bridge or module not in sys.modules:
        return ""
    return (sys.modules[module].__doc__ or "").strip()


@functools.cache
def _made(make: Callable[..., AnyGame], **parameters: int) -> AnyGame:
    """A game of the library, which is made once: it takes time, as a game looks at its functions then."""
    return make(**parameters)


def load(name: str, **parameters: int) -> AnyGame:
    """A game by its name, with parameters as keywords or in the name: "knockout-whist(players=3)".

    Raises:
        ValueError: no such game (the nearest names are told), or a parameter it does not take, or one given twice.
        TypeError: `name` is not a str.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"a game's name must be a str, such as 'knockout-whist(players=3)', not {name!r}"
        )
    base, in_name = (name, []) if name in GAMES else _split(name)  # OpenSpiel's names have brackets
    registered = GAMES.get(base)
    if registered is None:
        near = difflib.get_close_matches(base, GAMES, n=3, cutoff=0.55)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(GAMES)}"
        raise ValueError(f"no game is called {base!r}; {hint}")
    keys = [*(key for key, _ in in_name), *parameters]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise ValueError(f"the parameter {twice[0]} of {base} is given twice")
    parameters = {**dict(in_name), **parameters}
    # `str` of a game names its own parameters
    if isinstance(registered, AnyGame) and parameters == registered.parameters:
        return registered
    accepted = (
        [] if isinstance(registered, AnyGame) else list(inspect.signature(registered).parameters)
    )
    if unknown := [key for key in parameters if key not in accepted]:
        raise ValueError(
            f"{base} has no parameter {unknown[0]!r}; it takes {', '.join(accepted) or 'none'}"
        )
    if isinstance(registered, AnyGame):
        return registered
    # For the cache 1.0 and True are 1, which a game may refuse.
    is_kept = base in LIBRARY and {*map(type, parameters.values())} <= {int}
    try:
        return _made(registered, **parameters) if is_kept else registered(**parameters)
    except (TypeError, ArithmeticError, MemoryError) as error:
        raise ValueError(f"{name!r}: {error}") from None


def _split(name: str) -> tuple[str, list[tuple[str, int]]]:
    """ "name(a=1, b=2)" as name and parameters."""
    match = _NAME.fullmatch(name) if len(name) <= LONGEST else None
    try:
        pairs = _PAIR.findall(match[2] or "")  # type: ignore[index]
        return match[1], [(key, ast.literal_eval(value)) for key, value in pairs]  # type: ignore[index]
    except (TypeError, ValueError, SyntaxError):
        slip = re.search(r"=\s*(true|false|none)\b", name)
        right = f"{slip[1].title()} for {slip[1]}" if slip else "it like knockout-whist(players=3)"
        raise ValueError(
            f"{excerpt(name, LONGEST)!r} is not a game's name; write {right}"
        ) from None


__all__ = ["GAMES", "Game", "State", "load", "names"]
