"""What several commands take, and their exit codes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from icarus import games
from icarus.arena.player import DEFAULT_ITERATIONS, EVALUATION, LoadedGame, load_game
from icarus.engine.match import PLAYS, Agent
from icarus.engine.scheme import SCHEMES
from icarus.kernel.game import AnyGame
from icarus.load_files import game_of_file

T = TypeVar("T")
FAILED, REFUSED, UNCHECKED, INTERRUPTED, CLOSED = 1, 2, 3, 130, 141
DEFAULT_SCHEME = "MO_ISMCTS"


def value_option(metavar: str, help: str, *names: str, **limits: Any) -> Any:
    """An option that takes a value, which the help calls `metavar`; `limits` as of `typer.Option`."""
    return typer.Option(*names, metavar=metavar, help=help, **limits)


def integer_option(help: str, *names: str, min: int | None = 1) -> Any:
    """An option that takes an integer, of at least 1 if nothing else is said."""
    return value_option("INTEGER", help, *names, min=min)


def iterations_option(default: int) -> Any:
    """An option that takes the iterations of a search."""
    return integer_option(f"Iterations per decision; {default} if --seconds is not given either.")


GAME_HELP = (
    'A game of the library ("icarus games" lists them), with its parameters if any: "knockout-whist(players=3)". '
    "Or a FILE.py with a game."
)
GameName = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)]
Iterations = Annotated[int | None, iterations_option(DEFAULT_ITERATIONS)]
Seconds = Annotated[float | None, value_option("SECONDS", "Seconds per decision, by the clock.")]
Seed = Annotated[
    int, integer_option("Seed of everything that is random: deals, chance and searches.", min=0)
]
Threads = Annotated[int, integer_option("Threads of a search. They share its iterations.")]
Processes = Annotated[int, integer_option("Processes to play games in.")]
CLUSTER_HELP = 'Play on a dask cluster: the address of its scheduler, or "local".'
Cluster = Annotated[str | None, value_option("ADDRESS", CLUSTER_HELP)]
CUTOFF_HELP = "Cut a playout off after this many actions of simulation. The game's heuristic then gives the rewards."
Cutoff = Annotated[int | None, integer_option(CUTOFF_HELP, min=None)]
PlayedBy = Annotated[
    str,
    value_option(
        "PLAY",
        f"How a search is played: {PLAYS[0]!r}, the action that it recommends, or {PLAYS[1]!r}, each action as often as "
        "it visits it. An algorithm such as OOS draws from its policy.",
    ),
]
LEVEL_HELP = "1 (weak and immediate) to the highest of the game, 3 to 13; see docs/ladder.md."
LEVELS_HELP = "Levels of a game of your own: the directory of its report (icarus describe)."
Levels = Annotated[Path | None, value_option("DIR", LEVELS_HELP)]
WITH_HELP = "Python file with enhancements, weights or games of your own. Repeatable."
EVALUATION_HELP = (
    "File of a learned evaluation (icarus learn), which is the game's heuristic for all strategies."
)
Learned = Annotated[Path | None, value_option("FILE.npz", EVALUATION_HELP, "--evaluation")]
With = Annotated[list[Path] | None, value_option("FILE.py", WITH_HELP, "--with")]
DECAY_HELP = "Weight of a search's records in the next {}: 0 forgets them, 1 keeps all that apply. One number, or one for each strategy."
SCHEMES_HELP = (
    f'One of {", ".join(map(str, SCHEMES.values()))}; "MO_ISMCTS with EXP3" adds EXP3. Schemes that cheat see what is hidden. '
    "A scheme in a strategy's brackets goes before it."
)
SchemeText = Annotated[str, value_option("SCHEME", f"Search scheme. {SCHEMES_HELP}")]


def refuse_options(context: typer.Context, names: Sequence[str], reason: str) -> None:
    """Refuse these options.

    Raises:
        ValueError: one of them stands on the command line.
    """
    typed = []
    for name in names:
        source = context.get_parameter_source(name)
        if source and source.name == "COMMANDLINE":
            typed.append(f"--{name}")
    if typed:
        raise ValueError(f"{reason}: leave out {', '.join(typed)}")


def each_of(option: str, values: list[T], number: int) -> list[T]:
    """A value for each of `number` agents; an option gives one for all of them, or one for each.

    Raises:
        ValueError: there are fewer values, or more.
    """
    if len(values) not in (1, number):
        raise ValueError(
            f"{option} is given {len(values)} times; give it once, or for each of {number}"
        )
    return values * (number // len(values))


def level_agents(game: AnyGame, level: int | None, levels: Path | None) -> list[Agent]:
    """The agent of a level, or none if no level is given.

    Raises:
        ValueError: there is no such level, or a directory of levels is given without one.
    """
    if levels is not None and level is None:
        raise ValueError("--levels says whose levels --level takes: give both")
    return [] if level is None else [Agent.at_level(game, level, levels)]


def game_and_files(
    game: str, files: Sequence[Path] | None, evaluation: Path | None = None
) -> tuple[str, list[Path]]:
    """The name of a game, and all files to load: also that of an evaluation, and that of the game.

    Args:
        game: its name, with parameters if it has any; or the file that defines it.

    Raises:
        ValueError: there is no such file; it has no game, or several; it has parameters; a name is that of a file without its ending.
    """
    files = list(files or ())
    if evaluation is not None:
        files.append(evaluation)
        if evaluation.suffix != EVALUATION:
            raise ValueError(
                f"--evaluation is {str(evaluation)!r}; it must be a file that icarus learn has written, {EVALUATION}"
            )
    file, bracket, _ = game.partition("(")
    if bracket and file.endswith(".py"):
        raise ValueError(
            f"a file takes no parameters; give the name of its game with the parameters, and the file by --with {file}"
        )
    if not game.endswith(".py"):
        if not files and game not in games.names() and Path(f"{game}.py").is_file():
            raise ValueError(f"no game is called {game!r}; for the game of the file give {game}.py")
        return game, files
    return str(game_of_file(Path(game), "and the file by --with")), [*files, Path(game)]


def chosen_game(
    game: str, files: Sequence[Path] | None, evaluation: Path | None = None
) -> LoadedGame:
    """A game with the files; arguments and errors as of `game_and_files`, and errors of `load_game`."""
    return load_game(*game_and_files(game, files, evaluation))
