"""A `PythonGame` as the playout loop calls games: its functions as kernels that are called back by address.

A state is a number that stands for an object of the game's. An exception of a function is kept, the playout given up, and the exception
raised as itself when the loop has returned. The functions need Python's lock, so such a search has one thread.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from icarus.compiler.functions import MAKES_PLAIN
from icarus.compiler.plain_python import PlainKernel
from icarus.compiler.rng import RNG_WORDS
from icarus.kernel.contract import StateData
from icarus.kernel.features import KINDS, names_of
from icarus.kernel.functions import FUNCTIONS
from icarus.kernel.python_game import PythonGame

_WORD, _FAILED = ctypes.c_int64, -1  # what compiled code takes for an exception that it hands on as it is
_ROOT, _PLAYED, _AHEAD = range(3)  # the numbers of states
ROOM = 512  # legal actions that there is room for to begin with


class MoreActions(Exception):
    """There are more legal actions than room for them."""


class Callback:
    """A function of integers as a kernel of compiled code."""

    fresh = False

    def __init__(self, function: Callable[..., int], arity: int, kept: list[BaseException]) -> None:
        def called(result: int, raised: int, *words: int) -> int:
            try:
                _WORD.from_address(result).value = function(*words)
            except BaseException as error:  # Ctrl-C too: here it would be lost
                kept.append(error)
                return _FAILED
            return 0

        self._called = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[_WORD] * arity)(called)
        self.address: int = ctypes.cast(self._called, ctypes.c_void_p).value or 0


def _words(address: int, count: int) -> np.ndarray:
    if count == 0:
        return np.zeros(0, np.int64)
    memory: Any = (_WORD * int(count)).from_address(int(address))
    return np.ndarray(int(count), np.int64, memory)


class CalledBack:
    """The functions of a game for one search, by name and address, and the objects that its states are.

    Attributes:
        room: for how many legal actions the search has room.
        kept: the exception that a function has raised.
        ahead: the address of the state in which the loop looks ahead.
    """

    def __init__(self, game: PythonGame, room: int = ROOM) -> None:
        self.game: Any = game  # a function is asked only where the game has it
        self.room, self.ahead = room, 0
        self.kept: list[BaseException] = []
        self._objects: dict[int, StateData] = {}
        self._beliefs: object = None
        names = [name for name in (*FUNCTIONS, *KINDS) if hasattr(self, f"_{name}") and getattr(game, name) is not None]
        self._kernels = {name: self._kernel(getattr(self, f"_{name}")) for name in {*names, "determinize"}}

    def _kernel(self, function: Callable[..., int]) -> PlainKernel | Callback:
        if MAKES_PLAIN.get() is not None:
            return PlainKernel(function, function.__name__)
        return Callback(function, function.__code__.co_argcount - 1, self.kept)

    def address(self, name: str) -> int:
        """The address of a function; 0 where it is absent."""
        return self._kernels[name].address if name in self._kernels else 0

    def begin(self, root: StateData, beliefs: object) -> None:
        """Take a state for the root, and what `determinize` is given there."""
        self._objects[_ROOT], self._beliefs = root, beliefs

    def state(self, address: int) -> StateData:
        """The object that the number at an address stands for."""
        return self._objects[_WORD.from_address(int(address)).value]

    def hold(self, address: int, state: StateData, number: int = _PLAYED) -> None:
        """Let the number at an address stand for an object."""
        self._objects[number] = state
        _WORD.from_address(int(address)).value = number

    # ------------------------------------------------------------------------------------ the functions, as kernels are called

    def _player(self, state: int) -> int:
        return self.game.player(self.state(state))

    def _legal(self, state: int, actions: int) -> int:
        listed = self.game.legal(self.state(state))
        if len(listed) > self.room:
            self.room = 2 * len(listed)
            raise MoreActions
        _words(actions, len(listed))[:] = listed
        return len(listed)

    def _apply(self, state: int, action: int) -> int:
        if state == self.ahead:
            self.hold(state, self.game.copy(self.state(state)), _AHEAD)
        self.game.apply(self.state(state), int(action))
        return 0

    def _rewards(self, state: int, out: int, players: int) -> int:
        _words(out, players).view(float)[:] = self.game.rewards(self.state(state))
        return 0

    def _observe(self, state: int, action: int, moves: int, players: int) -> int:
        _words(moves, players)[:] = self.game.observe(self.state(state), int(action))
        return 0

    def _chance(self, state: int, probabilities: int) -> int:
        answer = self.game.chance(self.state(state))
        _words(probabilities, len(answer)).view(float)[:] = answer
        return 0

    def _determinize(self, state: int, observer: int, beliefs: int, rng: int) -> int:
        generator = _words(rng, RNG_WORDS).view(np.uint64)
        self.hold(state, self.game.redraw(self.state(state), int(observer), self._beliefs, generator))
        return 0

    def _episode(self, state: int) -> int:
        return self.game.episode(self.state(state))

    def _recall(self, state: int, perspective: int, moves: int, room: int) -> int:
        recalled = self.game.recall(self.state(state), int(perspective))
        _words(moves, min(room, len(recalled)))[:] = recalled[:room]
        return len(recalled)

    def _simultaneous(self, state: int) -> int:
        return self.game.simultaneous(self.state(state))

    def _features(self, state: int, out: int) -> int:
        return self._tell("features", out, state)

    def _action_features(self, state: int, action: int, out: int) -> int:
        return self._tell("action_features", out, state, int(action))

    def _heuristic(self, state: int, out: int) -> int:
        return self._tell("heuristic", out, state)

    def _tell(self, kind: str, out: int, state: int, *action: int) -> int:
        numbers = self.game.tell(kind, self.state(state), *action)
        _words(out, len(names_of(self.game, kind))).view(float)[:] = numbers
        return 0
