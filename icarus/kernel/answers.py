"""What the plain functions of a `PythonGame` answer, held against its contract where they are called.

Each mistake gets one sentence: "legal of trek (trek.py, line 24) returned None; it must be a list of integers".
"""

import copy
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Set
from operator import index
from typing import Any, NoReturn, SupportsFloat, SupportsIndex, TypeVar

from icarus.checks import count_text, excerpt, is_integer
from icarus.compiler.messages import defined_at
from icarus.kernel.contract import CHANCE, CONTINUES, TERMINAL, StateData
from icarus.kernel.functions import ARGUMENTS

SHOWN = 120  # characters of an answer in a message
TOLERANCE = 1e-9  # of the sum of probabilities
RETURNED, GAVE = "returned", "gave"  # how a function answers; what was compiled writes into arrays
_OUTPUTS = ("actions", "out", "moves", "probabilities")  # arrays that a function of a `Game` writes to
PlainGame = Any  # a `PythonGame`, which is made of what stands here
T = TypeVar("T")


class Answering:
    """A function of a `PythonGame` that refuses what makes no sense among its answers.

    Attributes:
        game, name: whose it is, and which.
        function: what answers.
    """

    def __init__(self, game: PlainGame, name: str, function: Callable) -> None:
        functools.update_wrapper(self, function, updated=())
        self.game, self.name, self.function, self._check = game, name, function, CHECKS[name]

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        return self._check(self, self.function(*arguments, **keywords), *arguments)

    def __deepcopy__(self, memo: dict) -> "Answering":
        return self

    @property
    def verb(self) -> str:
        """How it answers."""
        return getattr(self.function, "verb", RETURNED)

    def refuse(self, answer: object, right: str) -> NoReturn:
        """Raise what is wrong with an answer, and what would be right."""
        self.refuse_what(excerpt(repr(answer), SHOWN), right)

    def refuse_what(self, answer: str, right: str) -> NoReturn:
        """As `refuse`, of an answer in words."""
        place = defined_at(inspect.unwrap(self.function))
        raise ValueError(f"{self.name} of {self.game}{place} {self.verb} {answer}; it must {right}")

    def items(self, answer: object, kind: Callable[..., T], right: str) -> list[T]:
        """The items of an answer, each as Python's own integer or real number."""
        if not isinstance(answer, Iterable) or isinstance(answer, Mapping | Set | str):
            self.refuse(answer, right)
        items = list(answer)
        try:
            return [kind(item) for item in items]
        except (TypeError, ValueError):
            self.refuse(answer if isinstance(answer, list | tuple) else items, right)


def _real(value: str | SupportsFloat) -> float:
    if isinstance(value, str):
        raise TypeError
    return float(value)


def answering(game: PlainGame) -> dict[str, Callable]:
    """The functions of a game whose answers are to be checked, by name, as they are to be called."""
    functions = {name: unchecked(getattr(game, name)) for name in CHECKS}
    return {
        name: Answering(game, name, function)
        for name, function in functions.items()
        if function is not None and function is not copy.deepcopy
    }


def unchecked(function: Any) -> Any:
    """The function of a game as its author has given it."""
    return function.function if isinstance(function, Answering) else function


def author(function: Callable) -> Callable:
    """The function that an author has written, inside all that is round it."""
    return inspect.unwrap(unchecked(function))


def check_signatures(game: PlainGame) -> None:
    """Refuse a function that cannot be called with what it will be given.

    Raises:
        TypeError: so.
    """
    takes = {name: [each for each in text.split(", ") if each not in _OUTPUTS] for name, text in ARGUMENTS.items()}
    takes |= {
        "prepare": ["state", "observer"],
        "copy": ["state"],
        "observation": ["state", "player"],
        "multiplicity": ["state"],
        "initial": ["rng"],
        "deal": ["index"],
    }
    for name, arguments in takes.items():
        function = unchecked(getattr(game, name, None))
        keywords = game.parameters if name in ("initial", "deal") else {}
        try:
            signature = inspect.signature(function, follow_wrapped=False)
        except (TypeError, ValueError):  # it is absent; a function of C tells nothing
            continue
        try:
            signature.bind(*arguments, **keywords)
        except TypeError:
            parameters, right = ", ".join(signature.parameters), ", ".join([*arguments, *keywords])
            raise TypeError(
                f"{name} of {game} takes ({parameters}); it must take ({right}){defined_at(inspect.unwrap(function))}"
            ) from None


# ---------------------------------------------------------------------------------- what each function must answer


def _initial(function: Answering, answer: StateData, *rest: object) -> StateData:
    if answer is None:
        function.refuse(answer, "return a new state")
    return answer


def _next_state(function: Answering, answer: StateData, state: StateData, *rest: object, right: str) -> StateData:
    """A state that is made of another one, which stays as it is."""
    _initial(function, answer)
    if answer is state:
        function.refuse_what("the state that it was given", right)
    return answer


def _player(function: Answering, answer: SupportsIndex, state: StateData) -> int:
    try:
        player = index(answer)
    except TypeError:
        player = TERMINAL - 1
    if not (0 <= player < function.game.players or player in (CHANCE, TERMINAL)):
        players = f"a player from 0 to {function.game.players - 1}" if function.game.players > 1 else "player 0"
        function.refuse(answer, f"be {players}, CHANCE or TERMINAL")
    return player


def _legal(function: Answering, answer: object, state: StateData) -> list[int]:
    actions = function.items(answer, index, "be a list of integers")
    if not actions and function.game.player(state) != TERMINAL:
        function.refuse(answer, "be at least one action at a state that is not terminal")
    if len(set(actions)) < len(actions) or (actions and min(actions) < 0):
        function.refuse(actions, "be a list of different integers of at least 0")
    return actions


def _apply(function: Answering, answer: object, state: StateData, action: int) -> None:
    if answer is not None and answer is not state and type(answer) is type(state):
        function.refuse(answer, "change the state that it is given and return None")


def _rewards(function: Answering, answer: object, state: StateData) -> list[float]:
    players = function.game.players
    right = f"be {count_text(players, 'number')} from 0 to 1, one for each player"
    rewards = function.items(answer, _real, right)
    if len(rewards) != players or not all(0 <= reward <= 1 for reward in rewards):
        function.refuse(rewards, right)
    return rewards


def _chance(function: Answering, answer: object, state: StateData) -> list[float]:
    right = "be one probability for each legal action, which sum to 1"
    probabilities = function.items(answer, _real, right)
    count = len(function.game.legal(state)) if function.verb == RETURNED else len(probabilities)
    right = f"be {count} probabilities that sum to 1, one for each legal action"
    good = len(probabilities) == count and all(probability >= 0 for probability in probabilities)
    if not good or not abs(sum(probabilities) - 1) <= TOLERANCE:
        function.refuse(probabilities, right)
    return probabilities


def _observe(function: Answering, answer: object, state: StateData, action: int) -> list[int]:
    right = f"be {function.game.players} integers, the move that each player sees"
    moves = function.items(answer, index, right)
    if len(moves) != function.game.players:
        function.refuse(moves, right)
    return moves


def _number(function: Answering, answer: object, state: StateData, *, least: int, also: int, right: str) -> int:
    """An integer of at least so much, or one that means something else."""
    if not is_integer(answer) or (answer < least and answer != also):
        function.refuse(answer, right)
    return int(answer)


def _recall(function: Answering, answer: object, state: StateData, perspective: int) -> list[int]:
    return function.items(answer, index, "be a list of integers, the moves seen since the episode began")


def _multiplicity(function: Answering, answer: str | SupportsFloat, state: StateData) -> float:
    try:
        number = _real(answer)
    except TypeError:
        number = 0.0
    if not 0 < number < math.inf:
        function.refuse(answer, "be a positive number")
    return number


def _deal(function: Answering, answer: Any, number: int) -> tuple[StateData, float] | None:
    if answer is None:
        return None
    try:
        state, probability = answer
        chance = _real(probability)
    except (TypeError, ValueError):
        state, chance = None, 0.0
    if state is None or not 0 <= chance < math.inf:
        function.refuse(answer, "be (state, probability), or None after the last deal")
    return state, chance


def _deal_observation(function: Answering, answer: SupportsIndex, state: StateData, player: int) -> int:
    try:
        return index(answer)
    except TypeError:
        function.refuse(answer, "be an integer, what the player observes of the deal")


_determinize = functools.partial(_next_state, right="leave that alone and return a changed copy")
CHECKS: dict[str, Callable[..., Any]] = {
    "initial": _initial,
    "player": _player,
    "legal": _legal,
    "apply": _apply,
    "rewards": _rewards,
    "chance": _chance,
    "copy": functools.partial(_next_state, right="return a copy that can be changed without changing that"),
    "observe": _observe,
    "determinize": _determinize,
    "episode": functools.partial(_number, least=0, also=CONTINUES, right="be a label of at least 0, or CONTINUES"),
    "recall": _recall,
    "multiplicity": _multiplicity,
    "deal": _deal,
    "deal_observation": _deal_observation,
    "simultaneous": functools.partial(_number, least=0, also=0, right="be 0, or the number of the choice"),
}  # by the name of the function whose answer each checks
