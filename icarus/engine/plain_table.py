"""Tables of records for the search in plain Python, which grow without machine code."""

import functools
from typing import Any

import numpy as np

from icarus.compiler.interpreted import Interpreter
from icarus.engine.entries import KEYLESS, counts_in
from icarus.engine.tables import Table
from icarus.kernel import NO_RECORD
from icarus.kernel.theta import has_room_for, index_of

has_room_for, index_of = map(Interpreter(), (has_room_for, index_of))


class PlainTable(Table):
    """A table that grows without machine code."""

    @functools.cached_property
    def counts(self) -> tuple[str, ...]:
        """The fields that count."""
        return counts_in(self.dtype)

    def grow(self, room: int) -> None:
        capacity, held = 2 * self.capacity, self.records()
        while not has_room_for(self.used + room, capacity):
            capacity *= 2
        rows = self._empty(capacity)
        for row in held:
            i = int(row["record"]) & (capacity - 1)
            while rows[i]["record"] != NO_RECORD:
                i = (i + 1) & (capacity - 1)
            rows[i] = row
        self._held = self._next = rows
        self.descriptor["rows"], self.descriptor["capacity"] = rows.ctypes.data, capacity

    def fill(self, other: Table) -> None:
        """Hold what another table of the same component holds."""
        self._held = self._next = other.rows.copy()
        self.descriptor["rows"], self.descriptor["capacity"] = self._held.ctypes.data, other.capacity
        self.descriptor["used"] = other.used

    def entered(self, key: int) -> Any:
        """The row of a record, entered with the initial information if it is new."""
        if not has_room_for(self.used + 1, self.capacity):
            self.grow(1)
        rows: Any = self.rows.view(np.recarray)
        row = rows[index_of(rows.record, key)]
        if key == NO_RECORD:
            raise ValueError(KEYLESS)
        if row.record == NO_RECORD:
            for name in self.dtype.names or ():
                row[name] = self.blank[name]
            row.record = key
            self.descriptor["used"] += 1
        return row
