"""What several commands take, and their exit codes."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from icarus.engine.result import ROOTS
from icarus.engine.scheme import SCHEMES

FAILED, REFUSED, INTERRUPTED = 1, 2, 130
DEFAULT_ITERATIONS, DEFAULT_SCHEME, DEFAULT_SHARING = 5000, "MO_ISMCTS", ROOTS


T = TypeVar("T")


def _reader(kind: Callable[[Any], T], what: str) -> Callable[[Any], T]:
    """How a number is read as it is typed, or refused in a sentence."""

    def read(text: Any) -> T:
        try:
            return kind(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is no {what}") from None

    return read


read_integer, read_real = _reader(int, "integer"), _reader(float, "number")
read_seconds = _reader(float, "number of seconds")


def integer_option(help: str, *names: str) -> Any:
    """An option that takes an integer."""
    return typer.Option(*names, parser=read_integer, metavar="INTEGER", help=help)


GameName = Annotated[
    str,
    typer.Argument(metavar="GAME", help='A game, see "icarus games"; with parameters: "knockout-whist(players=3)".'),
]
Iterations = Annotated[int | None, integer_option("Playouts for each decision.")]
Seconds = Annotated[
    float | None,
    typer.Option(parser=read_seconds, metavar="SECONDS", help="Wall-clock time for each decision instead."),
]
Seed = Annotated[int, integer_option("Fixes everything: the deal, chance and the searches.")]
Threads = Annotated[int, integer_option("How many threads search at once; the playouts are those of all together.")]
Sharing = Annotated[
    str, typer.Option(help='What they share: "roots" (reproducible) or "records" (one tree; not reproducible).')
]
Cutoff = Annotated[
    int | None,
    integer_option("Cut playouts off after so many actions of simulation, with the game's heuristic for rewards."),
]
LEVEL_HELP = "from 1, which plays at once and weakly, to 8: see docs/ladder.md."
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
