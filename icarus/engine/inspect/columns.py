"""What each component of a strategy says of actions: its policy asked by the reference engine, for people to look at."""

import numpy as np

from icarus.algebra.slots import Candidates
from icarus.engine.reference.choice import ReferenceProgram, keys_of, values_of
from icarus.engine.reference.history import ReferenceHistory
from icarus.engine.reference.table import ReferenceTheta, Row, row_of
from icarus.engine.tables import Records


class RecordsTheta(ReferenceTheta):
    """θ of one component by the records of a search, as slots read it."""

    def __init__(self, records: Records) -> None:
        self._table, self._rows = records._table, dict[int, Row]()
        self._initial = row_of(records.initial)

    def find(self, key: int) -> Row:
        """θ(r)."""
        row = self._rows.get(key)
        if row is None:
            data = self._table.find(key)
            row = self._rows[key] = self._initial if data is None else row_of(data)
        return row


class Column:
    """What one component says of actions.

    Attributes:
        name: of the component.
    """

    def __init__(self, name: str, records: Records) -> None:
        self.name, self._part, self._theta = name, records.enhancement, RecordsTheta(records)

    def read(
        self, program: ReferenceProgram, history: ReferenceHistory, legal: np.ndarray, player: int
    ) -> list[tuple[float, int]]:
        """(value, count) of each legal action at the end of a history, as `Tree` has them."""
        source = self._part.policy.source
        if not isinstance(source, Candidates):
            values = values_of(self._part, self._theta, history, legal, program.call_slot)
            return [(value, -1) for value in values.tolist()]
        rows = [self._theta.find(key) for key in keys_of(source, history, legal, program.call_slot)]
        return [_mean(row, player) for row in rows]


def _mean(row: Row, player: int) -> tuple[float, int]:
    if row.visits == 0:
        return np.nan, 0
    reward = row.reward if np.ndim(row.reward) == 0 else row.reward[player]
    return float(reward) / row.visits, row.visits
