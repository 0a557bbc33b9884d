"""The functions of a game under audit, asked one by one: compiled ones with guards around all that they may write into."""

import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from icarus.compiler.messages import defined_at, raised_in
from icarus.compiler.rng import RNG_WORDS
from icarus.kernel.contract import MAX_EPISODE_MOVES, Beliefs, StateData, facts_of
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import PythonGame

GUARDS = 512  # words on either side of what a function may write into
_GUARD = 0x5AFE_6A3D_5AFE_6A3D  # no value that a game would write by chance
_UNTOUCHED = np.full(GUARDS, _GUARD, np.int64).tobytes()
UNWRITTEN = -(1 << 61)  # stands where a function has to write an action
DEEPEST = 12  # levels of a state in plain Python that are told
ALWAYS, OFTEN = 200, 10  # calls of a function in plain Python whose state is compared afterwards; then every so many

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
    "observation": "view",
}  # what is broken by a function that raises an error
CHANGING = ("initial", "apply", "determinize")  # the only compiled functions that may change the state


class BrokenPromise(Exception):
    """A promise of the contract that a game does not keep: which, and what happened instead."""

    def __init__(self, promise: str, message: str) -> None:
        super().__init__(message)
        self.promise, self.message = promise, message


def subject_of(game: AnyGame) -> "GuardedGame | PlainGame":
    """A game as an audit asks it."""
    return GuardedGame(game) if isinstance(game, Game) else PlainGame(game)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------- what a state is made of


SCALARS = (int, float, str, bool, type(None), complex, bytes)


def facts_in(value: object, tells_order: Callable[[str, int], bool] | None = None) -> list[tuple[str, str]]:
    """The numbers and texts that a value is made of, each with where it is found; the same for equal values.

    Args:
        tells_order: `tells_order(where, length)` of a list of numbers or texts, whose items then stand one by one.
    """
    facts: list[tuple[str, str]] = []
    _tell(value, tells_order, "", 0, facts)
    return facts


def _tell(
    value: object, tells_order: Callable[[str, int], bool] | None, where: str, depth: int, facts: list[tuple[str, str]]
) -> None:
    if isinstance(value, SCALARS):
        facts.append((where, value if isinstance(value, str) else repr(value)))
        return
    if isinstance(value, np.ndarray | np.generic):
        _tell(value.tolist(), tells_order, where, depth, facts)
        return
    if depth == DEEPEST:
        facts.append((where, "…"))
        return
    parts: list[tuple[str, object]] = []
    what = f"{len(value)} items" if isinstance(value, Sequence | Set | Mapping) else ""
    if isinstance(value, Mapping):
        parts = sorted(((f"{where}.{key}", item) for key, item in value.items()), key=lambda part: part[0])
    elif isinstance(value, Set):
        parts = [(where, item) for item in sorted(value, key=repr)]
    elif isinstance(value, Sequence):
        flat = all(isinstance(item, SCALARS) for item in value)
        if flat and tells_order is None:
            what = repr(list(value))
        elif flat and tells_order is not None and not tells_order(where, len(value)):
            parts = [(where, item) for item in sorted(value, key=repr)]
        else:
            parts = [(f"{where}[{i}]", item) for i, item in enumerate(value)]
    else:
        names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())] * (not callable(value))
        what = type(value).__name__ if names else without_addresses(repr(value))
        parts = [(f"{where}.{name}", getattr(value, name, None)) for name in names]
    facts.append((where, what))
    for place, item in parts:
        _tell(item, tells_order, place, depth + 1, facts)


def without_addresses(text: str) -> str:
    """A text without the places in memory by which Python calls objects."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def stamp(data: StateData) -> object:
    """What is another one after state data were changed."""
    return data.tobytes() if isinstance(data, np.ndarray) and data.dtype.names else tuple(facts_in(data))


# ------------------------------------------------------------------------------------------------------------ compiled games


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


class _AskedGame:
    """What is alike in both kinds of games under audit."""

    game: Any
    data: Any  # a copy of the state
    facts: Any  # of the state, as texts and heuristics are given them

    def knows(self, name: str) -> bool:
        return getattr(self.game, name, None) is not None

    def evaluate(self, kind: str, *actions: int) -> None:
        """Refuse what "features", "action_features" or "heuristic" tell, if it makes no sense."""
        data = self.data
        before = stamp(data)
        self.game.ask(kind, data, *actions)
        if before != stamp(data):
            raise BrokenPromise("memory", f"{kind} changes the state, which it may only read")

    def text(self) -> str:
        return str(self.game.text_of(self.facts))

    def action_text(self, action: int) -> str:
        return str(self.game.action_text_of(self.facts, action))


class GuardedGame(_AskedGame):
    """A state of a compiled game and room for answers, inside fences; a method asks each function that writes its answer, `ask` the others.

    Every method raises `BrokenPromise` where the function raises an error, writes outside, or changes a state that it may only read.
    A real number that a function should have written and has not is NaN in an answer.
    """

    def __init__(self, game: Game) -> None:
        self.game, self._entries = game, game.kernels()
        self._states = [Fence(game.state.itemsize), Fence(game.state.itemsize)]
        self._rooms = {
            "the legal actions": Fence(8 * game.max_legal),
            "the probabilities": Fence(8 * game.max_legal),
            "the rewards": Fence(8 * game.players),
            "the moves": Fence(8 * game.players),
            "the recalled moves": Fence(8 * MAX_EPISODE_MOVES),
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

    def _numbers(self, name: str, what: str, count: int, *arguments: int) -> list[float]:
        """What a function writes as real numbers; NaN where it writes nothing."""
        out, address = self._room(what, np.float64, math.nan)
        self.ask(name, address, *arguments)
        numbers: list[float] = out[:count].tolist()
        return numbers

    def initial(self, generator: np.ndarray) -> None:
        self.place(np.zeros(1, self.game.state))
        _, address = self._room("the generator", np.uint64, generator)
        arguments = self.game.initial_arguments()
        self.ask("initial", address, arguments.ctypes.data)

    def apply(self, action: int) -> None:
        self.ask("apply", action)

    def legal(self) -> list[int]:
        """What is written as legal actions, as many as there are said to be."""
        actions, address = self._room("the legal actions", np.int64, UNWRITTEN)
        count = self.ask("legal", address)
        if not 1 <= count <= self.game.max_legal:
            raise BrokenPromise(
                "choices", f"there are {count} legal actions; it must be 1 to max_legal, {len(actions)}"
            )
        return actions[:count].tolist()

    def rewards(self) -> list[float]:
        return self._numbers("rewards", "the rewards", self.game.players, self.game.players)

    def probabilities(self, count: int) -> list[float]:
        return self._numbers("chance", "the probabilities", count)

    def moves(self, action: int) -> list[int]:
        """What each player sees of an action."""
        out, address = self._room("the moves", np.int64, action)
        if self.knows("observe"):
            self.ask("observe", action, address, self.game.players)
        return out.tolist()

    def recalled(self, perspective: int) -> list[int]:
        out, address = self._room("the recalled moves", np.int64, UNWRITTEN)
        count = self.ask("recall", perspective, address, MAX_EPISODE_MOVES)
        if not 0 <= count <= MAX_EPISODE_MOVES:
            raise BrokenPromise("recall", f"recall returns {count} moves; at most {MAX_EPISODE_MOVES} are possible")
        return out[:count].tolist()

    def determinize(self, observer: int, generator: np.ndarray) -> None:
        beliefs, belief_address = self._room("the beliefs", np.uint8, 0)
        if self.knows("prepare"):
            self.ask("prepare", observer, belief_address)
        _, address = self._room("the generator", np.uint64, generator)
        self.ask("determinize", observer, belief_address, address)

    @property
    def facts(self) -> Any:
        return facts_of(self.data)

    def public(self) -> tuple[object, ...]:
        """All that everybody together sees of the state."""
        return self.text(), tuple(self.recalled(self.game.players)) if self.knows("recall") else ()


# -------------------------------------------------------------------------------------------------------- games in plain Python


class PlainGame(_AskedGame):
    """A state of a game in plain Python, with the methods of a `GuardedGame`."""

    def __init__(self, game: PythonGame) -> None:
        self.game, self._data = game, None
        self._calls: dict[str, int] = {}

    @property
    def data(self) -> StateData:
        return self.game.ask("copy", self._data)

    def place(self, data: StateData) -> None:
        self._data = self.game.ask("copy", data)

    def ask(self, name: str, *arguments: object) -> Any:
        calls = self._calls[name] = self._calls.get(name, 0) + 1
        before = stamp(self._data) if calls < ALWAYS or calls % OFTEN == 0 else None
        answer = self._answer(name, self._data, *arguments)
        if before is not None and before != stamp(self._data):
            raise BrokenPromise("memory", f"{name} changes the state, which it may only read")
        return answer

    def _answer(self, name: str, *arguments: object) -> Any:
        function = getattr(self.game, name)
        try:
            return self.game.ask(name, *arguments)
        except Exception as error:  # whatever a game stumbles over is what there is to tell
            message = str(error)
            if not message.startswith(f"{name} of {self.game}"):  # which says itself where and what
                message = f"{name} raises {error!r}{raised_in(function, error)}"
            raise BrokenPromise(PROMISE_OF[name], message) from error

    def initial(self, generator: np.ndarray) -> None:
        self._data = self._answer("initial", generator)

    def apply(self, action: int) -> None:
        fresh, before = self.data, stamp(self._data)
        self._answer("apply", fresh, action)
        if before != stamp(self._data):
            raise BrokenPromise("memory", "apply changes a state and its copy: `copy` must copy all that can change")
        self._data = fresh

    def legal(self) -> list[int]:
        actions = [index(action) for action in self.ask("legal")]
        if not actions:
            raise BrokenPromise("choices", "there are no legal actions before the end")
        return actions

    def rewards(self) -> list[float]:
        return list(self.ask("rewards"))

    def probabilities(self, count: int) -> list[float]:
        numbers = list(self.ask("chance"))
        if len(numbers) != count:
            raise BrokenPromise("chances", f"there are {len(numbers)} probabilities of {count} outcomes")
        return numbers

    def moves(self, action: int) -> list[int]:
        return list(self.ask("observe", action)) if self.knows("observe") else [action] * self.game.players

    def recalled(self, perspective: int) -> list[int]:
        return list(self.ask("recall", perspective))

    def determinize(self, observer: int, generator: np.ndarray) -> None:
        beliefs: Beliefs = self.ask("prepare", observer) if self.knows("prepare") else None
        self._data = self.ask("determinize", observer, beliefs, generator)

    @property
    def facts(self) -> Any:
        return self._data

    def public(self) -> tuple[object, ...] | None:
        """What everybody together sees; None where nobody says it all: something is hidden, or states cannot be looked into."""
        facts = stamp(self._data)
        if self.knows("determinize") or isinstance(facts, tuple) and len(facts) == 1:
            return None
        if self.game.text is str:
            return (facts,)
        views: Callable = self.game.observation or (lambda data, player: None)
        return self.text(), *(tuple(facts_in(views(self._data, player))) for player in range(self.game.players))
