"""Makes `icarus/games/hearts_rounds.npy`, the scores of 10,000 rounds of Hearts between baseline agents (section 7.2).

    python -m experiments.studies.hearts_rounds --iterations 500 --seed 1 --workers 2

made the table that is shipped. Whole games are played, and each round's four scores are a row, by seats. The searches draw their own
rounds to come from the table that is there already: that was one of agents of 30 iterations, who had drawn from one of random play,
which --iterations 0 makes.
"""

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import typer

import icarus
from icarus import State, search
from icarus.arena.workers import process_pool
from icarus.games.hearts import DEALING, HEARTS
from icarus.specs import BASELINE

TABLE = Path(icarus.__file__).parent / "games" / "hearts_rounds.npy"
ROUNDS = 10_000
ITERATIONS = 500  # of a search for each decision


def round_scores(number: int, iterations: int, seed: int) -> list[np.ndarray]:
    """The scores [4] of each round of game `number`, played by four baseline agents."""
    random = np.random.default_rng((seed, number))
    state = HEARTS.new_initial_state(seed=int(random.integers(1 << 63)))
    scores, before = [], np.zeros(HEARTS.players, np.int16)
    while not state.is_terminal():
        state.apply_action(_decision(state, iterations, random))
        if state.facts.phase == DEALING or state.is_terminal():
            scores.append(state.facts.scores - before)
            before = state.facts.scores.copy()
    return scores


def _decision(state: State, iterations: int, random: np.random.Generator) -> int:
    """What a baseline agent plays."""
    legal = state.legal_actions()
    if len(legal) == 1:
        return legal[0]
    if iterations == 0:
        return int(random.choice(legal))
    return search(state, BASELINE, iterations=iterations, seed=int(random.integers(1 << 63))).action


def rows(rounds: int, iterations: int, seed: int, workers: int) -> np.ndarray:
    """The first so many rounds of the games 0, 1, …: int8 [rounds, seat]; the same for any number of workers."""
    game = functools.partial(round_scores, iterations=iterations, seed=seed)
    with process_pool(workers) as pool:
        batches = (
            pool.map(game, range(first, first + 4 * workers))
            for first in itertools.count(0, 4 * workers)
        )
        result: Iterator[np.ndarray] = itertools.chain.from_iterable(
            itertools.chain.from_iterable(batches)
        )
        return np.array(list(itertools.islice(result, rounds)), np.int8)


def main(
    rounds: int = ROUNDS,
    iterations: int = ITERATIONS,
    seed: int = 1,
    workers: int = 1,
    output: Path = TABLE,
) -> None:
    """Make the table of round scores of Hearts."""
    np.save(output, rows(rounds, iterations, seed, workers))


if __name__ == "__main__":
    typer.run(main)
