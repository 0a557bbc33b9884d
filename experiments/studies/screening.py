"""Which enhancement helps, told from positions alone, before a game is played: does the ranking agree with the games?

    python -m experiments.studies.screening experiments/runs/campaign/othello --to experiments/runs/screening

In positions of a run's kept games every agent of the run searches for a short time. A long search by the baseline, exploring much, judges
what each would play: its *gain* is the value of its choice less that of the baseline's. Beside it stands the gain in the
games: the mean reward less the baseline's. Kendall's tau says how well the two rankings agree; its interval is from positions and
games drawn again. So much for the paper's conjecture that enhancements can be chosen by what they know.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
from scipy.stats import kendalltau

from experiments.play.matches import agent_of
from experiments.store import rows as store
from experiments.store.csv_values import read_values, write_values
from experiments.studies.conjecture import BASELINE, rewards
from experiments.studies.correlation import baseline_games, positions_of
from icarus import State, parse, search

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
    parser.add_argument(
        "--to", type=Path, required=True, help="a directory for a CSV file of each run; an existing file is read"
    )
    parser.add_argument("--positions", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=1000, help="iterations of each agent in each position")
    parser.add_argument("--judge", default=JUDGE, help="the strategy of the search that judges")
    parser.add_argument("--judged", type=int, default=50_000, help="iterations of that search")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
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
