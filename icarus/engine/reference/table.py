"""θ in plain Python: a dictionary of rows, whose fields only a backpropagation function writes."""

import functools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.information import FieldValues
from icarus.engine.slot_kernels import COUNT_OVERFLOW, FULL, KEYLESS, negative_message, with_capture
from icarus.engine.tables import SMALLEST, Table, capacity_for, initial_row, size_of
from icarus.kernel import NO_RECORD
from icarus.kernel.history import Root
from icarus.kernel.python_game import PythonGame

_set = object.__setattr__


class Row:
    """The information of one record, its fields as attributes; it can be written only while it is open.

    Raises:
        ValueError: it is written while it is read-only.
        TypeError: a float is written to an integer; compiled code is refused for it.
    """

    __slots__ = ("_opened",)
    _opened: bool
    KINDS: ClassVar[dict[str, str]] = {}  # of each field: i, f, or with a star an array of them

    def __setattr__(self, field: str, value: float | np.ndarray) -> None:
        if not self._opened:
            raise ValueError(
                f"{field} of a record is written where θ is read-only; only backpropagation functions write it"
            )
        kind = self.KINDS.get(field, "")
        if kind.startswith("i") and type(value) is not int and np.asarray(value).dtype.kind == "f":
            raise TypeError(
                f"a backpropagation function writes the float {value} to {field}, which would truncate it to an integer"
            )
        if kind.endswith("*"):
            getattr(self, field)[...] = value
        else:
            _set(self, field, int(value) if kind == "i" else float(value) if kind == "f" else value)

    def __getattr__(self, field: str) -> Any:
        raise AttributeError(f"the information of a record has no field {field!r}; it has {', '.join(self.KINDS)}")

    def __getitem__(self, field: str) -> Any:
        return getattr(self, field)

    def __setitem__(self, field: str, value: float | np.ndarray) -> None:
        setattr(self, field, value)

    def __repr__(self) -> str:
        return f"<{', '.join(f'{name}={getattr(self, name)}' for name in self.KINDS)}>"


def open_row(row: Row, opened: bool = True) -> None:
    """Let a row be written, or no more."""
    _set(row, "_opened", opened)
    for field, kind in row.KINDS.items():
        if kind.endswith("*"):
            getattr(row, field).flags.writeable = opened


def row_of(data: np.void) -> Row:
    """The row that an array [] of an information's dtype tells, not open."""
    row = _kind_of(data.dtype)()
    for field in row.KINDS:
        _set(row, field, data[field].copy() if data[field].ndim else data[field].item())
    open_row(row, False)
    return row


@functools.cache
def _kind_of(dtype: np.dtype) -> type[Row]:
    names = dtype.names or ()
    kinds = {name: dtype[name].base.kind + "*" * bool(dtype[name].shape) for name in names}
    return type("Row", (Row,), {"__slots__": names, "KINDS": kinds})


class ReferenceTheta:
    """θ of one component, as slots read it."""

    def __init__(self, rows: dict[int, Row], initial: Row) -> None:
        self._rows, self._initial = rows, initial

    def find(self, key: int) -> Row:
        """θ(r)."""
        return self._rows.get(key, self._initial)


class ReferenceTable:
    """The records of one component."""

    def __init__(self, component: Enhancement, game: PythonGame) -> None:
        self.component, self.game, self.dtype = component, game, component.information.row(game.players)
        kinds = {name: self.dtype[name].base for name in self.dtype.names or ()}
        self.counts = [name for name, kind in kinds.items() if kind == np.int32]
        self.reals = [name for name, kind in kinds.items() if kind == np.float64]
        self.theta_is_captured = component.capture.reads_theta
        self._blank = initial_row(component, self.dtype)
        self._rows: dict[int, Row] = {}
        self.theta = ReferenceTheta(self._rows, row_of(self.blank))
        self.begin_at(None)

    def begin_at(self, root: Root | None) -> None:
        """Have histories begin at a root, with what is given to begin with."""
        self._rows.clear()
        self.root = root
        for parts, fields in self.component.initial.given:
            self.enter(self.component.records.key(self.game, parts, root), dict(fields))

    @property
    def blank(self) -> np.void:
        """The row of the initial information."""
        return self._blank[0]

    @property
    def rows(self) -> Mapping[int, Row]:
        """The rows that hold a record, by key."""
        return self._rows

    @property
    def used(self) -> int:
        """How many records it holds."""
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """As much as a table for compiled code takes."""
        return size_of(capacity_for(self.used, SMALLEST), self.used + 1, self.dtype)

    def holds(self, key: int) -> bool:
        """Whether a record has entered it."""
        return key in self._rows

    def enter(self, key: int, fields: FieldValues) -> None:
        """Enter what is known of a record."""
        row = self.open(key)
        for name, value in fields.items():
            row[name] = value if isinstance(value, float | int) else np.array(value)
        open_row(row, False)

    def open(self, key: int) -> Row:
        """The row of a record, entered with the initial information if it is new, and open.

        Raises:
            ValueError: the key that no record has.
        """
        row = self._rows.get(key)
        if row is None:
            if key == NO_RECORD:
                raise ValueError(with_capture(KEYLESS, self.component.capture.label(), self.component.name))
            row = row_of(self.blank)
            _set(row, "record", int(key))
            self._rows[int(key)] = row
        open_row(row)
        return row

    def close(self, row: Row) -> None:
        """Let a row be written no more.

        Raises:
            OverflowError: a count has become too large. ValueError: one is negative, or something is NaN.
        """
        negative = any(getattr(row, name) < 0 for name in self.counts)
        full = [name for name in self.counts if getattr(row, name) >= FULL]
        for name in full:
            setattr(row, name, FULL)
        open_row(row, False)
        if any(np.isnan(getattr(row, name)).any() for name in self.reals):
            raise ValueError(f"{self.component.backpropagation.label()} wrote NaN to a record")
        if negative:
            raise ValueError(negative_message(self.component.backpropagation.label()))
        if full:
            raise OverflowError(COUNT_OVERFLOW)

    def find(self, key: int) -> np.void | None:
        """The row of the record with this key, of the row dtype; None where it was never updated."""
        row = self._rows.get(key)
        return None if row is None else self._array([row])[0]

    def records(self) -> np.ndarray:
        """The rows that hold a record, sorted by key."""
        return np.sort(self._array(list(self._rows.values())), order="record")

    def insert_rows(self, rows: np.ndarray) -> None:
        """Enter rows of the row dtype, each of another record; one that is here already is replaced."""
        self._rows.update({int(data["record"]): row_of(data) for data in rows})

    def fill(self, table: Table) -> None:
        """Hold what a table of the same component holds."""
        self._rows.clear()
        self.insert_rows(table.records())

    def snapshot(self) -> Table:
        """The table as it is now, as compiled code has it."""
        return Table(self.component, self.game, self.root).with_rows(self.records())

    def _array(self, rows: list[Row]) -> np.ndarray:
        array = np.zeros(len(rows), self.dtype)
        for name in self.dtype.names or ():
            if rows:
                array[name] = [getattr(row, name) for row in rows]
        return array
