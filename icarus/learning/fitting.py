"""Weights from positions: a network of one hidden layer, fitted to targets by scikit-learn."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from icarus.kernel import Evaluation
from icarus.kernel.evaluation import ACTIONS, BITS, COUNT, LARGEST
from icarus.learning.selfplay import Positions

HELD_OUT = 20  # one branch of so many is held out
BATCH = 256  # positions
EPOCHS = 2
SELDOM = 20  # times that an input must be met to have a row of weights
SCALE = 0.5  # of the first weights


def with_random_weights(
    evaluation: Evaluation, positions: Positions, units: int, seed: int, is_apart: bool = True
) -> Evaluation:
    """An evaluation with small random weights, in a row for each input that is met often enough, and not in every state.

    Args:
        evaluation: without weights; each input has a row of its own for each player to move.
        positions: of random games by it.
        units: the most hidden units.
        is_apart: whether an input has a row for each player to move, or the same one for all.

    Raises:
        ValueError: no input has a row: what varied in the games of `empty_evaluation` does not vary in the positions.
    """
    network = evaluation.network
    counts = np.bincount(positions.inputs.indices, minlength=len(network.rows))
    counts = counts.reshape(evaluation.players + 1, -1)
    if not is_apart:
        counts = counts.sum(axis=0, keepdims=True)
    is_used = counts >= min(SELDOM, max(1, len(positions.targets) // 1000))
    for field in network.fields:
        inputs = slice(field["first"], field["first"] + field["size"])
        # Each state has one of these inputs: as many as there are states are met in all, and one met so often is always there.
        if field["kind"] == COUNT:
            is_used &= counts < counts[:, inputs].sum(axis=1, keepdims=True)
        # A fact has just one of its values: the most frequent needs no weights, since the bias stands for it.
        if field["kind"] not in (BITS, ACTIONS):
            most_frequent = inputs.start + counts[:, inputs].argmax(axis=1)
            is_used[np.arange(len(counts)), most_frequent] = False
    random = np.random.default_rng(seed)
    count = is_used.sum()
    if not count:
        raise ValueError(
            f"no fact of {evaluation.game} varies in the games of its first round: there is nothing to learn from; give more games"
        )
    row_of_input = np.full_like(counts, -1, np.int32)
    row_of_input[is_used] = np.arange(count)
    # rows for all are repeated for each player to move; where each player has his own they stay as they are
    rows = np.resize(row_of_input, len(network.rows))
    # units for which a file has room: of 4 bytes, with an eighth of it for all else; a multiple of 8 for the processor's vectors
    room = LARGEST * 7 // 8 // (4 * count)
    units = min(units, room // 8 * 8)
    scale = SCALE * np.sqrt(2 * len(positions.targets) / counts[is_used].sum())
    fields = network.fields.copy()
    fields["units"] = units
    hidden = random.normal(0, scale, (count, units)).astype(np.float32)
    output = random.normal(0, 0.3 / np.sqrt(units), (units, len(network.base))).astype(np.float32)
    bias = np.zeros(units, np.float32)
    new = network._replace(fields=fields, rows=rows, hidden=hidden, bias=bias, output=output)
    return attrs.evolve(evaluation, network=new)


def fitted(evaluation: Evaluation, positions: Positions, rate: float, seed: int) -> Evaluation:
    """The evaluation with weights that fit better; `about` has its mean squared error on branches held out, and the variance of rewards.

    Where it has an output for the first of two players alone, and rewards do not sum to 1 as they did before, the second has one now.

    Args:
        rate: of learning.
    """
    from sklearn.neural_network import MLPRegressor
    from threadpoolctl import threadpool_limits

    old = evaluation.network
    is_constant_sum = np.allclose(positions.rewards.sum(axis=1), 1)
    if len(old.base) < evaluation.players and not is_constant_sum:
        # values are the same as before: the logistic function of the negative score is what is missing to 1
        output, base = np.hstack([old.output, -old.output]), np.r_[old.base, -old.base]
        old = old._replace(output=output, base=base)
    is_held_out = np.cumsum(positions.branches) % HELD_OUT == 1
    inputs = positions.inputs[~is_held_out]
    targets = positions.targets[~is_held_out, : len(old.base)].astype(np.float32).squeeze()
    batch = min(BATCH, len(targets))
    network = MLPRegressor(
        hidden_layer_sizes=(len(old.bias),),
        alpha=0.0,
        batch_size=batch,
        learning_rate_init=rate,
        random_state=seed % (1 << 32),  # it takes no larger one
    )
    # the order in which several threads add would decide the last digits
    with threadpool_limits(1), _interruptible():
        # The first call only makes its arrays, which then take the weights so far.
        network.partial_fit(inputs[:batch], targets[:batch])
        arrays = [*network.coefs_, *network.intercepts_]
        weights = dict(zip(("hidden", "output", "bias", "base"), arrays, strict=True))
        for name, array in weights.items():
            array[:] = getattr(old, name)
        # scikit-learn's gradient for squared errors is, with a logistic output, just that of the cross-entropy
        network.out_activation_ = "logistic"
        for _ in range(EPOCHS):
            network.partial_fit(inputs, targets)  # in these arrays
    new = attrs.evolve(evaluation, network=old._replace(**weights))
    _, error, variance = judged(new, positions.inputs[is_held_out], positions.rewards[is_held_out])
    return attrs.evolve(new, about={"error": error, "variance": variance})


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a fit: scikit-learn only warns of it, and gives back the weights so far."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Training interrupted")
        try:
            yield
        except UserWarning:
            raise KeyboardInterrupt from None


def judged(
    evaluation: Evaluation, inputs: Any, rewards: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """The values of positions, their mean squared error by the rewards at the ends of their games, and the variance of these."""
    values = evaluation.of_sums(inputs @ evaluation.network.hidden)
    error = float(((values - rewards) ** 2).mean())
    variance = float(rewards.var(axis=0).mean())
    return values, error, variance
