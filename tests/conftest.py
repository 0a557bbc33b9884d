"""The option --slow, and Python in a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

# Started in the background of a shell, a process ignores Ctrl-C, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says more about the machine's other work than about the code.
hypothesis.settings.register_profile("icarus", deadline=None)
hypothesis.settings.load_profile("icarus")

ROOT = Path(__file__).parent.parent
TIMEOUT = 300  # seconds for one process, compilation on a cold cache included

Python = Callable[..., subprocess.CompletedProcess[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too: the full counts, minutes each")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "xdist_group(name): tests that one worker runs, where several run the suite")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if getattr(config.option, "loadgroup", False):  # a worker of pytest-xdist, which tells groups by the ends of names
        alone = [item for item in items if item.get_closest_marker("xdist_group") and "@" not in item.nodeid]
        if alone:
            raise pytest.UsageError(f"{alone[0].nodeid} is in no group: this pytest-xdist does not fit this pytest")
    if not config.getoption("--slow"):
        for item in items:
            if item.get_closest_marker("slow") is not None:
                item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


def environment(package_root: Path = ROOT, **changes: str) -> dict[str, str]:
    """The environment of a process that imports icarus from a folder."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package_root), *(path for path in sys.path if path)]),
        **changes,
    }


@pytest.fixture(scope="session")
def python() -> Python:
    """Run Python source, or with `arguments` the interpreter itself, in a fresh process."""

    def run(
        source: str | None = None,
        *arguments: str,
        package_root: Path = ROOT,
        cwd: Path | None = None,
        stdin: str | None = None,
        **changes: str,
    ) -> subprocess.CompletedProcess[str]:
        given = arguments if source is None else ("-c", source, *arguments)
        return subprocess.run(
            [sys.executable, *given],
            env=environment(package_root, **changes),
            cwd=cwd,
            input=stdin,
            text=True,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )

    return run
