"""Tables of README.md and docs/reproduction.md, made from the rows of a campaign; each stands between two comments with its name."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from experiments.analysis.claims import (
    CLAIMS,
    PLACES,
    STRATEGIES,
    average,
    average_overall,
    interims_of,
    overall,
    versus,
)
from experiments.analysis.interims import count_sentence, progress, progress_table, state
from experiments.analysis.statistics import CONFIDENCE, clopper_pearson
from experiments.analysis.verdicts import (
    AGREES,
    DISAGREES,
    UNDECIDED,
    Comparison,
    Decision,
    Estimator,
    Outcome,
    Place,
    decide,
    different,
    figures_of,
    place_title,
)
from experiments.papers.combinations import COMBINATIONS, ENHANCEMENTS
from experiments.store.results import Results
from icarus.views.document import Table, markdown_table

ALONE = {"R": "RAVE", "M": "MAST", "L": "LGRF", "N": "NAST", "EPIC": "EPIC"}
SHOWN = {
    "BASELINE": "-",
    ">> MAST": "M",
    ">> LGRF": "L",
    "RAVE": "R",
    ">> EPIC": "EPIC",
    ">> NAST2": "N",
    "RAVE >> NAST2": "NR",
}  # in the README, by their strategies
MIXED = {  # an enhancement of the simulation among the combinations without NAST, and among those with it
    (name, has_nast): f"{name} {'with' if has_nast else 'without'} NAST"
    for name in ("MAST", "LGRF")
    for has_nast in (False, True)
}
_ANY = different(0.0)  # a difference of any kind: only its interval is shown
Column = TypeVar("Column")
MINUS = "\N{MINUS SIGN}"


def tables(results: Results) -> dict[str, str]:
    """All tables, by name: results, counted (a sentence), statements, averages, mixed, alone and games."""
    (interims,) = interims_of(results).values()
    decisions = [decide(claim, interims) for claim in CLAIMS]
    estimator, lines = Estimator(results.tallies()), progress(results)
    return {
        "results": first_results(interims[0].estimator),
        "counted": f"{sum(line.games for line in lines):,} games. {count_sentence(decisions)}\n",
        "statements": statements(decisions),
        "averages": _gains(
            estimator,
            {name: name for name in ENHANCEMENTS},
            lambda name, place: average_overall(name, _ANY) if place is None else average(name, place, _ANY),
        ),
        "mixed": _gains(estimator, MIXED, _gain_by_nast),
        "alone": _gains(
            estimator,
            ALONE,
            lambda agent, place: overall(agent, _ANY, "-") if place is None else versus(place, agent, _ANY, "-"),
        ),
        "games": markdown_table(progress_table(lines)) + "\n",
    }


def first_results(estimator: Estimator) -> str:
    """A line for each game, a column for each agent: percent won with the 95 % interval of Clopper and Pearson, and the games of a cell.

    Args:
        estimator: of the first interim analysis.
    """
    lines = []
    for place in PLACES:
        tallies = [tally for name in SHOWN.values() if (tally := estimator.tally(place, STRATEGIES[name])) is not None]
        if len(tallies) == len(SHOWN):
            ends = [[100 * end for end in clopper_pearson(tally.wins, tally.games)] for tally in tallies]
            cells = [
                f"{100 * tally.wins / tally.games:.1f} ({low:.0f}-{high:.0f})"
                for tally, (low, high) in zip(tallies, ends, strict=True)
            ]
            lines.append([place_title(place), str(tallies[0].games), *cells])
    return markdown_table(Table("", ["", "games", *SHOWN], lines)) + "\n"


def statements(decisions: Sequence[Decision]) -> str:
    """A line for each statement: its state, the verdicts on its comparisons, and its decisive comparison."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        verdicts = [outcome.verdict for outcome in decision.outcomes]
        counts = " / ".join(str(verdicts.count(verdict)) for verdict in (AGREES, UNDECIDED, DISAGREES))
        outcome = decision.decisive
        lines.append([str(number), decision.claim.text, state(decision), counts, _figures(outcome) if outcome else ""])
    header = ["No.", "Statement", "State", "agree / open / disagree", "Decisive comparison"]
    return markdown_table(Table("", header, lines)) + "\n"


def _figures(outcome: Outcome) -> str:
    """A comparison with its difference and the interval of its verdict; where there is none, that to agree."""
    difference, to_agree, to_disagree = figures_of(outcome)
    interval = to_disagree if outcome.verdict == DISAGREES else to_agree
    comparison = outcome.comparison
    return f"{comparison.where}: {comparison.what}: {difference}, {interval}".replace(" -", f" {MINUS}")


def _gain_by_nast(column: tuple[str, bool], place: Place | None) -> Comparison:
    """What an enhancement adds to the combinations that have NAST, or to those that have not."""
    name, has_nast = column
    among = [each for each in COMBINATIONS if ("NAST" in each.enhancements) == has_nast]
    return average_overall(name, _ANY, among) if place is None else average(name, place, _ANY, among)


def _gains(
    estimator: Estimator, columns: Mapping[Column, str], comparison_of: Callable[[Column, Place | None], Comparison]
) -> str:
    """A line for each game and one for all, a column for each agent or enhancement: percent of games won more, with its 95 % interval."""
    lines = []
    for place in (*PLACES, None):
        cells = []
        for name in columns:
            estimate = estimator.estimate(comparison_of(name, place), CONFIDENCE)
            ends = estimate and [f"{100 * each:+.1f}" for each in (estimate.value, estimate.low, estimate.high)]
            cells.append("{} ({} to {})".format(*ends).replace("-", MINUS) if ends else "")
        lines.append(["all games" if place is None else place_title(place), *cells])
    return markdown_table(Table("", ["won more, %", *columns.values()], lines)) + "\n"
