"""What a search knows of the actions at its root."""

from collections.abc import Sequence

import attrs
import numpy as np

from icarus.algebra.information import Parts
from icarus.engine.tables import RecordTable


@attrs.frozen(eq=False)
class RootStatistics:
    """The statistics of each legal action at the root.

    Attributes:
        actions: in the game's order. [actions]
        visits: how often each was selected, by earlier searches too if their records are used. [actions]
        rewards: the total reward of the player to move after each, by the baseline's records. [actions]
        playouts: the number of playouts of these rewards. [actions]
        lower, upper: proven bounds of the reward of the player to move. [actions]
    """

    actions: tuple[int, ...]
    visits: np.ndarray
    rewards: np.ndarray
    playouts: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """The mean reward after each action; nan without a playout. [actions]"""
        unknown = np.full(len(self.actions), np.nan)
        return np.divide(self.rewards, self.playouts, out=unknown, where=self.playouts > 0)

    @property
    def policy(self) -> np.ndarray:
        """The visits as shares. [actions]"""
        return self.visits / max(1, self.visits.sum())

    @property
    def dominated(self) -> np.ndarray:
        """Whether another action is proven to be at least as good, and may be better. [actions]"""
        certain = self.lower[None, :] >= self.upper[:, None]
        return np.any(certain & (self.upper[None, :] > self.lower[:, None]), axis=1)


def sum_statistics(parts: Sequence[RootStatistics]) -> RootStatistics:
    """The statistics of several searches from one root: counts and rewards summed, the narrowest bounds."""
    return RootStatistics(
        actions=parts[0].actions,
        visits=np.sum([part.visits for part in parts], axis=0),
        rewards=np.sum([part.rewards for part in parts], axis=0),
        playouts=np.sum([part.playouts for part in parts], axis=0),
        lower=np.max([part.lower for part in parts], axis=0),
        upper=np.min([part.upper for part in parts], axis=0),
    )


def root_statistics(
    player: int, actions: tuple[int, ...], visits: np.ndarray, tables: Sequence[RecordTable]
) -> RootStatistics:
    """What the tables of a search say of the actions at its root.

    Args:
        player, actions: who is to move, and what is legal.
        visits: how often each action was selected. [actions]
        tables: of each component, the baseline's first.
    """
    rewards, playouts = np.zeros((2, len(actions)))
    lower, upper = np.zeros(len(actions)), np.ones(len(actions))
    proofs = [table for table in tables if table.component.capture.proves]
    for i, action in enumerate(actions):
        row = _row(tables[0], (player, (action,)))
        if row is not None:
            rewards[i], playouts[i] = row["reward"][player], row["visits"]
        for table in proofs:
            bounds = _row(table, (player, (action,), player))
            if bounds is not None:
                lower[i], upper[i] = max(lower[i], bounds["lower"]), min(upper[i], bounds["upper"])
    return RootStatistics(actions, visits, rewards, playouts, lower, upper)


def _row(table: RecordTable, parts: Parts) -> np.void | None:
    return table.find(table.component.records.key(table.game, parts, table.root))
