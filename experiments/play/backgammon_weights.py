"""Makes `icarus/games/backgammon_weights.npy`, the linear evaluation of contact positions in Backgammon.

    python -m experiments.play.backgammon_weights --positions 80000 --seed 1

made the table that is shipped. Positions come from games of pubeval's moves, every third one random; each is labelled with the
chance to win that GNU Backgammon's network gives who is to roll (gnubg-nn at 0 plies), and the weights are those of a logistic regression
on the inputs of Tesauro's pubeval: at each point whether there is one checker, two, three, and how many more; the bar; those borne off.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import icarus
from icarus.games.backgammon import START
from icarus.games.backgammon_evaluation import BAR, CHECKERS_EACH, INPUTS, POINTS

TABLE = Path(icarus.__file__).parent / "games" / "backgammon_weights.npy"
RANDOM_MOVES = 1 / 3
RIDGE = 1e-4  # of the regression, for each position
STEPS = 25  # of Newton's method

Board = list[list[int]]  # [the opponent's, the mover's] checkers on the points 1 … 24 and the bar


def positions(number: int, seed: int) -> Iterator[tuple[Board, float]]:
    """Contact positions before a roll, each with the chance to win of who rolls."""
    import gnubg_nn

    random, count = np.random.default_rng(seed), 0
    while count < number:
        board: Board = [[0] * BAR, [0] * BAR]
        for side in board:
            for point, checkers in START:
                side[point - 1] = checkers
        while all(map(any, board)) and in_contact(board) and count < number:
            yield board, gnubg_nn.probabilities(board, 0)[0]
            count += 1
            first, second = (int(die) for die in random.integers(1, 7, 2))
            if random.random() < RANDOM_MOVES:
                keys = gnubg_nn.moves(board, first, second)
                board = (
                    [list(side) for side in gnubg_nn.board_from_position_key(str(random.choice(keys)))]
                    if keys
                    else board
                )
            else:
                board = played(board, gnubg_nn.pub_best_move(board, first, second))
            board = [board[1], board[0]]


def in_contact(board: Board) -> bool:
    """Whether the sides still have to pass each other."""
    highest = [max(point for point in range(BAR) if side[point]) for side in board]
    return sum(highest) >= BAR - 2


def played(board: Board, steps: list[int]) -> Board:
    """The board after the mover's steps, from and to in turn, counted from 0."""
    opponent, mover = ([*side] for side in board)
    for origin, target in zip(steps[::2], steps[1::2], strict=True):
        mover[origin] -= 1
        if target >= 0:
            mover[target] += 1
            opposite = BAR - 2 - target
            if opponent[opposite] == 1:
                opponent[opposite], opponent[BAR - 1] = 0, opponent[BAR - 1] + 1
    return [opponent, mover]


def inputs(board: Board) -> np.ndarray:
    """float [2, POINTS, INPUTS] of the mover's side and the other's."""
    array = np.zeros((2, POINTS, INPUTS))
    for owner, side in enumerate(reversed(board)):
        for point, count in enumerate(side, 1):
            array[owner, point] = count == 1, count == 2, count == 3, max(count - 3, 0) if point < BAR else count
        array[owner, 0, INPUTS - 1] = CHECKERS_EACH - sum(side)
    return array


def fitted(samples: list[tuple[Board, float]]) -> tuple[np.ndarray, np.ndarray]:
    """The weights [2, POINTS, INPUTS], of which [0, 0, 0] is the constant, and the errors of the chances."""
    x = np.array([inputs(board).ravel() for board, _ in samples])
    x[:, 0] = 1
    chance = np.clip(np.array([label for _, label in samples]), 0.001, 0.999)
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        predicted = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (chance - predicted) - RIDGE * len(x) * weights
        hessian = (x * (predicted * (1 - predicted))[:, None]).T @ x + RIDGE * len(x) * np.eye(x.shape[1])
        weights += np.linalg.solve(hessian, gradient)
    return weights.reshape(2, POINTS, INPUTS), chance - 1 / (1 + np.exp(-x @ weights))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the evaluation of contact positions in Backgammon.")
    parser.add_argument("--positions", type=int, default=80_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=TABLE)
    arguments = parser.parse_args()
    weights, errors = fitted(list(positions(arguments.positions, arguments.seed)))
    print(f"root mean squared error {np.sqrt(np.mean(errors**2)):.3f}")
    np.save(arguments.output, weights.round(4))


if __name__ == "__main__":
    main()
