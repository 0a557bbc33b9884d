"""The outside ladder as it is played: levels from ratings, planned pairs, and what is written into the package."""

import json
import re
from pathlib import Path

import pytest

from experiments import ladder as playing, replay
from experiments.commands import ladder, main
from experiments.ladder import PlannedMatch
from experiments.replay import LEARNED_KEY
from experiments.statistics import iterations_for
from icarus.arena.ledger import Ledger, read_rows
from icarus.arena.player import Entrant
from icarus.discovery.race import KEY
from icarus.equilibrium import OOSSearch
from icarus.games import load
from icarus.ladder import ladders
from icarus.ladder.ladders import Rating, posterior, rated_games

SURE = 10.0  # Elo


EDITS = {
    "levels = [3, 6,": ("levels = [3, 3,", "[othello]: 3 is there 2 times"),
    "levels = [10,": ("levels = [0,", "[backgammon]: Expected `int` >= 1 - at `$.levels[0]`"),
    "[othello]": ("[othelo]", "[othelo]: no game is called 'othelo'; did you mean othello?"),
    "table = [": ("tabel = [", "[othello]: Object contains unknown field `tabel`"),
    '["pubeval", "gnubg 0-ply DMP"]': ('"pubeval"', "Expected `array`, got `str` - at `$.outside`"),
    '["pubeval",': ('["pubval",', "'pubval' is unknown; did you mean pubeval?"),
    "iterations = 5000 }": ("iteration = 5000 }", "unexpected keyword argument 'iteration'"),
    'cutoff=0" }, opponent = { strategy = "BASELINE", iterations = 300 }, games = 400': (
        'cutoff=8" }, opponent = { strategy = "BASELINE", iterations = 300 }, games = 400',
        "[othello]: two of the comparisons are of the same players",
    ),
    "games = 46": ("games = '46'", "Expected `int`, got `str` - at `$.comparisons[0].games`"),
}


@pytest.mark.parametrize("text", EDITS)
def test_a_plan_that_makes_no_sense_is_refused_with_its_place(text, tmp_path):
    other, said = EDITS[text]
    content = Path(playing.__file__).with_suffix(".toml").read_text("utf-8")
    (path := tmp_path / "ladder.toml").write_text(content.replace(text, other, 1))
    with pytest.raises(ValueError, match=f"{path}, .*{re.escape(said)}"):
        playing.plans(path)


def test_of_a_plan_that_is_no_toml_no_game_is_named(tmp_path):
    (path := tmp_path / "ladder.toml").write_text("[othello")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: Expected "):
        playing.plans(path)


def searching(iterations: int) -> Entrant:
    return Entrant("BASELINE", iterations=iterations)


def around(value: float, deviation: float = SURE) -> Rating:
    return Rating(value, value - 1.96 * deviation, value + 1.96 * deviation)


def test_levels_lie_where_a_monotone_fit_reaches_them():
    ratings = {10: around(100), 100: around(300), 1000: around(500)}
    assert iterations_for(ratings, [100, 200, 300, 400]) == [10, 32, 100, 316]
    assert iterations_for(ratings, [0, 900]) == [10, 1000]  # nothing is extrapolated


def test_baselines_below_random_play_have_no_levels(tmp_path, monkeypatch):
    ratings = {"BASELINE (10 iterations)": around(-400)}
    monkeypatch.setattr(playing.ladders.Posterior, "ratings", lambda estimate: ratings)
    assert playing.proposed_levels("othello", tmp_path) == []


def test_a_directory_without_games_has_no_levels_and_writes_no_ladder(tmp_path, monkeypatch):
    monkeypatch.setattr(playing.ladders, "DATA", tmp_path)
    assert playing.proposed_levels("othello", tmp_path) == []
    with pytest.raises(ValueError, match="has no such games of othello; --minutes 20 plays some"):
        ladder("othello", out=tmp_path, keep=True)
    with pytest.raises(
        ValueError, match="has no games between opponents of othello; nothing was written"
    ):
        playing.keep(playing.fitted_ladder("othello", tmp_path), tmp_path)
    assert not list(tmp_path.iterdir())


def test_ratings_that_fall_are_pooled_by_their_precision():
    ratings = {10: around(0), 100: around(220, 20), 1000: around(200), 10_000: around(400)}
    # (220 / 4 + 200) / (1 / 4 + 1), in the middle of the two
    halfway = iterations_for(ratings, [204])[0]
    assert halfway == pytest.approx(316, abs=1)


def test_a_planned_pair_is_played_up_to_its_games_and_not_again(tmp_path, monkeypatch):
    planned = PlannedMatch(searching(8), searching(2), 4, "does more search help?")
    monkeypatch.setattr(playing.plans()["othello"], "comparisons", [planned])
    deadline = float("inf")
    rows = list(playing.play_comparisons("othello", tmp_path, 1, deadline))
    assert [row["side"] for row in rows] == [0, 1, 0, 1]
    assert {"icarus", "provenance", "engines"} <= rows[0].keys()
    assert not list(playing.play_comparisons("othello", tmp_path, 1, deadline))
    [(comparison, player, opponent, score)] = playing.scores_of_comparisons("othello", tmp_path)
    assert (comparison, player, opponent, 2 * score.count) == (
        planned,
        "BASELINE (8 iterations)",
        "BASELINE (2 iterations)",
        4,
    )
    assert score.value == sum(row["score"] for row in rows) / 4


def test_fewer_than_two_opponents_are_refused(tmp_path, monkeypatch):
    for key in ("levels", "outside"):
        monkeypatch.setattr(playing.plans()["othello"], key, [])
    with pytest.raises(ValueError, match="fewer than two opponents of othello can play"):
        next(playing.play_opponents("othello", tmp_path, 1, float("inf")))


def test_a_baseline_that_is_no_better_than_random_play_is_no_level(tmp_path, capsys):
    with rated_games(tmp_path / "othello-opponents.jsonl") as ledger:
        for game in range(10):
            pair = {"player": "BASELINE (3 iterations)", "opponent": ladders.RANDOM}
            ledger.keep({**pair, "seed": [game], "score": float(game % 2)})
    ladder("othello", out=tmp_path)
    assert "no baseline in these games is a level above random play" in capsys.readouterr().err


def test_an_engine_is_left_alone_after_three_void_games_in_a_row(tmp_path, monkeypatch):
    planned = PlannedMatch(searching(8), searching(2), 100, "")
    monkeypatch.setattr(playing.plans()["othello"], "comparisons", [planned])
    void, played = {"void": "it died", "failed": "BASELINE (2 iterations)"}, {"score": 1.0}
    games = iter([void, played, void, void, played, played, void, void, void, void])
    monkeypatch.setattr(ladders, "rated_row", lambda match: next(games))
    rows = list(playing.play_comparisons("othello", tmp_path, 1, float("inf")))
    # the pair that has begun is ended
    assert len(rows) == 10
    assert sum("void" in row for row in rows) == 7


def test_keep_writes_ladder_and_levels_from_rows_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(playing.ladders, "DATA", tmp_path)
    monkeypatch.setattr(playing, "LEVEL_DATA", tmp_path / "levels.json")
    (tmp_path / "levels.json").write_text(json.dumps({"scale": "Elo", "games": {"hearts": []}}))
    monkeypatch.setattr(playing.plans()["othello"], "levels", range(1, 9))
    names = [rung.name for rung in playing.opponents("othello").rungs if rung.agent]
    path = tmp_path / "othello-opponents.jsonl"
    with rated_games(path) as ledger:
        for number, name in enumerate(names):
            for game in range(400):  # so many that each step is told from the one below
                ledger.keep(
                    {
                        "player": name,
                        "opponent": ladders.RANDOM,
                        "seed": [game],
                        "score": float(game < 20 * (10 + number)),
                    }
                )
    assert playing.keep(playing.fitted_ladder("othello", tmp_path), tmp_path)
    content = json.loads((tmp_path / "levels.json").read_text())
    # by hand 0, 35, 70, 108, 147, 191, 241 and 301 Elo: steps of 108, 83 and 110 are nearest to 100
    content_of_othello = content["games"]["othello"]
    assert [level["level"] for level in content_of_othello] == [1, 2, 3]
    assert [level["elo"] for level in content_of_othello] == pytest.approx([108, 191, 301], abs=12)
    assert content_of_othello[1]["step"]["elo"] == pytest.approx(83, abs=8)  # 15 above 13 of 20
    assert content["games"]["hearts"] == []
    assert len(json.loads((tmp_path / "othello.json").read_text())["rungs"]) == 1 + len(names)
    assert len(playing.read_rows_of(tmp_path, "othello", playing.BETWEEN)) == 400 * len(names)
    assert not path.exists()  # packed
    with rated_games(path) as ledger:
        for game in range(400, 1200):  # then the second is stronger than the third
            ledger.keep(
                {"player": names[1], "opponent": ladders.RANDOM, "seed": [game], "score": 1.0}
            )
    assert not playing.keep(playing.fitted_ladder("othello", tmp_path), tmp_path)
    assert json.loads((tmp_path / "levels.json").read_text()) == content


def test_the_shipped_ladders_and_levels_are_what_the_committed_rows_say(tmp_path):
    levels = json.loads(playing.LEVEL_DATA.read_text())["games"]
    for path in ladders.DATA.glob("*.json"):
        estimate = playing.estimate_of(path.stem, Path("experiments/runs/ladder"))
        ladder_of_rows = playing.fit(playing.opponents(path.stem), estimate)
        playing.write_ladder(ladder_of_rows, tmp_path / path.name)
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.stem
        assert levels.pop(path.stem, []) == playing.levels_in(ladder_of_rows, estimate), path.stem
    assert not levels


@pytest.mark.parametrize("game", ["othello", "dou-di-zhu"])
def test_the_shipped_ladder_rates_as_the_rows_of_its_opponents_do(game):
    rows = Path("experiments/runs/ladder")
    between = playing.read_rows_of(rows, game, playing.BETWEEN)
    player = "IMPLICIT_MINIMAX by MO_ISMCTS with cutoff=8 (5000 iterations)"
    player_rows = [
        row
        for row in playing.read_rows_of(rows, game, playing.BY_ITERATIONS)
        if row["player"] == player
    ]
    rating = ladders.read_ladder(game).rating_of(player, ladders.scores_of(player_rows))
    scores = ladders.scores_of([*between, *player_rows])
    dispersion = ladders.read_ladder(game).dispersion
    together = posterior(scores, {ladders.RANDOM: ladders.ZERO}, dispersion=dispersion).ratings()[
        player
    ]
    assert rating.value == pytest.approx(together.value, abs=1)
    assert rating.deviation == pytest.approx(together.deviation, rel=0.01)


@pytest.mark.parametrize("kind", playing.TABLES)
def test_the_command_plays_a_table_and_draws_it(kind, tmp_path, monkeypatch, capsys):
    weak = ladders.Ladder("othello", (ladders.Rung(ladders.RANDOM, ladders.ZERO),))
    monkeypatch.setattr(playing.ladders, "read_ladder", lambda game: weak)
    players = [Entrant("MAST", iterations=2), searching(3)]
    monkeypatch.setattr(playing.plans()["othello"], kind, players)
    picture = tmp_path / "ladder.svg"
    ladder("othello", out=tmp_path, minutes=1, **{kind: True}, number=2, picture=picture)
    rows = playing.read_rows_of(tmp_path, "othello", kind)
    assert [row["player"] for row in rows] == ["MAST (2 iterations)"] * 2 + [
        "BASELINE (3 iterations)"
    ] * 2
    table = capsys.readouterr().out
    assert "above MAST (2 iterations)" in table
    assert "BASELINE (3 iterations)" in table
    assert "MAST (2 iterations)" in picture.read_text()


def test_games_of_ladders_and_duels_are_played_again_and_a_changed_one_is_found(tmp_path, capsys):
    committed = playing.read_rows_of(Path("experiments/runs/ladder"), "dou-di-zhu", playing.BETWEEN)
    names = "BASELINE (2 iterations)", "BASELINE (5 iterations)"
    quick = [row for row in committed if (row["player"], row["opponent"]) == names][:3]
    assert len(quick) == 3
    (tmp_path / "ladder").mkdir()
    with rated_games(tmp_path / "ladder" / "dou-di-zhu-opponents.jsonl") as ledger:
        ledger.keep(quick[0])
        ledger.keep(quick[1] | {"returns": quick[1]["returns"][::-1]})
    audited = list(replay.audit(tmp_path / "ladder", 10, 0))
    assert sorted(same for _, same in audited) == [False, True]
    assert (
        next(text for text, same in audited if not same).split(": ")[2].startswith("returns was ")
    )

    (tmp_path / "compared").mkdir()
    with rated_games(tmp_path / "compared" / "dou-di-zhu-comparisons.jsonl") as ledger:
        ledger.keep(quick[2])
    assert [same for _, same in replay.audit(tmp_path / "compared", 10, 0)] == [True]

    name = "phantom-mnk-1000-iterations.jsonl"
    (tmp_path / "duels").mkdir()
    rows = list(read_rows(Path("experiments/runs/discovery/transfer") / name, KEY))[:2]
    rows[1]["moves"] += 1
    rows.append(rows[0] | {"player": "GONE", "deal": 1})
    with Ledger(tmp_path / "duels" / name, KEY) as ledger:
        for row in rows:
            ledger.keep(row)
    texts = dict(replay.audit(tmp_path / "duels", 10, 0))
    assert {*texts.values()} == {False, True, None}
    assert "moves was" in " ".join(texts)
    assert "not played again: the strategy 'GONE'" in " ".join(texts)
    (tmp_path / "gone").mkdir()
    with Ledger(tmp_path / "gone" / name, KEY) as ledger:
        ledger.keep(rows[2])
    assert main(["verify", str(tmp_path / "gone")]) == 1
    assert "no game was played again" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "duels"), "--agent", "x"]) == 2
    assert main(["verify", "experiments/runs/discovery/equal-time"]) == 2
    said = capsys.readouterr().err
    assert "without agents and trials" in said
    assert "equal-time: there are no games that can be played again" in said


def test_what_outcome_sampling_learned_is_learned_again_and_a_changed_row_is_found(
    tmp_path, capsys
):
    committed = next(read_rows(Path("experiments/runs/equilibrium/learned.jsonl"), LEARNED_KEY))
    with Ledger(tmp_path / "learned.jsonl", LEARNED_KEY) as ledger:
        ledger.keep(committed)
        search = OOSSearch(load("kuhn-poker"), seed=0)
        search.run(committed["iterations"])
        ledger.keep(committed | {"game": "kuhn-poker"} | replay.learned_by(search) | {"sets": 8})
    assert main(["verify", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "seed 0, 10,000 iterations: the same" in said
    assert "sets was 8, now 12" in said
