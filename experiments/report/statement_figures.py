"""Our Figure 4 beside what the paper's text says of it. The paper prints its win rates as pictures only, and differences in words."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.analysis.claims import CLAIMS
from experiments.analysis.statistics import CONFIDENCE, Estimate
from experiments.analysis.verdicts import WINS, Comparison, Estimator, Place, Term, place_of
from experiments.papers.suite import TABLE_1
from experiments.plan.definition import title
from experiments.report.drawing import points_panel
from experiments.store.results import Columns, Tally
from icarus.views.canvas import BETTER, INK, SUBDUED, WORSE, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS, HEIGHT = (7.4, 5.4), 3.4  # of the two panels of a game, in inches
STATED = "#cfe0ee"  # where the paper's text has a difference
EXPLAINED = (
    "Left: dashed, the 95 % interval of evenly matched players. Right: our differences in games won, with 95 % intervals; shaded, where "
    "the paper's text puts them.\nBlue: our interval lies there. Red: it contradicts. Verdicts are at stricter levels; see the report."
)


def stated_differences(place: Place) -> list[Comparison]:
    """The differences in games won that the paper states without reserve of a game, each once, with the narrowest range for it."""
    narrowest: dict[tuple[Term, ...], Comparison] = {}
    for claim in (claim for claim in CLAIMS if claim.needed == len(claim.cases)):
        for comparison in claim.comparisons:
            if comparison.measure == WINS and {term.place for term in comparison.terms} == {place}:
                before = narrowest.setdefault(comparison.terms, comparison)
                narrowest[comparison.terms] = max(before, comparison, key=_narrowness)
    return list(narrowest.values())


def _narrowness(comparison: Comparison) -> float:
    """How many of its ends the range of a comparison has; with two, how near they are to each other."""
    ((low, high),) = comparison.expected.agree
    return -(high - low) if math.isfinite(high - low) else -math.inf if max(low, -high) < 0 else -1e9


def _statements(columns: Columns, directory: Path) -> list[Path]:
    """A row for each game of which all combinations have come to their first interim analysis."""
    complete = {column: tallies for column, tallies in columns.items() if _is_complete(tallies)}
    if not complete:
        return []
    path = directory / "statements.png"
    with canvas(path, (sum(WIDTHS), HEIGHT * len(complete) + 0.4)) as figure:
        panels = figure.subplots(len(complete), 2, squeeze=False, width_ratios=WIDTHS)
        for (left, right), (column, tallies) in zip(panels, complete.items(), strict=True):
            points_panel(left, _of_table_1(tallies), title(column, columns))
            _differences(right, Estimator(tallies), stated_differences(place_of(tallies[0].cell)))
        figure.supxlabel(EXPLAINED, fontsize=8, color=SUBDUED)
    return [path]


def _is_complete(tallies: Sequence[Tally]) -> bool:
    complete = [tally for tally in tallies if tally.games and tally.games >= tally.due]
    return {tally.cell.spec.text for tally in complete} >= set(TABLE_1.values())


def _of_table_1(tallies: Sequence[Tally]) -> list[Tally]:
    by_strategy = {tally.cell.spec.text: tally for tally in tallies}
    return [by_strategy[strategy] for strategy in TABLE_1.values()]


def _differences(axes: "Axes", estimator: Estimator, comparisons: Sequence[Comparison]) -> None:
    """A line for each statement: the range that the paper's words leave, and our difference with its interval."""
    estimates = [(each, estimator.estimate(each, CONFIDENCE)) for each in comparisons]
    lines = [(each, estimate) for each, estimate in estimates if estimate is not None]
    ends = [end for _, estimate in lines for end in (estimate.low, estimate.high)]
    least, most = min(-0.1, *ends) - 0.02, max(0.1, *ends) + 0.02
    for y, (comparison, estimate) in enumerate(lines):
        for low, high in comparison.expected.agree:
            axes.barh(y, min(high, most) - max(low, least), left=max(low, least), height=0.8, color=STATED, linewidth=0)
        half_widths = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
        color = _color(comparison, estimate)
        axes.errorbar(
            estimate.value, y, xerr=half_widths, fmt="o", markersize=5, color=color, capsize=3, elinewidth=1.3
        )
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_yticks(range(len(lines)), [comparison.what for comparison, _ in lines], fontsize=8)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_xlim(least, most)
    axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+g} %" if value else "0")
    axes.grid(visible=False)
    axes.set_title("what the paper's text says, and what we find", loc="left", fontsize=9, color=SUBDUED)


def _color(comparison: Comparison, estimate: Estimate) -> str:
    if comparison.expected.agrees(estimate):
        return BETTER
    return WORSE if comparison.expected.contradicted(estimate) else INK


DRAW: dict[str, Callable[[Columns, Path], list[Path]]] = {"statements": _statements}
