"""What the game tells of the states and actions of a playout, written where slots read it."""

import numpy as np

from icarus.compiler.memory import WORD_BYTES, array_at, call1, call2, call3, matrix_at, unlikely
from icarus.engine.loop.arena import Arena
from icarus.engine.loop.observation_classes import is_grouped
from icarus.kernel import CHANCE, TERMINAL, helper, inlined
from icarus.kernel.features import ACTION_FEATURES, ENDINGS, FEATURES, LOOKAHEAD, are_rewards
from icarus.kernel.history import Playout, Step

_INT, _REAL = np.dtype(np.int64), np.dtype(np.float64)


@helper
def evaluate_step(a: Arena, playout: Playout, t: int, step: Step, actions: int, tables: int) -> None:
    """What the game tells of the state at step t, and of what is legal there.

    Args:
        actions: how many are legal; others than the root player may have fewer moves.
    """
    if tables & FEATURES:
        evaluate_state(a, playout, t)
    if tables & ACTION_FEATURES:
        table = rows_of(playout.action_features, step, playout.action_features_width)
        if step.player != CHANCE:
            for i in range(actions):
                call3(a.game.action_features, (a.buffers.state, action_at(a, playout, step, i), a.buffers.evaluation))
                add_evaluation(a, table, edge_of(a, step, i))
            take_means(a, table, step, actions)
    if tables & (LOOKAHEAD | ENDINGS):
        lookahead = rows_of(playout.lookahead, step, playout.lookahead_width)
        endings = rows_of(playout.endings, step, playout.endings_width)
        for i in range(actions):
            look_ahead(a, action_at(a, playout, step, i), lookahead, endings, edge_of(a, step, i))
        take_means(a, lookahead, step, actions)
        take_means(a, endings, step, actions)


@helper
def evaluate_state(a: Arena, playout: Playout, t: int) -> None:
    """The features of the state at step t."""
    call2(a.game.features, (a.buffers.state, playout.features + WORD_BYTES * t * playout.features_width))


@helper
def look_ahead(a: Arena, action: int, lookahead: np.ndarray, endings: np.ndarray, edge: int) -> None:
    """Add what may be expected after an action, and how the game ends where it does, to the rows of its edge."""
    words = a.root.state_words
    state, ahead = array_at(a.buffers.state, words, _INT), array_at(a.buffers.ahead, words, _INT)
    for i in range(words):
        ahead[i] = state[i]
    call2(a.game.apply, (a.buffers.ahead, action))
    if call1(a.game.player, (a.buffers.ahead,)) == TERMINAL:
        rewards_at(a, a.buffers.ahead, a.buffers.evaluation)
        add_evaluation(a, lookahead, edge)
        add_evaluation(a, endings, edge)
    else:
        for j in range(endings.shape[1]):
            endings[edge, j] = np.nan
        if lookahead.shape[1] > 0:
            call2(a.game.heuristic, (a.buffers.ahead, a.buffers.evaluation))
            add_evaluation(a, lookahead, edge)


@helper
def rewards_at(a: Arena, state: int, out: int) -> None:
    """μ of a terminal state, both given by their addresses; what one state has left is not the next one's."""
    rewards = array_at(out, a.game.players, _REAL)
    rewards[:] = np.nan
    call3(a.game.rewards, (state, out, a.game.players))
    if unlikely(not are_rewards(rewards)):
        raise ValueError("the rewards function of a game did not write a number from 0 to 1 for each player")


# ------------------------------------------------------------------------------------- rows of tables, one for each edge


@inlined
def rows_of(table: int, step: Step, width: int) -> np.ndarray:
    """The rows of a step's edges in a table, all 0."""
    rows = matrix_at(table + WORD_BYTES * step.first * width, step.count, width, _REAL)
    for i in range(step.count):
        for j in range(width):
            rows[i, j] = 0.0
    return rows


@inlined
def action_at(a: Arena, playout: Playout, step: Step, i: int) -> int:
    """A legal action, as it is."""
    if is_grouped(a, step.player):
        return array_at(a.buffers.actions, i + 1, _INT)[i]
    return array_at(playout.legal + WORD_BYTES * step.first, i + 1, _INT)[i]


@inlined
def edge_of(a: Arena, step: Step, i: int) -> int:
    """The place of a legal action among those of the history; of its observation class, where actions are grouped."""
    return array_at(a.buffers.classes, i + 1, _INT)[i] if is_grouped(a, step.player) else i


@inlined
def add_evaluation(a: Arena, table: np.ndarray, edge: int) -> None:
    """Add what was just told to the row of an edge."""
    row = array_at(a.buffers.evaluation, table.shape[1], _REAL)
    for j in range(table.shape[1]):
        table[edge, j] += row[j]


@inlined
def take_means(a: Arena, table: np.ndarray, step: Step, actions: int) -> None:
    """Divide the row of each edge by how many actions look so."""
    if is_grouped(a, step.player):
        classes = array_at(a.buffers.classes, actions, _INT)
        for edge in range(step.count):
            size = 0
            for i in range(actions):
                size += classes[i] == edge
            for j in range(table.shape[1]):
                table[edge, j] /= size
