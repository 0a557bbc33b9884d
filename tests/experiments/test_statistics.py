"""Intervals, tests, plans and ratings against values from elsewhere."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from experiments.papers.combinations import BY_NAME, COMBINATIONS, ENHANCEMENTS
from experiments.plan import loading
from experiments.plan.loading import build
from experiments.ratings import ratings, tournaments
from experiments.report import rating_tables
from experiments.results import results_of
from experiments.statistics import (
    Design,
    Estimate,
    anova,
    average_cell,
    binomial_model,
    clopper_pearson,
    contrast,
    fisher_p_value,
    games_needed,
    holm,
    marginals,
    paired_effects,
    score,
    student,
    wilson,
)
from icarus.views.document import Table, markdown_table
from tests.experiments.conftest import a_row, keep


def test_the_interval_of_a_rate_is_the_published_one_and_scipys():
    for wins, games, expected in (
        (5, 10, (0.1871, 0.8129)),
        (1, 10, (0.0025, 0.4450)),
        (81, 263, (0.2527, 0.3676)),  # published (Newcombe 1998 for the last)
    ):
        assert clopper_pearson(wins, games) == pytest.approx(expected, abs=5e-5)
    for wins, games in ((3, 17), (500, 1000), (999, 1000)):
        theirs = stats.binomtest(wins, games).proportion_ci(0.95, method="exact")
        assert clopper_pearson(wins, games) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert clopper_pearson(0, 20) == (0.0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert clopper_pearson(20, 20) == (pytest.approx(0.025 ** (1 / 20)), 1.0)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    below, between, above = (clopper_pearson(wins, 20) for wins in (7, 7.5, 8))
    assert below[0] < between[0] < above[0] and below[1] < between[1] < above[1]


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


@pytest.mark.parametrize("wins, games, confidence", [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0)])
def test_impossible_counts_are_refused(wins, games, confidence):
    with pytest.raises(ValueError, match="there are|must be"):
        clopper_pearson(wins, games, confidence)


def test_holms_correction_agrees_with_the_textbook_example_and_statsmodels():
    from statsmodels.stats.multitest import multipletests

    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0] and holm([]) == []
    values = np.random.default_rng(1).uniform(size=30) ** 3
    assert holm(list(values)) == pytest.approx(multipletests(values, method="holm")[1])


def test_intervals_of_differences_agree_with_published_ones():
    """Newcombe (1998), Statistics in Medicine 17: 81 of 263 (p. 861), 56 of 70 against 48 of 80 (p. 877, method 10)."""
    rate = wilson(81, 263)
    assert (rate.low, rate.high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))
    difference = contrast([(1.0, wilson(56, 70)), (-1.0, wilson(48, 80))])
    assert (difference.value, difference.low, difference.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


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


@pytest.mark.parametrize("columns", [1, 2, 7])
def test_the_analysis_of_variance_has_the_figures_of_plain_least_squares(columns):
    """Over single games; each term is compared with all terms that do not contain it (type II)."""
    counts = {f"game {i}": random_counts(i, lambda g: g.randrange(40, 60)) for i in range(columns)}
    cells = [(game, name, *pair) for game, results in counts.items() for name, pair in results.items()]
    coded = np.vstack([np.eye(columns)[:, : columns - 1][:-1], -np.ones((1, columns - 1))])  # sums to zero
    blocks = {
        e: np.array([[1.0 if e in BY_NAME[name].enhancements else -1.0] for _, name, *_ in cells]) for e in ENHANCEMENTS
    }
    if columns > 1:
        blocks["Game"] = coded[[list(counts).index(game) for game, *_ in cells]]
    wins, games = (np.array([cell[place] for cell in cells], float) for place in (2, 3))

    def misfit(terms):
        parts = [np.ones((len(cells), 1))]
        for term in terms:
            product = np.ones((len(cells), 1))
            for factor in term.split(":"):
                product = (product[:, :, None] * blocks[factor][:, None, :]).reshape(len(cells), -1)
            parts.append(product)
        matrix, root = np.hstack(parts), np.sqrt(games)
        solution = np.linalg.lstsq(matrix * root[:, None], wins / games * root, rcond=None)[0]
        return float((games * (wins / games - matrix @ solution) ** 2).sum())

    design = Design(counts)
    within, freedom = float((wins * (1 - wins / games)).sum()), int(games.sum()) - len(cells)
    effects = anova(design)
    assert len(effects) == len(design.terms) == (31 if columns > 1 else 15)
    for effect in effects:
        others = [each for each in design.terms if not set(effect.term.split(":")) <= set(each.split(":"))]
        gain = misfit(others) - misfit([*others, effect.term])
        assert effect.gain == pytest.approx(gain, abs=1e-9)
        statistic = gain / effect.freedom / (within / freedom)
        assert effect.statistic == pytest.approx(statistic, abs=1e-9)
        assert effect.p == pytest.approx(stats.f.sf(statistic, effect.freedom, freedom), abs=1e-9)


def test_games_that_all_ended_alike_leave_nothing_to_be_analysed():
    for effect in anova(Design({"othello": {c.name: (3, 3) for c in COMBINATIONS}})):
        assert effect.p == 1.0


def test_scores_without_draws_are_win_rates_and_games_that_all_ended_alike_give_no_certain_one():
    assert score(7, 0, 20) == wilson(7, 20)
    for wins, draws in ((0, 8), (8, 0), (0, 0)):
        estimate = score(wins, draws, 8)
        assert estimate.value == (wins + draws / 2) / 8 and estimate.high - estimate.low > 0.1


@pytest.mark.parametrize("win, draw", [(0.05, 0.9), (0.3, 0.4), (0.45, 0.1), (0.1, 0.3)])
def test_the_interval_of_a_score_covers_the_true_one_as_often_as_it_says(win, draw):
    generator, inside, tests = np.random.default_rng(5), 0, 2000
    for wins, draws, _ in generator.multinomial(100, (win, draw, 1 - win - draw), tests):
        estimate = score(int(wins), int(draws), 100)
        inside += estimate.low <= win + draw / 2 <= estimate.high
    assert 0.935 < inside / tests < 0.975


# ------------------------------------------------------------------------------------------------------------- ratings

# Baseball, American League East, 1987 (Agresti, Categorical Data Analysis, table 10.10): wins of the first over the others.
BASEBALL = {
    "Milwaukee": {"Detroit": 7, "Toronto": 9, "New York": 7, "Boston": 7, "Cleveland": 9, "Baltimore": 11},
    "Detroit": {"Milwaukee": 6, "Toronto": 7, "New York": 5, "Boston": 11, "Cleveland": 9, "Baltimore": 9},
    "Toronto": {"Milwaukee": 4, "Detroit": 6, "New York": 7, "Boston": 7, "Cleveland": 8, "Baltimore": 12},
    "New York": {"Milwaukee": 6, "Detroit": 8, "Toronto": 6, "Boston": 6, "Cleveland": 7, "Baltimore": 10},
    "Boston": {"Milwaukee": 6, "Detroit": 2, "Toronto": 6, "New York": 7, "Cleveland": 7, "Baltimore": 12},
    "Cleveland": {"Milwaukee": 4, "Detroit": 4, "Toronto": 5, "New York": 6, "Boston": 6, "Baltimore": 6},
    "Baltimore": {"Milwaukee": 2, "Detroit": 4, "Toronto": 1, "New York": 3, "Boston": 1, "Cleveland": 7},
}
PUBLISHED = {
    "Milwaukee": 1.5814,
    "Detroit": 1.4364,
    "Toronto": 1.2945,
    "New York": 1.2476,
    "Boston": 1.1077,
    "Cleveland": 0.6839,
    "Baltimore": 0.0,
}  # Turner and Firth (2012), against Baltimore


def test_ratings_of_two_players_agree_with_the_published_ones():
    ranking = ratings(
        Counter(
            {((winner,), (loser,)): wins for winner, results in BASEBALL.items() for loser, wins in results.items()}
        )
    )
    assert [rating.strategy for rating in ranking] == list(PUBLISHED)
    for rating in ranking:
        assert rating.value - ranking[-1].value == pytest.approx(PUBLISHED[rating.strategy], abs=5e-5)
        assert rating.games == 78


def test_ratings_and_intervals_of_two_players_agree_with_a_logistic_model():
    import statsmodels.api as models

    names = list(BASEBALL)
    lines = [(winner, loser, wins) for winner, results in BASEBALL.items() for loser, wins in results.items()]
    design = np.zeros((len(lines), len(names)))
    for line, (winner, loser, _) in zip(design, lines, strict=True):
        line[names.index(winner)], line[names.index(loser)] = 1, -1
    # ratings with mean 0: the last is minus the sum of the others
    design = design[:, :-1] - design[:, -1:]
    fitted = models.GLM(np.array([[wins, 0] for *_, wins in lines]), design, family=models.families.Binomial()).fit()
    by_strategy = {
        rating.strategy: rating
        for rating in ratings(Counter({((winner,), (loser,)): wins for winner, loser, wins in lines}))
    }
    for name, value, (low, high) in zip(names[:-1], fitted.params, fitted.conf_int(), strict=True):
        assert (by_strategy[name].value, by_strategy[name].low, by_strategy[name].high) == pytest.approx(
            (value, low, high), abs=1e-5
        )


def test_ratings_of_more_players_agree_with_cox_regression():
    """Each game is a stratum; a place is a time, ties by Breslow's method; agents are covariates."""
    from statsmodels.duration.hazard_regression import PHReg

    generator, agents = random.Random(3), ["a", "b", "c", "d"]
    placings, times, covariates, strata = Counter(), [], [], []
    for game in range(300):
        players = [generator.choice(agents) for _ in range(4)]
        levels = [generator.randrange(3) + agents.index(player) // 2 for player in players]
        placing = tuple(
            tuple(sorted(player for player, at in zip(players, levels, strict=True) if at == level))
            for level in sorted(set(levels))
        )
        placings[placing] += 1
        for player, level in zip(players, levels, strict=True):
            times.append(level + 1)
            covariates.append([float(player == agent) for agent in agents[:-1]])
            strata.append(game)
    fitted = PHReg(np.array(times), np.array(covariates), strata=np.array(strata), ties="breslow").fit()
    values = {rating.strategy: rating.value for rating in ratings(placings)}
    assert [values[agent] - values["d"] for agent in agents[:-1]] == pytest.approx(list(fitted.params), abs=1e-5)


def test_a_draw_of_two_is_half_a_win_for_each():
    drawn = ratings(Counter({(("a", "b"),): 10, (("a",), ("b",)): 10, (("b",), ("a",)): 2}))
    counted = ratings(Counter({(("a",), ("b",)): 15, (("b",), ("a",)): 7}))
    assert [rating.strategy for rating in drawn] == [rating.strategy for rating in counted] == ["a", "b"]
    for drawn_rating, counted_rating in zip(drawn, counted, strict=True):
        assert (drawn_rating.value, drawn_rating.low) == pytest.approx((counted_rating.value, counted_rating.low))


@pytest.mark.parametrize("others", ["bc", "bcdefg"])
def test_an_agent_that_always_wins_is_first_and_leaves_nobody_bounded(others):
    wins = {(("a",), (loser,)): 5 for loser in others}
    wins |= {((winner,), (loser,)): 5 + (winner < loser) for winner in others for loser in others if winner != loser}
    ranking = ratings(Counter(wins))
    assert [each.strategy for each in ranking] == ["a", *others]
    assert all(math.isnan(each.value) and (each.low, each.high) == (-math.inf, math.inf) for each in ranking)
    beaten = ratings(Counter(wins | {(("b",), ("a",)): 1}))  # a single loss bounds all
    assert all(math.isfinite(each.low) and math.isfinite(each.high) for each in beaten)


def test_ratings_far_apart_are_fitted_to_their_end():
    ranking = ratings(
        Counter({(("a",), ("b",)): 10**12, (("b",), ("a",)): 1, (("b",), ("c",)): 1, (("c",), ("b",)): 1})
    )
    assert ranking[0].value - ranking[-1].value == pytest.approx(12 * math.log(10), abs=1e-3)


def test_agents_that_have_not_met_cannot_be_rated():
    with pytest.raises(ValueError, match="connect"):
        ratings(Counter({(("a",), ("b",)): 5, (("c",), ("d",)): 5}))


STRENGTH = {"BASELINE": 1.0, "RAVE": 2.0, "BASELINE >> MAST": 3.0}


CUP = {"name": "cup", "iterations": 5, "trials": 40}


def a_tournament(tmp_path, game="othello", players=2, strength=STRENGTH):
    agents = {"base": "BASELINE", "rave": "RAVE", "mast": "BASELINE >> MAST"}
    experiment = build({**CUP, "games": game, "agents": agents, "opponent": list(agents.values())})
    generator = random.Random(4)

    def rows():
        for cell, trial in experiment.games():
            seats = [str(cell.column.opponent.strategy)] * players
            seats[cell.seat(trial)] = str(cell.spec.strategy)
            best = generator.choices(range(players), [strength[name] for name in seats])[0]
            returns = [float(seat == best) for seat in range(players)]
            won = returns[cell.seat(trial)]
            yield a_row(cell, trial, returns=returns, reward=won, win=won == 1.0)

    return keep(tmp_path, experiment, rows())


def test_a_tournament_is_rated_from_its_rows(tmp_path, call):
    directory = a_tournament(tmp_path)
    results = results_of(directory)
    ((name, placings),) = tournaments(results).items()
    assert name == "Othello"
    assert placings.total() == 6 * 40  # games of an agent against itself say nothing
    assert [rating.strategy for rating in ratings(placings)] == ["BASELINE >> MAST", "RAVE", "BASELINE"]
    assert call("report", directory)[0] == 0
    _, rated = (directory / "report.md").read_text().split("Ratings (Bradley-Terry), Othello")
    assert rated.index("mast") < rated.index("rave") < rated.index("base ")


def ratings_of(directory):
    results = results_of(directory)
    return "".join(
        block.caption + markdown_table(block) for block in rating_tables(results) if isinstance(block, Table)
    )


def test_the_model_and_what_bounds_nothing_are_told_and_one_opponent_is_no_tournament(tmp_path):
    assert "Plackett-Luce" in ratings_of(a_tournament(tmp_path / "hearts", "hearts", 4))
    output = ratings_of(a_tournament(tmp_path / "endless", strength={**STRENGTH, "BASELINE >> MAST": 1e9}))
    assert "in their order alone; the games bound no rating" in output and "inf" not in output
    experiment = loading.load("figure5", {"games": ["othello"], "trials": 2})
    assert ratings_of(keep(tmp_path / "one", experiment, (a_row(cell, 0) for cell in experiment.cells))) == ""


def test_agents_with_iterations_of_their_own_are_several(tmp_path, capsys):
    agents = {"weak": {"strategy": "RAVE", "iterations": 2}, "strong": {"strategy": "RAVE", "iterations": 100}}
    table = {"games": "othello", "agents": {**agents, "base": "BASELINE"}, "opponent": ["BASELINE", "MAST"]}
    experiment = build({**CUP, **table})

    def rows():
        for cell, trial in experiment.games():
            is_won = {"weak": trial % 4 == 0, "strong": trial % 4 > 0, "base": trial % 2 == 0}[cell.agent]
            returns = [float((seat == cell.seat(trial)) == is_won) for seat in range(2)]
            yield a_row(cell, trial, returns=returns, reward=float(is_won), win=is_won)

    directory = keep(tmp_path, experiment, rows())
    results = results_of(directory)
    ((_, placings),) = tournaments(results).items()
    by_strategy = {each.strategy: each for each in ratings(placings)}
    assert by_strategy.keys() == {"RAVE (2 iterations)", "RAVE (100 iterations)", "BASELINE", "MAST"}
    assert by_strategy["RAVE (100 iterations)"].value - by_strategy["RAVE (2 iterations)"].value == pytest.approx(
        2 * math.log(3)
    )
    output = ratings_of(directory)
    assert "strong | RAVE (100 iterations) | 80" in output and "weak | RAVE (2 iterations) | 80" in output
