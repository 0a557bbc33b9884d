"""Pictures of the results, as PNG and SVG: the paper's Figures 3, 4 and 5, the rules of reuse, and the trees."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import numpy as np

from experiments.analysis.statistics import marginals, strengths, student
from experiments.papers.combinations import BY_NAME, ENHANCEMENTS
from experiments.plan.definition import PICTURES, Column, Experiment, budget, slug, title
from experiments.report import search_figures, statement_figures
from experiments.report.drawing import (
    FILLS,
    HATCHES,
    LINES,
    MANY,
    MARKERS,
    Style,
    bars,
    describe_games,
    legend_below,
    measure_title,
    percent,
    points_panel,
    unfinished,
    with_errors,
    with_intervals,
)
from experiments.store.results import Columns, Moments, Tally, any_graded, baseline
from icarus.views.canvas import INK, SUBDUED, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = "Bars: 95 % intervals."
EVEN = "Dashed: the 95 % interval of evenly matched players; blue is above it, red below."
ACROSS = 2  # panels side by side in the picture of all games
LETTERS = 26  # of a line above a panel of Figure 3
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
        pictures: which; see `pictures.PICTURES`.

    Returns:
        The PNG files; beside each lies an SVG of the same name.
    """
    nonempty = {
        column: played for column, tallies in columns.items() if (played := [tally for tally in tallies if tally.games])
    }
    return [path for picture in pictures for path in DRAW[picture](_shown_in(picture, nonempty), directory)]


def fitting(experiment: Experiment) -> list[str]:
    """The pictures that suit an experiment: its own, and those whose agents are all among its own."""
    strategies = {cell.spec.text for cell in experiment.cells}
    complete = [name for name, each in PICTURES.items() if each.agents and set(each.agents.values()) <= strategies]
    return list(dict.fromkeys([*experiment.pictures, *complete]))


def caption(path: Path, experiment: Experiment) -> str:
    """What a picture shows; its file is named after it, and after a column where there are several.

    An experiment without the agents of a figure of the paper has no such figure, whatever its file is called.
    """
    picture = PICTURES[next(name for name in PICTURES if path.stem == name or path.stem.startswith(f"{name}-"))]
    strategies = {cell.spec.text for cell in experiment.cells}
    return (picture if set(picture.agents.values()) <= strategies else PICTURES["agents"]).caption


def _shown_in(picture: str, columns: Columns) -> Columns:
    """The agents of a picture under the names they have in it; all agents, if its own are not all there."""
    agents = PICTURES[picture].agents
    return {column: _agents_of(tallies, agents) for column, tallies in columns.items()} if agents else columns


def _agents_of(tallies: list[Tally], agents: Mapping[str, str]) -> list[Tally]:
    """The agents with these strategies under their names here; all agents, if these are not all there."""
    by_strategy = {tally.cell.spec.text: tally for tally in tallies}
    if not by_strategy.keys() >= set(agents.values()):
        return tallies
    pairs = ((by_strategy[strategy], name) for name, strategy in agents.items())
    return [attrs.evolve(tally, cell=attrs.evolve(tally.cell, agent=name)) for tally, name in pairs]


def by_column(columns: Columns) -> dict[Column, set[str]]:
    """The names of the files that show one column each, where there are several."""
    if len(columns) < 2:
        return {}
    return {column: {f"{picture}-{slug(title(column, columns))}" for picture in POINTS} for column in columns}


# ------------------------------------------------------------------------------------- Figure 4, and agents of any kind


def _points(picture: str, columns: Columns, directory: Path) -> list[Path]:
    """Win rates, or mean rewards, as points: a picture for each column, and one of all."""
    paths = []
    for column, tallies in columns.items():
        name = title(column, columns)
        paths.append(directory / f"{picture}-{slug(name)}.png")
        count = len(tallies)
        size = (8.0, 1.2 + 0.19 * count) if count > MANY else (max(5.5, 1.4 + 0.47 * count), 4.1)
        with canvas(paths[-1], size) as figure:
            points_panel(figure.add_subplot(), tallies, name)
            figure.supxlabel(_caption(columns), fontsize=8, color=SUBDUED)
    if len(columns) > 1:
        paths.insert(0, directory / f"{picture}.png")
        _grid(paths[0], columns, points_panel)
    return paths


def _grid(path: Path, columns: Columns, panel: "Callable[[Axes, list[Tally], str], None]") -> None:
    """All columns as panels of one figure."""
    down = -(-len(columns) // ACROSS)
    widest = max(len(tallies) for tallies in columns.values())
    size = (6.5, 0.8 + 0.19 * widest) if widest > MANY else (max(5.0, 1.0 + 0.32 * widest), 3.2)
    with canvas(path, (ACROSS * size[0], down * size[1] + 0.3)) as figure:
        figure.supxlabel(_caption(columns), fontsize=8, color=SUBDUED)
        for i, (column, tallies) in enumerate(columns.items(), 1):
            panel(figure.add_subplot(down, ACROSS, i), tallies, title(column, columns))


def _caption(columns: Columns) -> str:
    """What the marks mean, of those that are there."""
    return f"{BARS} {EVEN}" if any(baseline(tallies) for tallies in columns.values()) else BARS


# ----------------------------------------------------------------------------------------------------------- Figure 3


def _averages(columns: Columns, directory: Path) -> list[Path]:
    full = {
        column: tallies
        for column, tallies in columns.items()
        if {tally.cell.agent for tally in tallies} == set(BY_NAME) and not any_graded(tallies)
    }
    if not full:
        return []
    path = directory / "figure3.png"
    across = min(4, len(full))
    down = -(-len(full) // across)
    with canvas(path, (max(4.2, 3.3 * across), 3.2 * down + 0.4)) as figure:
        for i, (column, tallies) in enumerate(full.items(), 1):
            axes = figure.add_subplot(down, across, i)
            _pairs(axes, tallies)
            axes.set_title(textwrap.fill(title(column, columns), LETTERS), loc="left", fontweight="bold")
            axes.set_xlabel(unfinished(tallies), fontsize=8, color=SUBDUED)
        legend_below(figure, axes, 2)
    return [path]


def _pairs(axes: "Axes", tallies: list[Tally]) -> None:
    """For each enhancement the average without it (hatched) and with it (solid)."""
    pairs = marginals({tally.cell.agent: (tally.wins, tally.games) for tally in tallies})
    half, top = 0.19, 0.0
    styles = (
        {"facecolor": "white", "hatch": "////", "label": "without"},
        {"facecolor": FILLS[1], "label": "with the enhancement"},
    )
    for side, style in enumerate(styles):
        rates, errors = with_errors([pairs[enhancement][side] for enhancement in ENHANCEMENTS])
        places = np.arange(len(ENHANCEMENTS)) + (half if side else -half)
        bars(axes, places, rates, errors, width=2 * half, **style)
        top = max(top, float((rates + errors[1]).max()))
    axes.set_xticks(range(len(ENHANCEMENTS)), ENHANCEMENTS)
    percent(axes, 0.0, top)
    axes.set_ylabel("games won")


# ------------------------------------------------------------------------------------------- Figure 5, rules of reuse


def _bars(name: str, columns: Columns, directory: Path) -> list[Path]:
    """Win rates, or mean rewards, the agents side by side in each game."""
    if not columns:
        return []
    path, agents = directory / f"{name}.png", _agents(columns)
    estimates = [
        {tally.cell.agent: estimate for tally, estimate in zip(tallies, strengths(tallies), strict=True)}
        for tallies in columns.values()
    ]
    width, top, inches = 0.8 / len(agents), 0.0, 0.6 + 0.2 * len(agents)
    with canvas(path, (max(4.8, 1.3 * len(agents), 1.6 + inches * len(columns)), 3.9)) as figure:
        axes = figure.add_subplot()
        for i, agent in enumerate(agents):
            rates, errors = with_intervals([of_column.get(agent) for of_column in estimates])
            places = np.arange(len(columns)) + (i - (len(agents) - 1) / 2) * width
            hatch = HATCHES[i // len(FILLS) % len(HATCHES)]
            bars(axes, places, rates, errors, width=width, label=agent, facecolor=FILLS[i % len(FILLS)], hatch=hatch)
            top = max(top, float(np.nanmax(rates + errors[1], initial=0.0)))
        axes.set_xticks(range(len(columns)), _labels(columns, inches))
        percent(axes, 0.0, top)
        axes.set_ylabel(measure_title(columns.values()))
        if all(map(any_graded, columns.values())):
            axes.yaxis.set_major_formatter("{x:g}")
        _add_note(axes, columns)
        legend_below(figure, axes, len(agents))
    return [path]


def _agents(columns: Columns) -> list[str]:
    return list(dict.fromkeys(tally.cell.agent for tallies in columns.values() for tally in tallies))


def _labels(columns: Columns, inches: float) -> list[str]:
    """The titles of columns in lines no wider than a column, with the share of the first interim analysis, where that is not complete."""
    lines = [title(column, columns).replace(" (", "\n(").splitlines() for column in columns]
    letters = int(inches / LETTER)
    names = ["\n".join(_fold(line, letters) for line in lines_of_column) for lines_of_column in lines]
    notes = [unfinished(tallies).replace(" of ", "\nof ") for tallies in columns.values()]
    return [f"{name}\n{note}" if note else name for name, note in zip(names, notes, strict=True)]


def _fold(line: str, letters: int) -> str:
    """A line in lines of so many letters; a parameter and its value stay together, if they are wider too."""
    together = line.replace(" = ", "\u00a0=\u00a0")
    return textwrap.fill(together, letters, break_long_words=together == line).replace("\u00a0", " ")


def _add_note(axes: "Axes", columns: Columns) -> None:
    """The games of all columns, and their budget, where they have one: otherwise the titles of the columns name it."""
    all_tallies = [tally for tallies in columns.values() for tally in tallies]
    budgets = {budget(column) for column in columns}
    note = ", ".join([describe_games(all_tallies), *(budgets if len(budgets) == 1 else ())])
    axes.set_title(note, loc="right", fontsize=8, color=SUBDUED)


# -------------------------------------------------------------------------------------------------------------- trees


def _trees(columns: Columns, directory: Path) -> list[Path]:
    """Section 8's analysis of the trees, as differences from the baseline: visits and value of the chosen action, depth."""
    compared = {column: tallies for column, tallies in columns.items() if baseline(tallies)}
    if not compared:
        return []
    path, inches = directory / "tree.png", 1.1
    agents = _agents(
        {column: [tally for tally in tallies if not tally.cell.is_opponent] for column, tallies in compared.items()}
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
    return [path]


def _differences(axes: "Axes", columns: Columns, agents: Sequence[str], measure: str, relative: bool) -> None:
    axes.axhline(0, color=INK, linewidth=1)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:+g} %" if relative else f"{value:+g}")
    for i, agent in enumerate(agents):
        places, values, errors = [], [], []
        for place, tallies in enumerate(columns.values()):
            even, tally = baseline(tallies), next((tally for tally in tallies if tally.cell.agent == agent), None)
            if tally and even and (change := _difference(tally.moments[measure], even.moments[measure], relative)):
                places.append(place + (i - (len(agents) - 1) / 2) * 0.8 / len(agents))
                values.append(change[0])
                errors.append(change[1])
        style: Style = {
            "fmt": MARKERS[i % len(MARKERS)],
            "color": LINES[i % len(LINES)],
            "linestyle": "none",
            "label": agent,
        }
        axes.errorbar(places, values, yerr=errors, capsize=3, elinewidth=1.2, markersize=5, **style)
    for edge in range(1, len(columns)):
        axes.axvline(edge - 0.5, color="#e4e4e4", linewidth=0.7)
    axes.set_xlim(-0.5, len(columns) - 0.5)


def _difference(tally: Moments, even: Moments, relative: bool) -> tuple[float, float] | None:
    """A difference of means, or of the mean from the other in parts of it, and how far its 95 % interval reaches."""
    if tally.mean is None or even.mean is None or tally.error is None or even.error is None:
        return None
    if relative and even.mean == 0:
        return None
    ratio = tally.mean / even.mean if relative else 1.0
    error = float(np.hypot(tally.error, ratio * even.error)) / (even.mean if relative else 1.0)
    half = student(0.0, error, min(tally.count, even.count)).half
    return (tally.mean / even.mean - 1 if relative else tally.mean - even.mean), half


DRAW: dict[str, Callable[[Columns, Path], list[Path]]] = {
    "figure3": _averages,
    "figure5": partial(_bars, "figure5"),
    "reuse": partial(_bars, "reuse"),
    "tree": _trees,
    **{picture: partial(_points, picture) for picture in POINTS},
    **search_figures.DRAW,
    **statement_figures.DRAW,
}
