"""The functions of a game, asked with guards around all that they are given to write into."""

import numpy as np
import numpy.typing as npt

from icarus.compiler.messages import defined_at
from icarus.compiler.rng import RNG_WORDS
from icarus.kernel.constants import RECALLED
from icarus.kernel.game import Game

GUARDS = 512  # words on either side of what a function may write into
_GUARD = 0x5AFE_6A3D_5AFE_6A3D  # no value that a game would write by chance
_UNTOUCHED = np.full(GUARDS, _GUARD, np.int64).tobytes()
UNWRITTEN = -(1 << 61)  # stands where a function has to write an action

PROMISE_OF = {
    "initial": "repeat",
    "player": "mover",
    "legal": "choices",
    "apply": "repeat",
    "rewards": "rewards",
    "observe": "moves",
    "chance": "chances",
    "determinize": "memory",
    "prepare": "memory",
    "episode": "episodes",
    "recall": "recall",
    "simultaneous": "episodes",
}  # what is broken by a function that raises an error
CHANGING = ("initial", "apply", "determinize")  # the only functions that may change the state


class BrokenPromise(Exception):
    """A promise of the contract that a game does not keep: which, and what happened instead."""

    def __init__(self, promise: str, message: str) -> None:
        super().__init__(message)
        self.promise, self.message = promise, message


class Fence:
    """So many bytes with guards before and after them."""

    def __init__(self, size: int) -> None:
        self._words = np.full(2 * GUARDS - (-size // 8), _GUARD, np.int64)
        self.bytes = self._words[GUARDS:-GUARDS].view(np.uint8)[:size]
        self._before, self._after = self._words[:GUARDS], self._words[-GUARDS:]
        self.address: int = self._words[GUARDS:].ctypes.data

    def is_intact(self) -> bool:
        """Whether nothing was written outside."""
        return self._before.tobytes() == self._after.tobytes() == _UNTOUCHED

    def restore(self) -> None:
        """Write the guards anew, so that no later function is blamed for what was written there."""
        self._before[:] = self._after[:] = _GUARD


class GuardedGame:
    """A state of a game and room for answers, inside fences; a method asks each function that writes its answer, `ask` the others.

    Every method raises `BrokenPromise` where the function raises an error, writes outside, or changes a state that it may only read.
    """

    def __init__(self, game: Game) -> None:
        self.game, self._entries = game, game.kernels()
        self._states = [Fence(game.state.itemsize), Fence(game.state.itemsize)]
        self._rooms = {
            "the legal actions": Fence(8 * game.max_legal),
            "the probabilities": Fence(8 * game.max_legal),
            "the rewards": Fence(8 * game.players),
            "the moves": Fence(8 * game.players),
            "the recalled moves": Fence(8 * RECALLED),
            "the beliefs": Fence(game.beliefs.itemsize),
            "the generator": Fence(8 * RNG_WORDS),
        }

    @property
    def data(self) -> np.ndarray:
        """A copy of the state, [1] of game.state."""
        return self._states[0].bytes.copy().view(self.game.state)

    def place(self, data: np.ndarray) -> None:
        """Make this the state, in other memory than the one before."""
        self._states.reverse()
        self._states[0].bytes[:] = data.view(np.uint8)

    def knows(self, name: str) -> bool:
        return getattr(self._entries, name) is not None

    def ask(self, name: str, *arguments: int) -> int:
        """The answer of a function, whose first argument is the state."""
        state = self._states[0]
        before = None if name in CHANGING else state.bytes.copy()
        try:
            answer = getattr(self._entries, name)(state.address, *arguments)
        except Exception as error:  # whatever a game stumbles over is what there is to tell
            notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
            raise BrokenPromise(PROMISE_OF[name], f"{name} raises {error!r}{notes}") from None
        for what, fence in {"the state": state, **self._rooms}.items():
            if not fence.is_intact():
                fence.restore()
                raise BrokenPromise("memory", f"{name} writes outside {what}{self._why(name, answer)}")
        if before is not None and not np.array_equal(before, state.bytes):
            raise BrokenPromise("memory", f"{name} changes the state, which it may only read")
        return answer

    def _why(self, name: str, answer: int) -> str:
        """What is known of a function that has written outside: how many actions, and where it is defined."""
        most = self.game.max_legal
        many = f": it writes {answer} actions, and max_legal is {most}" if name == "legal" and answer > most else ""
        return many + defined_at(getattr(self.game, name))

    def _room(self, what: str, kind: npt.DTypeLike, value: npt.ArrayLike) -> tuple[np.ndarray, int]:
        """Room of that name, filled with a value, and its address."""
        fence = self._rooms[what]
        array = fence.bytes.view(kind)
        array[:] = value
        return array, fence.address

    def initial(self, generator: np.ndarray) -> None:
        self.place(np.zeros(1, self.game.state))
        _, address = self._room("the generator", np.uint64, generator)
        arguments = self.game.initial_arguments()
        self.ask("initial", address, arguments.ctypes.data)

    def legal(self) -> list[int]:
        """What is written as legal actions, as many as there are said to be."""
        actions, address = self._room("the legal actions", np.int64, UNWRITTEN)
        count = self.ask("legal", address)
        if not 1 <= count <= self.game.max_legal:
            raise BrokenPromise(
                "choices", f"there are {count} legal actions; it must be 1 to max_legal, {len(actions)}"
            )
        return actions[:count].tolist()

    def rewards(self, unwritten: float) -> list[float]:
        out, address = self._room("the rewards", np.float64, unwritten)
        self.ask("rewards", address, self.game.players)
        return out.tolist()

    def probabilities(self, count: int, unwritten: float) -> list[float]:
        out, address = self._room("the probabilities", np.float64, unwritten)
        self.ask("chance", address)
        return out[:count].tolist()

    def moves(self, action: int) -> list[int]:
        """What each player sees of an action."""
        out, address = self._room("the moves", np.int64, action)
        if self.knows("observe"):
            self.ask("observe", action, address, self.game.players)
        return out.tolist()

    def recalled(self, perspective: int) -> list[int]:
        out, address = self._room("the recalled moves", np.int64, UNWRITTEN)
        count = self.ask("recall", perspective, address, RECALLED)
        if not 0 <= count <= RECALLED:
            raise BrokenPromise("recall", f"recall returns {count} moves; at most {RECALLED} are possible")
        return out[:count].tolist()

    def determinize(self, observer: int, generator: np.ndarray) -> None:
        beliefs, belief_address = self._room("the beliefs", np.uint8, 0)
        if self.knows("prepare"):
            self.ask("prepare", observer, belief_address)
        _, address = self._room("the generator", np.uint64, generator)
        self.ask("determinize", observer, belief_address, address)
