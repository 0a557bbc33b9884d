"""Compositions and their policies as text, which `parse` reads back."""

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from icarus.algebra.weights import Weight

Term: TypeAlias = Any  # an `Enhancement`, which is made of what stands here


def check_name(name: object) -> None:
    """Refuse the name of an enhancement that reads as a composition, or is no text.

    Raises:
        TypeError: it is no str, or empty. ValueError: an operator stands in it, outside of brackets.
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of an enhancement is {name!r}; it must be a str")
    if operators := re.search(r"[>+/^&*]+", re.sub(r"\(.*\)", "", name)):
        raise ValueError(f"the name of an enhancement is {name!r}, which reads as a composition by {operators[0]}")


def expression_text(operator: str, terms: Sequence[tuple[Weight, Term]]) -> str:
    """A composition of weighted terms by an operator."""
    if operator == ">>":
        return " >> ".join(str(term) if _operator(term) == "+" else _in_brackets(term) for _, term in terms)
    if operator == "&":
        return " & ".join(_in_brackets(term) for _, term in terms)
    if len({weight for weight, _ in terms}) == 1 and terms[0][0] == Weight(1 / len(terms)):
        return "(" + f" {operator} ".join(_in_brackets(term) for _, term in terms) + f")/{len(terms)}"
    return f" {operator} ".join(term_text(weight, term) for weight, term in terms)


def term_text(weight: Weight, term: Term) -> str:
    """One term of a sum, with its weight."""
    return _in_brackets(term) if weight == Weight() else f"{weight}*{_in_brackets(term)}"


def _in_brackets(term: Term) -> str:
    return str(term) if _operator(term) in ("", "adaptive") else f"({term})"


def _operator(term: Term) -> str:
    """The operator of a composition that is written out; "" for what has a name of its own."""
    return "" if getattr(term, "alias", None) is not None else getattr(term, "operator", "")


def policy_text(operator: str, weighted: Sequence[tuple[str, str]]) -> str:
    """The policy of a composition (COMB-4), of whose operands the weights and names are given as text."""
    names = [f"α[{term}]" for _, term in weighted]
    if operator == ">>":
        return f"{names[0]} at selection and expansion nodes; {names[-1]} at simulation nodes"
    if operator == "+":
        return " + ".join(f"{weight} α[{term}]" for weight, term in weighted)
    if operator == "adaptive":
        return f"for each player and playout one of {', '.join(names)}, by UCB1 over the rewards of playouts with it"
    if operator == "&":
        return f"U[arg max of votes], one drawn from each of {', '.join(names)} that is not uniform"
    return f"U[arg max ({' + '.join(f'{weight} v[{term}]' for weight, term in weighted)})]"


def value_text(value: object) -> str:
    """A parameter as a strategy's text has it: a number or a text as Python writes it, a rule as it prints."""
    return repr(value) if isinstance(value, int | float | str) else str(value)
