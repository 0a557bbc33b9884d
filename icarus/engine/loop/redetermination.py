"""Re-determinizing ISMCTS: in the tree each player but the root's decides in a world drawn from his own information set.

`icarus.engine.scheme` says when an iteration goes on in the *master*, and when in the world that a player has decided in. The functions are
machine code of their own, which the loop calls by address: where no scheme asks for them, it is neither slower nor compiled longer.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.kernels.pointers import array_at, call1, call2, call3, call4, struct_at
from icarus.engine.loop.arena import ARENA, Arena
from icarus.engine.loop.steps import OTHER_PLAYER, DeterminizationError, acts, player_to_move
from icarus.kernel import CHANCE, helper, inlined

_INT = np.dtype(np.int64)
NOBODY = -1  # for whom the state is drawn where it is the master


def enter(arena: int, player: int) -> int:
    """Bring the state to the world in which a player is to decide; chance goes on where it was met."""
    a = struct_at(arena, ARENA)
    r = a.redetermination
    if player != CHANCE:
        return_to_master(a)
        if player != a.root.player:
            copy_state(a, a.buffers.state, r.master)
            redraw(a, r.determinize, player)
            if player_to_move(a) != player:
                raise DeterminizationError(OTHER_PLAYER)
            r.observer = player
    return 0


def play(arena: int, action: int) -> int:
    """Play an action in the state, and in the master as long as nobody can tell the two apart."""
    a = struct_at(arena, ARENA)
    r = a.redetermination
    if r.observer == NOBODY:
        call2(a.game.apply, (a.buffers.state, action))
        return 0
    same = is_legal(a, r.master, action) and is_observed_alike(a, action)
    call2(a.game.apply, (a.buffers.state, action))
    if same:
        call2(a.game.apply, (r.master, action))
        player = player_to_move(a)
        same = call1(a.game.player, (r.master,)) == player and (player != r.observer or has_same_choices(a))
    if not same:
        r.observer = NOBODY
    return 0


def leave(arena: int) -> int:
    """Bring the state to the master, in which nobody's knowledge is asked any more: the tree ends here."""
    a = struct_at(arena, ARENA)
    return_to_master(a)
    if a.redetermination.determinize_simulation != 0 and acts(a, player_to_move(a)):
        redraw(a, a.redetermination.determinize_simulation, CHANCE)
    return 0


@helper
def return_to_master(a: Arena) -> None:
    """Bring the state to the master."""
    if a.redetermination.observer != NOBODY:
        copy_state(a, a.redetermination.master, a.buffers.state)
        a.redetermination.observer = NOBODY


@inlined
def copy_state(a: Arena, source: int, target: int) -> None:
    """Copy a state to another place."""
    words, copy = array_at(source, a.root.state_words, _INT), array_at(target, a.root.state_words, _INT)
    for i in range(a.root.state_words):
        copy[i] = words[i]


@helper
def redraw(a: Arena, determinize: int, observer: int) -> None:
    """Determinize the state for an observer, by what he knows by now."""
    r = a.redetermination
    array_at(r.beliefs, r.belief_words, _INT)[:] = 0
    if r.prepare != 0:
        call3(r.prepare, (a.buffers.state, observer, r.beliefs))
    call4(determinize, (a.buffers.state, observer, r.beliefs, a.buffers.rng))


@helper
def is_legal(a: Arena, state: int, action: int) -> bool:
    """Whether an action is legal in a state."""
    count = call2(a.game.legal, (state, a.buffers.actions))
    actions = array_at(a.buffers.actions, count, _INT)
    for i in range(count):
        if actions[i] == action:
            return True
    return False


@helper
def is_observed_alike(a: Arena, action: int) -> bool:
    """Whether every player sees the same of an action, about to be played, in the state and in the master."""
    if a.game.observe == 0:
        return True
    players, r = a.game.players, a.redetermination
    moves, moves_in_master = array_at(a.buffers.observed, players, _INT), array_at(r.observed, players, _INT)
    moves[:] = action
    moves_in_master[:] = action
    call4(a.game.observe, (a.buffers.state, action, a.buffers.observed, players))
    call4(a.game.observe, (r.master, action, r.observed, players))
    for player in range(players):
        if moves[player] != moves_in_master[player]:
            return False
    return True


@helper
def has_same_choices(a: Arena) -> bool:
    """Whether the player to move, who knows them, has the same legal actions in the state and in the master."""
    count = call2(a.game.legal, (a.buffers.state, a.buffers.actions))
    if call2(a.game.legal, (a.redetermination.master, a.buffers.classes)) != count:
        return False
    actions, actions_in_master = array_at(a.buffers.actions, count, _INT), array_at(a.buffers.classes, count, _INT)
    for i in range(count):
        if actions[i] != actions_in_master[i]:
            return False
    return True


@functools.cache
def redetermination_kernels() -> dict[str, Kernel]:
    """`enter`, `play` and `leave` as machine code, by name."""
    functions: tuple[tuple[Callable[..., Any], int], ...] = ((enter, 2), (play, 2), (leave, 1))
    return {
        function.__name__: Kernel(function, count, f"{function.__name__} of re-determinization")
        for function, count in functions
    }
