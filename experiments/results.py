"""The files of a run, and what its games come to: each game counted once; for each cell its wins and what its searches were like.

experiment.json says what is played; results.jsonl is a ledger of the games (`icarus.arena.ledger`). Everything else in the directory is
derived from these two. A run may grow: experiment.json is written again with more trials, agents or games, and the rows stay.
"""

import contextlib
import glob
import gzip
import hashlib
import json
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from operator import mul
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import attrs
import msgspec

from experiments.plan.cells import Cell, Column, Experiment, difference, extends, from_settings
from experiments.plan.sources import first_change
from icarus.arena import ledger as ledgers

KEY = ("cell", "trial")  # the fields of a row that name its game
EXPERIMENT, RESULTS = "experiment.json", "results.jsonl"
FORMAT = 1  # of experiment.json
STATISTICS = ("visits", "value", "depth", "iterations")
MILLION = 10**6
DIGITS = 12  # of a digest of actions
DRAW = 0.5  # what a drawn game of two counts in scores
DRAWN = [DRAW, DRAW]  # the returns of one

Number = Annotated[float, msgspec.Meta(gt=-1e12, lt=1e12)]
Reward = Annotated[float, msgspec.Meta(ge=0, le=1)]
Text = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")]


class Side(msgspec.Struct):
    """Means over the searches of one side, None where it had no choice; how many there were, and their seconds in all."""

    visits: Number | None
    value: Number | None
    depth: Number | None
    iterations: Number | None
    decisions: int = 0
    seconds: Number = 0


class Statistics(msgspec.Struct):
    agent: Side


class PlayedGame(msgspec.Struct):
    """What is counted of a row."""

    cell: str
    trial: int
    seat: int
    win: bool
    reward: Reward
    returns: list[Reward]
    started: Text
    seconds: Annotated[float, msgspec.Meta(ge=0, lt=1e12)]
    statistics: Statistics


class RowOfGame(PlayedGame, forbid_unknown_fields=True, kw_only=True):
    """All that a row has."""

    game: str
    agent: str
    strategy: str
    opponent: str
    seed: list[int]
    moves: int
    actions: list[Any] | str  # a digest of them where the rows are packed
    provenance: dict[str, Any]
    role: str = ""
    iterations: int | None = None
    opponent_iterations: int | None = None
    seconds_per_decision: float | None = None


# -------------------- The files of a run.


def experiment_in(directory: Path) -> Experiment:
    """The experiment to which a directory belongs.

    Raises:
        ValueError: to none, or experiment.json cannot be understood.
    """
    path = directory / EXPERIMENT
    try:
        content = msgspec.json.decode(path.read_bytes())
        if content["format"] != FORMAT:
            raise ValueError(
                f"its format is {content['format']!r}, and this version reads format {FORMAT}"
            )
        return from_settings(content)
    except (FileNotFoundError, NotADirectoryError):
        inside = ", ".join(run.name for run in runs_in(directory) if run != directory)
        hint = f"; give one of its directories: {inside}" if inside else ""
        raise ValueError(f"{directory} has no experiment (it has no {EXPERIMENT}){hint}") from None
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ValueError(f"{path} is damaged: {type(error).__name__}: {error}") from None


def runs_in(directory: Path) -> list[Path]:
    """The directory of a run itself, or the runs in a folder of several, such as that of a campaign."""
    if (directory / EXPERIMENT).exists():
        return [directory]
    return sorted(path.parent for path in directory.glob(f"*/{EXPERIMENT}")) or [directory]


def rows(directory: Path, experiment: Experiment) -> Iterator[ledgers.GameRow]:
    """The games played so far, in the order in which they ended.

    Raises:
        ValueError: a line is damaged, or not a game of this experiment.
    """
    columns = _columns(experiment)
    for row in ledgers.read_rows(directory / RESULTS, KEY, RowOfGame, unchecked=True, strict=True):
        _refuse_foreign(row, columns, experiment.trials, directory)
        yield row


def _columns(experiment: Experiment) -> dict[str, Column]:
    return {cell.key: cell.column for cell in experiment.cells}


def _refuse_foreign(
    row: ledgers.GameRow, cells: Container[str], trials: int, directory: Path
) -> None:
    if row["cell"] not in cells or not 0 <= row["trial"] < trials:
        place = f"cell {row['cell']}, trial {row['trial']}"
        raise ValueError(f"{directory / RESULTS}: damaged ({place}: not a game of this experiment)")


def count_unchecked(directory: Path) -> int:
    """How many of the games were kept before lines had checksums."""
    return sum(
        ledgers.checksum_in(line) is None for line, _ in ledgers.read_lines(directory / RESULTS)
    )


def is_being_written(path: Path) -> bool:
    """Whether a process, of this machine, has a ledger open."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        return not ledgers.lock(file)


def pack(path: Path) -> None:
    """Compress the rows of a file, with a digest in place of the actions of each game; the same rows always give the same bytes.

    Whenever it is killed, each game still counts once.

    Raises:
        ValueError: a process is writing to the file, or a row is damaged; nothing has changed then.
    """
    if not _packed_lines(path):
        return
    with ledgers.open_to_append(path):
        content = b"".join(_packed_lines(path))
        # first where the actions stand, so that both files have the same line of a game
        ledgers.write_whole(path, content)
        with ledgers.open_to_append(path):  # the new file, which no process has begun to write to
            ledgers.write_whole(ledgers.packed_path(path), gzip.compress(content, mtime=0))
            path.unlink()


def _packed_lines(path: Path) -> dict[bytes, None]:
    """The lines of a file, each once, without actions."""
    return dict.fromkeys(_without_actions(*line) for line in ledgers.read_lines(path))


def _without_actions(line: bytes, place: str) -> bytes:
    """A line with a digest in place of the actions; as it is where it has none."""
    row = ledgers.row_of(line, place, unchecked=True)
    if not isinstance(row.get("actions"), list):
        return line
    row["actions"] = digest_of_actions(row["actions"])
    if ledgers.checksum_in(line) is None:  # nothing says that it has not changed, nor will it now
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    return ledgers.line_of(row)


def digest_of_actions(actions: list[Any] | str) -> str:
    """What tells the course of a game from all others; of a row that is packed it is what the row has."""
    if isinstance(actions, str):
        return actions
    return f"sha256:{hashlib.sha256(json.dumps(actions).encode()).hexdigest()[:DIGITS]}"


class RunLedger(ledgers.Ledger):
    """The games of a run; of a row it holds what a sequential test compares (`Column.outcome`)."""

    def __init__(self, directory: Path, experiment: Experiment) -> None:
        self.outcomes: dict[tuple[str, int], float] = {}
        self._columns = _columns(experiment)
        self._trials = experiment.trials
        super().__init__(directory / RESULTS, KEY, RowOfGame, unchecked=True, strict=True)

    def note(self, row: ledgers.GameRow) -> None:
        assert self.path is not None
        _refuse_foreign(row, self._columns, self._trials, self.path.parent)
        self.rows[ledgers.key_of(row, KEY)] = {}
        self.outcomes[row["cell"], row["trial"]] = self._columns[row["cell"]].outcome(
            row["win"], row["reward"]
        )


@contextlib.contextmanager
def ledger_of(directory: Path, experiment: Experiment) -> Iterator[RunLedger]:
    """The games of a run, to be continued; a new directory is made. A run may grow in trials, agents and games.

    Raises:
        ValueError: it belongs to another experiment or to other settings, is being written by another process, or a line is damaged.
    """
    _is_claimed(directory, experiment)  # refuses a directory of another run before a file is opened
    with RunLedger(directory, experiment) as ledger:
        if not _is_claimed(directory, experiment):
            content = {"format": FORMAT, **experiment.settings()}
            ledgers.write_whole(
                directory / EXPERIMENT, json.dumps(content, indent=1, ensure_ascii=False)
            )
        yield ledger


def _is_claimed(directory: Path, experiment: Experiment) -> bool:
    """Whether a directory's experiment is this one; not if it is new or must grow."""
    if (directory / EXPERIMENT).exists():
        stored = experiment_in(directory)
        if not extends(experiment, stored):
            _refuse_edited(directory, stored, experiment)
            raise ValueError(
                f"{directory} belongs to another run: {difference(stored, experiment)}; choose another directory"
            )
        return stored == experiment
    paths = directory.iterdir() if directory.exists() else ()
    # left by a run that was killed before it had begun
    leftovers = {EXPERIMENT + ledgers.UNFINISHED, RESULTS}
    strange = sorted(
        path.name
        for path in paths
        if path.name not in leftovers or (path.name == RESULTS and path.stat().st_size)
    )
    if strange:
        raise ValueError(
            f"{directory} has other files ({', '.join(strange[:3])}) but no {EXPERIMENT}; choose an empty directory"
        )
    return False


def _refuse_edited(directory: Path, before: Experiment, experiment: Experiment) -> None:
    """Say so where all that differs is what a Python file holds, or one that it imports."""
    by_key = {cell.key: cell for cell in experiment.cells}
    for stored in before.cells:
        now = by_key.get(stored.key, stored)
        of_file = {name: getattr(now, name) for name in ("module", "source", "imports")}
        if stored != now and attrs.evolve(stored, **of_file) == now:
            path, digest, earlier = first_change(stored, now)
            raise ValueError(
                f"{path} was edited after the run in {directory} had started: its digest is {digest}, in that run {earlier}; "
                f"undo the edit, or choose another directory"
            )


def merge(out: Path, directories: Sequence[Path]) -> tuple[int, int]:
    """Add to `out` the games of other runs of the same experiment, which may have grown: (games added, games there now).

    Raises:
        ValueError: they belong to different experiments, a file is damaged, or the same game was played differently in two places.
            Nothing is added then.
    """
    whole = experiment_in(directories[0])
    others = list(directories[1:])
    if (out / EXPERIMENT).exists():
        others.append(out)
    for directory in others:
        experiment = experiment_in(directory)
        if not extends(whole, experiment):
            if not extends(experiment, whole):
                words = difference(experiment, whole, ("there", "in those before"))
                raise ValueError(f"{directory} is a run of another experiment: {words}")
            whole = experiment
    first: dict[ledgers.Key, tuple[Path, list[object]]] = {}
    for directory in (out, *directories):
        for row in rows(directory, whole):
            played = [row["seed"], digest_of_actions(row["actions"]), row["returns"]]
            place, earlier = first.setdefault(ledgers.key_of(row, KEY), (directory, played))
            if played != earlier:
                name = f"trial {row['trial']} of {row['agent']} in {row['game']}"
                raise ValueError(f"{name} was played differently in {place} and in {directory}")
    with ledger_of(out, whole) as ledger:
        before = len(ledger.rows)
        for directory in directories:
            for row in rows(directory, whole):
                if row not in ledger:
                    ledger.keep(row)
        return len(ledger.rows) - before, len(ledger.rows)


# -------------------- What is counted.


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


def moments_of(values: Iterable[float | None]) -> Moments:
    """The moments of numbers; None counts in none."""
    numbers = [_millionths(value) for value in values if value is not None]
    return Moments(len(numbers), sum(numbers), sum(map(mul, numbers, numbers)))


def _added(values: Iterable[float]) -> float:
    """The sum of numbers to millionths, whatever their order."""
    return sum(map(_millionths, values)) / MILLION


def _millionths(value: float) -> int:
    return math.floor(value * MILLION + 0.5)


@attrs.define
class Score:
    """Games as one side sees them.

    Attributes:
        draws: drawn games; there are none where more than two play.
    """

    wins: int = 0
    draws: int = 0
    games: int = 0

    @property
    def losses(self) -> int:
        return self.games - self.wins - self.draws

    @property
    def mean(self) -> float:
        """The share of games won, a draw counting half."""
        return (self.wins + DRAW * self.draws) / self.games

    @property
    def turned(self) -> "Score":
        """The same games as the other side sees them."""
        return Score(self.losses, self.draws, self.games)

    def __add__(self, more: "Score") -> "Score":
        return Score(self.wins + more.wins, self.draws + more.draws, self.games + more.games)


@attrs.define
class Tally(Score):
    """The results of one cell.

    Attributes:
        seconds: the time its games took, added up.
        moments: for each of `STATISTICS` those of the agent's means, over its games.
        due: the games of the cell's first interim analysis; 0 where there is none.
        rewards: the moments of the agent's rewards.
        pace: the agent's iterations a second, the median of its games, so that one in which something is compiled counts as any other;
            None where no search took time.
        is_graded: whether somebody got another reward than that of a win, a draw of two, or a loss, in a game that is not one of
            section 8: what counts is then the mean reward, not the wins.
    """

    cell: Cell = attrs.field(kw_only=True)
    seconds: float = 0.0
    moments: dict[str, Moments] = attrs.field(factory=lambda: dict.fromkeys(STATISTICS, Moments()))
    due: int = 0
    rewards: Moments = Moments()
    pace: float | None = None
    is_graded: bool = False


def tally_of(cell: Cell, games: Sequence[PlayedGame]) -> Tally:
    """The results of a cell from its games."""
    sides = [game.statistics.agent for game in games]
    paces = [
        (side.iterations or 0) * side.decisions / side.seconds for side in sides if side.seconds
    ]
    return Tally(
        wins=sum(game.win for game in games),
        draws=sum(game.returns == DRAWN for game in games),
        games=len(games),
        cell=cell,
        seconds=_added(game.seconds for game in games),
        moments={name: moments_of(getattr(side, name) for side in sides) for name in STATISTICS},
        rewards=moments_of(game.reward for game in games),
        pace=median(paces) if paces else None,
        is_graded=not cell.column.counts_wins
        and any(game.returns != DRAWN and not {0, 1}.issuperset(game.returns) for game in games),
    )


Columns = dict[Column, list[Tally]]
Outcomes = Mapping[tuple[str, int], float]  # what counts of each game, by cell key and trial


def any_graded(column: Iterable[Tally]) -> bool:
    """Whether the agents of a column are compared by their mean rewards."""
    return any(tally.is_graded for tally in column)


def baseline(column: list[Tally]) -> Tally | None:
    """The agent that is an opponent itself: the measure of evenly matched players."""
    return next((tally for tally in column if tally.cell.is_opponent and tally.games), None)


def named(column: Iterable[Tally], strategies: Mapping[str, str]) -> dict[str, Tally]:
    """Those of the agents that have these strategies, by the names of these; none where one is missing."""
    tallies = {tally.cell.text: tally for tally in column}
    if not tallies.keys() >= set(strategies.values()):
        return {}
    return {name: tallies[strategy] for name, strategy in strategies.items()}


class Results:
    """The games of runs. A game that several runs hold (the same cell, trial and way of drawing seeds) counts once.

    Attributes:
        runs, cells: what was read: experiments by their directories, and all their cells.
        games: those of each cell, by its key, in the order of their trials.

    Raises:
        ValueError: see `rows`.
    """

    def __init__(self, runs: Mapping[Path, Experiment]) -> None:
        self.runs = runs
        cells = {cell.key: cell for experiment in runs.values() for cell in experiment.cells}
        self.cells = list(cells.values())
        # by the way of drawing seeds, cell and trial
        played: dict[tuple[str, str, int], PlayedGame] = {}
        self._provenance: Counter[bytes] = Counter()
        returns: dict[tuple[float, ...], list[float]] = {}  # each kept once
        for directory, experiment in runs.items():
            seeding = experiment.seeding
            for row in rows(directory, experiment):
                game = msgspec.convert(row, PlayedGame)
                game.returns = returns.setdefault(tuple(game.returns), game.returns)
                key = seeding, game.cell, game.trial
                if key not in played:
                    played[key] = game
                    self._provenance[msgspec.json.encode(row["provenance"])] += 1
        self.games: dict[str, list[PlayedGame]] = {cell.key: [] for cell in self.cells}
        for game in sorted(played.values(), key=lambda game: game.trial):
            self.games[game.cell].append(game)
        self._tallies: dict[tuple[str, int], Tally] = {}  # by cell and number of games

    @property
    def unchecked(self) -> int:
        """How many lines have no checksum, because they were kept before there were any."""
        return sum(map(count_unchecked, self.runs))

    @property
    def most(self) -> int:
        """How many games there are when all are played."""
        trials: dict[tuple[str, str], int] = {}
        for run in self.runs.values():
            for cell in run.cells:
                place = run.seeding, cell.key
                trials[place] = max(run.trials, trials.get(place, 0))
        return sum(trials.values())

    @property
    def experiment(self) -> Experiment:
        """That of the first run."""
        return next(iter(self.runs.values()))

    def tallies(self, trials: Mapping[Cell, int] | None = None) -> list[Tally]:
        """What each cell came to, in the order of `cells`; only in its first so many trials, if numbers are given."""
        most = trials or {}
        return [self._tally(cell, most.get(cell, math.inf)) for cell in self.cells]

    def _tally(self, cell: Cell, end: float) -> Tally:
        """The results of a cell's trials before `end`; the same first games are counted once."""
        games = [game for game in self.games[cell.key] if game.trial < end]
        key = cell.key, len(games)
        if key not in self._tallies:
            self._tallies[key] = tally_of(cell, games)
        return self._tallies[key]

    def columns(self) -> Columns:
        """The results by column, the agents in the order of the experiment."""
        columns: Columns = {cell.column: [] for cell in self.cells}
        for tally in self.tallies():
            columns[tally.cell.column].append(tally)
        return columns

    def unbroken(self) -> dict[Cell, int]:
        """How many games each cell has from its first trial on, without gaps."""
        # the trials of a cell rise: after a gap each is more than its place
        return {
            cell: sum(game.trial == place for place, game in enumerate(self.games[cell.key]))
            for cell in self.cells
        }

    @property
    def provenance(self) -> list[tuple[dict[str, object], int]]:
        """By what the games were played, with the number of games, the most frequent first."""
        ordered = sorted(self._provenance.items(), key=lambda kind: (-kind[1], kind[0]))
        return [(msgspec.json.decode(text), count) for text, count in ordered]

    def outcomes(self) -> dict[tuple[str, int], float]:
        """What a sequential test compares of each game (`Column.outcome`), by cell key and trial."""
        return {
            (cell.key, game.trial): cell.column.outcome(game.win, game.reward)
            for cell in self.cells
            for game in self.games[cell.key]
        }

    def by_deal(self, graded: bool) -> Any:
        """What the agents got: a data frame with a line for each trial, and a column for each cell's key.

        A sequential test plays each deal once in every seat: its lines are deals, and what an agent got is the mean over these games.

        Args:
            graded: whether rewards count; else whether games were won.
        """
        import pandas

        columns = {}
        for cell in self.cells:
            games, seats = self.games[cell.key], len(cell.column.seats)
            got = {game.trial: game.reward if graded else game.win for game in games}
            column = pandas.Series(got, dtype=float)
            if self.experiment.sprt:
                deals = column.groupby(column.index // seats)
                column = deals.mean()[deals.count() == seats]
            columns[cell.key] = column
        return pandas.DataFrame(columns)


def results_of(*directories: Path) -> Results:
    """The games in directories of runs, or in folders of these.

    Raises:
        ValueError: a directory holds no experiment, or see `rows`.
    """
    runs = [run for directory in directories for run in runs_in(directory)]
    return Results({run: experiment_in(run) for run in runs})


LONGEST_ROW = 1 << 24  # bytes, for the reader of JSON
MEMORY = "400MB"  # of the database, before it turns to the disk


def query(
    directory: Path, sql: str, allow_files: bool = False
) -> tuple[list[str], list[tuple[object, ...]]]:
    """The answer to a query over the table `games`, whose columns are those of the files: (names of the columns, rows).

    Args:
        directory: of a run, or a folder of several.
        allow_files: whether the query may read and write other files; else it sees nothing but the games.

    Raises:
        ValueError: no results yet, a damaged line, or a query that the database does not understand.
    """
    import duckdb

    results = results_of(directory)  # which checks the lines
    if not any(results.games.values()):
        raise ValueError(f"{directory} has no games yet")
    seedings = dict[str, str]()  # by the files of games
    for run, experiment in results.runs.items():
        for path in (ledgers.packed_path(run / RESULTS), run / RESULTS):
            if path.exists():
                seedings[str(path)] = experiment.seeding
    # a list of names is taken too, but is not in the types
    files: Any = [glob.escape(path) for path in seedings]
    with contextlib.closing(duckdb.connect(config={"memory_limit": MEMORY})) as database:
        # All that can be wrong is a torn last line: it is skipped, or a row of nothing.
        relation = database.read_json(
            files,
            format="newline_delimited",
            union_by_name=True,
            ignore_errors=True,
            sample_size=-1,
            maximum_object_size=LONGEST_ROW,
            filename=True,
        )
        relation.create("games")
        # A game may be in both files of a run, where packing was killed, and in several runs; the first line counts.
        database.execute(
            "DELETE FROM games WHERE cell IS NULL OR rowid NOT IN "
            "(SELECT min(rowid) FROM games GROUP BY $seedings[list_position($files, filename)], cell, trial)",
            {"seedings": [*seedings.values()], "files": [*seedings]},
        )
        database.execute("ALTER TABLE games DROP COLUMN filename")
        if not allow_files:
            database.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            answer = database.execute(sql)
            if answer is None:  # nothing but comments
                raise ValueError("the query is empty")
            return [column[0] for column in answer.description or []], answer.fetchall()
        except duckdb.Error as error:
            raise ValueError(" ".join(str(error).split("\n\n")[0].split())) from None
