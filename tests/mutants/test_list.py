"""The planted faults stand in lines of today, and what is said of them is said of these and of tests that are there."""

import ast
import json
from functools import cache

from tests.mutants.__main__ import RESULTS, ROOT, Mutant, listed, planted


def test_every_fault_has_its_place_in_its_line():
    """A line may move; whoever changes it changes its fault: `python -m tests.mutants run` passes over what it does not find."""
    errors = []
    for _, mutant in listed(None):
        try:
            planted((ROOT / mutant.path).read_text(), mutant)
        except ValueError as error:
            errors.append(str(error))
    assert not errors, "\n".join(
        [
            *errors,
            "give them their lines of today in list.json, and take their results out of results.json",
        ]
    )


def test_a_line_that_moves_keeps_its_fault_and_equal_ones_are_told_apart():
    source = "def f(a):\n    x = a + 1\n    y = 2\n    x = a + 1\n    return x\n"
    second = "def f(a):\n    x = a + 1\n    y = 2\n    x = a - 1\n    return x\n"
    mutant = Mutant("f.py", "x = a + 1", 1, "x = a - 1")
    assert planted(source, mutant) == second
    assert planted(f"# moved\n\n{source}", mutant) == f"# moved\n\n{second}"


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_results_are_of_faults_of_the_list_and_of_tests_that_are_there():
    results: dict[str, str] = json.loads(RESULTS.read_text())
    assert results.keys() <= {str(mutant) for _, mutant in listed(None)}
    for test in results.values():
        path, _, name = test.partition("::")
        if path.startswith("tests/"):
            assert not name or name.partition("[")[0] in functions_in(path), test
