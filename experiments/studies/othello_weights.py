"""Makes `icarus/games/othello_weights.npz`, the n-tuple network of Othello's heuristic, from games against itself.

    python -m experiments.studies.othello_weights --seed 1

made the weights that are shipped, in 223 s of a processor. The network begins with zeros. In each game the first moves are random, up to
16, and one in ten later ones; the others are the best by a search of one move, in the second stage of two. From `EXACT` empty squares on
every position is worth what it comes to with the best play. Then from the last position to the first, the chance to win is moved towards a
mixture of what the search saw and of the next position's own mark: Q(λ), which a random move cuts off (Watkins, 1989). No other program's
knowledge is in it. The same seed gives the same weights on the same kind of processor.
"""

import time
from pathlib import Path

import numba
import numpy as np
import typer

import icarus
from icarus.games import othello as board
from icarus.kernel import lowest_bit, popcount

TABLE = Path(icarus.__file__).parent / "games" / "othello_weights.npz"
STAGES = (
    (1, 400_000, 0.1, 0.01),
    (2, 350_000, 0.02, 0.0005),
)  # depth, games, rate of learning at first and last
LAMBDA = 0.7
RANDOM_MOVES, OPENING = (
    0.1,
    16,
)  # the share of random moves; up to so many of the first are random too
EXACT = 8  # empty squares
SEEN = 5  # how often, for a weight to be kept
LONGEST = 130  # positions of a game, passes among them
MIRRORS = (  # of each tuple, which of its squares each one's mirror image is
    (7, 6, 5, 4, 3, 2, 1, 0, 9, 8),
    *[
        tuple(reversed(range(length)))
        for length in (*[board.SIZE] * (board.ROWS - 1), *board.DIAGONALS)
    ],
    (0, 3, 6, 1, 4, 7, 2, 5, 8),
)
compiled = numba.njit(error_model="numpy", fastmath=True)


def _mirror_classes() -> np.ndarray:
    """int [PLACES]: of each place the lower of its own and that of the mirror image, which has the weight of both."""
    places, images = np.arange(board.PLACES), []
    for first, mirror in zip(board.FIRST, MIRRORS, strict=False):
        order = [
            len(mirror) - 1 - square for square in reversed(mirror)
        ]  # axes: the last square is the first digit
        images.append(
            first + places[: 3 ** len(mirror)].reshape([3] * len(mirror)).transpose(order).ravel()
        )
    return np.minimum(places, np.concatenate([*images, places[board.FIRST[-1] :]]))


SHARED = _mirror_classes()


@compiled
def after(mine: np.uint64, theirs: np.uint64, square: int) -> tuple[np.uint64, np.uint64]:
    """The discs of who is to move next, and of the other, after a move."""
    disc = np.uint64(1) << np.uint64(square)
    flipped = board.flips(mine, theirs, disc)
    return theirs & ~flipped, mine | flipped | disc


@compiled
def result(mine: np.uint64, theirs: np.uint64) -> float:
    lead = popcount(mine) - popcount(theirs)
    return 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0


@compiled
def chance(weights: np.ndarray, mine: np.uint64, theirs: np.uint64, places: np.ndarray) -> float:
    """What the network says; the places of the weights are left in `places`."""
    board.read_tuples(mine, theirs, places)
    score, phase = 0.0, board.phase_of(mine, theirs)
    for k in range(board.READINGS):
        places[k] = SHARED[places[k]]
        score += weights[phase, places[k]]
    return 1.0 / (1.0 + np.exp(-score))


@compiled
def search_value(
    weights: np.ndarray,
    mine: np.uint64,
    theirs: np.uint64,
    depth: int,
    low: float,
    high: float,
    places: np.ndarray,
) -> float:
    """The chance of who is to move by alpha-beta search; to the end of the game where the depth is below 0."""
    squares = board.moves(mine, theirs)
    if squares == 0:
        if board.moves(theirs, mine) == 0:
            return result(mine, theirs)
        return 1.0 - search_value(weights, theirs, mine, depth, 1.0 - high, 1.0 - low, places)
    if depth == 0:
        return chance(weights, mine, theirs, places)
    best = -1.0
    while squares:
        next_mine, next_theirs = after(mine, theirs, lowest_bit(squares))
        value = 1.0 - search_value(
            weights, next_mine, next_theirs, depth - 1, 1.0 - high, 1.0 - low, places
        )
        best, low = max(best, value), max(low, value)
        if low >= high or best == 1.0:
            break
        squares &= squares - np.uint64(1)
    return best


@compiled
def play(
    weights: np.ndarray,
    depth: int,
    places: np.ndarray,
    discs: np.ndarray,
    best: np.ndarray,
    is_best: np.ndarray,
) -> int:
    """Play a game.

    Args:
        discs: [LONGEST, 2] of who is to move and of the other; written, as the following are.
        best: the chance of who is to move by the best move; of a pass it is not known.
        is_best: whether the move that was played is as good.

    Returns:
        The number of positions before the end.
    """
    mine, theirs = np.uint64(board.START[0]), np.uint64(board.START[1])
    opening, number = np.random.randint(0, OPENING), 0
    while board.moves(mine, theirs) | board.moves(theirs, mine):
        squares, discs[number, 0], discs[number, 1] = board.moves(mine, theirs), mine, theirs
        best[number], is_best[number] = -1.0, True
        if squares == 0:
            mine, theirs = theirs, mine
        else:
            is_exact = 64 - popcount(mine | theirs) <= EXACT
            random_number, chosen = np.random.randint(0, popcount(squares)), 0
            is_random = number < opening or np.random.random() < RANDOM_MOVES
            for i in range(popcount(squares)):
                square = lowest_bit(squares)
                next_mine, next_theirs = after(mine, theirs, square)
                to_end = -1 if is_exact else depth - 1
                value = 1.0 - search_value(
                    weights,
                    next_mine,
                    next_theirs,
                    to_end,
                    0.0,
                    1.0 - max(best[number], 0.0),
                    places,
                )
                if i == random_number:
                    random_square = square
                if value > best[number]:
                    best[number], chosen = value, square
                squares &= squares - np.uint64(1)
            is_best[number] = not is_exact and (not is_random or random_square == chosen)
            mine, theirs = after(mine, theirs, random_square if is_random else chosen)
        number += 1
    discs[number, 0], discs[number, 1] = mine, theirs
    return number


@compiled
def train(
    weights: np.ndarray,
    counts: np.ndarray,
    depth: int,
    games: int,
    first_rate: float,
    last_rate: float,
    seed: int,
) -> float:
    """Change the weights by games of the network against itself; count how often each was; the mean squared error."""
    np.random.seed(seed)
    places, discs = np.zeros(board.READINGS, np.int64), np.zeros((LONGEST, 2), np.uint64)
    best, is_best = np.zeros(LONGEST), np.zeros(LONGEST, np.bool_)
    total, count = 0.0, 0
    for game in range(games):
        rate = first_rate * (last_rate / first_rate) ** (game / games)
        last = play(weights, depth, places, discs, best, is_best)
        mark = result(discs[last, 0], discs[last, 1])
        for i in range(last - 1, -1, -1):
            mark = 1.0 - mark
            if best[i] >= 0.0:
                mark = (1.0 - LAMBDA) * best[i] + LAMBDA * mark if is_best[i] else best[i]
            error = mark - chance(weights, discs[i, 0], discs[i, 1], places)
            phase = board.phase_of(discs[i, 0], discs[i, 1])
            for k in range(board.READINGS):
                weights[phase, places[k]] += np.float32(rate * error)
                counts[phase, places[k]] += 1
            total, count = total + error * error, count + 1
    return total / count


def main(seed: int = 1, output: Path = TABLE) -> None:
    """Make the n-tuple network of Othello's heuristic."""
    weights, counts = (
        np.zeros((board.PHASES, board.PLACES), np.float32),
        np.zeros((board.PHASES, board.PLACES), np.int64),
    )
    for stage, (depth, games, first_rate, last_rate) in enumerate(STAGES):
        error = train(weights, counts, depth, games, first_rate, last_rate, seed + stage)
        print(
            f"depth {depth}, {games} games: squared error {error:.4f}, {time.process_time():.0f} s",
            flush=True,
        )
        rounded = np.where(
            counts < SEEN, 0, np.clip(np.round(weights / board.UNIT), -127, 127)
        ).astype(np.int8)
        np.savez_compressed(output, weights=rounded[:, SHARED])


if __name__ == "__main__":
    typer.run(main)
