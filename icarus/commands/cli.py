"""The command `icarus`: look at games and specifications, search a position, play matches, check games."""

from typing import Annotated

import typer

from icarus import games
from icarus.algebra import Enhancement
from icarus.bridges.seats import parameters_of
from icarus.commands.console import make_program, print_table, print_text, run_main, run_program
from icarus.commands.describe import describe_command
from icarus.commands.discover import discover_command
from icarus.commands.exploitability import exploitability_command
from icarus.commands.ladder import ladder_command
from icarus.commands.learn import learn_command
from icarus.commands.new import check_command, new_command
from icarus.commands.options import With
from icarus.commands.play import play_command
from icarus.commands.search import match_command, search_command
from icarus.kernel.game import AnyGame
from icarus.load_files import load_files
from icarus.specs import SPECIFICATIONS, parse


def games_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Print the rules of this one.")
    ] = None,
) -> None:
    """List the games, or print the rules and the parameters of one."""
    if name is not None:
        game = games.load(name)
        print_text(games.rules_of(game))
        for parameter in parameters_of(game.name):
            print_text(f"parameter: {parameter}={game.parameters[parameter]}")
        return
    print_table(
        ("game", "players", "information", "in a line"), map(_row, map(games.load, games.names()))
    )


def _row(game: AnyGame) -> tuple[str, int, str, str]:
    """A game with its rules in a line."""
    hidden = "perfect" if game.determinize is None else "hidden"
    chance = ", chance" if game.chance is not None else ""
    return str(game), game.players, hidden + chance, games.rules_of(game).split("\n")[0]


def specs_command(
    strategy: Annotated[
        str | None,
        typer.Argument(
            metavar="STRATEGY", help="Print the seven slots of this one, or of a composition."
        ),
    ] = None,
    files: With = None,
) -> None:
    """List the enhancements, those of your files too, or print one as the paper does. They are composed with >>, +, / and ^."""
    names = load_files(files or [])
    if strategy is not None:
        print_text(parse(strategy, **names).specification())
        return
    rows = []
    for name, enhancement in {**SPECIFICATIONS, **names}.items():
        if not isinstance(enhancement, Enhancement):
            continue
        parts = enhancement.components
        rule = enhancement.policy.rule if parts == (enhancement,) else enhancement.name
        records = " ⊔ ".join(str(part.records) for part in parts)
        information = " ⊔ ".join(str(part.information) for part in parts)
        rows.append((name, records, information, str(rule).replace("*", " * ")))
    print_table(("name", "records R", "information Θ", "policy α"), rows)


COMMANDS = (  # the first line of each one's docstring stands in the list of all
    games_command,
    specs_command,
    search_command,
    match_command,
    play_command,
    new_command,
    check_command,
    discover_command,
    learn_command,
    ladder_command,
    describe_command,
    exploitability_command,
)
app = make_program(COMMANDS, "Information capture and reuse strategies in Monte Carlo tree search.")


def run(arguments: list[str]) -> int:
    """Run the command with these arguments, and return its exit code."""
    return run_program(app, "icarus", arguments)


def main() -> None:
    """Run the command; bad input is one sentence on stderr and exit code 2."""
    run_main(app, "icarus")
