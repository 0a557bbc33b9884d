"""Finders compared at equal games: how good is what each recommends, on landscapes whose truth is known?

    python -m experiments.discovery.finders smooth --games 4000 --repetitions 10 --first 100 --to FILE.csv
    python -m experiments.discovery.finders experiments/runs/discovery/landscape-phantom --games 4000
    python -m experiments.discovery.finders --rows experiments/runs/discovery/finders-*.csv

A synthetic landscape has 7,200 compositions of 8 factors and draws Bernoulli games. The logit of a composition's win rate is a sum of
main effects, effects of pairs, and what no factor explains; "smooth" and "rough" differ in how much each counts. A real landscape is a
random sample of a space, each configuration in the same games (`experiments.discovery.landscape`): what is recommended is judged by
half of the deals, the other half are drawn from, again and again, for the games of the search; a draw is the mean over both seats.
The third command plays nothing: it tells what files of rows say, each and together.
"""

import argparse
import csv
import functools
import itertools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs
import numpy as np

from experiments.analysis.statistics import student_mean
from experiments.discovery.competitors import NTBEA, TPE, RandomSearch
from experiments.discovery.landscape import Landscape, read_landscape
from experiments.plan.definition import Refusal
from experiments.store.csv_values import csv_of
from icarus.discovery.finders import Evolution, Factorial, Halving
from icarus.discovery.space import Point, Space
from icarus.row_files import written_whole

SIZES = (5, 5, 4, 3, 3, 2, 2, 2)
KINDS = {
    "smooth": (0.09, 0.06, 0.03),
    "rough": (0.06, 0.03, 0.10),
}  # standard deviations of main, pair and unexplained effects
FINDERS: dict[str, Callable[..., Any]] = {
    "factorial": Factorial,
    "halving": Halving,
    "evolution": Evolution,
    "random": RandomSearch,
    "NTBEA": NTBEA,
    "NTBEA, 5 runs and a final": lambda space, budget, seed: NTBEA(space, budget, seed, repeats=5),
    "TPE and replay": TPE,
}
Row: TypeAlias = dict[str, Any]  # what a finder came to on a landscape: finder, seed and what is MEASURED
MEASURED = ("rate", "regret", "seconds")  # of a row


class World(Protocol):
    """What can be searched, and says afterwards how good a point is."""

    @property
    def space(self) -> Space:
        """What can be searched."""

    def play(self, points: list[Point], rng: np.random.Generator) -> list[float]:
        """A game for each point of a batch, all on the same deal; each repetition of a point has another deal."""

    def truth(self, point: Point) -> float:
        """The win rate of a point."""

    def best(self) -> float:
        """The win rate of the best point."""


class Synthetic:
    """A landscape of the generator, with the win rate of every point."""

    def __init__(self, kind: str, seed: int) -> None:
        rng, (main, pair, rest) = np.random.default_rng((seed, 7)), KINDS[kind]
        names = [f"f{k}" for k in range(len(SIZES))]
        factors = {name: tuple(map(str, range(size))) for name, size in zip(names, SIZES, strict=True)}
        self.space = Space(kind, {"strategy": " ".join(f"{{{name}}}" for name in names)}, factors)
        logits = rng.normal(0, rest, SIZES)
        for axes, deviation in [((k,), main) for k in range(len(SIZES))] + [
            (axes, pair) for axes in itertools.combinations(range(len(SIZES)), 2)
        ]:
            shape = [size if k in axes else 1 for k, size in enumerate(SIZES)]
            logits = logits + rng.normal(0, deviation, shape)
        self.rates = 1 / (1 + np.exp(-logits))

    def play(self, points: list[Point], rng: np.random.Generator) -> list[float]:
        return [float(rng.random() < self.rates[point]) for point in points]

    def truth(self, point: Point) -> float:
        return float(self.rates[point])

    def best(self) -> float:
        return float(self.rates.max())


@attrs.frozen(eq=False)
class ListedSpace(Space):
    """A space of which only some points are there: a random one is one of them, and neighbours are the nearest."""

    listed: tuple[Point, ...] = ()

    @functools.cached_property
    def _table(self) -> np.ndarray:
        """The same as an array [points, factors], made once: NTBEA asks for fifty neighbours after each game."""
        return np.array(self.listed)

    def nearest(self, levels: Sequence[int]) -> int:
        """The index of the nearest of the points that are there."""
        return int(np.argmax((self._table == np.array(levels)).sum(1)))

    def canonical(self, levels: Sequence[int]) -> Point:
        """The nearest of the points that are there."""
        return self.listed[self.nearest(levels)]

    def sample(self, rng: np.random.Generator) -> Point:
        """One of the points that are there."""
        return self.listed[int(rng.integers(len(self.listed)))]

    def neighbours(self, point: Point) -> list[Point]:
        """The 8 nearest."""
        close = (self._table == np.array(point)).sum(1)
        return [self.listed[i] for i in np.argsort(-close, kind="stable")[1:9]]


@attrs.define
class Sampled:
    """A real landscape of which only a sample was played: a point that was not is the nearest that was."""

    space: ListedSpace
    games: np.ndarray  # [points, deals]: those that the search draws from
    judged: np.ndarray  # [points]: mean reward in the others

    @classmethod
    def of(cls, landscape: Landscape, seed: int) -> "Sampled":
        """The landscape, its deals split by a seed."""
        deals = np.random.default_rng((seed, 9)).permutation(landscape.rewards.shape[1])
        rewards, half, space = landscape.rewards.mean(2), len(deals) // 2, landscape.space
        listed = ListedSpace(space.name, space.templates, space.factors, space.excluded, listed=landscape.points)
        return cls(listed, rewards[:, deals[:half]], rewards[:, deals[half:]].mean(1))

    def play(self, points: list[Point], rng: np.random.Generator) -> list[float]:
        deals, times, scores = list[int](), Counter[Point](), list[float]()
        for point in points:  # a point that is there again would get the same game again on the same deal
            if times[point] == len(deals):
                deals.append(int(rng.integers(self.games.shape[1])))
            scores.append(float(self.games[self.space.nearest(point), deals[times[point]]]))
            times[point] += 1
        return scores

    def truth(self, point: Point) -> float:
        return float(self.judged[self.space.nearest(point)])

    def best(self) -> float:
        return float(self.judged.max())


def recommend(world: World, finder: Any, budget: int, rng: np.random.Generator) -> Point:
    """What a finder recommends after so many games."""
    spent = 0
    while spent < budget:
        points = finder.ask()[: budget - spent]
        finder.tell(points, world.play(points, rng))
        spent += len(points)
    return finder.finalists(1)[0]


def compare(make: Callable[[int], World], budget: int, seeds: range, names: list[str]) -> list[Row]:
    """A row for each finder and repetition: the win rate of what it recommends, the regret, and its own seconds."""
    rows = []
    for seed in seeds:
        world = make(seed)
        for name in names:
            started = time.process_time()
            point = recommend(
                world, FINDERS[name](world.space, budget, seed), budget, np.random.default_rng((seed, 11))
            )
            seconds = time.process_time() - started
            rate = world.truth(point)
            rows.append({"finder": name, "seed": seed, "rate": rate, "regret": world.best() - rate, "seconds": seconds})
            print(f"{seed:3} {name:28} rate {rate:.3f}  regret {world.best() - rate:.3f}  {seconds:5.1f} s", flush=True)
    return rows


def summary(rows: list[Row]) -> str:
    """A line for each finder: mean rate, mean regret, what it is above that of the first finder on the same landscapes, seconds.

    Args:
        rows: of `compare`; of several landscapes if each row says of which under "landscape".
    """
    regrets: dict[str, dict[tuple[str | None, int], float]] = {}
    for row in rows:
        regrets.setdefault(row["finder"], {})[row.get("landscape"), row["seed"]] = row["regret"]
    first, lines = next(iter(regrets)), []
    for name, regret in regrets.items():
        rate, seconds = (np.mean([row[key] for row in rows if row["finder"] == name]) for key in ("rate", "seconds"))
        line = f"{name:28} rate {rate:.3f}   regret {with_interval(list(regret.values()), '')}   {seconds:.1f} s"
        above = [value - regrets[first][key] for key, value in regret.items() if key in regrets[first]]
        lines.append(line if name == first or not above else f"{line}   above {first} {with_interval(above, '+')}")
    return "\n".join(lines)


def with_interval(values: list[float], sign: str) -> str:
    """A mean with Student's interval, 95 %; one value has none."""
    if len(values) < 2:
        return f"{np.mean(values):{sign}.3f}"
    mean = student_mean(values)
    return f"{mean.value:{sign}.3f} [{mean.low:{sign}.3f}, {mean.high:{sign}.3f}]"


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write the rows of `compare` as CSV."""
    with written_whole(path) as file:
        file.write(csv_of([rows[0], *((row | {key: f"{row[key]:.4f}" for key in MEASURED}).values() for row in rows)]))


def read_rows(path: Path) -> list[Row]:
    """The rows of a file that `write_rows` has written; each says of which landscape, by the name of the file.

    Raises:
        Refusal: it holds something else, or is not there.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            read = [
                {"finder": row["finder"], "seed": int(row["seed"]), **{key: float(row[key]) for key in MEASURED}}
                for row in csv.DictReader(file)
            ]
    except (OSError, KeyError, ValueError, TypeError):
        read = []
    if not read:
        raise Refusal(f"{path} has no rows of finders, as --to writes them")
    return [{**row, "landscape": path.stem} for row in read]


def print_rows(paths: list[Path]) -> None:
    """What files of rows say, each and together."""
    tables = {path.stem: read_rows(path) for path in paths}
    for name, rows in tables.items():
        print(f"{name}\n{summary(rows)}\n")
    if len(tables) > 1:
        print(f"all {len(tables)}\n{summary([row for rows in tables.values() for row in rows])}")


def main() -> None:
    """The command, see the head of this file."""
    parser = argparse.ArgumentParser(description="Compare finders at equal games.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("landscape", nargs="?", help="smooth, rough, or the directory of a real landscape")
    what.add_argument(
        "--rows", nargs="+", type=Path, help="print the results in these files, which --to wrote; play nothing"
    )
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument(
        "--first", type=int, default=0, help="the first seed; the prior of the model was chosen with the seeds 0 to 4"
    )
    parser.add_argument("--finders", nargs="*", default=list(FINDERS), choices=list(FINDERS))
    parser.add_argument("--to", type=Path)
    arguments = parser.parse_args()
    if arguments.rows:
        print_rows(arguments.rows)
        return
    if arguments.landscape in KINDS:
        make: Callable[[int], World] = lambda seed: Synthetic(arguments.landscape, seed)  # noqa: E731
    else:
        landscape = read_landscape(Path(arguments.landscape))
        make = lambda seed: Sampled.of(landscape, seed)  # noqa: E731
    seeds = range(arguments.first, arguments.first + arguments.repetitions)
    rows = compare(make, arguments.games, seeds, arguments.finders)
    print(summary(rows))
    if arguments.to:
        write_rows(arguments.to, rows)


if __name__ == "__main__":
    try:
        main()
    except Refusal as error:
        raise SystemExit(str(error)) from None
