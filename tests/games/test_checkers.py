"""Checkers against hand-made positions, published perft counts and OpenSpiel."""

import random
import re
from typing import Any

import numpy as np
import pytest
from numba import njit

from icarus.games.checkers import DARK, SQUARES, STATE, begin_turn, checkers
from icarus.kernel import CONTINUES
from icarus.kernel.state import State
from tests.marks import slow_after

BLACK, WHITE = 0, 1
PERFT = (7, 49, 302, 1469, 7361, 36768, 179740, 845931)
UNLIMITED = 30_000

CHECKERS = checkers()
apply, legal, player = njit(CHECKERS.apply), njit(CHECKERS.legal), njit(CHECKERS.player)


def position(board: str, to_move: int, quiet_left: int = 40) -> State:
    """A position at the start of a turn, from pieces such as "b c3, B e5, w d4"."""
    state = CHECKERS.new_initial_state()
    facts = state.facts
    facts.pieces[:] = 0
    facts.kings = 0
    for written in board.split(", "):
        mark, square = written.split()
        bit = np.uint64(1) << np.uint64("abcdefgh".index(square[0]) + 8 * (int(square[1]) - 1))
        assert bit & DARK, f"{square} is a light square"
        facts.pieces["bw".index(mark.lower())] |= bit
        if mark.isupper():
            facts.kings |= bit
    facts.player, facts.quiet_left = to_move, quiet_left
    begin_turn(facts)
    return state


def moves(state: State) -> set[str]:
    return {state.action_to_string(action) for action in state.legal_actions()}


def play(state: State, *texts: str) -> State:
    for text in texts:
        state.apply_action(state.string_to_action(text))
    return state


def pieces(state: State) -> set[str]:
    """The pieces of a position, written as for `position`, read off the drawn board."""
    rows = [line[2:].split() for line in str(state).splitlines()[:8]]
    return placed(rows)


def placed(rows: list[Any]) -> set[str]:
    """The marks of a board given by rows from the top, each with its square."""
    marks = [
        (mark, f"{'abcdefgh'[column]}{8 - row}") for row, line in enumerate(rows) for column, mark in enumerate(line)
    ]
    return {f"{mark} {square}" for mark, square in marks if mark != "."}


# ------------------------------------------------------------------------------------------------------ steps and jumps


def test_black_begins_with_seven_steps_forwards() -> None:
    state = CHECKERS.new_initial_state()
    assert state.current_player() == BLACK
    assert moves(state) == {"a3-b4", "c3-b4", "c3-d4", "e3-d4", "e3-f4", "g3-f4", "g3-h4"}


def test_white_replies_downwards() -> None:
    state = play(CHECKERS.new_initial_state(), "c3-d4")
    assert state.current_player() == WHITE
    assert moves(state) == {"b6-a5", "b6-c5", "d6-c5", "d6-e5", "f6-e5", "f6-g5", "h6-g5"}


def test_a_man_neither_steps_nor_jumps_backwards() -> None:
    assert moves(position("b d4, w h8", BLACK)) == {"d4-c5", "d4-e5"}
    assert moves(position("b d4, w c3, w e3, w h8", BLACK)) == {"d4-c5", "d4-e5"}
    assert moves(position("w d4, b c5, b e5, b a1", WHITE)) == {"d4-c3", "d4-e3"}


def test_a_king_steps_and_jumps_both_ways() -> None:
    assert moves(position("B d4, w h8", BLACK)) == {"d4-c5", "d4-e5", "d4-c3", "d4-e3"}
    assert moves(position("B d4, w c3, w e3, w c5, w e5", BLACK)) == {"d4xb2", "d4xf2", "d4xb6", "d4xf6"}
    assert moves(position("W d4, b c3, b e3, b c5, b e5", WHITE)) == {"d4xb2", "d4xf2", "d4xb6", "d4xf6"}


def test_nothing_moves_across_the_side_of_the_board() -> None:
    assert moves(position("b h4, w a1", BLACK)) == {"h4-g5"}
    assert moves(position("b a3, w h8", BLACK)) == {"a3-b4"}
    assert moves(position("B h4, w a5, w a7, w h8", BLACK)) == {"h4-g5", "h4-g3"}
    assert moves(position("B a5, w h4, w h2, w g1, w h6", BLACK)) == {"a5-b6", "a5-b4"}
    assert moves(position("B g3, w h4, w h2, w a1", BLACK)) == {"g3-f4", "g3-f2"}


def test_a_piece_is_not_jumped_onto_an_occupied_square() -> None:
    assert moves(position("b c3, w d4, w e5", BLACK)) == {"c3-b4"}
    assert moves(position("b c3, b d4, w e5, w f6, w h8", BLACK)) == {"c3-b4", "d4-c5"}


def test_a_capture_is_forced() -> None:
    assert moves(position("b c3, b g1, w d4", BLACK)) == {"c3xe5"}


def test_the_choice_among_captures_is_free() -> None:
    # a3xc5 takes one man, g3xe5 two: nobody has to take more
    board = "b a3, b g3, w b4, w f4, w f6, w h8"
    assert moves(position(board, BLACK)) == {"a3xc5", "g3xe5"}
    assert play(position(board, BLACK), "a3xc5").current_player() == WHITE
    assert moves(play(position(board, BLACK), "g3xe5")) == {"e5xg7"}


def test_a_captured_piece_leaves_the_board() -> None:
    state = play(position("b c3, w d4, W h8", BLACK), "c3xe5")
    assert pieces(state) == {"b e5", "W h8"}
    state = play(position("w c3, B d2, b h2", WHITE), "c3xe1")
    assert pieces(state) == {"W e1", "b h2"}


def test_a_man_on_the_square_of_a_captured_king_is_a_man() -> None:
    state = play(position("b c3, b e3, W d4, w h8", BLACK), "c3xe5", "h8-g7", "e3-d4")
    assert pieces(state) == {"b e5", "b d4", "w g7"}


# ----------------------------------------------------------------------------------------------------------------- chains


def test_a_chain_continues_with_the_same_piece_only() -> None:
    state = play(position("b c1, b g3, w d2, w f4, w h4, w d6, w h8", BLACK), "g3xe5")
    assert state.current_player() == BLACK
    assert moves(state) == {"e5xc7"}


def test_a_chain_may_branch() -> None:
    state = play(position("b c1, w d2, w d4, w f4, w h8", BLACK), "c1xe3")
    assert moves(state) == {"e3xc5", "e3xg5"}


def test_the_turn_passes_when_the_chain_is_complete() -> None:
    state = play(position("b a1, w b2, w d4, w h8", BLACK), "a1xc3", "c3xe5")
    assert state.current_player() == WHITE
    assert pieces(state) == {"b e5", "w h8"}


def test_a_king_may_return_to_the_square_it_left() -> None:
    state = play(position("B c3, w d4, w d6, w b6, w b4, w h8", BLACK), "c3xe5", "e5xc7", "c7xa5")
    assert moves(state) == {"a5xc3"}
    assert pieces(play(state, "a5xc3")) == {"B c3", "w h8"}


def test_a_crowned_man_ends_its_turn_although_it_could_jump_on() -> None:
    state = play(position("b d6, w e7, w g7, w a5", BLACK), "d6xf8")
    assert state.current_player() == WHITE
    assert pieces(state) == {"B f8", "w g7", "w a5"}


def test_a_king_on_the_far_row_jumps_on() -> None:
    state = play(position("B d6, w e7, w g7, w a5", BLACK), "d6xf8")
    assert state.current_player() == BLACK
    assert moves(state) == {"f8xh6"}


def test_a_man_that_steps_to_the_far_row_is_crowned() -> None:
    assert pieces(play(position("b c7, w h2", BLACK), "c7-d8")) == {"B d8", "w h2"}
    assert pieces(play(position("w c3, w b2, b h6", WHITE), "b2-a1")) == {"w c3", "W a1", "b h6"}


# ----------------------------------------------------------------------------------------------------------- end of game


def test_a_player_without_pieces_has_lost() -> None:
    state = play(position("b c3, w d4", BLACK), "c3xe5")
    assert state.is_terminal()
    assert state.returns() == [1.0, 0.0]
    assert str(state).endswith("Black has won")


def test_a_blocked_player_has_lost() -> None:
    state = play(position("b a3, w b4, w c5, w d8", WHITE), "d8-c7")
    assert state.is_terminal()
    assert state.returns() == [0.0, 1.0]


def test_forty_moves_without_capture_are_a_draw() -> None:
    state = position("B a1, W h8, b a3, w h6", BLACK)
    for _ in range(10):
        assert not state.is_terminal()
        play(state, "a1-b2", "h8-g7", "b2-a1", "g7-h8")
    assert state.is_terminal()
    assert state.returns() == [0.5, 0.5]
    assert str(state).endswith("drawn")


def test_a_capture_starts_the_count_anew() -> None:
    state = position("b c3, w d4, w h8, b a1", BLACK, quiet_left=1)
    play(state, "c3xe5")
    assert not state.is_terminal()
    assert state.facts.quiet_left == 40


def test_the_last_quiet_move_draws_also_where_it_blocks_the_opponent() -> None:
    state = play(position("b a3, w b4, w c5, w d8", WHITE, quiet_left=1), "d8-c7")
    assert state.returns() == [0.5, 0.5]


def test_the_length_of_a_draw_is_a_parameter() -> None:
    state = checkers(draw_after=3).new_initial_state()
    play(state, "a3-b4", "b6-c5", "c3-d4")
    assert state.returns() == [0.5, 0.5]
    assert str(checkers(draw_after=3)) == "checkers(draw_after=3)"


@pytest.mark.parametrize("draw_after", [0, -1, 32768])
def test_an_impossible_length_of_a_draw_is_refused(draw_after: int) -> None:
    with pytest.raises(ValueError, match=f"draw_after of checkers is {draw_after}"):
        checkers(draw_after=draw_after)


@pytest.mark.parametrize("draw_after", [1.5, "40", True, None])
def test_a_length_that_is_no_integer_is_refused(draw_after: Any) -> None:
    with pytest.raises(ValueError, match="must be an integer"):
        checkers(draw_after=draw_after)


# --------------------------------------------------------------------------------------------------- episodes and actions


def label(state: State) -> int:
    return CHECKERS.kernels().episode(state.data.ctypes.data)


def test_an_episode_begins_where_a_capture_is_available() -> None:
    assert label(CHECKERS.new_initial_state()) == CONTINUES
    assert label(position("b c3, w d4", BLACK)) == BLACK
    assert label(position("b c3, w d4, b a1", WHITE)) == WHITE


def test_no_episode_begins_inside_a_chain() -> None:
    state = position("b a1, w b2, w d4, w h8", BLACK)
    assert label(state) == BLACK
    play(state, "a1xc3")
    assert moves(state) == {"c3xe5"}
    assert label(state) == CONTINUES


def test_no_episode_begins_after_the_end() -> None:
    board = "b c3, w e5, w h8"
    assert label(play(position(board, BLACK), "c3-d4")) == WHITE
    drawn = play(position(board, BLACK, quiet_left=1), "c3-d4")
    assert drawn.is_terminal() and label(drawn) == CONTINUES


def test_the_same_squares_are_the_same_integer() -> None:
    black_jumps = position("B c3, w d4, w h8", BLACK).string_to_action("c3xe5")
    white_jumps = position("W c3, b d4, b h2", WHITE).string_to_action("c3xe5")
    assert black_jumps == white_jumps == SQUARES * 18 + 36


# -------------------------------------------------------------------------------------------------------- published counts


@njit
def perft(positions: np.ndarray, actions: np.ndarray, depth: int) -> int:
    """Positions after `depth` whole moves from positions[0]; a chain of jumps is one move."""
    level, leaves = 0, 0
    depths, remaining = np.zeros(len(positions), np.int64), np.zeros(len(positions), np.int64)
    depths[0], remaining[0] = depth, legal(positions[0], actions[0])
    while level >= 0:
        if remaining[level] == 0:
            level -= 1
            continue
        remaining[level] -= 1
        mover = positions[level].player
        positions[level + 1] = positions[level]
        apply(positions[level + 1], actions[level, remaining[level]])
        depth_left = depths[level] - (1 if positions[level + 1].player != mover else 0)
        if depth_left == 0:
            leaves += 1
            continue
        level += 1
        depths[level] = depth_left
        remaining[level] = legal(positions[level], actions[level]) if player(positions[level]) >= 0 else 0
    return leaves


@pytest.mark.parametrize(("depth", "count"), list(enumerate(PERFT, start=1)))
def test_the_published_numbers_of_positions(depth: int, count: int) -> None:
    deepest_path = 12 * depth + 1
    positions = np.zeros(deepest_path, STATE)
    positions[0] = checkers(draw_after=UNLIMITED).new_initial_state().data[0]
    assert perft(positions, np.zeros((deepest_path, CHECKERS.max_legal), np.int64), depth) == count


# --------------------------------------------------------------------------------------------------------------- OpenSpiel


@pytest.mark.parametrize("count", slow_after(1, [50, 2000]))
def test_openspiel_agrees_move_by_move_on_random_games(count: int) -> None:
    referee = pyspiel_game("checkers")
    choose = random.Random(2014)
    outcomes = {1.0: 0, 0.5: 0, 0.0: 0}
    chains = crowned_jumps = 0
    for _ in range(count):
        ours, theirs = CHECKERS.new_initial_state(), referee.new_initial_state()
        while not theirs.is_terminal():
            named = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
            legal_actions = {
                re.sub("[-x]", "", ours.action_to_string(action)): action for action in ours.legal_actions()
            }
            assert ours.current_player() == theirs.current_player()
            assert legal_actions.keys() == named.keys()
            text = choose.choice(sorted(named))
            jumped = bool(ours.facts.capturing)
            kings = int(ours.facts.kings).bit_count()
            mover = ours.current_player()
            ours.apply_action(legal_actions[text])
            theirs.apply_action(named[text])
            chains += ours.current_player() == mover
            crowned_jumps += jumped and int(ours.facts.kings).bit_count() > kings
        assert ours.is_terminal()
        assert ours.returns() == [(value + 1) / 2 for value in theirs.returns()]
        assert sorted(pieces(ours)) == sorted(referee_pieces(theirs))
        outcomes[ours.returns()[0]] += 1
    assert min(outcomes.values()) > count / 40, "the games must have met every kind of end"
    assert chains > count / 2 and crowned_jumps > count / 4, "and every kind of jump"


def pyspiel_game(name: str) -> Any:
    return pytest.importorskip("pyspiel").load_game(name)


def referee_pieces(state: Any) -> set[str]:
    return placed([line[1:].translate(str.maketrans("o8+*", "bBwW")) for line in str(state).splitlines()[:8]])
