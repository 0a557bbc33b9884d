"""A draw in plain Python as a deal, from which the actions of the game are played again.

What the draw has in place of the truth was dealt instead of it: in the same place, or, where cards have gone from one place to another
unseen, by other names for the cards. What was dealt so leads to the draw by the same actions, or nothing is concluded. Where it does, each
action must have been legal on the way.
"""

import contextlib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import Any

import attrs

from icarus.audit.draws import (
    Faces,
    Name,
    make_like,
    names_in,
    part_at,
    part_of,
    parts_of,
    place_of,
    replaced,
)
from icarus.audit.subjects import DEEPEST, SCALARS, are_scalars
from icarus.kernel import State, StateData

PAIRINGS = 12  # of lost and gained cards, that are tried
FEW = 3  # if no more different ways are found, these are all
KINDS = (SCALARS, Set, (list, tuple))  # of values, each compared in a way of its own


class UnlikeError(Exception):
    """Two states that differ in more than the items in their places."""


@attrs.frozen
class Exchange:
    """What the truth has at a place, and what the draw has there instead."""

    name: Name
    lost: list[Any]
    gained: list[Any]


def _place(name: Name) -> Name:
    """A name without the numbers of items."""
    return tuple(each for each in name if not isinstance(each, int))


def exchanges(truth: Any, draw: Any, faces: Faces, name: Name = ()) -> Iterator[Exchange]:
    """The items that a draw has in place of those of the truth, place by place.

    Raises:
        UnlikeError: something is of another kind, is longer, or has other parts.
    """
    if len(name) == DEEPEST:  # something may hold what holds it
        return
    if any(isinstance(truth, kind) != isinstance(draw, kind) for kind in KINDS):
        raise UnlikeError
    if isinstance(truth, Set):
        yield Exchange(name, [*truth - draw], [*draw - truth])
    elif isinstance(truth, SCALARS):
        if truth != draw:
            yield Exchange(name, [truth], [draw])
    elif names_in(truth) != names_in(draw):
        raise UnlikeError
    elif (
        isinstance(truth, list | tuple)
        and are_scalars((*truth, *draw))
        and not faces.tells_order(place_of(name))
    ):
        # compared as bags
        lost = Counter(truth) - Counter(draw)
        gained = Counter(draw) - Counter(truth)
        yield Exchange(name, [*lost.elements()], [*gained.elements()])
    else:
        for each in names_in(truth):
            yield from exchanges(part_of(truth, each), part_of(draw, each), faces, (*name, each))


def _put(items: Any, lost: list[Any], gained: list[Any]) -> Any:
    """The items with `gained` in place of `lost`.

    Raises:
        UnlikeError: they have not all of `lost`.
    """
    if isinstance(items, SCALARS):
        if [items] != lost:
            raise UnlikeError
        return gained[0]
    left = Counter(items)
    left.subtract(lost)
    if min(left.values(), default=0) < 0:
        raise UnlikeError
    if isinstance(items, set | frozenset):
        return make_like(items, [*left.elements(), *gained])
    others = iter(gained)
    missing = Counter(lost)
    changed = []
    for item in items:
        if missing[item] > 0:
            missing[item] -= 1
            changed.append(next(others))
        else:
            changed.append(item)
    return _sorted_as(items, changed)


def _sorted_as(items: Any, changed: list[Any]) -> Any:
    """The changed items in a list like `items`; sorted, if those are."""
    with contextlib.suppress(TypeError):  # items that cannot be ordered
        if [*items] == sorted(items):
            changed = sorted(changed)
    return make_like(items, changed)


def _renamed(start: StateData, names: Mapping[Any, Any], places: Set[Name]) -> StateData:
    """A deal with other names for the cards at these places.

    Raises:
        UnlikeError: a card is not found there, or more than once.
    """
    counts = Counter[Any]()
    changed = start
    for name, value in parts_of(start):
        if _place(name) not in places:
            continue
        if isinstance(value, list | tuple | Set) and are_scalars(value):
            items = _sorted_as(value, [names.get(item, item) for item in value])
            changed = replaced(changed, name, items)
            counts.update(value)
        # an item of a list is renamed with the list
        elif isinstance(value, SCALARS) and not isinstance(part_at(start, name[:-1]), list | tuple):
            changed = replaced(changed, name, names.get(value, value))
            counts[value] += 1
    if any(counts[item] != 1 for item in names):
        raise UnlikeError
    return changed


def deals(
    state: State, draw: StateData, faces: Faces, places: set[Name], luck: random.Random
) -> Iterator[tuple[StateData, dict]]:
    """Deals that may lead to a draw, each with the cards that have another name in it: {card: its name}.

    The first has the draw's cards at their places, and no other names. In the others cards have changed names at all `places`, by pairs
    of what was exchanged.
    """
    exchanged_parts = [
        each for each in exchanges(state.data, draw, faces) if each.lost or each.gained
    ]
    if any(len(each.lost) != len(each.gained) for each in exchanged_parts):
        return
    places.update(_place(each.name) for each in exchanged_parts)
    # At the deal something else may lie in a place, or something of another kind, which has no such parts.
    with contextlib.suppress(UnlikeError, LookupError, TypeError):
        start = state.game.ask("copy", state.start)
        for each in exchanged_parts:
            items = _put(part_at(start, each.name), each.lost, each.gained)
            start = replaced(start, each.name, items)
        yield start, {}
    lost = [item for each in exchanged_parts for item in each.lost]
    gained = [item for each in exchanged_parts for item in each.gained]
    if len({*lost}) == len(lost) and {*lost} == {*gained}:
        for _ in range(PAIRINGS):
            names: dict[Any, Any] = {}
            for each in exchanged_parts:
                names.update(
                    zip(each.lost, luck.sample(each.gained, len(each.gained)), strict=True)
                )
            yield _renamed(state.game.ask("copy", state.start), names, places), names
