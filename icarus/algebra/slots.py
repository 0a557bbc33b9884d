"""The compiled slots of an enhancement: plain functions, marked by a decorator that fixes what they are given.

A slot function may have parameters of its own: further arguments with defaults, bound by calling the slot,

    @capture
    def capture(history, updates, last_phase=SIMULATION): ...

    capture(last_phase=EXPANSION)        # the same capture with another parameter

Integers stay integers and reals reals, as the default says. A text is the name of a feature: the function gets its place among those of
the game that is searched.

    @values
    def careful(history, theta, legal, out, danger="attacked"): ... action_features_at(history, present)[i, danger] ...
"""

import contextlib
import functools
import inspect
import math
import pickle
import types as pytypes
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self, cast, get_args

import attrs
import numpy as np

from icarus.checks import integer, is_number, real
from icarus.compiler.functions import CompiledCallable, helper, load_by_name
from icarus.compiler.plain_python import interpret
from icarus.kernel.contract import History, Theta
from icarus.kernel.features import column_of
from icarus.kernel.history import SIMULATION


@functools.cache
def bind(function: Callable, values: tuple[float, ...]) -> Callable:
    """A helper that is the function with these values for the arguments that have defaults."""
    copy = pytypes.FunctionType(
        function.__code__, function.__globals__, function.__name__, values or None, function.__closure__
    )
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return helper(copy)


@functools.cache
def only_in_tree(inner: Callable) -> Callable:
    """A values function that is called in the tree only: in the simulation phase every value is +∞."""

    @helper
    def values(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, *parameters: float) -> None:
        if history.steps[-1].phase == SIMULATION:
            out[:] = math.inf
        else:
            inner(history, theta, legal, out, *parameters)

    return values


Parameters = tuple[tuple[str, float | str], ...]
LARGEST = 1e9  # value of a parameter


@attrs.frozen
class Range:
    """Between which numbers a parameter lies, as in `share: Annotated[float, Range(0, 1)]`; from 0 on where no range is given."""

    least: float = 0
    most: float = LARGEST
    above: bool = False  # the least itself is excluded


Fraction = Annotated[float, Range(0, 1)]
Positive = Annotated[float, Range(above=True)]
Count = Annotated[int, Range(1)]


def given_by_name(
    owner: str, arguments: Sequence[object], named: Mapping[str, object], order: Sequence[str]
) -> dict[str, object]:
    """The arguments of a call by the names of the parameters that they are for; what is no number or text is for the rule.

    Raises:
        TypeError: there are too many of them, or one is given twice.
    """
    numbers = [each for each in arguments if is_number(each) or isinstance(each, str)]
    rules = [each for each in arguments if not (is_number(each) or isinstance(each, str))]
    places = [name for name in order if name != "rule"]
    if len(numbers) > len(places) or len(rules) > 1:
        raise TypeError(f"{owner}({', '.join(order)}) has no place for {arguments!r}")
    given = [*zip(places, numbers, strict=False), *(("rule", rule) for rule in rules), *named.items()]
    names = [name for name, _ in given]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TypeError(f"the parameter {twice[0]} of {owner} is given twice")
    return dict(given)


def _load_slot(module: str, name: str, parameters: Parameters) -> "Slot":
    return load_by_name(module, name)(**dict(parameters))


def _fits(value: object, kind: type) -> bool:
    """Whether a parameter of a kind, int, float or str, may have this value."""
    if kind is str or isinstance(value, str):
        return kind is str and isinstance(value, str)
    return is_number(value) and not math.isnan(value) and (kind is float or float(value).is_integer())


@attrs.frozen(repr=False)
class Slot(CompiledCallable):
    """A slot function with its parameters bound; slots, and functions that they call, may call it as it is.

    Attributes:
        function: the plain Python function.
        parameters: (name, value) of each parameter, in the order of the function's arguments.
    """

    function: Callable
    parameters: Parameters = ()

    KIND: ClassVar[str] = ""
    ARGUMENTS: ClassVar[tuple[str, ...]] = ()
    DOES: ClassVar[str] = ""  # instead of returning a value

    @classmethod
    def of(cls, function: Callable) -> Self:
        """The slot of a function, with its parameters at their defaults."""
        if not inspect.isfunction(function):
            raise TypeError(f"@{cls.KIND} decorates a plain function, not {function!r}")
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"@{cls.KIND} decorates a plain function, not the async function {function.__name__}")
        signature, names = inspect.signature(function), cls.arguments_of(function)
        arguments = list(signature.parameters.values())
        fixed, parameters = arguments[: len(names)], arguments[len(names) :]
        expected = f"{function.__name__}({', '.join(names)}, …), not {function.__name__}{signature}"
        message = f"a {cls.KIND} function takes {', '.join(names)}: write it as {expected}"
        if len(fixed) < len(names) or any(argument.default is not argument.empty for argument in fixed):
            raise TypeError(message)
        in_order = tuple(argument.name for argument in fixed) == names
        slipped = not in_order and any(argument.name in names for argument in parameters)
        for argument in parameters:
            if slipped and argument.default is argument.empty:
                raise TypeError(message)
            if type(argument.default) not in (int, float, str):
                raise TypeError(
                    f"parameter {argument.name} of {function.__name__} needs a default that is an integer, a float or the name of a "
                    f"feature"
                )
        return cls(function, tuple((argument.name, argument.default) for argument in parameters))

    @classmethod
    def arguments_of(cls, function: Callable) -> tuple[str, ...]:
        """What a function of this kind is given."""
        return cls.ARGUMENTS

    @property
    def compiled(self) -> Callable:
        self.refuse_features()
        return bind(self.function, self.values())

    def __call__(self, *arguments: object, **parameters: float | str) -> Any:
        """The same slot with some parameters bound to other values; or, where arguments are given, what the function says of them.

        Raises:
            TypeError: no such parameter, or a real where an integer is due.
            AttributeError: arguments are given, but the slot asks for a feature by name.
        """
        if arguments:
            self.refuse_features()
            by_place = max(0, len(arguments) - len(self.arguments_of(self.function)))
            return interpret(self.function)(*arguments, **{**dict(self.parameters[by_place:]), **parameters})
        bound_values = dict(self.parameters)
        for name, value in parameters.items():
            if name not in bound_values:
                raise TypeError(f"{self.name} has no parameter {name!r}; it has {', '.join(bound_values) or 'none'}")
            kind = type(bound_values[name])
            if not _fits(value, kind):
                expected = {int: "an integer", float: "a real, not nan", str: "the name of a feature"}[kind]
                raise TypeError(f"parameter {name} of {self.name} is {value!r}; it must be {expected}")
            bound_values[name] = kind(value)
        return attrs.evolve(self, parameters=tuple(bound_values.items()))

    def rebound(self, owner: str, parameters: Mapping[str, object]) -> Self:
        """The same slot with other values of those parameters that it has.

        Raises:
            TypeError, ValueError: a value that the parameter cannot have; the message names it and the owner.
        """
        return self(
            **{name: self._checked(owner, name, parameters[name]) for name, _ in self.parameters if name in parameters}
        )

    def _checked(self, owner: str, name: str, value: object) -> float | str:
        kind, what = type(dict(self.parameters)[name]), f"{name} of {owner}"
        within = next(
            (each for each in get_args(self.function.__annotations__.get(name)) if isinstance(each, Range)), Range()
        )
        if kind is int:
            return integer(what, value, int(within.least), int(within.most))
        return real(what, value, within.least, within.most, above=within.above) if kind is float else cast(str, value)

    def __reduce__(self) -> tuple[Callable, tuple[str, str, Parameters]]:
        module, name = self.function.__module__, self.function.__qualname__
        with contextlib.suppress(ImportError, AttributeError):
            if load_by_name(module, name).function is self.function:
                return _load_slot, (module, name, self.parameters)
        raise pickle.PicklingError(
            f"{self.label()} cannot go to another process, which would not find it by this name; define it once, at the top of a file"
        )

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def summary(self) -> str:
        """The first paragraph of the function's docstring: the formula, for printing."""
        return " ".join((inspect.getdoc(self.function) or self.name).split("\n\n")[0].split())

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
        return f"{self.name}({parameters})" if parameters else self.name

    @property
    def features(self) -> tuple[str, ...]:
        """The features that are asked for by name."""
        return tuple(value for _, value in self.parameters if isinstance(value, str))

    def refuse_features(self) -> None:
        """Refuse a call from another slot, or by hand, where no game says which places the features asked for by name have."""
        if self.features:
            raise AttributeError(
                f"{self.label()} asks for the feature {self.features[0]!r} by name: no other slot can call it"
            )

    def values(self, game: Any = None) -> tuple[float, ...]:
        """What the function is given for its parameters.

        Args:
            game: among whose features those asked for by name have their places.

        Raises:
            ValueError: it has no such feature.
        """
        return tuple(column_of(game, value) if isinstance(value, str) else value for _, value in self.parameters)

    def kinds(self) -> tuple[type, ...]:
        return tuple(int if isinstance(value, str) else type(value) for _, value in self.parameters)

    def refuse_result(self, result: object) -> None:
        """Refuse what a function has returned that is to return nothing.

        Raises:
            TypeError: it is something.
        """
        if self.DOES and result is not None:
            raise TypeError(result_message(self.label(), self.DOES))

    def label(self, kind: str = "") -> str:
        return f"the {kind or self.KIND} function {self.function.__module__}.{self.function.__qualname__}"


def result_message(label: str, does: str) -> str:
    """That a function returns what is not used; `does` says what it does instead."""
    return f"{label} returns a value, which is lost; it {does} and returns nothing"


@attrs.frozen(repr=False)
class Candidates(Slot):
    """`candidates(history, legal, records)`: writes, for each legal action, the record that tells about it here.

    Attributes:
        independent: whether the record of an action is the same whatever else is legal.
    """

    independent: bool = False

    KIND = "candidates"
    ARGUMENTS = ("history", "legal", "records")
    DOES = "writes records[i]"


@attrs.frozen(repr=False)
class Values(Slot):
    """`values(history, theta, legal, out)`: writes v(a) of each legal action, reading θ with `find(theta, record)`.

    Attributes:
        uniform_in_simulation: whether every value is +∞ in the simulation phase, where the function is not called.
    """

    uniform_in_simulation: bool = False

    KIND = "values"
    ARGUMENTS = ("history", "theta", "legal", "out")
    DOES = "writes out[i]"

    @property
    def compiled(self) -> Callable:
        inner = super().compiled
        return only_in_tree(inner) if self.uniform_in_simulation else inner


@attrs.frozen(repr=False)
class InitialInformation(Slot):
    """`initial_information(history, i, stats)`: writes to `stats` what is known at first of the i-th legal action."""

    KIND = "initial_information"
    ARGUMENTS = ("history", "i", "stats")
    DOES = "changes the row"


@attrs.frozen(repr=False)
class Capture(Slot):
    """`capture(history, updates)`: ξ, asks for updates of a finished playout with `update(updates, record, context)`.

    `capture(history, theta, updates)` may also read θ, as it was before the playout, with `find(theta, record)`.

    Attributes:
        reads_simulation: whether it reads steps of the simulation phase.
        writes_simulation: whether it names records of anything but the histories of selection and expansion, and their children.
        proves: whether it proves bounds of rewards.
    """

    reads_simulation: bool = True
    writes_simulation: bool = True
    proves: bool = False

    KIND = "capture"
    ARGUMENTS = ("history", "updates")
    DOES = "calls update(updates, record, context)"

    @classmethod
    def arguments_of(cls, function: Callable) -> tuple[str, ...]:
        """(history, theta, updates) where the second argument is called theta."""
        return ("history", "theta", "updates") if _second(function) == "theta" else cls.ARGUMENTS

    @property
    def reads_theta(self) -> bool:
        """Whether the function is given θ."""
        return _second(self.function) == "theta"


def _second(function: Callable) -> str:
    """The name of a function's second argument; "" where it has none."""
    return next(iter(list(inspect.signature(function).parameters)[1:2]), "")


@attrs.frozen(repr=False)
class Backpropagation(Slot):
    """`backpropagation(stats, context, rewards)`: ω, changes the information `stats` of one record in place.

    Attributes:
        averages: whether `reward` and `visits` grow only together, a visit with one reward in [0, 1]: mean rewards are at most 1.
    """

    averages: bool = False

    KIND = "backpropagation"
    ARGUMENTS = ("stats", "context", "rewards")
    DOES = "changes the row"


def _mark(kind: type[Slot], function: Callable | None, **promises: Any) -> Any:
    """The slot of a function, with what is promised of it; without a function what decorates one."""
    if function is None:
        return functools.partial(_mark, kind, **promises)
    return attrs.evolve(kind.of(function), **promises)


def candidates(function: Callable | None = None, *, independent: bool = False) -> Any:
    """Mark `function(history, legal, records)`: the record of each legal action.

    `history` is the playout so far, whose last step decides; `legal` and `records` are [actions]. The function writes the key of a record
    for each action, or NO_RECORD. The rule of the policy makes a value of it: the mean reward, or UCB1.

    Args:
        independent: True if an action's record does not depend on the other legal actions, as in MAST, so that the function may be
            called with some of the legal actions only.
    """
    return _mark(Candidates, function, independent=independent)


def values(function: Callable | None = None, *, uniform_in_simulation: bool = False) -> Any:
    """Mark `function(history, theta, legal, out)`: the value v of each legal action.

    `theta` is θ of the enhancement, read by `find`; `legal` and `out` are [actions]. All values are to be written, +∞ included and NaN not.

    Args:
        uniform_in_simulation: True if every value is +∞ in the simulation phase, as those of the baseline are. The function is called
            in the tree only.
    """
    return _mark(Values, function, uniform_in_simulation=uniform_in_simulation)


def initial_information(function: Callable) -> InitialInformation:
    """Mark `function(history, i, stats)`: θ_initial of the record of the i-th legal action of the present decision.

    It is for `initial(function)`. It is called once for a record, when a policy over `@candidates` first finds it, and writes fields of
    the row `stats`, which holds the constants of θ_initial, for example from features of the game.
    """
    return InitialInformation.of(function)


def capture(
    function: Callable | None = None,
    *,
    reads_simulation: bool = True,
    writes_simulation: bool = True,
    proves: bool = False,
) -> Any:
    """Mark `function(history, updates)`, or `function(history, theta, updates)` if it reads θ: the capture function ξ.

    `history` is the finished playout, with its rewards, and θ is as it was before it. The function calls `update(updates, record, context)`
    any number of times.

    Args:
        reads_simulation: False if it reads only steps of selection and expansion, as the baseline's does; a simulation that no
            capture reads is not stored.
        writes_simulation: False if it names only records of the histories of selection and expansion, and of their children, as AMAF's
            does; of the expanded history, which is such a child, no children. A policy over such records is not called where they
            cannot exist.
        proves: True if it proves bounds of rewards, as MCTS_SOLVER's does: the fields `lower` and `upper` of a record (player,
            moves, another player), of HISTORY * PLAYER, are bounds of that other player's reward after these moves. A search then
            recommends no action that is proven to be dominated by another, and is refused in games with hidden information.
    """
    promises = {"reads_simulation": reads_simulation, "writes_simulation": writes_simulation, "proves": proves}
    return _mark(Capture, function, **promises)


def backpropagation(function: Callable | None = None, *, averages: bool = False) -> Any:
    """Mark `function(stats, context, rewards)`: the backpropagation function ω.

    It changes `stats`, θ(r) of one record, in place: `context` is ψ as the capture gave it, `rewards` [players] μ of the playout.

    Args:
        averages: True if `reward` and `visits` grow only together, a visit with one reward in [0, 1], as in MAST. Then no mean is above 1,
            and `gibbs` over a @candidates(independent=True) function need not read all. A search ends if a mean is above 1.
    """
    return _mark(Backpropagation, function, averages=averages)
