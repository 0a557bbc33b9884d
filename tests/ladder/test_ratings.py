"""Ratings: by hand, against simulated players, and a climb that is stopped and goes on."""

import itertools

import numpy as np
import pytest

from experiments.ladder import fit, write_ladder
from icarus import Agent, games, parse
from icarus.arena.player import Entrant
from icarus.ladder import ladders
from icarus.ladder.ladders import (
    RANDOM,
    ZERO,
    Climb,
    Ladder,
    Rating,
    Rung,
    posterior,
    rated_games,
    read_ladder,
)

FIXED = {"zero": ZERO}


def test_three_wins_of_four_are_191_elo():
    scores = [("a", "zero", score) for score in (1.0, 1.0, 1.0, 0.0)] * 250
    assert posterior(scores, FIXED).ratings()["a"].value == pytest.approx(
        400 * np.log10(3), abs=0.5
    )


def test_an_opponent_s_uncertainty_is_in_the_rating():
    sure, unsure = Rating(100, 99, 101), Rating(100, 0, 200)
    scores = [("a", "b", 0.5)] * 1000
    assert posterior(scores, {"b": sure}).ratings()["a"].deviation < 15
    assert 50 < posterior(scores, {"b": unsure}).ratings()["a"].deviation < 55


def test_what_opponents_share_does_not_average_out_over_them():
    opponents = {"b": Rating(100, 0, 200), "c": Rating(100, 0, 200)}
    scores = [("a", "b", 0.5), ("a", "c", 0.5)] * 5000
    variance = opponents["b"].deviation ** 2
    apart = posterior(scores, opponents).ratings()["a"]
    alike = posterior(
        scores, opponents, covariance=variance * np.array([[1, 0.9], [0.9, 1]])
    ).ratings()["a"]
    assert apart.deviation == pytest.approx(variance**0.5 * 0.5**0.5, rel=0.01)
    assert alike.deviation == pytest.approx(variance**0.5 * 0.95**0.5, rel=0.01)


def test_ninety_five_percent_intervals_hold_what_they_promise():
    random, truth, hits = np.random.default_rng(1), {"zero": 0.0, "b": 150.0, "c": 300.0}, 0
    for _ in range(200):
        scores = [
            (
                player,
                opponent,
                float(random.random() < ladders.expected(truth[player], truth[opponent])),
            )
            for player, opponent in itertools.combinations(truth, 2)
            for _ in range(60)
        ]
        rating = posterior(scores, FIXED).ratings()["c"]
        hits += rating.low <= truth["c"] <= rating.high
    assert 180 <= hits <= 199


def test_shares_have_the_interval_of_the_mean_of_pairs():
    """At equal strength 1 Elo is a score of ELO / 4."""
    # of pairs whose games differ by the deal
    means = np.random.default_rng(1).normal(0.5, 0.05, 3000)
    rows = [
        {"player": "a", "opponent": "zero", "seed": [deal], "score": mean + luck}
        for deal, mean in enumerate(means)
        for luck in (-0.1, 0.1)
    ]
    deviation = means.std() / len(means) ** 0.5 / (np.log(10) / 400 / 4)
    assert ladders.fitted(rows, "zero").ratings()["a"].deviation == pytest.approx(
        deviation, rel=0.1
    )
    # As if games were won or lost.
    assert posterior(ladders.scores_of(rows), FIXED).ratings()["a"].deviation > 5 * deviation


def test_a_difference_is_as_sure_as_the_games_of_both_with_each_other():
    """The deviation by hand: that of n even games between two players, who share what is unknown of the opponent of one of them."""
    scores = [("a", "b", i % 2) for i in range(1000)] + [("b", "zero", i % 2) for i in range(20)]
    estimate = posterior(scores, FIXED)
    of_games = 2 / (np.log(10) / 400) / 1000**0.5
    step = estimate.difference("a", "b")
    assert step.value == pytest.approx(0, abs=0.01)
    assert step.deviation == pytest.approx(of_games, rel=0.01)
    assert estimate.difference("b", "a").deviation == pytest.approx(step.deviation)
    assert estimate.ratings()["a"].deviation > 6 * of_games


def test_a_game_tells_most_against_an_equal_and_less_against_one_unknown_or_played_often():
    mine = Rating(300, 250, 350)
    assert f"{mine}" == str(mine) == "300 ± 50"
    assert f"{mine:.0f}" == "300 [250, 350]"
    near, far, unsure = Rating(300, 290, 310), Rating(900, 890, 910), Rating(300, 100, 500)
    assert ladders.informative(mine, near, 0) > ladders.informative(mine, far, 0)
    assert ladders.informative(mine, unsure, 100) < ladders.informative(mine, near, 100)


LADDER = Ladder(
    "othello",
    (Rung(RANDOM, ZERO), Rung("nobody", Rating(9, 0, 18), Entrant("BASELINE", iterations=2))),
)


def test_a_climb_is_rated_as_by_all_games_together():
    """A ladder keeps what its opponents' ratings share: fitting the climber's games to it is fitting them to the rows that it came from."""
    chance = np.random.default_rng(1)
    names = [RANDOM, *(f"BASELINE ({iterations} iterations)" for iterations in (2, 3, 4, 5))]
    values = dict(zip(names, (0, 150, 300, 450, 600), strict=True))
    between = [
        {
            "player": player,
            "opponent": opponent,
            "score": float(chance.random() < ladders.expected(values[player], values[opponent])),
            "seed": [number // 2],
        }
        for opponent, player in itertools.pairwise(names)
        for number in range(60)
    ]
    ladder = fit(
        Ladder(
            "othello", tuple(Rung(name, ZERO, Entrant("BASELINE", iterations=1)) for name in names)
        ),
        ladders.fitted(between, RANDOM),
    )
    scores = [("a climber", name, i % 2) for name in names[2:] for i in range(300)]
    everything = [*ladders.scores_of(between), *scores]
    together = posterior(everything, {RANDOM: ZERO}, dispersion=ladder.dispersion).ratings()[
        "a climber"
    ]
    assert ladder.rating_of("a climber", scores).value == pytest.approx(together.value, abs=4)
    assert ladder.rating_of("a climber", scores).deviation == pytest.approx(
        together.deviation, rel=0.02
    )
    apart = posterior(scores, ladder.ratings(), dispersion=ladder.dispersion).ratings()["a climber"]
    assert apart.deviation < 0.7 * together.deviation


def test_a_climb_that_is_stopped_goes_on_where_it_was(tmp_path):
    player, path = Agent(parse("BASELINE"), iterations=3), tmp_path / "rows.jsonl"
    whole = [row["actions"] for row in Climb(LADDER, player).games(6)]
    with rated_games(path) as ledger:
        first_games = [
            row["actions"]
            for row in itertools.islice(Climb(LADDER, player, ledger=ledger).games(6), 3)
        ]
        with pytest.raises(ValueError, match="another process is writing"):
            rated_games(path)
    path.write_bytes(path.read_bytes() + b'{"torn')
    with rated_games(path) as ledger:
        again = Climb(LADDER, player, ledger=ledger)
        assert len(again.rows) == 3
        assert first_games + [row["actions"] for row in again.games(6)] == whole
        assert len(ledger.rows) == again.rating().count == 6
        # another game
        assert not Climb(Ladder("checkers", LADDER.rungs), player, ledger=ledger).rows


def test_games_that_were_taken_out_of_the_file_are_played_again():
    player, ledger = Agent(parse("BASELINE"), iterations=3), rated_games(None)
    ladder = Ladder("othello", LADDER.rungs[:1])
    list(Climb(ladder, player, ledger=ledger).games(6))
    whole = dict(ledger.rows)
    for key in list(whole)[1:3]:
        del ledger.rows[key]
    again = [
        row["actions"] for row in itertools.islice(Climb(ladder, player, ledger=ledger).games(6), 3)
    ]
    assert again == [row["actions"] for row in list(whole.values())[2:0:-1]]
    assert ledger.rows.keys() == whole.keys()


def test_a_pair_that_another_seed_began_is_completed_with_its_opening():
    player, ledger = Agent(parse("BASELINE"), iterations=3), rated_games(None)
    ladder = Ladder("othello", LADDER.rungs[:1])
    list(itertools.islice(Climb(ladder, player, ledger=ledger).games(6), 3))
    list(Climb(ladder, player, ledger=ledger, seed=1).games(6))
    played = [(row["seed"], row["side"]) for row in ledger.rows.values()]
    assert played == [
        *(([0, 0], 0), ([0, 0], 1)),
        *(([0, 1], 0), ([0, 1], 1)),
        *(([1, 2], 0), ([1, 2], 1)),
    ]


def test_who_is_no_player_is_refused_before_a_game():
    for player in ("BASELINE", parse("BASELINE"), None):
        with pytest.raises(TypeError, match="a climb needs a player, such as Agent"):
            Climb(LADDER, player)


def test_a_seed_and_a_number_of_games_are_integers():
    player = Agent(parse("BASELINE"), iterations=3)
    for seed in (1.5, -1):
        with pytest.raises(ValueError, match=f"seed is {seed}; it must be an integer"):
            Climb(LADDER, player, seed=seed)
    with pytest.raises(ValueError, match="games is '3'; it must be an integer of at least 0"):
        next(Climb(LADDER, player).games("3"))


def test_of_two_files_of_one_name_neither_may_be_edited(tmp_path):
    player, ledger = Agent(parse("BASELINE"), iterations=3), rated_games(None)
    files = [tmp_path / "a" / "own.py", tmp_path / "b" / "own.py"]
    for file in files:
        file.parent.mkdir()
        file.write_text("A = 1")
    list(Climb(LADDER, player, ledger=ledger, files=list(map(str, files))).games(2))
    files[0].write_text("A = 2")
    with pytest.raises(ValueError, match=r"own.py was edited"):
        Climb(LADDER, player, ledger=ledger, files=files)


def test_games_of_a_player_whose_file_was_edited_are_not_counted_as_its_own(tmp_path, monkeypatch):
    player, file = Agent(parse("BASELINE"), iterations=3), tmp_path / "own.py"
    imported = tmp_path / "rules_of_own_ladder.py"
    imported.write_text("A = 1")
    file.write_text("from rules_of_own_ladder import A")
    ledger = rated_games(None)
    list(Climb(LADDER, player, ledger=ledger, files=[file]).games(2))
    assert len(Climb(LADDER, player, ledger=ledger, files=[file]).rows) == 2
    imported.write_text("A = 2")
    monkeypatch.setattr("icarus.load_files._in_memory", {})  # as in another process
    with pytest.raises(
        ValueError,
        match=r"own.py was edited: its digest is .*, in earlier games of BASELINE \(3 iter",
    ):
        Climb(LADDER, player, ledger=ledger, files=[file])


def test_games_with_another_file_are_not_counted_and_those_with_a_copy_are(tmp_path):
    player, ledger = Agent(parse("BASELINE"), iterations=3), rated_games(None)
    own, copy, another = (tmp_path / f"{name}.py" for name in ("own", "copy", "another"))
    for file in (own, copy):
        file.write_text("A = 1")
    another.write_text("A = 2")
    list(Climb(LADDER, player, ledger=ledger, files=[own]).games(2))
    assert len(Climb(LADDER, player, ledger=ledger, files=[copy]).rows) == 2
    for files in ([another], []):
        with pytest.raises(ValueError, match=r"^own.py, with which .* is not among the files"):
            Climb(LADDER, player, ledger=ledger, files=files)


def test_pairs_have_one_opening_and_two_sides():
    first, second = itertools.islice(
        Climb(LADDER, Agent(parse("BASELINE"), iterations=3)).games(2), 2
    )
    assert (first["seed"], first["side"], second["side"]) == (second["seed"], 0, 1)
    assert first["actions"][:4] == second["actions"][:4]


@pytest.mark.parametrize("score", ["NaN", "7", "10" + "0" * 400, '"x"', "null"])
def test_rows_that_are_none_are_refused_by_number(score, tmp_path):
    path = tmp_path / "rows.jsonl"
    row = (
        '{"player":"a","opponent":"b","seed":[1],"score":%s}\n'  # from before there were checksums
    )
    path.write_text(row % 0.5 + row % score)
    with pytest.raises(ValueError, match="line 2: damaged"):
        rated_games(path)


def test_a_ladder_is_written_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr("icarus.ladder.ladders.DATA", tmp_path)
    rungs = (*LADDER.rungs, Rung("grhino depth 1", Rating(700, 600, 800)))
    ladder = Ladder("othello", rungs, np.array([[0, 0, 0], [0, 21, 90], [0, 90, 2603]]))
    write_ladder(ladder, tmp_path / "othello.json")
    assert read_ladder("othello") == ladder != Ladder("othello", rungs)
    with pytest.raises(
        ValueError, match="there is no ladder of hearts; games with a ladder: othello"
    ):
        read_ladder(games.load("hearts"))
    write_ladder(Ladder("knockout-whist", rungs), tmp_path / "knockout-whist.json")
    with pytest.raises(
        ValueError,
        match=r"no ladder of knockout-whist\(players=3\); the opponents' ratings are those",
    ):
        read_ladder(games.load("knockout-whist(players=3)"))


def test_a_ladder_is_fitted_to_games_between_its_opponents():
    rows = [
        {"player": "nobody", "opponent": RANDOM, "score": float(i % 4 > 0), "seed": [i]}
        for i in range(40)
    ]
    rows += [{"player": "nobody", "opponent": RANDOM, "void": "x"}]
    ladder = fit(LADDER, ladders.fitted(rows, RANDOM))
    assert [rung.name for rung in ladder.rungs] == [RANDOM, "nobody"]
    assert ladder.rungs[1].rating.value == pytest.approx(190, abs=3)


def test_who_is_no_opponent_ties_two_that_are():
    rows = [
        {"player": "a stranger", "opponent": name, "score": float(i % 2), "seed": [i]}
        for name in (RANDOM, "nobody")
        for i in range(400)
    ]
    by_name = {rung.name: rung.rating for rung in fit(LADDER, ladders.fitted(rows, RANDOM)).rungs}
    assert by_name.keys() == {RANDOM, "nobody"}
    assert by_name["nobody"].value == pytest.approx(0, abs=1)
    # of two even matches
    assert by_name["nobody"].deviation == pytest.approx(
        2**0.5 * 400 / np.log(10) * 2 / 20, rel=0.01
    )
