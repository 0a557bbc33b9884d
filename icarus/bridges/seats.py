"""What both directions out of icarus need of a game: how far its actions are numbered, what a seat may see, and where its luck begins."""

import inspect
from typing import Any

from icarus.games import GAMES
from icarus.games.liars_dice import LIAR
from icarus.kernel import CHANCE
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.state import State
from icarus.views.boards import drawing

# The least number above all actions and outcomes of chance, of games that are numbered on a fixed board or pack.
ACTIONS = {
    "othello": 65,
    "checkers": 4096,
    "backgammon": 228,
    "dou-di-zhu": 163_840,
    "hearts": 106,
    "lotr-confrontation": 5634,
    "knockout-whist": 64,
    "kuhn-poker": 2,
    "leduc-poker": 3,
    "generic-poker": 13,
    "liars-dice": LIAR + 1,
    "goofspiel": 14,
}


def action_count(game: AnyGame, given: int | None = None) -> int:
    """The least number above all actions of a game.

    Raises:
        ValueError: it is not known and not given.
    """
    if given is not None:
        return given
    if game.name == "phantom-mnk":
        sizes = parameters_of(game.name) | dict(game.parameters)
        return (sizes["columns"] + 1) * sizes["rows"]
    data: Any = None if isinstance(game, Game) else game.new_initial_state(0).data  # type: ignore[attr-defined]
    found = ACTIONS.get(game.name) or (data.get_game().num_distinct_actions() if hasattr(data, "get_game") else None)
    if found is None:
        raise ValueError(f"how many actions has {game}? give actions=, the least number above all of them")
    return found


def parameters_of(name: str) -> dict[str, int]:
    """The parameters of a game of the library, with their defaults."""
    made = GAMES[name]
    return (
        {} if isinstance(made, Game) else {key: one.default for key, one in inspect.signature(made).parameters.items()}
    )


def seen_by(state: State, seat: int) -> str:
    """What a seat sees of a state, in words."""
    data = state.data
    if hasattr(data, "information_state_string"):  # OpenSpiel's own
        from icarus.bridges.openspiel import read_view

        return read_view(data, seat) or ""
    return drawing(state, seat).text()


def remembered_by(state: State, seat: int) -> str:
    """What a seat sees, and all that it has seen: different for any two information sets."""
    acting = state.current_player()
    return f"{seen_by(state, seat)}\nplayer {acting if acting != CHANCE else 'chance'}; seen {state.moves(seat)}"


def is_dealt(game: Any) -> bool:
    """Whether chance decides something before the first action."""
    return len({game.new_initial_state(seed).data.tobytes() for seed in range(8)}) > 1
