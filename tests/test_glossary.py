"""The public names of the package are held to the glossary: one word for one thing."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

import icarus
from tests.sources import parsed

PACKAGE = Path(icarus.__file__).parent
EXPERIMENTS = PACKAGE.parent / "experiments"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (PACKAGE.parent / "docs" / "glossary.md").read_text().splitlines()
    if re.match(r"\| (?!word)\w", line)
]
NOT = {
    alternative: word
    for word, _, _, others in ROWS
    for alternative in others.split(", ")
    if alternative
}
PARTICIPLES = {"begun", "found", "given", "kept", "said", "taken", "told"}
# What no value is called: it says that something happened to it, or that it is another one, and not what it is.
NAMELESS = PARTICIPLES | {"alike", "asked", "drawn", "held", "known", "made", "met"}
NAMELESS |= {"one", "other", "own", "seen", "shown", "wanted"}
# Keywords of `initial`, of `Game` and of `icarus.testing` that the documents promise.
NAMED_SO = {("algebra", "given"), ("icarus", "known"), ("icarus", "seen")}


def public_names() -> Iterator[tuple[str, str]]:
    """(file, name) of all public functions, methods, classes, and their arguments; bridges speak the other side's language."""
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        if where.startswith("bridges/"):
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                yield where, node.name
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield from (
                    (where, argument.arg) for argument in [*node.args.args, *node.args.kwonlyargs]
                )


def words(name: str) -> set[str]:
    """The words of a name: play_out, PlayOut and PLAY_OUT have play and out."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def looked_up(dotted: str):
    """What a dotted name stands for: a module's own, an attribute, or a field of a class."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            fields = (
                attrs.fields_dict(value) if isinstance(value, type) and attrs.has(value) else {}
            )
            annotated = getattr(value, "__annotations__", {})
            value = (
                fields[part]
                if part in fields
                else annotated[part]
                if part in annotated
                else getattr(value, part)
            )
        return value
    raise AssertionError(dotted)


def test_the_glossary_says_each_word_once():
    words = [row[0] for row in ROWS]
    assert len(words) > 30
    assert len(set(words)) == len(words)
    assert not {alternative for row in ROWS for alternative in row[3].split(", ")} & set(words)


@pytest.mark.parametrize("code", sorted({row[2].strip("`") for row in ROWS}))
def test_what_the_glossary_names_is_there(code):
    if code == "icarus.State.data":  # an attribute of instances
        assert hasattr(
            icarus.games.load("kuhn-poker").new_initial_state(seed=0), code.split(".")[-1]
        )
    else:
        assert looked_up(code) is not None


def test_no_public_name_has_a_word_in_it_for_which_the_glossary_has_another():
    names = list(public_names())
    assert len(names) > 1000
    assert not [
        (where, name, NOT[word]) for where, name in names for word in words(name) & set(NOT)
    ]


def test_no_public_function_is_called_by_an_irregular_participle():
    for path in sorted(PACKAGE.rglob("*.py")):
        defined = {
            node.name for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)
        }
        assert not defined & PARTICIPLES, path


def values_in(tree: ast.AST) -> Iterator[str]:
    """The names of variables and parameters; `other` of an operator is Python's own, and attributes are not looked at."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            yield from (argument.arg for argument in [*node.args.args, *node.args.kwonlyargs])


def test_no_value_is_called_by_a_bare_participle_or_function_word():
    sources = sorted(PACKAGE.rglob("*.py")) + sorted(EXPERIMENTS.rglob("*.py"))
    names = [
        (path.parent.name, name.strip("_")) for path in sources for name in values_in(parsed(path))
    ]
    assert len(names) > 10_000
    assert not [
        (layer, name) for layer, name in names if name in NAMELESS and (layer, name) not in NAMED_SO
    ]
