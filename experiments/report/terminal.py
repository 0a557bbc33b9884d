"""Tables as a terminal shows them."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from experiments.analysis.statistics import clopper_pearson
from experiments.plan.definition import Column
from experiments.plan.titles import budget, title
from experiments.store.summary import Tally, baseline


def results_table(column: Column, tallies: list[Tally], among: list[Column]) -> Table:
    """The wins of a column's agents; the last but one column compares with evenly matched players (Figure 4's band).

    Where games were drawn, a column counts them, and the next one has the score, in which a draw counts one half.
    """
    name, against, any_draws = (
        title(column, among),
        f", against {column.opponent.caption}",
        any(tally.draws for tally in tallies),
    )
    table = Table(
        title=f"{name.removesuffix(against)}: {budget(column)} per decision{against}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        title_style="bold",
    )
    draws = ("Draws", "Score") if any_draws else ()
    for heading in ("Agent", "Wins", "Games", "Win rate", "95 % interval", *draws, "Band", "Strategy"):
        table.add_column(
            heading,
            justify="left" if heading in ("Agent", "Strategy", "Band") else "right",
            no_wrap=heading != "Strategy",
        )
    for tally in tallies:
        table.add_row(
            Text(tally.cell.agent),
            str(tally.wins),
            str(tally.games),
            *rate_texts(tally),
            *(draw_texts(tally) * any_draws),
            band(tally, baseline(tallies)),
            Text(tally.cell.spec.caption),
        )
    return table


def plain_table(names: Sequence[str], rows: Iterable[Sequence[Any]], caption: str | None = None) -> Table:
    """The answer to a query, or a table of a document."""
    table = Table(*names, box=box.SIMPLE_HEAD, title=caption, title_justify="left", title_style="bold")
    for row in rows:
        texts = ("" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row)
        table.add_row(*map(Text, texts))
    return table


def rate_texts(tally: Tally) -> tuple[str, str]:
    """Win rate and interval as texts, in percent."""
    if tally.rate is None:
        return "", ""
    low, high = clopper_pearson(tally.wins, tally.games)
    return f"{100 * tally.rate:.1f} %", f"{100 * low:.1f} - {100 * high:.1f} %"


def draw_texts(tally: Tally) -> list[str]:
    """How many games were drawn, and the score, in which a draw counts one half."""
    return [str(tally.draws), "" if tally.score is None else f"{100 * tally.score:.1f} %"]


def band(tally: Tally, even: Tally | None) -> str:
    """Where a win rate lies against the interval of evenly matched players: "above", "below" or nothing."""
    if even is None or tally.rate is None:
        return ""
    low, high = clopper_pearson(even.wins, even.games)
    return "above" if tally.rate > high else "below" if tally.rate < low else ""
