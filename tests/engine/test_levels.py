"""Levels of strength: eight a game, refused where they have not been measured."""

import json
from pathlib import Path

import attrs
import pytest

from icarus import Agent, games, play
from icarus.engine import match as levels
from icarus.ladder import read_ladder


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game whose levels are 1 to 8 iterations."""
    rows = [{"agent": {"strategy": "MAST", "iterations": level}} for level in range(1, 9)]
    path = tmp_path / "levels.json"
    path.write_text(json.dumps({"games": {"othello": rows}}))
    monkeypatch.setattr(levels, "DATA", path)


def test_a_level_is_an_agent_of_its_game(measured: None) -> None:
    assert str(Agent.at_level("othello", 3)) == "MAST (3 iterations)"
    assert Agent.at_level(games.load("othello"), 8).iterations == 8
    game = games.load("othello")
    once, again = (play(game, [Agent.at_level(game, 1)] * 2, seed=5).actions for _ in range(2))
    assert once == again


@pytest.mark.parametrize("level", [0, 9, 1.5, "3"])
def test_other_levels_are_refused(measured: None, level: object) -> None:
    with pytest.raises(ValueError, match="a level"):
        Agent.at_level("othello", level)  # type: ignore[arg-type]


def test_a_game_without_measured_levels_is_refused(measured: None) -> None:
    with pytest.raises(ValueError, match="hearts has no measured levels; these games have: othello"):
        Agent.at_level("hearts", 3)


def test_levels_of_a_file_and_its_mistakes(tmp_path: Path) -> None:
    rows = [{"agent": {"strategy": "MAST", "iterations": level}} for level in range(1, 9)]
    (tmp_path / "levels.json").write_text(json.dumps({"games": {"knockout-whist(players=3)": rows}}))
    whist = games.load("knockout-whist(players=3)")
    assert Agent.at_level(whist, 5, levels=tmp_path) == Agent.at_level(whist, 5, levels=str(tmp_path / "levels.json"))
    with pytest.raises(
        ValueError, match=r"othello has no measured levels; .*levels.json has those of: knockout-whist\(players=3\)"
    ):
        Agent.at_level("othello", 1, levels=tmp_path / "levels.json")
    with pytest.raises(ValueError, match="there is no file .*; icarus describe writes the levels of a game"):
        Agent.at_level(whist, 1, levels=tmp_path / "nothing")
    for content in ("[]", "{", '{"games": {"othello": []}}', '{"games": 3}'):
        (tmp_path / "levels.json").write_text(content)
        with pytest.raises(ValueError, match="levels.json does not have the levels of a game"):
            Agent.at_level("othello", 1, levels=tmp_path)


def test_shipped_levels_are_eight_agents_the_stronger_the_more_they_search() -> None:
    for game in json.loads(levels.DATA.read_text())["games"]:
        shipped = levels.levels_of(game)
        budgets = [Agent.at_level(game, level).iterations for level in range(1, levels.LEVELS + 1)]
        assert len(shipped) == levels.LEVELS
        assert budgets == sorted(budgets)
        assert [row["elo"] for row in shipped] == sorted(row["elo"] for row in shipped)
        rungs = {rung.name: rung.rating for rung in read_ladder(game).rungs}
        for level, row in enumerate(shipped, 1):  # each level is an opponent of the ladder, with the same rating
            rating = rungs[str(Agent.at_level(game, level))]
            assert [row[name] for name in ("elo", "low", "high", "games")] == list(attrs.astuple(rating))


def test_a_game_with_other_parameters_has_levels_of_its_own_or_none() -> None:
    with pytest.raises(ValueError, match=r"knockout-whist\(players=2\) has no measured levels"):
        levels.levels_of(games.load("knockout-whist(players=2)"))
    assert levels.number_of_levels(games.load("knockout-whist(players=2)"), None) == 0
