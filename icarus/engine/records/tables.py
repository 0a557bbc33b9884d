"""θ in memory: one hash table for each component, which grows without changing what it says."""

import ctypes
import functools
import mmap
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.information import Parts
from icarus.compiler.functions import plain
from icarus.compiler.kernel import Kernel
from icarus.compiler.memory import WORD_BYTES, array_at, foreign3, matrix_at, struct_at
from icarus.engine.records.memory import LARGE, check_memory, memory_left
from icarus.kernel.data import read_only
from icarus.kernel.game import AnyGame
from icarus.kernel.history import Root
from icarus.kernel.theta import ENTRY, ENTRY_BYTES, FULLEST, MARKS, TABLE, entry_of, has_room_for, index_at

SMALLEST = 1 << 11  # entries in the index of a new table
LEAP = 64  # times larger at most does a table become at once
_INT = np.dtype(np.int64)


class RecordTable(Protocol):
    """The records of one component, as either engine holds them."""

    component: Enhancement
    root: Root | None

    @property
    def game(self) -> AnyGame: ...

    def find(self, key: int) -> np.void | None:
        """The row of the record with this key; None where it was never updated."""

    def insert_rows(self, rows: np.ndarray) -> None:
        """Insert rows, each of another record; one that is here already is replaced."""


def capacity_for(records: int, least: int) -> int:
    """The capacity of a table with room for so many records, `least` or a power of two times as much."""
    capacity = least
    while not plain(has_room_for)(records, capacity):
        capacity *= 2
    return capacity


class Capacities:
    """The capacities that the tables of the last searches needed, by what was searched how; the oldest are forgotten."""

    def __init__(self, most: int = 256) -> None:
        self._most, self._needed = most, OrderedDict[Hashable, tuple[int, ...]]()

    def note(self, searched: Hashable, tables: Sequence["Table"]) -> None:
        """Note what the tables of a search have needed."""
        self._needed[searched] = tuple(table.needed for table in tables)
        self._needed.move_to_end(searched)
        while len(self._needed) > self._most:
            self._needed.popitem(last=False)

    def expected_capacity(self, searched: Hashable, index: int) -> int:
        """What the table of this index is expected to need; 0 where nothing is known."""
        return self._needed[searched][index] if searched in self._needed else 0


class Block(NamedTuple):
    """What a table stands in. Of rows that are not used yet the system mostly has only promised the memory."""

    entries: np.ndarray  # [capacity] of the index
    rows: np.ndarray  # [room_in(capacity)]


def initial_row(component: Enhancement, row: np.dtype) -> np.ndarray:
    """[1] of the row dtype of a component: the initial information of its records."""
    initial = np.zeros(1, row)
    for name, value in component.initial.common:
        initial[name] = value
    return initial


def room_in(capacity: int) -> int:
    """How many rows an index of this capacity may have, with that of the initial information."""
    return int(FULLEST * capacity) + 1


def size_of(capacity: int, rows: int, row: np.dtype) -> int:
    """Bytes of an index and of so many rows."""
    return ENTRY_BYTES * capacity + rows * row.itemsize


class Table:
    """The records of one component, with room to grow.

    Attributes:
        root: where histories begin, by their keys.
        descriptor: [1] of TABLE, for compiled code.
    """

    def __init__(self, component: Enhancement, game: AnyGame, root: Root | None = None) -> None:
        self.component, self.game, self.dtype = component, game, component.information.row(game.players)
        self.root = root
        self.descriptor = np.zeros(1, TABLE)
        self._blank = initial_row(component, self.dtype)
        # before and after the growth that is under way, or the last one:
        self._block = self._next = self._empty(SMALLEST)
        self._write_addresses(self._block)
        self._marks = {0: np.zeros(0, np.uint8)}  # by address: one more than is used while they grow
        for parts, fields in component.initial.given:
            self._enter(component.records.key(game, parts, root), dict(fields))

    @classmethod
    def of_block(cls, component: Enhancement, game: AnyGame, block: Block, root: Root | None = None) -> "Table":
        """A table for reading only, which stands in a block whose rows are all used."""
        table = cls.__new__(cls)
        table.component, table.game, table.dtype = component, game, component.information.row(game.players)
        table.root = root
        table.descriptor, table._blank = np.zeros(1, TABLE), initial_row(component, table.dtype)
        table._block = table._next = block
        table._write_addresses(block)
        table.descriptor["used"], table._marks = len(block.rows) - 1, {0: np.zeros(0, np.uint8)}
        return table

    def _empty(self, capacity: int) -> Block:
        """A block without a record, but with the row of the initial information."""
        rows = np.empty(room_in(capacity), self.dtype)
        rows[0] = self._blank[0]
        return Block(np.zeros(capacity, ENTRY), rows)

    def _write_addresses(self, block: Block) -> None:
        self.descriptor["rows"], self.descriptor["index"] = block.rows.ctypes.data, block.entries.ctypes.data
        self.descriptor["capacity"] = len(block.entries)

    @property
    def _in_use(self) -> Block:
        if self._next is self._block:
            return self._block
        return self._next if int(self.descriptor["rows"][0]) == self._next.rows.ctypes.data else self._block

    @property
    def entries(self) -> np.ndarray:
        """[capacity] of the index, which finds the rows."""
        return self._in_use.entries

    @property
    def rows(self) -> np.ndarray:
        """[records + 1] of the row dtype; the first row holds the initial information."""
        return self._in_use.rows[: self.used + 1]

    def _enter(self, key: int, fields: Mapping[str, float]) -> None:
        if not plain(has_room_for)(self.used + 1, self.capacity):
            self.grow(1)
        index, rows = self._in_use
        entry = plain(entry_of)(index, rows["record"], key)
        if index[entry] == 0:
            self.descriptor["used"] += 1
            index[entry] = self.used
        place = index[entry]
        rows[place] = self._blank[0]
        row = rows[place]
        row["record"] = key
        for name, value in fields.items():
            row[name] = value

    def insert_rows(self, rows: np.ndarray) -> None:
        """Enter rows, each of another record; one that is here already is replaced."""
        if not plain(has_room_for)(self.used + len(rows), self.capacity):
            self.grow(len(rows))
        block = np.ascontiguousarray(rows)
        _insertion()(self.descriptor.ctypes.data, block.ctypes.data, len(block), self.dtype.itemsize // WORD_BYTES)

    def with_rows(self, rows: np.ndarray) -> "Table":
        """A table of the same component that knows these rows, beside what is given to begin with."""
        table = Table(self.component, self.game, self.root)
        table.insert_rows(rows)
        return table

    @property
    def blank(self) -> np.void:
        """The row of the initial information."""
        return read_only(self._blank)[0]

    @property
    def capacity(self) -> int:
        return len(self.entries)

    @property
    def used(self) -> int:
        return int(self.descriptor["used"][0])

    @property
    def nbytes(self) -> int:
        return self.entries.nbytes + self.rows.nbytes + self.decided.nbytes

    @property
    def needed(self) -> int:
        """The capacity that its records need; it may have more."""
        return capacity_for(self.used, SMALLEST)

    @property
    def decided(self) -> np.ndarray:
        """The bytes that mark where a player has decided in the tree (`decided_at`); none where no slot reads them."""
        return self._marks[int(self.descriptor["decided"][0])]

    def mark_decisions(self, everywhere: bool = False) -> None:
        """Have the loop mark where a player has decided in the tree; earlier searches may have, anywhere, where records are reused."""
        self._mark_in(np.full(MARKS * self.capacity, everywhere, np.uint8))

    def _mark_in(self, decided: np.ndarray) -> None:
        address = decided.ctypes.data
        self._marks[address] = decided
        self.descriptor["decided"] = address  # whoever presses Ctrl-C, the array in use is kept
        self._marks = {address: decided}

    def grow(self, room: int, expected: int = 0) -> None:
        """Make the table at least twice as large, and large enough for `room` more records. The old rows are emptied.

        Args:
            expected: the capacity that it will probably reach; it grows LEAP times as large at most.

        Raises:
            MemoryError: there is not so much memory, or entries cannot number so many rows; the table is as it was.
        """
        capacity = capacity_for(self.used + room, 2 * self.capacity)
        larger = max(capacity, min(expected, LEAP * self.capacity))
        size = size_of(larger, room_in(larger), self.dtype)
        if size < LARGE or size < memory_left():
            capacity = larger
        check_memory(size_of(capacity, room_in(capacity), self.dtype) - self.rows.nbytes)
        if room_in(capacity) > np.iinfo(ENTRY).max:
            raise MemoryError(f"a table has {np.iinfo(ENTRY).max} rows at most")
        copied, give_back = _rehash(), _give_back() if self.rows.nbytes >= LARGE else 0
        if len(self.decided) > 0:  # more bits of a key will count; the first copy of the marks is for the rows of now
            self._mark_in(np.tile(self.decided[: MARKS * self.capacity], capacity // self.capacity))
        self._block, self._next = self._in_use, self._empty(capacity)
        copied(
            self.descriptor.ctypes.data,
            self._next.entries.ctypes.data,
            self._next.rows.ctypes.data,
            capacity,
            self.dtype.itemsize // WORD_BYTES,
            give_back,
        )
        self._block = self._next

    def snapshot(self) -> "Table":
        """The table as it is now, for reading only: a copy that later updates do not change."""
        return self.of_block(self.component, self.game, Block(self.entries.copy(), self.rows.copy()), self.root)

    def find(self, key: int) -> np.void | None:
        """The row of the record with this key, for reading only; None where it was never updated."""
        entries, rows = self._in_use
        place = entries[plain(entry_of)(entries, rows["record"], key)]
        return read_only(rows)[place] if place else None

    def inserted_rows(self) -> np.ndarray:
        """The rows that hold a record: a copy."""
        return self.rows[1:].copy()

    def records(self) -> np.ndarray:
        """The rows that hold a record, sorted by key: a copy."""
        return np.sort(self.inserted_rows(), order="record")


def rehash(table: int, index: int, rows: int, capacity: int, words: int, give_back: int) -> int:
    """Move every record of a table to an empty block, and have it work with this: all or nothing, whoever presses Ctrl-C.

    Pages of the old rows that have been read go back to the system (`give_back`, the address of madvise; 0 where they are few, and will be
    of use again) while the new ones are filled, so that a large table needs little more memory while it grows than when it has.
    """
    descriptor = struct_at(table, TABLE)
    count, mask, entries = descriptor.used + 1, capacity - 1, array_at(index, capacity, ENTRY)
    old, new = matrix_at(descriptor.rows, count, words, _INT), matrix_at(rows, count, words, _INT)
    released = -(-descriptor.rows // GIVEN_BACK) * GIVEN_BACK
    for i in range(count):
        if give_back != 0 and descriptor.rows + WORD_BYTES * words * i >= released + GIVEN_BACK:
            foreign3(give_back, (released, GIVEN_BACK, UNNEEDED))
            released += GIVEN_BACK
        for word in range(words):
            new[i, word] = old[i, word]
        if i > 0:
            e = new[i, 0] & mask
            while entries[np.uint64(e)] != 0:
                e = (e + 1) & mask
            entries[np.uint64(e)] = i
    descriptor.rows, descriptor.index, descriptor.capacity = rows, index, capacity
    return 0


def insert_rows(table: int, source: int, count: int, words: int) -> int:
    """Enter so many rows, which stand at an address, into a table that has room for them."""
    descriptor = struct_at(table, TABLE)
    rows, new = matrix_at(descriptor.rows, descriptor.capacity, words, _INT), matrix_at(source, count, words, _INT)
    index = index_at(descriptor)
    for i in range(count):
        e = entry_of(index, rows[:, 0], new[i, 0])
        if index[e] == 0:
            descriptor.used += 1
            index[e] = descriptor.used
        for word in range(words):
            rows[index[e], word] = new[i, word]
    return 0


GIVEN_BACK = max(1 << 20, mmap.PAGESIZE)  # bytes at a time
UNNEEDED = getattr(mmap, "MADV_DONTNEED", 0)


@functools.cache
def _give_back() -> int:
    """The address of madvise; 0 where the system has none."""
    function = getattr(ctypes.CDLL(None), "madvise", None) if UNNEEDED else None
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function is not None else 0


@functools.cache
def _insertion() -> Kernel:
    return Kernel(insert_rows, 4, "rows for a table")


@functools.cache
def _rehash() -> Kernel:
    return Kernel(rehash, 6, "growth of a table")


class Records(Mapping[Parts, np.void]):
    """What a search has learned about one enhancement's records.

    `records[parts]` looks a record up by its parts, (action, player) for MAST, (player, moves) for the baseline, and gives a row
    with named fields. Iteration is over keys, which look up too; `records.rows` is the whole as a structured array, sorted by key.
    """

    def __init__(self, enhancement: Enhancement, game: AnyGame, table: Table) -> None:
        self.enhancement, self.game, self._table = enhancement, game, table

    @property
    def initial(self) -> np.void:
        """What is known of a record before its first update."""
        return self._table.blank

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """All rows, sorted by key, for reading only: a copy, made when first asked for."""
        return read_only(self._table.records())

    def key(self, parts: Parts) -> int:
        """The key of the record with these parts."""
        return self.enhancement.records.key(self.game, parts, self._table.root)

    def __getitem__(self, parts: Parts) -> np.void:
        row = self._table.find(int(parts) if isinstance(parts, int | np.integer) else self.key(parts))
        if row is None:
            raise KeyError(f"{self.enhancement} has no record {parts!r}: the search has not updated it")
        return row

    def __contains__(self, parts: object) -> bool:
        if not isinstance(parts, int | np.integer):
            return self.enhancement.records.has(parts) and self._table.find(self.key(cast(Parts, parts))) is not None
        return self._table.find(int(parts)) is not None

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows["record"].tolist())

    def __len__(self) -> int:
        return self._table.used

    def __repr__(self) -> str:
        return f"<{len(self)} records of {self.enhancement}>"
