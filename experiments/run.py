"""Games of an experiment: one, from its definition to its row; all that a directory does not hold yet."""

import datetime
import functools
import hashlib
import math
import platform
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

import attrs
import numpy

import icarus
from experiments.plan.cells import Cell, Experiment
from experiments.plan.sources import refuse_if_edited, source_of
from experiments.results import STATISTICS, ledger_of
from experiments.sequential import rounds
from icarus.arena.ledger import GameRow
from icarus.arena.match import Files, Match, game_row, load_unedited
from icarus.arena.workers import Workers
from icarus.engine.match import DecisionLog
from icarus.load_files import DIGITS, digest_of

WIN = 1.0  # the reward of a win; draws and shared lower places are losses (section 8)
GIT_SECONDS = 10


def match_of(experiment: Experiment, cell: Cell, trial: int) -> Match:
    """A game of an experiment; its row has all that is known of the cell.

    Raises:
        Refusal: a file that the cell uses is not what it was.
    """
    refuse_if_edited(cell)
    column = cell.column
    seat = cell.seat(trial)
    files = _files(cell.module, cell.source, cell.imports)
    agent = attrs.evolve(cell.spec, iterations=cell.iterations, seconds=column.seconds)
    opponent = attrs.evolve(column.opponent, iterations=column.iterations, seconds=column.seconds)
    seats = range(load_unedited(column.game, files).game.players)
    labels = {
        "game": column.game,
        "role": column.role,
        "agent": cell.agent,
        "strategy": cell.spec.text,
        "opponent": column.opponent.text,
        "iterations": cell.iterations,
        "opponent_iterations": column.iterations,
        "seconds_per_decision": column.seconds,
        "seat": seat,
    }
    entrants = tuple(agent if each == seat else opponent for each in seats)
    return Match(
        (cell.key, trial),
        column.game,
        entrants,
        experiment.game_seed(cell, trial),
        files,
        labels=labels,
    )


@functools.cache
def _files(module: str, *state: object) -> Files:
    """The file of a cell, with a digest; `state` is what it and its imports were when the experiment began."""
    return ((module, digest_of(module)),) if module else ()


def trial_row(match: Match) -> GameRow:
    """Play a game of an experiment, and tell everything about it that is worth keeping."""
    started = datetime.datetime.now(datetime.UTC)
    log = match.play()
    row = game_row(match, log)
    reward = row["returns"][row["seat"]]
    of_agent = [each for each in log.decisions if each.player == row["seat"]]
    of_others = [each for each in log.decisions if each.player != row["seat"]]
    return row | {
        "reward": reward,
        "win": reward >= WIN,
        "moves": len(log.actions),
        "statistics": {"agent": statistics(of_agent), "opponents": statistics(of_others)},
        "started": started.isoformat(timespec="milliseconds"),
        "provenance": provenance(*[path for path, _ in match.files]),
    }


def statistics(decisions: Iterable[DecisionLog]) -> dict[str, float | None]:
    """What the searches of one side came to, averaged over the decisions with more than one legal action.

    Returns:
        decisions: how many; visits, value: of the chosen action; depth, iterations: of the search; seconds: in all.
    """
    free = [decision for decision in decisions if decision.legal > 1]
    means = {name: _mean(getattr(decision, name) for decision in free) for name in STATISTICS}
    return {
        "decisions": len(free),
        **means,
        "seconds": round(sum(float(decision.seconds) for decision in free), 6),
    }


def _mean(values: Iterable[float]) -> float | None:
    numbers = [float(value) for value in values if value is not None and math.isfinite(value)]
    return round(math.fsum(numbers) / len(numbers), 6) if numbers else None


@functools.cache
def provenance(module: str = "") -> dict[str, str | bool | None]:
    """By what a game was played: versions, commit, a digest of the sources, machine, digest of the experiment's Python file."""
    package = Path(icarus.__file__).parent
    commit, dirty = _commit(package)
    modules = {"module": source_of(module)} if module else {}
    return {
        "icarus": icarus.__version__,
        "commit": commit,
        "dirty": dirty,
        "sources": _digest(package),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": version("numba"),
        "platform": f"{sys.platform} {platform.machine()}",
        "host": socket.gethostname(),
        **modules,
    }


def _digest(package: Path) -> str:
    """A short name for the sources as they are, committed or not."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(
            path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0"
        )
    return digest.hexdigest()[:DIGITS]


def _commit(package: Path) -> tuple[str | None, bool | None]:
    """The commit of the checkout that the package runs from and whether it was changed since; (None, None) outside a checkout."""
    tracked = git(package, "ls-files", "--error-unmatch", "__init__.py")
    head = git(package, "rev-parse", "HEAD")
    changes = git(package, "status", "--porcelain", "--", ".")
    if tracked is None or head is None:
        return None, None
    return head, bool(changes)


def git(directory: Path, *command: str) -> str | None:
    """What git says in a directory; None where it fails, is not there, or takes too long."""
    call = ["git", "-C", str(directory), *command]
    try:
        return subprocess.run(
            call, capture_output=True, text=True, check=True, timeout=GIT_SECONDS
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


# -------------------- All games that a directory does not hold yet, once, by any number of processes.


def part(text: str) -> slice:
    """A share of the trials as people write it, so that several machines can divide them: "2/3" is every third, from the second on.

    Raises:
        ValueError: it is not one.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise ValueError(f"part: {text!r} is not a share such as 1/3, 2/3 or 3/3")
    return slice(int(number) - 1, None, int(of))


def run(
    experiment: Experiment, directory: Path, workers: Workers, share: slice = slice(None)
) -> Iterator[tuple[int, int]]:
    """Play what is missing; each game is kept as it ends.

    Args:
        share: the part of the trials to be played here.

    Returns:
        How many games are kept, and how many will be (with a sequential test, at most): before the first and after each game.

    Raises:
        ValueError: see `ledger_of`; a share of a sequential test; or a game could not be played.
    """
    trials = range(experiment.trials)[share]
    if experiment.sprt and len(trials) < experiment.trials:
        raise ValueError(
            "part: a sequential test cannot be divided, because later games depend on the results of earlier ones"
        )
    with ledger_of(directory, experiment) as ledger:
        mine = [(cell, trial) for cell, trial in experiment.games() if trial in trials]
        missing = sum((cell.key, trial) not in ledger.rows for cell, trial in mine)
        total = len(ledger.rows) + missing
        yield len(ledger.rows), total
        parts: Iterable[Iterable[tuple[Cell, int]]] = [mine]
        if experiment.sprt:
            parts = rounds(experiment, ledger.outcomes, {})
        for games in parts:
            matches = (match_of(experiment, *game) for game in games)
            for _ in ledger.played(matches, trial_row, workers):
                yield len(ledger.rows), total
