"""The README is short, its first example runs as printed, and what pages name is there."""

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


@pytest.mark.parametrize("name", ["own_pairs.py", "nim.py"])
def test_the_smallest_examples_run(name, capsys):
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert "5000 iterations" in capsys.readouterr().out


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_bytes()) <= 8_000


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
)
def test_every_file_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        assert (ROOT / page).parent.joinpath(link).exists(), link
    for path in re.findall(r"\b(?:tests|icarus|experiments|examples)/[a-z_/0-9]+\.py", text):
        assert (ROOT / path).exists(), path


def test_the_worth_of_a_second_thread_can_be_measured():
    command = [sys.executable, ROOT / "examples" / "two_threads.py", "othello", "20", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("othello: two threads, 40 iterations, against one with 20: mean reward")
