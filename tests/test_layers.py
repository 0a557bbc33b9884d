"""The order of the layers, docstrings, and proportions, read from the sources: one test a rule."""

import ast
import functools
import importlib
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

import icarus
from icarus import Game
from tests.sources import parsed

PACKAGE = Path(icarus.__file__).parent
EXPERIMENTS = PACKAGE.parent / "experiments"
# Folders and files of each folder, from the bottom to the top: imports run down only.
ORDER = {
    "icarus": [
        "version",
        "starting",
        "checks",
        "statistics",
        "compiler",
        "kernel",
        "algebra",
        "games",
        "specs",
        "engine",
        "load_files",
        "arena",
        "equilibrium",
        "audit",
        "testing",
        "views",
        "discovery",
        "learning",
        "bridges",
        "ladder",
        "commands",
        "__init__",
        "__main__",
    ],
    "icarus.engine": [
        "__init__",
        "scheme",
        "loop",
        "lowering",
        "tables",
        "result",
        "compiled_search",
        "search",
        "match",
        "inspect",
    ],
    "icarus.equilibrium": [
        *("deals", "walk", "beliefs", "tree", "policies", "cfr", "sampling", "response"),
        *("search", "__init__"),
    ],
    "experiments": [
        "__init__",
        "papers",
        "plan",
        "results",
        "pages",
        "sequential",
        "run",
        "statistics",
        "ladder",
        "verdicts",
        "interims",
        "ratings",
        "claims",
        "figures",
        "races",
        "replay",
        "report",
        "commands",
        "studies",
        "__main__",
    ],
    "experiments.plan": [*("__init__", "refusal", "cells", "sources", "loading")],
}
NO_NEIGHBOURS = {"games", "specs"}  # these two kinds of content do not know each other
# Imports inside functions are for what is slow to load and seldom needed: a command that does not need it starts sooner.
SLOW_TO_LOAD = {
    "distributed",
    "duckdb",
    "gnubg_nn",
    "matplotlib",
    "optuna",
    "pandas",
    "pyspiel",
    "rust_reversi",
    "scipy",
    "sklearn",
    "statsmodels",
    "threadpoolctl",
}
JUDGING = {
    f"experiments.{name}" for name in ("statistics", "verdicts", "interims", "claims", "ratings")
}
LONGEST_BODY, MOST_FOLDERS, MOST_PARAMETERS = 775, 15, 7  # tokens, folders, parameters
# Its budget, its threads with what they share, its scheme with its cut-off are two each.
MANY_PARAMETERS = {"search": 13}
# The docstring of Game says once what the functions of a game do.
CONTRACT = {field.name for field in attrs.fields(Game)}
SELF_EXPLAINING = {
    f"icarus.games.lotr_confrontation.{name}" for name in ("enter", "has", "can_move")
} | {"icarus.compiler.rng.rotated"}


@functools.cache
def trees() -> dict[str, ast.Module]:
    """What the sources say, by the names of modules."""
    return {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): parsed(path)
        for folder in (PACKAGE, EXPERIMENTS)
        for path in sorted(folder.rglob("*.py"))
    }


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those inside functions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from statements(node)


def dotted_imports(nodes: Iterator[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"a relative import in line {node.lineno}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(dotted: str) -> str:
    """The module that "icarus.a.b" means, where b may be a name inside icarus.a; "" outside both packages."""
    parts = dotted.split(".")
    while parts:
        for candidate in (".".join(parts), ".".join([*parts, "__init__"])):
            if candidate in trees():
                return candidate
        parts.pop()
    return ""


def imports(name: str) -> set[str]:
    """The modules of both packages that a module imports when it is loaded."""
    return {module_of(dotted) for dotted in dotted_imports(statements(trees()[name]))} - {""}


def functions(name: str) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(trees()[name]) if isinstance(node, ast.FunctionDef))


def is_among(name: str, names: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in names)


def levels(name: str) -> Iterator[tuple[str, int]]:
    """The folders of ORDER that a module lies in, with its level there."""
    for folder, order in ORDER.items():
        if name.startswith(f"{folder}."):
            yield folder, order.index(name.removeprefix(f"{folder}.").split(".")[0])


# ---------------------------------------------------------------------------------------------------------------- layers


def test_every_file_has_a_level_and_imports_only_from_it_and_those_below():
    wrong = [
        f"{name} imports {target}"
        for name in trees()
        for target in imports(name)
        for folder, level in levels(name)
        if dict(levels(target)).get(folder, 0) > level
    ]
    assert not wrong


def test_games_and_specifications_do_not_know_each_other():
    for name in trees():
        for target in imports(name):
            pair = {name.split(".")[1], target.split(".")[1]}
            assert pair != NO_NEIGHBOURS, f"{name} imports {target}"


def test_there_is_no_cycle_of_imports():
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " imports ".join([*path[path.index(name) :], name])
        if name not in done:
            for target in imports(name):
                visit(target, (*path, name))
            done.add(name)

    for name in trees():
        visit(name, ())


def test_imports_inside_functions_save_start_up_time():
    for name in trees():
        for function in functions(name):
            wrong = [
                dotted
                for dotted in dotted_imports(ast.walk(function))
                if not is_among(dotted, SLOW_TO_LOAD)
            ]
            assert not wrong, f"{name}.{function.name}"


def test_only_the_compiler_s_folder_knows_the_insides_of_the_compiler():
    for name in trees():
        inside = [
            module
            for module in dotted_imports(ast.walk(trees()[name]))
            if is_among(module, {"numba.core", "llvmlite"})
        ]
        assert not inside or name.startswith("icarus.compiler."), name


def test_the_library_does_not_know_its_experiments_and_analysis_does_not_draw():
    for name in trees():
        forbidden = {"experiments"} if name.startswith("icarus") else set()
        forbidden |= {"matplotlib"} if name in JUDGING else set()
        assert not [
            module
            for module in dotted_imports(ast.walk(trees()[name]))
            if is_among(module, forbidden)
        ], name


@pytest.mark.parametrize("folder", [PACKAGE, EXPERIMENTS], ids=lambda folder: folder.name)
def test_contributing_names_every_folder_and_file_at_the_top_of_a_package(folder):
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text()
    table = text[text.index(f"| `{folder.name}/` |") :].split("\n\n")[0]
    listed = {
        name
        for row in table.splitlines()[2:]
        for name in re.findall(r"`([\w.]+)`", row.split("|")[1])
    }
    there = {
        path.name
        for path in folder.iterdir()
        if not path.name.startswith("__") and (path.suffix == ".py" or any(path.rglob("*.py")))
    }
    assert listed == there
    assert sum("." not in name for name in there) <= MOST_FOLDERS


# ------------------------------------------------------------------------------------------------- docstrings and types


def test_every_module_begins_with_what_it_is():
    assert not [name for name, tree in trees().items() if len(ast.get_docstring(tree) or "") < 15]


def test_every_public_function_and_class_of_the_library_says_what_it_is():
    silent = {
        f"{name}.{node.name}"
        for name, tree in trees().items()
        for node in tree.body
        if name.startswith("icarus.") and isinstance(node, ast.FunctionDef | ast.ClassDef)
        if not node.name.startswith("_") and not ast.get_docstring(node)
        if not (name.startswith("icarus.games.") and node.name in CONTRACT)
    }
    assert silent <= SELF_EXPLAINING


def test_every_public_name_is_there_and_says_what_it_is():
    for name in icarus.__all__:
        value = getattr(importlib.import_module("icarus"), name)
        assert name == "__version__" or inspect.getdoc(value), name
        assert name in ("games", "kernel") or not inspect.ismodule(value), f"{name} is a module"


def test_every_signature_of_the_library_has_its_types():
    for name in trees():
        for function in functions(name) if name.startswith("icarus") else ():
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            bare = [
                each.arg
                for each in arguments
                if each.annotation is None and each.arg not in ("self", "cls")
            ]
            assert not bare, f"{name}.{function.name} in line {function.lineno}"
            assert function.returns is not None, f"{name}.{function.name} in line {function.lineno}"


# ----------------------------------------------------------------------------------------------------------- proportions


def test_functions_are_short():
    for name in trees():
        for function in functions(name):
            if function.end_lineno - function.lineno < 12:
                continue  # so few lines do not hold so much
            text = "\n".join(ast.unparse(statement) for statement in function.body)
            tokens = sum(1 for _ in tokenize.generate_tokens(io.StringIO(text).readline))
            assert tokens <= LONGEST_BODY, f"{name}.{function.name} has {tokens} tokens"


def test_public_functions_take_at_most_seven_parameters():
    for name in icarus.__all__:
        if inspect.isfunction(value := getattr(icarus, name)):
            assert len(inspect.signature(value).parameters) <= MANY_PARAMETERS.get(
                name, MOST_PARAMETERS
            ), name


# ------------------------------------------------------------------------------------------------------------- habits

# Their text is a part of digests that files carry, so that it changes with what they do alone.
AS_THEY_ARE = (
    "icarus.games.",
    "icarus.algebra.policy",
    "icarus.compiler.memory",
    "icarus.engine.loop",
)
SEVERAL = ast.IfExp | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
ABOVE, BELOW = ast.Gt | ast.GtE, ast.Lt | ast.LtE


def packs(node: ast.AST) -> bool:
    """a, b = x if condition else y, z: reads as if the condition were of both. So does a pair over several lines."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    return isinstance(node.targets[0], ast.Tuple) and (
        node.end_lineno != node.lineno
        or any(isinstance(value, SEVERAL) for value in node.value.elts)
    )


def multiplies_by_a_condition(node: ast.AST) -> bool:
    """[x] * (condition), "text" * (condition)"""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    sides = {type(each) for each in (node.left, node.right)}
    if isinstance(node.right, ast.Call) and ast.unparse(node.right.func) == "bool":
        return True
    return bool(sides & {ast.List, ast.Constant, ast.JoinedStr}) and bool(
        sides & {ast.Compare, ast.BoolOp}
    )


def turns_around(node: ast.AST) -> bool:
    """a > b < c"""
    return isinstance(node, ast.Compare) and all(
        any(isinstance(operator, kind) for operator in node.ops) for kind in (ABOVE, BELOW)
    )


def decides_as_a_statement(node: ast.AST) -> bool:
    """f() if condition else g(), in a line of its own"""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.IfExp | ast.BoolOp)


def names_within_a_call(node: ast.AST) -> bool:
    """f(a := x)"""
    return isinstance(node, ast.Call) and any(
        isinstance(each, ast.NamedExpr)
        for each in (*node.args, *(keyword.value for keyword in node.keywords))
    )


HABITS = (
    packs,
    multiplies_by_a_condition,
    turns_around,
    decides_as_a_statement,
    names_within_a_call,
)


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.__name__)
def test_nothing_must_be_read_twice(habit):
    places = [
        f"{name}, line {node.lineno}"
        for name, tree in trees().items()
        if not name.startswith(AS_THEY_ARE)
        for node in ast.walk(tree)
        if habit(node)
    ]
    assert not places, habit.__doc__


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.__name__)
def test_a_habit_is_found_where_it_is(habit):
    examples = (
        "a, b = x if y else z, 0",
        "a = [x] * (y > 0)",
        "a > b < c",
        "f() if x else g()",
        "f(a := x)",
    )
    assert [any(map(habit, ast.walk(ast.parse(text)))) for text in examples] == [
        each is habit for each in HABITS
    ]
