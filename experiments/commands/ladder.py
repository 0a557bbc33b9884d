"""The command that plays the outside ladder: its opponents among themselves, its table, and what both say."""

import math
import time
from pathlib import Path
from typing import Annotated

import typer

from experiments.analysis.document import Table
from experiments.commands.common import print_table, say
from experiments.plan.checks import refused
from experiments.play.ladder import fitted, play_opponents, play_table, table_of
from icarus.checks import integer
from icarus.ladder.ladders import DATA


def ladder(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The name of a game that has a ladder.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the rows are kept; what is there counts.")] = Path(
        "experiments/runs/ladder"
    ),
    minutes: Annotated[float, typer.Option(help="How long to play; 0 only fits and prints.")] = 0,
    table: Annotated[bool, typer.Option("--table", help="Play the table's players, not the opponents.")] = False,
    number: Annotated[int, typer.Option("--games", help="Of each of the table's players.")] = 200,
    seed: Annotated[int, typer.Option(help="Another seed means other openings, dice and deals.")] = 1,
    keep: Annotated[bool, typer.Option("--keep", help="Write the fitted ladder into the package.")] = False,
) -> None:
    """Play a game's outside ladder: its opponents against each other (whose ratings --keep writes), or with --table the
    compositions against them. Ctrl-C loses nothing."""
    with refused():
        integer("--seed", seed, 0)
        integer("--games", number, 1)
        if not (math.isfinite(minutes) and minutes >= 0):
            raise ValueError(f"--minutes is {minutes}; it must be a number that is not negative")
        deadline = time.monotonic() + 60 * minutes
        try:
            if minutes and table:
                for climb in play_table(game, out, number, seed, deadline):
                    if len(climb.rows) % 20 == 0:
                        say(f"{climb.name}: {climb.rating()} after {len(climb.rows)} games")
            elif minutes:
                for row in play_opponents(game, out, seed, deadline):
                    if "void" in row:
                        say(f"void: {row['void']}")
        except KeyboardInterrupt:
            say("stopped; what was played is kept")
        found = fitted(game, out)
        rated = table_of(game, out) if table else {rung.name: rung.rating for rung in found.rungs}
    lines = [
        [name, f"{rating.value:.0f}", f"{rating.low:.0f} … {rating.high:.0f}", str(rating.games)]
        for name, rating in rated.items()
    ]
    print_table(Table(f"{game}: ratings, random play at 0", ("player", "Elo", "95 %", "games"), lines))
    if keep:
        found.write(DATA / f"{found.game}.json")
