"""What both directions out of icarus need of a game: how far its actions are numbered, what a seat may see, and where chance acts."""

import functools
import hashlib
import inspect
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icarus.audit.subjects import stamp, view_of
from icarus.compiler import defined_at, plain_next_word, seeded
from icarus.engine.match import Agent
from icarus.games import GAMES
from icarus.kernel import (
    CHANCE,
    LONGEST,
    TERMINAL,
    UNSEEN,
    AnyGame,
    PythonGame,
    State,
    in_python,
    number_text,
    random_action,
)
from icarus.kernel.python_game import deep_copy
from icarus.views.boards import drawing

if TYPE_CHECKING:
    import pyspiel

# by which OpenSpiel's C++ refuses something; its SpielError is a RuntimeError
FAILURES = (RuntimeError, IndexError, ValueError)
DEALT = 64  # states that show whether chance deals
TRIED = 8  # random games that show whether it acts


def action_count(game: AnyGame) -> int:
    """A number above all actions of a game, chance's included.

    Raises:
        ValueError: the game does not say it.
    """
    if game.actions is None:
        raise ValueError(
            f"{game} has no upper bound of its action numbers; give Game(actions=…), a number above all of them"
        )
    return game.actions


def numbered_actions(state: State) -> list[int]:
    """The legal actions of a state, each below `action_count`: other libraries use them as indices, and C++ does not check them.

    Raises:
        ValueError: an action is not.
    """
    actions = state.legal_actions()
    count = action_count(state.game)
    if actions and max(actions) >= count:
        raise ValueError(
            f"{state.game} has the legal action {max(actions)}, but `actions` is {count}; give Game(actions=…), a number above all of "
            f"them{defined_at(state.game.legal)}"
        )
    return actions


def check_agent(agent: object) -> None:
    """Refuse what cannot play for a seat.

    Raises:
        TypeError: it does not search. ValueError: it reuses records, and nobody has seated it, so that none are kept.
    """
    if isinstance(agent, type) or not callable(getattr(agent, "search", None)):
        raise TypeError(f"an agent must be an Agent(strategy, iterations=…), not {agent!r}")
    if isinstance(agent, Agent) and agent.remembers:
        raise ValueError(
            f"{agent} remembers its searches once it is seated, agent.seated(game); here leave out move_decay and game_decay"
        )


def parameters_of(name: str) -> dict[str, int]:
    """The parameters of a game of the library, with their defaults."""
    registered = GAMES[name]
    parameters = {} if isinstance(registered, AnyGame) else inspect.signature(registered).parameters
    return {key: parameter.default for key, parameter in parameters.items()}


def view_method(kind: "pyspiel.GameType") -> str:
    """The method of OpenSpiel's states that tells what a player knows: all that he has ever seen, where the game has words for that."""
    is_whole = kind.provides_information_state_string
    return "information_state_string" if is_whole else "observation_string"


def read_view(state: "pyspiel.State", player: int, method: str = "") -> str | None:
    """What a player knows in a state of OpenSpiel's, by the game's own words; None where the game has none for this state."""
    method = method or view_method(state.get_game().get_type())
    try:
        return getattr(state, method)(player)
    except FAILURES:
        return None  # some games have no words for states in which nobody decides


def seen_by(state: State, seat: int) -> str:
    """What a seat sees of a state, in words."""
    data = state.data
    if hasattr(data, "get_game"):  # OpenSpiel's own
        return read_view(data, seat) or ""
    return drawing(state, seat).text()


def remembered_by(state: State, seat: int, earlier: Sequence[int] = ()) -> str:
    """What a seat sees, what `observation` says that it knows, and all moves that it has seen: different for any two information sets.

    Args:
        earlier: the moves that it saw before this history began.
    """
    player = state.current_player()
    mover = "chance" if player == CHANCE else player
    moves = (*earlier, *state.moves(seat))
    text = f"{seen_by(state, seat)}\nplayer {mover}; seen {moves}"
    if state.game.observation is None:
        return text
    return f"{text}; knows {view_of(state.game, state.data, seat)}"


def chance_in(game: AnyGame) -> tuple[bool, bool]:
    """Whether chance deals, and whether it acts at all, as the game's functions say, or some random games; nothing is compiled for it."""
    reference = in_python(game)
    dealt = (stamp(reference.new_initial_state(seed).data) for seed in range(DEALT))
    first = next(dealt)
    is_dealt = game.deal is not None or any(each != first for each in dealt)
    acts = is_dealt or game.chance is not None
    for seed in range(TRIED):
        state = reference.new_initial_state(seed)
        luck = random.Random(seed)
        while not (acts or state.is_terminal()) and len(state.history) < reference.max_length:
            acts = state.is_chance_node()
            state.apply_action(luck.choice(state.legal_actions()))
    return is_dealt, acts


# ----------------------------------------------------------------------------------- states with the methods of OpenSpiel's

# Functions with names, which can be pickled with the game.


def _player(state: Any) -> int:
    return TERMINAL if state.is_terminal() else state.current_player()


def _legal(state: Any) -> list[int]:
    return state.legal_actions()


def _apply(state: Any, action: int) -> Any:
    """What `apply_action` returns too: the game refuses a new state, made in place of changing this one."""
    return state.apply_action(action)


def probabilities(state: Any) -> list[float]:
    """The probability of each legal outcome of chance, in their order."""
    chances = dict(state.chance_outcomes())
    return [chances.get(outcome, 0.0) for outcome in state.legal_actions()]


def _initial(kind: type, takes_luck: bool, rng: np.ndarray) -> Any:
    return kind(_luck(rng)) if takes_luck else kind()


def _rewards(low: float, high: float, state: Any) -> Any:
    returns = state.returns()
    if not isinstance(returns, Iterable):
        return returns  # which is refused, as of any game, with the author's line
    returns = list(returns)
    if returns and not low <= min(returns) <= max(returns) <= high:
        raise ValueError(
            f"{returns!r} are not from {low} to {high}; min_utility() and max_utility() of the class say from where to where"
        )
    return [(each - low) / (high - low) for each in returns]


def _observe(players: int, state: Any, action: int) -> list[int]:
    mover = state.current_player()
    after = deep_copy(state)
    after.apply_action(action)
    moves = []
    for player in range(players):
        texts = repr(state.observation(player)), repr(after.observation(player))
        # his own action may tell a player more than that he did it, such as what others chose before
        move = difference(*texts, by=action if player == mover else None)
        moves.append(action if player == mover and move == UNSEEN else move)
    return moves


def _determinize(state: Any, observer: int, beliefs: None, rng: np.ndarray) -> Any:
    return deep_copy(state) if observer == CHANCE else state.resample(observer, _luck(rng))


def _observation(state: Any, player: int) -> Any:
    return state.observation(player)


def _multiplicity(state: Any) -> float:
    return state.multiplicity()


def _action_text(state: Any, action: int) -> str:
    return state.action_to_string(action)


# the functions that every such game has
RULES: Mapping[str, Any] = {"player": _player, "legal": _legal, "apply": _apply}
# by the name of a function, the method that the author of such a class knows it by
METHODS = {"player": "current_player", "legal": "legal_actions", "apply": "apply_action", "rewards": "returns",
           "chance": "chance_outcomes", "observe": "observation", "determinize": "resample", "observation": "observation",
           "multiplicity": "multiplicity", "action_text": "action_to_string", "initial": "__init__"}  # fmt: skip


def game_of(kind: type) -> PythonGame:
    """A class in plain Python with the methods of OpenSpiel's states, as a game.

    Its constructor takes nothing, or first a `random.Random` that deals. Where something is hidden, `resample(player, rng)` returns a
    state that the player cannot tell from this one, and `observation(player)` all that he may know of a state. A player sees of an
    action what it changes in his observation, and of his own the action as well. `min_utility()` and `max_utility()` bound the returns;
    without them these are from −1 to 1.
    Where there is no `num_players()`, there are as many players as returns.

    Raises:
        ValueError: its constructor needs more; it has only one of `resample` and `observation`; an attribute in place of a method; or no
            `num_players`, and no random game ends.
    """
    initial = functools.partial(_initial, kind, _takes_luck(kind))
    first = initial(seeded(0))
    for name in ("num_players", "min_utility", "max_utility", "is_terminal", *METHODS.values()):
        value = getattr(first, name, None)
        if value is not None and not callable(value):
            raise ValueError(f"{name} of {kind.__name__} is {value!r}; it must be a method")
    players = (
        first.num_players()
        if hasattr(first, "num_players")
        else _count_returns(kind, initial(seeded(0)))
    )
    hides = hasattr(first, "resample")
    if hides != hasattr(first, "observation"):
        has, lacks = ("resample", "observation") if hides else ("observation", "resample")
        raise ValueError(
            f"{kind.__name__} has {has}() but no {lacks}(); a game that hides something needs both"
        )
    low = first.min_utility() if hasattr(first, "min_utility") else -1
    high = first.max_utility() if hasattr(first, "max_utility") else 1

    functions: dict[str, Any] = {
        "initial": initial,
        **RULES,
        "rewards": functools.partial(_rewards, low, high),
        "chance": probabilities if hasattr(first, "chance_outcomes") else None,
        "observe": functools.partial(_observe, players) if hides else None,
        "determinize": _determinize if hides else None,
        "observation": _observation if hides else None,
        "multiplicity": _multiplicity if hasattr(first, "multiplicity") else None,
        "action_text": _action_text if hasattr(first, "action_to_string") else number_text,
    }
    for name, method in METHODS.items():
        if functions[name] is not None:
            functions[name] = _named_as(functions[name], getattr(kind, method, None))
    return PythonGame(name=kind.__name__, players=players, utilities=(low, high), **functions)


def _takes_luck(kind: type) -> bool:
    """Whether a constructor takes a generator: its first parameter has no default, or None or a generator as its default."""
    signature = inspect.signature(kind)
    first = next(iter(signature.parameters.values()), None)
    takes = False
    if first is not None and first.kind < first.KEYWORD_ONLY:
        default = first.default
        takes = default is first.empty or default is None or hasattr(default, "random")
    try:
        if takes:
            signature.bind(None)
        else:
            signature.bind()
    except TypeError as error:
        raise ValueError(
            f"{kind.__name__} cannot be made: {error}; its __init__ takes nothing, or first a random.Random that deals"
        ) from None
    return takes


def _named_as(function: Callable, method: Callable | None) -> Callable:
    """A copy of a function which messages call by the name of a method; the function itself serves other games too."""
    wrapper: Any = functools.partial(function)
    wrapper.py_func = method
    return wrapper


def _count_returns(kind: type, state: Any) -> int:
    """The number of players, by the returns at the end of a random game."""
    luck = random.Random(0)
    for _ in range(LONGEST):
        if state.is_terminal():
            return len(state.returns())
        state.apply_action(random_action(state, luck))
    raise ValueError(
        f"{kind.__name__} has no num_players(), and a random game does not end within {LONGEST:,} actions"
    )


def _luck(rng: np.ndarray) -> random.Random:
    return random.Random(int(plain_next_word(rng)) >> 32)


@functools.lru_cache(1 << 14)
def difference(before: str | None, after: str | None, by: int | None = None) -> int:
    """A number for what is different in a text after an action, UNSEEN where nothing is; two changes of one text have two numbers.

    Args:
        by: the action, where it is known; the same change by two actions has two numbers then.
    """
    if before == after:
        return UNSEEN
    old = before or ""
    new = after or ""
    start = len(os.path.commonprefix([old, new]))
    end = len(os.path.commonprefix([old[start:][::-1], new[start:][::-1]]))
    change = f"{start} {end} {new[start : len(new) - end]}"
    if by is not None:
        change = f"{by}: {change}"
    # below 2^48: keys of histories have a player above the move
    return int.from_bytes(hashlib.blake2b(change.encode(), digest_size=6).digest(), "big")
