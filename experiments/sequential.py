"""A sequential test that ends an agent's games when the question "better than the baseline?" is answered.

The unit is a set of mirrored games: the same deal and chance, played once in every seat that the agent takes (a pair of games
where two players change seats; a single game where a role has one seat). Its score is the share of these games that the agent
wins, less the share that the baseline wins in its place in the same games; in games that are not of section 8 the agent's mean
reward, less the baseline's, so that a draw is one half, and points and money are what they are. The hypotheses are that the
mean score is 0 (H0: no better) and that it is `margin` (H1: better). The generalized sequential probability ratio test (GSPRT:
the likelihood of the scores, whatever their distribution, with either mean) accepts H1 when the ratio reaches
(1 - beta) / alpha and H0 when it falls to beta / (1 - alpha): then an agent that is no better is found better in about a share
`alpha` of all tests at most, and one that is better by the margin is missed in about a share `beta` at most. The test is
looked at after every `ROUND` units only.

Which games are played follows from results alone: a round is played as a whole before it is looked at, in the order of the
units, so that a run that is stopped and continued, or played by any number of processes, comes to the same decisions after
the same games.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator

from experiments.plan.cells import Cell, Column, Experiment, Sprt
from experiments.results import Outcomes

ROUND = 8  # units between two interim analyses
BETTER, NOT_BETTER = "better", "not better"
PRIOR = 1e-3  # of a unit for every possible score, so that a ratio exists after a few equal ones
DECIMALS = 6  # of a score, as of a reward in the tables of a run
PRECISION = 1e-12  # of the tilt of a distribution
EDGE = 1e-12  # from the ends of its range, as a share of them


def log_ratio(scores: Counter[float], possible: Iterable[float], margin: float) -> float:
    """The logarithm of the likelihood of scores with mean `margin` over that with mean 0, the distribution being the likeliest.

    Args:
        scores: how often each was seen.
        possible: all that can be seen.
    """
    from scipy.optimize import brentq

    counts = {score: scores[score] + PRIOR for score in possible}
    total = sum(counts.values())

    def fit(mean: float) -> float:
        """The greatest log-likelihood of a distribution with that mean: p = p̂ / (1 + x (score - mean)), x the tilt."""

        def slope(tilt: float) -> float:
            return sum(
                count * (score - mean) / (1 + tilt * (score - mean))
                for score, count in counts.items()
            )

        # between the tilts at which the chance of the highest or the lowest score would be infinite
        low, high = (-(1 - EDGE) / (end - mean) for end in (max(counts), min(counts)))
        tilt = brentq(slope, low, high, xtol=PRECISION, rtol=PRECISION)
        return sum(
            count * math.log(count / total / (1 + tilt * (score - mean)))
            for score, count in counts.items()
        )

    return fit(margin) - fit(0.0)


def scores(cell: Cell, even: Cell, outcomes: Outcomes, units: range) -> list[float]:
    """The score of each unit, all of whose games must have been played; no two that differ by rounding only."""

    def score(unit: int) -> float:
        trials = trials_of(unit, cell.column)
        received = sum(round(outcomes[cell.key, trial], DECIMALS) for trial in trials)
        usual = sum(round(outcomes[even.key, trial], DECIMALS) for trial in trials)
        return round((received - usual) / len(trials), DECIMALS)

    return [score(unit) for unit in units]


def trials_of(unit: int, column: Column) -> range:
    """The games of a deal, one in every seat."""
    seats = len(column.seats)
    return range(unit * seats, (unit + 1) * seats)


def decision(scores: Iterable[float], seats: int, test: Sprt) -> str | None:
    """What the scores so far decide, if anything. Possible are all scores that wins can give, and of rewards those that were seen."""
    counts = Counter(scores)
    by_wins = {round(number / seats, DECIMALS) for number in range(-seats, seats + 1)}
    ratio = log_ratio(counts, sorted(by_wins | counts.keys()), test.margin)
    if ratio >= math.log((1 - test.beta) / test.alpha):
        return BETTER
    if ratio <= math.log(test.beta / (1 - test.alpha)):
        return NOT_BETTER
    return None


# what the tests that have ended found, and after how many units
Decided = dict[Cell, tuple[str, int]]


def rounds(
    experiment: Experiment, outcomes: Outcomes, decided: Decided
) -> Iterator[list[tuple[Cell, int]]]:
    """The games of each round as (cell, trial); `outcomes` must hold them all when the next round is asked for.

    The cells are side by side; the baseline plays while any agent of its column does.

    Args:
        decided: where what the tests find is added.
    """
    test = experiment.sprt
    assert test is not None
    even = {cell.column: cell for cell in experiment.cells if cell.is_opponent}
    scores_of = {cell: list[float]() for cell in experiment.cells if not cell.is_opponent}
    for start in itertools.count(0, ROUND):
        open_cells = [cell for cell in scores_of if cell not in decided]
        units = {}
        for column in {cell.column for cell in open_cells}:
            end = experiment.trials // len(column.seats)
            units[column] = range(start, min(start + ROUND, end))
        games = list[tuple[Cell, int]]()
        for unit in range(start, start + ROUND):
            for cell in experiment.cells:
                is_playing = cell in open_cells or cell.is_opponent
                if is_playing and unit in units.get(cell.column, ()):
                    games += [(cell, trial) for trial in trials_of(unit, cell.column)]
        if not games:
            return
        yield games
        for cell in open_cells:
            if not units[cell.column]:
                continue
            scores_of[cell] += scores(cell, even[cell.column], outcomes, units[cell.column])
            if answer := decision(scores_of[cell], len(cell.column.seats), test):
                decided[cell] = answer, len(scores_of[cell])


def verdicts(experiment: Experiment, outcomes: Outcomes) -> tuple[Decided, bool]:
    """What the tests have found by the games played so far (better or not better, units), and whether all games are played."""
    decided = Decided()
    for games in rounds(experiment, outcomes, decided):
        if any((cell.key, trial) not in outcomes for cell, trial in games):
            return decided, False
    return decided, True
