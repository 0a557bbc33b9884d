"""What the games of runs come to: each game checked and counted once; for each cell its wins and what its searches were like."""

import contextlib
import glob
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from experiments.plan.definition import Cell, Column, Experiment
from experiments.store import rows as store
from experiments.store.rows import LARGEST, Damage

STATISTICS = ("visits", "value", "depth", "iterations")
MILLION = 10**6
DRAW = 0.5  # what a drawn game of two counts in scores


@attrs.frozen
class Moments:
    """What is needed of numbers for their mean and its error, exactly.

    Attributes:
        count: how many there are.
        total, squares: their sum and the sum of their squares, in millionths and millionths of millionths.
    """

    count: int = 0
    total: int = 0
    squares: int = 0

    @property
    def mean(self) -> float | None:
        return self.total / self.count / MILLION if self.count else None

    @property
    def error(self) -> float | None:
        """The standard error of the mean."""
        if self.count < 2:
            return None
        spread = self.count * self.squares - self.total**2
        return math.sqrt(max(spread, 0) / (self.count**2 * (self.count - 1))) / MILLION


@attrs.define
class Tally:
    """The results of one cell.

    Attributes:
        draws: drawn games; there are none where more than two play.
        millionths: the time its games took, added up, in millionths of a second.
        moments: for each of `STATISTICS` those of the agent's means, over its games.
        due: the games of the cell's first interim analysis; 0 where there is none.
        rewards: the moments of the agent's rewards.
        is_graded: whether somebody got another reward than that of a win, a draw of two, or a loss, in a game that is not one of
            section 8: what counts is then the mean reward, not the wins.
    """

    cell: Cell
    games: int = 0
    wins: int = 0
    draws: int = 0
    millionths: int = 0
    moments: dict[str, Moments] = attrs.field(factory=lambda: dict.fromkeys(STATISTICS, Moments()))
    due: int = 0
    rewards: Moments = Moments()
    is_graded: bool = False

    @property
    def seconds(self) -> float:
        return self.millionths / MILLION

    @property
    def rate(self) -> float | None:
        return self.wins / self.games if self.games else None

    @property
    def score(self) -> float | None:
        """The mean of its games, a draw counting one half."""
        return (self.wins + DRAW * self.draws) / self.games if self.games else None


Columns = dict[Column, list[Tally]]
Outcomes = Mapping[tuple[str, int], float]  # what counts of each game, by cell key and trial


def blank(cells: Iterable[Cell]) -> list[Tally]:
    """Tallies before any game."""
    return [Tally(cell) for cell in cells]


def any_graded(column: Iterable[Tally]) -> bool:
    """Whether the agents of a column are compared by their mean rewards."""
    return any(tally.is_graded for tally in column)


def baseline(column: list[Tally]) -> Tally | None:
    """The agent that is an opponent itself: the measure of evenly matched players."""
    return next((tally for tally in column if tally.cell.is_opponent and tally.games), None)


# -------------------- The games of one or several runs as a table in memory: checked, each game once, without their actions.


LONGEST_ROW = 1 << 24  # bytes, for the reader of JSON
MEMORY = "400MB"  # of the database, before it turns to the disk
DRAWN = "[0.5,0.5]"  # the returns of a drawn game of two

_AGENT = ", ".join(f"{name} DOUBLE" for name in STATISTICS)
_FIELDS = {
    "cell": "VARCHAR",
    "trial": "BIGINT",
    "seat": "BIGINT",
    "win": "BOOLEAN",
    "reward": "DOUBLE",
    "seed": "JSON",
    "returns": "JSON",
    "moves": "BIGINT",
    "started": "VARCHAR",
    "seconds": "DOUBLE",
    "statistics": f"STRUCT(agent STRUCT({_AGENT}))",
    "provenance": "JSON",
}
_GAMES = (
    "run INTEGER, cell INTEGER, trial BIGINT, seat BIGINT, win BOOLEAN, draw BOOLEAN, reward BIGINT, returns VARCHAR, "
    "started VARCHAR, seconds BIGINT, " + ", ".join(f"{name} BIGINT" for name in STATISTICS)
)


_SENSIBLE = (
    f"try_cast(started AS TIMESTAMPTZ) IS NOT NULL AND seconds BETWEEN 0 AND {LARGEST} AND reward BETWEEN 0 AND 1 "
    "AND list_min(returns::DOUBLE[]) >= 0 AND list_max(returns::DOUBLE[]) <= 1"
)


def pattern_of(path: Path) -> str:
    """A path as the database takes it: one file, whatever letters are in its name."""
    return glob.escape(str(path))


def _millionths(value: str) -> str:
    return f"round({value} * {MILLION})::BIGINT"


@attrs.frozen
class Run:
    """A directory and the experiment to which it belongs."""

    directory: Path
    experiment: Experiment

    @property
    def path(self) -> Path:
        return store.results_in(self.directory)


@attrs.frozen
class Origins:
    """Where games come from.

    Attributes:
        provenance: by what they were played, with the number of games, the most frequent first.
        first, last: when the first and the last of them began.
        seconds: the time they took, added up.
    """

    provenance: tuple[tuple[dict[str, object], int], ...]
    first: str
    last: str
    seconds: float


class Results:
    """The games of runs. A context manager.

    A game that several runs hold (the same cell, trial and way of drawing seeds) counts once.

    Attributes:
        runs, cells: what was read.
        unchecked: how many lines have no checksum, because they were kept before there were any.

    Raises:
        Damage: see `store.rows`.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        import duckdb

        self.runs, self.unchecked = list(runs), 0
        self.cells = list({cell.key: cell for run in runs for cell in run.experiment.cells}.values())
        self._database = duckdb.connect(config={"memory_limit": MEMORY})
        self._database.execute(f"CREATE TABLE games ({_GAMES})")
        for number, run in enumerate(self.runs):
            if run.path.exists():
                self._read(number, run)
        if len(self.runs) > 1:
            self._once()

    def __enter__(self) -> "Results":
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def select(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """The answer to a query over `games`; `cell` there is the index in `cells`."""
        return self._database.execute(sql, parameters).fetchall()

    def _lines(self, run: Run) -> Any:
        """The file as a relation; lines and fields that cannot be read are missing in it."""
        return self._database.read_json(
            pattern_of(run.path),
            columns=_FIELDS,
            format="newline_delimited",
            ignore_errors=True,
            maximum_object_size=LONGEST_ROW,
        )

    def _read(self, number: int, run: Run) -> None:
        import duckdb

        try:
            self._insert(number, run)
        except (duckdb.Error, EOFError, OSError) as error:
            store.check(run.directory, run.experiment)  # which tells the line
            raise Damage(f"{run.path} cannot be read: {' '.join(str(error).split())}") from None

    def _insert(self, number: int, run: Run) -> None:
        lines, indices = self._lines(run), {cell.key: index for index, cell in enumerate(self.cells)}
        cells = [(cell.key, indices[cell.key]) for cell in run.experiment.cells]
        values = ", ".join(f"('{key}', {index})" for key, index in cells)
        lines.create_view("lines", replace=True)
        before, _ = _count_lines(run.path)
        self.unchecked += store.count_unchecked(run.directory)
        whole = " AND ".join(f"{field} IS NOT NULL" for field in (*_FIELDS, "statistics.agent"))
        ((read,),) = self.select(f"""
            INSERT INTO games SELECT {number}, known.index, trial, seat, win, returns::VARCHAR = '{DRAWN}',
                {_millionths("reward")}, returns, started, {_millionths("seconds")},
                {", ".join(_millionths(f"statistics.agent.{name}") for name in STATISTICS)}
            FROM lines JOIN (VALUES {values}) AS known(key, index) ON lines.cell = known.key
            WHERE {whole} AND {_SENSIBLE} AND trial BETWEEN 0 AND {run.experiment.trials - 1}""")
        after, rest = _count_lines(run.path)
        if read == after + 1 and (torn := _game(rest)):  # only its end is missing: it does not count
            self.select("DELETE FROM games WHERE run = ? AND cell = ? AND trial = ?", number, indices[torn[0]], torn[1])
            read -= 1
        ((distinct,),) = self.select(
            "SELECT count(*) FROM (SELECT DISTINCT cell, trial FROM games WHERE run = ?)", number
        )
        if read != distinct or not before <= read <= after:  # a run that is going on may add lines meanwhile
            store.check(run.directory, run.experiment)  # which tells the line
            raise Damage(f"{run.path} has {after} lines, of which only {distinct} can be read as games")

    def _once(self) -> None:
        self.select(f"""
            CREATE OR REPLACE TABLE games AS SELECT DISTINCT ON (seeding, cell, trial) games.* FROM games
            JOIN {self._seedings} USING (run) ORDER BY run""")

    def tallies(self, trials: int | None = None) -> list[Tally]:
        """What each cell came to, in the order of `cells`; only in its first so many trials, if a number is given."""
        counted = "" if trials is None else f"WHERE trial < {int(trials)}"
        tallies, graded_cells = blank(self.cells), self._graded_cells()
        columns = ("reward", *STATISTICS)
        moments = ", ".join(f"count({name}), sum({name}), sum({name}::HUGEINT * {name})" for name in columns)
        for index, games, wins, draws, seconds, *sums in self.select(
            f"SELECT cell, count(*), count(*) FILTER (win), count(*) FILTER (draw), sum(seconds), {moments} "
            f"FROM games {counted} GROUP BY cell"
        ):
            tally = tallies[index]
            tally.games, tally.wins, tally.draws, tally.millionths = games, wins, draws, int(seconds)
            of_columns = [Moments(*(int(value or 0) for value in sums[i : i + 3])) for i in range(0, len(sums), 3)]
            tally.rewards, tally.is_graded = of_columns[0], index in graded_cells
            tally.moments.update(zip(STATISTICS, of_columns[1:], strict=True))
        return tallies

    def _graded_cells(self) -> set[int]:
        """The cells with graded rewards, see `Tally.is_graded`; in the games of section 8 wins are counted, shared places in Hearts too."""
        rows = self.select(f"""
            SELECT DISTINCT cell FROM (SELECT cell, unnest(returns::DOUBLE[]) AS each FROM
                (SELECT DISTINCT cell, returns FROM games WHERE returns <> '{DRAWN}'))
            WHERE each NOT IN (0, 1)""")
        return {cell for (cell,) in rows if not self.cells[cell].column.counts_wins}

    @property
    def _seedings(self) -> str:
        """The seeds of each run; games of the same cell, trial and seeds are the same."""
        values = ", ".join(f"({number}, '{run.experiment.seeding}')" for number, run in enumerate(self.runs))
        return f"(VALUES {values}) AS seedings(run, seeding)"

    def unbroken(self) -> dict[Cell, int]:
        """How many games each cell has from its first trial on, without gaps."""
        unbroken = dict.fromkeys(self.cells, 0)
        for index, games in self.select("""
            SELECT cell, count(*) FILTER (trial = place) FROM
                (SELECT cell, trial, row_number() OVER (PARTITION BY cell ORDER BY trial) - 1 AS place FROM games)
            GROUP BY cell"""):
            unbroken[self.cells[index]] = games
        return unbroken

    def free_seconds(self, trials: Mapping[Cell, int]) -> dict[Cell, float]:
        """The seconds of a game of each cell on a free processor: the lower quartile, since beside other work games take longer.

        Args:
            trials: how many first trials of each cell count.
        """
        counted = ", ".join(f"({index}, {trials[cell]})" for index, cell in enumerate(self.cells))
        return {
            self.cells[index]: seconds / MILLION
            for index, seconds in self.select(f"""
            SELECT cell, quantile_disc(seconds, 0.25) FROM games JOIN (VALUES {counted}) AS counted(cell, trials) USING (cell)
            WHERE trial < trials GROUP BY cell""")
        }

    @property
    def most(self) -> int:
        """How many games there are when all are played."""
        return sum(run.experiment.trials * len(run.experiment.cells) for run in self.runs)

    def columns(self) -> dict[Column, list[Tally]]:
        """The results by column, the agents in the order of the experiment."""
        columns: dict[Column, list[Tally]] = {cell.column: [] for cell in self.cells}
        for tally in self.tallies():
            columns[tally.cell.column].append(tally)
        return columns

    def origins(self) -> Origins:
        """Where the games come from."""
        kinds: dict[str, int] = {}
        for run in self.runs:
            if run.path.exists():
                self._lines(run).create_view("lines", replace=True)
                sql = "SELECT provenance, count(*) FROM lines WHERE provenance IS NOT NULL GROUP BY ALL"
                for text, count in self.select(sql):
                    kinds[text] = kinds.get(text, 0) + count
        first, last, seconds = self.select("SELECT min(started), max(started), sum(seconds) FROM games")[0]
        ordered = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
        provenance = tuple((json.loads(text), count) for text, count in ordered)
        return Origins(provenance, first or "", last or "", float(seconds or 0) / MILLION)

    def wins(self) -> dict[tuple[str, int], bool]:
        """Whether each game was won, by cell key and trial."""
        rows = self.select("SELECT cell, trial, win FROM games")
        return {(self.cells[cell].key, trial): win for cell, trial, win in rows}

    def rewards(self) -> dict[tuple[str, int], float]:
        """What the agent got in each game, by cell key and trial."""
        rows = self.select("SELECT cell, trial, reward FROM games")
        return {(self.cells[cell].key, trial): reward / MILLION for cell, trial, reward in rows}

    def outcomes(self) -> dict[tuple[str, int], float]:
        """What a sequential test compares of each game (`Column.outcome`), by cell key and trial."""
        rows = [(self.cells[cell], *rest) for cell, *rest in self.select("SELECT cell, trial, win, reward FROM games")]
        return {(cell.key, trial): cell.column.outcome(win, reward / MILLION) for cell, trial, win, reward in rows}

    def discordant(self) -> dict[Cell, tuple[int, int]]:
        """For each agent the trials that it alone won and those that the opponent in its place alone won, on the same deals."""
        opponents = {cell.column: index for index, cell in enumerate(self.cells) if cell.is_opponent}
        values = [
            f"({index}, {opponents[cell.column]})"
            for index, cell in enumerate(self.cells)
            if cell.column in opponents and not cell.is_opponent
        ]
        if not values:
            return {}
        return {
            self.cells[cell]: (alone, opponent_alone)
            for cell, alone, opponent_alone in self.select(f"""
            SELECT mine.cell, count(*) FILTER (mine.win AND NOT even.win), count(*) FILTER (even.win AND NOT mine.win)
            FROM games AS mine JOIN (VALUES {", ".join(values)}) AS pairs(cell, other) USING (cell)
            JOIN {self._seedings} USING (run)
            JOIN (SELECT * FROM games JOIN {self._seedings} USING (run)) AS even
                ON even.cell = pairs.other AND even.trial = mine.trial AND even.seeding = seedings.seeding
            GROUP BY mine.cell""")
        }


def _count_lines(path: Path) -> tuple[int, bytes]:
    """The number of whole lines of a file, and what follows the last of them."""
    lines, rest = 0, b""
    with store.open_rows(path) as file:
        while chunk := file.read(store.CHUNK):
            lines += chunk.count(b"\n")
            before, end, after = chunk.rpartition(b"\n")
            rest = after if end else rest + chunk
    return lines, rest


def _game(line: bytes) -> tuple[str, int] | None:
    try:
        row = json.loads(line)
        return row["cell"], row["trial"]
    except (ValueError, TypeError, KeyError):
        return None


def runs_in(directory: Path) -> list[Path]:
    """The directory of a run itself, or the runs in a folder of several, such as that of a campaign."""
    if (directory / store.EXPERIMENT).exists():
        return [directory]
    return sorted(path.parent for path in directory.glob(f"*/{store.EXPERIMENT}")) or [directory]


@contextlib.contextmanager
def results_of(*directories: Path) -> Iterator[Results]:
    """The games in directories of runs, or in folders of these.

    Raises:
        Refusal: a directory holds no experiment. Damage: see `store.rows`.
    """
    runs = [run for directory in directories for run in runs_in(directory)]
    with Results([Run(run, store.experiment_in(run)) for run in runs]) as results:
        yield results
