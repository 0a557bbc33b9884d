"""Intervals, tests, plans and ratings against values from elsewhere."""

import math
import random
from collections import Counter

import attrs
import numpy as np
import pytest
from scipy import stats
from scipy.stats import ttest_ind

from experiments import statistics
from experiments.figures import measure_title
from experiments.papers import BY_NAME, COMBINATIONS, ENHANCEMENTS
from experiments.plan.loading import build
from experiments.ratings import placings_of, ratings, tournaments
from experiments.report import write
from experiments.results import moments_of, results_of
from icarus.statistics import NORMAL_95, Estimate
from tests.experiments.conftest import a_row, built, keep


def test_the_interval_of_a_rate_is_the_published_one_and_scipys():
    for wins, games, expected in (
        (5, 10, (0.1871, 0.8129)),
        (1, 10, (0.0025, 0.4450)),
        (81, 263, (0.2527, 0.3676)),  # published (Newcombe 1998 for the last)
    ):
        assert statistics.clopper_pearson(wins, games) == pytest.approx(expected, abs=5e-5)
    for wins, games in ((3, 17), (500, 1000), (999, 1000)):
        theirs = stats.binomtest(wins, games).proportion_ci(0.95, method="exact")
        assert statistics.clopper_pearson(wins, games) == pytest.approx(
            (theirs.low, theirs.high), abs=1e-9
        )
    assert statistics.clopper_pearson(0, 20) == (0.0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert statistics.clopper_pearson(20, 20) == (pytest.approx(0.025 ** (1 / 20)), 1.0)
    assert statistics.clopper_pearson(0, 0) == (0.0, 1.0)
    below, between, above = (statistics.clopper_pearson(wins, 20) for wins in (7, 7.5, 8))
    assert below[0] < between[0] < above[0]
    assert below[1] < between[1] < above[1]


def test_an_interval_that_holds_0_decides_nothing():
    assert Estimate(0.25, 0.1, 0.4).is_decided
    assert Estimate(-0.25, -0.4, -0.1).is_decided
    assert not any(
        Estimate(0.1, *ends).is_decided for ends in ((-0.1, 0.4), (0.0, 0.4), (-0.4, 0.0))
    )


def test_a_mean_has_students_interval():
    numbers = np.array([1.0, 2.0, 4.0])
    error = numbers.std(ddof=1) / 3**0.5
    estimate = statistics.student(numbers.mean(), error, 3)
    assert (estimate.low, estimate.high) == pytest.approx(
        stats.t.interval(0.95, 2, numbers.mean(), error)
    )


def test_holms_correction_agrees_with_the_textbook_example_and_statsmodels():
    from statsmodels.stats.multitest import multipletests

    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.6, 0.5]) == [1.0, 1.0]
    assert statistics.holm([]) == []
    values = np.random.default_rng(1).uniform(size=30) ** 3
    assert statistics.holm(list(values)) == pytest.approx(multipletests(values, method="holm")[1])


def test_intervals_of_differences_agree_with_published_ones():
    """Newcombe (1998), Statistics in Medicine 17: 81 of 263 (p. 861), 56 of 70 against 48 of 80 (p. 877, method 10)."""
    rate = statistics.wilson(81, 263)
    assert (rate.low, rate.high) == (
        pytest.approx(0.2553, abs=5e-5),
        pytest.approx(0.3662, abs=5e-5),
    )
    difference = statistics.contrast(
        [(1.0, statistics.wilson(56, 70)), (-1.0, statistics.wilson(48, 80))]
    )
    assert (difference.value, difference.low, difference.high) == pytest.approx(
        (0.2, 0.0524, 0.3339), abs=5e-5
    )


def test_on_the_same_deals_an_effect_has_the_interval_of_its_differences():
    featured = np.array([["NAST" in c.enhancements for c in COMBINATIONS]])
    # deals that all win, and that all lose
    easy = np.ones((1, 16), bool)
    hard = np.zeros((1, 16), bool)
    wins = np.concatenate([featured, featured, easy, hard, ~featured])
    effects = statistics.paired_effects(wins)
    assert effects["NAST"].value == pytest.approx((1 + 1 + 0 + 0 - 1) / 5)
    theirs = stats.ttest_1samp([1, 1, 0, 0, -1], 0).confidence_interval(0.95)
    # the largest difference
    assert (effects["NAST"].low, effects["NAST"].high) == pytest.approx((theirs.low, 1.0))
    rare = stats.binomtest(5, 5).proportion_ci(0.95).low - 1
    # Of those with NAST one half has RAVE, and of those without.
    assert attrs.astuple(effects["RAVE"])[:3] == pytest.approx((0.0, rare, -rare))


def test_the_lady_tasting_tea():
    assert statistics.fisher_p_value((3, 4), (1, 4)) == pytest.approx(0.4857, abs=1e-4)


def test_the_plan_agrees_with_rs_power_prop_test():
    # power.prop.test(p1=.5, p2=.55, power=.8): n = 1564.672
    assert statistics.games_needed(0.50, 0.55) == 1565
    # power.prop.test(p1=.50, p2=.75, power=.90): n = 76.7
    assert statistics.games_needed(0.50, 0.75, power=0.9) == 77
    assert statistics.games_needed(0.55, 0.50) == statistics.games_needed(0.50, 0.55)


def test_the_averages_of_figure_3_sum_eight_combinations_each():
    # Each combination shows in the sum by its bit.
    counts = {c.name: (1 << i, 1000) for i, c in enumerate(COMBINATIONS)}
    without_nast, with_nast = statistics.marginals(counts)["NAST"]
    assert with_nast == (sum(1 << i for i, c in enumerate(COMBINATIONS) if "N" in c.name), 8000)
    assert without_nast[0] + with_nast[0] == (1 << 16) - 1
    assert set(statistics.marginals(counts)) == {"NAST", "RAVE", "MAST", "LGRF"}


def random_counts(seed, games):
    generator = random.Random(seed)
    counts = {}
    for c in COMBINATIONS:
        size = games(generator)
        counts[c.name] = (
            sum(generator.random() < 0.4 + 0.2 * ("NAST" in c.enhancements) for _ in range(size)),
            size,
        )
    return counts


def frame(counts):
    """One line per game, as statsmodels wants it."""
    import pandas

    lines = [
        {
            "win": int(i < wins),
            "column": column,
            **{e: int(e in BY_NAME[name].enhancements) for e in ENHANCEMENTS},
        }
        for column, results in counts.items()
        for name, (wins, games) in results.items()
        for i in range(games)
    ]
    return pandas.DataFrame(lines)


def test_in_a_balanced_design_the_sum_of_squares_is_that_of_the_hand_calculation():
    games = 50
    counts = {c.name: (30 if "NAST" in c.enhancements else 20, games) for c in COMBINATIONS}
    effects = {
        effect.term: effect for effect in statistics.anova(statistics.Design({"othello": counts}))
    }
    total = 16 * games
    within = total * 0.6 * 0.4  # p(1 − p) is the same on both sides
    assert effects["NAST"].gain == pytest.approx(total * 0.1**2)  # N (difference / 2)²
    assert effects["NAST"].statistic == pytest.approx(total * 0.1**2 / (within / (total - 16)))
    assert effects["NAST"].direction == pytest.approx(0.2)
    assert effects["NAST"].p < 0.001  # "significant at the 99.9 % level"
    assert all(
        effect.gain == pytest.approx(0, abs=1e-9)
        for term, effect in effects.items()
        if term != "NAST"
    )
    assert len(effects) == 15


def test_the_binomial_model_agrees_with_a_fit_to_single_games():
    import statsmodels.api as models
    import statsmodels.formula.api as formulas

    counts = {"one": random_counts(4, lambda g: g.randrange(30, 60))}
    data = frame(counts)
    effect = next(
        effect
        for effect in statistics.binomial_model(statistics.Design(counts))
        if effect.term == "NAST"
    )
    deviances = [
        formulas.glm(f"win ~ {terms}RAVE*MAST*LGRF", data, family=models.families.Binomial())
        .fit()
        .deviance
        for terms in ("", "NAST + ")
    ]
    assert effect.gain == pytest.approx(deviances[0] - deviances[1], rel=1e-6)
    assert effect.p == pytest.approx(stats.chi2.sf(deviances[0] - deviances[1], 1), rel=1e-6)


@pytest.mark.parametrize("columns", [1, 2, 7])
def test_the_analysis_of_variance_has_the_figures_of_plain_least_squares(columns):
    """Over single games; each term is compared with all terms that do not contain it (type II)."""
    counts = {f"game {i}": random_counts(i, lambda g: g.randrange(40, 60)) for i in range(columns)}
    cells = [
        (game, name, *pair) for game, results in counts.items() for name, pair in results.items()
    ]
    # sums to zero
    coded = np.vstack([np.eye(columns)[:, : columns - 1][:-1], -np.ones((1, columns - 1))])
    blocks = {
        e: np.array([[1.0 if e in BY_NAME[name].enhancements else -1.0] for _, name, *_ in cells])
        for e in ENHANCEMENTS
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

    design = statistics.Design(counts)
    within, freedom = float((wins * (1 - wins / games)).sum()), int(games.sum()) - len(cells)
    effects = statistics.anova(design)
    assert len(effects) == len(design.terms) == (31 if columns > 1 else 15)
    for effect in effects:
        others = [
            each for each in design.terms if not set(effect.term.split(":")) <= set(each.split(":"))
        ]
        gain = misfit(others) - misfit([*others, effect.term])
        assert effect.gain == pytest.approx(gain, abs=1e-9)
        statistic = gain / effect.freedom / (within / freedom)
        assert effect.statistic == pytest.approx(statistic, abs=1e-9)
        assert effect.p == pytest.approx(stats.f.sf(statistic, effect.freedom, freedom), abs=1e-9)


# ------------------------------------------------------------------------------------------------------------- ratings

# Baseball, American League East, 1987 (Agresti, Categorical Data Analysis, table 10.10): wins of each over the others in this order,
# and the ratings of Turner and Firth (2012), against the last.
BASEBALL = """
Milwaukee   -  7  9  7  7  9 11  1.5814
Detroit     6  -  7  5 11  9  9  1.4364
Toronto     4  6  -  7  7  8 12  1.2945
New-York    6  8  6  -  6  7 10  1.2476
Boston      6  2  6  7  -  7 12  1.1077
Cleveland   4  4  5  6  6  -  6  0.6839
Baltimore   2  4  1  3  1  7  -  0.0
"""


def test_ratings_of_two_players_agree_with_the_published_ones():
    rows = [line.split() for line in BASEBALL.strip().splitlines()]
    teams, wins = [name for name, *_ in rows], Counter()
    for winner, *numbers, _ in rows:
        for loser, number in zip(teams, numbers, strict=True):
            if loser != winner:
                wins[(winner,), (loser,)] = int(number)
    ranking = ratings(wins)
    assert list(ranking) == teams
    for name, *_, published in rows:
        difference = ranking[name].value - ranking["Baltimore"].value
        assert difference == pytest.approx(float(published), abs=5e-5)
        assert ranking[name].count == 78


def test_ratings_of_more_players_agree_with_cox_regression():
    """Each game is a stratum; a place is a time; agents are covariates."""
    from statsmodels.duration.hazard_regression import PHReg

    generator, agents = random.Random(3), ["a", "b", "c", "d"]
    placings, times, covariates, strata = Counter(), [], [], []
    for game in range(300):
        players = [generator.choice(agents) for _ in range(4)]
        ranked = sorted(
            players, key=lambda player: 3 * generator.random() + agents.index(player) // 2
        )
        placings[tuple((player,) for player in ranked)] += 1
        for place, player in enumerate(ranked, 1):
            times.append(place)
            covariates.append([float(player == agent) for agent in agents[:-1]])
            strata.append(game)
    fitted = PHReg(np.array(times), np.array(covariates), strata=np.array(strata)).fit()
    values = {agent: rating.value for agent, rating in ratings(placings).items()}
    assert [values[agent] - values["d"] for agent in agents[:-1]] == pytest.approx(
        list(fitted.params), abs=1e-5
    )


ALL_LOSE = (("A",), ("B", "B")), (("B",), ("A", "B"))
TWO_WIN = (("A",), ("B", "B")), (("B", "B"), ("A",))


@pytest.mark.parametrize("outcomes", [ALL_LOSE, TWO_WIN], ids=["all others lose", "two win"])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_whoever_shares_a_place_shares_one_choice(outcomes, share):
    """A against two B is a choice of one of three; the interval of its log odds is that of a share of 200 games."""
    first, second = outcomes
    ranking = ratings(Counter({first: round(200 * share), second: round(200 * (1 - share))}))
    lead = ranking["A"].value - ranking["B"].value
    assert lead == pytest.approx(math.log(2 * share / (1 - share)), abs=1e-6)
    # of the ratings, whose mean is 0, each varies by half of the lead
    half = NORMAL_95 / math.sqrt(200 * share * (1 - share)) / 2
    assert ranking["A"].half == pytest.approx(half, abs=1e-6)


def test_a_draw_of_all_says_that_they_are_equal():
    draws = Counter({(("A", "B", "C"),): 30})
    assert [each.value for each in ratings(draws).values()] == pytest.approx([0, 0, 0])


@pytest.mark.parametrize("others", ["bc", "bcdefg"])
def test_an_agent_that_always_wins_is_first_and_leaves_nobody_bounded(others):
    wins = {(("a",), (loser,)): 5 for loser in others}
    wins |= {
        ((winner,), (loser,)): 5 + (winner < loser)
        for winner in others
        for loser in others
        if winner != loser
    }
    ranking = ratings(Counter(wins))
    assert list(ranking) == ["a", *others]
    assert all(
        math.isnan(each.value) and (each.low, each.high) == (-math.inf, math.inf)
        for each in ranking.values()
    )
    beaten = ratings(Counter(wins | {(("b",), ("a",)): 1}))  # a single loss bounds all
    assert all(math.isfinite(each.low) and math.isfinite(each.high) for each in beaten.values())


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


def test_a_tournament_is_rated_from_its_rows(tmp_path, call, no_pictures):
    directory = a_tournament(tmp_path)
    results = results_of(directory)
    ((name, cells),) = tournaments(results).items()
    placings = placings_of(cells, results)
    assert name == "Othello"
    assert placings.total() == 6 * 40  # games of an agent against itself say nothing
    assert list(ratings(placings)) == ["BASELINE >> MAST", "RAVE", "BASELINE"]
    assert call("report", directory)[0] == 0
    _, rated = (directory / "report.md").read_text().split("Ratings (Bradley-Terry), Othello")
    assert rated.index("mast") < rated.index("rave") < rated.index("base ")


def test_an_agent_with_iterations_of_its_own_does_not_lend_its_name_to_an_opponent(
    tmp_path, call, no_pictures
):
    """With 5 iterations RAVE, an opponent, is no agent; with 9 it is "long"."""
    agents = {"long": {"strategy": "RAVE", "iterations": 9}, "base": "BASELINE"}
    experiment = build(
        {
            **CUP,
            "games": "othello",
            "iterations": [5, 9],
            "agents": agents,
            "opponent": ["RAVE", "BASELINE"],
        }
    )
    rows = (
        a_row(cell, trial, returns=[trial, 1.0 - trial], win=cell.seat(trial) != trial)
        for cell in experiment.cells
        for trial in (0, 1)
    )
    directory = keep(tmp_path, experiment, rows)
    code, printed, _ = call("report", directory)
    assert code == 0
    _, with_5, with_9 = (directory / "report.md").read_text().split("Ratings (Bradley-Terry)")
    assert "| RAVE | RAVE | 4 |" in with_5
    assert "| long | RAVE (9 iterations) | 4 |" in with_5
    assert "| long | RAVE |" not in with_5
    assert "| long | RAVE | 4 |" in with_9
    _, strategies = printed.split("Agent  Strategy\n")
    assert {"long   RAVE (9 iterations)", "long   RAVE"} <= set(strategies.splitlines())


@pytest.mark.parametrize("win, draw", [(0.05, 0.9), (0.3, 0.4), (0.45, 0.1), (0.1, 0.3)])
def test_the_interval_of_a_score_covers_the_true_one_as_often_as_it_says(win, draw):
    generator, inside, tests = np.random.default_rng(5), 0, 2000
    for wins, draws, _ in generator.multinomial(100, (win, draw, 1 - win - draw), tests):
        estimate = statistics.score(int(wins), int(draws), 100)
        inside += estimate.low <= win + draw / 2 <= estimate.high
    assert 0.935 < inside / tests < 0.975


# -------------------- Games with graded rewards, such as money or points: what is compared is the mean reward, not the games won.


AGENTS = {"mast": "BASELINE >> MAST", "base": "BASELINE"}
# of Kuhn poker, without a reward of 1
MONEY = {"mast": (0.75, 0.75, 0.25, 0.75), "base": (0.25, 0.75, 0.25, 0.75)}


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


def test_the_report_has_mean_rewards_with_students_interval(tmp_path, no_pictures):
    """By hand: of .75, .75, .25, .75 the mean is .625, the standard error .125, and t of three degrees of freedom 3.182.

    So the interval would reach 1.023, which no reward is.
    """
    lines = lines_of(paid(tmp_path, MONEY))
    assert (
        "| Agent | Strategy | Games | Mean reward | 95 % interval | p (Holm) | Detectable |"
        in lines
    )
    assert any(
        line.startswith("| mast | BASELINE >> MAST | 4 | 0.625 | 0.227–1.000 |") for line in lines
    )
    assert "| base | BASELINE | 4 | 0.500 | 0.041–0.959 |  |  |" in lines
    assert any("Welch's t test against BASELINE itself in these seats" in line for line in lines)
    assert not any("Wins" in line or "Draws" in line for line in lines)


@pytest.mark.parametrize(
    ("game", "graded"), [("hearts", False), ("knockout-whist(players=4)", True)]
)
def test_shared_places_are_graded_but_in_the_papers_hearts_where_wins_count(tmp_path, game, graded):
    experiment = built(games=game, agents=AGENTS, trials=2)
    rows = (
        a_row(cell, 0, win=False, reward=0.5, returns=[0.5, 1, 0, 0.5]) for cell in experiment.cells
    )
    ((_, tallies),) = columns_of(keep(tmp_path, experiment, rows)).items()
    assert {tally.is_graded for tally in tallies} == {graded}
    assert measure_title([tallies]) == ("mean reward" if graded else "games won")
    assert statistics.strengths(tallies)[0].value == (0.5 if graded else 0)


def test_on_the_same_deals_rewards_are_compared(tmp_path, no_pictures):
    lines = lines_of(paid(tmp_path, MONEY, paired=True))
    # by hand: of .5, 0, 0, 0 the mean is .125, the standard error .125
    assert "| mast | +0.125 | −0.273 to +0.523 | 4 |" in lines
    header = "| Game | Agent | less | Mean reward more | 95 % interval | Deals | p (Holm) |"
    # a sum as far from 0 has each of the two signs of the only difference
    line = "| Kuhn Poker | base | mast | −0.125 | −0.523 to +0.273 | 4 | 1.0000 |"
    assert lines.index(header) + 2 == lines.index(line) < lines.index("## Findings")
    assert not any("McNemar" in line or "Games won more" in line for line in lines)


def test_the_p_value_is_that_of_welch(tmp_path):
    ((_, tallies),) = columns_of(paid(tmp_path, MONEY)).items()
    assert [each.p for each in statistics.comparisons(tallies).values()] == [
        pytest.approx(ttest_ind(*MONEY.values(), equal_var=False).pvalue)
    ]
    alike = [moments_of([value] * 9) for value in (0.5, 0.75)]
    assert statistics.welch_p_value(*alike) == 1


def test_the_error_of_a_main_effect_between_two_cells_is_that_of_the_t_test():
    effect, error = statistics.main_effect(
        np.array([3.0, 1.0]), np.array([4.0, 4.0]), np.array([True, False])
    )
    assert effect / error == pytest.approx(ttest_ind([1, 1, 1, 0], [1, 0, 0, 0]).statistic)
