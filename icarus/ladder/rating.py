"""Ratings in Elo from scores between players, with their 95 % intervals.

The model of Bradley and Terry (1952): a player rated r scores 1 / (1 + 10^((s − r)/400)) against one rated s, on average. A drawn game is a
score of ½, and the shared points of a game of several players a score between 0 and 1. What is known of a rating beforehand is a normal
distribution; a player of whom nothing is known has one as wide as UNKNOWN, which weighs as much as a twentieth of an even game and keeps
the rating of who has won all games finite. Intervals follow from the curvature at the maximum, so that the uncertainty of the opponents'
ratings is in them. Opponents rated by games among themselves share most of it: what is known of them is a joint normal distribution, and
what they share does not average out over games with all of them. (`choix` fits the same model without draws, intervals, or opponents that
are rated already.)
"""

import math
from collections.abc import Iterable, Mapping

import attrs
import numpy as np

ELO = math.log(10) / 400
NORMAL_95 = 1.959963984540054
UNKNOWN = 1500.0  # Elo: standard deviation of a rating of which nothing is known
STEPS, PRECISION = 200, 1e-6
LONGEST_STEP = 200.0  # Elo

Score = tuple[str, str, float]  # a player, the opponent, the player's score in [0, 1]


@attrs.frozen
class Rating:
    """A rating in Elo with its 95 % interval.

    Attributes:
        games: how many it rests on.
    """

    value: float
    low: float
    high: float
    games: int = 0

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return (self.high - self.low) / (2 * NORMAL_95)

    def __str__(self) -> str:
        return f"{round(self.value)} ± {(self.high - self.low) / 2:.0f}"


def intervals_of(ratings: Mapping[str, Rating]) -> dict[str, tuple[float, float, float]]:
    """Ratings with their intervals, the strongest first, for a picture."""
    return {
        name: (each.value, each.low, each.high)
        for name, each in sorted(ratings.items(), key=lambda item: -item[1].value)
    }


def expected(rating: float | np.ndarray, opponent: float | np.ndarray) -> float | np.ndarray:
    """The mean score against an opponent."""
    return 1 / (1 + np.exp(ELO * (opponent - rating)))


@attrs.frozen
class Posterior:
    """What games say of several ratings.

    Attributes:
        names: of the players.
        value: [player] the ratings.
        covariance: [player, player].
        games: [player] how many each has played.
    """

    names: tuple[str, ...]
    value: np.ndarray
    covariance: np.ndarray
    games: np.ndarray

    def ratings(self) -> dict[str, Rating]:
        """Each player's rating with its interval."""
        reach = NORMAL_95 * np.sqrt(np.diag(self.covariance))
        rows = zip(self.names, self.value, reach, self.games, strict=True)
        return {name: Rating(float(v), float(v - r), float(v + r), int(games)) for name, v, r, games in rows}

    def difference(self, player: str, opponent: str) -> Rating:
        """How far a player stands above another; its interval is narrower than those of both where they have played each other."""
        i, j = self.names.index(player), self.names.index(opponent)
        value = float(self.value[i] - self.value[j])
        reach = NORMAL_95 * float(self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]) ** 0.5
        return Rating(value, value - reach, value + reach)

    def gain(self, player: str, opponent: str) -> float:
        """What one more game between two players tells of the difference between them, in parts of what is not known of it."""
        difference = self.difference(player, opponent)
        chance = float(expected(difference.value, 0.0))
        return ELO**2 * chance * (1 - chance) * difference.deviation**2


def posterior(
    scores: Iterable[Score],
    priors: Mapping[str, Rating],
    newcomers: Iterable[str] = (),
    covariance: np.ndarray | None = None,
) -> Posterior:
    """The ratings of all who played, and of those known beforehand: the maximum of the posterior density, by Newton's method.

    Args:
        scores: of games between two different players.
        priors: ratings that are known with their intervals; one of width 0 is the scale's zero.
        newcomers: players of whom nothing is known and who may not have played yet.
        covariance: [prior, prior] of the priors in their order, in Elo²; without it they are independent, as wide as their intervals say.
    """
    games = list(scores)
    players = {name for *pair, _ in games for name in pair}
    names = tuple(sorted(players | {*priors, *newcomers}))
    index = {name: i for i, name in enumerate(names)}
    first = np.array([index[player] for player, _, _ in games], int)
    second = np.array([index[opponent] for _, opponent, _ in games], int)
    score = np.array([points for _, _, points in games], float)
    center = np.array([priors[name].value if name in priors else 0.0 for name in names])
    precision = _precision(names, priors, covariance)
    value, curvature = center.copy(), precision
    for _ in range(STEPS):
        chance = expected(value[first], value[second])
        gradient = precision @ (center - value)
        np.add.at(gradient, first, ELO * (score - chance))
        np.add.at(gradient, second, ELO * (chance - score))
        curvature = precision.copy()
        weight = ELO**2 * chance * (1 - chance)
        for rows, columns, sign in ((first, first, 1), (second, second, 1), (first, second, -1), (second, first, -1)):
            np.add.at(curvature, (rows, columns), sign * weight)
        step = np.linalg.solve(curvature, gradient)
        value = value + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < PRECISION:
            break
    games_each = np.bincount(first, minlength=len(names)) + np.bincount(second, minlength=len(names))
    return Posterior(names, value, np.linalg.inv(curvature), games_each)


def _precision(names: tuple[str, ...], priors: Mapping[str, Rating], covariance: np.ndarray | None) -> np.ndarray:
    """[player, player] the inverse of the covariance of what is known beforehand."""
    variances = [priors[name].deviation ** 2 if name in priors else UNKNOWN**2 for name in names]
    prior = np.diag(variances)
    if covariance is not None:
        places = [names.index(name) for name in priors]
        prior[np.ix_(places, places)] = covariance
    np.fill_diagonal(prior, np.maximum(np.diag(prior), PRECISION**2))
    return np.linalg.inv(prior)


def informative(rating: Rating, opponent: Rating, games: int) -> float:
    """What the next game against an opponent is worth to a rating: the information in its outcome.

    Averaged over what the rating may be; it falls with the games already played where the opponent's own rating is uncertain.
    """
    possible = rating.value + rating.deviation * np.linspace(-1.5, 1.5, 7)
    chance = expected(possible, opponent.value)
    information = float(np.mean(ELO**2 * chance * (1 - chance)))
    return information / (1 + games * information * opponent.deviation**2) ** 2
