"""How far from equilibrium searches are: the tables and the picture of docs/equilibrium.md, from their rows.

After Lanctot, Lisý and Bowling (2015), at AAAI's workshop and at AAMAS. Seconds of 2015 say nothing here: budgets are iterations, and each
measurement tells how long its searches took. Commit bd52c9ae made the rows and has the papers' ISMCTS, `ismcts_2015.py`, beside this file.

    python -m experiments.studies.equilibrium_2015 draw docs/_static/equilibrium --page experiments/runs/equilibrium/tables.md
    python -m experiments.studies.equilibrium_2015 effects

Every enhancement is in eight of the sixteen combinations and not in the eight others, which differ in nothing else; so each run counts in
every effect. The spread between seeds is taken as the same in all combinations of a game, and its degrees of freedom are added up. Where
some were measured once only, the interactions of three and four enhancements stand for it, which are taken to be chance (Box, Hunter and
Hunter, Statistics for Experimenters, on factorial designs without replicates).
"""

import csv
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.commands import print_table, refresh
from experiments.figures import LINES, MARKERS, Style, canvas
from experiments.papers import COMBINATIONS, ENHANCEMENTS
from experiments.plan.definition import Refusal
from experiments.statistics import Estimate, mean_reward, share_text, student, student_mean
from icarus import games
from icarus.arena.ledger import read_lines, row_of
from icarus.commands.console import make_program, run_main
from icarus.views.document import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

StudyRow = dict[str, Any]
Cells = Mapping[str, Sequence[float]]  # by strategy, NashConv with each seed
Points = list[tuple[float, float, float]]  # x, y, half of the bar
Pair = tuple[str, str, str, int, int]  # game, one player, the other, iterations, how many times as many the other has
ROOT = "root"  # one search from the deal, which aims at nothing
STITCHING, AGGREGATE_AAMAS = "stitching", "aggregate-aamas"  # methods, as the rows name them
EXPLOITABILITY, HEAD_TO_HEAD = "exploitability.jsonl", "head-to-head.jsonl"
RUNS = Path(__file__).parent.parent / "runs" / "equilibrium"

# The players and games of the rows, as they name them.
IST, PST = "OOS()", "OOS(target='public subgame')"
UCT, RM, EXP3 = "ISMCTS()", "ISMCTS(selection='regret matching')", "ISMCTS(selection='EXP3')"
UCT_WITH_C = tuple(f"ISMCTS(exploration={c!r})" for c in (0.5, 2.0, 4.0))
OOS_AAMAS = "OOS(delta=0.5, compensation=True)"  # of the figures by the aggregate method
DICE, GOOFSPIEL = "liars-dice", "goofspiel(cards=6,lowest=0)"
GAMES = (DICE, GOOFSPIEL, "generic-poker")  # LD(1,1), II-GS(6) of 2015, GP(3,3,2,2)
DESCENDING = "goofspiel(cards=6,lowest=0,descending=1)"
KUHN, LEDUC = "kuhn-poker", "leduc-poker"
FOUR_FACES = "liars-dice(faces=4)"
SIXTEEN = {combination.strategy: combination for combination in COMBINATIONS}
BASELINE = COMBINATIONS[0].strategy


def rows_of(directory: Path, file: str) -> list[StudyRow]:
    """The measurements in a file of a directory."""
    rows = [row_of(line, place, unchecked=True) for line, place in read_lines(directory / file)]
    if not rows:
        raise Refusal(f"{directory} has no rows in {file}")
    return rows


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error; 0 for a single value."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return statistics.fmean(values), error


def pairs(rows: Iterable[StudyRow]) -> dict[Pair, tuple[list[float], list[float]]]:
    """The rewards of the one player of each pair, where he sat first and where he sat second."""
    rewards: dict[Pair, tuple[list[float], list[float]]] = {}
    for row in rows:
        pair = row["game"], row["one"], row["other"], row["iterations"], row.get("times", 1)
        first, second = rewards.setdefault(pair, ([], []))
        first += row["first"]
        second += row["second"]
    return rewards


def budget_text(iterations: int, times: int) -> str:
    """The iterations of a player, and those of his opponent where he has more."""
    return f"{iterations:,}" if times == 1 else f"{iterations:,} and {iterations * times:,}"


def seconds_of(row: StudyRow) -> float | None:
    """Processor seconds of a search of a measurement, all included."""
    return row["processor_seconds"] / row["searches"] if row.get("searches") else None


def method_of(row: StudyRow) -> str:
    """The method of a measurement, without its matches and what it takes for granted."""
    return row["method"].split(" of ")[0].split(",")[0]


def half(row: StudyRow) -> float:
    """NashConv/2, the unit of AAMAS 2015."""
    return row["nash_conv"] / 2


# -------------------------------------------------------------------------------------- the effects of the enhancements


def complete_cells(rows: Iterable[StudyRow]) -> dict[tuple[str, int], dict[str, list[float]]]:
    """For each game and budget with which all sixteen were measured by full stitching, what was found, by game and budget."""
    cells_of: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in rows:
        if row["method"] == STITCHING:
            cells = cells_of.setdefault((row["game"], row["iterations"]), {})
            cells.setdefault(row["player"], []).append(row["nash_conv"])
    return {key: cells_of[key] for key in sorted(cells_of) if cells_of[key].keys() >= SIXTEEN.keys()}


def measured_cells(rows: Iterable[StudyRow]) -> dict[tuple[str, int], dict[str, list[float]]]:
    """The same with the largest budget of each game alone."""
    complete = complete_cells(rows)
    largest = dict(complete.keys())  # later ones stand
    return {key: cells for key, cells in complete.items() if largest[key[0]] == key[1]}


def spread(cells: Cells) -> tuple[float, int]:
    """The standard deviation between seeds, and its degrees of freedom."""
    if min(len(cells[strategy]) for strategy in SIXTEEN) == 1:
        chance = [
            interaction(cells, names) for count in (3, 4) for names in itertools.combinations(ENHANCEMENTS, count)
        ]
        return math.sqrt(statistics.fmean(value**2 for value in chance)), len(chance)
    freedom = sum(len(cells[strategy]) - 1 for strategy in SIXTEEN)
    squares = sum(statistics.pvariance(cells[strategy]) * len(cells[strategy]) for strategy in SIXTEEN)
    return math.sqrt(squares / freedom), freedom


def interaction(cells: Cells, names: Sequence[str]) -> float:
    """How the effects of some enhancements depend on each other, scaled to vary by chance as much as a single value does."""
    signed = [
        (-1) ** len(set(names) - each.enhancements) * statistics.fmean(cells[strategy])
        for strategy, each in SIXTEEN.items()
    ]
    return sum(signed) / math.sqrt(sum(1 / len(cells[strategy]) for strategy in SIXTEEN))


def weighted_sum(cells: Cells, weights: Mapping[str, float]) -> Estimate:
    """A weighted sum of the means of combinations, with its interval."""
    mean = sum(weight * statistics.fmean(cells[strategy]) for strategy, weight in weights.items())
    deviation, freedom = spread(cells)
    error = deviation * math.sqrt(sum(weight**2 / len(cells[strategy]) for strategy, weight in weights.items()))
    return student(mean, error, freedom + 1)


def effect(cells: Cells, enhancement: str) -> Estimate:
    """The mean NashConv of the eight combinations with an enhancement, less that of the eight without."""
    sides = {name: enhancement in each.enhancements for name, each in SIXTEEN.items()}
    return weighted_sum(cells, {name: (1 if with_it else -1) * 2 / len(SIXTEEN) for name, with_it in sides.items()})


def against_baseline(cells: Cells, strategy: str) -> Estimate:
    """NashConv less that of the baseline, by the baseline's own: −0.1 is a tenth less exploitable."""
    if strategy == BASELINE:
        return Estimate(0.0, 0.0, 0.0)
    scale, difference = statistics.fmean(cells[BASELINE]), weighted_sum(cells, {strategy: 1.0, BASELINE: -1.0})
    return Estimate(difference.value / scale, difference.low / scale, difference.high / scale)


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:z.3f} ± {estimate.half:.3f}"


def _titles(cells_of: Mapping[tuple[str, int], Cells]) -> list[str]:
    return [f"{game}, {iterations:,}" for game, iterations in cells_of]


def effects_table(cells_of: Mapping[tuple[str, int], Cells]) -> Table:
    """A row for each enhancement: what it adds to NashConv in each game."""
    rows = tuple(
        (
            name,
            *(
                _interval(each) + " *" * each.is_decided
                for each in (effect(cells, name) for cells in cells_of.values())
            ),
        )
        for name in ENHANCEMENTS
    )
    caption = "what each enhancement adds to NashConv, the mean over the eight pairs; 95 % intervals; * without 0"
    return Table(caption, ("enhancement", *_titles(cells_of)), rows)


def ranking_table(cells_of: Mapping[tuple[str, int], Cells]) -> Table:
    """The sixteen from the least exploitable on, by the mean of what they have more than the baseline in each game, in per cent."""
    shares = {strategy: [against_baseline(cells, strategy) for cells in cells_of.values()] for strategy in SIXTEEN}
    order = sorted(shares, key=lambda strategy: statistics.fmean(share.value for share in shares[strategy]))
    rows = tuple(
        (
            str(place),
            strategy,
            f"{100 * statistics.fmean(share.value for share in shares[strategy]):+.1f} %",
            *(
                f"{_interval(weighted_sum(cells, {strategy: 1.0}))} ({100 * share.value:+.1f} ± {100 * share.half:.1f} %)"
                for cells, share in zip(cells_of.values(), shares[strategy], strict=True)
            ),
        )
        for place, strategy in enumerate(order, 1)
    )
    caption = "NashConv by full stitching (and against the baseline); 95 % intervals; iterations of each search after the game"
    return Table(caption, ("", "player", "mean", *_titles(cells_of)), rows)


# ------------------------------------------------------------------------------------------------------------- pictures

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


def points(
    rows: Iterable[StudyRow], x_of: Callable[[StudyRow], float | None], y_of: Callable[[StudyRow], float]
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


def printed_curve(game: str, kind: str, name: str) -> list[tuple[float, float]]:
    """(seconds, NashConv/2) of a curve of AAMAS 2015, Figure 3."""
    with PRINTED.open() as file:
        return [
            (float(row["seconds"]), float(row["exploitability"]))
            for row in csv.DictReader(file)
            if (row["game"], row["kind"], row["algorithm"]) == (game, kind, name)
        ]


def _curves(rows: Sequence[StudyRow], path: Path) -> None:
    """Figure 3 of AAMAS: above by iterations, below by seconds with the printed curves beside; a column for each game."""
    measured = [row for row in rows if method_of(row) == ROOT and row["method"].endswith("elsewhere")]
    names = {game: str(games.load(game)) for game in GAMES}
    from matplotlib.ticker import LogLocator

    with canvas(path, (1.0 + 3.85 * len(GAMES), 7.4)) as figure:
        for column, game in enumerate(GAMES):
            of_game = [row for row in measured if row["game"] == names[game]]
            above, below = (figure.add_subplot(2, len(GAMES), column + 1 + k * len(GAMES)) for k in range(2))
            above.set_title(TITLES[game], loc="left", fontweight="bold")
            for k, (player, name) in enumerate(NAMES.items()):
                of_player = [row for row in of_game if row["player"] == player]
                _line(above, points(of_player, lambda row: row["iterations"], half), k, name)
                _line(below, points(of_player, seconds_of, half), k, name)
                if of_player and player in IN_PRINT:
                    published = printed_curve(GAMES_IN_PRINT[game], "convergence", IN_PRINT[player])
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
        figure.legend(*handles, loc="outside lower center", ncols=min(5, 2 * len(GAMES)), frameon=False)


def _line(axes: "Axes", curve: Points, k: int, name: str) -> None:
    if curve:
        x, y, error = zip(*curve, strict=True)
        style: Style = {"color": LINES[k], "marker": MARKERS[k % len(MARKERS)], "label": name}
        axes.errorbar(x, y, error, markersize=4, linewidth=1.4, **style)


# --------------------------------------------------------------------------------------- the tables of the documents

_NAMES = {player: name.removeprefix("ISMCTS, ") for player, name in NAMES.items()}
_NAMES[OOS_AAMAS] += ", w_T"
_TITLES = dict(zip(GAMES, ("LD(1,1)", "II-Goofspiel(6)", "generic poker"), strict=True))
SHORTEST = 0.001  # seconds that rows tell
FEWEST = 100_000  # iterations after which c is compared


def cell(rows: Sequence[StudyRow], value: Callable[[StudyRow], float]) -> str:
    """The mean over seeds with its 95 % interval by Student's t, in parentheses the seeds, and the median processor time of a search."""
    if not rows:
        return ""
    values, count = [value(row) for row in rows], len(rows)
    spread = f" ± {student_mean(values, 0.0, math.inf).half:.3f}" if count > 1 else ""
    seconds = [seconds for row in rows if (seconds := seconds_of(row)) is not None]
    took = statistics.median(seconds) if seconds else math.nan
    time = f", {took:.2g} s" if took >= SHORTEST else ", under 1 ms" if seconds else ""
    return f"{statistics.fmean(values):.3f}{spread} ({count}){time}"


def table(
    rows: Iterable[StudyRow], lines: dict[str, str], columns: dict[str, str], value: Callable[[StudyRow], float]
) -> str:
    """A line for each game and budget, a column for each player.

    Args:
        lines, columns: titles by game and by player, as texts that `games.load` and an agent understand.
    """
    cells: dict[tuple[str, int, str], list[StudyRow]] = {}
    for row in rows:
        cells.setdefault((row["game"], row["iterations"], row["player"]), []).append(row)
    body = ["| | iterations | " + " | ".join(columns.values()) + " |", "|---|---|" + "---|" * len(columns)]
    for game, title in ((str(games.load(name)), title) for name, title in lines.items()):
        for budget in sorted({budget for name, budget, player in cells if name == game and player in columns}):
            cells_of_row = [cell(cells.get((game, budget, player), []), value) for player in columns]
            body.append(f"| {title} | {budget:,} | " + " | ".join(cells_of_row) + " |")
    return "\n".join(body) + "\n"


def head_to_head(blocks: Iterable[StudyRow]) -> str:
    """A line for each pair in the papers' two games, by game and iterations: the share of the points in either seat and in both."""
    lines = [
        (list(_TITLES).index(game), budget, times, player, opponent, first, second)
        for (name, player, opponent, budget, times), (first, second) in pairs(blocks).items()
        for game in _TITLES
        if name == str(games.load(game))
    ]
    body = ["| | player | against | iterations | sitting first | sitting second | both |", "|---" * 7 + "|"]
    for game, budget, times, player, opponent, first, second in sorted(lines, key=lambda line: line[:5]):
        shares = [share_text(mean_reward(rewards)) for rewards in (first, second, first + second)]
        names = [_NAMES[text] if text in (IST, PST) else f"`{text}`" for text in (player, opponent)]
        body.append(
            "| " + " | ".join([list(_TITLES.values())[game], *names, budget_text(budget, times), *shares]) + " |"
        )
    return "\n".join(body) + "\n"


def tables(rows: Sequence[StudyRow], blocks: Sequence[StudyRow]) -> dict[str, str]:
    """All tables, by name.

    Args:
        rows, blocks: of exploitability, and of games head to head.
    """

    def by(method: str) -> list[StudyRow]:
        return [row for row in rows if method_of(row) == method]

    from_the_deal = {player: _NAMES[player] for player in (IST, UCT, RM, EXP3)}
    with_c = {UCT_WITH_C[0]: "c = 0.5", UCT: "c = 1", UCT_WITH_C[1]: "c = 2", UCT_WITH_C[2]: "c = 4"}
    orders = {GOOFSPIEL: "ascending points", DESCENDING: "descending points"}
    aggregate = {player: _NAMES[player] for player in (OOS_AAMAS, UCT, RM)}
    stitching = {UCT: "`ISMCTS()`", IST: "OOS, IST", PST: "OOS, PST", "BASELINE": "`BASELINE`"}
    small_games = {DICE: "six faces", FOUR_FACES: "four faces", "goofspiel(cards=4)": "II-Goofspiel(4)"}
    return {
        "root": table(by(ROOT), {**_TITLES, KUHN: "Kuhn", LEDUC: "Leduc"}, from_the_deal, half),
        "goofspiel": table([row for row in by(ROOT) if row["iterations"] >= FEWEST], orders, with_c, half),
        "aggregate": table(by(AGGREGATE_AAMAS), _TITLES, aggregate, half),
        "stitching": table(by(STITCHING), small_games, stitching, lambda row: row["nash_conv"]),
        "head-to-head": head_to_head(blocks),
    }


# ------------------------------------------------------------------------------------------------------------- commands


def effects(rows: Path = RUNS) -> None:
    """Rank the sixteen combinations by exploitability, and print what each enhancement adds."""
    cells = measured_cells(rows_of(rows, EXPLOITABILITY))
    print_table(ranking_table(cells))
    print_table(effects_table(cells))


def draw(into: Path, rows: Path = RUNS, page: Path | None = None) -> None:
    """Draw the pictures, PNG and SVG, into a directory, and make the tables of a page again."""
    measured, blocks = (rows_of(rows, file) for file in (EXPLOITABILITY, HEAD_TO_HEAD))
    if page is not None:
        refresh(page, tables(measured, blocks))
    _curves(measured, into / "root.png")


app = make_program((effects, draw), "What the rows of the equilibria of 2015 say.")

if __name__ == "__main__":
    run_main(app, "equilibrium_2015")
