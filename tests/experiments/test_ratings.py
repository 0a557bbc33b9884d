"""Ratings against published ones and against independent computations."""

import math
import random
from collections import Counter

import pytest

from experiments.plan import loading
from experiments.plan.loading import build
from experiments.ratings import ratings, tournaments
from experiments.report import rating_tables
from experiments.store.results import results_of
from icarus.views.document import Table, markdown_table
from tests.experiments.conftest import a_row, keep

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
    import numpy as np
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
    import numpy as np
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


def a_tournament(tmp_path, game="othello", players=2, strength=STRENGTH):
    agents = {"base": "BASELINE", "rave": "RAVE", "mast": "BASELINE >> MAST"}
    experiment = build(
        {
            "name": "cup",
            "games": game,
            "agents": agents,
            "opponent": list(agents.values()),
            "iterations": 5,
            "trials": 40,
        }
    )
    generator = random.Random(4)

    def rows():
        for cell, trial in experiment.games():
            seats = [
                str(cell.spec.strategy) if seat == cell.seat(trial) else str(cell.column.opponent.strategy)
                for seat in range(players)
            ]
            best = generator.choices(range(players), [strength[name] for name in seats])[0]
            returns = [float(seat == best) for seat in range(players)]
            yield a_row(
                cell, trial, returns=returns, reward=returns[cell.seat(trial)], win=returns[cell.seat(trial)] == 1.0
            )

    return keep(tmp_path, experiment, rows())


def test_a_tournament_is_rated_from_its_rows(tmp_path, capsys):
    from experiments.commands.main import main

    directory = a_tournament(tmp_path)
    with results_of(directory) as results:
        ((name, placings),) = tournaments(results).items()
    assert name == "Othello"
    assert placings.total() == 6 * 40  # games of an agent against itself say nothing
    assert [rating.strategy for rating in ratings(placings)] == ["BASELINE >> MAST", "RAVE", "BASELINE"]
    assert main(["report", str(directory)]) == 0
    _, rated = (directory / "report.md").read_text().split("Ratings (Bradley-Terry), Othello")
    assert rated.index("mast") < rated.index("rave") < rated.index("base ")


def ratings_of(directory):
    with results_of(directory) as results:
        return "".join(
            block.caption + markdown_table(block) for block in rating_tables(results) if isinstance(block, Table)
        )


def test_more_players_are_rated_by_plackett_and_luces_model(tmp_path, capsys):
    directory = a_tournament(tmp_path, "hearts", 4)
    assert "Plackett-Luce" in ratings_of(directory)


def test_an_experiment_with_one_opponent_is_no_tournament(tmp_path, capsys):
    experiment = loading.load("figure5", {"games": ["othello"], "trials": 2})
    keep(tmp_path, experiment, (a_row(cell, 0) for cell in experiment.cells))
    assert ratings_of(tmp_path) == ""


def test_agents_with_iterations_of_their_own_are_several(tmp_path, capsys):
    agents = {"weak": {"strategy": "RAVE", "iterations": 2}, "strong": {"strategy": "RAVE", "iterations": 100}}
    experiment = build(
        {
            "name": "cup",
            "games": "othello",
            "agents": {**agents, "base": "BASELINE"},
            "opponent": ["BASELINE", "MAST"],
            "iterations": 5,
            "trials": 40,
        }
    )

    def rows():
        for cell, trial in experiment.games():
            is_won = {"weak": trial % 4 == 0, "strong": trial % 4 > 0, "base": trial % 2 == 0}[cell.agent]
            returns = [float((seat == cell.seat(trial)) == is_won) for seat in range(2)]
            yield a_row(cell, trial, returns=returns, reward=float(is_won), win=is_won)

    directory = keep(tmp_path, experiment, rows())
    with results_of(directory) as results:
        ((_, placings),) = tournaments(results).items()
    by_strategy = {each.strategy: each for each in ratings(placings)}
    assert by_strategy.keys() == {"RAVE (2 iterations)", "RAVE (100 iterations)", "BASELINE", "MAST"}
    assert by_strategy["RAVE (100 iterations)"].value - by_strategy["RAVE (2 iterations)"].value == pytest.approx(
        2 * math.log(3)
    )
    output = ratings_of(directory)
    assert "strong | RAVE (100 iterations) | 80" in output and "weak | RAVE (2 iterations) | 80" in output


def test_a_table_says_that_nothing_bounds_the_ratings(tmp_path, capsys):
    directory = a_tournament(tmp_path, strength={**STRENGTH, "BASELINE >> MAST": 1e9})
    output = ratings_of(directory)
    assert "in their order alone; the games bound no rating" in output and "inf" not in output
