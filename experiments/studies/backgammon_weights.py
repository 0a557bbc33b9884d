"""Makes `icarus/games/backgammon_weights.npy`, the network that tells who wins a position of Backgammon.

    python -m experiments.studies.backgammon_weights --turns 300000 --units 64 --epochs 40 --seed 1

made the one that is shipped, in two minutes of processor time. In its games either side plays by pubeval, by GNU Backgammon's network
(gnubg-nn) or at random, and the first two now and then at random too. Each turn gives up to five positions: before the roll; with the
whole roll to be played; two that the roll can lead to; and one within the turn, with some dice played. A position before a roll is
labelled with the chance to win by gnubg-nn at 0 plies, one with dice to be played with the best chance that they lead to. The network is
fitted to the labels by Adam (Kingma and Ba, 2015) on the cross-entropy; every tenth game is left out, and the errors on those are printed.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import typer

import icarus
from icarus.games.backgammon import BAR, CHECKERS_EACH, DICE_LEFT, FACES, INPUTS, POINTS, START

TABLE = Path(icarus.__file__).parent / "games" / "backgammon_weights.npy"
PLAYERS = ("pubeval", "gnubg", "random")
RANDOM_MOVES = (0.0, 0.1, 1 / 3)  # of the first two, one of these rates a game
LEFT_OUT = 10  # one game of so many
BATCH, RATE, MOMENTS = 512, 0.004, (0.9, 0.999)  # of Adam; the rate falls to 0 in a line

Board = list[list[int]]  # [the opponent's, the mover's] checkers on the points 1 … 24 and the bar
Dice = tuple[int, ...]  # to be played: the larger first, a double four times


def samples(turns: int, seed: int) -> Iterator[tuple[int, Board, Dice, float]]:
    """The number of its game, a position, the mover's dice and his chance to win, until so many turns have been played."""
    import gnubg_nn

    random, game = np.random.default_rng(seed), 0
    while turns > 0:
        board: Board = [[0] * BAR, [0] * BAR]
        for side in board:
            for point, checkers in START:
                side[point - 1] = checkers
        players, rate, game = (
            random.integers(len(PLAYERS), size=2),
            random.choice(RANDOM_MOVES),
            game + 1,
        )
        while all(map(any, board)) and turns > 0:
            turns -= 1
            dice = dice_of(*(int(die) for die in random.integers(1, FACES + 1, 2)))
            ends = [
                lists(gnubg_nn.board_from_position_key(key))
                for key in gnubg_nn.moves(board, *dice[:2])
            ] or [board]
            chances = [chance_after(end) for end in ends]
            yield game, board, (), 1 - chance_after(board[::-1])
            yield game, board, dice, max(chances)
            for place in random.integers(len(ends), size=2):
                if any(ends[place][1]):
                    yield game, ends[place][::-1], (), 1 - chances[place]
            within, left = within_turn(board, dice, random)
            if left:
                yield game, within, left, best_chance(within, left)
            kind = PLAYERS[players[turns % 2]]
            if kind == "random" or random.random() < rate:
                board = ends[random.integers(len(ends))]
            elif kind == "gnubg":
                board = ends[int(np.argmax(chances))]
            else:
                board = play_steps(board, gnubg_nn.pub_best_move(board, *dice[:2]))
            board = board[::-1]


def lists(sides: tuple[tuple[int, ...], ...]) -> Board:
    return [list(side) for side in sides]


def dice_of(first: int, second: int) -> Dice:
    """The dice that a roll gives to play."""
    return (first,) * 4 if first == second else (max(first, second), min(first, second))


def chance_after(board: Board) -> float:
    """The chance to win of who has moved."""
    import gnubg_nn

    return 1.0 - float(gnubg_nn.probabilities(board[::-1], 0)[0]) if any(board[1]) else 1.0


def best_chance(board: Board, dice: Dice) -> float:
    """The mover's chance to win after the best play of dice that are left, one die or several of one number."""
    if not dice or not (steps := steps_by(board, dice[0])):
        return chance_after(board)
    return max(best_chance(play_steps(board, list(step)), dice[1:]) for step in steps)


def within_turn(board: Board, dice: Dice, random: np.random.Generator) -> tuple[Board, Dice]:
    """A position after some dice of a roll, played at random, and the dice that are left; none where there is nothing more to play."""
    remaining = list(random.permutation(dice))
    for _ in range(random.integers(1, len(dice))):
        steps = steps_by(board, int(remaining[-1]))
        if not steps:
            return board, ()
        board = play_steps(board, list(steps[random.integers(len(steps))]))
        remaining.pop()
    can_go_on = any(board[1]) and steps_by(board, int(remaining[0]))
    return board, tuple(map(int, remaining)) if can_go_on else ()


def steps_by(board: Board, die: int) -> list[tuple[int, int]]:
    """From where to where a die can be played, counted from 0."""
    opponent, mover = board
    origins = [origin for origin in range(BAR) if mover[origin]]
    if mover[BAR - 1]:
        origins = [BAR - 1]
    highest = origins[-1] if origins else 0

    def is_legal(origin: int, target: int) -> bool:
        if target >= 0:
            return opponent[BAR - 2 - target] < 2
        return highest < FACES and (target == -1 or origin == highest)

    return [(origin, origin - die) for origin in origins if is_legal(origin, origin - die)]


def play_steps(board: Board, steps: list[int]) -> Board:
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


def inputs(board: Board, dice: Dice) -> np.ndarray:
    """uint8 [rows of the hidden layer]: of each place whether it has a checker, a second, a third, how many more; which dice are left."""
    opponent, mover = board
    counts = np.array([[CHECKERS_EACH - sum(side), *side] for side in (mover, opponent)])[..., None]
    checkers = np.concatenate(
        [counts > np.arange(INPUTS - 1), np.maximum(counts - INPUTS + 1, 0)], axis=2
    )
    dice_left = np.zeros(DICE_LEFT)
    is_mixed = len(set(dice)) == 2
    dice_left[dice[0] if dice else 0, dice[1] if is_mixed else FACES + len(dice)] = 1
    return np.concatenate([checkers.ravel(), dice_left.ravel()]).astype(np.uint8)


class Network:
    """One hidden layer; a unit gives a / (1 + |a|) of its sum a, the output is logistic.

    Attributes:
        hidden: float32 [inputs, units].
        output: float32 [units].
    """

    def __init__(self, inputs: int, units: int, random: np.random.Generator) -> None:
        self.hidden = random.normal(0, 0.2, (inputs, units)).astype(np.float32)
        self.output = random.normal(0, 0.3, units).astype(np.float32)

    def chances(self, x: np.ndarray) -> np.ndarray:
        """The mover's chances to win. x: [positions, inputs]"""
        sums = x.astype(np.float32) @ self.hidden
        return 1 / (1 + np.exp(-(sums / (1 + np.abs(sums))) @ self.output))

    def gradients(self, x: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the mean cross-entropy, by the weights of the hidden layer and those of the output."""
        x = x.astype(np.float32)
        sums = x @ self.hidden
        slopes = 1 / (1 + np.abs(sums))
        errors = (1 / (1 + np.exp(-(sums * slopes) @ self.output)) - chances) / len(x)
        return x.T @ (errors[:, None] * self.output * slopes**2), (sums * slopes).T @ errors

    def fit(
        self, x: np.ndarray, chances: np.ndarray, epochs: int, random: np.random.Generator
    ) -> None:
        """Adam on batches, in another order each time."""
        weights = (self.hidden, self.output)
        means, squares = ([np.zeros_like(each) for each in weights] for _ in range(2))
        batches = len(x) // BATCH
        for step in range(epochs * batches):
            if step % batches == 0:
                order = random.permutation(len(x))
            batch = order[step % batches * BATCH :][:BATCH]
            rate = RATE * (1 - step / (epochs * batches))
            for weight, mean, square, gradient in zip(
                weights, means, squares, self.gradients(x[batch], chances[batch]), strict=True
            ):
                mean += (1 - MOMENTS[0]) * (gradient - mean)
                square += (1 - MOMENTS[1]) * (gradient**2 - square)
                first, second = (1 - moment ** (step + 1) for moment in MOMENTS)
                weight -= rate * (mean / first) / (np.sqrt(square / second) + 1e-8)

    def table(self) -> np.ndarray:
        """float32 [rows, units] as the game reads it: of one checker, two and three all that they weigh; the output last."""
        checkers = self.hidden[: 2 * POINTS * INPUTS].reshape(2, POINTS, INPUTS, -1).copy()
        checkers[:, :, : INPUTS - 1] = np.cumsum(checkers[:, :, : INPUTS - 1], axis=2)
        dice = self.hidden[2 * POINTS * INPUTS :].reshape(*DICE_LEFT, -1).copy()
        dice[0, 1:FACES] = dice[1:FACES, FACES + 1]  # the smaller of two dice is the last one left
        units = len(self.output)
        return np.concatenate(
            [checkers.reshape(-1, units), dice.reshape(-1, units), self.output[None]]
        )


def in_contact(board: Board) -> bool:
    """Whether the sides still have to pass each other."""
    return (
        sum(max((point for point in range(BAR) if side[point]), default=-BAR) for side in board)
        >= BAR - 2
    )


def main(
    turns: int = 300_000, units: int = 64, epochs: int = 40, seed: int = 1, output: Path = TABLE
) -> None:
    """Make the network of Backgammon."""
    all_samples = list(samples(turns, seed))
    x = np.array([inputs(board, dice) for _, board, dice, _ in all_samples])
    chances = np.array([chance for *_, chance in all_samples], np.float32)
    is_left_out = np.array([game % LEFT_OUT == 0 for game, *_ in all_samples])
    random = np.random.default_rng(seed)
    network = Network(x.shape[1], units, random)
    network.fit(x[~is_left_out], chances[~is_left_out], epochs, random)
    squares = (network.chances(x) - chances) ** 2
    has_contact = np.array([in_contact(board) for _, board, _, _ in all_samples])
    has_dice = np.array([bool(dice) for _, _, dice, _ in all_samples])
    for name, among in (("contact", has_contact), ("race", ~has_contact)):
        for when, which in (("before a roll", ~has_dice), ("with dice to be played", has_dice)):
            mean = np.mean(squares[is_left_out & among & which])
            print(
                f"{name}, {when}: mean squared error {mean:.5f} of {np.sum(is_left_out & among & which)} positions left out"
            )
    np.save(output, network.table())


if __name__ == "__main__":
    typer.run(main)
