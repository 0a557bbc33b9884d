"""The results as tables: queries in SQL, and runs put together."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.plan.definition import Experiment, Refusal, difference, extends
from experiments.store import rows as store
from experiments.store.results import LONGEST_ROW, MEMORY, pattern_of, results_of, runs_in
from experiments.store.rows import Damage, Row


def query(directory: Path, sql: str, allow_files: bool = False) -> tuple[list[str], list[tuple[object, ...]]]:
    """The answer to a query over the table `games`, whose columns are those of the files: (names of the columns, rows).

    Args:
        directory: of a run, or a folder of several.
        allow_files: whether the query may read and write other files; else it sees nothing but the games.

    Raises:
        Refusal: no results yet, or a query that the database does not understand.
        Damage: see `store.rows`.
    """
    import duckdb

    with results_of(directory) as results:  # checks the file
        if not results.select("SELECT count(*) FROM games")[0][0]:
            raise Refusal(f"{directory} has no games yet")
    paths = [path for run in runs_in(directory) if (path := store.results_in(run)).exists()]
    files: Any = [pattern_of(path) for path in paths]  # its types know a single file only
    with contextlib.closing(duckdb.connect(config={"memory_limit": MEMORY})) as database:
        # All that can be skipped is a torn last line.
        relation = database.read_json(
            files,
            format="newline_delimited",
            union_by_name=True,
            ignore_errors=True,
            sample_size=-1,
            maximum_object_size=LONGEST_ROW,
        )
        relation.create("games")
        if not allow_files:
            database.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            answer = database.execute(sql)
            names = [column[0] for column in answer.description or []]
            return names, answer.fetchall()
        except duckdb.Error as error:
            raise Refusal(" ".join(str(error).split("\n\n")[0].split())) from None


def merge(out: Path, directories: Sequence[Path]) -> tuple[int, int]:
    """Add to `out` the games of other runs of the same experiment, which may have grown: (games added, games there now).

    Raises:
        Refusal: they belong to different experiments.
        Damage: a file is damaged, or the same game was played differently in two places (both are named, with their lines).
            Nothing is added then.
    """
    whole = _largest(directories)
    places = [directory for directory in (out, *directories) if store.results_in(directory).exists()]
    if (out / store.EXPERIMENT).exists() and extends(stored := store.experiment_in(out), whole):
        whole = stored
    first = _first_places(places, whole)
    with store.writer(out, whole) as writer:
        before = len(writer.done)
        for number, directory in enumerate(places):
            for line, row in enumerate(store.rows(directory, whole), 1):
                game = row["cell"], row["trial"]
                if first[game][:2] == (number, line) and game not in writer.done:
                    writer.append(row)
        return len(writer.done) - before, len(writer.done)


def _largest(directories: Sequence[Path]) -> Experiment:
    """The experiment that extends those of all directories.

    Raises:
        Refusal: none does.
    """
    largest, where = store.experiment_in(directories[0]), directories[0]
    for directory in directories[1:]:
        experiment = store.experiment_in(directory)
        if extends(experiment, largest):
            largest, where = experiment, directory
        elif not extends(largest, experiment):
            words = difference(experiment, largest, ("in the first", "in the second"))
            raise Refusal(f"{directory} and {where} are runs of different experiments: {words}")
    return largest


def _first_places(places: Sequence[Path], experiment: Experiment) -> dict[tuple[str, int], tuple[int, int, int]]:
    """Where each game is found first: (number of the place, line, what was played).

    Raises:
        Damage: it is found elsewhere, played otherwise.
    """
    first: dict[tuple[str, int], tuple[int, int, int]] = {}
    for number, directory in enumerate(places):
        for line, row in enumerate(store.rows(directory, experiment), 1):
            place, first_line, essence = first.setdefault((row["cell"], row["trial"]), (number, line, _essence(row)))
            if essence != _essence(row):
                file, first_file = store.results_in(directory), store.results_in(places[place])
                raise Damage(
                    f"{file}, line {line}: trial {row['trial']} of {row['agent']} in {row['game']} was played differently "
                    f"than in {first_file}, line {first_line}"
                )
    return first


def _essence(row: Row) -> int:
    """What two plays of the same game have in common."""
    return hash((tuple(row["seed"]), tuple(map(tuple, row["actions"])), tuple(row["returns"])))
