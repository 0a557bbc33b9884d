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
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Self, get_args, get_type_hints

import attrs
import numpy as np

from icarus.checks import integer, real
from icarus.compiler.functions import CompiledCallable, helper, load_by_name
from icarus.compiler.messages import full_name
from icarus.kernel import SIMULATION, History, Theta, column_of


@functools.cache
def bind(function: Callable, values: tuple[float, ...]) -> Callable:
    """A helper that is the function with these values for the arguments that have defaults."""
    copy = pytypes.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        values or None,
        function.__closure__,
    )
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    copy.__doc__ = function.__doc__
    return helper(copy)


@functools.cache
def only_in_tree(inner: Callable) -> Callable:
    """A values function that calls another in the tree, and writes +∞ for every action in the simulation phase."""

    @helper
    def values(
        history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, *parameters: float
    ) -> None:
        if history.steps[-1].phase == SIMULATION:
            out[:] = math.inf
        else:
            inner(history, theta, legal, out, *parameters)

    return values


Parameters = tuple[tuple[str, float | str], ...]


@attrs.frozen
class Range:
    """Between which numbers a parameter lies, as in `share: Annotated[float, Range(0, 1)]`; from 0 on where no range is given."""

    least: float = 0
    most: float = 1 << 53  # integers up to it are exact as reals
    above: bool = False  # the least itself is excluded


Fraction = Annotated[float, Range(0, 1)]
Positive = Annotated[float, Range(above=True)]
Count = Annotated[int, Range(1)]


def _load_slot(module: str, name: str, parameters: Parameters) -> "Slot":
    return attrs.evolve(load_by_name(module, name), parameters=parameters)


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
        if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
            raise TypeError(f"@{cls.KIND} decorates a plain function, not {function!r}")
        signature, names = inspect.signature(function), cls.arguments_of(function)
        arguments = list(signature.parameters.values())
        fixed, parameters = arguments[: len(names)], arguments[len(names) :]
        expected = f"{function.__name__}({', '.join(names)}, …), not {function.__name__}{signature}"
        # A slot function is called without names of arguments.
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if (
            len(fixed) < len(names)
            or any(argument.default is not argument.empty for argument in fixed)
            or any(argument.kind not in by_place for argument in arguments)
        ):
            raise TypeError(
                f"a {cls.KIND} function takes {', '.join(names)}: write it as {expected}"
            )
        for argument in parameters:
            if argument.name in ("rule", "self"):
                raise TypeError(
                    f"parameter {argument.name} of {function.__name__} has a name that calls take for something else; rename it"
                )
            if type(argument.default) not in (int, float, str):
                what = f"parameter {argument.name} of {function.__name__}"
                raise TypeError(
                    f"{what} needs a default that is an integer, a float or the name of a feature"
                )
        slot = cls(function, tuple((argument.name, argument.default) for argument in parameters))
        for argument in parameters:
            slot._checked(f"{function.__name__} by default", argument.name, argument.default)
        return slot

    @classmethod
    def arguments_of(cls, function: Callable) -> tuple[str, ...]:
        """What a function of this kind is given."""
        return cls.ARGUMENTS

    @property
    def compiled(self) -> Callable:
        if self.features:
            raise AttributeError(
                f"{self.label()} asks for the feature {self.features[0]!r}: no slot can call it"
            )
        return bind(self.function, self.values())

    def __call__(self, **parameters: float | str) -> Self:
        """The same slot with some parameters bound to other values.

        Raises:
            TypeError: no such parameter. ValueError: a value that the parameter cannot have.
        """
        check_names(self.name, parameters, dict(self.parameters))
        return self.rebound(self.name, parameters)

    def rebound(self, owner: str, parameters: Mapping[str, object]) -> Self:
        """The same slot with other values of those parameters that it has.

        Raises:
            ValueError: a value that the parameter cannot have; the message names it and the owner.
        """
        values = [
            (name, self._checked(owner, name, parameters[name]) if name in parameters else value)
            for name, value in self.parameters
        ]
        return attrs.evolve(self, parameters=tuple(values))

    def _checked(self, owner: str, name: str, value: object) -> float | str:
        kind = type(dict(self.parameters)[name])
        what = f"{name} of {owner}"
        annotated = get_args(self.annotation(name))
        within = next((each for each in annotated if isinstance(each, Range)), Range())
        if kind is int:
            most = min(within.most, Range().most)
            return integer(what, value, math.ceil(within.least), math.floor(most))
        if kind is float:
            return real(what, value, within.least, within.most, above=within.above)
        if not isinstance(value, str):
            raise ValueError(f"{what} is {value!r}; it must be the name of a feature")
        return str(value)  # of an enumeration's text, or NumPy's, just the letters

    def annotation(self, name: str) -> Any:
        """The annotation of a parameter, which is kept as a text where its file has `from __future__ import annotations`.

        Raises:
            TypeError: it has a name that the file does not know while it runs.
        """
        annotation = self.function.__annotations__.get(name)
        if not isinstance(annotation, str):
            return annotation
        texts = pytypes.SimpleNamespace(__annotations__={name: annotation})
        try:
            hints = get_type_hints(texts, self.function.__globals__, include_extras=True)
        except NameError as error:
            raise TypeError(f"the annotation of {name} of {self.name}: {error}") from None
        return hints[name]

    def __reduce__(self) -> tuple[Callable, tuple[str, str, Parameters]]:
        module, name = self.function.__module__, self.function.__qualname__
        with contextlib.suppress(ImportError, AttributeError):
            if load_by_name(module, name).function is self.function:
                return _load_slot, (module, name, self.parameters)
        raise pickle.PicklingError(
            f"{self.label()} cannot go to another process; define it once, at the top of a file"
        )

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def summary(self) -> str:
        """The first paragraph of the function's docstring: the formula, for printing, with parameters that are not as by default."""
        formula = " ".join((inspect.getdoc(self.function) or self.name).split("\n\n")[0].split())
        arguments = inspect.signature(self.function).parameters
        others = [
            f"{name} = {value}"
            for name, value in self.parameters
            if name in arguments and value != arguments[name].default
        ]
        return "; ".join([formula, *others])

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
        return f"{self.name}({parameters})" if parameters else self.name

    @property
    def features(self) -> tuple[str, ...]:
        """The features that are asked for by name."""
        return tuple(value for _, value in self.parameters if isinstance(value, str))

    def values(self, game: Any = None) -> tuple[float, ...]:
        """What the function is given for its parameters.

        Args:
            game: among whose features those asked for by name have their places.

        Raises:
            ValueError: it has no such feature. TypeError: there is a name, and no game.
        """
        if self.features and game is None:
            raise TypeError(
                f"{self.label()} asks for the feature {self.features[0]!r}; only a function that is given a history can"
            )
        return tuple(
            column_of(game, value) if isinstance(value, str) else value
            for _, value in self.parameters
        )

    def kinds(self) -> tuple[type, ...]:
        return tuple(int if isinstance(value, str) else type(value) for _, value in self.parameters)

    def refuse_result(self, result: object) -> None:
        """Refuse the result of a function that should return nothing.

        Raises:
            TypeError: there is one.
        """
        if self.DOES and result is not None:
            raise TypeError(result_message(self.label(), self.DOES))

    def label(self, kind: str = "") -> str:
        return f"the {kind or self.KIND} function {full_name(self.function)}"


def check_names(owner: str, given: Iterable[str], parameters: Collection[str]) -> None:
    """Refuse a name that is none of the parameters.

    Raises:
        TypeError: there is no such parameter.
    """
    if unknown := [name for name in given if name not in parameters]:
        raise TypeError(
            f"{owner} has no parameter {unknown[0]!r}; it has {', '.join(parameters) or 'none'}"
        )


def result_message(label: str, does: str) -> str:
    """The sentence that a function returns a value which nobody reads; `does` says what it should do."""
    return f"{label} returns a value, which is lost; it {does} and returns nothing"


def decorator(kind: type[Slot]) -> Any:
    """The decorator that makes a slot of a function, with what is promised of it: `@capture`, or `@capture(reads_simulation=False)`."""

    def mark(function: Callable | None = None, **promises: Any) -> Any:
        def marked(function: Callable) -> Slot:
            return attrs.evolve(kind.of(function), **promises)

        return marked if function is None else marked(function)

    mark.__doc__, mark.__name__ = kind.__doc__, kind.KIND
    return mark


@attrs.frozen(repr=False)
class Candidates(Slot):
    """`@candidates` marks `function(history, legal, records)`: the record of each legal action.

    `history` is the playout so far, whose last step decides; `legal` and `records` are [actions]. The function writes the key of a record
    for each action, or NO_RECORD. The rule of the policy makes a value of it: the mean reward, or UCB1.

    Attributes:
        independent: True if an action's record does not depend on the other legal actions, as in MAST, so that the function may be
            called with some of the legal actions only.
    """

    independent: bool = False

    KIND = "candidates"
    ARGUMENTS = ("history", "legal", "records")
    DOES = "writes records[i]"


@attrs.frozen(repr=False)
class Values(Slot):
    """`@values` marks `function(history, theta, legal, out)`: the value v of each legal action.

    `theta` is θ of the enhancement, read by `find`; `legal` and `out` are [actions]. All values are to be written, +∞ included and NaN not.

    Attributes:
        uniform_in_simulation: True if every value is +∞ in the simulation phase, as those of the baseline are. The function is called
            in the tree only.
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
    """`@initial_information` marks `function(history, i, stats)`: θ_initial of the record of the i-th legal action here.

    It is for `initial(function)`. It is called once for a record, when a policy over `@candidates` first finds it, and writes fields of
    the row `stats`, which holds the constants of θ_initial, for example from features of the game.
    """

    KIND = "initial_information"
    ARGUMENTS = ("history", "i", "stats")
    DOES = "changes the row"


@attrs.frozen(repr=False)
class Capture(Slot):
    """`@capture` marks `function(history, updates)`, or `function(history, theta, updates)` if it reads θ: the capture function ξ.

    `history` is the finished playout, with its rewards, and θ is as it was before it. The function calls `update(updates, record, context)`
    any number of times.

    Attributes:
        reads_simulation: False if it reads only steps of selection and expansion, as the baseline's does; a simulation that no
            capture reads is not stored.
        writes_simulation: False if it names only records of the histories of selection and expansion, and of their children, as AMAF's
            does; of the expanded history, which is such a child, no children. A policy over such records is not called where they
            cannot exist.
        proves: True if it proves bounds of rewards, as MCTS_SOLVER's does: the fields `lower` and `upper` of a record (player,
            moves, another player), of HISTORY * PLAYER, are bounds of that other player's reward after these moves. A search then
            recommends no action that is proven to be dominated by another, and is refused in games with hidden information.
    """

    reads_simulation: bool = True
    writes_simulation: bool = True
    proves: bool = False

    KIND = "capture"
    ARGUMENTS = ("history", "updates")
    DOES = "calls update(updates, record, context)"

    @classmethod
    def arguments_of(cls, function: Callable) -> tuple[str, ...]:
        """(history, theta, updates) where an argument is called theta."""
        return (
            ("history", "theta", "updates")
            if "theta" in inspect.signature(function).parameters
            else cls.ARGUMENTS
        )

    @property
    def reads_theta(self) -> bool:
        """Whether the function is given θ."""
        return "theta" in self.arguments_of(self.function)


@attrs.frozen(repr=False)
class Backpropagation(Slot):
    """`@backpropagation` marks `function(stats, context, rewards)`: the backpropagation function ω.

    It changes `stats`, θ(r) of one record, in place: `context` is ψ as the capture gave it, `rewards` [players] μ of the playout.

    Attributes:
        bounded_mean: True if `reward` and `visits` grow only together, a visit with one reward in [0, 1], as in MAST. Then so are the
            means, and `gibbs` over a @candidates(independent=True) function need not read all. A search ends if a mean is above 1.
    """

    bounded_mean: bool = False

    KIND = "backpropagation"
    ARGUMENTS = ("stats", "context", "rewards")
    DOES = "changes the row"


candidates = decorator(Candidates)
values = decorator(Values)
initial_information = decorator(InitialInformation)
capture, backpropagation = decorator(Capture), decorator(Backpropagation)
