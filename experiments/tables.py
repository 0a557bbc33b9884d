"""The results as tables: queries in SQL, CSV files, and runs put together."""
import contextlib
import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from experiments import store
from experiments.definition import Refusal
from experiments.results import LONGEST_ROW, MEMORY, results_of
from experiments.store import Damage, Row


def query(directory: Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The answer to a query over the table `games`, read directly from the file: (names of the columns, rows).

    Raises:
        Refusal: no results yet, or a query that the database does not understand.
        Damage: see `store.rows`.
    """
    import duckdb
    with results_of(directory) as results:                              # checks the file
        if not results.select("SELECT count(*) FROM games")[0][0]:
            raise Refusal(f"{directory} holds no games yet")
    with contextlib.closing(duckdb.connect(config={"memory_limit": MEMORY})) as database:
        # All that can be skipped is a torn last line.
        relation = database.read_json(str(store.results_in(directory)), format="newline_delimited", ignore_errors=True,
                                      sample_size=-1, maximum_object_size=LONGEST_ROW)
        relation.create_view("games")
        try:
            answer = database.execute(sql)
            names = [column[0] for column in answer.description or []]
            return names, answer.fetchall()
        except duckdb.Error as error:
            raise Refusal(" ".join(str(error).split("\n\n")[0].split())) from None


def flattened(rows: Iterable[Row]) -> tuple[list[str], Iterator[list[Any]]]:
    """Rows without their actions and with dotted names for what is nested, such as statistics.agent.visits."""
    flat = (dict(_leaves("", {key: value for key, value in row.items() if key != "actions"})) for row in rows)
    first = next(flat, {})

    def lines() -> Iterator[list[Any]]:
        if first:
            yield list(first.values())
        for row in flat:
            yield [row.get(name) for name in first]
    return list(first), lines()


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, inner)
    else:
        yield path, " ".join(map(str, value)) if isinstance(value, list) else value


def write_csv(target: TextIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


def merge(out: Path, directories: Sequence[Path]) -> tuple[int, int]:
    """Add to `out` the games of other runs of the same experiment: (games added, games there now).

    Raises:
        Refusal: they belong to different experiments.
        Damage: a file is damaged, or the same game was played differently in two places. Nothing is added from that place then.
    """
    experiments = [store.experiment_in(directory) for directory in directories]
    for directory, experiment in zip(directories, experiments, strict=True):
        if experiment != experiments[0]:
            told = store.difference(experiment.settings(), experiments[0].settings(), ("in the one", "in the other"))
            raise Refusal(f"{directory} and {directories[0]} are runs of different experiments: {told}")
    added = 0
    with store.writer(out, experiments[0]) as writer:
        known = {(row["cell"], row["trial"]): _essence(row) for row in store.rows(out, experiments[0])}
        for directory in directories:
            new = []
            for row in store.rows(directory, experiments[0]):
                game = row["cell"], row["trial"]
                if game not in known:
                    new.append(row)
                elif known[game] != _essence(row):
                    told = f"trial {row['trial']} of {row['agent']} in {row['game']}"
                    raise Damage(f"{directory}: {told} was played otherwise elsewhere")
            for row in new:
                writer.append(row)
                known[row["cell"], row["trial"]] = _essence(row)
            added += len(new)
        return added, len(writer.done)


def _essence(row: Row) -> int:
    """What two plays of the same game have in common."""
    return hash((tuple(row["seed"]), tuple(map(tuple, row["actions"])), tuple(row["returns"])))
