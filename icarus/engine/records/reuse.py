"""Records that live on: what an earlier search has learned, for a search that goes on from there.

Records of histories are made of the moves since the root, so below the moves played since they get new keys, as though the earlier search
had begun at the new root; all others of them are dropped. What is known of other records, such as (action, player) or n-grams, does not
depend on the root, nor do positions-in-episode, which are counted from the start of the game: it stays as it is.

Where moves are hidden, a perspective's records live on only where the player who searches knows what was seen in it since. He knows
it of himself. Of another he knows it where it is the same in many determinizations, each drawn before the action from what he knew then.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from icarus.algebra.information import COUNT, HISTORY
from icarus.compiler.kernels.functions import plain
from icarus.compiler.kernels.rng import seeded
from icarus.compiler.reference import Interpreter
from icarus.engine.loop.parent_links import LINK, Renamed, look_up, look_up_compiled, rename, rename_compiled
from icarus.engine.program.lowering import components_of, storage_of
from icarus.engine.records.tables import Records, Table
from icarus.engine.scheme import EACH_PLAYER, EVERY_ACTION, ONCE, ROOT_PLAYER, Scheme
from icarus.kernel import NO_RECORD, UNSEEN, extended, mix
from icarus.kernel.history import EMPTY_HISTORY, root_key
from icarus.kernel.state import State
from icarus.kernel.theta import index_of

DRAWS = 32  # determinizations that are asked what another has seen
_plain = Interpreter()


@attrs.frozen(eq=False)
class WarmStart:
    """What a search begins with.

    Attributes:
        rows: of each component's table.
        links: of these records (`icarus.engine.loop.parent_links`). [links, LINK]
    """

    rows: tuple[np.ndarray, ...]
    links: np.ndarray

    def fill(self, tables: Sequence[Any]) -> None:
        """Enter the rows into the tables of the components."""
        for table, rows in zip(tables, self.rows, strict=True):
            table.insert_rows(rows)

    def mark_decided(self, table: Table) -> None:
        """Mark in the baseline's table where somebody has decided in the tree, if it keeps such marks."""
        if len(table.decided) > 0:
            table.decided[self.links[:, 0] & (len(table.decided) - 1)] = 1


def warm_starts_of(
    records: Any, state: State, strategy: Any, scheme: Scheme, searches: int, compiled: bool = True
) -> list[WarmStart | None]:
    """What each of so many searches of a state begins with, by the `Result` of an earlier search that fits; None each where there is none.

    Args:
        compiled: whether machine code is to do it.
    """
    if records is None:
        return [None] * searches
    components, _ = components_of(strategy, scheme.exp3 and state.game.simultaneous is not None)
    return [_carried(part, state, scheme, components, compiled) for part in records.parts or (records,)]


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


# -------------------------------------------------------------------------------------------------------- where the root is


def observed_moves(state: State, player: int, action: int, scheme: Scheme, observer: int) -> list[int | None]:
    """The move by which each perspective of a scheme sees an action about to be played, as far as an observer can tell; else None."""
    moves = state.observed(action)
    if scheme.observer == ROOT_PLAYER:
        return [moves[observer] if len(moves) > 1 else action]
    if len(moves) == 1 or scheme.cheats:
        return [action] if scheme.observer == EVERY_ACTION else list(moves)
    own, rng = moves[observer], seeded(len(state.history))
    found: list[set[int]] = [set() for _ in moves]
    for _ in range(DRAWS):
        world = state.determinized(observer, rng)
        alike = [a for a in world.legal_actions() if world.observed(a)[observer] == own]
        for a in [action] if player == observer else alike:
            for sights, move in zip(found, world.observed(a), strict=True):
                sights.add(move if scheme.observer == EACH_PLAYER else a)
        if all(len(sights) > 1 for perspective, sights in enumerate(found) if perspective != observer):
            break
    told = [next(iter(sights)) if len(sights) == 1 else None for sights in found]
    if scheme.observer == EVERY_ACTION:
        return told[:1]
    told[observer] = own
    return told


def root_keys(earlier: State, state: State, scheme: Scheme) -> tuple[list[int | None], int | None]:
    """The keys that the history of a state has in an earlier search, in the eyes of each perspective, and its record; None if not known."""
    game, observer, replay = scheme.view(state.game), state.current_player(), earlier.clone()
    keys: list[int | None] = [plain(root_key)(perspective) for perspective in range(game.perspectives)]
    if scheme.root == ONCE:  # each tree is of a determinization, and others will be drawn
        return [None] * len(keys), None
    record: int | None = EMPTY_HISTORY
    for player, action in state.history[len(earlier.history) :]:
        told, perspective = observed_moves(replay, player, action, scheme, observer), game.perspective(player)
        key, edge = keys[perspective], told[perspective]
        record = None if key is None or edge is None else plain(extended)(key, player, edge)
        keys = [_continued(key, move) for key, move in zip(keys, told, strict=True)]
        replay.apply_action(action)
    return keys, record


def _continued(key: int | None, move: int | None) -> int | None:
    if key is None or move is None:
        return None
    return key if move == UNSEEN else mix(key, move)


# ------------------------------------------------------------------------------------------------------ what is below the root


def _carried(result: Any, state: State, scheme: Scheme, components: Sequence[Any], compiled: bool) -> WarmStart:
    tables = {storage_of(part.enhancement): part._table for part in result.records.values()}
    table = tables[storage_of(components[0])]
    if result.links is None:
        return WarmStart(
            tuple(tables[storage_of(part)].inserted() for part in components), np.zeros((0, LINK), np.int64)
        )
    keys, record = root_keys(result.state, state, scheme)
    game = scheme.view(state.game)
    players = game.players if game.perspectives == 1 and scheme.observer != ROOT_PLAYER else 0
    if players and (record is None or not _visits(table, record)):
        keys, record = [None] * len(keys), None  # the root is not in the tree
    names = _names(keys, record, len(result.links))
    kept = np.zeros_like(result.links)
    rows = table.rows
    count = (rename_compiled if compiled else _plain(rename))(
        np.ascontiguousarray(result.links),
        *names,
        np.ascontiguousarray(rows["record"]),
        np.ascontiguousarray(rows["visits"]),
        players,
        kept,
    )
    moved = [_moved(tables[storage_of(part)], part.records == HISTORY, names, compiled) for part in components]
    return WarmStart(tuple(moved), kept[:count].copy())


def _visits(table: Table, record: int) -> int:
    row = table.find(record)
    return 0 if row is None else int(row["visits"])


def _names(keys: Sequence[int | None], record: int | None, links: int) -> Renamed:
    """The new names of what stands at the root, with room for those that follow from so many links."""
    capacity = 1 << (2 * (links + 2 * len(keys) + 2)).bit_length()
    names = Renamed(np.zeros(capacity + 1, np.int64), np.zeros(capacity + 1, np.int64))
    roots = [plain(root_key)(perspective) for perspective in range(len(keys))]
    pairs: list[tuple[int | None, int]] = [(old, NO_RECORD) for old in (EMPTY_HISTORY, *roots)]
    for old, new in [*pairs, *zip(keys, roots, strict=True), (record, EMPTY_HISTORY)]:
        if old is not None:
            place = plain(index_of)(names.old, old)
            names.old[place], names.new[place] = old, new
    return names


def _moved(table: Table, histories_only: bool, names: Renamed, compiled: bool) -> np.ndarray:
    """The rows of a table that live on, under their new keys."""
    rows = table.inserted()
    found, held = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    (look_up_compiled if compiled else _plain(look_up))(*names, np.ascontiguousarray(rows["record"]), found, held)
    known = held != 0
    kept = (found != NO_RECORD) | ~(known | histories_only)
    rows["record"] = np.where(known, found, rows["record"])
    return rows[kept]


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


def _changed(records: Mapping[str, Records], change: Any) -> dict[str, Records]:
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
    first, fields = _beginnings(table, rows["record"]), table.component.information.fields
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


def _beginnings(table: Table, keys: np.ndarray) -> np.ndarray:
    """The information that records with these keys begin with."""
    first = np.repeat(table._blank, len(keys))
    for row in Table(table.component, table.game).inserted():
        first[keys == row["record"]] = row
    return first
