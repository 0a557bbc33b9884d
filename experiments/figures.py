"""Pictures of the results, as PNG and SVG: the paper's Figures 3, 4 and 5, the rules of reuse, and the trees."""

import io
import itertools
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import attrs
import numpy as np

from experiments.claims import CLAIMS
from experiments.papers import BY_NAME, ENHANCEMENTS, FIRST, PICTURES, TABLE_1, lines_of_2011
from experiments.plan.cells import VARIED, Column, Experiment, budget, game_title, slugs, title
from experiments.ratings import (
    by_strategy,
    by_trees,
    hidden_cards,
    round_robins,
    search_name,
    strategy_name,
)
from experiments.results import Columns, Moments, Score, Tally, any_graded, baseline, named
from experiments.statistics import marginals, strengths, student, win_rate
from experiments.verdicts import WINS, ComparedSide, Contrast, Estimator, Place, place_of
from icarus.arena.player import Entrant
from icarus.checks import count_text
from icarus.statistics import CONFIDENCE, Estimate

# -------------------- What the pictures have in common: the canvas, its style, and how rates and their intervals are drawn.


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAND = "#8a8a8a"
# of bars
FILLS = ("white", "#5b7fa3", "#d9b36c", "#7d9c74", "#a58bb0")
HATCHES = ("", "////", "...")
LINES = ("#1a6faf", "#b5482a", "#3f7d3a", "#8a5fa8", "#222222", "#b08a1e")
MARKERS = "osD^vP"
LONG_NAME = 6  # letters; longer names of agents are written at a slant
LONG_LINE = 50  # letters; longer names of lines stand below each other
MANY = 20  # more agents than these stand below each other
LINE = 12  # points of a line of small letters above a panel
PAIR = 0.38  # width of a bar of two in the room for both
MARGIN = 0.08  # of the range of win rates, left free above and below
Style: TypeAlias = dict[str, Any]  # keywords of matplotlib


INK, SUBDUED, BETTER, WORSE = "#222222", "#555555", "#1a6faf", "#b5482a"
STYLE = Path(__file__).with_suffix(".mplstyle")
DOTS_PER_INCH = 160


@contextmanager
def figure_of(size: tuple[float, float], **style: Any) -> "Iterator[Figure]":
    """A figure of so many inches, which is closed when the block ends; `style` goes before STYLE."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    settings: Any = style
    with pyplot.rc_context(settings, fname=STYLE):
        figure = pyplot.figure(figsize=size, layout="constrained")
        try:
            yield figure
        finally:
            pyplot.close(figure)


@contextmanager
def canvas(path: Path, size: tuple[float, float]) -> "Iterator[Figure]":
    """A figure, written as PNG and SVG when the block ends. The files have no dates: the same figure gives the same bytes."""
    with figure_of(size) as figure:
        yield figure
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
        # the places that were found for the PNG do for the SVG too
        figure.set_layout_engine("none")
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})


def intervals_svg(
    name: str, values: Mapping[str, Estimate], marked: Collection[str] = (), title: str = ""
) -> str:
    """Values with their intervals, the first on top, as the text of an SVG for `document.Picture`; a line marks 0.

    Args:
        name: of what is measured.
        values: by name.
        marked: the names that stand out.
    """
    # words are written as text, not as outlines of letters
    with figure_of((10.0, 0.9 + 0.28 * len(values)), **{"svg.fonttype": "none"}) as figure:
        axes = figure.subplots()
        for row, (label, estimate) in enumerate(values.items()):
            colour = WORSE if label in marked else BETTER
            mark(axes, [row], [estimate], across=True, fmt="o", color=colour)
        axes.axvline(0, color=INK, linewidth=1)
        axes.set_yticks(np.arange(len(values)), list(values))
        axes.set_xlabel(name)
        axes.set_title(title, loc="left")
        axes.grid(True, axis="x")
        axes.invert_yaxis()
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def title_panel(axes: "Axes", text: str, beside: str) -> None:
    """A panel's title, and below it in small letters what stands behind it."""
    above = LINE * (1 + beside.count("\n"))
    axes.set_title(text, loc="left", fontweight="bold", pad=6 + above)
    axes.annotate(
        beside,
        (0, 1),
        (0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=8,
        color=SUBDUED,
    )


class Scale(NamedTuple):
    """How values are drawn in a panel: their axis, its ends and label, and a band or a line through all agents."""

    axis: Any
    set_ends: Callable
    set_label: Callable
    band: Callable
    line: Callable


def scale_of(axes: "Axes", across: bool = False) -> Scale:
    """The scale along which values rise, or go across."""
    if across:
        return Scale(axes.xaxis, axes.set_xlim, axes.set_xlabel, axes.axvspan, axes.axvline)
    return Scale(axes.yaxis, axes.set_ylim, axes.set_ylabel, axes.axhspan, axes.axhline)


def percent(scale: Scale, low: float, high: float) -> None:
    """A scale of shares around those from low to high."""
    margin = MARGIN * max(high - low, 0.05)
    scale.set_ends(max(0.0, low - margin), min(1.0, high + margin))
    scale.axis.set_major_formatter(lambda value, _: f"{100 * value:g} %")


def with_intervals(estimates: Iterable[Estimate | None]) -> tuple[np.ndarray, np.ndarray]:
    """Values [bars] and how far their intervals reach below and above them [2, bars]; nan where there is none."""
    nothing = Estimate(np.nan, np.nan, np.nan)
    complete = [each or nothing for each in estimates]
    values = np.array([each.value for each in complete])
    ends = np.array([[each.low for each in complete], [each.high for each in complete]])
    return values, np.abs(ends - values)


def mark(
    axes: "Axes",
    places: Sequence[float] | np.ndarray,
    estimates: Iterable[Estimate | None],
    across: bool = False,
    **style: Any,
) -> None:
    """Mark values with their intervals at these places; `style` as of `Axes.errorbar`."""
    values, errors = with_intervals(estimates)
    if across:
        axes.errorbar(values, places, xerr=errors, capsize=3, **style)
    else:
        axes.errorbar(places, values, yerr=errors, capsize=3, **style)


def series_style(number: int, label: str) -> Style:
    """What tells the marks of one series from those of others."""
    color = LINES[number % len(LINES)]
    # another one when the colours begin again
    marker = MARKERS[(number + number // len(LINES)) % len(MARKERS)]
    return {"color": color, "marker": marker, "label": _in_legend(label)}


def _in_legend(name: str) -> str:
    """A name for a legend, which leaves out those that begin with an underscore: a space without width is before it."""
    return f"\u200b{name}" if name.startswith("_") else name


def bars(
    axes: "Axes", groups: Sequence[tuple[Style, Sequence[Estimate | None]]], width: float
) -> None:
    """Groups of bars, those of one place beside each other, with their intervals, on a scale of shares.

    Args:
        groups: of each its keywords of `Axes.bar`, and its values.
    """
    top = 0.0
    for i, (style, estimates) in enumerate(groups):
        values, errors = with_intervals(estimates)
        places = np.arange(len(values)) + (i - (len(groups) - 1) / 2) * width
        axes.bar(places, values, edgecolor=INK, linewidth=0.9, width=width, **style)
        mark(axes, places, estimates, fmt="none", color=INK, elinewidth=1.2)
        top = max(top, float(np.nanmax(values + errors[1], initial=0.0)))
    percent(scale_of(axes), 0.0, top)


def legend_below(figure: "Figure", axes: "Axes", columns: int, **style: Any) -> None:
    """The legend of a panel, below all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, **style
    )


def measure_title(columns: Iterable[Sequence[Tally]]) -> str:
    """What agents of columns are compared by, in words."""
    kinds = {any_graded(tallies) for tallies in columns}
    if len(kinds) > 1:
        return "games won or mean reward"
    return "mean reward" if kinds == {True} else "games won"


def describe_games(tallies: Iterable[Score]) -> str:
    """How many games stand behind each mark, in words."""
    *few, many = sorted({tally.games for tally in tallies})
    return f"{few[0]} to {many} games each" if few else f"{count_text(many, 'game')} each"


def unfinished(tallies: Sequence[Tally]) -> str:
    """What share of the games of their first interim analysis agents have, in words; nothing where that is complete."""
    due = sum(tally.due for tally in tallies)
    done = sum(min(tally.games, tally.due) for tally in tallies)
    return (
        f"{min(99, round(100 * done / due))} % of the first interim analysis" if done < due else ""
    )


def points_panel(axes: "Axes", tallies: list[Tally], name: str) -> None:
    """A point with its 95 % interval for each agent, all of which have games; dashed, the interval of evenly matched players."""
    estimates = [each for each in strengths(tallies) if each]
    across = len(tallies) > MANY
    scale = scale_of(axes, across)
    # without evenly matched players no agent stands out
    below = 0.0
    above = 1.0
    if even := baseline(tallies):
        band = estimates[tallies.index(even)]
        below, above = band.low, band.high
        scale.band(below, above, color=BAND, alpha=0.13, linewidth=0)
        for edge in (below, above):
            scale.line(edge, color=BAND, linestyle=(0, (5, 3)), linewidth=1.2)
    for place, each in enumerate(estimates):
        color = INK
        if each.value > above:
            color = BETTER
        elif each.value < below:
            color = WORSE
        _mark_point(axes, place, each, color, across)
    name_agents = _name_down if across else _name_across
    name_agents(axes, [tally.cell.agent for tally in tallies])
    percent(scale, min(each.low for each in estimates), max(each.high for each in estimates))
    if any_graded(tallies):
        scale.axis.set_major_formatter("{x:g}")
    scale.set_label(measure_title([tallies]))
    counted = f"{describe_games(tallies)}, {budget(tallies[0].cell.column)}"
    title_panel(
        axes, _fold(name, 3 * LETTERS), "; ".join(filter(None, [counted, unfinished(tallies)]))
    )


def _mark_point(axes: "Axes", place: float, estimate: Estimate, color: str, across: bool) -> None:
    """A point with its interval."""
    mark(axes, [place], [estimate], across, fmt="o", markersize=5, color=color, elinewidth=1.3)


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


BARS = "Bars: 95 % intervals."
EVEN = "Dashed: the 95 % interval of evenly matched players; blue is above it, red below."
ACROSS = 2  # panels side by side in the picture of all games
LETTERS = 26  # of a line above a narrow panel
LETTER = 0.08  # inches of a letter, on average
TREES = (  # a panel each: a measure, its title, and whether it is compared by its ratio
    ("visits", "visits of the chosen action", True),
    ("value", "its mean reward", False),
    ("depth", "depth of the tree in plies", False),
)
POINTS = ("figure4", "agents")  # pictures that show each column on its own too


def draw(columns: Columns, directory: Path, pictures: Sequence[str]) -> list[Path]:
    """Draw pictures of the results into `directory`; those for which there are no results yet are left out.

    Args:
        pictures: which; see `papers.PICTURES`.

    Returns:
        The PNG files; beside each lies an SVG of the same name.
    """
    nonempty: Columns = {}
    for column, tallies in columns.items():
        if played := [tally for tally in tallies if tally.games]:
            nonempty[column] = played
    paths = list[Path]()
    for picture in pictures:
        panels = {column: _shown_in(picture, tallies) for column, tallies in nonempty.items()}
        paths += DRAW[picture](panels, directory)
    return paths


def fitting(experiment: Experiment) -> list[str]:
    """The pictures that suit an experiment: its own, and those whose agents are all among its own."""
    strategies = {cell.text for cell in experiment.cells}
    complete = [
        name
        for name, each in PICTURES.items()
        if each.agents and set(each.agents.values()) <= strategies
    ]
    return list(dict.fromkeys([*experiment.pictures, *complete]))


def caption(path: Path, experiment: Experiment) -> str:
    """What a picture shows; its file is named after it, and after a column where there are several.

    An experiment without the agents of a figure of the paper has no such figure, whatever its file is called.
    """
    picture = PICTURES[_picture_of(path)]
    strategies = {cell.text for cell in experiment.cells}
    return (picture if set(picture.agents.values()) <= strategies else PICTURES["agents"]).caption


def _picture_of(path: Path) -> str:
    return next(name for name in PICTURES if f"{path.stem}-".startswith(f"{name}-"))


def left_out(paths: Iterable[Path], experiment: Experiment) -> str:
    """A sentence on the pictures that an experiment asks for and of which there are no files; empty if there are none."""
    pictures = set(map(_picture_of, paths))
    missing = [picture for picture in experiment.pictures if picture not in pictures]
    return f"Pictures with nothing to show: {', '.join(missing)}." if missing else ""


def _shown_in(picture: str, tallies: list[Tally]) -> list[Tally]:
    """The agents of a picture under the names they have in it; all agents, if its own are not all there."""
    of_picture = []
    for name, tally in named(tallies, PICTURES[picture].agents).items():
        of_picture.append(attrs.evolve(tally, cell=attrs.evolve(tally.cell, agent=name)))
    return of_picture or tallies


def by_column(columns: Columns) -> dict[Column, set[str]]:
    """The names of the files that show one column each, where there are several."""
    if len(columns) < 2:
        return {}
    nonempty = [
        column for column, tallies in columns.items() if any(each.games for each in tallies)
    ]
    names = slugs(title(column, nonempty) for column in nonempty)
    return {
        column: {f"{picture}-{name}" for picture in POINTS}
        for column, name in zip(nonempty, names, strict=True)
    }


# ------------------------------------------------------------------------------------- Figure 4, and agents of any kind


def _points(picture: str, columns: Columns, directory: Path) -> Iterator[Path]:
    """Win rates, or mean rewards, as points: a picture for each column, and one of all."""
    if len(columns) > 1:
        yield _grid(directory / f"{picture}.png", columns)
    titles = [title(column, columns) for column in columns]
    for tallies, name, file in zip(columns.values(), titles, slugs(titles), strict=True):
        path = directory / f"{picture}-{file}.png"
        count = len(tallies)
        size = (8.0, 1.2 + 0.19 * count) if count > MANY else (max(7.0, 1.4 + 0.47 * count), 4.1)
        with canvas(path, size) as figure:
            points_panel(figure.add_subplot(), tallies, name)
            figure.supxlabel(_caption(columns), fontsize=8, color=SUBDUED)
        yield path


def _grid(path: Path, columns: Columns) -> Path:
    """All columns as panels of one figure."""
    down = -(-len(columns) // ACROSS)
    widest = max(len(tallies) for tallies in columns.values())
    size = (6.5, 0.8 + 0.19 * widest) if widest > MANY else (max(5.0, 1.0 + 0.32 * widest), 3.2)
    with canvas(path, (ACROSS * size[0], down * size[1] + 0.3)) as figure:
        figure.supxlabel(_caption(columns), fontsize=8, color=SUBDUED)
        for i, (column, tallies) in enumerate(columns.items(), 1):
            points_panel(figure.add_subplot(down, ACROSS, i), tallies, title(column, columns))
    return path


def _caption(columns: Columns) -> str:
    """What the marks mean, of those that are there."""
    return f"{BARS} {EVEN}" if any(baseline(tallies) for tallies in columns.values()) else BARS


# ----------------------------------------------------------------------------------------------------------- Figure 3


def _averages(columns: Columns, directory: Path) -> Iterator[Path]:
    full = {
        column: tallies
        for column, tallies in columns.items()
        if {tally.cell.agent for tally in tallies} == set(BY_NAME) and not any_graded(tallies)
    }
    if not full:
        return
    path = directory / "figure3.png"
    across = min(4, len(full))
    down = -(-len(full) // across)
    with canvas(path, (max(4.2, 3.3 * across), 3.2 * down + 0.4)) as figure:
        for i, (column, tallies) in enumerate(full.items(), 1):
            axes = figure.add_subplot(down, across, i)
            _pairs(axes, tallies)
            axes.set_title(
                textwrap.fill(title(column, columns), LETTERS), loc="left", fontweight="bold"
            )
            axes.set_xlabel(unfinished(tallies), fontsize=8, color=SUBDUED)
        legend_below(figure, axes, 2)
    yield path


def _pairs(axes: "Axes", tallies: list[Tally]) -> None:
    """For each enhancement the average without it (hatched) and with it (solid)."""
    pairs = marginals({tally.cell.agent: (tally.wins, tally.games) for tally in tallies})
    styles: Sequence[Style] = (
        {"facecolor": "white", "hatch": "////", "label": "without"},
        {"facecolor": FILLS[1], "label": "with the enhancement"},
    )
    bars(
        axes,
        [
            (style, [win_rate(*pairs[name][side]) for name in ENHANCEMENTS])
            for side, style in enumerate(styles)
        ],
        PAIR,
    )
    axes.set_xticks(range(len(ENHANCEMENTS)), ENHANCEMENTS)
    axes.set_ylabel("games won")


# ------------------------------------------------------------------------------------------- Figure 5, rules of reuse


def _bars(name: str, columns: Columns, directory: Path) -> Iterator[Path]:
    """Win rates, or mean rewards, the agents side by side in each game."""
    if not columns:
        return
    path = directory / f"{name}.png"
    agents = _agents(columns)
    estimates = [
        dict(zip((tally.cell.agent for tally in tallies), strengths(tallies), strict=True))
        for tallies in columns.values()
    ]
    inches = 0.6 + 0.2 * len(agents)
    with canvas(path, (max(4.8, 1.3 * len(agents), 1.6 + inches * len(columns)), 3.9)) as figure:
        axes = figure.add_subplot()
        fills = itertools.cycle(itertools.product(HATCHES, FILLS))
        groups: list[tuple[Style, list[Estimate | None]]] = [
            (
                {"label": _in_legend(agent), "facecolor": fill, "hatch": hatch},
                [of_column.get(agent) for of_column in estimates],
            )
            for agent, (hatch, fill) in zip(agents, fills, strict=False)
        ]
        bars(axes, groups, 0.8 / len(agents))
        axes.set_xticks(range(len(columns)), _labels(columns, inches))
        axes.set_ylabel(measure_title(columns.values()))
        if all(map(any_graded, columns.values())):
            axes.yaxis.set_major_formatter("{x:g}")
        _add_note(axes, columns)
        legend_below(figure, axes, len(agents))
    yield path


def _agents(columns: Columns) -> list[str]:
    return list(
        dict.fromkeys(tally.cell.agent for tallies in columns.values() for tally in tallies)
    )


def _labels(columns: Columns, inches: float) -> list[str]:
    """The titles of columns in lines no wider than a column, with the share of the first interim analysis, where that is not complete."""
    labels = []
    for column, tallies in columns.items():
        lines = title(column, columns).replace(" (", "\n(").splitlines()
        label = "\n".join(_fold(line, int(inches / LETTER)) for line in lines)
        if note := unfinished(tallies):
            label += "\n" + note.replace(" of ", "\nof ")
        labels.append(label)
    return labels


def _fold(line: str, letters: int) -> str:
    """A line in lines of so many letters; a parameter and its value stay together, even where they are wider."""
    together = line.replace(" = ", "\u00a0=\u00a0")
    return textwrap.fill(together, letters, break_long_words=together == line).replace(
        "\u00a0", " "
    )


def _add_note(axes: "Axes", columns: Columns) -> None:
    """Note the games of all columns, and their budget if it is the same; titles of columns name budgets that differ."""
    all_tallies = [tally for tallies in columns.values() for tally in tallies]
    budgets = {budget(column) for column in columns}
    note = ", ".join([describe_games(all_tallies), *(budgets if len(budgets) == 1 else ())])
    axes.set_title(note, loc="right", fontsize=8, color=SUBDUED)


# -------------------------------------------------------------------------------------------------------------- trees


def _trees(columns: Columns, directory: Path) -> Iterator[Path]:
    """Section 8's analysis of the trees, as differences from the baseline: visits and value of the chosen action, depth."""
    compared = {column: tallies for column, tallies in columns.items() if baseline(tallies)}
    if not compared:
        return
    path = directory / "tree.png"
    inches = 1.1
    agents = _agents(
        {
            column: [tally for tally in tallies if not tally.cell.is_opponent]
            for column, tallies in compared.items()
        }
    )
    with canvas(path, (max(6.0, 1.6 + inches * len(compared)), 7.6)) as figure:
        all_axes = figure.subplots(len(TREES), 1, sharex=True)
        for axes, (measure, text, relative) in zip(all_axes, TREES, strict=True):
            _differences(axes, compared, agents, measure, relative)
            axes.set_title(text, loc="left", fontweight="bold")
            axes.set_ylabel("against the baseline")
        axes.set_xticks(range(len(compared)), _labels(compared, inches))
        _add_note(all_axes[0], compared)
        legend_below(figure, axes, len(agents))
    yield path


def _differences(
    axes: "Axes", columns: Columns, agents: Sequence[str], measure: str, relative: bool
) -> None:
    """A panel of one measure: each agent's difference from the baseline, the agents of a column beside each other."""
    axes.axhline(0, color=INK, linewidth=1)
    axes.yaxis.set_major_formatter(
        lambda value, _: f"{100 * value:+g} %" if relative else f"{value:+g}"
    )
    for i, agent in enumerate(agents):
        aside = (i - (len(agents) - 1) / 2) * 0.8 / len(agents)
        changes = dict[float, Estimate]()
        for place, tallies in enumerate(columns.values()):
            even = baseline(tallies)
            for tally in tallies:
                if even and tally.cell.agent == agent:
                    change = _difference(tally.moments[measure], even.moments[measure], relative)
                    if change:
                        changes[place + aside] = change
        style = series_style(i, agent)
        mark(
            axes,
            [*changes],
            changes.values(),
            linestyle="none",
            elinewidth=1.2,
            markersize=5,
            **style,
        )
    for edge in range(1, len(columns)):
        axes.axvline(edge - 0.5, color="#e4e4e4", linewidth=0.7)
    axes.set_xlim(-0.5, len(columns) - 0.5)


def _difference(agent: Moments, even: Moments, relative: bool) -> Estimate | None:
    """The difference of two means with its 95 % interval, or if `relative` as a share of the second."""
    if agent.mean is None or even.mean is None or agent.error is None or even.error is None:
        return None
    count = min(agent.count, even.count)
    if not relative:
        return student(agent.mean - even.mean, np.hypot(agent.error, even.error), count)
    if even.mean == 0:
        return None
    ratio = agent.mean / even.mean
    return student(ratio - 1, np.hypot(agent.error, ratio * even.error) / even.mean, count)


# -------------------- Pictures of the two earlier papers: 2012, Figs. 6-10, 14 and 15; 2011, Figs. 2-5.


ASIDE = 0.12  # of the two intervals of a bar, from its middle
BAR = 0.66  # width, of the room for a bar
LIGHT_SHADE = 0.5  # numbers are dark on lighter fields
EVEN_LINE: Style = {"color": SUBDUED, "linestyle": (0, (5, 3)), "linewidth": 1.0}
OF_2011 = (  # figures: number, what is along the axis, and what differs between lines
    (2, "determinizations", "iterations of each"),
    (3, "iterations of each determinization", "determinizations"),
    (4, "determinizations", "iterations of all"),
)


def _in_two_lines(name: str) -> str:
    """A search's name under a bar."""
    return name.replace(" UCT", "\nUCT").replace(" + ", "\n+ ")


def _files(directory: Path, picture: str, titles: Sequence[str]) -> list[Path]:
    """The files of a picture, named after what each shows where there are several."""
    if len(titles) == 1:
        return [directory / f"{picture}.png"]
    return [directory / f"{picture}-{name}.png" for name in slugs(titles)]


# ------------------------------------------------------------------------------------------------------- round robins


def _heat_maps(columns: Columns, directory: Path) -> Iterator[Path]:
    """Figs. 7 and 9: the share of the first seat in the games of each pair."""
    robins = round_robins(columns)
    paths = _files(directory, "heat-map", [" ".join(robin.game) for robin in robins])
    for robin, path in zip(robins, paths, strict=True):
        names, (_, _, budget_text) = robin.searches, robin.game
        shares = np.full((len(names), len(names)), np.nan)
        for (first, second), score in robin.scores.items():
            shares[names.index(first), names.index(second)] = score.mean
        with canvas(path, (3.0 + 0.95 * len(names), 1.9 + 0.62 * len(names))) as figure:
            axes = figure.add_subplot()
            axes.grid(False)
            image = axes.imshow(shares, cmap="gray", vmin=0.0, vmax=1.0, aspect="auto")
            for (row, place), share in np.ndenumerate(shares):
                if not np.isnan(share):
                    _number(axes, place, row, robin.scores[names[row], names[place]])
            axes.set_xticks(range(len(names)), map(_in_two_lines, names), fontsize=8)
            axes.set_yticks(range(len(names)), names, fontsize=9)
            axes.set_xlabel(f"{robin.sides[1]}'s search")
            axes.set_ylabel(f"{robin.sides[0]}'s search")
            title_panel(
                axes,
                f"{robin.title}: share of {robin.sides[0]}",
                f"{describe_games(robin.scores.values())}, {budget_text} per decision",
            )
            bar = figure.colorbar(image, ax=axes, shrink=0.85)
            bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        yield path


def _number(axes: "Axes", place: int, row: int, score: Score) -> None:
    """The share of a field, and below it how many of its games were drawn."""
    color = INK if score.mean > LIGHT_SHADE else "white"
    draws = f"\n{100 * score.draws / score.games:.0f} % drawn" if score.draws else ""
    text = f"{100 * score.mean:.1f} %{draws}"
    axes.text(place, row, text, ha="center", va="center", fontsize=8, color=color, linespacing=1.4)


def _strengths(columns: Columns, directory: Path) -> Iterator[Path]:
    """Figs. 8 and 10: each search against all, in the first seat, in the second, and in both."""
    robins = round_robins(columns)
    paths = _files(directory, "strength", [" ".join(robin.game) for robin in robins])
    for robin, path in zip(robins, paths, strict=True):
        if not robin.complete:
            continue
        with canvas(path, (max(5.2, 1.2 + 1.05 * len(robin.searches)), 8.4)) as figure:
            all_axes = figure.subplots(3, 1, sharex=True, sharey=True)
            _, _, budget_text = robin.game
            # the first seat, the second, and both
            for axes, side in zip(all_axes, robin.sides, strict=True):
                scores = [robin.on(side, search) for search in robin.searches]
                _score_bars(axes, scores)
                title_panel(
                    axes,
                    f"{robin.title}, {side}",
                    f"{describe_games(scores)}, {budget_text} per decision",
                )
            all_axes[-1].set_xticks(
                range(len(robin.searches)), map(_in_two_lines, robin.searches), fontsize=9
            )
            if any(score.draws for score in robin.scores.values()):
                legend_below(figure, all_axes[0], 2)
        yield path


def _score_bars(axes: "Axes", scores: Sequence[Score]) -> None:
    """Games won with their intervals; on top, half of the games drawn, with the interval of wins and half of the draws together."""
    won = [win_rate(score.wins, score.games) for score in scores]
    with_halves = [win_rate(score.mean * score.games, score.games) for score in scores]
    rates, _ = with_intervals(won)
    values, errors = with_intervals(with_halves)
    places = np.arange(len(scores))
    # where games were drawn, a bar has two intervals beside each other
    any_draws = np.array([score.draws > 0 for score in scores])
    axes.bar(
        places,
        rates,
        width=BAR,
        facecolor=FILLS[1],
        edgecolor=INK,
        linewidth=0.9,
        label="games won",
    )
    style: Style = {"facecolor": "white", "edgecolor": SUBDUED, "linewidth": 0.7, "hatch": "////"}
    axes.bar(
        places, values - rates, bottom=rates, width=BAR, label="half of the games drawn", **style
    )
    places_of_rates = places - np.where(any_draws, ASIDE, 0)
    mark(axes, places_of_rates, won, fmt="none", color=INK, elinewidth=1.3)
    halves = [each for each, score in zip(with_halves, scores, strict=True) if score.draws]
    mark(axes, places[any_draws] + ASIDE, halves, fmt="none", color=SUBDUED, elinewidth=1.1)
    # the panels share their scale, which the panels before this one have set
    top = max(float(np.max(values + errors[1])), axes.get_ylim()[1] / (1 + MARGIN))
    percent(scale_of(axes), 0.0, top)
    axes.axhline(0.5, **EVEN_LINE)


# -------------------------------------------------------------------------------------- determinizations and iterations


Curve = Mapping[float, Estimate | None]  # win rates along an axis


def _won(tallies: Mapping[int, Tally]) -> Curve:
    """The games won, by place."""
    return {place: win_rate(tally.wins, tally.games) for place, tally in tallies.items()}


def _lines(axes: "Axes", lines: Mapping[str, Curve]) -> None:
    """Points with their intervals, joined by lines, by their labels; those of one place stand beside each other."""
    for i, (label, line) in enumerate(lines.items()):
        # along a logarithmic axis, equal factors are equal distances
        places = np.array([*line]) * (1 + 0.02 * (i - (len(lines) - 1) / 2))
        style = series_style(i, label)
        mark(axes, places, line.values(), elinewidth=1.1, linewidth=1.2, markersize=4.5, **style)
    estimates = [each for line in lines.values() for each in line.values() if each]
    axes.set_xscale("log")
    ticks = sorted({place for line in lines.values() for place in line})
    axes.set_xticks(ticks, [f"{place:g}" for place in ticks], fontsize=8)
    axes.minorticks_off()
    percent(
        scale_of(axes), min(each.low for each in estimates), max(each.high for each in estimates)
    )
    axes.set_ylabel("games won")


def _balances(columns: Columns, directory: Path) -> Iterator[Path]:
    """Fig. 6: a panel for each role of LOTR:C."""
    panels = []
    for column, tallies in columns.items():
        if lines := by_trees(each for each in tallies if each.cell.own_iterations is None):
            panels.append((column, lines))
    if not panels:
        return
    path = directory / "balance.png"
    with canvas(path, (4.6 * len(panels), 3.9)) as figure:
        for i, (column, lines) in enumerate(panels, 1):
            axes = figure.add_subplot(1, len(panels), i)
            axes.axhline(0.5, **EVEN_LINE)
            _lines(axes, {search: _won(by_number) for search, by_number in lines.items()})
            if len(lines) > 1:
                axes.legend(frameon=False, fontsize=8)
            axes.set_xlabel("determinizations")
            points = [tally for by_number in lines.values() for tally in by_number.values()]
            budget_text = f"{describe_games(points)}, {budget(column)} of all trees together"
            place = _fold(_place(column, columns), LETTERS)
            title_panel(axes, place, f"{budget_text},\nagainst {_split(column)}")
    yield path


def _split(column: Column) -> str:
    """The opponent's determinizations and the iterations of each; whoever has none by its strategy."""
    if column.opponent.search.name != "DeterminizedUCT":
        return column.opponent.caption
    number = column.opponent.search.trees
    return (
        f"{number} × {column.iterations // number}"
        if column.iterations
        else f"{number} determinizations"
    )


def _place(column: Column, among: Iterable[Column]) -> str:
    """A column's game and role; the game's parameters where its fellows have others, or where its usual name states them."""
    is_varied = column.game.partition("(")[0] in VARIED
    differ = len({fellow.variant for fellow in among}) > 1
    name = game_title(column.game, column.variant if is_varied or differ else "")
    return name + (f", {column.role}" if column.role else "")


def _determinizations(columns: Columns, directory: Path) -> Iterator[Path]:
    """Figs. 2-4 of 2011."""
    paths = _files(directory, "determinizations", [_place(column, columns) for column in columns])
    for (column, tallies), path in zip(columns.items(), paths, strict=True):
        if column.iterations is None:
            continue
        by_agent = {tally.cell.agent: tally for tally in tallies}
        panels = []
        for figure_2011, of_figure in zip(OF_2011, lines_of_2011(column.iterations), strict=True):
            number, axis, text = figure_2011
            if lines := _panel_lines(of_figure, by_agent, text):
                panels.append((number, axis, lines))
        if not panels:
            continue
        with canvas(path, (7.2, 11.2 * len(panels) / 3)) as figure:
            for place, (number, axis, lines) in enumerate(panels, 1):
                axes = figure.add_subplot(len(panels), 1, place)
                _lines(axes, lines)
                axes.legend(frameon=False, fontsize=8, ncols=2, loc="lower right")
                axes.set_xlabel(axis)
                counted = f"{describe_games(by_agent.values())}, against {_split(column)}"
                title_panel(axes, f"Figure {number}: {_place(column, columns)}", counted)
        yield path


def _panel_lines(
    lines: Mapping[int, Mapping[int, tuple[int, int]]], by_agent: Mapping[str, Tally], text: str
) -> dict[str, Curve]:
    """The lines of a figure that have at least two points; a single point shows no course."""
    panel = {}
    for fixed, line in lines.items():
        names = {place: f"{number} × {each}" for place, (number, each) in line.items()}
        tallies = {place: by_agent[name] for place, name in names.items() if name in by_agent}
        if len(tallies) > 1:
            panel[f"{fixed} {text}"] = _won(tallies)
    return panel


# --------------------------------------------------------------------------------------------------------- hidden cards


def _hidden_cards(columns: Columns, directory: Path) -> Iterator[Path]:
    """Fig. 5: pairs of bars."""
    groups = {name: group for name, group in by_strategy(columns).items() if hidden_cards(group)}
    paths = _files(directory, "hidden-cards", [*groups])
    for (name, group), path in zip(groups.items(), paths, strict=True):
        pairs = hidden_cards(group)
        with canvas(path, (max(5.0, 1.5 + 1.35 * len(pairs)), 4.2)) as figure:
            axes = figure.add_subplot()
            styles = (("without", "white"), ("seeing the others' cards (cheating)", FILLS[1]))
            pairs_of_bars: list[tuple[Style, list[Estimate | None]]] = [
                (
                    {"label": label, "facecolor": fill},
                    [win_rate(*pair[side]) for pair in pairs.values()],
                )
                for side, (label, fill) in enumerate(styles)
            ]
            bars(axes, pairs_of_bars, PAIR)
            axes.set_xticks(range(len(pairs)), [who.replace(", ", ",\n", 1) for who in pairs])
            axes.set_ylabel("games won by the side named")
            tallies = [tally for each in group.values() for tally in each]
            title_panel(
                axes, "Dou Di Zhu", f"{describe_games(tallies)}, {name}; player 1 is the landlord"
            )
            legend_below(figure, axes, 2)
        yield path


# -------------------------------------------------------------------------------------------------------- decision time


Pairing: TypeAlias = tuple[Entrant, str, Entrant]  # agent, role and opponent


def _decision_time(columns: Columns, directory: Path) -> Iterator[Path]:
    """Figs. 14 and 15: a line for each agent and opponent, by the seconds of a decision."""
    cells = [tally.cell for tallies in columns.values() for tally in tallies]
    strategies = {
        strategy_name(each) for cell in cells for each in (cell.spec, cell.column.opponent)
    }
    several = len(strategies) > 1
    games: dict[tuple[str, str], dict[Pairing, dict[float, Score]]] = {}
    for column, tallies in columns.items():
        if column.seconds is not None:
            lines = games.setdefault((column.game, column.variant), {})
            for tally in tallies:
                line = lines.setdefault((tally.cell.spec, column.role, column.opponent), {})
                line[column.seconds] = tally
    paths = _files(directory, "decision-time", [game for game, _ in games])
    for ((game, variant), lines), path in zip(games.items(), paths, strict=True):
        names = _line_names(lines, several)
        with canvas(path, (7.2, 4.8)) as figure:
            axes = figure.add_subplot()
            axes.axhline(0.5, **EVEN_LINE)
            _lines(axes, dict(zip(names, map(_scored, lines.values()), strict=True)))
            scores = [score for line in lines.values() for score in line.values()]
            axes.set_xlabel("seconds per decision")
            if any(score.draws for score in scores):
                axes.set_ylabel("games won, and half of those drawn")
            is_first = any(column.role == FIRST for column in columns if column.game == game)
            first = "; the search named first moves first" if is_first else ""
            title_panel(axes, game_title(game, variant), f"{describe_games(scores)}{first}")
            legend_below(figure, axes, 1 if max(map(len, names)) > LONG_LINE else 2, fontsize=9)
        yield path


def _scored(scores: Mapping[float, Score]) -> Curve:
    """The games won and half of those drawn, by place."""
    ordered = sorted(scores.items())
    return {place: win_rate(each.mean * each.games, each.games) for place, each in ordered}


def _line_names(lines: Iterable[Pairing], several: bool) -> list[str]:
    """The lines by the names of their searches, or where two have the same by their schemes."""
    names = [_line_name(line, search_name, several) for line in lines]
    if len(set(names)) < len(names):
        names = [_line_name(line, attrgetter("scheme"), several) for line in lines]
    return names


def _line_name(line: Pairing, name_search: Callable[[Entrant], str], several: bool) -> str:
    """Agent and opponent by their searches, and if there are several strategies by these too."""
    agent, role, opponent = line
    name, opponent_name = name_search(agent), name_search(opponent)
    if several:
        name += f", {strategy_name(agent)}"
        opponent_name += f", {strategy_name(opponent)}"
    return name + (f" ({role})" if role not in ("", FIRST) else "") + f" against {opponent_name}"


# -------------------- Our Figure 4 beside what the paper's text says of it, which has its win rates as pictures only


# of the two panels of a game, in inches
WIDTHS = (7.4, 5.4)
HEIGHT = 3.4
STATED = "#cfe0ee"  # where the paper's text has a difference
EXPLAINED = (
    "Left: dashed, the 95 % interval of evenly matched players. Right: our differences in games won, with 95 % intervals; shaded, where "
    "the paper's text puts them.\nBlue: our interval lies there. Red: it contradicts. Verdicts are at stricter levels; see the report."
)


def stated_differences(place: Place) -> list[Contrast]:
    """The differences in games won that the paper states without reserve of a game, each once, with the narrowest range for it."""
    narrowest: dict[tuple[ComparedSide, ...], Contrast] = {}
    for claim in CLAIMS:
        if claim.needed < len(claim.cases):
            continue
        for comparison in claim.comparisons:
            if comparison.measure == WINS and {term.place for term in comparison.terms} == {place}:
                before = narrowest.get(comparison.terms, comparison)
                narrowest[comparison.terms] = min(before, comparison, key=_breadth)
    return list(narrowest.values())


def _breadth(comparison: Contrast) -> tuple[float, float]:
    """The width of a comparison's range; then, for those without end to one side, how far they reach beyond 0 to the other."""
    ((low, high),) = comparison.expected.agree
    return high - low, min(-low, high)


def _statements(columns: Columns, directory: Path) -> Iterator[Path]:
    """A row for each game of which all combinations have come to their first interim analysis, against the paper's opponent."""
    complete = {}
    for column, tallies in columns.items():
        if column.opponent.text != TABLE_1["-"] or column.variant:
            continue
        played = [tally for tally in tallies if tally.games >= max(1, tally.due)]
        if of_table_1 := named(played, TABLE_1):
            complete[column] = list(of_table_1.values())
    if not complete:
        return
    path = directory / "statements.png"
    with canvas(path, (sum(WIDTHS), HEIGHT * len(complete) + 0.4)) as figure:
        panels = figure.subplots(len(complete), 2, squeeze=False, width_ratios=WIDTHS)
        for (left, right), (column, tallies) in zip(panels, complete.items(), strict=True):
            points_panel(left, tallies, title(column, columns))
            comparisons = stated_differences(place_of(tallies[0].cell))
            _stated_panel(right, Estimator(columns[column]), comparisons)
        figure.supxlabel(EXPLAINED, fontsize=8, color=SUBDUED)
    yield path


def _stated_panel(axes: "Axes", estimator: Estimator, comparisons: Sequence[Contrast]) -> None:
    """A line for each statement: the range that the paper's words leave, and our difference with its interval."""
    estimates = [(each, estimator.estimate(each, CONFIDENCE)) for each in comparisons]
    lines = [(each, estimate) for each, estimate in estimates if estimate is not None]
    ends = [end for _, estimate in lines for end in (estimate.low, estimate.high)]
    least, most = min(-0.1, *ends) - 0.02, max(0.1, *ends) + 0.02
    for y, (comparison, estimate) in enumerate(lines):
        for low, high in comparison.expected.agree:
            axes.barh(
                y,
                min(high, most) - max(low, least),
                left=max(low, least),
                height=0.8,
                color=STATED,
                linewidth=0,
            )
        _mark_point(axes, y, estimate, _color(comparison, estimate), across=True)
    axes.axvline(0, color=INK, linewidth=1)
    _name_down(axes, [comparison.what for comparison, _ in lines])
    axes.set_xlim(least, most)
    axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+g} %" if value else "0")
    axes.grid(visible=False)
    axes.set_title(
        "what the paper's text says, and what we find", loc="left", fontsize=9, color=SUBDUED
    )


def _color(comparison: Contrast, estimate: Estimate) -> str:
    if comparison.expected.agrees(estimate):
        return BETTER
    return WORSE if comparison.expected.contradicted(estimate) else INK


DRAW: dict[str, Callable[[Columns, Path], Iterable[Path]]] = {
    "figure3": _averages,
    "figure5": partial(_bars, "figure5"),
    "reuse": partial(_bars, "reuse"),
    "tree": _trees,
    **{picture: partial(_points, picture) for picture in POINTS},
    "heat-map": _heat_maps,
    "strength": _strengths,
    "balance": _balances,
    "determinizations": _determinizations,
    "hidden-cards": _hidden_cards,
    "decision-time": _decision_time,
    "statements": _statements,
}
