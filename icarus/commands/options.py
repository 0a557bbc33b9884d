"""What several commands take, and their exit codes."""

from pathlib import Path
from typing import Annotated

import typer

from icarus.engine.parallel import ROOTS
from icarus.engine.scheme import SCHEMES

FAILED, REFUSED, INTERRUPTED = 1, 2, 130
DEFAULT_ITERATIONS, DEFAULT_SCHEME, DEFAULT_SHARING = 5000, "MO_ISMCTS", ROOTS


def read_integer(text: str | int) -> int:
    """An integer as it is typed.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no integer") from None


def read_seconds(text: str | float) -> float:
    """A time as it is typed.

    Raises:
        typer.BadParameter: it is no number.
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number of seconds") from None


def read_real(text: str | float) -> float:
    """A real number as it is typed.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number") from None


GameName = Annotated[
    str,
    typer.Argument(metavar="GAME", help='A game, see "icarus games"; with parameters: "knockout-whist(players=3)".'),
]
Iterations = Annotated[
    int | None, typer.Option(parser=read_integer, metavar="INTEGER", help="Playouts for each decision.")
]
Seconds = Annotated[
    float | None,
    typer.Option(parser=read_seconds, metavar="SECONDS", help="Wall-clock time for each decision instead."),
]
Seed = Annotated[
    int,
    typer.Option(parser=read_integer, metavar="INTEGER", help="Fixes everything: the deal, chance and the searches."),
]
Threads = Annotated[
    int,
    typer.Option(
        parser=read_integer,
        metavar="INTEGER",
        help="How many threads search at once; the playouts are those of all together.",
    ),
]
Sharing = Annotated[
    str, typer.Option(help='What they share: "roots" (reproducible) or "records" (one tree; not reproducible).')
]
Cutoff = Annotated[
    int | None,
    typer.Option(
        parser=read_integer,
        metavar="INTEGER",
        help="Cut playouts off after so many actions of simulation, with the game's heuristic for rewards.",
    ),
]
With = Annotated[
    list[Path] | None,
    typer.Option(
        "--with",
        metavar="FILE.py",
        help="A Python file whose enhancements, weights and games may be named here; repeatable.",
    ),
]
MOVE_DECAY_HELP = (
    "What the records of a search are worth to the next of the same game: 1 keeps the tree below the moves played, and all else that was "
    "learned; 0 forgets. Of all strategies, or repeated."
)
GAME_DECAY_HELP = (
    "What is left, from one game to the next, of records that are not of histories: from 0 to 1. Of all, or repeated."
)
SCHEMES_HELP = f'One of {", ".join(map(str, SCHEMES.values()))}; also with EXP3, "MO_ISMCTS with EXP3". Cheating ones see what is hidden.'


def default_iterations(iterations: int | None, seconds: float | None) -> int | None:
    """The iterations of a search: DEFAULT_ITERATIONS where neither they nor a time are given."""
    return DEFAULT_ITERATIONS if iterations is None and seconds is None else iterations
