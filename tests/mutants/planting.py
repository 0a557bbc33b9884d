"""Mutants of a source: one operator, number, condition or statement changed."""

import ast
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@attrs.frozen
class Mutant:
    """A change of one line, which is known by its text: it may move in its file.

    Attributes:
        path: of the file, from the root of the repository.
        line: the text of the line in which the change begins.
        number: which of the equal changes in equal lines of the file it is, from 0.
        before, after: the changed expression or statement.
    """

    path: str
    line: str
    number: int
    before: str
    after: str

    def __str__(self) -> str:
        which = f" ({self.number + 1})" if self.number else ""
        return f"{self.path}: {self.line}{which}: {self.before} -> {self.after}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be changed into."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
        yield ast.Compare(node.left, [SWAPS[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
    elif isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value < 100:
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()


def has_text(node: ast.AST) -> bool:
    """Whether a node makes a text: messages are tested elsewhere."""
    return any(isinstance(inner, ast.JoinedStr) for inner in ast.walk(node))


def bodies(tree: ast.Module) -> Iterator[Any]:
    """The nodes inside functions that are compiled or compute; docstrings, messages and annotations are left alone."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                if not isinstance(statement, ast.Raise | ast.FunctionDef):
                    yield from (node for node in ast.walk(statement) if hasattr(node, "lineno") and not has_text(node))


def mutants_of(source: str, name: str) -> Iterator[tuple[Mutant, Any]]:
    """All mutants of a file, each with the node that it changes, in the order of the file."""
    lines, equal = source.splitlines(), Counter[tuple[str, str, str]]()
    nodes = {
        (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset): node for node in bodies(ast.parse(source))
    }
    for _, node in sorted(nodes.items()):
        line, before = lines[node.lineno - 1].strip(), ast.unparse(node)
        for change in changes(node):
            after = ast.unparse(ast.fix_missing_locations(change))
            yield Mutant(name, line, equal[line, before, after], before, after), node
            equal[line, before, after] += 1


def planted(source: str, mutant: Mutant) -> str:
    """The source with the mutant in its place, and nothing else changed.

    Raises:
        ValueError: the line has changed, and the mutant has no place in the source.
    """
    for each, node in mutants_of(source, mutant.path):
        if each == mutant:
            lines = source.encode().splitlines(keepends=True)
            first = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
            last = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
            after = mutant.after if isinstance(node, ast.stmt | ast.Constant) else f"({mutant.after})"
            return (source.encode()[:first] + after.encode() + source.encode()[last:]).decode()
    raise ValueError(f"{mutant.path} has no {mutant.before!r} in a line {mutant.line!r}")


def drawn(files: list[Path], count: int, root: Path, seed: int) -> list[Mutant]:
    """So many mutants of these files, no two of one line."""
    luck, chosen = random.Random(seed), dict[tuple[str, int], Mutant]()
    every = [each for path in files for each in mutants_of(path.read_text(), str(path.relative_to(root)))]
    luck.shuffle(every)
    for mutant, node in every:
        if len(chosen) < count:
            chosen.setdefault((mutant.path, node.lineno), mutant)
    return list(chosen.values())
