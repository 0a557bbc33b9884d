"""The functions of a game: what each takes and returns, in one table, and from it the kernels that the playout loop calls by address."""

import functools
import inspect
import types as pytypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import attrs
import numpy as np

from icarus.compiler.digest import kernel_cache
from icarus.compiler.functions import helper, python_of
from icarus.compiler.kernel import CompiledFunction
from icarus.compiler.memory import array_at, struct_at, unpack_parameters
from icarus.compiler.messages import defined_at
from icarus.compiler.rng import RNG_WORDS


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

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "words", (*self.arguments, *self.more))


FUNCTIONS = {
    "initial": GameFunction("state, rng", "", "rng", "parameters"),
    "player": GameFunction("state", "a player, CHANCE or TERMINAL", "state"),
    "legal": GameFunction("state, actions", "how many actions it has written", "state"),
    "apply": GameFunction("state, action", "", "state, action"),
    "rewards": GameFunction("state, out", "", "state", "room"),
    "observe": GameFunction("state, action, moves", "", "state, action", "room"),
    "chance": GameFunction("state, probabilities", "", "state"),
    "determinize": GameFunction("state, observer, beliefs, rng", "", "state, observer, beliefs, rng"),
    "prepare": GameFunction("state, observer, beliefs", "", "state, observer"),
    "episode": GameFunction("state", "a label, or CONTINUES", "state"),
    "recall": GameFunction("state, perspective, moves", "how many moves it has written", "state, perspective", "room"),
    "simultaneous": GameFunction("state", "0, or the number of the choice", "state"),
    "deal": GameFunction("state, index", "a probability, or NO_DEAL", "index", "probability, parameters"),
    "deal_observation": GameFunction("state, perspective", "an integer", "state, perspective"),
}  # those that the rules consist of, by name
TOLD = {
    "text": GameFunction("state", "a str", "state"),
    "action_text": GameFunction("state, action", "a str", "state, action"),
    "features": GameFunction("state, out", "", "state"),
    "action_features": GameFunction("state, action, out", "", "state, action"),
    "heuristic": GameFunction("state, out", "", "state"),
    "multiplicity": GameFunction("state", "a number", "state"),
    "derive": GameFunction("state", "", "state"),
}  # and those that tell more of a state
OF_PYTHON_GAMES = {"copy": ("state",), "observation": ("state", "player")}  # what those are given that no `Game` has
DEALING = ("initial", "deal")  # they are given the parameters of the game besides
_NOT_COMPILED = ("text", "action_text", "multiplicity")
_VIEWS = {  # what a kernel makes of a word; the others are integers
    "state": "struct_at(state, state_type)",
    "beliefs": "struct_at(beliefs, beliefs_type)",
    "rng": f"array_at(rng, {RNG_WORDS}, WORD)",
    "actions": "array_at(actions, max_legal, INT)",
    "probabilities": "array_at(probabilities, max_legal, REAL)",
    "moves": "array_at(moves, room, INT)",
    "out": "array_at(out, room, REAL)",
}


class Kernels(SimpleNamespace):
    """The compiled functions of a game, by name; absent ones are None. All take addresses and integers."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def address(self, name: str) -> int:
        """The address of a function for compiled code; 0 where it is absent."""
        kernel = getattr(self, name)
        return 0 if kernel is None else kernel.address


class Arrays(NamedTuple):
    """What the arrays are like that the functions of a game are given."""

    state_type: np.dtype
    beliefs_type: np.dtype
    max_legal: int
    parameters: int  # of `initial` and `deal`


@kernel_cache
def _kernel_of(name: str, function: Callable, arrays: Arrays) -> CompiledFunction:
    """As of `rewards`: kernel(state, out, room): function(struct_at(state, state_type), array_at(out, room, REAL)); return 0"""
    row, original = FUNCTIONS[name], python_of(function)
    arguments = [_VIEWS.get(word, word) for word in row.arguments]
    call = f"function({', '.join([*arguments, *['*unpack(parameters)'] * (name in DEALING)])})"
    lines = [f"return {call}"] if row.returns else [call, "return 0"]
    if name == "deal":
        lines = [f"array_at(probability, 1, REAL)[0] = {call}", "return 0"]
    space: dict[str, Any] = arrays._asdict() | {
        "__name__": "kernel",  # all that it mentions is to be compiled in
        "function": helper(function) if function is original else function,
        "unpack": unpack_parameters((int,) * arrays.parameters),
        "struct_at": struct_at,
        "array_at": array_at,
        "INT": np.dtype(np.int64),
        "WORD": np.dtype(np.uint64),
        "REAL": np.dtype(np.float64),
    }
    source = "\n    ".join([f"def kernel({', '.join(row.words)}):", *lines])
    exec(compile(source, __file__, "exec"), space)  # in messages its lines are ours, and those of the author are told
    return CompiledFunction(
        space["kernel"], len(row.words), f"{original.__module__}.{original.__qualname__}", row.returns
    )


@kernel_cache
def kernels_of(arrays: Arrays, *functions: Callable | None) -> Kernels:
    """The kernels of the functions of a game, in the order of `FUNCTIONS`; None for those that it lacks.

    Each is compiled or loaded on first use, and kept for all games that share it.
    """
    named = zip(FUNCTIONS, functions, strict=True)
    return Kernels(**{name: function and _kernel_of(name, function, arrays) for name, function in named})


def check_arguments(game: Any, takes: dict[str, tuple[str, ...]], is_compiled: bool) -> None:
    """Refuse a function that cannot be called with what it takes, by name, or cannot be compiled where it is to be."""
    for name, words in takes.items():
        function = getattr(game, name, None)  # not every kind of game has all
        if function is None:
            continue
        function = python_of(function) if is_compiled else function
        if is_compiled and name not in _NOT_COMPILED:
            if not isinstance(function, pytypes.FunctionType):
                kind = type(function).__name__
                raise TypeError(
                    f"{name} of {game.name} is a {kind}; to be compiled it must be a function of Python, by def"
                )
            if inspect.isgeneratorfunction(function):
                raise TypeError(f"{name} of {game.name} has a yield; it must be a plain function{defined_at(function)}")
        try:
            signature = inspect.signature(function, follow_wrapped=False)
        except (TypeError, ValueError):  # a function of C tells nothing
            continue
        parameters = () if name not in DEALING else parameters_of(function) if is_compiled else game.parameters
        try:
            signature.bind(*words, **dict.fromkeys(parameters))
        except TypeError:
            right, has = ", ".join([*words, *parameters]), ", ".join(signature.parameters)
            raise TypeError(f"{name} of {game} takes ({has}); it must take ({right}){defined_at(function)}") from None


@functools.cache
def parameters_of(initial: Callable) -> dict[str, int | None]:
    """What `initial` (or `deal`) takes after its first two arguments, in its order: each name with its default, None without."""
    parameters = list(inspect.signature(python_of(initial)).parameters.values())[2:]
    return {item.name: None if item.default is item.empty else item.default for item in parameters}
