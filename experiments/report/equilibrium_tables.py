"""The tables of docs/equilibrium.md, made from rows: each stands between two comments with its name, `<!-- root -->` and `<!-- end -->`."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

from experiments.analysis.head_to_head import budget_text, mean_reward, pairs, share_text
from experiments.analysis.statistics import student_mean
from experiments.plan.equilibrium import (
    DESCENDING,
    DICE,
    EXP3,
    FOUR_FACES,
    GAMES,
    GOOFSPIEL,
    IST,
    KUHN,
    LEDUC,
    OOS_AAMAS,
    PST,
    RM,
    ROOT,
    UCT,
    UCT_WITH_C,
)
from experiments.report.equilibrium_figures import half, method_of, seconds_of
from experiments.store.measurements import Measurement
from icarus import games
from icarus.equilibrium.measures import AGGREGATE_AAMAS, STITCHING

_NAMES = {
    IST: "OOS, IST",
    PST: "OOS, PST",
    OOS_AAMAS: "OOS, IST, δ = 0.5, w_T",
    UCT: "UCB1",
    RM: "regret matching",
    EXP3: "EXP3",
}
_NAMES_HEAD_TO_HEAD = {IST: "OOS, IST", PST: "OOS, PST"}
_TITLES = dict(zip(GAMES, ("LD(1,1)", "II-Goofspiel(6)", "generic poker"), strict=True))
SHORTEST = 0.001  # seconds that rows tell
FEWEST = 100_000  # iterations after which c is compared


def cell(rows: Sequence[Measurement], value: Callable[[Measurement], float]) -> str:
    """The mean over seeds with its 95 % interval by Student's t, in parentheses the seeds, and the median processor time of a search."""
    if not rows:
        return ""
    values, count = [value(row) for row in rows], len(rows)
    spread = f" ± {student_mean(values).half:.3f}" if count > 1 else ""
    seconds = [seconds for row in rows if (seconds := seconds_of(row)) is not None]
    took = statistics.median(seconds) if seconds else math.nan
    time = f", {took:.2g} s" if took >= SHORTEST else ", under 1 ms" if seconds else ""
    return f"{statistics.fmean(values):.3f}{spread} ({count}){time}"


def table(
    rows: Iterable[Measurement], lines: dict[str, str], columns: dict[str, str], value: Callable[[Measurement], float]
) -> str:
    """A line for each game and budget, a column for each player.

    Args:
        lines, columns: titles by game and by player, as texts that `games.load` and an agent understand.
    """
    cells: dict[tuple[str, int, str], list[Measurement]] = {}
    for row in rows:
        cells.setdefault((row["game"], row["iterations"], row["player"]), []).append(row)
    body = ["| | iterations | " + " | ".join(columns.values()) + " |", "|---|---|" + "---|" * len(columns)]
    for game, title in ((str(games.load(name)), title) for name, title in lines.items()):
        for budget in sorted({budget for name, budget, player in cells if name == game and player in columns}):
            cells_of_row = [cell(cells.get((game, budget, player), []), value) for player in columns]
            body.append(f"| {title} | {budget:,} | " + " | ".join(cells_of_row) + " |")
    return "\n".join(body) + "\n"


def head_to_head(blocks: Iterable[Measurement]) -> str:
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
        names = [_NAMES_HEAD_TO_HEAD.get(text, f"`{text}`") for text in (player, opponent)]
        body.append(
            "| " + " | ".join([list(_TITLES.values())[game], *names, budget_text(budget, times), *shares]) + " |"
        )
    return "\n".join(body) + "\n"


def tables(rows: Sequence[Measurement], blocks: Sequence[Measurement]) -> dict[str, str]:
    """All tables, by name.

    Args:
        rows, blocks: of exploitability, and of games head to head.
    """

    def by(method: str) -> list[Measurement]:
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
