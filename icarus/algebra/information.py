"""Records and what is known of them: R, Θ and θ_initial of Definition 5.

A record is any tuple of integers; inside the engine it is a 64-bit key (`icarus.kernel.record`). The information of a record is a
row of named numbers.
"""

import enum
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.algebra.slots import Candidates, InitialInformation
from icarus.checks import integer, is_integer
from icarus.compiler.functions import python_of
from icarus.kernel.game import AnyGame
from icarus.kernel.history import Root, episode_record, history_record, mix, record

_ANY_NUMBER = "A*"  # the factor of actions, however many
Parts: TypeAlias = Any  # what a record is made of, as `Space.key` takes it: integers, or a player and his moves
FieldValue: TypeAlias = float | Sequence[float]  # of a field of information: a number, or one for each player
FieldValues: TypeAlias = Mapping[str, FieldValue]


@attrs.frozen
class Space:
    """A set that records or capture contexts are drawn from, written as in the paper; `*` is the Cartesian product."""

    factors: tuple[str, ...]

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.factors, tuple) or not all(isinstance(factor, str) for factor in self.factors):
            raise TypeError(
                f"the factors of a Space are {self.factors!r}; they must be a tuple of texts, as in Space(('A',))"
            )

    def __mul__(self, other: "Space") -> "Space":
        if not isinstance(other, Space):
            raise TypeError(
                f"({self}) * {other!r}: a Space is multiplied by a Space, such as PLAYER; a power is {self}**2"
            )
        products = [Space(left.factors + right.factors) for left in self.alternatives for right in other.alternatives]
        return products[0] if len(products) == 1 else Either(spaces=tuple(products))

    def __pow__(self, length: int) -> "Space":
        return Space(self.factors * integer(f"the power of {self}", length, least=1))

    def __or__(self, other: "Space") -> "Space":
        if not isinstance(other, Space):
            raise TypeError(f"({self}) | {other!r}: a union is made of Spaces, such as PLAYER")
        return Either(spaces=self.alternatives + other.alternatives)

    def __str__(self) -> str:
        texts: list[str] = []
        for factor in dict.fromkeys(self.factors):
            times = self.factors.count(factor)
            texts.append(factor if times == 1 else f"{factor}^{times}")
        return " × ".join(texts)

    @property
    def alternatives(self) -> "tuple[Space, ...]":
        """The spaces of which this one is the union."""
        return (self,)

    @property
    def _begins_with(self) -> tuple[str, ...]:
        """The factors of the history, or of the position in an episode, that records begin with; none where they are integers only."""
        return next(
            (each.factors for each in (POSITION, HISTORY) if self.factors[: len(each.factors)] == each.factors), ()
        )

    def has(self, parts: object) -> bool:
        """Whether these parts make a record of this space, by their number and kinds."""
        if not isinstance(parts, tuple | list):
            return False
        if self == HISTORY and not parts:
            return True
        begins, rest = self._begins_with, self.factors[len(self._begins_with) :]
        if "M*" in rest or _ANY_NUMBER in rest[:-1]:  # no record can be told by its parts
            return False
        lists = [parts[len(begins)]] if begins and len(parts) > len(begins) else []
        numbers = [*parts[: len(begins)], *parts[len(begins) + bool(begins) :]]
        beyond = len(parts) - len(begins) - bool(begins)
        fits = beyond >= len(rest) if _ANY_NUMBER in rest else beyond == len(rest)
        return (
            fits
            and all(isinstance(moves, tuple | list) and all(map(is_integer, moves)) for moves in lists)
            and all(map(is_integer, numbers))
        )

    def key(self, game: AnyGame, parts: Parts, root: Root | None = None) -> int:
        """The key of a record of this space in a game.

        Args:
            parts: what the record is made of. M* (`HISTORY`): () for the empty history, else (player, moves) with the moves as
                the player, who made the last one, observed them. E × M* (`POSITION`): (label, player, moves). M* × … (`HISTORY *
                PLAYER`): (player, moves) and the integers that follow, with moves () for the empty history. Otherwise the integers
                in order, such as (action, player).
            root: where histories begin; by default that of a search without earlier records.

        Raises:
            ValueError: the space has no such record.
        """
        if not self.has(parts):
            raise ValueError(f"{parts!r} is not a record of {self}")
        begins = self._begins_with
        if not begins:
            return python_of(record)(*(int(part) for part in parts))
        *label, player, moves = parts[: len(begins) + 1] or (0, ())
        if label:
            key = episode_record(label[0], game.perspective(player), player, tuple(moves))
        else:
            perspective = game.perspective(player) if moves else 0
            key = history_record(perspective, player, tuple(moves), root)
        for part in parts[len(begins) + 1 :]:
            key = mix(key, int(part))
        return key


@attrs.frozen
class Either(Space):
    """A disjoint union of spaces, R₁ ⊔ R₂, written `R1 | R2`: one enhancement with records of several kinds."""

    factors: tuple[str, ...] = ()
    spaces: tuple[Space, ...] = ()

    def __pow__(self, length: int) -> Space:
        raise TypeError(f"({self}) ** {length!r}: a union of spaces cannot be raised to a power")

    def __str__(self) -> str:
        return " ⊔ ".join(map(str, self.spaces))

    @property
    def alternatives(self) -> tuple[Space, ...]:
        return self.spaces

    def has(self, parts: object) -> bool:
        """Whether these parts make a record of one of the spaces."""
        return any(space.has(parts) for space in self.spaces)

    def key(self, game: AnyGame, parts: Parts, root: Root | None = None) -> int:
        """The key of a record: of a history or a position where moves are among its parts, else of the integers in order.

        Raises:
            ValueError: none of the spaces has such records.
        """
        for space in self.spaces:
            if space.has(parts):
                return space.key(game, parts, root)
        raise ValueError(f"{parts!r} is not a record of {self}")


ACTION = Space(("A",))
MOVE = Space(("M",))
PLAYER = Space(("{1, …, κ}",))
HISTORY = Space(("M*",))
ACTIONS = Space(("A*",))  # any number of them, at least one; after a HISTORY
POSITION = Space(("E", "M*"))
NOTHING = Space(("{ψ}",))
VISIT_OR_AVAILABLE = Space(("{ψ_avail, ψ_visit}",))


class Kind(enum.StrEnum):
    """What the field of a record is, and so what decay does to it (`Result.decayed`)."""

    SUM = "sum"  # shrinks with its count
    COUNT = "count"  # shrinks
    MEAN = "mean"  # a mean or a weight that is learnt; stays
    BOUND = "bound"  # proved; stays
    LABEL = "label"  # a number that stands for something; stays


@attrs.frozen
class Domain:
    """What one field of the information is: a letter for printing, a type, whether there is one for each player, and its kind.

    `REAL**3` is a field of three reals, `row.field[0]` to `row.field[2]`. The kind says what decay does
    to the field.
    """

    symbol: str
    type: np.dtype = attrs.field(converter=np.dtype)
    per_player: bool = False
    kind: Kind = Kind.SUM

    def __pow__(self, length: int) -> "Domain":
        if self.per_player or self.type.shape:
            raise TypeError(
                f"{self.symbol} ** {length!r}: a field that is already an array cannot be raised to a power"
            )
        length = integer("the length of a field", length, least=1)
        return Domain(f"{self.symbol}^{length}", (self.type, (length,)), kind=self.kind)


REAL = Domain("ℝ", np.float64)  # a sum
REWARD = Domain("ℝ", np.float64)
REWARDS = Domain("ℝ^κ", np.float64, per_player=True)
COUNT = Domain("ℕ₀", np.int32, kind=Kind.COUNT)
REAL_COUNT = Domain("ℝ", np.float64, kind=Kind.COUNT)  # a count in which older playouts weigh less
ESTIMATE = Domain("ℝ", np.float64, kind=Kind.MEAN)  # a mean, or a weight that is learnt
ESTIMATES = Domain("ℝ^κ", np.float64, per_player=True, kind=Kind.MEAN)
LIMIT = Domain("ℝ", np.float64, kind=Kind.BOUND)  # a proven bound
NUMBER = Domain("ℕ₀", np.int32, kind=Kind.LABEL)  # a number that stands for something
REPLY = Domain("A ∪ {⊥}", np.int64, kind=Kind.LABEL)


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
        shapes = [
            (name, domain.type, (players,)) if domain.per_player else (name, domain.type)
            for name, domain in self.fields
        ]
        return np.dtype([("record", np.int64), *shapes], align=True)


def information(**fields: Domain) -> Information:
    """An information domain with named fields: `information(reward=REWARD, visits=COUNT)`."""
    for name, domain in fields.items():
        if not isinstance(domain, Domain):
            raise TypeError(f"{name} of an information is {domain!r}; it must be a Domain such as REWARD or COUNT")
        if name == "record":
            raise ValueError("a field of an information cannot be called 'record', which is the name of a row's key")
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
        function: computes the information of a record from the state in which a policy first needs it; after `common`.
    """

    common: tuple[tuple[str, float], ...] = ()
    given: tuple[tuple[Parts, tuple[tuple[str, float], ...]], ...] = ()
    function: InitialInformation | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is known of any record to begin with."""
        return bool(self.common or self.given or self.function)

    def check(self, name: str, records: Space, information: Information) -> None:
        """Refuse values that the information would cut down, and exceptions that are not records.

        Raises:
            ValueError: a float for a count, NaN, or parts that do not make a record of the space.
        """
        domains = dict(information.fields)
        for field, value in (*self.common, *(item for _, fields in self.given for item in fields)):
            base = domains[field].type.base
            numbers = _numbers(value)
            is_count = base == np.int32
            limits = (0, np.iinfo(base).max) if is_count else (-math.inf, math.inf)
            outside = (numbers < limits[0]) | (numbers > limits[1]) | np.isnan(numbers)
            if outside.any() or (base.kind == "i" and (numbers % 1 != 0).any()):
                expected = "an integer" if base.kind == "i" else "a number"
                expected += f" from {limits[0]} to {limits[1]}" if is_count and outside.any() else ""
                raise ValueError(f"the initial information of {name} sets {field} to {value!r}; it must be {expected}")
        for parts, _ in self.given:
            if not records.has(parts):
                raise ValueError(
                    f"the initial information of {name} is given for {parts!r}, which is not a record of {records}"
                )

    def check_source(self, name: str, source: object) -> None:
        """Refuse a function where the source of the policy's values does not ask it about all legal actions.

        Raises:
            ValueError: the initial information is given by a function, and the policy does not use such a @candidates function.
        """
        if self.function is not None and (not isinstance(source, Candidates) or source.independent):
            raise ValueError(
                f"the initial information of {name} is given by {self.function!r}, so its policy must use a @candidates function that is "
                f"asked about all legal actions at once, not {source!r}"
            )

    def __str__(self) -> str:
        rest = ", 0 otherwise" if self.given else ""
        common = (
            ", ".join(f"{name} = {'⊥' if name == 'reply' and value < 0 else value}" for name, value in self.common)
            or "0"
        )
        by_function = f"; {self.function.summary}" if self.function else ""
        return common + by_function + (f"; {len(self.given)} records given{rest}" if self.given else "")


def _numbers(value: object) -> np.ndarray:
    """A value of a field as numbers; NaN, which no field takes, for what is none."""
    try:
        return np.atleast_1d(np.asarray(value, float))
    except (TypeError, ValueError):
        return np.array([math.nan])


def initial(given: Mapping[Parts, Mapping[str, float]] | InitialInformation | None = None, **common: float) -> Initial:
    """θ_initial: `initial()` is all zeros, `initial(reward=1, visits=1)` the same for every record, `given` names exceptions.

    Args:
        given: {parts of a record: {field: value}}; or an `@initial_information` function, which may read the game's features.

    Raises:
        TypeError: `given` is neither.
    """
    if isinstance(given, InitialInformation):
        return Initial(tuple(common.items()), function=given)
    if given is not None and not (isinstance(given, Mapping) and all(isinstance(f, Mapping) for f in given.values())):
        raise TypeError(
            f"given is {given!r}; it must be a dictionary {{parts of a record: {{field: value}}}} or an @initial_information function"
        )
    exceptions = tuple((parts, tuple(values.items())) for parts, values in (given or {}).items())
    return Initial(tuple(common.items()), exceptions)
