"""Commands over the files of runs: query, export, merge, verify."""

import io
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from experiments.commands.common import FAILED, Directory, argument, flag, say
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
from experiments.store.rows import Row
from icarus.commands.options import value_option
from icarus.row_files import written_whole


def query(
    directory: Directory,
    sql: Annotated[str, argument("SQL", "Query over the table `games`, which has the games played.")],
    csv: Annotated[bool, flag("--csv", "Print comma-separated values.")] = False,
    allow_files: Annotated[bool, flag("--allow-files", "Let the query read and write other files too.")] = False,
) -> None:
    """Query the results in SQL (DuckDB). The query can read the games only, unless --allow-files is given.

    Example: "SELECT agent, avg(win::INT), avg(statistics.agent.depth) FROM games GROUP BY agent"
    """
    names, rows = tables.query(directory, sql, allow_files)
    if csv:
        tables.write_csv(sys.stdout, names, rows)
    else:
        console().print(terminal.plain_table(names, rows))


def export(
    directory: Directory,
    file: Annotated[Path | None, argument("FILE", "File to write; default: standard output.")] = None,
    alpha_rank: Annotated[bool, flag("--alpha-rank", "Write agents and scores, for OpenSpiel's alpha-rank.")] = False,
    force: Annotated[bool, flag("--force", "Replace FILE if it exists.")] = False,
) -> None:
    """Write the games played as CSV, one line per game, without their actions."""
    if file is not None:
        _refuse_to_replace(file, force)
    read = partial(store.rows, directory, store.experiment_in(directory))
    names, lines = (["agents", "scores"], tables.matches(read())) if alpha_rank else tables.flatten(read)
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
        raise Refusal(f"{file} is a file of a run and is never replaced; choose another name")
    if file.exists() and not force:
        raise Refusal(f"{file} exists; give --force to replace it, or choose another name")


def merge(
    out: Annotated[Path, argument("OUT", "Directory to make or to extend.")],
    directories: Annotated[list[Path], argument("DIR", "Directories of runs of the same experiment.")],
) -> None:
    """Merge the games of runs of the same experiment, for example from several machines."""
    new_games, total = merge_runs(out, directories)
    say(f"{new_games} games added; {total} games in {out}")


def verify(
    directory: Directory,
    sample: Annotated[int, value_option("N", "Number of games to play again.")] = 10,
    seed: Annotated[int, value_option("SEED", "Seed of the sample.")] = 0,
    agent: Annotated[str | None, value_option("NAME", "Sample the games of this agent only.")] = None,
    trial: Annotated[int | None, value_option("N", "Sample the games of this number only.")] = None,
) -> int:
    """Play a sample of games again and compare them action by action; the exit code is 1 if one differs."""
    if races.is_race(directory):
        if (agent, trial) != (None, None):
            raise Refusal(
                f"{directory} is a race, whose games have no agents and trials; leave out --agent and --trial"
            )
        return _print_audit(races.audit(directory, positive("sample", sample), seed))
    experiment = store.experiment_in(directory)
    for module in sorted({cell.module for cell in experiment.cells if cell.module}):
        say(f"{directory} uses a Python file, which is run now: {module}")
    if unchecked := store.count_unchecked(directory):
        say(without_checksum(unchecked))
    rows = _rows_of(store.rows(directory, experiment), agent, trial)
    return _print_audit(audit(experiment, rows, positive("sample", sample), seed))


def _rows_of(rows: Iterable[Row], agent: str | None, trial: int | None) -> Iterator[Row]:
    """The games of an agent and of a number, where these are given.

    Raises:
        Refusal: there are none.
    """
    agents, count = set[str](), 0
    for row in rows:
        agents.add(row["agent"])
        if agent in (None, row["agent"]) and trial in (None, row["trial"]):
            count += 1
            yield row
    if agents and not count:
        which = [f"of the agent {agent!r}"] * (agent is not None) + [f"with the number {trial}"] * (trial is not None)
        raise Refusal(f"there is no game {' and '.join(which)}; agents: {', '.join(sorted(agents))}")


def _print_audit(games: Iterable[tuple[str, bool]]) -> int:
    differences = 0
    for message, same in games:
        differences += not same
        print(message)
    return FAILED if differences else 0
