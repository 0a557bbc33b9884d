"""Games between agents."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.engine.result import Result, label, leads_to, most_visits
from icarus.engine.scheme import MO_ISMCTS, ROOT_PLAYER, parse_scheme
from icarus.engine.search import Algorithm, Progress, Search, SeatedPlayer, check_callable
from icarus.kernel import AnyGame, State, check_game, check_is_state, draw_outcome
from icarus.specs import parse

# ---------------------------------------------------------------------------------------------------------- levels


FILE = "levels.json"
DATA = Path(__file__).with_name(FILE)
AgentSettings: TypeAlias = dict[str, Any]  # by name, as read from JSON


def levels_of(game: AnyGame | str, file: Path | None = None) -> list[AgentSettings]:
    """The levels of a game, the weakest first: the settings of an agent, and its `elo` (random play at 0) with the 95 % interval,
    and its `step` above the level below.

    Args:
        file: of the levels, as `icarus describe` writes it, or the directory of a report; by default the package's.

    Raises:
        ValueError: the levels of this game have not been measured, or the file cannot be read.
    """
    path = DATA if file is None else file / FILE if file.is_dir() else file
    try:
        measured = {
            game: list(levels)
            for game, levels in json.loads(path.read_text("utf-8-sig"))["games"].items()
        }
        if not all(measured.values()):
            raise ValueError("a game without levels")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} does not have the levels of a game, as icarus describe writes them where games tell them apart"
        ) from error
    if str(game) not in measured:
        where = "these games have" if file is None else f"{file} has those of"
        raise ValueError(
            f"{game} has no measured levels; {where}: {', '.join(measured)}; icarus describe measures others, for `levels`"
        )
    return measured[str(game)]


_CHANCE_STREAM, _SEARCH_STREAM = 0, 1  # keys of the independent streams of one game


@attrs.frozen(repr=False)
class Agent(Search):
    """A player: a strategy, a budget for each decision, the threads that spend it, scheme and cut-off of its searches (see `search`).

    Attributes:
        strategy: an enhancement or a composition; or the settings of another algorithm, such as `icarus.equilibrium.OOS()`: its player
            keeps its results within a match, and takes no threads, scheme or decay.
        cutoff: the number of actions of simulation after which playouts end; it becomes part of the scheme.
        move_decay: the weight of the records of one search in the next of the same game (`Result.decayed`): at 1 the tree below the moves
            played and all other records are kept, at 0 every search starts without records.
        game_decay: the weight of the records, except those of histories, in the next game, for an agent that plays several games
            after one call of `seated`: from 0, which keeps nothing, to 1.
        recommendation: the rule of line 18 (see `search`).
        evaluation: a learned evaluation, or its file, which the agent's searches have as the heuristic of whatever game they are in.

    Raises:
        TypeError: the strategy is not an enhancement, or the scheme not a scheme. ValueError: no positive budget, an invalid number of
            threads, or fewer iterations than trees.
    """

    move_decay: float = attrs.field(default=0, kw_only=True)
    game_decay: float = attrs.field(default=0, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        checks.real("move_decay", self.move_decay, 0, 1)
        checks.real("game_decay", self.game_decay, 0, 1)
        for field in attrs.fields(Agent)[3:] if isinstance(self.strategy, Algorithm) else ():
            if field.name != "cutoff" and (value := getattr(self, field.name)) != field.default:
                raise ValueError(
                    f"{self.strategy} is another algorithm, which searches in one thread: it takes no {field.name}={label(value)}"
                )

    @classmethod
    def at_level(cls, game: AnyGame | str, level: int, levels: str | Path | None = None) -> "Agent":
        """An agent of measured strength, from 1, which plays at once and weakly, to the highest of the game (`levels_of`).

        Weaker ones search less. Neighbours are about 100 Elo apart, as far as measured agents allow, so that games have 3 to 13 levels.

        Args:
            levels: the file of a game's levels, as `icarus describe` writes it, or the report's directory; by default the levels that
                this library has.

        Raises:
            ValueError: no such level or file, or the levels of this game have not been measured.
        """
        measured = levels_of(game, None if levels is None else Path(levels))
        settings = dict(
            measured[checks.integer(f"a level of {game}", level, 1, len(measured)) - 1]["agent"]
        )
        scheme = parse_scheme(settings.pop("scheme", str(MO_ISMCTS)))
        return cls(parse(settings.pop("strategy")), scheme=scheme, **settings)

    @property
    def remembers(self) -> bool:
        """Whether a search reuses records of the previous one."""
        return bool(self.move_decay or self.game_decay)

    def search(
        self,
        state: State,
        seed: int | Sequence[int],
        records: Result | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """The agent's search for a decision, with the records of an earlier search if they are given; errors as of `search`.

        Args:
            progress: called with (iterations made, seconds elapsed) about twenty times a second; its exceptions end the search.
        """
        check_is_state("search", state)
        if isinstance(self.strategy, Algorithm):
            player = self.strategy.seated(
                state.game, iterations=self.iterations, seconds=self.seconds
            )
            return player.search(state, seed, progress)
        return self.run(state, seed, records, progress)

    def seated(self, game: AnyGame) -> SeatedPlayer:
        """The player of one match: the agent itself, or, if it reuses records between decisions, a player that keeps them."""
        if isinstance(self.strategy, Algorithm):
            return self.strategy.seated(game, iterations=self.iterations, seconds=self.seconds)
        return SeatedAgent(self, game) if self.remembers else self

    def __repr__(self) -> str:
        """As it is called, without the settings that are as usual."""
        usual = {field.name: field.default for field in attrs.fields(Agent)[1:]}
        usual["scheme"] = MO_ISMCTS.with_cutoff(self.cutoff)
        changed = {
            name: getattr(self, name)
            for name, value in usual.items()
            if getattr(self, name) != value
        }
        settings = [
            f"{name}={label(value) if callable(value) else repr(value)}"
            for name, value in changed.items()
        ]
        return f"Agent({', '.join([repr(self.strategy), *settings])})"

    def __str__(self) -> str:
        parts = []
        if self.iterations is not None:
            parts.append(f"{self.iterations} iterations")
        if self.seconds is not None:
            parts.append(f"{self.seconds} s")
        if self.threads > 1:
            parts.append(f"{self.threads} threads")
        if self.move_decay:
            parts.append(f"move decay {self.move_decay:g}")
        if self.game_decay:
            parts.append(f"game decay {self.game_decay:g}")
        if self.recommendation is not most_visits:
            parts.append(label(self.recommendation))
        if self.evaluation is not None:
            parts.append(str(self.evaluation))
        return f"{self.scheme.label(self.strategy)} ({', '.join(parts)})"


class SeatedAgent:
    """An agent at the table, with the records of his last search; seated again, he plays the next game with what is left of them.

    Attributes:
        agent: whose strategy and budget he has.
        game: which he plays.
        result: of the last search, or what is left of it; None if there is nothing.
    """

    def __init__(self, agent: Agent, game: AnyGame) -> None:
        check_game("play", game)
        self.agent, self.game, self._decay = agent, game, agent.move_decay
        self.result: Result | None = None

    @property
    def strategy(self) -> Enhancement | Algorithm:
        return self.agent.strategy

    def search(self, state: State, seed: int | Sequence[int]) -> Result:
        """The search for a decision, which begins with what is left of the one before."""
        self.result = self.agent.search(state, seed, self._remaining(state))
        self._decay = self.agent.move_decay
        return self.result

    def _remaining(self, state: State) -> Result | None:
        if self.result is None or self._decay == 0:
            return None
        continued = self.result.root is None or leads_to(self.result.state, state)
        if (
            self.agent.scheme.observer == ROOT_PLAYER
            and self.result.state.current_player() != state.current_player()
        ):
            continued = False  # the histories are what another player saw
        return (self.result if continued else self.result.without_histories()).decayed(self._decay)

    def seated(self, game: AnyGame) -> "SeatedAgent":
        """The same player, ready for the next game.

        Raises:
            ValueError: it is a game by other rules.
        """
        if str(game) != str(self.game):
            raise ValueError(
                f"a player who is seated at {self.game} has no records of {game}; seat the agent there"
            )
        if self.result is not None:
            self.result, self._decay = self.result.without_histories(), self.agent.game_decay
        return self

    def __str__(self) -> str:
        return str(self.agent)


class Player(Protocol):
    """Who can play: an `Agent`, or another who says who sits down for one match; that one searches as an agent does."""

    def seated(self, game: AnyGame) -> SeatedPlayer:
        """The player of one match, with the records that it keeps during the match."""


def is_player(agent: object) -> bool:
    """Whether something is a `Player`: no class, and not the settings of an algorithm, whose `seated` needs a budget."""
    return not isinstance(agent, type | Algorithm) and callable(getattr(agent, "seated", None))


@attrs.frozen
class DecisionLog:
    """One decision of a game, with what the search knew of it.

    Attributes:
        player, action: who played what.
        legal: how many actions were legal; with a single one there is no search, and the statistics are 0.
        iterations, visits: playouts made, and those that chose this action.
        value: mean reward of the player after this action.
        depth: of the deepest history in the tree.
        seconds: of the search.
    """

    player: int
    action: int
    legal: int
    iterations: int
    visits: int
    value: float
    depth: int
    seconds: float


@attrs.frozen(repr=False)
class GameLog:
    """A game played to its end.

    Attributes:
        game: its name with parameters.
        agents: each seat's agent, as text.
        seed: what fixes it.
        actions: (player, action) of every action, chance included.
        decisions: the decisions of players, in order.
        returns: each player's reward in [0, 1].
        seconds: wall-clock time.
    """

    game: str
    agents: tuple[str, ...]
    seed: int | tuple[int, ...]
    actions: tuple[tuple[int, int], ...]
    decisions: tuple[DecisionLog, ...]
    returns: tuple[float, ...]
    seconds: float

    def __repr__(self) -> str:
        returns = ", ".join(f"{each:g}" for each in self.returns)
        return f"<game of {self.game}: {checks.count_text(len(self.actions), 'action')}, returns {returns}>"


def play(
    game: AnyGame,
    agents: Sequence[Player],
    *,
    seed: int | Sequence[int] = 0,
    watch: Callable[[State, int | None, DecisionLog | None], None] | None = None,
) -> GameLog:
    """Play one game between agents, one for each seat.

    The seed fixes the deal and every chance event, independently of the agents; each decision has its own random stream.

    Args:
        agents: each an `Agent`; or one that is `seated`, which keeps records of earlier games.
        seed: an integer ≥ 0, or several as a key.
        watch: called before every action with the state, not to be changed, the action and its decision (None for chance); last with None.

    Raises:
        ValueError: the number of agents is not the number of players, or one seated player has two seats.
        TypeError: `game` is not a game, `agents` are not agents, or `watch` is no function.
    """
    check_game("play", game)
    check_callable("watch", watch, "a function of (state, action, decision)")
    if not isinstance(agents, Sequence):
        raise TypeError(f"play needs a list of agents, one for each seat, not {agents!r}")
    if len(agents) != game.players:
        raise ValueError(
            f"{game} needs {checks.count_text(game.players, 'agent')}, not {len(agents)}"
        )
    for agent in agents:
        if not is_player(agent):
            raise TypeError(f"an agent must be an Agent(strategy, iterations=…), not {agent!r}")
        if isinstance(agent, SeatedAgent) and sum(each is agent for each in agents) > 1:
            raise ValueError(
                f"{agent} is one player, seated twice, with one memory; seat the agent once for each seat"
            )
    players = [agent.seated(game) for agent in agents]
    fixed, key = checks.seed(seed), checks.seed_key(seed)
    started, state, decisions = time.perf_counter(), first_state(game, key), []
    chance_rng = np.random.default_rng((*key, _CHANCE_STREAM, 1))
    while not state.is_terminal():
        decision = None
        if state.is_chance_node():
            action = draw_outcome(state, chance_rng)
        else:
            decision = _decision(
                state, players[state.current_player()], (*key, _SEARCH_STREAM, len(state.history))
            )
            action = decision.action
            decisions.append(decision)
        if watch is not None:
            watch(state, action, decision)
        state.apply_action(action)
    if watch is not None:
        watch(state, None, None)
    names, actions, returns = tuple(map(str, agents)), tuple(state.history), tuple(state.returns())
    return GameLog(
        str(game), names, fixed, actions, tuple(decisions), returns, time.perf_counter() - started
    )


def first_state(game: AnyGame, key: Sequence[int]) -> State:
    """The state in which `play` begins by a seed, which is given as a key."""
    return game.new_initial_state((*key, _CHANCE_STREAM))


def _decision(state: State, agent: SeatedPlayer, seed: tuple[int, ...]) -> DecisionLog:
    player, legal = state.current_player(), state.legal_actions()
    if len(legal) == 1:
        return DecisionLog(player, legal[0], 1, 0, 0, 0.0, 0, 0.0)
    result = agent.search(state, seed)
    index = result.actions.index(result.action)
    visits, value = int(result.visits[index]), float(result.values[index])
    return DecisionLog(
        player,
        result.action,
        len(legal),
        result.iterations,
        visits,
        value,
        result.depth,
        result.seconds,
    )
