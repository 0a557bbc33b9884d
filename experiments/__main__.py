"""The command `python -m experiments`: run, watch, report and check experiments."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import attrs
import typer

from experiments.papers import earlier, suite
from experiments.plan import campaign as plan_of_campaign
from experiments.plan.checks import positive
from experiments.plan.definition import Column, Experiment, Refusal
from experiments.play import running
from experiments.report import document, terminal
from experiments.store import rows as store
from experiments.store.results import results_of
from experiments.store.rows import Row
from experiments.store.summary import Tally

INTERRUPTED = 130  # the exit code of a command stopped by Ctrl-C
REFUSED = 2  # … of one that was given bad input
FAILED = 1  # … of one that found something wrong

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The experiments of section 8 of the ICARUS paper, those of two earlier papers, and one's own.",
)

NAMED = (
    f"Of section 8: {', '.join(suite.SUITE)} (all at once). Of the earlier papers on Information Set MCTS and determinization: "
    f"{', '.join(earlier.EARLIER)}. Or one's own as a .toml or .py file."
)

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run (its --out).")]


def processors() -> int:
    """How many processes this machine runs at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help=NAMED)],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the results are kept; the same command continues a run there.")
    ],
    games: Annotated[
        str | None, typer.Option(help="Games, separated by commas: othello,knockout-whist(players=3).")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Games per cell (section 8: 1000).")] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Iterations per decision (section 8: 5000, earlier: 10000).")
    ] = None,
    seconds: Annotated[
        str | None, typer.Option(help="Seconds per decision instead, separated by commas: 0.1,1.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; as many as there are processors if not given.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the experiment; another one means other games.")] = None,
    paired: Annotated[
        bool, typer.Option("--paired", help="The same deals and chance for all agents of a game.")
    ] = False,
    sprt: Annotated[
        bool, typer.Option("--sprt", help="End an agent's games when it is clear if it beats the baseline.")
    ] = False,
    part: Annotated[
        str, typer.Option(metavar="K/N", help="Play only this share of the trials, such as 2/3; see merge.")
    ] = "1/1",
    cluster: Annotated[
        str | None, typer.Option(help="Play on a dask cluster: the address of its scheduler, or local.")
    ] = None,
) -> int:
    """Play an experiment, or what is missing of it; then print its table and draw its figures.

    Every game is kept in DIR/results.jsonl as it ends. A run may be stopped or killed at any time: the same command continues it,
    and no game is lost or played twice. Whatever the number of processes, the games are the same.
    """
    chosen = _chosen(
        experiment,
        games,
        trials=trials,
        iterations=iterations,
        seconds=_numbers("seconds", seconds),
        seed=seed,
        paired=paired or None,
        sprt=sprt or None,
    )
    share, size = running.part(part), _size(workers)

    def whole() -> None:
        _play(chosen, out, size, cluster, share)
        _show(out)

    return _interruptible(chosen, out, whole)


@app.command()
def estimate(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help=NAMED)],
    games: Annotated[str | None, typer.Option(help="Games, separated by commas.")] = None,
    trials: Annotated[int | None, typer.Option(help="Games per cell.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Iterations per decision.")] = None,
    seconds: Annotated[str | None, typer.Option(help="Seconds per decision instead, separated by commas.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; as many as there are processors if not given.")
    ] = None,
) -> None:
    """How long an experiment will take, from a few short games of every agent (some minutes for all of section 8)."""
    changes = {"trials": trials, "iterations": iterations, "seconds": _numbers("seconds", seconds)}
    _estimate(_chosen(experiment, games, **changes), _size(workers))


@app.command()
def rehearse(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="Where rows, report and pictures are kept.")],
    trials: Annotated[int, typer.Option(help="Games per cell.")],
    iterations: Annotated[int, typer.Option(help="Iterations per decision.")],
    games: Annotated[
        str | None, typer.Option(help="Games, separated by commas; all of section 7 if not given.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; as many as there are processors if not given.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the experiment.")] = None,
) -> int:
    """All of section 8 at a reduced size: estimate, games, report, claims; at the end the rows are packed.

    First it tells how long this and the paper's own size (5000 iterations, 1000 games) will take. Stopped or killed, the same
    command continues.
    """
    chosen, size = _chosen("section8", games, trials=trials, iterations=iterations, seed=seed), _size(workers)
    if not (out / store.EXPERIMENT).exists():
        _estimate(chosen, size)

    def whole() -> None:
        _play(chosen, out, size, None, running.WHOLE)
        report(out)
        claims([out])
        say(str(store.pack(out)))

    return _interruptible(chosen, out, whole)


@app.command()
def campaign(
    tag: Annotated[str, typer.Option(help="The commit that plays, by its tag.")] = plan_of_campaign.TAG,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the clone at the tag and the games as they are played are kept.")
    ] = Path("results/campaign"),
    kept: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the packed games are: read at the start, written now and then.")
    ] = Path("experiments/runs/campaign"),
    workers: Annotated[
        int | None, typer.Option(help="Processes; as many as there are processors if not given.")
    ] = None,
    iterations: Annotated[
        int, typer.Option(help="Iterations per decision; for rehearsals.")
    ] = plan_of_campaign.ITERATIONS,
    looks: Annotated[str, typer.Option(help="Games of a cell at each look, such as 2,4,6,8; for rehearsals.")] = "",
    blocks: Annotated[int | None, typer.Option(help="Stop after so many blocks.")] = None,
) -> None:
    """Section 8 at the paper's size, for as long as it takes: the next most useful block of games each time, at the lowest priority.

    The games are played by a clone of the repository at the tag. Stopped or killed, the same command continues, on this machine or
    on another one that has the repository; see docs/reproduction.md.
    """
    from experiments.play import campaign as at_work

    size = _size(workers)
    for name, value in (("iterations", iterations), ("blocks", 1 if blocks is None else blocks)):
        positive(name, value)
    at_work.sizes_of(looks)
    source = at_work.clone(tag, out)
    at_work.hand_over(
        source, at_work.arguments_of(out.resolve() / at_work.ROWS, kept.resolve(), size, iterations, looks, blocks)
    )


def _chosen(experiment: str, games: str | None, **changes: Any) -> Experiment:
    wanted = {"games": None if games is None else split_games(games), **changes}
    return suite.load(experiment, {key: value for key, value in wanted.items() if value is not None})


def _numbers(name: str, text: str | None) -> list[float] | None:
    """Numbers separated by commas."""
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise Refusal(f"{name}: {text!r} are not numbers separated by commas") from None


def _size(workers: int | None) -> int:
    return processors() if workers is None else positive("workers", workers)


def _interruptible(experiment: Experiment, out: Path, work: Callable[[], object]) -> int:
    try:
        work()
    except KeyboardInterrupt:
        kept = sum(1 for _ in store.rows(out, experiment)) if store.results_in(out).exists() else 0
        total = len(experiment.cells) * experiment.trials
        say(f"Stopped; {kept} of {total} games are kept in {out}. The same command continues.")
        return INTERRUPTED
    return 0


def _estimate(experiment: Experiment, workers: int) -> None:
    from experiments.play import estimate as estimates

    paces = estimates.measured(experiment, say)
    trials, iterations = suite.published(experiment)
    for size, full in ((experiment, None), (attrs.evolve(experiment, trials=trials), iterations)):
        seconds = estimates.core_seconds(size, paces, full)
        print("\n".join(estimates.told(size, seconds, workers, full)), flush=True)


@app.command()
def status(directory: Directory) -> None:
    """How far a run is and when it will end, from its files alone."""
    from experiments.report.status import state_of

    with results_of(directory) as results:
        print(state_of(results, store.being_written(directory)))


@app.command()
def report(directory: Directory) -> None:
    """Print the table and write figures, report.html and report.md into DIR, from its files alone."""
    if (directory / earlier.BRANCHING_ROWS).exists():
        _report_branching(directory)
        return
    from experiments.report.report import write

    columns, paths = write(directory)
    print_tables(columns)
    for path in paths:
        say(str(path))


@app.command()
def branching(
    deals: Annotated[int, typer.Option(help="Random deals (the paper: 5000).")] = 5000,
    seed: Annotated[int, typer.Option(help="Another seed means other deals.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where counts and report are kept, if given.")] = None,
) -> None:
    """Table II of 2012: the leading plays of Dou Di Zhu's peasants as the landlord sees them, measured and published. Plays no games."""
    from experiments.report import branching as measure

    if positive("deals", deals) < measure.FEWEST or seed < 0:
        raise Refusal(
            f"deals and seed: {deals}, {seed}; there must be at least {measure.FEWEST} deals and a seed of at least 0"
        )
    if out is not None:
        _fresh(out, earlier.BRANCHING_ROWS)
    plays = measure.measured(deals, seed)
    if out is not None:
        measure.keep(out, plays)
        _report_branching(out)
    else:
        _print_table(measure.table(measure.measurements(plays), deals))


def _fresh(directory: Path, own: str) -> None:
    """Refuse a directory that holds something else."""
    if directory.exists() and not (directory / own).exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise Refusal(f"{directory} holds other files, no {own}; choose an empty directory")


def _report_branching(directory: Path) -> None:
    from experiments.report.search_report import write_branching

    table, paths = write_branching(directory)
    _print_table(table)
    for path in paths:
        say(str(path))


def _print_table(table: document.Table) -> None:
    terminal.console().print(terminal.plain_table(table.header, table.rows, table.caption))


@app.command()
def claims(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Runs whose games are put together.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print all comparisons as comma-separated values.")] = False,
) -> None:
    """Paper against ours: every statement of section 8 or of the earlier papers about what was played, what the games say to it,
    and how many more would decide it."""
    from experiments.store.export import write_csv
    from experiments.weigh import claims as statements
    from experiments.weigh import search_claims

    with results_of(*directories) as results:
        judged = [(statements, *found) for found in statements.judgements(results).items()]
        judged += [(search_claims, *found) for found in search_claims.judgements(results).items()]
    if not judged:
        raise Refusal("there are no games against the baseline or between searches of those that the papers play")
    for paper, budget, each in judged:
        details = statements.details_table(each)
        if csv:
            write_csv(sys.stdout, ["per decision", *details.header], ([budget, *row] for row in details.rows))
            continue
        print(f"Paper against ours: {budget} per decision\n{statements.tallied(each, paper.SOURCE)}\n\n{paper.RULE}")
        for table in (statements.summary_table(each), details):
            _print_table(table)


@app.command()
def query(
    directory: Directory,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query; the games played are the table `games`.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
) -> None:
    """Ask the results in SQL (DuckDB).

    Example: "SELECT agent, avg(win::INT), avg(statistics.agent.depth) FROM games GROUP BY agent"
    """
    from experiments.store import export as tables

    names, found = tables.query(directory, sql)
    if csv:
        tables.write_csv(sys.stdout, names, found)
    else:
        terminal.console().print(terminal.plain_table(names, found))


@app.command()
def export(
    directory: Directory,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The file; if not given, standard output.")
    ] = None,
    alpha_rank: Annotated[
        bool, typer.Option("--alpha-rank", help="Agents and scores, for OpenSpiel's alpha-rank.")
    ] = False,
) -> None:
    """Write the games played as CSV, a line each, without their actions."""
    from experiments.store import export as tables

    rows = store.rows(directory, store.experiment_in(directory))
    names, found = (["agents", "scores"], tables.matches(rows)) if alpha_rank else tables.flattened(rows)
    if file is None:
        tables.write_csv(sys.stdout, names, found)
        return
    with file.open("w", encoding="utf-8", newline="") as target:
        tables.write_csv(target, names, found)


@app.command()
def ratings(directory: Directory) -> None:
    """Bradley-Terry or Plackett-Luce ratings of a tournament (an experiment with several opponents) with 95 % intervals."""
    from experiments.report.report import rating_tables

    with results_of(directory) as results:
        found = [block for block in rating_tables(results) if isinstance(block, document.Table)]
    if not found:
        raise Refusal(f"{directory} holds no tournament: no game has three or more agents that have met")
    for table in found:
        _print_table(table)


@app.command()
def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The directory to be made or extended.")],
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Directories of runs of the same experiment.")
    ],
) -> None:
    """Put together what runs of the same experiment have played, for example on several machines."""
    from experiments.store.export import merge as merge_runs

    added, total = merge_runs(out, directories)
    say(f"{added} games added; {total} games in {out}")


@app.command()
def verify(
    directory: Directory,
    sample: Annotated[int, typer.Option(help="How many games are played again.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed draws another sample.")] = 0,
) -> int:
    """Play a sample of games again and compare them action by action; the exit code is 1 if one differs."""
    from experiments.play.replay import audit

    experiment = store.experiment_in(directory)
    differences = 0
    for message, same in audit(experiment, store.rows(directory, experiment), positive("sample", sample), seed):
        differences += not same
        print(message)
    return FAILED if differences else 0


@app.command()
def plan(
    rate: Annotated[float, typer.Argument(help="A win rate, such as 0.5.")],
    other: Annotated[float, typer.Argument(help="The win rate that is to be told from it, such as 0.55.")],
    power: Annotated[float, typer.Option(help="The chance that the difference is found if it is there.")] = 0.8,
) -> None:
    """How many games each of two agents must play for a difference in win rate to be found at the 95 % level."""
    from experiments.weigh.statistics import clopper_pearson, games_needed

    try:
        games = games_needed(rate, other, power)
    except ValueError as error:
        raise Refusal(str(error)) from None
    low, high = clopper_pearson(round(rate * games), games)
    print(f"{games} games each; the 95 % interval of {100 * rate:g} % is then {100 * low:.1f} - {100 * high:.1f} %")


def split_games(text: str) -> list[str]:
    """Names separated by commas, except those inside brackets."""
    names, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


def _play(experiment: Experiment, out: Path, workers: int, cluster: str | None, share: running.Part) -> None:
    from experiments.play.crew import Crew

    meters: list[terminal.Meter] = []

    def started(writer: store.Writer, left: int) -> None:
        if writer.dropped:
            say(f"The last line of {out / store.RESULTS} was torn ({writer.dropped} bytes); its game is played again.")
        meters.append(terminal.Meter(experiment.name, len(writer.done), len(writer.done) + left))
        meters[0].__enter__()

    def ended(row: Row) -> None:
        meters[0].advance()

    if cluster is None:
        players: Any = Crew(workers)
    else:
        from experiments.play.cluster import Cluster

        players = Cluster(cluster, workers)
    try:
        with players:
            running.run(experiment, out, players, share, started=started, ended=ended)
    finally:
        for meter in meters:
            meter.__exit__(None, None, None)


def _show(directory: Path) -> None:
    from experiments.report import figures

    with results_of(directory) as results:
        columns, pictures = results.columns(), results.runs[0].experiment.pictures
    print_tables(columns)
    for path in figures.draw(columns, directory / "figures", pictures):
        say(f"{path} and {path.with_suffix('.svg').name}")


def print_tables(columns: dict[Column, list[Tally]]) -> None:
    for column, tallies in columns.items():
        terminal.console().print(terminal.results_table(column, tallies, list(columns)))


def say(text: str) -> None:
    print(text, file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """The exit code of a command; what it refuses is told in one sentence on standard error."""
    from experiments.play.crew import GameFailed

    try:
        code = app(arguments, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except Refusal as error:
        say(f"experiments: {error}")
        return REFUSED
    except (GameFailed, store.NotKept) as error:
        say(f"experiments: {error}")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        say(f"experiments: {error}")
        return FAILED
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the parser of the command line raises
            raise
        if message := error.format_message():
            say(f"experiments: {message}")
        return REFUSED


if __name__ == "__main__":
    sys.exit(main())
