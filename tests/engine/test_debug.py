"""ICARUS_DEBUG=1: no function of a game or slot, however wrong, ends in a fault; what is told names function, file and line."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from icarus.commands import cli
from tests.conftest import Python, environment
from tests.engine import wrong_functions

PATIENCE = 1800  # seconds for all of them, compilation on a cold cache and a busy machine included
FOUND_BY_THE_COMPILER = {"changes_steps_by_a_helper"}  # which names the slot, and file and line of the helper


@pytest.fixture(scope="module")
def ended() -> dict[str, dict[str, Any]]:
    """How each case ended, by its name; each runs in a process of its own."""
    call = [sys.executable, "-m", "tests.engine.wrong_functions"]
    changed = environment(ICARUS_DEBUG="1")
    done = subprocess.run(call, env=changed, text=True, capture_output=True, timeout=PATIENCE, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in rows}


@pytest.mark.xdist_group("debug")
@pytest.mark.parametrize("name", wrong_functions.CASES)
def test_a_wrong_function_ends_in_a_sentence_with_function_file_and_line(
    ended: dict[str, dict[str, Any]], name: str
) -> None:
    row = ended[name]
    assert os.WIFEXITED(row["status"]), f"it ended by signal {os.WTERMSIG(row['status'])}"
    told = row["told"].strip()
    assert "\n" not in told
    places = wrong_functions.places(name)
    if name in FOUND_BY_THE_COMPILER:
        places = [place[place.index("(") :] for place in places]
        assert name in told
    assert any(told.endswith(place) for place in places), told


def test_there_are_more_than_25_of_them() -> None:
    assert len(wrong_functions.CASES) > 25


GAME = """
import attrs
from tests.commands.test_contract import NIM
def apply(state, action):
    state.left -= action // (state.left - 5)
game = attrs.evolve(NIM, name="halved", apply=apply)
"""


def test_the_command_tells_it_in_one_line(python: Python, tmp_path: Any) -> None:
    (tmp_path / "halved.py").write_text(GAME)
    arguments = ("-m", "icarus", "search", "halved", "--with", str(tmp_path / "halved.py"), "--iterations", "20")
    done = python(None, *arguments, ICARUS_DEBUG="1")
    assert done.returncode == cli.REFUSED, done.stderr
    assert done.stderr.splitlines()[-1].startswith("icarus: integer division by zero, in apply (")
    assert done.stderr.splitlines()[-1].endswith("halved.py, line 5)") and "Traceback" not in done.stderr
