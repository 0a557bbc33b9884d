"""Pictures of the two earlier papers: 2012, Figs. 6-10, 14 and 15; 2011, Figs. 2-5."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import numpy as np

from experiments.analysis.ratings import Score, by_trees, hidden_cards, round_robins, search_name
from experiments.papers.earlier import FIRST, lines_of_2011
from experiments.plan.definition import Column, budget, game_title, slug
from experiments.report.drawing import (
    FILLS,
    LINES,
    MARGIN,
    MARKERS,
    Style,
    bars,
    describe_games,
    legend_below,
    percent,
    title_panel,
    with_errors,
)
from experiments.store.results import Columns, Tally
from icarus.views.canvas import INK, SUBDUED, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ASIDE = 0.12  # of the two intervals of a bar, from its middle
BAR = 0.66  # width, of the room for a bar
LIGHT_SHADE = 0.5  # numbers are dark on lighter fields
EVEN: Style = {"color": SUBDUED, "linestyle": (0, (5, 3)), "linewidth": 1.0}
OF_2011 = (  # figures: number, what is along the axis, and what differs between lines
    (2, "determinizations", "iterations of each"),
    (3, "iterations of each determinization", "determinizations"),
    (4, "determinizations", "iterations of all"),
)


def _in_two_lines(name: str) -> str:
    """A search's name under a bar."""
    return name.replace(" UCT", "\nUCT").replace(" + ", "\n+ ")


def _file(picture: str, name: str, among: Sized) -> str:
    """The file of a picture, named after what it shows where there are several."""
    return f"{picture}.png" if len(among) == 1 else f"{picture}-{slug(name)}.png"


def _games_each(scores: Iterable[Score]) -> str:
    """How many games stand behind each mark, in words."""
    numbers = [score.games for score in scores]
    few, many = min(numbers), max(numbers)
    return f"{few if few == many else f'{few} to {many}'} games each"


# ------------------------------------------------------------------------------------------------------- round robins


def _heat_maps(columns: Columns, directory: Path) -> list[Path]:
    """Figs. 7 and 9: the share of the first seat in the games of each pair."""
    robins, paths = round_robins(columns), []
    for robin in robins:
        names = robin.searches
        shares = np.full((len(names), len(names)), np.nan)
        for (first, second), score in robin.scores.items():
            shares[names.index(first), names.index(second)] = score.mean
        paths.append(directory / _file("heat-map", " ".join(robin.game), robins))
        with canvas(paths[-1], (3.0 + 0.95 * len(names), 1.9 + 0.62 * len(names))) as figure:
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
                f"{_games_each(robin.scores.values())}, {robin.game[2]} per decision",
            )
            bar = figure.colorbar(image, ax=axes, shrink=0.85)
            bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    return paths


def _number(axes: "Axes", place: int, row: int, score: Score) -> None:
    """The share of a field, and below it how many of its games were drawn."""
    color = INK if score.mean > LIGHT_SHADE else "white"
    draws = f"\n{100 * score.draws / score.games:.0f} % drawn" if score.draws else ""
    text = f"{100 * score.mean:.1f} %{draws}"
    axes.text(place, row, text, ha="center", va="center", fontsize=8, color=color, linespacing=1.4)


def _strengths(columns: Columns, directory: Path) -> list[Path]:
    """Figs. 8 and 10: each search against all, in the first seat, in the second, and in both."""
    robins = round_robins(columns)
    paths = []
    for robin in (robin for robin in robins if robin.complete):
        paths.append(directory / _file("strength", " ".join(robin.game), robins))
        with canvas(paths[-1], (max(5.2, 1.2 + 1.05 * len(robin.searches)), 8.4)) as figure:
            all_axes = figure.subplots(3, 1, sharex=True, sharey=True)
            for axes, side in zip(all_axes, robin.sides, strict=True):
                scores = [robin.on(side, search) for search in robin.searches]
                _bars(axes, scores)
                title_panel(axes, f"{robin.title}, {side}", f"{_games_each(scores)}, {robin.game[2]} per decision")
            all_axes[-1].set_xticks(range(len(robin.searches)), map(_in_two_lines, robin.searches), fontsize=9)
            if any(score.draws for score in robin.scores.values()):
                legend_below(figure, all_axes[0], 2)
    return paths


def _bars(axes: "Axes", scores: Sequence[Score]) -> None:
    """Games won with their intervals; on top, half of the games drawn, with the interval of wins and half of the draws together."""
    rates, errors = with_errors([(score.wins, score.games) for score in scores])
    halves = np.array([score.mean for score in scores]) - rates
    places, values, any_draws = np.arange(len(scores)), rates + halves, halves > 0
    axes.bar(places, rates, width=BAR, facecolor=FILLS[1], edgecolor=INK, linewidth=0.9, label="games won")
    style: Style = {"facecolor": "white", "edgecolor": SUBDUED, "linewidth": 0.7, "hatch": "////"}
    axes.bar(places, halves, bottom=rates, width=BAR, label="half of the games drawn", **style)
    mark: Style = {"fmt": "none", "capsize": 3}
    axes.errorbar(places - np.where(any_draws, ASIDE, 0), rates, yerr=errors, color=INK, elinewidth=1.3, **mark)
    _, half_widths = with_errors([(score.mean * score.games, score.games) for score in scores])
    x, y, error = (places + ASIDE)[any_draws], values[any_draws], half_widths[:, any_draws]
    axes.errorbar(x, y, yerr=error, color=SUBDUED, elinewidth=1.1, **mark)
    percent(axes, 0.0, max(float(np.max(values + half_widths[1])), axes.get_ylim()[1] / (1 + MARGIN)))
    axes.axhline(0.5, **EVEN)


# -------------------------------------------------------------------------------------- determinizations and iterations


@attrs.frozen
class Line:
    """Win rates along an axis, each as the games won, with half of those drawn where draws count, and all games."""

    label: str
    places: Sequence[float]
    counts: Sequence[tuple[float, int]]


def _won(label: str, tallies: Mapping[int, Tally]) -> Line:
    """The games won, by place."""
    return Line(label, list(tallies), [(tally.wins, tally.games) for tally in tallies.values()])


def _lines(axes: "Axes", lines: Sequence[Line]) -> None:
    """Points with their intervals, joined by lines; those of one place stand beside each other."""
    low, high = 1.0, 0.0
    for i, line in enumerate(lines):
        rates, errors = with_errors(line.counts)
        places = np.array(line.places) * (1 + 0.02 * (i - (len(lines) - 1) / 2))
        style: Style = {"color": LINES[i % len(LINES)], "marker": MARKERS[i % len(MARKERS)], "label": line.label}
        axes.errorbar(places, rates, yerr=errors, capsize=3, elinewidth=1.1, linewidth=1.2, markersize=4.5, **style)
        low, high = min(low, float((rates - errors[0]).min())), max(high, float((rates + errors[1]).max()))
    axes.set_xscale("log")
    ticks = sorted({place for line in lines for place in line.places})
    axes.set_xticks(ticks, [f"{place:g}" for place in ticks], fontsize=8)
    axes.minorticks_off()
    percent(axes, low, high)
    axes.set_ylabel("games won")


def _balances(columns: Columns, directory: Path) -> list[Path]:
    """Fig. 6: a panel for each role of LOTR:C."""
    by_column = {column: by_number for column, tallies in columns.items() if (by_number := by_trees(tallies))}
    if not by_column:
        return []
    path = directory / "balance.png"
    with canvas(path, (4.6 * len(by_column), 3.9)) as figure:
        for i, (column, by_number) in enumerate(by_column.items(), 1):
            axes = figure.add_subplot(1, len(by_column), i)
            axes.axhline(0.5, **EVEN)
            _lines(axes, [_won("", by_number)])
            axes.set_xlabel("determinizations")
            budget_text = f"{describe_games(list(by_number.values()))}, {budget(column)} of all trees together"
            title_panel(axes, _place(column), f"{budget_text},\nagainst {_split(column)}")
            axes.set_title(axes.get_title(loc="left"), loc="left", fontweight="bold", pad=30)
    return [path]


def _split(column: Column) -> str:
    """The opponent's determinizations and the iterations of each."""
    number = column.opponent.scheme.trees
    return f"{number} × {column.iterations // number}" if column.iterations else f"{number} determinizations"


def _place(column: Column) -> str:
    return game_title(column.game) + (f", {column.role}" if column.role else "")


def _determinizations(columns: Columns, directory: Path) -> list[Path]:
    """Figs. 2-4 of 2011."""
    paths = []
    for column, tallies in columns.items():
        by_agent = {tally.cell.agent: tally for tally in tallies}
        if column.iterations is None:
            continue
        panels = [
            (number, axis, lines)
            for (number, axis, text), of_figure in zip(OF_2011, lines_of_2011(column.iterations), strict=True)
            if (lines := _panel_lines(of_figure, by_agent, text))
        ]
        if not panels:
            continue
        paths.append(directory / _file("determinizations", _place(column), columns))
        with canvas(paths[-1], (7.2, 11.2 * len(panels) / 3)) as figure:
            for place, (number, axis, lines) in enumerate(panels, 1):
                axes = figure.add_subplot(len(panels), 1, place)
                _lines(axes, lines)
                axes.legend(frameon=False, fontsize=8, ncols=2, loc="lower right")
                axes.set_xlabel(axis)
                counted = f"{describe_games(list(by_agent.values()))}, against {_split(column)}"
                title_panel(axes, f"Figure {number}: {_place(column)}", counted)
    return paths


def _panel_lines(
    lines: Mapping[int, Mapping[int, tuple[int, int]]], by_agent: Mapping[str, Tally], text: str
) -> list[Line]:
    """The lines of a figure that have at least two points; a single point shows no course."""
    panel = []
    for fixed, line in lines.items():
        names = {place: f"{number} × {each}" for place, (number, each) in line.items()}
        tallies = {place: by_agent[name] for place, name in names.items() if name in by_agent}
        if len(tallies) > 1:
            panel.append(_won(f"{fixed} {text}", tallies))
    return panel


# --------------------------------------------------------------------------------------------------------- hidden cards


def _hidden_cards(columns: Columns, directory: Path) -> list[Path]:
    """Fig. 5: pairs of bars."""
    pairs = hidden_cards(columns)
    if not pairs:
        return []
    path = directory / "hidden-cards.png"
    with canvas(path, (max(5.0, 1.5 + 1.35 * len(pairs)), 4.2)) as figure:
        axes, top = figure.add_subplot(), 0.0
        for side, (label, fill) in enumerate((("without", "white"), ("seeing the others' cards (cheating)", FILLS[1]))):
            rates, errors = with_errors([pair[side] for pair in pairs.values()])
            places = np.arange(len(pairs)) + (side - 0.5) * 0.38
            bars(axes, places, rates, errors, width=0.38, facecolor=fill, label=label)
            top = max(top, float((rates + errors[1]).max()))
        axes.set_xticks(range(len(pairs)), [who.replace(", ", ",\n", 1) for who in pairs])
        percent(axes, 0.0, top)
        axes.set_ylabel("games won by the side named")
        tallies = [tally for each in columns.values() for tally in each if tally.games]
        title_panel(
            axes, "Dou Di Zhu", f"{describe_games(tallies)}, {budget(next(iter(columns)))}; player 1 is the landlord"
        )
        legend_below(figure, axes, 2)
    return [path]


# -------------------------------------------------------------------------------------------------------- decision time


def _decision_time(columns: Columns, directory: Path) -> list[Path]:
    """Figs. 14 and 15: a line for each agent and opponent, by the seconds of a decision."""
    games: dict[str, dict[str, dict[float, Score]]] = {}
    for column, tallies in columns.items():
        if column.seconds is not None:
            lines = games.setdefault(column.game, {})
            for tally in tallies:
                line = lines.setdefault(_line_name(tally, column), {})
                line[column.seconds] = Score(tally.wins, tally.draws, tally.games)
    paths = []
    for game, lines in games.items():
        paths.append(directory / _file("decision-time", game, games))
        with canvas(paths[-1], (7.2, 4.8)) as figure:
            axes = figure.add_subplot()
            axes.axhline(0.5, **EVEN)
            _lines(axes, [_score(label, line) for label, line in lines.items()])
            scores = [score for line in lines.values() for score in line.values()]
            axes.set_xlabel("seconds per decision")
            if any(score.draws for score in scores):
                axes.set_ylabel("games won, and half of those drawn")
            is_first = any(column.role == FIRST for column in columns if column.game == game)
            first = "; the search named first moves first" if is_first else ""
            title_panel(axes, game_title(game), f"{_games_each(scores)}{first}")
            legend_below(figure, axes, 2, fontsize=9)
    return paths


def _score(label: str, scores: Mapping[float, Score]) -> Line:
    places = sorted(scores)
    return Line(label, places, [(scores[place].mean * scores[place].games, scores[place].games) for place in places])


def _line_name(tally: Tally, column: Column) -> str:
    agent, opponent = search_name(tally.cell.spec.scheme), search_name(column.opponent.scheme)
    return agent + (f" ({column.role})" if column.role not in ("", FIRST) else "") + f" against {opponent}"


DRAW: dict[str, Callable[[Columns, Path], list[Path]]] = {
    "heat-map": _heat_maps,
    "strength": _strengths,
    "balance": _balances,
    "determinizations": _determinizations,
    "hidden-cards": _hidden_cards,
    "decision-time": _decision_time,
}
