"""Input that cannot be used, told in one sentence that begins with its path; and the checks that tell it."""

import contextlib
import difflib
from collections.abc import Iterator, Sequence
from typing import Any


class Refusal(ValueError):
    """Input that cannot be used, told in one sentence."""


@contextlib.contextmanager
def refusing(path: str = "", kinds: tuple[type[Exception], ...] = (ValueError,)) -> Iterator[None]:
    """An error within becomes a `Refusal` that begins with the path, if there is one; a `Refusal` stays as it is.

    Args:
        kinds: of errors; others are raised as they are.
    """
    try:
        yield
    except Refusal:
        raise
    except kinds as error:
        raise Refusal(f"{path}: {error}" if path else str(error)) from None


def nearest(name: str, names: Sequence[str]) -> str:
    """The end of a message about an unknown name: those that look like it, or all."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(names)}"


def paths(key: str, value: Any) -> list[tuple[str, Any]]:
    """The values of a key that may hold a list, each with its path."""
    return (
        [(f"{key}[{i}]", each) for i, each in enumerate(value)]
        if isinstance(value, list | tuple)
        else [(key, value)]
    )


def one_of(path: str, value: object, names: Sequence[str]) -> str:
    """One of some names."""
    if isinstance(value, str) and value in names:
        return value
    raise Refusal(f"{path}: {value!r} is unknown{nearest(str(value), names)}")
