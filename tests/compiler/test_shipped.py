"""The machine code that the package brings: of the playout loop in the repository, which `make shipped` makes anew; in a wheel also of the
library's games and of the paper's enhancements, which `make wheel` makes."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import attrs
import pytest

from icarus import MAST, NAST2, Capture, games, parse, search
from icarus.compiler import digest, kernel
from icarus.compiler.kernel import (
    LEVELS,
    CompiledFunction,
    levels_here,
    load,
    shipped_file,
    this_machine,
)
from icarus.engine import loop, lowering
from icarus.games import othello

FOLDER = digest.PACKAGE / "compiler" / "shipped"
# The names of files in machine code are those in the package, wherever it is made.
PROGRAM = """
import importlib.machinery, os, sys
loader = importlib.machinery.SourceFileLoader
def get_code(self, name, of_others=loader.get_code):
    ours = name.startswith("icarus") and compile(self.get_data(self.path), os.path.relpath(self.path), "exec")
    return ours or of_others(self, name)
loader.get_code = get_code
from icarus.compiler import kernel
from icarus.engine import loop, tables
loop.compiled_loop(), tables.growth()
if "games" in sys.argv:
    from tests.compiler.test_shipped import search_all
    search_all()
for each in kernel._alive:
    key = kernel.digest(each.function, each.name, each.function.__code__.co_argcount, kernel.this_machine())
    print(kernel._file_of(each.name, key), kernel.shipped_file(each.name, each.function, sys.argv[1])[0], sep="|")
"""
KERNELS = {"the playout loop": 2, "the growth of a table": 5}  # and how many integers they take
STRATEGIES = ("BASELINE", "RAVE >> (MAST + NAST2) / 2", "TO_MAST >> LGR", "EPIC >> LGRF")


def search_all() -> None:
    """Search every game of the library's once with each enhancement of the paper."""
    for name in games.names():
        state = games.load(name).new_initial_state(seed=1)
        while state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])
        for strategy in STRATEGIES:
            search(state, parse(strategy), iterations=50)


def file_for(name: str, level: str) -> Path:
    file, _ = shipped_file(name, loop.run, level)
    assert file is not None
    return file


def is_of_loop(file: Path) -> bool:
    return file.name.startswith(tuple(name.replace(" ", "-") for name in KERNELS))


def made(level: str, *what: str) -> dict[Path, bytes]:
    """What the compiler makes for a level of processors, by the file that the package brings it in.

    Args:
        what: "games", if not only the loop.
    """
    with tempfile.TemporaryDirectory() as folder:
        processor = {
            "NUMBA_CPU_NAME": LEVELS[level].name,
            "NUMBA_CPU_FEATURES": LEVELS[level].tuning,
        }
        settings = os.environ | processor | {"ICARUS_CACHE_DIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, level, *what],
            env=settings, cwd=digest.PACKAGE.parent, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        files = [line.split("|") for line in done.stdout.splitlines()]
        return {Path(shipped): Path(cached).read_bytes() for cached, shipped in files}


def all_files() -> set[Path]:
    return {file_for(name, level) for name in KERNELS for level in LEVELS}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("level", levels_here())
def test_the_package_brings_the_machine_code_of_its_loop(level, name):
    file = file_for(name, level)
    assert file.is_file(), (
        "the sources of the loop have changed: make shipped, and commit what it has made"
    )
    processor = shipped_file(name, loop.run, level)[1]
    assert load(file, name, KERNELS[name], processor) is not None  # whole
    other = next(each for each in KERNELS if each != name)
    assert load(file, other, KERNELS[other], processor) is None
    assert load(file, name, 3, processor) is None
    elsewhere = next(each for each in LEVELS if each != level)
    assert load(file, name, KERNELS[name], shipped_file(name, loop.run, elsewhere)[1]) is None
    assert {*filter(is_of_loop, FOLDER.iterdir())} <= all_files()
    assert str(digest.PACKAGE).encode() not in file.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="made with Python 3.11; others' bytecode becomes other machine code",
)
@pytest.mark.parametrize("level", levels_here())
def test_the_machine_code_is_what_the_compiler_makes_of_the_sources(level):
    files = [file_for(name, level) for name in KERNELS]
    assert made(level) == {file: file.read_bytes() for file in files}


def test_a_kernel_that_the_package_brings_is_not_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(digest, "_extensions", list)  # those that other tests have registered
    level = levels_here()[-1]
    apply = games.OTHELLO.kernels().apply
    monkeypatch.setattr(kernel, "PACKAGE", tmp_path)
    monkeypatch.setattr(kernel, "cache_folder", lambda: None)
    monkeypatch.setattr(CompiledFunction, "_compile", lambda *_: pytest.fail("it is compiled"))
    file, processor = shipped_file(apply.name, apply.function, level)
    file.parent.mkdir(parents=True)
    engine = apply._code  # the code itself is that of this processor
    monkeypatch.setattr(kernel, "MachineCode", lambda code, symbol, arity: engine)
    label = kernel._label(apply.name, 2, processor)
    kernel._write(file, b"\0".join([*label, b"symbol", b"code"]))
    assert CompiledFunction(apply.function, 2, apply.name).address == apply.address
    monkeypatch.setattr(othello, "STEPS", othello.STEPS[::-1])
    with pytest.raises(pytest.fail.Exception, match="it is compiled"):
        CompiledFunction(apply.function, 2, apply.name)


def test_what_the_package_brings_is_named_by_all_that_it_is_made_of(tmp_path, monkeypatch):
    monkeypatch.setattr(digest, "_extensions", list)

    def name(game, role):
        return digest.sources_digest(getattr(games.load(game).kernels(), role).function)

    assert name("liars-dice", "legal") != name("liars-dice(faces=2)", "legal")
    assert name("othello", "legal") != name("othello", "apply")
    of_mast, of_nast = (
        digest.sources_digest(lowering.capture_kernel(each.capture, None).function)
        for each in (MAST, NAST2)
    )
    assert of_mast != of_nast

    def capture(history, updates):
        pass

    mine = attrs.evolve(MAST, capture=Capture.of(capture))
    function = lowering.capture_kernel(mine.capture, None).function
    assert digest.sources_digest(function) == ""
    (tmp_path / "compiler" / "shipped").mkdir(parents=True)
    (tmp_path / "compiler" / "shipped" / f"mine-{levels_here()[-1]}-.bin").touch()
    monkeypatch.setattr(kernel, "PACKAGE", tmp_path)
    assert shipped_file("mine", function) == (None, "")


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
    what = sys.argv[1:]
    # code of games runs when it is made, and the lowest level is every processor's
    for level in levels_here()[-1:] if what else LEVELS:
        if LEVELS[level].triple != this_machine()[0]:
            print(f"{level} can be made on such a machine only, or under qemu")
            continue
        new = made(level, *what)
        for file in {*FOLDER.glob(f"*-{level}-*"), *new}:
            if is_of_loop(file) == bool(what):
                continue  # the other command makes it
            if file in new:
                file.write_bytes(new[file])
            else:
                file.unlink()
