"""Othello against perft, OpenSpiel in lock-step, and positions set up by hand."""

import random

import numpy as np
import pyspiel
import pytest

from icarus import games
from icarus.games.othello import PASS
from icarus.kernel.contract import facts_of
from tests.marks import slow_after

OTHELLO = games.load("othello")
PERFT = (4, 12, 56, 244, 1396, 8200, 55092, 390216)


def position(board: str, player: int = 0) -> "games.State":
    """A state from eight rows of X, O and dots."""
    state = OTHELLO.new_initial_state()
    squares = "".join(board.split())
    for mark, seat in (("X", 0), ("O", 1)):
        facts_of(state.data).discs[seat] = np.uint64(
            sum(1 << i for i, c in enumerate(squares) if c == mark)
        )
    facts_of(state.data).player = player
    return state


def leaves(record: np.ndarray, depth: int) -> int:
    kernels = OTHELLO.kernels()
    if depth == 0 or kernels.player(record.ctypes.data) < 0:
        return 1
    actions = np.empty(OTHELLO.max_legal, np.int64)
    count = kernels.legal(record.ctypes.data, actions.ctypes.data)
    if depth == 1:
        return count
    total = 0
    for action in actions[:count].tolist():
        following = record.copy()
        kernels.apply(following.ctypes.data, action)
        total += leaves(following, depth - 1)
    return total


@pytest.mark.parametrize("depth", slow_after(7, range(1, 9)))
def test_perft_counts_are_the_published_ones(depth):
    assert leaves(OTHELLO.new_initial_state().data, depth) == PERFT[depth - 1]


def in_lock_step(seed: int) -> None:
    rng = random.Random(seed)
    ours = OTHELLO.new_initial_state()
    theirs = pyspiel.load_game("othello").new_initial_state()
    while not theirs.is_terminal():
        assert ours.current_player() == theirs.current_player()
        # both number squares by rows, 64 is the pass
        assert sorted(ours.legal_actions()) == sorted(theirs.legal_actions())
        action = rng.choice(ours.legal_actions())
        ours.apply_action(action)
        theirs.apply_action(action)
    while not ours.is_terminal():  # theirs ends before the two passes
        assert ours.legal_actions() == [PASS]
        ours.apply_action(PASS)
    assert ours.returns() == [(value + 1) / 2 for value in theirs.returns()]


@pytest.mark.parametrize("seeds", slow_after(1, [range(100), range(100, 2100)]), ids=str)
def test_random_games_agree_with_openspiel(seeds):
    for seed in seeds:
        in_lock_step(seed)


def test_a_disc_flips_lines_in_all_eight_directions_at_once():
    state = position(
        """........
                        .X.X.X..
                        ..OOO...
                        .XO.OX..
                        ..OOO...
                        .X.X.X..
                        ........
                        ........"""
    )
    state.apply_action(state.string_to_action("d4"))
    assert int(state.facts.discs[1]) == 0
    assert int(state.facts.discs[0]).bit_count() == 17


def test_a_player_without_a_move_passes_and_two_passes_end_the_game():
    state = position(
        """XXXXXXXX
                        XXXXXXXX
                        XXXXXXXX
                        XXXXXXXX
                        OOOOOOOO
                        OOOOOOOO
                        OOOOOOOO
                        OOOOOOOO""",
        player=1,
    )
    for _ in range(2):
        assert state.legal_actions() == [PASS]
        assert state.action_to_string(PASS) == "pass"
        state.apply_action(PASS)
    assert state.is_terminal()
    assert state.returns() == [0.5, 0.5]
