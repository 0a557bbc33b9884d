"""Intervals, tests and plans: Clopper-Pearson, Holm, marginal means, analysis of variance, the binomial model."""

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from statistics import NormalDist, harmonic_mean
from typing import Any

import attrs
import numpy as np

from experiments.papers import BY_NAME, COMBINATIONS, ENHANCEMENTS
from experiments.results import Moments, Tally, any_graded, baseline
from icarus.checks import real
from icarus.statistics import CONFIDENCE, Estimate, holm, mean_interval, mean_of

POWER = 0.8  # the chance that a difference is found if it is there
NINETY_FIVE = 1.96  # standard errors to either side, rounded so in the campaign's rule, which was fixed before its games
WinCount = tuple[int, int]  # (wins, games)
ndtri = NormalDist().inv_cdf  # quantiles of the standard normal distribution


def clopper_pearson(wins: float, games: int) -> tuple[float, float]:
    """The exact 95 % interval of a win rate (Clopper and Pearson 1934, section 8); (0, 1) without games. Half wins are interpolated.

    Raises:
        ValueError: not 0 <= wins <= games.
    """
    if not 0 <= wins <= games:
        raise ValueError(f"{wins!r} wins in {games!r} games; there are 0 to {games!r} wins")
    from scipy.special import betaincinv  # the quantiles of beta; scipy.stats is slow to load

    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if wins == 0 else float(betaincinv(wins, games - wins + 1, tail))
    high = 1.0 if wins == games else float(betaincinv(wins + 1, games - wins, 1 - tail))
    return low, high


def fisher_p_value(first: WinCount, second: WinCount) -> float:
    """The p-value of two win rates being the same (Fisher's exact test, two-sided)."""
    from scipy.stats import fisher_exact

    return float(
        fisher_exact(np.array([[wins, games - wins] for wins, games in (first, second)])).pvalue
    )


def mcnemar(first: int, second: int) -> float:
    """The p-value of two win rates on the same deals being the same, from the deals that only one of the two won (exact)."""
    from scipy.stats import binomtest

    return float(binomtest(first, first + second).pvalue) if first + second else 1.0


def games_needed(
    rate: float, alternative: float, power: float = POWER, confidence: float = CONFIDENCE
) -> int:
    """How many games each of two agents must play for a difference in win rate to be found (two-sided test of two proportions).

    Raises:
        ValueError: a rate, the power or the confidence outside (0, 1), or equal rates.
    """
    for name, value in {
        "rate": rate,
        "other rate": alternative,
        "power": power,
        "confidence": confidence,
    }.items():
        real(name, value, 0, 1, above=True, below=True)
    if rate == alternative:
        raise ValueError(f"both rates are {rate!r}; no number of games finds a difference of 0")
    mean = (rate + alternative) / 2
    by_chance = ndtri((1 + confidence) / 2) * math.sqrt(2 * mean * (1 - mean))
    by_power = ndtri(power) * math.sqrt(rate * (1 - rate) + alternative * (1 - alternative))
    return math.ceil(((by_chance + by_power) / (rate - alternative)) ** 2)


def smallest_difference(games: float) -> float:
    """The smallest difference of two win rates near 1/2 that 95 % intervals tell, of so many games each."""
    return NINETY_FIVE * math.sqrt(2 * 0.25 / games)


def marginals(counts: dict[str, WinCount]) -> dict[str, tuple[WinCount, WinCount]]:
    """Figure 3: for each enhancement the combinations without it and those with it, each with the same weight (`average_cell`).

    Args:
        counts: the results of combinations, by their names in Table 1.
    """

    def average(enhancement: str, featured: bool) -> WinCount:
        cells = [
            counts[c.name]
            for c in COMBINATIONS
            if c.name in counts and (enhancement in c.enhancements) == featured
        ]
        wins, games = average_cell([(wins, games) for wins, games in cells if games])
        return round(wins), round(games)

    return {
        enhancement: (average(enhancement, False), average(enhancement, True))
        for enhancement in ENHANCEMENTS
    }


def paired_effects(wins: np.ndarray) -> dict[str, Estimate]:
    """What each enhancement adds on the same deals: the mean over trials of the difference between the two averages of Figure 3.

    Args:
        wins: whether a combination won a trial: a row for each trial (two at least), a column for each combination in the order of Table 1.
    """
    effects = {}
    for enhancement in ENHANCEMENTS:
        featured = np.array(
            [enhancement in combination.enhancements for combination in COMBINATIONS]
        )
        effects[enhancement] = mean_of(
            wins[:, featured].mean(axis=1) - wins[:, ~featured].mean(axis=1)
        )
    return effects


def average_cell(cells: Sequence[tuple[Any, int]]) -> tuple[Any, float]:
    """Wins and games of one cell with the mean rate of all, known as well as that mean; if all have as many games, their sums.

    A cell with more games than others would otherwise count for more.
    """
    if not cells:
        return 0, 0.0
    games = len(cells) * harmonic_mean([games for _, games in cells])
    return sum(wins * (games / (len(cells) * own_games)) for wins, own_games in cells), games


@attrs.frozen
class FactorEffect:
    """A line of an analysis: what a factor, or several together, add to a model of the win rate.

    Attributes:
        term: the factors, joined by ":".
        freedom: its degrees of freedom.
        gain: the sum of squares, or for the binomial model the deviance, that it explains.
        statistic: F, or for the binomial model chi squared.
        p: the chance of so large a statistic without any effect.
        holm: the same, adjusted for the number of terms.
        direction: the mean win rate of cells with the enhancement less that of cells without it; None for several factors or the game.
    """

    term: str
    freedom: int
    gain: float
    statistic: float
    p: float
    holm: float
    direction: float | None


def main_effect(wins: np.ndarray, games: np.ndarray, featured: np.ndarray) -> tuple[Any, Any]:
    """The mean win rate with a factor less that without it, and its standard error in the analysis of variance.

    Args:
        wins: [cells] or [cells, replications]; games: [cells] or [cells, 1]; featured: [cells], whether the factor is there.
    """
    rates = wins / games
    squares = (games * rates * (1 - rates)).sum(axis=0)
    freedom = games.sum() - len(games)
    sides = featured, ~featured
    with_rate, without_rate = (wins[side].sum(axis=0) / games[side].sum() for side in sides)
    variance = squares / max(freedom, 1) * sum(1 / games[side].sum() for side in sides)
    return with_rate - without_rate, np.sqrt(variance)


class Design:
    """The factorial experiment: win counts by combination, and by column if there are several.

    Args:
        counts: for each column the results of combinations, by their names in Table 1.

    Attributes:
        cells: a data frame with a line for each: `won`, `lost`, `games`, and the factors, which are 1 and -1.
        terms: the factors and their interactions, as formulas name them.

    Raises:
        ValueError: a combination has no games in a column.
    """

    def __init__(self, counts: dict[str, dict[str, WinCount]]) -> None:
        import pandas

        lines = []
        for column, results in counts.items():
            for name, combination in BY_NAME.items():
                wins, games = results.get(name, (0, 0))
                if not games:
                    raise ValueError(
                        f"there are no games of {name} in {column}; the analysis needs all of Table 1"
                    )
                levels = {
                    factor: 1.0 if factor in combination.enhancements else -1.0
                    for factor in ENHANCEMENTS
                }
                counted = {"won": float(wins), "lost": float(games - wins), "games": float(games)}
                lines.append({**counted, **levels, "Game": column})
        self.cells = pandas.DataFrame(lines)
        self.factors = list(ENHANCEMENTS)
        if len(counts) > 1:
            self.factors.append("Game")
        self.terms = list[str]()
        for size in range(1, len(self.factors) + 1):
            self.terms += map(":".join, itertools.combinations(self.factors, size))

    @property
    def within(self) -> tuple[float, int]:
        """The sum of squares within cells and its degrees of freedom."""
        won, games = self.cells["won"], self.cells["games"]
        return float((won * (1 - won / games)).sum()), int(games.sum()) - len(games)

    def direction(self, term: str) -> float | None:
        """The mean win rate with an enhancement less that without it; every cell counts alike, so that no game is confounded with it."""
        if term not in ENHANCEMENTS:
            return None
        rates = self.cells["won"] / self.cells["games"]
        featured = self.cells[term] > 0
        return float(rates[featured].mean() - rates[~featured].mean())

    def effects(self, tested: Sequence[tuple[str, int, float, float, float]]) -> list[FactorEffect]:
        """Terms with their degrees of freedom, gain, statistic and p, as effects."""
        adjusted = holm([p for *_, p in tested])
        return [
            FactorEffect(*each, corrected, self.direction(each[0]))
            for each, corrected in zip(tested, adjusted, strict=True)
        ]


def anova(design: Design) -> list[FactorEffect]:
    """Analysis of variance of the single games (win 1, otherwise 0) with all factors and interactions, type II.

    statsmodels fits the games won and the games not won of each cell as two weighted observations, which have the sums of squares of
    the single games; the error is that within cells.
    """
    import pandas
    from scipy.special import fdtrc
    from statsmodels.formula.api import wls
    from statsmodels.stats.anova import anova_lm

    sides = [(1.0, design.cells["won"]), (0.0, design.cells["lost"])]
    observed = pandas.concat(
        [design.cells.assign(win=win, weight=games) for win, games in sides], ignore_index=True
    )
    fitted = wls(f"win ~ {' * '.join(design.factors)}", observed, weights=observed["weight"]).fit()
    table = anova_lm(fitted, typ=2).loc[design.terms]
    within, freedom_within = design.within
    tested = []
    for term, gain, freedom in zip(table.index, table["sum_sq"], table["df"], strict=True):
        statistic, p = math.nan, 1.0
        if freedom_within > 0 and within > 0:
            statistic = (gain / freedom) / (within / freedom_within)
            p = float(fdtrc(freedom, freedom_within, statistic))
        tested.append((term, int(freedom), float(gain), statistic, p))
    return design.effects(tested)


def binomial_model(design: Design) -> list[FactorEffect]:
    """The logistic model of the win counts with all factors and interactions; likelihood ratio tests, type II.

    Each term is compared with the model of all terms that do not contain it.
    """
    from scipy.special import chdtrc
    from statsmodels.formula.api import glm
    from statsmodels.genmod.families import Binomial

    def fitted(terms: Sequence[str]) -> Any:
        # a cell without wins has no finite estimate, but its deviance has a limit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return glm(
                f"won + lost ~ {' + '.join(['1', *terms])}", design.cells, family=Binomial()
            ).fit()

    tested = []
    for term in design.terms:
        others = [each for each in design.terms if not set(term.split(":")) <= set(each.split(":"))]
        small, large = fitted(others), fitted([*others, term])
        freedom = int(small.df_resid - large.df_resid)
        gain = max(0.0, float(small.deviance - large.deviance))
        tested.append((term, freedom, gain, gain, float(chdtrc(freedom, gain))))
    return design.effects(tested)


def wilson(wins: Any, games: Any, confidence: float = CONFIDENCE) -> Estimate:
    """A win rate with its score interval (Wilson 1927), of which intervals of differences are made."""
    from statsmodels.stats.proportion import proportion_confint

    return Estimate(wins / games, *proportion_confint(wins, games, 1 - confidence, method="wilson"))


def score(wins: int, draws: int, games: int, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of games in which a draw counts one half, with Wilson's interval for as many games without draws as vary like them.

    The variance is that of the games and half a game of each outcome besides, so that it is not 0 where all ended alike.
    """
    value = (wins + draws / 2) / games
    if not draws:
        return wilson(wins, games, confidence)
    smooth = games + 3 / 2
    mean, square = (wins + draws / 2 + 3 / 4) / smooth, (wins + draws / 4 + 5 / 8) / smooth
    like = games * mean * (1 - mean) / (square - mean**2)
    return wilson(value * like, like, confidence)


def student(mean: Any, error: Any, count: Any, confidence: float = CONFIDENCE) -> Estimate:
    """A mean with Student's interval, from its standard error over `count` values."""
    from scipy.special import stdtrit

    half_width = float(stdtrit(count - 1, (1 + confidence) / 2)) * error
    return Estimate(mean, mean - half_width, mean + half_width)


def welch_p_value(first: Moments, second: Moments) -> float:
    """The p-value of two means, each of two values at least, being the same (Welch's t test, two-sided); 1 where neither varies."""
    from scipy.special import stdtr

    assert first.mean is not None and second.mean is not None
    variances = [(each.error or 0.0) ** 2 for each in (first, second)]
    total = sum(variances)
    if total == 0:
        return 1.0
    counts = first.count, second.count
    freedom = total**2 / sum(v**2 / (n - 1) for v, n in zip(variances, counts, strict=True))
    return 2 * float(stdtr(freedom, -abs(first.mean - second.mean) / math.sqrt(total)))


def contrast(terms: Sequence[tuple[float, Estimate]]) -> Estimate:
    """A weighted sum of independent estimates, its interval from theirs (Zou and Donner 2008; for two rates Newcombe 1998)."""
    value = below = above = 0.0
    for weight, term in terms:
        down, up = weight * (term.low - term.value), weight * (term.high - term.value)
        if weight < 0:
            down, up = up, down
        value = value + weight * term.value
        below = below + down**2
        above = above + up**2
    return Estimate(value, value - below**0.5, value + above**0.5)


def rate_difference(first: WinCount, second: WinCount) -> Estimate:
    """The first of two win rates less the second, with Newcombe's interval."""
    return contrast([(1.0, wilson(*first)), (-1.0, wilson(*second))])


def power_factor(confidence: float = CONFIDENCE) -> float:
    """How much narrower than needed an interval must be expected to be, so that it decides with the chance `POWER`."""
    z = ndtri((1 + confidence) / 2)
    return (z + ndtri(POWER)) / z


# -------------------- What agents are compared by: the share of games won, or the mean reward.


def mean_of_moments(rewards: Moments) -> Estimate:
    """The mean of rewards, one at least, with its interval, see `mean_interval`."""
    assert rewards.mean is not None
    ends = mean_interval(rewards.mean, rewards.error or 0.0, rewards.count, 0.0, 1.0, CONFIDENCE)
    return Estimate(rewards.mean, *ends)


def strengths(column: Sequence[Tally]) -> list[Estimate | None]:
    """What the agents of a column are compared by, each with its 95 % interval; None of an agent without games."""
    graded, estimates = any_graded(column), list[Estimate | None]()
    for tally in column:
        if graded and tally.games:
            estimates.append(mean_of_moments(tally.rewards))
        else:
            estimates.append(win_rate(tally.wins, tally.games))
    return estimates


def win_rate(wins: float, games: int) -> Estimate | None:
    """The share of games won, with the interval of Clopper and Pearson; None without games."""
    return Estimate(wins / games, *clopper_pearson(wins, games)) if games else None


@attrs.frozen
class GainTest:
    """An agent beside evenly matched players.

    Attributes:
        gain: what it wins or is rewarded more, with the interval of this comparison alone.
        p: the p-value of being no better or worse, with Holm's correction over the column.
        detectable: the difference that the test finds with the chance `POWER`.
    """

    gain: Estimate
    p: float
    detectable: float


def comparisons(column: Sequence[Tally]) -> dict[str, GainTest]:
    """Each agent of a column beside evenly matched players, by cell key; none where these have not played.

    Wins are compared by Fisher's exact test; where rewards are graded, their means by Welch's t test.
    """
    even, graded = baseline(list(column)), any_graded(column)
    # Graded rewards of one game have no standard error: its agent cannot be compared yet.
    tested = [
        tally for tally in column if tally.games and not (graded and tally.rewards.error is None)
    ]
    if even not in tested:
        return {}
    tested.remove(even)
    compare = _compare_rewards if graded else _compare_wins
    results = [compare(tally, even) for tally in tested]
    adjusted = holm([p for _, p, _ in results])
    return {
        tally.cell.key: GainTest(gain, p, detectable(error, len(tested)))
        for tally, (gain, _, error), p in zip(tested, results, adjusted, strict=True)
    }


def _compare_wins(tally: Tally, even: Tally) -> tuple[Estimate, float, float]:
    """The difference, its p-value, and its standard error, which is not 0 where all games ended alike."""
    rates = (tally.wins, tally.games), (even.wins, even.games)
    rate = (tally.wins + even.wins + 1) / (tally.games + even.games + 2)
    error = math.sqrt(rate * (1 - rate) * (1 / tally.games + 1 / even.games))
    return rate_difference(*rates), fisher_p_value(*rates), error


def _compare_rewards(tally: Tally, even: Tally) -> tuple[Estimate, float, float]:
    """The difference, its p-value, and its standard error, which is infinite where rewards of one do not vary."""
    rewards, usual = tally.rewards, even.rewards
    gain = contrast([(1.0, mean_of_moments(rewards)), (-1.0, mean_of_moments(usual))])
    error = math.hypot(rewards.error or math.inf, usual.error or math.inf)
    return gain, welch_p_value(rewards, usual), error


def detectable(error: float, comparisons: int) -> float:
    """The smallest difference that a test, one of several (Bonferroni), finds with the chance `POWER`, from its standard error."""
    return error * (ndtri(1 - (1 - CONFIDENCE) / (2 * comparisons)) + ndtri(POWER))


# -------------------- Mean rewards of one player against another, with their 95 % intervals.


ROUNDING = 1e-9  # of shared points: below it there is no difference
INTERVALS = "95 % intervals by Student's t, where all are alike by Clopper and Pearson's bound"


def numbers(estimate: Estimate, form: str, scale: float = 1.0) -> tuple[str, str, str]:
    """A number and the ends of its interval in a format, each times `scale`."""
    return (
        f"{scale * estimate.value:{form}}",
        f"{scale * estimate.low:{form}}",
        f"{scale * estimate.high:{form}}",
    )


def share_text(estimate: Estimate) -> str:
    """A share in percent with its interval."""
    return f"{interval_text(estimate, 1, 100)} %"


def interval_text(estimate: Estimate, digits: int, scale: float = 1.0) -> str:
    """A number with half of its interval, or with both ends where it reaches further to one side."""
    value, low, high = numbers(estimate, f".{digits}f", scale)
    if math.isclose(estimate.half, estimate.value - estimate.low, abs_tol=ROUNDING):
        return f"{value} ± {scale * estimate.half:.{digits}f}"
    return f"{value} ({low} to {high})"


# -------------------- How much to search for a strength that is wanted: a monotone fit of ratings over the logarithm of iterations.


def iterations_for(ratings: Mapping[int, Estimate], targets: list[float]) -> list[int]:
    """The iterations at which an agent stands so high, by ratings at some iterations.

    Isotonic regression (pool adjacent violators), weighted by the precision of each rating; linear between the fitted points.
    What lies beyond them is not extrapolated. Without ratings there are none.
    """
    if not ratings:
        return []
    from scipy.optimize import isotonic_regression

    iterations = sorted(ratings)
    value = np.array([ratings[number].value for number in iterations])
    precision = np.array([ratings[number].deviation ** -2 for number in iterations])
    fitted = isotonic_regression(value, weights=precision).x
    course = _rising(fitted, np.log(iterations))
    return [round(float(np.exp(np.interp(elo, *course)))) for elo in targets]


def _rising(fitted: np.ndarray, logarithms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fitted values without repetitions, and for each the middle of where it is reached."""
    values = np.unique(fitted)
    return values, np.array([logarithms[fitted == value].mean() for value in values])
