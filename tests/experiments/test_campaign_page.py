"""The tables of docs/reproduction.md follow from the rows of the campaign."""

from pathlib import Path

import attrs
import pytest

from experiments import report
from experiments.claims import HEARTS, LIGHT, OTHELLO, PLACES, versus
from experiments.commands.main import main
from experiments.report import MINUS
from experiments.store.results import results_of
from experiments.verdicts import (
    AGREES,
    DISAGREES,
    UNDECIDED,
    Claim,
    Estimator,
    Interim,
    all_of,
    decide,
    higher,
    not_higher,
)
from icarus.views.document import fill_places
from tests.experiments.conftest import keep, small
from tests.experiments.test_claims import replication

ROOT = Path(__file__).parents[2]
ROWS, PAGE = ROOT / "experiments/runs/campaign", ROOT / "docs/reproduction.md"
GAINS = {OTHELLO: 0.3, LIGHT: -0.1, HEARTS: 0.02}  # of NAST; elsewhere 0.1


def interims(games):
    def rate(place, agent):
        return 0.5 + (GAINS.get(place, 0.1) if agent == "N" else 0.0)

    return [Interim(Estimator(replication(rate, games=games)))]


def better(*places):
    return [versus(place, "N", higher(0.044), "-") for place in places]


@pytest.mark.parametrize(
    ("places", "games", "verdict", "decisive"),
    [
        ((OTHELLO, PLACES[0]), 1000, AGREES, PLACES[0]),  # the least gain of those that agree
        ((OTHELLO, HEARTS), 1000, UNDECIDED, HEARTS),
        ((OTHELLO, HEARTS, LIGHT), 1000, DISAGREES, LIGHT),
    ],
)
def test_a_statement_about_all_games_hangs_on_the_one_that_supports_it_least(places, games, verdict, decisive):
    decision = decide(all_of("", better(*places)), interims(games))
    assert decision.verdict == verdict
    assert {term.place for term in decision.decisive.comparison.terms} == {decisive}


def test_a_statement_about_some_games_hangs_on_the_one_that_supports_it_most():
    claim = Claim("", tuple((comparison,) for comparison in better(HEARTS, OTHELLO, LIGHT)), needed=1)
    decision = decide(claim, interims(1000))
    assert decision.verdict == AGREES and decision.decisive.comparison.where == "Othello"
    two = decide(attrs.evolve(claim, needed=2), interims(1000))
    assert two.verdict == UNDECIDED and two.decisive.comparison.where == "Hearts"


def test_a_case_is_as_strong_as_its_weakest_comparison():
    no_gain = versus(OTHELLO, "L", not_higher(0.079), "-")
    claim = Claim("", ((*better(LIGHT), no_gain), (*better(HEARTS), no_gain)), needed=1)
    assert decide(claim, interims(1000)).decisive.comparison.where == "Hearts"


def test_without_games_nothing_is_decisive():
    assert decide(all_of("", better(HEARTS)), [Interim(Estimator([]))]).decisive is None


def test_what_an_enhancement_adds_with_nast_and_without_is_told_apart():
    def rate(place, agent):
        loss, gain = {OTHELLO: (0.1, 0.05)}.get(place, (0.0, 0.0))
        return 0.5 + ("L" in agent) * (-loss if "N" in agent else gain)

    estimator = Estimator(replication(rate, games=1000))
    _, _, *lines = report._gains(estimator, report.MIXED, report._gain_by_nast).splitlines()
    gains = {
        cells[1].strip(): [cell.split()[0] for cell in cells[2:-1]] for cells in (line.split("|") for line in lines)
    }
    assert gains["Othello"] == ["+0.0", "+0.0", "+5.0", f"{MINUS}10.0"]
    assert gains["Hearts"] == ["+0.0"] * 4
    assert gains["all games"] == ["+0.0", "+0.0", "+0.7", f"{MINUS}1.4"]  # a seventh


def test_the_page_and_the_readme_are_as_the_rows_make_them():
    page, readme = (path.read_text("utf-8") for path in (PAGE, ROOT / "README.md"))
    with results_of(ROWS) as results:
        texts = report.campaign_tables(results)
        newer = texts["counted"].partition(".")[0] not in page
    assert readme.count("<!-- end -->") == 1 and fill_places(readme, texts) == readme
    if newer:
        pytest.skip("rows have come in since: python -m experiments report experiments/runs/campaign --page …")
    assert page.count("<!-- end -->") == len(texts) - 1 and fill_places(page, texts) == page


def test_places_get_their_texts_and_the_rest_stays():
    page = "a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n"
    assert fill_places(page, {"one": "1\n", "two": "2\n", "three": "3\n"}) == (
        "a\n<!-- one -->\n1\n<!-- end -->\nb\n<!-- two -->\n2\n<!-- end -->\n"
    )
    with pytest.raises(ValueError, match="there is no table 'two'; there are one"):
        fill_places(page, {"one": "1\n"})


def test_a_page_that_is_not_there_is_refused_before_the_report(tmp_path, capsys):
    before = (ROWS / "report.md").stat().st_mtime_ns
    assert main(["report", str(ROWS), "--page", str(tmp_path / "page.md")]) == 2
    assert "there is no file" in capsys.readouterr().err and (ROWS / "report.md").stat().st_mtime_ns == before


def test_a_run_that_is_no_campaign_has_no_page(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("text\n")
    keep(tmp_path / "run", small(), [])
    assert main(["report", str(tmp_path / "run"), "--page", str(page)]) == 2
    assert "is not a campaign" in capsys.readouterr().err and page.read_text() == "text\n"
