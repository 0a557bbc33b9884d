"""Races that are kept: how far one is, and the table of what was proven.

    python -m experiments races experiments/runs/discovery/* --keep

reads finished races, prints a line of Markdown for each, and with --keep writes those that proved something into the package's table, which
`icarus.discovered` reads. `python -m experiments status` takes the directory of a race too.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from experiments.plan.refusal import Refusal
from icarus import discovery
from icarus.arena.ledger import GameRow, key_of, read_rows, write_whole
from icarus.arena.workers import Workers
from icarus.discovery.discover import TABLE
from icarus.discovery.race import (
    FILE,
    KEY,
    ROWS,
    STREAMS,
    Discovery,
    RaceGames,
    RaceProtocol,
    plain,
    run,
)


def read_protocol(directory: Path) -> RaceProtocol:
    """The protocol of the race in a directory.

    Raises:
        ValueError: the directory has no race, or its protocol was changed.
    """
    path = directory / FILE
    try:
        table = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        protocol = msgspec.convert(table, RaceProtocol)
    except OSError:
        raise ValueError(f"{directory} has no race, because it has no {FILE}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if protocol.settings() != table:
        raise ValueError(
            f"{path} was changed after the race had started: its digest is not {table.get('digest')}"
        )
    return protocol


def is_race(directory: Path) -> bool:
    """Whether a directory holds a race."""
    return (directory / FILE).exists()


def rows_of(directory: Path) -> list[GameRow]:
    """The games of a race, packed or not.

    Raises:
        ValueError: a line is damaged.
    """
    return list(read_rows(directory / ROWS, KEY))


def status(directory: Path) -> str:
    """How far a race is: the games of each stage."""
    protocol, rows = read_protocol(directory), rows_of(directory)
    stages = Counter(row["stream"] for row in rows)
    hours = sum(row["seconds"] for row in rows) / 3600
    text = ", ".join(f"{stage} {stages[stage]:,}" for stage in STREAMS[1:])
    return f"{protocol.game}: {len(rows):,} of at most {protocol.games:,} games ({text}); {hours:.2f} processor hours"


class Nobody(Workers):
    """Workers of a race whose games are all kept: there is nothing to play."""

    def results(self, play: object, tasks: Iterable[object]) -> Iterator[Any]:
        for task in tasks:
            raise Refusal(f"the race is not finished: {task} is missing")
        yield from ()  # a generator, as of other workers


def result_of(directory: Path) -> Discovery:
    """The result of a finished race, from its rows alone.

    Raises:
        Refusal: it is not finished.
    """
    protocol = read_protocol(directory)
    games = RaceGames(protocol, protocol.game, workers=Nobody())
    games.rows |= {key_of(row, KEY): row for row in rows_of(directory)}
    return run(protocol, games)


def line_of(result: Discovery) -> str:
    """A race as a line of a table in Markdown: its winner, or its best finalist."""
    protocol = result.protocol
    best = result.winner or result.proofs[0]
    space = f"`{protocol.space.name}` ({protocol.space.count():,})"
    verdict = f"{best.difference:+.3f}"
    if result.winner:
        verdict = f"**{verdict}**"
    cells = (
        protocol.game,
        space,
        f"{result.games:,}",
        f"`{best.configuration}`",
        f"{verdict}, {best.difference.count} units",
        f"{best.p:.2g}",
        f"{best.rate:.0%}",
        f"{result.seconds / 3600:.2f}",
    )
    return "| " + " | ".join(cells) + " |"


def entry_of(result: Discovery) -> dict[str, object] | None:
    """What the package's table says of a race; None where it proved nothing, and where the game or enhancements are somebody's own."""
    winner, protocol = result.winner, result.protocol
    if winner is None or protocol.iterations is None or protocol.files:
        return None
    return {
        "configuration": plain(winner.configuration),
        "iterations": protocol.iterations,
        "reference": plain(protocol.reference),
        "mean": round(winner.difference.value, 4),
        "low": round(winner.difference.low, 4),
        "high": round(winner.difference.high, 4),
        "units": winner.difference.count,
        "p": winner.p,
        "rate": round(winner.rate, 3),
    }


def strongest(results: Sequence[Discovery]) -> Discovery:
    """Of races in one game that each proved a winner: the one whose winner leads by most, or what a later one found that beats it."""

    def lead(result: Discovery) -> float:
        return result.winner.difference.value if result.winner else 0.0

    beaten_by = {result.protocol.reference: result for result in sorted(results, key=lead)}
    best = max(results, key=lead)
    while best.winner and best.winner.configuration in beaten_by:
        # taken out, so that two that beat each other end the search
        best = beaten_by.pop(best.winner.configuration)
    return best


def races_command(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Directories of finished races.")
    ],
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Write the games of these races into the package's table, which icarus.discovered reads.",
        ),
    ] = False,
) -> None:
    """Print the table of what finished races proved."""
    results = [result_of(directory) for directory in directories if is_race(directory)]
    if not results:
        raise Refusal(f"there is no race in {', '.join(map(str, directories))}")
    print("\n".join(line_of(result) for result in results))
    if keep:
        by_game: dict[str, list[Discovery]] = {}
        for result in results:
            if entry_of(result):
                by_game.setdefault(result.protocol.game, []).append(result)
        path = Path(discovery.__file__).parent / TABLE
        table = json.loads(path.read_text(encoding="utf-8"))
        table |= {game: entry_of(strongest(each)) for game, each in by_game.items()}
        text = json.dumps(dict(sorted(table.items())), indent=1, ensure_ascii=False)
        write_whole(path, text + "\n")
