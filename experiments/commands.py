"""The program `python -m experiments`: what is typed, and what is printed."""

import contextlib
import csv
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from experiments import (
    figures,
    interims,
    ladder as ladders,
    races,
    replay,
    results as store,
    run as running,
)
from experiments.claims import PAPERS, SECTION_8, has_interims
from experiments.ladder import TABLE_SECONDS, opponents
from experiments.pages import fill_places
from experiments.papers import GROUPS
from experiments.plan import loading
from experiments.plan.cells import budget, title
from experiments.plan.refusal import Refusal, refusing
from experiments.report import (
    averages_of,
    averages_table,
    campaign_tables,
    counts_of_table_1,
    effects_sentence,
    measures_of,
    state_of,
    without_checksum,
    write,
)
from experiments.results import Columns, Results, results_of, runs_in
from experiments.statistics import INTERVALS, POWER, clopper_pearson, games_needed, interval_text
from experiments.verdicts import details_table, summary_table, tally_sentence
from icarus.arena.ledger import PACKED, naming_file, packed_path, write_whole
from icarus.arena.workers import GameFailed, workers as processes
from icarus.checks import integer, real
from icarus.commands import console
from icarus.commands.console import make_program, print_note as say, progress_of, run_program
from icarus.commands.options import FAILED, INTERRUPTED, value_option
from icarus.ladder.ladders import Rating
from icarus.views.document import Table


def argument(metavar: str, help: str) -> typer.models.ArgumentInfo:
    """An argument, for which `metavar` stands in the help."""
    return typer.Argument(metavar=metavar, help=help)


def flag(name: str, help: str) -> typer.models.OptionInfo:
    """An option that takes no value, and has no opposite."""
    return typer.Option(name, help=help)


def print_table(table: Table) -> None:
    console.print_table(table.header, table.rows, table.caption)


def refresh(page: Path, texts: Mapping[str, str]) -> None:
    """Give the places of a page (`fill_places`) their new texts."""
    with refusing():
        text = fill_places(page.read_text("utf-8"), texts)
    write_whole(page, text)


NAMED = (
    f"Name of an experiment, or the path of your own as a .toml or .py file. Section 8: {', '.join(GROUPS['section8'])} (all of them). "
    f"Earlier papers on Information Set MCTS and determinization: {', '.join(GROUPS['earlier'])}. "
    f"Settings that section 8 leaves open: {', '.join(GROUPS['sensitivity'])}. "
    f"Other enhancements: {', '.join(GROUPS['catalogue'])}."
)
Name = Annotated[str, argument("EXPERIMENT", NAMED)]
Directory = Annotated[Path, argument("DIR", "Directory of a run (its --out).")]
Games = Annotated[
    str | None,
    value_option("GAMES", "Games, separated by commas, such as othello,knockout-whist(players=3)."),
]
Trials = Annotated[int | None, value_option("N", "Games per cell (section 8: 1000).")]
Iterations = Annotated[
    int | None,
    value_option("N", "Iterations per decision (section 8: 5000, earlier papers: 10000)."),
]
Seconds = Annotated[
    str | None,
    value_option("SECONDS", "Seconds per decision instead, separated by commas, such as 0.1,1."),
]
With = Annotated[
    Path | None,
    value_option("FILE.py", "Python file with enhancements or games of your own.", "--with"),
]
WorkerCount = Annotated[
    int | None, value_option("N", "Number of processes; default: the number of processors.")
]


def run(
    experiment: Name,
    out: Annotated[
        Path,
        value_option("DIR", "Directory for the results; run the same command to continue a run."),
    ],
    games: Games = None,
    trials: Trials = None,
    iterations: Iterations = None,
    seconds: Seconds = None,
    workers: WorkerCount = None,
    seed: Annotated[int | None, value_option("SEED", "Seed of the experiment.")] = None,
    paired: Annotated[
        bool, flag("--paired", "Use the same deals and chance for all agents of a game.")
    ] = False,
    sprt: Annotated[
        bool,
        flag(
            "--sprt", "Stop an agent's games when a sequential test against the baseline decides."
        ),
    ] = False,
    part: Annotated[
        str, value_option("K/N", "Part of the trials to play, such as 2/3; see merge.")
    ] = "1/1",
    cluster: Annotated[
        str | None,
        value_option("ADDRESS", "Dask cluster to play on: the address of its scheduler, or local."),
    ] = None,
    file: With = None,
) -> int:
    """Play an experiment, or the rest of it; then print its table and draw its figures.

    Every game is kept in DIR/results.jsonl as it ends. A run may be stopped or killed at any time: run the same command to continue.
    No game is lost or played twice. The games do not depend on the number of processes.
    """
    changes = {
        "games": split_names(games) if games is not None else None,
        "iterations": iterations,
        "seconds": _numbers("seconds", seconds),
        "trials": trials,
        "seed": seed,
        "paired": paired or None,
        "sprt": sprt or None,
    }
    replaced = {key: value for key, value in changes.items() if value is not None}
    selection = loading.load(experiment, replaced, file)
    share = running.part(part)
    total = 0
    try:
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(processes(_process_count(workers), cluster))
            playing = running.run(selection, out, pool, share)
            done, total = next(playing)
            advance = stack.enter_context(progress_of(selection.name, total, done=done))
            for done, _ in playing:
                advance(done)
        _show(out)
    except GameFailed as error:
        say(f"experiments: {error}")
        return FAILED
    except KeyboardInterrupt:
        done = sum(1 for _ in store.rows(out, selection)) if total else 0
        say(
            f"Stopped; {done} of {total} games are kept in {out}. Run the same command to continue."
        )
        return INTERRUPTED
    return 0


def split_names(text: str) -> list[str]:
    """The names in a text, separated by commas; a comma inside brackets separates nothing."""
    names = [""]
    depth = 0
    for letter in text:
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


def _numbers(name: str, text: str | None) -> list[float] | None:
    """Numbers separated by commas."""
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise Refusal(f"{name}: {text!r} are not numbers separated by commas") from None


def _positive(name: str, value: int) -> int:
    with refusing():
        return integer(name, value, 1)


def _process_count(workers: int | None) -> int:
    """The number of processes that was given, or that of the processors which this one may use."""
    if workers is not None:
        return _positive("workers", workers)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _show(directory: Path) -> None:
    results = results_of(directory)
    columns, experiment = results.columns(), results.experiment
    _print_results(columns)
    folder = directory / "figures"
    with naming_file(folder):
        paths = figures.draw(columns, folder, figures.fitting(experiment))
    for path in paths:
        say(f"{path} and {path.with_suffix('.svg').name}")
    if sentence := figures.left_out(paths, experiment):
        say(sentence)


def _print_results(columns: Columns) -> None:
    """What the agents came to, with p beside evenly matched players, the averages of Figure 3, and the names' strategies."""
    named: dict[tuple[str, str], None] = {}
    for column, tallies in columns.items():
        name = title(column, list(columns))
        against = f", against {column.opponent.caption}"
        headings, rows = measures_of(tallies)
        lines = [[tally.cell.agent, *row] for tally, row in zip(tallies, rows, strict=True)]
        caption = f"{name.removesuffix(against)}: {budget(column)} per decision{against}"
        print_table(Table(caption, ["Agent", *headings], lines))
        named |= dict.fromkeys((each.cell.agent, each.cell.caption) for each in tallies)
    if counts := counts_of_table_1(columns):
        averages = averages_of(counts)
        print_table(
            averages_table(
                "Averages over combinations (Figure 3), the largest effect first", averages
            )
        )
        console.print_text(effects_sentence(averages))
    if strategies := [[agent, strategy] for agent, strategy in named if agent != strategy]:
        print_table(Table("", ["Agent", "Strategy"], strategies))


def status(directory: Directory) -> None:
    """Print how far a run is and when it will end, from its files alone; for a campaign also its cost."""
    if races.is_race(directory):
        print(races.status(directory))
        return
    results = results_of(directory)
    if has_interims(results):
        _campaign_status(results)
        return
    for each in runs_in(directory):
        results = results_of(each)
        print(state_of(results, store.is_being_written(each / store.RESULTS)))


def _campaign_status(results: Results) -> None:
    lines = interims.progress(results)
    going = any(store.is_being_written(run / store.RESULTS) for run in results.runs)
    print(
        f"campaign: {sum(line.games for line in lines)} games, {'running' if going else 'not running'}"
    )
    print_table(interims.progress_table(lines))
    for judged in SECTION_8.decisions(results).values():
        print(interims.count_sentence(judged))


def report(
    directory: Directory,
    pages: Annotated[
        list[Path] | None,
        value_option(
            "FILE",
            "Page whose tables of a campaign are made again, such as docs/reproduction.md or README.md; repeatable.",
            "--page",
        ),
    ] = None,
    table: Annotated[
        bool,
        flag("--table", "Write one table of agents and games: DIR/table.md and DIR/table.tex."),
    ] = False,
    tables: Annotated[
        bool, flag("--tables", "Write each table as CSV and for LaTeX (booktabs), into DIR/tables.")
    ] = False,
) -> None:
    """Print the table and write figures, report.html and report.md into DIR, from its files alone.

    DIR may be the directory of a campaign, which has a run for each game: experiments/runs/campaign.
    """
    if pages:
        _fill_pages(pages, directory)
    columns, paths = write(directory, tables, table)
    _print_results(columns)
    for path in paths:
        say(str(path))


def _fill_pages(pages: list[Path], directory: Path) -> None:
    """Make the tables of pages again from the rows of a campaign."""
    for page in pages:
        if not page.is_file():
            raise Refusal(f"there is no file {str(page)!r}")
    results = results_of(directory)
    if not has_interims(results):
        raise Refusal(f"{directory} is not a campaign; --page needs a campaign")
    texts = campaign_tables(results)
    for page in pages:
        refresh(page, texts)
        if STATED in page.read_text("utf-8"):
            _draw_statements(results, page.parent / STATED)


STATED = "_static/statements.png"  # the picture of a page that shows it


def _draw_statements(results: Results, picture: Path) -> None:
    """Draw what the paper states beside what was found; the page needs no other format than this one."""
    columns = interims.with_due_games(results.columns())
    with tempfile.TemporaryDirectory() as folder:
        for path in figures.draw(columns, Path(folder), ["statements"]):
            picture.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, picture)
            say(str(picture))


def claims(
    directories: Annotated[
        list[Path], argument("DIR", "Directories of runs, whose games are combined.")
    ],
    as_csv: Annotated[
        bool, flag("--csv", "Print all comparisons as comma-separated values.")
    ] = False,
) -> None:
    """Judge the statements of section 8 and of the earlier papers by the games played, and estimate how many more would decide each."""
    results = results_of(*directories)
    decisions = []
    for paper in PAPERS:
        for per_decision, judged in paper.decisions(results).items():
            decisions.append((paper, per_decision, judged))
    if not decisions:
        raise Refusal(
            "the runs have no games of the papers' statements (against the baseline, or between the papers' searches)"
        )
    if as_csv:
        rows = list[list[str]]()
        for paper, per_decision, judged in decisions:
            details = details_table(judged)
            rows += [[paper.source, per_decision, *row] for row in details.rows]
        _print_csv(["Paper", "per decision", *details.header], rows)
        return
    for paper, per_decision, judged in decisions:
        print(
            f"Paper against ours: {per_decision} per decision\n{tally_sentence(judged, paper.source)}\n\n{paper.rule}"
        )
        for table in (summary_table(judged), details_table(judged)):
            print_table(table)


def _print_csv(names: list[str], rows: Iterable[Iterable[object]]) -> None:
    csv.writer(sys.stdout, lineterminator="\n").writerows([names, *rows])


def query(
    directory: Directory,
    sql: Annotated[
        str, argument("SQL", "Query over the table `games`, which has the games played.")
    ],
    as_csv: Annotated[bool, flag("--csv", "Print comma-separated values.")] = False,
    allow_files: Annotated[
        bool, flag("--allow-files", "Let the query read and write other files too.")
    ] = False,
) -> None:
    """Query the results in SQL (DuckDB). The query can read the games only, unless --allow-files is given.

    Example: "SELECT agent, avg(win::INT), avg(statistics.agent.depth) FROM games GROUP BY agent".
    All games as a table: --csv "SELECT * EXCLUDE (actions) FROM games"
    """
    names, rows = store.query(directory, sql, allow_files)
    if as_csv:
        _print_csv(names, rows)
        return
    console.print_table(
        names,
        ([f"{each:.6g}" if isinstance(each, float) else each for each in row] for row in rows),
    )


def merge(
    out: Annotated[Path, argument("OUT", "Directory to make or to extend.")],
    directories: Annotated[
        list[Path], argument("DIR", "Directories of runs of the same experiment.")
    ],
) -> None:
    """Merge the games of runs of the same experiment, for example from several machines."""
    new_games, total = store.merge(out, directories)
    say(f"{new_games} games added; {total} games in {out}")


def pack(
    directories: Annotated[
        list[Path], argument("DIR", "Directories with rows of games that are over.")
    ],
) -> None:
    """Compress the rows of games; a digest of each game's actions takes their place.

    `verify` plays such games again too, and compares the digest.
    """
    files = set[Path]()
    for directory in directories:
        ledgers = [*directory.glob("*.jsonl"), *directory.glob(f"*.jsonl{PACKED}")]
        filled = [path for path in ledgers if path.stat().st_size]
        if not filled:
            raise ValueError(f"{directory} has no rows of games")
        files |= {path.with_name(path.name.removesuffix(PACKED)) for path in filled}
    for path in sorted(files):
        store.pack(path)
        say(f"{packed_path(path)}: {packed_path(path).stat().st_size:,} bytes")


def verify(
    directory: Directory,
    sample: Annotated[int, value_option("N", "Number of games to play again.")] = 10,
    seed: Annotated[int, value_option("SEED", "Seed of the sample.")] = 0,
    agent: Annotated[
        str | None, value_option("NAME", "Sample the games of this agent only.")
    ] = None,
    trial: Annotated[int | None, value_option("N", "Sample the games of this number only.")] = None,
) -> int:
    """Play a sample of games again and compare them action by action; the exit code is 1 if one differs, or none can be played.

    DIR may also be the directory of a race, of ladders, of duels, of icarus learn, or of what outcome sampling learned."""
    _positive("sample", sample)
    if (directory / store.EXPERIMENT).exists():
        modules = {cell.module for cell in store.experiment_in(directory).cells}
        for module in sorted(modules - {""}):
            say(f"{directory} uses a Python file, which is run now: {module}")
        if unchecked := store.count_unchecked(directory):
            say(without_checksum(unchecked))
    findings = set[bool | None]()
    for message, is_same in replay.audit(directory, sample, seed, agent, trial):
        findings.add(is_same)
        print(message)
    if findings == {None}:  # no game can be played any more
        say("no game was played again, so that nothing was compared")
    return 0 if findings - {None} == {True} else FAILED


def plan(
    rate: Annotated[float, argument("RATE", "A win rate, such as 0.5.")],
    alternative: Annotated[float, argument("ALTERNATIVE", "A different win rate, such as 0.55.")],
    power: Annotated[
        float, value_option("POWER", "Probability that the test finds the difference.")
    ] = POWER,
) -> None:
    """Compute how many games each of two agents must play to find a difference in win rate at the 95 % level."""
    with refusing():
        games = games_needed(rate, alternative, power)
    low, high = clopper_pearson(round(rate * games), games)
    print(
        f"{games} games each; the 95 % interval of {100 * rate:g} % is then {100 * low:.1f} - {100 * high:.1f} %"
    )


# -------------------- The outside ladder: its opponents among themselves, its table, planned comparisons, and what they say.


def ladder(
    game: Annotated[str, argument("GAME", "Name of a game that has a ladder.")],
    out: Annotated[
        Path, value_option("DIR", "Directory for the rows; rows in it are used too.")
    ] = Path("experiments/runs/ladder"),
    minutes: Annotated[
        float, value_option("MINUTES", "Minutes to play; 0: only fit the ratings.")
    ] = 0,
    table: Annotated[bool, flag("--table", "Rate the table's players on the ladder.")] = False,
    timed: Annotated[
        bool, flag("--timed", f"Rate the table's players with {TABLE_SECONDS} s for each decision.")
    ] = False,
    compare: Annotated[
        bool, flag("--compare", "Play the planned comparisons of two players.")
    ] = False,
    number: Annotated[
        int, value_option("N", "Games of each of the table's players.", "--games")
    ] = 200,
    picture: Annotated[
        Path | None,
        value_option("FILE.svg", "File for a drawing of the ladder, with the players of a table."),
    ] = None,
    seed: Annotated[int, value_option("SEED", "Seed of openings, dice and deals.")] = 1,
    keep: Annotated[
        bool,
        flag(
            "--keep", "Write ladder and levels into the package from the rows, and pack the rows."
        ),
    ] = False,
) -> None:
    """Play a game's outside ladder: its opponents against each other; with --table or --timed, compositions against them; with
    --compare, planned pairs. Ctrl-C loses no finished game."""
    with refusing():
        integer("--seed", seed, 0)
        integer("--games", number, 1)
        real("--minutes", minutes, 0)
        kinds = {ladders.BY_ITERATIONS: table, ladders.BY_TIME: timed, ladders.COMPARED: compare}
        if sum(kinds.values()) > 1:
            raise ValueError(
                "--table, --timed and --compare play different games; give one of them"
            )
        kind = next((name for name, is_asked in kinds.items() if is_asked), ladders.BETWEEN)
        _refuse_unplanned(game, kind)
        if minutes:
            _play(game, kind, out, number, seed, time.monotonic() + 60 * minutes)
        if not ladders.read_rows_of(out, game, kind):
            raise ValueError(f"{out} has no such games of {game}; --minutes 20 plays some")
        ladder_of_rows = ladders.fitted_ladder(game, out)
        ratings, marked = ladder_of_rows.ratings(), set[str]()
        if kind in ladders.TABLES:
            standings = ladders.table_of(game, kind, out)
            print_table(_table(game, kind, standings))
            marked = set(standings)
            ratings |= {name: rating for name, (rating, _) in standings.items()}
        elif compare:
            print_table(_comparisons(game, out))
        else:
            print_table(_ratings(game, ratings))
            levels = ", ".join(map(str, ladders.proposed_levels(game, out)))
            say(
                f"iterations of levels equally far apart: {levels or 'no baseline in these games is a level above random play'}"
            )
        if picture is not None:
            title = f"{game}: ratings in Elo, random play at 0"
            marks = dict(sorted(ratings.items(), key=lambda item: -item[1].value))
            write_whole(picture, figures.intervals_svg("Elo", marks, marked, title))
        if keep and not ladders.keep(ladder_of_rows, out):
            say("no levels are written: baselines, stronger with more iterations, need more games")


def _play(game: str, kind: str, out: Path, number: int, seed: int, deadline: float) -> None:
    """Play games of a kind until a time or Ctrl-C, and print what comes of them."""
    try:
        if kind in ladders.TABLES:
            for climb in ladders.play_table(game, kind, out, number, seed, deadline):
                say(f"{climb.name}: {climb.rating()} after {len(climb.rows)} games")
            return
        compare = kind == ladders.COMPARED
        play = ladders.play_comparisons if compare else ladders.play_opponents
        for row in play(game, out, seed, deadline):
            if "void" in row:
                say(f"void: {row['void']}")
    except KeyboardInterrupt:
        say("stopped; the games played are kept")


def _refuse_unplanned(game: str, kind: str) -> None:
    """Refuse a game without a ladder, or without the table that is to be played.

    Raises:
        ValueError: it is one.
    """
    opponents(game)  # refuses a game without a ladder
    if kind in ladders.TABLES and not ladders.table_players(game, kind):
        planned = ", ".join(each for each in ladders.plans() if ladders.table_players(each, kind))
        raise ValueError(f"no such table is planned for {game}; games with one: {planned}")


def _ratings(game: str, ratings: Mapping[str, Rating]) -> Table:
    lines = [
        [name, f"{rating.value:.0f}", f"{rating.low:.0f} … {rating.high:.0f}", str(rating.count)]
        for name, rating in ratings.items()
    ]
    return Table(f"{game}: ratings, random play at 0", ("player", "Elo", "95 %", "games"), lines)


def _table(game: str, kind: str, standings: Mapping[str, ladders.Standing]) -> Table:
    lines = [
        [name, str(rating), _with_sign(above), str(rating.count)]
        for name, (rating, above) in standings.items()
    ]
    first = ladders.table_players(game, kind)[0].agent()
    titles = "player", "above random play", f"above {first}", "games"
    return Table(f"{game}: Elo, 95 % intervals", titles, lines)


def _with_sign(difference: Rating | None) -> str:
    if difference is None or difference.value == 0:
        return ""
    return f"{difference.value:+.0f} ± {difference.half:.0f}"


def _comparisons(game: str, directory: Path) -> Table:
    lines = [
        [*names, str(2 * score.count), interval_text(score, 3), comparison.question]
        for comparison, *names, score in ladders.scores_of_comparisons(game, directory)
    ]
    titles = "player", "against", "games", "score", "question"
    return Table(f"{game}: score, a pair of games counting once; {INTERVALS}", titles, lines)


app = make_program(
    (run, status, report, claims, query, merge, pack, verify, plan, races.races_command, ladder),
    "Run and analyse the experiments of section 8 of the ICARUS paper, of earlier papers, and your own.",
)


def main(arguments: list[str] | None = None) -> int:
    """The exit code of a command; what it refuses is told in one sentence on standard error."""
    return run_program(app, "experiments", sys.argv[1:] if arguments is None else arguments)
