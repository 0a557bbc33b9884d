"""Mixing coefficients: numbers, functions λ of what the baseline knows of a history, and their products and complements."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import attrs
import numpy as np

from icarus.algebra.slots import Range, Slot, decorator
from icarus.checks import is_number, is_real

MOST_VISITS = 1 << 52  # that a number of 64 bits counts without rounding
TOLERANCE = 1e-9  # of weights that are to sum to 1
Factor: TypeAlias = Any  # a number, a weight, an enhancement, or a sum of these
PROBES = [
    (reward, visits, visits + more)
    for visits in (0, 1, 2, 3, 10, 83, 250, 1_000, 30_000, 1_000_000)
    for reward in (0.0, 0.3, 1.0)
    for more in (0, 7)
]


class _Factor:
    """What enhancements and other weights are multiplied by, and subtracted from 1."""

    def __mul__(self, other: Factor) -> Factor:
        return (
            weight_from(self).times(weight_from(other))
            if isinstance(other, _Factor)
            else NotImplemented
        )

    def __rmul__(self, other: Factor) -> Factor:
        return Weight(float(other)).times(weight_from(self)) if is_real(other) else NotImplemented

    def __rsub__(self, other: object) -> "Weight":
        weight = weight_from(self)
        if other != 1 or weight.constant != 1.0 or len(weight.functions) != 1:
            raise TypeError(
                f"{other!r} - ({self}) is not a weight; write it as a weight function of its own"
            )
        function, complement = weight.functions[0]
        return Weight(1.0, ((function, not complement),))


@attrs.frozen(repr=False)
class WeightFunction(_Factor, Slot):
    """`@weight` marks `function(rewards, visits, availability)`: λ, a mixing coefficient that depends on the baseline's record of [h]~.

    It returns a number from 0 to 1; `rewards` [players] are total rewards q, `visits` and `availability` n and m. The slot multiplies
    enhancements, `my_weight(k=500) * A + (1 - my_weight(k=500)) * B`.
    """

    KIND = "weight"
    ARGUMENTS = ("rewards", "visits", "availability")

    def at(self, reward: float, visits: int, availability: int) -> float:
        """λ in plain Python, for one mean reward of every player."""
        value = self.function(np.full(8, reward * visits), visits, availability, *self.values())
        if not is_number(value):
            raise TypeError(
                f"{self.label()} returned {value!r}; it must return a number from 0 to 1"
            )
        return float(value)


weight = decorator(WeightFunction)


@attrs.frozen(repr=False)
class Weight(_Factor):
    """A mixing coefficient: a constant times weight functions λ, or their complements 1 − λ."""

    constant: float = 1.0
    functions: tuple[tuple[WeightFunction, bool], ...] = ()  # (λ, whether 1 − λ is meant)

    def times(self, weight: "Weight") -> "Weight":
        return Weight(self.constant * weight.constant, self.functions + weight.functions)

    def rebound(self, owner: str, parameters: Mapping[str, object]) -> "Weight":
        """The same coefficient with other values of those parameters that its functions have."""
        functions = [
            (function.rebound(owner, parameters), complement)
            for function, complement in self.functions
        ]
        return attrs.evolve(self, functions=tuple(functions))

    @property
    def parameters(self) -> dict[str, object]:
        """Those of its functions, with their values."""
        return {
            name: value for function, _ in self.functions for name, value in function.parameters
        }

    def at(self, reward: float, visits: int, availability: int) -> float:
        """The coefficient in plain Python."""
        value = self.constant
        for function, complement in self.functions:
            coefficient = function.at(reward, visits, availability)
            value *= 1 - coefficient if complement else coefficient
        return value

    def __repr__(self) -> str:
        parts = [] if self.constant == 1.0 and self.functions else [repr(self.constant)]
        parts += [
            f"(1 - {function!r})" if complement else repr(function)
            for function, complement in self.functions
        ]
        return "*".join(parts)


@weight
def rave_weight(
    rewards: np.ndarray,
    visits: int,
    availability: int,
    k: Annotated[int, Range(1, MOST_VISITS)] = 250,
) -> float:
    """λ_RAVE = √(k / (3n + k)) (15)"""
    return math.sqrt(k / (3 * visits + k))


def weight_from(value: object) -> Weight:
    """A number or a weight function as a weight.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, Weight):
        return value
    if isinstance(value, WeightFunction):
        return Weight(1.0, ((value, False),))
    if is_real(value):
        return Weight(float(value))
    raise TypeError(f"{value!r} is not a weight: it must be a finite number or a @weight function")


def total_text(terms: Sequence[tuple[Weight, object]]) -> str:
    """What the weights of terms sum to, over many a visit count: a number, or from where to where."""
    totals = [sum(weight.at(*probe) for weight, _ in terms) for probe in PROBES]
    low, high = min(totals), max(totals)
    return f"{low:g}" if high - low < TOLERANCE else f"between {low:g} and {high:g}"
