"""Phantom m,n,k: hand-made positions, OpenSpiel's phantom_ttt and mnk in lock-step, and information sets found by playing."""

import random
from collections import Counter

import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare

from icarus.games.phantom import MARK, phantom
from icarus.kernel import CHANCE, UNSEEN, State
from tests.games.scenes import UNLIKELY, apply_texts, draws, legal_texts, met_again
from tests.marks import slow_after

BOARDS = [(2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 3, 3), (1, 5, 3), (8, 1, 2), (7, 8, 4), (8, 7, 5)]


def played(text, *board):
    """The state after tries written like "a1 b2", each of them legal."""
    return apply_texts(phantom(*board).new_initial_state(), *text.split())


def squares(state):
    """The actions, by (column, row)."""
    columns, rows, _ = state.game.parameters.values()
    return {
        (column, row): row * (columns + 1) + column
        for column in range(columns)
        for row in range(rows)
    }


# ------------------------------------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize(
    ("tries", "line"),
    [
        ("a1 a4 b1 b4 c1 c4 d1", "a row"),
        ("b1 a1 b2 a2 b3 a3 b4", "a column"),
        ("a1 a4 b2 b4 c3 c4 d4", "a diagonal"),
        ("a4 a1 b3 b1 c2 c1 d1", "the other diagonal"),
    ],
)
def test_who_first_has_four_in_a_row_wins(tries, line):
    state = played(tries)
    assert state.is_terminal(), line
    assert state.returns() == [1.0, 0.0], line
    assert str(state).endswith("X has won")


def test_a_line_does_not_run_around_the_board():
    assert not played("c1 a4 d1 b4 a2 c4 b2").is_terminal()
    assert not played("d1 a4 a3 b4 d2 c4 b3").is_terminal()


def test_a_full_board_without_a_line_is_a_draw():
    state = played("a1 b2 c1 b1 b3 a2 c2 c3 a3", 3, 3, 3)
    assert state.is_terminal()
    assert state.returns() == [0.5, 0.5]
    assert str(state).endswith("a draw")


def test_who_tries_a_taken_square_tries_again_and_finds_it_closed():
    state = played("a1 a1")
    assert state.current_player() == 1
    assert legal_texts(state) == legal_texts(played("a1")) - {"a1"}
    state.apply_action(state.string_to_action("b1"))
    assert state.current_player() == 0, "player 0 does not know of b1"
    assert "b1" in legal_texts(state), "player 0 does not know of b1"
    assert "a1" not in legal_texts(state)


@pytest.mark.parametrize(
    "board",
    [
        (0, 4, 2),
        (4, 9, 4),
        (8, 8, 5),
        (4, 4, 5),
        (4, 4, 1),
        (3, -3, 3),
        (4, 4, 4.0),
        (4, "4", 4),
        (True, 4, 4),
    ],
)
def test_boards_that_cannot_be_played_on_are_refused(board):
    with pytest.raises(
        ValueError,
        match="columns=|rows=|in_a_row=|(columns|rows|in_a_row) of phantom-mnk is .*; it must be an integer",
    ) as refusal:
        phantom(*board)
    assert any(repr(value) in str(refusal.value) for value in board)


def test_a_board_on_which_no_number_in_a_row_is_possible_is_refused_as_a_board():
    with pytest.raises(
        ValueError, match="columns=1, rows=1: each must be .* at least 2 and at most"
    ):
        phantom(1, 1, 2)


def has_line(marks, in_a_row):
    """Whether a set of (column, row) contains so many in a row, by looking along four directions from each."""
    return any(
        all((column + i * dx, row + i * dy) in marks for i in range(in_a_row))
        for column, row in marks
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
    )


@pytest.mark.parametrize("board", BOARDS)
def test_random_games_agree_with_the_rules_on_sets(board):
    columns, rows, in_a_row = board
    endings = Counter()
    for seed in range(40):
        choose, state = random.Random(seed), phantom(*board).new_initial_state()
        marks, closed, turn = (set(), set()), (set(), set()), 0
        name = {action: square for square, action in squares(state).items()}
        while not (
            has_line(marks[1 - turn], in_a_row) or len(marks[0] | marks[1]) == columns * rows
        ):
            assert state.current_player() == turn
            assert not state.is_terminal()
            assert {name[action] for action in state.legal_actions()} == set(
                name.values()
            ) - closed[turn]
            action = choose.choice(state.legal_actions())
            state.apply_action(action)
            closed[turn].add(name[action])
            if name[action] not in marks[1 - turn]:
                marks[turn].add(name[action])
                turn = 1 - turn
        won = has_line(marks[1 - turn], in_a_row)
        assert state.is_terminal()
        assert state.returns()[1 - turn] == (1.0 if won else 0.5)
        endings[state.returns()[0]] += 1
    assert len(endings) > 1 or board == (2, 2, 2)


@pytest.mark.parametrize("games", slow_after(1, [200, 5000]))
def test_random_games_agree_with_openspiel_on_rules_and_on_what_each_player_knows(games):
    """OpenSpiel's phantom_ttt knows failed tries too."""
    ours, theirs, views = phantom(3, 3, 3), pyspiel.load_game("phantom_ttt"), []
    for seed in range(games):
        choose = random.Random(seed)
        state = ours.new_initial_state()
        referee = theirs.new_initial_state()
        index = {action: 3 * row + column for (column, row), action in squares(state).items()}
        while not referee.is_terminal():
            mover = referee.current_player()
            assert state.current_player() == mover
            assert [index[action] for action in state.legal_actions()] == sorted(
                referee.legal_actions()
            )
            views.append((mover, state.moves(mover), referee.information_state_string(mover)))
            action = choose.choice(state.legal_actions())
            state.apply_action(action)
            referee.apply_action(index[action])
        assert state.is_terminal()
        assert state.returns() == [(value + 1) / 2 for value in referee.returns()]
    assert met_again(views) > games


# ------------------------------------------------------------------------------------------------- what each player sees


def test_of_a_failed_try_the_other_player_notices_nothing_and_of_a_mark_not_where():
    state = played("a1 a1 c2")
    a1, c2 = squares(state)[0, 0], squares(state)[2, 1]
    assert state.moves(0) == (a1, MARK)
    assert state.moves(1) == (MARK, a1, c2)
    assert state.moves(CHANCE) == (a1, a1, c2)
    moves = np.array([a1, a1])
    state = played("a1")
    state.game.kernels().observe(state.data.ctypes.data, a1, moves.ctypes.data, 2)
    assert moves.tolist() == [UNSEEN, a1]


# ------------------------------------------------------------------------------------------------------- determinization


def key(record):
    """All that a record says, as a tuple."""
    facts = record.view(np.recarray)[0]
    marks, open_ = facts.marks.tolist(), facts.open.tolist()
    return (
        *marks,
        *open_,
        tuple(facts.tries[: facts.failed].tolist()),
        int(facts.last),
        int(facts.player),
        int(facts.ended),
    )


def one_action_later(states, actions_of, player):
    """The different states that actions lead to and in which `player` is to move."""
    children = {}
    for state in states:
        for action in actions_of(state):
            child = State(state.game, state.data.copy())
            child.apply_action(action)
            if child.current_player() == player:
                children[key(child.data)] = child
    return list(children.values())


def with_failed_tries(states, player):
    """The states that any number of failed tries of the player to move leads to."""
    every = list(states)
    while states:
        states = one_action_later(states, State.legal_actions, player)
        every += states
    return every


def information_set(state, observer):
    """Every state that agrees with what `observer` has seen, found by playing whatever the other may have played."""
    truth = State(state.game, state.start.copy())
    agreeing, opponent = [truth.clone()], 1 - observer
    for who, action in state.history:
        truth.apply_action(action)
        if who == observer:
            agreeing = one_action_later(
                agreeing, lambda _, action=action: [action], truth.current_player()
            )
        elif truth.current_player() == observer:
            agreeing = one_action_later(
                with_failed_tries(agreeing, opponent), State.legal_actions, observer
            )
    return agreeing if state.current_player() == observer else with_failed_tries(agreeing, opponent)


def worlds(state, observer, count, seed):
    """How often each state is drawn."""
    records = draws(state, observer, count, seed)
    drawn: Counter[tuple] = Counter()
    for data, times in Counter(map(bytes, records)).items():
        drawn[key(np.frombuffer(data, records.dtype))] += times
    return drawn


COUNTED = [  # tries, board, observer, states that he cannot tell apart
    ("", (4, 4, 4), 0, 1),
    ("a1", (4, 4, 4), 0, 2),  # player 1 may have tried a1
    ("a1", (4, 4, 4), 1, 16),
    ("a1 b1", (4, 4, 4), 0, 15 * 2),  # where he is, and whether he has tried a1
    ("a1 b1 b1", (4, 4, 4), 0, 2),
    (
        "a1 b1 b1 c1",
        (4, 4, 4),
        0,
        (1 + 2 + 2) + 2,
    ),  # a1 not tried before, now none, one or both of a1 c1; tried, now c1 or not
    (
        "a1 a1 b1 c1",
        (4, 4, 4),
        1,
        14 * 2,
    ),  # the other mark, which came last, and whether he has tried b1
    (
        "a1 b1 c1 d1 d1",
        (4, 4, 4),
        0,
        13 * 2 * 4,
    ),  # the other mark, which of the two came last, and what he has tried of a1 c1
    (
        "a1 c3 c1 a3",
        (3, 3, 2),
        0,
        7 * 2 * 4,
    ),  # a2c2 a2c3 a3b1 a3c2 a3c3 b1b3 b1c3: the pairs that make no line of two
]


@pytest.mark.parametrize(("tries", "board", "observer", "states"), COUNTED)
def test_determinization_is_uniform_over_the_states_counted_by_hand(tries, board, observer, states):
    state = played(tries, *board)
    agreeing = [key(member.data) for member in information_set(state, observer)]
    assert len(agreeing) == states
    drawn = worlds(state, observer, 40 * states, states)
    assert set(drawn) <= set(agreeing)
    assert key(state.data) in agreeing
    assert states == 1 or chisquare([drawn[each] for each in agreeing]).pvalue > UNLIKELY
