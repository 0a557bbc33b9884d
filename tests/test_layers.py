"""The order of the layers, docstrings, and proportions, read from the sources."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

import icarus
from icarus import Game

PACKAGE = Path(icarus.__file__).parent
# Rooms, from the bottom to the top: a file imports only from its own room and from rooms below it.
ROOMS = [
    "starting",
    "checks",
    "compiler",
    "kernel",
    "algebra",
    "games",
    "specs",
    "engine",
    "load_files",
    "equilibrium",
    "audit",
    "testing",
    "views",
    "bench",
    "bridges",
    "commands",
    "__init__",
]
LEVEL = {name: level for level, name in enumerate(ROOMS)}
NO_NEIGHBOURS = {"games", "specs"}  # these two kinds of content do not know each other
LONGEST_BODY, LONGEST_FILE = 50, 400
CONTRACT = {
    field.name for field in attrs.fields(Game)
}  # what the functions of a game do is told once, in Game's docstring


def modules() -> dict[str, ast.Module]:
    """Every file of the package by its dotted name below icarus, parsed."""
    named = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: ast.parse(path.read_text()) for name, path in named.items()}


MODULES = modules()
every_module = pytest.mark.parametrize("name", MODULES)


def room_of(module: str) -> str:
    """The folder at the top of the package that a module belongs to."""
    return {"__main__": "commands"}.get(module, module).split(".")[0]


def imported(name: str, tree: ast.AST) -> Iterator[str]:
    """The modules of the package that the code of a module imports, by their dotted names; functions are not looked into."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "icarus":
                    yield resolved(alias.name)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import in line {node.lineno}"
            if node.module and node.module.split(".")[0] == "icarus":
                for alias in node.names:
                    yield resolved(f"{node.module}.{alias.name}")


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those inside functions: what an import in a function does is its own business."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from statements(node)


def resolved(dotted: str) -> str:
    """The module that "icarus.a.b" means, where b may be a name inside icarus.a."""
    parts = dotted.split(".")[1:]
    while parts:
        for candidate in (".".join(parts), ".".join([*parts, "__init__"])):
            if candidate in MODULES:
                return candidate
        parts.pop()
    return "__init__"


def imports(name: str) -> set[str]:
    return set(imported(name, MODULES[name]))


@every_module
def test_every_file_has_its_room(name: str) -> None:
    assert room_of(name) in LEVEL


@every_module
def test_a_file_imports_only_from_its_room_and_those_below(name: str) -> None:
    own = room_of(name)
    for found in imports(name):
        other = room_of(found)
        assert LEVEL[other] <= LEVEL[own], f"{name} imports {found}"
        assert other == own or not {other, own} <= NO_NEIGHBOURS, f"{name} imports {found}"


def test_there_is_no_cycle_of_imports() -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " imports ".join([*path[path.index(name) :], name])
        if name not in done:
            for found in imports(name):
                visit(found, (*path, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())
    assert done == set(MODULES)


def test_only_the_compiler_s_room_talks_to_the_insides_of_the_compiler() -> None:
    inside = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("numba.core", "llvmlite"))
    }
    assert {room_of(name) for name in inside} == {"compiler"}


# ----------------------------------------------------------------------------------------------------------- experiments

EXPERIMENTS = PACKAGE.parent / "experiments"
EXPERIMENTS_ROOMS = ["__init__", "papers", "plan", "store", "analysis", "play", "report", "commands", "__main__"]
FILES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): ast.parse(path.read_text())
    for folder in (PACKAGE, EXPERIMENTS)
    for path in sorted(folder.rglob("*.py"))
}
# Imports inside functions are for what is slow to load and seldom needed: a command that does not need it starts sooner.
SLOW_TO_LOAD = {"distributed", "duckdb", "matplotlib", "pandas", "pyspiel", "scipy", "statsmodels"}
# … or for what builds on the file itself: the page of a tree on what a search found, the search in plain Python on searches.
BUILT_UPON = {"icarus.engine.result": {"icarus.views"}}
# … or for what needs a library that is not always there.
OPTIONAL = {"icarus.bridges.seats": {"icarus.bridges.openspiel"}}
DRAWING = {"matplotlib", "experiments.report"}


def everything_imported(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a file or a function imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_of(name: str, names: set[str]) -> bool:
    return any(name == known or name.startswith(f"{known}.") for known in names)


every_experiments_file = pytest.mark.parametrize("name", [name for name in FILES if name.startswith("experiments")])


@every_experiments_file
def test_experiments_import_only_from_their_room_and_those_below(name: str) -> None:
    own = EXPERIMENTS_ROOMS.index(name.split(".")[1])
    for found in everything_imported(FILES[name]):
        if found.startswith("experiments."):
            assert EXPERIMENTS_ROOMS.index(found.split(".")[1]) <= own, f"{name} imports {found}"


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("experiments.analysis")])
def test_analysis_does_not_draw(name: str) -> None:
    assert not [found for found in everything_imported(FILES[name]) if is_of(found, DRAWING)]


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("icarus")])
def test_the_library_does_not_know_its_experiments(name: str) -> None:
    assert not [found for found in everything_imported(FILES[name]) if is_of(found, {"experiments"})]


@pytest.mark.parametrize("name", FILES)
def test_imports_inside_functions_save_start_up_time(name: str) -> None:
    allowed = SLOW_TO_LOAD | BUILT_UPON.get(name, set()) | OPTIONAL.get(name, set())
    for node in ast.walk(FILES[name]):
        if isinstance(node, ast.FunctionDef):
            for found in everything_imported(node):
                assert is_of(found, allowed), f"{name}.{node.name} imports {found}"


LONG_EXPERIMENTS_FILES = {"experiments.analysis.claims"}  # a table of statements


@every_experiments_file
def test_functions_and_files_of_experiments_are_short(name: str) -> None:
    lines = (PACKAGE.parent / Path(*name.split("."))).with_suffix(".py").read_text().splitlines()
    assert len(lines) <= LONGEST_FILE or name in LONG_EXPERIMENTS_FILES
    for node in ast.walk(FILES[name]):
        if isinstance(node, ast.FunctionDef):
            body = (node.end_lineno or 0) - node.body[0].lineno + 1
            assert body <= LONGEST_BODY, f"{node.name} has {body} lines"


@every_experiments_file
def test_every_file_of_experiments_begins_with_what_it_is(name: str) -> None:
    assert len(ast.get_docstring(FILES[name]) or "") >= 15


def test_a_stranger_sees_at_most_fourteen_rooms() -> None:
    for folder in (PACKAGE, EXPERIMENTS):
        rooms = [path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("__")]
        assert len(rooms) <= 14, rooms


@pytest.mark.parametrize("folder", [PACKAGE, EXPERIMENTS], ids=lambda folder: folder.name)
def test_contributing_names_every_folder_and_file_at_the_top_of_a_package(folder: Path) -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text()
    table = text[text.index(f"| `{folder.name}/` |") :].split("\n\n")[0]
    listed = {name for row in table.splitlines()[2:] for name in re.findall(r"`([\w.]+)`", row.split("|")[1])}
    there = {
        path.name
        for path in folder.iterdir()
        if not path.name.startswith("__") and (path.suffix == ".py" or any(path.rglob("*.py")))
    }
    assert listed == there


# ------------------------------------------------------------------------------------------------------------ docstrings


def public(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node


@every_module
def test_every_module_begins_with_what_it_is(name: str) -> None:
    assert len(ast.get_docstring(MODULES[name]) or "") >= 15


SELF_EXPLAINING = {f"games.lotr_confrontation.board.{name}" for name in ("enter", "has", "can_move")} | {
    "compiler.kernels.rng.rotated"
}


@every_module
def test_every_public_function_and_class_says_what_it_is(name: str) -> None:
    told_elsewhere = CONTRACT if name.startswith("games.") else set()
    silent = {node.name for node in public(MODULES[name]) if not ast.get_docstring(node)} - told_elsewhere
    assert {f"{name}.{found}" for found in silent} <= SELF_EXPLAINING


def test_everything_that_the_package_offers_says_what_it_is() -> None:
    for name in icarus.__all__:
        offered = getattr(icarus, name)
        assert name == "__version__" or inspect.getdoc(offered), name


@every_module
def test_every_signature_has_its_types(name: str) -> None:
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.FunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            bare = [
                argument.arg
                for argument in given
                if argument.annotation is None and argument.arg not in ("self", "cls")
            ]
            assert not bare and node.returns is not None, f"{name}.{node.name} in line {node.lineno}"


# ----------------------------------------------------------------------------------------------------------- proportions


@every_module
def test_functions_are_short(name: str) -> None:
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.FunctionDef):
            body = (node.end_lineno or 0) - node.body[0].lineno + 1
            assert body <= LONGEST_BODY, f"{node.name} has {body} lines"


@every_module
def test_files_are_short(name: str) -> None:
    lines = (PACKAGE / Path(*name.split("."))).with_suffix(".py").read_text().splitlines()
    assert len(lines) <= LONGEST_FILE


def test_functions_of_the_python_face_take_at_most_seven_parameters() -> None:
    for name in icarus.__all__:
        offered = getattr(icarus, name)
        if inspect.isfunction(offered):
            most = (
                12 if name == "search" else 7
            )  # its budget, its threads with what they share, its scheme with its cut-off are two each; what it knows
            assert len(inspect.signature(offered).parameters) <= most, name


@pytest.mark.parametrize("name", icarus.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(importlib.import_module("icarus"), name) is not None
