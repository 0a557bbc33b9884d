"""Paper against ours: the rule of the verdicts, and replications in which the answers are known."""

import csv
import io
import math

import attrs
import numpy as np
import pytest

from experiments import claims
from experiments.claims import CLAIMS, LIGHT, OTHELLO, PLACES, STRATEGIES
from experiments.interims import INTERIM_GAMES, SHARES
from experiments.papers import suite
from experiments.plan import loading
from experiments.plan.loading import build
from experiments.statistics import Estimate, contrast, power_factor, wilson
from experiments.store.results import MILLION, Moments, Tally, blank
from experiments.verdicts import (
    AGREES,
    DISAGREES,
    UNDECIDED,
    Claim,
    Decision,
    Estimator,
    Interim,
    Outcome,
    all_of,
    combine_signs,
    decide,
    different,
    higher,
    level_text,
    lower,
    margin,
    not_higher,
    not_lower,
    same,
    within,
)
from tests.experiments import simulation
from tests.experiments.conftest import a_row, keep, small
from tests.experiments.simulation import NOTHING, PAPER

MANY = 10**6


def moments(mean, games, spread=0.1):
    """Those of `games` values, half of them above the mean and half below."""
    total = round(mean * games * MILLION)
    return Moments(games, total, round(games * (mean**2 + spread**2) * MILLION**2))


def replication(rate=PAPER.rate, trees=PAPER.tree, games=MANY, iterations=5000):
    """Section 8 with the win rates and the trees that functions of (place, agent) give."""
    tallies = blank(loading.load("section8", {"iterations": iterations}).cells)
    for tally in tallies:
        place = claims.place_of(tally.cell)
        agent = next(name for name, strategy in STRATEGIES.items() if strategy == str(tally.cell.spec.strategy))
        tally.games, tally.wins = games, round(rate(place, agent) * games)
        tally.moments = {name: moments(value, games) for name, value in trees(place, agent).items()}
    return tallies


def judged_at_once(tallies):
    return [decide(claim, [Interim(Estimator(tallies))]) for claim in CLAIMS]


def verdicts(tallies):
    return {decision.claim.text: decision.verdict for decision in judged_at_once(tallies)}


def test_what_the_paper_says_can_all_be_true_at_once():
    assert {text: verdict for text, verdict in verdicts(replication()).items() if verdict != AGREES} == {}


def test_in_a_world_without_differences_every_improvement_is_contradicted():
    nothing_found = (
        "never detrimental",
        "no significant difference in Dou",
        "no two of the four",
        "perform the same",
        "are within 10 %",
        "no better than the baseline",
        "in no game worse",
    )
    for text, verdict in verdicts(replication(NOTHING.rate, NOTHING.tree)).items():
        assert verdict == (AGREES if any(words in text for words in nothing_found) else DISAGREES), text


def test_without_games_nothing_is_decided():
    assert set(verdicts([]).values()) == {UNDECIDED}


def test_a_few_games_decide_little_and_it_is_told_how_many_would():
    decisions = judged_at_once(replication(games=20))
    wins = [
        decision for decision in decisions if all(outcome.comparison.measure == "wins" for outcome in decision.outcomes)
    ]
    assert sum(decision.verdict == UNDECIDED for decision in wins) > len(wins) / 2
    assert all(decision.more > 0 for decision in decisions if decision.verdict == UNDECIDED)
    assert all(decision.more is None for decision in decisions if decision.verdict != UNDECIDED)


def test_every_statement_has_the_words_of_the_paper_and_no_two_are_judged_alike():
    assert all(len(claim.quote) > 10 for claim in CLAIMS)
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)


# ------------------------------------------------------------------------------------------------ many comparisons, many interim analyses


def case(*expected):
    return tuple(claims.versus(OTHELLO, "N", each, "-") for each in expected)


def test_where_one_agreement_would_be_enough_all_share_the_five_percent():
    some = Claim("", (case(higher(0.04)),) * 7, needed=1)
    assert some.levels(some.cases[0]) == (1 / 7, 1)
    every = Claim("", (case(higher(0.04)),) * 7, needed=7)
    assert every.levels(every.cases[0]) == (1, 1 / 7)
    often = Claim("", (case(higher(0.04), same(0.1)),) * 28, needed=10)
    assert often.levels(often.cases[0]) == (1 / 19, 1 / 20)


@pytest.mark.parametrize(
    "needed, cases, verdict",
    [
        (2, [[1], [1], [-1]], 1),
        (2, [[1], [0], [-1]], 0),
        (2, [[1], [-1], [-1]], -1),
        (1, [[1, 0], [0, 1]], 0),
        (1, [[1, 1], [-1, 1]], 1),
        (2, [[1, 1], [1, -1]], -1),
    ],
)
def test_a_statement_follows_from_how_many_cases_agree(needed, cases, verdict):
    claim = Claim("", tuple(case(*[higher(0.04)] * len(signs)) for signs in cases), needed)
    assert combine_signs(claim, [[np.array(sign) for sign in signs] for signs in cases]) == verdict


def test_the_first_look_that_decides_stands_and_each_has_its_level():
    comparison = claims.versus(OTHELLO, "N", higher(claims.CELL), "-")
    claim = all_of("", [comparison])
    rates = [0.5, 0.65, 0.4]  # of N at three interim analyses
    interims = [
        Interim(Estimator(replication(lambda place, agent, rate=rate: rate if agent == "N" else 0.5, games=200)), share)
        for rate, share in zip(rates, (0.25, 0.25, 0.5), strict=True)
    ]
    outcome = decide(claim, interims).outcomes[0]
    assert outcome.verdict == AGREES and outcome.levels == (0.9875, 0.9875)
    assert outcome.estimate.value == pytest.approx(0.15)
    assert decide(claim, interims[::2]).verdict == DISAGREES
    assert decide(claim, interims[:1]).outcomes[0].verdict == UNDECIDED
    assert [level_text(level) for level in (0.95, 0.9875, 0.999, 1 - 0.05 / 42)] == [
        "95 %",
        "98.8 %",
        "99.90 %",
        "99.88 %",
    ]


def test_the_looks_of_the_campaign_spend_five_percent_in_all():
    assert sum(SHARES) == pytest.approx(1)
    assert all(
        len(interims) == len(SHARES) and list(interims) == sorted(set(interims)) for interims in INTERIM_GAMES.values()
    )


def test_no_statement_is_wrong_in_more_than_five_percent_of_simulated_worlds():
    for scenario in (NOTHING, PAPER):
        taken = simulation.interims(scenario, INTERIM_GAMES, SHARES, seed=2)
        for claim in CLAIMS:
            rates = simulation.rates(claim, scenario, taken)
            # 5 % with 400 replications: at most 33 in 99.9 % of all tests
            assert rates.wrong <= 33 / simulation.REPLICATIONS, (scenario.name, claim.text)
    assert all(simulation.holds(claim, PAPER)[0] for claim in CLAIMS)


def test_one_look_in_ten_without_a_correction_would_be_wrong_too_often():
    """The simulation finds what it is for: seven chances to agree by luck, each at 95 %."""
    claim = next(claim for claim in CLAIMS if claim.text == "NAST is beneficial in some game.")
    uncorrected = Claim(claim.text, claim.cases[:1], 1)
    sizes = dict.fromkeys(PLACES, (1000,))
    taken = simulation.interims(NOTHING, sizes, (1.0,), seed=3)
    anywhere = np.any([simulation.verdicts(Claim("", (each,), 1), taken) == 1 for each in claim.cases], axis=0)
    assert 0.10 < anywhere.mean() < 0.24  # 1 − 0.975⁷ = 16 %
    assert (
        simulation.rates(claim, NOTHING, taken).agree < 0.05
        and simulation.rates(uncorrected, NOTHING, taken).agree < 0.05
    )


def test_the_margin_of_equivalence_can_be_confirmed_with_the_papers_games():
    """Two equal players of 1000 games, at the level of the last interim analysis: "the same" agrees with a chance of about 80 %."""
    claim = all_of("", [claims.versus(OTHELLO, "EPIC", same(margin(claims.CELL)), "N")])
    taken = simulation.interims(NOTHING, dict.fromkeys(PLACES, (1000,)), (0.5,), seed=4)
    assert 0.7 < simulation.rates(claim, NOTHING, taken).agree < 0.9


def test_every_strategy_of_the_claims_is_written_as_the_rows_write_it():
    from icarus import parse

    for text in STRATEGIES.values():
        assert str(parse(text)) == text
    played = {str(cell.spec.strategy) for cell in loading.load("section8", {}).cells}
    needed = {
        strategy
        for claim in CLAIMS
        for case in claim.cases
        for comparison in case
        for term in comparison.terms
        for strategy in term.strategies
    }
    assert needed == played


@pytest.mark.parametrize(
    "expectation, low, high, verdict",
    [
        (higher(0.04), 0.001, 0.02, AGREES),
        (higher(0.04), -0.01, 0.03, DISAGREES),
        (higher(0.04), -0.01, 0.05, UNDECIDED),
        (lower(0.04), -0.02, -0.001, AGREES),
        (lower(0.04), -0.03, 0.01, DISAGREES),
        (lower(0.04), -0.05, 0.01, UNDECIDED),
        (same(0.04), -0.03, 0.03, AGREES),
        (same(0.04), 0.05, 0.07, DISAGREES),
        (same(0.04), 0.03, 0.05, UNDECIDED),
        (same(0.04), -0.05, -0.045, DISAGREES),
        (not_lower(0.04), -0.03, 0.5, AGREES),
        (not_lower(0.04), -0.1, -0.05, DISAGREES),
        (not_higher(0.04), -0.5, 0.03, AGREES),
        (not_higher(0.04), 0.05, 0.1, DISAGREES),
        (not_higher(0.04), 0.03, 0.05, UNDECIDED),
        (different(0.02), 0.03, 0.1, AGREES),
        (different(0.02), -0.01, 0.01, DISAGREES),
        (different(0.02), 0.01, 0.1, UNDECIDED),
        (within(0.1, 0.3, "x"), 0.15, 0.2, AGREES),
        (within(0.1, 0.3, "x"), 0.0, 0.05, DISAGREES),
        (within(0.1, 0.3, "x"), 0.0, 0.2, UNDECIDED),
    ],
)
def test_the_verdict_follows_from_the_interval(expectation, low, high, verdict):
    estimate = Estimate((low + high) / 2, low, high)
    actual = AGREES if expectation.agrees(estimate) else DISAGREES if expectation.contradicted(estimate) else UNDECIDED
    assert actual == verdict


def test_intervals_of_differences_agree_with_published_ones():
    """Newcombe (1998), Statistics in Medicine 17: 81 of 263 (p. 861), 56 of 70 against 48 of 80 (p. 877, method 10)."""
    rate = wilson(81, 263)
    assert (rate.low, rate.high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))
    difference = contrast([(1.0, wilson(56, 70)), (-1.0, wilson(48, 80))])
    assert (difference.value, difference.low, difference.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_the_number_of_games_that_is_asked_for_decides_four_times_in_five():
    """60 % against 50 % with 50 games each: played again with the games asked for, a "higher" agrees with a chance of 80 %."""
    comparison = claims.versus(OTHELLO, "N", higher(claims.CELL), "-")
    tallies = replication(lambda place, agent: 0.6 if agent == "N" else 0.5, games=50)
    outcome = decide(all_of("", [comparison]), [Interim(Estimator(tallies))]).outcomes[0]
    games = 50 + outcome.more
    generator = np.random.default_rng(1)
    decided = sum(
        higher(claims.CELL).agrees(
            contrast(
                [
                    (1.0, wilson(generator.binomial(games, 0.6), games)),
                    (-1.0, wilson(generator.binomial(games, 0.5), games)),
                ]
            )
        )
        for _ in range(1000)
    )
    assert 760 < decided < 840
    assert power_factor() == pytest.approx((1.959964 + 0.841621) / 1.959964, abs=1e-6)


def test_more_games_are_asked_for_by_the_interval_that_decides():
    """7 comparisons "higher" at −2 % with 400 games each, which only a contradiction can decide."""
    comparisons = [claims.versus(place, "N", higher(claims.CELL), "-") for place in PLACES]
    tallies = replication(lambda place, agent: 0.48 if agent == "N" else 0.5, games=400)
    for needed, level in ((7, 1 - 0.05 / 7), (1, 0.95)):
        decision = decide(Claim("", tuple((each,) for each in comparisons), needed), [Interim(Estimator(tallies))])
        against = decision.outcomes[0].against
        half_width = max(against.value - against.low, against.high - against.value) * power_factor(level)
        asked_for = 400 * (half_width / (claims.CELL + 0.02)) ** 2 - 400
        assert [outcome.more for outcome in decision.outcomes] == [math.ceil(asked_for)] * 7


def test_more_games_are_asked_for_until_enough_agree():
    """Of four cases one agrees and one disagrees already: a second to agree needs the fewer games of the two others."""
    comparison = claims.versus(OTHELLO, "N", higher(claims.CELL), "-")
    interim_results = [(AGREES, None), (DISAGREES, None), (UNDECIDED, 700), (UNDECIDED, 300)]
    cases = tuple((Outcome(comparison, None, verdict, more=more, interim=1),) for verdict, more in interim_results)
    assert Decision(Claim("", ((comparison,),) * 4, 2), cases, UNDECIDED).more == 300
    assert Decision(Claim("", ((comparison,),) * 4, 3), cases, UNDECIDED).more == 700


def test_the_analysis_of_variance_is_asked_at_its_level():
    claim = next(claim for claim in CLAIMS if "Analysis" in claim.text)
    for gain, games, verdict in ((0.01, 2000, AGREES), (0.006, 2000, UNDECIDED), (-0.01, 2000, DISAGREES)):
        tallies = replication(lambda place, agent, gain=gain: 0.5 + gain * ("N" in agent), games=games)
        decision = decide(claim, [Interim(Estimator(tallies))])
        assert decision.verdict == verdict
        error = math.sqrt(0.25 * 2 / (7 * 8 * games))  # of the difference of two averages
        estimate = decision.outcomes[0].estimate
        assert (estimate.high - estimate.low) / 2 == pytest.approx(3.290527 * error, rel=2e-3)
        assert level_text(decision.outcomes[0].levels[0]) == "99.90 %"


def test_a_statement_about_all_games_waits_for_all_of_them():
    some = [tally for tally in replication() if claims.place_of(tally.cell) != LIGHT]
    for comparison in (claims.overall("UCB1", higher(0.0), "Gibbs"), claims.analysis("NAST")):
        assert Estimator(some).estimate(comparison, 0.95) is None
        assert Estimator(replication()).estimate(comparison, 0.95).value > 0.03


def test_other_games_seats_and_opponents_are_no_evidence(tmp_path):
    experiment = build(
        {
            "name": "other",
            "games": ["knockout-whist", "checkers(draw_after=80)"],
            "iterations": 10,
            "trials": 4,
            "agents": suite.TABLE_1,
        }
    )
    directory = keep(tmp_path, experiment, (a_row(cell, 0) for cell in experiment.cells))
    from experiments.store.results import results_of

    with results_of(directory) as results:
        assert claims.decisions(results) == {}


def test_the_games_of_several_runs_are_put_together_and_each_counts_once(tmp_path, capsys):
    from experiments.store.results import results_of

    figure5, figure4 = small(), loading.load("figure4", {"games": ["othello"], "trials": 20, "iterations": 20})
    for name, experiment in (("one", figure5), ("other", figure4)):
        keep(tmp_path / name, experiment, (a_row(cell, trial) for cell in experiment.cells for trial in range(3)))
    with results_of(tmp_path / "one", tmp_path / "other") as results:
        games = {str(tally.cell.spec.strategy): tally.games for tally in results.tallies()}
    assert games == dict.fromkeys([*suite.TABLE_1.values(), "BASELINE >> EPIC"], 3)
    other_seed = attrs.evolve(figure5, seed=1)
    keep(tmp_path / "third", other_seed, (a_row(cell, trial) for cell in other_seed.cells for trial in range(3)))
    with results_of(tmp_path / "one", tmp_path / "third") as results:
        assert {tally.games for tally in results.tallies()} == {6}


def test_the_command_prints_every_statement_and_as_csv_every_comparison(tmp_path, capsys):
    from experiments.commands.main import main

    experiment = small()
    keep(
        tmp_path,
        experiment,
        (a_row(cell, trial, win=trial % 2 == 0) for cell in experiment.cells for trial in range(10)),
    )
    assert main(["claims", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "Paper against ours: 20 iterations per decision" in printed
    assert f"Of {len(CLAIMS)} statements" in printed
    assert "NAST is significantly better than EPIC in Othello." in printed
    assert main(["claims", "--csv", str(tmp_path)]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    line = next(line for line in lines if line["The paper expects"] == "N higher than EPIC")
    assert (line["Game"], line["Difference"], line["Verdict"]) == ("Othello", "+0.0 %", UNDECIDED)
    interval = line["Interval to agree"].removesuffix(" (95 %)")
    low, high = (float(text.removesuffix(" %")) for text in interval.split(" to "))
    assert low == -high < 0 and line["Interval to disagree"] == line["Interval to agree"]
    assert int(line["More games"]) > 100


def test_a_directory_without_games_of_the_paper_is_refused(tmp_path, capsys):
    from experiments.commands.main import main

    keep(tmp_path, small(), [])
    assert main(["claims", str(tmp_path)]) == 2
    assert "the runs have no games of the papers' statements" in capsys.readouterr().err


def test_a_tally_without_searches_has_no_tree():
    assert Moments().mean is None
    assert Moments(1, 5, 25).error is None
    assert Tally(small().cells[0]).moments["depth"] == Moments()
