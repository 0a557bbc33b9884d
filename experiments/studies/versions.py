"""Whether this version searches faster than another: both in turns on one machine, by the processor time of an iteration.

The other one is in a folder of its own:

    git worktree add ../before a9af23f
    python -m experiments.studies.versions ../before --out experiments/runs/bench/versions.json
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from experiments.commands import print_table, split_names
from experiments.studies.rates import STRATEGIES
from icarus.arena.ledger import write_whole
from icarus.commands.console import notes
from icarus.version import VERSION
from icarus.views.document import Table

GAMES = (
    "othello,checkers,backgammon,hearts,dou-di-zhu,lotr-confrontation,knockout-whist,phantom-mnk"
)
KEPT = "RAVE >> MAST, a game with records kept"
HERE = Path(__file__).parents[2]
# What each version runs in a process of its own: microseconds of an iteration for each strategy, then for a game with records kept.
PROGRAM = """
import json, random, sys, time
from icarus import Agent, games, parse, play, search
name, iterations, seed, strategies = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
game, rng = games.load(name), random.Random(5)
state = game.new_initial_state(seed=5)
least = 13 if name == "hearts" else 0
while state.is_chance_node() or len(state.legal_actions()) == 1 or len(state.history) < least:
    state.apply_action(rng.choice(state.legal_actions()))
times = []
for strategy in map(parse, strategies):
    search(state, strategy, iterations=iterations, seed=seed)  # compiles and loads what it needs
    began = time.process_time()
    search(state, strategy, iterations=iterations, seed=seed)
    times.append(1e6 * (time.process_time() - began) / iterations)
def whole(each):
    agent = Agent(parse("RAVE >> MAST"), iterations=each, move_decay=1)
    began = time.process_time()
    play(game, [agent] * game.players, seed=seed)
    return time.process_time() - began
whole(5)
times.append(whole(iterations // 5))
print(json.dumps(times))
"""


def measured(version: Path, game: str, iterations: int, seed: int) -> list[float]:
    """Microseconds of an iteration for each strategy by a version in a folder, and seconds of a game with records kept.

    Raises:
        ValueError: the version cannot be run there.
    """
    command = [sys.executable, "-c", PROGRAM, game, str(iterations), str(seed), *STRATEGIES]
    environment = os.environ | {"PYTHONPATH": str(version)}
    run = subprocess.run(command, env=environment, cwd=version, capture_output=True, text=True)
    if run.returncode:
        raise ValueError(f"{version} cannot be measured: {run.stderr.strip().splitlines()[-1]}")
    times: list[float] = json.loads(run.stdout)
    return times


def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())


def versions(
    before: Annotated[Path, typer.Argument(help="Folder of the other version.")],
    out: Annotated[Path | None, typer.Option(help="File for all times, as JSON.")] = None,
    names: Annotated[str, typer.Option("--games", help="Separated by commas.")] = GAMES,
    iterations: Annotated[int, typer.Option(min=100, help="Of a search.")] = 5000,
    rounds: Annotated[int, typer.Option(min=1, help="In which each version has its turn.")] = 7,
) -> None:
    """Print how many times as fast this version is: the median of the rounds, and the quartiles."""
    rows, cells = [], []
    for game in split_names(names):
        times = []
        for seed in range(rounds):
            with notes.status(f"{game}: round {seed + 1} of {rounds}"):
                times.append([measured(each, game, iterations, seed) for each in (before, HERE)])
        for strategy, (old, new) in zip(
            (*STRATEGIES, KEPT), np.array(times).transpose(2, 1, 0), strict=True
        ):
            low, median, high = np.percentile(old / new, (25, 50, 75))
            rows.append((game, f"{median:.2f}", f"{low:.2f} to {high:.2f}", strategy))
            cells.append(
                {"game": game, "strategy": strategy, "before": old.tolist(), "now": new.tolist()}
            )
    if out is not None:
        about = {"processor": processor(), "python": platform.python_version(), "icarus": VERSION}
        write_whole(out, json.dumps({"machine": about, "cells": cells}, indent=1).encode())
    print_table(Table("", ("game", "times as fast", "quartiles", "strategy"), rows))


if __name__ == "__main__":
    typer.run(versions)
