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
from icarus.engine.loop import NoRoom
from icarus.kernel.contract import StateData
from icarus.kernel.functions import FUNCTIONS, TOLD
from icarus.kernel.python_game import PythonGame

_WORD, _FAILED = ctypes.c_int64, -1  # what compiled code takes for an exception that it hands on as it is
_ROOT, _PLAYED, _AHEAD = range(3)  # the numbers of states
ROWS = FUNCTIONS | TOLD
ROOM = 512  # legal actions that there is room for to begin with


class MoreActions(NoRoom):
    """For the legal actions of a state."""


class Callback:
    """A function of integers as a kernel of compiled code."""

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
        names = [name for name in ROWS if getattr(game, name, None) is not None or name == "determinize"]
        self._kernels = {name: self._kernel(name) for name in names}

    def _kernel(self, name: str) -> PlainKernel | Callback:
        function = getattr(self, f"_{name}", None) or self._asked(name)
        if MAKES_PLAIN.get() is not None:
            return PlainKernel(function, name)
        return Callback(function, len(ROWS[name].words), self.kept)

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

    def _asked(self, name: str) -> Callable[..., int]:
        """What asks a function that is given a state and integers: it answers an integer, or has its answers written."""
        row, ask = ROWS[name], self.game.ask
        inputs, is_real = len(row.inputs) - 1, row.arguments[-1] in ("out", "probabilities")

        def asked(state: int, *words: int) -> int:
            answer = ask(name, self.state(state), *map(int, words[:inputs]))
            if inputs == len(words):
                return answer
            count = min(len(answer), words[-1]) if name == "recall" else len(answer)
            if name == "legal" and count > self.room:
                self.room = 2 * count
                raise MoreActions
            room = _words(words[inputs], count)
            (room.view(float) if is_real else room)[:] = answer[:count]
            return len(answer)

        return asked

    def _apply(self, state: int, action: int) -> int:
        if state == self.ahead:
            self.hold(state, self.game.ask("copy", self.state(state)), _AHEAD)
        self.game.ask("apply", self.state(state), int(action))
        return 0

    def _determinize(self, state: int, observer: int, beliefs: int, rng: int) -> int:
        generator = _words(rng, RNG_WORDS).view(np.uint64)
        self.hold(state, self.game.ask("determinize", self.state(state), int(observer), self._beliefs, generator))
        return 0
