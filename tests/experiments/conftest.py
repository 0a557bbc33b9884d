"""Commands run as people run them, and rows without clocks."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments import figures, results as store
from experiments.commands import main
from experiments.plan import loading
from experiments.plan.cells import Experiment
from experiments.plan.loading import build
from experiments.run import run
from icarus.arena.ledger import GameRow
from icarus.arena.workers import ALONE, Workers

TRIALS = 12  # games of each of three agents
TIMEOUT = 170  # seconds for one command, compilation on a cold cache included


class Command:
    """`python -m experiments` in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        call = [sys.executable, "-m", "experiments", *map(str, arguments)]
        return subprocess.Popen(
            call,
            cwd=self.directory,
            env=self.environment,
            text=True,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments) as process:
            out, errors = process.communicate(timeout=TIMEOUT)
        return subprocess.CompletedProcess(arguments, process.returncode, out, errors)


TABLE = {
    "name": "mine",
    "games": "othello",
    "agents": {"a": "RAVE"},
    "iterations": 100,
    "trials": 4,
}


def built(**changes) -> Experiment:
    """The experiment of a table that differs from `TABLE`; a key that is None is not in it."""
    return build({key: value for key, value in {**TABLE, **changes}.items() if value is not None})


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys):
    """Run a command in this process: (exit code, standard output, standard error)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def no_pictures(monkeypatch):
    """Reports have none: `test_figures.py` looks at them."""
    monkeypatch.setattr(figures, "draw", lambda *results: [])


@pytest.fixture
def blank_pictures(monkeypatch):
    """Pictures are files without a content: `test_figures.py` and `test_claims.py` look at what is drawn."""
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig", lambda self, path, **options: path.touch()
    )


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """A complete run that nothing disturbed, played in this process; not to be changed."""
    experiment = small()
    directory = tmp_path_factory.mktemp("played") / "run"
    play(experiment, directory)
    return directory


SMALL = ("figure5", "--games", "othello", "--trials", TRIALS, "--iterations", 20)


def games(directory: Path) -> dict[tuple[str, int], GameRow]:
    """The games kept in a directory, without what depends on the clock or on the machine."""
    experiment = store.experiment_in(directory)
    return {
        (row["cell"], row["trial"]): without_clocks(row)
        for row in store.rows(directory, experiment)
    }


def without_clocks(value):
    if isinstance(value, dict):
        return {
            key: without_clocks(inner)
            for key, inner in value.items()
            if key not in ("seconds", "started", "provenance")
        }
    return value


def small():
    """The experiment that `SMALL` names."""
    return loading.load("figure5", {"games": ["othello"], "trials": TRIALS, "iterations": 20})


def all_of_table_1(trials: int = 4, **changes):
    """The sixteen combinations in Othello."""
    return loading.load(
        "figure4", {"games": ["othello"], "trials": trials, "iterations": 20, **changes}
    )


def keep(directory: Path, experiment, rows: Iterable[GameRow]) -> Path:
    """A directory with invented games."""
    with store.ledger_of(directory, experiment) as ledger:
        for each in rows:
            ledger.keep(each)
    return directory


class Invented(Workers):
    """Games that take no time, and which they were."""

    def __init__(self) -> None:
        super().__init__()
        self.played: list[tuple[str, int]] = []

    def results(self, play, tasks: Iterable[Any]) -> Iterator[Any]:
        for match in tasks:
            self.played.append(match.key)
            yield row_of_match(match)


def play(experiment, directory: Path, workers: Workers = ALONE) -> None:
    """Play what is missing."""
    for _ in run(experiment, directory, workers):
        pass


def a_row(cell, trial: int, **changes) -> GameRow:
    """A row as a game of a cell would leave it, with an invented game."""
    return {
        "cell": cell.key,
        "game": cell.column.game,
        "agent": cell.agent,
        "strategy": cell.spec.strategy,
        "opponent": cell.column.opponent.strategy,
        "iterations": cell.column.iterations,
        "trial": trial,
        "seat": cell.seat(trial),
        **course(seed=[0, int(cell.key[:8], 16), int(cell.key[8:], 16), trial]),
        **changes,
    }


def row_of_match(match, **changes) -> GameRow:
    """A row as a match would leave it, with an invented game."""
    return (
        dict(zip(store.KEY, match.key, strict=True))
        | match.labels
        | course(seed=list(match.seed), **changes)
    )


def course(**changes) -> GameRow:
    """What an invented game leaves in its row."""
    return {
        "win": True,
        "reward": 1.0,
        "returns": [1.0, 0.0],
        "actions": [[0, 1], [1, 2]],
        "moves": 2,
        "started": "2020-01-01T00:00:00.000+00:00",
        "seconds": 1.0,
        "statistics": {
            "agent": {"visits": 10.0, "value": 0.5, "depth": 3.0, "iterations": 20.0},
            "opponents": {},
        },
        "provenance": {"icarus": "0", "commit": None, "sources": "x"},
        **changes,
    }
