"""Ladders: for each game, opponents whose ratings are known, from random play (0) upwards; package data, fitted to committed rows."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from icarus.engine.match import Agent
from icarus.kernel.game import AnyGame
from icarus.ladder.engines import ENGINES, EnginePlayer
from icarus.ladder.matches import RandomPlayer, Row
from icarus.ladder.rating import Rating, Score, ratings
from icarus.specs import parse

DATA = Path(__file__).with_name("data")
RANDOM = "random"
ZERO = Rating(0.0, 0.0, 0.0)


@attrs.frozen
class Rung:
    """An opponent with its rating.

    Attributes:
        name: random play, an engine, or a text for an agent of this library.
        agent: the settings of such an agent; empty for the others.
    """

    name: str
    rating: Rating
    agent: Mapping[str, Any] = attrs.field(factory=dict)

    def player(self) -> Any:
        """The opponent at the table."""
        if self.name == RANDOM:
            return RandomPlayer()
        return agent_of(self.agent) if self.agent else EnginePlayer(ENGINES[self.name])

    def is_installed(self) -> bool:
        """Whether the opponent can play here."""
        return self.name == RANDOM or bool(self.agent) or ENGINES[self.name].is_installed()


@attrs.frozen
class Ladder:
    """The opponents of a game, the weakest first."""

    game: str
    rungs: tuple[Rung, ...]

    def ratings(self) -> dict[str, Rating]:
        """The ratings by name."""
        return {rung.name: rung.rating for rung in self.rungs}

    def write(self, path: Path) -> None:
        """Write the ladder as JSON."""
        rungs = [
            {"name": rung.name, **{key: round(value) for key, value in attrs.asdict(rung.rating).items()}}
            | ({"agent": dict(rung.agent)} if rung.agent else {})
            for rung in self.rungs
        ]
        path.write_text(json.dumps({"game": self.game, "rungs": rungs}, indent=1, ensure_ascii=False) + "\n", "utf-8")


def agent_of(settings: Mapping[str, Any]) -> Agent:
    """An agent of a strategy's text and the keywords of `Agent`."""
    keywords = dict(settings)
    return Agent(parse(keywords.pop("strategy")), **keywords)


def read_ladder(game: str | AnyGame) -> Ladder:
    """The ladder of a game.

    Raises:
        ValueError: the game has none.
    """
    name = game if isinstance(game, str) else game.name
    path = DATA / f"{name}.json"
    if not path.exists():
        names = ", ".join(sorted(path.stem for path in DATA.glob("*.json") if path.stem != "levels"))
        raise ValueError(f"there is no ladder of {name}; there are ladders of {names}")
    content = json.loads(path.read_text("utf-8"))
    rungs = [
        Rung(rung["name"], Rating(rung["value"], rung["low"], rung["high"], rung["games"]), rung.get("agent", {}))
        for rung in content["rungs"]
    ]
    return Ladder(name, tuple(rungs))


def fit(ladder: Ladder, rows: Iterable[Row]) -> Ladder:
    """The same opponents with the ratings that games say, random play at 0; players who are no opponents count as a tie between these."""
    values = ratings(scores_of(rows), {RANDOM: ZERO})
    rungs = [attrs.evolve(rung, rating=values[rung.name]) for rung in ladder.rungs if rung.name in values]
    return Ladder(ladder.game, tuple(sorted(rungs, key=lambda rung: rung.rating.value)))


def scores_of(rows: Iterable[Row]) -> list[Score]:
    """The scores of the games that are not void."""
    return [(row["player"], row["opponent"], row["score"]) for row in rows if "score" in row]
