"""Observation classes: where the root player's perspective is that of all, actions of others that look alike are one move."""

from collections.abc import Sequence

import numpy as np

from icarus.compiler.functions import plain
from icarus.compiler.memory import array_at, call4
from icarus.engine.loop.arena import Arena
from icarus.kernel import CHANCE, below, helper, inlined

_INT = np.dtype(np.int64)


@inlined
def is_grouped(a: Arena, player: int) -> bool:
    """Whether a player's actions are given as the moves that the root player sees."""
    return a.game.observe_for_root != 0 and player != a.root.player


@inlined
def group(moves: np.ndarray, classes: np.ndarray, count: int) -> int:
    """Keep each of `count` moves once, in front, and write the index that each action's move has there; returns how many there are."""
    distinct = 0
    for i in range(count):
        move, classes[i] = moves[i], 0
        while classes[i] < distinct and moves[classes[i]] != move:
            classes[i] += 1
        if classes[i] == distinct:
            moves[distinct] = move
            distinct += 1
    return distinct


def observation_classes(moves: Sequence[int]) -> tuple[list[int], list[int]]:
    """The moves by which actions are seen, each once, and the index of each action's among them."""
    distinct, classes = list(moves), [0] * len(moves)
    count = plain(group)(distinct, classes, len(moves))
    return distinct[:count], classes


@helper
def group_by_observation(a: Arena, legal: int, count: int) -> int:
    """Replace the legal actions by the moves that the root player sees, each once, and keep the actions; returns the number of moves."""
    moves, actions = array_at(legal, count, _INT), array_at(a.buffers.actions, count, _INT)
    observed = array_at(a.buffers.observed, a.game.players, _INT)
    for i in range(count):
        actions[i] = moves[i]
        for player in range(a.game.players):
            observed[player] = actions[i]
        call4(a.game.observe_for_root, (a.buffers.state, actions[i], a.buffers.observed, a.game.players))
        moves[i] = observed[a.root.player]
    return group(moves, array_at(a.buffers.classes, count, _INT), count)


@helper
def choose_in_class(a: Arena, player: int, index: int, count: int, rng: np.ndarray) -> int:
    """The index of the action that is played, where the root player sees a move: any of its observation class."""
    if player == CHANCE:
        return index
    classes, size = array_at(a.buffers.classes, count, _INT), 0
    for i in range(count):
        size += classes[i] == index
    skip, i = below(rng, size) if size > 1 else 0, 0
    while classes[i] != index or skip > 0:
        skip -= classes[i] == index
        i += 1
    return i
