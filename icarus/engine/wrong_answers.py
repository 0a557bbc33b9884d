"""What a function of a game has answered that a search refuses: the loop knows neither the game's name nor the value."""

import re

import numpy as np

from icarus.compiler.messages import defined_at
from icarus.kernel.constants import CHANCE, TERMINAL
from icarus.kernel.game import Game
from icarus.kernel.state import State


def with_answer(sentence: str, game: Game, words: np.ndarray) -> str:
    """The loop's sentence about "the … function of a game", with the game's name, the wrong answer and where the function is defined.

    Args:
        words: the state that it was asked about, as the loop keeps it.
    """
    named = re.match(r"the (\w+) function of a game ", sentence)
    function = getattr(game, named[1], None) if named else None
    if named is None or function is None:
        return sentence
    data = words.view(np.uint8)[: game.state.itemsize].view(game.state)
    answer = _wrong_answer(named[1], State.from_data(game, data.copy()))
    return f"{sentence.replace('of a game', f'of {game}', 1)}{f': {answer}' if answer else ''}{defined_at(function)}"


def _wrong_answer(name: str, state: State) -> str:
    """What a function answers about a state, where that is wrong; "" where it is right, or nobody can tell it."""
    if name == "player":
        player = state._player()
        return "" if player in (CHANCE, TERMINAL) or 0 <= player < state.game.players else str(player)
    if name == "rewards":
        rewards = state._rewards()
        return "" if all(0 <= reward <= 1 for reward in rewards) else ", ".join(f"{reward:g}" for reward in rewards)
    if name == "legal":
        actions = state._legal()
        wrong = [a for i, a in enumerate(actions) if a < 0 or a in actions[:i]]
        return str(wrong[0]) if wrong else ""
    return ""
