"""Algorithm 1, line 12: h # a, an action appended to the history as every perspective sees it."""

import numpy as np

from icarus.compiler.memory import WORD_BYTES, array_at, call1, call4, matrix_at
from icarus.engine.loop.arena import Arena
from icarus.engine.loop.steps import step_at
from icarus.kernel import UNSEEN, extended, helper, inlined, mix
from icarus.kernel.history import Playout, Step, episode_key

_INT = np.dtype(np.int64)


@inlined
def has_simple_moves(a: Arena) -> bool:
    """Whether one perspective sees actions as they are, and of him only the keys in the tree are read."""
    reading = a.composition
    return (
        a.game.perspectives == 1
        and a.game.observe_for_root == 0
        and not reading.keys_in_simulation
        and not reading.episodes
    )


@inlined
def append_simply(playout: Playout, t: int, step: Step) -> None:
    """`append` in the tree, where moves are simple."""
    keys, moves = array_at(playout.keys, t + 2, _INT), array_at(playout.moves, t + 2, _INT)
    moves[t + 1], keys[t + 1] = step.action, mix(keys[t], step.action)
    step_at(playout, t + 1).record = extended(keys[t], step.player, step.action)


@helper
def append(a: Arena, playout: Playout, t: int, step: Step, in_tree: bool) -> None:
    """Line 12: append the action of step t to the history, as every perspective sees it; called before the state changes."""
    perspectives, following = a.game.perspectives, step_at(playout, t + 1)
    moves = matrix_at(playout.moves, t + 2, perspectives, _INT)
    for perspective in range(perspectives):
        moves[t + 1, perspective] = step.action
    if a.game.observe != 0:
        observed = playout.moves + WORD_BYTES * (t + 1) * perspectives
        call4(a.game.observe, (a.buffers.state, step.action, observed, a.game.players))
    if in_tree or a.composition.keys_in_simulation:
        keys = matrix_at(playout.keys, t + 2, perspectives, _INT)
        following.record = extended(keys[t, step.perspective], step.player, step.action)
        extend_keys(keys, moves, t, perspectives)
    if a.composition.episodes:
        episodes = matrix_at(playout.episodes, t + 2, perspectives, _INT)
        following.episode = extended(episodes[t, step.perspective], step.player, step.action)
        extend_keys(episodes, moves, t, perspectives)


@inlined
def extend_keys(keys: np.ndarray, moves: np.ndarray, t: int, perspectives: int) -> None:
    """The keys of the history of t + 1 actions in the eyes of each perspective, from those of t actions and the moves that they saw."""
    for perspective in range(perspectives):
        key, move = keys[t, perspective], moves[t + 1, perspective]
        keys[t + 1, perspective] = key if move == UNSEEN else mix(key, move)


@inlined
def label_episode(a: Arena, playout: Playout, t: int) -> None:
    """Begin a new episode at step t where the state reached has a label (section 5.1) and a slot reads episodes."""
    if a.composition.episodes and a.game.episode != 0:
        label = call1(a.game.episode, (a.buffers.state,))
        if label >= 0:
            episodes = matrix_at(playout.episodes, t + 1, a.game.perspectives, _INT)
            for perspective in range(a.game.perspectives):
                episodes[t, perspective] = episode_key(label, perspective)
