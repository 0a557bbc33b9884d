"""The rules of outside engines in lock-step with ours, in random games."""

import random
from collections.abc import Iterator

import pytest

from icarus import State, games
from icarus.games.backgammon import survey


def decisions(name: str, number: int) -> Iterator[State]:
    """The decisions of random games."""
    luck = random.Random(1)
    for seed in range(number):
        state = games.load(name).new_initial_state(seed)
        while not state.is_terminal():
            if not state.is_chance_node():
                yield state
            state.apply_action(luck.choice(state.legal_actions()))


def test_rust_reversi_knows_the_same_moves() -> None:
    pytest.importorskip("rust_reversi", reason="rust-reversi is not installed")
    from icarus.ladder.servers.othello import PASS, board_of

    for state in decisions("othello", 10):
        assert (sorted(board_of(state).get_legal_moves_vec()) or [PASS]) == sorted(state.legal_actions())


def test_py_draughts_with_forced_captures_knows_the_same_moves() -> None:
    pytest.importorskip("draughts", reason="py-draughts is not installed")
    from icarus.ladder.servers.checkers import board_of, theirs

    for state in decisions("checkers", 10):
        if not state.facts.chained:
            found = {tuple(move.square_list[:2]) for move in board_of(state).legal_moves}
            assert found == {(theirs(action // 64), theirs(action % 64)) for action in state.legal_actions()}


def test_openspiel_s_hearts_knows_the_same_cards() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    from icarus.ladder.servers.hearts import PASS, ours, round_of

    game = pyspiel.load_game("hearts")
    for number, state in enumerate(decisions("hearts(threshold=30)", 1)):
        if number % 3 == 0:
            other = round_of(state, game)
            assert other.current_player() == state.current_player()
            base = PASS if state.legal_actions()[0] >= PASS else 0
            assert sorted(base + ours(card) for card in other.legal_actions()) == sorted(state.legal_actions())


def test_gnubg_s_rolls_are_played_by_legal_actions_doubles_too() -> None:
    pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")
    from icarus.ladder.servers.backgammon import serve

    engine, luck, doubles = serve("pubeval"), random.Random(1), 0
    for seed in range(2):
        state = games.load("backgammon").new_initial_state(seed)
        while not state.is_terminal():
            legal = state.legal_actions()
            forced = state.is_chance_node() or len(legal) == 1  # what nobody is asked
            doubles += not forced and state.facts.left == 4
            state.apply_action(luck.choice(legal) if forced else engine.choose(state))
    assert doubles


def test_rlcard_s_plays_are_ours_but_for_kickers_of_two_alike() -> None:
    pytest.importorskip("rlcard", reason="rlcard is not installed")
    from rlcard.games.doudizhu.judger import DoudizhuJudger

    from icarus.ladder.servers.dou_di_zhu import PASS, cards_of, complete_plays, ranked, written

    leads = differing = 0
    for state in decisions("dou-di-zhu", 6):
        if not state.facts.kickers_due and state.facts.play == PASS:
            hand = written(cards_of(state.facts.hands[state.facts.player]))
            theirs = {written(ranked(play)) for play in DoudizhuJudger.playable_cards_from_hand(hand)}
            leads += 1
            differing += theirs != set(complete_plays(state))
            assert set(complete_plays(state)) <= theirs
            assert all(
                any(count == 2 for count in map(play.count, play)) for play in theirs - set(complete_plays(state))
            )
    assert 0 < differing < leads


def test_a_whole_roll_is_played_where_a_part_of_it_leads_to_the_same_checkers() -> None:
    pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")
    from icarus.ladder.servers.backgammon import path_to, reached

    state = games.load("backgammon").new_initial_state()
    state.facts.points[:] = 0
    state.facts.points[0, [0, 1, 2, 3, 4, 5]] = 3, 2, 3, 3, 3, 1
    state.facts.points[1, [24, 12]] = 2, 13
    state.facts.player, state.facts.actor = 0, -1
    survey.py_func(state.facts)
    state.apply_action(state.string_to_action("roll 61"))
    path = path_to(state, 0, reached(state, [(5, 4), (4, 0)]))  # 5/off alone would leave the 1 unplayed
    assert path is not None and [state.game.action_text(state.facts, action) for action in path] == ["5/4", "4/off[6]"]
