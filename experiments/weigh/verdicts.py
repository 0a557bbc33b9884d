"""Statements judged: what the looks at the games say of each comparison, and what follows for the whole.

A look is a fixed number of the first games of every cell, and has a share of the 5 % that a statement may be wrong in; a comparison is
decided at the first look that decides it. The shares add up to 1, so that the chance of a wrong verdict at any look keeps within the
5 %, in whatever order the games are played and whenever one stops.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from experiments.weigh.document import Table
from experiments.weigh.evidence import (
    AGREES,
    DISAGREES,
    MOST_GAMES,
    UNDECIDED,
    Comparison,
    Estimate,
    Evidence,
    more_games,
)
from experiments.weigh.statistics import CONFIDENCE

MORE_GAMES = "More games"
_VERDICTS = {1: AGREES, -1: DISAGREES, 0: UNDECIDED}


@attrs.frozen
class Claim:
    """A statement of a paper.

    Attributes:
        text: as it is judged, in our words.
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
class Look:
    """What is known after a fixed number of games of each cell, and the share of α that its verdicts may spend."""

    evidence: Evidence
    share: float = 1.0


@attrs.frozen
class Finding:
    """What the games say of a comparison.

    Attributes:
        estimate: with the interval to agree, at the last look taken; None without games on every side.
        against: with the interval to disagree.
        levels: of the two intervals.
        more: games that each cell would need besides those it has; None where nothing is to be decided or nothing known.
        look: the number of the last look taken, the first that decides; 0 before any.
    """

    comparison: Comparison
    estimate: Estimate | None
    verdict: str
    against: Estimate | None = None
    levels: tuple[float, float] = (CONFIDENCE, CONFIDENCE)
    more: int | None = None
    look: int = 0


@attrs.frozen
class Judgement:
    """A claim with what the games say of each of its comparisons, case by case."""

    claim: Claim
    cases: tuple[tuple[Finding, ...], ...]
    verdict: str

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for case in self.cases for finding in case)

    @property
    def look(self) -> int:
        """The number of the last look that any of its comparisons has had."""
        return max((finding.look for finding in self.findings), default=0)

    @property
    def more(self) -> int | None:
        """The games that each cell needs besides those played, as far as that is known: until as many cases are decided as needed."""
        if self.verdict != UNDECIDED:
            return None
        known = [[finding.more for finding in case if finding.more is not None] for case in self.cases]
        cases = sorted(max(case) for case in known if case)
        return cases[min(self.claim.needed, len(cases)) - 1] if cases else None


def judge(claim: Claim, looks: Sequence[Look]) -> Judgement:
    """What the games say of a claim."""
    cases = tuple(tuple(find(comparison, claim.levels(case), looks) for comparison in case) for case in claim.cases)
    signs = [[_sign(finding.verdict) for finding in case] for case in cases]
    return Judgement(
        claim, cases, _VERDICTS[int(together(claim, [[np.array(sign) for sign in case] for case in signs]))]
    )


def _sign(verdict: str) -> int:
    return next(sign for sign, text in _VERDICTS.items() if text == verdict)


def together(claim: Claim, cases: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """The verdict on a claim from those on its comparisons: 1 agrees, −1 disagrees, 0 undecided; of several worlds at once arrays."""
    agreeing = sum(np.all([sign == 1 for sign in case], axis=0).astype(int) for case in cases)
    disagreeing = sum(np.any([sign == -1 for sign in case], axis=0).astype(int) for case in cases)
    enough, too_many = agreeing >= claim.needed, disagreeing > len(cases) - claim.needed
    return np.where(enough, 1, np.where(too_many, -1, 0))


def confidences(comparison: Comparison, parts: tuple[float, float], look: Look) -> tuple[float, float]:
    """The levels of the intervals to agree and to disagree at a look."""
    to_agree, to_disagree = (1 - (1 - comparison.confidence) * part * look.share for part in parts)
    return to_agree, to_disagree


def signs(comparison: Comparison, parts: tuple[float, float], look: Look) -> np.ndarray | None:
    """The verdict of one look: 1, −1 or 0, of several worlds at once arrays; None where games are missing."""
    to_agree, to_disagree = confidences(comparison, parts, look)
    estimate = look.evidence.estimate(comparison, to_agree)
    if estimate is None:
        return None
    against = look.evidence.estimate(comparison, to_disagree)
    assert against is not None
    return np.where(comparison.expected.agrees(estimate), 1, np.where(comparison.expected.contradicted(against), -1, 0))


def find(comparison: Comparison, parts: tuple[float, float], looks: Sequence[Look]) -> Finding:
    """The verdict on a comparison at the first look that decides it, or else what the last one says."""
    taken = None
    for number, look in enumerate(looks, 1):
        sign = signs(comparison, parts, look)
        if sign is None:
            continue
        taken = number, look, int(sign)
        if sign != 0:
            break
    if taken is None:
        return Finding(comparison, None, UNDECIDED)
    number, look, verdict = taken
    levels = confidences(comparison, parts, look)
    estimate, against = (look.evidence.estimate(comparison, level) for level in levels)
    assert estimate is not None
    more = more_games(comparison, estimate, levels[0], look.evidence.games(comparison)) if verdict == 0 else None
    return Finding(comparison, estimate, _VERDICTS[verdict], against, levels, more, number)


# ---------------------------------------------------------------------------------------------------------------- tables


def tallied(judged: Sequence[Judgement], source: str) -> str:
    """How many statements of a source agree, in words."""
    numbers = Counter(judgement.verdict for judgement in judged)
    return (
        f"Of {len(judged)} statements of {source}, {numbers[AGREES]} agree with these games, {numbers[DISAGREES]} disagree, "
        f"{numbers[UNDECIDED]} are undecided."
    )


def summary_table(judged: Sequence[Judgement], quoted: bool = False) -> Table:
    """A line for each claim, with the paper's own words if asked for."""
    lines = []
    for number, judgement in enumerate(judged, 1):
        verdicts = [finding.verdict for finding in judgement.findings if finding.estimate is not None]
        lines.append(
            [
                str(number),
                *([judgement.claim.quote] * quoted),
                judgement.claim.text,
                judgement.verdict,
                *(str(verdicts.count(verdict)) for verdict in (AGREES, DISAGREES, UNDECIDED)),
                str(len(judgement.findings) - len(verdicts)),
                more_text(judgement.more),
            ]
        )
    header = ["No.", *(["The paper"] * quoted), "As judged" if quoted else "The paper", "Verdict"]
    return Table(
        "Statements, with the verdicts on their comparisons.",
        [*header, "agree", "disagree", "undecided", "not played", MORE_GAMES],
        lines,
    )


def details_table(judged: Sequence[Judgement]) -> Table:
    """A line for each comparison that was played."""
    lines = [
        [
            str(number),
            finding.comparison.where,
            finding.comparison.what,
            *figures_of(finding),
            finding.verdict,
            more_text(finding.more),
        ]
        for number, judgement in enumerate(judged, 1)
        for finding in judgement.findings
        if finding.estimate is not None
    ]
    header = ["No.", "Game", "The paper expects", "Difference", "Interval to agree", "Interval to disagree", "Verdict"]
    return Table("Comparisons.", [*header, MORE_GAMES], lines)


def figures_of(finding: Finding) -> tuple[str, str, str]:
    """The difference and its two intervals, each with its level, as texts in the unit that suits."""
    assert finding.estimate is not None and finding.against is not None
    measure, one, other = finding.comparison.measure, finding.estimate, finding.against
    intervals = (
        f"{_shown(each.low, measure)} to {_shown(each.high, measure)} ({level_text(level)})"
        for each, level in zip((one, other), finding.levels, strict=True)
    )
    return _shown(one.value, measure), *intervals  # type: ignore[return-value]


def level_text(level: float) -> str:
    """The level of an interval, with as many digits as tell it from 100 %."""
    digits = max(0, math.ceil(-math.log10(100 * (1 - level)))) + 1 if level > CONFIDENCE + 1e-9 else 0
    return f"{100 * level:.{digits}f} %"


def _shown(number: float, measure: str) -> str:
    match measure:
        case "wins" | "score":
            return f"{100 * number:+.1f} %"
        case "visits":
            return f"{100 * math.expm1(number):+.1f} %"
        case _:
            return f"{number:+.3f}"


def more_text(more: int | None) -> str:
    return "" if more is None else f"> {MOST_GAMES}" if more >= MOST_GAMES else str(more)
