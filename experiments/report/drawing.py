"""What the pictures have in common: the canvas, its style, and how rates and their intervals are drawn."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from experiments.analysis.statistics import clopper_pearson
from experiments.store.summary import Tally

INK, SUBDUED, BAND, BETTER, WORSE = "#222222", "#555555", "#8a8a8a", "#1a6faf", "#b5482a"
FILLS, HATCHES = ("white", "#5b7fa3", "#d9b36c", "#7d9c74", "#a58bb0"), ("", "////", "...")  # of bars
LINES, MARKERS = ("#1a6faf", "#b5482a", "#3f7d3a", "#8a5fa8", "#222222", "#b08a1e"), "osD^vP"
DOTS_PER_INCH = 160
MARGIN = 0.08  # of the range of win rates, left free above and below
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.8,
    "svg.hashsalt": "experiments",
    "svg.fonttype": "path",
}


@contextmanager
def canvas(path: Path, size: tuple[float, float]) -> Iterator[Any]:
    """A figure, written as PNG and SVG when the block ends."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):  # type: ignore[arg-type]
        figure = pyplot.figure(figsize=size, layout="constrained")
        try:
            yield figure
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
            figure.set_layout_engine("none")  # the places that were found for the PNG do for the SVG too
            figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
        finally:
            pyplot.close(figure)


def title_panel(axes: Any, text: str, beside: str) -> None:
    """A panel's title, and below it in small letters what stands behind it."""
    axes.set_title(text, loc="left", fontweight="bold", pad=18)
    axes.annotate(
        beside, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize=8, color=SUBDUED
    )


def percent(axes: Any, low: float, high: float, across: bool = False) -> None:
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


def describe_games(tallies: Sequence[Tally]) -> str:
    """How many games stand behind each mark, in words."""
    few, many = min(tally.games for tally in tallies), max(tally.games for tally in tallies)
    return f"{few} game{'s' if few > 1 else ''} each" if few == many else f"{few} to {many} games each"


def unfinished(tallies: Sequence[Tally]) -> str:
    """What share of the games of their first interim analysis agents have, in words; nothing where that is complete."""
    due = sum(tally.due for tally in tallies)
    done = sum(min(tally.games, tally.due) for tally in tallies)
    return f"{min(99, round(100 * done / due))} % of the first interim analysis" if done < due else ""
