"""What random playouts say of the actions in a position, and of their records elsewhere (see `play.correlation`), kept as CSV."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from experiments.plan.definition import Refusal

ACTION, POSITION = KINDS = ("action", "position in episode")
HALVES = 2
FEWEST_ACTIONS = 3  # of a position


@attrs.frozen
class Shared:
    """What one half of the playouts says of an action in a position.

    Attributes:
        position: a number of the position.
        now: its mean reward at the root.
        later: the mean reward of its record elsewhere; how often that was captured is `count`.
    """

    game: str
    role: str
    position: int
    half: int
    kind: str
    action: int
    now: float
    later: float
    count: int


FIELDS = tuple(attribute.name for attribute in attrs.fields(Shared))


def keep(path: Path, shared: Sequence[Shared]) -> None:
    """Write what was measured as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(attrs.astuple(each) for each in shared)


def kept(path: Path) -> list[Shared]:
    """What a file holds that `keep` has written.

    Raises:
        Refusal: it holds something else.
    """
    kinds: list[Any] = [attribute.type for attribute in attrs.fields(Shared)]
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = [*csv.reader(file)] or [[]]
    if tuple(header) != FIELDS:
        raise Refusal(f"{path} was not written by this command: it does not begin with {','.join(FIELDS)}")
    return [Shared(*(kind(text) for kind, text in zip(kinds, line, strict=True))) for line in lines]
