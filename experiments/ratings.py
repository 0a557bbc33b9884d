"""Searches that meet each other in both seats of a game of two: who beats whom, and by what share (Cowling et al. 2012, Figs. 7-10)."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import attrs
import numpy as np

from experiments.papers import DOU_DI_ZHU
from experiments.plan.cells import Cell, Column, budget, game_title, title
from experiments.plan.loading import game_of
from experiments.results import Columns, Results, Score, Tally, any_graded
from experiments.statistics import WinCount
from icarus.arena.player import Entrant
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.statistics import NORMAL_95, Estimate

# in the order of the paper of 2012, and after them Goodman's
SEARCHES = {
    "CheatingUCT": "Cheating UCT",
    "CheatingEnsembleUCT": "Cheating ensemble UCT",
    "DeterminizedUCT": "Determinized UCT",
    "SO_ISMCTS": "SO-ISMCTS",
    "SO_ISMCTS_POM": "SO-ISMCTS + POM",
    "MO_ISMCTS": "MO-ISMCTS",
    "RIS_ISMCTS": "RIS-ISMCTS",
}
SIDES = {"lotr-confrontation": ("Light", "Dark", "Light + Dark")}
OTHER_SIDES = "player 1", "player 2", "players 1 + 2"


def search_name(player: Entrant) -> str:
    """A search as the paper calls it; cheating is part of the names of those that cheat."""
    return SEARCHES[player.search.name]


def strategy_name(player: Entrant) -> str:
    """What a player searches by: its strategy, and an evaluation."""
    return attrs.evolve(player, scheme=str(MO_ISMCTS)).text


def by_strategy(columns: Columns) -> dict[str, Columns]:
    """The columns of each budget and strategy, with the agents that search by their opponents' strategy alone.

    Their names are budgets, and where there are several strategies these too.
    """
    groups: dict[tuple[str, str], Columns] = {}
    for column, tallies in columns.items():
        strategy = strategy_name(column.opponent)
        matching = [
            each for each in tallies if each.games and strategy_name(each.cell.spec) == strategy
        ]
        if matching:
            groups.setdefault((strategy, budget(column)), {})[column] = matching
    several = len({strategy for strategy, _ in groups}) > 1
    return {
        f"{strategy}, {per_decision}" if several else per_decision: group
        for (strategy, per_decision), group in groups.items()
    }


@attrs.frozen
class RoundRobin:
    """The scores of the first seat's searches against the second's.

    Attributes:
        game: its name, variant and budget (`by_strategy`).
        scores: by the searches in the first seat and in the second.
    """

    game: tuple[str, str, str]
    scores: Mapping[tuple[str, str], Score]

    @property
    def sides(self) -> tuple[str, str, str]:
        """What the first seat, the second, and both together are called."""
        return SIDES.get(self.game[0], OTHER_SIDES)

    @property
    def title(self) -> str:
        return game_title(*self.game[:2])

    @property
    def searches(self) -> list[str]:
        """Those that have played, in the paper's order."""
        return [name for name in SEARCHES.values() if any(name in pair for pair in self.scores)]

    def on(self, side: str, search: str) -> Score:
        """On a side, by its name, against all. In both seats a game against itself counts twice, once from each side, as in the paper."""
        first_seat, second_seat, _ = self.sides
        total = Score()
        for (searcher, opponent), score in self.scores.items():
            if searcher == search and side != second_seat:
                total += score
            if opponent == search and side != first_seat:
                total += score.turned
        return total

    @property
    def complete(self) -> bool:
        """Whether every search has met every search in both seats."""
        return all(
            (first, second) in self.scores for first in self.searches for second in self.searches
        )


def round_robins(columns: Columns) -> list[RoundRobin]:
    """The round robins among the results, from columns in which searches by one strategy have one seat of two.

    Games with graded rewards are left out: what one side does not win the other has not won. So are those in which several searches of
    a seat have one name, as it does not tell their parameters.
    """
    graded = {column.game for column, tallies in columns.items() if any_graded(tallies)}
    scores_of: dict[tuple[str, str, str], dict[tuple[Scheme, Scheme], Score]] = {}
    for name, group in by_strategy(columns).items():
        for column, tallies in group.items():
            if (
                len(column.seats) > 1
                or column.game in graded
                or game_of(column, {tally.cell.module for tally in tallies}).players != 2
            ):
                continue
            scores = scores_of.setdefault((column.game.partition("(")[0], column.variant, name), {})
            for tally in tallies:
                if tally.cell.own_iterations is not None:
                    continue
                agent, opponent = tally.cell.spec.search, column.opponent.search
                pair = agent, opponent
                score: Score = tally
                if column.seats[0] != 0:
                    pair = opponent, agent
                    score = tally.turned
                scores[pair] = scores.get(pair, Score()) + score
    return [
        RoundRobin(game, _by_names(scores))
        for game, scores in scores_of.items()
        if scores and all(map(_have_different_names, zip(*scores, strict=True)))
    ]


def _by_names(scores: Mapping[tuple[Scheme, Scheme], Score]) -> dict[tuple[str, str], Score]:
    return {
        (SEARCHES[first.name], SEARCHES[second.name]): score
        for (first, second), score in scores.items()
    }


def _have_different_names(searches: Iterable[Scheme]) -> bool:
    """Whether no two of the searches differ in their parameters alone."""
    different = set(searches)
    return len({search.name for search in different}) == len(different)


# -------------------- Results put side by side as the earlier papers do: by the number of trees, and by who sees hidden cards.


PEASANTS, ALL_SEE = "players 2 and 3", "players 2 and 3, all three seeing"


def by_trees(tallies: Iterable[Tally]) -> dict[str, dict[int, Tally]]:
    """Determinized searches by what they search by and all else but the number of their determinizations, and by this."""
    lines: dict[str, dict[int, Tally]] = {}
    for tally in sorted(tallies, key=lambda tally: tally.cell.spec.search.trees):
        player, search = tally.cell.spec, tally.cell.spec.search
        if search.name == "DeterminizedUCT":
            line = f"{strategy_name(player)} by {attrs.evolve(search, trees=1, tree_parameter='')}"
            lines.setdefault(line, {})[search.trees] = tally
    return lines


def hidden_cards(columns: Columns) -> dict[str, tuple[WinCount, WinCount]]:
    """By who sees the others' cards in Dou Di Zhu: wins of that side and games, when it does not see them and when it does.

    The columns are those of one budget and strategy (`by_strategy`).
    The peasants' games are those of the landlord, seen from the other side. Whoever has not played yet is left out, and searches that
    differ in their parameters alone.
    """
    # by the side whose wins count, the search of the seat that agents take, and that of the other two
    rates_of: dict[tuple[str, str, str], list[WinCount]] = {}
    for column, tallies in columns.items():
        if column.game != DOU_DI_ZHU or len(column.seats) > 1:
            continue
        for tally in tallies:
            if tally.cell.own_iterations is not None:
                continue
            searches = search_name(tally.cell.spec), search_name(column.opponent)
            side = f"player {column.seats[0] + 1}"
            rates_of.setdefault((side, *searches), []).append((tally.wins, tally.games))
            if column.seats[0] == 0:
                rate = tally.games - tally.wins, tally.games
                rates_of.setdefault((PEASANTS, *searches), []).append(rate)
    rates = {who: counts[0] for who, counts in rates_of.items() if len(counts) == 1}
    blind, seeing = SEARCHES["DeterminizedUCT"], SEARCHES["CheatingEnsembleUCT"]
    pairs = {
        side: ((side, blind, blind), (side, seeing, blind))
        for side in ("player 1", "player 2", "player 3")
    }
    pairs[PEASANTS] = (PEASANTS, blind, blind), (PEASANTS, blind, seeing)
    pairs[ALL_SEE] = (PEASANTS, blind, blind), (PEASANTS, seeing, seeing)
    return {
        who: (rates[without], rates[sees])
        for who, (without, sees) in pairs.items()
        if without in rates and sees in rates
    }


# -------------------- Ratings of a tournament: Bradley-Terry for two players, Plackett-Luce for more, with 95 % intervals.


STEPS = 100  # of Newton's method; a few are enough where there is a maximum
PRECISION = 1e-10
FARTHEST = 12.0  # how far ratings go that nothing bounds, for their order

Placing = tuple[tuple[str, ...], ...]  # the strategies that took each place, from the first on


# Places that were taken: by which part of each agent, of how many that were left, and how often that happened. [places, agents], [places]
Stages = tuple[np.ndarray, np.ndarray, np.ndarray]


def ratings(placings: Counter[Placing]) -> dict[str, Estimate]:
    """The ratings of all that take part with their 95 % intervals, the strongest first; `count` is that of their games.

    They are finite where every group of agents has been behind one of the others at least once (Ford 1957; Hunter 2004, assumption 1).
    Otherwise a group runs away from all others, and the mean of all with it. Then no rating is bounded: each is NaN, from -∞ to ∞.

    Args:
        placings: how often each outcome was seen.

    Raises:
        ValueError: the games do not connect all agents with each other.
    """
    games = Counter[str]()
    for placing, times in placings.items():
        games.update(dict.fromkeys(itertools.chain.from_iterable(placing), times))
    names = sorted(games)
    lines = list[tuple[list[float], list[int], float]]()
    for placing, times in placings.items():
        lines += _stages(placing, times, names)
    stages: Any = tuple(map(np.array, zip(*lines, strict=True)))
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
    order = sorted(range(len(names)), key=lambda i: (-value[i], names[i]))
    if not is_bounded:
        return {names[i]: Estimate(math.nan, -math.inf, math.inf, games[names[i]]) for i in order}
    low, high = value - half_widths, value + half_widths
    return {
        names[i]: Estimate(float(value[i]), float(low[i]), float(high[i]), games[names[i]])
        for i in order
    }


def _stages(
    placing: Placing, times: int, names: Sequence[str]
) -> Iterator[tuple[list[float], list[int], float]]:
    """Of each place: who came there, counted by name, and who was still to be placed, and how often.

    Each place is one choice; several who share it have equal parts of it. Who comes last was not chosen, unless all are equal.
    """
    for place, group in enumerate(placing[:-1] or placing):
        left = list(itertools.chain.from_iterable(placing[place:]))
        parts = [group.count(name) / len(group) for name in names]
        yield parts, [left.count(name) for name in names], times


def _derivatives(stages: Stages, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of the log-likelihood and the information matrix."""
    takers, left, times = stages
    chance = left * np.exp(value)
    chance /= chance.sum(axis=1, keepdims=True)
    number = times * takers.sum(axis=1)
    information = np.diag(number @ chance) - chance.T @ (number[:, None] * chance)
    return times @ takers - number @ chance, information


def _is_bounded(stages: Stages, number: int) -> bool:
    """Whether no group was always ahead: from each agent a path leads to each other, every agent on it once ahead of the next.

    Raises:
        ValueError: the games do not connect all agents with each other.
    """
    from scipy.sparse.csgraph import connected_components

    takers, left, _ = stages
    ahead = takers.T @ left > 0
    if number < 2 or connected_components(ahead, connection="weak")[0] > 1:
        raise ValueError("ratings need games that connect all agents with each other")
    return bool(connected_components(ahead, connection="strong")[0] == 1)


def tournaments(results: Results) -> dict[str, list[Cell]]:
    """The cells by game and budget, of columns that differ only in their opponents, where there are several."""
    cells_of: dict[Column, list[Cell]] = {}
    for cell in results.cells:
        column = attrs.evolve(cell.column, opponent=Entrant())
        cells_of.setdefault(column, []).append(cell)
    return {
        title(column, cells_of): cells
        for column, cells in cells_of.items()
        if len({cell.column.opponent.text for cell in cells if results.games[cell.key]}) > 1
    }


def placings_of(cells: Iterable[Cell], results: Results) -> Counter[Placing]:
    """How often each outcome was seen; a game of an agent against itself says nothing."""
    placings = Counter[Placing]()
    for cell in cells:
        if cell.is_opponent:
            continue
        counts = Counter((game.seat, tuple(game.returns)) for game in results.games[cell.key])
        for (seat, rewards), times in sorted(counts.items()):
            players = [cell.column.opponent.text] * len(rewards)
            players[seat] = cell.text
            ranked = sorted(
                zip(rewards, players, strict=True), key=lambda each: (-each[0], each[1])
            )
            groups = itertools.groupby(ranked, key=itemgetter(0))
            placing = tuple(tuple(name for _, name in group) for _, group in groups)
            placings[placing] += times
    return placings
