"""Wrong functions of games and slots: ICARUS_DEBUG=1 ends in a sentence, no fault; the Python engine shows function and line."""

import json
import os
import subprocess
import sys
import traceback
from typing import Any

import pytest

from tests.commands.test_cli import icarus
from tests.conftest import environment
from tests.engine import wrong_functions
from tests.marks import slow_after

__all__ = ["icarus"]

PATIENCE = 1800  # seconds for all of them, compilation on a cold cache and a busy machine included
SLOW = [name for i, name in enumerate(wrong_functions.CASES) if i % 8]
CASES = [*slow_after(0, SLOW), *(name for name in wrong_functions.CASES if name not in SLOW)]
NOT_IN_PYTHON = {"names_no_record"}  # the line raises nothing


@pytest.fixture(scope="module")
def ended(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """How each case ended with bounds checks, by its name; each runs in a process of its own."""
    names = [name for name in wrong_functions.CASES if name not in SLOW or request.config.getoption("--slow")]
    call = [sys.executable, "-m", "tests.engine.wrong_functions", *names]
    changed = environment(ICARUS_DEBUG="1")
    done = subprocess.run(call, env=changed, text=True, capture_output=True, timeout=PATIENCE, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_function_ends_in_a_sentence(ended: dict[str, dict[str, Any]], name: str) -> None:
    row = ended[name]
    assert os.WIFEXITED(row["status"]), f"it ended by signal {os.WTERMSIG(row['status'])}"
    assert row["message"] and "\n" not in row["message"].strip()


@pytest.mark.parametrize("name", [name for name in wrong_functions.CASES if name not in NOT_IN_PYTHON])
def test_the_python_engine_shows_the_function_and_the_line(name: str) -> None:
    with pytest.raises(Exception) as caught:
        wrong_functions.CASES[name][1]("python")
    assert wrong_functions.place(name) in "".join(traceback.format_exception(caught.value))


SLOTS = """
import attrs
from icarus import MAST, capture
from icarus.kernel import record, update
@capture
def fails(history, updates):
    for i in range(len(history.steps) - 1):
        if i > 5:
            raise ValueError("too long for me")
        update(updates, record(history.steps[i].action, 0), 0)
@capture
def divides(history, updates):
    update(updates, record(1 // (len(history.steps) - len(history.steps)), 0), 0)
FAILS = attrs.evolve(MAST, name="FAILS", capture=fails)
DIVIDES = attrs.evolve(MAST, name="DIVIDES", capture=divides)
"""
