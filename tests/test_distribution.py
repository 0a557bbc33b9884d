"""A wheel and an sdist can be built, and the wheel is whole: in an empty environment it brings what it needs, and searches."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SMOKE = """
import importlib.metadata, pathlib, sys
import icarus
from icarus import BASELINE, MAST, games, search

assert pathlib.Path(icarus.__file__).is_relative_to(sys.prefix), icarus.__file__
for name in games.names():
    state = games.load(name).new_initial_state(seed=1)
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    result = search(state, BASELINE >> MAST, iterations=50, seed=1)
    result.to_html(f"{name}.html")
print(icarus.__version__, *sorted(one.metadata["Name"] for one in importlib.metadata.distributions()))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the two archives."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
        text=True,
    )
    return folder


@pytest.mark.slow
def test_the_wheel_holds_all_that_the_package_reads(built):
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / "icarus").rglob("*"):
        if path.suffix in (".py", ".npy", ".npz", ".js", ".css", ".html", ".typed"):
            assert str(path.relative_to(ROOT)) in names, path


@pytest.mark.slow
def test_the_wheel_puts_nothing_but_icarus_beside_other_packages(built):
    """A folder of the user that is called experiments, tests or docs must not collide with it."""
    (wheel,) = built.glob("*.whl")
    folders = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name.partition("-")[0] for name in folders} == {"icarus", "icarus_mcts"}


@pytest.mark.slow
def test_the_sdist_holds_sources_licence_and_readme(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "pyproject.toml",
        "icarus/__init__.py",
        "icarus/py.typed",
    } <= names


@pytest.mark.slow
def test_the_wheel_alone_searches_every_game_in_an_empty_environment(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], env=elsewhere, check=True)
    done = subprocess.run(
        [python, "-c", SMOKE], cwd=tmp_path, env=elsewhere, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not {"pandas", "matplotlib"} & set(done.stdout.split())
    assert {"icarus-mcts", "numpy", "scipy", "numba", "attrs", "typer", "rich"} <= set(
        done.stdout.split()
    )
