"""The deals of a game in the open: every initial state with its probability, and what each player sees of it."""

import functools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import attrs
import numpy as np

from icarus.checks import count_text
from icarus.compiler.rng import seeded
from icarus.kernel import (
    UNSEEN,
    AnyGame,
    PythonGame,
    State,
    StateData,
    check_game,
    check_is_state,
    padded_to_words,
)

# Whether each was the player's own action, and what the player saw of it.
Moves: TypeAlias = tuple[tuple[bool, int], ...]
InformationState: TypeAlias = tuple[int, int, Moves]
TOLERANCE = 1e-9  # how near to 1 probabilities must sum
MOST_ZEROS = 100_000  # deals in a row that have the probability 0


class NotEnumerable(ValueError):
    """A game of which nothing exact can be had: it is too large, or its deals are hidden."""


@attrs.frozen(eq=False, repr=False)
class Deals:
    """All deals of a game.

    Attributes:
        states: the data of the initial state of each deal.
        observations: what each player sees of a deal: the same integer for deals that he cannot tell apart. [deals, players]
        probabilities: of the deals; they sum to 1. [deals]
    """

    states: Sequence[StateData]
    observations: np.ndarray
    probabilities: np.ndarray

    def __len__(self) -> int:
        return len(self.probabilities)

    @functools.cached_property
    def words(self) -> np.ndarray:
        """The states of a `Game` as compiled code copies them. [deals, words]"""
        return np.array(list(map(padded_to_words, self.states)))


def deals_of(game: AnyGame) -> Deals:
    """All deals of a game; a game whose `initial` draws nothing has a single one.

    Raises:
        ValueError: the game has hidden deals; or the probability of a deal is none, the probabilities do not sum to 1, or the deals do
            not end.
        TypeError: no game.
    """
    check_game("deals_of", game)
    if game.deal is None:
        return _single(game)
    states: list[StateData] = []
    probabilities: list[float] = []
    total = 0.0
    zeros = 0  # of the probabilities, in a row
    while total < 1 + TOLERANCE and zeros <= MOST_ZEROS:
        dealt = game.ask("deal", len(states))
        if dealt is None:
            break
        states.append(dealt[0])
        probabilities.append(float(dealt[1]))
        total += probabilities[-1]
        zeros = 0 if probabilities[-1] > 0 else zeros + 1
    if zeros > MOST_ZEROS:
        end = "None" if isinstance(game, PythonGame) else "NO_DEAL"
        raise ValueError(
            f"{zeros} deals of {game} in a row have the probability 0; deal must return {end} after the last one"
        )
    if not abs(total - 1) < TOLERANCE:
        raise ValueError(
            f"the probabilities of the {count_text(len(states), 'deal')} of {game} sum to {total!r}, not to 1"
        )
    observations = [
        [game.ask("deal_observation", state, player) for player in range(game.players)]
        for state in states
    ]
    return Deals(states, np.array(observations, np.int64), np.array(probabilities))


def _single(game: AnyGame) -> Deals:
    """The only deal of a game whose `initial` draws nothing; one that draws is refused."""
    generator = seeded(0)
    before = generator.copy()
    state = game.ask("initial", generator)
    if (generator != before).any():
        arguments = "index" if isinstance(game, PythonGame) else "state, index"
        raise NotEnumerable(
            f"{game} has hidden deals: give its {type(game).__name__} the functions deal({arguments}, **parameters), which says how "
            "likely each deal is, and deal_observation(state, perspective), what a player sees of it"
        )
    return Deals([state], np.zeros((1, game.players), np.int64), np.ones(1))


def dealt_state(game: AnyGame, deals: Deals, index: int, actions: Iterable[int] = ()) -> State:
    """A new state of a game after one of its deals and legal actions."""
    state = State.from_data(game, game.ask("copy", deals.states[index]))
    for action in actions:
        state.apply_action(action)
    return state


def deal_observation(state: State, player: int) -> int:
    """What a player sees of the deal that a state began with."""
    if state.game.deal_observation is None:
        return 0
    return state.game.ask("deal_observation", state.start, player)


def information_state(state: State) -> InformationState:
    """What the player to move knows: (player, what it observes of the deal, the moves that it has observed since).

    Each move is (own, move): whether it was the player's own action, and what the player saw of it. Without the
    mark, an own action 3 and the other's action 3 would read alike where hidden facts say who moves next. If `observe` shows the mover
    something else than his action, a second entry follows at once: (False, what it showed).

    Raises:
        ValueError: no player is to move, or the state has no history. TypeError: no state.
    """
    check_is_state("information_state", state)
    player = state.current_player()
    if player < 0:
        raise ValueError(f"there is no information state: no player is to move in {state!r}")
    state.moves(player)  # refuses a state without a history
    perspective = state.game.perspective(player)
    moves = []
    # `replay` gives how each perspective saw an action of the history
    for (mover, action), (_, observed, _) in zip(state.history, state.replay(), strict=True):
        move = observed[perspective]
        if mover == player:
            moves.append((True, action))
        if move != UNSEEN and not (mover == player and move == action):
            moves.append((False, move))
    return player, deal_observation(state, player), tuple(moves)
