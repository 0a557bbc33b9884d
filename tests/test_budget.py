"""The budget of the house: the tokens of each folder, and how many ideas a reader meets in it; public class names stand once.

Tokens cannot be packed. Comments, docstrings and layout are free, and so are more lines; a line that says too much is not.
A folder may have `ROOM` more than its budget. Who takes more away lowers the budget; who must raise it says why in the same commit.
"""

import ast
import functools
import io
import tokenize
from collections import Counter
from pathlib import Path

import attrs
import pytest

from tests.sources import parsed

ROOT = Path(__file__).parent.parent
ROOM = 0.03  # of the tokens, by which a folder may be above its budget, or below it before that is lowered
TOKENS = {
    "icarus/algebra": 10_350,
    "icarus/arena": 6_155,
    "icarus/audit": 24_640,
    "icarus/bridges": 6_545,
    "icarus/commands": 20_960,
    "icarus/compiler": 17_285,
    "icarus/discovery": 9_070,
    "icarus/engine": 39_820,
    "icarus/equilibrium": 21_460,
    "icarus/games": 42_100,
    "icarus/kernel": 18_520,
    "icarus/ladder": 8_730,
    "icarus/learning": 7_960,
    "icarus/specs": 12_700,
    "icarus/views": 6_540,
    "icarus": 260_830,
    "experiments": 64_860,
    "tests": 301_310,
}
IDEAS = {"icarus": (138, 271, 2_572), "experiments": (32, 40, 683)}  # files, classes, public names
DENSITY = {"icarus": 9.8, "experiments": 10.3, "tests": 10.5}  # most tokens a line, on average
WIDE, SHARE_OF_WIDE = 100, 0.04  # a line of more characters is wide; the most of them
NO_CODE = {
    *(
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
}
DOCSTRINGS = ('"""', "'''", 'r"""')


@attrs.frozen
class Size:
    """How much code there is, without comments and docstrings."""

    tokens: int
    lines: int
    wide: int


@functools.cache
def size_of(path: Path) -> Size:
    text, tokens, rows = path.read_text(), 0, set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and token.line.strip().startswith(DOCSTRINGS)
        if token.type not in NO_CODE and not is_docstring:
            tokens += 1
            rows.update(range(token.start[0], token.end[0] + 1))
    lines = text.split("\n")
    return Size(tokens, len(rows), sum(len(lines[row - 1]) > WIDE for row in rows))


def sizes(folder: str) -> list[Size]:
    return [size_of(path) for path in (ROOT / folder).rglob("*.py")]


def public_names(tree: ast.Module) -> list[str]:
    """The functions, classes and variables that a module defines for others."""
    names = list[str]()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [
                each.id
                for target in targets
                for each in ast.walk(target)
                if isinstance(each, ast.Name)
            ]
    return [name for name in names if not name.startswith("_")]


@pytest.mark.parametrize("folder", TOKENS)
def test_a_folder_keeps_to_its_budget(folder):
    tokens, budget = sum(size.tokens for size in sizes(folder)), TOKENS[folder]
    assert tokens <= (1 + ROOM) * budget, f"{tokens:,} tokens"
    assert tokens >= (1 - ROOM) * budget, f"{tokens:,} tokens: lower the budget"


@pytest.mark.parametrize("folder", IDEAS)
def test_a_reader_meets_no_more_files_classes_and_names(folder):
    trees = [parsed(path) for path in (ROOT / folder).rglob("*.py")]
    classes = sum(isinstance(node, ast.ClassDef) for tree in trees for node in ast.walk(tree))
    names = sum(len(public_names(tree)) for tree in trees)
    most_files, most_classes, most_names = IDEAS[folder]
    assert len(trees) <= most_files
    assert classes <= most_classes
    assert names <= most_names


@pytest.mark.parametrize("folder", DENSITY)
def test_a_line_says_one_thing(folder):
    lines = sum(size.lines for size in sizes(folder))
    tokens = sum(size.tokens for size in sizes(folder)) / lines
    wide = sum(size.wide for size in sizes(folder)) / lines
    assert tokens <= DENSITY[folder], f"{tokens:.2f} tokens a line"
    assert wide <= SHARE_OF_WIDE, f"{wide:.1%} of the lines have more than {WIDE} characters"


def test_a_public_class_name_stands_once():
    classes, aliases = Counter[str](), set[str]()
    for path in (
        path for folder in ("icarus", "experiments") for path in (ROOT / folder).rglob("*.py")
    ):
        tree = parsed(path)
        classes.update(
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and node.name[0] != "_"
        )
        assigned = (node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign))
        targets = (
            target
            for node in assigned
            for target in getattr(node, "targets", [getattr(node, "target", None)])
        )
        aliases.update(target.id for target in targets if isinstance(target, ast.Name))
    assert not [name for name, count in classes.items() if count > 1 or name in aliases]
