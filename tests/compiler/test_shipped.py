"""The machine code of the playout loop that the package brings; `make shipped` makes it anew."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from icarus.compiler import digest
from icarus.compiler.kernel import LEVELS, levels_here, load, shipped_file, this_machine
from icarus.engine import loop

FOLDER = digest.PACKAGE / "compiler" / "shipped"
# The names of files in machine code are those in the package, wherever it is made.
PROGRAM = """
import importlib.machinery, os
loader = importlib.machinery.SourceFileLoader
def get_code(self, name, of_others=loader.get_code):
    ours = name.startswith("icarus") and compile(self.get_data(self.path), os.path.relpath(self.path), "exec")
    return ours or of_others(self, name)
loader.get_code = get_code
from icarus.engine import loop, tables
loop.compiled_loop(), tables.growth()
"""
KERNELS = {"the playout loop": 2, "the growth of a table": 5}  # and how many integers they take


def file_for(name: str, level: str) -> Path:
    file, _ = shipped_file(name, level)
    assert file is not None
    return file


def made(level: str) -> dict[str, bytes]:
    """What the compiler makes for a level of processors, by name."""
    with tempfile.TemporaryDirectory() as folder:
        processor = {
            "NUMBA_CPU_NAME": LEVELS[level].name,
            "NUMBA_CPU_FEATURES": LEVELS[level].tuning,
        }
        settings = os.environ | processor | {"ICARUS_CACHE_DIR": folder}
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env=settings, cwd=digest.PACKAGE.parent, check=True
        )
        files = {name: Path(folder).glob(f"*/{name.replace(' ', '-')}-*.bin") for name in KERNELS}
        return {name: next(made).read_bytes() for name, made in files.items()}


def all_files() -> set[Path]:
    return {file_for(name, level) for name in KERNELS for level in LEVELS}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("level", levels_here())
def test_the_package_brings_the_machine_code_of_its_loop(level, name):
    file = file_for(name, level)
    assert file.is_file(), (
        "the sources of the loop have changed: make shipped, and commit what it has made"
    )
    processor = shipped_file(name, level)[1]
    assert load(file, name, KERNELS[name], processor) is not None  # whole
    other = next(each for each in KERNELS if each != name)
    assert load(file, other, KERNELS[other], processor) is None
    assert load(file, name, 3, processor) is None
    elsewhere = next(each for each in LEVELS if each != level)
    assert load(file, name, KERNELS[name], shipped_file(name, elsewhere)[1]) is None
    assert {*FOLDER.iterdir()} <= all_files()
    assert str(digest.PACKAGE).encode() not in file.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="made with Python 3.11; others' bytecode becomes other machine code",
)
@pytest.mark.parametrize("level", levels_here())
def test_the_machine_code_is_what_the_compiler_makes_of_the_sources(level):
    assert made(level) == {name: file_for(name, level).read_bytes() for name in KERNELS}


def test_the_loop_is_made_of_the_sources_that_name_its_machine_code():
    parts = list(digest.reachable(loop.run))
    values = [getattr(part.value, "py_func", part.value) for part in parts]
    modules = {str(getattr(value, "__module__", "")) for value in values}
    ours = {
        f"{name.removeprefix('icarus.').replace('.', '/')}.py"
        for name in modules
        if name.startswith("icarus.")
    }
    assert "engine/loop.py" in ours <= {*digest.LOOP}
    texts = "\n".join((digest.PACKAGE / name).read_text() for name in digest.LOOP)
    numbers = {
        part.name.rpartition(".")[2] for part in parts if isinstance(part.value, int | float)
    }
    constants = {name for name in numbers if re.fullmatch("_?[A-Z][A-Z0-9_]*", name)}
    assert "TOLERANCE" in constants
    assert not [name for name in constants if not re.search(rf"^(.*, )?{name}\b.* = ", texts, re.M)]


if __name__ == "__main__":
    for level, kind in LEVELS.items():
        if kind.triple != this_machine()[0]:
            print(f"{level} can be made on such a machine only, or under qemu")
            continue
        for name, code in made(level).items():
            file_for(name, level).write_bytes(code)
    for old in {*FOLDER.iterdir()} - all_files():
        old.unlink()
