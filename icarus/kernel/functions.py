"""The functions of a game as kernels: what the playout loop calls by address."""

import functools
import inspect
import types as pytypes
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from icarus.compiler.digest import kernel_cache
from icarus.compiler.functions import helper, plain
from icarus.compiler.kernel import Kernel
from icarus.compiler.memory import array_at, struct_at, unpack_parameters
from icarus.compiler.messages import defined_at
from icarus.compiler.rng import RNG_WORDS

_INT, _WORD, _REAL = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)


@attrs.frozen
class Kernels:
    """The compiled functions of a game. All take addresses and integers; absent ones are None."""

    initial: Kernel
    player: Kernel
    legal: Kernel
    apply: Kernel
    rewards: Kernel
    observe: Kernel | None
    chance: Kernel | None
    determinize: Kernel | None
    prepare: Kernel | None
    episode: Kernel | None
    recall: Kernel | None
    simultaneous: Kernel | None
    deal: Kernel | None
    deal_observation: Kernel | None

    def address(self, name: str) -> int:
        """The address of a function for compiled code; 0 where it is absent."""
        kernel = getattr(self, name)
        return 0 if kernel is None else kernel.address


@attrs.frozen
class Arrays:
    """What the arrays are like that the functions of a game are given."""

    state: np.dtype
    beliefs: np.dtype
    max_legal: int
    parameters: int  # of `initial` and `deal`


def _initial(initial: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    unpack = unpack_parameters((int,) * arrays.parameters)

    def kernel(state: int, rng: int, values: int) -> int:
        initial(struct_at(state, state_type), array_at(rng, RNG_WORDS, _WORD), *unpack(values))
        return 0

    return kernel


def _of_state(function: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    def kernel(state: int) -> int:
        return function(struct_at(state, state_type))

    return kernel


def _legal(legal: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    max_legal = arrays.max_legal

    def kernel(state: int, actions: int) -> int:
        return legal(struct_at(state, state_type), array_at(actions, max_legal, _INT))

    return kernel


def _apply(apply: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    def kernel(state: int, action: int) -> int:
        apply(struct_at(state, state_type), action)
        return 0

    return kernel


def _rewards(rewards: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    def kernel(state: int, out: int, players: int) -> int:
        rewards(struct_at(state, state_type), array_at(out, players, _REAL))
        return 0

    return kernel


def _observe(observe: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    def kernel(state: int, action: int, moves: int, players: int) -> int:
        observe(struct_at(state, state_type), action, array_at(moves, players, _INT))
        return 0

    return kernel


def _chance(chance: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    max_legal = arrays.max_legal

    def kernel(state: int, probabilities: int) -> int:
        chance(struct_at(state, state_type), array_at(probabilities, max_legal, _REAL))
        return 0

    return kernel


def _determinize(determinize: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    beliefs_type = arrays.beliefs

    def kernel(state: int, observer: int, beliefs: int, rng: int) -> int:
        generator = array_at(rng, RNG_WORDS, _WORD)
        determinize(struct_at(state, state_type), observer, struct_at(beliefs, beliefs_type), generator)
        return 0

    return kernel


def _prepare(prepare: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    beliefs_type = arrays.beliefs

    def kernel(state: int, observer: int, beliefs: int) -> int:
        prepare(struct_at(state, state_type), observer, struct_at(beliefs, beliefs_type))
        return 0

    return kernel


def _recall(recall: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    def kernel(state: int, perspective: int, moves: int, room: int) -> int:
        return recall(struct_at(state, state_type), perspective, array_at(moves, room, _INT))

    return kernel


def _deal(deal: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    unpack = unpack_parameters((int,) * arrays.parameters)

    def kernel(state: int, index: int, probability: int, values: int) -> int:
        array_at(probability, 1, _REAL)[0] = deal(struct_at(state, state_type), index, *unpack(values))
        return 0

    return kernel


def _observation(function: Callable, state_type: np.dtype, arrays: Arrays) -> Callable:
    def kernel(state: int, perspective: int) -> int:
        return function(struct_at(state, state_type), perspective)

    return kernel


_COMPILED: dict[str, tuple[Callable[[Callable, np.dtype, Arrays], Callable], str, str]] = {  # see ARGUMENTS and RETURNS
    "initial": (_initial, "state, rng", ""),
    "player": (_of_state, "state", "a player, CHANCE or TERMINAL"),
    "legal": (_legal, "state, actions", "how many actions it has written"),
    "apply": (_apply, "state, action", ""),
    "rewards": (_rewards, "state, out", ""),
    "observe": (_observe, "state, action, moves", ""),
    "chance": (_chance, "state, probabilities", ""),
    "determinize": (_determinize, "state, observer, beliefs, rng", ""),
    "prepare": (_prepare, "state, observer, beliefs", ""),
    "episode": (_of_state, "state", "a label, or CONTINUES"),
    "recall": (_recall, "state, perspective, moves", "how many moves it has written"),
    "simultaneous": (_of_state, "state", "0, or the number of the choice"),
    "deal": (_deal, "state, index", "a probability, or NO_DEAL"),
    "deal_observation": (_observation, "state, perspective", "an integer"),
}
FUNCTIONS = tuple(_COMPILED)  # of a game, by name
RETURNS = {name: returns for name, (_, _, returns) in _COMPILED.items() if returns}  # what they must return
ARGUMENTS = {name: arguments for name, (_, arguments, _) in _COMPILED.items()} | {
    "text": "state",
    "action_text": "state, action",
    "features": "state, out",
    "action_features": "state, action, out",
    "heuristic": "state, out",
}  # what they are given; `initial` and `deal` the parameters of the game besides
READ = ("text", "action_text")  # for people: run as plain Python only


def check_arguments(game: Any) -> None:
    """Refuse a function that cannot be called with what it will be given, or cannot be compiled."""
    for name, arguments in ARGUMENTS.items():
        function = getattr(game, name)
        if not (function is None or name in READ or isinstance(plain(function), pytypes.FunctionType)):
            raise TypeError(
                f"{name} of {game.name} is a {type(function).__name__}; to be compiled it must be a function of Python, by def"
            )
        try:
            signature = None if function is None else inspect.signature(plain(function))
        except ValueError:  # a function of C tells nothing
            signature = None
        if signature is None:
            continue
        if name not in RETURNS and inspect.isgeneratorfunction(plain(function)):
            raise TypeError(f"{name} of {game.name} has a yield; it must be a plain function{defined_at(function)}")
        try:
            signature.bind(*arguments.split(", "), *(parameters_of(function) if name in ("initial", "deal") else ()))
        except TypeError:
            parameters = ", ".join(signature.parameters)
            raise TypeError(
                f"{name} of {game.name} takes ({parameters}); it must take ({arguments}){defined_at(function)}"
            ) from None


@functools.cache
def parameters_of(initial: Callable) -> dict[str, int | None]:
    """What `initial` (or `deal`) takes after its first two arguments, in its order: each name with its default, None without."""
    parameters = list(inspect.signature(plain(initial)).parameters.values())[2:]
    return {item.name: None if item.default is item.empty else item.default for item in parameters}


@kernel_cache
def _kernel_of(name: str, function: Callable, arrays: Arrays) -> Kernel:
    make, _, returns = _COMPILED[name]
    original = plain(function)
    kernel = make(helper(function) if function is original else function, arrays.state, arrays)
    label = f"{original.__module__}.{original.__qualname__}"
    return Kernel(kernel, kernel.__code__.co_argcount, label, returns)


@kernel_cache
def kernels_of(arrays: Arrays, *functions: Callable | None) -> Kernels:
    """The kernels of the functions of a game, in the order of `FUNCTIONS`; None for those that it lacks.

    Each is compiled or loaded on first use, and kept for all games that share it.
    """
    kernels = {
        name: None if function is None else _kernel_of(name, function, arrays)
        for name, function in zip(FUNCTIONS, functions, strict=True)
    }
    return Kernels(**kernels)  # type: ignore[arg-type]  # a game has all functions that are not optional
