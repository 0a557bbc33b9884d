"""Strengths for people to play against and for agents to be measured against: eight levels of a game, measured (docs/ladder.md)."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from icarus import checks

DATA = Path(__file__).with_name("levels.json")
LEVELS = 8
Settings: TypeAlias = dict[str, Any]  # by name, as read from JSON


def levels_of(game: str) -> list[Settings]:
    """The levels of a game, the weakest first: the settings of an agent, and its `elo` (random play at 0) with the 95 % interval,
    and its `step` above the level below.

    Raises:
        ValueError: the levels of this game have not been measured.
    """
    measured = json.loads(DATA.read_text("utf-8"))["games"]
    if game not in measured:
        raise ValueError(f"{game} has no measured levels; these games have: {', '.join(measured)}")
    return list(measured[game])


def level_settings(game: str, level: int) -> Settings:
    """The settings of the agent of a level: `strategy`, as text, and keywords of `Agent`.

    Raises:
        ValueError: no such level, or no levels of this game.
    """
    level = checks.integer("a level", level, 1, LEVELS)
    return dict(levels_of(game)[level - 1]["agent"])
