"""icarus's games as games of OpenSpiel, and its agents as bots.

    import pyspiel
    from icarus import Agent, RAVE
    from icarus.bridges.openspiel_games import Bot, register_games

    register_games()                      # those of the library; one of your own: register_game(MINE), then "icarus_mine"
    game = pyspiel.load_game("icarus_hearts")
    bots = [Bot(Agent(RAVE, iterations=500), seat) for seat in range(4)]    # or Agent.at_level("hearts", 3)

A game in which cards are dealt or dice rolled before the first action begins with a chance node. Where the game has a function `deal`, as
Kuhn poker does, its outcomes are all deals with their probabilities, so that OpenSpiel's exploitability is exact. Elsewhere it is one of
`deals` (a parameter, 1000) equally likely deals, each from its own seed: histories say everything, and algorithms that walk the whole
tree walk the tree of these deals. Rewards are icarus's own, in [0, 1]. A bot plays icarus's games, and any of OpenSpiel's that
`icarus.bridges.openspiel` can search.
"""

import functools
import math
import re
from collections.abc import Callable

import numpy as np
import pyspiel

from icarus import checks, games
from icarus.bridges import openspiel, seats
from icarus.engine.match import Agent
from icarus.equilibrium.deals import deals_of, dealt_state
from icarus.games import GAMES
from icarus.kernel import TERMINAL
from icarus.kernel.game import AnyGame
from icarus.kernel.python_game import PythonGame, check_game
from icarus.kernel.state import State as IcarusState

DEALS = 1000
LONGEST = 10_000  # actions of a game that does not say it; no game of the library comes near
_PREFIX = "icarus_"
_MOST_PLAYERS = {"knockout-whist": (2, 7)}
# Of the games that OpenSpiel was told of, by their names there.
_MAKERS: dict[str, Callable[..., AnyGame]] = {}


def register_games() -> list[str]:
    """Make all games of the library known to `pyspiel.load_game`, as icarus_othello and so on; returns these names."""
    names = []
    for name in GAMES:
        game, maker = games.load(name), functools.partial(games.load, name)
        names.append(_register(game, maker, seats.parameters_of(name), game.players == 2))
    return names


def register_game(game: AnyGame, *, constant_sum: bool = False) -> str:
    """Make a game of your own, a `Game` or a `PythonGame`, known to `pyspiel.load_game`; returns its name there.

    Args:
        constant_sum: whether the rewards of all players always sum to 1, as some of OpenSpiel's algorithms ask.

    Raises:
        TypeError: it is not a game.
        ValueError: the game does not say how far its actions are numbered; OpenSpiel has another game of this name.
    """
    check_game("register_game", game)
    seats.action_count(game)
    name = _short_name(game)
    if name in _MAKERS and _MAKERS[name]() is not game:
        raise ValueError(f"OpenSpiel knows another game by the name {name}; give this one another name")
    return _register(game, lambda: game, {}, constant_sum)


def _short_name(game: AnyGame) -> str:
    return _PREFIX + re.sub(r"\W", "_", game.name)


def _register(game: AnyGame, maker: Callable[..., AnyGame], parameters: dict[str, int], constant_sum: bool) -> str:
    name = _short_name(game)
    if name not in _MAKERS:
        # A class, not a function: OpenSpiel lets go of it after Python has ended, which only a class survives.
        kind = _type_of(game, parameters, constant_sum)
        pyspiel.register_game(kind, type(f"OpenSpielGame_{name}", (OpenSpielGame,), {"kind": kind}))
        _MAKERS[name] = maker
    return name


def _type_of(game: AnyGame, parameters: dict[str, int], constant_sum: bool) -> "pyspiel.GameType":
    kind, dealt = pyspiel.GameType, seats.is_dealt(game)
    fewest, most = _MOST_PLAYERS.get(game.name, (game.players, game.players))
    chance = dealt or game.chance is not None or seats.meets_chance(game)
    return kind(
        short_name=_short_name(game),
        long_name=f"icarus: {game.name}",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if chance else kind.ChanceMode.DETERMINISTIC,
        information=kind.Information.PERFECT_INFORMATION
        if game.determinize is None
        else kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.CONSTANT_SUM if constant_sum else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=fewest,
        provides_information_state_string=True,
        provides_information_state_tensor=getattr(game, "information_state_tensor", None) is not None,
        provides_observation_string=True,
        provides_observation_tensor=getattr(game, "observation_tensor", None) is not None,
        parameter_specification=parameters | ({"deals": DEALS} if dealt and game.deal is None else {}),
    )


class _Initial:
    """The initial states of a game: its only one, all its deals, or so many that are drawn.

    Attributes:
        probabilities: of each deal; empty where nothing is dealt.
    """

    def __init__(self, game: AnyGame, number: int) -> None:
        self._game, self._deals = game, None if game.deal is None else deals_of(game)
        equal = [1 / max(number, 1)] * number
        self.probabilities = equal if self._deals is None else self._deals.probabilities.tolist()

    def state(self, index: int) -> IcarusState:
        """The state after a deal."""
        if self._deals is None:
            return self._game.new_initial_state(index)
        return dealt_state(self._game, self._deals, index)


class OpenSpielGame(pyspiel.Game):
    """A game of icarus's as OpenSpiel's; `game` is icarus's own, `kind` is of each registered class."""

    kind: "pyspiel.GameType"

    def __init__(self, params: dict[str, int] | None = None) -> None:
        params, game_type = params or {}, self.kind
        numbers = {key: int(value) for key, value in params.items()}
        deals = numbers.pop("deals", DEALS) if "deals" in game_type.parameter_specification else 0
        self.game = _MAKERS[game_type.short_name](**numbers)
        self.initial = _Initial(self.game, deals)
        number, has_chance = seats.action_count(self.game), game_type.chance_mode != game_type.ChanceMode.DETERMINISTIC
        info = pyspiel.GameInfo(
            num_distinct_actions=number,
            max_chance_outcomes=max(len(self.initial.probabilities), number) if has_chance else 0,
            num_players=self.game.players,
            min_utility=0.0,
            max_utility=1.0,
            utility_sum=1.0 if game_type.utility == pyspiel.GameType.Utility.CONSTANT_SUM else None,
            max_game_length=min(LONGEST, self.game.max_length),
        )
        super().__init__(game_type, info, params)

    def new_initial_state(self) -> "OpenSpielState":
        return OpenSpielState(self)

    def make_py_observer(
        self, iig_obs_type: "pyspiel.IIGObservationType | None" = None, params: object = None
    ) -> "_Observer":
        return _Observer(self.game, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class _Contents:
    """What OpenSpiel copies with a state, attribute by attribute: the game and the deals as they are, the state by its own copy."""

    def __init__(self, game: AnyGame, initial: _Initial, position: IcarusState | None) -> None:
        self.game, self.initial, self.position = game, initial, position

    def __deepcopy__(self, memo: object) -> "_Contents":
        return _Contents(self.game, self.initial, None if self.position is None else self.position.clone())


class OpenSpielState(pyspiel.State):
    """A state of icarus's; `position` is None before the deal."""

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        position = None if game.initial.probabilities else game.initial.state(0)
        self.contents = _Contents(game.game, game.initial, position)

    @property
    def position(self) -> IcarusState | None:
        return self.contents.position

    def current_player(self) -> int:
        return pyspiel.PlayerId.CHANCE if self.position is None else self.position.current_player()

    def _legal_actions(self, player: int) -> list[int]:
        assert self.position is not None
        return sorted(seats.numbered_actions(self.position))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self.position is None:
            return list(enumerate(self.contents.initial.probabilities))
        seats.numbered_actions(self.position)
        return sorted(self.position.chance_outcomes())

    def _apply_action(self, action: int) -> None:
        if self.position is None:
            self.contents.position = self.contents.initial.state(action)
        else:
            self.position.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if self.position is None else self.position.action_to_string(action)

    def is_terminal(self) -> bool:
        return self.position is not None and self.position.is_terminal()

    def returns(self) -> list[float]:
        if self.position is None or not self.position.is_terminal():
            return [0.0] * self.contents.game.players
        return self.position.returns()

    def __str__(self) -> str:
        return "before the deal" if self.position is None else str(self.position)


class _Observer:
    """What a player sees, in words, and as the tensor that the game declares, if it does."""

    def __init__(self, game: AnyGame, kind: "pyspiel.IIGObservationType") -> None:
        self.perfect_recall = kind.perfect_recall
        self._name = "information_state_tensor" if kind.perfect_recall else "observation_tensor"
        declared = getattr(game, self._name, None)
        self.tensor = np.zeros(0 if declared is None else math.prod(declared.shape), np.float32)
        self.dict = {} if declared is None else {self._name: self.tensor.reshape(declared.shape)}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Fill the tensor; before the deal nobody has seen anything."""
        for name, view in self.dict.items():
            view[...] = 0 if state.position is None else seats.tensor_of(name, state.position, player)

    def string_from(self, state: OpenSpielState, player: int) -> str:
        view = seats.remembered_by if self.perfect_recall else seats.seen_by
        return "before the deal" if state.position is None else view(state.position, player)


# ------------------------------------------------------------------------------------------------------------------ bots


@functools.lru_cache(maxsize=64)
def _initial_of(name: str, deals: int, **parameters: int) -> _Initial:
    """The initial states of a game by its name in OpenSpiel; those of the last few are kept."""
    return _Initial(_MAKERS[name](**parameters), deals)


class Bot(pyspiel.Bot):
    """An agent that plays for OpenSpiel: whatever it is asked it reads from the state given, and keeps nothing between moves.

    Args:
        agent: its strategy and budget.
        player: its seat, from 0.
        seed: an integer ≥ 0, of its searches; the same state is searched with the same draws.
        of: for games of OpenSpiel's own, `icarus.bridges.openspiel.game(…)` with functions of yours. Absent: as that makes it.

    Raises:
        TypeError: `agent` is not an agent. ValueError: `player` or `seed` is not an integer ≥ 0.
    """

    def __init__(self, agent: Agent, player: int, *, seed: int = 0, of: PythonGame | None = None) -> None:
        super().__init__()
        seats.check_agent(agent)
        self.agent, self._of = agent, of
        self.player, self.seed = checks.integer("player", player, 0), checks.integer("seed", seed, 0)

    def restart(self) -> None:
        """A new game: nothing was kept of the last."""

    def restart_at(self, state: "pyspiel.State") -> None:
        """Go on from a state: nothing was kept of another."""

    def inform_action(self, state: "pyspiel.State", player: int, action: int) -> None:
        """Another's action: the next state tells it."""

    def provides_policy(self) -> bool:
        """Whether `step_with_policy` works: it does."""
        return True

    def step(self, state: "pyspiel.State") -> int:
        """What the agent plays.

        Raises:
            ValueError: another player, or chance, is to act, or the game has ended.
        """
        if state.is_chance_node():
            raise ValueError(f"the bot plays seat {self.player}, but chance is to act")
        position = self.taken_up(state)
        if position.current_player() != self.player:
            acting = position.current_player()
            reason = "the game has ended" if acting == TERMINAL else f"player {acting} is to act"
            raise ValueError(f"the bot plays seat {self.player}, but {reason}")
        legal = position.legal_actions()
        return legal[0] if len(legal) == 1 else self.agent.search(position, (self.seed, len(state.history()))).action

    def step_with_policy(self, state: "pyspiel.State") -> tuple[list[tuple[int, float]], int]:
        """What the agent plays, with the probabilities by which it plays: it is sure."""
        action = self.step(state)
        return [(other_action, float(other_action == action)) for other_action in state.legal_actions()], action

    def get_policy(self, state: "pyspiel.State") -> list[tuple[int, float]]:
        """The probabilities by which the agent plays."""
        return self.step_with_policy(state)[0]

    def taken_up(self, state: "pyspiel.State") -> IcarusState:
        """icarus's own state for one of OpenSpiel's."""
        if state.get_game().get_type().short_name not in _MAKERS:
            self._of = self._of or openspiel.game(state.get_game())
            return openspiel.state(state, self._of)
        kind, history = state.get_game().get_type(), list(state.history())
        parameters = {key: value for key, value in state.get_game().get_parameters().items() if key != "deals"}
        initial = _initial_of(kind.short_name, int("deals" in kind.parameter_specification), **parameters)
        position = initial.state(history.pop(0) if initial.probabilities and history else 0)
        for action in history:
            position.apply_action(action)
        return position
