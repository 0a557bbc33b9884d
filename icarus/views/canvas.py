"""The one canvas that pictures with axes are drawn on: its style, its files, and marks with their intervals."""

import io
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SUBDUED, BETTER, WORSE = "#222222", "#555555", "#1a6faf", "#b5482a"
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
def figure_of(size: tuple[float, float], **style: Any) -> "Iterator[Figure]":
    """A figure of so many inches, which is closed when the block ends; `style` goes before STYLE."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    settings: Any = STYLE | style
    with pyplot.rc_context(settings):
        figure = pyplot.figure(figsize=size, layout="constrained")
        try:
            yield figure
        finally:
            pyplot.close(figure)


def svg_of(draw: "Callable[[Axes], object]", size: tuple[float, float] = (5.2, 2.9)) -> str:
    """What a function draws on axes, as the text of an SVG, for `document.Picture`."""
    with figure_of(size, **{"svg.fonttype": "none"}) as figure:  # its words are words
        draw(figure.subplots())
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def intervals_svg(
    name: str, values: Mapping[str, tuple[float, float, float]], marked: Collection[str] = (), title: str = ""
) -> str:
    """Values with their intervals, the first on top, as the text of an SVG; a line marks 0.

    Args:
        name: of what is measured.
        values: (value, low, high) by name.
        marked: the names that stand out.
    """

    def draw(axes: "Axes") -> None:
        for row, (label, (value, low, high)) in enumerate(values.items()):
            colour = WORSE if label in marked else BETTER
            axes.errorbar(value, row, xerr=[[value - low], [high - value]], fmt="o", color=colour, capsize=3)
        axes.axvline(0, color=INK, linewidth=1)
        axes.set_yticks(np.arange(len(values)), list(values))
        axes.set_xlabel(name)
        axes.set_title(title, loc="left")
        axes.grid(True, axis="x")
        axes.invert_yaxis()

    return svg_of(draw, (7.0, 0.9 + 0.28 * len(values)))
