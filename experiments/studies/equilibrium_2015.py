"""How far from equilibrium searches are: the tables and the picture of docs/equilibrium.md, from their rows.

After Lanctot, Lisý and Bowling (2015), at AAAI's workshop and at AAMAS. Seconds of 2015 say nothing here: budgets are iterations, and each
measurement tells how long its searches took. Commit bd52c9ae made the rows; `examples/measures_2015.py` measures the same now.

    python -m experiments.studies.equilibrium_2015 draw docs/_static/equilibrium --page experiments/runs/equilibrium/tables.md
    python -m experiments.studies.equilibrium_2015 effects
    python -m experiments.studies.equilibrium_2015 measure experiments/runs/equilibrium/played.jsonl
    python -m experiments.studies.equilibrium_2015 played experiments/runs/equilibrium/played.jsonl

Every enhancement is in eight of the sixteen combinations and not in the eight others, which differ in nothing else; so each run counts in
every effect. The spread between seeds is taken as the same in all combinations of a game, and its degrees of freedom are added up. Where
some were measured once only, the interactions of three and four enhancements stand for it, which are taken to be chance (Box, Hunter and
Hunter, Statistics for Experimenters, on factorial designs without replicates).
"""

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import pandas

from experiments import papers
from experiments.commands import print_table, refresh
from experiments.figures import LINES, canvas, series_style
from experiments.papers import COMBINATIONS, ENHANCEMENTS
from experiments.plan.refusal import Refusal
from experiments.replay import LEARNED_KEY
from experiments.run import provenance
from experiments.statistics import share_text, student
from icarus import Agent, exploitability, games, parse
from icarus.arena.ledger import GameRow, Ledger, read_lines, row_of
from icarus.commands.console import make_program, run_main
from icarus.engine.match import MOST_VISITED, VISIT_SHARES
from icarus.equilibrium.tree import tree_of
from icarus.statistics import Estimate, mean_of
from icarus.views.document import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

StudyRow = dict[str, Any]
Cells: TypeAlias = (
    Any  # a data frame of NashConv with several seeds: by strategy "mean", "var" and "count"
)
ROOT = "root"  # one search from the deal, which aims at nothing
STITCHING, AGGREGATE_AAMAS = "stitching", "aggregate-aamas"  # methods, as the rows name them
EXPLOITABILITY, HEAD_TO_HEAD = "exploitability.jsonl", "head-to-head.jsonl"
RUNS = Path(__file__).parent.parent / "runs" / "equilibrium"

_NAMED = papers.read_table("lanctot-2015")
GAMES, PLAYERS = _NAMED["games"], _NAMED["players"]
AGAINST, TABLES = _NAMED["against"], _NAMED["tables"]
PRINTED = papers.HERE / "aamas2015-figure3.csv"  # the points of AAMAS 2015, Figure 3
SIXTEEN = {combination.strategy: combination for combination in COMBINATIONS}
BASELINE = COMBINATIONS[0].strategy
# measured as they are played
SMALL = ("kuhn-poker", "leduc-poker", "goofspiel(cards=4)", "liars-dice(faces=4)")
SEEDS, SINGLE = 32, 10  # of a mean policy; measured alone
SEATS = 2  # NashConv/2 is the unit of AAMAS 2015
DIGITS = 9  # of NashConv: values that are nearer to each other are alike


def rows_of(path: Path) -> list[StudyRow]:
    """The measurements in a file."""
    rows = [row_of(line, place, unchecked=True) for line, place in read_lines(path)]
    if not rows:
        raise Refusal(f"{path} has no rows")
    return rows


def _measured_rows(directory: Path) -> list[StudyRow]:
    """All measurements; those with a fixed random action elsewhere only where none with uniform choice took their place."""

    def setting(row: StudyRow) -> tuple[str, ...]:
        return method_of(row), row["game"], row["player"], row["iterations"]

    newer = rows_of(directory / "from-the-deal.jsonl")
    again = {setting(row) for row in newer}
    return newer + [row for row in rows_of(directory / EXPLOITABILITY) if setting(row) not in again]


def seconds_of(row: StudyRow) -> float | None:
    """Processor seconds of a search of a measurement, all included."""
    return row["processor_seconds"] / row["searches"] if row.get("searches") else None


def method_of(row: StudyRow) -> str:
    """The method of a measurement, without its matches and what it takes for granted."""
    return row["method"].split(" of ")[0].split(",")[0]


def grouped(rows: Iterable[StudyRow], *names: str) -> dict[tuple[Any, ...], list[StudyRow]]:
    """Rows by what they have in some fields."""
    groups: dict[tuple[Any, ...], list[StudyRow]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    return groups


# -------------------------------------------------------------------------------------- the effects of the enhancements


def complete_cells(rows: Iterable[StudyRow]) -> dict[tuple[str, int], Cells]:
    """NashConv of the sixteen, from rows of one method, by game and budget; of those with which all sixteen were measured."""
    cells = {}
    for key, of_key in pandas.DataFrame(list(rows)).groupby(["game", "iterations"]):
        if {*of_key["player"]} >= SIXTEEN.keys():
            by_player = of_key.groupby("player")["nash_conv"].agg(["mean", "var", "count"])
            cells[key] = by_player.loc[[*SIXTEEN]]
    return cells


def spread(cells: Cells) -> tuple[float, int]:
    """The standard deviation between seeds, and its degrees of freedom."""
    if cells["count"].min() == 1:
        # interactions, scaled to vary as much as a single value does
        chance = []
        for number in (3, 4):
            for names in itertools.combinations(ENHANCEMENTS, number):
                interaction = (cells["mean"] * _signs(names)).sum()
                chance.append(interaction / math.sqrt((1 / cells["count"]).sum()))
        return math.sqrt(statistics.fmean(value**2 for value in chance)), len(chance)
    freedom = cells["count"] - 1
    return math.sqrt((cells["var"] * freedom).sum() / freedom.sum()), int(freedom.sum())


def _signs(names: Sequence[str]) -> Any:
    """By strategy 1 if it lacks an even number of these enhancements, else −1."""
    return pandas.Series(
        {name: (-1) ** len(set(names) - each.enhancements) for name, each in SIXTEEN.items()}
    )


def weighted_sum(cells: Cells, weights: Mapping[str, float]) -> Estimate:
    """A weighted sum of the means of combinations, with its interval."""
    deviation, freedom = spread(cells)
    weight = pandas.Series(weights)
    error = deviation * math.sqrt((weight**2 / cells["count"]).sum())
    return student(float((weight * cells["mean"]).sum()), error, freedom + 1)


def effect(cells: Cells, enhancement: str) -> Estimate:
    """The mean NashConv of the eight combinations with an enhancement, less that of the eight without."""
    return weighted_sum(cells, _signs([enhancement]) / 8)


def against_baseline(cells: Cells, strategy: str) -> Estimate:
    """NashConv less that of the baseline, by the baseline's own: −0.1 is a tenth less exploitable."""
    if strategy == BASELINE:
        return Estimate(0.0, 0.0, 0.0)
    scale = cells["mean"][BASELINE]
    difference = weighted_sum(cells, {strategy: 1.0, BASELINE: -1.0})
    return Estimate(difference.value / scale, difference.low / scale, difference.high / scale)


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:z.3f} ± {estimate.half:.3f}"


def _titles(cells_of: Mapping[tuple[str, int], Cells]) -> list[str]:
    return [f"{game}, {iterations:,}" for game, iterations in cells_of]


def effects_table(cells_of: Mapping[tuple[str, int], Cells]) -> Table:
    """A row for each enhancement: what it adds to NashConv in each game."""
    rows = []
    for name in ENHANCEMENTS:
        texts = [name]
        for cells in cells_of.values():
            added = effect(cells, name)
            texts.append(_interval(added) + (" *" if added.is_decided else ""))
        rows.append(texts)
    caption = "what each enhancement adds to NashConv, the mean over the eight pairs; 95 % intervals; * without 0"
    return Table(caption, ("enhancement", *_titles(cells_of)), rows)


def ranking_table(cells_of: Mapping[tuple[str, int], Cells]) -> Table:
    """The sixteen from the least exploitable on, by the mean of what they have more than the baseline in each game, in per cent."""
    shares = {
        strategy: [against_baseline(cells, strategy) for cells in cells_of.values()]
        for strategy in SIXTEEN
    }
    means = {
        strategy: statistics.fmean(share.value for share in shares[strategy])
        for strategy in SIXTEEN
    }
    rows = []
    for place, strategy in enumerate(sorted(means, key=means.__getitem__), 1):
        texts = [
            f"{_interval(weighted_sum(cells, {strategy: 1.0}))} ({100 * share.value:+.1f} ± {100 * share.half:.1f} %)"
            for cells, share in zip(cells_of.values(), shares[strategy], strict=True)
        ]
        rows.append([str(place), strategy, f"{100 * means[strategy]:+.1f} %", *texts])
    caption = "NashConv by full stitching (and against the baseline); 95 % intervals; iterations of each search after the game"
    return Table(caption, ("", "player", "mean", *_titles(cells_of)), rows)


# ------------------------------------------------------------------------------------------------------------- pictures


def _curves(rows: Sequence[StudyRow], path: Path) -> None:
    """Figure 3 of AAMAS: above by iterations, below by seconds with the printed curves beside; a column for each game."""
    measured = [row for row in rows if method_of(row) == ROOT]
    printed = pandas.read_csv(PRINTED).query("kind == 'convergence'").groupby(["game", "algorithm"])
    from matplotlib.ticker import LogLocator

    with canvas(path, (1.0 + 3.85 * len(GAMES), 7.4)) as figure:
        for column, (game, game_names) in enumerate(GAMES.items()):
            of_game = [row for row in measured if row["game"] == str(games.load(game))]
            above = figure.add_subplot(2, len(GAMES), column + 1)
            below = figure.add_subplot(2, len(GAMES), column + 1 + len(GAMES))
            above.set_title(game_names["picture"], loc="left", fontweight="bold")
            for k, (player, names) in enumerate(PLAYERS.items()):
                of_player = [row for row in of_game if row["player"] == player]
                _line(above, of_player, lambda row: row["iterations"], k, names["picture"])
                _line(below, of_player, seconds_of, k, names["picture"])
                if of_player and "printed" in names:
                    published = printed.get_group((game_names["printed"], names["printed"]))
                    below.plot(
                        published["seconds"],
                        published["exploitability"],
                        color=LINES[k],
                        linestyle=(0, (4, 2)),
                        linewidth=1.1,
                        alpha=0.75,
                    )
            labels = "iterations of a search", "seconds of a search; dashed: as printed in 2015"
            for axes, label in zip((above, below), labels, strict=True):
                axes.set(xscale="log", yscale="log", xlabel=label)
                axes.xaxis.set_minor_formatter(lambda value, _: "")
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
                axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}")
                axes.yaxis.set_minor_locator(LogLocator(subs=(2, 3, 5)))
                axes.grid(axis="both")
            if column == 0:
                above.set_ylabel("NashConv / 2")
                below.set_ylabel("NashConv / 2")
                handles = above.get_legend_handles_labels()
        figure.legend(
            *handles, loc="outside lower center", ncols=min(5, 2 * len(GAMES)), frameon=False
        )


def _line(
    axes: "Axes",
    rows: Sequence[StudyRow],
    x_of: Callable[[StudyRow], float | None],
    k: int,
    name: str,
) -> None:
    """A point with its standard error for each budget: the mean over seeds, at the mean of x, where that is known."""
    points = [(row["iterations"], x_of(row), row["nash_conv"] / SEATS) for row in rows]
    by_budget = (
        pandas.DataFrame(points, columns=["iterations", "x", "y"]).dropna().groupby("iterations")
    )
    means, errors = by_budget.mean(), by_budget["y"].sem().fillna(0.0)
    if len(means):
        style = series_style(k, name)
        axes.errorbar(means["x"], means["y"], errors, markersize=4, linewidth=1.4, **style)


# --------------------------------------------------------------------------------------- the tables of the documents

SHORTEST = 0.001  # seconds that rows tell


def cell(rows: Sequence[StudyRow], shared: int) -> str:
    """The mean of NashConv / `shared` over seeds with its 95 % interval by Student's t, in parentheses the seeds, and the median processor
    time of a search."""
    if not rows:
        return ""
    values = [row["nash_conv"] / shared for row in rows]
    text = f"{statistics.fmean(values):.3f}"
    if len(rows) > 1:
        text += f" ± {mean_of(values, 0.0, math.inf).half:.3f}"
    text += f" ({len(rows)})"
    if times := [seconds for seconds in map(seconds_of, rows) if seconds is not None]:
        median = statistics.median(times)
        text += f", {median:.2g} s" if median >= SHORTEST else ", under 1 ms"
    return text


def table(
    rows: Iterable[StudyRow], lines: dict[str, str], columns: dict[str, str], shared: int = 1
) -> str:
    """A line for each game and budget, a column for each player.

    Args:
        lines, columns: titles by game and by player, as texts that `games.load` and an agent understand.
        shared: by how many NashConv is divided.
    """
    cells = grouped(rows, "game", "iterations", "player")
    body = []
    for name, title in lines.items():
        game = str(games.load(name))
        budgets = {budget for each, budget, player in cells if each == game and player in columns}
        for budget in sorted(budgets):
            texts = [cell(cells.get((game, budget, player), []), shared) for player in columns]
            body.append([title, f"{budget:,}", *texts])
    return _markdown(["iterations", *columns.values()], body)


def _markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table whose first column has no title, which may have code in its cells."""
    head = f"| | {' | '.join(header)} |", "|---" * (1 + len(header)) + "|"
    return "\n".join([*head, *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"


def head_to_head(blocks: Iterable[StudyRow]) -> str:
    """A line for each pair in the papers' games, by game and iterations: the share of the points in either seat and in both."""
    by_match = grouped(
        ({"times": 1, **row} for row in blocks), "game", "iterations", "times", "one", "other"
    )
    lines = []
    for game, game_names in GAMES.items():
        full_name = str(games.load(game))
        for match in sorted(match for match in by_match if match[0] == full_name):
            _, budget, times, *players = match
            first, second = list[float](), list[float]()
            for row in by_match[match]:
                first += row["first"]
                second += row["second"]
            shares = [share_text(mean_of(each, 0.0)) for each in (first, second, first + second)]
            names = [AGAINST.get(name, f"`{name}`") for name in players]
            # The opponent's iterations are told where he has more.
            budgets = f"{budget:,}" if times == 1 else f"{budget:,} and {budget * times:,}"
            lines.append([game_names["table"], *names, budgets, *shares])
    header = ["player", "against", "iterations", "sitting first", "sitting second", "both"]
    return _markdown(header, lines)


def _in_print(rows: Sequence[StudyRow]) -> str:
    """NashConv/2 here after the most iterations, and in Figure 3 after the searches that took most nearly as long."""
    printed = pandas.read_csv(PRINTED).set_index(["kind", "game", "algorithm"])
    lines = []
    for kind, method in (("convergence", ROOT), ("agg_convergence", AGGREGATE_AAMAS)):
        for (game, game_names), (player, names) in itertools.product(
            GAMES.items(), PLAYERS.items()
        ):
            key = method, str(games.load(game)), player
            ours = [row for row in rows if (method_of(row), row["game"], row["player"]) == key]
            if ours and "printed" in names:
                most = max(row["iterations"] for row in ours)
                longest = [row for row in ours if row["iterations"] == most]
                took = statistics.median(filter(None, map(seconds_of, longest)))
                points = printed.loc[kind, game_names["printed"], names["printed"]]
                there = points.iloc[(points["seconds"] - took).abs().argmin()]
                theirs = f"{there['exploitability']:.3f}, {there['seconds']:.2g} s"
                here = [f"{most:,}", cell(longest, SEATS), theirs]
                lines.append([game_names["table"], method, names["table"], *here])
    return _markdown(["method", "player", "iterations", "measured", "printed"], lines)


def tables(rows: Sequence[StudyRow], blocks: Sequence[StudyRow]) -> dict[str, str]:
    """All tables, by name.

    Args:
        rows, blocks: of exploitability, and of games head to head.
    """
    texts = {}
    for name, of_table in TABLES.items():
        of_method = [
            row
            for row in rows
            if method_of(row) == of_table["method"] and row["iterations"] >= of_table["fewest"]
        ]
        texts[name] = table(of_method, of_table["lines"], of_table["columns"], of_table["shared"])
    return texts | {"head-to-head": head_to_head(blocks), "printed": _in_print(rows)}


# ------------------------------------------------------------------------------------------------------------- commands


def effects(rows: Path = RUNS) -> None:
    """Rank the sixteen combinations by exploitability, and print what each enhancement adds."""
    measured = rows_of(rows / EXPLOITABILITY)
    complete = complete_cells(row for row in measured if row["method"] == STITCHING)
    largest = dict(complete.keys())  # by game the last of its budgets, which rise
    cells = {key: complete[key] for key in largest.items()}
    print_table(ranking_table(cells))
    print_table(effects_table(cells))


def draw(into: Path, rows: Path = RUNS, page: Path | None = None) -> None:
    """Draw the pictures, PNG and SVG, into a directory, and make the tables of a page again."""
    measured = _measured_rows(rows)
    if page is not None:
        refresh(page, tables(measured, rows_of(rows / HEAD_TO_HEAD)))
    _curves(measured, into / "root.png")


def measure(out: Path, iterations: int = 100, seeds: int = SEEDS) -> None:
    """Measure the sixteen in small games by single seeds and by the mean over seeds, and go on where a file ends."""
    measured = [*((seed, 1) for seed in range(SINGLE)), (0, seeds)]
    with Ledger(out, (*LEARNED_KEY, "seeds", "play")) as ledger:
        for game, name in itertools.product(SMALL, SIXTEEN):
            tree, agent = tree_of(games.load(game)), Agent(parse(name), iterations=iterations)
            for play, (seed, count) in itertools.product((VISIT_SHARES, MOST_VISITED), measured):
                row: GameRow = {"game": game, "player": name, "iterations": iterations}
                row |= {"seed": seed, "seeds": count, "play": play}
                if row not in ledger:
                    result = exploitability(tree, agent, seeds=count, play=play, seed=seed)
                    row |= {"nash_conv": result.estimate, "provenance": provenance()}
                    if count > 1:
                        row |= {"lower": result.lower, "upper": result.upper}
                    ledger.keep(row)


def played(rows: Path) -> None:
    """Print NashConv of the sixteen by one seed and by the mean over seeds, by visit shares and by the action that is played."""
    near = [row | {"nash_conv": round(row["nash_conv"], DIGITS)} for row in rows_of(rows)]
    single = [row for row in near if row["seeds"] == 1]
    mean_over_seeds = [row for row in near if row["seeds"] > 1]
    singles = grouped(single, "game", "player", "play")
    means = grouped(mean_over_seeds, "game", "player", "play")
    for game in dict.fromkeys(game for game, *_ in singles):
        lines = []
        for name in SIXTEEN:
            texts = [name]
            for play in (VISIT_SHARES, MOST_VISITED):
                values = [row["nash_conv"] for row in singles[game, name, play]]
                [mean] = means[game, name, play]
                text = f"{values[0]:.3f} each"
                if len({*values}) > 1:
                    text = _interval(mean_of(values, -math.inf, math.inf))
                limits = f"[{mean['lower']:.3f}, {mean['upper']:.3f}]"
                texts += [text, f"{mean['nash_conv']:.3f} {limits}"]
            lines.append(texts)
        heads = "shares: one seed", "mean", "most visited: one seed", "mean"
        print_table(Table(f"NashConv in {game}, 95 %", ("player", *heads), lines))
    for play in (VISIT_SHARES, MOST_VISITED):
        for seeds, measured in (("one", single), ("mean", mean_over_seeds)):
            table = effects_table(complete_cells(row for row in measured if row["play"] == play))
            print_table(attrs.evolve(table, caption=f"effects: {play}, {seeds}"))


app = make_program((effects, draw, measure, played), "What the rows of the equilibria of 2015 say.")

if __name__ == "__main__":
    run_main(app, "equilibrium_2015")
