"""The states of a game, as plain Python walks it."""

import random
from collections.abc import Iterator

from icarus.kernel.state import State


def every_state(state: State) -> Iterator[State]:
    """A state and all that may follow it."""
    yield state
    for action in state.legal_actions():
        child = state.clone()
        child.apply_action(action)
        yield from every_state(child)


def random_walk(state: State, seed: int) -> Iterator[State]:
    """The state before each action of a random game, and at last the end."""
    choose = random.Random(seed)
    while not state.is_terminal():
        yield state
        state.apply_action(choose.choice(state.legal_actions()))
    yield state
