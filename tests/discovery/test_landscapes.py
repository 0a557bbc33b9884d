"""Landscapes and adaptive shares: which games are played, kept and read back."""

import json
from pathlib import Path

import pytest

from experiments.discovery import adaptive, landscape
from experiments.discovery.landscape import KEPT, PACKED, SETTINGS, play_landscape, read_landscape
from experiments.plan.definition import Refusal
from icarus.discovery.matches import Table
from icarus.discovery.space import Space

SPACE = Space("two", {"strategy": "{tree}"}, {"tree": ("BASELINE", "baseline(5.0)")})


def table(iterations: int = 5, seed: int = 0) -> Table:
    return Table("kuhn-poker", (0, 1), iterations, None, seed)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (table(iterations=50), "is a landscape with iterations 5, not 50: play this one in another directory"),
        (table(seed=1), "is a landscape with seed 0, not 1: play this one in another directory"),
    ],
)
def test_a_landscape_goes_on_with_its_own_settings_only(changed: Table, told: str, tmp_path: Path) -> None:
    play_landscape(table(), SPACE, 2, 2, tmp_path)
    games = (tmp_path / KEPT).read_bytes()
    with pytest.raises(Refusal, match=told):
        play_landscape(changed, SPACE, 2, 2, tmp_path)
    assert (tmp_path / KEPT).read_bytes() == games and json.loads((tmp_path / SETTINGS).read_text())["iterations"] == 5
    play_landscape(table(), SPACE, 2, 3, tmp_path)  # more deals of the same
    assert (tmp_path / KEPT).read_bytes().startswith(games)
    assert read_landscape(tmp_path).rewards.shape == (2, 3, 2)


def test_a_landscape_refuses_games_that_nothing_tells_of(tmp_path: Path) -> None:
    (tmp_path / KEPT).touch()
    with pytest.raises(Refusal, match=r"has games, but no landscape\.json says how they were played"):
        play_landscape(table(), SPACE, 2, 2, tmp_path)


def test_settings_are_there_before_the_first_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(landscape.Games, "play", killed)
    with pytest.raises(KeyboardInterrupt):
        play_landscape(table(), SPACE, 2, 2, tmp_path)
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
