"""What each component of a strategy says of actions: its compiled policy asked from Python, for people to look at."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.slots import Candidates
from icarus.engine.program.requirements import tables_of
from icarus.engine.program.slots import policy_kernel
from icarus.engine.records.tables import Records
from icarus.engine.reference.features import FeatureEvaluator
from icarus.kernel.features import NAMES
from icarus.kernel.game import Game
from icarus.kernel.python_game import PythonGame, in_python

_INT = np.dtype(np.int64)


class Column:
    """What one component says of actions: its compiled policy, and the rows it reads."""

    def __init__(self, name: str, records: Records) -> None:
        self.name, self.enhancement, game = name, records.enhancement, records.game
        self.table = records._table
        self.rows = self.table.rows
        part = self.enhancement
        self.means = isinstance(part.policy.source, Candidates)
        self.kernel = policy_kernel(part.policy, part.information, game.players)
        given = part.policy.rule_parameters() + part.policy.source.values(game)
        words = [np.array([value], np.int64 if isinstance(value, int) else np.float64).view(_INT) for value in given]
        self.parameters = np.concatenate([*words, np.zeros(1, _INT)])

    def read(self, playout: int, legal: int, count: int, player: int) -> tuple[np.ndarray, np.ndarray]:
        """(value, count) of each legal action at the end of a history."""
        places, out = np.zeros(count, _INT), np.zeros(count)
        given = self.table.descriptor, places, out, self.parameters
        table, *written, parameters = (array.ctypes.data for array in given)
        self.kernel(playout, table, legal, count, *written, parameters)
        if not self.means:
            return out, np.full(count, -1)
        rows = self.rows[places]
        reward = rows["reward"] if rows["reward"].ndim == 1 else rows["reward"][:, max(player, 0)]
        visits = rows["visits"]
        return np.where(visits > 0, reward / np.maximum(visits, 1), np.nan), visits


class FeatureTables:
    """What the game tells along a history that is walked by hand, as far as a strategy reads it.

    Args:
        playout: [1] of PLAYOUT, which is given the addresses of the tables.
        steps, legal: how many rows there may be of states and of actions.
    """

    def __init__(
        self, game: Game | PythonGame, strategy: Enhancement, playout: np.ndarray, steps: int, legal: int
    ) -> None:
        self._teller, self._playout = FeatureEvaluator(in_python(game), tables_of(strategy)), playout
        self._tables = {name: np.zeros((steps, width)) for name, width in self._teller.widths.items()}
        for name, width in self._teller.widths.items():
            playout[name], playout[f"{name}_width"] = self._tables[name].ctypes.data, width
        self.make_room(legal)

    def make_room(self, legal: int) -> None:
        """Have room for so many rows of actions; those written stay."""
        for name, table in self._tables.items():
            if name != "features" and len(table) < legal:
                more = np.zeros((legal - len(table), table.shape[1]))
                self._tables[name] = np.concatenate([table, more])
                self._playout[name] = self._tables[name].ctypes.data

    def write(self, t: int, first: int, data: Any, player: int, actions: Sequence[int], edges: Sequence[int]) -> None:
        """Write what is told of step t, whose legal actions begin at `first`; `edges` as `FeatureEvaluator.evaluate_step` has them."""
        told: dict[str, list[Any]] = {name: [] for name in NAMES}
        self._teller.evaluate_step(told, data, player, actions, edges)
        for name, rows in told.items():
            begin = t if name == "features" else first
            if rows:
                self._tables[name][begin : begin + len(rows)] = rows
