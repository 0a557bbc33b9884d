"""Records and what is known of them: R, Θ and θ_initial of Definition 5.

A record is any tuple of integers; inside the engine it is a 64-bit key (`icarus.kernel.record`). The information of a record is a
row of named numbers.
"""

import enum
import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.algebra.slots import Candidates, InitialInformation
from icarus.checks import count_text, integer, is_word
from icarus.compiler.functions import python_of
from icarus.kernel import AnyGame, Root, episode_record, history_record, mix, record

_ANY_NUMBER = "A*"  # the factor of actions, however many
# what a record is made of, as `Space.key` takes it: integers, or a player and his moves
Parts: TypeAlias = Any
# of a field of information: a number, or one for each player
FieldValue: TypeAlias = float | Sequence[float]
FieldValues: TypeAlias = Mapping[str, FieldValue]
_Fields: TypeAlias = tuple[tuple[str, Any], ...]  # such values by name, with no lists


def of_kind(kind: type) -> Callable:
    """A validator of a field: what it holds must be of this class."""

    def check(instance: object, field: attrs.Attribute, value: object) -> None:
        if not isinstance(value, kind):
            raise TypeError(f"{field.name} is {value!r}; it must be a {kind.__name__}")

    return check


@attrs.frozen
class Space:
    """A set that records or capture contexts are drawn from, written as in the paper; `*` is the Cartesian product.

    `R1 | R2` is the disjoint union R₁ ⊔ R₂: one enhancement with records of several kinds.
    """

    factors: tuple[str, ...] = attrs.field(validator=of_kind(tuple))
    others: "tuple[Space, ...]" = ()  # of a union, its other spaces

    def __mul__(self, other: "Space") -> "Space":
        if not isinstance(other, Space):
            raise TypeError(
                f"({self}) * {other!r}: a Space is multiplied by a Space; a power is {self}**2"
            )
        pairs = itertools.product(self.alternatives, other.alternatives)
        return _union([Space(left.factors + right.factors) for left, right in pairs])

    def __pow__(self, length: int) -> "Space":
        return functools.reduce(
            operator.mul, [self] * integer(f"the power of {self}", length, least=1)
        )

    def __or__(self, other: "Space") -> "Space":
        if not isinstance(other, Space):
            raise TypeError(f"({self}) | {other!r}: a union is made of Spaces, such as PLAYER")
        return _union([*self.alternatives, *other.alternatives])

    def __str__(self) -> str:
        return " ⊔ ".join(_product_text(space.factors) for space in self.alternatives)

    @property
    def alternatives(self) -> "tuple[Space, ...]":
        """The spaces of which this one is the union."""
        return (Space(self.factors), *self.others)

    @property
    def _begins_with(self) -> tuple[str, ...]:
        """The factors of the history, or of the position in an episode, that records begin with; none where they are integers only."""
        for each in (POSITION, HISTORY):
            if self.factors[: len(each.factors)] == each.factors:
                return each.factors
        return ()

    def has(self, parts: object) -> bool:
        """Whether these parts make a record of this space, by their number and kinds."""
        return isinstance(parts, tuple | list) and any(
            space._has(parts) for space in self.alternatives
        )

    def _has(self, parts: Sequence[Any]) -> bool:
        """Whether parts make a record of this space itself, without the others of a union.

        M* stands for two parts: the player who made the last move, and the moves as he observed them. A position in an episode has its
        label before these. All other parts are integers. The empty history by itself has no parts.
        """
        if self == HISTORY and not parts:
            return True
        begins = self._begins_with  # with M* as the last one, if there are any
        rest = self.factors[len(begins) :]
        # Of two lists of any length nobody can say where the first ends: such a record cannot be told by its parts.
        if "M*" in rest or _ANY_NUMBER in rest[:-1]:
            return False
        integers = list(parts)
        if begins:
            # M* is two parts, the player and the moves. The moves are taken out, so that there is one integer for each factor.
            moves = integers.pop(len(begins)) if len(integers) > len(begins) else None
            if not isinstance(moves, tuple | list) or not all(map(is_word, moves)):
                return False
        least = len(begins) + len(rest)
        has_all = len(integers) >= least if _ANY_NUMBER in rest else len(integers) == least
        return has_all and all(map(is_word, integers))

    def key(self, game: AnyGame, parts: Parts, root: Root | None = None) -> int:
        """The key of a record of this space in a game.

        Args:
            parts: what the record is made of. M* (`HISTORY`): () for the empty history, else (player, moves) with the moves as
                the player, who made the last one, observed them. E × M* (`POSITION`): (label, player, moves). M* × … (`HISTORY *
                PLAYER`): (player, moves) and the integers that follow, with moves () for the empty history. Otherwise the integers
                in order, such as (action, player). Of a union the first space that has such a record.
            root: where histories begin; by default that of a search without earlier records.

        Raises:
            ValueError: the space has no such record.
        """
        if not self.has(parts):
            raise ValueError(f"{parts!r} is not a record of {self}")
        begins = next(space for space in self.alternatives if space._has(parts))._begins_with
        if not begins:
            return python_of(record)(*(int(part) for part in parts))
        *label, player, moves = parts[: len(begins) + 1] or (0, ())  # of no parts: no moves
        if label:
            key = episode_record(label[0], game.perspective(player), player, tuple(moves))
        else:
            perspective = game.perspective(player) if moves else 0
            key = history_record(perspective, player, tuple(moves), root)
        for part in parts[len(begins) + 1 :]:
            key = mix(key, int(part))
        return key


def _union(spaces: Sequence[Space]) -> Space:
    return Space(spaces[0].factors, tuple(spaces[1:]))


def _product_text(factors: Sequence[str]) -> str:
    """A Cartesian product with powers of factors that stand side by side: A × A × M is A^2 × M."""
    texts = []
    for factor, run in itertools.groupby(factors):
        times = len(list(run))
        texts.append(factor if times == 1 else f"{factor}^{times}")
    return " × ".join(texts)


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
    kind: Kind = attrs.field(default=Kind.SUM, converter=Kind)

    def __pow__(self, length: int) -> "Domain":
        if self.per_player or self.type.shape:
            raise TypeError(
                f"{self.symbol} ** {length!r}: a field that is an array cannot be raised to a power"
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
        if name == "record":
            raise ValueError(
                "a field of an information is called record, as the key is; give it another name"
            )
        if not isinstance(domain, Domain):
            raise TypeError(
                f"{name} of an information is {domain!r}; it must be a Domain such as REWARD or COUNT"
            )
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

    common: _Fields = ()
    given: tuple[tuple[Parts, _Fields], ...] = ()
    function: InitialInformation | None = None

    @property
    def is_given(self) -> bool:
        """Whether anything is known of any record to begin with."""
        return bool(self.common or self.given or self.function)

    def check(self, name: str, records: Space, information: Information, source: object) -> None:
        """Refuse values that the information would cut down, exceptions that are not records, and a function that nobody would ask.

        Raises:
            ValueError: a float for a count, NaN, parts that do not make a record of the space, or a function where the policy does not use
                a @candidates function that is asked about all legal actions.
        """
        domains = dict(information.fields)
        for fields in (self.common, *(fields for _, fields in self.given)):
            for field, value in fields:
                if field not in domains:
                    raise ValueError(
                        f"the initial information of {name} sets {field}, which its information has not; it has {', '.join(domains)}"
                    )
                if expected := _why_unfit(value, domains[field]):
                    raise ValueError(
                        f"the initial information of {name} sets {field} to {value!r}; it must be {expected}"
                    )
        for parts, _ in self.given:
            if not records.has(parts):
                raise ValueError(
                    f"the initial information of {name} is given for {parts!r}, no record of {records}"
                )
        if self.function is not None and (not isinstance(source, Candidates) or source.independent):
            what = f"the initial information of {name} is a function"
            raise ValueError(
                f"{what}: its policy must use a @candidates function, asked about all legal actions at once"
            )

    def __str__(self) -> str:
        common = [
            f"{name} = {'⊥' if name == 'reply' and value < 0 else value}"
            for name, value in self.common
        ]
        by_function = f"; {self.function.summary}" if self.function else ""
        given = f"; {count_text(len(self.given), 'record')} given" if self.given else ""
        return (", ".join(common) or "0") + by_function + given


def _why_unfit(value: FieldValue, domain: Domain) -> str:
    """What a value of a domain must be, if this one is not; "" if it is."""
    base = domain.type.base
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        numbers = np.array(math.nan)
    fits = numbers.shape in ((), domain.type.shape)
    if domain.per_player:  # the game will say of how many players
        fits = numbers.ndim <= 1
    is_count = base == np.int32
    most = np.iinfo(base).max if is_count else math.inf
    within = (numbers >= (0 if is_count else -math.inf)) & (numbers <= most)  # NaN is not
    if base.kind == "i":
        within &= numbers % 1 == 0
    if fits and within.all():
        return ""
    expected = "an integer" if base.kind == "i" else "a number"
    if is_count:
        expected += f" from 0 to {most}"
    if domain.per_player:
        expected += ", or one for each player"
    elif domain.type.shape:
        expected += f", or {domain.type.shape[0]} of them"
    return expected


def initial(
    given: Mapping[Parts, FieldValues] | InitialInformation | None = None, **common: FieldValue
) -> Initial:
    """θ_initial: `initial()` is all zeros, `initial(reward=1, visits=1)` the same for every record, `given` names exceptions.

    Args:
        given: {parts of a record: {field: value}}; or an `@initial_information` function, which may read the game's features.

    Raises:
        TypeError: `given` is neither.
    """
    if isinstance(given, InitialInformation):
        return Initial(_hashable(common), function=given)
    if given is not None and not (
        isinstance(given, Mapping) and all(isinstance(values, Mapping) for values in given.values())
    ):
        raise TypeError(
            f"given is {given!r}; it must be {{parts: {{field: value}}}} or an @initial_information function"
        )
    exceptions = tuple((parts, _hashable(values)) for parts, values in (given or {}).items())
    return Initial(_hashable(common), exceptions)


def _hashable(fields: FieldValues) -> _Fields:
    """The fields of a record with their values, lists and arrays as tuples."""
    return tuple(
        (name, tuple(value) if isinstance(value, list | np.ndarray) else value)
        for name, value in fields.items()
    )
