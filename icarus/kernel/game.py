"""Definitions 1-2 as a value: a game is plain functions on named state data.

The functions of a game are ordinary Python functions that the compiler accepts. Each takes the state as data with
attribute access (`state.player`, `state.discs[0]`), so that the same source runs compiled and as plain Python.
"""

import contextlib
import inspect
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self, SupportsIndex

import attrs
import numpy as np

from icarus import checks
from icarus.compiler import MAKES_PLAIN, CompiledFunction, defined_at, raised_in, seeded
from icarus.compiler.digest import Bound, are_bound, generation, renew_rebound, variables_of
from icarus.compiler.plain_python import as_compiled, interpret, plain_kernels
from icarus.kernel import contract
from icarus.kernel.contract import (
    CHANCE,
    MAX_EPISODE_MOVES,
    MAX_PLAYERS,
    NO_DEAL,
    SPARE_LEGAL,
    Facts,
    StateData,
)
from icarus.kernel.evaluation import Evaluation, read_evaluation, with_evaluation
from icarus.kernel.features import KINDS
from icarus.kernel.functions import (
    ANSWERS,
    AUTHOR_ERRORS,
    FUNCTIONS,
    ROWS,
    GameArrays,
    Kernels,
    check_arguments,
    parameters_of,
)
from icarus.kernel.scene import Drawing
from icarus.kernel.state import State

SHOWN = 120  # characters of an answer in a message
LONGEST = 100_000  # actions of a game of which nothing is said
_INTEGERS = np.iinfo(np.int64)  # as which compiled functions are given them


def aligned(*fields: tuple) -> np.dtype:
    """The dtype of the data of states, or of beliefs, with these fields: (name, type) or (name, type, shape) of each."""
    return np.dtype([*fields], align=True)


_NOTHING = aligned(("nothing", np.int64))


_MOST = {"players": MAX_PLAYERS, "max_legal": 1 << 24}  # of what there must be room for


def _own(value: Any) -> Any:
    """A value as a game keeps it: a number of numpy's as Python's own, a list as a tuple, and a dictionary so that it stays as it is."""
    if isinstance(value, list):
        return tuple(value)
    return _ReadOnly(value) if isinstance(value, Mapping) else checks.own_number(value)


class _ReadOnly(dict):
    """A dictionary of a game, which others may have, too."""

    def _refuse(self, *given: Any, **named: Any) -> NoReturn:
        raise TypeError("what a game was made with cannot be changed; make another game")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict]]:
        return _ReadOnly, (dict(self),)


def _count(instance: object, attribute: attrs.Attribute, value: int) -> None:
    """Refuse a number below 1, more players than a game can have, and what machine code has no room for."""
    most = _MOST.get(attribute.name, _INTEGERS.max)
    checks.integer(f"{attribute.name} of a game", value, 1, most)


def _interval(instance: "AnyGame", attribute: attrs.Attribute, value: Any) -> None:
    """Refuse an interval, or one in a table by fields, that is not two numbers, the lesser first."""
    is_of_fields = isinstance(value, Mapping) and attribute.name == "ranges"
    intervals = value if is_of_fields else {"": value}
    for name, limits in intervals.items():
        is_right = (
            isinstance(limits, tuple) and len(limits) == 2 and all(map(checks.is_real, limits))
        )
        if is_right:
            least, most = limits
            # a field may have one value alone
            is_right = least <= most if name else least < most
        if not is_right:
            where = f" for {name}" if name else ""
            raise ValueError(
                f"{attribute.name} of {instance.name} are {limits!r}{where}; they must be (least, most), such as (0, 1)"
            )


# the types, by their characters, that compiled code reads in an array, and in a field of one value
_IN_ARRAYS = np.typecodes["AllInteger"] + "fdFD"
_IN_FIELDS = _IN_ARRAYS + "?SUMm"


def _is_readable(kind: np.dtype) -> bool:
    """Whether compiled code reads a field of this dtype, or each field of a structure."""
    base = kind.base
    if base.names is not None:
        return all(_is_readable(base[name]) for name in base.names)
    return base.isnative and base.char in (_IN_ARRAYS if kind.shape else _IN_FIELDS)


def _limits_of(kind: np.dtype) -> tuple[int, int] | None:
    """The least and the greatest integer that a field of this dtype holds; None of another kind."""
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return int(limits.min), int(limits.max)
    return (0, 1) if kind.kind == "b" else None


def _data(instance: "Game", attribute: attrs.Attribute, value: np.dtype) -> None:
    """Refuse a dtype that compiled code and `facts` cannot read."""
    if (
        not isinstance(value, np.dtype)
        or value.names is None
        or not value.isalignedstruct
        or value.hasobject
    ):
        raise TypeError(
            f"{attribute.name} of a game is {value!r}; it must be np.dtype([...], align=True) with named fields of numbers"
        )
    for name in value.names:
        if hasattr(np.record, name):
            raise ValueError(
                f"the state data of {instance.name} cannot have a field {name!r}: it is an attribute of every numpy record"
            )
        if not _is_readable(value[name]):
            raise TypeError(
                f"field {name!r} in {attribute.name} of {instance.name} is {value[name]}, which compiled code cannot read; "
                "use np.int64 or np.float64, or np.uint8 for truth values in an array"
            )


_PAIRS = (
    ("features", "feature_names"),
    ("action_features", "action_feature_names"),
    ("deal", "deal_observation"),
)


class TextError(ValueError):
    """A `text` or `action_text` of a game that raises an error, or gives no text; the message is one sentence with the line."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class AnyGame(ABC):
    """What all games are asked, whatever their states are made of; `Game` says what each of it is."""

    # rules
    name: str
    players: int = attrs.field(validator=_count, converter=_own)
    initial: Callable
    player: Callable
    legal: Callable
    apply: Callable
    rewards: Callable
    text: Callable
    action_text: Callable
    chance: Callable | None = None
    simultaneous: Callable | None = None
    max_length: int = attrs.field(default=LONGEST, validator=_count, converter=_own)
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
    parameters: Mapping[str, int] = attrs.field(factory=dict, converter=_own)
    defaults: Mapping[str, int] = attrs.field(factory=dict, converter=_own)
    seat_names: tuple[str, ...] = attrs.field(default=(), converter=_own)
    actions: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(_count), converter=_own
    )
    # for audits, solvers and bridges
    observation: Callable | None = None
    multiplicity: Callable | None = None
    deal: Callable | None = None
    deal_observation: Callable | None = None
    utilities: tuple[float, float] = attrs.field(default=(-1.0, 1.0), validator=_interval)
    # for people
    board: Drawing | None = None
    move_text: Callable | None = None

    def __attrs_post_init__(self) -> None:
        if (
            not isinstance(self.name, str)
            or not self.name.isprintable()
            or not self.name
            or {*self.name} & {*"/\\"}
        ):
            raise ValueError(
                f"the name of a game is {self.name!r}; it must be one line without / and \\, such as 'knockout-whist'"
            )
        for field in attrs.fields(type(self)):
            value = getattr(self, field.name)
            is_function = field.type in (Callable, Callable | None)
            is_absent = value is None and field.default is None
            if not is_function or is_absent:
                continue
            if not callable(value) or inspect.iscoroutinefunction(value):
                raise TypeError(
                    f"{field.name} of {self.name} is {value!r}; it must be a plain function"
                )
        for kind in ("parameters", "defaults"):
            table = getattr(self, kind)
            if not isinstance(table, Mapping):
                raise TypeError(f"the {kind} of {self.name} are {table!r}; they must be a dict")
            for name, value in table.items():
                what = f"{name!r} in the {kind} of {self.name}"
                checks.integer(what, value, _INTEGERS.min, _INTEGERS.max)
        if self.seat_names != () and not (
            isinstance(self.seat_names, tuple)
            and all(isinstance(name, str) for name in self.seat_names)
            and len(self.seat_names) == len(set(self.seat_names)) == self.players
        ):
            raise ValueError(
                f"the seat names of {self.name} are {self.seat_names!r}; it needs {self.players} different ones"
            )
        for first, second in _PAIRS:
            if bool(getattr(self, first)) != bool(getattr(self, second)):
                raise ValueError(
                    f"{self.name} has only one of {first} and {second}; each needs the other"
                )
        names = [*self.feature_names, *self.action_feature_names]
        if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"the features of {self.name} are {names!r}; they need different names"
            )

    def __str__(self) -> str:
        settings = ", ".join(
            f"{key}={value}"
            for key, value in self.parameters.items()
            if self.defaults.get(key) != value
        )
        return f"{self.name}({settings})" if settings else self.name

    def __repr__(self) -> str:
        return f"<game {self}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """A learned heuristic has no name by which it could be read back: its evaluation goes in its place."""
        put_into = getattr(getattr(self.heuristic, "evaluation", None), "put_into", None)
        if put_into is None:
            return super().__reduce_ex__(protocol)
        return put_into, (attrs.evolve(self, heuristic=None),)

    @property
    def is_fixed(self) -> bool:
        """Whether the same data always get the same answers: the functions are compiled, and no variable of the author's is in them."""
        latest = _kernels.get(self)
        if latest is None:
            return False
        _, variables, _ = latest
        return not variables

    @abstractmethod
    def answer(self, name: str, *inputs: Any) -> Any:
        """The answer of a function, as a value, to the arguments that this function of a `PythonGame` takes.

        Without `prepare` the beliefs are empty, and without `determinize` the drawn state is a copy.
        """

    def ask(self, name: str, *inputs: Any) -> Any:
        """The answer of a function, as in `answer`, checked, and in Python's own numbers.

        Raises:
            ValueError: the answer makes no sense: "legal of trek (trek.py, line 24) returned None; it must be a list of integers".
        """
        try:
            answer = self.answer(name, *inputs)
        except KeyboardInterrupt as stop:
            raise self.interrupted(name, stop) from None
        return self.checked(name, answer, *inputs)

    def interrupted(self, name: str, stop: KeyboardInterrupt) -> KeyboardInterrupt:
        """A KeyboardInterrupt that names the function it stopped, which may be one that does not return."""
        return KeyboardInterrupt(
            str(stop) or f"in {name} of {self}{raised_in(getattr(self, name), stop)}"
        )

    def checked(self, name: str, answer: Any, *inputs: Any) -> Any:
        """The answer that a function gave to these arguments, in Python's own numbers; errors as of `ask`."""
        convert, is_right, demand = ANSWERS[name]
        try:
            converted = convert(answer)
            if is_right is None or is_right(self, converted, *inputs):
                return converted
        except (TypeError, ValueError, OverflowError):
            pass
        # the number in the text of what is demanded
        if name == "chance":
            number = len(self.ask("legal", *inputs))
        elif name == "player":
            number = self.players - 1  # the last player
        else:
            number = self.players
        answered = " ".join(repr(answer).split())  # in one line
        text = (
            "the state that it was given"
            if inputs and answer is inputs[0]
            else checks.excerpt(answered, SHOWN)
        )
        function: Any = getattr(self, name, None)
        raise ValueError(
            f"{name} of {self}{defined_at(function)} returned {text}; it must {demand.format(number)}"
        )

    def facts_of(self, data: StateData) -> Any:
        """The facts of a state data, to be read only."""
        return data

    def check_data(self, data: StateData) -> None:  # noqa: B027  (an object of any kind will do)
        """Refuse data of another kind, or outside the ranges."""

    @abstractmethod
    def changed_data(self, data: StateData, fields: Mapping[str, Any]) -> StateData:
        """A copy of a state data with other facts, and what follows from them."""

    def with_evaluation(self, evaluation: Evaluation | str | Path) -> Self:
        """This game with a learned evaluation, or that of a file, as its heuristic; the same game each time.

        Raises:
            OSError: the file cannot be read. ValueError: it is no evaluation, or one of another game or other rules.
        """
        return with_evaluation(
            self, evaluation if isinstance(evaluation, Evaluation) else read_evaluation(evaluation)
        )

    def new_initial_state(self, seed: int | Sequence[int] = 0) -> State:
        """A fresh game. Everything that chance decides before the first action (the deal) follows from the seed.

        Raises:
            ValueError: a seed that is not an integer of at least 0, nor several of them.
        """
        # the variables of slots are looked at when these are used
        renew_rebound(self.variables())
        return State.from_data(self, self.ask("initial", seeded(checks.seed(seed))))

    def variables(self) -> list[Bound]:
        """The author's variables that are compiled in, with the values that are compiled in."""
        return []

    def observed_moves(self, data: StateData, action: int) -> list[int]:
        """The move by which each perspective sees an action that is about to be done."""
        return [action] if self.observe is None else [*self.ask("observe", data, action), action]

    def text_of(self, facts: object) -> str:
        """What `text` writes.

        Raises:
            TextError: it raises an error, or gives no text.
        """
        return self._call_text("text", facts)

    def action_text_of(self, facts: object, action: int) -> str:
        """What `action_text` writes; errors as in `text_of`."""
        return self._call_text("action_text", facts, action)

    def move_text_of(self, move: int) -> str:
        """What `move_text` writes, "" without it; errors as in `text_of`."""
        return "" if self.move_text is None else self._call_text("move_text", move)

    def _call_text(self, name: str, *arguments: object) -> str:
        function = getattr(self, name)
        try:
            text = function(*arguments)
        except TextError:  # of the game that this one is made of
            raise
        except AUTHOR_ERRORS as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise TextError(
                f"{name} of {self.name} raises {reason}{raised_in(function, error)}"
            ) from error
        if not isinstance(text, str):
            raise TextError(
                f"{name} of {self.name} gives {text!r}, which is not a str{defined_at(function)}"
            )
        return text

    def width(self, kind: str) -> int:
        """How many numbers the function "features", "action_features", "heuristic" or "rewards" gives."""
        names = {"features": self.feature_names, "action_features": self.action_feature_names}
        return len(names[kind]) if kind in names else self.players

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
        text: `text(state) -> str`, the board or hands as people draw them (plain Python). It may name "player 0" and so on, from 0.
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
        derive: `derive(state)` sets the facts that follow from others, for facts that a user sets.
        observation: `observation(state, player)`, plain Python, for audits: all that a player may know of a state, such as his own hand and
            what lies open, as a value that can be compared. A determinization must not change it.
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
        move_text: `move_text(move) -> str`, plain Python, for people: what a move that `observe` writes shows of another's action, such as
            "swap, lays 3 open". It is told to who sees this move, and knows nothing else. Absent, or "": the action's text where all that
            look so have the same, else "a hidden choice".
        actions: a number above every action, including those of chance; libraries that number the actions of a game need
            it. Absent: unknown.

    Raises:
        TypeError: a function that cannot be called with what it is given.
        ValueError: a parameter that `initial` does not take, or a missing one; a range of an unknown field, an empty one, or one beyond
            the field's type.
    """

    state: np.dtype = attrs.field(validator=_data)
    max_legal: int = attrs.field(validator=_count, converter=_own)
    beliefs: np.dtype = attrs.field(default=_NOTHING, validator=_data)
    # for audits and bridges
    ranges: Mapping[str, tuple[int, int]] = attrs.field(
        factory=dict, validator=_interval, converter=_own
    )
    derive: Callable | None = None
    retrace: Callable | None = None

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        check_arguments(self, {name: row.arguments for name, row in ROWS.items()}, is_compiled=True)
        parameters = parameters_of(self.initial)
        for name, (least, most) in self.ranges.items():
            if name not in (self.state.names or ()):
                raise ValueError(
                    f"ranges of {self.name} name {name!r}, which is not a field of its state data"
                )
            kind = self.state[name].base
            limits = _limits_of(kind)
            if limits is not None and not limits[0] <= least <= most <= limits[1]:
                holds = f"its type {kind} holds {limits[0]} to {limits[1]}"
                raise ValueError(f"ranges of {self.name} are {(least, most)} for {name}; {holds}")
        arguments = ", ".join(parameters) or "none"
        for name in self.parameters:
            if name not in parameters:
                raise ValueError(
                    f"{self.name} is given the parameter {name!r}; its initial function takes {arguments}"
                )
        for name, default in parameters.items():
            if default is None and name not in self.parameters:
                raise ValueError(
                    f"{self.name} needs the parameter {name!r}; its initial function takes {arguments}"
                )
        if self.deal is not None and list(parameters_of(self.deal)) != list(parameters):
            raise ValueError(
                f"deal of {self.name} must take the parameters of initial: {arguments}"
            )

    def answer(self, name: str, *inputs: Any) -> Any:
        if name == "copy":
            return contract.copy_data(inputs[0])
        # Plain Python notices a number that is written beyond the room.
        with plain_kernels() if name in KINDS else contextlib.nullcontext():
            return self.ask_kernel(getattr(self.kernels(), name), name, *inputs)

    def ask_kernel(self, kernel: CompiledFunction | None, name: str, *inputs: Any) -> Any:
        """The answer of a function, as in `answer`, by its kernel; None for the kernel of a function that is absent."""
        row = ROWS[name]
        values = dict(zip(row.inputs, inputs, strict=True))
        if name in ("apply", "determinize"):
            # an error, or Ctrl-C in it, leaves the state where it was
            values["state"] = self.answer("copy", inputs[0])
        words = []
        for word in row.words:
            if word not in values:
                values[word] = self._room(name, word, values)
            value = values[word]
            words.append(value.ctypes.data if isinstance(value, np.ndarray) else int(value))
        count = 0 if kernel is None else kernel(*words)
        match name:
            case "apply":
                # byte by byte: field by field takes ten times as long
                inputs[0].view(np.uint8)[:] = values["state"].view(np.uint8)
                return None
            case "initial" | "determinize":
                return values["state"]
            case "prepare":
                return values["beliefs"]
            case "legal":
                return self._written(name, values["actions"], count)
            case "recall":
                return self._written(name, values["moves"], count)
            case "observe":
                return values["moves"].tolist()
            case "chance":
                outcomes = self.ask("legal", *inputs)
                return values["probabilities"][: len(outcomes)].tolist()
            case "deal":
                probability = float(values["probability"][0])
                return None if probability == NO_DEAL else (values["state"], probability)
        return count if row.returns else values["out"].tolist()

    def _room(self, name: str, word: str, values: Mapping[str, Any]) -> Any:
        """The array, the parameters or the length that a kernel is given as an argument that is no input."""
        match word:
            case "state" | "beliefs":
                return np.zeros(1, getattr(self, word))
            case "actions":
                # no action: what is left unwritten is refused
                return np.full(self.max_legal + SPARE_LEGAL, -1)
            case "probabilities":
                return np.full(self.max_legal, np.nan)
            case "out":
                return np.full(self.width(name), np.nan)
            case "moves" if name == "observe":
                # all see the action, where nothing else is written
                return np.full(self.players, values["action"])
            case "moves":
                return np.zeros(MAX_EPISODE_MOVES, np.int64)
            case "parameters":
                return self.initial_arguments()
            case "probability":
                return np.zeros(1)
        # the word is "room", the length of the array that is written
        return len(values["out" if name == "rewards" else "moves"])

    def _written(self, name: str, room: np.ndarray, count: int) -> list[int]:
        """The first `count` numbers in the room of `legal` or `recall`, which returned this count."""
        most = self.max_legal if name == "legal" else MAX_EPISODE_MOVES
        if not 0 <= count <= most:
            what = "legal actions" if name == "legal" else "moves"
            raise ValueError(
                f"{self} gave {count} {what}, of {most} at most{defined_at(getattr(self, name))}"
            )
        return room[:count].tolist()

    def facts_of(self, data: StateData) -> Facts:
        return contract.facts_of(contract.read_only(data))

    def check_data(self, data: StateData) -> None:
        if not isinstance(data, np.ndarray) or data.dtype != self.state or data.shape != (1,):
            array = (
                f"an array {list(data.shape)} of {data.dtype}"
                if isinstance(data, np.ndarray)
                else repr(data)
            )
            raise TypeError(
                f"the data of a state of {self} is {array}; it must be an array [1] of its dtype"
            )
        if not data.flags.c_contiguous or not data.flags.aligned or not data.flags.writeable:
            raise TypeError(
                f"the data of a state of {self} must be contiguous, aligned and writeable"
            )
        self._check_ranges(self.ranges, data)

    def changed_data(self, data: StateData, fields: Mapping[str, Any]) -> StateData:
        changed = contract.copy_data(data)
        names = self.state.names or ()
        for name, value in fields.items():
            if name not in names:
                raise TypeError(
                    f"the states of {self} have no fact {name!r}; they have {', '.join(names)}"
                )
            changed[name][0] = self._as_fact(name, value)
        self.check_data(changed)
        if self.derive is not None:
            interpret(self.derive)(as_compiled(changed[0]))
        return changed

    def _as_fact(self, name: str, value: object) -> np.ndarray:
        """A value for a fact as an array, which its field holds as it is."""
        field = self.state[name]
        text = " ".join(checks.quoted(value).split())
        # of the field's kind, an integer or a truth value
        kinds = (field.base.kind, "i", "u", "b")
        try:
            array = np.asarray(value)
            exact = np.array(value, object)
        except ValueError:  # lists of different lengths
            array = exact = np.array(None)
        # NumPy makes real numbers of integers that no one of its types holds, such as 2^63 beside 1.
        is_exact = (
            array.dtype.kind == "f"
            and field.base.kind in "iu"
            and exact.size > 0
            and all(isinstance(each, int | np.integer) for each in exact.flat)
        )
        if is_exact:
            array = exact
        elif array.dtype.kind not in kinds:
            raise TypeError(f"{name} of {self} is {text}; it must be of the type {field}")
        if array.shape != field.shape:
            raise ValueError(
                f"{name} of {self} is {text}, of the shape {array.shape}; it must have the shape {field.shape}"
            )
        limits = self.ranges.get(name, _limits_of(field.base))
        if limits is not None:
            self._check_ranges({name: limits}, {name: array[np.newaxis]})
        return array

    def _check_ranges(self, ranges: Mapping[str, tuple[int, int]], data: Any) -> None:
        outside = contract.out_of_range(ranges, data)
        if outside is not None:
            raise ValueError(f"in a state of {self} {outside}")

    def kernels(self) -> Kernels:
        """The compiled functions, made anew when a global that they use is bound to another value."""
        if MAKES_PLAIN.get() is not None:
            return self._make_kernels()
        latest = _kernels.get(self)
        if latest is not None:
            made_in, variables, kernels = latest
            if made_in == generation() and are_bound(variables):
                return kernels
        made_in = renew_rebound()
        variables = self.variables()
        kernels = self._make_kernels()
        for name in FUNCTIONS:  # what cannot be compiled is refused before anything is asked
            getattr(kernels, name)
        _kernels[self] = made_in, variables, kernels
        return kernels

    def variables(self) -> list[Bound]:
        return variables_of(*[getattr(self, name) for name in (*FUNCTIONS, *KINDS)])

    def _make_kernels(self) -> Kernels:
        numbers = tuple(map(self.width, KINDS))
        arrays = GameArrays(
            self.state, self.beliefs, self.max_legal, len(parameters_of(self.initial)), numbers
        )
        return Kernels({name: getattr(self, name) for name in (*FUNCTIONS, *KINDS)}, arrays)

    def address(self, name: str) -> int:
        """The address of a function for compiled code; 0 where it is absent."""
        return self.kernels().address(name)

    def initial_arguments(self) -> np.ndarray:
        """The values of the parameters in the order in which `initial` takes them; a single 0 where it takes none."""
        parameters = parameters_of(self.initial)
        return np.array(
            [self.parameters.get(name, parameters[name]) for name in parameters] or [0], np.int64
        )


def functions_of(module: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for `Game` that a module's globals hold: functions by their names, and STATE, BELIEFS and BOARD.

    Without a `text` of its own the scene of BOARD is the text of a state.
    """
    globals_of = {name: name for name in (*ROWS, "retrace")}
    globals_of |= {"state": "STATE", "beliefs": "BELIEFS", "board": "BOARD"}
    defined = {name: module[key] for name, key in globals_of.items() if key in module}
    if "text" not in defined and "board" in defined:
        defined["text"] = defined["board"].text
    return defined


# of each compiled game: the generation of its kernels, the variables compiled into them, and the kernels
_kernels: "weakref.WeakKeyDictionary[AnyGame, tuple[int, list[Bound], Kernels]]" = (
    weakref.WeakKeyDictionary()
)


# ------------------------------------------------------------------------------- What people call the players of a game


def seat_name(game: AnyGame, player: int) -> str:
    """The name of a player's seat, "player 2" where there is none by that number or seats have no names, or "chance"."""
    if player == CHANCE:
        return "chance"
    return game.seat_names[player] if player in range(len(game.seat_names)) else f"player {player}"


def seat_names(game: AnyGame) -> list[str]:
    """The names of all seats, in the order of the players."""
    return [seat_name(game, player) for player in range(game.players)]
