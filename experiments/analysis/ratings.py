"""Ratings of a tournament: Bradley-Terry for two players, Plackett-Luce for more, with 95 % intervals.

A tournament is an experiment whose opponents are a list, so that agents meet each other. The model: when some of the players
of a game are still to be placed, the next place goes to each with a chance proportional to its strength (Plackett 1975; with
two players this is Bradley and Terry 1952). Players that share a place are treated as if each of them had taken it first from
all that were left (Breslow's approximation); a drawn game of two counts one half for each. The rating is the logarithm
of the strength, with mean 0 over agents; a difference of 1 are odds of e : 1.

Libraries fit parts of this: `choix` has neither shared places nor intervals, and the stratified Cox regression of statsmodels has both
but no half wins. The tests compare with the latter, with a logistic model and with published ratings.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from experiments.analysis.statistics import CONFIDENCE, Estimate
from experiments.plan.definition import AgentSpec, Column, Label
from experiments.plan.titles import title
from experiments.store.results import Results

STEPS = 100  # of Newton's method; a few are enough where there is a maximum
PRECISION = 1e-10
FARTHEST = 12.0  # a rating beyond is the sign of an agent that always wins or always loses

Placing = tuple[tuple[str, ...], ...]  # the strategies that took each place, from the first on


@attrs.frozen
class Rating(Estimate):
    """An agent's rating with its 95 % interval; without an interval where its games do not bound it."""

    strategy: str
    games: int


@attrs.frozen
class Stage:
    """A place that was taken: by how many of each agent, of how many that were left, and how often that happened."""

    takers: np.ndarray
    left: np.ndarray
    times: float


def ratings(placings: Counter[Placing]) -> list[Rating]:
    """The ratings of all that take part, the strongest first.

    Args:
        placings: how often each outcome was seen.

    Raises:
        ValueError: the games do not connect all agents with each other.
    """
    names = sorted({name for placing in placings for place in placing for name in place})
    stages = [stage for placing, times in placings.items() for stage in _stages(placing, times, names)]
    _connected(stages, names)
    value, information = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for _ in range(STEPS):
        gradient, information = _derivatives(stages, value)
        step = np.linalg.pinv(information) @ gradient
        value = value + step * min(1.0, 1.0 / max(np.abs(step).max(), PRECISION))
        value -= value.mean()
        if np.abs(step).max() < PRECISION or np.abs(value).max() > FARTHEST:
            break
    from scipy.special import ndtri

    half_widths = float(ndtri((1 + CONFIDENCE) / 2)) * np.sqrt(np.maximum(np.diag(np.linalg.pinv(information)), 0))
    games = Counter[str]()
    for placing, times in placings.items():
        games.update({name: times for name in {name for place in placing for name in place}})
    bounded = np.abs(value) < FARTHEST / 2 if np.abs(value).max() > FARTHEST else np.ones(len(names), bool)
    half_widths = np.where(bounded, half_widths, math.inf)
    rated = [
        Rating(float(value[i]), float(value[i] - half_widths[i]), float(value[i] + half_widths[i]), name, games[name])
        for i, name in enumerate(names)
    ]
    return sorted(rated, key=lambda rating: (-rating.value, rating.strategy))


def _stages(placing: Placing, times: int, names: Sequence[str]) -> Iterable[Stage]:
    def count(group: Iterable[str]) -> np.ndarray:
        counted = Counter(group)
        return np.array([counted[name] for name in names], float)

    if len(placing) == 1 and len(placing[0]) == 2:  # a draw of two: one half for each
        yield from (Stage(count([name]), count(placing[0]), times / 2) for name in placing[0])
        return
    for place, group in enumerate(placing[:-1] if len(placing[-1]) == 1 else placing):
        yield Stage(count(group), count(name for later in placing[place:] for name in later), times)


def _derivatives(stages: Sequence[Stage], value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of the log-likelihood and the information matrix."""
    gradient, information = np.zeros_like(value), np.zeros((len(value), len(value)))
    strength = np.exp(value)
    for stage in stages:
        chance, number = stage.left * strength / (stage.left @ strength), stage.times * stage.takers.sum()
        gradient += stage.times * stage.takers - number * chance
        information += number * (np.diag(chance) - np.outer(chance, chance))
    return gradient, information


def _connected(stages: Sequence[Stage], names: Sequence[str]) -> None:
    group = list(range(len(names)))
    for stage in stages:
        labels = {group[i] for i in np.flatnonzero(stage.left)}
        group = [min(labels) if label in labels else label for label in group]
    if len(names) < 2 or len(set(group)) > 1:
        raise ValueError("ratings need games that connect all agents with each other")


def tournaments(results: Results) -> dict[str, Counter[Placing]]:
    """The outcomes by game and budget, of columns that differ only in their opponents, where there are several."""
    placings_of: dict[str, Counter[Placing]] = {}
    opponents: dict[str, set[str]] = {}
    for cell_index, seat, returns, times in results.select(
        "SELECT cell, seat, returns, count(*) FROM games GROUP BY ALL ORDER BY ALL"
    ):
        cell = results.cells[cell_index]
        name = _name(cell.column, results)
        opponents.setdefault(name, set()).add(cell.column.opponent.text)
        if not cell.is_opponent:  # a game of an agent against itself says nothing
            rewards = [float(reward) for reward in json.loads(returns)]
            players = [
                cell.spec.text if player == seat else cell.column.opponent.text for player in range(len(rewards))
            ]
            placing = tuple(
                tuple(sorted(player for player, reward in zip(players, rewards, strict=True) if reward == level))
                for level in sorted(set(rewards), reverse=True)
            )
            placings_of.setdefault(name, Counter())[placing] += times
    return {name: placings for name, placings in placings_of.items() if len(opponents[name]) > 1}


def _name(column: Column, results: Results) -> str:
    among = [_without_opponent(cell.column) for cell in results.cells]
    return title(_without_opponent(column), among)


def _without_opponent(column: Column) -> Column:
    return attrs.evolve(column, opponent=AgentSpec(Label("")))
