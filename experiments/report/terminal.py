"""Tables as a terminal shows them."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from experiments.analysis.rewards import strengths
from experiments.analysis.statistics import Estimate
from experiments.plan.definition import Column
from experiments.plan.titles import budget, title
from experiments.store.summary import Tally, any_graded, baseline

SMALLEST_P = 1e-4  # smaller ones are written as such


def results_table(column: Column, tallies: list[Tally], among: list[Column]) -> Table:
    """What a column's agents came to, compared with evenly matched players (Figure 4's band); strategies only where names are others."""
    name, against = title(column, among), f", against {column.opponent.caption}"
    table = Table(
        title=f"{name.removesuffix(against)}: {budget(column)} per decision{against}",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    headings, rows = measures_of(tallies)
    strategies = ["Strategy"] if any(tally.cell.agent != tally.cell.spec.caption for tally in tallies) else []
    table.add_column("Agent", overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "Band" else "right", no_wrap=True)
    for heading in strategies:
        table.add_column(heading, overflow="fold")
    for tally, row in zip(tallies, rows, strict=True):
        table.add_row(Text(tally.cell.agent), *row, *[Text(tally.cell.spec.caption)] * len(strategies))
    return table


def plain_table(names: Sequence[str], rows: Iterable[Sequence[object]], caption: str | None = None) -> Table:
    """The answer to a query, or a table of a document."""
    table = Table(*names, box=box.SIMPLE_HEAD, title=caption, title_justify="left", title_style="bold")
    for row in rows:
        texts = ("" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row)
        table.add_row(*map(Text, texts))
    return table


def measures_of(tallies: list[Tally]) -> tuple[list[str], list[list[str]]]:
    """Headings and texts of what agents are compared by, and of the band: wins, or where rewards are graded the mean rewards.

    Where games were drawn, a column counts them, and the next one has the score, in which a draw counts one half.
    """
    estimates, even = strengths(tallies), baseline(tallies)
    bands = [_band(each, estimates[tallies.index(even)] if even else None) for each in estimates]
    if any_graded(tallies):
        return ["Games", "Mean reward", "95 % interval", "Band"], [
            [str(tally.games), *_texts(each, is_reward=True), band]
            for tally, each, band in zip(tallies, estimates, bands, strict=True)
        ]
    any_draws = any(tally.draws for tally in tallies)
    return ["Wins", "Games", "Win rate", "95 % interval", *(["Draws", "Score"] * any_draws), "Band"], [
        [str(tally.wins), str(tally.games), *_texts(each, is_reward=False), *(_draw_texts(tally) * any_draws), band]
        for tally, each, band in zip(tallies, estimates, bands, strict=True)
    ]


def _texts(estimate: Estimate | None, is_reward: bool) -> tuple[str, str]:
    """A mean reward, or in percent a win rate, with its interval as texts."""
    if estimate is None:
        return "", ""
    if is_reward:
        return f"{estimate.value:.3f}", f"{estimate.low:.3f} - {estimate.high:.3f}"
    return f"{100 * estimate.value:.1f} %", f"{100 * estimate.low:.1f} - {100 * estimate.high:.1f} %"


def _draw_texts(tally: Tally) -> list[str]:
    """How many games were drawn, and the score, in which a draw counts one half."""
    return [str(tally.draws), "" if tally.score is None else f"{100 * tally.score:.1f} %"]


def _band(estimate: Estimate | None, even: Estimate | None) -> str:
    """Where an agent lies against the interval of evenly matched players: "above", "below" or nothing."""
    if even is None or estimate is None:
        return ""
    return "above" if estimate.value > even.high else "below" if estimate.value < even.low else ""


def p_text(value: float) -> str:
    """A p-value as text."""
    return f"< {SMALLEST_P:.4f}" if value < SMALLEST_P else f"{value:.4f}"
