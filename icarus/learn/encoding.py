"""What a state becomes for learning: the facts of its data as fields, by their types and ranges, or by the numbers met in games."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from icarus.kernel import AnyGame, Game
from icarus.kernel.evaluation import BITS, FIELD, LENGTH, NUMBER, REAL, VALUES, numbers_in

MOST_VALUES = 64  # of a fact that has an input for each
MOST_INPUTS = 4096
ALL_BITS = (1 << 64) - 1


def names_of(game: AnyGame, states: Sequence[Any]) -> tuple[str, ...]:
    """The names of the facts of a `PythonGame`, as states of its first games have them: its features, or see `numbers_in`.

    Items of a list whose length varies have no facts of their own, since their places say nothing: they are counted.

    Raises:
        ValueError: no numbers are found.
    """
    if isinstance(game, Game):
        return ()
    if game.features is not None:
        return game.feature_names
    met: dict[str, set[float]] = {}
    for state in states:
        for name, number in numbers_in(state).items():
            met.setdefault(name, set()).add(number)
    varying = tuple(f"{name.removeprefix(LENGTH)}[" for name, lengths in met.items() if name.startswith(LENGTH) and len(lengths) > 1)
    fixed = tuple(f"{name.removeprefix(LENGTH)}#" for name, lengths in met.items() if name.startswith(LENGTH) and len(lengths) == 1)
    return tuple(name for name in met if not name.startswith((*varying, *fixed)))


def fields_of(game: AnyGame, facts: np.ndarray, names: Sequence[str], turned: bool = False) -> np.ndarray:
    """The fields of a game's states: [fields] FIELD.

    Args:
        facts: [states, bytes] of the first games; what never varies there is left out.
        names: of the facts of a `PythonGame`.
        turned: whether what each player has is read from the seat of the player to move on.

    Raises:
        ValueError: nothing varies, or too much does.
    """
    fields, inputs = [], 0
    for place, step, seat, width, limits, numbers in _facts_of(game, facts, names, turned):
        field = _field(width, limits, numbers)
        if field is not None:
            kind, low, size, mask = field
            fields.append((place, step, seat, width, kind, low, size, mask, 0, inputs, 32))
            inputs += 1 if kind == NUMBER else size
    if not fields:
        raise ValueError(f"no fact of {game} varies in its first games: there is nothing to learn from")
    if inputs > MOST_INPUTS:
        raise ValueError(
            f"the states of {game} make {inputs} inputs, of {MOST_INPUTS} at most; give it features that say what matters"
        )
    return np.array(fields, FIELD)


def _facts_of(game: AnyGame, facts: np.ndarray, names: Sequence[str], turned: bool) -> Iterator[tuple]:
    """Each fact: its place, step, seat and width (see FIELD), the limits that it is given, and the numbers that were met."""
    if names:
        for i, column in enumerate(facts.view(float).T):
            yield 8 * i, 0, 0, REAL, None, column
        return
    assert isinstance(game, Game)
    data = facts.view(game.state)[:, 0]
    for name in game.state.names or ():
        kind, (_, offset, *_) = game.state[name].base, game.state.fields[name]
        shape = game.state[name].shape
        width = REAL if kind == np.float64 else kind.itemsize * (1 if kind.kind == "u" else -1)
        if kind.kind not in "iu" and kind != np.float64:
            continue
        columns = data[name].reshape(len(data), -1)
        per_player = columns.shape[1] // shape[0] if shape else 0
        is_turned = turned and shape[:1] == (game.players,)
        for i, column in enumerate(columns.T):
            if is_turned:
                seat, rest = divmod(i, per_player)
                yield offset + rest * kind.itemsize, per_player * kind.itemsize, seat, width, game.ranges.get(name), columns[:, rest::per_player].ravel()
            else:
                yield offset + i * kind.itemsize, 0, 0, width, game.ranges.get(name), column


def _field(width: int, limits: tuple[int, int] | None, numbers: np.ndarray) -> tuple[int, int, int, int] | None:
    """The kind, the low, the size and the mask of a field; None for a fact that never varies."""
    low, high = numbers.min(), numbers.max()
    if low == high:
        return None
    if width == REAL and (numbers % 1).any():
        return NUMBER, *_scale(low, high)
    low, high = (int(low), int(high)) if limits is None else limits
    if high - low < MOST_VALUES:
        return VALUES, low, high - low + 1, 0
    is_mask = width == 8 or low == 0 and high & (high + 1) == 0
    if is_mask:
        varied = int(np.bitwise_or.reduce(numbers) & ~np.bitwise_and.reduce(numbers)) & ALL_BITS
        return BITS, 0, varied.bit_length(), varied
    return NUMBER, low, high - low, 0
