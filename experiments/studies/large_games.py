"""NashConv in games whose trees nobody holds: of what Online Outcome Sampling has learned from the deal on, exact, by iterations.

    python -m experiments.studies.large_games learned experiments/runs/equilibrium/learned.jsonl
    python -m experiments.studies.large_games curve experiments/runs/equilibrium/learned.jsonl
    python -m experiments.studies.large_games shares experiments/runs/equilibrium/shares.jsonl [--particles 12]
    python -m experiments.studies.large_games recovered experiments/runs/equilibrium/shares.jsonl
    python -m experiments.studies.large_games bounds experiments/runs/equilibrium/bounds.jsonl GAME [--particles 32 --matches 8]
    python -m experiments.studies.large_games sixteen experiments/runs/equilibrium/bounds.jsonl
    python -m experiments.studies.large_games seats experiments/runs/equilibrium/bounds.jsonl

The average policy is uniform where nothing is stored. Both players' best responses walk over beliefs (`icarus.equilibrium.beliefs`). A
search by ISMCTS has no such policy: it knows its own dice, and each decision of a match is another search. Local best responses bound
how exploitable it is from below (`icarus.equilibrium.local_best_response`); what share of NashConv they recover is measured where it is
exact.
"""

import functools
import itertools
import math
import statistics
import time
from pathlib import Path
from typing import Any

import attrs

from experiments.commands import print_table
from experiments.replay import LEARNED_KEY, learned_by
from experiments.run import provenance
from experiments.studies import equilibrium_2015 as factorial
from icarus import Agent, exploitability, games, parse
from icarus.arena.ledger import GameRow, Ledger
from icarus.commands.console import make_program, run_main
from icarus.equilibrium import CFRPlus, OOSSearch, TabularPolicy, local_best_response, tabulate
from icarus.equilibrium.tree import tree_of
from icarus.statistics import mean_of
from icarus.views.document import Table

SEEDS = 10
EXACT = (
    "kuhn-poker",
    "leduc-poker",
    "liars-dice(faces=4)",
    "liars-dice",
    "generic-poker",
    "goofspiel(cards=4)",
)
TARGETS = (
    *(f"CFR+ {k}" for k in (0, 2, 4, 8, 16, 32, 64, 128)),
    *(f"OOS {10**k}" for k in (3, 4, 5)),
    "BASELINE 100",
)
DEPTHS = (1, 2, 3)
SAMPLED = (("leduc-poker", "goofspiel(cards=4)"), TARGETS, DEPTHS[:2])  # by particles
LARGE = {
    "liars-dice(first=2, second=1)": (10_000, 100_000, 1_000_000, 10_000_000),
    "liars-dice(first=2, second=2)": (10_000, 100_000, 1_000_000),
}


def learned(out: Path, seeds: int = SEEDS) -> None:
    """Measure what outcome sampling has learned, a row for each seed and budget, and go on where a file ends.

    In a row, `sampling` is the seconds since the next smaller budget, `walking` those of the measurement.
    """
    with Ledger(out, LEARNED_KEY) as ledger:
        for game, seed in itertools.product(LARGE, range(seeds)):
            search = OOSSearch(games.load(game), seed=seed)
            for iterations in LARGE[game]:
                row: GameRow = {
                    "game": game,
                    "player": "OOS",
                    "iterations": iterations,
                    "seed": seed,
                }
                started = time.process_time()
                search.run(iterations)
                if row in ledger:
                    continue
                between = time.process_time()
                row |= learned_by(search)
                row["sampling"] = round(between - started, 2)
                row["walking"] = round(time.process_time() - between, 2)
                ledger.keep(row | {"provenance": provenance()})


def curve(rows: Path) -> None:
    """Print NashConv by iterations: the mean over seeds with its 95 % interval."""
    lines = []
    for (game, iterations), of_budget in factorial.grouped(
        factorial.rows_of(rows), "game", "iterations"
    ).items():
        if len(of_budget) > 1:
            mean = mean_of([row["nash_conv"] for row in of_budget], 0.0, math.inf)
            text = f"{mean.value:.3f} ± {mean.half:.3f}"
            lines.append((game, f"{iterations:,}", text, str(len(of_budget))))
    heads = "game", "iterations", "NashConv", "seeds"
    print_table(Table("NashConv by iterations; 95 % intervals", heads, lines))


@functools.lru_cache(maxsize=1)
def target_of(game: str, name: str) -> TabularPolicy:
    """A policy of the calibration: the uniform one, that of CFR+ or outcome sampling after some iterations, or of BASELINE in each set."""
    tree = tree_of(games.load(game))
    kind, iterations = name.split()
    if kind == "BASELINE":
        return tabulate(tree, Agent(parse(kind), iterations=int(iterations)))
    learner = OOSSearch(tree.game) if kind == "OOS" else CFRPlus(tree)
    if iterations != "0":
        learner.make(int(iterations))
    return learner.average


def shares(out: Path, particles: int | None = None) -> None:
    """Measure how much of NashConv local best responses recover, of policies from uniform to near equilibrium, in all matches: by exact
    beliefs, or in two games by particles."""
    with Ledger(out, ("game", "player", "depth", "particles")) as ledger:
        grid = (EXACT, TARGETS, DEPTHS) if particles is None else SAMPLED
        for game, name, depth in itertools.product(*grid):
            row: GameRow = {"game": game, "player": name, "depth": depth, "particles": particles}
            if row not in ledger:
                policy, loaded = target_of(game, name), games.load(game)
                bound = local_best_response(
                    loaded, policy, depth=depth, matches=None, particles=particles
                )
                row |= {
                    "nash_conv": exploitability(loaded, policy).nash_conv,
                    "bound": bound.nash_conv,
                }
                ledger.keep(row | {"questions": bound.questions, "provenance": provenance()})


def recovered(rows: Path) -> None:
    """Print the share that is recovered by depth, the median and the least over policies; a bound below 0 recovers nothing."""
    parts: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in factorial.rows_of(rows):
        share = max(row["bound"], 0.0) / row["nash_conv"]
        particles = str(row.get("particles") or "all")
        for game in (row["game"], "all"):
            parts.setdefault((game, particles), {}).setdefault(row["depth"], []).append(share)
    lines = []
    for key, of_depths in parts.items():
        texts = {
            depth: f"{statistics.median(each):.2f} ({min(each):.2f})"
            for depth, each in of_depths.items()
        }
        lines.append((*key, *(texts.get(depth, "") for depth in DEPTHS)))
    heads = (f"depth {depth}" for depth in DEPTHS)
    print_table(Table("Share recovered: median (least)", ("game", "particles", *heads), lines))


def bounds(
    out: Path,
    game: str,
    strategies: list[str] | None = None,
    iterations: int = 100,
    matches: int = 20,
    seeds: int = SEEDS,
    particles: int = 0,
) -> None:
    """Bound how exploitable the sixteen combinations, or these, are in a game, a row for each seed, and go on where a file ends."""
    with Ledger(out, (*LEARNED_KEY, "matches", "particles")) as ledger:
        for seed, name in itertools.product(range(seeds), strategies or factorial.SIXTEEN):
            settings: dict[str, Any] = {
                "seed": seed,
                "matches": matches,
                "particles": particles or None,
            }
            row: GameRow = {"game": game, "player": name, "iterations": iterations, **settings}
            if row not in ledger:
                agent, started = Agent(parse(name), iterations=iterations), time.process_time()
                bound = local_best_response(games.load(game), agent, **settings)
                row |= {
                    "bound": bound.estimate,
                    "lower": bound.lower,
                    "questions": bound.questions,
                    "depth": 1,
                    "gains": [*bound.best_responses],
                    "seconds": round(time.process_time() - started, 2),
                }
                ledger.keep(row | {"provenance": provenance()})


def sixteen(rows: Path) -> None:
    """Rank the sixteen combinations by their bounds, and print what each enhancement adds to them."""
    measured = factorial.rows_of(rows)
    cells = factorial.complete_cells({**row, "nash_conv": row["bound"]} for row in measured)
    table = factorial.ranking_table(cells)
    print_table(
        attrs.evolve(
            table,
            caption="Lower bounds of NashConv by local best responses, ranked as exact values are",
        )
    )
    print_table(factorial.effects_table(cells))


def seats(rows: Path) -> None:
    """Print what each seat gains by responding, and all on average, over seeds with 95 %; of two, NashConv is twice the latter."""
    measured = (row for row in factorial.rows_of(rows) if "gains" in row)
    lines = []
    for (game, player, iterations, particles), of_seeds in factorial.grouped(
        measured, "game", "player", "iterations", "particles"
    ).items():
        gains = [(*row["gains"], statistics.fmean(row["gains"])) for row in of_seeds]
        means = [mean_of(column, -math.inf, math.inf) for column in zip(*gains, strict=True)]
        text = " ".join(f"{mean.value:.3f} ± {mean.half:.3f}" for mean in means)
        lines.append((game, player, f"{iterations:,}", str(particles), text, str(len(of_seeds))))
    heads = "game", "player", "iterations", "particles", "gains", "seeds"
    print_table(Table("Gain of each seat, and of all on average", heads, lines))


app = make_program(
    (learned, curve, shares, recovered, bounds, sixteen, seats), "NashConv beyond small games."
)

if __name__ == "__main__":
    run_main(app, "large_games")
