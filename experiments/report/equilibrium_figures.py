"""Pictures of what is measured about equilibria: the figures of Lanctot, Lisý and Bowling (2015), and the sixteen combinations."""

import csv
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.analysis.enhancement_effects import complete_cells, effect, measured_cells
from experiments.analysis.exploitability import mean_and_error
from experiments.analysis.head_to_head import mean_reward, pairs
from experiments.papers.combinations import COMBINATIONS, ENHANCEMENTS
from experiments.plan.equilibrium import (
    DELTAS,
    DICE,
    EXP3,
    GAMES,
    IST,
    NEAR,
    OOS_AAMAS,
    PST,
    RM,
    ROOT,
    TARGETS,
    UCT,
    agent,
    oos,
)
from experiments.report.drawing import LINES, MARKERS, Style
from experiments.store.measurements import EXPLOITABILITY, HEAD_TO_HEAD, Measurement
from icarus import games
from icarus.equilibrium.measures import AGGREGATE, AGGREGATE_AAMAS
from icarus.views.canvas import SUBDUED, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

PRINTED = Path(__file__).parent.parent / "papers" / "aamas2015-figure3.csv"  # the points of AAMAS 2015, Figure 3
NAMES = {
    IST: "OOS, IST",
    PST: "OOS, PST",
    OOS_AAMAS: "OOS, IST, δ = 0.5",
    UCT: "ISMCTS, UCB1",
    RM: "ISMCTS, regret matching",
    EXP3: "ISMCTS, EXP3",
}
IN_PRINT = {IST: "OOS", OOS_AAMAS: "OOS", UCT: "UCT", RM: "RM"}
TITLES = dict(zip(GAMES, ("Liar's Dice(1, 1)", "II-Goofspiel(6), cards 0…5", "Generic poker(3, 3, 2, 2)"), strict=True))
GAMES_IN_PRINT = dict(zip(GAMES, ("LD_6_1_1", "IIGS_1_6", "GP_2_2_3_3"), strict=True))
DASHED: Style = {"linestyle": (0, (4, 2)), "linewidth": 1.1, "alpha": 0.75}
Points = list[tuple[float, float, float]]  # x, y, half of the bar


def draw(directory: Path, into: Path) -> list[Path]:
    """All pictures that the rows of a directory suffice for; returns their files."""
    rows = list(EXPLOITABILITY.read(directory).values())
    blocks = list(HEAD_TO_HEAD.read(directory).values())
    paths = [_curves(rows, ROOT, into / "root.png"), _curves(rows, AGGREGATE_AAMAS, into / "aggregate.png")]
    paths += [_deltas(rows, blocks, into / "figure-2.png"), _sixteen(rows, into / "sixteen.png")]
    paths.append(_effects(rows, into / "effects.png"))
    return [path for path in paths if path is not None]


def points(
    rows: Iterable[Measurement], x_of: Callable[[Measurement], float | None], y_of: Callable[[Measurement], float]
) -> Points:
    """A point for each budget: the mean over seeds, at the mean of x."""
    points: dict[int, list[tuple[float, float]]] = {}
    for row in rows:
        if (x := x_of(row)) is not None:
            points.setdefault(row["iterations"], []).append((x, y_of(row)))
    return [
        (statistics.fmean(x for x, _ in pairs), *mean_and_error([y for _, y in pairs]))
        for _, pairs in sorted(points.items())
    ]


def seconds_of(row: Measurement) -> float | None:
    """Processor seconds of a search of a measurement, all included."""
    return row["processor_seconds"] / row["searches"] if row.get("searches") else None


def method_of(row: Measurement) -> str:
    """The method of a measurement, without its matches and what it takes for granted."""
    return row["method"].split(" of ")[0].split(",")[0]


def half(row: Measurement) -> float:
    """NashConv/2, the unit of AAMAS 2015."""
    return row["nash_conv"] / 2


def printed_curve(game: str, kind: str, name: str) -> list[tuple[float, float]]:
    """(seconds, NashConv/2) of a curve of AAMAS 2015, Figure 3."""
    with PRINTED.open() as file:
        return [
            (float(row["seconds"]), float(row["exploitability"]))
            for row in csv.DictReader(file)
            if (row["game"], row["kind"], row["algorithm"]) == (game, kind, name)
        ]


def _curves(rows: Sequence[Measurement], method: str, path: Path) -> Path | None:
    """Figure 3 of AAMAS: above by iterations, below by seconds with the printed curves beside; a column for each game."""
    measured = [row for row in rows if method_of(row) == method and row["method"].endswith("elsewhere")]
    names = {game: str(games.load(game)) for game in GAMES}
    names_of_games = [game for game in GAMES if any(row["game"] == names[game] for row in measured)]
    if not names_of_games:
        return None
    from matplotlib.ticker import LogLocator

    kind = "convergence" if method == ROOT else "agg_convergence"
    with canvas(path, (1.0 + 3.85 * len(names_of_games), 7.4)) as figure:
        for column, game in enumerate(names_of_games):
            of_game = [row for row in measured if row["game"] == names[game]]
            above, below = (
                figure.add_subplot(2, len(names_of_games), column + 1 + k * len(names_of_games)) for k in range(2)
            )
            above.set_title(TITLES[game], loc="left", fontweight="bold")
            for k, (player, name) in enumerate(NAMES.items()):
                of_player = [row for row in of_game if row["player"] == player]
                _line(above, points(of_player, lambda row: row["iterations"], half), k, name)
                _line(below, points(of_player, seconds_of, half), k, name)
                if of_player and player in IN_PRINT:
                    published = printed_curve(GAMES_IN_PRINT[game], kind, IN_PRINT[player])
                    below.plot(*zip(*published, strict=True), color=LINES[k], **DASHED)
            labels = "iterations of a search", "seconds of a search; dashed: as printed in 2015"
            for axes, label in zip((above, below), labels, strict=True):
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.xaxis.set_minor_formatter(lambda value, _: "")
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
                axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}")
                axes.yaxis.set_minor_locator(LogLocator(subs=(2, 3, 5)))
                axes.set_xlabel(label)
                axes.grid(axis="both")
            if column == 0:
                above.set_ylabel("NashConv / 2")
                below.set_ylabel("NashConv / 2")
                handles = above.get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=min(5, 2 * len(names_of_games)), frameon=False)
    return path


def _line(axes: "Axes", curve: Points, k: int, name: str) -> None:
    if curve:
        x, y, error = zip(*curve, strict=True)
        style: Style = {"color": LINES[k], "marker": MARKERS[k % len(MARKERS)], "label": name}
        axes.errorbar(x, y, error, markersize=4, linewidth=1.4, **style)


def _by_deltas(target: str) -> list[str]:
    """The players of `DELTAS`, as rows name them."""
    return [str(agent(oos(target, delta), 1).strategy) for delta in DELTAS]


def _deltas(rows: Sequence[Measurement], blocks: Sequence[Measurement], path: Path) -> Path | None:
    """Figure 2 of AAAI: by δ the share against ISMCTS and against an equilibrium, and NashConv by the aggregate method."""
    by = {(row["game"], row["player"], row["iterations"]): row for row in rows if method_of(row) == AGGREGATE}
    shares = {pair[:4]: rewards for pair, rewards in pairs(blocks).items() if pair[4] == 1}
    if len({player for _, player, _ in by} | {player for _, player, _, _ in shares}) <= len(DELTAS):
        return None  # not enough values of δ to compare
    with canvas(path, (11.0, 7.6)) as figure:
        for number, (title, against) in enumerate((("against ISMCTS", UCT), ("against a 0.001-equilibrium", NEAR))):
            axes = figure.add_subplot(2, 2, number + 1)
            axes.set_title(f"Liar's Dice(1, 1), {title}", loc="left", fontweight="bold")
            for k, (target, budget) in enumerate(_both(iterations for *_, iterations in shares)):
                curve = []
                for i, player in enumerate(_by_deltas(target)):
                    if rewards := shares.get((DICE, player, against, budget)):
                        share = mean_reward(rewards[0] + rewards[1])
                        curve.append((i, 100 * share.value, 100 * (share.value - share.low), 100 * share.half))
                _beside(axes, curve, k, f"{_short(target)}, {budget:,} iterations")
            axes.axhline(50, color=SUBDUED, linewidth=1, linestyle=(0, (5, 3)))
            axes.set_ylabel("share of the points, %; 95 % intervals")
            _by_delta(axes)
        for number, (game, title) in enumerate(((DICE, "Liar's Dice(1, 1)"), ("goofspiel", "II-Goofspiel(6)"))):
            axes = figure.add_subplot(2, 2, number + 3)
            axes.set_title(f"{title}, aggregate", loc="left", fontweight="bold")
            for k, (target, budget) in enumerate(_both(iterations for *_, iterations in by)):
                keys = [(game, player, budget) for player in _by_deltas(target)]
                curve = [(i, by[key]["nash_conv"], 0.0, 0.0) for i, key in enumerate(keys) if key in by]
                _beside(axes, curve, k, f"{_short(target)}, {budget:,} iterations")
                if target == TARGETS[0] and (reference := by.get((game, UCT, budget))):
                    axes.axhline(reference["nash_conv"], color=LINES[k], linewidth=1, linestyle=":")
            axes.set_ylabel("NashConv; dotted: ISMCTS")
            _by_delta(axes)
    return path


def _both(budgets: Iterable[int]) -> list[tuple[str, int]]:
    """Either target with each of the two budgets."""
    both_budgets = sorted({budget for budget in budgets if budget in (1000, 10_000)})
    return [(target, budget) for budget in both_budgets for target in TARGETS]


def _short(target: str) -> str:
    return "IST" if target == TARGETS[0] else "PST"


def _beside(axes: "Axes", curve: Sequence[tuple[float, float, float, float]], k: int, name: str) -> None:
    """A curve over δ of values with their bars below and above, a little aside so that bars do not hide each other."""
    if curve:
        x, y, *error = zip(*curve, strict=True)
        moved = [place + (k - 1.5) * 0.09 for place in x]
        axes.errorbar(moved, y, error, color=LINES[k], marker=MARKERS[k], markersize=4, linewidth=1.2, label=name)


def _by_delta(axes: "Axes") -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
    else:
        axes.text(0.5, 0.5, "not measured yet", transform=axes.transAxes, ha="center", color=SUBDUED)
    axes.set_xticks(range(len(DELTAS)), [f"{delta:g}" for delta in DELTAS])
    axes.set_xlabel("δ")


def _sixteen(rows: Sequence[Measurement], path: Path) -> Path | None:
    """NashConv by full stitching of the sixteen combinations, a column for each game, with OOS and ISMCTS over the tree below."""
    players = [combination.strategy for combination in COMBINATIONS] + [UCT, IST, PST]
    whole = complete_cells(rows)
    if not whole:
        return None
    names_of_games, budgets = list(dict.fromkeys(game for game, _ in whole)), sorted({budget for _, budget in whole})
    with canvas(path, (2.2 + 3.1 * len(names_of_games), 6.2)) as figure:
        first: Axes | None = None
        handles: dict[int, ErrorbarContainer] = {}
        for column, game in enumerate(names_of_games):
            axes = first = figure.add_subplot(1, len(names_of_games), column + 1, sharey=first)
            for k, budget in enumerate(budgets):
                cells = whole.get((game, budget), {})
                means = [
                    (place, *mean_and_error(cells[player])) for place, player in enumerate(players) if player in cells
                ]
                if means:
                    place, mean, error = zip(*means, strict=True)
                    style: Style = {
                        "color": LINES[k % len(LINES)],
                        "marker": MARKERS[k % len(MARKERS)],
                        "markersize": 5,
                    }
                    handles[budget] = axes.errorbar(mean, place, xerr=error, linestyle="", **style)
            axes.set_title(game, loc="left", fontweight="bold")
            axes.grid(axis="x")
            axes.set_xlabel("NashConv")
            axes.set_yticks(range(len(players)), [NAMES.get(player, player) for player in players])
            axes.tick_params(labelleft=column == 0)
        axes.invert_yaxis()
        labels = [f"{budget:,} iterations" for budget in sorted(handles)]
        marks = [handles[budget] for budget in sorted(handles)]
        figure.legend(marks, labels, loc="outside lower center", ncols=4, frameon=False)  # type: ignore[call-overload]
    return path


def _effects(rows: Sequence[Measurement], path: Path) -> Path | None:
    """What each enhancement adds to NashConv, by the mean over the combinations of the game, with 95 % intervals."""
    cells_of = measured_cells(rows)
    if not cells_of:
        return None
    with canvas(path, (1.2 + 2.4 * len(cells_of), 3.4)) as figure:
        first = None
        for column, ((game, iterations), cells) in enumerate(cells_of.items()):
            axes = first = figure.add_subplot(1, len(cells_of), column + 1, sharex=first)
            whole = statistics.fmean(statistics.fmean(cells[each.strategy]) for each in COMBINATIONS)
            for place, name in enumerate(ENHANCEMENTS):
                change = effect(cells, name)
                value, error = 100 * change.value / whole, 100 * change.half / whole
                color, alpha = LINES[0 if change.value < 0 else 1], 1.0 if change.is_decided else 0.45
                style: Style = {"marker": MARKERS[0], "markersize": 5, "linestyle": "", "color": color, "alpha": alpha}
                axes.errorbar(value, place, xerr=error, **style)
            axes.axvline(0, color=SUBDUED, linewidth=1, linestyle=(0, (5, 3)))
            axes.set_title(f"{game},\n{iterations:,} iterations", loc="left", fontweight="bold")
            axes.set_yticks(range(len(ENHANCEMENTS)), ENHANCEMENTS)
            axes.invert_yaxis()
            axes.grid(axis="x")
            axes.tick_params(labelleft=column == 0)
        figure.supxlabel("what the enhancement adds to NashConv, %; 95 % intervals; pale where 0 is inside", fontsize=9)
    return path
