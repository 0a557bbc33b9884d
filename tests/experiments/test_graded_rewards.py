"""Games with graded rewards, such as money or points: what is compared is the mean reward, not the games won."""

from itertools import islice

import pytest
from scipy.stats import ttest_ind

from experiments.figures import measure_title
from experiments.report import analyses, write
from experiments.results import Moments, results_of
from experiments.statistics import mean_of, reward_p_values, strengths, welch_p_value
from tests.experiments.conftest import a_row, all_of_table_1, built, keep

AGENTS = {"mast": "BASELINE >> MAST", "base": "BASELINE"}
MONEY = {"mast": (0.75, 0.75, 0.25, 0.75), "base": (0.25, 0.75, 0.25, 0.75)}  # of Kuhn poker, without a reward of 1


def paid(directory, rewards, game="kuhn-poker", **changes):
    """A run in which agents got these rewards, and their opponent the rest."""
    experiment = built(games=game, agents=AGENTS, trials=8, **changes)
    return keep(
        directory,
        experiment,
        (
            a_row(cell, trial, win=reward >= 1, reward=reward, returns=[reward, 1 - reward])
            for cell in experiment.cells
            for trial, reward in enumerate(rewards[cell.agent])
        ),
    )


def columns_of(directory):
    results = results_of(directory)
    return results.columns()


def lines_of(directory):
    """The tables of a report, a line each."""
    write(directory)
    return (directory / "report.md").read_text().splitlines()


def test_the_report_has_mean_rewards_with_students_interval(tmp_path):
    """By hand: of .75, .75, .25, .75 the mean is .625, the standard error .125, and t of three degrees of freedom 3.182.

    So the interval would reach 1.023, which no reward is.
    """
    lines = lines_of(paid(tmp_path, MONEY))
    assert "| Agent | Strategy | Games | Mean reward | 95 % interval | Band | p (Holm) |" in lines
    assert any(line.startswith("| mast | BASELINE >> MAST | 4 | 0.625 | 0.227 - 1.000 |  |") for line in lines)
    assert "| base | BASELINE | 4 | 0.500 | 0.041 - 0.959 |  |  |" in lines
    assert not any("Wins" in line or "Draws" in line for line in lines)


def test_wins_draws_and_losses_are_counted_as_before(tmp_path):
    lines = lines_of(paid(tmp_path, {"mast": (1, 0.5, 0, 1), "base": (0.5, 0.5, 0, 1)}, game="othello"))
    assert "| Agent | Strategy | Wins | Games | Win rate | 95 % interval | Draws | Score | Band | p (Holm) |" in lines


@pytest.mark.parametrize(("game", "graded"), [("hearts", False), ("knockout-whist(players=4)", True)])
def test_shared_places_are_graded_but_in_the_papers_hearts_where_wins_count(tmp_path, game, graded):
    experiment = built(games=game, agents=AGENTS, trials=2)
    rows = (a_row(cell, 0, win=False, reward=0.5, returns=[0.5, 1, 0, 0.5]) for cell in experiment.cells)
    ((_, tallies),) = columns_of(keep(tmp_path, experiment, rows)).items()
    assert {tally.is_graded for tally in tallies} == {graded}
    assert measure_title([tallies]) == ("mean reward" if graded else "games won")
    assert strengths(tallies)[0].value == (0.5 if graded else 0)


def test_on_the_same_deals_rewards_are_compared(tmp_path):
    lines = lines_of(paid(tmp_path, MONEY, paired=True))
    # by hand: of .5, 0, 0, 0 the mean is .125, the standard error .125
    assert "| mast | +0.125 | -0.273 to +0.523 | 4 |" in lines
    assert "| Game | Agent | less | Mean reward more | 95 % interval | Deals |" in lines
    assert "| Kuhn Poker | base | mast | -0.125 | -0.523 to +0.273 | 4 |" in lines
    assert not any("McNemar" in line or "Games won more" in line for line in lines)


def test_the_analyses_of_wins_leave_such_games_out(tmp_path):
    experiment = all_of_table_1(games=["kuhn-poker", "othello"])
    rows = (
        a_row(cell, trial, win=trial == 0, reward=reward, returns=[reward, 1 - reward])
        for cell in experiment.cells
        for trial, reward in enumerate((0.75, 0.25) if cell.column.game == "kuhn-poker" else (1, 0))
    )
    kuhn, othello = columns_of(keep(tmp_path, experiment, rows)).items()
    note, _, averages = islice(analyses(dict([kuhn, othello])), 3)
    assert (
        note.text == "Averages over combinations and analyses of variance are of the games in which wins are counted."
    )
    assert {row[0] for row in averages.rows} == {"Othello"}
    assert not list(analyses(dict([kuhn])))


def test_a_sequential_test_says_that_it_compares_mean_rewards(tmp_path):
    lines = lines_of(paid(tmp_path, MONEY, sprt=True))
    said = "In games that are not of section 8 the tests compare mean rewards, a draw counting one half; H1: 0.05 more."
    assert said in lines
    assert not any("same deals" in line for line in lines)  # of which each is played once in every seat


def test_rewards_that_are_all_the_same_have_an_interval():
    """Clopper and Pearson's bound for 4 of 4 is .398."""
    same = mean_of(Moments(4, 4 * 250_000, 4 * 250_000**2))
    assert (same.value, same.low, same.high) == pytest.approx((0.25, 0.398 * 0.25, 0.398 * 0.25 + 0.602), abs=5e-4)


def test_the_p_value_is_that_of_welch(tmp_path):
    ((_, tallies),) = columns_of(paid(tmp_path, MONEY)).items()
    assert list(reward_p_values(tallies).values()) == [
        pytest.approx(ttest_ind(*MONEY.values(), equal_var=False).pvalue)
    ]
    assert welch_p_value((0.5, 0.0, 9), (0.75, 0.0, 9)) == 1
