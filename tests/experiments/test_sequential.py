"""The sequential test: its likelihoods, its errors, and the games that it asks for."""

import math
import random
from collections import Counter
from fractions import Fraction

import attrs
import numpy as np
import pytest

from experiments import results as store
from experiments import sequential
from experiments.plan import loading
from experiments.plan.definition import Sprt
from experiments.plan.loading import build
from experiments.results import results_of
from experiments.run import Part, run
from experiments.sequential import BETTER, NOT_BETTER, ROUND, decision, log_ratio
from icarus.arena.workers import Workers
from tests.experiments.conftest import a_row, keep, play

HALF = Fraction(1, 2)
PAIR = [-1, -HALF, Fraction(0), HALF, 1]  # the scores of a pair of mirrored games
TABLE = {
    "name": "mine",
    "games": "othello",
    "iterations": 10,
    "trials": 400,
    "sprt": True,
    "agents": {"even": "BASELINE", "good": "RAVE", "bad": "BASELINE >> MAST"},
}


def test_the_ratio_agrees_with_the_normal_approximation_near_the_hypotheses():
    scores = Counter({Fraction(0): 1000, HALF: 800, -HALF: 700, Fraction(1): 50, Fraction(-1): 40})
    games = scores.total()
    mean = float(sum(score * count for score, count in scores.items())) / games
    variance = sum((float(score) - mean) ** 2 * count for score, count in scores.items()) / games
    assert log_ratio(scores, PAIR, 0.03) == pytest.approx(games * 0.03 * (2 * mean - 0.03) / (2 * variance), rel=0.02)


def test_the_ratio_of_wins_and_losses_is_that_of_the_binomial():
    """Where only two scores are seen, a mean fixes their chances: 1 with p = (1 + mean) / 2, else -1."""
    scores = Counter({Fraction(1): 530, Fraction(-1): 470})
    expected = 530 * math.log(0.55 / 0.5) + 470 * math.log(0.45 / 0.5)
    assert log_ratio(scores, [Fraction(-1), Fraction(1)], 0.1) == pytest.approx(expected, abs=1e-3)


RUNS = 80
SPREAD = math.sqrt(0.05 * 0.95 / RUNS)  # the standard error of a share of 5 %


def share_found_better(mean, runs=RUNS):
    """How often tests end with "better" if the scores of pairs have that mean."""
    generator, answers = np.random.default_rng(1), Counter()
    chances = [0.05, 0.25 - mean / 2, 0.4 - mean / 2, 0.25 + mean / 2, 0.05 + mean / 2]
    assert sum(chances) == pytest.approx(1)
    assert float(np.dot(chances, [float(score) for score in PAIR])) == pytest.approx(mean)
    for _ in range(runs):
        scores = Counter()
        while (answer := decision(scores.elements(), 2, Sprt())) is None:
            scores.update(PAIR[i] for i in generator.choice(5, ROUND, p=chances))
        answers[answer] += 1
    return answers[BETTER] / runs


def test_an_agent_that_is_no_better_is_found_better_in_one_of_twenty_tests():
    assert share_found_better(0.0) < 0.05 + 2.3 * SPREAD


def test_an_agent_that_is_better_by_the_margin_is_missed_in_one_of_twenty_tests():
    assert share_found_better(0.05) > 0.95 - 2.3 * SPREAD


class Oracle(Workers):
    """Players whose games end as decided beforehand by cell, deal and seat, in an order of their own."""

    def __init__(self, seed, limit=10**9):
        super().__init__()
        self._order, self._limit, self.played = random.Random(seed), limit, 0

    def results(self, play, games):
        waiting = list(games)
        self._order.shuffle(waiting)
        for game in waiting:
            if self.played == self._limit:
                raise KeyboardInterrupt
            self.played += 1
            strength = {"even": 0.5, "good": 0.8, "bad": 0.35}[game.cell.agent]
            win = random.Random(f"{game.cell.key} {game.number}").random() < strength
            yield a_row(game.cell, game.number, win=win, seed=list(game.seed))


def wins_of(directory, experiment):
    return {(row["cell"], row["trial"]): row["win"] for row in store.rows(directory, experiment)}


def test_a_run_stopped_and_continued_comes_to_the_same_decisions_after_the_same_games(tmp_path):
    experiment = build(TABLE)
    play(experiment, tmp_path / "whole", Oracle(1))
    for seed, limit in enumerate((1, 17, 60, 3, 150)):
        with pytest.raises(KeyboardInterrupt):
            play(experiment, tmp_path / "parts", Oracle(seed, limit))
    play(experiment, tmp_path / "parts", Oracle(9))
    assert wins_of(tmp_path / "parts", experiment) == wins_of(tmp_path / "whole", experiment)
    again = Oracle(1)
    play(experiment, tmp_path / "whole", again)
    assert again.played == 0
    verdicts, complete = sequential.verdicts(experiment, wins_of(tmp_path / "whole", experiment))
    assert complete
    assert {cell.agent: answer for cell, (answer, _) in verdicts.items()} == {"good": BETTER, "bad": NOT_BETTER}
    even, good, bad = (
        sum(key == cell.key for key, _ in wins_of(tmp_path / "whole", experiment)) for cell in experiment.cells
    )
    assert even == max(good, bad) < 400
    assert {cell.agent: 2 * units for cell, (_, units) in verdicts.items()} == {"good": good, "bad": bad}


class Purse(Workers):
    """Players who get money by cell and deal, never a reward of 1; who plays by RAVE gets 0.2 more in every game."""

    def results(self, play, games):
        for game in games:
            reward = 0.25 * random.Random(f"{game.seed} {game.number}").randrange(3) + 0.2 * (game.cell.agent == "good")
            yield a_row(game.cell, game.number, win=False, reward=reward, returns=[reward, 1 - reward])


def test_rewards_are_compared_where_nobody_wins(tmp_path):
    experiment = build({**TABLE, "games": "kuhn-poker", "agents": {"even": "BASELINE", "good": "RAVE", "same": "MAST"}})
    play(experiment, tmp_path, Purse())
    results = results_of(tmp_path)
    verdicts, complete = sequential.verdicts(experiment, results.outcomes())
    assert complete
    assert {cell.agent: answer for cell, (answer, _) in verdicts.items()} == {"good": BETTER, "same": NOT_BETTER}


def test_a_draw_is_one_half_but_in_section_8_where_wins_count():
    for game, expected in (("phantom-mnk", [0.25]), ("othello", [0.0])):
        even, good, _ = build({**TABLE, "games": game}).cells
        drawn = 0 if good.column.counts_wins else 0.5
        outcomes = {(good.key, 0): 1, (good.key, 1): drawn, (even.key, 0): 1, (even.key, 1): 0}
        assert sequential.scores(good, even, outcomes, range(1)) == expected


def test_scores_of_many_sizes_agree_with_the_normal_approximation():
    values = [round(value, 6) for value in np.random.default_rng(1).normal(0.05, 0.3, 800).clip(-1, 1).tolist()]
    mean, variance = np.mean(values), np.var(values)
    expected = len(values) * 0.05 * (2 * mean - 0.05) / (2 * variance)
    assert log_ratio(Counter(values), [-1.0, 1.0, *set(values)], 0.05) == pytest.approx(expected, rel=0.03)


def test_the_report_tells_what_the_tests_found(tmp_path):
    from experiments.report import write

    experiment = build(TABLE)
    play(experiment, tmp_path, Oracle(1))
    write(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "| Othello | good | better |" in text
    assert "| Othello | bad | not better |" in text
    assert "the run is not complete" not in text
    assert "McNemar" in text


def test_a_pair_of_mirrored_games_has_the_same_deal_for_all_agents_and_seats():
    experiment = build(TABLE)
    seeds = {(trial, experiment.game_seed(cell, trial)) for cell in experiment.cells for trial in range(4)}
    assert len(seeds) == 4
    assert experiment.game_seed(experiment.cells[0], 0) == experiment.game_seed(experiment.cells[2], 1)
    assert experiment.game_seed(experiment.cells[0], 0) != experiment.game_seed(experiment.cells[0], 2)
    assert [experiment.cells[0].seat(trial) for trial in (0, 1)] == [0, 1]


def test_paired_agents_meet_the_same_deals_and_others_do_not():
    paired, single = (build({**TABLE, "sprt": False, "paired": paired}) for paired in (True, False))
    assert len({paired.game_seed(cell, 5) for cell in paired.cells}) == 1
    assert len({paired.game_seed(paired.cells[0], trial) for trial in range(9)}) == 9
    assert len({single.game_seed(cell, 5) for cell in single.cells}) == 3
    assert (
        len(
            {
                build({**TABLE, "sprt": False, "paired": True, "iterations": [10, 20]}).game_seed(cell, 5)
                for cell in build({**TABLE, "iterations": [10, 20]}).cells
            }
        )
        == 2
    )


def test_paired_games_have_the_same_chance_events():
    """Backgammon's dice do not depend on how it is played."""
    from experiments.run import play_trial, trial_of

    experiment = build(
        {
            "name": "mine",
            "games": "backgammon",
            "iterations": 2,
            "trials": 2,
            "paired": True,
            "agents": ["BASELINE", "RAVE"],
        }
    )
    dice = [
        [action for player, action in play_trial(trial_of(experiment, cell, 0)).actions if player < 0]
        for cell in experiment.cells
    ]
    shortest = min(map(len, dice))
    assert shortest > 20
    assert dice[0][:shortest] == dice[1][:shortest]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"agents": ["RAVE"]}, "sprt: the opponent BASELINE must be among the agents"),
        ({"trials": 401}, "trials: 401 is not a multiple of 2"),
        ({"sprt": {"margin": 0.6}}, "sprt.margin is 0.6; it must be a real number above 0 and below 0.5"),
        ({"sprt": {"gamma": 0.1}}, "sprt.gamma: 'gamma' is unknown"),
        ({"sprt": "yes"}, "sprt: 'yes' is neither true nor false"),
        ({"paired": 1}, "paired: 1 is neither true nor false"),
    ],
)
def test_a_wrong_test_is_refused(changes, message):
    with pytest.raises(ValueError) as refused:
        build({**TABLE, **changes})
    assert message in str(refused.value)


def test_a_sequential_test_cannot_be_divided_between_machines(tmp_path):
    with pytest.raises(ValueError, match="cannot be divided"):
        next(run(build(TABLE), tmp_path / "run", Oracle(1), Part(1, 2)))
    assert not (tmp_path / "run").exists()


def test_the_ways_of_drawing_deals_are_different_runs(tmp_path):
    plain = loading.load("figure5", {"games": ["othello"], "trials": 20})
    keep(tmp_path, plain, [])
    for changes, message in (
        ({"paired": True}, "paired is False there and True here"),
        ({"sprt": Sprt()}, "sprt is None there"),
    ):
        with pytest.raises(ValueError, match=message):
            keep(tmp_path, attrs.evolve(plain, **changes), [])
    results = results_of(tmp_path)
    assert results.runs[0].experiment == plain
