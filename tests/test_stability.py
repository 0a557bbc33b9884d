"""The promise of docs/api.md, by name: what a stable name takes, it takes in all versions until the next major one.

`python -m tests.test_stability` adds names that are stable by now to stable.json. What stands there is changed for a major version alone.
"""

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("stable.json")
PAGE = (Path(__file__).parent.parent / "docs" / "api.md").read_text()
ALL, OTHERS = "all", "all others"
# Classes whose values are given to users and made by the library alone: their fields are kept, in whatever order.
GIVEN = {"Result", "GameLog", "RootStatistics", "AuditReport", "Check", "State"}
GIVEN |= {"SearchInterrupted", "SearchExhausted"}
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def sections() -> dict[str, list[str]]:
    """The names that each section of the page documents, with their modules."""
    names, current = dict[str, list[str]](), ""
    for line in PAGE.split("## What is kept")[1].splitlines()[1:]:
        if line.startswith("## "):
            heading = line.removeprefix("## ")
            names[heading] = []
        elif line.startswith(".. currentmodule:: "):
            current = line.partition(":: ")[2]
        elif match := re.match(r"\.\. auto(?:class|function|exception):: (\S+)", line):
            names[heading].append(match[1] if "." in match[1] else f"{current}.{match[1]}")
        elif line.startswith("   :members: ") and heading == "Functions for slots and games":
            names[heading] += [f"icarus.kernel.{each}" for each in line[13:].split(", ")]
    return names


def promises() -> dict[str, tuple[str, str]]:
    """What is stable and what is provisional in each section, as the table says it."""
    table = PAGE.split("|---|---|---|\n")[1].split("\n\n")[0]
    rows = ([cell.strip() for cell in row.split("|")[1:4]] for row in table.splitlines())
    return {heading: (stable, provisional) for heading, stable, provisional in rows}


def stable_names() -> list[str]:
    names = list[str]()
    for heading, documented in sections().items():
        stable, _ = promises()[heading]
        listed = set(re.findall(r"`(\w+)`", " ".join(promises()[heading])))
        is_stable = stable.startswith(ALL)
        names += [name for name in documented if is_stable != (name.rpartition(".")[2] in listed)]
    return names


def value_of(dotted: str) -> object:
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def taken_by(value: object) -> list[str]:
    """What is taken, in order; what has a default ends with "=", and after "*" all is by name."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    texts = list[str]()
    for each in parameters:
        if each.kind in VARIADIC or each.name.startswith("_"):
            continue
        if each.kind == inspect.Parameter.KEYWORD_ONLY and "*" not in texts:
            texts.append("*")
        texts.append(each.name if each.default is each.empty else f"{each.name}=")
    return texts


def calls(dotted: str) -> Iterator[tuple[str, list[str]]]:
    """What a name takes, and what the methods of a class take."""
    value = value_of(dotted)
    taken = taken_by(value)
    if dotted.rpartition(".")[2] in GIVEN and inspect.isclass(value):
        taken = ["*", *(f"{name.rstrip('=')}=" for name in taken if name != "*")]
    yield dotted, taken
    if inspect.isclass(value):
        for name, method in vars(value).items():
            if not name.startswith("_") and inspect.isfunction(method):
                yield f"{dotted}.{name}", taken_by(method)


def what_breaks(before: list[str], now: list[str]) -> str:
    """Why a call that was right may be wrong by now; "" where it cannot be."""
    by_place = [name.rstrip("=") for name in before[: (*before, "*").index("*")]]
    now_by_place = [name.rstrip("=") for name in now[: (*now, "*").index("*")]]
    if now_by_place[: len(by_place)] != by_place:
        return f"takes {now_by_place} by place, and took {by_place}"
    needed = {name for name in now if not name.endswith("=")}
    if gone := {name.rstrip("=") for name in before} - {name.rstrip("=") for name in now} - {"*"}:
        return f"does not take {sorted(gone)} any more"
    if lacking := needed - {name for name in before if not name.endswith("=")} - {"*"}:
        return f"needs {sorted(lacking)}"
    return ""


def promised() -> dict[str, list[str]]:
    return json.loads(FILE.read_text())


def test_each_section_of_the_page_has_a_promise_and_each_exception_is_there():
    names = sections()
    assert list(promises()) == list(names)
    for heading, texts in promises().items():
        documented = {name.rpartition(".")[2] for name in names[heading]}
        assert set(re.findall(r"`(\w+)`", " ".join(texts))) <= documented, heading
        assert any(text.startswith(ALL) for text in texts), heading


def test_each_stable_name_is_in_the_file():
    assert set(stable_names()) <= promised().keys()


@pytest.mark.parametrize("dotted", promised())
def test_a_stable_name_takes_what_it_took(dotted):
    owner = next(
        name
        for name in sorted(stable_names(), key=len, reverse=True)
        if f"{dotted}.".startswith(f"{name}.")
    )
    now = dict(calls(owner))
    assert dotted in now, f"{dotted} is gone"
    assert not (reason := what_breaks(promised()[dotted], now[dotted])), f"{dotted} {reason}"


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (["a", "b=", "c=", "*", "d="], ""),
        (["a=", "b=", "*", "d="], ""),
        (["b=", "a", "*", "d="], "takes ['b', 'a'] by place, and took ['a', 'b']"),
        (["a", "b=", "*"], "does not take ['d'] any more"),
        (["a", "b=", "c", "*", "d="], "needs ['c']"),
        (["a", "b", "*", "d="], "needs ['b']"),
    ],
)
def test_what_breaks_a_call_is_found(now, reason):
    assert what_breaks(["a", "b=", "*", "d="], now) == reason


if __name__ == "__main__":
    present = {name: taken for dotted in stable_names() for name, taken in calls(dotted)}
    lines = (
        f"{json.dumps(name)}: {json.dumps(taken)}" for name, taken in (present | promised()).items()
    )
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
