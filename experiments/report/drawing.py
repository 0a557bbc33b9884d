"""What the pictures have in common: the canvas, its style, and how rates and their intervals are drawn."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from experiments.analysis.statistics import Estimate, clopper_pearson, strengths
from experiments.plan.definition import budget
from experiments.store.results import Tally, any_graded, baseline
from icarus.checks import count_text
from icarus.views.canvas import BETTER, INK, SUBDUED, WORSE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAND = "#8a8a8a"
FILLS, HATCHES = ("white", "#5b7fa3", "#d9b36c", "#7d9c74", "#a58bb0"), ("", "////", "...")  # of bars
LINES, MARKERS = ("#1a6faf", "#b5482a", "#3f7d3a", "#8a5fa8", "#222222", "#b08a1e"), "osD^vP"
LONG_NAME = 6  # letters; longer names of agents are written at a slant
MANY = 20  # more agents than these stand below each other
MARGIN = 0.08  # of the range of win rates, left free above and below
Style: TypeAlias = dict[str, Any]  # keywords of matplotlib


def title_panel(axes: "Axes", text: str, beside: str) -> None:
    """A panel's title, and below it in small letters what stands behind it."""
    axes.set_title(text, loc="left", fontweight="bold", pad=18)
    axes.annotate(
        beside, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize=8, color=SUBDUED
    )


def percent(axes: "Axes", low: float, high: float, across: bool = False) -> None:
    """A scale of shares around those from low to high, upwards, or across."""
    margin = MARGIN * max(high - low, 0.05)
    ends = max(0.0, low - margin) if low > 0 else -0.0, min(1.0, high + margin)
    (axes.set_xlim if across else axes.set_ylim)(ends)
    (axes.xaxis if across else axes.yaxis).set_major_formatter(lambda value, _: f"{100 * value:g} %")


def with_errors(counts: Sequence[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Win rates [bars] and how far their intervals reach below and above them [2, bars]."""
    rates = np.array([wins / games if games else np.nan for wins, games in counts])
    intervals = np.array([clopper_pearson(*count) if count[1] else (np.nan, np.nan) for count in counts])
    return rates, np.abs(intervals.T - rates)


def with_intervals(estimates: Iterable[Estimate | None]) -> tuple[np.ndarray, np.ndarray]:
    """Values [bars] and how far their intervals reach below and above them [2, bars]; nan where there is none."""
    bars = np.array([attrs.astuple(each) if each else (np.nan,) * 3 for each in estimates])
    return bars[:, 0], np.abs(bars[:, 1:].T - bars[:, 0])


def bars(axes: "Axes", places: np.ndarray, values: np.ndarray, errors: np.ndarray, **style: Any) -> None:
    """Bars with their intervals, see `with_errors`.

    Args:
        style: keywords of `Axes.bar`.
    """
    axes.bar(places, values, edgecolor=INK, linewidth=0.9, **style)
    axes.errorbar(places, values, yerr=errors, fmt="none", color=INK, capsize=3, elinewidth=1.2)


def legend_below(figure: "Figure", axes: "Axes", columns: int, **style: Any) -> None:
    """The legend of a panel, below all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, **style)


def measure_title(columns: Iterable[Sequence[Tally]]) -> str:
    """What agents of columns are compared by, in words."""
    kinds = {any_graded(tallies) for tallies in columns}
    return "games won or mean reward" if len(kinds) > 1 else "mean reward" if kinds == {True} else "games won"


def describe_games(tallies: Sequence[Tally]) -> str:
    """How many games stand behind each mark, in words."""
    few, many = min(tally.games for tally in tallies), max(tally.games for tally in tallies)
    return f"{count_text(few, 'game')} each" if few == many else f"{few} to {many} games each"


def unfinished(tallies: Sequence[Tally]) -> str:
    """What share of the games of their first interim analysis agents have, in words; nothing where that is complete."""
    due = sum(tally.due for tally in tallies)
    done = sum(min(tally.games, tally.due) for tally in tallies)
    return f"{min(99, round(100 * done / due))} % of the first interim analysis" if done < due else ""


def points_panel(axes: "Axes", tallies: list[Tally], name: str) -> None:
    """A point with its 95 % interval for each agent; dashed, the interval of evenly matched players."""
    estimates = strengths(tallies)
    rates, errors = with_intervals(estimates)
    low, high = float((rates - errors[0]).min()), float((rates + errors[1]).max())
    even, across = baseline(tallies), len(tallies) > MANY
    band = estimates[tallies.index(even)] if even else None
    below, above = (band.low, band.high) if band else (0.0, 1.0)
    if band:
        (axes.axvspan if across else axes.axhspan)(below, above, color=BAND, alpha=0.13, linewidth=0)
        for edge in (below, above):
            (axes.axvline if across else axes.axhline)(edge, color=BAND, linestyle=(0, (5, 3)), linewidth=1.2)
    for i, (rate, error) in enumerate(zip(rates, errors.T, strict=True)):
        color = BETTER if rate > above else WORSE if rate < below else INK
        place: Style = (
            {"x": rate, "y": i, "xerr": error[:, None]} if across else {"x": i, "y": rate, "yerr": error[:, None]}
        )
        axes.errorbar(**place, fmt="o", markersize=5, color=color, capsize=3, elinewidth=1.3)
    (_name_down if across else _name_across)(axes, [tally.cell.agent for tally in tallies])
    percent(axes, low, high, across)
    if any_graded(tallies):
        (axes.xaxis if across else axes.yaxis).set_major_formatter("{x:g}")
    (axes.set_xlabel if across else axes.set_ylabel)(measure_title([tallies]))
    counted = f"{describe_games(tallies)}, {budget(tallies[0].cell.column)}"
    title_panel(axes, name, "; ".join(filter(None, [counted, unfinished(tallies)])))


def _name_down(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _name_across(axes: "Axes", names: Sequence[str]) -> None:
    slanted = max(map(len, names)) > LONG_NAME
    axes.set_xticks(
        range(len(names)),
        names,
        rotation=35 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else None,
        fontsize=9 if len(names) <= 8 or slanted else 8,
    )
    axes.set_xlim(-0.6, len(names) - 0.4)
