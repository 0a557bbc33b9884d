"""Definitions 1-2 as a value: a game is plain functions on named state data.

The functions of a game are ordinary Python functions that the compiler accepts. Each takes the state as data with
attribute access (`state.player`, `state.discs[0]`), so that the same source runs compiled and as plain Python.
"""

import difflib
import inspect
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

import attrs
import numpy as np

from icarus import checks
from icarus.compiler.digest import Bound, are_bound, generation, renew_rebound, variables_of
from icarus.compiler.functions import MAKES_PLAIN
from icarus.compiler.kernel import Kernel
from icarus.compiler.messages import defined_at, raised_in
from icarus.compiler.rng import seeded
from icarus.kernel.contract import CHANCE, MAX_PLAYERS
from icarus.kernel.features import KINDS, check_distinct, check_names, names_of, numbers_kernel
from icarus.kernel.functions import FUNCTIONS, Arrays, Kernels, check_arguments, kernels_of, parameters_of
from icarus.kernel.state import State

_NOTHING = np.dtype([("nothing", np.int64)], align=True)
LONGEST = 100_000  # actions of a game of which nothing is said


def positive(instance: object, attribute: attrs.Attribute, value: int) -> None:
    """Refuse a number below 1."""
    checks.integer(f"{attribute.name} of a game", value, 1)


def check_player_count(instance: "AnyGame", attribute: attrs.Attribute, value: int) -> None:
    """Refuse a number of players that no game can have."""
    positive(instance, attribute, value)
    if value > MAX_PLAYERS:
        raise ValueError(f"{instance.name} has {value} players; at most {MAX_PLAYERS} are possible")


def _increasing(instance: "AnyGame", attribute: attrs.Attribute, value: tuple[float, float]) -> None:
    """Refuse utilities by which a greater reward gains less, or nothing."""
    if not (
        isinstance(value, tuple | list) and len(value) == 2 and all(map(checks.is_real, value)) and value[0] < value[1]
    ):
        raise ValueError(
            f"utilities of {instance.name} are {value!r}; they must be (least, most), the gains at rewards of 0 and 1"
        )


def _readable(instance: "Game", attribute: attrs.Attribute, value: np.dtype) -> None:
    _check_alignment(instance, attribute, value)
    reserved = [name for name in value.names or () if hasattr(np.record, name)]
    if reserved:
        raise ValueError(
            f"the state data of {instance.name} cannot have a field {reserved[0]!r}: it is an attribute of every numpy record"
        )


def _check_alignment(instance: "Game", attribute: attrs.Attribute, value: np.dtype) -> None:
    if not isinstance(value, np.dtype) or value.names is None or not value.isalignedstruct:
        raise TypeError(
            f"{attribute.name} of a game is {value!r}; it must be np.dtype([...], align=True) with named fields"
        )


def _of_fields(instance: "Game", attribute: attrs.Attribute, value: Mapping[str, tuple[int, int]]) -> None:
    """Refuse ranges that are none of the numbers in the state data."""
    for name, limits in value.items():
        if name not in (instance.state.names or ()) or instance.state[name].base.kind not in "biuf":
            raise ValueError(
                f"ranges of {instance.name} name {name!r}, which is not a field of numbers in its state data"
            )
        if not (
            isinstance(limits, tuple)
            and len(limits) == 2
            and all(map(checks.is_real, limits))
            and limits[0] <= limits[1]
        ):
            raise ValueError(
                f"the range of {name} of {instance.name} is {limits!r}; it must be (least, most), such as (0, 1)"
            )
        kind, widest = instance.state[name].base, limits
        if kind.kind != "f":
            widest = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        if limits[0] < widest[0] or limits[1] > widest[1]:
            raise ValueError(
                f"the range of {name} of {instance.name} is {limits!r}, and {kind} holds {widest[0]} to {widest[1]}; give the field a "
                "larger type, or a range that it can hold"
            )


class TextError(ValueError):
    """A `text` or `action_text` of a game that raises an error, or gives no text; the message is one sentence with the line."""


class Tensor(NamedTuple):
    """Numbers that a player sees, for whoever learns from them.

    Attributes:
        shape: of the numbers.
        write: `write(state, player, out)`, plain Python: fills `out` [shape], which is all zero, with what this player may know.
    """

    shape: tuple[int, ...]
    write: Callable


@attrs.frozen(kw_only=True, eq=False, repr=False)
class AnyGame(ABC):
    """What all games are asked, whatever their states are made of; `Game` says what each of it is."""

    # rules
    name: str
    players: int = attrs.field(validator=check_player_count)
    initial: Callable
    player: Callable
    legal: Callable
    apply: Callable
    rewards: Callable
    text: Callable
    action_text: Callable
    chance: Callable | None = None
    simultaneous: Callable | None = None
    max_length: int = attrs.field(default=LONGEST, validator=positive)
    # hidden information (absent: none)
    observe: Callable | None = None
    determinize: Callable | None = None
    prepare: Callable | None = None
    episode: Callable | None = None
    recall: Callable | None = None
    # features and a heuristic, for slots and cut-offs
    features: Callable | None = None
    feature_names: tuple[str, ...] = ()
    action_features: Callable | None = None
    action_feature_names: tuple[str, ...] = ()
    heuristic: Callable | None = None
    # names and parameters
    parameters: Mapping[str, int] = attrs.field(factory=dict)
    defaults: Mapping[str, int] = attrs.field(factory=dict)
    seat_names: tuple[str, ...] = ()
    actions: int | None = attrs.field(default=None, validator=attrs.validators.optional(positive))
    # for solvers and bridges
    deal: Callable | None = None
    deal_observation: Callable | None = None
    utilities: tuple[float, float] = attrs.field(default=(-1.0, 1.0), validator=_increasing)

    def __new__(cls, *arguments: object, **given: object) -> Self:
        """A game not yet made; refuses a name that is none of its parts."""
        names = [field.name for field in attrs.fields(cls)]
        wrong = next((name for name in given if name not in names), None)
        if wrong is not None:
            near = difflib.get_close_matches(wrong, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(names)}"
            raise TypeError(f"a {cls.__name__} has no {wrong!r}; {hint}")
        return object.__new__(cls)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"the name of a game is {self.name!r}; it must be a str, such as 'knockout-whist'")
        if not self.name.isprintable():
            raise ValueError(f"the name of a game is {self.name!r}; it must be one line, such as 'knockout-whist'")
        if "/" in self.name or "\\" in self.name:
            raise ValueError(
                f"the name of a game is {self.name!r}; it must have no / or \\, because files are called by it"
            )
        for field in attrs.fields(type(self)):
            value = getattr(self, field.name)
            is_absent = value is None and field.type == Callable | None
            if field.type in (Callable, Callable | None) and not (is_absent or callable(value)):
                raise TypeError(f"{field.name} of {self.name} is {value!r}; it must be a function")
            if inspect.iscoroutinefunction(value):
                raise TypeError(f"{field.name} of {self.name} is an async function; it must be a plain one")
        if self.seat_names and len(set(self.seat_names)) != self.players:
            raise ValueError(
                f"the seat names of {self.name} are {self.seat_names!r}; it needs {self.players} different ones"
            )
        if (self.deal is None) != (self.deal_observation is None):
            present, missing = "deal", "deal_observation"
            if self.deal is None:
                present, missing = missing, present
            raise ValueError(f"{self.name} has a function {present} but no {missing}; deals of a game tree need both")
        check_names(self, "features", "feature_names")
        check_names(self, "action_features", "action_feature_names")
        check_distinct(self)

    def __str__(self) -> str:
        settings = ", ".join(
            f"{key}={value}" for key, value in self.parameters.items() if self.defaults.get(key) != value
        )
        return f"{self.name}({settings})" if settings else self.name

    def __repr__(self) -> str:
        return f"<game {self}>"

    @abstractmethod
    def new_initial_state(self, seed: int | Sequence[int] = 0) -> State:
        """A fresh game; the deal follows from the seed."""

    def text_of(self, facts: object) -> str:
        """What `text` writes.

        Raises:
            TextError: it raises an error, or gives no text.
        """
        return self._call_text("text", facts)

    def action_text_of(self, facts: object, action: int) -> str:
        """What `action_text` writes; errors as in `text_of`."""
        return self._call_text("action_text", facts, action)

    def _call_text(self, name: str, *arguments: object) -> str:
        function = getattr(self, name)
        try:
            text = function(*arguments)
        except TextError:  # of the game that this one is made of
            raise
        except Exception as error:  # whatever a function of an author's stumbles over is what there is to tell
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise TextError(f"{name} of {self.name} raises {reason}{raised_in(function, error)}") from error
        if not isinstance(text, str):
            raise TextError(f"{name} of {self.name} gives {text!r}, which is not a str{defined_at(function)}")
        return text

    def same_texts(self, text: str, actions: Sequence[int]) -> ValueError:
        """What is raised where somebody writes a text by which several legal actions are called."""
        several = f"{', '.join(map(str, actions[:-1]))} and {actions[-1]}"
        return ValueError(
            f"{'two' if len(actions) == 2 else len(actions)} legal actions are called {text!r} here ({several}); "
            f"action_text of {self} must tell them apart{defined_at(self.action_text)}"
        )

    @property
    def perspectives(self) -> int:
        """In how many perspectives a history is recorded: 1 where everyone sees every action, else κ + 1."""
        return 1 if self.observe is None else self.players + 1

    def perspective(self, player: int) -> int:
        """The column of a player's view; the environment's is the last."""
        if self.perspectives == 1:
            return 0
        return self.players if player == CHANCE else player


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Game(AnyGame):
    """A game (Definition 1) with what Definitions 2-4 and section 5.1 need of it.

    Functions write into the arrays that they are given; `state` has the fields of the state data as attributes. The first eleven arguments
    are required.

    Rules:
        name: as typed by people, "knockout-whist".
        players: κ. Players are 0 … κ−1.
        state: the dtype of the state data, `np.dtype([...], align=True)`: named fields, any shapes.
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
        chance: `chance(state, probabilities)`, π₀: one probability for each legal action of a chance state. Absent: equal ones.
        simultaneous: `simultaneous(state) -> int`: 0, or the number (1, 2, …) of this decision among simultaneous choices of players: the
            first is 1, and its choice is hidden from the next player.
        max_length: the greatest number of actions of a game, including those of chance; a longer playout is refused.

    Hidden information:
        observe: `observe(state, action, moves)`, the ⌣ᵢ: called before `apply` with moves [κ] all equal to the action;
            writes what player i sees of it (any other integer, UNSEEN for nothing at all) to moves[i]. The mover's
            own move is not changed. Absent: everyone sees every action.
        determinize: `determinize(state, observer, beliefs, rng)` redraws all that `observer` cannot know, uniformly from his
            information set. For CHANCE, who sees everything, it redraws at most the future chance. Absent: perfect information.
        beliefs, prepare: a dtype and `prepare(state, observer, beliefs)`, called once before a search, for data that
            `determinize` can compute in advance.
        episode: `episode(state) -> int`, e: an episode label ≥ 0 or CONTINUES (section 5.1).
        recall: `recall(state, perspective, moves) -> int`: the moves that `perspective` has seen since the current episode began, according
            to the (determinized) state. `perspective` is a player, or κ for the environment, which sees every action. Needed only if moves
            within an episode are hidden from a player.

    Features and heuristic:
        features, feature_names: `features(state, out)` writes a number, or 1 or 0, for each of the names; slots read them
            as `history.features`. They are computed for any state, including chance states and terminal ones.
        action_features, action_feature_names: `action_features(state, action, out)`, the same for a legal action of a player, before it is
            played: `history.action_features`. All names are different.
        heuristic: `heuristic(state, out)` writes the expected reward of each player in a state that is not terminal, in [0, 1]:
            `history.lookahead`, and the rewards of playouts that are cut off. It sees the determinized state.

    Names and parameters:
        parameters: keyword arguments of `initial` (integers), such as the number of players; any that has no default there.
        defaults: the values of these that are omitted in the game's full name.
        seat_names: the names of the players, in their order, if the roles differ: "Light", "Dark".

    Audits and bridges:
        ranges: the least and the greatest value that a field of the state data may have, with all its elements: {"hands": (0, 63)}.
            Facts that a user sets are checked against them; a field that is not named may have any value.
        retrace: `retrace(state, data) -> (start, actions)`, plain Python, for audits: for a `State` and the data of one of
            its determinizations, initial data [1] and the actions that lead from there to those.
        multiplicity: `multiplicity(state) -> float`, plain Python, for audits: the relative probability of the data among those with the
            same observations, up to a common factor. If the data have less information than the deal (ranks without suits), it is the
            number of their deals; if the rules make some data more likely, their weight. Absent: all data are equally likely.
        deal, deal_observation: the draws of `initial`, for algorithms that need every deal with its probability: `deal(state, index,
            **parameters) -> float` turns the all-zero `state` into the initial state after deal number `index` = 0, 1, … and returns the
            probability of this deal, or NO_DEAL if there is no such deal; `deal_observation(state, perspective) -> int` is what
            a player sees of the deal of an initial state: the same integer for deals that he cannot tell apart. Absent: hidden, if
            `initial` draws.
        utilities: what a player gains, in the game's own units, at a reward of 0 and at a reward of 1: (-2, 2) chips.
        observation_tensor: what a player sees of a state, as numbers, `Tensor(shape, write)`; for bridges.
        information_state_tensor: the same for all that he has seen since the game began.
        actions: a number above every action, including those of chance; libraries that number the actions of a game need
            it. Absent: unknown.

    Raises:
        TypeError: a function that cannot be called with what it is given.
        ValueError: a parameter that `initial` does not take, or a missing one; a range of an unknown field, an empty one, or one beyond
            the field's type.
    """

    state: np.dtype = attrs.field(validator=_readable)
    max_legal: int = attrs.field(validator=positive)
    beliefs: np.dtype = attrs.field(default=_NOTHING, validator=_check_alignment)
    # for audits and bridges
    ranges: Mapping[str, tuple[int, int]] = attrs.field(factory=dict, validator=_of_fields)
    retrace: Callable | None = None
    multiplicity: Callable | None = None
    observation_tensor: Tensor | None = None
    information_state_tensor: Tensor | None = None

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        check_arguments(self)
        parameters = parameters_of(self.initial)
        unknown = [name for name in self.parameters if name not in parameters]
        missing = [name for name, default in parameters.items() if default is None and name not in self.parameters]
        if unknown or missing:
            wrong = f"is given the parameter {unknown[0]!r}" if unknown else f"needs the parameter {missing[0]!r}"
            raise ValueError(f"{self.name} {wrong}; its initial function takes {', '.join(parameters) or 'none'}")
        if self.deal is not None and list(parameters_of(self.deal)) != list(parameters):
            raise ValueError(
                f"deal of {self.name} must take the parameters of initial: {', '.join(parameters) or 'none'}"
            )

    def kernels(self) -> "Kernels":
        """The compiled functions; compiled or loaded on first use, shared by all games that use the same functions."""
        if MAKES_PLAIN.get() is not None:
            return self._make_kernels()
        latest = _kernels.get(self)
        if latest is None or latest[0] != generation() or not are_bound(latest[1]):
            made_at, functions = renew_rebound(), [getattr(self, name) for name in FUNCTIONS]
            latest = _kernels[self] = made_at, variables_of(*functions), self._make_kernels()
        return latest[2]

    def _make_kernels(self) -> "Kernels":
        arrays = Arrays(self.state, self.beliefs, self.max_legal, len(parameters_of(self.initial)))
        return kernels_of(arrays, *(getattr(self, name) for name in FUNCTIONS))

    def address(self, name: str) -> int:
        """The address of a function for compiled code; 0 where it is absent."""
        return self.teller(name).address if name in KINDS else self.kernels().address(name)

    def teller(self, kind: str) -> Kernel:
        """The compiled "features", "action_features" or "heuristic"; compiled or loaded when first asked for."""
        return numbers_kernel(kind, getattr(self, kind), self.state, len(names_of(self, kind)))

    def new_initial_state(self, seed: int | Sequence[int] = 0) -> State:
        """A fresh game. Everything that chance decides before the first action (the deal) follows from the seed.

        Raises:
            ValueError: a seed that is not an integer of at least 0, nor several of them.
        """
        renew_rebound()
        data, generator = np.zeros(1, self.state), seeded(checks.seed(seed))
        arguments = self.initial_arguments()
        self.kernels().initial(data.ctypes.data, generator.ctypes.data, arguments.ctypes.data)
        return State(self, data)

    def initial_arguments(self) -> np.ndarray:
        """The values of the parameters in the order in which `initial` takes them; a single 0 where it takes none."""
        parameters = parameters_of(self.initial)
        return np.array([self.parameters.get(name, parameters[name]) for name in parameters] or [0], np.int64)


_kernels: "weakref.WeakKeyDictionary[Game, tuple[int, list[Bound], Kernels]]" = weakref.WeakKeyDictionary()


# ------------------------------------------------------------------------------- What people call the players of a game


def seat_name(game: AnyGame, player: int) -> str:
    """The name of a player's seat, "player 2" where there is none by that number or seats have no names, or "chance"."""
    if player == CHANCE:
        return "chance"
    return game.seat_names[player] if player in range(len(game.seat_names)) else f"player {player}"


def seat_names(game: AnyGame) -> list[str]:
    """The names of all seats, in the order of the players."""
    return [seat_name(game, player) for player in range(game.players)]
