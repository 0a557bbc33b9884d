"""Table II of 2012 with its picture: the branching of Dou Di Zhu, measured and published."""

from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np

from experiments.analysis.statistics import Estimate, student_mean
from experiments.play.branching import AVERAGED, DETERMINIZATIONS, MEASURES, PUBLISHED, load_plays
from experiments.report.drawing import FILLS, Style, bars, title_panel, with_intervals
from icarus.views.canvas import INK, canvas
from icarus.views.document import Block, Paragraph, Picture, Table, write_pages

PICTURE = "branching.png"
EXPLAINED = (
    "For random deals, the plays that the two peasants could lead, kickers counted with the play that they go with, and those of "
    "each peasant on their own: in the deal, on average in a determinization by the landlord, and those that at least one of "
    "so many determinizations offers."
)


@attrs.frozen
class Measurement:
    """A line of Table II: a mean over deals with its 95 % interval, and the published one."""

    measure: str
    mean: Estimate
    published: float

    @property
    def ratio(self) -> float:
        """Ours over the published one."""
        return self.mean.value / self.published


def measurements(plays: np.ndarray) -> list[Measurement]:
    """Table II from the plays of single deals. [deals, MEASURES]"""
    return [
        Measurement(measure, student_mean(values), published)
        for measure, published, values in zip(MEASURES, PUBLISHED, plays.T, strict=True)
    ]


def table(lines: Sequence[Measurement], deals: int) -> Table:
    """Measured, published, ratio."""

    def texts(each: Measurement) -> list[str]:
        interval = f"{each.mean.low:.1f} - {each.mean.high:.1f}"
        return [each.measure, f"{each.mean.value:.1f}", interval, f"{each.published:g}", f"{each.ratio:.3f}"]

    return Table(
        f"Leading plays of the peasants of Dou Di Zhu, from {deals} deals; published: Cowling, Powley, Whitehouse 2012, Table II.",
        ["Leading plays", "Measured", "95 % interval", "Published", "Ratio"],
        [texts(each) for each in lines],
    )


def draw(lines: Sequence[Measurement], deals: int, path: Path) -> None:
    """Table II as bars, measured beside published."""
    with canvas(path, (6.6, 3.6)) as figure:
        axes = figure.add_subplot()
        places, half = np.arange(len(lines)), 0.19
        published: Style = {
            "facecolor": "white",
            "edgecolor": INK,
            "linewidth": 0.9,
            "hatch": "////",
            "label": "published",
        }
        axes.bar(places - half, [each.published for each in lines], width=2 * half, **published)
        means = with_intervals(each.mean for each in lines)
        bars(axes, places + half, *means, width=2 * half, facecolor=FILLS[1], label="measured")
        for place, each in zip(places, lines, strict=True):
            text, top = f"{each.mean.value:.4g}", (place + half, each.mean.high)
            axes.annotate(text, top, (0, 3), textcoords="offset points", ha="center", fontsize=8)
        unique = [f"unique,\nfrom {number}" for number in DETERMINIZATIONS]
        axes.set_xticks(places, ["in the deal", f"mean of {AVERAGED}\ndeterminizations", *unique], fontsize=8)
        axes.set_ylabel("leading plays of the peasants")
        title_panel(axes, "Dou Di Zhu: branching", f"{deals} deals; bars of error: 95 % intervals of the mean")
        axes.legend(frameon=False, loc="upper left")


def write(directory: Path) -> tuple[Table, list[Path]]:
    """Write the report of a directory that holds counts of leading plays, from these alone: (its table, the files written).

    Raises:
        Refusal: see `kept`.
    """
    plays = load_plays(directory)
    lines, picture = measurements(plays), directory / "figures" / PICTURE
    draw(lines, len(plays), picture)
    table_2 = table(lines, len(plays))
    blocks: list[Block] = [Paragraph(EXPLAINED), Picture(picture, "Table II of 2012: measured and published."), table_2]
    return table_2, [*write_pages(directory, "branching: results", blocks), picture]
