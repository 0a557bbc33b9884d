"""Games between agents: what the seed fixes, who sits where, and what is written down of each decision."""

import json
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from scipy.stats import chisquare

from icarus import Agent, Game, GameLog, State, games, greatest_value, play
from icarus.engine import match as levels
from icarus.engine.match import DecisionLog
from icarus.engine.scheme import SO_ISMCTS
from icarus.kernel import CHANCE, TERMINAL
from icarus.ladder import read_ladder
from icarus.specs import BASELINE, MAST, RAVE
from tests import toy

QUICK, OTHER = Agent(BASELINE, iterations=12), Agent(RAVE >> MAST, iterations=20)
WHIST = games.load("knockout-whist(players=3)")


def timeless(log: GameLog) -> GameLog:
    """A log without its clocks."""
    decisions = tuple(attrs.evolve(decision, seconds=0.0) for decision in log.decisions)
    return attrs.evolve(log, seconds=0.0, decisions=decisions)


def watched(
    game: Game, agents: list[Agent], seed: Any
) -> tuple[GameLog, list[tuple[State, int | None, DecisionLog | None]]]:
    """A game, and copies of all that a watcher was told."""
    events: list[tuple[State, int | None, DecisionLog | None]] = []
    log = play(
        game, agents, seed=seed, watch=lambda state, action, decision: events.append((state.clone(), action, decision))
    )
    return log, events


# ------------------------------------------------------------------------------------------------------------- the seed


@pytest.mark.parametrize("game", [WHIST, games.load("othello"), toy.DICE, toy.THREE, toy.CHAIN, *toy.THICKETS], ids=str)
def test_the_same_seed_gives_the_same_game(game: Game) -> None:
    agents = [QUICK, OTHER, QUICK, OTHER][: game.players]
    first, second = (timeless(play(game, agents, seed=(3, 1))) for _ in range(2))
    assert first == second


def test_the_deal_follows_from_the_seed_and_not_from_the_agents() -> None:
    for seed in range(3):
        first, second = (watched(WHIST, agents, seed)[1][0][0] for agents in ([QUICK] * 3, [OTHER, QUICK, OTHER]))
        assert np.array_equal(first.data, second.data)
    deals = [watched(WHIST, [QUICK] * 3, seed)[1][0][0].data.tobytes() for seed in range(3)]
    assert len(set(deals)) == 3


def test_chance_follows_from_the_seed_and_not_from_the_agents() -> None:
    # The rolls of backgammon come one after the other, whatever is played between them.
    backgammon, rolls = games.load("backgammon"), []
    for agents in ([Agent(BASELINE, iterations=1)] * 2, [Agent(BASELINE, iterations=2)] * 2):
        log = play(backgammon, agents, seed=7)
        rolls.append([action for player, action in log.actions if player == CHANCE])
    common = min(map(len, rolls))
    assert common > 10
    assert rolls[0][:common] == rolls[1][:common]


def test_chance_keeps_to_its_probabilities() -> None:
    # Whoever takes 0 rolls 7, 8, 9 with 0.2, 0.5, 0.3; 1 always shows 7.
    rolled = {7: 0, 8: 0, 9: 0}
    for seed in range(200):
        first = [action for player, action in play(toy.DICE, [Agent(BASELINE, iterations=1)] * 2, seed=seed).actions][
            :2
        ]
        if first[0] == 0:
            rolled[first[1]] += 1
    total = sum(rolled.values())
    assert total > 60
    assert chisquare([rolled[face] for face in (7, 8, 9)], [0.2 * total, 0.5 * total, 0.3 * total]).pvalue > 1e-4


def positions(log: GameLog) -> list[tuple[State, int]]:
    """Each state of a game of Othello with the action played there."""
    state, decisions = games.load("othello").new_initial_state(), []
    for _, action in log.actions:
        decisions.append((state.clone(), action))
        state.apply_action(action)
    return decisions


# ------------------------------------------------------------------------------------------------------------ the log


def test_a_record_is_the_game_as_it_was_played() -> None:
    log = play(games.load("othello"), [QUICK, OTHER], seed=9)
    state = games.load("othello").new_initial_state()
    for player, action in log.actions:
        assert state.current_player() == player
        state.apply_action(action)
    assert state.is_terminal()
    assert log.returns == tuple(state.returns())
    assert (log.game, log.seed) == ("othello", 9)
    assert log.agents == ("BASELINE (12 iterations)", "RAVE >> MAST (20 iterations)")
    assert log.seconds > sum(decision.seconds for decision in log.decisions) > 0


def test_a_decision_without_a_choice_is_not_searched() -> None:
    log = play(toy.CHAIN, [QUICK], seed=1)
    assert [decision.legal > 1 for decision in log.decisions] == [True, False, True, False, False]
    for decision in log.decisions:
        if decision.legal == 1:
            assert (decision.iterations, decision.visits, decision.value, decision.depth, decision.seconds) == (
                0,
                0,
                0.0,
                0,
                0.0,
            )


# ------------------------------------------------------------------------------------------------------------ the watcher


@pytest.mark.parametrize("game", [toy.DICE, toy.CHAIN, WHIST], ids=str)
def test_a_watcher_is_told_of_every_action_before_it_is_done_and_of_the_end(game: Game) -> None:
    log, events = watched(game, [QUICK] * game.players, 6)
    assert len(events) == len(log.actions) + 1
    for (player, action), (state, shown, decision) in zip(log.actions, events, strict=False):
        assert (state.current_player(), shown) == (player, action)
        assert (decision is None) == (player == CHANCE)
        assert decision is None or (decision.player, decision.action) == (player, action)
    last, shown, decision = events[-1]
    assert last.current_player() == TERMINAL and shown is None and decision is None
    assert tuple(last.returns()) == log.returns
    assert [decision for _, _, decision in events if decision is not None] == list(log.decisions)


# -------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_wrong_number_of_agents_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"othello needs 2 agents, not {number}"):
        play(games.load("othello"), [QUICK] * number)


def test_what_is_no_game_and_what_is_no_list_of_agents_is_refused_in_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"play needs a Game, such as games.load\('othello'\), not 'othello'"):
        play("othello", [QUICK] * 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="play needs a list of agents, one for each seat, not "):
        play(games.load("othello"), QUICK)  # type: ignore[arg-type]


def test_a_class_in_place_of_an_agent_and_a_number_in_place_of_a_watcher_are_refused() -> None:
    kuhn, agent = games.load("kuhn-poker"), Agent(BASELINE, iterations=5)
    with pytest.raises(TypeError, match=r"an agent must be an Agent\(strategy, iterations=…\), not <class "):
        play(kuhn, [Agent, Agent])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="watch is 3; it must be a function of"):
        play(kuhn, [agent, agent], watch=3)  # type: ignore[arg-type]


def test_a_seated_player_has_one_seat_and_one_game() -> None:
    agent = Agent(BASELINE, iterations=5, move_decay=1)
    whist = games.load("knockout-whist(players=2)")
    player = agent.seated(whist)
    with pytest.raises(ValueError, match="is one player, seated twice, with one memory"):
        play(whist, [player, player])
    with pytest.raises(ValueError, match=r"seated at knockout-whist\(players=2\) has no records of othello"):
        play(games.load("othello"), [player, agent])
    with pytest.raises(TypeError, match="play needs a Game"):
        agent.seated("othello")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "Agent(RAVE >> MAST, iterations=5)",
        "Agent(BASELINE, seconds=0.5, cutoff=3)",
        "Agent(MAST, iterations=8, threads=2, recommendation=greatest_value)",
        "Agent(BASELINE, iterations=8, scheme=SO_ISMCTS, move_decay=0.5)",
    ],
)
def test_an_agent_is_shown_as_it_is_called(text: str) -> None:
    names = {"Agent": Agent, "BASELINE": BASELINE, "MAST": MAST, "RAVE": RAVE, "SO_ISMCTS": SO_ISMCTS}
    assert repr(eval(text, names | {"greatest_value": greatest_value})) == text


# -------------------- Levels of strength: eight a game, refused where they have not been measured.


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
    with pytest.raises(ValueError, match="nothing does not have the levels of a game, as icarus describe writes them"):
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
