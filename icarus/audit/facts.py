"""The facts of a state in plain Python, two by two: what occurs together in draws must occur together in play."""

import itertools
from collections.abc import Iterator, Sequence

LONGEST_LIST = 128  # items whose values are facts one by one


def pairs_of_facts(state: object) -> Iterator[tuple[str, str]]:
    """The pairs of facts of a state, each once."""
    facts: set[str] = set()
    lists: dict[str, Sequence[object]] = {}
    for name, value in vars(state).items():
        for where, item in _parts(name, value):
            if isinstance(item, list | tuple):
                lists[where] = item
                facts.update(f"{each!r} in {where}" for each in item if isinstance(each, int))
            else:
                facts.add(f"{where} is {item!r}")
    yield from itertools.combinations(sorted(facts), 2)
    for (first, items), (second, others) in itertools.combinations(sorted(lists.items()), 2):
        if len(items) == len(others) > 1:
            for a, b in {(repr(a), repr(b)) for a, b in zip(items, others, strict=True)}:
                yield f"{first}[i] is {a}", f"{second}[i] is {b}"


def _parts(where: str, value: object) -> Iterator[tuple[str, object]]:
    """Numbers and lists of numbers, with the names under which they are found in an attribute."""
    if isinstance(value, int | float | str | None):
        yield where, value
    elif isinstance(value, list | tuple) and len(value) <= LONGEST_LIST:
        if all(isinstance(item, int | float | str | None) for item in value):
            yield where, value
            if all(isinstance(item, bool) for item in value):
                yield from ((f"{where}[{i}]", item) for i, item in enumerate(value))
        else:
            for i, item in enumerate(value):
                yield from _parts(f"{where}[{i}]", item)
