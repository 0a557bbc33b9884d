"""Reuse of records: what an earlier search has learned, for a search that goes on from there.

The keys of histories are counted from where the first of these searches began, so records stay as they are and where they are: a search
from a later state begins at the key that its history has there. Where moves are hidden, the player who searches must know what was seen
of them since. Players know it of their own perspective. Of another they know it where it is the same in many determinizations, each drawn
before the action from what they knew then. Where it is not known, histories begin at a root below no other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.information import HISTORY, Kind
from icarus.compiler.functions import python_of
from icarus.compiler.rng import seeded
from icarus.engine.lowering import components_of, storage_of
from icarus.engine.scheme import EVERY_ACTION, ONCE, ROOT_PLAYER, Scheme
from icarus.engine.tables import Records, Table
from icarus.kernel import UNSEEN, extended, mix
from icarus.kernel.history import Root, new_root
from icarus.kernel.state import State

DRAWS = 32  # determinizations in which it is seen what another observes
EarlierResult: TypeAlias = Any  # a `Result`, which is made of what stands here


@attrs.frozen(eq=False)
class ReusedRecords:
    """What a search begins with.

    Attributes:
        rows: of each component's table.
        root: where the histories of the search begin.
        iterations: of the earlier searches, by which `history.iteration` goes on.
    """

    rows: tuple[np.ndarray, ...]
    root: Root
    iterations: int


def reused_records(
    records: EarlierResult | None, state: State, strategy: Enhancement, scheme: Scheme, searches: int
) -> list[ReusedRecords | None]:
    """What each of so many searches of a state begins with, by the `Result` of an earlier search that fits; None without one."""
    if records is None:
        return [None] * searches
    components, _ = components_of(strategy, scheme.uses_exp3(state.game))
    return [_reused(part, state, scheme, components) for part in records.parts or (records,)]


def leads_to(earlier: State, state: State) -> bool:
    """Whether a state is an earlier one, or one that play has led to from there."""
    before, now = earlier.start, state.start
    if isinstance(before, np.ndarray) and isinstance(now, np.ndarray):
        same = before.tobytes() == now.tobytes()
    else:
        same = before is now or bool(before == now)
    return same and state.history[: len(earlier.history)] == earlier.history


def _reused(result: EarlierResult, state: State, scheme: Scheme, components: Sequence[Enhancement]) -> ReusedRecords:
    """What one search begins with, by the result of another of one tree.

    A record of a history that the baseline does not have, as GRAVE makes them of actions that are not legal there, is left behind.
    """
    tables = {storage_of(part.enhancement): part._table for part in result.records.values()}
    baseline = tables[storage_of(components[0])]
    root, histories = _root_of(result, state, scheme, baseline)
    tree = baseline.inserted_rows()["record"]
    rows = [tables[storage_of(part)].inserted_rows() for part in components]
    for i, part in enumerate(components):
        if part.records == HISTORY:
            rows[i] = rows[i][np.isin(rows[i]["record"], tree)] if histories else rows[i][:0]
    return ReusedRecords(tuple(rows), root, result.earlier_iterations + result.iterations)


# ---------------------------------------------------------------------------------------------------- where the new root is


def _root_of(result: EarlierResult, state: State, scheme: Scheme, baseline: Table) -> tuple[Root, bool]:
    """Where the histories of a state begin, by the keys of an earlier search, and whether any of its histories lie below."""
    game, observer = scheme.view(state.game), state.current_player()
    new = new_root(game.perspectives, result.earlier_iterations + result.iterations)
    if result.root is None or scheme.root == ONCE:  # each tree is of a determinization, and others will be drawn
        return new, False
    replay, keys, record = result.state, list[int | None](result.root.keys), result.root.record
    for player, action in state.history[len(replay.history) :]:
        moves, perspective = observed_moves(replay, player, action, scheme, observer), game.perspective(player)
        key, edge = keys[perspective], moves[perspective]
        record = None if key is None or edge is None else python_of(extended)(key, player, edge)
        keys = [_extend_key(key, move) for key, move in zip(keys, moves, strict=True)]
        replay.apply_action(action)
    if game.perspectives == 1 and scheme.observer != ROOT_PLAYER:
        row = None if record is None else baseline.find(record)
        if row is None or row["visits"] == 0:  # the root is not in the tree
            return new, False
    at_root = tuple(new_key if key is None else key for key, new_key in zip(keys, new.keys, strict=True))
    return Root(at_root, new.record if record is None else record), True


def _extend_key(key: int | None, move: int | None) -> int | None:
    if key is None or move is None:
        return None
    return key if move == UNSEEN else mix(key, move)


def observed_moves(state: State, player: int, action: int, scheme: Scheme, observer: int) -> list[int | None]:
    """The move by which each perspective of a scheme sees an action about to be played, as far as an observer can tell; else None."""
    moves = state.observed(action)
    if scheme.observer == ROOT_PLAYER:
        return [moves[observer] if len(moves) > 1 else action]
    if len(moves) == 1 or scheme.cheats:
        return [action] if scheme.observer == EVERY_ACTION else list(moves)
    return _moves_if_known(state, player, action, observer, scheme.observer == EVERY_ACTION)


def _moves_if_known(state: State, player: int, action: int, observer: int, of_actions: bool) -> list[int | None]:
    """The move by which each sees the action, or the action itself by eyes that see all; None where the observer does not know it."""

    def seen_in(world: State, played: int) -> Sequence[int]:
        return (played,) if of_actions else world.observed(played)

    moves, certain = seen_in(state, action), -1 if of_actions else observer
    possible: list[set[int]] = [set() for _ in moves]
    for world, actions in _possible_actions(state, player, action, observer):
        for each in actions:
            for moves_possible, move in zip(possible, seen_in(world, each), strict=True):
                moves_possible.add(move)
        if all(len(some) > 1 for perspective, some in enumerate(possible) if perspective != certain):
            break
    return [moves[observer] if i == certain else _only(some) for i, some in enumerate(possible)]


def _possible_actions(state: State, player: int, action: int, observer: int) -> Iterator[tuple[State, list[int]]]:
    """Determinizations for an observer, each with the actions there that look to him like the one about to be played."""
    move, beliefs, rng = state.observed(action)[observer], state.beliefs(observer), seeded(len(state.history))
    for _ in range(DRAWS):
        world = state.from_data(state.game, state.redraw(observer, beliefs, rng))
        if player == observer:
            yield world, [action]
        else:
            yield world, [a for a in world.legal_actions() if world.observed(a)[observer] == move]


def _only(values: set[int]) -> int | None:
    """The value of a set that has one; else None."""
    return next(iter(values)) if len(values) == 1 else None


# ------------------------------------------------------------------------------------------------------------ what is forgotten


def records_without_histories(records: Mapping[str, Records]) -> dict[str, Records]:
    """Records by name, components of histories emptied."""
    return _replace_rows(
        records, lambda table: table.inserted_rows()[: 0 if table.component.records == HISTORY else None]
    )


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
    for row in Table(table.component, table.game, table.root).inserted_rows():
        first[keys == row["record"]] = row
    return first
