"""What is told of a campaign: how far it is, where each statement stands."""

import attrs
import pytest

from experiments import claims
from experiments import interims as states
from experiments.commands.main import main
from experiments.figures import unfinished
from experiments.interims import CAMPAIGN, INTERIM_GAMES, SHARES
from experiments.plan import loading
from experiments.store import rows as store
from experiments.store.results import Tally, results_of, runs_in
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
    decide,
    higher,
)
from tests.experiments import simulation
from tests.experiments.conftest import TRIALS, a_row, keep, small

SMALL = dict.fromkeys(INTERIM_GAMES, (2, 3, 4, 5))


def a_campaign(directory, games):
    """Invented games of a campaign of Dou Di Zhu and Othello: so many of each, the cells of a game in turn."""
    for game, count in games.items():
        experiment = attrs.evolve(
            loading.load("section8", {"games": [game], "trials": 5, "iterations": 5}), name=CAMPAIGN
        )
        played = list(experiment.games())[:count]
        keep(directory / game, experiment, (a_row(cell, trial, win=trial % 2 == 0) for cell, trial in played))
    return directory


def first_interim(rate):
    """The interim analyses of a campaign of which every cell has come to its first."""
    tallies = []
    for cell, place, agent in simulation.agents():
        size = INTERIM_GAMES[place][0]
        tallies.append(Tally(cell, size, round(rate(place, agent) * size)))
    return [Interim(Estimator([] if number else tallies), share) for number, share in enumerate(SHARES)]


def test_a_game_in_the_middle_of_its_first_look_is_named_with_its_share(tmp_path):
    with results_of(a_campaign(tmp_path, {"othello": 0, "dou-di-zhu": 10})) as results:
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


def test_a_game_of_which_some_cells_have_not_played_is_in_no_picture(tmp_path):
    with results_of(a_campaign(tmp_path, {"dou-di-zhu": 40, "othello": 5})) as results:
        assert [column.game for column in states.with_due_games(results.columns())] == ["dou-di-zhu"]
        assert [each.idle for each in states.progress(results, SMALL)] == [0, 15]


def test_games_count_up_to_the_first_gap(tmp_path):
    cell = small().cells[0]
    keep(tmp_path, small(), (a_row(cell, trial) for trial in (0, 1, 3, 4)))
    with results_of(tmp_path) as results:
        assert results.unbroken()[cell] == 2


def test_a_statement_that_has_had_no_look_waits_and_has_spent_nothing():
    claim = all_of("", [claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-")])
    decision = decide(claim, [Interim(Estimator([]), share) for share in SHARES])
    assert states.state(decision) == states.WAITS and states.alpha_spent(decision) == 0
    games = {(claims.OTHELLO, "BASELINE"): 150}
    assert states.games_to_next_interim(decision, games, INTERIM_GAMES) == {
        claims.OTHELLO: 250
    }  # 50 of the baseline, 200 of NAST
    (line,) = states.states_table([decision], games, INTERIM_GAMES).rows
    assert line[2:7] == ["waits", "0 of 4", "0 %", "250", "Othello"]


@pytest.mark.parametrize("rate, expected", [(0.8, AGREES), (0.3, DISAGREES), (0.56, UNDECIDED)])
def test_a_statement_tells_its_verdict_with_the_look_and_what_it_cost(rate, expected):
    claim = all_of("", [claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-")])
    decision = decide(claim, first_interim(lambda place, agent: rate if agent == "N" else 0.5))
    assert states.state(decision) == expected and decision.interim == 1
    assert states.alpha_spent(decision) == pytest.approx(0.05 / 6)
    games = {(claims.OTHELLO, strategy): 200 for strategy in ("BASELINE", "BASELINE >> NAST2")}
    assert states.games_to_next_interim(decision, games, INTERIM_GAMES) == (
        {claims.OTHELLO: 400} if expected == UNDECIDED else {}
    )


def test_a_statement_whose_last_look_decided_nothing_has_used_up_its_games():
    claim = all_of("", [claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-")])
    interims = first_interim(lambda place, agent: 0.53 if agent == "N" else 0.5)
    decision = decide(claim, [Interim(interims[0].estimator, share) for share in SHARES])
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
    comparison = claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-")
    cases = tuple((Outcome(comparison, None, verdict, interim=interim),) for verdict, interim in verdicts)
    claim = Claim("", tuple((comparison,) for _ in verdicts), needed)
    assert states.state(Decision(claim, cases, UNDECIDED)) == expected


def test_a_statement_at_a_higher_level_has_spent_less():
    comparison = attrs.evolve(claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-"), confidence=0.999)
    decision = decide(all_of("", [comparison]), first_interim(lambda place, agent: 0.5))
    assert states.alpha_spent(decision) == pytest.approx(0.001 / 6)


def test_a_case_that_disagrees_already_waits_for_no_games():
    """RML beats R, M and L: as one of the three is contradicted, the games of the others count no more in this case."""
    compared = [claims.versus(claims.OTHELLO, "RML", higher(claims.CELL), name) for name in ("R", "M", "L")]
    outcomes = [
        Outcome(each, None, verdict, interim=1)
        for each, verdict in zip(compared, (DISAGREES, UNDECIDED, AGREES), strict=True)
    ]
    hearts_comparison = claims.versus(claims.HEARTS, "N", higher(claims.CELL), "-")
    claim = Claim("", (tuple(compared), (hearts_comparison,)), 1)
    decision = Decision(claim, (tuple(outcomes), (Outcome(hearts_comparison, None, UNDECIDED, interim=1),)), UNDECIDED)
    assert states.games_to_next_interim(decision, {}, INTERIM_GAMES) == {claims.HEARTS: 800}


def test_a_picture_says_how_much_of_the_first_look_it_shows():
    cell = small().cells[0]
    assert (
        unfinished([Tally(cell, 136, 60, due=200), Tally(cell, 135, 60, due=200)])
        == "68 % of the first interim analysis"
    )
    assert unfinished([Tally(cell, 200, 60, due=200), Tally(cell, 400, 60, due=200)]) == ""
    assert unfinished([Tally(cell, 3, 1)]) == ""


def test_the_report_and_the_status_of_a_campaign_follow_from_the_rows_of_all_its_games(tmp_path, capsys):
    folder = a_campaign(tmp_path, {"dou-di-zhu": 40, "othello": 0})
    assert main(["status", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "campaign: 40 games, not running" in shown and "1 % of 4000" in shown and "37 wait for a first one" in shown
    assert main(["report", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "Dou Di Zhu (Landlord)" in shown.out and "Othello" not in shown.out  # tables of games that there are
    text = (folder / "report.md").read_text()
    assert "40 games played" in text and "some cells have no games yet: Othello." in text
    assert "1 % of 4000" in text and "37 wait for a first one" in text
    assert "## Analysis of variance: Dou Di Zhu (Landlord)" in text
    assert "## Analysis of variance: all results" not in text
    for picture in ("figure3", "figure4-dou-di-zhu-landlord", "figure5", "reuse", "tree"):
        assert (folder / "figures" / f"{picture}.png").exists() and f"figures/{picture}.png" in text


def test_a_folder_of_runs_that_are_no_campaign_is_told_run_by_run_and_not_reported(tmp_path, capsys):
    for name in ("one", "other"):
        keep(tmp_path / name, small(), [a_row(small().cells[0], 0)])
    assert runs_in(tmp_path) == [tmp_path / "one", tmp_path / "other"]
    assert main(["status", str(tmp_path)]) == 0 and capsys.readouterr().out.count(f"1 of {3 * TRIALS} games") == 2
    assert main(["report", str(tmp_path)]) == 2
    assert "holds several runs (one, other), which are not a campaign; give one of them" in capsys.readouterr().err


def test_a_directory_without_any_run_is_refused(tmp_path, capsys):
    for command in ("status", "report", "claims"):
        assert main([command, str(tmp_path)]) == 2
        assert f"it has no {store.EXPERIMENT}" in capsys.readouterr().err
