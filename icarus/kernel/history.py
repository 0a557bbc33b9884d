"""Playouts as the capture functions and policies see them: steps, what each perspective observed, and the keys of histories.

A history ⟨a₁, …, a_t⟩ is given by t + 1 steps. Step i is the decision taken after i actions: who acts in the state reached (ρ),
what was legal, what was played (a_{i+1}) and in which phase. The last step is the present one: a decision still to be made, or
the terminal state.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from icarus.compiler import RNG_WORDS, inlined, numba, overload, python_of, types
from icarus.compiler.memory import array_at, read_only_array_at, read_only_matrix_at, struct_at
from icarus.kernel.contract import UNSEEN, Address, History, Step, structure

SELECTION, EXPANSION, SIMULATION = 0, 1, 2  # the phases of section 4.2, from the baseline's counts
PHASES = ("selection", "expansion", "simulation")
NO_ACTION = -1  # ⊥: no action

_GOLDEN, _ODD, _FINAL = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = (1 << 64) - 1
_ROOT, _EPISODE, _LATER_ROOT = 1, 2, 3  # where keys of histories and of positions-in-episode begin
EMPTY_HISTORY = 0x1CA205  # the record of ⟨⟩
UNLIMITED = 1 << 62  # iterations


class Playout:
    """Where the arrays of a history are, for kernels; shapes as in `History`."""

    steps: Address
    moves: Address
    keys: Address
    episodes: Address
    legal: Address
    length: int  # steps
    perspectives: int
    legal_length: int
    rewards: Address
    players: int  # rewards that are known: 0 until the playout is finished
    rng: Address
    iteration: int
    budget: int
    features: Address  # the feature tables, and how many numbers a row of each has: 0 unless read
    action_features: Address
    lookahead: Address
    endings: Address
    features_width: int
    action_features_width: int
    lookahead_width: int
    endings_width: int


STEP, PLAYOUT = structure(Step), structure(Playout)
_INT, _REAL, _WORDS = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.uint64)


@inlined
def history_at(address: int) -> History:
    """The history that a PLAYOUT structure at an address describes; only its generator can be written to."""
    playout = struct_at(address, PLAYOUT)
    length, perspectives, legal_length = playout.length, playout.perspectives, playout.legal_length
    return History(
        read_only_array_at(playout.steps, length, STEP),
        read_only_matrix_at(playout.moves, length, perspectives, _INT),
        read_only_matrix_at(playout.keys, length, perspectives, _INT),
        read_only_matrix_at(playout.episodes, length, perspectives, _INT),
        read_only_array_at(playout.legal, legal_length, _INT),
        read_only_array_at(playout.rewards, playout.players, _REAL),
        array_at(playout.rng, RNG_WORDS, _WORDS),
        playout.iteration,
        playout.budget,
        read_only_matrix_at(playout.features, length, playout.features_width, _REAL),
        read_only_matrix_at(
            playout.action_features, legal_length, playout.action_features_width, _REAL
        ),
        read_only_matrix_at(playout.lookahead, legal_length, playout.lookahead_width, _REAL),
        read_only_matrix_at(playout.endings, legal_length, playout.endings_width, _REAL),
    )


# ------------------------------------------------------------------------------------------------------------------ keys


def mix(key: int, part: int) -> int:
    """The key of a sequence that continues one of key `key` by `part`; 64 bits, well spread, the same in every process."""
    word = (((int(key) & _WORD) + _GOLDEN) ^ (int(part) * _ODD)) & _WORD
    word = ((word ^ word >> 32) * _FINAL) & _WORD
    word ^= word >> 29
    return word - (1 << 64) if word >> 63 else word


# Not inline="always": the compiler then clears away stores into views made by address in the functions that call it.
@overload(mix)
def _compiled_mix(key: Any, part: Any) -> Callable:
    def implementation(key: Any, part: Any) -> np.int64:
        word = (np.uint64(key) + np.uint64(_GOLDEN)) ^ (np.uint64(part) * np.uint64(_ODD))
        word = (word ^ (word >> np.uint64(32))) * np.uint64(_FINAL)
        return np.int64(word ^ (word >> np.uint64(29)))

    return implementation


def mix_arrays(keys: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """`mix` of many keys and parts at once, broadcast. int64"""
    words = (keys.astype(np.uint64) + np.uint64(_GOLDEN)) ^ (
        parts.astype(np.uint64) * np.uint64(_ODD)
    )
    words = (words ^ (words >> np.uint64(32))) * np.uint64(_FINAL)
    return (words ^ (words >> np.uint64(29))).astype(np.int64)


def record(*parts: int) -> int:
    """The key of a record made of integers: an action and a player, say. The order of the parts counts.

    Raises:
        TypeError: one of them is a real.
    """
    key = 0
    for part in parts:
        if isinstance(part, float | np.floating):
            raise TypeError(
                f"record(…) makes a key from integers, not from {part!r}; a float would be truncated"
            )
        key = mix(key, part)
    return key


@overload(record)
def _compiled_record(*parts: Any) -> Callable:
    for part in parts:
        if not isinstance(part, types.Integer | types.Boolean):
            raise numba.TypingError(
                f"record(…) makes a key from integers, not from {part}; a float would be truncated"
            )

    unrolled = numba.literal_unroll

    def of_one_type(*parts: Any) -> int:
        key = 0
        for part in parts:
            key = mix(key, part)
        return key

    # Integers of several sizes, such as a step's action and phase.
    def of_several_types(*parts: Any) -> int:
        key = 0
        for part in unrolled(parts):
            key = mix(key, part)
        return key

    return of_one_type if len({*parts}) == 1 else of_several_types


@inlined
def word_of(player: int, action: int) -> int:
    """What a player's action adds to the key of a history; also of many actions at once."""
    return ((player + 2) << 56) ^ action


@inlined
def extended(key: int, player: int, action: int) -> int:
    """The record of a history (or position-in-episode) of key `key` extended by `player`'s action, as he sees it."""
    return mix(key, word_of(player, action))


@inlined
def episode_key(label: int, perspective: int) -> int:
    """The key of the position at the start of an episode with this label, in a perspective."""
    return mix(mix(_EPISODE, label), perspective)


class Root(NamedTuple):
    """Where the histories of a search begin.

    Attributes:
        keys: of the empty history in each perspective. [perspectives]
        record: of the empty history.
    """

    keys: tuple[int, ...]
    record: int


def new_root(perspectives: int, number: int = 0) -> Root:
    """A root below no other: that of a first search, or the one of this number, of which no history is known to earlier searches."""
    if number == 0:
        return Root(
            tuple(mix(_ROOT, perspective) for perspective in range(perspectives)), EMPTY_HISTORY
        )
    record = mix(_LATER_ROOT, number)
    return Root(tuple(mix(record, perspective) for perspective in range(perspectives)), record)


def history_record(
    perspective: int, player: int, moves: tuple[int, ...], root: Root | None = None
) -> int:
    """The record of the history whose last action was `player`'s, as he (column `perspective`) observed it since a root."""
    if not moves:
        return root.record if root else EMPTY_HISTORY
    return _last_extended(
        root.keys[perspective] if root else mix(_ROOT, perspective), player, moves
    )


def episode_record(label: int, perspective: int, player: int, moves: tuple[int, ...]) -> int:
    """The record of a position-in-episode: the label and the moves that the last player (column `perspective`) observed."""
    return (
        _last_extended(python_of(episode_key)(label, perspective), player, moves)
        if moves
        else mix(_EPISODE, label)
    )


def extended_key(key: int, player: int, action: int) -> int:
    """`extended` in plain Python, for which no compiler is loaded."""
    return mix(key, python_of(word_of)(player, action))


def _last_extended(key: int, player: int, moves: tuple[int, ...]) -> int:
    for move in moves[:-1]:
        key = mix(key, move)
    return extended_key(key, player, moves[-1])


# ------------------------------------------------------------------------------------------- for policies and captures


@inlined
def child(history: History, i: int, action: int) -> int:
    """The record of [h_i # a]~, for an action that the player at step i might play."""
    step = history.steps[i]
    return extended(history.keys[i, step.perspective], step.player, action)


@inlined
def child_in_episode(history: History, i: int, action: int) -> int:
    """The record of the position-in-episode of [h_i # a]~, for an action that the player at step i might play."""
    step = history.steps[i]
    return extended(history.episodes[i, step.perspective], step.player, action)


@inlined
def legal_at(history: History, i: int) -> np.ndarray:
    """The legal actions at step i."""
    step = history.steps[i]
    return history.legal[step.first : step.first + step.count]


@inlined
def expanded_at(history: History) -> int:
    """t_e: how many actions led to the expanded history; one more than the last decision in the tree."""
    steps, last = history.steps, 0
    while last < len(steps) - 1 and steps[last].phase != SIMULATION:
        last += 1
    return last


@inlined
def action_features_at(history: History, i: int) -> np.ndarray:
    """[count, features of actions]: what the game tells of the legal actions at step i, in their order."""
    step = history.steps[i]
    return history.action_features[step.first : step.first + step.count]


@inlined
def lookahead_at(history: History, i: int) -> np.ndarray:
    """[count, players]: the heuristic of the states that the legal actions at step i lead to; μ where they end the game."""
    step = history.steps[i]
    return history.lookahead[step.first : step.first + step.count]


@inlined
def endings_at(history: History, i: int) -> np.ndarray:
    """[count, players]: μ for each legal action at step i that ends the game, NaN for the others."""
    step = history.steps[i]
    return history.endings[step.first : step.first + step.count]


@inlined
def observed(history: History, i: int, back: int) -> int:
    """The `back`-th last move (1 is the last) that the player at step i had observed since the root; UNSEEN if there was none."""
    perspective = history.steps[i].perspective
    while i > 0:
        move = history.moves[i, perspective]
        if move != UNSEEN:
            back -= 1
            if back == 0:
                return move
        i -= 1
    return UNSEEN


@inlined
def ngram(history: History, i: int, moves: int) -> int:
    """The key of the last `moves` moves that the player at step i had observed, oldest first; UNSEEN if there were fewer."""
    key = 0
    for back in range(moves, 0, -1):
        move = observed(history, i, back)
        if move == UNSEEN:
            return UNSEEN
        key = mix(key, move)
    return key
