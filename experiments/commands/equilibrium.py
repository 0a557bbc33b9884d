"""The command that measures how exploitable players are."""

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.common import print_table, say
from experiments.plan.checks import refused
from experiments.play.exploitability import PLAYERS, STITCHING, Measurement, Plan, measure
from experiments.weigh.exploitability import exploitability_table
from icarus.checks import integer


def exploitability(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where rows are kept; what is there is not measured again.")],
    named: Annotated[str, typer.Option("--games", help="Games, separated by spaces.")] = "kuhn-poker leduc-poker",
    players: Annotated[
        list[str] | None,
        typer.Option(
            "--player", help='A strategy or "OOS(…)", repeated; Table 1\'s sixteen, IST and PST if none is given.'
        ),
    ] = None,
    iterations: Annotated[
        list[int] | None, typer.Option(help="Of each search, repeated; 100 and 1000 if not given.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How often each is measured.")] = 3,
    method: Annotated[str, typer.Option(help='"stitching" or "aggregate".')] = STITCHING,
    matches: Annotated[int, typer.Option(help="Of the aggregate method.")] = 100,
) -> None:
    """Measure how far searches are from equilibrium (Lanctot, Lisý and Bowling, 2015); the sixteen combinations if none is named."""
    budgets = tuple(iterations or (100, 1000))
    with refused():
        for budget in budgets:
            integer("iterations", budget, least=1)
        integer("seeds", seeds, least=1)
        integer("matches", matches, least=1)
    plan = Plan(tuple(named.split()), tuple(players or PLAYERS), budgets, seeds, method, matches)

    def tell(done: int, total: int, row: Measurement) -> None:
        say(
            f"{done} of {total}; now {row['player']} in {row['game']}, {row['iterations']} iterations, seed {row['seed']}"
        )

    print_table(exploitability_table(measure(plan, out, tell)))
