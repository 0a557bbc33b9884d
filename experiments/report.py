"""Reports of runs: tables, figures, analyses, settings and provenance, as one HTML file and as Markdown; and how far a run is."""

import datetime
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from experiments import (
    claims,
    figures,
    interims,
    ratings,
    sequential,
    statistics,
    verdicts as judgement,
)
from experiments.interims import count_sentence, progress, progress_table, state
from experiments.pages import markdown_table, write_pages, write_table, write_tables
from experiments.papers import COMBINATIONS, ENHANCEMENTS, PHANTOM, TABLE_1
from experiments.plan.cells import Cell, Experiment, budget, duration, title
from experiments.plan.refusal import Refusal
from experiments.ratings import (
    ALL_SEE,
    SEARCHES,
    RoundRobin,
    by_strategy,
    hidden_cards,
    round_robins,
)
from experiments.results import (
    STATISTICS,
    Columns,
    Moments,
    Results,
    Score,
    Tally,
    any_graded,
    baseline,
    named,
    results_of,
)
from experiments.statistics import Design, FactorEffect, numbers
from icarus.checks import count_text
from icarus.statistics import Estimate, holm, mean_of, sign_flip
from icarus.views.document import Block, Heading, Paragraph, Picture, Table

SMALLEST_P = 1e-4  # smaller ones are written as such


def measures_of(tallies: list[Tally]) -> tuple[list[str], list[list[str]]]:
    """Headings and texts of what agents are compared by: wins, or where rewards are graded the mean rewards; and p (`p_sentence`).

    Where games were drawn, a column counts them, and the next one has the score, in which a draw counts one half.
    """
    if any_graded(tallies):
        headings, rows = ["Games", "Mean reward", "95 % interval"], list[list[str]]()
        estimates = statistics.strengths(tallies)
        for tally, each in zip(tallies, estimates, strict=True):
            texts = [str(tally.games), "", ""]
            if each:
                mean, low, high = numbers(each, ".3f")
                texts[1:] = mean, f"{low} - {high}"
            rows.append(texts)
    else:
        headings, rows = _won_and_drawn(tallies)
    if comparisons := statistics.comparisons(tallies):
        headings.append("p (Holm)")
        for tally, row in zip(tallies, rows, strict=True):
            compared = comparisons.get(tally.cell.key)
            row.append(p_text(compared.p) if compared else "")
    return headings, rows


def _won_and_drawn(scores: Sequence[Score]) -> tuple[list[str], list[list[str]]]:
    """Headings and texts of games won with the interval of their rate, and where any were drawn of these and the score."""
    any_draws = any(score.draws for score in scores)
    headings = ["Wins", "Games", "Win rate", "95 % interval"]
    if any_draws:
        headings += ["Draws", "Score"]
    rows = []
    for score in scores:
        texts = [str(score.wins), str(score.games), "", ""]
        if rate := statistics.win_rate(score.wins, score.games):
            value, low, high = numbers(rate, ".1f", 100)
            texts[2:] = f"{value} %", f"{low} - {high} %"
        if any_draws:
            texts += [str(score.draws), f"{100 * score.mean:.1f} %" if score.games else ""]
        rows.append(texts)
    return headings, rows


def p_text(value: float) -> str:
    """A p-value as text."""
    return f"< {SMALLEST_P:.4f}" if value < SMALLEST_P else f"{value:.4f}"


def detectable_text(difference: float, p: float, percent: bool = True) -> str:
    """The difference that a test would have found, beside a p-value that is not significant."""
    if p <= 1 - statistics.CONFIDENCE or not math.isfinite(difference):
        return ""
    return f"{100 * difference:.1f} %" if percent else f"{difference:.3f}"


# -------------------- Tables of experiments in which all agents of a game meet the same deals and chance.


FEW = 6  # agents of a game: of so many every pair is compared, deal by deal
UNITS = "Games won more", "Mean reward more"  # of differences, by whether rewards are graded


def deals_table(tallies: list[Tally], results: Results) -> Iterator[Table]:
    """What the agents got on the same deals beside the opponent in their place; nothing where none has two of them."""
    even, graded = baseline(tallies), any_graded(tallies)
    outcomes = results.by_deal(graded)
    pairs = []
    for tally in tallies:
        if even is None or tally is even:
            continue
        if more := _more(outcomes, even.cell, tally.cell):
            pairs.append((tally, more))
    if not pairs:
        return
    if graded or results.experiment.sprt:
        what = "reward" if graded else "share of games won"
        caption = f"The same deals and chance: the {what} less the opponent's in its place. Intervals are Student's, over the deals."
        lines = [[tally.cell.agent, *_gain(more, graded)] for tally, more in pairs]
        yield Table(caption, ["Agent", UNITS[graded], "95 % interval", "Deals"], lines)
    else:
        counts = [(more.count(1), more.count(-1)) for _, more in pairs]
        adjusted = holm([statistics.mcnemar(*each) for each in counts])
        lines = []
        for (tally, more), (alone, lost), p in zip(pairs, counts, adjusted, strict=True):
            error = math.sqrt(alone + lost + 1) / len(more)
            least = detectable_text(statistics.detectable(error, len(pairs)), p)
            lines.append([tally.cell.agent, str(alone), str(lost), p_text(p), least])
        caption = f"The same deals and chance. p: McNemar's exact test. {DETECTABLE}"
        header = ["Agent", "won alone", "lost alone", "p (Holm)", "Detectable"]
        yield Table(caption, header, lines)


def paired_blocks(columns: Columns, results: Results) -> Iterator[Block]:
    """The agents of each game with each other, and Figure 3, deal by deal; games by wins first, then those by graded rewards."""
    of_agents, of_effects = list[Table](), list[Table]()
    for graded in (False, True):
        of_kind = {
            each: tallies for each, tallies in columns.items() if any_graded(tallies) == graded
        }
        outcomes = results.by_deal(graded)
        of_agents.append(_agents_table(graded, outcomes, of_kind, columns))
        of_effects.append(_effects_table(graded, outcomes, of_kind, columns))
    for text, tables in (
        ("The agents on the same deals", of_agents),
        ("What each enhancement adds, on the same deals", of_effects),
    ):
        if nonempty := [table for table in tables if table.rows]:
            yield Heading(text)
            yield from nonempty


def _agents_table(graded: bool, outcomes: Any, columns: Columns, among: Columns) -> Table:
    """Each agent of a game less each before it, where they are few and have two deals in common at least."""
    lines, p_values = list[list[str]](), list[float]()
    for column, tallies in columns.items():
        if len(tallies) > FEW:
            continue
        cells = [tally.cell for tally in tallies]
        for first, second in itertools.combinations(cells, 2):
            if more := _more(outcomes, first, second):
                lines.append(
                    [title(column, among), second.agent, first.agent, *_gain(more, graded)]
                )
                p_values.append(two_sided(more))
    adjusted = map(p_text, holm(p_values))
    caption = "Each agent less each before it, deal by deal, with Student's intervals. p: exact sign-flip test over the deals, two-sided."
    header = ["Game", "Agent", "less", UNITS[graded], "95 % interval", "Deals", "p (Holm)"]
    return Table(caption, header, [[*line, p] for line, p in zip(lines, adjusted, strict=True)])


def two_sided(differences: Sequence[float]) -> float:
    """The p-value of a mean of 0, by sign flips to either side."""
    return min(1.0, 2 * min(sign_flip(differences), sign_flip([-each for each in differences])))


def _effects_table(graded: bool, outcomes: Any, columns: Columns, among: Columns) -> Table:
    """Figure 3 on the same deals, where the sixteen combinations were played on two of them at least."""
    lines = []
    for column, tallies in columns.items():
        keys = [tally.cell.key for tally in named(tallies, TABLE_1).values()]
        complete = outcomes[keys].dropna()
        if keys and len(complete) > 1:
            for enhancement, effect in statistics.paired_effects(complete.to_numpy()).items():
                texts = _effect_texts(effect, graded)
                lines.append([title(column, among), enhancement, *texts, str(len(complete))])
    caption = "The difference between the averages of Figure 3, deal by deal. Intervals are Student's, of the mean over the deals."
    return Table(caption, ["Game", "Enhancement", UNITS[graded], "95 % interval", "Deals"], lines)


def _more(outcomes: Any, first: Cell, second: Cell) -> list[float]:
    """What the second agent got more than the first on each deal that both played; empty where these are fewer than two."""
    more: list[float] = (outcomes[second.key] - outcomes[first.key]).dropna().tolist()
    return more if len(more) > 1 else []


def _gain(more: list[float], graded: bool) -> list[str]:
    """The mean of differences, its interval, how many there are."""
    return [*_effect_texts(mean_of(more), graded), str(len(more))]


def _effect_texts(gain: Estimate, graded: bool) -> tuple[str, str]:
    """A difference of rewards, or of shares of games won, and its interval as texts."""
    if graded:
        value, low, high = numbers(gain, "+.3f")
    else:
        value, low, high = (f"{each} %" for each in numbers(gain, "+.1f", 100))
    return value, f"{low} to {high}"


# -------------------- How far a run is and when it will end, as its files tell it.


RECENT = 200  # games from whose ends the pace is taken
PAUSE = 10  # so many mean game times without any game ending: the run was stopped in between


def without_checksum(games: int) -> str:
    """What is said of games that cannot be checked."""
    return f"{games} games have no checksum, because they are older than the checksums"


def state_of(results: Results, running: bool, now: datetime.datetime | None = None) -> str:
    """A few lines: games done, by column; time left and the hour of the end."""
    now = now or datetime.datetime.now(datetime.UTC)
    experiment = results.experiment
    tallies = results.tallies()
    done = sum(tally.games for tally in tallies)
    total = experiment.trials * len(experiment.cells)
    status = "running" if running else "not running"
    lines = [f"{experiment.name}: {done} of {total} games ({100 * done / total:.1f} %), {status}"]
    for column in experiment.columns:
        cells = [tally for tally in tallies if tally.cell.column == column]
        column_games = sum(tally.games for tally in cells)
        lines.append(
            f"  {title(column, experiment.columns)}: {column_games} of {experiment.trials * len(cells)}"
        )
    if results.unchecked:
        lines.append(without_checksum(results.unchecked))
    answers, is_decided = sequential.Decided(), False
    if experiment.sprt:
        answers, is_decided = sequential.verdicts(experiment, results.outcomes())
    at_most = "at most " if experiment.sprt else ""
    if done == total or is_decided:
        lines.append("complete")
    elif not (remaining := _seconds_left(results, tallies, answers)):
        lines.append("the pace is not known yet")
    elif running:
        end = (now + datetime.timedelta(seconds=remaining)).astimezone()
        lines.append(f"{at_most}{duration(remaining)} left; ends about {end:%Y-%m-%d %H:%M}")
    else:
        lines.append(
            f"{at_most}{duration(remaining)} left at its last pace; run the same command to continue"
        )
    return "\n".join(lines)


def _seconds_left(
    results: Results, tallies: list[Tally], answers: sequential.Decided
) -> float | None:
    """The work left (each cell's games at that cell's mean time) over the number of games that were played side by side.

    Args:
        answers: of cells that a sequential test has decided, whose games are over.
    """
    side_by_side = _side_by_side(results)
    if not side_by_side:
        return None
    mean = sum(tally.seconds for tally in tallies) / sum(tally.games for tally in tallies)
    work = 0.0
    for tally in tallies:
        seconds = tally.seconds / tally.games if tally.games else mean
        if tally.cell not in answers:
            work += (results.experiment.trials - tally.games) * seconds
    return work / side_by_side


def _side_by_side(results: Results) -> float | None:
    """How many games were being played at once, on average, since the last pause."""
    games = [(game.started, game.seconds) for games in results.games.values() for game in games]
    ends = sorted(
        (datetime.datetime.fromisoformat(started).timestamp() + seconds, seconds)
        for started, seconds in sorted(games)[-RECENT:]
    )
    if len(ends) < 2:
        return None
    times, seconds = np.transpose(ends)
    pauses = np.flatnonzero(np.diff(times) > PAUSE * seconds.mean() + 1)
    # the span begins with the end of the first game since the pause, which is therefore not part of it
    first = max(pauses, default=-1) + 1
    span = float(times[-1] - times[first])
    return float(seconds[first + 1 :].sum()) / span if span > 0 else None


# -------------------- A report of a run: tables, figures, analyses, settings and provenance, as one HTML file and as Markdown.


FIGURES = "figures"  # the folder of pictures
DAGGERS = {"†": 0.05, "‡": 0.001}  # beside a number of the table of all agents, if p is smaller
DETECTABLE = "Detectable: the difference that such a test finds with a chance of 80 %, where p is above 0.05."
RATE = (
    "Rate: iterations in the same time, as a share of {}'s; medians of games, without compilation."
)
UNBOUNDED = "in their order alone; the games bound no rating, as some agents were ahead of all others in every game"


def write(directory: Path, tables: bool = False, table: bool = False) -> tuple[Columns, list[Path]]:
    """Write the report of a run, or of a campaign's folder of runs, into its directory: (the results, the files written).

    The report follows from the rows alone: the same rows give the same bytes.

    Args:
        tables: whether each table is also written as CSV and for LaTeX, into the folder `tables`.
        table: whether the one of all agents and games is also written as table.md and table.tex.

    Raises:
        Refusal: the directory holds several runs that are not a campaign.
    """
    results = results_of(directory)
    experiment, columns = _whole(results, directory), results.columns()
    if claims.has_interims(results):
        columns = interims.with_due_games(columns)
    pictures = figures.draw(columns, directory / FIGURES, figures.fitting(experiment))
    blocks = list(_blocks(experiment, results, columns, pictures))
    files = write_tables(directory / "tables", blocks) if tables else []
    if table:
        files += write_table(directory, agents_by_games(columns))
    return columns, [
        *write_pages(directory, f"{experiment.name}: results", blocks),
        *pictures,
        *files,
    ]


def _whole(results: Results, directory: Path) -> Experiment:
    """The experiment of a run; that of a campaign has the cells of all its games."""
    if len(results.runs) > 1 and not claims.has_interims(results):
        names = ", ".join(run.name for run in results.runs)
        raise Refusal(
            f"{directory} holds several runs ({names}), which are not a campaign; give one of them"
        )
    return attrs.evolve(results.experiment, cells=tuple(results.cells))


def _blocks(
    experiment: Experiment, results: Results, columns: Columns, pictures: list[Path]
) -> Iterator[Block]:
    if experiment.sprt:
        yield from _sequential(experiment, results)
    elif claims.has_interims(results):
        yield from interims.blocks(results)
    else:
        done = sum(tally.games for tallies in columns.values() for tally in tallies)
        total = results.most
        yield Paragraph(
            f"{done} of {total} games played"
            + ("." if done == total else "; the run is not complete.")
        )
    if experiment.paired:
        yield from paired_blocks(columns, results)
    if not experiment.sprt:
        yield from findings(columns)
    its_own = figures.by_column(columns)
    for path in pictures:
        if not any(path.stem in names for names in its_own.values()):
            yield Picture(path, figures.caption(path, experiment))
    if sentence := figures.left_out(pictures, experiment):
        yield Paragraph(sentence)
    yield from search_tables(columns)
    for paper in claims.PAPERS:
        yield from claims.blocks(paper, results)
    for column, tallies in columns.items():
        yield Heading(title(column, columns))
        yield from (Picture(path, "") for path in pictures if path.stem in its_own.get(column, ()))
        yield _strengths(tallies)
        if experiment.paired or experiment.sprt:
            yield from deals_table(tallies, results)
        yield _searches(tallies)
    if len({column.opponent.text for column in columns}) > 1:
        yield from rating_tables(results)
    yield from analyses(columns)
    yield from _settings(experiment, results)


def findings(columns: Columns) -> Iterator[Block]:
    """The agents that are told from evenly matched players, the largest effect first; nothing where these have not played."""
    tested = 0
    effect_lines = list[tuple[float, list[str]]]()
    for column, tallies in columns.items():
        graded, comparisons = any_graded(tallies), statistics.comparisons(tallies)
        tested += len(comparisons)
        for tally in tallies:
            compared = comparisons.get(tally.cell.key)
            if compared and compared.p <= 1 - statistics.CONFIDENCE:
                value, interval = _effect_texts(compared.gain, graded)
                texts = f"{value} {'reward' if graded else 'of games won'}", interval
                line = [title(column, columns), tally.cell.agent, *texts, p_text(compared.p)]
                effect_lines.append((-abs(compared.gain.value), line))
    if not tested:
        return
    yield Heading("Findings")
    if effect_lines:
        caption = "Against evenly matched players, the largest effect first, with the 95 % interval of this comparison alone."
        lines = [line for _, line in sorted(effect_lines, key=lambda each: each[0])]
        yield Table(caption, ["Game", "Agent", "Effect", "95 % interval", "p (Holm)"], lines)
    if left := tested - len(effect_lines):
        which = f"Of the other {left}" if effect_lines else f"Of {count_text(tested, 'comparison')}"
        yield Paragraph(
            f"{which} none shows a difference from evenly matched players (p above 0.05). Column Detectable: how large it would have to be."
        )
    if counts := counts_of_table_1(columns):
        caption = "Averages over the combinations without and with an enhancement (Figure 3), the largest effect first."
        if averages := [each for each in averages_of(counts) if each[-1].is_decided]:
            yield averages_table(caption, averages)


def _sequential(experiment: Experiment, results: Results) -> Iterator[Block]:
    """What the sequential tests have found."""
    assert experiment.sprt is not None
    outcomes = results.outcomes()
    answers, complete = sequential.verdicts(experiment, outcomes)
    test = experiment.sprt
    end = "." if complete else "; the run is not complete."
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
    lines = [
        [title(cell.column, experiment.columns), cell.agent, *_answer(cell, answers)]
        for cell in cells
    ]
    yield Table("", ["Game", "Agent", "Than the baseline", "after games"], lines)


def _answer(cell: Cell, answers: dict[Cell, tuple[str, int]]) -> tuple[str, str]:
    if cell not in answers:
        return "undecided", ""
    answer, units = answers[cell]
    return answer, str(units * len(cell.column.seats))


def p_sentence(tallies: list[Tally]) -> str:
    """Which test gives p, and against whom."""
    even = baseline(tallies)
    if even is None or not statistics.comparisons(tallies):
        return ""
    test = "Welch's t test" if any_graded(tallies) else "Fisher's exact test"
    return f" p: {test} against {even.cell.spec.caption} itself in these seats (evenly matched players), with Holm's correction."


def _strengths(tallies: list[Tally]) -> Table:
    """What the agents are compared by. p is the chance of a difference at least as large if there is none to evenly matched players, with
    Holm's correction over the column."""
    graded, even = any_graded(tallies), baseline(tallies)
    headings, rows = measures_of(tallies)
    comparisons = statistics.comparisons(tallies)
    caption = "Mean rewards, with Student's intervals." if graded else "Games won."
    if "Draws" in headings:
        caption += " Score: a draw counts one half."
    caption += p_sentence(tallies)
    if comparisons:
        caption += f" {DETECTABLE}"
        headings.append("Detectable")
        for tally, row in zip(tallies, rows, strict=True):
            detectable = ""
            if compared := comparisons.get(tally.cell.key):
                detectable = detectable_text(compared.detectable, compared.p, not graded)
            row.append(detectable)
    if even and even.pace:
        caption += f" {RATE.format(even.cell.spec.caption)}"
        headings.append("Rate")
        for tally, row in zip(tallies, rows, strict=True):
            row.append(f"{100 * tally.pace / even.pace:.0f} %" if tally.pace else "")
    lines = [
        [tally.cell.agent, tally.cell.spec.caption, *row]
        for tally, row in zip(tallies, rows, strict=True)
    ]
    return Table(caption, ["Agent", "Strategy", *headings], lines)


def agents_by_games(columns: Columns) -> Table:
    """A line for each agent and a column for each game: percent won or mean rewards with 95 % intervals, and daggers for p."""
    cells, notes = dict[tuple[str, str], str](), dict[str, None]()
    games = [title(column, columns) for column in columns]
    for game, tallies in zip(games, columns.values(), strict=True):
        graded, comparisons = any_graded(tallies), statistics.comparisons(tallies)
        notes[p_sentence(tallies)] = None
        for tally, estimate in zip(tallies, statistics.strengths(tallies), strict=True):
            if estimate:
                if graded:
                    text = "{} ({} - {})".format(*numbers(estimate, ".3f"))
                else:
                    _, low, high = numbers(estimate, ".0f", 100)
                    text = f"{100 * estimate.value:.1f} ({low} - {high})"
                if compared := comparisons.get(tally.cell.key):
                    daggers = [sign for sign, p in DAGGERS.items() if compared.p < p]
                    text += "".join(daggers[-1:])
                cells[tally.cell.caption, game] = text
    agents = dict.fromkeys(agent for agent, _ in cells)
    lines = [[agent, *(cells.get((agent, game), "") for game in games)] for agent in agents]
    levels = ", ".join(f"{dagger} p < {level:g}" for dagger, level in DAGGERS.items())
    caption = f"Percent of games won, or where rewards are graded the mean, with 95 % intervals. {levels}.{''.join(notes)}"
    return Table(caption, ["Agent", *games], lines)


def _searches(tallies: list[Tally]) -> Table:
    """The paper's analysis of the trees, with standard errors over games."""

    def shown(moments: Moments) -> str:
        if moments.mean is None:
            return ""
        return f"{moments.mean:.4g}" + ("" if moments.error is None else f" ± {moments.error:.2g}")

    def line(tally: Tally) -> list[str]:
        return [tally.cell.agent, *(shown(tally.moments[name]) for name in STATISTICS)]

    caption = (
        "The agent's searches: means over its decisions with a choice, averaged over games, ± standard error "
        "(visits and value: of the chosen action; depth: of the deepest node)."
    )
    return Table(caption, ["Agent", *STATISTICS], [line(tally) for tally in tallies])


# The results of the combinations of Table 1, by their names there.
CountsByGame = dict[str, dict[str, statistics.WinCount]]


def counts_of_table_1(columns: Columns) -> CountsByGame:
    """The games in which wins are counted; none where in one of them a combination has not played."""
    counts = {}
    for column, tallies in columns.items():
        if not any_graded(tallies):
            cells = named(tallies, TABLE_1).items()
            counts[title(column, columns)] = {name: (each.wins, each.games) for name, each in cells}
    return counts if all(counts.values()) else {}


Averages = list[tuple[str, str, statistics.WinCount, statistics.WinCount, Estimate]]


def averages_of(counts: CountsByGame) -> Averages:
    """Figure 3: game, enhancement, wins and games without it and with it, and what it adds; the largest effect first."""
    averages = []
    for name, results in counts.items():
        for enhancement, (without, featured) in statistics.marginals(results).items():
            if without[1] == 0 or featured[1] == 0:  # the run has only begun
                continue
            effect = statistics.rate_difference(featured, without)
            averages.append((name, enhancement, without, featured, effect))
    return sorted(averages, key=lambda average: -round(abs(average[-1].value), 9))


def averages_table(caption: str, averages: Averages) -> Table:
    """Figure 3 in numbers."""
    lines = []
    for name, enhancement, *pair, effect in averages:
        value, low, high = numbers(effect, "+.0f", 100)
        rates = (f"{wins} of {games} ({100 * wins / games:.1f} %)" for wins, games in pair)
        lines.append([name, enhancement, *rates, f"{value} % ({low} to {high})"])
    return Table(caption, ["Game", "Enhancement", "without", "with", "more"], lines)


def effects_sentence(averages: Averages) -> str:
    """What Figure 3 shows, in words: the effects whose 95 % intervals exclude 0, and how large one must be to be seen."""
    if not averages:
        return ""
    sentences = []
    for game, enhancement, *_, effect in averages:
        if effect.is_decided:
            value, low, high = numbers(effect, "+.0f", 100)
            sentences.append(
                f"With {enhancement} {value} % of the games are won in {game} (95 % interval {low} to {high} %)."
            )
    games = min(min(without[1], featured[1]) for _, _, without, featured, _ in averages)
    least = f"With {games} games a side an effect below {100 * statistics.smallest_difference(games):.0f} % is not seen."
    return " ".join([*(sentences or ["No effect is seen."]), least])


def analyses(columns: Columns) -> Iterator[Block]:
    """Figure 3 in numbers and the analyses of variance, where the sixteen combinations were played."""
    if not (counts := counts_of_table_1(columns)):
        return
    if len(counts) < len(columns):
        yield Paragraph(
            "Averages over combinations and analyses of variance are of the games in which wins are counted."
        )
    yield Heading("Averages over combinations (Figure 3)")
    yield averages_table("The largest effect first.", averages_of(counts))
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
        linear = "Linear model of single games (type II, F)."
        logistic = "Binomial model (logistic; type II, likelihood ratio)."
        yield _effects(linear, design, statistics.anova(design), "F")
        yield _effects(logistic, design, statistics.binomial_model(design), "chi squared")


def _effects(caption: str, design: Design, effects: list[FactorEffect], statistic: str) -> Table:
    squares, freedom = design.within
    # half of the games have a level of a term, half the other
    half = design.cells["games"].sum() / 2
    least = statistics.detectable(math.sqrt(2 * squares / max(1, freedom) / half), len(effects))

    def line(effect: FactorEffect) -> list[str]:
        difference = "" if effect.direction is None else f"{100 * effect.direction:+.1f} %"
        least_text = detectable_text(least, effect.holm) if "Game" not in effect.term else ""
        p_values = (p_text(p) for p in (effect.p, effect.holm))
        return [
            effect.term,
            difference,
            str(effect.freedom),
            f"{effect.statistic:.2f}",
            *p_values,
            least_text,
        ]

    header = ["Term", "Difference", "df", statistic, "p", "p (Holm)", "Detectable"]
    return Table(f"{caption} {DETECTABLE}", header, [line(each) for each in effects])


def rating_tables(results: Results) -> Iterator[Block]:
    """The ratings of tournaments, with their 95 % intervals."""
    captions = {cell.column.opponent.text: cell.column.opponent.caption for cell in results.cells}
    captions |= {cell.text: cell.caption for cell in results.cells}
    for name, cells in ratings.tournaments(results).items():
        # by their texts there: with another budget for all, an agent with iterations of its own has another one
        names = {cell.text: cell.agent for cell in reversed(cells)}
        placings = ratings.placings_of(cells, results)
        try:
            rated = ratings.ratings(placings)
        except ValueError as error:
            yield Paragraph(f"Ratings, {name}: {error}.")
            continue
        players = sum(map(len, next(iter(placings))))
        is_bounded = all(math.isfinite(each.value) for each in rated.values())
        model = "Bradley-Terry" if players == 2 else "Plackett-Luce"
        lines = []
        for player, each in rated.items():
            value, low, high = numbers(each, "+.2f")
            texts = [value, f"{low} to {high}"] if is_bounded else ["", ""]
            caption = captions[player]
            lines.append([names.get(player, caption), caption, str(each.count), *texts])
        scale = "logarithms of strengths, mean 0" if is_bounded else UNBOUNDED
        header = ["Agent", "Strategy", "Games", "Rating", "95 % interval"]
        yield Table(f"Ratings ({model}), {name}: {scale}.", header, lines)


def _seeding(experiment: Experiment) -> Iterator[list[str]]:
    if experiment.paired:
        yield ["paired", "the same deals and chance for all agents of a game"]
    if test := experiment.sprt:
        hypotheses = f"H0: difference 0, H1: difference {test.margin:g}; alpha {test.alpha:g}, beta {test.beta:g}"
        yield ["sequential test", hypotheses]


def _settings(experiment: Experiment, results: Results) -> Iterator[Block]:
    trials = sorted({each.trials for each in results.runs.values()})
    yield Heading("Settings")
    settings = [["experiment", experiment.name], ["trials per cell", ", ".join(map(str, trials))]]
    settings += [["seed", str(experiment.seed)], *_seeding(experiment)]
    yield Table("", ["Setting", "Value"], settings)
    lines = [
        [
            column.game,
            column.role,
            ", ".join(map(str, column.seats)),
            column.opponent.caption,
            budget(column),
        ]
        for column in experiment.columns
    ]
    yield Table("", ["Game", "Role", "Seats", "Opponent", "Per decision"], lines)
    yield Heading("Provenance")
    if not (kinds := results.provenance):
        return
    started = [game.started for games in results.games.values() for game in games]
    spent = duration(sum(tally.seconds for tally in results.tallies()))
    yield Paragraph(
        f"Games begun from {min(started)} to {max(started)}; {spent} of playing in all."
    )
    if len({(kind["icarus"], kind["commit"], kind["sources"]) for kind, _ in kinds}) > 1:
        yield Paragraph("Note: the games were played by different versions of icarus.")
    names = list(dict.fromkeys(name for kind, _ in kinds for name in kind))
    lines = [[str(count), *(str(kind.get(name, "")) for name in names)] for kind, count in kinds]
    yield Table("", ["Games", *names], lines)


# -------------------- Tables of the two earlier papers: the searches against all others, who gains by seeing hidden cards, and branching.


# of 1000 games: 2011
INCREASES = {"player 1": 69, "player 2": 86, "player 3": 119, "players 2 and 3": 210, ALL_SEE: 127}
CHEATING = tuple(name for name in SEARCHES.values() if name.startswith("Cheating"))


def search_tables(columns: Columns) -> Iterator[Block]:
    """The tables that the results fill; nothing where all agents search as section 8's do."""
    if not claims.is_searched(columns):
        return
    if any(map(any_graded, columns.values())):
        yield Paragraph(
            "Searches against all, and pictures of them, are of games in which wins are counted."
        )
    for robin in round_robins(columns):
        if robin.complete and len(robin.searches) > 1:
            yield Heading(f"Searches against all: {robin.title}, {robin.game[2]} per decision")
            yield from (strength(robin, side) for side in robin.sides)
            yield from _never_lost(robin)
    groups = by_strategy(columns)
    for name, group in groups.items():
        if increases := _increases(group):
            yield Heading(
                "Seeing hidden cards" + (f": {name} per decision" if len(groups) > 1 else "")
            )
            yield Table(
                "More wins of 1000 games by seeing the others' cards (cheating). Published: 2011, Table 2 and the text below it.",
                ["Who sees them", "Without", "Seeing", "Increase", "95 % interval", "Published"],
                increases,
            )


def strength(robin: RoundRobin, side: str) -> Table:
    """Figs. 8 and 10 in numbers: a panel."""
    headings, rows = _won_and_drawn([robin.on(side, search) for search in robin.searches])
    caption = f"{side[0].upper()}{side[1:]}. Interval: 95 % Clopper-Pearson of the games won."
    return Table(
        caption + (" Score: a draw counts one half." if "Score" in headings else ""),
        ["Search", *headings],
        [[search, *row] for search, row in zip(robin.searches, rows, strict=True)],
    )


def _never_lost(robin: RoundRobin) -> Iterator[Block]:
    """The games that searches which cheat lose in Phantom, as section VI-B counts them."""
    games = lost = 0
    for (first, second), score in robin.scores.items():
        if first in CHEATING or second in CHEATING:
            games += score.games
        if first in CHEATING:
            lost += score.losses
        if second in CHEATING:
            lost += score.wins
    if robin.game[0] == PHANTOM and games:
        yield Paragraph(
            f"Searches that cheat lost {lost} of the {games} games in which one took part (published: 0 of 37880)."
        )


def _increases(columns: Columns) -> Sequence[Sequence[str]]:
    lines = []
    for who, (without, seeing) in hidden_cards(columns).items():
        rates = (
            f"{wins} of {games} ({100 * wins / games:.1f} %)" for wins, games in (without, seeing)
        )
        more = statistics.rate_difference(seeing, without)
        value, low, high = numbers(more, "+.0f", 1000)
        lines.append([who, *rates, value, f"{low} to {high}", f"+{INCREASES[who]}"])
    return lines


# -------------------- Tables of README.md and docs/reproduction.md, made from the rows of a campaign: a place between two comments for each


ALONE = {"R": "RAVE", "M": "MAST", "L": "LGRF", "N": "NAST", "EPIC": "EPIC"}
# in the README, by their strategies
SHOWN = {
    "BASELINE": "-",
    ">> MAST": "M",
    ">> LGRF": "L",
    "RAVE": "R",
    ">> EPIC": "EPIC",
    ">> NAST2": "N",
    "RAVE >> NAST2": "NR",
}
MIXED = {  # an enhancement of the simulation among the combinations without NAST, and among those with it
    (name, has_nast): f"{name} {'with' if has_nast else 'without'} NAST"
    for name in ("MAST", "LGRF")
    for has_nast in (False, True)
}
_ANY = judgement.different(0.0)  # a difference of any kind: only its interval is shown
MINUS = "\N{MINUS SIGN}"


def campaign_tables(results: Results) -> dict[str, str]:
    """All tables, by name: results, counted (a sentence), statements, averages, mixed, alone and games."""
    (interim_analyses,) = claims.interims_of(results).values()
    decisions = [judgement.decide(claim, interim_analyses) for claim in claims.CLAIMS]
    estimator, lines = judgement.Estimator(results.tallies()), progress(results)
    return {
        "results": first_results(interim_analyses[0].estimator),
        "counted": f"{sum(line.games for line in lines):,} games. {count_sentence(decisions)}\n",
        "statements": statements(decisions),
        "averages": _gains(
            estimator,
            {name: name for name in ENHANCEMENTS},
            lambda name, place: claims.compare(place, claims.halves(name), "", _ANY),
        ),
        "mixed": _gains(estimator, MIXED, _gain_by_nast),
        "alone": _gains(
            estimator, ALONE, lambda agent, place: claims.versus(place, agent, _ANY, "-")
        ),
        "games": markdown_table(progress_table(lines)) + "\n",
    }


def first_results(estimator: judgement.Estimator) -> str:
    """A line for each game, a column for each agent: percent won with the 95 % interval of Clopper and Pearson, and the games of a cell.

    Args:
        estimator: of the first interim analysis.
    """
    lines = []
    for place in claims.PLACES:
        strategies = [claims.STRATEGIES[name] for name in SHOWN.values()]
        tallies = estimator.played(place, strategies)
        if len(tallies) == len(SHOWN):
            cells = []
            for tally in tallies:
                low, high = statistics.clopper_pearson(tally.wins, tally.games)
                rate = f"{100 * tally.wins / tally.games:.1f}"
                cells.append(f"{rate} ({100 * low:.0f}-{100 * high:.0f})")
            lines.append([judgement.place_title(place), str(tallies[0].games), *cells])
    return markdown_table(Table("", ["", "games", *SHOWN], lines)) + "\n"


def statements(decisions: Sequence[judgement.Judgement]) -> str:
    """A line for each statement: its state, the verdicts on its comparisons, and its decisive comparison."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        verdicts = [outcome.verdict for outcome in decision.outcomes]
        counts = " / ".join(
            str(verdicts.count(verdict))
            for verdict in (judgement.AGREES, judgement.UNDECIDED, judgement.DISAGREES)
        )
        outcome = decision.decisive
        lines.append(
            [
                str(number),
                decision.claim.text,
                state(decision),
                counts,
                _figures(outcome) if outcome else "",
            ]
        )
    header = ["No.", "Statement", "State", "agree / open / disagree", "Decisive comparison"]
    return markdown_table(Table("", header, lines)) + "\n"


def _figures(outcome: judgement.Outcome) -> str:
    """A comparison with its difference and the interval of its verdict; where there is none, that to agree."""
    difference, to_agree, to_disagree = judgement.figures_of(outcome)
    interval = to_disagree if outcome.verdict == judgement.DISAGREES else to_agree
    comparison = outcome.comparison
    return f"{comparison.where}: {comparison.what}: {difference}, {interval}".replace(
        " -", f" {MINUS}"
    )


def _gain_by_nast(column: tuple[str, bool], place: judgement.Place | None) -> judgement.Contrast:
    """What an enhancement adds to the combinations that have NAST, or to those that have not."""
    name, has_nast = column
    among = [each for each in COMBINATIONS if ("NAST" in each.enhancements) == has_nast]
    return claims.compare(place, claims.halves(name, among), "", _ANY)


def _gains(
    estimator: judgement.Estimator,
    columns: Mapping[Any, str],
    comparison_of: Callable[[Any, judgement.Place | None], judgement.Contrast],
) -> str:
    """A line for each game and one for all, a column for each agent or enhancement: percent of games won more, with its 95 % interval."""
    lines = []
    for place in (*claims.PLACES, None):
        cells = []
        for name in columns:
            estimate = estimator.estimate(comparison_of(name, place), statistics.CONFIDENCE)
            text = ""
            if estimate:
                text = "{} ({} to {})".format(*numbers(estimate, "+.1f", 100)).replace("-", MINUS)
            cells.append(text)
        lines.append(["all games" if place is None else judgement.place_title(place), *cells])
    return markdown_table(Table("", ["won more, %", *columns.values()], lines)) + "\n"
