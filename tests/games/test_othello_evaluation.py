"""Othello's n-tuple network: what it reads, that symmetric positions are worth the same, and that it plays."""

from collections.abc import Iterator

import numpy as np
import pytest

from icarus import State, games
from icarus.compiler.plain_python import interpret
from icarus.games.othello import (
    FIRST,
    MIRRORS,
    MOST_MOVES,
    PHASES,
    PLACES,
    READINGS,
    SHARED,
    TUPLES,
    WEIGHTS,
    read_tuples,
)
from icarus.kernel.contract import facts_of

OTHELLO = games.load("othello")
SQUARES = np.arange(64).reshape(8, 8)  # by row and column
Squares = list[int]


def symmetries(squares: np.ndarray) -> Iterator[np.ndarray]:
    """The eight boards that a board looks like from its sides, and in a mirror."""
    for board in (squares, squares.T):
        for turns in range(4):
            yield np.rot90(board, turns)


def tuples_seen(squares: np.ndarray) -> list[Squares]:
    """The squares of each tuple, by the drawing in the docstring."""
    edge = [*squares[0], squares[1, 1], squares[1, 6]]
    rows = [list(squares[row]) for row in (1, 2, 3)]
    diagonals = [[squares[length - 1 - column, column] for column in range(length)] for length in range(4, 9)]
    return [edge, *rows, *diagonals, list(squares[:3, :3].ravel())]


def random_positions(number: int) -> Iterator[State]:
    luck = np.random.default_rng(4)
    for seed in range(number):
        state = OTHELLO.new_initial_state(seed)
        for _ in range(int(luck.integers(1, 60))):
            state.apply_action(int(luck.choice(state.legal_actions())))
            if state.is_terminal():
                break
        else:
            yield state


def contents(state: State) -> list[int]:
    """Of each square 0 where it is empty, 1 with a disc of who is to move, 2 with one of the other."""
    mine, theirs = (int(state.facts.discs[i]) for i in (state.facts.player, 1 - state.facts.player))
    return [(mine >> square & 1) + 2 * (theirs >> square & 1) for square in range(64)]


def rearranged(state: State, squares: np.ndarray) -> State:
    """The position with the disc of `squares[row, column]` on each square."""
    rearrangement = state.clone()
    for player in range(2):
        discs = int(state.facts.discs[player])
        facts_of(rearrangement.data).discs[player] = np.uint64(
            sum((discs >> int(old) & 1) << new for new, old in enumerate(squares.ravel()))
        )
    return rearrangement


def test_it_reads_the_contents_of_every_tuple_from_all_four_sides() -> None:
    for state in random_positions(20):
        discs, player, places = state.facts.discs, state.facts.player, np.empty(READINGS, np.int64)
        interpret(read_tuples)(discs[player], discs[1 - player], places)
        content, expected = contents(state), []
        for turns in range(4):
            for number, squares in enumerate(tuples_seen(np.rot90(SQUARES, turns))):
                place = sum(3**digit * content[square] for digit, square in enumerate(squares))
                expected.append(FIRST[number] + place)
        assert sorted(SHARED[places[:-1]]) == sorted(SHARED[expected])
        mobility, opponent_mobility = divmod(int(places[-1]) - int(FIRST[TUPLES]), MOST_MOVES + 1)
        assert mobility - opponent_mobility == state.features()["mobility"]


def test_a_mirror_image_shares_the_weight_of_a_content() -> None:
    for number, mirror in enumerate(MIRRORS):
        assert [mirror[square] for square in mirror] == list(range(len(mirror)))
        digits = np.random.default_rng(number).integers(0, 3, len(mirror))
        places = [
            FIRST[number] + sum(3**k * int(row[k]) for k in range(len(mirror))) for row in (digits, digits[[*mirror]])
        ]
        assert SHARED[places[0]] == SHARED[places[1]] and min(places) == SHARED[places[0]]
    assert WEIGHTS.shape == (PHASES, PLACES)


def test_the_eight_symmetries_of_a_position_are_worth_the_same() -> None:
    for state in random_positions(12):
        assert [rearranged(state, squares).heuristic() for squares in symmetries(SQUARES)] == [state.heuristic()] * 8


def test_exchanged_colours_exchange_the_chances() -> None:
    for state in random_positions(20):
        variant = state.clone()
        facts_of(variant.data).discs[:] = state.facts.discs[::-1]
        facts_of(variant.data).player = 1 - state.facts.player
        chances = state.heuristic()
        assert variant.heuristic() == chances[::-1] and sum(chances) == pytest.approx(1) and 0 < min(chances)


def test_a_finished_game_is_worth_its_rewards() -> None:
    state = OTHELLO.new_initial_state()
    facts_of(state.data).passes = 2
    assert state.heuristic() == [0.5, 0.5]


def test_corners_and_their_edges_are_good_and_an_x_square_beside_an_empty_corner_is_bad() -> None:
    def chance(board: str) -> float:
        state = OTHELLO.new_initial_state()
        squares = "".join(board.split())
        for mark, seat in (("X", 0), ("O", 1)):
            facts_of(state.data).discs[seat] = np.uint64(sum(1 << i for i, c in enumerate(squares) if c == mark))
        return state.heuristic()[0]

    middle = "..OXXO.. ..OXOX.. ..XOXO.. ..OXOX.. ..XOOX.. ........"
    even = chance(f"........ ........ {middle}")
    assert chance(f"XXX..... ........ {middle}") > even + 0.1
    assert chance(f"........ .X...... {middle}") < even - 0.05


def test_its_best_moves_win_almost_all_games_against_random_ones() -> None:
    teller, out, luck, total = OTHELLO.kernels().heuristic, np.zeros(2), np.random.default_rng(5), 0.0
    for seed in range(10):
        state, seat = OTHELLO.new_initial_state(seed), seed % 2
        while not state.is_terminal():
            actions = state.legal_actions()
            chances = []
            for action in actions:
                following = state.clone()
                following.apply_action(action)
                teller(following.data.ctypes.data, out.ctypes.data)
                chances.append(out[seat])
            chosen = int(np.argmax(chances)) if state.current_player() == seat else int(luck.integers(len(actions)))
            state.apply_action(actions[chosen])
        total += state.returns()[seat]
    assert total >= 9
