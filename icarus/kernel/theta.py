"""θ as compiled functions meet it: rows that an index finds by the key of a record, and the updates that a playout asks for."""

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from icarus.compiler import (
    array_at,
    inlined,
    matrix_at,
    numba,
    offset_of,
    overload,
    prefetch,
    struct_at,
    types,
)
from icarus.kernel.contract import Address, Integer, Row, Theta, Updates, structure

_INT, _BYTE = np.dtype(np.int64), np.dtype(np.uint8)

NO_RECORD = 0  # the key that no record has: what is known of it is the initial information
FULLEST = 0.4  # share of an index that may be used
ENTRY = np.dtype(np.uint32)  # of an index: the number of a row, 0 where it is empty
ENTRY_BYTES = ENTRY.itemsize
FILTER_SHARE = 8  # entries of an index for each byte of its filter
VISIT, AVAILABLE = 0, 1  # the contexts ψ_visit and ψ_avail


class HashTable:
    """Rows of records in order of creation, and a hash table with linear probing that finds them, as in a dictionary of Python.

    Rows are several times as wide as entries, and have no gaps.
    """

    rows: Address  # [used + 1], with room for more; the first one holds the initial information
    index: Address  # [capacity] of entries
    capacity: int  # a power of two
    visit_filter: Address  # [capacity / FILTER_SHARE] bytes, where anybody asks (`is_marked`)
    used: int  # rows that hold a record


TABLE = structure(HashTable)


@inlined
def _filter_at(table: HashTable, key: int) -> np.ndarray:
    """[1] byte with the mark of a key."""
    return array_at(table.visit_filter + (key >> 3 & table.capacity // FILTER_SHARE - 1), 1, _BYTE)


@inlined
def mark(table: HashTable, key: int) -> None:
    """Note that somebody has decided at what has this key."""
    _filter_at(table, key)[0] |= np.uint8(1 << (key & 7))


@inlined
def is_marked(table: HashTable, key: int) -> bool:
    """Whether somebody has decided at what has this key, or another of the same lowest bits."""
    return _filter_at(table, key)[0] & np.uint8(1 << (key & 7)) != 0


@inlined
def index_at(table: HashTable) -> np.ndarray:
    """[capacity] entries of a table's index."""
    return array_at(table.index, table.capacity, ENTRY)


@inlined
def entry_of(index: np.ndarray, records: np.ndarray, key: int) -> int:
    """Which entry of an index tells of a record, or would, by the keys of rows; the latter is empty."""
    mask = len(index) - 1
    i = key & mask
    # Unsigned: never counted from the end.
    while records[index[np.uint64(i)]] != key and index[np.uint64(i)] != 0:
        i = (i + 1) & mask
    return i


@inlined
def row_index(index: np.ndarray, records: np.ndarray, key: int) -> Integer:
    """The row where a record's information stands; 0, that of the initial information, where it was never updated."""
    return np.int64(index[np.uint64(entry_of(index, records, key))])


@inlined
def write_initial(plain: np.ndarray, words: int, i: int) -> None:
    """Give row i of a table, seen as words, the initial information, which the first row holds; its key is left as it is."""
    for word in range(1, words):
        plain[i * words + word] = plain[word]


@inlined
def has_room_for(used: int, capacity: int) -> bool:
    """Whether an index of so many entries works well with so many of them used."""
    return used <= FULLEST * capacity


@inlined
def find(theta: Theta, key: int) -> Row:
    """θ(r): the information of the record with this key, as a row with named fields; not to be changed."""
    return theta.rows[row_index(theta.entries, theta.rows["record"], key)]


def reward_of(row: Row, player: int) -> float:
    """q_ρ: a row's total reward, or its component for a player where it is a vector."""
    return row.reward[player] if isinstance(row.reward, np.ndarray) else row.reward


@overload(reward_of)
def _compiled_reward_of(row: Any, player: Any) -> Callable:
    if isinstance(row.typeof("reward"), types.NestedArray):

        def implementation(row: Any, player: Any) -> float:
            return row.reward[player]
    else:

        def implementation(row: Any, player: Any) -> float:
            return row.reward

    return implementation


class UpdateBuffer:
    """Room for the updates of one playout."""

    records: Address  # [capacity] keys and contexts
    contexts: Address
    capacity: int
    count: int  # asked for; more than `capacity` where there was no room


UPDATES = structure(UpdateBuffer)
_COUNT = offset_of(UPDATES, "count")


def _right(parts: bool) -> str:
    """What would be right instead of a float, or of the parts of a record."""
    return "make a key of the parts, record(a, b, …)" if parts else "a float would be truncated"


def as_integer(number: Integer) -> int:
    """The number itself, which must be an integer: compiled code would cut a real down to one."""
    try:
        return index(number)
    except TypeError:
        raise TypeError(
            f"update(updates, record, context) takes integers, not {number!r}; {_right(isinstance(number, tuple))}"
        ) from None


@overload(as_integer)
def _compiled_as_integer(number: Any) -> Callable:
    if not isinstance(number, types.Integer | types.Boolean | types.IntegerLiteral):
        raise numba.TypingError(
            f"update(updates, record, context) takes integers, not {number}; {_right(isinstance(number, types.BaseTuple))}"
        )

    def implementation(number: Any) -> int:
        return number

    return implementation


@inlined
def update(updates: Updates, key: Integer, context: Integer) -> None:
    """Ask for one more update of a record, with a context for the backpropagation function."""
    count = updates.total[0]
    # Beyond it only counted: the playout is run again with more room.
    if count < len(updates.records):
        updates.records[count] = as_integer(key)
        updates.contexts[count] = as_integer(context)
    updates.total[0] = count + 1


@inlined
def updates_at(address: int) -> Updates:
    """The updates that an UPDATES structure at an address describes."""
    room = struct_at(address, UPDATES)
    return Updates(
        array_at(room.records, room.capacity, _INT),
        array_at(room.contexts, room.capacity, _INT),
        array_at(address + _COUNT, 1, _INT),
    )


AHEAD = 12  # records; their entries of the index are fetched meanwhile


def enter_rows(address: int, capacity: int, rows: int, row_words: int, count: int) -> int:
    """Enter rows 1, …, `count` of a table into an empty index at an address: each at the first free entry from its own on."""
    index = array_at(address, capacity, ENTRY)
    keys = matrix_at(rows, count + 1, row_words, _INT)[:, 0]
    for i in range(1, count + 1):
        prefetch(address + ENTRY_BYTES * (keys[min(i + AHEAD, count)] & (capacity - 1)))
        index[np.uint64(entry_of(index, keys, keys[i]))] = i
    return 0
