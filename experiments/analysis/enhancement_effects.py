"""Which enhancement makes ISMCTS less exploitable: the sixteen combinations ranked, and the four main effects of the factorial design.

Every enhancement is in eight combinations and not in the eight others, which differ in nothing else; so each run counts in every
effect. The spread between seeds is taken as the same in all combinations of a game, and its degrees of freedom are added up. Where some
were measured once only, the interactions of three and four enhancements stand for it, which are taken to be chance (Box, Hunter and Hunter,
Statistics for Experimenters, on factorial designs without replicates).
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from experiments.analysis.statistics import Estimate, student
from experiments.papers.combinations import COMBINATIONS, ENHANCEMENTS
from experiments.store.measurements import Measurement
from icarus.equilibrium.measures import STITCHING
from icarus.views.document import Table

Cells = Mapping[str, Sequence[float]]  # by strategy, NashConv with each seed
SIXTEEN = {combination.strategy: combination for combination in COMBINATIONS}
BASELINE = COMBINATIONS[0].strategy


def complete_cells(rows: Iterable[Measurement]) -> dict[tuple[str, int], dict[str, list[float]]]:
    """For each game and budget with which all sixteen were measured by full stitching, what was found, by game and budget."""
    cells_of: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in rows:
        if row["method"] == STITCHING:
            cells = cells_of.setdefault((row["game"], row["iterations"]), {})
            cells.setdefault(row["player"], []).append(row["nash_conv"])
    return {key: cells_of[key] for key in sorted(cells_of) if cells_of[key].keys() >= SIXTEEN.keys()}


def measured_cells(rows: Iterable[Measurement]) -> dict[tuple[str, int], dict[str, list[float]]]:
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


def _text(estimate: Estimate) -> str:
    return f"{estimate.value:z.3f} ± {estimate.half:.3f}"


def _titles(cells_of: Mapping[tuple[str, int], Cells]) -> list[str]:
    return [f"{game}, {iterations:,}" for game, iterations in cells_of]


def effects_table(cells_of: Mapping[tuple[str, int], Cells]) -> Table:
    """A row for each enhancement: what it adds to NashConv in each game."""
    rows = tuple(
        (name, *(_text(each) + " *" * each.is_decided for each in (effect(cells, name) for cells in cells_of.values())))
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
                f"{_text(weighted_sum(cells, {strategy: 1.0}))} ({100 * share.value:+.1f} ± {100 * share.half:.1f} %)"
                for cells, share in zip(cells_of.values(), shares[strategy], strict=True)
            ),
        )
        for place, strategy in enumerate(order, 1)
    )
    caption = "NashConv by full stitching (and against the baseline); 95 % intervals; iterations of each search after the game"
    return Table(caption, ("", "player", "mean", *_titles(cells_of)), rows)
