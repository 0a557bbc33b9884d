"""What the key of a record was made of: `mix` is undone, part by part from the last, with every value that a part may have."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from icarus.algebra.information import ACTION, ACTIONS, HISTORY, MOVE, PLAYER, POSITION, Space
from icarus.kernel.constants import UNSEEN
from icarus.kernel.game import AnyGame
from icarus.kernel.history import NONE, first_parts, keys_before
from icarus.kernel.seats import seat_name

MOST_KEYS = 1 << 22  # that are tried for one record
SMALL = 1 << 16  # a first part may be any integer below; of the keys that are tried one in 10⁷ records is so by chance
OTHER = np.arange(-64, 1024)  # of a part that is neither an action, a move nor a player


def parts_of(key: int, space: Space, players: int, moves: Sequence[int]) -> tuple[int, ...] | None:
    """The integers that `record` made a key of.

    Args:
        space: where the record is from.
        players: how many there are.
        moves: values of a part that is an action or a move; a first part is computed, so that any small one is found.

    Returns:
        None where the record is one of histories, has other parts than these, or would take too long to read.
    """
    for each in space.alternatives:
        values = values_of(each, players, moves)
        if values is not None and (parts := _parts(key, values, moves)) is not None:
            return parts
    return None


def part_text(part: int, factor: str, game: AnyGame, move_text: Callable[[int], str]) -> str:
    """A part of a record in words, by the factor of the space that it is drawn from."""
    if factor in ACTION.factors + MOVE.factors:
        return move_text(part)
    return seat_name(game, part) if factor in PLAYER.factors else str(part)


def values_of(space: Space, players: int, moves: Sequence[int]) -> list[np.ndarray] | None:
    """The values of each part but the first; None where there are too many, or parts are no integers."""
    if {*space.factors} & {*HISTORY.factors, *POSITION.factors, *ACTIONS.factors}:
        return None
    by_factor: Mapping[str, np.ndarray] = {
        **dict.fromkeys(PLAYER.factors, np.arange(-1, players)),
        **dict.fromkeys(ACTION.factors + MOVE.factors, np.array(sorted({*moves, NONE, UNSEEN}))),
    }
    values = [by_factor.get(factor, OTHER) for factor in space.factors[1:]]
    return values if np.prod([len(each) for each in values]) <= MOST_KEYS else None


def _parts(key: int, values: Sequence[np.ndarray], moves: Sequence[int]) -> tuple[int, ...] | None:
    """The parts by these values of all but the first; None where none of them gives a first part that is small or a move."""
    keys = np.array([key & ((1 << 64) - 1)], np.uint64)
    for each in reversed(values):
        keys = keys_before(keys[:, None], each[None, :]).ravel()
    first = first_parts(keys).astype(np.int64)
    fits = np.flatnonzero(((first > -SMALL) & (first < SMALL)) | np.isin(first, moves))
    if len(fits) != 1:
        return None
    places = np.unravel_index(fits[0], [len(each) for each in reversed(values)]) if values else ()
    rest = [int(each[place]) for each, place in zip(values, reversed(places), strict=True)]
    return int(first[fits[0]]), *rest
