"""Reuse of records: what an earlier search has learned, for a search that goes on from there.

Records of histories are made of the moves since the root, so those below the moves played since get new keys (`rerooting`), and all others
of them are dropped. Other records, such as those of (action, player) or of n-grams, do not depend on the root, nor do
positions-in-episode, which are counted from the start of the game: they stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.information import HISTORY, Kind
from icarus.compiler.kernels.functions import plain
from icarus.engine.loop.parent_links import LINK
from icarus.engine.program.lowering import components_of, storage_of
from icarus.engine.records.rerooting import keys_at_root, links_below, root_keys, rows_below
from icarus.engine.records.tables import Records, RecordTable, Table
from icarus.engine.scheme import ROOT_PLAYER, Scheme
from icarus.kernel import mix
from icarus.kernel.history import EMPTY_HISTORY
from icarus.kernel.state import State

EarlierResult: TypeAlias = Any  # a `Result`, which is made of what stands here


@attrs.frozen(eq=False)
class WarmStart:
    """What a search begins with.

    Attributes:
        rows: of each component's table.
        links: of these records (`icarus.engine.loop.parent_links`). [links, LINK]
        iterations: of the earlier searches, by which `history.iteration` goes on.
    """

    rows: tuple[np.ndarray, ...]
    links: np.ndarray
    iterations: int

    def fill(self, tables: Sequence[RecordTable]) -> None:
        """Enter the rows into the tables of the components."""
        for table, rows in zip(tables, self.rows, strict=True):
            table.insert_rows(rows)

    def mark_decided(self, table: Table) -> None:
        """Mark in the baseline's table where a player has decided in the tree, if it keeps such marks."""
        if len(table.decided) > 0:
            table.decided[self.links[:, 0] & (len(table.decided) - 1)] = 1


def warm_starts_of(
    records: EarlierResult | None, state: State, strategy: Enhancement, scheme: Scheme, searches: int, compiled: bool
) -> list[WarmStart | None]:
    """What each of so many searches of a state begins with, by the `Result` of an earlier search that fits; None each where there is none.

    Args:
        compiled: whether machine code is to do it.
    """
    if records is None:
        return [None] * searches
    components, _ = components_of(strategy, scheme.uses_exp3(state.game))
    return [_warm_start(part, state, scheme, components, compiled) for part in records.parts or (records,)]


def check_reusable(reusable: bool) -> None:
    """Refuse the records of a search that kept no parent links.

    Raises:
        ValueError: the records are not reusable.
    """
    if not reusable:
        raise ValueError(
            "records come from an Agent without decays, which keeps no parent links; "
            "search(…) keeps them, and so does an Agent with a move_decay or a game_decay"
        )


def leads_to(earlier: State, state: State) -> bool:
    """Whether a state is an earlier one, or one that play has led to from there."""
    before, now = earlier.start, state.start
    if isinstance(before, np.ndarray) and isinstance(now, np.ndarray):
        same = before.tobytes() == now.tobytes()
    else:
        same = before is now or bool(before == now)
    return same and state.history[: len(earlier.history)] == earlier.history


def _warm_start(
    result: EarlierResult, state: State, scheme: Scheme, components: Sequence[Enhancement], compiled: bool
) -> WarmStart:
    """What one search begins with, by the result of another of one tree."""
    tables = {storage_of(part.enhancement): part._table for part in result.records.values()}
    table, iterations = tables[storage_of(components[0])], result.earlier_iterations + result.iterations
    if result.links is None:
        rows = tuple(tables[storage_of(part)].inserted_rows() for part in components)
        return WarmStart(rows, np.zeros((0, LINK), np.int64), iterations)
    keys, record = root_keys(result.state, state, scheme)
    game = scheme.view(state.game)
    players = game.players if game.perspectives == 1 and scheme.observer != ROOT_PLAYER else 0
    if players and (record is None or (row := table.find(record)) is None or row["visits"] == 0):
        keys, record = [None] * len(keys), None  # the root is not in the tree
    names = keys_at_root(keys, record, len(result.links))
    links = links_below(result.links, names, table, players, compiled)
    parts = [(tables[storage_of(part)], part.records == HISTORY) for part in components]
    return WarmStart(tuple(rows_below(*part, names) for part in parts), links, iterations)


# ------------------------------------------------------------------------------------------------------------ what is forgotten


def records_without_histories(records: Mapping[str, Records], links: np.ndarray) -> dict[str, Records]:
    """Records by name, those of histories left out."""
    with np.errstate(over="ignore"):
        keys = np.array([plain(mix)(key, part) for key, part, _ in links.tolist()] + [EMPTY_HISTORY], np.int64)

    def rows_of_others(table: Table) -> np.ndarray:
        rows = table.inserted_rows()
        return rows[~np.isin(rows["record"], keys)] if table.component.records != HISTORY else rows[:0]

    return _replace_rows(records, rows_of_others)


def decayed_records(records: Mapping[str, Records], decay: float) -> dict[str, Records]:
    """Records by name, their information decayed towards the initial one; rows that are back there are left out."""
    return _replace_rows(records, lambda table: decayed_rows(table, decay))


def _replace_rows(records: Mapping[str, Records], change: Callable[[Table], np.ndarray]) -> dict[str, Records]:
    tables = {id(part._table): part._table for part in records.values()}
    copies = {key: table.with_rows(change(table)) for key, table in tables.items()}
    return {name: Records(part.enhancement, part.game, copies[id(part._table)]) for name, part in records.items()}


def decayed_rows(table: Table, decay: float) -> np.ndarray:
    """The rows of a table, every count c decayed to ⌊decay · c⌋ and every sum in proportion to its count.

    A sum goes with the next count that follows it in Θ, the last sums with the first count; by itself it is multiplied by `decay`. Means,
    bounds and labels stay. What a record has to begin with is not part of its counts, and stays. A row whose counts, sums and bounds are
    back there is left out.
    """
    rows = table.inserted_rows()
    if decay == 0:
        return rows[:0]
    first, fields = _prior_rows(table, rows["record"]), table.component.information.fields
    counts = [name for name, domain in fields if domain.kind == Kind.COUNT]
    result, decays = rows.copy(), np.full(len(rows), decay)
    ratios = {name: _decay_count(result, first, name, decay) for name in counts}
    above, below = ratios[counts[0]] if counts else (decays, np.ones(len(rows)))
    for name, domain in reversed(fields):
        if domain.kind == Kind.COUNT:
            above, below = ratios[name]
        elif domain.kind == Kind.SUM:
            shape = (-1, *[1] * (rows[name].ndim - 1))
            change, counted = rows[name] - first[name], np.broadcast_to(below.reshape(shape) != 0, rows[name].shape)
            shrunk = np.divide(change * above.reshape(shape), below.reshape(shape), out=decay * change, where=counted)
            result[name] = first[name] + shrunk
    changed = np.zeros(len(rows), np.bool_)
    for name, domain in fields:
        if domain.kind in (Kind.COUNT, Kind.SUM, Kind.BOUND) or not counts:
            differs = result[name] != first[name]
            changed |= differs.any(axis=tuple(range(1, differs.ndim)))
    return result[changed]


def _decay_count(result: np.ndarray, first: np.ndarray, name: str, decay: float) -> tuple[np.ndarray, np.ndarray]:
    """Decay a count in place; how much of it each row is left with, and had gained."""
    gained = result[name].astype(float) - first[name]
    remainder = decay * gained if result[name].dtype.kind == "f" else np.floor(decay * gained)
    result[name] = first[name] + remainder
    return remainder, gained


def _prior_rows(table: Table, keys: np.ndarray) -> np.ndarray:
    """The information that records with these keys begin with."""
    first = np.repeat(table._blank, len(keys))
    for row in Table(table.component, table.game).inserted_rows():
        first[keys == row["record"]] = row
    return first
