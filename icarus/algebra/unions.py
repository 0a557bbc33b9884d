"""The slots of a composition: disjoint unions, and mixtures of policies."""

from typing import Any

import attrs

from icarus.algebra.weights import Weight


@attrs.frozen
class Union:
    """A disjoint union ⊔ of the slots of several enhancements (COMB-1, 2, 3, 5, 6, 7)."""

    parts: tuple[Any, ...]

    def __str__(self) -> str:
        return " ⊔ ".join(str(part) for part in self.parts)


@attrs.frozen
class Mixture:
    """The policy of a composition (COMB-4): an operator over weighted policies."""

    operator: str
    terms: tuple[tuple[Weight, Any], ...]
