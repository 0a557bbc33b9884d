"""The pictures of a report: SVG inside the page, in its colours."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GRID, SERIES = "#222222", "#88888855", ("#1f77b4", "#d9641e")
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "svg.hashsalt": "report",
    "svg.fonttype": "none",
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
WIDTH, HEIGHT = 5.2, 2.9  # inches


def _picture(name: str, draw: Callable[["Axes"], object], height: float = HEIGHT) -> str:
    """What a function draws on axes, as a picture called `name`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
        try:
            draw(axes)
            file = io.StringIO()
            figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        finally:
            pyplot.close(figure)
    return _embed(file.getvalue(), name)


def _embed(text: str, name: str) -> str:
    """SVG for the inside of a page: its ink is that of the page, its ids are its own, and it has a name."""
    prefix = re.sub(r"\W+", "-", name)
    inside = text[text.index("<svg") :].replace(INK, "currentColor")
    inside = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{prefix}-", inside)
    inside = re.sub(r"<metadata>.*?</metadata>", "", inside, flags=re.DOTALL)
    return inside.replace("<svg", f'<svg role="img" aria-label="{name}"', 1)


def histogram(name: str, values: Mapping[str, Sequence[int]]) -> str:
    """How often whole numbers occur, for one or two series, as shares."""
    samples = {label: np.array(each) for label, each in values.items() if len(each)}
    low, high = min(each.min() for each in samples.values()), max(each.max() for each in samples.values())
    bins = np.arange(low, high + 2) - 0.5 if high - low < BINS else np.linspace(low - 0.5, high + 0.5, BINS)

    def draw(axes: "Axes") -> None:
        for (label, each), colour in zip(samples.items(), SERIES, strict=False):
            weights = np.full(len(each), 100 / len(each))
            axes.hist(each, bins.tolist(), weights=weights, histtype="step", linewidth=1.8, color=colour, label=label)
        axes.set(xlabel=name, ylabel="% of the games")
        axes.legend(frameon=False)

    return _picture(name, draw)


BINS = 30


def curves(name: str, values: Mapping[str, Sequence[float | None]], floor: float | None = None) -> str:
    """Means over the parts of a game, from its beginning to its end."""

    def draw(axes: "Axes") -> None:
        for (label, each), colour in zip(values.items(), SERIES, strict=False):
            points = [(100 * (i + 0.5) / len(each), value) for i, value in enumerate(each) if value is not None]
            axes.plot(*zip(*points, strict=True), marker="o", markersize=4, color=colour, label=label)
        axes.set(xlabel="% of the game", ylabel=name, xlim=(0, 100))
        axes.set_ylim(bottom=floor)
        if len(values) > 1:
            axes.legend(frameon=False)

    return _picture(name, draw)


def intervals(name: str, values: Mapping[str, tuple[float, float, float]]) -> str:
    """Means with their intervals, one below the other; a line marks 0."""
    rows = np.arange(len(values))
    mean, low, high = np.array(list(values.values())).T

    def draw(axes: "Axes") -> None:
        axes.errorbar(mean, rows, xerr=[mean - low, high - mean], fmt="o", color=SERIES[0], capsize=3)
        axes.axvline(0, color=INK, linewidth=1)
        axes.set_yticks(rows, list(values))
        axes.set(xlabel=name)
        axes.invert_yaxis()

    return _picture(name, draw, 0.9 + 0.28 * len(values))
