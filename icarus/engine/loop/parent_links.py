"""Lineage: which history each record of the tree continues, so that records can live on below the moves that have been played.

The key of a history is made of the key of the one before and of one part more, and does not tell of what. So a search notes, when a
record of the tree is about to be entered, the key that it continues and the part; and for each key that it so mentions, in the eyes of the
perspective whose key it is, the moves that lead there. When the root moves on, all keys below the new root are made again from there, as
though a search had begun there, and whatever is not below is known to be dead.
"""

import functools
from typing import NamedTuple

import numpy as np

from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.kernels.pointers import WORD_BYTES, array_at, matrix_at, struct_at
from icarus.engine.loop.arena import DONE, MORE_LINKS, Arena
from icarus.engine.program.structures import COMPONENT
from icarus.kernel import EXPANSION, NO_RECORD, SIMULATION, UNSEEN, helper, mix
from icarus.kernel.history import PLAYOUT, STEP, part_of
from icarus.kernel.theta import TABLE, index_of, place_of

_INT, _COUNT = np.dtype(np.int64), np.dtype(np.int32)
MOVE, RECORD = 0, 1  # kinds of links: a perspective's history continued by a move; and by an action, whose record it is
LINK = 3  # numbers of a link: the key that is continued, the part that continues it, and the kind


@helper
def add_link(links: np.ndarray, count: int, key: int, part: int, kind: int) -> int:
    """Note one more link; returns how many there are. Without room they are only counted."""
    if count < len(links):
        links[count, 0], links[count, 1], links[count, 2] = key, part, kind
    return count + 1


@helper
def add_moves(steps: np.ndarray, keys: np.ndarray, moves: np.ndarray, t: int, links: np.ndarray, count: int) -> int:
    """Note the moves by which the player of step t came there from his last decision, or from the root; returns the number of links.

    What led to that decision was noted when the records of its actions were.
    """
    perspective, first = steps[t].perspective, t - 1
    while first >= 0 and steps[first].perspective != perspective:
        first -= 1
    for i in range(max(first, 0) + 1, t + 1):
        if moves[i, perspective] != UNSEEN:
            count = add_link(links, count, keys[i - 1, perspective], moves[i, perspective], MOVE)
    return count


@helper
def is_inserted(records: np.ndarray, key: int) -> bool:
    """Whether a record is among the keys of a table."""
    return records[index_of(records, key)] == key


@helper
def parent_links_of(
    steps: np.ndarray, keys: np.ndarray, moves: np.ndarray, legal: np.ndarray, records: np.ndarray, links: np.ndarray
) -> int:
    """Note the links of the records that a finished playout adds to the tree; returns how many.

    Args:
        steps, keys, moves, legal: as in `History`.
        records: the keys of the baseline's table, before the playout is backpropagated. [capacity + 1]
        links: room for them. [room, LINK]
    """
    count, t = 0, 0
    while t < len(steps) - 1 and steps[t].phase != SIMULATION:
        step = steps[t]
        if step.phase == EXPANSION:  # elsewhere all actions have visits, and so records
            key, led = keys[t, step.perspective], False
            for i in range(step.first, step.first + step.count):
                part = part_of(step.player, legal[i])
                if not is_inserted(records, mix(key, part)):
                    if not led:
                        count, led = add_moves(steps, keys, moves, t, links, count), True
                    count = add_link(links, count, key, part, RECORD)
        t += 1
    return count


@helper
def add_parent_links(a: Arena) -> int:
    """Note the links of the playout under way behind those that are kept; DONE or MORE_LINKS."""
    playout, buffers = struct_at(a.buffers.playout, PLAYOUT), a.buffers
    length, perspectives = playout.length, playout.perspectives
    table = struct_at(struct_at(a.composition.component, COMPONENT).table, TABLE)
    words = a.composition.row_words
    rows = matrix_at(table.rows, table.capacity + 1, words, _INT)
    a.pending.links = a.counts.links + parent_links_of(
        array_at(playout.steps, length, STEP),
        matrix_at(playout.keys, length, perspectives, _INT),
        matrix_at(playout.moves, length, perspectives, _INT),
        array_at(playout.legal, playout.legal_length, _INT),
        rows[:, 0],
        matrix_at(
            buffers.links + WORD_BYTES * LINK * a.counts.links, buffers.link_capacity - a.counts.links, LINK, _INT
        ),
    )
    return DONE if a.pending.links <= buffers.link_capacity else MORE_LINKS


# ------------------------------------------------------------------------------------------------------ when the root moves


class Renamed(NamedTuple):
    """New keys by old ones, as a hash table with linear probing: NO_RECORD for what is dead."""

    old: np.ndarray  # [capacity + 1]
    new: np.ndarray  # [capacity + 1]


@helper
def rename(
    links: np.ndarray,
    old: np.ndarray,
    new: np.ndarray,
    records: np.ndarray,
    visits: np.ndarray,
    players: int,
    kept: np.ndarray,
) -> int:
    """Follow links from the keys that `old` and `new` hold already, and write the links that live on to `kept`; returns their number.

    Args:
        links: [links, LINK]
        old, new: a `Renamed`, in which the keys at the new root stand, and dead ones.
        records, visits: of the baseline, what has lived on. [capacity + 1]
        players: κ where one perspective sees for all: a history is then in the tree where its record has visits. 0 elsewhere.
        kept: [links, LINK]
    """
    count, again = 0, True
    while again:  # links of several threads may stand before those that they continue
        again, entered = False, False
        for i in range(len(links)):
            key, part, kind = links[i, 0], links[i, 1], links[i, 2]
            place, child = index_of(old, key), mix(key, part)
            at = index_of(old, child)
            if old[at] == child:
                continue
            if old[place] != key:
                again = True
                continue
            alive = new[place] != NO_RECORD
            if alive and kind == RECORD:
                alive = records[index_of(records, child)] == child
            elif alive and players > 0:
                alive = False
                for player in range(-1, players):
                    alive = alive or visits[place_of(records, mix(key, part_of(player, part)))] > 0
            old[at], new[at], entered = child, NO_RECORD, True
            if alive:
                new[at] = mix(new[place], part)
                kept[count, 0], kept[count, 1], kept[count, 2] = new[place], part, kind
                count += 1
        again = again and entered
    return count


@helper
def look_up(old: np.ndarray, new: np.ndarray, keys: np.ndarray, found: np.ndarray, known: np.ndarray) -> int:
    """For each of some keys the new one, and whether there is any."""
    for i in range(len(keys)):
        at = index_of(old, keys[i])
        known[i] = old[at] == keys[i]
        found[i] = new[at] if known[i] else NO_RECORD
    return 0


def rename_at(
    links: int,
    count: int,
    old: int,
    new: int,
    names: int,
    records: int,
    visits: int,
    rows: int,
    players: int,
    kept: int,
) -> int:
    """`rename`, by addresses and lengths."""
    return rename(
        matrix_at(links, count, LINK, _INT),
        array_at(old, names, _INT),
        array_at(new, names, _INT),
        array_at(records, rows, _INT),
        array_at(visits, rows, _COUNT),
        players,
        matrix_at(kept, count, LINK, _INT),
    )


def look_up_at(old: int, new: int, names: int, keys: int, count: int, found: int, known: int) -> int:
    """`look_up`, by addresses and lengths."""
    renamed = array_at(old, names, _INT), array_at(new, names, _INT)
    return look_up(*renamed, array_at(keys, count, _INT), array_at(found, count, _INT), array_at(known, count, _INT))


@functools.cache
def _renaming() -> Kernel:
    return Kernel(rename_at, 10, "new keys below a root")


@functools.cache
def _looking_up() -> Kernel:
    return Kernel(look_up_at, 7, "look-up of new keys")


def rename_compiled(
    links: np.ndarray,
    old: np.ndarray,
    new: np.ndarray,
    records: np.ndarray,
    visits: np.ndarray,
    players: int,
    kept: np.ndarray,
) -> int:
    """`rename` as machine code; arrays are contiguous."""
    at = [array.ctypes.data for array in (links, old, new, records, visits, kept)]
    return _renaming()(at[0], len(links), at[1], at[2], len(old), at[3], at[4], len(records), players, at[5])


def look_up_compiled(old: np.ndarray, new: np.ndarray, keys: np.ndarray, found: np.ndarray, known: np.ndarray) -> int:
    """`look_up` as machine code; arrays are contiguous."""
    at = [array.ctypes.data for array in (old, new, keys, found, known)]
    return _looking_up()(at[0], at[1], len(old), at[2], len(keys), at[3], at[4])
