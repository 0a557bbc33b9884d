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

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import attrs
import numpy as np
import typer
from scipy.stats import kendalltau

from experiments import results as store
from experiments.commands import print_table
from experiments.plan.definition import Refusal, game_title
from experiments.results import runs_in
from icarus.commands.console import make_program, run_main
from icarus.discovery.race import difference
from icarus.views.document import Table

V = TypeVar("V", bound=attrs.AttrsInstance)


def read_values(path: Path, kind: type[V]) -> list[V]:
    """What a CSV file holds under the names of the attributes.

    Raises:
        Refusal: it holds something else.
    """
    types: dict[str, Any] = {attribute.name: attribute.type for attribute in attrs.fields(kind)}
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = [*csv.reader(file)] or [[]]
    if header != list(types):
        raise Refusal(f"{path} was not written by this command: it does not begin with {','.join(types)}")
    return [kind(*(read(text) for read, text in zip(types.values(), line, strict=True))) for line in lines]


ACTION, POSITION = KINDS = ("action", "position in episode")
HALVES = 2
FEWEST_ACTIONS = 3  # of a position


@attrs.frozen
class Shared:
    """What one half of the playouts says of an action in a position.

    Attributes:
        position: a number of the position.
        now: its mean reward at the root.
        later: the mean reward of its record elsewhere; how often that was captured is `count`.
    """

    game: str
    role: str
    position: int
    half: int
    kind: str
    action: int
    now: float
    later: float
    count: int


FEWEST = 20  # captures of a record elsewhere, in each half
RESAMPLED, QUANTILES = 1000, (0.025, 0.975)  # times, for the interval
LEAST = 0.005  # standard deviation of values below which there is nothing to be told apart

Sums = np.ndarray  # of products over the actions of a position: now × now, later × later, now × later. [3]


@attrs.frozen
class Correlation:
    """Over the actions of positions, centred within each.

    Attributes:
        positions: how many.
        now, later: standard deviations of the true values.
        value, low, high: their correlation with its 95 % interval, from positions drawn again; nan where the values hardly differ.
    """

    positions: int
    now: float
    later: float
    value: float
    low: float
    high: float


def correlation_of(shared: Iterable[Shared]) -> Correlation | None:
    """That of one game and one kind of record; None where no position has enough actions."""
    positions: dict[int, dict[int, dict[int, Shared]]] = {}
    for each in shared:
        positions.setdefault(each.position, {}).setdefault(each.action, {})[each.half] = each
    sums, actions = [], 0
    for by_action in positions.values():
        both = [halves for halves in by_action.values() if len(halves) == HALVES]
        captured = [halves for halves in both if min(half.count for half in halves.values()) >= FEWEST]
        if len(captured) >= FEWEST_ACTIONS:
            sums.append(_products(captured, both))
            actions += len(captured) - 1
    if not sums:
        return None
    whole = np.array(sums)
    generator = np.random.default_rng(1)
    resampled = whole[generator.integers(len(whole), size=(RESAMPLED, len(whole)))].sum(axis=1)
    now, later = np.sqrt(np.maximum(whole.sum(axis=0)[:2], 0) / actions)
    if min(now, later) < LEAST:
        return Correlation(len(whole), float(now), float(later), np.nan, np.nan, np.nan)
    low, high = np.nanquantile(_of(resampled), QUANTILES)
    return Correlation(len(whole), float(now), float(later), float(_of(whole.sum(axis=0))), float(low), float(high))


def _of(sums: np.ndarray) -> np.ndarray:
    """Correlations from sums of products [..., 3]; nan where noise hides all there is."""
    now, later, together = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(together / np.sqrt(np.where((now > 0) & (later > 0), now * later, np.nan)), -1, 1)


def _products(captured: Sequence[Mapping[int, Shared]], all_actions: Sequence[Mapping[int, Shared]]) -> Sums:
    """Products across halves, whose noise is independent, over the actions of a position."""
    now, later = (
        np.array([[_value(halves[half], name, all_actions) for halves in captured] for half in range(HALVES)])
        for name in ("now", "later")
    )
    now, later = (values - values.mean(axis=1, keepdims=True) for values in (now, later))
    return np.array(
        [(now[0] * now[1]).sum(), (later[0] * later[1]).sum(), (now[0] * later[1] + now[1] * later[0]).sum() / 2]
    )


def _value(shared: Shared, name: str, all_actions: Sequence[Mapping[int, Shared]]) -> float:
    """The value now, or that elsewhere less what is to be expected of playouts that begin with the other actions."""
    if name == "now":
        return shared.now
    others = [halves[shared.half].now for halves in all_actions if halves[shared.half].action != shared.action]
    return shared.later - sum(others) / len(others)


def correlation_table(shared: Sequence[Shared]) -> Table:
    """A line for each game and kind of record."""
    lines = []
    for game, role in dict.fromkeys((each.game, each.role) for each in shared):
        for kind in KINDS:
            result = correlation_of(each for each in shared if (each.game, each.role, each.kind) == (game, role, kind))
            title = game_title(game) + (f" ({role})" if role else "")
            lines.append([title, kind, *(_texts(result) if result else ("0", "", "", "", ""))])
    return Table(
        "Values of actions now, and of their records elsewhere in random playouts: standard deviations over the actions of a position, and "
        "their correlation, both without noise; 95 % intervals by drawing positions again.",
        ["Game", "Record", "Positions", "now", "elsewhere", "Correlation", "95 % interval"],
        lines,
    )


def _texts(result: Correlation) -> tuple[str, ...]:
    value, interval = f"{result.value:+.2f}", f"{result.low:+.2f} to {result.high:+.2f}"
    texts = ("", "") if np.isnan(result.value) else (value, interval)
    return str(result.positions), f"{result.now:.3f}", f"{result.later:.3f}", *texts


def correlation(path: Path) -> None:
    """Print the correlations of values in positions of a run, or of a folder of runs."""
    print_table(correlation_table(read_values(path, Shared)))


# ------------------------------------------------------------------------------------------------ choices without games

SHARES = {"R": ACTION, "M": ACTION, "ε-greedy": ACTION, "UCB1": ACTION, "EPIC": POSITION}  # agents of section 8
BASELINE = "-"
GameRole = tuple[str, str]  # game and role


@attrs.frozen
class Gain:
    """What an agent gets more than the baseline, with the standard error."""

    mean: float
    error: float
    games: int


def rewards(run: Path) -> dict[tuple[GameRole, str], np.ndarray]:
    """The rewards of each agent in each game and role, by the games of a run."""
    received = defaultdict[tuple[GameRole, str], list[float]](list)
    for row in store.rows(run, store.experiment_in(run)):
        received[(row["game"], row["role"] or ""), row["agent"]].append(row["reward"])
    return {key: np.array(values) for key, values in received.items()}


def gains(directories: Sequence[Path]) -> dict[tuple[GameRole, str], Gain]:
    """The gain of each agent in each game, by the run that has most games of it."""
    best: dict[tuple[GameRole, str], Gain] = {}
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


def correlations(shared: Sequence[Shared]) -> dict[tuple[GameRole, str], float]:
    """The correlation of each game and kind of record, where it is defined."""
    by_kind = {}
    for column, kind in dict.fromkeys(((each.game, each.role), each.kind) for each in shared):
        result = correlation_of(each for each in shared if ((each.game, each.role), each.kind) == (column, kind))
        if result is not None and not np.isnan(result.value):
            by_kind[column, kind] = result.value
    return by_kind


def pairs(
    agent: str, by_kind: Mapping[tuple[GameRole, str], float], measured: Mapping[tuple[GameRole, str], Gain]
) -> list[tuple[GameRole, float, Gain]]:
    """What an agent's record correlates, and what it gains, in each game that has both."""
    return [
        (column, value, measured[column, agent])
        for (column, kind), value in by_kind.items()
        if kind == SHARES[agent] and (column, agent) in measured
    ]


def conjecture(correlations_file: Path, runs: list[Path]) -> None:
    """Print the games, the strongest correlation first, and tau for each agent."""
    by_kind, measured = correlations(read_values(correlations_file, Shared)), gains(runs)
    for agent in SHARES:
        both = sorted(pairs(agent, by_kind, measured), key=lambda pair: -pair[1])
        result = kendalltau([value for _, value, _ in both], [gain.mean for *_, gain in both])
        print(f"{agent}: tau {result.statistic:+.2f}, p = {result.pvalue:.2g}, {len(both)} games and roles")
        for (game, role), value, gain in both:
            name = f"{game} {role}".strip()
            print(f"  {name:24} {value:+.2f}   gain {gain.mean:+.3f} ± {gain.error:.3f} ({gain.games} games)")


TOP = 5


@attrs.frozen
class ScreenedChoice:
    """What an agent would play in a position.

    Attributes:
        value: of the chosen action, by the judge.
    """

    role: str
    agent: str
    position: int
    value: float


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


def agreement(screened: Sequence[ScreenedChoice], played: Mapping[tuple[str, str], np.ndarray], role: str) -> Agreement:
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
    low, high = np.nanquantile(taus, QUANTILES)
    best = np.argsort(predicted)[-TOP:]
    top = float(np.mean(np.array(measured)[best]) - np.mean(measured))
    return Agreement(role, len(names), float(kendalltau(predicted, measured).statistic), float(low), float(high), top)


def screening(
    runs: list[Path], to: Annotated[Path, typer.Option(help="the directory of a CSV file of each run")]
) -> None:
    """Print how well the ranking of the agents of runs from positions alone agrees with their games."""
    for run in runs:
        screened = read_values(to / f"{run.name}.csv", ScreenedChoice)
        played = {(role, agent): received for ((_, role), agent), received in rewards(run).items()}
        for role in sorted({each.role for each in screened}):
            print(json.dumps({"run": run.name, **attrs.asdict(agreement(screened, played, role))}))


# ----------------------------------------------------------------------------------------------------- shapes of trees

COMPARED = ("R", "N")  # as Table 1 names them
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
                depth = difference([tree.depth - usual.depth for tree, usual in pairs], -math.inf, math.inf)
                more = difference([tree.visits / usual.visits - 1 for tree, usual in pairs], -1.0, math.inf)
                low, high = more.interval()
                mean = np.mean([usual.depth for _, usual in pairs])
                yield (
                    f"{role:10} {agent} {iterations:6} iterations, {len(pairs)} positions: depth {mean:.2f} and {depth}; "
                    f"visits {more.mean:+.1%} [{low:+.1%}, {high:+.1%}]"
                )


def shapes(path: Path) -> None:
    """Print what trees have more than the baseline's in positions of a run."""
    print("\n".join(lines(read_values(path, Shape))))


app = make_program((correlation, conjecture, screening, shapes), "What searches say in positions of kept games.")

if __name__ == "__main__":
    run_main(app, "positions")
