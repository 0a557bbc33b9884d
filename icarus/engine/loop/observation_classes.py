"""Where one pair of eyes sees for all players: the others' actions as the moves that the root player sees."""

import numpy as np

from icarus.compiler.kernels.pointers import array_at, call4
from icarus.engine.loop.arena import ANY, Arena
from icarus.kernel import CHANCE, below, helper, inlined

_INT = np.dtype(np.int64)


@inlined
def is_grouped(a: Arena, player: int) -> bool:
    """Whether a player's actions are given as the moves that the root player sees."""
    return a.game.observe_for_root != 0 and player != a.root.player


@helper
def group_by_observation(a: Arena, legal: int, count: int) -> int:
    """Replace the legal actions by the moves that the root player sees, each once, and keep the actions; returns the number of moves."""
    moves, actions = array_at(legal, count, _INT), array_at(a.buffers.actions, count, _INT)
    alike, looks = array_at(a.buffers.classes, count, _INT), array_at(a.buffers.observed, a.game.players, _INT)
    distinct = 0
    for i in range(count):
        actions[i] = moves[i]
        for player in range(a.game.players):
            looks[player] = actions[i]
        call4(a.game.observe_for_root, (a.buffers.state, actions[i], a.buffers.observed, a.game.players))
        move = looks[a.root.player]
        alike[i] = 0
        while alike[i] < distinct and moves[alike[i]] != move:
            alike[i] += 1
        if alike[i] == distinct:
            moves[distinct] = move
            distinct += 1
    return distinct


@helper
def choose_in_class(a: Arena, player: int, index: int, count: int, rng: np.ndarray) -> int:
    """The index of the action that is played, where the root player sees a move: any of those that look so."""
    if player == CHANCE:
        return index
    if index == ANY:
        return below(rng, count)
    alike, same = array_at(a.buffers.classes, count, _INT), 0
    for i in range(count):
        same += alike[i] == index
    skip, i = below(rng, same) if same > 1 else 0, 0
    while alike[i] != index or skip > 0:
        skip -= alike[i] == index
        i += 1
    return i
