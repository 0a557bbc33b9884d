"""Landscapes, and the finders that are compared on them: what is played, kept, read back and told."""

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.discovery import adaptive, finders, landscape
from experiments.discovery.landscape import KEPT, PACKED, SETTINGS, Landscape, play_landscape, read_landscape
from experiments.plan.definition import Refusal
from icarus.discovery.matches import MatchSettings
from icarus.discovery.space import Space

SPACE = Space("two", {"strategy": "{tree}"}, {"tree": ("BASELINE", "baseline(5.0)")})


def match_settings(iterations: int = 5, seed: int = 0) -> MatchSettings:
    return MatchSettings("kuhn-poker", (0, 1), iterations, None, seed)


def sampled(deals: int = 2000) -> finders.Sampled:
    rewards = np.random.default_rng(1).random((2, deals, 2)) < np.array([0.3, 0.6])[:, None, None]
    return finders.Sampled.of(Landscape(SPACE, ((0,), (1,)), rewards.astype(float)), 0)


def test_each_repetition_of_a_point_is_a_game_of_its_own() -> None:
    world = sampled()
    rates = [np.mean(world.play([(1,)] * 100, np.random.default_rng(seed))) for seed in range(50)]
    assert np.std(rates) < 0.06  # of one game, played a hundred times, it would be .35
    assert np.mean(rates) == pytest.approx(0.6, abs=0.03)


def test_different_points_of_a_batch_share_its_deals() -> None:
    world = sampled()
    world.games = np.arange(2000.0).reshape(2, 1000)  # which tells the deal
    first, second, again, also = world.play([(0,), (1,), (0,), (1,)], np.random.default_rng(3))
    assert first == second - 1000 != again == also - 1000


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (match_settings(iterations=50), "is a landscape with iterations 5, not 50; use another directory"),
        (match_settings(seed=1), "is a landscape with seed 0, not 1; use another directory"),
    ],
)
def test_a_landscape_goes_on_with_its_own_settings_only(changed: MatchSettings, message: str, tmp_path: Path) -> None:
    play_landscape(match_settings(), SPACE, 2, 2, tmp_path)
    games = (tmp_path / KEPT).read_bytes()
    with pytest.raises(Refusal, match=message):
        play_landscape(changed, SPACE, 2, 2, tmp_path)
    assert (tmp_path / KEPT).read_bytes() == games and json.loads((tmp_path / SETTINGS).read_text())["iterations"] == 5
    play_landscape(match_settings(), SPACE, 2, 3, tmp_path)  # more deals of the same
    assert (tmp_path / KEPT).read_bytes().startswith(games)
    assert read_landscape(tmp_path).rewards.shape == (2, 3, 2)


def test_a_landscape_refuses_games_that_nothing_tells_of(tmp_path: Path) -> None:
    (tmp_path / KEPT).touch()
    with pytest.raises(Refusal, match=r"has games but no landscape\.json"):
        play_landscape(match_settings(), SPACE, 2, 2, tmp_path)


def test_settings_are_there_before_the_first_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(landscape.Games, "play", killed)
    with pytest.raises(KeyboardInterrupt):
        play_landscape(match_settings(), SPACE, 2, 2, tmp_path)
    assert json.loads((tmp_path / SETTINGS).read_text())["space"] == {
        "name": "two",
        "strategy": "{tree}",
        "factors": {"tree": ["BASELINE", "baseline(5.0)"]},
    }
    assert not (tmp_path / PACKED).exists()


def test_adaptive_shares_with_another_budget_are_other_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    adaptive.measure("kuhn-poker", 4, 2, tmp_path)
    adaptive.measure("kuhn-poker", 8, 2, tmp_path)
    budgets = {"kuhn-poker-4-iterations-seed-0.jsonl": 4, "kuhn-poker-8-iterations-seed-0.jsonl": 8}
    assert {path.name for path in tmp_path.iterdir()} == set(budgets)
    for name, iterations in budgets.items():
        rows = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        assert {row["work"][0] % iterations for row in rows} == {0} and any(row["work"][0] for row in rows)
    assert capsys.readouterr().out.count("8 iterations, 2 units") == 4


def test_rows_of_finders_are_read_back_and_told_with_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    for name, content in {"other.csv": "finder,seed\nfactorial,1\n", "empty.csv": ""}.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(Refusal, match=f"{name} has no rows of finders"):
            finders.print_rows([tmp_path / name])


def test_a_file_of_rows_that_cannot_be_written_whole_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("old")
    rows = [{"finder": "random", "seed": 0, "rate": 0.5, "regret": 0.1, "seconds": 1.0}]

    def full(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        finders.write_rows(path, rows)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
