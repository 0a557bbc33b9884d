"""The slots of a composition: disjoint unions, and mixtures of policies."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from icarus.algebra.policy import Policy
from icarus.algebra.weights import Weight

SLOTS = ("records", "information", "initial", "policy", "contexts", "capture", "backpropagation")
Term: TypeAlias = Any  # an `Enhancement`, which is made of what stands here


@attrs.frozen
class Union:
    """A disjoint union ⊔ of the slots of several enhancements (COMB-1, 2, 3, 5, 6, 7)."""

    parts: tuple[object, ...]

    def __str__(self) -> str:
        return " ⊔ ".join(str(part) for part in self.parts)


@attrs.frozen
class Mixture:
    """The policy of a composition (COMB-4): an operator over weighted policies."""

    operator: str
    terms: "tuple[tuple[Weight, Policy | Mixture], ...]"


def union_slots(operator: str, terms: Sequence[tuple[Weight, Term]], parts: Sequence[Term]) -> dict[str, Any]:
    """The slots of a composition: a mixture of the terms' policies; of the others, disjoint unions over its parts."""
    slots: dict[str, Any] = {slot: Union(tuple(getattr(part, slot) for part in parts)) for slot in SLOTS}
    return slots | {"policy": Mixture(operator, tuple((weight, term.policy) for weight, term in terms))}


def check_maximises(expression: str, terms: Sequence[tuple[Weight, Term]]) -> None:
    """Refuse terms of a maxilinear composition with policies that are not of the form U[arg max v].

    Raises:
        ValueError: there is one.
    """
    for _, term in terms:
        for part in _policies(term):
            operator = getattr(part, "operator", "")
            if operator or not part.policy.maximises:
                rule = _KINDS[operator] if operator else f"the rule {part.policy.rule.name}"
                raise ValueError(
                    f"the policy of {part} is {rule}, not of the form U[arg max v]: ^ cannot combine it in ({expression})"
                )


# That have no values to add up.
_KINDS = {"+": "a linear mixture", "&": "a majority vote", "adaptive": "an adaptive mixture"}


def _policies(term: Term) -> Iterator[Term]:
    """The enhancements whose values a maxilinear composition would read; a linear mixture, or a vote, stands for itself."""
    operator = getattr(term, "operator", "")
    if not operator or operator in _KINDS:
        yield term
        return
    ends = (term.terms[0], term.terms[-1]) if operator == ">>" else term.terms
    for _, part in ends:
        yield from _policies(part)
