"""The README's first screen runs as printed; its examples are the files in examples/, and they run."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_first_screen_runs_as_printed():
    done = subprocess.run([sys.executable, "-c", BLOCKS[0]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "RAVE >> (MAST + NAST2)/2: 5000 iterations" in done.stdout
    assert "(MAST-7)" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(("block", "name"), [(1, "own_pairs.py"), (3, "nim.py")])
def test_the_printed_examples_are_the_files_and_run(block, name):
    source = (ROOT / "examples" / name).read_text()
    assert source.split("if __name__")[0].rstrip() + "\n" == BLOCKS[block]
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "5000 iterations" in done.stdout


def test_the_questions_to_the_slots_of_the_example_have_these_answers():
    names = runpy.run_path(str(ROOT / "examples" / "own_pairs.py"))
    assert "from icarus.testing import" in BLOCKS[2]
    exec(BLOCKS[2], names)  # the README's own text


def test_every_test_file_that_the_readme_names_exists():
    for path in re.findall(r"tests/[\w/]+\.py", (ROOT / "README.md").read_text()):
        assert (ROOT / path).exists(), path


def test_the_worth_of_a_second_thread_can_be_measured():
    pytest.importorskip("scipy")  # of the experiments, which are not installed on every Python that is tried
    command = [sys.executable, ROOT / "examples" / "two_threads.py", "othello", "20", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for sharing, line in zip(("roots", "records"), done.stdout.splitlines(), strict=True):
        assert line.startswith(
            f"othello: two threads that share {sharing}, 40 iterations, against one with 20: mean reward"
        )
