"""Finders compared at equal games: how good is what each recommends, on landscapes whose truth is known?

    python -m experiments.studies.finders smooth --games 4000 --repetitions 10 --first 100 --to FILE.csv
    python -m experiments.studies.finders experiments/runs/discovery/landscape-phantom --games 4000
    python -m experiments.studies.finders --rows experiments/runs/discovery/finders-*.csv
    python -m experiments.studies.finders --play phantom-mnk --iterations 200 --configurations 240 --deals 200 --to DIRECTORY

A synthetic landscape has 7,200 compositions of 8 factors and draws Bernoulli games. The logit of a composition's win rate is a sum of
main effects, effects of pairs, and what no factor explains; "smooth" and "rough" differ in how much each counts. A real landscape is a
random sample of a space, each configuration in the same games against the same opponent: what is recommended is judged by half of the
deals, the other half are drawn from, again and again, for the games of the search; a draw is the mean over both seats.

The third command plays nothing: it tells what files of rows say, each and together. The fourth plays a real landscape: `landscape.json`
says what is played, `games.csv.gz` holds a line for each configuration: its levels, then its reward in each game, by deal and seat. While
it is played, `games.jsonl` keeps every game: it may be stopped, and goes on, with more configurations and deals if they are asked for.
"""

import argparse
import csv
import functools
import gzip
import itertools
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs
import numpy as np

from experiments.plan.definition import Refusal
from experiments.statistics import student_mean
from experiments.store.csv_values import csv_of
from experiments.studies.duels import match_settings_of
from icarus.arena.ledger import written_whole
from icarus.arena.player import Configuration
from icarus.discovery.finders import BATCH, Factorial
from icarus.discovery.matches import EXPLORATION, Games, MatchSettings, race_row
from icarus.discovery.space import INACTIVE, Point, Space, load_space, read_space

SETTINGS, PACKED, KEPT = "landscape.json", "games.csv.gz", "games.jsonl"  # of a real landscape
OPPONENT = "BASELINE >> NAST2"
REPLAY = 0.3  # share of the games in which the top few of TPE, or those found by repeats of NTBEA, are played again
TOP = 8
# of NTBEA: TAG's kExplore, epsilon and neighbourhoodSize, at their defaults
K_EXPLORE, EPSILON, NEIGHBOURHOOD = 1.0, 0.1, 50
POPULATION = 24  # points of an evolution
PRIOR_SCORES = 10  # by which a mean is drawn to that of all
SIZES = (5, 5, 4, 3, 3, 2, 2, 2)
KINDS = {
    "smooth": (0.09, 0.06, 0.03),
    "rough": (0.06, 0.03, 0.10),
}  # standard deviations of main, pair and unexplained effects
Row: TypeAlias = dict[str, Any]  # what a finder came to on a landscape: finder, seed and what is MEASURED
MEASURED = ("rate", "regret", "seconds")  # of a row


# ------------------------------------------------------------------------------------------------------------ landscapes


@attrs.frozen
class Landscape:
    """Configurations of a space, and what each got in the same games.

    Attributes:
        points: of the space.
        rewards: [configurations, deals, seats].
    """

    space: Space
    points: tuple[Point, ...]
    rewards: np.ndarray


def sample(space: Space, number: int, seed: int) -> list[Point]:
    """So many different random points, the default first."""
    rng, points = np.random.default_rng(seed), {space.default: None}
    while len(points) < min(number, space.count()):
        points[space.sample(rng)] = None
    return list(points)


def play_landscape(match_settings: MatchSettings, space: Space, number: int, deals: int, directory: Path) -> None:
    """Play it, deal by deal, so that what has been played when it is stopped is balanced; then pack it.

    Raises:
        Refusal: the directory has games of something else.
    """
    directory.mkdir(parents=True, exist_ok=True)
    claim(directory, settings_of(match_settings, space))
    points, opponent = sample(space, number, match_settings.seed), Configuration(OPPONENT)
    configurations = [space.configuration(point) for point in points]
    with Games(match_settings, directory / KEPT) as played:
        for deal in range(deals):
            pairs = itertools.product(configurations, match_settings.seats)
            matches = [match_settings.match(EXPLORATION, (each, opponent), deal, seat) for each, seat in pairs]
            rewards = [each["returns"][each["seat"]] for each in played.play(matches, race_row)]
            print(f"deal {deal + 1} of {deals}: mean reward {np.mean(rewards):.3f}", flush=True)
        places = [(deal, seat) for deal in range(deals) for seat in match_settings.seats]
        scores = [
            [
                played.rows[match_settings.match(EXPLORATION, (each, opponent), *place).key]["returns"][place[1]]
                for place in places
            ]
            for each in configurations
        ]
    pack(directory, points, scores)


def settings_of(match_settings: MatchSettings, space: Space) -> dict[str, object]:
    """What is played: all that a row does not tell, and the opponent."""
    settings = {
        "game": str(match_settings.game),
        "seats": list(match_settings.seats),
        "iterations": match_settings.iterations,
        "seconds": match_settings.seconds,
        "seed": match_settings.seed,
        "opponent": OPPONENT,
        "space": space.settings(),
    }
    return dict(json.loads(json.dumps(settings)))  # as they are read back


def claim(directory: Path, settings: dict[str, object]) -> None:
    """Write the settings of a landscape before its first game, or check that those there are the same.

    Raises:
        Refusal: they are others, or there are games without settings.
    """
    path = directory / SETTINGS
    if path.exists():
        there = json.loads(path.read_text(encoding="utf-8"))
        for name in (name for name, value in settings.items() if there.get(name) != value):
            difference = (
                "a different space" if name == "space" else f"{name} {there.get(name)!r}, not {settings[name]!r}"
            )
            raise Refusal(f"{directory} is a landscape with {difference}; use another directory")
        return
    if (directory / KEPT).exists():
        raise Refusal(f"{directory} has games but no {SETTINGS}; use another directory")
    with written_whole(path) as file:
        file.write(json.dumps(settings, indent=1, ensure_ascii=False).encode())


def pack(directory: Path, points: list[Point], rewards: list[list[float]]) -> None:
    """Write what each point got."""
    lines = (
        (" ".join(map(str, point)), " ".join(f"{reward:g}" for reward in received))
        for point, received in zip(points, rewards, strict=True)
    )
    with written_whole(directory / PACKED) as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(csv_of(lines))


def read_landscape(directory: Path) -> Landscape:
    """A landscape that was packed."""
    settings = json.loads((directory / SETTINGS).read_text(encoding="utf-8"))
    with gzip.open(directory / PACKED, "rt", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    points = tuple(tuple(map(int, point.split())) for point, _ in lines)
    rewards = np.array([[float(reward) for reward in received.split()] for _, received in lines])
    return Landscape(read_space(settings["space"]), points, rewards.reshape(len(points), -1, len(settings["seats"])))


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


# --------------------------------------------------------------------------------------------------------------- finders


def first_points(space: Space, number: int, rng: np.random.Generator) -> list[Point]:
    """The default and random points, all different: so many in all, where so many are met."""
    points = {space.default: None}
    for _ in range(10 * number):
        if len(points) < number:
            points[space.sample(rng)] = None
    return list(points)


class Halving:
    """Sequential halving of random points (Karnin, Koren and Somekh, 2013): no model, so nothing that can be wrong with it.

    Args:
        budget: how many scores there will be. As many points begin as can have 8 scores in the first stage.
    """

    def __init__(self, space: Space, budget: int, seed: int | Sequence[int] = 0) -> None:
        self.alive = first_points(space, max(2, min(256, budget // 64)), np.random.default_rng(seed))
        self.budget = budget
        self.stages = max(1, math.ceil(math.log2(len(self.alive))))
        self.sums: dict[Point, float] = dict.fromkeys(self.alive, 0.0)
        self.counts: dict[Point, int] = dict.fromkeys(self.alive, 0)
        self.spent = self.stage = 0

    @property
    def incumbent(self) -> Point:
        """The point of the best mean among those that are left."""
        return self._rank()[0]

    def ask(self) -> list[Point]:
        """All points that are left."""
        return self.alive

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Count; at the end of a stage the worse half is dropped."""
        for point, score in zip(points, scores, strict=True):
            self.sums[point] += score
            self.counts[point] += 1
        self.spent += len(points)
        while self.stage < self.stages - 1 and self.spent >= self.budget * (self.stage + 1) / self.stages:
            self.stage += 1
            self.alive = self._rank()[: max(1, (len(self.alive) + 1) // 2)]

    def finalists(self, number: int) -> list[Point]:
        """Those that are left, then those that were dropped last."""
        rest = sorted(
            set(self.sums) - set(self.alive), key=lambda point: (-self.counts[point], -self._mean(point), point)
        )
        return (self._rank() + rest)[:number]

    def _rank(self) -> list[Point]:
        return sorted(self.alive, key=self._mean, reverse=True)

    def _mean(self, point: Point) -> float:
        return self.sums[point] / max(1, self.counts[point])


class Evolution:
    """A steady state of points that are crossed and mutated; the worst by its shrunk mean gives way.

    Args:
        budget: how many scores there will be.
    """

    def __init__(self, space: Space, budget: int, seed: int | Sequence[int] = 0) -> None:
        self.space, self.rng = space, np.random.default_rng(seed)
        self.population = first_points(space, POPULATION, self.rng)
        self.sums: dict[Point, float] = {}
        self.counts: dict[Point, int] = {}

    @property
    def incumbent(self) -> Point:
        """The point of the best shrunk mean."""
        return max(self.population, key=self._shrunk)

    def ask(self) -> list[Point]:
        """Half of a batch are children, half are those of the population that are most worth another look."""
        unplayed = [point for point in self.population if point not in self.counts]
        if unplayed:
            return unplayed[:BATCH]
        parents = sorted(self.population, key=self._upper, reverse=True)
        again, children = parents[: BATCH // 2], list[Point]()
        for _ in range(BATCH - len(again)):
            first, second = (parents[min(int(i) for i in self.rng.integers(len(parents), size=2))] for _ in range(2))
            near = self.space.neighbours(crossed := self._crossed(first, second))
            children.append(near[int(self.rng.integers(len(near)))] if near else crossed)
        return list(dict.fromkeys([*again, *children]))

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Count, and let the worst give way."""
        for point, score in zip(points, scores, strict=True):
            self.sums[point] = self.sums.get(point, 0.0) + score
            self.counts[point] = self.counts.get(point, 0) + 1
        self.population = list(dict.fromkeys([*self.population, *points]))
        parents = [point for point in self.population if point in self.counts]
        if len(parents) == len(self.population):
            self.population = sorted(parents, key=self._shrunk, reverse=True)[:POPULATION]

    def finalists(self, number: int) -> list[Point]:
        """The best of the population by their shrunk means."""
        return sorted((p for p in self.population if p in self.counts), key=self._shrunk, reverse=True)[:number]

    def _crossed(self, first: Point, second: Point) -> Point:
        """A child that has each level from one of its parents; the first parent where the child is excluded."""
        child = [
            a if b == INACTIVE or (a != INACTIVE and self.rng.random() < 0.5) else b
            for a, b in zip(first, second, strict=True)
        ]
        crossing = self.space.canonical(child)
        return crossing if self.space.allows(crossing) else first

    def _shrunk(self, point: Point) -> float:
        mean = sum(self.sums.values()) / max(1, sum(self.counts.values()))
        return (self.sums.get(point, 0.0) + PRIOR_SCORES * mean) / (self.counts.get(point, 0) + PRIOR_SCORES)

    def _upper(self, point: Point) -> float:
        return self._shrunk(point) + 0.5 / math.sqrt(self.counts[point] + PRIOR_SCORES)


class Means:
    """Sums and counts of scores by point."""

    def __init__(self) -> None:
        self.sums: dict[Point, float] = {}
        self.counts: dict[Point, int] = {}

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Count scores."""
        for point, score in zip(points, scores, strict=True):
            self.sums[point] = self.sums.get(point, 0.0) + score
            self.counts[point] = self.counts.get(point, 0) + 1

    def mean(self, point: Point) -> float:
        """The mean score of a point that was played."""
        return self.sums[point] / self.counts[point]

    def ranked(self) -> list[Point]:
        """The points played, by their means."""
        return sorted(self.sums, key=self.mean, reverse=True)


class RandomSearch(Means):
    """Random points, each played equally often; the luckiest is recommended."""

    def __init__(self, space: Space, budget: int, seed: int, games: int = 100) -> None:
        super().__init__()
        self.space, self.rng, self.games = space, np.random.default_rng(seed), games

    def ask(self) -> list[Point]:
        """One random point, as often as each is played."""
        return [self.space.sample(self.rng)] * self.games

    def finalists(self, number: int) -> list[Point]:
        """The luckiest."""
        return self.ranked()[:number]


class TPE(Means):
    """Optuna's tree-structured Parzen estimator, then the top few of it played again with the rest of the games."""

    def __init__(self, space: Space, budget: int, seed: int, games: int = 50) -> None:
        try:
            import optuna
        except ModuleNotFoundError:
            raise Refusal("Optuna's TPE needs optuna: pip install 'icarus-mcts[finders]'") from None

        super().__init__()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space, self.budget, self.games, self.games_played = space, budget, games, 0
        self.study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        self.trial: Any = None
        self.top: list[Point] = []

    def ask(self) -> list[Point]:
        """A trial of TPE; later the top few."""
        if self.games_played >= self.budget * (1 - REPLAY):
            self.top = self.top or self.ranked()[:TOP]
            return self.top
        self.trial = self.study.ask()
        levels = [
            self.trial.suggest_categorical(name, list(range(len(each)))) for name, each in self.space.factors.items()
        ]
        return [self.space.canonical(levels)] * self.games

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """The mean of a trial's games."""
        super().tell(points, scores)
        self.games_played += len(points)
        if not self.top:
            self.study.tell(self.trial, float(np.mean(scores)))

    def finalists(self, number: int) -> list[Point]:
        """The best of those played again."""
        return sorted(self.top or self.ranked(), key=self.mean, reverse=True)[:number]


class NTBEA(Means):
    """The N-tuple bandit evolutionary algorithm (Lucas, Liu and Perez-Liebana, 2018): 1- and 2-tuples, one game for each evaluation.

    Args:
        repeats: runs that share the budget; the best of each are then played again (TAG's default is 5), or 1 for a single run.
    """

    def __init__(self, space: Space, budget: int, seed: int, repeats: int = 1) -> None:
        super().__init__()
        self.space, self.budget, self.rng, self.repeats = space, budget, np.random.default_rng(seed), repeats
        sizes = [len(levels) + 1 for levels in space.factors.values()]
        tuples = [(k,) for k in range(len(sizes))] + list(itertools.combinations(range(len(sizes)), 2))
        self.first = np.array([t[0] for t in tuples])
        self.second = np.array([t[-1] if len(t) > 1 else -1 for t in tuples])
        self.stride = np.array([sizes[t[-1]] if len(t) > 1 else 1 for t in tuples])
        self.start = np.cumsum([0, *(math.prod(sizes[k] for k in t) for t in tuples)])
        self.games_played, self.winners = 0, list[Point]()
        self._begin()

    def _begin(self) -> None:
        self.total, self.visits, self.run = np.zeros(self.start[-1]), np.zeros(self.start[-1]), 0
        self.current, self.met = self.space.sample(self.rng), dict[Point, None]()

    def _cells(self, points: Sequence[Point]) -> np.ndarray:
        levels = np.hstack([np.array(points) + 1, np.zeros((len(points), 1), int)])
        return self.start[:-1] + levels[:, self.first] * self.stride + levels[:, self.second]

    def _estimates(self, points: Sequence[Point]) -> np.ndarray:
        cells = self._cells(points)
        visited = self.visits[cells] > 0
        means = np.where(visited, self.total[cells] / np.maximum(self.visits[cells], 1), 0.0)
        return means.sum(1) / np.maximum(visited.sum(1), 1)

    def ask(self) -> list[Point]:
        """The point that the run has moved to; later what the runs have found."""
        if self.repeats > 1 and self.games_played >= self.budget * (1 - REPLAY):
            return self.winners or [self.current]
        return [self.current]

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """Learn, and move to the best neighbour by its upper bound."""
        super().tell(points, scores)
        self.games_played += len(points)
        if self.winners and self.games_played >= self.budget * (1 - REPLAY) and self.repeats > 1:
            return
        for point, score in zip(points, scores, strict=True):
            cells = self._cells([point])[0]
            self.total[cells] += score
            self.visits[cells] += 1
            self.met[point] = None
        self.run += len(points)
        share = self.budget * ((1 - REPLAY) / self.repeats if self.repeats > 1 else 1)
        if self.run >= share:
            self.winners.append(self._best())
            self._begin()
            return
        near = [self._mutate(self.current) for _ in range(NEIGHBOURHOOD)]
        cells = self._cells(near)
        bonus = np.sqrt(np.log1p(self.run) / (EPSILON + self.visits[cells])).mean(1)
        values = self._estimates(near) + K_EXPLORE * bonus + 1e-6 * self.rng.random(len(near))
        self.current = near[int(np.argmax(values))]

    def _mutate(self, point: Point) -> Point:
        sizes = [len(levels) for levels in self.space.factors.values()]
        forced = int(self.rng.integers(len(sizes)))
        changed = [
            int(self.rng.integers(size)) if k == forced or self.rng.random() < 1 / len(sizes) else level
            for k, (level, size) in enumerate(zip(point, sizes, strict=True))
        ]
        neighbour = self.space.canonical(changed)
        return neighbour if self.space.allows(neighbour) else point

    def _best(self) -> Point:
        points = list(self.met)
        return points[int(np.argmax(self._estimates(points)))]

    def finalists(self, number: int) -> list[Point]:
        """The best by the model; of several runs the best of those played again."""
        if self.repeats > 1:
            return sorted(set(self.winners), key=self.mean, reverse=True)[:number]
        return [self._best()] if self.met else self.winners[:number]


FINDERS: dict[str, Callable[..., Any]] = {
    "factorial": Factorial,
    "halving": Halving,
    "evolution": Evolution,
    "random": RandomSearch,
    "NTBEA": NTBEA,
    "NTBEA, 5 runs and a final": lambda space, budget, seed: NTBEA(space, budget, seed, repeats=5),
    "TPE and replay": TPE,
}


# --------------------------------------------------------------------------------------------------------------- contest


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


def main(words: Sequence[str] | None = None) -> None:
    """The command, see the head of this file."""
    parser = argparse.ArgumentParser(description="Compare finders at equal games.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("landscape", nargs="?", help="smooth, rough, or the directory of a real landscape")
    what.add_argument("--play", metavar="GAME", help="play a real landscape of this game, into --to")
    what.add_argument(
        "--rows", nargs="+", type=Path, help="print the results in these files, which --to wrote; play nothing"
    )
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument(
        "--first", type=int, default=0, help="the first seed; the prior of the model was chosen with the seeds 0 to 4"
    )
    parser.add_argument("--finders", nargs="*", default=list(FINDERS), choices=list(FINDERS))
    parser.add_argument("--space", default="general", help="of a real landscape, as the next four")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--configurations", type=int, default=240)
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--to", type=Path)
    arguments = parser.parse_args(words)
    if arguments.rows:
        return print_rows(arguments.rows)
    if arguments.play:
        if not arguments.to:
            parser.error("a landscape is played into a directory: --to DIRECTORY")
        match_settings = match_settings_of(arguments.play, arguments.iterations, None, arguments.seed)
        space = load_space(arguments.space)
        return play_landscape(match_settings, space, arguments.configurations, arguments.deals, arguments.to)
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
    except ValueError as error:  # a Refusal, or a race that another process plays
        raise SystemExit(str(error)) from None
