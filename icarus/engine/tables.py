"""θ in memory: one hash table for each component, which grows without changing what it says; and what keys were made of."""

import ctypes
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from icarus.algebra import (
    ACTION,
    ACTIONS,
    HISTORY,
    MOVE,
    PLAYER,
    POSITION,
    Enhancement,
    Parts,
    Space,
)
from icarus.algebra.information import FieldValue
from icarus.checks import is_word
from icarus.compiler import WORD_BYTES, CompiledFunction, python_of, uninterrupted
from icarus.compiler.digest import kernel_cache
from icarus.engine.lowering import MOST, ByIdentity
from icarus.kernel import NO_ACTION, UNSEEN, AnyGame, Root, mix_arrays, read_only, seat_name
from icarus.kernel.theta import (
    ENTRY,
    ENTRY_BYTES,
    FILTER_SHARE,
    FULLEST,
    TABLE,
    enter_rows,
    has_room_for,
)

SMALLEST = 1 << 11  # entries in the index of a new table; at least FILTER_SHARE
MOST_ROWS = int(np.iinfo(ENTRY).max)
# records for which there is room beforehand; the system gives memory where it is touched
MOST_EXPECTED = 1 << 22
SMALL_TABLE = 1 << 17  # entries: below it a table becomes 8 times as large at once, above it twice
_INT, _NO_FILTER = np.dtype(np.int64), np.zeros(0, np.uint8)


def capacity_for(records: int, least: int) -> int:
    """The capacity of a table with room for so many records, `least` or a power of two times as much."""
    capacity = least
    while not python_of(has_room_for)(records, capacity):
        capacity *= 2
    return capacity


def address_in(array: Any) -> int:
    """The address of the numbers of an array, in a third of the time of `array.ctypes.data`."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array))


def room_in(capacity: int) -> int:
    """How many rows an index of this capacity may have, with that of the initial information."""
    return int(FULLEST * capacity) + 1


@functools.lru_cache(MOST)
def blank_row(component: ByIdentity, players: int) -> np.ndarray:
    """[1]: the initial information of the records of a component that are not given any other."""
    part: Enhancement = component.value
    row = np.zeros(1, part.information.row(players))
    _write_fields(row[0], part, part.initial.common)
    return row


def _write_fields(
    row: np.void, component: Enhancement, fields: Iterable[tuple[str, FieldValue]]
) -> None:
    """Write initial information into a row.

    Raises:
        ValueError: there are values for another number of players.
    """
    for name, value in fields:
        values = row[name]
        if np.ndim(value) and np.shape(value) != values.shape:
            raise ValueError(
                f"the initial information of {component} sets {name} to {value!r}; the game has {len(values)} players"
            )
        row[name] = value


class Descriptor(ctypes.Structure):
    """A `HashTable` in memory, for compiled code."""

    _fields_ = [(name, ctypes.c_int64) for name in TABLE.names or ()]


class RecordTable:
    """The records of one component, with room to grow.

    Args:
        records: that are expected, for which there is room to begin with.

    Attributes:
        root: where histories begin, by their keys.
        descriptor, address: for compiled code, and where it stands.
        entries: [capacity] of the index, which finds the rows.
        visit_filter: a Bloom filter of where a player has decided, a bit for each entry; empty where no slot asks.
    """

    def __init__(
        self, component: Enhancement, game: AnyGame, root: Root | None = None, records: int = 0
    ) -> None:
        self.component, self.game, self.root = component, game, root
        self._blank = blank_row(ByIdentity(component), game.players)
        self.dtype = self._blank.dtype
        self.descriptor: Any = Descriptor()
        self.address = ctypes.addressof(self.descriptor)
        self.visit_filter = _NO_FILTER
        self._room = self._blank
        capacity = capacity_for(min(records, MOST_EXPECTED), SMALLEST)
        self._hold(self._blank, self._blank[:0], capacity, capacity)
        if component.initial.given:
            hints = np.repeat(self._blank, len(component.initial.given))
            for row, (parts, fields) in zip(hints, component.initial.given, strict=True):
                row["record"] = component.records.key(game, parts, root)
                _write_fields(row, component, fields)
            self.insert_rows(hints)

    def _hold(self, rows: np.ndarray, more: np.ndarray, capacity: int, most: int) -> None:
        """Hold these rows, of which the first has the initial information, and `more` behind them, in an index of `capacity` entries.

        They stay where they are if there is room. If not, they are moved to a block with room for the rows of an index of `most` entries.
        """
        room = self._room
        row_words = self.dtype.itemsize // WORD_BYTES
        count = len(rows) + len(more)
        # rows that stand in another block, or have too little room, are copied
        if rows.base is not room.base or len(room) < room_in(capacity):
            if room_in(most) > MOST_ROWS:
                raise MemoryError(f"a table has {MOST_ROWS} rows at most")
            # Of memory that is not touched the system mostly has only promised that there is any.
            words = np.empty(room_in(most) * row_words, _INT)
            words[: rows.nbytes // WORD_BYTES] = rows.view(_INT)  # five times as fast as row by row
            room = np.ndarray(room_in(most), self.dtype, words)
        behind: Any = room.base
        behind[len(rows) * row_words : count * row_words] = np.ascontiguousarray(more).view(_INT)
        entries = np.zeros(capacity, ENTRY)
        index = address_in(entries)
        first = address_in(room.base)  # of the structured array it takes longer
        if count > 1:
            growth()(index, capacity, first, row_words, count - 1)
        self.entries, self._room = entries, room
        self.descriptor.index = index
        self.descriptor.rows = first
        self.descriptor.capacity = capacity
        self.descriptor.used = count - 1

    def with_rows(self, rows: np.ndarray) -> "RecordTable":
        """A table of the same component with these rows in place of its own."""
        table = RecordTable(self.component, self.game, self.root)
        table.insert_rows(rows)
        return table

    def insert_rows(self, rows: np.ndarray) -> None:
        """Enter rows, each of another record; one that is here already is replaced."""
        if len(rows) > 0:
            others = self.rows
            if self.used:
                others = others[~np.isin(others["record"], rows["record"])]
            with uninterrupted():
                capacity = capacity_for(len(others) + len(rows), self.capacity)
                self._hold(others, rows, capacity, capacity)

    def grow(self, room: int) -> None:
        """Make the table at least twice as large, and large enough for `room` more records.

        Raises:
            MemoryError: there is not so much memory, or entries cannot number so many rows; the table is as it was.
        """
        capacity = capacity_for(
            self.used + room, (8 if self.capacity < SMALL_TABLE else 2) * self.capacity
        )
        # A longer filter looks at more bits of a key, each of which may be 0 or 1 in a key that was noted.
        longer_filter = np.tile(self.visit_filter, capacity // self.capacity)
        with uninterrupted():  # all or nothing, whoever presses Ctrl-C
            most = max(capacity, min(8 * capacity, MOST_EXPECTED))
            self._hold(self.rows, self.rows[:0], capacity, most)
            self._filter(longer_filter)

    def filter_visits(self, everywhere: bool = False) -> None:
        """Have the loop note where a player decides.

        Args:
            everywhere: whether a player may have decided anywhere by now, in an earlier search whose records are reused.
        """
        marks = 255 if everywhere else 0
        self._filter(np.full(self.capacity // FILTER_SHARE, marks, np.uint8))

    def _filter(self, visit_filter: np.ndarray) -> None:
        self.visit_filter = visit_filter
        self.descriptor.visit_filter = address_in(visit_filter) if len(visit_filter) > 0 else 0

    @property
    def rows(self) -> np.ndarray:
        """[records + 1] of the row dtype; the first row holds the initial information."""
        return self._room[: self.used + 1]

    @property
    def capacity(self) -> int:
        return len(self.entries)

    @property
    def used(self) -> int:
        return int(self.descriptor.used)

    @property
    def nbytes(self) -> int:
        """Bytes at the capacity that its records need; it may have more."""
        each = ENTRY_BYTES + len(self.visit_filter) / self.capacity
        return int(each * capacity_for(self.used, SMALLEST)) + (self.used + 1) * self.dtype.itemsize

    def find(self, key: int) -> np.void | None:
        """The row of the record with this key, for reading only; None where it was never updated."""
        if not is_word(key):
            return None
        (place,) = self.places(np.array([key]))
        return read_only(self._room)[place] if place else None

    def places(self, keys: np.ndarray) -> np.ndarray:
        """The numbers of the rows of the records with these keys; 0, that of the initial information, where one was never updated."""
        mask = self.capacity - 1
        records = self._room["record"]
        entries = keys & mask
        places = self.entries[entries]
        # Keys whose entry is another record's go on to the next entry, until it is empty or their own.
        (others,) = np.nonzero((places != 0) & (records[places] != keys))
        while len(others) > 0:
            entries[others] = (entries[others] + 1) & mask
            places[others] = self.entries[entries[others]]
            at = places[others]
            others = others[(at != 0) & (records[at] != keys[others])]
        return places


@kernel_cache
def growth() -> CompiledFunction:
    """`enter_rows` as machine code."""
    return CompiledFunction(enter_rows, 5, "the growth of a table")


class Records(Mapping[Parts, np.void]):
    """What a search has learned about one enhancement's records.

    `records[parts]` looks a record up by its parts, (action, player) for MAST, (player, moves) for the baseline, and gives a row
    with named fields. Iteration is over keys, which look up too; `records.rows` is the whole as a structured array, sorted by key.
    """

    def __init__(self, enhancement: Enhancement, game: AnyGame, table: RecordTable) -> None:
        self.enhancement, self.game, self._table = enhancement, game, table

    @property
    def initial(self) -> np.void:
        """What is known of a record before its first update."""
        return read_only(self._table._blank)[0]

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """All rows, sorted by key, for reading only: a copy, made when first asked for."""
        return read_only(np.sort(self._table.rows[1:], order="record"))

    def key(self, parts: Parts) -> int:
        """The key of the record with these parts."""
        return self.enhancement.records.key(self.game, parts, self._table.root)

    def __getitem__(self, parts: Parts) -> np.void:
        row = self._table.find(
            int(parts) if isinstance(parts, int | np.integer) else self.key(parts)
        )
        if row is None:
            raise KeyError(
                f"{self.enhancement} has no record {parts!r}: the search has not updated it"
            )
        return row

    def __contains__(self, parts: object) -> bool:
        return (
            isinstance(parts, int | np.integer) or self.enhancement.records.has(parts)
        ) and super().__contains__(parts)

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows["record"].tolist())

    def __len__(self) -> int:
        return self._table.used

    def __repr__(self) -> str:
        return f"<{len(self)} records of {self.enhancement}>"


# ------------------------------------------ what a key was made of: the keys of all combinations of parts are computed


MOST_KEYS = 1 << 23  # that are computed for one space
OTHER = range(-2, 128)  # of a part that is neither an action, a move nor a player


def parts_of(
    keys: np.ndarray, space: Space, players: int, moves: Iterable[int]
) -> dict[int, tuple[int, ...]]:
    """The integers that `record` made these keys of, by key; those of histories, and of other parts than these, are left out.

    Args:
        moves: values of a part that is an action or a move.
    """
    values: dict[str, Sequence[int]] = dict.fromkeys(
        ACTION.factors + MOVE.factors, sorted({*moves, NO_ACTION, UNSEEN})
    )
    values |= dict.fromkeys(PLAYER.factors, range(-1, players))
    records: dict[int, tuple[int, ...]] = {}
    for each in space.alternatives:
        parts = [np.array(values.get(factor, OTHER)) for factor in each.factors]
        too_many = math.prod(map(len, parts)) > MOST_KEYS
        if too_many or {*each.factors} & {*HISTORY.factors, *POSITION.factors, *ACTIONS.factors}:
            continue
        mixed = np.zeros(1, np.int64)  # the keys of all combinations
        for numbers in parts:
            mixed = mix_arrays(mixed[:, None], numbers).ravel()
        for place in np.flatnonzero(np.isin(mixed, keys)):
            indices = np.unravel_index(place, [len(numbers) for numbers in parts])
            records[int(mixed[place])] = tuple(
                int(numbers[i]) for numbers, i in zip(parts, indices, strict=True)
            )
    return records


def parts_text(
    parts: Sequence[int], space: Space, game: AnyGame, move_text: Callable[[int], str]
) -> str:
    """The parts of a record in words, by the space that it is drawn from; of a union, in those of each space that may have it."""
    seats = range(-1, game.players)
    texts = dict[str, None]()

    def text(part: int, factor: str) -> str:
        if factor in ACTION.factors + MOVE.factors:
            return move_text(part)
        return seat_name(game, part) if factor in PLAYER.factors else str(part)

    for each in space.alternatives:
        pairs = [*zip(parts, each.factors, strict=False)]
        has_seats = all(part in seats for part, factor in pairs if factor in PLAYER.factors)
        if len(parts) == len(each.factors) and has_seats:
            texts[f"({', '.join(text(*pair) for pair in pairs)})"] = None
    return " or ".join(texts)
