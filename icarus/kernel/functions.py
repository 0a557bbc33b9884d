"""The functions of a game: what each takes and returns, in one table, the kernels that the playout loop calls by address, and which answers
make sense."""

import functools
import inspect
import math
import types as pytypes
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from operator import index
from typing import Any, NamedTuple

import attrs
import numpy as np

from icarus.compiler import RNG_WORDS, CompiledFunction, defined_at, full_name, helper, python_of
from icarus.compiler.digest import kernel_cache
from icarus.compiler.memory import array_at, struct_at, unpack_parameters
from icarus.kernel.contract import CHANCE, CONTINUES, TERMINAL, StateData
from icarus.kernel.features import KINDS, are_rewards, is_finite


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


@attrs.frozen
class GameFunction:
    """How a function is called.

    Attributes:
        arguments: what a `Game` gives it.
        returns: what it must return there, in words; "" where nothing.
        inputs: the arguments that a `PythonGame` gives it; the others are its answer.
        more: what a kernel is given besides, as words of 64 bits.
    """

    arguments: tuple[str, ...] = attrs.field(converter=_names)
    returns: str
    inputs: tuple[str, ...] = attrs.field(converter=_names)
    more: tuple[str, ...] = attrs.field(converter=_names, default="")
    words: tuple[str, ...] = attrs.field(init=False)  # all that a kernel is given

    @words.default
    def _arguments_and_more(self) -> tuple[str, ...]:
        return (*self.arguments, *self.more)


# what an author's function or file may raise, which is told: anything, also what would end the program
AUTHOR_ERRORS = (Exception, SystemExit)
# those that the rules consist of, by name
FUNCTIONS = {
    "initial": GameFunction("state, rng", "", "rng", "parameters"),
    "player": GameFunction("state", "a player, CHANCE or TERMINAL", "state"),
    "legal": GameFunction("state, actions", "how many actions it has written", "state"),
    "apply": GameFunction("state, action", "", "state, action"),
    "rewards": GameFunction("state, out", "", "state", "room"),
    "observe": GameFunction("state, action, moves", "", "state, action", "room"),
    "chance": GameFunction("state, probabilities", "", "state"),
    "determinize": GameFunction(
        "state, observer, beliefs, rng", "", "state, observer, beliefs, rng"
    ),
    "prepare": GameFunction("state, observer, beliefs", "", "state, observer"),
    "episode": GameFunction("state", "a label, or CONTINUES", "state"),
    "recall": GameFunction(
        "state, perspective, moves", "how many moves it has written", "state, perspective", "room"
    ),
    "simultaneous": GameFunction("state", "0, or the number of the choice", "state"),
    "deal": GameFunction(
        "state, index", "a probability, or NO_DEAL", "index", "probability, parameters"
    ),
    "deal_observation": GameFunction("state, perspective", "an integer", "state, perspective"),
}
# and those that tell more of a state
TOLD = {
    "text": GameFunction("state", "a str", "state"),
    "action_text": GameFunction("state, action", "a str", "state, action"),
    "features": GameFunction("state, out", "", "state"),
    "action_features": GameFunction("state, action, out", "", "state, action"),
    "heuristic": GameFunction("state, out", "", "state"),
    "observation": GameFunction("state, player", "a value that can be compared", "state, player"),
    "multiplicity": GameFunction("state", "a number", "state"),
    "derive": GameFunction("state", "", "state"),
    "move_text": GameFunction("move", "a str", "move"),
}
OF_PYTHON_GAMES = {"copy": ("state",)}  # the arguments of what only a `PythonGame` has
ROWS = FUNCTIONS | TOLD
_COMPILED = FUNCTIONS | {name: TOLD[name] for name in KINDS}
DEALING = ("initial", "deal")  # they are given the parameters of the game besides
_VIEWS = {  # what a kernel makes of a word; the others are integers
    "state": "struct_at(state, state_type)",
    "beliefs": "struct_at(beliefs, beliefs_type)",
    "rng": f"array_at(rng, {RNG_WORDS}, WORD)",
    "actions": "array_at(actions, max_legal, INT)",
    "probabilities": "array_at(probabilities, max_legal, REAL)",
    "moves": "array_at(moves, room, INT)",
    "out": "array_at(out, room, REAL)",
}


class GameArrays(NamedTuple):
    """What the arrays are like that the functions of a game are given."""

    state_type: np.dtype
    beliefs_type: np.dtype
    max_legal: int
    parameters: int  # of `initial` and `deal`
    numbers: tuple[int, ...]  # how many numbers each of `KINDS` writes


class Kernels:
    """The compiled functions of a game by name, each compiled or loaded when it is first asked for; None for one that the game lacks.

    All take addresses and integers.
    """

    def __init__(self, functions: dict[str, Callable | None], arrays: GameArrays) -> None:
        self._functions, self._arrays = functions, arrays

    def __getattr__(self, name: str) -> CompiledFunction | None:
        if name not in _COMPILED:
            raise AttributeError(name)
        function = self._functions[name]
        kernel = None if function is None else _kernel_of(name, function, self._arrays)
        setattr(self, name, kernel)
        return kernel

    def address(self, name: str) -> int:
        """The address of a function for compiled code; 0 where it is absent."""
        kernel = getattr(self, name)
        return 0 if kernel is None else kernel.address


@kernel_cache
def _kernel_of(name: str, function: Callable, arrays: GameArrays) -> CompiledFunction:
    """The kernel of a function; of `apply`: def apply(state, action): function(struct_at(state, state_type), action); return 0"""
    row = _COMPILED[name]
    original = python_of(function)
    arguments = [_VIEWS.get(word, word) for word in row.arguments]
    if name in DEALING:
        arguments.append("*unpack(parameters)")
    call = f"function({', '.join(arguments)})"
    if name in KINDS:
        lines = [
            "numbers = array_at(out, room, REAL)",
            "numbers[:] = nan",
            call.replace(_VIEWS["out"], "numbers"),
            "if not are_sound(numbers):",
            "    raise ValueError(wrong)",
            "return 0",
        ]
    elif name == "deal":
        lines = [f"array_at(probability, 1, REAL)[0] = {call}", "return 0"]
    elif row.returns:
        lines = [f"return {call}"]
    else:
        lines = [call, "return 0"]
    expected = (
        "a number from 0 to 1 for each player"
        if name == "heuristic"
        else "a finite number for each feature"
    )
    label = full_name(original)
    space: dict[str, Any] = arrays._asdict() | {
        "__name__": "icarus.game",  # all that it mentions is to be compiled in, and stays as it is
        "function": helper(function) if function is original else function,
        "unpack": unpack_parameters((int,) * arrays.parameters),
        "struct_at": struct_at,
        "array_at": array_at,
        "INT": np.dtype(np.int64),
        "WORD": np.dtype(np.uint64),
        "REAL": np.dtype(np.float64),
        "nan": np.nan,
        "room": arrays.numbers[KINDS.index(name)] if name in KINDS else 0,
        "are_sound": are_rewards if name == "heuristic" else is_finite,
        "wrong": f"the {name} function {label} did not write {expected}",
    }
    source = "\n    ".join([f"def {name}({', '.join(row.words)}):", *lines])
    # in messages its lines are ours, and those of the author are told
    exec(compile(source, __file__, "exec"), space)
    return CompiledFunction(space[name], len(row.words), label, row.returns)


def check_arguments(game: Any, takes: dict[str, tuple[str, ...]], is_compiled: bool) -> None:
    """Refuse a function of a game that cannot be called with the arguments which `takes` has by its name, or cannot be compiled."""
    for name, arguments in takes.items():
        function = getattr(game, name, None)  # not every kind of game has all
        if function is None:
            continue
        function = python_of(function) if is_compiled else function
        if is_compiled and name in (*_COMPILED, "derive"):
            if not isinstance(function, pytypes.FunctionType):
                kind = type(function).__name__
                raise TypeError(
                    f"{name} of {game.name} is a {kind}; to be compiled it must be a function of Python, by def"
                )
            if inspect.isgeneratorfunction(function):
                raise TypeError(
                    f"{name} of {game.name} has a yield; it must be a plain function{defined_at(function)}"
                )
        try:
            signature = inspect.signature(function, follow_wrapped=False)
        except (TypeError, ValueError):  # a function of C tells nothing
            continue
        parameters: Iterable[str] = ()
        if name in DEALING:
            parameters = parameters_of(function) if is_compiled else game.parameters
        try:
            signature.bind(*arguments, **dict.fromkeys(parameters))
            kinds = {each.kind for each in signature.parameters.values()}
            if is_compiled and inspect.Parameter.VAR_KEYWORD in kinds:
                raise TypeError  # the compiler takes none of them
        except TypeError:
            right = ", ".join([*arguments, *parameters])
            has = ", ".join(signature.parameters)
            raise TypeError(
                f"{name} of {game} takes ({has}); it must take ({right}){defined_at(function)}"
            ) from None


@functools.cache
def parameters_of(initial: Callable) -> dict[str, int | None]:
    """What `initial` (or `deal`) takes after its first two arguments, in its order: each name with its default, None without."""
    parameters = list(inspect.signature(python_of(initial)).parameters.values())[2:]
    return {item.name: None if item.default is item.empty else item.default for item in parameters}


# ------------------------------------------------------------------------------------------------------- which answers make sense

# of integers
LEAST = -(1 << 63)
MOST = (1 << 63) - 1
TOLERANCE = 1e-9  # of the sum of probabilities


def _same(answer: Any) -> Any:
    return answer


_UNORDERED = (Mapping, Set, str)


def _items(answer: Any) -> list:
    """The items of an answer that has an order, as sets, mappings and texts have not."""
    is_list = type(answer) is list
    if not is_list and (not isinstance(answer, Iterable) or isinstance(answer, _UNORDERED)):
        raise TypeError
    return list(answer)


def _integer(answer: Any) -> int:
    number = index(answer)
    if not LEAST <= number <= MOST:
        raise ValueError
    return number


def _integers(answer: Any, refused: type | None = None) -> list[int]:
    items = _items(answer)
    kinds = {*map(type, items)}
    if refused in kinds:
        raise TypeError
    # machine code answers integers of Python's own, in range
    is_plain = kinds == {int} and LEAST <= min(items) <= max(items) <= MOST
    return items if is_plain else list(map(_integer, items))


_actions = partial(_integers, refused=bool)  # not a list of whether each is legal


def _real(answer: Any) -> float:
    if isinstance(answer, str):
        raise TypeError
    return float(answer)


def _reals(answer: Any) -> list[float]:
    return list(map(_real, _items(answer)))


def _deal(answer: Any) -> tuple[StateData, float] | None:
    if answer is None:
        return None
    state, probability = answer
    if isinstance(state, int | float):  # two numbers are a state, not one and its probability
        raise TypeError
    return state, _real(probability)


def _is_new(game: Any, answer: StateData, *given: Any) -> bool:
    return answer is not None and answer is not given[0]


def _is_player(game: Any, player: int, state: StateData) -> bool:
    return 0 <= player < game.players or player in (CHANCE, TERMINAL)


def _are_legal(game: Any, actions: list[int], state: StateData) -> bool:
    if not actions:
        return game.ask("player", state) == TERMINAL
    return min(actions) >= 0 and len(set(actions)) == len(actions)


def _are_rewards(game: Any, rewards: list[float], *given: Any) -> bool:
    return len(rewards) == game.players and all(0 <= reward <= 1 for reward in rewards)


def _are_moves(game: Any, moves: list[int], *given: Any) -> bool:
    return len(moves) == game.players


def _are_features(names: str, game: Any, numbers: list[float], *given: Any) -> bool:
    return len(numbers) == len(getattr(game, names)) and all(map(math.isfinite, numbers))


def _are_chances(game: Any, chances: list[float], state: StateData) -> bool:
    all_given = len(chances) == len(game.ask("legal", state)) and all(
        chance >= 0 for chance in chances
    )
    return all_given and abs(sum(chances) - 1) <= TOLERANCE


def _is_no_state(game: Any, answer: object, state: StateData, action: int) -> bool:
    """Whether an answer of `apply` is no new state, for which the author would have taken it to be asked."""
    return answer is None or answer is state or type(answer) is not type(state)


# By the name of a function: what converts its answer to Python's own numbers, what tests whether they make sense, and what it must do.
ANSWERS: dict[str, tuple[Callable[[Any], Any], Callable[..., bool] | None, str]] = {
    "initial": (_same, _is_new, "return a new state"),
    "copy": (_same, _is_new, "return a copy that can be changed without changing that"),
    "determinize": (_same, _is_new, "leave that alone and return a changed copy"),
    "prepare": (_same, None, ""),
    "apply": (_same, _is_no_state, "change the state that it is given and return None"),
    "player": (_integer, _is_player, "be a player from 0 to {}, CHANCE or TERMINAL"),
    "legal": (
        _actions,
        _are_legal,
        "be a list of different integers of at least 0, one at least before the end",
    ),
    "rewards": (_reals, _are_rewards, "be {} numbers from 0 to 1, one for each player"),
    "chance": (
        _reals,
        _are_chances,
        "be {} probabilities that sum to 1, one for each legal action",
    ),
    "observe": (_integers, _are_moves, "be {} integers, the move that each player sees"),
    "episode": (
        _integer,
        lambda game, label, _: label >= CONTINUES,
        "be a label of at least 0, or CONTINUES",
    ),
    "recall": (_integers, None, "be a list of integers, the moves seen since the episode began"),
    "simultaneous": (
        _integer,
        lambda game, number, _: number >= 0,
        "be 0, or the number of the choice",
    ),
    "features": (
        _reals,
        partial(_are_features, "feature_names"),
        "be a finite number for each name",
    ),
    "action_features": (
        _reals,
        partial(_are_features, "action_feature_names"),
        "be a finite number for each name",
    ),
    "heuristic": (_reals, _are_rewards, "be {} numbers from 0 to 1, one for each player"),
    "deal": (
        _deal,
        lambda game, dealt, _: dealt is None or 0 <= dealt[1] < math.inf,
        "be a probability, or NO_DEAL after the last deal; of a PythonGame (state, probability), or None",
    ),
    "deal_observation": (_integer, None, "be an integer, what the player observes of the deal"),
}
