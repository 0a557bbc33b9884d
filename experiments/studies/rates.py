"""How fast searches are: iterations a second of strategies, as multiples of OpenSpiel's C++, of the baseline, and of another version.

A time on a shared machine means little; a quotient of two that were measured in the same round means more. So all have their turns, each
version in a process of its own. What is told is the median over the rounds, with the quartiles. Times are those of the processor.

    python -m experiments.studies.rates --games othello,hearts

The other version is in a folder of its own:

    git worktree add ../before a9af23f
    python -m experiments.studies.rates --before ../before --out experiments/runs/bench/versions.jsonl
"""

import importlib.util
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from experiments.commands import print_table, split_names
from icarus import games
from icarus.arena.ledger import write_whole
from icarus.commands.console import notes
from icarus.compiler import address_of, array_kernel, call
from icarus.kernel.contract import padded_to_words
from icarus.learning.encoding import empty_evaluation
from icarus.learning.fitting import with_random_weights
from icarus.learning.generations import UNITS
from icarus.learning.selfplay import games_played
from icarus.version import VERSION
from icarus.views.document import Table

GAMES = (
    "othello,checkers,backgammon,hearts,dou-di-zhu,lotr-confrontation,knockout-whist,phantom-mnk"
)
STRATEGIES = (
    "BASELINE,BASELINE >> MAST,BASELINE >> NAST2,BASELINE >> LGRF,BASELINE >> EPIC,RAVE,"
    "RAVE >> (MAST + LGRF + NAST2)/3"
)
PEER, EVALUATION = "OpenSpiel", "a learned evaluation"
KEPT = "RAVE >> MAST, a game with records kept"
BEFORE = "{}, before"  # a subject as the other version has it
COUNTERPARTS = {
    "othello": "othello",
    "checkers": "checkers",
    "backgammon": "backgammon",
    "hearts": "hearts(pass_cards=False)",
}
PEER_SHARE = 20  # of so many iterations OpenSpiel makes one, which is slower
EVALUATIONS = 20_000  # of a round
OPENING_SEED = 5
# What each version runs in a process of its own: seconds of an iteration for each strategy, then for all searches of a game.
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
    times.append((time.process_time() - began) / iterations)
def whole(each):
    agent = Agent(parse("RAVE >> MAST"), iterations=each, move_decay=1)
    began = time.process_time()
    play(game, [agent] * game.players, seed=seed)
    return (time.process_time() - began) / each
whole(5)
times.append(whole(iterations // 5))
print(json.dumps(times))
"""

Turn = Callable[[int], Mapping[str, float]]  # by a seed: seconds of an iteration of each subject
Times = Mapping[str, Sequence[float]]  # the same of all rounds


def in_turns(turns: Sequence[Turn], rounds: int, name: str) -> Times:
    """Measure in rounds, in which each has its turn."""
    times: dict[str, list[float]] = {}
    for seed in range(rounds):
        with notes.status(f"{name}: round {seed + 1} of {rounds}"):
            for turn in turns:
                for subject, seconds in turn(seed).items():
                    times.setdefault(subject, []).append(seconds)
    return times


def searches(
    version: Path, subject: str, game: str, iterations: int, strategies: Sequence[str], seed: int
) -> dict[str, float]:
    """Searches by a version in a folder, and a game whose records are kept.

    Args:
        subject: what each is called, with {} for its strategy.

    Raises:
        ValueError: the version cannot be run there.
    """
    command = [sys.executable, "-c", PROGRAM, game, str(iterations), str(seed), *strategies]
    environment = os.environ | {"PYTHONPATH": str(version)}
    run = subprocess.run(command, env=environment, cwd=version, capture_output=True, text=True)
    if run.returncode:
        lines = run.stderr.strip().splitlines() or [f"it ended with code {run.returncode}"]
        raise ValueError(f"{version} cannot be measured: {lines[-1]}")
    names = [subject.format(strategy) for strategy in (*strategies, KEPT)]
    return dict(zip(names, json.loads(run.stdout), strict=True))


def peer(name: str, iterations: int) -> Turn:
    """OpenSpiel's C++ search of the corresponding state with random rollouts: MCTS, and IS-MCTS in Hearts."""
    import pyspiel

    state = pyspiel.load_game(COUNTERPARTS[name]).new_initial_state()
    rng, simulations = random.Random(OPENING_SEED), max(1, iterations // PEER_SHARE)
    while state.is_chance_node() or len(state.legal_actions()) == 1:
        state.apply_action(rng.choice(state.legal_actions()))

    def turn(seed: int) -> dict[str, float]:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        if name == "hearts":
            policy = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
            bot = pyspiel.ISMCTSBot(seed, evaluator, 0.7, simulations, -1, policy, False, False)
        else:
            bot = pyspiel.MCTSBot(
                state.get_game(), evaluator, 0.7, simulations, 1000, False, seed, False
            )
        started = time.process_time()
        bot.step(state)
        return {PEER: (time.process_time() - started) / simulations}

    return turn


@array_kernel("a learned evaluation, again and again")
def evaluate_often(heuristic: int, state: np.ndarray, out: np.ndarray, count: int) -> int:
    """Evaluate a state so often, by the address of its game's heuristic."""
    for _ in range(count):
        call(heuristic, (address_of(state), address_of(out)))
    return count


def evaluation(name: str) -> Turn:
    """A learned evaluation of 64 hidden units, with random weights; what it takes once counts as an iteration."""
    state = games.load(name).new_initial_state(seed=OPENING_SEED)
    rules = state.game
    empty = empty_evaluation(rules, OPENING_SEED)
    positions = games_played(rules, empty, 200, (OPENING_SEED,))
    game = rules.with_evaluation(with_random_weights(empty, positions, UNITS, OPENING_SEED))
    out = np.zeros(game.players)
    words = padded_to_words(state.data)

    def turn(seed: int) -> dict[str, float]:
        started = time.process_time()
        evaluate_often(game.address("heuristic"), words, out, EVALUATIONS)
        return {EVALUATION: (time.process_time() - started) / EVALUATIONS}

    turn(0)  # compiles it
    return turn


def show(
    times_of: Mapping[str, Times], kind: str, references: Sequence[str], out: Path | None
) -> None:
    """Print how many iterations a second there are, and as multiples of references in the same rounds; write all times, if to a file.

    Args:
        kind: of what the times are given by.
        references: subjects, in which the subject beside them may be named.
        out: a file of JSON lines, the first of which tells of the machine.
    """
    about = {"processor": processor(), "python": platform.python_version(), "icarus": VERSION}
    rows, lines = list[list[str]](), [json.dumps(about)]
    for name, times in times_of.items():
        for subject, seconds in times.items():
            compared = [times.get(reference.format(subject)) for reference in references]
            multiples = [told(np.divide(each, seconds), ".2f") if each else "" for each in compared]
            rows.append([name, told(1 / np.array(seconds), ",.0f"), *multiples, subject])
            microseconds = [round(1e6 * each, 3) for each in seconds]
            lines.append(json.dumps({kind: name, "subject": subject, "microseconds": microseconds}))
    if out is not None:
        write_whole(out, "".join(f"{line}\n" for line in lines).encode())
    heads = [f"× {reference.format('the same')}" for reference in references]
    print_table(Table("", [kind, "per second", *heads, "subject"], rows))


def told(values: np.ndarray, form: str) -> str:
    """The median of values with the quartiles."""
    low, median, high = np.percentile(values, (25, 50, 75))
    return f"{median:{form}} ({low:{form}} to {high:{form}})"


def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())


def rates(
    names: Annotated[str, typer.Option("--games", help="Separated by commas.")] = GAMES,
    strategies: Annotated[str, typer.Option(help="Separated by commas.")] = STRATEGIES,
    iterations: Annotated[int, typer.Option(min=100, help="Of a search.")] = 5000,
    rounds: Annotated[int, typer.Option(min=1, help="In which each has its turn.")] = 7,
    before: Annotated[Path | None, typer.Option(help="Folder of another version.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for all times, as JSON lines.")] = None,
) -> None:
    """Print rates with their quartiles, and as multiples of OpenSpiel's, where it is installed, of BASELINE's, and of another version's."""
    here = Path(__file__).parents[2]
    times_of = {}
    for name in split_names(names):
        setting = name, iterations, split_names(strategies)
        turns: list[Turn] = [partial(searches, here, "{}", *setting), evaluation(name)]
        if before is not None:
            turns.append(partial(searches, before, BEFORE, *setting))
        if name in COUNTERPARTS and importlib.util.find_spec("pyspiel"):
            turns.append(peer(name, iterations))
        times_of[name] = in_turns(turns, rounds, name)
    show(times_of, "game", (PEER, "BASELINE", BEFORE), out)


if __name__ == "__main__":
    typer.run(rates)
