"""The outside ladder of each game, planned in ladder.toml: its opponents, the players of a table, comparisons of two; and their games."""

import contextlib
import functools
import itertools
import json
import math
import re
import time
import tomllib
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import msgspec
import numpy as np

from experiments.plan.loading import Positive
from experiments.plan.refusal import one_of
from experiments.results import pack
from experiments.run import provenance
from experiments.statistics import iterations_for
from icarus import games
from icarus.arena.ledger import GameRow, read_rows
from icarus.arena.player import Entrant
from icarus.engine.match import DATA as LEVEL_DATA
from icarus.ladder import ladders
from icarus.ladder.engines import ENGINES
from icarus.statistics import Estimate, mean_of

TABLE_SECONDS = 0.2
# the files of rows of a game
BETWEEN = "opponents"
COMPARED = "comparisons"
TABLES = BY_ITERATIONS, BY_TIME = "table", "timed"  # keys of a plan
PLAN = Path(__file__).with_suffix(".toml")


def fit(ladder: ladders.Ladder, estimate: ladders.Posterior) -> ladders.Ladder:
    """The same opponents with the ratings of an estimate; its other players only connect these."""
    values = estimate.ratings()
    rungs = [
        attrs.evolve(rung, rating=values[rung.name]) for rung in ladder.rungs if rung.name in values
    ]
    rungs.sort(key=lambda rung: rung.rating.value)
    places = [estimate.names.index(rung.name) for rung in rungs]
    return ladders.Ladder(
        ladder.game, tuple(rungs), estimate.covariance[np.ix_(places, places)], estimate.dispersion
    )


def write_ladder(ladder: ladders.Ladder, path: Path) -> None:
    """Write the ladder as JSON, a line for each row of the covariance up to its diagonal."""
    rungs = []
    for rung in ladder.rungs:
        row: dict[str, Any] = {"name": rung.name}
        row |= {key: round(getattr(rung.rating, key)) for key in ("value", "low", "high")}
        row["games"] = rung.rating.count
        if rung.agent:
            row["agent"] = rung.agent.settings()
        rungs.append(row)
    content = {"game": ladder.game, "dispersion": round(ladder.dispersion, 3), "rungs": rungs}
    head = json.dumps(content, indent=1, ensure_ascii=False).removesuffix("\n}")
    numbers = ladder.covariance.round().astype(int).tolist()
    rows = ",\n  ".join(str(row[: place + 1]) for place, row in enumerate(numbers))
    path.write_text(f'{head},\n "covariance": [\n  {rows}\n ]\n}}\n', "utf-8")


def player_of(table: dict[str, Any] | Entrant | str) -> Entrant | str:
    """An agent, or an engine's name, as the plan has it.

    Raises:
        ValueError, TypeError: there is none of them.
    """
    player = Entrant(**table) if isinstance(table, dict) else table
    if isinstance(player, str):
        return one_of("engine", player, tuple(ENGINES))
    # refuses what makes no agent; the file of its evaluation is read when it plays
    attrs.evolve(player, evaluation="").agent()
    return player


class PlannedMatch(msgspec.Struct, forbid_unknown_fields=True):
    """Two players, how many games they play, half of them with either side, and what is asked.

    Attributes:
        player, opponent: an engine's name, or an agent.
    """

    player: Any
    opponent: Any
    games: Positive
    question: str

    def __post_init__(self) -> None:
        self.player, self.opponent = player_of(self.player), player_of(self.opponent)

    def names(self) -> tuple[str, str]:
        """What the two are called in rows."""
        return rung_of(self.player).name, rung_of(self.opponent).name


class GamePlan(msgspec.Struct, forbid_unknown_fields=True):
    """What is planned for a game; the file's head explains its keys."""

    levels: list[Positive]
    outside: list[str]
    comparisons: list[PlannedMatch]
    table: list[Any] = []
    timed: list[Any] = []

    def __post_init__(self) -> None:
        self.table = list(map(player_of, self.table))
        self.timed = list(map(player_of, self.timed))
        for name, times in Counter([*self.levels, *map(player_of, self.outside)]).items():
            if times > 1:
                raise ValueError(f"{name} is there {times} times")
        pairs = {frozenset((each.player, each.opponent)) for each in self.comparisons}
        if len(pairs) < len(self.comparisons):
            raise ValueError("two of the comparisons are of the same players")


@functools.cache
def plans(path: Path = PLAN) -> dict[str, GamePlan]:
    """What is planned for each game.

    Raises:
        ValueError: it makes no sense; the message names the file and the game.
    """
    plans = dict[str, GamePlan]()
    place = str(path)
    try:
        for game, table in tomllib.loads(path.read_text("utf-8")).items():
            place = f"{path}, [{game}]"
            games.load(game)
            plans[game] = msgspec.convert(table, GamePlan)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{place}: {error}") from None
    return plans


def table_players(game: str, kind: str) -> list[Entrant]:
    """The players of one of the `TABLES`; none where it is not planned."""
    players: list[Entrant] = getattr(plans()[game], kind)
    return players


def opponents(game: str) -> ladders.Ladder:
    """The opponents of a game, not yet rated.

    Raises:
        ValueError: no ladder is planned for the game.
    """
    if game not in plans():
        games_planned = ", ".join(plans())
        raise ValueError(f"no ladder is planned for {game}; games with a plan: {games_planned}")
    plan = plans()[game]
    rungs = [ladders.Rung(ladders.RANDOM, ladders.ZERO)]
    rungs += [rung_of(Entrant("BASELINE", iterations=number)) for number in plan.levels]
    rungs += map(rung_of, plan.outside)
    return ladders.Ladder(game, tuple(rungs))


def planned(game: str) -> Iterator[ladders.Rung]:
    """All who are planned to play in a game."""
    yield from opponents(game).rungs
    yield from map(rung_of, table_players(game, BY_ITERATIONS))
    for each in plans()[game].comparisons:
        yield from map(rung_of, (each.player, each.opponent))


def rung_of(player: Entrant | str) -> ladders.Rung:
    """An engine by its name, or an agent, not yet rated."""
    if isinstance(player, str):
        return ladders.Rung(ENGINES[player].name, ladders.ZERO)
    return ladders.Rung(str(player.agent()), ladders.ZERO, player)


# -------------------- Its games: opponents against each other, the table against them, planned pairs; what they say.


# seconds: what the quickest game counts as, and one between two who have not met yet
SHORTEST = 0.05
SAME = 10  # pairs of games until the next choice of opponents, which takes longer than two games of weak players
BASELINE = re.compile(r"BASELINE \((\d+) iterations\)")


def rows_of(directory: Path, game: str, kind: str) -> Path:
    """The file of a game's rows."""
    return directory / f"{game}-{kind}.jsonl"


def read_rows_of(directory: Path, game: str, kind: str) -> list[GameRow]:
    """The rows of a game, void ones included; errors as of `read_rows`."""
    path = rows_of(directory, game, kind)
    return list(read_rows(path, ladders.FIELDS, ladders.RatedGame, unchecked=True))


@contextlib.contextmanager
def _pairs(
    directory: Path, game: str, kind: str, rungs: Iterable[ladders.Rung], seed: int
) -> Iterator[ladders.Pairs]:
    """Pairs of games between opponents, which go on with a game's rows."""
    players = {rung.name: rung.player() for rung in rungs}
    stamp = {"provenance": provenance()}
    ledger = ladders.rated_games(rows_of(directory, game, kind))
    with ledger, ladders.Pairs(games.load(game), players, ledger, seed, stamp) as pairs:
        yield pairs


def play_opponents(game: str, directory: Path, seed: int, deadline: float) -> Iterator[GameRow]:
    """Pairs of games between those opponents whose next outcome tells most, until the time has come.

    Raises:
        ValueError: fewer than two are installed and have not failed; the games played are kept.
    """
    rungs = [rung for rung in opponents(game).rungs if rung.is_installed()]
    with _pairs(directory, game, BETWEEN, rungs, seed) as pairs:
        earlier = len(pairs.ledger.rows)
        while time.monotonic() < deadline:
            names = [rung.name for rung in rungs if not pairs.has_failed(rung.name)]
            if len(names) < 2:
                raise ValueError(
                    f"fewer than two opponents of {game} can play; the others are not installed or have failed"
                )
            played = list(pairs.ledger.rows.values())
            chosen = _most_telling(list(itertools.combinations(names, 2)), played, earlier)
            for _ in range(SAME):
                if not any(map(pairs.has_failed, chosen)):
                    yield from pairs.play(*chosen)


def _most_telling(
    pairs: list[tuple[str, str]], rows: list[GameRow], earlier: int
) -> tuple[str, str]:
    """The pair whose next game tells most for the time that it takes.

    The least time of a pair's games now is what counts: a first game compiles, and another day the machine may have been busy.

    Args:
        earlier: how many of the rows are not of now.
    """
    estimate = ladders.posterior(
        ladders.scores_of(rows),
        {ladders.RANDOM: ladders.ZERO},
        set(itertools.chain.from_iterable(pairs)),
    )
    least: dict[frozenset[str], float] = {}
    for row in rows[earlier:]:
        names = frozenset((row["player"], row["opponent"]))
        least[names] = min(least.get(names, math.inf), row.get("seconds", math.inf))

    def gain_per_second(pair: tuple[str, str]) -> float:
        return gain(estimate, *pair) / max(SHORTEST, least.get(frozenset(pair), 0.0))

    return max(pairs, key=gain_per_second)


def gain(estimate: ladders.Posterior, player: str, opponent: str) -> float:
    """How much one more game between two players tells of their difference, as a share of its variance."""
    difference = estimate.difference(player, opponent)
    chance = float(ladders.expected(difference.value, 0.0))
    return ladders.ELO**2 * chance * (1 - chance) * difference.deviation**2


def estimate_of(game: str, directory: Path) -> ladders.Posterior:
    """The ratings that the games between a game's opponents say, random play at 0."""
    return ladders.fitted(read_rows_of(directory, game, BETWEEN), ladders.RANDOM)


def fitted_ladder(game: str, directory: Path) -> ladders.Ladder:
    """The ladder that the rows of a directory say."""
    return fit(opponents(game), estimate_of(game, directory))


def levels_in(ladder: ladders.Ladder, estimate: ladders.Posterior) -> list[dict[str, Any]]:
    """The levels among the opponents of a ladder; none unless baselines have played and those that search more are rated higher."""
    # in the order of their ratings
    agents = {rung.name: rung.agent for rung in ladder.rungs if rung.agent}
    iterations = [agent.iterations or 0 for agent in agents.values()]
    if not agents or iterations != sorted(iterations):
        return []
    return ladders.level_rows(agents, estimate, ladders.RANDOM)


def proposed_levels(game: str, directory: Path) -> list[int]:
    """Iterations of the baseline for levels about LEVEL_STEP apart, by all baselines that have played; none where none of them
    is above random play by half of it."""
    values = ladders.posterior(
        ladders.scores_of(read_rows_of(directory, game, BETWEEN)), {ladders.RANDOM: ladders.ZERO}
    ).ratings()
    baselines = {}
    for name, rating in values.items():
        if match := BASELINE.fullmatch(name):
            baselines[int(match[1])] = rating
    highest = max([0.0, *(rating.value for rating in baselines.values())])
    levels = np.linspace(0, highest, 1 + round(highest / ladders.LEVEL_STEP))[1:]
    return iterations_for(baselines, levels.tolist())


def keep(ladder: ladders.Ladder, directory: Path) -> bool:
    """Write a fitted ladder into the package, and the levels of its game; pack the game's rows.

    Returns:
        Whether there are levels, which were written.

    Raises:
        ValueError: there are no games between opponents; nothing is written.
    """
    if not any(rung.rating.count for rung in ladder.rungs):
        raise ValueError(
            f"{directory} has no games between opponents of {ladder.game}; nothing was written"
        )
    write_ladder(ladder, ladders.DATA / f"{ladder.game}.json")
    levels = levels_in(ladder, estimate_of(ladder.game, directory))
    if levels:
        content = json.loads(LEVEL_DATA.read_text("utf-8"))
        content["games"][ladder.game] = levels
        LEVEL_DATA.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for kind in (BETWEEN, COMPARED, *TABLES):
        pack(rows_of(directory, ladder.game, kind))
    return bool(levels)


def play_table(
    game: str, kind: str, directory: Path, number: int, seed: int, deadline: float
) -> Iterator[ladders.Climb]:
    """Games of each player of one of the `TABLES` on the ladder, up to so many each; yields the climb after each pair.

    The players take turns of two games, so that all have played about as many whenever it ends.
    """
    with ladders.rated_games(rows_of(directory, game, kind)) as ledger:
        stamp = {"provenance": provenance()}
        climbs = [
            ladders.Climb(
                ladders.read_ladder(game), each.agent(), ledger=ledger, seed=seed, stamp=stamp
            )
            for each in table_players(game, kind)
        ]
        playing = deque((climb, climb.games(number)) for climb in climbs)
        while playing and time.monotonic() < deadline:
            climb, turns = playing.popleft()
            if list(itertools.islice(turns, 2)):  # plays two games, if any are left
                playing.append((climb, turns))
                yield climb


Standing = tuple[ladders.Rating, ladders.Rating | None]  # see `table_of`


def table_of(game: str, kind: str, directory: Path) -> dict[str, Standing]:
    """The players of one of the `TABLES` that have rows, the strongest first; fitted together with the games of their opponents.

    Returns:
        By name the rating, with the uncertainty of the opponents; and how far it is above that of the table's first player, of which this
        uncertainty is mostly no part; None before that has played.
    """
    rows = read_rows_of(directory, game, kind)
    between = read_rows_of(directory, game, BETWEEN)
    estimate = ladders.fitted([*between, *rows], ladders.RANDOM)
    values, first = estimate.ratings(), str(table_players(game, kind)[0].agent())
    names = {row["player"] for row in rows} & values.keys()
    return {
        name: (values[name], estimate.difference(name, first) if first in values else None)
        for name in sorted(names, key=lambda name: (-round(values[name].value, 3), name))
    }


def play_comparisons(game: str, directory: Path, seed: int, deadline: float) -> Iterator[GameRow]:
    """Pairs of games of that planned comparison on which least time has been spent, until all are done or the time has come."""
    matches = {each.names(): each for each in plans()[game].comparisons}
    rungs = list[ladders.Rung]()
    for match in matches.values():
        rungs += map(rung_of, (match.player, match.opponent))
    with _pairs(directory, game, COMPARED, rungs, seed) as pairs:
        while time.monotonic() < deadline:
            seconds = dict[tuple[str, str], float]()  # of each pair that is not done
            for names, match in matches.items():
                rows = pairs.between(*names)
                is_done = sum("score" in row for row in rows) >= match.games
                if not (is_done or any(map(pairs.has_failed, names))):
                    seconds[names] = sum(row.get("seconds", 0) for row in rows)
            if not seconds:
                return
            yield from pairs.play(*min(seconds, key=seconds.__getitem__))


def scores_of_comparisons(
    game: str, directory: Path
) -> Iterator[tuple[PlannedMatch, str, str, Estimate]]:
    """Each planned comparison with the names of both and the player's score; pairs of games are the sample."""
    rows = read_rows_of(directory, game, COMPARED)
    for comparison in plans()[game].comparisons:
        names = comparison.names()
        pairs: defaultdict[tuple[int, ...], list[float]] = defaultdict(list)
        for row in rows:
            if (row["player"], row["opponent"]) == names and "score" in row:
                pairs[tuple(row["seed"])].append(row["score"])
        scores = [sum(pair) / 2 for pair in pairs.values() if len(pair) == 2]
        if scores:
            yield comparison, *names, mean_of(scores, 0.0)
