"""Belief models: a searcher who draws what is hidden from him not uniformly, but by what he has observed of the game."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from icarus.kernel.contract import UNSEEN
from icarus.kernel.game import Game
from icarus.kernel.python_game import check_is_state
from icarus.kernel.state import State

FEWEST = 64  # moves that there is room for


class BelievingState(State):
    """A state with what its player has observed.

    Attributes:
        observations: [1] of `observations_dtype`; a record of it for a `PythonGame`.
    """

    observations: Any

    def beliefs(self, observer: int) -> Any:
        """What `determinize` is given."""
        return self.observations


def has_belief(state: State) -> bool:
    """Whether a search of a state draws what is hidden by a belief model."""
    return isinstance(state, BelievingState)


def observations_dtype(moves: int) -> np.dtype:
    """What an observer has seen of a game, with room for so many moves: the first `count` are known."""
    return np.dtype([("count", np.int64), ("player", np.int64, (moves,)), ("move", np.int64, (moves,))], align=True)


def with_belief(state: State, determinize: Callable) -> State:
    """The same state, for a search whose iterations start from states drawn by a belief model.

    Args:
        determinize: `determinize(state, observer, observed, rng)`, as that of a game, which redraws all that the observer cannot know;
            `observed` has `count`, and `player[i]` and `move[i]` of each move that he has seen since the game began. The model need not
            be uniform. It may not use facts hidden in `state`. For a `PythonGame` it returns a new state.

    Raises:
        TypeError: `state` is not a State, or `determinize` not a function.
        ValueError: nothing is hidden in the game, or no player is to move.
    """
    check_is_state("with_belief", state)
    game, observer = state.game, state.current_player()
    if not callable(determinize):
        raise TypeError(
            f"determinize is {determinize!r}; it must be a function determinize(state, observer, observed, rng)"
        )
    if game.determinize is None:
        raise ValueError(f"determinize draws hidden facts, and nothing is hidden in {game}")
    if observer < 0:
        raise ValueError("determinize needs a player to move; none is")
    observations, believing = _observations(state, observer), state.clone()
    believing.__class__ = BelievingState
    assert isinstance(believing, BelievingState)
    believing.observations = observations
    if isinstance(game, Game):
        believing.game = attrs.evolve(game, determinize=determinize, beliefs=observations.dtype, prepare=None)
    else:
        believing.observations = observations.view(np.recarray)[0]
        believing.game = attrs.evolve(game, determinize=determinize)
    return believing


def _observations(state: State, observer: int) -> np.ndarray:
    """[1] of `observations_dtype`: what an observer has seen since the game began."""
    moves, column = state.moves(observer), state.game.perspective(observer)
    players = [player for player, observed, _ in state.replay() if observed[column] != UNSEEN]
    observations = np.zeros(1, observations_dtype(max(FEWEST, 1 << len(moves).bit_length())))
    observations["count"] = len(moves)
    observations["player"][0, : len(moves)], observations["move"][0, : len(moves)] = players, moves
    return observations
