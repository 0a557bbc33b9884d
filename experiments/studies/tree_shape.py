"""How the shape of trees depends on the iterations: their depth, and the visits of the chosen action, in positions of a run's games.

    python -m experiments.studies.tree_shape experiments/runs/campaign/hearts --to experiments/runs/tree-shape/hearts.csv

Section 8.4 of the paper finds RAVE's trees a ply deeper, and more visits of NAST's chosen action. In positions of games between
baselines these two and the baseline search, each with 1,000 to 80,000 iterations. What is told is what they have more than the
baseline in the same position: plies, and per cent of visits, each with its 99 % interval.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import numpy as np

from experiments.play.matches import agent_of
from experiments.store import rows as store
from experiments.store.csv_values import read_values, write_values
from experiments.studies.correlation import baseline_games, positions_of
from icarus.discovery.race import difference

BASELINE, COMPARED = "-", ("R", "N")  # as Table 1 names them
ITERATIONS = (1000, 5000, 20_000, 80_000)


@attrs.frozen
class Shape:
    """The tree of an agent in a position.

    Attributes:
        depth: of its deepest node, in plies.
        visits: of the chosen action.
    """

    role: str
    position: int
    agent: str
    iterations: int
    depth: int
    visits: int


def shapes(directory: Path, positions: int, seed: int) -> Iterator[Shape]:
    """The trees of the baseline, RAVE and NAST in positions of the baseline's games."""
    experiment = store.experiment_in(directory)
    for baseline, rows, generator in baseline_games(directory, seed):
        cells = [
            cell for cell in experiment.cells if cell.column == baseline.column and cell.agent in (BASELINE, *COMPARED)
        ]
        for position, (state, _) in enumerate(positions_of(baseline, rows, positions, generator)):
            for cell in cells:
                for iterations in ITERATIONS:
                    result = agent_of(cell.spec, cell.module, iterations, None).search(state, (seed, position))
                    role = str(baseline.column.role or "")
                    yield Shape(role, position, cell.agent, iterations, result.depth, int(result.visits.max()))


def lines(measured: Sequence[Shape]) -> Iterator[str]:
    """What RAVE and NAST have more than the baseline, a line for each number of iterations."""
    trees = {(each.role, each.agent, each.iterations, each.position): each for each in measured}
    for role in sorted({each.role for each in measured}):
        for agent in COMPARED:
            for iterations in ITERATIONS:
                pairs = [
                    (tree, trees[role, BASELINE, iterations, tree.position])
                    for tree in measured
                    if (tree.role, tree.agent, tree.iterations) == (role, agent, iterations)
                ]
                depth = difference([tree.depth - usual.depth for tree, usual in pairs])
                more = difference([tree.visits / usual.visits - 1 for tree, usual in pairs])
                low, high = more.interval(limit=math.inf)
                mean = np.mean([usual.depth for _, usual in pairs])
                yield (
                    f"{role:10} {agent} {iterations:6} iterations, {len(pairs)} positions: depth {mean:.2f} and {depth}; "
                    f"visits {more.mean:+.1%} [{low:+.1%}, {high:+.1%}]"
                )


def main() -> None:
    """Measure what is not measured yet, and print it."""
    parser = argparse.ArgumentParser(description="Measure how the shape of trees depends on the iterations.")
    parser.add_argument("run", type=Path, help="the directory of a run with its games")
    parser.add_argument("--to", type=Path, required=True, help="a CSV file; an existing file is read")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if not arguments.to.exists():
        measured = list(shapes(arguments.run, arguments.positions, arguments.seed))
        arguments.to.parent.mkdir(parents=True, exist_ok=True)
        write_values(arguments.to, Shape, measured)
    print("\n".join(lines(read_values(arguments.to, Shape))))


if __name__ == "__main__":
    main()
