"""NashConv in games whose trees nobody holds: of what Online Outcome Sampling has learned from the deal on, exact, by iterations.

    python -m experiments.studies.large_games learned experiments/runs/equilibrium/learned.jsonl
    python -m experiments.studies.large_games curve experiments/runs/equilibrium/learned.jsonl

The average policy is uniform where nothing is stored. Both players' best responses walk over beliefs (`icarus.equilibrium.beliefs`). A
search by ISMCTS has no such policy: it knows its own dice, and each decision of a match is another search.
"""

import itertools
import math
import time
from pathlib import Path

from experiments.commands import print_table
from experiments.run import LEARNED_KEY, learned_by, provenance
from experiments.statistics import student_mean
from experiments.studies.equilibrium_2015 import rows_of
from icarus import games
from icarus.arena.ledger import GameRow, Ledger, key_of
from icarus.commands.console import make_program, run_main
from icarus.equilibrium import OOSSearch
from icarus.views.document import Table

SEEDS = 10
LARGE = {
    "liars-dice(first=2, second=1)": (10_000, 100_000, 1_000_000, 10_000_000),
    "liars-dice(first=2, second=2)": (10_000, 100_000, 1_000_000),
}


def learned(out: Path, seeds: int = SEEDS) -> None:
    """Measure what outcome sampling has learned, a row for each seed and budget, and go on where a file ends."""
    with Ledger(out, LEARNED_KEY) as ledger:
        for game, seed in itertools.product(LARGE, range(seeds)):
            search = OOSSearch(games.load(game), seed=seed)
            for iterations in LARGE[game]:
                row: GameRow = {"game": game, "player": "OOS", "iterations": iterations, "seed": seed}
                started = time.process_time()
                search.run(iterations)
                if key_of(row, LEARNED_KEY) in ledger.rows:
                    continue
                between = time.process_time()
                row |= learned_by(search) | {"sampling": round(between - started, 2)}
                row |= {"walking": round(time.process_time() - between, 2), "provenance": provenance()}
                ledger.keep(row)


def curve(rows: Path) -> None:
    """Print NashConv by iterations: the mean over seeds with its 95 % interval."""
    values: dict[tuple[str, int], list[float]] = {}
    for row in rows_of(rows.parent, rows.name):
        values.setdefault((row["game"], row["iterations"]), []).append(row["nash_conv"])
    means = {key: student_mean(each, 0.0, math.inf) for key, each in values.items() if len(each) > 1}
    lines = tuple(
        (game, f"{iterations:,}", f"{mean.value:.3f} ± {mean.half:.3f}", str(len(values[game, iterations])))
        for (game, iterations), mean in means.items()
    )
    print_table(Table("NashConv by iterations; 95 % intervals", ("game", "iterations", "NashConv", "seeds"), lines))


app = make_program((learned, curve), "NashConv beyond small games.")

if __name__ == "__main__":
    run_main(app, "large_games")
