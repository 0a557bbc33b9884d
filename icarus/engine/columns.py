"""What each component of a strategy says of actions: its compiled policy asked from Python, for people to look at."""

import numpy as np

from icarus.algebra.slots import Candidates
from icarus.engine.entries import policy_entry
from icarus.engine.tables import Records

_INT = np.dtype(np.int64)


class Column:
    """What one component says of actions: its compiled policy, and the rows it reads."""

    def __init__(self, name: str, records: Records) -> None:
        self.name, self.enhancement, game = name, records.enhancement, records.game
        self.table = records._table
        self.rows = self.table.rows
        part = self.enhancement
        self.means = isinstance(part.policy.source, Candidates)
        self.entry = policy_entry(part.policy, part.information, game.players)
        given = part.policy.rule_parameters() + part.policy.source.values()
        words = [np.array([value], np.int64 if isinstance(value, int) else np.float64).view(_INT) for value in given]
        self.parameters = np.concatenate([*words, np.zeros(1, _INT)])
        self.places, self.out = np.zeros(game.max_legal, _INT), np.zeros(game.max_legal)

    def read(self, playout: int, legal: int, count: int, player: int) -> tuple[np.ndarray, np.ndarray]:
        """(value, count) of each legal action at the end of a history."""
        table, places = self.table.descriptor.ctypes.data, self.places.ctypes.data
        self.entry(playout, table, legal, count, places, self.out.ctypes.data, self.parameters.ctypes.data)
        if not self.means:
            return self.out[:count].copy(), np.full(count, -1)
        rows = self.rows[self.places[:count]]
        reward = rows["reward"] if rows["reward"].ndim == 1 else rows["reward"][:, max(player, 0)]
        visits = rows["visits"]
        return np.where(visits > 0, reward / np.maximum(visits, 1), np.nan), visits
