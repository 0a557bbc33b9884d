"""Comparisons of agents with what is expected of them: a difference, its intervals, and the verdict by one stated rule."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import attrs
import numpy as np

from experiments import statistics
from experiments.plan.cells import Cell, game_title
from experiments.results import Moments, Score, Tally
from icarus.statistics import Estimate
from icarus.views.document import Table

AGREES, DISAGREES, UNDECIDED = "agrees", "disagrees", "undecided"
MOST_GAMES = 10**6  # a plan for more is none
WINS, SCORE, VISITS, VALUE, DEPTH = "wins", "score", "visits", "value", "depth"
# m/r: the paper's number of games confirms "the same" with a chance of about 80 % (see `docs/reproduction-rule.md`).
MARGIN = 1.8
# how verdicts come about; the braces are for what r is in a paper's games
RULE = (
    "Each comparison is a difference with intervals. The paper's statement leaves a range in which the true "
    'difference may lie, and one that it excludes: a "higher" must be above 0, and is contradicted below r, the smallest '
    'difference that the paper could have found significant with its games ({}); a "same" must '
    'be within the margin of equivalence ±m, and is contradicted beyond; a "not lower" must be above −m, and is contradicted below. '
    "m is 1.8 r, fixed beforehand, which the paper's number of games can confirm; or a size that the paper names. "
    "A comparison agrees if its interval to agree lies within the first range, else disagrees if its interval to disagree lies "
    "within the second, and is undecided otherwise. A statement agrees if as many of its cases do as it needs (all, some or often), "
    "and disagrees if so many disagree that the rest is too few. Each statement is wrongly agreed with, or wrongly disagreed with, in "
    "at most 5 % of all repetitions: where one agreement among n would be enough, the intervals to agree have the level 1 − 5 %/n, and "
    "where one contradiction would be, those to disagree have it (Bonferroni; the first step of Holm). A statement about all games waits "
    "for all of them. More games: how many more each cell needs for a decision with a chance of 80 %, if the difference stays as it is."
)


def margin(r: float) -> float:
    """The margin of equivalence m that belongs to a smallest difference found."""
    return MARGIN * r


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

    def agrees(self, estimate: Estimate) -> Any:
        """Whether an interval lies in what is allowed."""
        return _inside(self.agree, estimate)

    def contradicted(self, estimate: Estimate) -> Any:
        """Whether an interval lies in what is excluded."""
        return _inside(self.contradict, estimate)

    def smaller_effect(self, against: Estimate) -> float:
        """The largest effect in the stated direction that is left by an interval which contradicts, and so is below r; 0 if none is."""
        largest = 0.0
        if self.contradicted(against):
            for low, high in self.agree:
                for end in (against.low, against.high):
                    if low < end < high:
                        largest = max(largest, end, key=abs)
        return largest

    def standing(self, estimate: Estimate) -> float:
        """How deep a difference lies in what is allowed, or (negative) how far outside, in half-widths of its interval."""
        half_width = (estimate.high - estimate.low) / 2
        return _depth(self.agree, estimate.value) / half_width if half_width else 0.0


def _depth(regions: Sequence[Region], value: float) -> float:
    return max(min(value - low, high - value) for low, high in regions)


def _inside(regions: Sequence[Region], estimate: Estimate) -> Any:
    """Whether an interval lies in one of the regions."""
    return np.any(
        [(low <= estimate.low) & (estimate.high <= high) for low, high in regions], axis=0
    )


def higher(r: float) -> Expectation:
    return Expectation("higher than", ((0.0, math.inf),), ((-math.inf, r),))


def lower(r: float) -> Expectation:
    return Expectation("lower than", ((-math.inf, 0.0),), ((-r, math.inf),))


def same(m: float) -> Expectation:
    return Expectation("the same as", ((-m, m),), ((-math.inf, -m), (m, math.inf)))


def not_lower(m: float) -> Expectation:
    return Expectation("not lower than", ((-m, math.inf),), ((-math.inf, -m),))


def not_higher(m: float) -> Expectation:
    return Expectation("not higher than", ((-math.inf, m),), ((m, math.inf),))


def different(r: float) -> Expectation:
    return Expectation("different from", ((-math.inf, -r), (r, math.inf)), ((-r, r),))


def within(low: float, high: float, text: str) -> Expectation:
    return Expectation(text, ((low, high),), ((-math.inf, low), (high, math.inf)))


EXPECTATIONS = {  # by their names in files of statements; and whether what is expected is a difference, of which r is the smallest found
    "higher": (higher, True),
    "lower": (lower, True),
    "different": (different, True),
    "same": (same, False),
    "not lower": (not_lower, False),
    "not higher": (not_higher, False),
}


@attrs.frozen
class ComparedSide:
    """One side of a comparison in one game: agents whose games are added up, by their strategies."""

    weight: float
    place: Place
    strategies: tuple[str, ...]


@attrs.frozen
class Contrast:
    """A weighted sum of rates or means, and what is expected of it.

    Attributes:
        where, what: the game and the sides, in words.
        measure: wins (rates), score (a draw counts one half), visits (of the chosen action; ratios), value (of that action) or
            depth (of the tree).
        confidence: of the interval, before it is shared with other comparisons and interim analyses.
        pooled: the interval is that of the analysis of variance: all agents with an enhancement against all without it.
    """

    where: str
    what: str
    terms: tuple[ComparedSide, ...]
    expected: Expectation
    measure: str = WINS
    confidence: float = statistics.CONFIDENCE
    pooled: bool = False

    @property
    def cells(self) -> set[tuple[Place, str]]:
        """All whose games are needed."""
        return {(term.place, strategy) for term in self.terms for strategy in term.strategies}


class Estimator:
    """The results of agents against the baseline in the paper's games, with one budget per decision.

    In a simulation the numbers of a tally are arrays, with an entry for each replication.
    """

    def __init__(self, tallies: Iterable[Tally]) -> None:
        self._tallies = {(place_of(tally.cell), tally.cell.text): tally for tally in tallies}
        self._side = functools.cache(self._estimate)

    def tally(self, place: Place, strategy: str) -> Tally | None:
        tally = self._tallies.get((place, strategy))
        return tally if tally is not None and tally.games else None

    def estimate(self, comparison: Contrast, confidence: float) -> Estimate | None:
        """The difference with its interval; None where games are missing on any side."""
        if comparison.pooled:
            return self._analyse(comparison, confidence)
        sides = list[tuple[float, Estimate]]()
        for term in comparison.terms:
            side = self._side(term.place, term.strategies, comparison.measure, confidence)
            if side is None:
                return None
            sides.append((term.weight, side))
        return statistics.contrast(sides)

    def games(self, comparison: Contrast) -> int:
        """The fewest games of its agents."""
        tallies = (self._tallies.get(cell) for cell in comparison.cells)
        return min(tally.games if tally else 0 for tally in tallies)

    def _estimate(
        self, place: Place, strategies: tuple[str, ...], measure: str, confidence: float
    ) -> Estimate | None:
        tallies = self.played(place, strategies)
        if len(tallies) < len(strategies):
            return None
        if measure == WINS:
            pooled = statistics.average_cell([(tally.wins, tally.games) for tally in tallies])
            return statistics.wilson(*pooled, confidence)
        if measure == SCORE:
            total = sum(tallies, Score())
            return statistics.score(total.wins, total.draws, total.games, confidence)
        return _mean([tally.moments[measure] for tally in tallies], measure, confidence)

    def played(self, place: Place, strategies: Iterable[str]) -> list[Tally]:
        """Those of the agents that have games."""
        return [tally for each in strategies if (tally := self.tally(place, each)) is not None]

    def _analyse(self, comparison: Contrast, confidence: float) -> Estimate | None:
        """The difference between the averages with the interval that belongs to its test in the analysis of variance."""
        complete, featured = list[Tally](), list[bool]()
        for term in comparison.terms:
            tallies = self.played(term.place, term.strategies)
            if len(tallies) < len(term.strategies):
                return None
            complete += tallies
            featured += [term.weight > 0] * len(tallies)
        wins = np.array(np.broadcast_arrays(*(tally.wins for tally in complete)), float)
        games = np.array([tally.games for tally in complete], float)
        games = np.expand_dims(games, tuple(range(1, wins.ndim)))
        value, error = statistics.main_effect(wins, games, np.array(featured))
        half_width = statistics.ndtri((1 + confidence) / 2) * error
        return Estimate(value, value - half_width, value + half_width)


def _mean(parts: Sequence[Moments], measure: str, confidence: float) -> Estimate | None:
    """The mean of a statistic of the searches; of visits its logarithm, so that differences are ratios."""
    pooled = parts[0]
    for part in parts[1:]:
        pooled = Moments(
            pooled.count + part.count, pooled.total + part.total, pooled.squares + part.squares
        )
    if pooled.mean is None or pooled.error is None:
        return None
    mean = statistics.student(pooled.mean, pooled.error, pooled.count, confidence)
    if measure != VISITS:
        return mean
    if np.any(mean.value <= 0):
        return None
    middle = np.log(mean.value)
    low, high = (middle + (end - mean.value) / mean.value for end in (mean.low, mean.high))
    return Estimate(middle, low, high)


def more_games(
    expected: Expectation,
    intervals: tuple[Estimate, Estimate],
    levels: tuple[float, float],
    games: int,
) -> int:
    """The games that each cell would need besides those it has, if the difference stays: a half-width shrinks with their root.

    Args:
        intervals: to agree and to disagree, the wider of whose halves counts; either may decide.
        levels: of the two.
    """
    fewest = math.inf
    for each, level, regions in zip(
        intervals, levels, (expected.agree, expected.contradict), strict=True
    ):
        room = _depth(regions, float(each.value))
        if room > 0:
            half_width = max(each.value - each.low, each.high - each.value)
            narrowing = half_width * statistics.power_factor(level) / room
            fewest = min(fewest, games * narrowing**2)
    return MOST_GAMES if fewest > MOST_GAMES else max(1, math.ceil(fewest) - games)


def place_of(cell: Cell) -> Place:
    return cell.column.game.partition("(")[0], cell.column.role


def place_title(place: Place) -> str:
    game, role = place
    return game_title(game) + (f" ({role})" if role else "")


# -------------------- Statements tested: the verdict of each interim analysis on each comparison, and of the comparisons on the statement.


MORE_GAMES = "More games"
SIGNS = {AGREES: 1, DISAGREES: -1, UNDECIDED: 0}
_VERDICTS = {sign: verdict for verdict, sign in SIGNS.items()}


@attrs.frozen
class Claim:
    """A statement of a paper.

    Attributes:
        text: as it is tested, in our words.
        cases: comparisons; a case agrees if all of its comparisons do, and disagrees if one does.
        needed: how many cases must agree.
        quote: the paper's own words.
    """

    text: str
    cases: tuple[tuple[Contrast, ...], ...]
    needed: int
    quote: str = ""

    def levels(self, case: Sequence[Contrast]) -> tuple[float, float]:
        """The parts of α that the intervals to agree and to disagree of a case may use.

        Too few cases are true, but enough agree: then one of at least n − needed + 1 false ones does. Enough are true, but so many
        disagree that the rest is too few: then one comparison of at least `needed` true cases does.
        """
        return 1 / (len(self.cases) - self.needed + 1), 1 / (self.needed * len(case))

    @property
    def comparisons(self) -> list[Contrast]:
        return [comparison for case in self.cases for comparison in case]


@attrs.frozen
class Interim:
    """What is known after a fixed number of games of each cell, and the share of α that its verdicts may spend."""

    estimator: Estimator
    share: float = 1.0


@attrs.frozen
class Outcome:
    """What the games say of a comparison.

    Attributes:
        estimate: with the interval to agree, at the last interim analysis taken; None without games on every side.
        against: with the interval to disagree.
        levels: of the two intervals.
        more: games that each cell would need besides those it has; None where nothing is to be decided or nothing known.
        interim: the number of the last interim analysis taken, the first that decides; 0 before any.
    """

    comparison: Contrast
    estimate: Estimate | None
    verdict: str
    against: Estimate | None = None
    levels: tuple[float, float] = (statistics.CONFIDENCE, statistics.CONFIDENCE)
    more: int | None = None
    interim: int = 0

    @property
    def strength(self) -> tuple[int, float]:
        """How well the games support the paper: by the verdict, then by how deep the difference lies in what the paper allows."""
        assert self.estimate is not None
        return SIGNS[self.verdict], self.comparison.expected.standing(self.estimate)


@attrs.frozen
class Judgement:
    """A claim with what the games say of each of its comparisons, case by case."""

    claim: Claim
    cases: tuple[tuple[Outcome, ...], ...]
    verdict: str

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(outcome for case in self.cases for outcome in case)

    @property
    def decisive(self) -> Outcome | None:
        """The comparison on which the verdict hangs: the weakest one of the weakest case among as many as must agree.

        So it is the least certain comparison of a statement about all cases, and the most certain one of a statement about some.
        """
        strength = attrgetter("strength")
        weakest = []
        for case in self.cases:
            if estimated := [outcome for outcome in case if outcome.estimate is not None]:
                weakest.append(min(estimated, key=strength))
        weakest.sort(key=strength, reverse=True)
        return weakest[min(self.claim.needed, len(weakest)) - 1] if weakest else None

    @property
    def is_estimated(self) -> bool:
        """Whether any of its comparisons was played."""
        return any(outcome.estimate is not None for outcome in self.outcomes)

    @property
    def interim(self) -> int:
        """The number of the last interim analysis that any of its comparisons has had."""
        return max((outcome.interim for outcome in self.outcomes), default=0)

    @property
    def more(self) -> int | None:
        """The games that each cell needs besides those played until as many cases agree as must, as far as that is known.

        Cases that disagree already cannot be among these.
        """
        if self.verdict != UNDECIDED:
            return None
        missing, games = self.claim.needed, list[int]()
        for case in self.cases:
            verdicts = {outcome.verdict for outcome in case}
            if verdicts == {AGREES}:
                missing -= 1
            more = [outcome.more for outcome in case if outcome.more is not None]
            if more and DISAGREES not in verdicts:
                games.append(max(more))
        games.sort()
        return games[min(missing, len(games)) - 1] if games else None


def decide(claim: Claim, interims: Sequence[Interim]) -> Judgement:
    """What the games say of a claim."""
    cases, signs = [], []
    for case in claim.cases:
        levels = claim.levels(case)
        outcomes = tuple(find(comparison, levels, interims) for comparison in case)
        cases.append(outcomes)
        signs.append([np.array(SIGNS[outcome.verdict]) for outcome in outcomes])
    return Judgement(claim, tuple(cases), _VERDICTS[int(combine_signs(claim, signs))])


def combine_signs(claim: Claim, cases: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """The verdict on a claim from those on its comparisons: 1 agrees, −1 disagrees, 0 undecided; of several replications at once arrays."""
    agreeing = sum(np.all([sign == 1 for sign in case], axis=0).astype(int) for case in cases)
    disagreeing = sum(np.any([sign == -1 for sign in case], axis=0).astype(int) for case in cases)
    enough, too_many = agreeing >= claim.needed, disagreeing > len(cases) - claim.needed
    return np.where(enough, 1, np.where(too_many, -1, 0))


# with the intervals to agree and to disagree, and their levels
Found = tuple[Estimate, Estimate, tuple[float, float]]


def intervals(comparison: Contrast, parts: tuple[float, float], interim: Interim) -> Found | None:
    """What an interim analysis finds; None where games are missing."""
    to_agree, to_disagree = (
        1 - (1 - comparison.confidence) * part * interim.share for part in parts
    )
    estimate = interim.estimator.estimate(comparison, to_agree)
    against = interim.estimator.estimate(comparison, to_disagree)
    if estimate is None or against is None:
        return None
    return estimate, against, (to_agree, to_disagree)


def sign(expected: Expectation, estimates: Found) -> np.ndarray:
    """The verdict of one interim analysis: 1, −1 or 0, of several replications at once arrays."""
    estimate, against, _ = estimates
    return np.where(expected.agrees(estimate), 1, np.where(expected.contradicted(against), -1, 0))


def find(comparison: Contrast, parts: tuple[float, float], interims: Sequence[Interim]) -> Outcome:
    """The verdict on a comparison at the first interim analysis that decides it, or else what the last one says."""
    outcome = Outcome(comparison, None, UNDECIDED)
    expected = comparison.expected
    for number, interim in enumerate(interims, 1):
        if estimates := intervals(comparison, parts, interim):
            estimate, against, levels = estimates
            verdict, more = _VERDICTS[int(sign(expected, estimates))], None
            if verdict == UNDECIDED:
                games = interim.estimator.games(comparison)
                more = more_games(expected, (estimate, against), levels, games)
            outcome = Outcome(comparison, estimate, verdict, against, levels, more, number)
            if verdict != UNDECIDED:
                break
    return outcome


# ---------------------------------------------------------------------------------------------------------------- tables


def tally_sentence(decisions: Sequence[Judgement], source: str) -> str:
    """How many statements of a source agree, in words."""
    numbers = Counter(decision.verdict for decision in decisions)
    return (
        f"Of {len(decisions)} statements of {source}, {numbers[AGREES]} agree with these games, {numbers[DISAGREES]} disagree, "
        f"{numbers[UNDECIDED]} are undecided."
    )


def summary_table(decisions: Sequence[Judgement], quoted: bool = False) -> Table:
    """A line for each claim, with the paper's own words if asked for."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        verdicts = [
            outcome.verdict for outcome in decision.outcomes if outcome.estimate is not None
        ]
        texts = [decision.claim.text]
        if quoted:
            texts.insert(0, decision.claim.quote)
        lines.append(
            [
                str(number),
                *texts,
                decision.verdict,
                *(str(verdicts.count(verdict)) for verdict in (AGREES, DISAGREES, UNDECIDED)),
                str(len(decision.outcomes) - len(verdicts)),
                more_text(decision.more),
            ]
        )
    titles = ["The paper", "As tested"] if quoted else ["The paper"]
    return Table(
        'Statements, with the verdicts on their comparisons. A "higher" disagrees, too, where a gain, if there is one, is below r.',
        ["No.", *titles, "Verdict", "agree", "disagree", "undecided", "not played", MORE_GAMES],
        lines,
    )


def details_table(decisions: Sequence[Judgement]) -> Table:
    """A line for each comparison that was played."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        for outcome in decision.outcomes:
            if outcome.estimate is not None:
                compared = outcome.comparison
                texts = [compared.where, compared.what, *figures_of(outcome), outcome.verdict]
                lines.append([str(number), *texts, more_text(outcome.more)])
    header = [
        "No.",
        "Game",
        "The paper expects",
        "Difference",
        "Interval to agree",
        "Interval to disagree",
        "Verdict",
        MORE_GAMES,
    ]
    caption = "All comparisons, with their differences and intervals."
    return Table(caption, header, lines, folded=True)


def figures_of(outcome: Outcome) -> tuple[str, str, str]:
    """The difference and its two intervals, each with its level, as texts in the unit that suits."""
    assert outcome.estimate is not None and outcome.against is not None
    measure, estimate, against = outcome.comparison.measure, outcome.estimate, outcome.against
    to_agree, to_disagree = (
        f"{_text(each.low, measure)} to {_text(each.high, measure)} ({level_text(level)})"
        for each, level in zip((estimate, against), outcome.levels, strict=True)
    )
    if outcome.verdict == DISAGREES:
        effect = outcome.comparison.expected.smaller_effect(against)
        if effect:
            to_disagree += f"; up to {_text(effect, measure)} may be true, less than the paper could have found"
    return _text(estimate.value, measure), to_agree, to_disagree


def level_text(level: float) -> str:
    """The level of an interval, with as many digits as tell it from 100 %."""
    digits = 0
    if level > statistics.CONFIDENCE + 1e-9:
        digits = max(0, math.ceil(-math.log10(100 * (1 - level)))) + 1
    return f"{100 * level:.{digits}f} %"


def _text(number: float, measure: str) -> str:
    match measure:
        case "wins" | "score":
            return f"{100 * number:+.1f} %"
        case "visits":
            return f"{100 * math.expm1(number):+.1f} %"
        case _:
            return f"{number:+.3f}"


def more_text(more: int | None) -> str:
    if more is None:
        return ""
    return f"> {MOST_GAMES}" if more >= MOST_GAMES else str(more)
