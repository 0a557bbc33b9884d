"""Named variants of a specification: the same enhancement with other parameters."""

from typing import Any

import attrs

from icarus.algebra import Enhancement, Rule
from icarus.checks import real

LARGEST = 1e9  # value of a parameter


def nonnegative(factory: str, **parameters: float) -> dict[str, float]:
    """Parameters of a variant, each a finite number of at least 0.

    Raises:
        ValueError: one of them is not; the message names it and the factory.
    """
    return {name: real(f"{name} of {factory}", value, 0, LARGEST) for name, value in parameters.items()}


def variant(enhancement: Enhancement, factory: str, *arguments: float | str | Rule, **slots: Any) -> Enhancement:
    """An enhancement with other slots, named by the call that makes it, so that `parse(str(x)) == x`."""
    return attrs.evolve(enhancement, name=f"{factory}({', '.join(map(_text, arguments))})", **slots)


def _text(argument: float | str | Rule) -> str:
    return repr(argument) if isinstance(argument, int | float | str) else str(argument)
