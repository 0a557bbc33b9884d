"""Statements tested: the verdict of each interim analysis on each comparison, and of the comparisons on the statement.

An interim analysis takes a fixed number of the first games of every cell. It has a share of the 5 % in which a statement may be wrong.
The first interim analysis that decides a comparison decides it for good. The shares add up to 1, so the chance of a wrong verdict at
any interim analysis is at most 5 %, in whatever order the games are played and whenever one stops.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter

import attrs
import numpy as np

from experiments.analysis.comparisons import (
    AGREES,
    DISAGREES,
    MOST_GAMES,
    UNDECIDED,
    Comparison,
    Estimate,
    Estimator,
    more_games,
)
from experiments.analysis.statistics import CONFIDENCE
from icarus.views.document import Table

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
    cases: tuple[tuple[Comparison, ...], ...]
    needed: int
    quote: str = ""

    def levels(self, case: Sequence[Comparison]) -> tuple[float, float]:
        """The parts of α that the intervals to agree and to disagree of a case may use.

        Too few cases are true, but enough agree: then one of at least n − needed + 1 false ones does. Enough are true, but so many
        disagree that the rest is too few: then one comparison of at least `needed` true cases does.
        """
        return 1 / (len(self.cases) - self.needed + 1), 1 / (self.needed * len(case))

    @property
    def comparisons(self) -> list[Comparison]:
        return [comparison for case in self.cases for comparison in case]


def all_of(text: str, comparisons: Iterable[Comparison], quote: str = "") -> Claim:
    """A statement that needs all of its comparisons."""
    cases = tuple((comparison,) for comparison in comparisons)
    return Claim(text, cases, len(cases), quote)


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
        interim analysis: the number of the last interim analysis taken, the first that decides; 0 before any.
    """

    comparison: Comparison
    estimate: Estimate | None
    verdict: str
    against: Estimate | None = None
    levels: tuple[float, float] = (CONFIDENCE, CONFIDENCE)
    more: int | None = None
    interim: int = 0

    @property
    def strength(self) -> tuple[int, float]:
        """How well the games support the paper: by the verdict, then by how deep the difference lies in what the paper allows."""
        assert self.estimate is not None
        return SIGNS[self.verdict], self.comparison.expected.standing(self.estimate)


@attrs.frozen
class Decision:
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
        cases = [[outcome for outcome in case if outcome.estimate is not None] for case in self.cases]
        strength = attrgetter("strength")
        weakest = sorted((min(case, key=strength) for case in cases if case), key=strength, reverse=True)
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
        """The games that each cell needs besides those played, as far as that is known: until as many cases are decided as must agree.

        Cases that disagree already cannot be among these.
        """
        if self.verdict != UNDECIDED:
            return None
        agreeing = sum(all(outcome.verdict == AGREES for outcome in case) for case in self.cases)
        missing = [
            [outcome.more for outcome in case if outcome.more is not None]
            for case in self.cases
            if all(outcome.verdict != DISAGREES for outcome in case)
        ]
        cases = sorted(max(case) for case in missing if case)
        return cases[min(self.claim.needed - agreeing, len(cases)) - 1] if cases else None


def decide(claim: Claim, interims: Sequence[Interim]) -> Decision:
    """What the games say of a claim."""
    cases = tuple(tuple(find(comparison, claim.levels(case), interims) for comparison in case) for case in claim.cases)
    verdicts = [[np.array(SIGNS[outcome.verdict]) for outcome in case] for case in cases]
    return Decision(claim, cases, _VERDICTS[int(combine_signs(claim, verdicts))])


def combine_signs(claim: Claim, cases: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """The verdict on a claim from those on its comparisons: 1 agrees, −1 disagrees, 0 undecided; of several replications at once arrays."""
    agreeing = sum(np.all([sign == 1 for sign in case], axis=0).astype(int) for case in cases)
    disagreeing = sum(np.any([sign == -1 for sign in case], axis=0).astype(int) for case in cases)
    enough, too_many = agreeing >= claim.needed, disagreeing > len(cases) - claim.needed
    return np.where(enough, 1, np.where(too_many, -1, 0))


def confidences(comparison: Comparison, parts: tuple[float, float], interim: Interim) -> tuple[float, float]:
    """The levels of the intervals to agree and to disagree at an interim analysis."""
    to_agree, to_disagree = (1 - (1 - comparison.confidence) * part * interim.share for part in parts)
    return to_agree, to_disagree


def signs(comparison: Comparison, parts: tuple[float, float], interim: Interim) -> np.ndarray | None:
    """The verdict of one interim analysis: 1, −1 or 0, of several replications at once arrays; None where games are missing."""
    to_agree, to_disagree = confidences(comparison, parts, interim)
    estimate = interim.estimator.estimate(comparison, to_agree)
    if estimate is None:
        return None
    against = interim.estimator.estimate(comparison, to_disagree)
    assert against is not None
    return np.where(comparison.expected.agrees(estimate), 1, np.where(comparison.expected.contradicted(against), -1, 0))


def find(comparison: Comparison, parts: tuple[float, float], interims: Sequence[Interim]) -> Outcome:
    """The verdict on a comparison at the first interim analysis that decides it, or else what the last one says."""
    latest = None
    for number, interim in enumerate(interims, 1):
        sign = signs(comparison, parts, interim)
        if sign is None:
            continue
        latest = number, interim, int(sign)
        if sign != 0:
            break
    if latest is None:
        return Outcome(comparison, None, UNDECIDED)
    number, interim, verdict = latest
    levels = confidences(comparison, parts, interim)
    estimate, against = (interim.estimator.estimate(comparison, level) for level in levels)
    assert estimate is not None and against is not None
    games = interim.estimator.games(comparison)
    more = more_games(comparison.expected, (estimate, against), levels, games) if verdict == 0 else None
    return Outcome(comparison, estimate, _VERDICTS[verdict], against, levels, more, number)


# ---------------------------------------------------------------------------------------------------------------- tables


def tally_sentence(decisions: Sequence[Decision], source: str) -> str:
    """How many statements of a source agree, in words."""
    numbers = Counter(decision.verdict for decision in decisions)
    return (
        f"Of {len(decisions)} statements of {source}, {numbers[AGREES]} agree with these games, {numbers[DISAGREES]} disagree, "
        f"{numbers[UNDECIDED]} are undecided."
    )


def summary_table(decisions: Sequence[Decision], quoted: bool = False) -> Table:
    """A line for each claim, with the paper's own words if asked for."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        verdicts = [outcome.verdict for outcome in decision.outcomes if outcome.estimate is not None]
        lines.append(
            [
                str(number),
                *([decision.claim.quote] * quoted),
                decision.claim.text,
                decision.verdict,
                *(str(verdicts.count(verdict)) for verdict in (AGREES, DISAGREES, UNDECIDED)),
                str(len(decision.outcomes) - len(verdicts)),
                more_text(decision.more),
            ]
        )
    header = ["No.", *(["The paper"] * quoted), "As tested" if quoted else "The paper", "Verdict"]
    return Table(
        "Statements, with the verdicts on their comparisons.",
        [*header, "agree", "disagree", "undecided", "not played", MORE_GAMES],
        lines,
    )


def details_table(decisions: Sequence[Decision]) -> Table:
    """A line for each comparison that was played."""
    lines = [
        [
            str(number),
            outcome.comparison.where,
            outcome.comparison.what,
            *figures_of(outcome),
            outcome.verdict,
            more_text(outcome.more),
        ]
        for number, decision in enumerate(decisions, 1)
        for outcome in decision.outcomes
        if outcome.estimate is not None
    ]
    header = ["No.", "Game", "The paper expects", "Difference", "Interval to agree", "Interval to disagree", "Verdict"]
    return Table("Comparisons.", [*header, MORE_GAMES], lines)


def figures_of(outcome: Outcome) -> tuple[str, str, str]:
    """The difference and its two intervals, each with its level, as texts in the unit that suits."""
    assert outcome.estimate is not None and outcome.against is not None
    measure, estimate, against = outcome.comparison.measure, outcome.estimate, outcome.against
    intervals = (
        f"{_text(each.low, measure)} to {_text(each.high, measure)} ({level_text(level)})"
        for each, level in zip((estimate, against), outcome.levels, strict=True)
    )
    return _text(estimate.value, measure), *intervals  # type: ignore[return-value]


def level_text(level: float) -> str:
    """The level of an interval, with as many digits as tell it from 100 %."""
    digits = max(0, math.ceil(-math.log10(100 * (1 - level)))) + 1 if level > CONFIDENCE + 1e-9 else 0
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
    return "" if more is None else f"> {MOST_GAMES}" if more >= MOST_GAMES else str(more)
