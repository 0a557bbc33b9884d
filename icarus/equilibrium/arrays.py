"""A game tree as compact arrays: histories, information sets, the players' views, and ends."""

from collections.abc import Callable
from inspect import get_annotations
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from icarus.compiler.functions import inlined, inlined_once
from icarus.compiler.kernel import CompiledFunction
from icarus.compiler.memory import array_at, kind_of, pack_parameters, unpack_parameters
from icarus.kernel import mix
from icarus.kernel.contract import Short, structure

PLAYERS = 2
ForEach: TypeAlias = Annotated[np.ndarray, np.int32, PLAYERS]  # a number for each player


class Node:
    """A history; its children follow one another, in the order of the legal actions."""

    set: Short  # the information set that it is in, or END_SET
    child: Short  # its first child; of an end, its row among the ends
    parent: Short  # the history before


class InfoSet:
    """Histories that the player to move cannot tell apart; chance's are those with the same outcomes."""

    player: Short  # 0, 1 or CHANCE
    count: Short  # of actions
    slot: Short  # of the first action; those of the others follow
    last_view: Short  # of the player, or NOTHING for chance
    node: Short  # the first history found in it


class ActionSlot:
    """An action in an information set."""

    action: int
    probability: float  # of an outcome of chance; 0 of a player's action


class PlayerView:
    """All that a player has observed: the view before, and one move more."""

    parent: Short  # an earlier row, or NOTHING
    slot: Short  # of the action, where the move is the player's own; else NOTHING
    set: Short  # in which the player is to move with this view, or NOTHING
    player: Short  # whose view it is
    move: int  # the last one observed; after the root, what the player observes of the deal


class End:
    """A terminal history."""

    views: ForEach  # the last of each player
    utility: float  # of player 0, in the units of the game
    chance_reach: float  # the probability of all that chance did


class Arrays(NamedTuple):
    """A whole tree, as compiled code takes it."""

    nodes: np.ndarray
    sets: np.ndarray
    slots: np.ndarray
    views: np.ndarray
    ends: np.ndarray


NODE, SET, SLOT, VIEW, END = map(structure, (Node, InfoSet, ActionSlot, PlayerView, End))
NOTHING = -1
REAL = np.dtype(np.float64)
END_SET = -1  # in place of an information set, of an end


@inlined
def next_key(key: int, is_own: int, move: int) -> int:
    """The key of what a player knows after one more move: his own action, or what he is shown. The first is that of the deal, after the key
    player + 1.
    """
    return mix(key, 2 * move + is_own)


@inlined
def place_of(keys: np.ndarray, key: int) -> int:
    """Where a key stands in an open hash table of [2^m] keys, or would; there is 0."""
    mask = len(keys) - 1
    i = key & mask
    while keys[np.uint64(i)] != key and keys[np.uint64(i)] != 0:  # unsigned: never counted from the end
        i = (i + 1) & mask
    return i


class ArrayKernel:
    """A function of arrays that is compiled, or loaded from the disk, at its first call; later ones have arguments of the same kinds."""

    def __init__(self, function: Callable, title: str) -> None:
        self.function, self.title, self.__doc__ = function, title, function.__doc__
        self._code: CompiledFunction | None = None

    def prepare(self, *arguments: object) -> None:
        """Compile it for arguments like these, before a clock runs."""
        if self._code is None:
            self._code = _compiled(self.function, tuple(map(kind_of, arguments)), self.title)

    def __call__(self, *arguments: object) -> Any:
        self.prepare(*arguments)
        words, out = pack_parameters(arguments), np.zeros(1)
        self._code(words.ctypes.data, out.ctypes.data)  # type: ignore[misc]  # it is prepared
        return get_annotations(self.function, eval_str=True)["return"](out[0])


def _compiled(function: Callable, kinds: tuple[Any, ...], title: str) -> CompiledFunction:
    inner, unpack = inlined_once(function), unpack_parameters(kinds)

    def kernel(arguments: int, out: int) -> int:
        array_at(out, 1, REAL)[0] = inner(*unpack(arguments))
        return 0

    return CompiledFunction(kernel, 2, title)


def kernel(title: str) -> Callable[[Callable], ArrayKernel]:
    """Mark a function to be compiled.

    Args:
        title: what it is, for messages and the name of its file in the cache.
    """
    return lambda function: ArrayKernel(function, title)
