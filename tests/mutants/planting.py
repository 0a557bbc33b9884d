"""Mutants of a source: one operator, number, condition or statement changed."""

import ast
import random
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
    """A change of one line.

    Attributes:
        path: of the file, from the root of the repository.
        line: where it is.
        before, after: the changed expression or statement.
    """

    path: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"


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


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its lines."""
    name = str(path.relative_to(root))
    mutants = {
        Mutant(name, node.lineno, ast.unparse(node), ast.unparse(ast.fix_missing_locations(change)))
        for node in bodies(ast.parse(path.read_text()))
        for change in changes(node)
    }
    return sorted(mutants, key=lambda mutant: (mutant.line, mutant.before, mutant.after))


def planted(source: str, mutant: Mutant) -> str:
    """The source with the mutant in its place, and nothing else changed.

    Raises:
        ValueError: the source has changed, and the mutant has no place in it.
    """
    for node in bodies(ast.parse(source)):
        if getattr(node, "lineno", 0) == mutant.line and ast.unparse(node) == mutant.before:
            lines = source.encode().splitlines(keepends=True)
            first = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
            last = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
            after = mutant.after if isinstance(node, ast.stmt | ast.Constant) else f"({mutant.after})"
            return (source.encode()[:first] + after.encode() + source.encode()[last:]).decode()
    raise ValueError(f"{mutant.path} has no {mutant.before!r} in line {mutant.line}: make the list anew")


def drawn(files: list[Path], count: int, root: Path, seed: int) -> list[Mutant]:
    """So many mutants of these files, no two of one line."""
    luck, chosen = random.Random(seed), dict[tuple[str, int], Mutant]()
    every = [mutant for path in files for mutant in mutants_of(path, root)]
    luck.shuffle(every)
    for mutant in every:
        if len(chosen) < count:
            chosen.setdefault((mutant.path, mutant.line), mutant)
    return list(chosen.values())
