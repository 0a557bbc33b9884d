"""The options --slow and --processor-time, toy games, and Python in a process of its own."""

import compileall
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

# Threads that wait for work on small matrices cost ten times its time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import pytest
from _pytest.assertion import rewrite

from icarus import Game, games, load_files
from icarus.audit import contract, draws, hidden
from icarus.compiler import seeded
from icarus.kernel import below
from tests import toy

# Without bytecode every process that a test starts would compile numba, SciPy and Matplotlib from their sources: 0.2 to 1.2 s each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Started in the background of a shell, a process ignores Ctrl-C, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Garbage is looked for seldom: the compiler's millions of objects stay to the end, and looking through them again and again is slow.
gc.set_threshold(50_000, 20, 100)

# How long an example takes says more about the machine's other work than about the code.
hypothesis.settings.register_profile("icarus", deadline=None)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=1_000)
hypothesis.settings.load_profile("icarus")

ROOT = Path(__file__).parent.parent
TIMEOUT = 300  # seconds for one process, compilation on a cold cache included

# The files that take the most processor time begin first, so that no worker is left with one at the end.
LONGEST = (
    "audit/test_hidden.py",
    "games/test_games.py",
    "engine/test_reuse.py",
    "audit/test_observation.py",
    "engine/test_plain.py",
    "commands/test_printed.py",
    "specs/test_catalogue.py",
    "engine/test_features.py",
    "audit/test_contract.py",
    "experiments/test_studies.py",
    "algebra/test_algebra.py",
    "bridges/test_openspiel.py",
)

Toys = list[tuple[int, Game]]
Python = Callable[..., subprocess.CompletedProcess[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow",
        action="store_true",
        help="run the tests marked slow too: the full counts, minutes each",
    )
    help_text = "write [test, processor seconds with its processes, seconds] of each test to a file, a line of JSON each"
    parser.addoption("--processor-time", metavar="FILE", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        # Once, and not in each of the processes that begin at the same time.
        for folder in ("icarus", "experiments"):
            compileall.compile_dir(ROOT / folder, quiet=2)
        if (
            config.getoption("numprocesses", None)
            and config.args_source is config.ArgsSource.TESTPATHS
        ):
            rewrite_tests(config)


def rewrite_tests(config: pytest.Config) -> None:
    """Put all tests on the disk as pytest rewrites them for its reports: once, and not once more in each worker."""
    state = config.stash[rewrite.assertstate_key]
    for path in (ROOT / "tests").rglob("test_*.py"):
        rewritten = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(path, rewritten) is None and rewrite.try_makedirs(rewritten.parent):
            status, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(state, code, status, rewritten)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest files, and leave out what is slow: each test that is skipped is reported by a worker, which takes 3 ms."""
    order = {ROOT / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))
    if not config.getoption("--slow"):
        slow = [item for item in items if item.get_closest_marker("slow") is not None]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]


def pytest_collection_finish() -> None:
    """Look for garbage never again among what importing the tests has made."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    file = item.config.getoption("--processor-time")
    if file is None:
        return (yield)
    before = os.times()
    outcome = yield
    after = os.times()
    *processor, elapsed = (
        round(late - early, 3) for early, late in zip(before, after, strict=True)
    )
    with open(file, "a") as rows:  # whole lines, whichever worker writes
        rows.write(json.dumps([item.nodeid, round(sum(processor), 3), elapsed]) + "\n")
    return outcome


def environment(package_root: Path = ROOT, **changes: str) -> dict[str, str]:
    """The environment of a process that imports icarus from a folder."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package_root), *(path for path in sys.path if path)]),
        **changes,
    }


@contextlib.contextmanager
def child_process(call: list[str], **options) -> Iterator[subprocess.Popen]:
    """A process that is killed if the block ends before it: a test that fails does not wait for it."""
    with subprocess.Popen(call, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def games_forgotten() -> Iterator[None]:
    """Within, only the games of the package are known at first; afterwards those that were known before."""
    tables = games.GAMES, load_files._loaded, load_files._own_games
    before = [table.copy() for table in tables]
    for name in load_files._own_games:
        del games.GAMES[name]
    load_files._loaded.clear()
    load_files._own_games.clear()
    try:
        yield
    finally:
        for table, content in zip(tables, before, strict=True):
            table.clear()
            table.update(content)


@pytest.fixture(autouse=True)
def own_games() -> Iterator[None]:
    """What a test registers as a game is not known to the next one; whoever loads its file again knows it again."""
    with games_forgotten():
        yield


@pytest.fixture(autouse=True)
def import_path():
    """The folders of files that a test loads are forgotten after it: no other test finds their modules."""
    folders = list(sys.path)
    yield
    sys.path[:] = folders


@pytest.fixture(scope="session")
def drawing():
    """What games in plain Python draw by is compiled here, and not in the process of each audit."""
    below(seeded(0), 2)


@pytest.fixture
def short_contract(monkeypatch):
    """One random game of the contract for each that is audited, compiled and in plain Python: test_contract.py finds what breaks it."""
    monkeypatch.setattr(contract, "PLAIN_GAMES", 1)
    monkeypatch.setattr(sys.modules["icarus.audit"], "GAMES_FOR_EACH", 1)
    monkeypatch.setattr(sys.modules["icarus.audit"], "PLAIN_FOR_EACH", 1)


@pytest.fixture
def few_ways(monkeypatch, short_contract, drawing):
    """A third of the other ways to a draw, and one random game that tells whether the order of a list matters."""
    monkeypatch.setattr(hidden, "WAYS", 20)
    monkeypatch.setattr(draws, "LEARNED", 1)


@pytest.fixture
def few_deals(monkeypatch, drawing):
    """A sixth of the deals, which take most of the time of games in plain Python."""
    monkeypatch.setattr(hidden, "DEALS", 100)


@pytest.fixture(scope="session")
def toys(request):
    """Toy games with their numbers: of each kind one, and all of them with --slow."""
    chosen = toy.ALL_TOYS if request.config.getoption("--slow") else toy.KINDS
    return [(toy.ALL_TOYS.index(game), game) for game in chosen]


@pytest.fixture(scope="session")
def python():
    """Run Python source, or with `arguments` the interpreter itself, in a fresh process."""

    def run(
        source: str | None = None,
        *arguments: str,
        package_root: Path = ROOT,
        cwd: Path | None = None,
        stdin: str | None = None,
        **changes: str,
    ) -> subprocess.CompletedProcess[str]:
        command = arguments if source is None else ("-c", source, *arguments)
        return subprocess.run(
            [sys.executable, *command],
            env=environment(package_root, **changes),
            cwd=cwd,
            input=stdin,
            text=True,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )

    return run
