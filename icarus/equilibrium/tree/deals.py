"""The deals of a game in the open: every initial state with its probability, and what each player sees of it."""

from typing import TypeAlias

import attrs
import numpy as np

from icarus.compiler.kernels.rng import seeded
from icarus.kernel import NO_DEAL, UNSEEN
from icarus.kernel.game import Game
from icarus.kernel.state import State

Moves: TypeAlias = tuple[
    tuple[bool, int], ...
]  # whether each was the player's own action, and what the player saw of it
InformationState: TypeAlias = tuple[int, int, Moves]
TOLERANCE = 1e-9  # how near to 1 probabilities must sum


@attrs.frozen(eq=False, repr=False)
class Deals:
    """All deals of a game.

    Attributes:
        states: the initial state of each. [deals] of game.state
        observations: what each player sees of it: the same integer for deals that he cannot tell apart. [deals, players]
        probabilities: of each; they sum to 1. [deals]
    """

    states: np.ndarray
    observations: np.ndarray
    probabilities: np.ndarray

    def __len__(self) -> int:
        return len(self.probabilities)


def deals_of(game: Game) -> Deals:
    """All deals of a game; a game whose `initial` draws nothing has a single one.

    Raises:
        ValueError: the game deals in secret, or the probabilities of its deals do not sum to 1.
    """
    kernels, parameters = game.kernels(), game.initial_arguments()
    if kernels.deal is None or kernels.seen is None:
        return _single(game)
    states: list[np.ndarray] = []
    probabilities, probability = [], np.zeros(1)
    while True:
        data = np.zeros(1, game.state)
        kernels.deal(data.ctypes.data, len(states), probability.ctypes.data, parameters.ctypes.data)
        if probability[0] == NO_DEAL:
            break
        states.append(data)
        probabilities.append(float(probability[0]))
    total = sum(probabilities)
    if not abs(total - 1) < TOLERANCE:
        raise ValueError(f"the probabilities of the {len(states)} deals of {game} sum to {total!r}, not to 1")
    observations = [[kernels.seen(data.ctypes.data, player) for player in range(game.players)] for data in states]
    return Deals(np.concatenate(states), np.array(observations, np.int64), np.array(probabilities))


def _single(game: Game) -> Deals:
    """The only initial state, where `initial` leaves the generator as it was."""
    data, generator = np.zeros(1, game.state), seeded(0)
    before = generator.copy()
    game.kernels().initial(data.ctypes.data, generator.ctypes.data, game.initial_arguments().ctypes.data)
    if (generator != before).any():
        raise ValueError(
            f"{game} deals in secret: give its Game the functions deal(state, index, **parameters), which says how "
            "likely each deal is, and seen(state, perspective), what a player sees of it"
        )
    return Deals(data, np.zeros((1, game.players), np.int64), np.ones(1))


def deal_observation(state: State, player: int) -> int:
    """What a player sees of the deal that a state began with."""
    observe = state.game.kernels().seen
    return 0 if observe is None else observe(state.start.ctypes.data, player)


def information_state(state: State) -> InformationState:
    """What the player to move knows: (player, what it observes of the deal, the moves that it has observed since).

    Each move is (own, move): whether it was the player's own action, and what the player saw of it. Where the order of moves depends on
    hidden facts, a player's own action differs from the other's of the same number.
    """
    player = state.current_player()
    state.moves(player)  # refuses a state without a history
    perspective = state.game.perspective(player)
    moves = [(mover == player, observed[perspective]) for mover, observed, _ in state.replay()]
    return player, deal_observation(state, player), tuple((is_own, move) for is_own, move in moves if move != UNSEEN)
