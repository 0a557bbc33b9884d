"""Re-determinizing ISMCTS: in the tree each player but the root's decides in a world drawn from his own information set.

The *master* is the state that the iteration goes on in. A decision of another player, and the chance that follows on it, happen in a world
that was drawn from the master for him. What he plays is played in the master too; as long as nobody could tell the two apart the
iteration goes on in the master afterwards. Otherwise the world is the master from then on: a *shift*.
"""

import numpy as np

from icarus.compiler.kernels.pointers import array_at, call1, call2, call3, call4, unlikely
from icarus.engine.loop.arena import Arena
from icarus.engine.loop.steps import DeterminizationError, acts, player_to_move
from icarus.kernel import CHANCE, helper, inlined

_INT = np.dtype(np.int64)
NOBODY = -1  # for whom a world is drawn that is the master itself


@helper
def enter_world(a: Arena, player: int, observer: int, rng: np.ndarray) -> int:
    """Bring the state to the world in which a player, or chance, is to decide; returns for whom it is drawn.

    Args:
        observer: for whom the state is drawn so far.
    """
    if player == CHANCE:
        return observer
    if observer != NOBODY:
        copy_state(a, a.buffers.master, a.buffers.state)
    if player == a.root.player:
        return NOBODY
    if observer == NOBODY:
        copy_state(a, a.buffers.state, a.buffers.master)
    redraw(a, a.game.redeterminize, player, rng)
    if unlikely(player_to_move(a) != player):
        raise DeterminizationError("a determinization changed the player to move, or ended the game")
    return player


@inlined
def copy_state(a: Arena, source: int, target: int) -> None:
    """Copy a state to another place."""
    words = array_at(source, a.root.state_words, _INT)
    copy = array_at(target, a.root.state_words, _INT)
    for i in range(a.root.state_words):
        copy[i] = words[i]


@helper
def redraw(a: Arena, determinize: int, observer: int, rng: np.ndarray) -> None:
    """Determinize the state for an observer, by what he knows by now."""
    beliefs = array_at(a.buffers.beliefs, a.buffers.belief_words, _INT)
    beliefs[:] = 0
    if a.game.prepare != 0:
        call3(a.game.prepare, (a.buffers.state, observer, a.buffers.beliefs))
    call4(determinize, (a.buffers.state, observer, a.buffers.beliefs, a.buffers.rng))


@helper
def apply_in_both(a: Arena, observer: int, action: int) -> int:
    """Play an action in the world drawn for a player, and in the master; returns the player, or NOBODY after a shift."""
    state, master = a.buffers.state, a.buffers.master
    same = is_legal(a, master, action) and is_observed_alike(a, action)
    call2(a.game.apply, (state, action))
    if not same:
        return NOBODY
    call2(a.game.apply, (master, action))
    player = call1(a.game.player, (state,))
    if call1(a.game.player, (master,)) != player or (player == observer and not has_same_choices(a)):
        return NOBODY
    return observer


@helper
def is_legal(a: Arena, state: int, action: int) -> bool:
    """Whether an action is legal in a state, given by its address."""
    count = call2(a.game.legal, (state, a.buffers.actions))
    actions = array_at(a.buffers.actions, a.game.max_legal, _INT)
    for i in range(count):
        if actions[i] == action:
            return True
    return False


@helper
def is_observed_alike(a: Arena, action: int) -> bool:
    """Whether every player sees the same of an action, about to be played, in the world and in the master."""
    if a.game.observe == 0:
        return True
    moves = array_at(a.buffers.observed, a.game.players, _INT)
    moves_in_master = array_at(a.buffers.observed_in_master, a.game.players, _INT)
    moves[:] = action
    moves_in_master[:] = action
    call4(a.game.observe, (a.buffers.state, action, a.buffers.observed, a.game.players))
    call4(a.game.observe, (a.buffers.master, action, a.buffers.observed_in_master, a.game.players))
    for player in range(a.game.players):
        if moves[player] != moves_in_master[player]:
            return False
    return True


@helper
def has_same_choices(a: Arena) -> bool:
    """Whether the player to move, who knows them, has the same legal actions in the world and in the master."""
    count = call2(a.game.legal, (a.buffers.state, a.buffers.actions))
    if call2(a.game.legal, (a.buffers.master, a.buffers.classes)) != count:
        return False
    actions, actions_in_master = array_at(a.buffers.actions, count, _INT), array_at(a.buffers.classes, count, _INT)
    for i in range(count):
        if actions[i] != actions_in_master[i]:
            return False
    return True


@helper
def leave_tree(a: Arena, observer: int, rng: np.ndarray) -> None:
    """Bring the state back to the master, for the simulation; nobody's knowledge is asked there."""
    if observer != NOBODY:
        copy_state(a, a.buffers.master, a.buffers.state)
    if a.game.redeterminize != a.game.determinize and acts(a, player_to_move(a)):
        redraw(a, a.game.determinize, CHANCE, rng)
