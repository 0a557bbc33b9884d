"""Re-rooting: new keys for the records of histories below the moves that were played, as though the search had begun there.

Where moves are hidden, the records of a perspective are kept only where the player who searches knows what was seen in it since. Players
know it of their own perspective. Of another they know it where it is the same in many determinizations, each drawn before the action
from what they knew then.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from icarus.compiler.kernels.functions import plain
from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.kernels.pointers import array_at, matrix_at
from icarus.compiler.kernels.rng import seeded
from icarus.compiler.reference import interpret
from icarus.engine.loop.parent_links import LINK, RECORD
from icarus.engine.records.tables import Table
from icarus.engine.scheme import EVERY_ACTION, ONCE, ROOT_PLAYER, Scheme
from icarus.kernel import NO_RECORD, UNSEEN, extended, helper, mix
from icarus.kernel.history import EMPTY_HISTORY, part_of, root_key
from icarus.kernel.state import State
from icarus.kernel.structures import Address
from icarus.kernel.theta import ENTRY, row_index

DRAWS = 32  # determinizations in which it is seen what another observes
_INT, _COUNT = np.dtype(np.int64), np.dtype(np.int32)


class NewKeys(NamedTuple):
    """New keys by old ones, as a hash table with linear probing: NO_RECORD for what is not below the new root."""

    old: np.ndarray  # [capacity + 1]
    new: np.ndarray  # [capacity + 1]


@helper
def index_of(old: np.ndarray, key: int) -> int:
    """Where an old key of a `NewKeys` stands, or the empty place where it belongs."""
    mask = len(old) - 2
    i = key & mask
    while old[np.uint64(i)] != key and old[np.uint64(i)] != NO_RECORD:  # unsigned: never counted from the end
        i = (i + 1) & mask
    return i


# ---------------------------------------------------------------------------------------------------- where the new root is


def observed_moves(state: State, player: int, action: int, scheme: Scheme, observer: int) -> list[int | None]:
    """The move by which each perspective of a scheme sees an action about to be played, as far as an observer can tell; else None."""
    moves = state.observed(action)
    if scheme.observer == ROOT_PLAYER:
        return [moves[observer] if len(moves) > 1 else action]
    if len(moves) == 1 or scheme.cheats:
        return [action] if scheme.observer == EVERY_ACTION else list(moves)
    return (_action_if_known if scheme.observer == EVERY_ACTION else _moves_if_known)(state, player, action, observer)


def _action_if_known(state: State, player: int, action: int, observer: int) -> list[int | None]:
    """The action, in the perspective of one who sees all actions; None where the observer does not know it."""
    possible: set[int] = set()
    for _, actions in _possible_actions(state, player, action, observer):
        possible.update(actions)
        if len(possible) > 1:
            break
    return [_only(possible)]


def _moves_if_known(state: State, player: int, action: int, observer: int) -> list[int | None]:
    """The move by which each sees the action; None where the observer does not know it."""
    moves = state.observed(action)
    possible: list[set[int]] = [set() for _ in moves]
    for world, actions in _possible_actions(state, player, action, observer):
        for a in actions:
            for moves_possible, move in zip(possible, world.observed(a), strict=True):
                moves_possible.add(move)
        if all(len(some) > 1 for perspective, some in enumerate(possible) if perspective != observer):
            break
    return [moves[observer] if i == observer else _only(some) for i, some in enumerate(possible)]


def _possible_actions(state: State, player: int, action: int, observer: int) -> Iterator[tuple[State, list[int]]]:
    """Determinizations for an observer, each with the actions there that look to him like the one about to be played."""
    move, beliefs, rng = state.observed(action)[observer], state.beliefs(observer), seeded(len(state.history))
    for _ in range(DRAWS):
        world = state.from_data(state.game, state.redraw(observer, beliefs, rng))
        if player == observer:
            yield world, [action]
        else:
            yield world, [a for a in world.legal_actions() if world.observed(a)[observer] == move]


def _only(values: set[int]) -> int | None:
    """The value of a set that has one; else None."""
    return next(iter(values)) if len(values) == 1 else None


def root_keys(earlier: State, state: State, scheme: Scheme) -> tuple[list[int | None], int | None]:
    """The keys that the history of a state has in an earlier search, in each perspective, and its record; None if not known."""
    game, observer, replay = scheme.view(state.game), state.current_player(), earlier.clone()
    keys: list[int | None] = [plain(root_key)(perspective) for perspective in range(game.perspectives)]
    if scheme.root == ONCE:  # each tree is of a determinization, and others will be drawn
        return [None] * len(keys), None
    record: int | None = EMPTY_HISTORY
    for player, action in state.history[len(earlier.history) :]:
        moves, perspective = observed_moves(replay, player, action, scheme, observer), game.perspective(player)
        key, edge = keys[perspective], moves[perspective]
        record = None if key is None or edge is None else plain(extended)(key, player, edge)
        keys = [_extend_key(key, move) for key, move in zip(keys, moves, strict=True)]
        replay.apply_action(action)
    return keys, record


def _extend_key(key: int | None, move: int | None) -> int | None:
    if key is None or move is None:
        return None
    return key if move == UNSEEN else mix(key, move)


def keys_at_root(keys: Sequence[int | None], record: int | None, links: int) -> NewKeys:
    """The new keys of what stands at the root, with room for those that follow from so many links."""
    capacity = 1 << (2 * (links + 2 * len(keys) + 2)).bit_length()
    names = NewKeys(np.zeros(capacity + 1, np.int64), np.zeros(capacity + 1, np.int64))
    roots = [plain(root_key)(perspective) for perspective in range(len(keys))]
    pairs: list[tuple[int | None, int]] = [(old, NO_RECORD) for old in (EMPTY_HISTORY, *roots)]
    for old, new in [*pairs, *zip(keys, roots, strict=True), (record, EMPTY_HISTORY)]:
        if old is not None:
            place = plain(index_of)(names.old, old)
            names.old[place], names.new[place] = old, new
    return names


# ------------------------------------------------------------------------------------------------------ what is below the root


@helper
def follow_links(
    links: np.ndarray,
    old: np.ndarray,
    new: np.ndarray,
    index: np.ndarray,
    records: np.ndarray,
    visits: np.ndarray,
    players: int,
    below_root: np.ndarray,
) -> int:
    """Follow links from the keys that `old` and `new` hold already, and write those below the root to `below_root`; returns their number.

    Args:
        links: [links, LINK]
        old, new: a `NewKeys`, in which the keys at the new root stand, and those that are not below it.
        index, records, visits: of the baseline's table. [capacity] and [rows]
        players: κ where one perspective sees for all: a history is then in the tree where its record has visits. 0 elsewhere.
        below_root: [links, LINK]
    """
    count, again = 0, True
    while again:  # links of several threads may stand before those that they continue
        again, inserted = False, False
        for i in range(len(links)):
            key, part, kind = links[i, 0], links[i, 1], links[i, 2]
            parent, child = index_of(old, key), mix(key, part)
            row = index_of(old, child)
            if old[row] == child:
                continue
            if old[parent] != key:
                again = True
                continue
            below = new[parent] != NO_RECORD
            if below and kind == RECORD:
                below = row_index(index, records, child) != 0
            elif below and players > 0:
                below = False
                for player in range(-1, players):
                    below = below or visits[row_index(index, records, mix(key, part_of(player, part)))] > 0
            old[row], new[row], inserted = child, NO_RECORD, True
            if below:
                new[row] = mix(new[parent], part)
                below_root[count, 0], below_root[count, 1], below_root[count, 2] = new[parent], part, kind
                count += 1
        again = again and inserted
    return count


def follow_links_at(
    links: Address,
    count: int,
    old: Address,
    new: Address,
    names: int,
    index: Address,
    capacity: int,
    records: Address,
    visits: Address,
    rows: int,
    players: int,
    below_root: Address,
) -> int:
    """`follow_links`, by addresses and lengths."""
    return follow_links(
        matrix_at(links, count, LINK, _INT),
        array_at(old, names, _INT),
        array_at(new, names, _INT),
        array_at(index, capacity, ENTRY),
        array_at(records, rows, _INT),
        array_at(visits, rows, _COUNT),
        players,
        matrix_at(below_root, count, LINK, _INT),
    )


@functools.cache
def _kernel() -> Kernel:
    return Kernel(follow_links_at, 12, "links below a root")


def links_below(links: np.ndarray, names: NewKeys, table: Table, players: int, compiled: bool) -> np.ndarray:
    """The links below the root under their new keys, which are added to `names`; other arguments as of `follow_links`.

    Args:
        table: the baseline's.
        compiled: whether machine code does it.
    """
    used = np.zeros_like(links)
    rows = table.rows
    columns = table.entries, rows["record"], rows["visits"]
    arrays = [np.ascontiguousarray(a) for a in (links, *names, *columns, used)]
    if compiled:
        link, old, new, *columns_at, target = (array.ctypes.data for array in arrays)
        index, record, visit = columns_at
        count = _kernel()(
            link, len(links), old, new, len(names.old), index, table.capacity, record, visit, len(rows), players, target
        )
    else:
        count = interpret(follow_links)(*arrays[:-1], players, arrays[-1])
    return arrays[-1][:count].copy()


def rows_below(table: Table, histories_only: bool, names: NewKeys) -> np.ndarray:
    """The rows of a table that do not depend on the root, or are below it, under their new keys."""
    rows, mask = table.inserted_rows(), len(names.old) - 2
    places = rows["record"] & mask
    while (probing := (names.old[places] != rows["record"]) & (names.old[places] != NO_RECORD)).any():
        places[probing] = (places[probing] + 1) & mask
    moved, new = names.old[places] == rows["record"], names.new[places]
    rows["record"] = np.where(moved, new, rows["record"])
    return rows[np.where(moved, new != NO_RECORD, not histories_only)]
