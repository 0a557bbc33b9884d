"""Definitions 1-2 as a value: a game is plain functions on a named state record, and `State` is its face in Python.

The functions of a game are ordinary Python functions that the compiler accepts. Each takes the state as a record with
attribute access (`state.player`, `state.discs[0]`), so that the same source runs compiled and as plain Python.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from icarus.compiler.functions import plain
from icarus.compiler.rng import seeded
from icarus.kernel.functions import Entries, entries_of

CHANCE = -1  # ρ(s) where the environment acts (the paper's player 0)
TERMINAL = -4  # ρ(s) at the end of the game
CONTINUES = -1  # the continuation label: e(s) inside an episode
UNLABELLED = -2  # the label of an initial position that the episode function leaves unlabelled
UNSEEN = -(
    1 << 60
)  # a move of which an observer notices nothing at all; times MAX_PLAYERS it is still a 64-bit integer
MAX_PLAYERS = 8
NO_DEAL = -1.0  # in place of a probability: the deals are exhausted
_NOTHING = np.dtype([("nothing", np.int64)], align=True)


def _positive(instance: Any, attribute: Any, value: int) -> None:
    if value < 1:
        raise ValueError(f"{attribute.name} of a game is {value!r}; it must be at least 1")


def bounded(instance: Any, attribute: Any, value: int) -> None:
    """Refuse a number of players that no game can have."""
    _positive(instance, attribute, value)
    if value > MAX_PLAYERS:
        raise ValueError(f"{instance.name} has {value} players; at most {MAX_PLAYERS} are possible")


def _readable(instance: Any, attribute: Any, value: np.dtype) -> None:
    _aligned(instance, attribute, value)
    taken = [name for name in value.names or () if hasattr(np.record, name)]
    if taken:
        raise ValueError(
            f"the state record of {instance.name} cannot have a field {taken[0]!r}: it is an attribute of every numpy record"
        )


def _aligned(instance: Any, attribute: Any, value: np.dtype) -> None:
    if not isinstance(value, np.dtype) or value.names is None or not value.isalignedstruct:
        raise TypeError(
            f"{attribute.name} of a game is {value!r}; it must be np.dtype([...], align=True) with named fields"
        )


class AnyGame:
    """What all games are asked, whatever their states are made of."""

    name: str
    players: int
    observe: Callable | None
    parameters: Mapping[str, int]
    defaults: Mapping[str, int]

    def __str__(self) -> str:
        given = ", ".join(f"{key}={value}" for key, value in self.parameters.items() if self.defaults.get(key) != value)
        return f"{self.name}({given})" if given else self.name

    def __repr__(self) -> str:
        return f"<game {self}>"

    @property
    def viewers(self) -> int:
        """How many different eyes a history is seen through: 1 where everyone sees every action, else κ + 1."""
        return 1 if self.observe is None else self.players + 1

    def viewer(self, player: int) -> int:
        """The column of a player's view; the environment's is the last."""
        if self.viewers == 1:
            return 0
        return self.players if player == CHANCE else player


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Game(AnyGame):
    """A game (Definition 1) with what Definitions 2-4 and section 5.1 need of it.

    Required:
        name: as typed by people, "knockout-whist".
        players: κ. Players are 0 … κ−1.
        state: the dtype of the state record, `np.dtype([...], align=True)`: named fields, any shapes.
        initial: `initial(state, rng, **parameters)` makes the all-zero `state` the initial state s₀, deal included.
        player: `player(state) -> int`, ρ: the player about to act, CHANCE or TERMINAL.
        legal: `legal(state, actions) -> int`, A(s): writes the legal actions (distinct non-negative integers, always in the
            same order for the same state) and returns their number, at least 1 unless terminal. At a chance state: all
            outcomes.
        apply: `apply(state, action)`, f: changes the state.
        rewards: `rewards(state, out)`, μ: writes each player's reward, in [0, 1], at a terminal state.
        max_legal: no state has more legal actions than this.
        text: `text(state) -> str`, the board or hands as people draw them (plain Python).
        action_text: `action_text(state, action) -> str` in the notation players use, distinct among the legal actions.

    Optional:
        observe: `observe(state, action, moves)`, the ⌣ᵢ: called before `apply` with moves [κ] all equal to the action;
            puts what player i sees of it (any other integer, UNSEEN for nothing at all) at moves[i]. The mover's own
            entry stays. Absent: everyone sees every action.
        chance: `chance(state, probabilities)`, π₀: one probability for each legal action of a chance state.
        determinize: `determinize(state, observer, beliefs, rng)` redraws all that `observer` cannot know, uniformly from his
            information set. For CHANCE, who sees everything, it redraws at most the luck to come. Absent: perfect information.
        beliefs, prepare: a record dtype and `prepare(state, observer, beliefs)`, called once before a search, for what
            `determinize` can compute ahead.
        episode: `episode(state) -> int`, e: an episode label ≥ 0 or CONTINUES (section 5.1).
        recall: `recall(state, viewer, moves) -> int`: the moves that `viewer` has seen since the current episode began, as
            the (determinized) state tells it. Needed only where moves inside an episode are hidden from someone.
        simultaneous: `simultaneous(state) -> int`: 0, or the number (1, 2, …) of this decision among the choices that players make at
            once: the first to be asked is 1, and what he chooses stays hidden from the next.
        deal, seen: what `initial` draws, in the open, for all that needs every deal with its probability: `deal(state, index,
            **parameters) -> float` makes the all-zero `state` the initial state after deal number `index` = 0, 1, … and returns the
            probability of this deal, NO_DEAL where there are no so many; `seen(state, viewer) -> int` is what a player sees of
            the deal of an initial state: the same integer for deals that he cannot tell apart. Absent: secret, if `initial` draws.
        gains: what a player has won or lost, in the game's own units, at a reward of 0 and at one of 1: (-2, 2) chips.
        retrace: `retrace(state, record) -> (start, actions)`, plain Python, for audits: for a `State` and the record of one of
            its determinizations, an initial record [1] and the actions that lead from it to that record.
        multiplicity: `multiplicity(state) -> float`, plain Python, for audits: where the record says less than the deal (ranks
            without their suits), how many deals it stands for, up to a common factor. Absent: all records are equally likely.
        parameters: keyword arguments of `initial` (integers), such as the number of players; any that has no default there.
        defaults: the values of these that go without saying in the game's full name.
        seat_names: what people call the players, in their order, where the roles differ: "Light", "Dark".

    Raises:
        ValueError: a parameter that `initial` does not take, or lacks.
    """

    name: str
    players: int = attrs.field(validator=bounded)
    state: np.dtype = attrs.field(validator=_readable)
    initial: Callable
    player: Callable
    legal: Callable
    apply: Callable
    rewards: Callable
    max_legal: int = attrs.field(validator=_positive)
    text: Callable
    action_text: Callable
    observe: Callable | None = None
    chance: Callable | None = None
    determinize: Callable | None = None
    beliefs: np.dtype = attrs.field(default=_NOTHING, validator=_aligned)
    prepare: Callable | None = None
    episode: Callable | None = None
    recall: Callable | None = None
    simultaneous: Callable | None = None
    deal: Callable | None = None
    seen: Callable | None = None
    gains: tuple[float, float] = (-1.0, 1.0)
    retrace: Callable | None = None
    multiplicity: Callable | None = None
    parameters: Mapping[str, int] = attrs.field(factory=dict)
    defaults: Mapping[str, int] = attrs.field(factory=dict)
    seat_names: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.seat_names and len(set(self.seat_names)) != self.players:
            raise ValueError(
                f"the seat names of {self.name} are {self.seat_names!r}; it needs {self.players} different ones"
            )
        taken = _parameters_of(self.initial)
        unknown = [name for name in self.parameters if name not in taken]
        missing = [name for name, default in taken.items() if default is None and name not in self.parameters]
        if unknown or missing:
            wrong = f"is given the parameter {unknown[0]!r}" if unknown else f"lacks the parameter {missing[0]!r}"
            raise ValueError(f"{self.name} {wrong}; its initial function takes {', '.join(taken) or 'none'}")
        if (self.deal is None) != (self.seen is None):
            given, other = ("deal", "seen") if self.seen is None else ("seen", "deal")
            raise ValueError(f"{self.name} has a function {given} but none {other}; deals in the open need both")
        if self.deal is not None and list(_parameters_of(self.deal)) != list(taken):
            raise ValueError(f"deal of {self.name} must take the parameters of initial: {', '.join(taken) or 'none'}")

    def entries(self) -> "Entries":
        """The compiled functions; compiled or loaded on first use, shared by all games that use the same functions."""
        return entries_of(
            self.state,
            self.beliefs,
            self.max_legal,
            len(_parameters_of(self.initial)),
            *(getattr(self, field) for field in FUNCTIONS),
        )

    def parameter_values(self) -> np.ndarray:
        """The parameters as the compiled `initial` and `deal` take them, in its order."""
        taken = _parameters_of(self.initial)
        return np.array([self.parameters.get(name, taken[name]) for name in taken] or [0], np.int64)

    def new_initial_state(self, seed: int | Sequence[int] = 0) -> "State":
        """A fresh game. Everything that chance decides before the first action (the deal) follows from the seed."""
        record = np.zeros(1, self.state)
        generator = seeded(seed)
        parameters = self.parameter_values()
        self.entries().initial(record.ctypes.data, generator.ctypes.data, parameters.ctypes.data)
        return State(self, record)


@functools.cache
def _parameters_of(initial: Callable) -> dict[str, int | None]:
    """What `initial` (or `deal`) takes after its first two arguments, in its order: each name with its default, None without."""
    taken = list(inspect.signature(plain(initial)).parameters.values())[2:]
    return {one.name: None if one.default is one.empty else one.default for one in taken}


FUNCTIONS = (
    "initial",
    "player",
    "legal",
    "apply",
    "rewards",
    "observe",
    "chance",
    "determinize",
    "prepare",
    "episode",
    "recall",
    "simultaneous",
    "deal",
    "seen",
)


def copied(record: np.ndarray) -> np.ndarray:
    """A copy of a state record to the last byte; numpy's own leaves the bytes between the fields undefined."""
    return record.view(np.uint8).copy().view(record.dtype)


def in_words(record: np.ndarray) -> np.ndarray:
    """A copy of a state record as compiled code copies it, in whole words of 8 bytes."""
    words = np.zeros(-(-record.nbytes // 8), np.int64)
    words.view(np.uint8)[: record.nbytes] = record.view(np.uint8)
    return words


@attrs.frozen
class EpisodePosition:
    """η of a history since the start of the game (eq. 17), as each viewer saw it.

    Attributes:
        label: the label of the current episode.
        moves: for each viewer (players in order, then the environment; a single entry where everyone sees every action) the moves
            observed since the episode began.
        last: the player who made the last action of the game so far; None before the first.
        previous: (label, moves) of the history itself by the eyes of `last`: the episode that was running when that
            action was chosen, the action included, also where it ended that episode. (initial label, ()) before the first.
    """

    label: int
    moves: tuple[tuple[int, ...], ...]
    last: int | None
    previous: tuple[int, tuple[int, ...]]

    def seen_before(self, observer: int) -> tuple[int, tuple[int, ...]]:
        """`previous`, as far as a search for `observer` may know it.

        Where moves can be hidden, and another player's (or chance's) action ended the episode, what he saw of that episode is not for
        the observer to know: the position then stands for itself, at the start of its own episode.
        """
        if len(self.moves) == 1 or self.last in (None, observer) or any(self.moves):
            return self.previous
        return self.label, ()


class State:
    """A state of a game with the history that led to it, in OpenSpiel's protocol.

    Rewards are the game's own, in [0, 1]; players are 0 … κ−1; `CHANCE` (−1) acts at chance states and `TERMINAL` (−4) is the
    current player of a finished game.
    """

    def __init__(
        self, game: Any, record: Any, *, start: "State | None" = None, position: EpisodePosition | None = None
    ) -> None:
        self.game = game
        self.record = record  # [1] of game.state
        self.history: list[tuple[int, int]] = []  # (player, action) since the start
        self.start: Any = self._copied(record) if start is None else start.start  # the record of s₀
        self._position = position  # set where the history is not this state's own

    @property
    def facts(self) -> Any:
        """The state record with attribute access; changing it changes the state."""
        return self.record.view(np.recarray)[0]

    def current_player(self) -> int:
        return self.game.entries().player(self.record.ctypes.data)

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE

    def legal_actions(self) -> list[int]:
        """A(s), in the game's order; empty at a terminal state."""
        if self.is_terminal():
            return []
        return self._legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """(action, probability) of each outcome of a chance state (π₀).

        Raises:
            ValueError: not a chance state.
        """
        if not self.is_chance_node():
            raise ValueError(
                f"no chance outcomes: player {self.current_player()} is about to act in this state of {self.game}"
            )
        actions = self.legal_actions()
        if self.game.chance is None:
            return [(action, 1 / len(actions)) for action in actions]
        return list(zip(actions, self._probabilities(), strict=False))

    def apply_action(self, action: int) -> None:
        """f(s, a): play a legal action.

        Raises:
            ValueError: the action is not legal here.
        """
        legal = self.legal_actions()
        if action not in legal:
            raise ValueError(f"action {action!r} is not legal here; {self._choices(legal)}")
        self.history.append((self.current_player(), int(action)))
        self._advance(self.record, int(action))

    def _choices(self, legal: Sequence[int]) -> str:
        if not legal:
            return f"this game of {self.game} has ended"
        shown = ", ".join(f"{action} ({self.action_to_string(action)})" for action in legal[:20])
        return f"legal: {shown}" + (f" and {len(legal) - 20} more" if len(legal) > 20 else "")

    def returns(self) -> list[float]:
        """μ: each player's reward in [0, 1].

        Raises:
            ValueError: the game has not ended.
        """
        if not self.is_terminal():
            raise ValueError(
                f"no rewards yet: player {self.current_player()} is about to act in this state of {self.game}"
            )
        return self._rewards()

    def clone(self) -> "State":
        other = type(self)(self.game, self._copied(self.record), start=self, position=self._position)
        other.history = list(self.history)
        return other

    def determinize(self, observer: int, seed: int | Sequence[int] = 0) -> "State":
        """A state drawn uniformly from the information set of `observer`; this state is not changed.

        Raises:
            ValueError: no such player.
        """
        self._known_player(observer)
        return self.determinized(observer, seeded(seed))

    def determinized(self, observer: int, generator: np.ndarray) -> "State":
        """As `determinize`, by a generator of `icarus.compiler.rng` that goes on."""
        other = State(self.game, copied(self.record), start=self, position=self.position_in_episode())
        entries = self.game.entries()
        if entries.determinize is not None:
            beliefs = self.beliefs(observer)
            entries.determinize(other.record.ctypes.data, observer, beliefs.ctypes.data, generator.ctypes.data)
        return other

    def beliefs(self, observer: int) -> np.ndarray:
        """What `determinize` may compute ahead for `observer`: [1] of game.beliefs."""
        beliefs = np.zeros(1, self.game.beliefs)
        prepare = self.game.entries().prepare
        if prepare is not None:
            prepare(self.record.ctypes.data, observer, beliefs.ctypes.data)
        return beliefs

    def moves(self, player: int) -> tuple[int, ...]:
        """The moves that a player (or CHANCE, who sees everything) has observed since the start of the game.

        Raises:
            ValueError: no such player, or a determinized state, which has no history of its own.
        """
        self._known_player(player)
        column = self.game.viewer(player)
        return tuple(seen[column] for _, seen, _ in self._replay() if seen[column] != UNSEEN)

    def position_in_episode(self) -> EpisodePosition:
        """Where this state stands in its episode (section 5.1), counted from the start of the game."""
        if self._position is not None:
            return self._position
        viewers, first = self.game.viewers, self._label(self.start)
        label = UNLABELLED if first == CONTINUES else first
        moves: list[tuple[int, ...]] = [()] * viewers
        last: int | None = None
        previous: tuple[int, tuple[int, ...]] = (label, ())
        for player, seen, record in self._replay():
            moves = [old if move == UNSEEN else (*old, move) for old, move in zip(moves, seen, strict=True)]
            last, previous = player, (label, moves[self.game.viewer(player)])
            found = self._label(record)
            if found != CONTINUES:
                label, moves = found, [()] * viewers
        return EpisodePosition(label, tuple(moves), last, previous)

    def _replay(self) -> Iterator[tuple[int, list[int], np.ndarray]]:
        """Each action of the history as (player, the move that each viewer saw, the state record after it)."""
        if self._position is not None:
            raise ValueError("a determinized state has no history of its own; ask the state it was drawn from")
        record = self._copied(self.start)
        for player, action in self.history:
            moves = self._seen(record, action)
            self._advance(record, action)
            yield player, moves, record

    def _known_player(self, player: int) -> None:
        if player != CHANCE and not 0 <= player < self.game.players:
            raise ValueError(f"{self.game} has players 0 to {self.game.players - 1}, not {player!r}")

    def action_to_string(self, action: int) -> str:
        return self.game.action_text(self.facts, action)

    def string_to_action(self, text: str) -> int:
        """The legal action written so.

        Raises:
            ValueError: no legal action is written so; the message lists those that are.
        """
        legal = self.legal_actions()
        written = {self.action_to_string(action): action for action in legal}
        if text not in written:
            raise ValueError(f"{text!r} is not legal here; {self._choices(legal)}")
        return written[text]

    def history_str(self) -> str:
        """The actions so far in the notation of the game."""
        state, texts = type(self)(self.game, self._copied(self.start)), []
        for _, action in self.history:
            texts.append(state.action_to_string(action))
            state.apply_action(action)
        return " ".join(texts)

    def __str__(self) -> str:
        return self.game.text(self.facts)

    def __repr__(self) -> str:
        return f"<{self.game} after {len(self.history)} actions>"

    # ------------------------------------------------------- the functions of the game, as its kind of state record takes them

    def _copied(self, record: Any) -> Any:
        return copied(record)

    def _legal(self) -> list[int]:
        actions = np.empty(self.game.max_legal, np.int64)
        count = self.game.entries().legal(self.record.ctypes.data, actions.ctypes.data)
        return actions[:count].tolist()

    def _probabilities(self) -> list[float]:
        probabilities = np.zeros(self.game.max_legal)
        self.game.entries().chance(self.record.ctypes.data, probabilities.ctypes.data)
        return probabilities.tolist()

    def _advance(self, record: Any, action: int) -> None:
        self.game.entries().apply(record.ctypes.data, action)

    def _rewards(self) -> list[float]:
        out = np.zeros(self.game.players)
        self.game.entries().rewards(self.record.ctypes.data, out.ctypes.data, self.game.players)
        return out.tolist()

    def _label(self, record: Any) -> int:
        return CONTINUES if self.game.episode is None else self.game.entries().episode(record.ctypes.data)

    def _seen(self, record: Any, action: int) -> list[int]:
        moves = np.full(self.game.viewers, action, np.int64)
        if self.game.observe is not None:
            self.game.entries().observe(record.ctypes.data, action, moves.ctypes.data, self.game.players)
        return moves.tolist()
