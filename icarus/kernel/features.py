"""What a game tells of a state beyond its rules: features, features of actions, and a heuristic.

They are compiled when a slot, or an early cut-off, first reads them, and refused where they make no sense.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from icarus.compiler.digest import kernel_cache
from icarus.compiler.functions import helper, inlined, python_of
from icarus.compiler.kernel import CompiledFunction
from icarus.compiler.memory import array_at, struct_at
from icarus.compiler.messages import defined_at
from icarus.compiler.plain_python import interpret

FEATURES, ACTION_FEATURES, LOOKAHEAD, ENDINGS = TABLES = (1, 2, 4, 8)  # bits of what is read of a history
NAMES = ("features", "action_features", "lookahead", "endings")  # of the same, as fields of a history
KINDS = ("features", "action_features", "heuristic")  # what a game may tell
_REAL = np.dtype(np.float64)


class HasFeatures(Protocol):
    """What has features, such as a game, or a history made by hand: its players, and the names of its numbers."""

    @property
    def players(self) -> int: ...

    @property
    def feature_names(self) -> tuple[str, ...]: ...

    @property
    def action_feature_names(self) -> tuple[str, ...]: ...


@inlined
def is_finite(numbers: np.ndarray) -> bool:
    """Whether none of the numbers is NaN or infinite."""
    for number in numbers:
        if not math.isfinite(number):
            return False
    return True


@inlined
def are_rewards(numbers: np.ndarray) -> bool:
    """Whether all of the numbers are in [0, 1]."""
    for number in numbers:
        if not 0.0 <= number <= 1.0:
            return False
    return True


@kernel_cache
def numbers_kernel(kind: str, function: Callable, state_type: np.dtype, count: int) -> CompiledFunction:
    """Compile what a game tells: kernel(state, out), of "action_features" kernel(state, action, out).

    A number that is left unwritten, or makes no sense, ends the search.
    """
    inner, label = helper(function), _label(kind, function)
    is_sound: Callable = is_finite
    message = f"{label} wrote NaN, infinity or no value for a feature; it must write every out[i]"
    if kind == "heuristic":
        is_sound, message = are_rewards, f"{label} did not write a number from 0 to 1 for each player"

    def of_state(state: int, out: int) -> int:
        numbers = array_at(out, count, _REAL)
        numbers[:] = np.nan
        inner(struct_at(state, state_type), numbers)
        if not is_sound(numbers):
            raise ValueError(message)
        return 0

    def of_action(state: int, action: int, out: int) -> int:
        numbers = array_at(out, count, _REAL)
        numbers[:] = np.nan
        inner(struct_at(state, state_type), action, numbers)
        if not is_sound(numbers):
            raise ValueError(message)
        return 0

    return CompiledFunction(of_action, 3, label) if kind == "action_features" else CompiledFunction(of_state, 2, label)


def _label(kind: str, function: Callable) -> str:
    original = python_of(function)
    return f"the {kind} function {original.__module__}.{original.__qualname__}"


def names_of(game: HasFeatures, kind: str) -> Sequence[str]:
    """What the numbers are called that a game tells: its features, those of actions, or a player's lookahead."""
    if kind == "heuristic":
        return [f"player {player}" for player in range(game.players)]
    return game.feature_names if kind == "features" else game.action_feature_names


def written_by(game: HasFeatures, kind: str, *arguments: object) -> np.ndarray:
    """What "features", "action_features" or "heuristic" of a game writes, in plain Python.

    Raises:
        ValueError: it writes more numbers than there are names, or players.
    """
    function, names = getattr(game, kind), names_of(game, kind)
    out = np.full(len(names), np.nan)
    try:
        interpret(function)(*arguments, out)
    except IndexError:
        raise ValueError(f"{_label(kind, function)} writes more than a number for each of {', '.join(names)}") from None
    return out


def checked_numbers(game: HasFeatures, kind: str, answer: npt.ArrayLike) -> np.ndarray:
    """What a function of a game answered: one number for each name, or player.

    Raises:
        ValueError: another count, or a number that makes no sense.
    """
    numbers, names, label = np.array(answer, float), names_of(game, kind), _label(kind, getattr(game, kind))
    if numbers.shape != (len(names),):
        raise ValueError(f"{label} returned {answer!r}; it must be one number for each of {', '.join(names)}")
    wrong = ~((numbers >= 0) & (numbers <= 1)) if kind == "heuristic" else ~np.isfinite(numbers)
    if wrong.any():
        first = int(np.argmax(wrong))
        expected = "a number from 0 to 1" if kind == "heuristic" else "a finite number"
        raise ValueError(f"{label} wrote {numbers[first]} for {names[first]}; it must be {expected}")
    return numbers


def checked_rewards(game: Any, rewards: list[float]) -> list[float]:
    """The rewards of a finished game.

    Raises:
        ValueError: not a number from 0 to 1 for each player.
    """
    if not all(0 <= reward <= 1 for reward in rewards):
        raise ValueError(
            f"the rewards function of {game} did not write a number from 0 to 1 for each player: "
            f"{', '.join(f'{reward:g}' for reward in rewards)}{defined_at(game.rewards)}"
        )
    return rewards


def check_features(game: Any) -> None:
    """Refuse names of features without a function that computes them, a function without names, and invalid names.

    Raises:
        ValueError, TypeError: the names are not different strings, or a game has only one of names and functions.
    """
    names: list[str] = []
    for kind, listed in (("features", game.feature_names), ("action_features", game.action_feature_names)):
        if (getattr(game, kind) is None) != (not listed):
            raise ValueError(f"{game.name} has only one of {kind} and {kind[:-1]}_names; features need both")
        if isinstance(listed, str) or not all(isinstance(name, str) and name for name in listed):
            raise TypeError(f"the {kind[:-1]}_names of {game.name} are {listed!r}; they must be strings")
        names += listed
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{game.name} has two features called {twice[0]!r}")


def column_of(game: HasFeatures, name: str) -> int:
    """The place of a feature of states, or of one of actions, among those of a game.

    Raises:
        ValueError: the game has no such feature.
    """
    for names in (game.feature_names, game.action_feature_names):
        if name in names:
            return names.index(name)
    features = ", ".join([*game.feature_names, *game.action_feature_names])
    raise ValueError(f"{game} has no feature {name!r}; it has {features or 'none'}")
