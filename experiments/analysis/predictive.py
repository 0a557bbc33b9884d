"""Predictive power: the chance that games still to come decide a statement, by posterior predictive simulation.

In each replication the true rate of a cell is drawn from the posterior distribution that its games give with Jeffreys' prior, the means of
its searches' statistics from normal ones; the wins and means of later interim analyses are drawn from these. The predictive power of a plan
that takes some cells further is the share of the replications in which a statement is decided then (Spiegelhalter, Freedman and
Blackburn, 1986).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from experiments.analysis.comparisons import Estimator, Place
from experiments.analysis.simulation import REPLICATIONS, Drawn, verdicts_so_far
from experiments.analysis.verdicts import Claim, Interim, combine_signs
from experiments.plan.campaign import Sizes
from experiments.store.summary import STATISTICS, Tally

SEED = 1
Key = tuple[Place, str]  # place and strategy


def predicted_interims(counts: Mapping[Key, int], interims: Sequence[Interim], sizes: Sizes) -> list[Interim]:
    """All interim analyses of all cells in every replication: those so far as they are, the later ones simulated.

    Args:
        counts: how many interim analyses each cell has had, at least one.
        interims: the campaign's, of the cells that have come to each.
    """
    random = np.random.default_rng(SEED)
    tallies: list[list[Tally]] = [[] for _ in interims]
    for (place, strategy), count in counts.items():
        played = [interim.estimator.tally(place, strategy) for interim in interims[:count]]
        complete = [tally for tally in played if tally is not None]
        assert len(complete) == count > 0
        for number, tally in enumerate(complete + _continue(complete[-1], sizes[place][count:], random)):
            tallies[number].append(tally)
    return [Interim(Estimator(group), interim.share) for group, interim in zip(tallies, interims, strict=True)]


def _continue(tally: Tally, sizes: Sequence[int], random: np.random.Generator) -> list[Tally]:
    """The tallies of a cell after more games, in every replication."""
    rate = random.beta(tally.wins + 0.5, tally.games - tally.wins + 0.5, REPLICATIONS)
    means, totals = {}, {}
    for name in STATISTICS:
        moments = tally.moments[name]
        if moments.mean is None or moments.error is None:
            continue
        means[name] = moments.mean + moments.error * random.standard_normal(REPLICATIONS)
        totals[name] = np.full(REPLICATIONS, moments.mean * moments.count)
    wins, games, later = np.full(REPLICATIONS, tally.wins), tally.games, []
    for size in sizes:
        wins = wins + random.binomial(size - games, rate)
        statistics: dict[str, Any] = dict(tally.moments)
        for name, mean in means.items():
            moments = tally.moments[name]
            assert moments.error is not None
            spread = moments.error * moments.count**0.5
            more, count = (moments.count * number / tally.games for number in (size - games, size))
            totals[name] = totals[name] + more * mean + spread * more**0.5 * random.standard_normal(REPLICATIONS)
            statistics[name] = Drawn(totals[name] / count, spread / count**0.5, count)  # type: ignore[arg-type]
        games = size
        later.append(attrs.evolve(tally, games=games, wins=wins, moments=statistics))  # type: ignore[arg-type]
    return later


class PredictivePower:
    """The chances of statements to be decided, by how many interim analyses the cells of each of their comparisons have had."""

    def __init__(self, claims: Sequence[Claim], interims: Sequence[Interim]) -> None:
        self._claims, self._interims = claims, interims
        self._verdicts: dict[int, list[list[list[np.ndarray]]]] = {}
        self._chances: dict[tuple[int, tuple[int, ...]], float] = {}

    def chance(self, number: int, counts: Sequence[int]) -> float:
        """The share of the replications in which a claim is decided.

        Args:
            number: the claim's, from 1.
            counts: for each of its comparisons how many interim analyses all its cells have had.
        """
        key = number, tuple(counts)
        if key not in self._chances:
            remaining = iter(counts)
            cases = [[verdicts[next(remaining)] for verdicts in case] for case in self._verdicts_of(number)]
            self._chances[key] = float(np.mean(combine_signs(self._claims[number - 1], cases) != 0))
        return self._chances[key]

    def _verdicts_of(self, number: int) -> list[list[list[np.ndarray]]]:
        """Of each case and comparison of a claim the verdicts after none, one, … of the interim analyses."""
        if number not in self._verdicts:
            claim = self._claims[number - 1]
            self._verdicts[number] = [
                [verdicts_so_far(comparison, claim.levels(case), self._interims) for comparison in case]
                for case in claim.cases
            ]
        return self._verdicts[number]
