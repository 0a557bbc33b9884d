"""OpenSpiel's games, searched by icarus with any composition and scheme; icarus's games as OpenSpiel's, and its agents as bots.

    from icarus import RAVE, MAST, search
    from icarus.bridges import openspiel

    game = openspiel.game("leduc_poker(players=3)")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    print(search(state, RAVE >> MAST, iterations=1000))

`openspiel.state(s)` takes up a state of OpenSpiel's as it stands. The search is icarus's loop in plain Python; docs/bridges.md has
its iterations a second.

A player sees of an action what it changes in his information state string (in his observation string, where a game has no other), so
that his information sets are the game's own. Where he can be told more simply what others do, `observe=public_actions` is quicker, and
n-grams and replies are shared between more positions. Rewards are scaled from [min_utility, max_utility] to [0, 1].

Hidden information is redrawn by OpenSpiel's `resample_from_infostate`, which few games have, or by a function of yours; whether it leaks or
contradicts is told by `icarus.audit`. Without either, whatever draws is refused; the solvers of `icarus.equilibrium` draw nothing.
Players who decide at once take turns and do not see what was chosen; where nothing else is hidden, that is redrawn without help.

The other way, `register_games()` makes the library's games known to `pyspiel.load_game`, and `Bot(agent, seat)` plays in OpenSpiel:

    register_games()                      # those of the library; one of your own: register_game(MINE), then "icarus_mine"
    game = pyspiel.load_game("icarus_hearts")
    bots = [Bot(Agent(RAVE, iterations=500), seat) for seat in range(4)]    # or Agent.at_level("hearts", 3)

A game in which cards are dealt or dice rolled before the first action begins with a chance node. Where the game has a function `deal`, as
Kuhn poker does, its outcomes are all deals with their probabilities, so that OpenSpiel's exploitability is exact. Elsewhere it is one of
`deals` (a parameter, 1000) equally likely deals, each from its own seed: histories say everything, and algorithms that walk the whole
tree walk the tree of these deals. Rewards are icarus's own, in [0, 1]. `resample_from_infostate` is the game's `determinize`, so that
`ISMCTSBot` of `open_spiel.python` plays where something is hidden (that of C++ never asks a game in Python). A bot plays icarus's games,
and any of OpenSpiel's that `icarus.bridges.openspiel` can search.
"""

import functools
import re
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pyspiel

from icarus import checks, games
from icarus.bridges import seats
from icarus.bridges.seats import difference, read_view
from icarus.compiler import plain_uniform, seeded
from icarus.engine.match import Agent
from icarus.engine.search import check_callable
from icarus.equilibrium.deals import deals_of, dealt_state
from icarus.games import GAMES
from icarus.kernel import (
    CHANCE,
    TERMINAL,
    AnyGame,
    Beliefs,
    PythonGame,
    State as IcarusState,
    check_game,
    draw_outcome,
)

_ATTEMPTS = 1000  # at a deal that looks the same to a player
Determinize = Callable[["pyspiel.State", int, Callable[[], float]], "pyspiel.State"]
Observe = Callable[["pyspiel.State", int], Sequence[int]]


def game(
    source: "str | pyspiel.Game",
    *,
    determinize: Determinize | None = None,
    observe: Observe | None = None,
) -> PythonGame:
    """A game of OpenSpiel's as icarus's.

    Args:
        source: its name with parameters, as `pyspiel.load_game` takes it, or the game.
        determinize: `determinize(state, player, random) -> state`, a pyspiel.State drawn from the player's information set, with
            `random()` real numbers in [0, 1). Absent: `state.resample_from_infostate(player, random)`.
        observe: `observe(state, action) -> moves`, how each player sees an action that is about to be done. Absent: as the
            information states tell it; `public_actions` where all see what players do.

    Raises:
        TypeError: neither a name nor a game of OpenSpiel's, or no function.
        ValueError: no such game; no decisions of players in turn; no bounds of its utilities; hidden information that nobody is told of.
            Where a state is drawn: hidden information that nobody can redraw.
    """
    check_callable("observe", observe, "a function of a state and an action")
    check_callable("determinize", determinize, "a function of a state, a player and a sampler")
    original = _load(source)
    loaded = _in_turns(original)
    determinize = determinize or (_round_redrawn if _only_choices_hidden(original) else None)
    kind = loaded.get_type()
    lowest = loaded.min_utility()
    highest = loaded.max_utility()
    if not (np.isfinite([lowest, highest]).all() and lowest < highest):
        raise ValueError(
            f"{loaded} has utilities from {lowest} to {highest}; they cannot be scaled to [0, 1]"
        )
    hidden = kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION
    if (
        hidden
        and observe is None
        and not (kind.provides_information_state_string or kind.provides_observation_string)
    ):
        raise ValueError(
            f"{loaded} gives players no observations of its hidden information; give your own observe=…"
        )
    differences = functools.partial(_differences, method=seats.view_method(kind))
    return PythonGame(
        name=re.sub(r"[^ -~]|[/\\]", "_", str(loaded)),  # some hold a map, or the path of a file
        players=loaded.num_players(),
        initial=functools.partial(_initial, loaded),
        **seats.RULES,
        rewards=functools.partial(_scaled, lowest, highest),
        copy=_copy,
        text=str,
        action_text=_action_text,
        observe=(observe or differences) if hidden else None,
        chance=_chances,
        determinize=functools.partial(_redrawn, determinize or _resampled) if hidden else None,
        observation=read_view if hidden else None,
        multiplicity=_chance_of if hidden else None,
        utilities=(lowest, highest),
        actions=max(loaded.num_distinct_actions(), loaded.max_chance_outcomes()),
    )


def state(source: "pyspiel.State", of: PythonGame | None = None) -> IcarusState:
    """A state of OpenSpiel's as it stands, to be searched; it is left alone.

    Args:
        of: the `game` that it belongs to, with functions of yours. Absent: `game(source.get_game())`.

    Raises:
        TypeError: not a state of OpenSpiel's, or `of` is no such game.
        ValueError: players decide simultaneously; `of` is another game; or as of `game`.
    """
    if not isinstance(source, pyspiel.State):
        raise TypeError(
            f"a state must be one of OpenSpiel's, such as its game.new_initial_state(), not {source!r}"
        )
    _check_of(of)
    original = source.get_game()
    if original.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        raise ValueError(
            f"in {original} players decide simultaneously; start with pyspiel.convert_to_turn_based(game).new_initial_state()"
        )
    if of is not None and not _has_states_of(of, original):
        raise ValueError(
            f"the state is of {original}, but `of` is {of}; it must be made of the state's game"
        )
    return IcarusState(of or game(original), source)


def _check_of(of: object) -> None:
    if of is not None and not isinstance(of, PythonGame):
        raise TypeError(
            f"`of` must be a game that icarus.bridges.openspiel.game made, or absent, not {of!r}"
        )


def _has_states_of(of: PythonGame, original: "pyspiel.Game") -> bool:
    first = of.new_initial_state().data
    return isinstance(first, pyspiel.State) and _rules_of(first.get_game()) == _rules_of(original)


def _rules_of(loaded: "pyspiel.Game") -> tuple[str, dict[str, object]]:
    """The name of a game, and its parameters with those that it has by default."""
    return loaded.get_type().short_name, loaded.get_parameters()


def public_actions(state: "pyspiel.State", action: int) -> list[int]:
    """The move that each player sees of an action: the action itself; of an action of chance, what it changes in his view."""
    return _differences(state, action) if state.is_chance_node() else [action] * state.num_players()


def _lines_of(error: Exception) -> list[str]:
    """What an error says; its name where that is nothing."""
    return str(error).strip().splitlines() or [repr(error)]


def _load(source: "str | pyspiel.Game") -> "pyspiel.Game":
    if isinstance(source, pyspiel.Game):
        return source
    if not isinstance(source, str):
        raise TypeError(
            f"a game must be one of OpenSpiel's, or its name, such as 'leduc_poker', not {source!r}"
        )
    try:
        return pyspiel.load_game(source)
    except seats.FAILURES as error:
        reason = _lines_of(error)[0][:200].removesuffix(" Available games are:")
        # all that C++ says where a parameter is not among those that it looks for
        if reason == "map::at":
            reason = "one of its parameters is missing, or has a value that it does not know."
        if source.startswith("python_"):
            reason += " Those that OpenSpiel has in Python are known to it after `import open_spiel.python.games`."
        raise ValueError(f"OpenSpiel cannot load {source!r}: {reason}") from None


def _in_turns(loaded: "pyspiel.Game") -> "pyspiel.Game":
    dynamics = loaded.get_type().dynamics
    if dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(loaded)
    if dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(
            f"{loaded} is a mean field game; icarus searches games of players who take turns"
        )
    return loaded


def _only_choices_hidden(loaded: "pyspiel.Game") -> bool:
    """Whether players decide at once, or in turns that OpenSpiel makes of that, and nothing is hidden but what others choose meanwhile."""
    kind = loaded.get_type()
    if kind.short_name == "turn_based_simultaneous_game":
        parameters = dict(loaded.get_parameters()["game"])
        name = parameters.pop("name")
        if name in pyspiel.registered_names():  # a matrix game of one's own is not
            kind = pyspiel.load_game(name, parameters).get_type()
    return (
        kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        and kind.information != pyspiel.GameType.Information.IMPERFECT_INFORMATION
    )


def _round_redrawn(
    state: "pyspiel.State", player: int, random: Callable[[], float]
) -> "pyspiel.State":
    """A state of a game in turns in which the other players have chosen at random in this round; earlier rounds are as they were."""
    steps = state.full_history()
    choices = []  # of this round, the last one first
    # Within a round players choose in the order of their seats, so that the one before has a smaller seat. Chance is below 0.
    later = state.current_player()
    while steps and 0 <= steps[-1].player < later:
        choices.append(steps.pop())
        later = choices[-1].player
    redrawn = state.get_game().new_initial_state()
    for step in steps:
        redrawn.apply_action(step.action)
    for step in reversed(choices):
        action = step.action
        if step.player != player:
            legal = redrawn.legal_actions()
            action = legal[int(len(legal) * random())]
        redrawn.apply_action(action)
    return redrawn


# Functions with names, which can be pickled with the game.


def _initial(loaded: "pyspiel.Game", rng: np.ndarray) -> "pyspiel.State":
    return loaded.new_initial_state()


def _scaled(lowest: float, highest: float, state: "pyspiel.State") -> list[float]:
    return [
        min(1.0, max(0.0, (utility - lowest) / (highest - lowest))) for utility in state.returns()
    ]


def _chances(state: "pyspiel.State") -> list[float]:
    """The probability of each legal outcome; Hearts without passing has directions of a pass that are not legal."""
    outcomes = dict(state.chance_outcomes())
    chances = [outcomes[action] for action in state.legal_actions()]
    total = sum(chances) if len(chances) < len(outcomes) else 1.0
    return [chance / total for chance in chances]


def _copy(state: "pyspiel.State") -> "pyspiel.State":
    return state.clone()


def _action_text(state: "pyspiel.State", action: int) -> str:
    return state.action_to_string(state.current_player(), action)


def _resampled(state: "pyspiel.State", player: int, random: Callable[[], float]) -> "pyspiel.State":
    try:
        return state.resample_from_infostate(player, random)
    except seats.FAILURES as error:
        deal = _dealt_again(state, player, random)
        if deal is not None:
            return deal
        why = _lines_of(error)[-1][-120:]
        raise ValueError(
            f"{state.get_game()} hides information that OpenSpiel cannot redraw ({why}); "
            "give determinize=f with f(state, player, random) -> state"
        ) from None


def _dealt_again(
    state: "pyspiel.State", player: int, random: Callable[[], float]
) -> "pyspiel.State | None":
    """Another beginning of a deal that looks the same to a player; None after the first action of a player, or if no attempt finds one.

    OpenSpiel redraws nothing for a player who has no card yet.
    """
    if not state.is_chance_node() or any(step.player != CHANCE for step in state.full_history()):
        return None
    view = read_view(state, player)
    luck = Random(random())
    for _ in range(_ATTEMPTS):
        deal = state.get_game().new_initial_state()
        while len(deal.history()) < len(state.history()):
            deal.apply_action(draw_outcome(deal, luck))
        if read_view(deal, player) == view:
            return deal
    return None


def _redrawn(
    determinize: Determinize,
    state: "pyspiel.State",
    observer: int,
    beliefs: Beliefs,
    rng: np.ndarray,
) -> "pyspiel.State":
    if observer == CHANCE:
        return state.clone()
    return determinize(state, observer, lambda: plain_uniform(rng))


def _differences(state: "pyspiel.State", action: int, method: str = "") -> list[int]:
    # The mover's entry too: it may tell him more, such as what others chose at once.
    after = state.child(action)
    return [
        difference(read_view(state, player, method), read_view(after, player, method))
        for player in range(state.num_players())
    ]


def _chance_of(state: "pyspiel.State") -> float:
    """The probability that chance contributes to a state."""
    product = 1.0
    replay = state.get_game().new_initial_state()
    for action in state.history():
        if replay.is_chance_node():
            product *= dict(replay.chance_outcomes())[action]
        replay.apply_action(action)
    return product


# ------------------------------------------------------------------------------------------- icarus's games in OpenSpiel

DEALS = 1000
# the fewest and the most players of a game of the library whose parameters change their number
_PLAYER_COUNTS = {"knockout-whist": (2, 7)}
# By the names in OpenSpiel of the games that it was told of, what makes the game with parameters.
_MAKERS: dict[str, Callable[..., AnyGame]] = {}


def register_games() -> list[str]:
    """Make all games of the library known to `pyspiel.load_game`, as icarus_othello and so on; returns these names."""
    return [_register_by_name(name) for name in GAMES]


def _register_by_name(name: str) -> str:
    game = games.load(name)
    maker = functools.partial(games.load, name)
    return _register(game, maker, seats.parameters_of(name), game.players == 2)


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
    if game.name in games.LIBRARY:
        _register_by_name(game.name)
    name = _register(game, lambda: game, {}, constant_sum)
    if _MAKERS[name]() is not game:
        raise ValueError(
            f"OpenSpiel knows another game by the name {name}; give this one another name"
        )
    return name


def _short_name(game: AnyGame) -> str:
    return "icarus_" + re.sub(r"\W", "_", game.name)


def _register(
    game: AnyGame, maker: Callable[..., AnyGame], parameters: dict[str, int], constant_sum: bool
) -> str:
    """Tell OpenSpiel of a game, unless it knows one by this name; returns the name."""
    name = _short_name(game)
    if name not in _MAKERS:
        # OpenSpiel is given a class: what it was given it releases after Python has ended, and then to release a function crashes.
        kind = _type_of(game, parameters, constant_sum)
        source = game.name if game.name in games.LIBRARY else game
        attributes = {"kind": kind, "registered": (source, constant_sum)}
        pyspiel.register_game(kind, type(f"OpenSpielGame_{name}", (OpenSpielGame,), attributes))
        _MAKERS[name] = maker
    return name


def _registered_again(text: str, source: AnyGame | str, constant_sum: bool) -> "pyspiel.Game":
    """The game of a pickle, perhaps in a process in which OpenSpiel does not know it yet."""
    if isinstance(source, str):
        _register_by_name(source)
    else:
        register_game(source, constant_sum=constant_sum)
    return pyspiel.load_game(text)


def _type_of(game: AnyGame, parameters: dict[str, int], constant_sum: bool) -> "pyspiel.GameType":
    kind = pyspiel.GameType
    is_dealt, has_chance = seats.chance_in(game)
    fewest, most = _PLAYER_COUNTS.get(game.name, (game.players, game.players))
    return kind(
        short_name=_short_name(game),
        long_name=f"icarus: {game.name}",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC
        if has_chance
        else kind.ChanceMode.DETERMINISTIC,
        information=kind.Information.PERFECT_INFORMATION
        if game.determinize is None
        else kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.CONSTANT_SUM if constant_sum else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=fewest,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification=parameters
        | ({"deals": DEALS} if is_dealt and game.deal is None else {}),
    )


class OpenSpielGame(pyspiel.Game):
    """A game of icarus's as OpenSpiel's; `game` is icarus's own.

    Attributes:
        kind, registered: set in the class that `_register` makes for each game.
        probabilities: of the deals: of all, if the game can list them, else of `deals` that are drawn; empty where nothing is dealt.
    """

    kind: "pyspiel.GameType"
    registered: tuple[AnyGame | str, bool]

    def __init__(self, params: dict[str, int] | None = None) -> None:
        game_type = self.kind
        numbers = dict(params or {})
        deal_count = checks.integer("deals", numbers.pop("deals", DEALS), least=1)
        self.game = _MAKERS[game_type.short_name](**numbers)
        self._deals = None
        self.probabilities: list[float] = []
        if self.game.deal is not None:  # all deals can be listed
            self._deals = deals_of(self.game)
            self.probabilities = self._deals.probabilities.tolist()
        elif "deals" in game_type.parameter_specification:  # so many are drawn
            self.probabilities = [1 / deal_count] * deal_count
        number = seats.action_count(self.game)
        has_chance = game_type.chance_mode != game_type.ChanceMode.DETERMINISTIC
        info = pyspiel.GameInfo(
            num_distinct_actions=number,
            # the deal is one outcome of many, and what chance does later is an action of the game
            max_chance_outcomes=max(len(self.probabilities), number) if has_chance else 0,
            num_players=self.game.players,
            min_utility=0.0,
            max_utility=1.0,
            utility_sum=1.0 if game_type.utility == pyspiel.GameType.Utility.CONSTANT_SUM else None,
            max_game_length=self.game.max_length,
        )
        super().__init__(game_type, info, params or {})

    def __reduce__(self) -> tuple[Callable, tuple[object, ...]]:
        return _registered_again, (str(self), *self.registered)

    def new_initial_state(self) -> "OpenSpielState":
        return OpenSpielState(self)

    def dealt(self, index: int) -> IcarusState:
        """icarus's own state after a deal; the only one, where nothing is dealt."""
        if self._deals is None:
            return self.game.new_initial_state(index)
        return dealt_state(self.game, self._deals, index)

    def make_py_observer(
        self, iig_obs_type: "pyspiel.IIGObservationType | None" = None, params: object = None
    ) -> "_Observer":
        return _Observer(iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class OpenSpielState(pyspiel.State):
    """A state of icarus's.

    Attributes:
        position: None before the deal.
        moves_before: what each player saw before the history of `position` begins, where that was drawn.
    """

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.position = None if game.probabilities else game.dealt(0)
        self.moves_before: list[tuple[int, ...]] = [()] * game.num_players()

    def current_player(self) -> int:
        return pyspiel.PlayerId.CHANCE if self.position is None else self.position.current_player()

    def _legal_actions(self, player: int) -> list[int]:
        assert self.position is not None
        return sorted(seats.numbered_actions(self.position))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self.position is None:
            return list(enumerate(self.get_game().probabilities))
        seats.numbered_actions(self.position)  # an error where C++ would not check
        return sorted(self.position.chance_outcomes())

    def _apply_action(self, action: int) -> None:
        if self.position is None:
            self.position = self.get_game().dealt(action)
        else:
            self.position.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if self.position is None else self.position.action_to_string(action)

    def resample_from_infostate(
        self, player: int, sampler: Callable[[], float]
    ) -> "OpenSpielState":
        """A state drawn from what a player knows; its `history()` is still the true one.

        Args:
            sampler: `sampler()` real numbers in [0, 1).
        """
        sample = self.clone()
        truth = self.position
        if truth is not None:
            data = truth.redraw(player, truth.beliefs(player), seeded(int(sampler() * 2**53)))
            sample.position = IcarusState.from_data(truth.game, data)
            sample.moves_before = [
                (*before, *truth.moves(seat)) for seat, before in enumerate(self.moves_before)
            ]
        return sample

    def is_terminal(self) -> bool:
        return self.position is not None and self.position.is_terminal()

    def returns(self) -> list[float]:
        if self.position is None or not self.position.is_terminal():
            return [0.0] * self.num_players()
        return self.position.returns()

    def __str__(self) -> str:
        return "before the deal" if self.position is None else str(self.position)


class _Observer:
    """What a player sees, in words; there is no tensor."""

    def __init__(self, kind: "pyspiel.IIGObservationType") -> None:
        self.perfect_recall = kind.perfect_recall
        self.tensor = np.zeros(0, np.float32)
        self.dict = dict[str, np.ndarray]()

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Nothing is to be filled."""

    def string_from(self, state: OpenSpielState, player: int) -> str:
        if state.position is None:
            return "before the deal"
        if not self.perfect_recall:
            return seats.seen_by(state.position, player)
        return seats.remembered_by(state.position, player, state.moves_before[player])


# ------------------------------------------------------------------------------------------------------------------ bots


class Bot(pyspiel.Bot):
    """An agent that plays for OpenSpiel; the bot itself keeps nothing between moves.

    Args:
        agent: who searches each decision anew, or one that is `seated`, with its memory of the game.
        player: its seat, from 0.
        seed: an integer ≥ 0, of its searches; the same state is searched with the same draws.
        of: for the states of one of OpenSpiel's own games, `icarus.bridges.openspiel.game(…)` with functions of yours. Absent: as that
            makes it of each state's game.

    Raises:
        TypeError: `agent` is not an agent, or `of` is no such game. ValueError: `player` or `seed` is not an integer ≥ 0, or an
            agent that remembers is not seated.
    """

    def __init__(
        self, agent: Agent, player: int, *, seed: int = 0, of: PythonGame | None = None
    ) -> None:
        super().__init__()
        seats.check_agent(agent)
        _check_of(of)
        self.agent = agent
        self._of = of
        self.player = checks.integer("player", player, 0)
        self.seed = checks.integer("seed", seed, 0)

    def restart_at(self, state: "pyspiel.State") -> None:
        """Go on from a state: nothing was kept of another."""

    def step(self, state: "pyspiel.State") -> int:
        """What the agent plays.

        Raises:
            ValueError: another player, or chance, is to act, or the game has ended.
        """
        if state.is_chance_node():
            raise ValueError(f"the bot plays seat {self.player}, but chance is to act")
        position = self.taken_up(state)
        acting = position.current_player()
        if acting != self.player:
            reason = "the game has ended" if acting == TERMINAL else f"player {acting} is to act"
            raise ValueError(f"the bot plays seat {self.player}, but {reason}")
        legal = position.legal_actions()
        if len(legal) == 1:
            return legal[0]
        return self.agent.search(position, (self.seed, len(state.history()))).action

    def taken_up(self, original: "pyspiel.State") -> IcarusState:
        """icarus's own state for one of OpenSpiel's."""
        if isinstance(original, OpenSpielState) and original.position is not None:
            return original.position
        return state(original, self._of)
