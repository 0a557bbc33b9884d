"""Finders compared at equal games: how good is what each recommends, on landscapes whose truth is known?

    python -m experiments.discovery.finders smooth --games 4000 --repetitions 10 --first 100 --to FILE.csv
    python -m experiments.discovery.finders experiments/runs/discovery/landscape-phantom --games 4000

A synthetic landscape has 7,200 compositions of 8 factors and draws Bernoulli games. The logit of a composition's win rate is a sum of
main effects, effects of pairs, and what no factor explains; "smooth" and "rough" differ in how much each counts. A real landscape is a
random sample of a space, each configuration in the same games (`experiments.discovery.landscape`): what is recommended is judged by
half of the deals, the other half are drawn from, again and again, for the games of the search.
"""

import argparse
import csv
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import attrs
import numpy as np

from experiments.discovery.competitors import NTBEA, TPE, RandomSearch
from experiments.discovery.landscape import Landscape, read_landscape
from experiments.plan.definition import Refusal
from icarus.discovery.finders import Evolution, Factorial, Halving
from icarus.discovery.space import Point, Space

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


class World(Protocol):
    """What can be searched, and says afterwards how good a point is."""

    space: Space

    def play(self, points: list[Point], rng: np.random.Generator) -> list[float]:
        """A game for each point of a batch, all on the same deal."""

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


@attrs.define
class Sampled:
    """A real landscape of which only a sample was played: a point that was not is the nearest that was."""

    space: Space
    points: np.ndarray
    games: np.ndarray  # [points, deals]: those that the search draws from
    judged: np.ndarray  # [points]: mean reward in the others

    @classmethod
    def of(cls, landscape: Landscape, seed: int) -> "Sampled":
        """The landscape, its deals split by a seed."""
        deals = np.random.default_rng((seed, 9)).permutation(landscape.rewards.shape[1])
        rewards, half = landscape.rewards.mean(2), len(deals) // 2
        listed = list_space(landscape)
        return cls(listed, np.array(landscape.points), rewards[:, deals[:half]], rewards[:, deals[half:]].mean(1))

    def _place(self, point: Point) -> int:
        return int(np.argmax((self.points == np.array(point)).sum(1)))

    def play(self, points: list[Point], rng: np.random.Generator) -> list[float]:
        deal = int(rng.integers(self.games.shape[1]))
        return [float(self.games[self._place(point), deal]) for point in points]

    def truth(self, point: Point) -> float:
        return float(self.judged[self._place(point)])

    def best(self) -> float:
        return float(self.judged.max())


class ListedSpace(Space):
    """A space of which only some points are there: a random one is one of them, and neighbours are the nearest."""

    listed: tuple[Point, ...]

    def canonical(self, levels: Any) -> Point:
        """The nearest of the points that are there."""
        table = np.array(self.listed)
        return self.listed[int(np.argmax((table == np.array(levels)).sum(1)))]

    def sample(self, rng: np.random.Generator) -> Point:
        """One of the points that are there."""
        return self.listed[int(rng.integers(len(self.listed)))]

    def neighbours(self, point: Point) -> list[Point]:
        """The 8 nearest."""
        close = (np.array(self.listed) == np.array(point)).sum(1)
        return [self.listed[i] for i in np.argsort(-close, kind="stable")[1:9]]


def list_space(landscape: Landscape) -> ListedSpace:
    """The space of a landscape's points."""
    space = landscape.space
    listed = ListedSpace(space.name, space.templates, space.factors, space.excluded)
    object.__setattr__(listed, "listed", landscape.points)
    return listed


def searched(world: World, finder: Any, budget: int, rng: np.random.Generator) -> Point:
    """What a finder recommends after so many games."""
    spent = 0
    while spent < budget:
        points = finder.ask()[: budget - spent]
        finder.tell(points, world.play(points, rng))
        spent += len(points)
    return finder.finalists(1)[0]


def compare(make: Callable[[int], World], budget: int, seeds: range, names: list[str]) -> list[dict[str, Any]]:
    """A row for each finder and repetition: the win rate of what it recommends, the regret, and its own seconds."""
    rows = []
    for seed in seeds:
        world = make(seed)
        for name in names:
            started = time.process_time()
            point = searched(world, FINDERS[name](world.space, budget, seed), budget, np.random.default_rng((seed, 11)))
            seconds = time.process_time() - started
            rate = world.truth(point)
            rows.append({"finder": name, "seed": seed, "rate": rate, "regret": world.best() - rate, "seconds": seconds})
            print(f"{seed:3} {name:28} rate {rate:.3f}  regret {world.best() - rate:.3f}  {seconds:5.1f} s", flush=True)
    return rows


def summary(rows: list[dict[str, Any]]) -> str:
    """A line for each finder: mean rate, mean regret with its standard error, seconds."""
    lines = []
    for name in dict.fromkeys(row["finder"] for row in rows):
        of_finder = [row for row in rows if row["finder"] == name]
        regret = np.array([row["regret"] for row in of_finder])
        error = regret.std(ddof=1) / np.sqrt(len(regret)) if len(regret) > 1 else float("nan")
        rate, seconds = (np.mean([row[key] for row in of_finder]) for key in ("rate", "seconds"))
        lines.append(f"{name:28} rate {rate:.3f}   regret {regret.mean():.3f} ± {error:.3f}   {seconds:.1f} s")
    return "\n".join(lines)


def main() -> None:
    """The command, see the head of this file."""
    parser = argparse.ArgumentParser(description="Compare finders at equal games.")
    parser.add_argument("landscape", help="smooth, rough, or the directory of a real landscape")
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument(
        "--first", type=int, default=0, help="the seed of the first; the prior of the model was chosen by 0 to 4"
    )
    parser.add_argument("--finders", nargs="*", default=list(FINDERS), choices=list(FINDERS))
    parser.add_argument("--to", type=Path)
    arguments = parser.parse_args()
    if arguments.landscape in KINDS:
        make: Callable[[int], World] = lambda seed: Synthetic(arguments.landscape, seed)  # noqa: E731
    else:
        landscape = read_landscape(Path(arguments.landscape))
        make = lambda seed: Sampled.of(landscape, seed)  # noqa: E731
    rows = compare(
        make, arguments.games, range(arguments.first, arguments.first + arguments.repetitions), arguments.finders
    )
    print(summary(rows))
    if arguments.to:
        with arguments.to.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {**row, **{key: f"{row[key]:.4f}" for key in ("rate", "regret", "seconds")}} for row in rows
            )


if __name__ == "__main__":
    try:
        main()
    except Refusal as error:
        raise SystemExit(str(error)) from None
