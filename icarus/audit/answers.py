"""What the methods of a class in plain Python may answer: each function says what is wrong with an answer, or "" where nothing is."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from icarus import checks
from icarus.kernel.constants import CHANCE, MAX_PLAYERS, TERMINAL

CLOSE = 1e-6  # to 1, of a sum of probabilities
SHOWN = 20  # items of a list, in a sentence
LONGEST = 100  # characters of an answer, in a sentence
PAIRS = "it must be a list of pairs (outcome, probability)"


def wrong_actions(actions: object) -> str:
    """Of `legal_actions()`, before the end."""
    listed = _items(actions)
    if listed is None:
        return f"legal_actions() is {actions!r}; it must be a list of integers"
    sentence = f"the legal actions are {listed[:SHOWN]}"
    odd = [each for each in listed if not checks.is_integer(each) or each < 0]
    if odd:
        return f"{sentence}; {odd[0]!r} is not an integer of at least 0"
    if not listed:
        return f"{sentence}; there must be one at least before the end"
    twice = [each for i, each in enumerate(listed) if each in listed[:i]]
    return f"{sentence}; {twice[0]} is there twice" if twice else ""


def wrong_outcomes(outcomes: object, actions: Iterable[int]) -> str:
    """Of `chance_outcomes()`, where these are the legal actions."""
    listed = _items(outcomes)
    if listed is None or any(not isinstance(pair, Sequence) or len(pair) != 2 for pair in listed):
        return f"chance_outcomes() is {checks.excerpt(repr(outcomes), LONGEST)}; {PAIRS}"
    legal = set(actions)
    for outcome, probability in listed:
        if not checks.is_integer(outcome) or outcome not in legal:
            return f"chance_outcomes() has the outcome {outcome!r}, which is not one of the legal actions"
        if not checks.is_real(probability) or not 0 <= probability <= 1:
            return f"chance_outcomes() gives {outcome} the probability {probability!r}; it must be from 0 to 1"
    total = math.fsum(probability for _, probability in listed)
    if abs(total - 1) > CLOSE:
        return f"the probabilities of chance_outcomes() sum to {total:.6g}; it must be 1"
    return ""


def wrong_player(player: object, players: int | None) -> str:
    """Of `current_player()` before the end, in a game for so many players; None where that is not known."""
    most = MAX_PLAYERS if players is None else players
    if checks.is_integer(player) and (player == CHANCE or 0 <= player < most):
        return ""
    right = "from 0" if players is None else checks.range_text(0, players - 1)
    return f"current_player() is {player!r}; before the end it must be {right}, or {CHANCE} for chance"


def wrong_end(player: object) -> str:
    """Of `current_player()` at the end."""
    right = checks.is_integer(player) and player == TERMINAL
    return "" if right else f"current_player() is {player!r} at the end; it must be {TERMINAL}"


def wrong_returns(returns: object, players: int) -> str:
    """Of `returns()` at the end, in a game for so many players."""
    listed = _items(returns)
    if listed is None:
        return f"returns() is {returns!r}; it must be a list of numbers, one for each player"
    if not listed:
        return "there are no returns; there must be one for each player"
    odd = [each for each in listed if not (checks.is_real(each) or isinstance(each, bool | np.bool_))]
    if odd:
        return f"returns() is {checks.excerpt(repr(returns), LONGEST)}; {odd[0]!r} is not a finite number"
    if len(listed) != players:
        are = f"{'is' if players == 1 else 'are'} {checks.count_text(players, 'player')}"
        return f"returns() has {checks.count_text(len(listed), 'number')}, and there {are}"
    return ""


def _items(answer: object) -> list[Any] | None:
    """The items of an answer; None where it has none."""
    return list(answer) if isinstance(answer, Iterable) and not isinstance(answer, str | bytes) else None
