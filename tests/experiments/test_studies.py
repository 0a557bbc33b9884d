"""Studies run once on tiny inputs, and what their tables say is computed by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.plan.definition import Refusal
from experiments.studies import duels, finders
from experiments.studies.correlation import ACTION, POSITION
from experiments.studies.finders import KEPT, SETTINGS, Landscape, play_landscape, read_landscape
from experiments.studies.screening import Choice, Gain, agreement, pairs
from icarus.arena.player import Configuration
from icarus.discovery.discover import proven_configurations
from icarus.discovery.space import Space

SPACE = Space("two", {"strategy": "{tree}"}, {"tree": ("BASELINE", "baseline(5.0)")})
PLAIN, STRONG = Configuration("baseline(5.0)"), Configuration("BASELINE >> NAST2")
TINY = duels.match_settings_of("kuhn-poker", 4, None)


# ------------------------------------------------------------------------------------------------------------------ finders


def sampled(deals: int = 2000) -> finders.Sampled:
    rewards = np.random.default_rng(1).random((2, deals, 2)) < np.array([0.3, 0.6])[:, None, None]
    return finders.Sampled.of(Landscape(SPACE, ((0,), (1,)), rewards.astype(float)), 0)


def test_each_repetition_of_a_point_is_a_game_of_its_own() -> None:
    world = sampled()
    rates = [np.mean(world.play([(1,)] * 100, np.random.default_rng(seed))) for seed in range(50)]
    assert np.std(rates) < 0.06  # of one game, played a hundred times, it would be .35
    assert np.mean(rates) == pytest.approx(0.6, abs=0.03)
    world.games = np.arange(2000.0).reshape(2, 1000)  # which tells the deal: different points of a batch share it
    first, second, again, also = world.play([(0,), (1,), (0,), (1,)], np.random.default_rng(3))
    assert first == second - 1000 != again == also - 1000


def test_a_landscape_goes_on_with_its_own_settings_only(tmp_path: Path) -> None:
    play_landscape(TINY, SPACE, 2, 2, tmp_path)
    games = (tmp_path / KEPT).read_bytes()
    for changed, message in (
        (duels.match_settings_of("kuhn-poker", 50, None), "is a landscape with iterations 4, not 50"),
        (duels.match_settings_of("kuhn-poker", 4, None, 2), "is a landscape with seed 1, not 2"),
    ):
        with pytest.raises(Refusal, match=f"{message}; use another directory"):
            play_landscape(changed, SPACE, 2, 2, tmp_path)
    assert (tmp_path / KEPT).read_bytes() == games and json.loads((tmp_path / SETTINGS).read_text())["iterations"] == 4
    play_landscape(TINY, SPACE, 2, 3, tmp_path)  # more deals of the same
    assert (tmp_path / KEPT).read_bytes().startswith(games)
    assert read_landscape(tmp_path).rewards.shape == (2, 3, 2)
    (tmp_path / SETTINGS).unlink()
    with pytest.raises(Refusal, match=r"has games but no landscape\.json"):
        play_landscape(TINY, SPACE, 2, 2, tmp_path)


def test_finders_meet_on_a_landscape_and_their_rows_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, names = tmp_path / "smooth.csv", ("factorial", "halving", "evolution", "random", "NTBEA")
    finders.main(["smooth", "--games", "300", "--repetitions", "2", "--finders", *names, "--to", str(path)])
    told = capsys.readouterr().out
    finders.main(["--rows", str(path)])
    assert [line[:28].strip() for line in capsys.readouterr().out.splitlines()[1:6]] == list(names)
    assert told.count("above factorial") == 4 and max(row["regret"] for row in finders.read_rows(path)) < 0.3


def test_rows_of_finders_are_told_with_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"finder": name, "seed": seed, "rate": 0.5, "regret": 0.1 * seed + more, "seconds": 1.0}
        for seed in range(3)
        for name, more in (("factorial", 0.0), ("random", 0.05))
    ]
    for name in ("whist", "phantom"):
        finders.write_rows(tmp_path / f"{name}.csv", rows)
    finders.print_rows([tmp_path / "whist.csv", tmp_path / "phantom.csv"])
    whist, phantom, both = capsys.readouterr().out.split("\n\n")
    assert whist == "whist\n" + finders.summary(rows) and phantom.startswith("phantom") and both.startswith("all 2\n")
    # by hand: 0, .1 and .2 have the standard error .1 / √3, and Student's quantile with two degrees of freedom is 4.303
    assert "regret 0.100 [-0.148, 0.348]" in whist and "above factorial +0.050 [+0.050, +0.050]" in whist
    assert "regret 0.100 [0.006, 0.194]" in both
    (tmp_path / "other.csv").write_text("finder,seed\nfactorial,1\n")
    with pytest.raises(Refusal, match=r"other\.csv has no rows of finders"):
        finders.print_rows([tmp_path / "other.csv"])


# -------------------------------------------------------------------------------------------------------------------- duels


def test_a_duel_is_kept_and_one_of_equals_is_even(tmp_path: Path) -> None:
    pairs, path = [(PLAIN, PLAIN), (STRONG, PLAIN)], tmp_path / "games.jsonl"
    even, advantage = duels.duel(TINY, pairs, 25, path)
    assert (even.mean, even.units, advantage.units) == (0.0, 25, 25)
    rows = path.read_bytes()
    assert duels.duel(TINY, pairs, 25, path)[1] == advantage and path.read_bytes() == rows
    assert duels.differences_in(path) == {(str(STRONG), str(PLAIN)): advantage}  # without a game
    path.write_bytes(b"".join(rows.splitlines(keepends=True)[:-1]))  # a deal that lacks a game does not count
    assert [difference.units for difference in duels.differences_in(path).values()] == [24]
    with pytest.raises(Refusal, match="there is no file"):
        duels.print_rows([tmp_path / "none.jsonl"])


def test_a_winner_that_needs_a_heuristic_is_left_out_of_a_game_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = {"plain one": (PLAIN, PLAIN), "cutting one": (Configuration("BASELINE", "MO_ISMCTS with cutoff=8"), PLAIN)}
    assert list(duels.playable(TINY, pairs)) == ["plain one"]
    assert "the cutting one cannot play: cutoff is 8, but kuhn-poker has no heuristic" in capsys.readouterr().out


@pytest.mark.parametrize("game", [*proven_configurations(), "kuhn-poker"])
def test_winners_play_what_the_game_s_own_winner_beat(game: str) -> None:
    proven = proven_configurations()
    reference = proven[game].reference if game in proven else STRONG
    for name, (player, opponent) in duels.winners_in(game, "all").items():
        assert opponent == reference and player == proven[name.removeprefix("winner of ")].configuration


# ------------------------------------------------------------------------------------------------- choice without games


def screened(order: list[str], positions: int = 40) -> list[Choice]:
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 0.01, (positions, len(order)))
    return [
        Choice("", name, position, 0.3 + 0.05 * rank + noise[position, rank])
        for position in range(positions)
        for rank, name in enumerate(order)
    ]


PLAYED = {
    ("", name): np.array([1.0] * wins + [0.0] * (200 - wins))
    for name, wins in zip("ABCDEF", range(60, 180, 20), strict=True)
}


def test_the_same_order_has_tau_one_and_the_opposite_minus_one() -> None:
    same = agreement([*screened(list("ABCDEF")), Choice("", "-", 0, 0.5)], PLAYED, "")
    assert same.agents == 6 and same.tau == pytest.approx(1) and same.low > 0.6 and same.top > 0
    assert agreement(screened(list("FEDCBA")), PLAYED, "").tau == pytest.approx(-1)


def test_a_record_is_paired_with_the_gain_of_the_agent_that_shares_it() -> None:
    correlations = {(("a", ""), ACTION): 0.5, (("a", ""), POSITION): 0.2, (("b", ""), ACTION): 0.9}
    measured = {(("a", ""), "R"): Gain(0.1, 0.05, 50), (("a", ""), "EPIC"): Gain(0.3, 0.05, 50)}
    assert pairs("R", correlations, measured) == [(("a", ""), 0.5, Gain(0.1, 0.05, 50))]
    assert pairs("EPIC", correlations, measured) == [(("a", ""), 0.2, Gain(0.3, 0.05, 50))]
