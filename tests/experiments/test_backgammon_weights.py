"""The network of Backgammon as it is trained and as the game reads it, and the moves of its positions."""

import numpy as np
import pytest

from experiments.studies.backgammon_weights import Network, inputs, play_steps, steps_by
from icarus import State, games
from icarus.games.backgammon import BAR, CHECKERS, DICE, INPUTS, OUTPUT, POINTS, UNITS, WEIGHTS


def shipped() -> Network:
    """The network that the game's weights are of."""
    network = Network(len(WEIGHTS) - 1, UNITS, np.random.default_rng(0))
    checkers = CHECKERS.copy()
    checkers[:, :, 1 : INPUTS - 1] -= CHECKERS[:, :, : INPUTS - 2]
    network.hidden[:] = np.concatenate([checkers.reshape(-1, UNITS), DICE.reshape(-1, UNITS)])
    network.output[:] = OUTPUT
    return network


def board_of(state: State, mover: int) -> list[list[int]]:
    """The position as gnubg-nn takes it."""
    return [[int(count) for count in state.facts.points[owner][1 : BAR + 1]] for owner in (1 - mover, mover)]


def positions(number: int) -> list[tuple[State, int, tuple[int, ...]]]:
    """(state, whose turn it is, the dice that he has yet to play) of random games."""
    luck, states = np.random.default_rng(4), []
    for seed in range(number):
        state = games.load("backgammon").new_initial_state(seed)
        state.apply_action(int(luck.choice(state.legal_actions())))
        while not state.is_terminal():
            first, second = (int(die) for die in state.facts.dice)
            dice = (first, second) if first and second else (first or second,) * int(state.facts.left)
            states.append((state.clone(), int(state.facts.player), dice))
            state.apply_action(int(luck.choice(state.legal_actions())))
    return states


def test_the_game_reads_the_network_as_it_was_trained() -> None:
    network, states = shipped(), positions(3)
    x = np.array([inputs(board_of(state, mover), dice) for state, mover, dice in states])
    assert network.chances(x) == pytest.approx([state.heuristic()[mover] for state, mover, _ in states], abs=1e-5)
    assert network.table() == pytest.approx(WEIGHTS, abs=1e-5)


def test_of_a_place_there_are_a_checker_a_second_a_third_and_how_many_more() -> None:
    side = [0, 1, 2, 3, 5] + [0] * (BAR - 5)
    rows = inputs([[0] * BAR, side], (4, 4, 4))
    mover = rows[: POINTS * INPUTS].reshape(POINTS, INPUTS).tolist()
    assert mover[:6] == [
        [1, 1, 1, 1],
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 1, 1, 0],
        [1, 1, 1, 2],
    ]  # 4 are off
    assert rows[POINTS * INPUTS : POINTS * INPUTS + INPUTS].tolist() == [1, 1, 1, 12]  # all of the other's
    dice = rows[2 * POINTS * INPUTS :].reshape(7, 11)
    assert dice.sum() == 1 and dice[4, 9] == 1


def test_gradients_are_those_of_the_cross_entropy() -> None:
    random = np.random.default_rng(2)
    network, x, chances = Network(6, 3, random), random.integers(0, 3, (5, 6)), random.random(5)

    def loss() -> float:
        p = network.chances(x).astype(float)
        return float(-np.mean(chances * np.log(p) + (1 - chances) * np.log(1 - p)))

    for weights, gradient in zip((network.hidden, network.output), network.gradients(x, chances), strict=True):
        for place in np.ndindex(weights.shape):
            before, slope = weights[place], 0.0
            for sign in (1, -1):
                weights[place] = before + sign * 0.01
                slope += sign * loss() / 0.02
            weights[place] = before
            assert gradient[place] == pytest.approx(slope, abs=2e-4)


def test_a_fit_finds_what_can_be_said_exactly() -> None:
    random = np.random.default_rng(3)
    teacher, network = Network(8, 2, random), Network(8, 4, random)
    x = random.integers(0, 2, (4096, 8))
    network.fit(x, teacher.chances(x), 60, random)
    assert np.mean((network.chances(x) - teacher.chances(x)) ** 2) < 1e-4


def test_a_single_die_is_played_by_the_rules_of_the_game() -> None:
    single = [(state, mover, dice[0]) for state, mover, dice in positions(5) if len(dice) == 1 and dice[0]]
    assert len(single) > 100
    for state, mover, die in single:
        board, after = board_of(state, mover), set()
        for action in state.legal_actions():
            child = state.clone()
            child.apply_action(action)
            after.add(tuple(map(tuple, board_of(child, mover))))
        assert {tuple(map(tuple, play_steps(board, list(step)))) for step in steps_by(board, die)} == after
