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

from experiments.analysis.statistics import Estimate
from experiments.plan.definition import AgentSpec, Cell, Column, Label
from experiments.plan.titles import title
from experiments.store.results import Results
from icarus.ladder.ladders import NORMAL_95

STEPS = 100  # of Newton's method; a few are enough where there is a maximum
PRECISION = 1e-10
FARTHEST = 12.0  # how far ratings go that nothing bounds, for their order

Placing = tuple[tuple[str, ...], ...]  # the strategies that took each place, from the first on


@attrs.frozen
class Rating(Estimate):
    """An agent's rating with its 95 % interval; NaN, and from -∞ to ∞, where the games bound none."""

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

    They are finite where every group of agents has been behind one of the others at least once (Ford 1957; Hunter 2004, assumption 1).
    Otherwise a group runs away from all others, and the mean of all with it: no rating is bounded then.

    Args:
        placings: how often each outcome was seen.

    Raises:
        ValueError: the games do not connect all agents with each other.
    """
    names = sorted({name for placing in placings for place in placing for name in place})
    stages = [stage for placing, times in placings.items() for stage in _stages(placing, times, names)]
    is_bounded = _is_bounded(stages, len(names))
    value, information = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for _ in range(STEPS):
        gradient, information = _derivatives(stages, value)
        step = np.linalg.pinv(information) @ gradient
        value = value + step * min(1.0, 1.0 / max(np.abs(step).max(), PRECISION))
        value -= value.mean()
        if np.abs(step).max() < PRECISION or (not is_bounded and np.abs(value).max() > FARTHEST):
            break
    half_widths = NORMAL_95 * np.sqrt(np.maximum(np.diag(np.linalg.pinv(information)), 0))
    games = Counter[str]()
    for placing, times in placings.items():
        games.update({name: times for name in {name for place in placing for name in place}})
    order = sorted(range(len(names)), key=lambda i: (-value[i], names[i]))
    low, high = value - half_widths, value + half_widths
    if not is_bounded:
        value, low, high = (np.full(len(names), each) for each in (math.nan, -math.inf, math.inf))
    return [Rating(float(value[i]), float(low[i]), float(high[i]), names[i], games[names[i]]) for i in order]


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


def _is_bounded(stages: Sequence[Stage], number: int) -> bool:
    """Whether no group was always ahead: from each agent a path leads to each other, every agent on it once ahead of the next.

    Raises:
        ValueError: the games do not connect all agents with each other.
    """
    from scipy.sparse.csgraph import connected_components

    ahead = np.zeros((number, number), bool)
    for stage in stages:
        ahead |= np.outer(stage.takers > 0, stage.left > 0)
    if number < 2 or connected_components(ahead, connection="weak")[0] > 1:
        raise ValueError("ratings need games that connect all agents with each other")
    return bool(connected_components(ahead, connection="strong")[0] == 1)


def name_of(cell: Cell) -> str:
    """An agent's strategy, and its iterations where they are its own: with others it is another agent."""
    return cell.spec.text + _own_budget(cell)


def caption_of(cell: Cell) -> str:
    """The same as people must read it."""
    return cell.spec.caption + _own_budget(cell)


def _own_budget(cell: Cell) -> str:
    return "" if cell.own_iterations is None else f" ({cell.own_iterations} iterations)"


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
            players = [name_of(cell) if player == seat else cell.column.opponent.text for player in range(len(rewards))]
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
