"""Searches that meet each other in both seats of a game of two: who beats whom, and by what share (Cowling et al. 2012, Figs. 7-10)."""

from collections.abc import Mapping, Sequence

import attrs

from experiments.plan.building import game_of
from experiments.plan.definition import Column
from experiments.plan.titles import budget, game_title
from experiments.store.summary import DRAW, Tally
from icarus.engine.scheme import Scheme

SEARCHES = {
    "CheatingUCT": "Cheating UCT",
    "CheatingEnsembleUCT": "Cheating ensemble UCT",
    "DeterminizedUCT": "Determinized UCT",
    "SO_ISMCTS": "SO-ISMCTS",
    "SO_ISMCTS_POM": "SO-ISMCTS + POM",
    "MO_ISMCTS": "MO-ISMCTS",
    "RIS_ISMCTS": "RIS-ISMCTS",
}  # in the order of the paper of 2012, and after them Goodman's
SIDES = {"lotr-confrontation": ("Light", "Dark", "Light + Dark")}
OTHER_SIDES = "player 1", "player 2", "players 1 + 2"

Game = tuple[str, str, str]  # game, variant and budget per decision


@attrs.frozen
class Score:
    """Games as one side sees them."""

    wins: int = 0
    draws: int = 0
    games: int = 0

    @property
    def losses(self) -> int:
        return self.games - self.wins - self.draws

    @property
    def mean(self) -> float:
        """The share of games won, a draw counting half."""
        return (self.wins + DRAW * self.draws) / self.games

    @property
    def turned(self) -> "Score":
        """The same games as the other side sees them."""
        return Score(self.losses, self.draws, self.games)

    def __add__(self, more: "Score") -> "Score":
        return Score(self.wins + more.wins, self.draws + more.draws, self.games + more.games)


def search_name(scheme: Scheme) -> str:
    """A search as the paper calls it; cheating is part of the names of those that cheat."""
    return SEARCHES[scheme.name]


@attrs.frozen
class RoundRobin:
    """The scores of the first seat's searches against the second's.

    Attributes:
        game: its name, variant and budget.
        scores: by the searches in the first seat and in the second.
    """

    game: Game
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

    def first(self, search: str) -> Score:
        """In the first seat, against all."""
        return sum((score for (searcher, _), score in self.scores.items() if searcher == search), Score())

    def second(self, search: str) -> Score:
        """In the second seat, against all."""
        return sum((score.turned for (_, opponent), score in self.scores.items() if opponent == search), Score())

    def on(self, side: str, search: str) -> Score:
        """On a side, by its name."""
        return (self.first, self.second, self.both)[self.sides.index(side)](search)

    def both(self, search: str) -> Score:
        """In either seat. A game against itself counts twice, once from each side, as in the paper."""
        return self.first(search) + self.second(search)

    @property
    def complete(self) -> bool:
        """Whether every search has met every search in both seats."""
        return all((first, second) in self.scores for first in self.searches for second in self.searches)


def round_robins(columns: Mapping[Column, Sequence[Tally]]) -> list[RoundRobin]:
    """The round robins among the results, from columns in which the baseline's searches have one seat of two."""
    scores_of: dict[Game, dict[tuple[str, str], Score]] = {}
    for column, tallies in columns.items():
        if len(column.seats) > 1 or game_of(column, {tally.cell.module for tally in tallies}).players != 2:
            continue
        scores = scores_of.setdefault((column.game.partition("(")[0], column.variant, budget(column)), {})
        for tally in tallies:
            same_strategy = str(tally.cell.spec.strategy) == str(column.opponent.strategy)
            if not tally.games or not same_strategy or tally.cell.own_iterations is not None:
                continue
            agent, opponent = search_name(tally.cell.spec.scheme), search_name(column.opponent.scheme)
            score = Score(tally.wins, tally.draws, tally.games)
            pair, oriented = ((agent, opponent), score) if column.seats[0] == 0 else ((opponent, agent), score.turned)
            scores[pair] = scores.get(pair, Score()) + oriented
    return [RoundRobin(game, scores) for game, scores in scores_of.items() if scores]
