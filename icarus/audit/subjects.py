"""The functions of a game under audit, asked by value: compiled ones with guards around all that they may write into."""

import hashlib
import re
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, cast

import attrs
import numpy as np

from icarus.compiler.messages import defined_at, raised_in
from icarus.kernel import KINDS, ROWS, AnyGame, Game, StateData
from icarus.kernel.evaluation import attributes_of
from icarus.kernel.functions import AUTHOR_ERRORS
from icarus.kernel.python_game import state_text

GUARDS = 512  # words on either side of what a function may write into
_SIDES = slice(GUARDS), slice(-GUARDS, None)  # of a block of memory with its guards
_GUARD = 0x5AFE_6A3D_5AFE_6A3D  # no value that a game would write by chance
DEEPEST = 12  # levels of a state in plain Python that are told
# answers that are kept; those that are states or beliefs
MOST_TOLD = 3000
OF_STATES = ("initial", "copy", "determinize", "prepare")
# calls of a function in plain Python whose state is compared afterwards; then every so many
ALWAYS = 200
OFTEN = 10

# what is broken by an answer that makes no sense; elsewhere, and by an error, "errors"
PROMISE_OF = {
    "player": "mover",
    "legal": "choices",
    "rewards": "rewards",
    "observe": "moves",
    "chance": "chances",
    **dict.fromkeys(("episode", "simultaneous"), "episodes"),
    "recall": "recall",
    **dict.fromkeys(KINDS, "features"),
}


class Stream:
    """Streams of random numbers: the second parts of seeds.

    Attributes:
        DEALS, DRAWS: of games that are looked at for what is hidden, and of draws at their decisions.
        GAMES, PLAYOUTS, PAIRS: of games for the contract, of those that go on from a draw, and of draws that must be alike.
        STEPS, CHANCE: of draws after steps, and for CHANCE.
        FIRST_DRAWS, FIRST_DEALS: of draws at the first decisions of many deals, and of these.
        RESULTS, ORDERS: of draws in which an action is done, too; and of games that tell whether the order of a list matters.
        SIGHTS: of games that tell what players infer from what they have seen.
    """

    (
        DEALS,
        DRAWS,
        GAMES,
        PLAYOUTS,
        PAIRS,
        STEPS,
        CHANCE,
        FIRST_DRAWS,
        FIRST_DEALS,
        RESULTS,
        ORDERS,
        SIGHTS,
    ) = range(12)


class BrokenPromise(Exception):
    """A promise of the contract that a game does not keep: which, and what happened instead."""

    def __init__(self, promise: str, message: str) -> None:
        super().__init__(message)
        self.promise, self.message = promise, message


class AskedGame:
    """A game under audit; a method raises `BrokenPromise` where a function raises an error, or changes what it may only read."""

    def __init__(self, game: AnyGame) -> None:
        self.compiled = isinstance(game, Game)
        self.game = game
        self._calls = Counter[str]()
        # the last state data whose text was asked for, and the text
        self._shown: tuple[object, str] = None, ""
        # the answers of functions, as long as they are to be kept
        self.told: list[str] | None = None
        if isinstance(game, Game):
            self.game = _GuardedGame(
                **{field.name: getattr(game, field.name) for field in attrs.fields(Game)}
            )

    def ask(self, name: str, *inputs: Any) -> Any:
        """What a function answers."""
        self._calls[name] += 1
        # to walk through a state in plain Python takes long
        compares = self.compiled or self._calls[name] < ALWAYS or self._calls[name] % OFTEN == 0
        before = stamp(inputs[0]) if compares and name not in ("initial", "apply") else None
        try:
            answer = self.game.ask(name, *inputs)
        except BrokenPromise:
            raise
        except AUTHOR_ERRORS as error:
            raise self._broken_by(name, error) from error
        if before is not None and before != stamp(inputs[0]):
            raise BrokenPromise("memory", f"{name} changes the state, which it may only read")
        if self.told is not None and len(self.told) < MOST_TOLD:
            answer_text = answer
            if name in OF_STATES:
                is_array = isinstance(answer, np.ndarray)
                answer_text = answer.tobytes() if is_array else tuple(facts_in(answer))
            self.told.append(f"{name} returns {answer_text}")
        return answer

    def _broken_by(self, name: str, error: BaseException) -> BrokenPromise:
        """The promise that a function has broken by an error, which is one of its own or says itself why its answer makes no sense."""
        message = str(error)
        if str(self.game) in message or f"the {name} function " in message:
            return BrokenPromise(PROMISE_OF.get(name, "errors"), message)
        notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
        place = notes or raised_in(getattr(self.game, name), error)
        return BrokenPromise("errors", f"{name} raises {error!r}{place}")

    def after(self, data: StateData, action: int) -> StateData:
        """The state that an action leads to."""
        changed = self.ask("copy", data)
        before = stamp(data)
        self.ask("apply", changed, action)
        if before != stamp(data):
            raise BrokenPromise(
                "memory", "apply changes a state and its copy: `copy` must copy all that can change"
            )
        return changed

    def moves(self, data: StateData, action: int) -> list[int]:
        """The move that each player sees of an action."""
        return (
            [action] * self.game.players
            if self.game.observe is None
            else self.ask("observe", data, action)
        )

    def look(self, data: StateData) -> None:
        """Check that the game's observation tells something, to one player at least."""
        if self.game.observation is None:
            return
        views = [self.observation(data, player) for player in range(self.game.players)]
        is_silent = all(view is None for view in views)  # one player alone may know nothing yet
        for view in views:
            if is_silent or isinstance(view, Iterator):
                place = defined_at(self.game.observation)
                message = f"observation{place} returned {view!r}; it must return all that the player may know"
                raise BrokenPromise("errors", message)

    def observation(self, data: StateData, player: int) -> Any:
        """What a player may know, by the game's observation."""
        observe = cast(Callable, self.game.observation)
        try:
            return observe(self.game.facts_of(data), player)
        except AUTHOR_ERRORS as error:
            message = f"observation raises {error!r}{raised_in(observe, error)}"
            raise BrokenPromise("errors", message) from error

    def text(self, data: StateData) -> str:
        """What is shown of a state; the last text is kept, since each state is looked at before an action and after."""
        state = stamp(data)
        if self._shown[0] != state:
            self._shown = state, self.game.text_of(self.game.facts_of(data))
            if stamp(data) != state:
                raise BrokenPromise("memory", "text changes the state, which it may only read")
        return self._shown[1]

    def seen_by_all(self, data: StateData) -> tuple[object, ...] | None:
        """What all players together see of a state; None where that is not all: something is hidden, or states cannot be looked into."""
        game = self.game
        if self.compiled:
            moves = [] if game.recall is None else self.ask("recall", data, game.players)
            return self.text(data), tuple(moves)
        facts = stamp(data)
        # without a `text` of the game's own, states are compared by their facts alone
        text = "" if game.text in (str, state_text) else self.text(data)
        # an object of which nothing but its `repr` is known
        is_opaque = isinstance(facts, tuple) and len(facts) == 1 and not isinstance(data, Sequence)
        if game.determinize is not None or is_opaque:
            return None
        if not text:
            return (facts,)
        return text, *(view_of(game, data, player) for player in range(game.players))


@attrs.frozen(kw_only=True, eq=False, repr=False)
class _GuardedGame(Game):
    """A compiled game whose functions are given memory between guards."""

    # blocks of memory with their guards, by the address of what is between these
    blocks: Any = attrs.field(factory=weakref.WeakValueDictionary, init=False)

    def answer(self, name: str, *inputs: Any) -> Any:
        return self._guarded(inputs[0]) if name == "copy" else super().answer(name, *inputs)

    def ask_kernel(self, kernel: Any, name: str, *inputs: Any) -> Any:
        guarded = [self._guarded(each) if self._is_bare(each) else each for each in inputs]

        def asked(*words: int) -> Any:
            answer = kernel(*words)
            for what, word in zip(ROWS[name].words, words, strict=True):
                block = self.blocks.get(word)
                if block is None or all((block[side] == _GUARD).all() for side in _SIDES):
                    continue
                for side in _SIDES:
                    block[side] = _GUARD  # so that no later function is blamed
                place = defined_at(getattr(self, name))
                raise BrokenPromise("memory", f"{name} writes outside its `{what}`{place}")
            return answer

        watched: Any = None if kernel is None else asked
        return super().ask_kernel(watched, name, *guarded)

    def _room(self, name: str, word: str, values: Mapping[str, Any]) -> Any:
        room = super()._room(name, word, values)
        return self._guarded(room) if isinstance(room, np.ndarray) else room

    def _is_bare(self, value: object) -> bool:
        return isinstance(value, np.ndarray) and value.ctypes.data not in self.blocks

    def _guarded(self, array: np.ndarray) -> np.ndarray:
        """A copy of an array between guards."""
        words = -(-array.nbytes // 8)  # rounded up
        block = np.full(GUARDS + words + GUARDS, _GUARD, np.int64)
        inner = block[GUARDS:-GUARDS].view(np.uint8)[: array.nbytes]
        inner[:] = array.view(np.uint8)
        self.blocks[inner.ctypes.data] = block
        return inner.view(array.dtype)


# ------------------------------------------------------------------------------------------------- what a state is made of

SCALARS = (int, float, str, bool, type(None), complex, bytes)
_ARRAYS = (np.ndarray, np.generic)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object, in its text


@lru_cache(1000)
def _kind_of(kind: type) -> object:
    """What a class is, as one of these; `object` is all else."""
    for each in (SCALARS, _ARRAYS, Mapping, Set, Sequence):
        if issubclass(kind, each):
            return each
    return object


def facts_in(
    value: Any,
    tells_order: Callable[[str, int], bool] | None = None,
    where: str = "",
    depth: int = 0,
) -> list[tuple[str, str]]:
    """The numbers and texts that a value is made of, each with where it is found; the same for equal values.

    Args:
        tells_order: `tells_order(where, length)` is asked for each list of numbers or texts: does its order say something? If so, each
            item is a fact at its own place; if not, the items are sorted and all stand at the place of the list. Without this function
            such a list is one fact.
        where, depth: of a value that is a part.
    """
    kind = _kind_of(value.__class__)
    if kind is SCALARS:
        return [(where, value if isinstance(value, str) else repr(value))]
    if kind is _ARRAYS:
        return facts_in(value.tolist(), tells_order, where, depth)
    if depth == DEEPEST:
        return [(where, "…")]
    what, parts, unordered = _opened(value, kind)
    if kind in (Sequence, Set) and are_scalars(value):
        has_order = False
        if kind is Sequence:
            if tells_order is None:
                return [(where, repr(list(value)))]
            has_order = tells_order(where, len(value))
        if not has_order:
            parts = [("", item) for item in sorted(value, key=repr)]
            unordered = []
    facts = [(where, what)]
    for end, item in parts:
        facts += facts_in(item, tells_order, where + end, depth + 1)
    # by what is told of them: a text of an object may have its address
    for group in sorted(facts_in(item, tells_order, where, depth + 1) for item in unordered):
        facts += group
    return facts


def key_of(value: Any, depth: int = 0) -> object:
    """What equal values have in common, and others not; by the same as `facts_in`, in less time."""
    kind = _kind_of(value.__class__)
    if kind is SCALARS:
        return repr(value)
    if kind is _ARRAYS:
        return key_of(value.tolist(), depth)
    if depth == DEEPEST:
        return "…"
    if kind is Sequence and are_scalars(value):
        return repr(list(value))
    what, parts, unordered = _opened(value, kind)
    keys = [(end, key_of(item, depth + 1)) for end, item in parts]
    return what, *keys, *sorted((key_of(item, depth + 1) for item in unordered), key=repr)


def _opened(value: Any, kind: object) -> tuple[str, list[tuple[str, Any]], Collection[Any]]:
    """A value in words, its parts by how their places end, and those that have no order."""
    if kind is object:
        names = [] if callable(value) else attributes_of(value)
        what = type(value).__name__ if names else _ADDRESS.sub("", repr(value))
        return what, [(f".{name}", getattr(value, name, None)) for name in names], []
    if isinstance(value, Counter):  # an item that is counted 0 times is none, as `==` has it
        value = {item: count for item, count in value.items() if count != 0}
    what = f"{len(value)} items"
    if kind is Sequence:
        return what, [(f"[{i}]", item) for i, item in enumerate(value)], []
    if kind is Mapping and have_texts(value):
        parts = [(below("", key), item) for key, item in value.items()]
        return what, sorted(parts, key=lambda part: part[0]), []
    return what, [], value.items() if kind is Mapping else value


def are_scalars(items: Iterable[object]) -> bool:
    """Whether some items are all numbers or texts; asked of their classes, of which there are few."""
    kinds = {*map(type, items)}
    return kinds.issubset(SCALARS) or all(_kind_of(kind) is SCALARS for kind in kinds)


def have_texts(keys: Iterable[object]) -> bool:
    """Whether some keys have texts, which are the same for equal keys: of an object of a plain class it is an address."""
    return are_scalars(keys) or not any(_ADDRESS.search(str(key)) for key in keys)


def below(where: str, name: object) -> str:
    """Where a part of what is found somewhere is found: an item of a list, or what has a key or a name."""
    return f"{where}[{name}]" if isinstance(name, int) else f"{where}.{name}"


def view_of(game: AnyGame, data: StateData, player: int) -> object:
    """What the game's `observation` says that a player may know of a state; nothing of CHANCE, or without one."""
    if game.observation is None or player < 0:
        return ()
    return key_of(game.observation(game.facts_of(data), player))


def remembers_all(data: Any) -> bool:
    """Whether an observation of a state says all that its player has ever seen, as OpenSpiel's information states do."""
    return (
        hasattr(data, "get_game") and data.get_game().get_type().provides_information_state_string
    )


def fingerprint(value: object) -> bytes:
    """A short key for what is told of a state, the same in every process."""
    return hashlib.blake2b(repr(value).encode(), digest_size=12).digest()


def stamp(data: object) -> object:
    """A key of a value, which is another one after the value was changed."""
    return data.tobytes() if isinstance(data, np.ndarray) else key_of(data)
