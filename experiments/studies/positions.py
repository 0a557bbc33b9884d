"""What searches say in positions of kept games: correlations of values, choices without games, and the shapes of trees.

`correlation`: section 6 explains enhancements by correlation: they share information where values go together. In positions of kept games
whoever is to move has several actions. What each is worth now is its mean reward at the root of a search whose playouts are random
throughout. What an enhancement would say of it is the mean reward of its record wherever else in these playouts it was captured: of
(action, player), which MAST keeps and AMAF uses at the root, and of the position in an episode, which EPIC keeps. Two searches of each
position tell how much of either is noise.

`conjecture`: beside these correlations stands the gain in games: the mean reward less the baseline's, by the rows of the run that has most
games there. Kendall's tau over the games tells whether they go together; p is exact, two-sided, over all orders.

`screening`: in positions every agent of the run searches for a short time. A long search by the baseline, exploring much, judges what each
would play. Kendall's tau says how well this ranking and that by games agree; its interval is from positions and games drawn again.

`shapes`: section 8.4 finds RAVE's trees a ply deeper, and more visits of NAST's chosen action. Told is what the two have more than the
baseline in the same position with 1,000 to 80,000 iterations: plies, and per cent of visits, each with its 99 % interval.

    python -m experiments.studies.positions correlation experiments/runs/correlation/rehearsal.csv
    python -m experiments.studies.positions conjecture experiments/runs/correlation/rehearsal.csv experiments/runs/{rehearsal,campaign}
    python -m experiments.studies.positions screening experiments/runs/campaign/othello --to experiments/runs/screening/baseline
    python -m experiments.studies.positions shapes experiments/runs/tree-shape/hearts.csv

print what committed rows say; commit a9af23f has what measured them.
"""

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas
import typer
from scipy.stats import kendalltau

from experiments import results as store
from experiments.commands import print_table
from experiments.plan.refusal import Refusal
from experiments.results import runs_in
from experiments.verdicts import place_title
from icarus.commands.console import make_program, run_main
from icarus.statistics import Estimate, mean_of
from icarus.views.document import Table


def read_values(path: Path, types: Mapping[str, type]) -> Any:
    """The rows of a CSV file as a data frame.

    Args:
        types: of its columns, by their names.

    Raises:
        Refusal: it has other columns.
    """
    frame = pandas.read_csv(path, dtype=types, keep_default_na=False)
    if list(frame) != list(types):
        raise Refusal(
            f"{path} was not written by this command: it does not begin with {','.join(types)}"
        )
    return frame


# What one half of the playouts says of an action in a position: its mean reward at the root is `now`, that of its record elsewhere `later`;
# how often that was captured is `count`.
SHARED = {
    "game": str,
    "role": str,
    "position": int,
    "half": int,
    "kind": str,
    "action": int,
    "now": float,
    "later": float,
    "count": int,
}
ACTION, POSITION = "action", "position in episode"  # kinds of records
FEWEST_ACTIONS = 3  # of a position
FEWEST = 20  # captures of a record elsewhere, in each half
# times, for the interval
RESAMPLED = 1000
QUANTILES = (0.025, 0.975)
LEAST = 0.005  # standard deviation of values below which there is nothing to be told apart

Correlation = tuple[int, float, float, Estimate]  # see `correlation_of`


def correlation_of(shared: Any) -> Correlation:
    """The correlation of values now and later over the actions of positions, centred within each: of one game and one kind of record.

    Args:
        shared: a data frame with the columns `SHARED`.

    Returns:
        How many positions have enough actions, the standard deviations of the true values now and later, and the correlation of these with
        its 95 % interval, from positions drawn again; nan where the values hardly differ.
    """
    halves = shared.pivot(
        index=["position", "action"], columns="half", values=["now", "later", "count"]
    ).dropna()
    now = halves["now"]
    by_position = now.groupby("position")
    others = (by_position.transform("sum") - now) / (by_position.transform("count") - 1)
    # less what is to be expected of playouts that begin with the other actions
    later = halves["later"] - others
    captured = halves["count"].min(axis=1) >= FEWEST
    enough = captured & (captured.groupby("position").transform("sum") >= FEWEST_ACTIONS)
    now = now[enough] - now[enough].groupby("position").transform("mean")
    later = later[enough] - later[enough].groupby("position").transform("mean")
    # The noise of the two halves is independent.
    products = now[0] * now[1], later[0] * later[1], (now[0] * later[1] + now[1] * later[0]) / 2
    sums = pandas.concat(products, axis=1).groupby("position").sum().to_numpy()
    count = len(sums)
    if count == 0:
        return 0, np.nan, np.nan, Estimate(np.nan, np.nan, np.nan)
    totals = sums.sum(axis=0)
    freedom = enough.sum() - count
    spread_now, spread_later = np.sqrt(np.maximum(totals[:2], 0) / freedom).tolist()
    if min(spread_now, spread_later) < LEAST:
        return count, spread_now, spread_later, Estimate(np.nan, np.nan, np.nan)
    resampled = sums[np.random.default_rng(1).integers(count, size=(RESAMPLED, count))].sum(axis=1)
    interval = np.nanquantile(_quotients(resampled), QUANTILES).tolist()
    return count, spread_now, spread_later, Estimate(float(_quotients(totals)), *interval)


def _quotients(sums: np.ndarray) -> np.ndarray:
    """Correlations from sums of products [..., 3]: now × now, later × later, now × later; nan where noise hides all there is."""
    now, later, together = np.moveaxis(sums, -1, 0)
    squares = np.where((now > 0) & (later > 0), now * later, np.nan)
    return np.clip(together / np.sqrt(squares), -1, 1)


def correlations(path: Path) -> dict[tuple[str, str, str], Correlation]:
    """The correlation of each game, role and kind of record."""
    by_kind = read_values(path, SHARED).groupby(["game", "role", "kind"], sort=False)
    return {key: correlation_of(rows) for key, rows in by_kind}


def correlation(path: Path) -> None:
    """Print the correlations of values in positions of a run, or of a folder of runs."""
    lines = []
    for (game, role, kind), (count, now, later, estimate) in correlations(path).items():
        numbers = (
            f"{now:.3f}",
            f"{later:.3f}",
            f"{estimate.value:+.2f}",
            f"{estimate.low:+.2f} to {estimate.high:+.2f}",
        )
        texts = ("" if "nan" in number else number for number in numbers)
        lines.append([place_title((game, role)), kind, str(count), *texts])
    caption = (
        "Values of actions now, and of their records elsewhere in random playouts: standard deviations over the actions of a position, and "
        "their correlation, both without noise; 95 % intervals by drawing positions again."
    )
    header = ["Game", "Record", "Positions", "now", "elsewhere", "Correlation", "95 % interval"]
    print_table(Table(caption, header, lines))


# ------------------------------------------------------------------------------------------------ choices without games

# agents of section 8
SHARES = {"R": ACTION, "M": ACTION, "ε-greedy": ACTION, "UCB1": ACTION, "EPIC": POSITION}
BASELINE = "-"
Seat = tuple[str, str, str]  # game, role and agent


def rewards(run: Path) -> dict[Seat, np.ndarray]:
    """The rewards of each agent in each game and role, by the games of a run."""
    received = defaultdict[Seat, list[float]](list)
    for row in store.rows(run, store.experiment_in(run)):
        received[row["game"], row["role"] or "", row["agent"]].append(row["reward"])
    return {key: np.array(values) for key, values in received.items()}


def gains(directories: Sequence[Path]) -> dict[Seat, tuple[int, float, float]]:
    """What each agent gets more than the baseline, by the run that has most games of it: games, mean, and standard error."""
    best: dict[Seat, tuple[int, float, float]] = {}
    for run in itertools.chain.from_iterable(map(runs_in, directories)):
        received = rewards(run)
        for seat, won in received.items():
            usual = received.get((*seat[:2], BASELINE), np.array([]))
            games = min(len(won), len(usual))
            most = best[seat][0] if seat in best else 1  # one game has no variance
            if games > most:
                error = np.sqrt(won.var(ddof=1) / len(won) + usual.var(ddof=1) / len(usual))
                best[seat] = games, float(won.mean() - usual.mean()), float(error)
    return best


def conjecture(correlations_file: Path, runs: list[Path]) -> None:
    """Print the games, the strongest correlation first, and tau for each agent."""
    by_kind, measured = correlations(correlations_file), gains(runs)
    for agent, shared in SHARES.items():
        both = []
        for (game, role, kind), (*_, estimate) in by_kind.items():
            gain = measured.get((game, role, agent))
            if kind == shared and gain and not np.isnan(estimate.value):
                both.append((estimate.value, f"{game} {role}".strip(), gain))
        both.sort(key=lambda pair: -pair[0])
        result = kendalltau([value for value, _, _ in both], [gain[1] for _, _, gain in both])
        print(
            f"{agent}: tau {result.statistic:+.2f}, p = {result.pvalue:.2g}, {len(both)} games and roles"
        )
        for value, name, (games, mean, error) in both:
            print(f"  {name:24} {value:+.2f}   gain {mean:+.3f} ± {error:.3f} ({games} games)")


TOP = 5
# by the judge, of what an agent would play in a position
SCREENED = {"role": str, "agent": str, "position": int, "value": float}


def agreement(
    screened: Any, played: Mapping[tuple[str, str], np.ndarray], role: str
) -> dict[str, float]:
    """How well the ranking by positions agrees with that by games in one role; the baseline is not among them.

    Args:
        screened: a data frame with the columns `SCREENED`.
        played: rewards in games, by role and agent.

    Returns:
        agents: how many are ranked; tau, low, high: Kendall's, with its interval, for which positions and games are drawn again together;
        top: the mean gain in games of the five that positions rank highest, less that of all.
    """
    ranked = screened[(screened["role"] == role) & (screened["agent"] != BASELINE)]
    values = {name: rows["value"].to_numpy() for name, rows in ranked.groupby("agent")}
    games = [played[role, name] for name in values]
    generator, taus = np.random.default_rng(0), list[float]()
    predicted = [float(each.mean()) for each in values.values()]
    measured = [float(each.mean()) for each in games]
    positions = len(next(iter(values.values())))
    for _ in range(RESAMPLED):
        resampled = generator.integers(positions, size=positions)
        by_positions = [each[resampled].mean() for each in values.values()]
        by_games = [generator.choice(each, len(each)).mean() for each in games]
        taus.append(float(kendalltau(by_positions, by_games).statistic))
    low, high = np.nanquantile(taus, QUANTILES).tolist()
    top = float(np.mean(np.array(measured)[np.argsort(predicted)[-TOP:]]) - np.mean(measured))
    tau = float(kendalltau(predicted, measured).statistic)
    return {"agents": len(values), "tau": tau, "low": low, "high": high, "top": top}


def screening(
    runs: list[Path],
    to: Annotated[
        Path,
        typer.Option(help="where measurements of each run lie, as RUN.csv; nothing is written"),
    ],
) -> None:
    """Print how well the ranking of the agents of runs from positions alone agrees with their games."""
    for run in runs:
        screened = read_values(to / f"{run.name}.csv", SCREENED)
        played = {(role, agent): received for (_, role, agent), received in rewards(run).items()}
        for role in sorted(set(screened["role"])):
            print(json.dumps({"run": run.name, "role": role, **agreement(screened, played, role)}))


# ----------------------------------------------------------------------------------------------------- shapes of trees

COMPARED = ("R", "N")  # as Table 1 names them
# plies; of the chosen action
SHAPE = {"role": str, "position": int, "agent": str, "iterations": int, "depth": int, "visits": int}


def lines(measured: Any) -> Iterator[str]:
    """What RAVE and NAST have more than the baseline, a line for each number of iterations.

    Args:
        measured: a data frame with the columns `SHAPE`.
    """
    keys = ["role", "iterations", "position"]
    usual = measured[measured["agent"] == BASELINE]
    for agent in COMPARED:
        pairs = measured[measured["agent"] == agent].merge(usual, on=keys, suffixes=("", "_usual"))
        for (role, iterations), trees in pairs.groupby(["role", "iterations"]):
            depth = mean_of(trees["depth"] - trees["depth_usual"], -math.inf, math.inf, 0.99)
            more = mean_of(trees["visits"] / trees["visits_usual"] - 1, -1.0, math.inf, 0.99)
            yield (
                f"{role:10} {agent} {iterations:6} iterations, {len(trees)} positions: depth {trees['depth_usual'].mean():.2f} and "
                f"{depth:+.3f}; visits {more:+.1%}"
            )


def shapes(path: Path) -> None:
    """Print what trees have more than the baseline's in positions of a run."""
    print("\n".join(lines(read_values(path, SHAPE))))


app = make_program(
    (correlation, conjecture, screening, shapes), "What searches say in positions of kept games."
)

if __name__ == "__main__":
    run_main(app, "positions")
