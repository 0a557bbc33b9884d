"""A report of a run: tables, figures, analyses, settings and provenance, as one HTML file and as Markdown."""

import math
from collections.abc import Iterator
from pathlib import Path

import attrs

from experiments.analysis import claims, interims, ratings, search_claims
from experiments.analysis.rewards import reward_p_values, win_p_values
from experiments.analysis.statistics import Design, Effect, anova, binomial_model, marginals
from experiments.papers.suite import TABLE_1
from experiments.plan.definition import Cell, Column, Experiment, Refusal
from experiments.plan.titles import budget, duration, title
from experiments.play import sequential
from experiments.report import figures, search_report
from experiments.report.paired import discordance_table, paired_blocks, reward_table
from experiments.report.terminal import measures_of, p_text
from experiments.store.results import Origins, Results, results_of
from experiments.store.summary import STATISTICS, Moments, Tally, any_graded
from icarus.views.document import Block, Heading, Paragraph, Picture, Table, write_pages

FIGURES = "figures"  # the folder of pictures
BAND = "Band: outside the 95 % interval of evenly matched players."
WON = f"Games won. {BAND} p: Fisher's exact test against these."
DRAWN = f"{WON} Score: a draw counts one half."
GRADED = f"Mean rewards, as rewards are graded, with Student's intervals. {BAND} p: Welch's t test against these."
UNBOUNDED = "in their order alone; the games bound no rating, as some agents were ahead of all others in every game"


def write(directory: Path) -> tuple[dict[Column, list[Tally]], list[Path]]:
    """Write the report of a run, or of a campaign's folder of runs, into its directory: (the results, the files written).

    The report follows from the rows alone: the same rows give the same bytes.

    Raises:
        Refusal: the directory holds several runs that are not a campaign.
    """
    with results_of(directory) as results:
        experiment, columns = _whole(results, directory), results.columns()
        if claims.has_interims(results):
            columns = interims.with_due_games(columns)
        pictures = figures.draw(columns, directory / FIGURES, figures.fitting(experiment))
        blocks = list(_blocks(experiment, results, columns, pictures))
    return columns, [*write_pages(directory, f"{experiment.name}: results", blocks), *pictures]


def _whole(results: Results, directory: Path) -> Experiment:
    """The experiment of a run; that of a campaign has the cells of all its games."""
    if len(results.runs) > 1 and not claims.has_interims(results):
        names = ", ".join(run.directory.name for run in results.runs)
        raise Refusal(f"{directory} holds several runs ({names}), which are not a campaign; give one of them")
    return attrs.evolve(results.runs[0].experiment, cells=tuple(results.cells))


def _blocks(
    experiment: Experiment, results: Results, columns: figures.Columns, pictures: list[Path]
) -> Iterator[Block]:
    if experiment.sprt:
        yield from _sequential(experiment, results)
    elif claims.has_interims(results):
        yield from interims.blocks(results)
    else:
        done, total = sum(tally.games for tallies in columns.values() for tally in tallies), results.most
        yield Paragraph(f"{done} of {total} games played" + ("." if done == total else "; the run is not complete."))
    its_own = figures.by_column(columns)
    for path in pictures:
        if not any(path.stem in names for names in its_own.values()):
            yield Picture(path, figures.caption(path, experiment))
    yield from search_report.blocks(columns)
    yield from claims.blocks(results)
    yield from search_claims.blocks(results)
    discordant = results.discordant() if experiment.paired or experiment.sprt else {}
    for column, tallies in columns.items():
        yield Heading(title(column, columns))
        yield from (Picture(path, "") for path in pictures if path.stem in its_own.get(column, ()))
        yield _strengths(tallies)
        if experiment.paired and any_graded(tallies):
            yield from reward_table(tallies, results.rewards())
        elif discordant and not any_graded(tallies):
            yield discordance_table(tallies, discordant)
        yield _searches(tallies)
    if len({column.opponent.text for column in columns}) > 1:
        yield from rating_tables(results)
    yield from analyses(columns)
    if experiment.paired:
        yield from paired_blocks(columns, results)
    yield from _settings(experiment, {run.experiment.trials for run in results.runs}, results.origins())


def _sequential(experiment: Experiment, results: Results) -> Iterator[Block]:
    """What the sequential tests have found."""
    assert experiment.sprt is not None
    outcomes = results.outcomes()
    answers, complete = sequential.verdicts(experiment, outcomes)
    test, end = experiment.sprt, "." if complete else "; the run is not complete."
    yield Paragraph(f"{len(outcomes)} games played, at most {experiment.trials} per agent{end}")
    yield Paragraph(
        "Sequential tests. H0: an agent wins as many games as the baseline in its place; "
        f"H1: {100 * test.margin:g} % more. Chance of a wrong answer under H0 {100 * test.alpha:g} %, "
        f"under H1 {100 * test.beta:g} %. "
        "Intervals and p-values elsewhere do not allow for the early end."
    )
    if not all(column.counts_wins for column in experiment.columns):
        yield Paragraph(
            "In games that are not of section 8 the tests compare mean rewards, a draw counting one half; "
            f"H1: {test.margin:g} more."
        )
    cells = [cell for cell in experiment.cells if not cell.is_opponent]
    lines = [[title(cell.column, experiment.columns), cell.agent, *_answer(cell, answers)] for cell in cells]
    yield Table("", ["Game", "Agent", "Than the baseline", "after games"], lines)


def _answer(cell: Cell, answers: dict[Cell, tuple[str, int]]) -> tuple[str, str]:
    if cell not in answers:
        return "undecided", ""
    answer, units = answers[cell]
    return answer, str(units * len(cell.column.seats))


def _strengths(results: list[Tally]) -> Table:
    """What the agents are compared by, with the chance that an agent is no different from evenly matched players (Holm over the column)."""
    p_values = reward_p_values(results) if any_graded(results) else win_p_values(results)
    headings, rows = measures_of(results)
    caption = GRADED if any_graded(results) else DRAWN if "Draws" in headings else WON
    p_texts = {key: p_text(p) for key, p in p_values.items()}
    lines = [
        [tally.cell.agent, tally.cell.spec.caption, *row, p_texts.get(tally.cell.key, "")]
        for tally, row in zip(results, rows, strict=True)
    ]
    return Table(caption, ["Agent", "Strategy", *headings, "p (Holm)"], lines)


def _searches(results: list[Tally]) -> Table:
    """The paper's analysis of the trees, with standard errors over games."""

    def shown(moments: Moments) -> str:
        if moments.mean is None:
            return ""
        return f"{moments.mean:.4g}" + ("" if moments.error is None else f" ± {moments.error:.2g}")

    def line(tally: Tally) -> list[str]:
        seconds = f"{tally.seconds / tally.games:.4g}" if tally.games else ""
        return [tally.cell.agent, *(shown(tally.moments[name]) for name in STATISTICS), seconds]

    caption = (
        "The agent's searches: means over its decisions with a choice, averaged over games, ± standard error "
        "(visits and value: of the chosen action; depth: of the deepest node)."
    )
    return Table(caption, ["Agent", *STATISTICS, "seconds per game"], [line(tally) for tally in results])


def analyses(columns: dict[Column, list[Tally]]) -> Iterator[Block]:
    """Figure 3 in numbers and the analyses of variance, where the sixteen combinations were played."""
    names = {strategy: name for name, strategy in TABLE_1.items()}
    counts = {
        title(column, columns): {
            names[tally.cell.spec.text]: (tally.wins, tally.games) for tally in results if tally.cell.spec.text in names
        }
        for column, results in columns.items()
        if not any_graded(results)
    }
    if not counts or any(len(results) < len(TABLE_1) for results in counts.values()):
        return
    if len(counts) < len(columns):
        yield Paragraph(
            "Averages over combinations and analyses of variance are of the games in which wins are counted."
        )
    yield Heading("Averages over combinations (Figure 3)")
    lines = [
        [name, enhancement, *(f"{wins} of {games} ({100 * wins / max(games, 1):.1f} %)" for wins, games in pair)]
        for name, results in counts.items()
        for enhancement, pair in marginals(results).items()
    ]
    yield Table("", ["Game", "Enhancement", "without", "with"], lines)
    designs = {name: {name: results} for name, results in counts.items()}
    if len(counts) > 1:
        designs = {"all results": counts, **designs}
    for name, counts_of in designs.items():
        yield Heading(f"Analysis of variance: {name}")
        try:
            design = Design(counts_of)
        except ValueError as error:
            yield Paragraph(f"Not possible: {error}.")
            continue
        yield _effects("Linear model of single games (type II, F).", anova(design), "F")
        yield _effects("Binomial model (logistic; type II, likelihood ratio).", binomial_model(design), "chi squared")


def _effects(caption: str, effects: list[Effect], statistic: str) -> Table:
    def line(effect: Effect) -> list[str]:
        difference = "" if effect.direction is None else f"{100 * effect.direction:+.1f} %"
        p_values = (p_text(p) for p in (effect.p, effect.holm))
        return [effect.term, difference, str(effect.freedom), f"{effect.statistic:.2f}", *p_values]

    return Table(caption, ["Term", "Difference", "df", statistic, "p", "p (Holm)"], [line(each) for each in effects])


def rating_tables(results: Results) -> Iterator[Block]:
    """The ratings of tournaments, with their 95 % intervals."""
    names = {ratings.name_of(cell): cell.agent for cell in reversed(results.cells)}
    captions = {cell.column.opponent.text: cell.column.opponent.caption for cell in results.cells}
    captions |= {ratings.name_of(cell): ratings.caption_of(cell) for cell in results.cells}
    for name, placings in ratings.tournaments(results).items():
        try:
            rated = ratings.ratings(placings)
        except ValueError as error:
            yield Paragraph(f"Ratings, {name}: {error}.")
            continue
        players = len([agent for place in next(iter(placings)) for agent in place])
        is_bounded = all(math.isfinite(each.value) for each in rated)
        model = "Bradley-Terry" if players == 2 else "Plackett-Luce"
        lines = []
        for each in rated:
            texts = (f"{each.value:+.2f}", f"{each.low:+.2f} to {each.high:+.2f}") if is_bounded else ("", "")
            caption = captions[each.strategy]
            lines.append([names.get(each.strategy, caption), caption, str(each.games), *texts])
        scale = "logarithms of strengths, mean 0" if is_bounded else UNBOUNDED
        header = ["Agent", "Strategy", "Games", "Rating", "95 % interval"]
        yield Table(f"Ratings ({model}), {name}: {scale}.", header, lines)


def _seeding(experiment: Experiment) -> Iterator[list[str]]:
    if experiment.paired:
        yield ["paired", "the same deals and chance for all agents of a game"]
    if test := experiment.sprt:
        hypotheses = f"H0: difference 0, H1: difference {test.margin:g}; alpha {test.alpha:g}, beta {test.beta:g}"
        yield ["sequential test", hypotheses]


def _settings(experiment: Experiment, trials: set[int], origins: Origins) -> Iterator[Block]:
    yield Heading("Settings")
    settings = [["experiment", experiment.name], ["trials per cell", ", ".join(map(str, sorted(trials)))]]
    settings += [["seed", str(experiment.seed)], *_seeding(experiment)]
    yield Table("", ["Setting", "Value"], settings)
    lines = [
        [column.game, column.role, ", ".join(map(str, column.seats)), column.opponent.caption, budget(column)]
        for column in experiment.columns
    ]
    yield Table("", ["Game", "Role", "Seats", "Opponent", "Per decision"], lines)
    yield Heading("Provenance")
    if not origins.provenance:
        return
    yield Paragraph(
        f"Games begun from {origins.first} to {origins.last}; {duration(origins.seconds)} of playing in all."
    )
    kinds = origins.provenance
    if len({(kind["icarus"], kind["commit"], kind["sources"]) for kind, _ in kinds}) > 1:
        yield Paragraph("Note: the games were played by different versions of icarus.")
    names = list(dict.fromkeys(name for kind, _ in kinds for name in kind))
    lines = [[str(count), *(str(kind.get(name, "")) for name in names)] for kind, count in kinds]
    yield Table("", ["Games", *names], lines)
