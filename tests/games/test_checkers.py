"""Checkers against hand-made positions, published perft counts and OpenSpiel."""

import random
import re
from typing import Any

import numpy as np
import pytest

from icarus.compiler import array_kernel
from icarus.games.checkers import DARK, STATE, begin_turn, checkers, reading
from icarus.kernel import CONTINUES, State, helper
from tests.games.scenes import act_out, play, scenes
from tests.marks import slow_after

BLACK, WHITE = 0, 1
PERFT = (7, 49, 302, 1469, 7361, 36768, 179740, 845931)
UNLIMITED = 30_000

CHECKERS = checkers()
apply, legal, player = map(helper, (CHECKERS.apply, CHECKERS.legal, CHECKERS.player))


def position(words: str) -> State:
    """The start of a turn, from words such as "Black: b c3, B e5, w d4" or, one quiet move before a draw, "Black 1: …"."""
    side, board = words.split(": ")
    data = CHECKERS.new_initial_state().data.copy()
    facts = data.view(np.recarray)[0]
    facts.pieces, facts.kings = 0, 0
    for written in board.split(", "):
        mark, square = written.split()
        bit = np.uint64(1) << np.uint64("abcdefgh".index(square[0]) + 8 * (int(square[1]) - 1))
        assert bit & DARK, f"{square} is a light square"
        facts.pieces["bw".index(mark.lower())] |= bit
        if mark.isupper():
            facts.kings |= bit
    facts.player = ("Black", "White").index(side.split()[0])
    facts.quiet_left = int(side.split()[1]) if " " in side else 40
    begin_turn(facts)
    return State(CHECKERS, data)


def holds(state: State, words: str) -> bool:
    """Whether a position is as the words of a scene say."""
    first, _, rest = words.partition(" ")
    if first == "moves":
        return {state.action_to_string(action) for action in state.legal_actions()} == set(
            rest.split()
        )
    if first == "pieces":
        return pieces(state) == set(rest.split(", "))
    if first == "drawn":
        return (
            state.is_terminal() and state.returns() == [0.5, 0.5] and str(state).endswith("drawn")
        )
    if rest == "has won":
        return state.returns() == [first == "Black", first == "White"] and str(state).endswith(
            words
        )
    label = CHECKERS.kernels().episode(state.data.ctypes.data)
    # an episode begins where a capture is available
    if words in ("Black captures", "White captures", "no episode"):
        return label == {"Black": BLACK, "White": WHITE, "no": CONTINUES}[first]
    return rest == "to move" and state.current_player() == ("Black", "White").index(first)


def pieces(state: State) -> set[str]:
    """The pieces of a position, written as for `position`, read off the drawn board."""
    rows = [line[2:].split() for line in str(state).splitlines()[:8]]
    return placed(rows)


def placed(rows: list[Any]) -> set[str]:
    """The marks of a board given by rows from the top, each with its square."""
    marks = [
        (mark, f"{'abcdefgh'[column]}{8 - row}")
        for row, line in enumerate(rows)
        for column, mark in enumerate(line)
    ]
    return {f"{mark} {square}" for mark, square in marks if mark != "."}


SCENES = """
a man neither steps nor jumps backwards
    Black: b d4, w h8 = moves d4-c5 d4-e5
    Black: b d4, w c3, w e3, w h8 = moves d4-c5 d4-e5
    White: w d4, b c5, b e5, b a1 = moves d4-c3 d4-e3
a king steps and jumps both ways
    Black: B d4, w h8 = moves d4-c5 d4-e5 d4-c3 d4-e3
    Black: B d4, w c3, w e3, w c5, w e5 = moves d4xb2 d4xf2 d4xb6 d4xf6
    White: W d4, b c3, b e3, b c5, b e5 = moves d4xb2 d4xf2 d4xb6 d4xf6
nothing moves across the side of the board
    Black: b h4, w a1 = moves h4-g5
    Black: b a3, w h8 = moves a3-b4
    Black: B h4, w a5, w a7, w h8 = moves h4-g5 h4-g3
    Black: B a5, w h4, w h2, w g1, w h6 = moves a5-b6 a5-b4
    Black: B g3, w h4, w h2, w a1 = moves g3-f4 g3-f2
a piece is not jumped onto an occupied square
    Black: b c3, w d4, w e5 = moves c3-b4
    Black: b c3, b d4, w e5, w f6, w h8 = moves c3-b4 d4-c5
a capture is forced
    Black: b c3, b g1, w d4 = moves c3xe5
the choice among captures is free: a3xc5 takes one man, g3xe5 two
    Black: b a3, b g3, w b4, w f4, w f6, w h8 = moves a3xc5 g3xe5
    a3xc5 = White to move
    Black: b a3, b g3, w b4, w f4, w f6, w h8
    g3xe5 = moves e5xg7
a captured piece leaves the board
    Black: b c3, w d4, W h8
    c3xe5 = pieces b e5, W h8
    White: w c3, B d2, b h2
    c3xe1 = pieces W e1, b h2
a man on the square of a captured king is a man
    Black: b c3, b e3, W d4, w h8
    c3xe5; h8-g7; e3-d4 = pieces b e5, b d4, w g7
a chain continues with the same piece only
    Black: b c1, b g3, w d2, w f4, w h4, w d6, w h8
    g3xe5 = Black to move; moves e5xc7
a chain may branch
    Black: b c1, w d2, w d4, w f4, w h8
    c1xe3 = moves e3xc5 e3xg5
the turn passes when the chain is complete, and no episode begins inside it
    Black: b a1, w b2, w d4, w h8 = Black captures
    a1xc3 = moves c3xe5; no episode
    c3xe5 = White to move; pieces b e5, w h8
a king may return to the square it left
    Black: B c3, w d4, w d6, w b6, w b4, w h8
    c3xe5; e5xc7; c7xa5 = moves a5xc3
    a5xc3 = pieces B c3, w h8
a crowned man ends its turn although it could jump on
    Black: b d6, w e7, w g7, w a5
    d6xf8 = White to move; pieces B f8, w g7, w a5
a king on the far row jumps on
    Black: B d6, w e7, w g7, w a5
    d6xf8 = Black to move; moves f8xh6
a man that steps to the far row is crowned
    Black: b c7, w h2
    c7-d8 = pieces B d8, w h2
    White: w c3, w b2, b h6
    b2-a1 = pieces w c3, W a1, b h6
a player without pieces has lost
    Black: b c3, w d4
    c3xe5 = Black has won
a blocked player has lost, but the last quiet move draws also where it blocks the opponent
    White: b a3, w b4, w c5, w d8
    d8-c7 = White has won
    White 1: b a3, w b4, w c5, w d8
    d8-c7 = drawn
an episode begins where a capture is available, and none after the end
    Black: b c3, w d4 = Black captures
    White: b c3, w d4, b a1 = White captures
    Black: b c3, w e5, w h8
    c3-d4 = White captures
    Black 1: b c3, w e5, w h8
    c3-d4 = drawn; no episode
"""


@pytest.mark.parametrize(("title", "scene"), scenes(SCENES))
def test_a_scene_goes_as_the_rules_say(title, scene):
    act_out(scene, position, holds)


def test_the_first_moves_lead_upwards_and_the_replies_downwards():
    state = CHECKERS.new_initial_state()
    assert holds(state, "Black to move")
    assert holds(state, "moves a3-b4 c3-b4 c3-d4 e3-d4 e3-f4 g3-f4 g3-h4")
    assert holds(state, "no episode")
    play(state, "c3-d4")
    assert holds(state, "White to move")
    assert holds(state, "moves b6-a5 b6-c5 d6-c5 d6-e5 f6-e5 f6-g5 h6-g5")


def test_forty_moves_without_capture_are_a_draw():
    state = position("Black: B a1, W h8, b a3, w h6")
    for _ in range(10):
        assert not state.is_terminal()
        play(state, "a1-b2", "h8-g7", "b2-a1", "g7-h8")
    assert state.is_terminal()
    assert state.returns() == [0.5, 0.5]
    assert str(state).endswith("drawn")


def test_a_capture_starts_the_count_anew():
    state = position("Black 1: b c3, w d4, w h8, b a1")
    assert "Black to move, captures forced, drawn after 1 more without a capture" in str(state)
    play(state, "c3xe5")
    assert not state.is_terminal()
    assert state.facts.quiet_left == 40
    assert "drawn" not in str(state)


def test_the_length_of_a_draw_is_a_parameter():
    state = checkers(draw_after=3).new_initial_state()
    play(state, "a3-b4", "b6-c5", "c3-d4")
    assert state.returns() == [0.5, 0.5]
    assert str(checkers(draw_after=3)) == "checkers(draw_after=3)"


@pytest.mark.parametrize("draw_after", [0, -1, 32768, 1.5, "40", True])
def test_an_impossible_length_of_a_draw_is_refused(draw_after):
    with pytest.raises(ValueError, match="draw_after"):
        checkers(draw_after=draw_after)


# --------------------------------------------------------------------------------------------------- episodes and actions


# -------------------------------------------------------------------------------------------------------- published counts


@array_kernel("perft of Checkers")
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
        remaining[level] = (
            legal(positions[level], actions[level]) if player(positions[level]) >= 0 else 0
        )
    return leaves


@pytest.mark.parametrize(("depth", "count"), list(enumerate(PERFT, start=1)))
def test_the_published_numbers_of_positions(depth, count):
    deepest_path = 12 * depth + 1
    positions = np.zeros(deepest_path, STATE)
    positions[0] = checkers(draw_after=UNLIMITED).new_initial_state().data[0]
    assert perft(positions, np.zeros((deepest_path, CHECKERS.max_legal), np.int64), depth) == count


# --------------------------------------------------------------------------------------------------------------- OpenSpiel


@pytest.mark.parametrize("count", slow_after(1, [50, 2000]))
def test_openspiel_agrees_move_by_move_on_random_games(count):
    referee = pyspiel_game("checkers")
    choose = random.Random(2014)
    outcomes = {1.0: 0, 0.5: 0, 0.0: 0}
    chains = crowned_jumps = 0
    for _ in range(count):
        ours, theirs = CHECKERS.new_initial_state(), referee.new_initial_state()
        while not theirs.is_terminal():
            named = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
            legal_actions = {
                re.sub("[-x]", "", ours.action_to_string(action)): action
                for action in ours.legal_actions()
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
    assert chains > count / 2, "and every kind of jump"
    assert crowned_jumps > count / 4, "and every kind of jump"


@pytest.mark.parametrize("sign", ["-", "x", "X", ":", " x "])
def test_a_capture_is_read_by_the_numbers_of_its_squares(sign):
    assert reading(f"22{sign}15") == f"f6{sign}d4"
    assert reading("c3xe5") == "c3xe5"


def pyspiel_game(name: str):
    return pytest.importorskip("pyspiel").load_game(name)


def referee_pieces(state):
    return placed(
        [line[1:].translate(str.maketrans("o8+*", "bBwW")) for line in str(state).splitlines()[:8]]
    )
