"""Records and what is known of them: R, Θ and θ of Definition 5.

A record is any tuple of integers; inside the engine it is a 64-bit key (`icarus.history.record`). The information of a record is a
row of named numbers. θ is one hash table for each enhancement: `find(theta, key)` is θ(r), and a record never updated reads
as its initial information.
"""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import attrs
import numpy as np
from numba import types
from numba.extending import overload

from icarus.game import Game
from icarus.history import episode_record, history_record, record
from icarus.jit import array_at, inlined, plain, record_at

NO_RECORD = 0                                     # the key that no record has: what is known of it is the initial information


# ------------------------------------------------------------------------------------------------------- sets of records

@attrs.frozen
class Space:
    """A set that records or capture contexts are drawn from, written as in the paper; `*` is the Cartesian product."""

    factors: tuple[str, ...]

    def __mul__(self, other: "Space") -> "Space":
        return Space(self.factors + other.factors)

    def __pow__(self, length: int) -> "Space":
        return Space(self.factors * length)

    def __str__(self) -> str:
        texts: list[str] = []
        for factor in dict.fromkeys(self.factors):
            times = self.factors.count(factor)
            texts.append(factor if times == 1 else f"{factor}^{times}")
        return " × ".join(texts)

    def key(self, game: Game, parts: Any) -> int:
        """The key of a record of this space in a game.

        Args:
            parts: what the record is made of. M* (`HISTORY`): () for the empty history, else (player, moves) with the moves as
                the player, who made the last one, observed them. E × M* (`POSITION`): (label, player, moves). Otherwise the
                integers in order, such as (action, player).
        """
        if self == HISTORY:
            return history_record(game.viewer(parts[0]), parts[0], tuple(parts[1])) if parts else history_record(0, 0, ())
        if self == POSITION:
            label, player, moves = parts
            return episode_record(label, game.viewer(player), player, tuple(moves))
        return plain(record)(*(int(part) for part in parts))


ACTION = Space(("A",))
MOVE = Space(("M",))
PLAYER = Space(("{1, …, κ}",))
HISTORY = Space(("M*",))
POSITION = Space(("E", "M*"))
NOTHING = Space(("{ψ}",))
VISIT_OR_AVAILABLE = Space(("{ψ_avail, ψ_visit}",))

VISIT, AVAILABLE = 0, 1                            # the contexts ψ_visit and ψ_avail


# ----------------------------------------------------------------------------------------------------------- information

@attrs.frozen
class Domain:
    """What one number of the information is: a letter for printing, a type, and whether there is one for each player."""

    symbol: str
    type: np.dtype = attrs.field(converter=np.dtype)
    per_player: bool = False


REWARD = Domain("ℝ", np.float64)
REWARDS = Domain("ℝ^κ", np.float64, per_player=True)
COUNT = Domain("ℕ₀", np.int32)
REPLY = Domain("A ∪ {⊥}", np.int64)


@attrs.frozen
class Information:
    """Θ: the names and domains of what is kept for a record, in the paper's order."""

    fields: tuple[tuple[str, Domain], ...]

    def __str__(self) -> str:
        return " × ".join(domain.symbol for _, domain in self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.fields)

    def row(self, players: int) -> np.dtype:
        """The dtype of a table row: the record's key, then the information."""
        shapes = [(name, domain.type, (players,)) if domain.per_player else (name, domain.type) for name, domain in self.fields]
        return np.dtype([("record", np.int64), *shapes], align=True)


def information(**fields: Domain) -> Information:
    """An information domain with named fields: `information(reward=REWARD, visits=COUNT)`."""
    for name, domain in fields.items():
        if not isinstance(domain, Domain):
            raise TypeError(f"{name} of an information is {domain!r}; it must be a Domain such as REWARD or COUNT")
        if name == "record":
            raise ValueError("no field of an information can be called 'record': a row's key is")
    if not fields:
        raise ValueError("an information needs at least one field, such as visits=COUNT")
    return Information(tuple(fields.items()))


RewardVisits = information(reward=REWARD, visits=COUNT)
RewardVisitsAvailability = information(reward=REWARD, visits=COUNT, availability=COUNT)
RewardsVisits = information(reward=REWARDS, visits=COUNT)
RewardsVisitsAvailability = information(reward=REWARDS, visits=COUNT, availability=COUNT)
LastReply = information(reply=REPLY)


@attrs.frozen
class Initial:
    """θ_initial: the information of a record before its first update.

    Attributes:
        common: field values of every record; fields not named are 0.
        given: exceptions: ((parts of a record, field values), …), entered before the search begins.
    """

    common: tuple[tuple[str, float], ...] = ()
    given: tuple[tuple[Any, tuple[tuple[str, float], ...]], ...] = ()

    def __str__(self) -> str:
        rest = ", 0 otherwise" if self.given else ""
        common = ", ".join(f"{name} = {'⊥' if name == 'reply' and value < 0 else value}" for name, value in self.common) or "0"
        return common + (f"; {len(self.given)} records given{rest}" if self.given else "")


def initial(given: Mapping[Any, Mapping[str, float]] | None = None, **common: float) -> Initial:
    """θ_initial: `initial()` is all zeros, `initial(reward=1, visits=1)` the same for every record, `given` names exceptions."""
    exceptions = tuple((parts, tuple(values.items())) for parts, values in (given or {}).items())
    return Initial(tuple(common.items()), exceptions)


# ---------------------------------------------------------------------------------------------------------- θ, the table

TABLE = np.dtype([
    ("rows", np.int64),            # address of capacity + 1 rows; the last one holds the initial information
    ("capacity", np.int64),        # a power of two
    ("apart", np.int64, (8,)),     # a cache line: what follows is written in every playout, what precedes is read at every step
    ("used", np.int64),            # rows that hold a record
    ("reserved", np.int64),        # rows that playouts under way in several threads may still need
    ("lock", np.int64),            # 1 while one of several threads updates records
], align=True)


class Theta(NamedTuple):
    """θ of one enhancement, as policies read it: the rows of a hash table with linear probing."""

    rows: np.ndarray               # [capacity + 1] of Information.row


@inlined
def index_of(rows: np.ndarray, key: int) -> int:
    """The row of a record, or the empty row where it belongs."""
    mask = len(rows) - 2
    i = key & mask
    while rows[i].record != key and rows[i].record != NO_RECORD:
        i = (i + 1) & mask
    return i


@inlined
def place_of(theta: Theta, key: int) -> int:
    """The row where a record's information stands; that of the initial information where it was never updated."""
    i = index_of(theta.rows, key)
    return i if theta.rows[i].record != NO_RECORD else len(theta.rows) - 1


@inlined
def find(theta: Theta, key: int) -> Any:
    """θ(r): the information of the record with this key, as a row with named fields; not to be changed."""
    return theta.rows[place_of(theta, key)]


def reward_of(row: Any, player: int) -> float:
    """q_ρ: a row's total reward, or its component for a player where it is a vector."""
    return row.reward[player] if np.ndim(row.reward) else row.reward


@overload(reward_of, inline="always")
def _compiled_reward_of(row: Any, player: Any) -> Callable:
    if isinstance(row.typeof("reward"), types.NestedArray):
        def implementation(row: Any, player: Any) -> Any:
            return row.reward[player]
    else:
        def implementation(row: Any, player: Any) -> Any:
            return row.reward
    return implementation


# -------------------------------------------------------------------------------------------------------------- updates

UPDATES = np.dtype([("records", np.int64), ("contexts", np.int64), ("capacity", np.int64), ("count", np.int64)], align=True)


class Updates(NamedTuple):
    """The (record, context) pairs of one playout, in order; `asked[0]` of them."""

    records: np.ndarray
    contexts: np.ndarray
    asked: np.ndarray


@inlined
def update(updates: Updates, key: int, context: int) -> None:
    """Ask for one more update of a record, with a context for the backpropagation function."""
    count = updates.asked[0]
    if count < len(updates.records):                 # beyond it only counted: the playout is run again with more room
        updates.records[count] = key
        updates.contexts[count] = context
    updates.asked[0] = count + 1


_INT = np.dtype(np.int64)


@inlined
def updates_at(address: int) -> Updates:
    """The updates that an UPDATES record at an address describes."""
    room = record_at(address, UPDATES)
    return Updates(array_at(room.records, room.capacity, _INT), array_at(room.contexts, room.capacity, _INT),
                   array_at(address + 24, 1, _INT))
