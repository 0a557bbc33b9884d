"""Reuse of records: what an earlier search has learned, for a search that goes on from there.

Records of histories are made of the moves since the root, so those below the moves played since get new keys (`rerooting`), and all others
of them are dropped. Other records, such as those of (action, player) or of n-grams, do not depend on the root, nor do
positions-in-episode, which are counted from the start of the game: they stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.information import COUNT, HISTORY
from icarus.compiler.kernels.functions import plain
from icarus.engine.loop.parent_links import LINK
from icarus.engine.program.lowering import components_of, storage_of
from icarus.engine.records.rerooting import keys_at_root, links_below, root_keys, rows_below
from icarus.engine.records.tables import Records, RecordTable, Table
from icarus.engine.scheme import ROOT_PLAYER, Scheme
from icarus.kernel import mix
from icarus.kernel.history import EMPTY_HISTORY
from icarus.kernel.state import State


@attrs.frozen(eq=False)
class WarmStart:
    """What a search begins with.

    Attributes:
        rows: of each component's table.
        links: of these records (`icarus.engine.loop.parent_links`). [links, LINK]
    """

    rows: tuple[np.ndarray, ...]
    links: np.ndarray

    def fill(self, tables: Sequence[RecordTable]) -> None:
        """Enter the rows into the tables of the components."""
        for table, rows in zip(tables, self.rows, strict=True):
            table.insert_rows(rows)

    def mark_decided(self, table: Table) -> None:
        """Mark in the baseline's table where somebody has decided in the tree, if it keeps such marks."""
        if len(table.decided) > 0:
            table.decided[self.links[:, 0] & (len(table.decided) - 1)] = 1


def warm_starts_of(
    records: Any, state: State, strategy: Enhancement, scheme: Scheme, searches: int, compiled: bool = True
) -> list[WarmStart | None]:
    """What each of so many searches of a state begins with, by the `Result` of an earlier search that fits; None each where there is none.

    Args:
        compiled: whether machine code is to do it.
    """
    if records is None:
        return [None] * searches
    components, _ = components_of(strategy, scheme.exp3 and state.game.simultaneous is not None)
    return [_warm_start(part, state, scheme, components, compiled) for part in records.parts or (records,)]


def check_reusable(reusable: bool) -> None:
    """Refuse the records of a search that did not note where they stand.

    Raises:
        ValueError: so.
    """
    if not reusable:
        raise ValueError(
            "records are of an Agent without decays, who does not note where they stand; "
            "search(…) does, and so does an Agent with a move_decay or a game_decay"
        )


def continues(earlier: State, state: State) -> bool:
    """Whether a state is an earlier one, or one that play has led to from there."""
    one, other = earlier.start, state.start
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        same = one.tobytes() == other.tobytes()
    else:
        same = one is other or bool(one == other)
    return same and state.history[: len(earlier.history)] == earlier.history


def _warm_start(
    result: Any, state: State, scheme: Scheme, components: Sequence[Enhancement], compiled: bool
) -> WarmStart:
    """What one search begins with, by the result of another of one tree."""
    tables = {storage_of(part.enhancement): part._table for part in result.records.values()}
    table = tables[storage_of(components[0])]
    if result.links is None:
        rows = tuple(tables[storage_of(part)].inserted() for part in components)
        return WarmStart(rows, np.zeros((0, LINK), np.int64))
    keys, record = root_keys(result.state, state, scheme)
    game = scheme.view(state.game)
    players = game.players if game.perspectives == 1 and scheme.observer != ROOT_PLAYER else 0
    if players and (record is None or (row := table.find(record)) is None or row["visits"] == 0):
        keys, record = [None] * len(keys), None  # the root is not in the tree
    names = keys_at_root(keys, record, len(result.links))
    links = links_below(result.links, names, table, players, compiled)
    parts = [(tables[storage_of(part)], part.records == HISTORY) for part in components]
    return WarmStart(tuple(rows_below(*part, names) for part in parts), links)


# ------------------------------------------------------------------------------------------------------------ what is forgotten


def records_without_histories(records: Mapping[str, Records], links: np.ndarray) -> dict[str, Records]:
    """Records by name, those of histories left out."""
    with np.errstate(over="ignore"):
        made = np.array([plain(mix)(key, part) for key, part, _ in links.tolist()] + [EMPTY_HISTORY], np.int64)

    def left(table: Table) -> np.ndarray:
        rows = table.inserted()
        return rows[~np.isin(rows["record"], made)] if table.component.records != HISTORY else rows[:0]

    return _changed(records, left)


def decayed_records(records: Mapping[str, Records], decay: float) -> dict[str, Records]:
    """Records by name, their information decayed towards the initial one; rows that are back there are left out."""
    return _changed(records, lambda table: decayed_rows(table, decay))


def _changed(records: Mapping[str, Records], change: Callable[[Table], np.ndarray]) -> dict[str, Records]:
    tables = {id(part._table): part._table for part in records.values()}
    made = {key: table.with_rows(change(table)) for key, table in tables.items()}
    return {name: Records(part.enhancement, part.game, made[id(part._table)]) for name, part in records.items()}


def decayed_rows(table: Table, decay: float) -> np.ndarray:
    """The rows of a table with every count c decayed to ⌊decay · c⌋, and a sum in proportion to the count that follows it in Θ.

    A sum that no count follows is multiplied by `decay`. What a record has to begin with is no part of its counts, and stays.
    """
    rows = table.inserted()
    if decay == 0:
        return rows[:0]
    first, fields = _prior_rows(table, rows["record"]), table.component.information.fields
    made, ratio = rows.copy(), (np.full(len(rows), decay), np.ones(len(rows)))
    for name, domain in reversed(fields):
        if domain == COUNT:
            gained = rows[name].astype(float) - first[name]
            left = np.floor(decay * gained)
            made[name], ratio = first[name] + left, (left, gained)
        elif domain.type.base.kind == "f":
            above, below = (side.reshape(-1, *[1] * (rows[name].ndim - 1)) for side in ratio)
            change = (rows[name] - first[name]) * above
            made[name] = first[name] + np.divide(change, below, out=np.zeros_like(change), where=below != 0)
    changed = np.zeros(len(rows), np.bool_)
    for name, _ in fields:
        other = made[name] != first[name]
        changed |= other.any(axis=tuple(range(1, other.ndim)))
    return made[changed]


def _prior_rows(table: Table, keys: np.ndarray) -> np.ndarray:
    """The information that records with these keys begin with."""
    first = np.repeat(table._blank, len(keys))
    for row in Table(table.component, table.game).inserted():
        first[keys == row["record"]] = row
    return first
