"""Strengths for people to play against and for agents to be measured against: eight levels of a game, measured (docs/ladder.md)."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from icarus import checks
from icarus.kernel.game import AnyGame

FILE = "levels.json"
DATA = Path(__file__).with_name(FILE)
LEVELS = 8
Settings: TypeAlias = dict[str, Any]  # by name, as read from JSON


def levels_of(game: AnyGame | str, file: Path | None = None) -> list[Settings]:
    """The levels of a game, the weakest first: the settings of an agent, and its `elo` (random play at 0) with the 95 % interval,
    and its `step` above the level below.

    Args:
        file: of the levels, as `icarus describe` writes it, or the directory of a report; by default the package's.

    Raises:
        ValueError: the levels of this game have not been measured, or the file cannot be read.
    """
    measured = _read_levels(file or DATA)
    name = str(game)
    if name not in measured:
        where = "these games have" if file is None else f"{file} has those of"
        raise ValueError(f"{name} has no measured levels; {where}: {', '.join(measured)}")
    return list(measured[name])


def number_of_levels(game: AnyGame, file: Path | None) -> int:
    """How many levels have been measured for a game.

    Raises:
        ValueError: a file is given, and has none of this game.
    """
    return len(_read_levels(DATA).get(str(game), ()) if file is None else levels_of(game, file))


def _read_levels(file: Path) -> dict[str, list[Settings]]:
    """The levels of each game in a file.

    Raises:
        ValueError: there is no such file, or something else is in it.
    """
    file = file / FILE if file.is_dir() else file
    try:
        games = json.loads(file.read_text("utf-8"))["games"]
        if all(len(levels) == LEVELS for levels in games.values()):
            return dict(games)
    except FileNotFoundError:
        raise ValueError(f"there is no file {file}; icarus describe writes the levels of a game") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ValueError(f"{file} does not have the levels of a game, as icarus describe writes them")


def level_settings(game: AnyGame | str, level: int, file: Path | None = None) -> Settings:
    """The settings of the agent of a level: `strategy`, as text, and keywords of `Agent`.

    Raises:
        ValueError: no such level, no levels of this game, or no such file.
    """
    level = checks.integer("a level", level, 1, LEVELS)
    return dict(levels_of(game, file)[level - 1]["agent"])
