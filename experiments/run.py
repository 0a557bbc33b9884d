"""Games of an experiment: one, from its definition to its row; all that a directory does not hold yet; some played again."""

import datetime
import functools
import hashlib
import math
import platform
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

import attrs
import numpy

import icarus
from experiments.plan.definition import AgentSpec, Cell, Experiment, Label, refuse_if_edited, source_of, strategy_of
from experiments.results import STATISTICS, ledger_of
from experiments.sequential import SequentialTests
from icarus import Agent, exploitability, games, play
from icarus.arena.ledger import GameRow, Key, read_rows
from icarus.arena.workers import Workers
from icarus.engine.match import DecisionLog, GameLog
from icarus.equilibrium import OOSSearch
from icarus.load_files import DIGITS, load_file

WIN = 1.0  # the reward of a win; draws and shared lower places are losses (section 8)
GIT_SECONDS = 10


@attrs.frozen
class Trial:
    """One game to be played: a trial of a cell, with the key of its random numbers."""

    cell: Cell
    number: int
    seed: tuple[int, ...]

    @property
    def key(self) -> Key:
        """What its row has in the fields of the ledger."""
        return self.cell.key, self.number

    def __str__(self) -> str:
        cell = self.cell
        return f"trial {self.number} of {cell.agent} ({cell.spec.text}) in {cell.column.game}, seed {self.seed}"


def trial_of(experiment: Experiment, cell: Cell, number: int) -> Trial:
    """A game of an experiment."""
    return Trial(cell, number, experiment.game_seed(cell, number))


def play_trial(trial: Trial) -> GameLog:
    """Play a game; the same one whenever, wherever and beside whatever it is played."""
    cell, column = trial.cell, trial.cell.column
    refuse_if_edited(cell)
    if cell.module:
        load_file(Path(cell.module))
    game = games.load(column.game)
    agent = agent_of(cell.spec, cell.module, cell.iterations, column.seconds)
    opponent = agent_of(column.opponent, cell.module, column.iterations, column.seconds)
    agents = [agent if seat == cell.seat(trial.number) else opponent for seat in range(game.players)]
    return play(game, agents, seed=trial.seed)


def row(trial: Trial) -> GameRow:
    """Play a game and tell everything about it that is worth keeping."""
    started, clock = datetime.datetime.now(datetime.UTC), time.perf_counter()
    result = play_trial(trial)
    seat, column = trial.cell.seat(trial.number), trial.cell.column
    decisions = [decision for decision in result.decisions if decision.player == seat]
    opponent_decisions = [decision for decision in result.decisions if decision.player != seat]
    return {
        "cell": trial.cell.key,
        "game": column.game,
        "role": column.role,
        "agent": trial.cell.agent,
        "strategy": trial.cell.spec.text,
        "opponent": column.opponent.text,
        "iterations": trial.cell.iterations,
        "opponent_iterations": column.iterations,
        "seconds_per_decision": column.seconds,
        "trial": trial.number,
        "seat": seat,
        "seed": list(trial.seed),
        "reward": float(result.returns[seat]),
        "win": bool(result.returns[seat] >= WIN),
        "returns": [float(reward) for reward in result.returns],
        "moves": len(result.actions),
        "statistics": {"agent": statistics(decisions), "opponents": statistics(opponent_decisions)},
        "actions": [[int(player), int(action)] for player, action in result.actions],
        "started": started.isoformat(timespec="milliseconds"),
        "seconds": round(time.perf_counter() - clock, 6),
        "provenance": provenance(trial.cell.module),
    }


def statistics(decisions: Iterable[DecisionLog]) -> dict[str, float | None]:
    """What the searches of one side came to, averaged over the decisions with more than one legal action.

    Returns:
        decisions: how many; visits, value: of the chosen action; depth, iterations: of the search; seconds: in all.
    """
    free = [decision for decision in decisions if decision.legal > 1]
    means = {name: _mean(getattr(decision, name) for decision in free) for name in STATISTICS}
    return {"decisions": len(free), **means, "seconds": round(sum(float(decision.seconds) for decision in free), 6)}


def _mean(values: Iterable[float]) -> float | None:
    numbers = [float(value) for value in values if value is not None and math.isfinite(value)]
    return round(math.fsum(numbers) / len(numbers), 6) if numbers else None


@functools.cache
def agent_of(spec: AgentSpec, module: str, iterations: int | None, seconds: float | None) -> Agent:
    """Who plays as a cell says."""
    strategy = spec.strategy
    if isinstance(strategy, Label):
        strategy = strategy_of(strategy.text, module)
    return Agent(strategy, iterations=iterations, seconds=None if iterations else seconds, scheme=spec.scheme)


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
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:DIGITS]


def _commit(package: Path) -> tuple[str | None, bool | None]:
    """The commit of the checkout that the package runs from and whether it was changed since; (None, None) outside a checkout."""
    tracked = git(package, "ls-files", "--error-unmatch", "__init__.py")
    head, changes = git(package, "rev-parse", "HEAD"), git(package, "status", "--porcelain", "--", ".")
    return (None, None) if tracked is None or head is None else (head, bool(changes))


def git(directory: Path, *command: str) -> str | None:
    """What git says in a directory; None where it fails, is not there, or takes too long."""
    call = ["git", "-C", str(directory), *command]
    try:
        return subprocess.run(call, capture_output=True, text=True, check=True, timeout=GIT_SECONDS).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


# -------------------- All games that a directory does not hold yet, once, by any number of processes.


@attrs.frozen
class Part:
    """A share of an experiment's trials, so that several machines can divide them: part `number` (from 1) of `of`."""

    number: int = 1
    of: int = 1

    def __contains__(self, trial: int) -> bool:
        return trial % self.of == self.number - 1


WHOLE = Part()


def part(text: str) -> Part:
    """A share as people write it: "2/3".

    Raises:
        ValueError: it is not one.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise ValueError(f"part: {text!r} is not a share such as 1/3, 2/3 or 3/3")
    return Part(int(number), int(of))


def trials_of(experiment: Experiment, share: Part = WHOLE) -> Iterator[Trial]:
    """The games of a share, all cells side by side."""
    return (trial_of(experiment, *game) for game in experiment.games() if game[1] in share)


def run(experiment: Experiment, directory: Path, workers: Workers, share: Part = WHOLE) -> Iterator[tuple[int, int]]:
    """Play what is missing; each game is kept as it ends.

    Args:
        share: the part of the trials to be played here.

    Returns:
        How many games are kept, and how many will be (with a sequential test, at most): before the first and after each game.

    Raises:
        ValueError: see `ledger_of`; a share of a sequential test; or a game could not be played.
    """
    if experiment.sprt and share != WHOLE:
        raise ValueError(
            "part: a sequential test cannot be divided, because later games depend on the results of earlier ones"
        )
    with ledger_of(directory, experiment) as ledger:
        missing = sum(trial in share and (cell.key, trial) not in ledger.rows for cell, trial in experiment.games())
        total = len(ledger.rows) + missing
        yield len(ledger.rows), total
        rounds: Iterable[Iterable[Trial]] = [trials_of(experiment, share)]
        if experiment.sprt:
            rounds = (
                [trial_of(experiment, *game) for game in games]
                for games in SequentialTests(experiment).rounds(ledger.outcomes)
            )
        for games in rounds:
            for _ in ledger.played(games, row, workers):
                yield len(ledger.rows), total


# -------------------- Playing games again and comparing them with what was kept.


NOTHING_TO_REPLAY = "there are no games that can be played again (those with a time budget depend on the clock)"
CLOCKS = ("seconds",)  # statistics that the clock decides


def audit(experiment: Experiment, rows: Iterable[GameRow], sample: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Each game of a random sample played again: (what was found, whether it was the same).

    Raises:
        ValueError: no games can be compared.
    """
    cells = {cell.key: cell for cell in experiment.cells}
    sampled = _sample((row for row in rows if row["iterations"] is not None), sample, seed)
    if not sampled:
        raise ValueError(NOTHING_TO_REPLAY)
    for row in sampled:
        trial = Trial(cells[row["cell"]], row["trial"], tuple(row["seed"]))
        yield compare_with_replay(row, trial, experiment)


def _sample(rows: Iterable[GameRow], size: int, seed: int) -> list[GameRow]:
    """A uniform sample of a stream, without holding it."""
    generator, sampled = random.Random(seed), list[GameRow]()
    for count, row in enumerate(rows):
        if count < size:
            sampled.append(row)
        elif (place := generator.randrange(count + 1)) < size:
            sampled[place] = row
    return sampled


def compare_with_replay(row: GameRow, trial: Trial, experiment: Experiment) -> tuple[str, bool]:
    """A game played again: what was found, and whether it was the same."""
    name = f"{row['agent']} in {row['game']}, trial {row['trial']}"
    seed, seat = experiment.game_seed(trial.cell, trial.number), trial.cell.seat(trial.number)
    if (trial.seed, row["seat"]) != (seed, seat):
        row_text = f"kept with seed {trial.seed} and seat {row['seat']}"
        return f"{name}: {row_text}, but the experiment gives {seed}, {seat}", False
    result = play_trial(trial)
    now = [[int(player), int(action)] for player, action in result.actions]
    for number, (before, new) in enumerate(zip(row["actions"], now, strict=False), 1):
        if before != new:
            change = f"action {number} was {before[1]} of player {before[0]}, now {new[1]} of player {new[0]}"
            return f"{name}: {change}{_versions(row)}", False
    if len(now) != len(row["actions"]):
        return f"{name}: {len(row['actions'])} actions were kept, now there are {len(now)}{_versions(row)}", False
    returns = [float(value) for value in result.returns]
    is_same = returns == row["returns"] and row["reward"] == returns[row["seat"]]
    if not is_same or row["win"] != (row["reward"] >= WIN):
        return f"{name}: returns were {row['returns']} and win {row['win']}, now {returns}{_versions(row)}", False
    decisions = [decision for decision in result.decisions if decision.player == row["seat"]]
    for key, value in statistics(decisions).items():
        if key not in CLOCKS and row["statistics"]["agent"].get(key) != value:
            before = row["statistics"]["agent"].get(key)
            return f"{name}: {key} of its searches was {before} on average, now {value}{_versions(row)}", False
    return f"{name}: {len(now)} actions, the same", True


def compare_fields(name: str, row: GameRow, again: GameRow, fields: Iterable[str], size: str) -> tuple[str, bool]:
    """A game of such a size played again: what was found in some fields of its row, and whether it was the same."""
    for field in fields:
        if again[field] != row[field]:
            return f"{name}: {field} was {row[field]}, now {again[field]}{_versions(row)}", False
    return f"{name}: {size}, the same", True


LEARNED, LEARNED_KEY = "learned.jsonl", ("game", "player", "iterations", "seed")


def has_learned(directory: Path) -> bool:
    """Whether a directory has rows of what outcome sampling learned."""
    return (directory / LEARNED).exists()


def learned_by(search: OOSSearch) -> GameRow:
    """What outcome sampling has learned: exact NashConv of its average policy, the best responses' rewards, the information sets."""
    distance, sets = exploitability(search.game, search), int(search.store.used[0])
    return {"nash_conv": distance.nash_conv, "best_responses": list(distance.best_responses), "sets": sets}


def audit_learned(directory: Path, sample: int, seed: int) -> Iterator[tuple[str, bool]]:
    """What outcome sampling had learned in a random sample of rows, learned again as `audit` plays games again."""
    for row in _sample(read_rows(directory / LEARNED, LEARNED_KEY), sample, seed):
        search = OOSSearch(games.load(row["game"]), seed=row["seed"])
        search.run(row["iterations"])
        name, again = f"{row['game']}, seed {row['seed']}", learned_by(search)
        yield compare_fields(name, row, again, again, f"{row['iterations']:,} iterations")


def _versions(row: GameRow) -> str:
    """The end of a message: what played the game then and now, where that differs."""
    now = provenance()
    changed = [
        f"{key} was {value} and is {now.get(key)}"
        for key, value in row.get("provenance", {}).items()
        if value != now.get(key)
    ]
    return f" ({'; '.join(changed)})" if changed else ""
