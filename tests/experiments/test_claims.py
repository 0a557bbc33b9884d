"""Papers against ours: the rule of the verdicts, replications in which the answers are known, and what is told of a campaign."""

import csv
import io
import math

import attrs
import numpy as np
import pytest

from experiments import claims, report
from experiments import interims as states
from experiments import results as store
from experiments.claims import (
    CELL,
    CLAIMS,
    EARLIER,
    HEARTS,
    LIGHT,
    OTHELLO,
    PLACES,
    SEARCH_CLAIMS,
    SECTION_8,
    STRATEGIES,
    versus,
)
from experiments.figures import unfinished
from experiments.interims import CAMPAIGN, INTERIM_GAMES, SHARES
from experiments.papers import suite
from experiments.plan import loading
from experiments.plan.loading import build
from experiments.report import MINUS
from experiments.results import MILLION, Moments, Tally, results_of, runs_in
from experiments.statistics import Estimate, contrast, power_factor, wilson
from experiments.verdicts import (
    AGREES,
    DISAGREES,
    UNDECIDED,
    Claim,
    Decision,
    Estimator,
    Interim,
    Outcome,
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
from icarus import parse
from icarus.views.document import fill_places
from tests.conftest import ROOT
from tests.experiments import simulation
from tests.experiments.conftest import TRIALS, a_row, keep, small
from tests.experiments.simulation import NOTHING, PAPER

MANY = 10**6
ROWS = ROOT / "experiments/runs/campaign"
BETTER = versus(OTHELLO, "N", higher(CELL), "-")


def all_of(*comparisons):
    return Claim("", tuple((each,) for each in comparisons), len(comparisons))


def moments(mean, games, spread=0.1):
    """Those of `games` values, half of them above the mean and half below."""
    return Moments(games, round(mean * games * MILLION), round(games * (mean**2 + spread**2) * MILLION**2))


def replication(rate=PAPER.rate, trees=PAPER.tree, games=MANY, iterations=5000):
    """Section 8 with the win rates and the trees that functions of (place, agent) give."""
    tallies = list(map(Tally, loading.load("section8", {"iterations": iterations}).cells))
    for tally in tallies:
        place = claims.place_of(tally.cell)
        agent = next(name for name, strategy in STRATEGIES.items() if strategy == str(tally.cell.spec.strategy))
        tally.games, tally.wins = games, round(rate(place, agent) * games)
        tally.moments = {name: moments(value, games) for name, value in trees(place, agent).items()}
    return tallies


def of_nast(rate, games, others=0.5):
    """One analysis of all games: NAST alone wins so often, all others as often as they do not."""
    return [Interim(Estimator(replication(lambda place, agent: rate if agent == "N" else others, games=games)))]


def judged_at_once(tallies):
    return [decide(claim, [Interim(Estimator(tallies))]) for claim in CLAIMS]


# ------------------------------------------------------------------------------------------------------- replications


def test_what_the_paper_says_can_all_be_true_at_once():
    assert {each.claim.text for each in judged_at_once(replication()) if each.verdict != AGREES} == set()
    assert all(len(claim.quote) > 10 for claim in CLAIMS) and len({claim.text for claim in CLAIMS}) == len(CLAIMS) == 37
    assert len({claim.text for claim in SEARCH_CLAIMS}) == len(SEARCH_CLAIMS) == 20


def test_in_a_world_without_differences_every_improvement_is_contradicted():
    nothing_found = (
        *("never detrimental", "no significant difference in Dou", "no two of the four", "perform the same"),
        *("are within 10 %", "no better than the baseline", "in no game worse"),
    )
    for each in judged_at_once(replication(NOTHING.rate, NOTHING.tree)):
        expected = AGREES if any(words in each.claim.text for words in nothing_found) else DISAGREES
        assert each.verdict == expected, each.claim.text


def test_without_games_nothing_is_decided_and_few_tell_how_many_would():
    assert {each.verdict for each in judged_at_once([])} == {UNDECIDED}
    decisions = judged_at_once(replication(games=20))
    wins = [each for each in decisions if all(outcome.comparison.measure == "wins" for outcome in each.outcomes)]
    assert sum(each.verdict == UNDECIDED for each in wins) > len(wins) / 2
    assert all(each.more > 0 if each.verdict == UNDECIDED else each.more is None for each in decisions)


def test_no_statement_is_wrong_in_more_than_five_percent_of_simulated_worlds():
    for scenario in (NOTHING, PAPER):
        taken = simulation.interims(scenario, INTERIM_GAMES, SHARES, seed=2)
        for claim in CLAIMS:
            rates = simulation.rates(claim, scenario, taken)
            # 5 % with 400 replications: at most 33 in 99.9 % of all tests
            assert rates.wrong <= 33 / simulation.REPLICATIONS, (scenario.name, claim.text)
    assert all(simulation.holds(claim, PAPER)[0] for claim in CLAIMS)
    assert sum(SHARES) == pytest.approx(1)
    assert all(len(sizes) == len(SHARES) and list(sizes) == sorted(set(sizes)) for sizes in INTERIM_GAMES.values())


def test_one_look_in_ten_without_a_correction_would_be_wrong_too_often():
    """The simulation finds what it is for: seven chances to agree by luck, each at 95 %."""
    claim = next(claim for claim in CLAIMS if claim.text == "NAST is beneficial in some game.")
    taken = simulation.interims(NOTHING, dict.fromkeys(PLACES, (1000,)), (1.0,), seed=3)
    anywhere = np.any([simulation.verdicts(Claim("", (each,), 1), taken) == 1 for each in claim.cases], axis=0)
    assert 0.10 < anywhere.mean() < 0.24  # 1 − 0.975⁷ = 16 %
    assert all(simulation.rates(each, NOTHING, taken).agree < 0.05 for each in (claim, Claim("", claim.cases[:1], 1)))


def test_the_margin_of_equivalence_can_be_confirmed_with_the_papers_games():
    """Two equal players of 1000 games, at the level of the last interim analysis: "the same" agrees with a chance of about 80 %."""
    claim = all_of(versus(OTHELLO, "EPIC", same(margin(CELL)), "N"))
    taken = simulation.interims(NOTHING, dict.fromkeys(PLACES, (1000,)), (0.5,), seed=4)
    assert 0.7 < simulation.rates(claim, NOTHING, taken).agree < 0.9


def test_every_strategy_of_the_claims_is_written_as_the_rows_write_it():
    assert all(str(parse(text)) == text for text in STRATEGIES.values())
    played = {str(cell.spec.strategy) for cell in loading.load("section8", {}).cells}
    assert {strategy for claim in CLAIMS for each in claim.comparisons for _, strategy in each.cells} == played


# ------------------------------------------------------------------------------- many comparisons, many interim analyses


def case(*expected):
    return tuple(versus(OTHELLO, "N", each, "-") for each in expected)


def test_where_one_agreement_would_be_enough_all_share_the_five_percent():
    for comparisons, number, needed, levels in (
        ((higher(0.04),), 7, 1, (1 / 7, 1)),
        ((higher(0.04),), 7, 7, (1, 1 / 7)),
        ((higher(0.04), same(0.1)), 28, 10, (1 / 19, 1 / 20)),
    ):
        claim = Claim("", (case(*comparisons),) * number, needed)
        assert claim.levels(claim.cases[0]) == levels


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
    claim = all_of(BETTER)
    interims = [
        Interim(of_nast(rate, 200)[0].estimator, share)
        for rate, share in zip((0.5, 0.65, 0.4), (0.25, 0.25, 0.5), strict=True)
    ]
    outcome = decide(claim, interims).outcomes[0]
    assert outcome.verdict == AGREES and outcome.levels == (0.9875, 0.9875)
    assert outcome.estimate.value == pytest.approx(0.15)
    assert decide(claim, interims[::2]).verdict == DISAGREES
    assert decide(claim, interims[:1]).outcomes[0].verdict == UNDECIDED
    levels = {0.95: "95 %", 0.9875: "98.8 %", 0.999: "99.90 %", 1 - 0.05 / 42: "99.88 %"}
    assert {level: level_text(level) for level in levels} == levels


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


def test_the_number_of_games_that_is_asked_for_decides_four_times_in_five():
    """60 % against 50 % with 50 games each: played again with the games asked for, a "higher" agrees with a chance of 80 %."""
    games, generator = 50 + decide(all_of(BETTER), of_nast(0.6, 50)).outcomes[0].more, np.random.default_rng(1)
    wins = generator.binomial(games, [[0.6, 0.5]] * 1000)
    estimates = [contrast([(1.0, wilson(one, games)), (-1.0, wilson(other, games))]) for one, other in wins]
    assert 760 < sum(map(higher(CELL).agrees, estimates)) < 840
    assert power_factor() == pytest.approx((1.959964 + 0.841621) / 1.959964, abs=1e-6)


def test_more_games_are_asked_for_by_the_interval_that_decides():
    """7 comparisons "higher" at −2 % with 400 games each, which only a contradiction can decide."""
    comparisons = [versus(place, "N", higher(CELL), "-") for place in PLACES]
    for needed, level in ((7, 1 - 0.05 / 7), (1, 0.95)):
        decision = decide(Claim("", tuple((each,) for each in comparisons), needed), of_nast(0.48, 400))
        against = decision.outcomes[0].against
        half_width = max(against.value - against.low, against.high - against.value) * power_factor(level)
        asked_for = 400 * (half_width / (CELL + 0.02)) ** 2 - 400
        assert [outcome.more for outcome in decision.outcomes] == [math.ceil(asked_for)] * 7


def decision_of(needed, *outcomes):
    """Of cases with one comparison: verdict, games that it needs, its last interim analysis."""
    cases = tuple((Outcome(BETTER, None, verdict, more=more, interim=last),) for verdict, more, last in outcomes)
    return Decision(Claim("", ((BETTER,),) * len(cases), needed), cases, UNDECIDED)


def test_more_games_are_asked_for_until_enough_agree():
    """Of four cases one agrees and one disagrees already: a second to agree needs the fewer games of the two others."""
    outcomes = [(AGREES, None, 1), (DISAGREES, None, 1), (UNDECIDED, 700, 1), (UNDECIDED, 300, 1)]
    assert [decision_of(needed, *outcomes).more for needed in (2, 3)] == [300, 700]


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
    (analysed,) = next(claim for claim in CLAIMS if "Analysis" in claim.text).comparisons
    for comparison in (versus(None, "UCB1", higher(0.0), "Gibbs"), analysed):
        assert Estimator(some).estimate(comparison, 0.95) is None
        assert Estimator(replication()).estimate(comparison, 0.95).value > 0.03


# ------------------------------------------------------------------------------------------------------ rows and commands


def test_other_games_seats_opponents_and_searches_are_no_evidence(tmp_path):
    changes = {"games": ["knockout-whist", "checkers(draw_after=80)"], "iterations": 10, "trials": 4}
    other = build({"name": "other", "agents": suite.TABLE_1, **changes})
    searches = loading.load("searches-phantom", {"trials": 1})
    fixed = loading.load("section8", {"trials": 1, "games": ["othello"]})
    for experiment, paper in ((other, SECTION_8), (searches, SECTION_8), (fixed, EARLIER)):
        directory = keep(tmp_path / experiment.name, experiment, (a_row(cell, 0) for cell in experiment.cells))
        results = results_of(directory)
        assert paper.decisions(results) == {}


def test_the_games_of_several_runs_are_put_together_and_each_counts_once(tmp_path):
    figure5, figure4 = small(), loading.load("figure4", {"games": ["othello"], "trials": 20, "iterations": 20})
    for name, experiment in (("one", figure5), ("other", figure4), ("third", attrs.evolve(figure5, seed=1))):
        keep(tmp_path / name, experiment, (a_row(cell, trial) for cell in experiment.cells for trial in range(3)))
    results = results_of(tmp_path / "one", tmp_path / "other")
    games = {str(tally.cell.spec.strategy): tally.games for tally in results.tallies()}
    assert games == dict.fromkeys([*suite.TABLE_1.values(), "BASELINE >> EPIC"], 3)
    results = results_of(tmp_path / "one", tmp_path / "third")
    assert {tally.games for tally in results.tallies()} == {6}


def test_the_command_prints_every_statement_and_as_csv_every_comparison(tmp_path, call):
    assert "have no games of the papers' statements" in call("claims", keep(tmp_path / "none", small(), []))[2]
    rows = (a_row(cell, trial, win=trial % 2 == 0) for cell in small().cells for trial in range(10))
    keep(tmp_path / "run", small(), rows)
    code, printed, _ = call("claims", tmp_path / "run")
    assert code == 0 and "Paper against ours: 20 iterations per decision" in printed
    assert "Of 37 statements" in printed and "NAST is significantly better than EPIC in Othello." in printed
    lines = list(csv.DictReader(io.StringIO(call("claims", "--csv", tmp_path / "run")[1])))
    line = next(line for line in lines if line["The paper expects"] == "N higher than EPIC")
    assert (line["Game"], line["Difference"], line["Verdict"]) == ("Othello", "+0.0 %", UNDECIDED)
    interval = line["Interval to agree"].removesuffix(" (95 %)")
    low, high = (float(text.removesuffix(" %")) for text in interval.split(" to "))
    assert low == -high < 0 and line["Interval to disagree"] == line["Interval to agree"]
    assert int(line["More games"]) > 100


# ----------------------------------------------------------------------------------------------------------- a campaign

SMALL = dict.fromkeys(INTERIM_GAMES, (2, 3, 4, 5))


def a_campaign(directory, games):
    """Invented games of a campaign of Dou Di Zhu and Othello: so many of each, the cells of a game in turn."""
    for game, count in games.items():
        table = {"games": [game], "trials": 5, "iterations": 5}
        experiment = attrs.evolve(loading.load("section8", table), name=CAMPAIGN)
        played = list(experiment.games())[:count]
        keep(directory / game, experiment, (a_row(cell, trial, win=trial % 2 == 0) for cell, trial in played))
    return directory


def first_interim(rate):
    """The interim analyses of a campaign of which every cell has come to its first, where NAST wins so often."""
    sizes = [
        (cell, INTERIM_GAMES[place][0], rate if agent == "N" else 0.5) for cell, place, agent in simulation.agents()
    ]
    tallies = [Tally(cell, size, round(share * size)) for cell, size, share in sizes]
    return [Interim(Estimator([] if number else tallies), share) for number, share in enumerate(SHARES)]


def test_a_game_in_the_middle_of_its_first_look_is_named_with_its_share(tmp_path):
    results = results_of(a_campaign(tmp_path, {"othello": 0, "dou-di-zhu": 10}))
    lines = states.progress(results, SMALL)
    table = states.progress_table(lines, SMALL)
    assert [each.place[0] for each in lines] == ["dou-di-zhu", "othello"]
    first = dict(zip(table.header, table.rows[0], strict=True))
    assert first["Games"] == "10" and first["First interim analysis"] == "25 % of 40"
    assert first["Interim analyses"] == "0, 0, 0, 0"
    assert lines[0].idle == 10 and lines[0].missing == (30, 90)
    assert lines[0].hours_left == tuple(missing * lines[0].free_seconds / 3600 for missing in (30, 90))
    assert first["left to first interim analyses"] == f"{lines[0].hours_left[0]:.1f}"
    assert table.rows[1][-1] == ""  # nothing is known of a game without games


def test_a_game_of_which_some_cells_have_not_played_is_in_no_picture_and_games_count_up_to_the_first_gap(tmp_path):
    results = results_of(a_campaign(tmp_path / "campaign", {"dou-di-zhu": 40, "othello": 5}))
    assert [column.game for column in states.with_due_games(results.columns())] == ["dou-di-zhu"]
    assert [each.idle for each in states.progress(results, SMALL)] == [0, 15]
    cell = small().cells[0]
    keep(tmp_path / "run", small(), (a_row(cell, trial) for trial in (0, 1, 3, 4)))
    results = results_of(tmp_path / "run")
    assert results.unbroken()[cell] == 2


def test_a_statement_that_has_had_no_look_waits_and_has_spent_nothing():
    decision = decide(all_of(BETTER), [Interim(Estimator([]), share) for share in SHARES])
    assert states.state(decision) == states.WAITS and states.alpha_spent(decision) == 0
    games = {(OTHELLO, "BASELINE"): 150}
    assert states.games_to_next_interim(decision, games, INTERIM_GAMES) == {
        OTHELLO: 250
    }  # 50 of the baseline, 200 of NAST
    (line,) = states.states_table([decision], games, INTERIM_GAMES).rows
    assert line[2:7] == ["waits", "0 of 4", "0 %", "250", "Othello"]


@pytest.mark.parametrize("rate, expected", [(0.8, AGREES), (0.3, DISAGREES), (0.56, UNDECIDED)])
def test_a_statement_tells_its_verdict_with_the_look_and_what_it_cost(rate, expected):
    decision = decide(all_of(BETTER), first_interim(rate))
    assert states.state(decision) == expected and decision.interim == 1
    assert states.alpha_spent(decision) == pytest.approx(0.05 / 6)
    games = {(OTHELLO, strategy): 200 for strategy in ("BASELINE", "BASELINE >> NAST2")}
    missing = states.games_to_next_interim(decision, games, INTERIM_GAMES)
    assert missing == ({OTHELLO: 400} if expected == UNDECIDED else {})
    stricter = decide(all_of(attrs.evolve(BETTER, confidence=0.999)), first_interim(rate))
    assert states.alpha_spent(stricter) == pytest.approx(0.001 / 6)


def test_a_statement_whose_last_look_decided_nothing_has_used_up_its_games():
    interims = first_interim(0.53)
    decision = decide(all_of(BETTER), [Interim(interims[0].estimator, share) for share in SHARES])
    assert states.state(decision) == states.USED_UP and states.alpha_spent(decision) == pytest.approx(0.05)
    assert states.games_to_next_interim(decision, {}, INTERIM_GAMES) == {}


@pytest.mark.parametrize(
    "needed, verdicts, expected",
    [
        (2, [(UNDECIDED, 4), (UNDECIDED, 2)], states.ONLY_DISAGREES),
        (1, [(UNDECIDED, 4), (UNDECIDED, 2)], states.ONLY_AGREES),
        (2, [(UNDECIDED, 2), (UNDECIDED, 2)], UNDECIDED),
        (2, [(AGREES, 1), (UNDECIDED, 4)], states.USED_UP),
        (1, [(DISAGREES, 1), (UNDECIDED, 4)], states.USED_UP),
        (2, [(AGREES, 1), (UNDECIDED, 3)], UNDECIDED),
    ],
)
def test_a_statement_tells_which_verdict_is_still_open_to_it(needed, verdicts, expected):
    assert states.state(decision_of(needed, *((verdict, None, last) for verdict, last in verdicts))) == expected


def test_a_case_that_disagrees_already_waits_for_no_games():
    """RML beats R, M and L: as one of the three is contradicted, the games of the others count no more in this case."""
    compared = tuple(versus(OTHELLO, "RML", higher(CELL), name) for name in ("R", "M", "L"))
    in_hearts = versus(HEARTS, "N", higher(CELL), "-")
    verdicts = (DISAGREES, UNDECIDED, AGREES)
    outcomes = tuple(Outcome(each, None, verdict, interim=1) for each, verdict in zip(compared, verdicts, strict=True))
    claim = Claim("", (compared, (in_hearts,)), 1)
    decision = Decision(claim, (outcomes, (Outcome(in_hearts, None, UNDECIDED, interim=1),)), UNDECIDED)
    assert states.games_to_next_interim(decision, {}, INTERIM_GAMES) == {HEARTS: 800}


def test_a_picture_says_how_much_of_the_first_look_it_shows():
    cell = small().cells[0]
    for games, due, text in (
        ((136, 135), 200, "68 % of the first interim analysis"),
        ((200, 400), 200, ""),
        ((3,), 0, ""),
    ):
        assert unfinished([Tally(cell, number, 1, due=due) for number in games]) == text


def test_the_report_and_the_status_of_a_campaign_follow_from_the_rows_of_all_its_games(tmp_path, call):
    folder = a_campaign(tmp_path, {"dou-di-zhu": 40, "othello": 0})
    code, shown, _ = call("status", folder)
    assert code == 0 and "campaign: 40 games, not running" in shown and "1 % of 4000" in shown
    assert "37 wait for a first one" in shown
    code, shown, _ = call("report", folder)
    assert code == 0 and "Dou Di Zhu (Landlord)" in shown and "Othello" not in shown  # tables of games that there are
    text = (folder / "report.md").read_text()
    assert "40 games played" in text and "some cells have no games yet: Othello." in text
    assert "1 % of 4000" in text and "37 wait for a first one" in text
    assert "## Analysis of variance: Dou Di Zhu (Landlord)" in text
    assert "## Analysis of variance: all results" not in text
    for picture in ("figure3", "figure4-dou-di-zhu-landlord", "figure5", "reuse", "tree"):
        assert (folder / "figures" / f"{picture}.png").exists() and f"figures/{picture}.png" in text


def test_a_folder_of_runs_that_are_no_campaign_is_told_run_by_run_and_not_reported(tmp_path, call):
    for name in ("one", "other"):
        keep(tmp_path / name, small(), [a_row(small().cells[0], 0)])
    assert runs_in(tmp_path) == [tmp_path / "one", tmp_path / "other"]
    assert call("status", tmp_path)[1].count(f"1 of {3 * TRIALS} games") == 2
    code, _, error = call("report", tmp_path)
    assert code == 2 and "holds several runs (one, other), which are not a campaign; give one of them" in error
    (tmp_path / "empty").mkdir()
    for command in ("status", "report", "claims"):
        code, _, error = call(command, tmp_path / "empty")
        assert code == 2 and f"it has no {store.EXPERIMENT}" in error


# ----------------------------------------------------------------------------- the tables of the README and the documents

GAINS = {OTHELLO: 0.3, LIGHT: -0.1, HEARTS: 0.02}  # of NAST; elsewhere 0.1


@pytest.mark.parametrize(
    ("places", "needed", "verdict", "decisive"),
    [
        ((OTHELLO, PLACES[0]), 2, AGREES, PLACES[0]),  # the least gain of those that agree
        ((OTHELLO, HEARTS), 2, UNDECIDED, HEARTS),
        ((OTHELLO, HEARTS, LIGHT), 3, DISAGREES, LIGHT),
        ((HEARTS, OTHELLO, LIGHT), 1, AGREES, OTHELLO),  # of some, the one that supports it most
        ((HEARTS, OTHELLO, LIGHT), 2, UNDECIDED, HEARTS),
    ],
)
def test_a_statement_hangs_on_the_weakest_of_the_games_that_must_support_it(places, needed, verdict, decisive):
    tallies = replication(lambda place, agent: 0.5 + (GAINS.get(place, 0.1) if agent == "N" else 0.0), games=1000)
    compared, interims = [versus(place, "N", higher(0.044), "-") for place in places], [Interim(Estimator(tallies))]
    decision = decide(Claim("", tuple((each,) for each in compared), needed), interims)
    assert decision.verdict == verdict
    assert {term.place for term in decision.decisive.comparison.terms} == {decisive}
    no_gain = versus(OTHELLO, "L", not_higher(0.079), "-")
    weakest = Claim("", tuple((each, no_gain) for each in compared if each.where in ("Hearts", "LOTR:C (Light)")), 1)
    if len(weakest.cases) == 2:  # a case is as strong as its weakest comparison
        assert decide(weakest, interims).decisive.comparison.where == "Hearts"
    assert decide(all_of(BETTER), [Interim(Estimator([]))]).decisive is None


def test_what_an_enhancement_adds_with_nast_and_without_is_told_apart():
    def rate(place, agent):
        loss, gain = {OTHELLO: (0.1, 0.05)}.get(place, (0.0, 0.0))
        return 0.5 + ("L" in agent) * (-loss if "N" in agent else gain)

    estimator = Estimator(replication(rate, games=1000))
    _, _, *lines = report._gains(estimator, report.MIXED, report._gain_by_nast).splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    gains = {first: [cell.split()[0] for cell in others] for first, *others in cells}
    assert gains["Othello"] == ["+0.0", "+0.0", "+5.0", f"{MINUS}10.0"]
    assert gains["Hearts"] == ["+0.0"] * 4
    assert gains["all games"] == ["+0.0", "+0.0", "+0.7", f"{MINUS}1.4"]  # a seventh


def test_the_page_and_the_readme_are_as_the_rows_make_them():
    page, tables, readme = (
        (ROOT / path).read_text("utf-8")
        for path in ("docs/reproduction.md", "experiments/runs/campaign/tables.md", "README.md")
    )
    results = results_of(ROWS)
    texts = report.campaign_tables(results)
    assert readme.count("<!-- end -->") == 1 and fill_places(readme, texts) == readme
    if texts["counted"].partition(".")[0] not in page:
        pytest.skip("rows have come in since: python -m experiments report experiments/runs/campaign --page …")
    assert (page + tables).count("<!-- end -->") == len(texts) - 1
    assert fill_places(page, texts) == page and fill_places(tables, texts) == tables


def test_places_get_their_texts_and_a_page_of_something_else_is_refused(tmp_path, call):
    text = "a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n"
    assert fill_places(text, {"one": "1\n", "two": "2\n", "three": "3\n"}) == (
        "a\n<!-- one -->\n1\n<!-- end -->\nb\n<!-- two -->\n2\n<!-- end -->\n"
    )
    with pytest.raises(ValueError, match="there is no table 'two'; there are one"):
        fill_places(text, {"one": "1\n"})
    page, before = tmp_path / "page.md", (ROWS / "report.md").stat().st_mtime_ns
    code, _, error = call("report", ROWS, "--page", page)
    assert code == 2 and "there is no file" in error and (ROWS / "report.md").stat().st_mtime_ns == before
    page.write_text("text\n")
    code, _, error = call("report", keep(tmp_path / "run", small(), []), "--page", page)
    assert code == 2 and "is not a campaign" in error and page.read_text() == "text\n"
