"""Commands that tell what games came to: status, report, branching, claims, ratings, plan."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from experiments.analysis import claims as statements
from experiments.analysis import interims, search_claims
from experiments.analysis.correlation import correlation_table
from experiments.analysis.statistics import POWER, clopper_pearson, games_needed
from experiments.analysis.verdicts import details_table, summary_table, tally_sentence
from experiments.commands.common import Directory, argument, flag, print_table, print_tables, refresh, require_file, say
from experiments.discovery import races
from experiments.papers import earlier
from experiments.plan.checks import one_of, refusing
from experiments.plan.definition import Refusal
from experiments.plan.pictures import PICTURES
from experiments.play import branching as measure
from experiments.play.correlation import measure_shared_values
from experiments.report import branching as table_2
from experiments.report import campaign_page, figures
from experiments.report.report import rating_tables, write
from experiments.report.status import state_of
from experiments.store import rows as store
from experiments.store.csv_values import read_values, write_values
from experiments.store.export import write_csv
from experiments.store.results import Results, results_of, runs_in
from experiments.store.shared_values import Shared
from icarus.checks import integer
from icarus.commands.options import value_option
from icarus.views.document import Table


def status(directory: Directory) -> None:
    """Print how far a run is and when it will end, from its files alone; for a campaign also its cost."""
    if races.is_race(directory):
        print(races.status(directory))
        return
    with results_of(directory) as results:
        if statements.has_interims(results):
            _campaign_status(results)
            return
    for run in runs_in(directory):
        with results_of(run) as results:
            print(state_of(results, store.being_written(run)))


def _campaign_status(results: Results) -> None:
    running = any(store.being_written(run.directory) for run in results.runs)
    lines = interims.progress(results)
    print(f"campaign: {sum(line.games for line in lines)} games, {'running' if running else 'not running'}")
    print_table(interims.progress_table(lines))
    for judged in statements.decisions(results).values():
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
) -> None:
    """Print the table and write figures, report.html and report.md into DIR, from its files alone.

    DIR may be the directory of a campaign, which has a run for each game: experiments/runs/campaign.
    """
    if pages:
        _refresh_of_campaign([require_file(page) for page in pages], directory)
    if (directory / earlier.BRANCHING_ROWS).exists():
        _report_branching(directory)
        return
    columns, paths = write(directory)
    print_tables(columns)
    for path in paths:
        say(str(path))


def picture(
    directory: Directory,
    name: Annotated[str, argument("PICTURE", f"Kind of picture: {', '.join(PICTURES)}.")],
    into: Annotated[Path, value_option("DIR", "Directory for the PNG and the SVG files.")],
) -> None:
    """Draw one kind of picture of a run, or of a campaign's directory of runs, from its rows."""
    one_of("picture", name, tuple(PICTURES))
    with results_of(directory) as results:
        columns = results.columns()
        if statements.has_interims(results):
            columns = interims.with_due_games(columns)
    paths = figures.draw(columns, into, [name])
    if not paths:
        raise Refusal(f"{directory} does not have all games that the picture {name} shows")
    for path in paths:
        say(f"{path} and {path.with_suffix('.svg').name}")


def branching(
    deals: Annotated[int, value_option("N", "Number of random deals (the paper: 5000).")] = 5000,
    seed: Annotated[int, value_option("SEED", "Seed of the deals.")] = 0,
    out: Annotated[Path | None, value_option("DIR", "Directory for counts and report; default: print only.")] = None,
) -> None:
    """Measure Table II of 2012: the leading plays of Dou Di Zhu's peasants as the landlord sees them. No games are played."""
    with refusing():
        integer("deals", deals, least=measure.FEWEST)
        integer("seed", seed, least=0)
    if out is not None:
        _fresh(out, earlier.BRANCHING_ROWS)
    plays = measure.measure_deals(deals, seed)
    if out is not None:
        measure.keep(out, plays)
        _report_branching(out)
    else:
        print_table(table_2.table(table_2.measurements(plays), deals))


def correlation(
    directory: Directory,
    out: Annotated[Path, value_option("FILE", "CSV file for the measurements; an existing file is read.")],
    positions: Annotated[int, value_option("N", "Positions of each game and role.")] = 60,
    iterations: Annotated[int, value_option("N", "Random playouts of each half.")] = 4000,
    seed: Annotated[int, value_option("SEED", "Seed of the positions.")] = 0,
) -> None:
    """Measure whether values correlate where enhancements share information (section 6), in positions of DIR's games.

    No games are played.
    """
    with refusing():
        integer("positions", positions, least=1)
        integer("iterations", iterations, least=1)
        integer("seed", seed, least=0)
    if not out.exists():
        write_values(out, Shared, list(measure_shared_values(directory, positions, iterations, seed, say)))
    print_table(correlation_table(read_values(out, Shared)))


def _fresh(directory: Path, rows_file: str) -> None:
    """Refuse a directory that holds something else."""
    if (
        directory.exists()
        and not (directory / rows_file).exists()
        and (not directory.is_dir() or any(directory.iterdir()))
    ):
        raise Refusal(f"{directory} has other files but no {rows_file}; choose an empty directory")


def _refresh_of_campaign(pages: Sequence[Path], directory: Path) -> None:
    with results_of(directory) as results:
        if not statements.has_interims(results):
            raise Refusal(f"{directory} is not a campaign; --page needs a campaign")
        texts = campaign_page.tables(results)
    for page in pages:
        refresh(page, texts)


def _report_branching(directory: Path) -> None:
    table, paths = table_2.write(directory)
    print_table(table)
    for path in paths:
        say(str(path))


def claims(
    directories: Annotated[list[Path], argument("DIR", "Directories of runs, whose games are combined.")],
    csv: Annotated[bool, flag("--csv", "Print all comparisons as comma-separated values.")] = False,
) -> None:
    """Judge the statements of section 8 and of the earlier papers by the games played, and estimate how many more would decide each."""
    with results_of(*directories) as results:
        decisions = [(statements, *of_budget) for of_budget in statements.decisions(results).items()]
        decisions += [(search_claims, *of_budget) for of_budget in search_claims.decisions(results).items()]
    if not decisions:
        raise Refusal(
            "the runs have no games of the papers' statements (against the baseline, or between the papers' searches)"
        )
    for paper, budget, each in decisions:
        details = details_table(each)
        if csv:
            write_csv(sys.stdout, ["per decision", *details.header], ([budget, *row] for row in details.rows))
            continue
        print(f"Paper against ours: {budget} per decision\n{tally_sentence(each, paper.SOURCE)}\n\n{paper.RULE}")
        for table in (summary_table(each), details):
            print_table(table)


def ratings(directory: Directory) -> None:
    """Print Bradley-Terry or Plackett-Luce ratings of a tournament (an experiment with several opponents), with 95 % intervals."""
    with results_of(directory) as results:
        rating_blocks = [block for block in rating_tables(results) if isinstance(block, Table)]
    if not rating_blocks:
        raise Refusal(f"{directory} has no tournament: no game has three or more agents that played each other")
    for table in rating_blocks:
        print_table(table)


def plan(
    rate: Annotated[float, argument("RATE", "A win rate, such as 0.5.")],
    alternative: Annotated[float, argument("ALTERNATIVE", "A different win rate, such as 0.55.")],
    power: Annotated[float, value_option("POWER", "Probability that the test finds the difference.")] = POWER,
) -> None:
    """Compute how many games each of two agents must play to find a difference in win rate at the 95 % level."""
    with refusing():
        games = games_needed(rate, alternative, power)
    low, high = clopper_pearson(round(rate * games), games)
    print(f"{games} games each; the 95 % interval of {100 * rate:g} % is then {100 * low:.1f} - {100 * high:.1f} %")
