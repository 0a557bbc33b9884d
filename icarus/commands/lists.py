"""`icarus games` and `icarus specs`: what there is to play, and to play with."""

import sys
from typing import Annotated

from icarus import games
from icarus.commands.console import out, print_table, print_text
from icarus.commands.options import With, value_option
from icarus.kernel.game import AnyGame
from icarus.load_files import load_files
from icarus.specs import SPECIFICATIONS, parse


def games_command() -> None:
    """List the games."""
    print_table(("game", "players", "information", "in a line"), map(_row, map(games.load, games.names())))


def _row(game: AnyGame) -> tuple[str, int, str, str]:
    hidden = "perfect" if game.determinize is None else "hidden"
    chance = ", chance" if game.chance is not None else ""
    return str(game), game.players, hidden + chance, _first_line(game)


def _first_line(game: AnyGame) -> str:
    """The rules in a line: of the game's own module, or of the one that has its deal."""
    module = sys.modules.get(f"icarus.games.{game.name.replace('-', '_')}")
    if module is None or hasattr(module, "__path__"):
        module = sys.modules[game.initial.__module__]
    return (module.__doc__ or "").strip().split("\n")[0]


def specs_command(
    show: Annotated[
        str | None, value_option("STRATEGY", "Print the seven slots of this enhancement or composition.")
    ] = None,
    files: With = None,
) -> None:
    """List the enhancements, or print one as the paper does."""
    names = load_files(files or [])
    if show is not None:
        print_text(parse(show, **names).specification())
        return
    rows = []
    for name, enhancement in SPECIFICATIONS.items():
        rule = enhancement.policy.rule if len(enhancement.components) == 1 else enhancement.name
        rows.append((name, enhancement.records, enhancement.information, str(rule).replace("*", " * ")))
    print_table(("name", "records R", "information Θ", "policy α"), rows)
    if out.is_terminal:
        print_text("Compose them with >>, +, / and ^; icarus specs --show MAST prints one.")
