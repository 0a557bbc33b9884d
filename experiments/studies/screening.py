"""Can enhancements be chosen without games? Two tests of the paper's last pages, on rows of the repository.

    python -m experiments.studies.screening --correlations CORRELATIONS.csv experiments/runs/rehearsal experiments/runs/campaign
    python -m experiments.studies.screening experiments/runs/campaign/othello --to experiments/runs/screening

Over games: each game and role has a correlation of its own for what RAVE and MAST share, (action, player), and for what EPIC shares, the
position in an episode (`studies.correlation`). Beside it stands the gain in games: the mean reward less the baseline's, by the rows of the
run that has most games there. Kendall's tau over the games tells whether they go together; p is exact, two-sided, over all orders.

Within a game: in positions of a run's kept games every agent of the run searches for a short time. A long search by the baseline, exploring
much, judges what each would play: its *gain* is the value of its choice less that of the baseline's. Beside it stands the gain in games.
Kendall's tau says how well the two rankings agree; its interval is from positions and games drawn again.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
from scipy.stats import kendalltau

from experiments.play.matches import agent_of
from experiments.store import rows as store
from experiments.store.csv_values import read_values, write_values
from experiments.store.results import runs_in
from experiments.studies.correlation import ACTION, POSITION, Shared, baseline_games, correlation, positions_of
from icarus import State, parse, search

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


def print_conjecture(correlations_file: Path, runs: Sequence[Path]) -> None:
    """Print the games, the strongest correlation first, and tau for each agent."""
    by_kind, measured = correlations(read_values(correlations_file, Shared)), gains(runs)
    for agent in SHARES:
        both = sorted(pairs(agent, by_kind, measured), key=lambda pair: -pair[1])
        result = kendalltau([value for _, value, _ in both], [gain.mean for *_, gain in both])
        print(f"{agent}: tau {result.statistic:+.2f}, p = {result.pvalue:.2g}, {len(both)} games and roles")
        for (game, role), value, gain in both:
            name = f"{game} {role}".strip()
            print(f"  {name:24} {value:+.2f}   gain {gain.mean:+.3f} ± {gain.error:.3f} ({gain.games} games)")


# ------------------------------------------------------------------------------------------------------------------ within a game

JUDGE = "baseline(exploration=2)"
RESAMPLED = 1000
CONFIDENCE = 0.95


@attrs.frozen
class Choice:
    """What an agent would play in a position.

    Attributes:
        value: of the chosen action, by the judge.
    """

    role: str
    agent: str
    position: int
    value: float


def choices(directory: Path, positions: int, iterations: int, judge: tuple[str, int], seed: int) -> Iterator[Choice]:
    """What each agent of a run would play in positions of the baseline's games, and what that is worth."""
    experiment = store.experiment_in(directory)
    for baseline, rows, generator in baseline_games(directory, seed):
        cells = [cell for cell in experiment.cells if cell.column == baseline.column]
        for position, (state, _) in enumerate(positions_of(baseline, rows, positions, generator)):
            value = judge_actions(state, judge, (seed, position))
            for cell in cells:
                choice = agent_of(cell.spec, cell.module, iterations, None).search(state, (seed, position)).action
                yield Choice(str(baseline.column.role or ""), cell.agent, position, round(value[choice], 6))


def judge_actions(state: State, judge: tuple[str, int], seed: Sequence[int]) -> Mapping[int, float]:
    """The value of each action of a position, by a long search: a strategy and its iterations."""
    strategy, iterations = judge
    result = search(state, parse(strategy), iterations=iterations, seed=tuple(seed))
    return dict(zip(result.actions, np.nan_to_num(result.values).tolist(), strict=True))


@attrs.frozen
class Agreement:
    """How well the ranking by positions agrees with that by games.

    Attributes:
        agents: ranked, the baseline not among them.
        tau, low, high: Kendall's, with its interval.
        top: the mean gain in games of the five that positions rank highest, less that of all.
    """

    role: str
    agents: int
    tau: float
    low: float
    high: float
    top: float


def agreement(screened: Sequence[Choice], played: Mapping[tuple[str, str], np.ndarray], role: str) -> Agreement:
    """The agreement in one role; positions and games are drawn again together for the interval."""
    names = sorted({each.agent for each in screened if each.role == role} - {BASELINE})
    values = {name: np.array([c.value for c in screened if c.role == role and c.agent == name]) for name in names}
    generator, taus = np.random.default_rng(0), list[float]()
    predicted = [float(values[name].mean()) for name in names]
    measured = [float(played[role, name].mean()) for name in names]
    positions = len(values[names[0]])
    for _ in range(RESAMPLED):
        resampled = generator.integers(positions, size=positions)
        by_positions = [values[name][resampled].mean() for name in names]
        by_games = [generator.choice(played[role, name], len(played[role, name])).mean() for name in names]
        taus.append(float(kendalltau(by_positions, by_games).statistic))
    low, high = np.nanquantile(taus, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    best = np.argsort(predicted)[-TOP:]
    top = float(np.mean(np.array(measured)[best]) - np.mean(measured))
    return Agreement(role, len(names), float(kendalltau(predicted, measured).statistic), float(low), float(high), top)


TOP = 5


def main() -> None:
    """Measure what is not measured yet, and print how well it agrees with the games."""
    parser = argparse.ArgumentParser(
        description="Rank a run's agents from positions alone, and compare with its games."
    )
    parser.add_argument("runs", nargs="+", type=Path, help="directories of runs with their games")
    parser.add_argument("--to", type=Path, help="a directory for a CSV file of each run; an existing file is read")
    parser.add_argument("--positions", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=1000, help="iterations of each agent in each position")
    parser.add_argument("--judge", default=JUDGE, help="the strategy of the search that judges")
    parser.add_argument("--judged", type=int, default=50_000, help="iterations of that search")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--correlations", type=Path, help="compare these, which studies.correlation wrote, with gains")
    arguments = parser.parse_args()
    if arguments.correlations:
        return print_conjecture(arguments.correlations, arguments.runs)
    if not arguments.to:
        parser.error("choices are kept in a directory: --to DIRECTORY")
    arguments.to.mkdir(parents=True, exist_ok=True)
    for run in arguments.runs:
        path = arguments.to / f"{run.name}.csv"
        if not path.exists():
            judge = (arguments.judge, arguments.judged)
            measured = choices(run, arguments.positions, arguments.iterations, judge, arguments.seed)
            write_values(path, Choice, list(measured))
        screened = read_values(path, Choice)
        played = {(role, agent): received for ((_, role), agent), received in rewards(run).items()}
        for role in sorted({each.role for each in screened}):
            print(json.dumps({"run": run.name, **attrs.asdict(agreement(screened, played, role))}))


if __name__ == "__main__":
    main()
