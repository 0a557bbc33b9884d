"""The parts that a key was made of are read back from it."""

from hypothesis import given
from hypothesis import strategies as st

from icarus import ACTION, HISTORY, MOVE, PLAYER
from icarus.algebra.information import Space
from icarus.engine.tables import OTHER, parts_of
from icarus.kernel import record
from icarus.kernel.history import NONE, history_record, mix

MOVES, PLAYERS = range(65), 4
STAGE = Space(("stage",))


@given(st.integers(-1, 64), st.integers(-1, 64), st.integers(-1, 64), st.integers(-1, 3))
def test_the_parts_of_every_record_of_moves_and_a_player_are_read_back(first, second, third, player):
    keys = {
        ACTION * PLAYER: (first, player),
        MOVE**2 * PLAYER: (first, second, player),
        MOVE**3 * PLAYER: (first, second, third, player),
    }
    for space, made_of in keys.items():
        assert parts_of(record(*made_of), space, PLAYERS, MOVES) == made_of


@given(st.integers(-(1 << 16) + 1, (1 << 16) - 1))
def test_a_first_part_may_be_any_small_integer(part):
    assert parts_of(record(part), MOVE, PLAYERS, MOVES) == (part,)
    assert parts_of(record(part, 1), ACTION * PLAYER, PLAYERS, MOVES) == (part, 1)


def test_a_part_of_another_kind_is_read_in_its_range():
    space = ACTION * PLAYER * STAGE
    for stage in (int(OTHER[0]), 0, int(OTHER[-1])):
        assert parts_of(record(9, 1, stage), space, PLAYERS, MOVES) == (9, 1, stage)
    assert parts_of(record(9, 1, int(OTHER[-1]) + 1), space, PLAYERS, MOVES) is None


def test_each_space_of_a_union_is_tried():
    union = MOVE * PLAYER | MOVE**2 * PLAYER | HISTORY
    assert parts_of(record(7, 3), union, PLAYERS, MOVES) == (7, 3)
    assert parts_of(record(7, 8, NONE), union, PLAYERS, MOVES) == (7, 8, NONE)
    assert parts_of(history_record(0, 0, (7, 8)), union, PLAYERS, MOVES) is None


def test_keys_of_histories_and_of_other_parts_are_not_read():
    assert parts_of(history_record(0, 1, (5,)), HISTORY, PLAYERS, MOVES) is None
    assert parts_of(mix(record(7, 3), 70), MOVE**2 * PLAYER, PLAYERS, MOVES) is None
    assert parts_of(12345, ACTION * PLAYER, PLAYERS, MOVES) is None


def test_a_record_of_too_many_parts_is_not_searched_for():
    assert parts_of(record(1, 2, 3, 4, 5, 6), ACTION**6, PLAYERS, MOVES) is None
