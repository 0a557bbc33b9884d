"""What several commands take, and their exit codes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from icarus import games
from icarus.algebra.parsing import Operand
from icarus.arena.player import Configuration, parse_strategy, read_configuration
from icarus.engine.result import RULES, most_visits
from icarus.engine.scheme import SCHEMES, parse_scheme
from icarus.engine.scheme import Scheme as SearchScheme
from icarus.kernel.game import AnyGame
from icarus.load_files import game_of_file, load_files

FAILED, REFUSED, UNCHECKED, INTERRUPTED = 1, 2, 3, 130
DEFAULT_ITERATIONS, DEFAULT_SCHEME = 5000, "MO_ISMCTS"
DEFAULT_RECOMMENDATION = most_visits.__name__


def value_option(metavar: str, help: str, *names: str) -> Any:
    """An option that takes a value, for which `metavar` stands in the help."""
    return typer.Option(*names, metavar=metavar, help=help)


def integer_option(help: str, *names: str, min: int | None = None, max: int | None = None) -> Any:
    """An option that takes an integer."""
    return typer.Option(*names, metavar="INTEGER", help=help, min=min, max=max)


def real_option(metavar: str, help: str, *names: str, min: float | None = None, max: float | None = None) -> Any:
    """An option that takes a real number."""
    return typer.Option(*names, metavar=metavar, help=help, min=min, max=max)


def directory_option(metavar: str, help: str) -> Any:
    """An option that takes a directory, which need not be there yet."""
    return typer.Option(metavar=metavar, help=help, file_okay=False)


def iterations_option(default: int) -> Any:
    """An option that takes the iterations of a search, of which there are `default` where nothing is said."""
    return integer_option(f"Iterations per decision; {default} if --seconds is not given either.", min=1)


GAME_HELP = (
    'A game of the library ("icarus games" lists them), with its parameters if any: "knockout-whist(players=3)". '
    "Or a FILE.py with a game."
)
GameName = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)]
Iterations = Annotated[int | None, iterations_option(DEFAULT_ITERATIONS)]
Seconds = Annotated[float | None, real_option("SECONDS", "Seconds per decision, by the clock.")]
Seed = Annotated[int, integer_option("Seed of everything that is random: deals, chance and searches.", min=0)]
Threads = Annotated[int, integer_option("Threads of a search. They share its iterations.", min=1)]
Cutoff = Annotated[
    int | None,
    integer_option(
        "Cut a playout off after this many actions of simulation. The game's heuristic then gives the rewards."
    ),
]
Recommendation = Annotated[
    str, value_option("RULE", f"Rule that chooses the action after the search: {', '.join(RULES)}.")
]
LEVEL_HELP = "1 (weak and immediate) to 8 (strong); see docs/ladder.md."
Levels = Annotated[
    Path | None, value_option("DIR", "Levels of a game of your own: the directory of its report (icarus describe).")
]


With = Annotated[
    list[Path] | None,
    value_option("FILE.py", "Python file with enhancements, weights or games of your own. Repeatable.", "--with"),
]
MOVE_DECAY_HELP = (
    "Weight of a search's records in the next search of the same game: 0 forgets them, 1 keeps all that still apply. "
    "One number for all strategies, or one for each."
)
GAME_DECAY_HELP = (
    "Weight of a search's records in the next game, 0 to 1. Records of histories are always forgotten. "
    "One number for all strategies, or one for each."
)
SCHEMES_HELP = f'One of {", ".join(map(str, SCHEMES.values()))}; "MO_ISMCTS with EXP3" adds EXP3. Schemes that cheat see what is hidden.'
Scheme = Annotated[str, value_option("SCHEME", f"Search scheme. {SCHEMES_HELP}")]


def refuse_options(context: typer.Context, names: Sequence[str], reason: str) -> None:
    """Refuse those of these options that stand on the command line.

    Raises:
        ValueError: one does.
    """
    typed = [f"--{name}" for name in names if is_typed(context, name)]
    if typed:
        raise ValueError(f"{reason}: leave out {', '.join(typed)}")


def is_typed(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def check_levels(level: int | None, levels: Path | None) -> None:
    """Refuse levels of which none is taken.

    Raises:
        ValueError: it is so.
    """
    if levels is not None and level is None:
        raise ValueError("--levels says whose levels --level takes: give both")


def check_picture(path: Path, *suffixes: str) -> None:
    """Refuse a picture of another format, or without a directory to be in; one that is there is drawn again.

    Raises:
        ValueError: one of these.
    """
    if path.suffix not in suffixes or path.is_dir():
        raise ValueError(f"--picture is {str(path)!r}; name a file such as {' or '.join(f'mine{s}' for s in suffixes)}")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"--picture is {str(path)!r}; there is no directory {str(path.parent)!r}")


def game_and_files(game: str, files: Sequence[Path] | None) -> tuple[str, list[Path]]:
    """The name of a game, and the files to load: a game may be given as the file that defines it.

    Raises:
        ValueError: there is no such file; it has no game, or several; it has parameters; a name is that of a file without its ending.
    """
    files = list(files or ())
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


def load_game(game: str, files: Sequence[Path] | None) -> tuple[AnyGame, dict[str, Operand], list[Path]]:
    """A game, what files define for strategies to name, and these files; arguments as of `game_and_files`.

    Raises:
        ValueError: see `game_and_files`, `load_files` and `games.load`.
    """
    name, all_files = game_and_files(game, files)
    names = load_files(all_files)
    return games.load(name), names, all_files


def split_names(text: str) -> list[str]:
    """The names in a text, separated by commas; a comma inside brackets separates nothing."""
    names, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


def default_iterations(iterations: int | None, seconds: float | None) -> int | None:
    """The iterations of a search: DEFAULT_ITERATIONS where neither they nor a time are given."""
    return DEFAULT_ITERATIONS if iterations is None and seconds is None else iterations


def agent_settings(
    text: str, names: Mapping[str, Operand], scheme: SearchScheme, move_decay: float = 0.0
) -> dict[str, Any]:
    """Strategy, scheme and decay for `Agent`. What a race prints behind its winner, "[scheme = …, move_decay = …]", goes before options.

    Args:
        names: enhancements of one's own, by name.
        scheme, move_decay: by the options.

    Raises:
        ValueError: the text cannot be understood.
    """
    player = read_configuration(text) if text.rstrip().endswith("]") else Configuration(text)
    strategy, usual = parse_strategy(player.strategy, names), Configuration(player.strategy)
    if player.scheme != usual.scheme:
        scheme = parse_scheme(player.scheme)
    return {"strategy": strategy, "scheme": scheme, "move_decay": player.move_decay or move_decay}
