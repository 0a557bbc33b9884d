"""The games, by name."""

import ast
import difflib
from collections.abc import Callable

from icarus.games.backgammon import BACKGAMMON
from icarus.games.checkers import checkers
from icarus.games.dou_di_zhu.game import DOU_DI_ZHU
from icarus.games.generic_poker import generic_poker
from icarus.games.goofspiel import goofspiel
from icarus.games.hearts.game import hearts
from icarus.games.knockout_whist.game import knockout_whist
from icarus.games.kuhn_poker import KUHN_POKER
from icarus.games.leduc_poker import LEDUC_POKER
from icarus.games.liars_dice import liars_dice
from icarus.games.lotr_confrontation.game import lotr_confrontation
from icarus.games.othello import OTHELLO
from icarus.games.phantom import phantom
from icarus.kernel.game import Game
from icarus.kernel.state import State

GAMES: dict[str, Game | Callable[..., Game]] = {
    "othello": OTHELLO,
    "checkers": checkers,
    "backgammon": BACKGAMMON,
    "dou-di-zhu": DOU_DI_ZHU,
    "hearts": hearts,
    "lotr-confrontation": lotr_confrontation,
    "knockout-whist": knockout_whist,
    "phantom-mnk": phantom,
    "kuhn-poker": KUHN_POKER,
    "leduc-poker": LEDUC_POKER,
    "generic-poker": generic_poker,
    "liars-dice": liars_dice,
    "goofspiel": goofspiel,
}


def names() -> list[str]:
    """The names that `load` knows."""
    return list(GAMES)


def load(name: str, **parameters: int) -> Game:
    """A game by its name, with parameters as keywords or in the name: "knockout-whist(players=3)".

    Raises:
        ValueError: no such game (the nearest names are told), or a parameter it does not take.
    """
    base, written = _split(name)
    found = GAMES.get(base)
    if found is None:
        near = difflib.get_close_matches(base, GAMES, n=3, cutoff=0.55)
        raise ValueError(
            f"no game is called {base!r}; "
            + (f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(GAMES)}")
        )
    parameters = {**written, **parameters}
    if isinstance(found, Game):
        if parameters:
            raise ValueError(f"{base} takes no parameters, but {', '.join(parameters)} was given")
        return found
    try:
        return found(**parameters)
    except TypeError as error:
        raise ValueError(f"{name!r}: {error}") from None


def _split(name: str) -> tuple[str, dict[str, int]]:
    """ "name(a=1, b=2)" as name and parameters."""
    base, bracket, rest = name.partition("(")
    if not bracket:
        return base.strip(), {}
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        assert isinstance(call, ast.Call) and not call.args
        return base.strip(), {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, AssertionError):
        raise ValueError(f"{name!r} is not a game's name; write it like knockout-whist(players=3)") from None


__all__ = ["GAMES", "Game", "State", "load", "names"]
