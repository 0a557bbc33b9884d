"""Which numbers are accepted, defined in one place: integers, reals and seeds, Python's own or numpy's; never `True`, infinity or nan.

Each check returns the value as Python's own number, or raises a ValueError of one sentence: what was wrong, and what would be right.
`one_of` checks a choice between names. Beside them stands how numbers, names and columns are written.
"""

import math
import os
import re
import sys
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from rich.cells import cell_len


def excerpt(text: str, most: int) -> str:
    """A text as it is quoted where it is refused: its first so many characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def quoted(value: object) -> str:
    """A value as it is quoted where it is refused."""
    try:
        return excerpt(repr(value), 100)
    except ValueError:  # Python writes no integers of so many digits
        return "an integer of thousands of digits"


def differing(first: str, second: str, most: int) -> list[str]:
    """Two texts as they are quoted where they differ: so many characters, from a little before the difference."""
    start = max(0, len(os.path.commonprefix([first, second])) - most // 4)
    before = "…" if start else ""
    return [before + excerpt(text[start:], most) for text in (first, second)]


def bare(name: str) -> str:
    """A name without capitals, and without what stands between two parts of a move: "f5 d6", "g3-h4", "c3xe5", "3 × ★"."""
    # a letter that means "takes" or "times" stands after a number, or before a square or a number
    between = r"(?<=\d)\s*[x×]\s*(?=\S)|(?<=\w)\s*x\s*(?=\w?\d)|(?<=\w)[-–×:\s]+(?=\w)"
    text = re.sub(between, " ", name.casefold())
    return re.sub(r"(?<=\w)\s+|\s+(?=\w)", "", text)


def exact_text(number: float) -> str:
    """A number in six digits; in all of them where it would be read as another one."""
    text = f"{number:g}"
    return text if float(text) == number else f"{number}"


def count_text(number: int, noun: str) -> str:
    """A number with its noun, whose plural ends in -s: "1 seat", "3 seats"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def range_text(least: int, most: int) -> str:
    """The integers within limits: "0 to 3", or "0" where there is one only."""
    return f"{least}" if least == most else f"{least} to {most}"


def indices_text(noun: str, number: int) -> str:
    """The numbers of so many things, from 0, with their noun: "seats 0 to 3", "seat 0"."""
    return f"{noun}{'' if number == 1 else 's'} {range_text(0, number - 1)}"


def text_columns(rows: Sequence[Sequence[str]], others: str = "<") -> list[str]:
    """Rows as lines, their columns side by side; the first is aligned to the left, and all others by the sign `others`.

    A line break in a text is a space there; wide letters, such as emoji, take two places.
    """
    texts = [[" ".join(text.splitlines()) for text in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    signs = ["<", *others * len(widths)]
    lines = []
    for row in texts:
        cells = []
        for text, sign, width in zip(row, signs, widths, strict=False):
            wide = cell_len(text) - len(text)
            cells.append(f"{text:{sign}{width - wide}}")
        lines.append("  ".join(cells).rstrip())
    return lines


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer; True and False are not."""
    return type(value) is int or (
        isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    )


def is_word(value: object) -> TypeGuard[int]:
    """Whether a value is an integer of 64 bits, as the parts of a record are, and its key."""
    return is_integer(value) and -(1 << 63) <= value < 1 << 63


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number, also infinite or nan; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number; True and False are not."""
    return is_number(value) and abs(np.asarray(value).item()) <= sys.float_info.max


def own_number(value: Any) -> Any:
    """A number of numpy's as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def one_of(name: str, value: object, choices: Sequence) -> Any:
    """The choice that a value is; a text of another class, as of an enumeration, becomes Python's own.

    Raises:
        ValueError: `value` is not one of two or more `choices`; the message begins with `name`.
    """
    try:
        return choices[choices.index(value)]
    except ValueError:  # also of an array
        *others, last = map(repr, choices)
        raise ValueError(
            f"{name} is {quoted(value)}; it must be {', '.join(others)} or {last}"
        ) from None


def integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """An integer within limits.

    Raises:
        ValueError: `value` is not an integer, or is outside the limits; the message begins with `name`.
    """
    if is_integer(value) and (least is None or value >= least) and (most is None or value <= most):
        return int(value)
    if least is not None and least == most:
        raise ValueError(f"{name} is {quoted(value)}; it must be {least}")
    limits = f" from {least} to {most}"
    if most is None:
        limits = "" if least is None else f" of at least {least}"
    elif least is None:
        limits = f" of at most {most}"
    raise ValueError(f"{name} is {quoted(value)}; it must be an integer{limits}")


def real(
    name: str,
    value: object,
    least: float = -math.inf,
    most: float = math.inf,
    above: bool = False,
    below: bool = False,
) -> float:
    """A finite number within limits.

    Args:
        above, below: whether the lower and the upper limit are excluded.

    Raises:
        ValueError: `value` is not a finite number, or is outside the limits; the message begins with `name`.
    """
    if (
        is_real(value)
        and least <= value <= most
        and not (above and value == least)
        and not (below and value == most)
    ):
        return float(value)
    limits = []
    if least > -math.inf:
        limits.append(f"{'above' if above else 'at least'} {exact_text(least)}")
    if most < math.inf:
        limits.append(f"{'below' if below else 'at most'} {exact_text(most)}")
    kind = "finite" if is_number(value) and not is_real(value) else "real"
    raise ValueError(
        f"{name} is {quoted(value)}; it must be a {kind} number {' and '.join(limits)}".rstrip()
    )


def positive(name: str, value: object) -> float:
    """A finite number above 0, of seconds for example.

    Raises:
        ValueError: `value` is not a finite number above 0.
    """
    return real(name, value, least=0, above=True)


def seed(value: object) -> int | tuple[int, ...]:
    """The seed of all randomness: an integer of at least 0, or several as a key.

    Zeros at the end of a key count for nothing, and an integer of more than 32 bits counts as its words, the lowest first: 7 is (7, 0), and
    2**32 + 5 is (5, 1). Other seeds are different ones.

    Raises:
        ValueError: `value` is neither.
    """
    is_key = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    numbers: Any = value if is_key else (value,)
    if not numbers or not all(is_integer(number) and number >= 0 for number in numbers):
        raise ValueError(
            f"seed is {quoted(value)}; it must be an integer of at least 0, or a sequence of such integers"
        )
    return tuple(map(int, numbers)) if is_key else int(numbers[0])


def seed_key(value: object) -> tuple[int, ...]:
    """A seed as the beginning of keys; arguments and errors as of `seed`."""
    checked = seed(value)
    return checked if isinstance(checked, tuple) else (checked,)
