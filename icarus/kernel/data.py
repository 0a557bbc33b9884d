"""State data as a whole: copies to the last byte, and what is outside its range; views of arrays that nobody can write to."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from icarus.kernel.contract import Facts

# Where the game is a `PythonGame`, both are what its `initial` and `prepare` made, of any type.
StateData: TypeAlias = Any  # an array [1] of `Game.state`
Beliefs: TypeAlias = Any  # an array [1] of `Game.beliefs`


def copy_data(data: np.ndarray) -> np.ndarray:
    """A copy of a state data to the last byte; numpy's own leaves the bytes between the fields undefined."""
    return data.view(np.uint8).copy().view(data.dtype)


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of an array that nobody can write to."""
    view = array.view()
    view.flags.writeable = False
    return view


def facts_of(data: np.ndarray) -> Facts:
    """A state data with its fields as attributes."""
    return data.view(np.recarray)[0]


def in_words(data: np.ndarray) -> np.ndarray:
    """A copy of a state data as compiled code copies it, in whole words of 8 bytes."""
    words = np.zeros(-(-data.nbytes // 8), np.int64)
    words.view(np.uint8)[: data.nbytes] = data.view(np.uint8)
    return words


def out_of_range(ranges: Mapping[str, tuple[int, int]], data: np.ndarray) -> str | None:
    """What field of a state data is outside its range, and how; None if none is."""
    for name, (least, most) in ranges.items():
        values = data[name][0]
        if not (least <= values.min() and values.max() <= most):
            index = next(index for index in np.ndindex(values.shape) if not least <= values[index] <= most)
            which = f"{name}[{', '.join(map(str, index))}]" if index else name
            return f"{which} is {values[index]}; it must be from {least} to {most}"
    return None
