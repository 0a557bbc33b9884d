"""A game tree as compact arrays: histories, information sets, the players' views, and ends."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np

from icarus.compiler.kernels.functions import intrinsic
from icarus.compiler.kernels.kernel import compiled
from icarus.compiler.lazy import Lazy, numba, types
from icarus.compiler.numba_types import Builder, Definition, NumbaType, Signature, TargetContext, TypingContext, Value
from icarus.kernel.structures import Short, structure

PLAYERS = 2
ForEach: TypeAlias = Annotated[np.ndarray, np.int32, PLAYERS]  # a number for each player


class Node:
    """A history; its children follow one another, in the order of the legal actions."""

    set: Short  # the information set that it is in, or END_SET
    child: Short  # its first child; of an end, its row among the ends


class InfoSet:
    """Histories that the player to move cannot tell apart; chance's are those with the same outcomes."""

    player: Short  # 0, 1 or CHANCE
    count: Short  # of actions
    slot: Short  # of the first action; those of the others follow
    last_view: Short  # of the player, or NOTHING for chance
    node: Short  # the first history found in it


class Slot:
    """An action in an information set."""

    action: int
    probability: float  # of an outcome of chance; 0 of a player's action


class View:
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


NODE, SET, SLOT, VIEW, END = map(structure, (Node, InfoSet, Slot, View, End))
NOTHING = -1
END_SET = -1  # in place of an information set, of an end


cgutils = Lazy("numba.core.cgutils")
T = TypeVar("T")


class Kernel:
    """A function that is compiled, or loaded from the disk cache, at its first call; later ones have arguments of the same types."""

    def __init__(self, function: Callable, title: str) -> None:
        self.function, self.title, self._code = function, title, None
        self.__doc__ = function.__doc__

    def prepare(self, *arguments: object) -> None:
        """Compile it for arguments like these, before a clock runs."""
        if self._code is None:
            self._code = compiled(self.function, tuple(map(numba.typeof, arguments)), self.title)

    def __call__(self, *arguments: object) -> Any:
        self.prepare(*arguments)
        return self._code(*arguments)  # type: ignore[misc]


def kernel(title: str) -> Callable[[Callable], Kernel]:
    """Mark a function to be compiled.

    Args:
        title: what it is, for messages and the name of its file in the cache.
    """
    return lambda function: Kernel(function, title)


@intrinsic
def unowned(typingctx: TypingContext, arrays: NumbaType) -> Definition:
    """The same array, or named tuple of arrays, as views that own nothing: counting references would take longer than the work."""

    def view(context: TargetContext, builder: Builder, kind: NumbaType, value: Value) -> Value:
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    def codegen(context: TargetContext, builder: Builder, signature: Signature, arguments: Sequence[Value]) -> Value:
        if isinstance(arrays, types.Array):
            return view(context, builder, arrays, arguments[0])
        values = cgutils.unpack_tuple(builder, arguments[0])
        views = [view(context, builder, *each) for each in zip(arrays, values, strict=True)]
        return context.make_tuple(builder, arrays, views)

    return arrays(arrays), codegen
