"""The paper against ours: what section 8 states, as data, and what the rows of any runs say to it."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import attrs

from experiments.papers.combinations import COMBINATIONS, ENHANCEMENTS
from experiments.papers.suite import EPISODES, RULES, TABLE_1
from experiments.plan.titles import budget
from experiments.store.results import Results
from experiments.store.summary import Tally
from experiments.weigh.document import Block, Heading, Paragraph, Table
from experiments.weigh.evidence import (
    AGREES,
    DEPTH,
    DISAGREES,
    MOST_GAMES,
    RULE,
    UNDECIDED,
    VALUE,
    VISITS,
    WINS,
    Comparison,
    Evidence,
    Expectation,
    Finding,
    Place,
    Term,
    counts_of,
    different,
    higher,
    lower,
    not_higher,
    not_lower,
    place_of,
    place_title,
    same,
    within,
)
from experiments.weigh.statistics import Design, Estimate

LANDLORD, HEARTS, LIGHT, DARK, CHECKERS, OTHELLO, BACKGAMMON = PLACES = (
    ("dou-di-zhu", "Landlord"),
    ("hearts", ""),
    ("lotr-confrontation", "Light"),
    ("lotr-confrontation", "Dark"),
    ("checkers", ""),
    ("othello", ""),
    ("backgammon", ""),
)
STRATEGIES = {**TABLE_1, "EPIC": EPISODES["EPIC"], **RULES}
TRIALS = 1000  # games of a combination in the paper, at least
_ROOT = 1.96 * math.sqrt(2 * 0.25)  # √n times the smallest difference in win rate found with n games a side
CELL, AVERAGE = _ROOT / math.sqrt(TRIALS), _ROOT / math.sqrt(8 * TRIALS)
CELLS, AVERAGES = (r / math.sqrt(len(PLACES)) for r in (CELL, AVERAGE))  # … over all games
TENTH = math.log(1.1)  # "often 10-30 %"
VISITED = math.log(1.02)  # a difference in visits found with the games of two combinations
MARKED = 0.02  # of a reward; the paper gives no size
HALF_A_PLY = 0.5  # "one ply deeper"
SLIGHT = 0.1  # of win rate: rules of reuse further apart are "terribly marked"
SOURCE, MORE_GAMES = "section 8", "More games"
ANALYSIS = 0.999  # the level of the analysis of variance


@attrs.frozen
class Claim:
    """A statement of section 8.

    Attributes:
        cases: comparisons; a case agrees if all of its comparisons do.
        some: whether one case is enough; otherwise all are needed.
        analysis: whether it is about the analysis of variance over all results.
    """

    text: str
    cases: tuple[tuple[Comparison, ...], ...]
    some: bool = False
    analysis: bool = False


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
    def more(self) -> int | None:
        """The games that each cell needs besides those played, as far as that is known: of some cases the one decided first."""
        if self.verdict != UNDECIDED:
            return None
        cases = [
            max(known)
            for case in self.cases
            if (known := [finding.more for finding in case if finding.more is not None])
        ]
        return (min if self.claim.some else max)(cases, default=None)


def versus(place: Place, one: str, expected: Expectation, other: str, measure: str = WINS) -> Comparison:
    """Two agents in a game."""
    terms = Term(1.0, place, (STRATEGIES[one],)), Term(-1.0, place, (STRATEGIES[other],))
    return Comparison(place_title(place), _sides(one, expected, other, measure), terms, expected, measure)


def average(enhancement: str, place: Place, expected: Expectation) -> Comparison:
    """Figure 3: the eight combinations with an enhancement and the eight without."""
    return Comparison(
        place_title(place), _with_and_without(enhancement, expected), _averages(enhancement, [place]), expected
    )


def overall(one: str, expected: Expectation, other: str, measure: str = WINS) -> Comparison:
    """Two agents over all games, each game with the same weight."""
    share = 1 / len(PLACES)
    sides = (share, one), (-share, other)
    terms = tuple(Term(weight, place, (STRATEGIES[name],)) for place in PLACES for weight, name in sides)
    return Comparison("all games", _sides(one, expected, other, measure), terms, expected, measure, everywhere=True)


def average_overall(enhancement: str, expected: Expectation, confidence: float = 0.95) -> Comparison:
    return Comparison(
        "all games",
        _with_and_without(enhancement, expected),
        _averages(enhancement, PLACES),
        expected,
        confidence=confidence,
        everywhere=True,
    )


def _with_and_without(enhancement: str, expected: Expectation) -> str:
    return f"with {enhancement} {expected.text} without"


def _averages(enhancement: str, places: Sequence[Place]) -> tuple[Term, ...]:
    sides = {
        sign: tuple(c.strategy for c in COMBINATIONS if (enhancement in c.enhancements) == featured)
        for sign, featured in ((1.0, True), (-1.0, False))
    }
    return tuple(Term(sign / len(places), place, strategies) for place in places for sign, strategies in sides.items())


def _gain_over(place: Place, other: Place) -> Comparison:
    """Whether EPIC gains more over the baseline in one game than in another."""
    terms = tuple(
        Term(weight * sign, where, (STRATEGIES[name],))
        for sign, where in ((1.0, place), (-1.0, other))
        for weight, name in ((1.0, "EPIC"), (-1.0, "-"))
    )
    return Comparison(place_title(place), f"gain of EPIC higher than in {place_title(other)}", terms, higher(CELL))


def _sides(one: str, expected: Expectation, other: str, measure: str) -> str:
    return ("" if measure == WINS else f"{measure}: ") + f"{_shown(one)} {expected.text} {_shown(other)}"


def _shown(agent: str) -> str:
    return "the baseline" if agent == "-" else agent


def _all(text: str, comparisons: Iterable[Comparison]) -> Claim:
    return Claim(text, tuple((comparison,) for comparison in comparisons))


def _some(text: str, cases: Iterable[tuple[Comparison, ...]]) -> Claim:
    return Claim(text, tuple(cases), some=True)


_IMPERFECT = (LANDLORD, HEARTS, LIGHT, DARK)
_TREES = ("-", "L", "R", "M")
_visits, _value, _depth = (partial(versus, measure=measure) for measure in (VISITS, VALUE, DEPTH))

CLAIMS = (
    _all(
        "NAST is a significant improvement in all games but LOTR:C as Light and Checkers, where it makes no such difference.",
        [average("NAST", place, same(AVERAGE) if place in (LIGHT, CHECKERS) else higher(AVERAGE)) for place in PLACES],
    ),
    Claim(
        "Analysis of variance over all results: NAST is an improvement significant at the 99.9 % level.",
        ((average_overall("NAST", higher(AVERAGES), ANALYSIS),),),
        analysis=True,
    ),
    _some(
        "NAST is an improvement even in cases where LGRF is not.",
        [(average("NAST", place, higher(AVERAGE)), average("LGRF", place, not_higher(AVERAGE))) for place in PLACES],
    ),
    _all(
        "RAVE is detrimental in Hearts and in LOTR:C as Dark.",
        [average("RAVE", place, lower(AVERAGE)) for place in (HEARTS, DARK)],
    ),
    _all(
        "RAVE makes no significant difference in Dou Di Zhu and in LOTR:C as Light.",
        [average("RAVE", place, same(AVERAGE)) for place in (LANDLORD, LIGHT)],
    ),
    _all(
        "RAVE is significantly beneficial in Checkers, and in no other game.",
        [average("RAVE", place, higher(AVERAGE) if place == CHECKERS else not_higher(AVERAGE)) for place in PLACES],
    ),
    *(
        _all(
            f"{name} is never detrimental to a significant degree.",
            [average(name, place, not_lower(AVERAGE)) for place in PLACES],
        )
        for name in ("MAST", "LGRF", "NAST")
    ),
    *(
        _some(f"{name} is sometimes beneficial.", [(average(name, place, higher(AVERAGE)),) for place in PLACES])
        for name in ("MAST", "LGRF", "NAST")
    ),
    _all(
        "ε-greedy and UCB1 are the strongest of MAST's rules of reuse.",
        [
            overall(one, expected, other)
            for one in ("ε-greedy", "UCB1")
            for other, expected in (("Gibbs", higher(CELLS)), ("Roulette", not_lower(CELLS)))
        ],
    ),
    _all(
        "The Gibbs rule of MAST is generally slightly worse than the others.",
        [overall("Gibbs", lower(CELLS), other) for other in ("ε-greedy", "UCB1", "Roulette")],
    ),
    _all(
        "The sensitivity to the rule of reuse is not terribly marked.",
        [
            overall(one, same(SLIGHT), other)
            for one, other in (("Gibbs", "ε-greedy"), ("Gibbs", "UCB1"), ("Gibbs", "Roulette"), ("ε-greedy", "UCB1"))
        ],
    ),
    _all("LGRF alone is of limited use: less than NAST alone.", [overall("L", lower(CELLS), "N")]),
    _all(
        "NL beats N and L in Dou Di Zhu, although L is significantly worse than the baseline.",
        [
            versus(LANDLORD, "NL", higher(CELL), "N"),
            versus(LANDLORD, "NL", higher(CELL), "L"),
            versus(LANDLORD, "L", lower(CELL), "-"),
        ],
    ),
    _all(
        "ML beats M and L in LOTR:C as Dark, although L is no different from the baseline.",
        [
            versus(DARK, "ML", higher(CELL), "M"),
            versus(DARK, "ML", higher(CELL), "L"),
            versus(DARK, "L", same(CELL), "-"),
        ],
    ),
    _all("MAST is generally effective.", [average_overall("MAST", higher(AVERAGES))]),
    _all(
        "RML beats R, M and L in LOTR:C as Light.",
        [versus(LIGHT, "RML", higher(CELL), other) for other in ("R", "M", "L")],
    ),
    _all(
        "NRL beats N, R and L in LOTR:C as Light.",
        [versus(LIGHT, "NRL", higher(CELL), other) for other in ("N", "R", "L")],
    ),
    _all(
        "NAST performs strongly in all games: alone it is nowhere worse than the baseline.",
        [versus(place, "N", not_lower(CELL), "-") for place in PLACES],
    ),
    _all(
        "The chosen action has significantly more visits with NAST than for the baseline, LGRF, RAVE and MAST.",
        [_visits(place, "N", higher(VISITED), other) for other in _TREES for place in PLACES],
    ),
    _some(
        "Often, these are 10-30 % more.",
        [(_visits(place, "N", within(TENTH, math.log(1.3), "10-30 % higher than"), "-"),) for place in PLACES],
    ),
    _all(
        "The reward that NAST assigns to the chosen action is markedly different from that in the other trees.",
        [_value(place, "N", different(MARKED), other) for other in _TREES for place in PLACES],
    ),
    _all(
        "RAVE's deepest node is on average one ply deeper.",
        [
            overall("R", within(HALF_A_PLY, 3 * HALF_A_PLY, "one ply (± ½) deeper than"), other, DEPTH)
            for other in ("-", "N", "M", "L")
        ],
    ),
    _all(
        "Of the enhancements only RAVE has a significant impact on the depth of the tree.",
        [
            *(_depth(place, "R", different(HALF_A_PLY), "-") for place in PLACES),
            *(_depth(place, other, same(HALF_A_PLY), "-") for other in ("N", "M", "L") for place in PLACES),
        ],
    ),
    _all(
        "The degree of exploitation at the root is the same with RAVE as without: visits within 10 %.",
        [_visits(place, "R", same(TENTH), "-") for place in PLACES],
    ),
    _all("NAST is significantly better than EPIC in Othello.", [versus(OTHELLO, "N", higher(CELL), "EPIC")]),
    _all(
        "In all other games NAST and EPIC perform the same.",
        [versus(place, "EPIC", same(CELL), "N") for place in PLACES if place != OTHELLO],
    ),
    _all("EPIC significantly outperforms the baseline even in Othello.", [versus(OTHELLO, "EPIC", higher(CELL), "-")]),
    _all(
        "EPIC is a significant improvement in Dou Di Zhu, Hearts, LOTR:C and Backgammon.",
        [versus(place, "EPIC", higher(CELL), "-") for place in (*_IMPERFECT, BACKGAMMON)],
    ),
    _all(
        "EPIC works in Checkers and Othello too.",
        [versus(place, "EPIC", higher(CELL), "-") for place in (CHECKERS, OTHELLO)],
    ),
    _all(
        "EPIC's improvement is more marked in Dou Di Zhu than in Hearts, LOTR:C and Backgammon.",
        [_gain_over(LANDLORD, other) for other in (HEARTS, LIGHT, DARK, BACKGAMMON)],
    ),
)


def judge(claim: Claim, evidence: Evidence) -> Judgement:
    """What the games say of a claim."""
    cases = [
        [_analysed(comparison, evidence) if claim.analysis else evidence.find(comparison) for comparison in case]
        for case in claim.cases
    ]
    verdicts = [_together([finding.verdict for finding in case], AGREES, DISAGREES) for case in cases]
    verdict = _together(verdicts, DISAGREES, AGREES) if claim.some else _together(verdicts, AGREES, DISAGREES)
    return Judgement(claim, tuple(map(tuple, cases)), verdict)


def _together(verdicts: Sequence[str], everywhere: str, anywhere: str) -> str:
    """`everywhere` if all verdicts are that, `anywhere` if one is that."""
    if all(verdict == everywhere for verdict in verdicts):
        return everywhere
    return anywhere if anywhere in verdicts else UNDECIDED


def _analysed(comparison: Comparison, evidence: Evidence) -> Finding:
    """The difference between the averages with the interval that belongs to its test in the analysis of variance."""
    plain, counts = evidence.find(comparison), counts_of(evidence, PLACES, TABLE_1)
    if plain.estimate is None or not counts:
        return plain
    from scipy.special import ndtri

    value, error = Design(counts).main_effect(ENHANCEMENTS[0])
    reach = float(ndtri((1 + comparison.confidence) / 2)) * error
    estimate = Estimate(value, value - reach, value + reach)
    verdict = comparison.expected.verdict(estimate)
    return attrs.evolve(plain, estimate=estimate, verdict=verdict, more=plain.more if verdict == UNDECIDED else None)


def judgements(results: Results) -> dict[str, list[Judgement]]:
    """All claims, for each budget per decision with which one of the paper's games was played against the baseline."""
    by_budget: dict[str, list[Tally]] = {}
    for tally in results.tallies():
        column = tally.cell.column
        if (
            tally.games
            and place_of(tally.cell) in PLACES
            and not column.variant
            and column.opponent.text == TABLE_1["-"]
        ):
            by_budget.setdefault(budget(column), []).append(tally)
    return {name: [judge(claim, Evidence(tallies)) for claim in CLAIMS] for name, tallies in by_budget.items()}


def blocks(results: Results) -> Iterator[Block]:
    """The table "paper against ours"; nothing where no comparison of the paper was played."""
    for name, judged in judgements(results).items():
        if not any(finding.estimate for judgement in judged for finding in judgement.findings):
            continue
        yield Heading(f"Paper against ours: {name} per decision")
        yield Paragraph(tallied(judged))
        yield Paragraph(RULE)
        yield summary_table(judged)
        yield details_table(judged)


def tallied(judged: Sequence[Judgement], source: str = SOURCE) -> str:
    """How many statements of a source agree, in words."""
    numbers = Counter(judgement.verdict for judgement in judged)
    return (
        f"Of {len(judged)} statements of {source}, {numbers[AGREES]} agree with these games, {numbers[DISAGREES]} disagree, "
        f"{numbers[UNDECIDED]} are undecided."
    )


def summary_table(judged: Sequence[Judgement]) -> Table:
    """A line for each claim."""
    lines = []
    for number, judgement in enumerate(judged, 1):
        verdicts = [finding.verdict for finding in judgement.findings if finding.estimate is not None]
        lines.append(
            [
                str(number),
                judgement.claim.text,
                judgement.verdict,
                *(str(verdicts.count(verdict)) for verdict in (AGREES, DISAGREES, UNDECIDED)),
                str(len(judgement.findings) - len(verdicts)),
                more_text(judgement.more),
            ]
        )
    return Table(
        "Statements, with the verdicts on their comparisons.",
        ["No.", "The paper", "Verdict", "agree", "disagree", "undecided", "not played", MORE_GAMES],
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
    header = ["No.", "Game", "The paper expects", "Difference", "Interval", "Verdict", MORE_GAMES]
    return Table("Comparisons.", header, lines)


def figures_of(finding: Finding) -> tuple[str, str]:
    """The difference and its interval as texts, in the unit that suits."""
    assert finding.estimate is not None
    values = finding.estimate.value, finding.estimate.low, finding.estimate.high
    match finding.comparison.measure:
        case "wins" | "score":
            value, low, high = (f"{100 * number:+.1f} %" for number in values)
        case "visits":
            value, low, high = (f"{100 * math.expm1(number):+.1f} %" for number in values)
        case _:
            value, low, high = (f"{number:+.3f}" for number in values)
    return value, f"{low} to {high}"


def more_text(more: int | None) -> str:
    return "" if more is None else f"> {MOST_GAMES}" if more >= MOST_GAMES else str(more)
