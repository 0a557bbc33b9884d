"""Games between agents."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.slots import Slot
from icarus.engine.result import Result, label, most_visits, why_another_game, why_other_histories
from icarus.engine.scheme import MO_ISMCTS, parse_scheme
from icarus.engine.search import Algorithm, Progress, Search, SeatedPlayer, check_callable
from icarus.kernel import AnyGame, State, check_game, check_is_state, draw_outcome
from icarus.kernel.evaluation import Evaluation, rules_of
from icarus.specs import parse

# ---------------------------------------------------------------------------------------------------------- levels


FILE = "levels.json"
DATA = Path(__file__).with_name(FILE)
AgentSettings: TypeAlias = dict[str, Any]  # by name, as read from JSON


def levels_of(game: AnyGame | str, file: str | Path | None = None) -> list[AgentSettings]:
    """The levels of a game, the weakest first.

    Each has the settings of an `agent`, its `elo` (random play at 0) with the 95 % interval, and its `step` above the level below.

    Args:
        file: of the levels, as `icarus describe` writes it, or the directory of a report; by default the package's.

    Raises:
        ValueError: the levels of this game have not been measured, or with other rules or another evaluation, if not its name alone is
            given; or the file cannot be read.
    """
    path = DATA if file is None else Path(file)
    if path.is_dir():
        path /= FILE
    try:
        content = json.loads(path.read_text("utf-8-sig"))
        measured = {name: list(levels) for name, levels in content["games"].items()}
        conditions = dict(content.get("measured_with", {}))
        if not measured or not all(measured.values()):
            raise ValueError("a game without levels")
        for levels in measured.values():
            for level in levels:
                settings = level["agent"]
                is_text = isinstance(settings["strategy"], str)
                if not is_text or not settings.keys() <= attrs.fields_dict(Agent).keys():
                    raise ValueError("no settings of an agent")
    except OSError as error:
        raise ValueError(f"the levels in {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} does not have the levels of a game, as icarus describe writes them where games tell them apart"
        ) from error
    if str(game) not in measured:
        where = "these games have" if file is None else f"{file} has those of"
        raise ValueError(
            f"{game} has no measured levels; {where}: {', '.join(measured)}; icarus describe {game} --to DIR measures its own, "
            "for at_level(…, levels=DIR) and --levels DIR"
        )
    if isinstance(game, AnyGame) and conditions:
        now = conditions_of(game)
        if changed := [name for name in now if conditions.get(name) != now[name]]:
            what = " and ".join(changed)
            raise ValueError(
                f"the levels of {game} in {path} were measured with another {what}; give that one, or measure anew by icarus describe"
            )
    return measured[str(game)]


def conditions_of(game: AnyGame) -> dict[str, str]:
    """What levels depend on, as a file of them has it: digests of the game's rules and of its learned evaluation, "" where it has none."""
    evaluation = Evaluation.of(game)
    return {
        "evaluation": "" if evaluation is None else evaluation.digest,
        "set of rules": rules_of(game),
    }


# The settings of an agent that another algorithm has too, or that are refused elsewhere: a cutoff is refused as a part of the scheme.
OF_ALGORITHMS = ("strategy", "iterations", "seconds", "cutoff")
# Keys of the independent streams of one game.
_CHANCE_STREAM, _SEARCH_STREAM, _DRAW_STREAM = range(3)


@attrs.frozen(repr=False)
class Agent(Search):
    """A player: a strategy, a budget for each decision, the threads that spend it, scheme and cut-off of its searches (see `search`).

    Attributes:
        strategy: an enhancement or a composition; or the settings of another algorithm, such as `icarus.equilibrium.OOS()`: its player
            keeps its results within a match, and takes a budget alone.
        cutoff: the number of actions of simulation after which playouts end; it becomes part of the scheme, which keeps it:
            `attrs.evolve(agent, cutoff=None, scheme=MO_ISMCTS)` is the agent without it.
        move_decay: the weight of the records of one search in the next of the same game (`Result.decayed`): at 1 the tree below the moves
            played and all other records are kept, at 0 every search starts without records.
        game_decay: the weight of the records, except those of histories, in the next game, for an agent that plays several games
            after one call of `seated`: from 0, which keeps nothing, to 1.
        recommendation: the rule of line 18 (see `search`).
        evaluation: a learned evaluation, or its file, which the agent's searches have as the heuristic of whatever game they are in:
            it has an effect where the scheme has a cut-off, or a slot reads `history.lookahead`.

    Raises:
        TypeError: the strategy is not an enhancement, or the scheme not a scheme. ValueError: no positive budget, an invalid number of
            threads, or fewer iterations than trees.
    """

    move_decay: float = attrs.field(default=0, kw_only=True)
    game_decay: float = attrs.field(default=0, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for name in ("move_decay", "game_decay"):
            decay = getattr(self, name)
            number = checks.real(name, decay, 0, 1)
            object.__setattr__(self, name, decay if type(decay) is int else number)
        if isinstance(self.strategy, Algorithm):
            self._refuse_settings_of_searches()

    def _refuse_settings_of_searches(self) -> None:
        """Refuse, beside another algorithm, whatever belongs to Algorithm 1 alone."""
        for field in attrs.fields(Agent):
            value = getattr(self, field.name)
            if field.name not in OF_ALGORITHMS and value != field.default:
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
            ValueError: no such level, or as of `levels_of`.
        """
        measured = levels_of(game, levels)
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
            if records is not None:
                raise ValueError(
                    f"{self.strategy} is another algorithm, which takes no records; what is `seated` keeps its own within a match"
                )
            player: Any = self.seated(state.game)
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
            parts.append(f"move decay {checks.exact_text(self.move_decay)}")
        if self.game_decay:
            parts.append(f"game decay {checks.exact_text(self.game_decay)}")
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

    remembers = True

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
        remaining = self.result
        if why_other_histories(remaining, state, self.agent.scheme):
            remaining = remaining.without_histories()
        return remaining.decayed(self._decay)

    def seated(self, game: AnyGame) -> "SeatedAgent":
        """The same player, ready for the next game.

        Raises:
            ValueError: it is a game by other rules.
        """
        if wrong := why_another_game(self.game, game):
            raise ValueError(
                f"a player who is seated at {self.game} has no records {wrong}; seat the agent there"
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


class ChosenAction:
    """What `play` reads of a search, where nothing was searched: an action, and no statistics."""

    def __init__(self, action: int, seconds: float = 0.0) -> None:
        self.action, self.seconds = action, seconds
        self.actions, self.visits, self.values = (action,), (0,), (0.0,)
        self.iterations = self.depth = 0


# ---------------------------------------------------------------------------------------- policies, asked by one door

# None for uniform choice; a function of states; what has learned or holds a policy; who searches; pyspiel's policies and bots.
PolicyLike: TypeAlias = Any
# By action, or in the order of the actions.
Probabilities: TypeAlias = Mapping[int, float] | Sequence[float] | np.ndarray
MOST_VISITED, VISIT_SHARES = PLAYS = ("most visited", "visit shares")
TOLERANCE = 1e-6  # how near to 1 the probabilities of a policy must sum


@attrs.frozen
class Question:
    """What a policy plays in the information set of a state.

    `question(state, seed)` gives the probabilities of the legal actions, in the game's order. [actions] A search has this seed.

    Attributes:
        policy: who is asked.
        has_luck: whether the answer is that of a seed: then the policy that is played is the mean over seeds.
    """

    policy: PolicyLike
    has_luck: bool
    _answer: Callable[[State, Sequence[int]], Probabilities]

    def __call__(self, state: State, seed: Sequence[int]) -> np.ndarray:
        """The probabilities of the legal actions.

        Raises:
            ValueError: the policy's answer is no probabilities.
        """
        try:
            answer = self._answer(state.clone(), seed)
        except Exception as error:
            where = state.history_str() or "the deal"
            error.add_note(f"the policy was asked in {state.game} after {where!r}")
            raise
        return checked_probabilities(state, answer)

    def seated(self, game: AnyGame) -> "Question":
        return self

    def search(self, state: State, seed: Sequence[int]) -> ChosenAction:
        """An action drawn by the probabilities."""
        chances = self(state, seed)
        draw = np.random.default_rng((*seed, _DRAW_STREAM)).random() * chances.sum()
        index = int(np.searchsorted(np.cumsum(chances), draw, side="right"))
        last = int(np.flatnonzero(chances)[-1])  # a sum that is rounded may end below the draw
        return ChosenAction(state.legal_actions()[min(index, last)])

    def __str__(self) -> str:
        return "uniform choice" if self.policy is None else label(self.policy)


def question_to(policy: PolicyLike, play: str = MOST_VISITED, *, learns: bool = False) -> Question:
    """How a policy of any kind is asked, for a measure or for a match.

    Args:
        policy: None for uniform choice; a function `policy(state)`; what has `policy_at(state)`, such as a CFR or an OOSSearch, which
            stands for its average policy; an Agent, or another who searches, each time from what it remembers now; a policy or a bot of
            pyspiel, in a game of `icarus.bridges.openspiel`.
        play: of a search that recommends an action, "most visited" for this action, as `play` has it, or "visit shares" for the shares of
            the visits. An algorithm such as OOS draws from its policy, whatever is said here.
        learns: whether a search that learns keeps what it has learned from one question to the next.

    Raises:
        TypeError: none of these. ValueError: `play` is neither, or an agent that remembers its searches.
    """
    checks.one_of("play", play, PLAYS)
    if policy is None:
        return Question(None, False, _uniform)
    is_settings = isinstance(policy, Algorithm) and not hasattr(policy, "search")
    if is_settings or isinstance(policy, type):
        wrong = "has no budget" if is_settings else "is a class, not a policy"
        raise TypeError(
            f"{policy!r} {wrong}; it must be made first, such as CFR(game) or Agent(strategy, iterations=…)"
        )
    if callable(getattr(policy, "action_probabilities", None)):
        return Question(
            policy, False, lambda state, seed: policy.action_probabilities(_of_openspiel(state))
        )
    if callable(getattr(policy, "step", None)):
        return _question_to_bot(policy)
    has_budget = getattr(policy, "budget", True) != (None, None)
    if has_budget and callable(getattr(policy, "search", None)):
        if getattr(policy, "remembers", False):
            raise ValueError(
                f"{policy} remembers its searches, and each decision is searched anew: leave out move_decay and game_decay"
            )
        return Question(policy, True, lambda *question: _searched(policy, play, learns, *question))
    tell = getattr(policy, "policy_at", policy)
    # strategies and slots are called for others of their kind, not for probabilities
    if callable(tell) and not isinstance(tell, Enhancement | Slot):
        return Question(policy, False, lambda state, seed: tell(state))
    raise TypeError(
        f"{policy!r} is not a policy; it must be a TabularPolicy, an Agent, a function policy(state) of probabilities, or a pair of these"
    )


def _uniform(state: State, seed: Sequence[int]) -> np.ndarray:
    count = len(state.legal_actions())
    return np.full(count, 1 / count)


def _searched(
    player: Any, play: str, learns: bool, state: State, seed: Sequence[int]
) -> Probabilities:
    """The probabilities by which a search plays; it forgets what it has learned from this search unless it `learns`."""
    before = None if learns or not hasattr(player, "recall") else player.memory()
    result = player.search(state, seed)
    if before is not None:
        player.recall(before)
    draws = play == VISIT_SHARES or isinstance(getattr(result, "strategy", None), Algorithm)
    return result.policy if draws and hasattr(result, "policy") else {result.action: 1.0}


def _question_to_bot(bot: Any) -> Question:
    """The question to a bot of pyspiel: for his policy if he provides it, else for a step."""
    if bot.provides_policy():
        return Question(bot, False, lambda state, seed: dict(bot.get_policy(_of_openspiel(state))))

    def step(state: State, seed: Sequence[int]) -> Probabilities:
        theirs = _of_openspiel(state)
        bot.restart_at(theirs)
        return {bot.step(theirs): 1.0}

    return Question(bot, True, step)


def _of_openspiel(state: State) -> Any:
    """The state of pyspiel that a state of a game of pyspiel is made of."""
    if not hasattr(state.data, "get_game"):
        raise TypeError(
            f"a policy or bot of pyspiel knows pyspiel's states: it plays in icarus.bridges.openspiel.game(…), not in {state.game}"
        )
    return state.data


def checked_probabilities(state: State, answer: Probabilities) -> np.ndarray:
    """The probabilities in the information set of a state in the order of its actions. [actions]

    Raises:
        ValueError: they are not numbers ≥ 0 that sum to 1, one for each action.
    """
    actions = state.legal_actions()
    in_order = answer
    if isinstance(answer, Mapping):
        is_wrong = {*answer} - {*actions}
        in_order = [] if is_wrong else [answer.get(action, 0.0) for action in actions]
    try:
        values = np.asarray(in_order, float)
    except (TypeError, ValueError):  # texts, lists of unequal lengths, a generator
        values = np.zeros(0)
    fits = values.shape == (len(actions),) and (values >= 0).all()
    if not fits or not abs(values.sum() - 1) < TOLERANCE:
        where = f"player {state.current_player()} of {state.game} plays {answer!r} after {state.history_str() or 'the deal'!r}"
        raise ValueError(
            f"{where}; it must be probabilities of the actions {actions} that sum to 1"
        )
    return values


# ------------------------------------------------------------------------------------------------------------ games


@attrs.frozen
class DecisionLog:
    """One decision of a game, with what the search knew of it.

    Attributes:
        player, action: who played what.
        legal: how many actions were legal; with a single one there is no search, and the statistics are 0.
        iterations, visits: playouts made, and those that chose this action, also of earlier searches whose records are used.
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
        agents: each an `Agent`; one that is `seated`, which keeps records of earlier games; or a policy of any kind that `question_to`
            takes, such as None for uniform choice, from which actions are drawn.
        seed: an integer ≥ 0, or several as a key; which of them are one is said at `search`.
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
    agents = [agent if is_player(agent) else _player_by(agent) for agent in agents]
    for agent in agents:
        if isinstance(agent, SeatedAgent) and sum(each is agent for each in agents) > 1:
            raise ValueError(
                f"{agent} is one player, seated twice, with one memory; seat the agent once for each seat"
            )
    players = [agent.seated(game) for agent in agents]
    fixed, key = checks.seed(seed), checks.seed_key(seed)
    started = time.perf_counter()
    state = first_state(game, key)
    decisions = list[DecisionLog]()
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
    return GameLog(
        game=str(game),
        agents=tuple(map(str, agents)),
        seed=fixed,
        actions=tuple(state.history),
        decisions=tuple(decisions),
        returns=tuple(state.returns()),
        seconds=time.perf_counter() - started,
    )


def _player_by(policy: PolicyLike) -> Question:
    try:
        return question_to(policy)
    except TypeError as error:
        raise TypeError(
            f"an agent must be an Agent(strategy, iterations=…), or a policy: {error}"
        ) from None


def first_state(game: AnyGame, key: Sequence[int]) -> State:
    """The state in which `play` begins by a seed, which is given as a key."""
    return game.new_initial_state((*key, _CHANCE_STREAM))


def _decision(state: State, agent: SeatedPlayer, seed: tuple[int, ...]) -> DecisionLog:
    legal = state.legal_actions()
    result = ChosenAction(legal[0]) if len(legal) == 1 else agent.search(state, seed)
    index = result.actions.index(result.action)
    return DecisionLog(
        player=state.current_player(),
        action=result.action,
        legal=len(legal),
        iterations=result.iterations,
        visits=int(result.visits[index]),
        value=float(result.values[index]),
        depth=result.depth,
        seconds=result.seconds,
    )
