"""Writes to read-only arguments: where the compiler refuses them, and in which words they are reported."""

import ast
import importlib.util
import linecache
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from icarus.compiler.digest import PACKAGE
from icarus.compiler.location import location

ENGINE = ("compiler", "kernel", "engine")  # folders of the package in which no author's mistake lies
Place: TypeAlias = tuple[str, int]  # a file and a line in it
# How the compiler says that something cannot be written to; the last one comes of its own mistake, met by `array += 1`.
_REFUSED = ("Cannot modify readonly array", "explicit output that is read-only", " to readonly nestedarray")
_PLACE = r'(?:File "|" at )([^"]+?)(?:", line | \()(\d+)'
_OWN_MISTAKE = "'NoneType' object has no attribute 'args'"


def describe_forbidden_write(name: str, error: Exception) -> str:
    """That a function writes to a read-only argument, and where, if that is what the compiler refuses; else "".

    Args:
        name: of what is compiled; the words that are returned follow it.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    if any(words in text for words in _REFUSED):
        places = places_of_authors(text)
    elif isinstance(error, AttributeError) and text == _OWN_MISTAKE:
        places = list(_inferred_statements(error))
    else:
        return ""
    return describe_write(name, places[0]) if places else "writes to a read-only argument"


def describe_write(name: str, place: Place) -> str:
    """Which read-only value a line writes to; arguments as of `describe_forbidden_write`."""
    file, line = place
    nodes = [node for node in ast.walk(_tree(file)) if isinstance(node, ast.stmt)]
    around = [node for node in nodes if node.lineno <= line <= (node.end_lineno or 0)]
    around.sort(key=lambda node: (node.lineno, node.col_offset))
    owner = next((node.name for node in reversed(around) if isinstance(node, ast.FunctionDef)), "")
    targets = [what for node in around[-1:] for what in _targets(node)]
    called = [what for node in around[-1:] for what in _calls(node)]
    if called and not targets:
        return f"has {called[0]} write to a read-only argument ({location(file, line)})"
    writes = f"has {owner} write" if owner and not re.search(rf"\b{owner}\b", name) else "writes"
    return f"{writes} to {targets[0] if targets else 'something'}, which is read-only ({location(file, line)})"


def _tree(file: str) -> ast.Module:
    lines = linecache.getlines(file) or linecache.getlines(os.path.abspath(file))
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return ast.parse("")


def _targets(statement: ast.stmt) -> Iterator[str]:
    """What is assigned to in a statement, where that may be a part of something."""
    if isinstance(statement, ast.AugAssign):
        yield ast.unparse(statement.target)
    elif isinstance(statement, ast.Assign):
        for node in (node for target in statement.targets for node in ast.walk(target)):
            if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield ast.unparse(node)


def _calls(statement: ast.stmt) -> Iterator[str]:
    """What is called in a statement, as it is written."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield ast.unparse(node)


def _inferred_statements(error: Exception) -> Iterator[Place]:
    """The statements whose types the compiler was inferring when it failed, the innermost first."""
    frame = error.__traceback__
    places = []
    while frame is not None:
        location = getattr(frame.tb_frame.f_locals.get("self"), "loc", None)
        if location is not None and is_authors(location.filename):
            places.append((location.filename, location.line))
        frame = frame.tb_next
    return reversed(places)


def places_in(text: str) -> list[Place]:
    """The places that the compiler names in a message."""
    return [(file, int(line)) for file, line in re.findall(_PLACE, text)]


def places_of_authors(text: str) -> list[Place]:
    """Those of them that are in files in which an author's mistake may lie."""
    return [place for place in places_in(text) if is_authors(place[0])]


def is_authors(file: str) -> bool:
    """Whether an author's mistake may lie in a file."""
    path = Path(file).resolve()
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).parts[0] not in ENGINE
    compiler = importlib.util.find_spec("numba")
    return compiler is None or not path.is_relative_to(Path(compiler.origin or "").resolve().parent)
