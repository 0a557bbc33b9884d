"""What is told of a campaign while it goes on: how far it is, what comes next, where each statement stands."""

import shutil
from pathlib import Path

import attrs
import pytest

from experiments.analysis import claims, order, states
from experiments.analysis.comparisons import AGREES, DISAGREES, UNDECIDED, Estimator, higher
from experiments.analysis.verdicts import Claim, Decision, Interim, Outcome, all_of, decide
from experiments.commands.main import main
from experiments.plan.campaign import FIRST, INTERIM_GAMES, SHARES
from experiments.play import campaign as at_work
from experiments.play.campaign import Campaign
from experiments.report import campaign as progress
from experiments.report.drawing import unfinished
from experiments.store import rows as store
from experiments.store.results import results_of, runs_in
from experiments.store.summary import Tally
from tests.experiments.conftest import TRIALS, a_row, keep, small
from tests.experiments.test_campaign import SMALL, Inventing, state_of


def a_campaign(directory: Path, blocks: int) -> Campaign:
    campaign = Campaign(directory / "rows", directory / "campaign", iterations=5, sizes=SMALL)
    at_work.run(campaign, Inventing(), blocks=blocks)
    return campaign


def test_a_game_in_the_middle_of_its_first_look_is_named_with_its_share(tmp_path):
    campaign = Campaign(tmp_path / "rows", tmp_path / "campaign", iterations=5, sizes=SMALL)
    with pytest.raises(KeyboardInterrupt):
        at_work.run(campaign, Inventing(stop_after=10), blocks=1)
    with results_of(campaign.rows) as results:
        games = progress.progress(results, SMALL)
        table = progress.progress_table(games, SMALL)
    assert [each.place[0] for each in games] == [
        "dou-di-zhu",
        "othello",
        *["lotr-confrontation"] * 2,
        "checkers",
        "hearts",
        "backgammon",
    ]
    first = dict(zip(table.header, table.rows[0], strict=True))
    assert (
        first["Games"] == "10"
        and first["First interim analysis"] == "25 % of 40"
        and first["Interim analyses"] == "0, 0, 0, 0"
    )
    assert games[0].idle == 10 and games[0].missing == (30, 90)
    assert games[0].hours_left == tuple(missing * games[0].free_seconds / 3600 for missing in (30, 90))
    assert first["left to first interim analyses"] == f"{games[0].hours_left[0]:.1f}"
    assert table.rows[1][-1] == ""  # nothing is known of a game without games


def test_the_blocks_up_to_the_first_looks_are_told_in_the_order_in_which_they_are_played(tmp_path):
    with results_of(a_campaign(tmp_path, 1).rows) as results:
        table = progress.next_table(results, SMALL)
    assert [row[0].partition(",")[0] for row in table.rows] == [
        "Othello",
        "LOTR:C (Light) and LOTR:C (Dark)",
        "Checkers",
        "Hearts",
        "Backgammon",
    ]
    assert [row[1] for row in table.rows] == ["40", "80", "40", "40", "40"]


def test_after_the_first_looks_the_plan_told_first_is_the_one_that_is_played(tmp_path, monkeypatch):
    campaign = a_campaign(tmp_path, len(FIRST))
    monkeypatch.setattr(claims, "CLAIMS", claims.CLAIMS[:9])  # plans for 37 statements take seconds
    with results_of(campaign.rows) as results:
        state = order.state_of(results, games := results.unbroken(), SMALL)
        plans = order.plans(state, SMALL)
        with monkeypatch.context() as patched:  # a second less
            patched.setattr(order, "plans", lambda *arguments: plans)
            table = progress.next_table(results, SMALL)
    assert [plan.decided_per_hour for plan in plans] == sorted((plan.decided_per_hour for plan in plans), reverse=True)
    assert len({plan.statement for plan in plans}) == len(plans) == len(table.rows) > 1
    block = at_work.next_block(campaign, games)
    assert block.cells == plans[0].cells[:1] and block == order.first_block_of(plans[0], state, SMALL)
    line = dict(zip(table.header, table.rows[0], strict=True))
    assert line["No."] == str(plans[0].statement) and line["For a core-hour"] == f"{plans[0].decided_per_hour:.2g}"


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
    (decision,) = state_of(lambda place, agent: rate if agent == "N" else 0.5, claim).decisions
    assert states.state(decision) == expected and decision.interim == 1
    assert states.alpha_spent(decision) == pytest.approx(0.05 / 6)
    games = {(claims.OTHELLO, strategy): 200 for strategy in ("BASELINE", "BASELINE >> NAST2")}
    assert states.games_to_next_interim(decision, games, INTERIM_GAMES) == (
        {claims.OTHELLO: 400} if expected == UNDECIDED else {}
    )


def test_a_statement_whose_last_look_decided_nothing_has_used_up_its_games():
    claim = all_of("", [claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-")])
    interims = state_of(lambda place, agent: 0.53 if agent == "N" else 0.5, claim).interims
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
    decision = state_of(lambda place, agent: 0.5, all_of("", [comparison])).decisions[0]
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


def test_the_choice_does_not_depend_on_the_order_in_which_runs_are_read(tmp_path):
    rows = a_campaign(tmp_path, 5).rows
    runs = [rows / game for game in FIRST if (rows / game).exists()]
    games = []
    for directories in (runs, runs[::-1]):
        with results_of(*directories) as results:
            games.append(list(order.state_of(results, results.unbroken(), SMALL).games))
    assert [cell.key for cell in games[0]] == [cell.key for cell in games[1]]


def test_a_picture_says_how_much_of_the_first_look_it_shows():
    cell = small().cells[0]
    assert (
        unfinished([Tally(cell, 136, 60, due=200), Tally(cell, 135, 60, due=200)])
        == "68 % of the first interim analysis"
    )
    assert unfinished([Tally(cell, 200, 60, due=200), Tally(cell, 400, 60, due=200)]) == ""
    assert unfinished([Tally(cell, 3, 1)]) == ""


def test_the_report_of_a_campaign_follows_from_the_rows_of_all_its_games(tmp_path, capsys):
    folder = a_campaign(tmp_path, 1).copies
    assert main(["report", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "Dou Di Zhu (Landlord)" in shown.out and "Othello" not in shown.out  # tables of games that there are
    text = (folder / "report.md").read_text()
    assert (
        "40 games played" in text
        and "some cells have no games yet: Othello, LOTR:C (Light), LOTR:C (Dark), Checkers, Hearts, Backgammon."
        in text
    )
    assert "1 % of 4000" in text and "37 wait for a first one" in text
    assert (
        "## Analysis of variance: Dou Di Zhu (Landlord)" in text and "## Analysis of variance: all results" not in text
    )
    for picture in ("figure3", "figure4-dou-di-zhu-landlord", "figure5", "reuse", "tree"):
        assert (folder / "figures" / f"{picture}.png").exists() and f"figures/{picture}.png" in text
    assert "replications without any effect" in text


@pytest.mark.slow
def test_the_report_of_a_campaign_is_the_same_bytes_from_the_same_rows(tmp_path):
    folder = a_campaign(tmp_path, 1).copies
    assert main(["report", str(folder)]) == 0
    before = {path.name: path.read_bytes() for path in [folder / "report.html", *(folder / "figures").iterdir()]}
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere, ignore=shutil.ignore_patterns("report.*", "figures"))
    assert main(["report", str(elsewhere)]) == 0
    for path in [elsewhere / "report.html", *(elsewhere / "figures").iterdir()]:
        assert path.read_bytes() == before[path.name], path.name


def test_a_game_of_which_some_cells_have_not_played_is_in_no_picture(tmp_path):
    campaign = Campaign(tmp_path / "rows", tmp_path / "campaign", iterations=5, sizes=SMALL)
    with pytest.raises(KeyboardInterrupt):
        at_work.run(campaign, Inventing(stop_after=45), blocks=2)
    with results_of(campaign.rows) as results:
        assert [column.game for column in progress.with_due_games(results.columns())] == ["dou-di-zhu"]
        assert [each.idle for each in progress.progress(results, SMALL)] == [0, 15, 20, 20, 20, 20, 20]


def test_status_tells_of_a_campaign_what_it_cost_and_what_comes_next(tmp_path, capsys):
    folder = a_campaign(tmp_path, 1).copies
    assert main(["status", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "campaign: 40 games, not running" in shown and "1 % of 4000" in shown
    assert "20 cells to 200 games" in shown and "37 wait for a first one" in shown


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
