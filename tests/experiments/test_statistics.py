"""Intervals, tests and plans against values from elsewhere."""

import random

import numpy as np
import pytest
from scipy import stats

from experiments.papers.combinations import BY_NAME, COMBINATIONS, ENHANCEMENTS
from experiments.statistics import (
    Design,
    Estimate,
    anova,
    average_cell,
    binomial_model,
    clopper_pearson,
    fisher_p_value,
    games_needed,
    holm,
    marginals,
    paired_effects,
    score,
    student,
    wilson,
)


@pytest.mark.parametrize(
    "wins, games, expected",
    [
        (5, 10, (0.1871, 0.8129)),
        (1, 10, (0.0025, 0.4450)),
        (81, 263, (0.2527, 0.3676)),  # published (Newcombe 1998 for the last)
    ],
)
def test_the_interval_agrees_with_published_ones(wins, games, expected):
    assert clopper_pearson(wins, games) == pytest.approx(expected, abs=5e-5)


def test_an_interval_that_holds_0_decides_nothing():
    for low, high, decided in (
        (0.1, 0.4, True),
        (-0.4, -0.1, True),
        (-0.1, 0.4, False),
        (0.0, 0.4, False),
        (-0.4, 0.0, False),
    ):
        assert Estimate((low + high) / 2, low, high).is_decided == decided


def test_a_mean_has_students_interval():
    numbers = np.array([1.0, 2.0, 4.0])
    error = numbers.std(ddof=1) / 3**0.5
    estimate = student(numbers.mean(), error, 3)
    assert (estimate.low, estimate.high) == pytest.approx(stats.t.interval(0.95, 2, numbers.mean(), error))


def test_without_a_win_the_interval_has_its_closed_form():
    assert clopper_pearson(0, 20) == (0.0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert clopper_pearson(20, 20) == (pytest.approx(0.025 ** (1 / 20)), 1.0)
    assert clopper_pearson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("wins, games", [(3, 17), (500, 1000), (999, 1000)])
def test_the_interval_agrees_with_scipys(wins, games):
    expected = stats.binomtest(wins, games).proportion_ci(0.95, method="exact")
    assert clopper_pearson(wins, games) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("wins, games, confidence", [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0)])
def test_impossible_counts_are_refused(wins, games, confidence):
    with pytest.raises(ValueError, match="there are|must be"):
        clopper_pearson(wins, games, confidence)


def test_holms_correction_agrees_with_the_textbook_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


def test_holms_correction_agrees_with_statsmodels():
    from statsmodels.stats.multitest import multipletests

    values = np.random.default_rng(1).uniform(size=30) ** 3
    assert holm(list(values)) == pytest.approx(multipletests(values, method="holm")[1])


def test_on_the_same_deals_an_effect_has_the_interval_of_its_differences():
    featured = np.array([["NAST" in c.enhancements for c in COMBINATIONS]])
    easy, hard = np.ones((1, 16), bool), np.zeros((1, 16), bool)  # deals that all win, and that all lose
    wins = np.concatenate([featured, featured, easy, hard, ~featured])
    effects = paired_effects(wins)
    assert effects["NAST"].value == pytest.approx((1 + 1 + 0 + 0 - 1) / 5)
    theirs = stats.ttest_1samp([1, 1, 0, 0, -1], 0).confidence_interval(0.95)
    assert (effects["NAST"].low, effects["NAST"].high) == pytest.approx((theirs.low, theirs.high))
    assert effects["RAVE"] == Estimate(0.0, 0.0, 0.0)  # of those with NAST one half has it, and of those without


def test_cells_with_more_games_do_not_count_for_more():
    """Their rates are averaged, and the mean is as well known as so many games would tell: with n and m of each 4/(1/n + 1/m)."""
    assert average_cell([(50, 200), (150, 200)]) == (200, 400)
    wins, games = average_cell([(50, 200), (150, 200), (0, 200)])
    assert (wins, games) == pytest.approx((200, 600))
    wins, games = average_cell([(50, 200), (38, 50)])
    assert games == pytest.approx(4 / (1 / 200 + 1 / 50)) and wins / games == pytest.approx((0.25 + 0.76) / 2)
    counts = {c.name: (200, 200) if "NAST" in c.enhancements else (0, 200) for c in COMBINATIONS} | {"-": (800, 1000)}
    assert marginals(counts)["NAST"][1] == (1600, 1600)
    without, games = marginals(counts)["NAST"][0]
    assert without / games == pytest.approx(0.8 / 8, abs=0.001)


def test_the_lady_tasting_tea():
    assert fisher_p_value((3, 4), (1, 4)) == pytest.approx(0.4857, abs=1e-4)


def test_the_plan_agrees_with_rs_power_prop_test():
    assert games_needed(0.50, 0.55) == 1565  # power.prop.test(p1=.5, p2=.55, power=.8): n = 1564.672
    assert games_needed(0.50, 0.75, power=0.9) == 77  # power.prop.test(p1=.50, p2=.75, power=.90): n = 76.7
    assert games_needed(0.55, 0.50) == games_needed(0.50, 0.55)


@pytest.mark.parametrize("arguments", [(0.5, 0.5), (0.0, 0.5), (0.5, 1.5), (0.5, 0.6, 1.0)])
def test_an_impossible_plan_is_refused(arguments):
    with pytest.raises(ValueError, match="must be|difference of 0"):
        games_needed(*arguments)


def test_the_averages_of_figure_3_sum_eight_combinations_each():
    counts = {
        c.name: (1 << i, 1000) for i, c in enumerate(COMBINATIONS)
    }  # each combination shows in the sum by its bit
    without_nast, with_nast = marginals(counts)["NAST"]
    assert with_nast == (sum(1 << i for i, c in enumerate(COMBINATIONS) if "N" in c.name), 8000)
    assert without_nast[0] + with_nast[0] == (1 << 16) - 1
    assert set(marginals(counts)) == {"NAST", "RAVE", "MAST", "LGRF"}


def random_counts(seed, games):
    generator = random.Random(seed)
    counts = {}
    for c in COMBINATIONS:
        size = games(generator)
        counts[c.name] = (sum(generator.random() < 0.4 + 0.2 * ("NAST" in c.enhancements) for _ in range(size)), size)
    return counts


def frame(counts):
    """One line per game, as statsmodels wants it."""
    import pandas

    lines = [
        {"win": int(i < wins), "column": column, **{e: int(e in BY_NAME[name].enhancements) for e in ENHANCEMENTS}}
        for column, results in counts.items()
        for name, (wins, games) in results.items()
        for i in range(games)
    ]
    return pandas.DataFrame(lines)


def test_in_a_balanced_design_the_sum_of_squares_is_that_of_the_hand_calculation():
    games = 50
    counts = {c.name: (30 if "NAST" in c.enhancements else 20, games) for c in COMBINATIONS}
    effects = {effect.term: effect for effect in anova(Design({"othello": counts}))}
    total = 16 * games
    within = total * 0.6 * 0.4  # p(1 − p) is the same on both sides
    assert effects["NAST"].gain == pytest.approx(total * 0.1**2)  # N (difference / 2)²
    assert effects["NAST"].statistic == pytest.approx(total * 0.1**2 / (within / (total - 16)))
    assert effects["NAST"].direction == pytest.approx(0.2)
    assert effects["NAST"].p < 0.001  # "significant at the 99.9 % level"
    assert all(effect.gain == pytest.approx(0, abs=1e-9) for term, effect in effects.items() if term != "NAST")
    assert len(effects) == 15


def test_a_game_with_more_games_of_an_enhancement_does_not_make_it_a_gain():
    counts = {
        "easy": {c.name: (800, 1000) if "NAST" in c.enhancements else (160, 200) for c in COMBINATIONS},
        "hard": {c.name: (40, 200) for c in COMBINATIONS},
    }
    for analysis in (anova, binomial_model):
        (nast,) = [effect for effect in analysis(Design(counts)) if effect.term == "NAST"]
        assert nast.direction == pytest.approx(0) and nast.p > 0.9


def test_the_analysis_of_variance_agrees_with_statsmodels_on_single_games():
    import statsmodels.formula.api as formulas
    from statsmodels.stats.anova import anova_lm

    counts = {
        "one": random_counts(1, lambda g: g.randrange(20, 60)),
        "two": random_counts(2, lambda g: g.randrange(20, 60)),
        "three": random_counts(3, lambda g: 30),
    }
    fitted = formulas.ols(
        "win ~ C(NAST, Sum)*C(RAVE, Sum)*C(MAST, Sum)*C(LGRF, Sum)*C(column, Sum)", frame(counts)
    ).fit()
    expected = anova_lm(fitted, typ=2)
    expected.index = [name.replace("C(", "").replace(", Sum)", "").replace("column", "Game") for name in expected.index]
    effects = anova(Design(counts))
    assert len(effects) == 31
    for effect in effects:
        assert effect.freedom == expected.loc[effect.term, "df"]
        assert effect.gain == pytest.approx(expected.loc[effect.term, "sum_sq"], abs=1e-6)
        assert effect.p == pytest.approx(expected.loc[effect.term, "PR(>F)"], abs=1e-6)


def test_the_binomial_model_agrees_with_a_fit_to_single_games():
    import statsmodels.api as models
    import statsmodels.formula.api as formulas

    counts = {"one": random_counts(4, lambda g: g.randrange(30, 60))}
    data = frame(counts)
    effect = next(effect for effect in binomial_model(Design(counts)) if effect.term == "NAST")
    deviances = [
        formulas.glm(f"win ~ {terms}RAVE*MAST*LGRF", data, family=models.families.Binomial()).fit().deviance
        for terms in ("", "NAST + ")
    ]
    assert effect.gain == pytest.approx(deviances[0] - deviances[1], rel=1e-6)
    assert effect.p == pytest.approx(stats.chi2.sf(deviances[0] - deviances[1], 1), rel=1e-6)


def test_a_cell_without_a_single_win_does_not_stop_the_analysis():
    counts = random_counts(5, lambda g: 20) | {"-": (0, 20), "NRML": (20, 20)}
    for analysis in (anova, binomial_model):
        assert all(0 <= effect.p <= effect.holm <= 1 for effect in analysis(Design({"othello": counts})))


def test_an_analysis_of_half_a_table_is_refused_with_a_missing_combination():
    with pytest.raises(ValueError, match="no games of N in othello; the analysis needs all of Table 1"):
        Design({"othello": {"-": (1, 2), "R": (1, 2), "RML": (1, 2)}})


def squares_by_hand(counts):
    """Type II sums of squares by plain least squares over cells: each term against all terms that do not contain it."""
    design = Design(counts)
    rates, root = design.wins / design.games, np.sqrt(design.games)

    def misfit(terms):
        matrix = design.matrix(terms)
        solution = np.linalg.lstsq(matrix * root[:, None], rates * root, rcond=None)[0]
        return float((design.games * (rates - matrix @ solution) ** 2).sum())

    squares = {}
    for term in design.terms:
        others = [candidate for candidate in design.terms if not set(term) <= set(candidate)]
        squares[":".join(term)] = misfit(others) - misfit([*others, term])
    return squares


@pytest.mark.parametrize("columns", [1, 2, 7])
def test_the_analysis_of_variance_has_the_figures_of_plain_least_squares(columns):
    counts = {f"game {i}": random_counts(i, lambda g: g.randrange(40, 60)) for i in range(columns)}
    expected, design = squares_by_hand(counts), Design(counts)
    within, freedom = design.within
    for effect in anova(design):
        assert effect.gain == pytest.approx(expected[effect.term], abs=1e-9)
        statistic = expected[effect.term] / effect.freedom / (within / freedom)
        assert effect.statistic == pytest.approx(statistic, abs=1e-9)
        assert effect.p == pytest.approx(stats.f.sf(statistic, effect.freedom, freedom), abs=1e-9)


def test_games_that_all_ended_alike_leave_nothing_to_be_analysed():
    for effect in anova(Design({"othello": {c.name: (3, 3) for c in COMBINATIONS}})):
        assert effect.p == 1.0


def test_half_wins_have_an_interval_between_those_of_whole_ones():
    below, between, above = (clopper_pearson(wins, 20) for wins in (7, 7.5, 8))
    assert below[0] < between[0] < above[0]
    assert below[1] < between[1] < above[1]


def test_scores_without_draws_are_win_rates():
    assert score(7, 0, 20) == wilson(7, 20)


def test_games_that_all_ended_alike_do_not_give_a_certain_score():
    for wins, draws in ((0, 8), (8, 0), (0, 0)):
        estimate = score(wins, draws, 8)
        assert estimate.value == (wins + draws / 2) / 8
        assert estimate.high - estimate.low > 0.1


@pytest.mark.parametrize("win, draw", [(0.05, 0.9), (0.3, 0.4), (0.45, 0.1), (0.1, 0.3)])
def test_the_interval_of_a_score_covers_the_true_one_as_often_as_it_says(win, draw):
    generator, inside, tests = np.random.default_rng(5), 0, 2000
    for wins, draws, _ in generator.multinomial(100, (win, draw, 1 - win - draw), tests):
        estimate = score(int(wins), int(draws), 100)
        inside += estimate.low <= win + draw / 2 <= estimate.high
    assert 0.935 < inside / tests < 0.975
