"""Scenes: positions written by hand, the actions played from them, and what must then be so.

    the title of a scene
        Black: b c3, w d4 = moves c3xe5
        c3xe5 = Black wins; pieces b e5

A line with a colon sets up a position, any other plays actions; what must be so stands after an equals sign. What stands
between semicolons is one action or one claim. A line that ends with a comma goes on in the next.
"""

import random
import re
from collections.abc import Callable, Iterator

import numpy as np

from icarus.compiler import seeded
from icarus.games.cards import CARDS, card_text
from icarus.kernel.state import State

UNLIKELY = 1e-4  # a test of randomness with a smaller p fails


def legal_texts(state: State) -> set[str]:
    """The legal actions, as they are written."""
    return {state.action_to_string(action) for action in state.legal_actions()}


def apply_texts(state: State, *texts: str) -> State:
    """Play actions by their texts, those of chance too."""
    for text in texts:
        state.apply_action(state.string_to_action(text))
    return state


def play(state: State, *texts: str) -> State:
    """Play actions by their texts; what chance does alone is not written unless there is a choice."""

    def settle() -> list[str]:
        while len(
            legal := [state.action_to_string(action) for action in state.legal_actions()]
        ) == 1 and (state.is_chance_node()):
            state.apply_action(state.legal_actions()[0])
        return legal

    for text in texts:
        if text not in [state.action_to_string(action) for action in state.legal_actions()]:
            assert text in (legal := settle()), f"{text!r} is not among {legal} in\n{state}"
        state.apply_action(state.string_to_action(text))
    settle()
    return state


def scenes(text: str) -> list[tuple[str, str]]:
    """The titles and the lines of all scenes of a text."""
    return re.findall(r"^(\S.*)\n((?: +.*\n)+)", text, re.MULTILINE)


def act_out(
    scene: str, position: Callable[[str], State], holds: Callable[[State, str], object]
) -> None:
    """Play a scene: `position` sets it up from words, `holds` says whether a state is as words say."""
    for line in re.sub(r",\s*\n\s*", ", ", scene).strip().splitlines():
        words, _, claims = (part.strip() for part in line.strip().partition("= "))
        if ": " in words:
            state = position(words)
        elif words:
            play(state, *words.split("; "))
        for claim in claims.split("; ") if claims else []:
            assert holds(state, claim), f"not so: {claim}\n{state}"


# -------------------- Cards by their names, for the tests of card games.


BY_NAME = {card_text(card): card for card in range(CARDS)}


def card_named(text: str) -> int:
    """The card that `card_text` writes so."""
    return BY_NAME[text]


# -------------------- The states of a game, as plain Python walks it.


def first_decision(state: State) -> State:
    """Where a player is to act after the first outcomes of chance."""
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


def after_action(state: State, action: int) -> State:
    """The state that an action leads to; the one that it is done in stays."""
    child = state.clone()
    child.apply_action(action)
    return child


def every_state(state: State) -> Iterator[State]:
    """A state and all that may follow it."""
    yield state
    for action in state.legal_actions():
        yield from every_state(after_action(state, action))


def draws(state: State, observer: int, count: int, seed: int = 1) -> np.ndarray:
    """The data of so many determinizations, drawn one after the other from one generator; `beliefs` are prepared once."""
    worlds, beliefs, rng = np.repeat(state.data, count), state.beliefs(observer), seeded(seed)
    determinize = state.game.kernels().determinize
    last_words = observer, beliefs.ctypes.data, rng.ctypes.data
    first = worlds.ctypes.data
    for address in range(first, first + worlds.nbytes, worlds.itemsize):
        determinize(address, *last_words)
    return worlds


def met_again(views: list[tuple[int, tuple[int, ...], str]]) -> int:
    """How often a player has met a view again, which he knows by his moves and by a text; these tell the same views apart."""
    different = set(views)
    assert len({(player, moves) for player, moves, _ in different}) == len(different)
    assert len({(player, text) for player, _, text in different}) == len(different)
    return len(views) - len(different)


def random_walk(state: State, seed: int) -> Iterator[State]:
    """The state before each action of a random game, and at last the end."""
    choose = random.Random(seed)
    while not state.is_terminal():
        yield state
        state.apply_action(choose.choice(state.legal_actions()))
    yield state
