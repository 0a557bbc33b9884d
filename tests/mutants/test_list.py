"""The planted faults stand where their list says, and what is said of them is said of these and of tests that are there."""

import ast
import json
from functools import cache

from tests.mutants.__main__ import RESULTS, ROOT, listed
from tests.mutants.planting import Mutant, mutants_of, planted


def lines_near(mutant: Mutant) -> list[int]:
    """The lines of its file in which the same change can be made today, the five nearest."""
    change = mutant.before, mutant.after
    lines = [each.line for each in mutants_of(ROOT / mutant.path, ROOT) if (each.before, each.after) == change]
    return sorted(lines, key=lambda line: abs(line - mutant.line))[:5]


def test_every_fault_has_its_place_in_its_line() -> None:
    """Whoever moves a line moves its fault, and tries it anew: `python -m tests.mutants run` passes over what it does not find."""
    errors = []
    for _, mutant in listed(None):
        try:
            planted((ROOT / mutant.path).read_text(), mutant)
        except ValueError as error:
            errors.append(f"{error}, or give its line of today; near it are {lines_near(mutant)}")
    assert not errors, "\n".join(errors)


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_results_are_of_faults_of_the_list_and_of_tests_that_are_there() -> None:
    results: dict[str, str] = json.loads(RESULTS.read_text())
    assert results.keys() <= {str(mutant) for _, mutant in listed(None)}
    for test in results.values():
        path, _, name = test.partition("::")
        if path.startswith("tests/"):
            assert not name or name.partition("[")[0] in functions_in(path), test
