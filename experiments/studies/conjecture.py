"""Section 6's conjecture, tested over games: where values go together, do the enhancements that share them help?

    python -m experiments.studies.conjecture CORRELATIONS.csv experiments/runs/rehearsal experiments/runs/campaign

Each game and role has a correlation of its own for what RAVE and MAST share, (action, player), and for what EPIC shares, the position in an
episode (`studies.correlation`). Beside it stands the gain in games: the mean reward less the baseline's, by the rows of the run that has
most games there. Kendall's tau over the games tells whether they go together; p is exact, two-sided, over all orders.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
from scipy.stats import kendalltau

from experiments.store import rows as store
from experiments.store.csv_values import read_values
from experiments.store.results import runs_in
from experiments.studies.correlation import ACTION, POSITION, Shared, correlation

SHARES = {"R": ACTION, "M": ACTION, "ε-greedy": ACTION, "UCB1": ACTION, "EPIC": POSITION}  # agents of section 8
BASELINE = "-"
Column = tuple[str, str]  # game and role


@attrs.frozen
class Gain:
    """What an agent gets more than the baseline, with the standard error."""

    mean: float
    error: float
    games: int


def rewards(run: Path) -> dict[tuple[Column, str], np.ndarray]:
    """The rewards of each agent in each game and role, by the games of a run."""
    received = defaultdict[tuple[Column, str], list[float]](list)
    for row in store.rows(run, store.experiment_in(run)):
        received[(row["game"], row["role"] or ""), row["agent"]].append(row["reward"])
    return {key: np.array(values) for key, values in received.items()}


def gains(directories: Sequence[Path]) -> dict[tuple[Column, str], Gain]:
    """The gain of each agent in each game, by the run that has most games of it."""
    best: dict[tuple[Column, str], Gain] = {}
    for run in (run for directory in directories for run in runs_in(directory)):
        received = rewards(run)
        for (column, agent), rewards_of_agent in received.items():
            base = received.get((column, BASELINE), np.array([]))
            games = min(len(rewards_of_agent), len(base))
            previous = best.get((column, agent))
            if games > 1 and (previous is None or previous.games < games):
                error = float(
                    np.sqrt(rewards_of_agent.var(ddof=1) / len(rewards_of_agent) + base.var(ddof=1) / len(base))
                )
                best[column, agent] = Gain(float(rewards_of_agent.mean() - base.mean()), error, games)
    return best


def correlations(shared: Sequence[Shared]) -> dict[tuple[Column, str], float]:
    """The correlation of each game and kind of record, where it is defined."""
    by_kind = {}
    for column, kind in dict.fromkeys(((each.game, each.role), each.kind) for each in shared):
        result = correlation(each for each in shared if ((each.game, each.role), each.kind) == (column, kind))
        if result is not None and not np.isnan(result.value):
            by_kind[column, kind] = result.value
    return by_kind


def pairs(
    agent: str, by_kind: Mapping[tuple[Column, str], float], measured: Mapping[tuple[Column, str], Gain]
) -> list[tuple[Column, float, Gain]]:
    """What an agent's record correlates, and what it gains, in each game that has both."""
    return [
        (column, value, measured[column, agent])
        for (column, kind), value in by_kind.items()
        if kind == SHARES[agent] and (column, agent) in measured
    ]


def main() -> None:
    """Print the games, the strongest correlation first, and tau for each agent."""
    parser = argparse.ArgumentParser(description="Compare correlations with gains over games.")
    parser.add_argument("correlations", type=Path, help="a file that `experiments.studies.correlation` wrote")
    parser.add_argument("runs", nargs="+", type=Path)
    arguments = parser.parse_args()
    by_kind, measured = correlations(read_values(arguments.correlations, Shared)), gains(arguments.runs)
    for agent in SHARES:
        both = sorted(pairs(agent, by_kind, measured), key=lambda pair: -pair[1])
        result = kendalltau([value for _, value, _ in both], [gain.mean for *_, gain in both])
        print(f"{agent}: tau {result.statistic:+.2f}, p = {result.pvalue:.2g}, {len(both)} games and roles")
        for (game, role), value, gain in both:
            name = f"{game} {role}".strip()
            print(f"  {name:24} {value:+.2f}   gain {gain.mean:+.3f} ± {gain.error:.3f} ({gain.games} games)")


if __name__ == "__main__":
    main()
