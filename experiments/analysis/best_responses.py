"""What best responses cost here and in OpenSpiel."""

import statistics
from collections.abc import Iterable, Sequence

import attrs

from icarus.views.document import Table

EQUAL = 1e-9  # values that agree do so this nearly


@attrs.frozen
class Cost:
    """What one measurement took.

    Attributes:
        nash_conv: found.
        seconds: of processor time, the tree included.
        megabytes: of memory at most, above what the process had before.
    """

    nash_conv: float
    seconds: float
    megabytes: float


@attrs.frozen
class Comparison:
    """Costs here and in OpenSpiel, of runs that alternated."""

    game: str
    ours: Sequence[Cost]
    theirs: Sequence[Cost]

    def ratio(self, name: str) -> float:
        """How many times as much OpenSpiel takes, by the medians."""
        ours, theirs = ([getattr(cost, name) for cost in costs] for costs in (self.ours, self.theirs))
        return statistics.median(theirs) / max(statistics.median(ours), 1e-6)


def best_response_table(compared: Iterable[Comparison]) -> Table:
    """Time and memory here and in OpenSpiel, a row for each game."""
    rows = []
    for each in compared:
        costs = [
            f"{statistics.median(getattr(cost, name) for cost in costs):.{digits}f}"
            for name, digits in (("seconds", 3), ("megabytes", 1))
            for costs in (each.ours, each.theirs)
        ]
        nash_conv = each.ours[0].nash_conv
        same = "yes" if abs(nash_conv - each.theirs[0].nash_conv) < EQUAL else "NO"
        faster, smaller = f"{each.ratio('seconds'):.0f}", f"{each.ratio('megabytes'):.1f}"
        rows.append((each.game, f"{nash_conv:.9f}", same, *costs[:2], faster, *costs[2:], smaller))
    header = ("game", "NashConv", "the same", "s", "s, OpenSpiel", "ratio", "MB", "MB, OpenSpiel", "ratio")
    return Table("uniform choice: processor seconds and memory, the tree included", header, rows)
