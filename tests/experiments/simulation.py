"""How often verdicts are wrong: section 8 simulated under two known truths, without any effect and with the effects of the paper.

The paper's figures are pictures, and its text gives few sizes. An effect that it calls significant is here 2 to 3 times the smallest
that it could have found (r). The spreads of the searches' statistics are about those of the rehearsal in `experiments/runs`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from experiments import verdicts as judgement
from experiments.interims import INTERIM_GAMES
from experiments.papers import RULES, SECTION_8
from experiments.plan.cells import Cell
from experiments.plan.loading import load
from experiments.results import STATISTICS, Tally
from experiments.verdicts import DEPTH, VALUE, VISITS, Claim, Contrast, Estimator, Interim, Place

LANDLORD, HEARTS, LIGHT, DARK, CHECKERS, OTHELLO, BACKGAMMON = INTERIM_GAMES
EVEN = {
    LANDLORD: 0.55,
    HEARTS: 0.28,
    LIGHT: 0.5,
    DARK: 0.45,
    CHECKERS: 0.25,
    OTHELLO: 0.5,
    BACKGAMMON: 0.5,
}
TREE = {
    VISITS: (1000.0, 200.0),
    VALUE: (0.5, 0.2),
    DEPTH: (8.0, 1.0),
    "iterations": (5000.0, 1.0),
}  # mean and spread
REPLICATIONS = 400
GAIN = 0.04  # of an enhancement in all combinations with it
SINGLE = {
    (LANDLORD, "L"): -0.10,
    (LANDLORD, "N"): 0.14,
    (LANDLORD, "NL"): 0.26,
    (LANDLORD, "NM"): 0.24,
    (LANDLORD, "EPIC"): 0.18,
    (LANDLORD, "RL"): 0.05,
    (LANDLORD, "NR"): 0.10,
    (DARK, "ML"): 0.20,
    (DARK, "L"): 0.0,
    (LIGHT, "RML"): 0.25,
    (LIGHT, "NRL"): 0.25,
    (LIGHT, "N"): 0.10,
    (LIGHT, "NRML"): -0.05,
    (LIGHT, "ML"): 0.20,
    (LIGHT, "NL"): 0.06,
    (LIGHT, "NM"): 0.05,
    (LIGHT, "NML"): 0.05,
    (OTHELLO, "EPIC"): 0.10,
    (OTHELLO, "N"): 0.20,
    (CHECKERS, "N"): 0.10,
    (CHECKERS, "NR"): 0.0,
    (CHECKERS, "NM"): 0.0,
}  # gains of single combinations over the baseline
REUSED = {"ε-greedy": 0.08, "UCB1": 0.08, "Roulette": 0.075, "Gibbs": 0.04}


@attrs.frozen
class Scenario:
    """A replication: the win rate of each agent in each place, and the means of its searches' statistics."""

    name: str
    rate: Callable[[Place, str], float]
    tree: Callable[[Place, str], Mapping[str, float]]


def _means(**others: float) -> dict[str, float]:
    return {name: mean for name, (mean, _) in TREE.items()} | others


def _rate(place: Place, agent: str) -> float:
    """Enhancements add up, but for what the paper tells of single combinations."""
    if (place, agent) in SINGLE:
        return EVEN[place] + SINGLE[place, agent]
    if agent == "EPIC":
        return EVEN[place] + 0.09
    if agent in RULES:
        return EVEN[place] + REUSED[agent]
    gains = {
        "N": 0.0 if place in (LIGHT, CHECKERS) else 0.09,
        "M": GAIN,
        "L": 0.01 if len(agent) > 1 else 0.0,
        "R": {HEARTS: -GAIN, DARK: -GAIN, CHECKERS: GAIN}.get(place, 0.0),
    }
    return EVEN[place] + sum(gains[letter] for letter in agent if letter != "-")


def _tree(place: Place, agent: str) -> Mapping[str, float]:
    if agent == "N":
        return _means(visits=1200.0, value=0.6)
    return _means(depth=9.0) if agent == "R" else _means()


NOTHING = Scenario("no effect", lambda place, agent: EVEN[place], lambda place, agent: _means())
PAPER = Scenario("as the paper tells it", _rate, _tree)


@attrs.frozen
class Drawn:
    """What `summary.Moments` tells, of many replications."""

    mean: np.ndarray
    error: float
    count: int


def agents() -> Iterator[tuple[Cell, Place, str]]:
    """Every cell of section 8 with its place and its name."""
    for cell in load("section8", {}).cells:
        yield (
            cell,
            judgement.place_of(cell),
            next(name for name, text in SECTION_8.items() if text == cell.spec.text),
        )


def interims(
    scenario: Scenario, sizes: Mapping[Place, Sequence[int]], shares: Sequence[float], seed: int
) -> list[Interim]:
    """The interim analyses at games of `REPLICATIONS` replications: the later ones hold the games of the earlier ones.

    Args:
        sizes: the games of each cell of a place at each interim analysis.
    """
    random = np.random.default_rng(seed)
    tallies: list[list[Tally]] = [[] for _ in shares]
    for cell, place, agent in agents():
        wins, games = np.zeros(REPLICATIONS, np.int64), 0
        means = scenario.tree(place, agent)
        totals = {name: np.zeros(REPLICATIONS) for name in STATISTICS}
        for number, size in enumerate(sizes[place]):
            more, games = size - games, size
            wins = wins + random.binomial(more, scenario.rate(place, agent), REPLICATIONS)
            for name in STATISTICS:
                mean, spread = means[name], TREE[name][1]
                totals[name] = totals[name] + random.normal(
                    more * mean, spread * more**0.5, REPLICATIONS
                )
            moments: Any = {
                name: Drawn(total / games, TREE[name][1] / games**0.5, games)
                for name, total in totals.items()
            }
            tallies[number].append(Tally(wins, 0, games, 1.0, moments, cell=cell))
    return [
        Interim(Estimator(analysed), share) for analysed, share in zip(tallies, shares, strict=True)
    ]


def verdicts(claim: Claim, interims: Sequence[Interim]) -> np.ndarray:
    """The verdict on a claim in each replication: 1 agrees, −1 disagrees, 0 undecided."""
    return judgement.combine_signs(
        claim,
        [[_verdicts(each, claim.levels(case), interims) for each in case] for case in claim.cases],
    )


def _verdicts(
    comparison: Contrast, parts: tuple[float, float], interims: Sequence[Interim]
) -> np.ndarray:
    """The verdict on a comparison in each replication: that of the first interim analysis that decides it."""
    decided = np.zeros(REPLICATIONS, int)
    for interim in interims:
        found = judgement.intervals(comparison, parts, interim)
        assert found is not None
        decided = np.where(decided == 0, judgement.sign(comparison.expected, found), decided)
    return decided


def holds(claim: Claim, scenario: Scenario) -> tuple[bool, bool]:
    """Whether a statement is true in a replication, and whether it is false; between the two sizes that it names it may be both."""

    def sign(
        comparison: Contrast, regions: Sequence[tuple[float, float]], inside: int
    ) -> np.ndarray:
        difference = _difference(comparison, scenario)
        return np.array(
            inside if any(low < difference < high for low, high in regions) else -inside
        )

    right = [[sign(each, each.expected.agree, 1) for each in case] for case in claim.cases]
    wrong = [[sign(each, each.expected.contradict, -1) for each in case] for case in claim.cases]
    return int(judgement.combine_signs(claim, right)) == 1, int(
        judgement.combine_signs(claim, wrong)
    ) == -1


def _difference(comparison: Contrast, scenario: Scenario) -> float:
    names = {text: name for name, text in reversed(SECTION_8.items())}
    total = 0.0
    for term in comparison.terms:
        values = [
            _value(scenario, term.place, names[text], comparison.measure)
            for text in term.strategies
        ]
        total += term.weight * sum(values) / len(values)
    return round(total, 12)


def _value(scenario: Scenario, place: Place, agent: str, measure: str) -> float:
    if measure not in TREE:
        return scenario.rate(place, agent)
    mean = scenario.tree(place, agent)[measure]
    return float(np.log(mean)) if measure == VISITS else mean


@attrs.frozen
class Rates:
    """How often a statement's verdict falls either way in a replication.

    Attributes:
        agree, disagree: shares of the replications.
        wrong: the share in which the verdict is wrong.
    """

    agree: float
    disagree: float
    wrong: float


def rates(claim: Claim, scenario: Scenario, interims: Sequence[Interim]) -> Rates:
    signs_of, (true, false) = verdicts(claim, interims), holds(claim, scenario)
    agree, disagree = float(np.mean(signs_of == 1)), float(np.mean(signs_of == -1))
    return Rates(agree, disagree, (0.0 if true else agree) + (0.0 if false else disagree))
