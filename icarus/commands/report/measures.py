"""What the games of a report come to. Every mean has its 95 % interval."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus.commands.report import matches
from icarus.commands.report.matches import REFERENCE, Entrant, Plan
from icarus.discovery.matches import Row
from icarus.discovery.race import Discovery
from icarus.discovery.statistics import difference
from icarus.kernel.game import AnyGame
from icarus.kernel.seats import seat_name
from icarus.ladder.ladders import ZERO, level_rows
from icarus.ladder.rating import Posterior, posterior

CONFIDENCE = 0.95
PARTS = 10  # of a game's course
AHEAD = 0.05  # of reward: who expects so much more than the leader takes the lead
Measures = dict[str, Any]


@attrs.frozen
class Estimate:
    """A mean with its interval, which allows for as many comparisons as it is one of.

    Attributes:
        number: of values.
    """

    mean: float
    low: float
    high: float
    number: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def estimate(values: Iterable[float], comparisons: int = 1, least: float = -1, most: float = 1) -> Estimate | None:
    """The mean of values from 0 to 1, of their differences, or of counts, with an interval from `least` to `most`; None of none."""
    listed = list(values)
    if not listed:
        return None
    margin = difference(listed)
    low, high = margin.interval(1 - (1 - CONFIDENCE) / comparisons, most)
    return Estimate(margin.mean, max(low, least), high, margin.units)


def measures_of(plan: Plan, game: AnyGame, rows: Iterable[Row], race: Discovery | None) -> Measures:
    """All measures, as JSON can hold them once `attrs.asdict` has seen the estimates."""
    games = defaultdict[str, list[Row]](list)
    for row in rows:
        games[row["stream"]].append(row)
    even, compared = games[matches.EVEN], games[matches.STRATEGIES]
    rated = rated_players(plan, games[matches.LEVELS] + games[matches.COMPOSITION])
    return {
        "plan": attrs.asdict(plan),
        "course": {kind: course(game, games[kind]) for kind in (matches.RANDOM, matches.EVEN)},
        "tension": tension(game.players, even),
        "skill": skill(plan, games[matches.LEVELS]),
        "levels": levels(plan, rated),
        "composition": None if race is None else composition(plan, race, rated),
        "strategies": strategies(plan, compared),
        "rates": rates(plan, even, compared),
        "commented": next(iter(games[matches.COMMENTED]), None),
    }


def course(game: AnyGame, rows: Sequence[Row]) -> Measures:
    """How games go: length, choices, draws, and what each seat gets."""
    if not rows:
        return {"games": 0}
    lengths = np.array([row["length"] for row in rows])
    choices = np.array([decision[2] for row in rows for decision in row["decisions"]] or [1])
    returns = np.array([row["returns"] for row in rows])
    best = returns == returns.max(1, keepdims=True)
    draws = best.all(1)
    return {
        "games": len(rows),
        "length": {"mean": float(lengths.mean()), "deviation": float(lengths.std()), "all": lengths.tolist()},
        "decisions": len(choices) / len(rows),
        "choices": {"mean": float(choices.mean()), "median": float(np.median(choices)), "most": int(choices.max())},
        "choices_by_part": by_part(rows, 2),
        "forced": float((choices == 1).mean()),
        "tree": float(np.log10(choices).sum() / len(rows)),
        "draws": estimate(draws.astype(float)) if game.players > 1 else None,
        "seats": [
            {
                "name": seat_name(game, seat),
                "reward": estimate(returns[:, seat], game.players),
                "best": estimate((best[:, seat] & ~draws).astype(float), game.players) if game.players > 1 else None,
            }
            for seat in range(game.players)
        ],
    }


def by_part(rows: Sequence[Row], column: int) -> list[float | None]:
    """The mean of a column of decisions in each part of the game, from its beginning to its end."""
    values: list[list[float]] = [[] for _ in range(PARTS)]
    for row in rows:
        for decision in row["decisions"]:
            if decision[column] is not None:
                values[min(PARTS - 1, PARTS * decision[1] // max(1, row["length"]))].append(decision[column])
    return [float(np.mean(part)) if part else None for part in values]


def tension(players: int, rows: Sequence[Row]) -> Measures:
    """How early the winner is known, how often the lead changes, and how much decisions matter, as the search of each player sees it.

    A game of one player has neither winner nor lead.
    """
    courses = [(row, leads(players, row)) for row in rows] if players > 1 else []
    won = [(row, lead) for row, lead in courses if row["returns"].count(max(row["returns"])) == 1]
    points = [known_from(row, lead) for row, lead in won]
    stakes = [[decision[4] for decision in row["decisions"] if decision[4] is not None] for row in rows]
    quartiles = np.quantile(points, (0.25, 0.5, 0.75)).tolist() if points else []
    return {
        "changes": estimate([max(0, len(lead) - 1) for _, lead in courses], least=0, most=math.inf),
        "known": {"quartiles": quartiles, "games": len(points)} if points else None,
        "right_by_part": [
            float(np.mean([right(players, row, lead, (part + 0.5) / PARTS) for row, lead in won])) if won else None
            for part in range(PARTS)
        ],
        "stake": estimate([float(np.mean(each)) for each in stakes if each]),
        "stake_by_part": by_part(rows, 4),
    }


def leads(players: int, row: Row) -> list[tuple[float, int]]:
    """Who led from which share of a game on: whose last own estimate was the highest, by AHEAD more than the former leader's."""
    prospects: dict[int, float] = {}
    changes: list[tuple[float, int]] = []
    for player, at, _, value, _ in row["decisions"]:
        if value is None:
            continue
        prospects[player] = value
        if len(prospects) < players:
            continue
        best = max(prospects, key=lambda seat: prospects[seat])
        former = changes[-1][1] if changes else None
        rival = sorted(prospects.values())[-2] if players > 1 else 0.0
        least = rival if former is None else prospects[former]
        if best != former and prospects[best] >= least + AHEAD:
            changes.append((at / row["length"], best))
    return changes


def known_from(row: Row, lead: list[tuple[float, int]]) -> float:
    """From which share of a game on its winner led; 1 if not before the end."""
    winner = row["returns"].index(max(row["returns"]))
    return lead[-1][0] if lead and lead[-1][1] == winner else 1.0


def right(players: int, row: Row, lead: list[tuple[float, int]], share: float) -> float:
    """Whether the leader at a share of the game has won it; where nobody leads, as often as a guess is right."""
    leader = next((seat for since, seat in reversed(lead) if since <= share), None)
    if leader is None:
        return 1 / players
    return float(row["returns"][leader] == max(row["returns"]))


def skill(plan: Plan, rows: Sequence[Row]) -> Measures:
    """What the strongest player scores against the next one."""
    *_, weaker, stronger = plan.entrants()
    scores = _by_deal(row for row in rows if row["player"] == str(stronger))
    return {"player": str(stronger), "opponent": str(weaker), "score": estimate(scores)}


def rated_players(plan: Plan, rows: Sequence[Row]) -> Posterior | None:
    """What games of the levels, and of a composition against them, say of the ratings; None without games."""
    scores = [(row["player"], row["opponent"], row["score"]) for row in rows]
    zero, *players = map(str, plan.entrants())
    return posterior(scores, {zero: ZERO}, players) if scores else None


def levels(plan: Plan, rated: Posterior | None) -> list[Measures]:
    """The levels of the game, see `icarus.engine.levels`; none without games."""
    zero, *players = plan.entrants()
    agents = {str(player): {"strategy": player.strategy, "iterations": player.iterations} for player in players}
    return level_rows(agents, rated, str(zero)) if rated else []


def composition(plan: Plan, race: Discovery, rated: Posterior | None) -> Measures:
    """What a race proved, or excluded; and the rating of its winner among the levels, once it has played them."""
    reference, units = str(race.protocol.reference), race.protocol.units[1]
    content: Measures = {"games": race.games, "reference": reference, "units": units, "winner": None}
    if race.winner is None:
        return content | {"excluded": race.excluded}
    winner, gain = str(race.winner.configuration), race.winner.difference
    name = str(Entrant(winner, plan.iterations))
    return content | {
        "winner": winner,
        "gain": Estimate(gain.mean, *gain.interval(), gain.units),
        "p": race.winner.p,
        "rating": rated.ratings()[name] if rated and name in rated.names else None,
    }


def strategies(plan: Plan, rows: Sequence[Row]) -> list[Measures]:
    """What each strategy scores above ½ against the reference, the best first; the intervals hold all at once."""
    comparisons = []
    for strategy in plan.strategies:
        scores = _by_deal(_games_of(strategy, plan, rows))
        gain = estimate([score - 0.5 for score in scores], len(plan.strategies))
        if gain is not None:
            comparisons.append({"strategy": strategy, "gain": gain})
    return sorted(comparisons, key=lambda each: -each["gain"].mean)


def _games_of(strategy: str, plan: Plan, rows: Iterable[Row]) -> list[Row]:
    """The games of a strategy with the plan's iterations."""
    player = str(Entrant(strategy, plan.iterations))
    return [row for row in rows if row["player"] == player]


def _by_deal(rows: Iterable[Row]) -> list[float]:
    """The mean score of both sides of each deal."""
    scores: dict[int, list[float]] = {}
    for row in rows:
        scores.setdefault(row["deal"], []).append(row["score"])
    return [float(np.mean(each)) for each in scores.values() if len(each) == 2]


def rates(plan: Plan, even: Sequence[Row], rows: Sequence[Row]) -> dict[str, float]:
    """Iterations a second of each strategy, in the mean over its decisions."""
    iterations, seconds = (sum(row["work"][i] for row in even) for i in (0, 1))
    rate_of = {REFERENCE: iterations / seconds} if seconds else {}
    for strategy in plan.strategies:
        spent = [row["seconds_per_decision"] for row in _games_of(strategy, plan, rows)]
        if sum(spent):
            rate_of[strategy] = plan.iterations * len(spent) / sum(spent)
    return rate_of
