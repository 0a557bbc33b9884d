"""Paper against ours: the rule of the verdicts, and worlds in which the answers are known."""

import csv
import io
import math

import attrs
import numpy as np
import pytest
from conftest import a_row, keep, small

from experiments.papers import suite
from experiments.plan import loading
from experiments.plan.building import build
from experiments.store.summary import MILLION, Moments, Tally, blank
from experiments.weigh import claims
from experiments.weigh.claims import CLAIMS, DARK, LANDLORD, LIGHT, OTHELLO, PLACES, STRATEGIES
from experiments.weigh.evidence import (
    AGREES,
    DISAGREES,
    UNDECIDED,
    Evidence,
    different,
    higher,
    lower,
    not_higher,
    not_lower,
    same,
    within,
)
from experiments.weigh.statistics import Estimate, contrast, power_factor, wilson

MANY = 10**6
HEARTS, CHECKERS, BACKGAMMON = PLACES[1], PLACES[4], PLACES[6]


def moments(mean, games, spread=0.1):
    """Those of `games` values, half of them above the mean and half below."""
    total = round(mean * games * MILLION)
    return Moments(games, total, round(games * (mean**2 + spread**2) * MILLION**2))


def world(rate, trees, games=MANY, iterations=5000):
    """Section 8 with the win rates and the trees that functions of (place, agent) give."""
    tallies = blank(loading.load("section8", {"iterations": iterations}).cells)
    for tally in tallies:
        place = claims.place_of(tally.cell)
        agent = next(name for name, strategy in STRATEGIES.items() if strategy == str(tally.cell.player.strategy))
        tally.games, tally.wins = games, round(rate(place, agent) * games)
        tally.moments = {name: moments(value, games) for name, value in trees(place, agent).items()}
    return tallies


SINGLE = {  # what section 8 says of one combination in one game
    (LANDLORD, "L"): 0.40,
    (LANDLORD, "N"): 0.60,
    (LANDLORD, "NL"): 0.75,
    (LANDLORD, "EPIC"): 0.60,
    (LANDLORD, "RL"): 0.55,
    (LANDLORD, "NR"): 0.60,
    (DARK, "ML"): 0.70,
    (DARK, "L"): 0.50,
    (LIGHT, "RML"): 0.75,
    (LIGHT, "NRL"): 0.75,
    (LIGHT, "N"): 0.53,
    (LIGHT, "EPIC"): 0.53,
    (LIGHT, "NRML"): 0.45,
    (LIGHT, "ML"): 0.70,
    (LIGHT, "NL"): 0.56,
    (LIGHT, "NM"): 0.60,
    (LIGHT, "NML"): 0.60,
    (OTHELLO, "EPIC"): 0.55,
    (OTHELLO, "N"): 0.63,
    (CHECKERS, "N"): 0.53,
    (CHECKERS, "EPIC"): 0.53,
    (CHECKERS, "NR"): 0.52,
}


def as_the_paper_says(place, agent):
    """Win rates in which enhancements add up, but for what the paper tells of single combinations."""
    if (place, agent) in SINGLE:
        return SINGLE[place, agent]
    if agent == "EPIC":
        return 0.54
    if agent in suite.RULES:
        return {"ε-greedy": 0.57, "UCB1": 0.57, "Roulette": 0.56, "Gibbs": 0.54}[agent]
    gains = {
        "N": 0.0 if place in (LIGHT, CHECKERS) else 0.04,
        "M": 0.04,
        "L": 0.0,
        "R": {HEARTS: -0.04, DARK: -0.04, CHECKERS: 0.04}.get(place, 0.0),
    }
    return 0.5 + sum(gains[letter] for letter in agent if letter != "-")


def trees_of_the_paper(place, agent):
    return {
        "visits": 1200.0 if agent in ("N", "EPIC") else 1000.0,
        "value": 0.6 if agent == "N" else 0.5,
        "depth": 9.0 if agent == "R" else 8.0,
        "iterations": 5000.0,
    }


def verdicts(tallies):
    return {claim.text: claims.judge(claim, Evidence(tallies)).verdict for claim in CLAIMS}


def test_what_the_paper_says_can_all_be_true_at_once():
    found = verdicts(world(as_the_paper_says, trees_of_the_paper))
    assert {text: verdict for text, verdict in found.items() if verdict != AGREES} == {}


def test_in_a_world_without_differences_every_improvement_is_contradicted():
    found = verdicts(world(lambda place, agent: 0.5, lambda place, agent: trees_of_the_paper(place, "-")))
    for text, verdict in found.items():
        nothing_found = any(
            words in text
            for words in (
                "never detrimental",
                "no significant difference in Dou",
                "not terribly",
                "perform the same",
                "degree of exploitation",
                "nowhere worse",
            )
        )
        assert verdict == (AGREES if nothing_found else DISAGREES), text


def test_without_games_nothing_is_decided():
    assert set(verdicts([]).values()) == {UNDECIDED}


def test_a_few_games_decide_little_and_it_is_told_how_many_would():
    judged = [claims.judge(claim, Evidence(world(as_the_paper_says, trees_of_the_paper, games=20))) for claim in CLAIMS]
    wins = [
        judgement for judgement in judged if all(finding.comparison.measure == "wins" for finding in judgement.findings)
    ]
    assert sum(judgement.verdict == UNDECIDED for judgement in wins) > len(wins) / 2
    assert all(judgement.more > 0 for judgement in judged if judgement.verdict == UNDECIDED)
    assert all(judgement.more is None for judgement in judged if judgement.verdict != UNDECIDED)


def test_every_strategy_of_the_claims_is_written_as_the_rows_write_it():
    from icarus import parse

    for text in STRATEGIES.values():
        assert str(parse(text)) == text
    played = {str(cell.player.strategy) for cell in loading.load("section8", {}).cells}
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
    assert expectation.verdict(Estimate((low + high) / 2, low, high)) == verdict


def test_intervals_of_differences_agree_with_published_ones():
    """Newcombe (1998), Statistics in Medicine 17: 81 of 263 (p. 861), 56 of 70 against 48 of 80 (p. 877, method 10)."""
    one = wilson(81, 263)
    assert (one.low, one.high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))
    found = contrast([(1.0, wilson(56, 70)), (-1.0, wilson(48, 80))])
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_the_number_of_games_that_is_asked_for_decides_four_times_in_five():
    """60 % against 50 % with 50 games each: played again with the games asked for, a "higher" agrees with a chance of 80 %."""
    comparison = claims.versus(OTHELLO, "N", higher(claims.CELL), "-")
    finding = Evidence(world(lambda place, agent: 0.6 if agent == "N" else 0.5, trees_of_the_paper, games=50)).find(
        comparison
    )
    games = 50 + finding.more
    generator = np.random.default_rng(1)
    decided = sum(
        higher(claims.CELL).verdict(
            contrast(
                [
                    (1.0, wilson(generator.binomial(games, 0.6), games)),
                    (-1.0, wilson(generator.binomial(games, 0.5), games)),
                ]
            )
        )
        == AGREES
        for _ in range(1000)
    )
    assert 760 < decided < 840
    assert power_factor() == pytest.approx((1.959964 + 0.841621) / 1.959964, abs=1e-6)


def test_the_analysis_of_variance_is_asked_at_its_level():
    claim = next(claim for claim in CLAIMS if claim.analysis)
    for gain, games, verdict in ((0.01, 2000, AGREES), (0.006, 2000, UNDECIDED), (-0.01, 2000, DISAGREES)):
        tallies = world(lambda place, agent, gain=gain: 0.5 + gain * ("N" in agent), trees_of_the_paper, games=games)
        judgement = claims.judge(claim, Evidence(tallies))
        assert judgement.verdict == verdict
        error = math.sqrt(0.25 * 2 / (7 * 8 * games))  # of the difference of two averages
        estimate = judgement.findings[0].estimate
        assert (estimate.high - estimate.low) / 2 == pytest.approx(3.290527 * error, rel=2e-3)


def test_an_average_over_games_leaves_out_those_that_were_not_played():
    tallies = [
        tally
        for tally in world(as_the_paper_says, trees_of_the_paper)
        if claims.place_of(tally.cell) in (OTHELLO, BACKGAMMON)
    ]
    finding = Evidence(tallies).find(claims.overall("UCB1", higher(0.0), "Gibbs"))
    assert finding.estimate.value == pytest.approx(0.03, abs=1e-6)


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
        assert claims.judgements(results) == {}


def test_the_games_of_several_runs_are_put_together_and_each_counts_once(tmp_path, capsys):
    from experiments.store.results import results_of

    figure5, figure4 = small(), loading.load("figure4", {"games": ["othello"], "trials": 20, "iterations": 20})
    for name, experiment in (("one", figure5), ("other", figure4)):
        keep(tmp_path / name, experiment, (a_row(cell, trial) for cell in experiment.cells for trial in range(3)))
    with results_of(tmp_path / "one", tmp_path / "other") as results:
        found = {str(tally.cell.player.strategy): tally.games for tally in results.tallies()}
    assert found == dict.fromkeys([*suite.TABLE_1.values(), "BASELINE >> EPIC"], 3)
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
    low, high = (float(text.removesuffix(" %")) for text in line["Interval"].split(" to "))
    assert low == -high < 0
    assert int(line["More games"]) > 100


def test_a_directory_without_games_of_the_paper_is_refused(tmp_path, capsys):
    from experiments.commands.main import main

    keep(tmp_path, small(), [])
    assert main(["claims", str(tmp_path)]) == 2
    assert "there are no games against the baseline" in capsys.readouterr().err


def test_a_tally_without_searches_has_no_tree():
    assert Moments().mean is None
    assert Moments(1, 5, 25).error is None
    assert Tally(small().cells[0]).moments["depth"] == Moments()
