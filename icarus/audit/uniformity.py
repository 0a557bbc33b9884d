"""Whether draws are uniform: the states of a small information set, counted, and the chi-square test of the counts."""

from collections import Counter
from typing import TypeAlias

import attrs

Face: TypeAlias = tuple[str, bytes] | str  # all that can be seen of a state by everyone together
DRAWS_PER_STATE = 25  # at least, in a small information set
FEWEST_EXPECTED = 10  # draws of a state that enters a chi-square test


@attrs.define
class Tally:
    """How often each state of a small information set was drawn, and how many deals each stands for."""

    counts: Counter = attrs.field(factory=Counter)
    deals: dict[Face, float] = attrs.field(factory=dict)
    data: dict[Face, set[bytes]] = attrs.field(factory=dict)

    def add(self, face: Face, data: bytes) -> None:
        self.counts[face] += 1
        self.data.setdefault(face, set()).add(data)

    @property
    def merged(self) -> int:
        """How many states look like another one: the records that were drawn beyond one for each face."""
        return sum(map(len, self.data.values())) - len(self.data)

    def expected(self, deals: float) -> float:
        """How often a state of so many deals should have been drawn."""
        return self.counts.total() * deals / sum(self.deals.values())

    def excludes(self, face: Face, deals: float) -> bool:
        """Whether a state was never drawn that should have been."""
        return face not in self.counts and self.expected(deals) >= DRAWS_PER_STATE

    def compared(self) -> tuple[list[int], list[float]]:
        """Counts, and the draws to be expected of each, of the states that are likely enough for a chi-square test."""
        likely = [face for face, deals in self.deals.items() if self.expected(deals) >= FEWEST_EXPECTED]
        counts, deals = [self.counts[face] for face in likely], [self.deals[face] for face in likely]
        return counts, [sum(counts) * part / sum(deals) for part in deals]


def uneven(counts: list[int], expected: list[float]) -> str:
    """The states that were drawn least and most often, in words."""
    order = sorted(range(len(counts)), key=lambda i: counts[i] / expected[i])
    least, most = (f"{counts[i]} times instead of {expected[i]:.0f}" for i in (order[0], order[-1]))
    return f"of {len(counts)} states one was drawn {least} and one {most}"


def chi_square_test(counts: list[int], expected: list[float]) -> tuple[float, float]:
    """The chi-square statistic of counts, and its p-value."""
    from scipy.stats import chisquare

    statistic, p = chisquare(counts, expected)
    return float(statistic), float(p)


def chi_square_tail(statistic: float, freedom: float) -> float:
    """The probability of a larger chi-square statistic."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic))
