"""Comparisons of agents with what is expected of them: a difference, its 95 % interval, and the verdict by one stated rule."""

import math
from collections.abc import Iterable, Mapping, Sequence

import attrs

from experiments.plan.definition import Cell
from experiments.plan.titles import game_title
from experiments.store.summary import Moments, Tally
from experiments.weigh.statistics import Estimate, contrast, mean_interval, power_factor, score, wilson

AGREES, DISAGREES, UNDECIDED = "agrees", "disagrees", "undecided"
MOST_GAMES = 10**6  # a plan for more is none
WINS, SCORE, VISITS, VALUE, DEPTH = "wins", "score", "visits", "value", "depth"
_RULE = (
    "Each comparison is a difference with its 95 % interval. The paper's statement leaves a range in which the true "
    'difference may lie, and one that it excludes: a "higher" must be above 0, and is contradicted below r; a "same" must '
    'be within ±r, and is contradicted beyond; a "not lower" must be above −r, and is contradicted below. r is the smallest '
    "difference that the paper could have found significant with its games ({}), or the size that it names. A comparison agrees if "
    "its interval lies within the first range, else disagrees if within the second, and is undecided otherwise. A statement "
    "about several games agrees if all of its comparisons do and disagrees if one does; one about some game the other way "
    "round. More games: how many more each cell needs for a decision with a chance of 80 %, if the difference stays as it "
    "is."
)


def rule(sizes: str) -> str:
    """How verdicts come about, in words.

    Args:
        sizes: what r is.
    """
    return _RULE.format(sizes)


RULE = rule(
    "4.4 % for two combinations of 1000 games, 1.5 % for the averages of 8000, less for averages over all games"
)

Region = tuple[float, float]
Place = tuple[str, str]  # game and role


@attrs.frozen
class Expectation:
    """What the paper says of a difference.

    Attributes:
        text: in words, between the two sides.
        agree: ranges of true differences that it allows.
        contradict: ranges that it excludes.
    """

    text: str
    agree: tuple[Region, ...]
    contradict: tuple[Region, ...]

    def verdict(self, estimate: Estimate) -> str:
        for regions, verdict in ((self.agree, AGREES), (self.contradict, DISAGREES)):
            if any(low <= estimate.low and estimate.high <= high for low, high in regions):
                return verdict
        return UNDECIDED

    def room(self, value: float) -> float:
        """How far an interval around a difference may reach to either side and still decide."""
        return max(min(value - low, high - value) for low, high in (*self.agree, *self.contradict))


def higher(r: float) -> Expectation:
    return Expectation("higher than", ((0.0, math.inf),), ((-math.inf, r),))


def lower(r: float) -> Expectation:
    return Expectation("lower than", ((-math.inf, 0.0),), ((-r, math.inf),))


def same(r: float) -> Expectation:
    return Expectation("the same as", ((-r, r),), ((-math.inf, -r), (r, math.inf)))


def not_lower(r: float) -> Expectation:
    return Expectation("not lower than", ((-r, math.inf),), ((-math.inf, -r),))


def not_higher(r: float) -> Expectation:
    return Expectation("not higher than", ((-math.inf, r),), ((r, math.inf),))


def different(r: float) -> Expectation:
    return Expectation("different from", ((-math.inf, -r), (r, math.inf)), ((-r, r),))


def within(low: float, high: float, text: str) -> Expectation:
    return Expectation(text, ((low, high),), ((-math.inf, low), (high, math.inf)))


@attrs.frozen
class Term:
    """One side of a comparison in one game: agents whose games are added up, by their strategies."""

    weight: float
    place: Place
    strategies: tuple[str, ...]


@attrs.frozen
class Comparison:
    """A weighted sum of rates or means, and what is expected of it.

    Attributes:
        where, what: the game and the sides, in words.
        measure: wins (rates), score (a draw counts half a win), visits (of the chosen action; ratios), value (of that action) or
            depth (of the tree).
        confidence: of the interval.
        everywhere: it is an average over games; those not played are left out.
    """

    where: str
    what: str
    terms: tuple[Term, ...]
    expected: Expectation
    measure: str = WINS
    confidence: float = 0.95
    everywhere: bool = False


@attrs.frozen
class Finding:
    """What the games say of a comparison.

    Attributes:
        estimate: None without games on every side.
        more: games that each cell would need besides those it has; None where nothing is to be decided or nothing known.
    """

    comparison: Comparison
    estimate: Estimate | None
    verdict: str
    more: int | None = None


class Evidence:
    """The results of agents against the baseline in the paper's games, with one budget per decision."""

    def __init__(self, tallies: Iterable[Tally]) -> None:
        self._tallies = {(place_of(tally.cell), tally.cell.player.text): tally for tally in tallies}

    def tally(self, place: Place, strategy: str) -> Tally | None:
        found = self._tallies.get((place, strategy))
        return found if found is not None and found.games else None

    def find(self, comparison: Comparison) -> Finding:
        """The verdict on a comparison."""
        sides = [(term, self._side(term, comparison)) for term in comparison.terms]
        missing = {term.place for term, side in sides if side is None}
        known = [(term.weight, side) for term, side in sides if side is not None and term.place not in missing]
        if not known or (missing and not comparison.everywhere):
            return Finding(comparison, None, UNDECIDED)
        left_out = len(sides) / len(known)  # the weights of the other games grow by this
        estimate = contrast([(weight * left_out, side) for weight, side in known])
        verdict = comparison.expected.verdict(estimate)
        return Finding(
            comparison, estimate, verdict, self._more(comparison, estimate) if verdict == UNDECIDED else None
        )

    def _side(self, term: Term, comparison: Comparison) -> Estimate | None:
        found = [self.tally(term.place, strategy) for strategy in term.strategies]
        played = [tally for tally in found if tally is not None]
        if len(played) < len(found):
            return None
        if comparison.measure == WINS:
            return wilson(
                sum(tally.wins for tally in played), sum(tally.games for tally in played), comparison.confidence
            )
        if comparison.measure == SCORE:
            wins, draws, games = (
                sum(numbers) for numbers in zip(*((each.wins, each.draws, each.games) for each in played), strict=True)
            )
            return score(wins, draws, games, comparison.confidence)
        return _mean([tally.moments[comparison.measure] for tally in played], comparison)

    def _more(self, comparison: Comparison, estimate: Estimate) -> int | None:
        """The half-width of an interval shrinks with the root of the number of games."""
        room = comparison.expected.room(estimate.value)
        reach = max(estimate.value - estimate.low, estimate.high - estimate.value) * power_factor(comparison.confidence)
        games = min(
            tally.games
            for term in comparison.terms
            for strategy in term.strategies
            if (tally := self.tally(term.place, strategy)) is not None
        )
        if room <= 0 or (needed := games * (reach / room) ** 2) > MOST_GAMES:
            return MOST_GAMES
        return max(1, math.ceil(needed) - games)


def place_of(cell: Cell) -> Place:
    return cell.column.game.partition("(")[0], cell.column.role


def place_title(place: Place) -> str:
    game, role = place
    return game_title(game) + (f" ({role})" if role else "")


def _mean(parts: Sequence[Moments], comparison: Comparison) -> Estimate | None:
    """The mean of a statistic of the searches; of visits its logarithm, so that differences are ratios."""
    pooled = Moments(*(sum(part[i] for part in map(attrs.astuple, parts)) for i in range(3)))
    if pooled.mean is None or pooled.error is None or (comparison.measure == VISITS and pooled.mean <= 0):
        return None
    low, high = mean_interval(pooled.mean, pooled.error, pooled.count, comparison.confidence)
    if comparison.measure != VISITS:
        return Estimate(pooled.mean, low, high)
    return Estimate(
        math.log(pooled.mean), *(math.log(pooled.mean) + (edge - pooled.mean) / pooled.mean for edge in (low, high))
    )


def counts_of(
    evidence: Evidence, places: Sequence[Place], agents: Mapping[str, str]
) -> dict[str, dict[str, tuple[int, int]]]:
    """Wins and games by game and agent, for the games in which all of the agents have played."""
    found = {}
    for place in places:
        tallies = {agent: evidence.tally(place, strategy) for agent, strategy in agents.items()}
        if all(tally is not None for tally in tallies.values()):
            played = {agent: tally for agent, tally in tallies.items() if tally is not None}
            found[place_title(place)] = {agent: (tally.wins, tally.games) for agent, tally in played.items()}
    return found
