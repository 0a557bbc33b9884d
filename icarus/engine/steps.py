"""What a playout asks at each of its steps: the game who may do what, and the arena whether there is room to go on."""

from typing import Any

import numpy as np

from icarus.compiler.atomic import atomic_load
from icarus.compiler.pointers import array_at, call1, call2, call4, struct_at
from icarus.engine.arena import STEP_SIZE
from icarus.kernel import CHANCE, TERMINAL, helper, inlined
from icarus.kernel.constants import RECALLED
from icarus.kernel.history import STEP

_INT = np.dtype(np.int64)
FORGETFUL = f"the recall function of a game gave a number of moves that is not from 0 to {RECALLED}"


class DeterminizationError(ValueError):
    """A determinization that is none of the state: not the function asked last is wrong, but `determinize`."""

    elsewhere = True


@inlined
def legal_actions(a: Any, legal: int) -> int:
    """A(s), written to an address; returns their number."""
    count = call2(a.game.legal, (a.buffers.state, legal))
    if count < 1:
        raise ValueError("a game gave no legal action at a state that is not terminal")
    if count > a.game.max_legal:
        raise ValueError("a game gave more legal actions than its max_legal")
    return count


@inlined
def player_to_move(a: Any) -> int:
    """ρ(s)."""
    player = call1(a.game.player, (a.buffers.state,))
    if player >= a.game.players or (player < CHANCE and player != TERMINAL):
        raise ValueError("the player function of a game gave a number that is no player, neither CHANCE nor TERMINAL")
    return player


@inlined
def recalled_moves(a: Any, viewer: int) -> int:
    """What a viewer has seen of the episode, as the state tells it, written to a buffer; returns how many moves."""
    count = call4(a.game.recall, (a.buffers.state, viewer, a.buffers.recalled, RECALLED))
    if count < 0 or count > RECALLED:
        raise ValueError(FORGETFUL)
    return count


@inlined
def step_at(playout: Any, t: int) -> Any:
    """Step t of a playout."""
    return struct_at(playout.steps + t * STEP_SIZE, STEP)


@inlined
def has_room(a: Any, playout: Any, t: int) -> bool:
    """Whether there is room for step t and for the one after it, and nobody has asked the loop to return."""
    fits = t + 1 < a.buffers.step_capacity and playout.legal_length + a.game.max_legal <= a.buffers.legal_capacity
    return fits and not is_interrupted(a)


@inlined
def is_interrupted(a: Any) -> bool:
    """Whether the loop is to return before it has made this playout."""
    return atomic_load(a.rings) != a.heard


@inlined
def viewer_of(a: Any, player: int) -> int:
    """The column of a player's eyes."""
    if a.game.viewers == 1:
        return 0
    return a.game.players if player == CHANCE else player


@helper
def root_place(a: Any, action: int) -> int:
    """The place of an action among those of the root."""
    actions = array_at(a.root.actions, a.root.count, _INT)
    for i in range(a.root.count):
        if actions[i] == action:
            return i
    raise DeterminizationError("a determinization changed the legal actions of the player to move")
