"""A wheel and an sdist can be built, stay in `dist`, and are whole: in an empty environment each brings what it needs, and searches."""

import os
import pwd
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
VERSIONS = ("3.11", "3.12", "3.13")
SMOKE = """
import importlib.metadata, pathlib, sys
import icarus
from icarus import BASELINE, MAST, games, search

assert pathlib.Path(icarus.__file__).is_relative_to(sys.prefix), icarus.__file__
for name in sys.argv[1:] or games.names():
    state = games.load(name).new_initial_state(seed=1)
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    result = search(state, BASELINE >> MAST, iterations=50, seed=1)
    result.to_html(f"{name}.html")
assert sys.argv[1:] or "numba" not in sys.modules, "the wheel brings the machine code of what is searched here"
print(*sorted(one.metadata["Name"] for one in importlib.metadata.distributions()))
"""


@pytest.fixture(scope="module")
def built():
    """The folder of the two archives, and of nothing else."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", DIST, ROOT],
        check=True,
        capture_output=True,
        text=True,
    )
    return DIST


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


# -------------------- In empty environments of each version of Python that is installed, also by pyenv.


def python_of(version: str) -> list[str]:
    """The call of a Python of this version.

    Without pyenv the variable has no effect.
    """
    call = ["env", f"PYENV_VERSION={version}", f"python{version}"]
    try:
        found = subprocess.run([*call, "-c", "import ensurepip"], capture_output=True).returncode
    except OSError:
        found = 1
    if found:
        pytest.skip(f"Python {version} is not installed")
    return call


def installed(call: list[str], archive: Path, folder: Path) -> Path:
    """The Python of a new environment that has what the archive brings, and nothing besides."""
    subprocess.run([*call, "-m", "venv", folder / "empty"], check=True)
    python = folder / "empty" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", archive]
    subprocess.run(install, env=BARE, check=True)
    return python


BARE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["*.whl", "*.tar.gz"])
@pytest.mark.parametrize("version", VERSIONS)
def test_each_archive_alone_searches_in_an_empty_environment(version, pattern, built, tmp_path):
    """The wheel searches every game, the sdist two, since what it installs is built from it as the wheel is."""
    (archive,) = built.glob(pattern)
    python = installed(python_of(version), archive, tmp_path)
    few = [] if pattern == "*.whl" else ["othello", "hearts"]
    done = subprocess.run(
        [python, "-c", SMOKE, *few], cwd=tmp_path, env=BARE, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split())
    assert not {"pandas", "matplotlib"} & names
    assert {"icarus-mcts", "numpy", "scipy", "numba", "attrs", "typer", "rich"} <= names


@pytest.fixture
def open_folder():
    """A folder that every user can enter, which those of pytest are not."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.slow
@pytest.mark.parametrize("has_home", [True, False])
def test_another_user_searches_with_what_root_installed(has_home, built, open_folder):
    """He can write neither to the package nor, perhaps, to a home of his own."""
    if os.geteuid():
        pytest.skip("only root can become another user")
    nobody = pwd.getpwnam("nobody")
    call = ["/usr/bin/python3"]  # a Python in root's own folder cannot be entered
    enough = "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"
    if subprocess.run([*call, "-c", enough], capture_output=True).returncode:
        pytest.skip("the system's Python is too old, or makes no environments")
    (wheel,) = built.glob("*.whl")
    python = installed(call, wheel, open_folder)
    home = open_folder / "home"
    home.mkdir()
    if has_home:
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
    done = subprocess.run(
        [python.parent / "icarus", "search", "othello", "--iterations", "50"],
        cwd=open_folder,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "50 iterations" in done.stdout, done.stderr
    assert any(home.rglob("*")) == has_home
