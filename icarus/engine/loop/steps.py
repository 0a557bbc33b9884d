"""What a playout asks at each of its steps: the game who may do what, and the arena whether there is room to go on."""

import numpy as np

from icarus.compiler.memory import array_at, call1, call2, call4, struct_at, unlikely
from icarus.engine.loop.arena import STEP_BYTES, Arena
from icarus.engine.program.promises import is_checked
from icarus.kernel import CHANCE, TERMINAL, helper, inlined
from icarus.kernel.constants import RECALLED
from icarus.kernel.history import STEP, Playout, Step

_INT = np.dtype(np.int64)
# What both engines say:
NO_ACTIONS = "the legal function of a game gave no legal action at a state that is not terminal"
WRONG_PLAYER = "the player function of a game gave a number that is not a player, neither CHANCE nor TERMINAL"
OTHER_PLAYER = "a determinization changed the player to move, or ended the game"
OTHER_ACTIONS = "a determinization changed the legal actions of the player to move"
WRONG_RECALL = f"the recall function of a game gave a number of moves that is not from 0 to {RECALLED}"


class DeterminizationError(ValueError):
    """A determinization that is none of the state: not the function asked last is wrong, but `determinize`."""


@inlined
def legal_actions(a: Arena, legal: int) -> int:
    """A(s), written to an address; returns their number."""
    count = call2(a.game.legal, (a.buffers.state, legal))
    if unlikely(np.uint64(count - 1) >= np.uint64(a.game.max_legal)):  # one comparison for both ends
        refuse_number(count)
    if unlikely(is_checked(a.counts.iterations)):
        check_actions(array_at(legal, count, _INT), count)
    return count


@helper
def check_actions(actions: np.ndarray, count: int) -> None:
    """Refuse legal actions that are negative, or the same. Who is greater than all before him, or has other last bits, is neither."""
    greatest, last_bits = -1, np.uint64(0)
    for i in range(count):
        bit = np.uint64(1) << np.uint64(actions[i] & 63)
        if actions[i] > greatest:
            greatest = actions[i]
        elif actions[i] < 0 or last_bits & bit != np.uint64(0):
            refuse_action(actions, i)
        last_bits |= bit


@helper
def refuse_action(actions: np.ndarray, i: int) -> None:
    """Refuse the i-th action if it is negative, or one of those before it."""
    if actions[i] < 0:
        raise ValueError("the legal function of a game gave a negative action")
    for j in range(i):
        if actions[i] == actions[j]:
            raise ValueError("the legal function of a game gave an action twice")


@inlined
def is_choice(a: Arena, count: int) -> np.bool:
    """Whether so many actions are more than one, and may be; if not, there must be 1."""
    return np.uint64(count - 2) < np.uint64(a.game.max_legal - 1)


@helper
def refuse_number(count: int) -> None:
    """Say what is wrong with a number of legal actions."""
    if count < 1:
        raise ValueError(NO_ACTIONS)
    raise ValueError("the legal function of a game gave more legal actions than its max_legal")


@inlined
def player_to_move(a: Arena) -> int:
    """ρ(s), as the game tells it; whether it may be so, `acts` and `check_end` say."""
    return call1(a.game.player, (a.buffers.state,))


@inlined
def acts(a: Arena, player: int) -> np.bool:
    """Whether this is a player or CHANCE: if not, the playout is at its end, and `check_end` is to be asked."""
    # One comparison for both ends, CHANCE before player 0.
    return np.uint64(player - CHANCE) <= np.uint64(a.game.players)


@inlined
def check_end(player: int) -> None:
    """Refuse what is neither a player nor CHANCE nor TERMINAL."""
    if player != TERMINAL:
        raise ValueError(WRONG_PLAYER)


@inlined
def recalled_moves(a: Arena, perspective: int) -> int:
    """What a perspective has seen of the episode, as the state tells it, written to a buffer; returns how many moves."""
    count = call4(a.game.recall, (a.buffers.state, perspective, a.buffers.recalled, RECALLED))
    if count < 0 or count > RECALLED:
        raise ValueError(WRONG_RECALL)
    return count


@inlined
def step_at(playout: Playout, t: int) -> Step:
    """Step t of a playout."""
    return struct_at(playout.steps + t * STEP_BYTES, STEP)


@inlined
def has_room(a: Arena, playout: Playout, t: int) -> bool:
    """Whether there is room for step t and the one after it.

    There is none where records that were asked about found no room: what would be chosen without them is not what the playout is to be.
    """
    return t <= a.buffers.last_step and playout.legal_length + a.game.max_legal <= a.buffers.legal_capacity


@inlined
def perspective_of(a: Arena, player: int) -> int:
    """The column of a player's eyes."""
    if a.game.perspectives == 1:
        return 0
    return a.game.players if player == CHANCE else player


@helper
def root_index(a: Arena, action: int) -> int:
    """The place of an action among those of the root."""
    actions = array_at(a.root.actions, a.root.count, _INT)
    for i in range(a.root.count):
        if actions[i] == action:
            return i
    raise DeterminizationError(OTHER_ACTIONS)
