"""What can be said of an evaluation of a game: its error in games never met, its range, sum and rate."""

from collections.abc import Iterator
from timeit import timeit
from typing import Any

import numpy as np

from icarus.kernel import AnyGame, Evaluation, Game
from icarus.learning.fitting import judged
from icarus.learning.selfplay import games_played

GAMES, TIMED = 200, 2000


def lines_on(game: AnyGame, evaluation: Evaluation, seed: int) -> Iterator[str]:
    """Sentences on an evaluation, by games against itself that nothing was learned from.

    Raises:
        ValueError: it is of another game.
    """
    evaluation.check(game)
    positions = games_played(game, evaluation, GAMES, (seed, *evaluation.digest.encode()))
    values, error, variance = judged(evaluation, positions.inputs, positions.rewards)
    yield f"evaluation: mean squared error {error:.4f} in {GAMES} games against itself, where knowing nothing has {variance:.4f}"
    sums = values.sum(axis=1)
    yield f"its values are from {values.min():.3f} to {values.max():.3f}, and sum to {sums.min():.3f} to {sums.max():.3f}"
    if isinstance(game, Game):
        ask: Any = game.with_evaluation(evaluation).kernels().heuristic
        data, out = game.new_initial_state(seed).data, np.zeros(game.players)
        addresses = data.ctypes.data, out.ctypes.data
        ask(*addresses)  # compiles it
        seconds = timeit(lambda: ask(*addresses), number=TIMED)
        yield f"one takes {seconds / TIMED * 1e6:.1f} µs, called from Python"
