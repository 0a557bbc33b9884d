"""A game beside a reference in plain Python: both are played by the same actions, and must say the same after each of them."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.checks import count_text
from icarus.kernel import AnyGame, State, check_game, random_action
from icarus.kernel.functions import AUTHOR_ERRORS

_UNCOMPARED = "; the reference has no chance_outcomes(), so that probabilities were not compared"
ACTIONS_SHOWN = 8  # the last ones of a game, in a sentence
CLOSE = 1e-9  # between two rewards, or two probabilities
TWINS = 12  # references that are made to find out whether they are all alike
ADVICE_ON_LUCK = (
    "give its file a function reference(state), which begins from the deal of the game's state, and let chance act by "
    "chance_outcomes()"
)


@attrs.frozen
class Comparison:
    """The result of games in lock-step.

    Attributes:
        games, actions: how many were played alike.
        difference: the first difference, as a sentence; "" where there is none.
        note: what could not be compared; "" where all was.
    """

    games: int
    actions: int
    difference: str
    note: str = ""

    @property
    def passed(self) -> bool:
        return not self.difference

    def __str__(self) -> str:
        return (
            self.difference
            or f"the game and its reference agree in {self.games:,} games, {self.actions:,} actions{self.note}"
        )


def compare(
    game: AnyGame,
    reference: Callable[[State], Any],
    *,
    games: int = 1000,
    seed: int | Sequence[int] = 0,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Play a game and its reference in lock-step: random actions, the same in both.

    Player to act, set of legal actions, probabilities of chance, end and returns must agree. Returns agree as rewards from 0 to 1, or in
    the units of `Game.utilities`, the same in all games.

    Args:
        reference: makes the reference of an initial state, with the methods of OpenSpiel's states; whatever the deal has decided is read
            from `state.facts`.
        games: how many.
        seed: an integer ≥ 0, or several as a key.
        progress: called after each game with the number played.

    Raises:
        TypeError: `game` is not a game, or `reference` no function.
        ValueError: no positive number of games, or `seed` is not a seed.
    """
    check_game("compare", game)
    if not callable(reference):
        raise TypeError(
            f"the reference is {reference!r}; it must be a function of the initial state"
        )
    checks.integer("games", games, least=1)
    key = checks.seed_key(seed)
    low, high = game.utilities
    # In which units the reference may give its returns, by all games so far: as rewards, or as utilities.
    scales: list[Callable] = [lambda rewards: rewards, lambda rewards: low + (high - low) * rewards]
    actions = 0
    note = ""
    for number in range(games):
        luck = random.Random(f"{checks.seed(seed)} {number}")
        state = game.new_initial_state((*key, number))
        start = state.clone()
        oracle = reference(start.clone())
        difference = _difference(state, oracle, scales)
        while not difference and not state.is_terminal():
            if state.is_chance_node() and not hasattr(oracle, "chance_outcomes"):
                note = _UNCOMPARED
            try:
                action = random_action(state, luck)
                state.apply_action(action)
            except AUTHOR_ERRORS as error:
                difference = f"the game raises {type(error).__name__}: {error}"
                break
            try:
                oracle.apply_action(action)
            except AUTHOR_ERRORS as error:
                difference = f"the reference raises {type(error).__name__}: {error}"
                break
            actions += 1
            difference = _difference(state, oracle, scales)
        if difference:
            difference = _own_luck(start, state, reference) or difference
            return Comparison(number, actions, f"{_place(state, number)} {difference}")
        if progress is not None:
            progress(number + 1)
    return Comparison(games, actions, "", note)


def _difference(state: State, oracle: Any, scales: list[Callable]) -> str:
    """The first difference between the game and its reference in a state; "" where there is none."""
    try:
        over = state.is_terminal()
        if over:
            state.returns()
        else:
            state.legal_actions()
    except AUTHOR_ERRORS as error:  # of the game itself
        return f"the game raises {type(error).__name__}: {error}"
    try:
        return next(_differences(state, oracle, over, scales), "")
    except AUTHOR_ERRORS as error:  # whatever a reference stumbles over is what there is to tell
        return f"the reference raises {type(error).__name__}: {error}"


def _own_luck(start: State, state: State, reference: Callable[[State], Any]) -> str:
    """A sentence where references that are played by the same actions differ from one another, since they draw by themselves; else ""."""
    answers = [_answer(reference(start.clone()), state) for _ in range(TWINS)]
    if all(each == answers[0] for each in answers):
        return ""
    return f"two references that are played by the same actions are not alike: the reference draws by luck of its own; {ADVICE_ON_LUCK}"


def _answer(oracle: Any, state: State) -> str:
    """What a reference says after the actions of a state."""
    try:
        for _, action in state.history:
            oracle.apply_action(action)
        over = oracle.is_terminal()
        return repr(
            list(oracle.returns())
            if over
            else (oracle.current_player(), sorted(oracle.legal_actions()))
        )
    except AUTHOR_ERRORS as error:  # `compare` has told the first one already
        return repr(error)


def _differences(state: State, oracle: Any, over: bool, scales: list[Callable]) -> Iterator[str]:
    """The differences between the two in this state; at the end, scales that its returns do not allow are left out from then on."""
    if over != oracle.is_terminal():
        if over:
            yield "the game has ended and the reference continues"
        else:
            yield "the game continues and the reference has ended"
    if state.current_player() != oracle.current_player():
        yield f"current_player() is {state.current_player()}, and in the reference {oracle.current_player()!r}"
    if over:
        rewards = np.array(state.returns())
        returns = oracle.returns()
        scaled = np.array(list(returns), float)
        allowed = [scale for scale in scales if _close(scale(rewards), scaled)]
        if not allowed:
            units = "; the games before say in which units" if len(scales) == 1 else ""
            yield f"returns() is {rewards.tolist()}, and in the reference {returns!r}{units}"
        scales[:] = allowed
        return
    legal = state.legal_actions()
    actions = oracle.legal_actions()
    if sorted(legal) != sorted(actions):
        more = _action_list(state, sorted(set(legal) - set(actions)))
        yield f"legal_actions() is {sorted(legal)}, and in the reference {actions!r}{more}"
    if state.is_chance_node() and hasattr(oracle, "chance_outcomes"):
        outcomes = oracle.chance_outcomes()
        if not _close(np.array(sorted(state.chance_outcomes())), np.array(sorted(outcomes), float)):
            yield f"chance_outcomes() is {state.chance_outcomes()}, and in the reference {outcomes!r}"


def _close(first: np.ndarray, second: np.ndarray) -> bool:
    return first.shape == second.shape and np.allclose(first, second, atol=CLOSE, rtol=0)


def _action_list(state: State, actions: Sequence[int]) -> str:
    """The end of a sentence, with the actions that a reference lacks in the notation of the game."""
    texts = ", ".join(f"{action} ({state.action_to_string(action)})" for action in actions)
    return f", which lacks {texts}" if texts else ""


def _place(state: State, number: int) -> str:
    last = [str(action) for _, action in state.history[-ACTIONS_SHOWN:]]
    return f"game {number + 1}, after {count_text(len(state.history), 'action')} (the last: {' '.join(last) or 'none'}):"
