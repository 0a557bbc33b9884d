"""A game beside a reference in plain Python: both are played by the same actions, and must say the same after each of them."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import attrs
import numpy as np

from icarus.checks import integer
from icarus.kernel import CHANCE
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State

ACTIONS_SHOWN = 8  # the last ones of a game, in a sentence
CLOSE = 1e-9  # between two rewards


class Reference(Protocol):
    """A game in plain Python, in the shape of OpenSpiel's states."""

    def is_terminal(self) -> bool: ...
    def current_player(self) -> int: ...
    def legal_actions(self) -> Sequence[int]: ...
    def apply_action(self, action: int, /) -> object: ...
    def returns(self) -> Sequence[float]: ...


@attrs.frozen
class Comparison:
    """What games in lock-step came to.

    Attributes:
        games, actions: how many were played alike.
        difference: the first one, as a sentence; "" where there is none.
    """

    games: int
    actions: int
    difference: str

    @property
    def passed(self) -> bool:
        return not self.difference

    def __str__(self) -> str:
        return self.difference or f"the game and its reference agree in {self.games:,} games, {self.actions:,} actions"


def compare(
    game: AnyGame,
    reference: Callable[[State], Reference],
    *,
    games: int = 1000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Play a game and its reference in lock-step: random actions, the same in both.

    Player to act, set of legal actions, end and returns must agree. Returns agree as rewards from 0 to 1, or in the units of
    `Game.utilities`.

    Args:
        reference: makes the reference of an initial state; whatever the deal has decided is read from `state.facts`.
        games: how many.
        progress: called after each game with the number played.

    Raises:
        ValueError: no positive number of games.
    """
    integer("games", games, least=1)
    actions = 0
    for number in range(games):
        luck, state = random.Random(f"{seed} {number}"), game.new_initial_state((seed, number))
        oracle = reference(state.clone())
        while True:
            if difference := next(_differences(state, oracle), ""):
                return Comparison(number, actions, f"{_place(state, number)} {difference}")
            if state.is_terminal():
                break
            action = random_action(state, luck)
            state.apply_action(action)
            try:
                oracle.apply_action(action)
            except Exception as error:
                place = _place(state, number)
                return Comparison(number, actions, f"{place} the reference raises {type(error).__name__}: {error}")
            actions += 1
        if progress is not None:
            progress(number + 1)
    return Comparison(games, actions, "")


def random_action(state: Any, luck: random.Random) -> int:
    """A random legal action, or an outcome of chance by its probability, of a `State` or another with OpenSpiel's methods."""
    if state.current_player() != CHANCE or not hasattr(state, "chance_outcomes"):
        return int(luck.choice(list(state.legal_actions())))
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    return int(luck.choices(outcomes, probabilities)[0])


def _differences(state: State, oracle: Reference) -> Iterator[str]:
    """The differences between the two in this state."""
    if state.is_terminal() != oracle.is_terminal():
        yield f"the game {_ended(state.is_terminal())} and the reference {_ended(oracle.is_terminal())}"
        return
    if state.is_terminal():
        rewards, returns = np.array(state.returns()), np.array(oracle.returns(), float)
        low, high = state.game.utilities
        if rewards.shape != returns.shape or not (
            np.allclose(rewards, returns, atol=CLOSE) or np.allclose(low + (high - low) * rewards, returns, atol=CLOSE)
        ):
            yield f"the rewards are {rewards.tolist()}, and the returns of the reference {returns.tolist()}"
        return
    if state.current_player() != oracle.current_player():
        yield f"player {state.current_player()} is to act, in the reference player {oracle.current_player()}"
    legal, expected = set(state.legal_actions()), set(oracle.legal_actions())
    if legal != expected:
        more = _action_list(state, sorted(legal - expected)) or "none"
        less = ", ".join(map(str, sorted(expected - legal))) or "none"
        yield f"legal in the game and not in the reference: {more}; legal in the reference and not in the game: {less}"


def _ended(over: bool) -> str:
    return "has ended" if over else "continues"


def _action_list(state: State, actions: Sequence[int]) -> str:
    return ", ".join(f"{action} ({state.action_to_string(action)})" for action in actions)


def _place(state: State, number: int) -> str:
    last = [str(action) for _, action in state.history[-ACTIONS_SHOWN:]]
    count = len(state.history)
    return f"game {number}, after {count} action{'s' * (count != 1)} (the last: {' '.join(last) or 'none'}):"
