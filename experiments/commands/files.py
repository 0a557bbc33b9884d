"""Commands over the files of runs: query, export, merge, verify."""

import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.common import FAILED, Directory, say
from experiments.discovery import races
from experiments.plan.checks import positive
from experiments.plan.definition import Refusal
from experiments.play.progress import console
from experiments.play.replay import audit
from experiments.report import terminal
from experiments.report.status import without_checksum
from experiments.store import export as tables
from experiments.store import rows as store
from experiments.store.export import merge as merge_runs
from icarus.row_files import written_whole


def query(
    directory: Directory,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query; the games played are the table `games`.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    allow_files: Annotated[
        bool, typer.Option("--allow-files", help="Let the query read and write other files too.")
    ] = False,
) -> None:
    """Ask the results in SQL (DuckDB). The query sees the games alone, unless --allow-files is given.

    Example: "SELECT agent, avg(win::INT), avg(statistics.agent.depth) FROM games GROUP BY agent"
    """
    names, rows = tables.query(directory, sql, allow_files)
    if csv:
        tables.write_csv(sys.stdout, names, rows)
    else:
        console().print(terminal.plain_table(names, rows))


def export(
    directory: Directory,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The file; if not given, standard output.")
    ] = None,
    alpha_rank: Annotated[
        bool, typer.Option("--alpha-rank", help="Agents and scores, for OpenSpiel's alpha-rank.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
) -> None:
    """Write the games played as CSV, a line each, without their actions."""
    if file is not None:
        _refuse_to_replace(file, force)
    rows = store.rows(directory, store.experiment_in(directory))
    names, lines = (["agents", "scores"], tables.matches(rows)) if alpha_rank else tables.flattened(rows)
    if file is None:
        tables.write_csv(sys.stdout, names, lines)
        return
    with written_whole(file) as target:
        text = io.TextIOWrapper(target, encoding="utf-8", newline="")
        tables.write_csv(text, names, lines)
        text.detach()


def _refuse_to_replace(file: Path, force: bool) -> None:
    """Refuse a file that is there, and with --force too one from which a run is read."""
    if store.is_of_a_run(file):
        raise Refusal(f"{file} is a file of a run, which nothing replaces; choose another name")
    if file.exists() and not force:
        raise Refusal(f"{file} is there already; give --force to replace it, or choose another name")


def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The directory to be made or extended.")],
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Directories of runs of the same experiment.")
    ],
) -> None:
    """Put together what runs of the same experiment have played, for example on several machines."""
    new_games, total = merge_runs(out, directories)
    say(f"{new_games} games added; {total} games in {out}")


def verify(
    directory: Directory,
    sample: Annotated[int, typer.Option(help="How many games are played again.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed draws another sample.")] = 0,
) -> int:
    """Play a sample of games again and compare them action by action; the exit code is 1 if one differs."""
    if races.is_race(directory):
        return _print_audit(races.audit(directory, positive("sample", sample), seed))
    experiment = store.experiment_in(directory)
    for module in sorted({cell.module for cell in experiment.cells if cell.module}):
        say(f"{directory} names a Python file, which is run now: {module}")
    if unchecked := store.unchecked(directory):
        say(without_checksum(unchecked))
    return _print_audit(audit(experiment, store.rows(directory, experiment), positive("sample", sample), seed))


def _print_audit(games: Iterable[tuple[str, bool]]) -> int:
    differences = 0
    for message, same in games:
        differences += not same
        print(message)
    return FAILED if differences else 0
