"""What a `PythonGame` says, with the actions after which it says it; and how large it is, estimated by asking it."""

import random
from array import array
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias

import attrs
import numpy as np

from icarus.checks import count_text
from icarus.compiler.memory import struct_at
from icarus.equilibrium.arrays import PLAYERS
from icarus.equilibrium.deals import Deals
from icarus.equilibrium.growth import COUNTLESS, WALKS, refuse_if_too_large
from icarus.kernel import CHANCE, TERMINAL, Facts, inlined
from icarus.kernel.data import StateData
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import PythonGame, in_python
from icarus.kernel.structures import structure

Actions: TypeAlias = "tuple[Actions, int] | None"  # that of the actions before, and the last one
SHOWN = 50  # actions in a message
ENOUGH = 1 << 13  # histories after which no walk begins that is only to make the estimate better


class Questions:
    """The functions of a game of two players, as they are asked. What they raise comes with a note of the actions that led there.

    Attributes:
        path: of the actions that led to the state asked about.

    Raises:
        ValueError: an answer makes no sense (`icarus.kernel.answers`).
    """

    def __init__(self, game: PythonGame) -> None:
        self.game = game
        self.path: Actions = None

    @property
    def _place(self) -> str:
        """Where in the game this is, for messages."""
        path, actions = self.path, list[int]()
        while path is not None:
            path, action = path
            actions.append(action)
        actions.reverse()
        if len(actions) > SHOWN:
            return f"after {len(actions)} actions, the last of them {actions[-SHOWN:]}"
        return f"after the actions {actions}"

    def _ask(self, function: Callable, *arguments: object) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            error.add_note(f"in {self.game} {self._place}")
            raise

    def refuse(self, answer: str) -> None:
        """Raise what is wrong with an answer."""
        raise ValueError(f"{self._place} {self.game} {answer}")

    def player(self, state: StateData) -> int:
        """ρ."""
        return int(self._ask(self.game.player, state))

    def legal(self, state: StateData, player: int) -> list[int]:
        """A(s); nothing where the game has ended."""
        if player == TERMINAL:
            return []
        return list(self._ask(self.game.legal, state))

    def probabilities(self, state: StateData, player: int, count: int) -> list[float]:
        """π₀ of so many outcomes of chance; 0 of the actions of a player."""
        if player != CHANCE or self.game.chance is None:
            return [1 / count if player == CHANCE else 0.0] * count
        return list(self._ask(self.game.chance, state))

    def moves(self, state: StateData, action: int) -> list[int]:
        """The ⌣ᵢ."""
        if self.game.observe is None:
            return [action] * PLAYERS
        return list(self._ask(self.game.observe, state, action))

    def rewards(self, state: StateData, player: int) -> list[float]:
        """μ; 0 where the game has not ended."""
        if player != TERMINAL:
            return [0.0] * PLAYERS
        return list(self._ask(self.game.rewards, state))

    def after(self, state: StateData, action: int) -> StateData:
        """The state after an action, which is added to the path; the one given stays."""
        child = self._ask(self.game.copy, state)
        self._ask(self.game.apply, child, action)
        self.path = self.path, action
        return child


def estimate_histories(game: PythonGame, deals: Deals) -> float:
    """The number of histories of a game, estimated by walks as in `size`.

    Raises:
        ValueError: an answer of the game makes no sense.
    """
    luck, totals, visited = random.Random(0), list[float](), 0
    while not totals or (len(totals) < WALKS and visited < ENOUGH):
        total, histories = _walk(Questions(game), luck.choice(deals.states), luck)
        totals.append(total)
        visited += histories
    return len(deals) * sum(totals) / len(totals)


def _walk(questions: Questions, start: StateData, luck: random.Random) -> tuple[float, int]:
    """What a walk by strata tells of the number of histories after a deal, at most about COUNTLESS; and those that it looked at."""
    total, visited, depth = 0.0, 1, 0
    level: list[tuple[StateData, Actions, float]] = [(start, None, 1.0)]
    while level and total < COUNTLESS and depth <= questions.game.max_length:
        strata: dict[tuple[int, int], tuple[StateData, Actions, float]] = {}
        for state, path, weight in level:
            total += weight
            questions.path = path
            for action in questions.legal(state, questions.player(state)):
                questions.path = path
                child = questions.after(state, action)
                player = questions.player(child)
                stratum = player, len(questions.legal(child, player))
                chosen, path_to_it, sum_of_weights = strata.get(stratum, (child, questions.path, 0.0))
                sum_of_weights += weight
                if luck.random() * sum_of_weights < weight:
                    chosen, path_to_it = child, questions.path
                strata[stratum] = chosen, path_to_it, sum_of_weights
                visited += 1
        level, depth = list(strata.values()), depth + 1
    return total, visited


FEW = 1 << 13  # histories that are written before their number is estimated
LEAST_ROOM = 64  # for legal actions; it is a power of two, since code is compiled for each one


class History:
    """A history, written out."""

    player: int
    first: int  # its first choice; the others follow
    count: int  # of choices
    rewards: Annotated[np.ndarray, np.float64, PLAYERS]


class Choice:
    """An action at a history."""

    action: int
    child: int  # the history after it
    moves: Annotated[np.ndarray, np.int64, PLAYERS]  # what the players see of it
    probability: float  # of an outcome of chance


HISTORY, CHOICE = structure(History), structure(Choice)
STATE = np.dtype([("histories", np.int64), ("choices", np.int64), ("number", np.int64)], align=True)  # two addresses
HISTORY_BYTES, CHOICE_BYTES = HISTORY.itemsize, CHOICE.itemsize


@attrs.frozen(eq=False)
class Rules:
    """What compiled code walks a game by.

    Attributes:
        game: the game itself; of a `PythonGame` one whose states are numbers of its histories.
        deals: of this game.
        tables: histories and choices, which its states point to.
    """

    game: Game
    deals: Deals
    tables: tuple[np.ndarray, ...] = ()

    @property
    def histories(self) -> int:
        """How many there are, where they are written out; else 0."""
        return len(self.tables[0]) if self.tables else 0


def rules_of(game: AnyGame, deals: Deals, largest: int) -> Rules:
    """What compiled code walks a game by; a `PythonGame` is asked for all its histories.

    Raises:
        ValueError: a `PythonGame` has more than `largest` histories, or its answer makes no sense.
    """
    if isinstance(game, Game):
        return Rules(game, deals)
    writer = _Writer(in_python(game), deals, largest)
    numbers = [writer.write(state) for state in deals.states]
    histories, choices = _table(writer.histories, HISTORY), _table(writer.choices, CHOICE)
    states = np.zeros(len(numbers), STATE)
    states["histories"], states["choices"], states["number"] = histories.ctypes.data, choices.ctypes.data, numbers
    written = Game(
        name=game.name,
        players=PLAYERS,
        state=STATE,
        max_legal=1 << (max(int(histories["count"].max()), LEAST_ROOM) - 1).bit_length(),
        utilities=game.utilities,
        initial=initial,
        player=player,
        legal=legal,
        apply=apply,
        rewards=rewards,
        observe=observe,
        chance=chance,
        text=str,
        action_text=str,
    )
    return Rules(written, attrs.evolve(deals, states=states), (histories, choices))


class _Writer(Questions):
    """All histories of a game, deal by deal, depth first.

    Attributes:
        histories, choices: columns of HISTORY and CHOICE.
    """

    def __init__(self, game: PythonGame, deals: Deals, largest: int) -> None:
        super().__init__(game)
        self.deals, self.largest = deals, largest
        self.histories, self.choices = _columns(HISTORY), _columns(CHOICE)

    def write(self, start: StateData) -> int:
        """Write what follows a deal; returns the number of its history."""
        number, self.path = len(self.histories["player"]), None
        ancestors = [(start, self.path, iter(self.enter(start)))]
        while ancestors:
            state, self.path, rows = ancestors[-1]
            if (row := next(rows, None)) is None:
                ancestors.pop()
                continue
            child = self.after(state, self.choices["action"][row])
            self.choices["child"][row] = len(self.histories["player"])
            if len(ancestors) > self.game.max_length:
                self.refuse(f"continues beyond its max_length of {count_text(self.game.max_length, 'action')}")
            ancestors.append((child, self.path, iter(self.enter(child))))
        return number

    def enter(self, state: StateData) -> range:
        """Write a history; returns the rows of its choices."""
        self.refuse_if_too_large()
        player, first = self.player(state), len(self.choices["action"])
        actions, rewards = self.legal(state, player), self.rewards(state, player)
        count, moves = len(actions), [move for action in actions for move in self.moves(state, action)]
        _append(self.histories, [player], [first], [count], rewards)
        _append(self.choices, actions, [0] * count, moves, self.probabilities(state, player, count))
        return range(first, first + count)

    def refuse_if_too_large(self) -> None:
        """Refuse a game that has more histories than may be, after FEW of them already if it is estimated to have more."""
        number = len(self.histories["player"])
        if number == self.largest:
            raise ValueError(f"{self.game} is too large for a complete walk: it has more than {number:,} histories")
        if number == FEW:
            refuse_if_too_large(self.game, self.largest, estimate_histories(self.game, self.deals))


def _columns(dtype: np.dtype) -> dict[str, array]:
    return {name: array("d" if dtype[name].base.kind == "f" else "q") for name in dtype.names or ()}


def _append(columns: dict[str, array], *values: Sequence[float]) -> None:
    for column, items in zip(columns.values(), values, strict=True):
        column.extend(items)


def _table(columns: dict[str, array], dtype: np.dtype) -> np.ndarray:
    table = np.zeros(len(next(iter(columns.values()))), dtype)
    for name, column in columns.items():
        table[name] = np.frombuffer(column, dtype[name].base).reshape(table[name].shape)
    return table


# ------------------------------------------------------------------------------------ the functions of the written game


@inlined
def history_at(state: Facts) -> Facts:
    """The row of a history."""
    return struct_at(state.histories + HISTORY_BYTES * state.number, HISTORY)


@inlined
def choice_at(state: Facts, k: int) -> Facts:
    """The row of a choice of a history, by its index there."""
    return struct_at(state.choices + CHOICE_BYTES * (history_at(state).first + k), CHOICE)


@inlined
def choice_of(state: Facts, action: int) -> Facts:
    """The row of a choice of a history, by its action."""
    k = 0
    while choice_at(state, k).action != action:
        k += 1
    return choice_at(state, k)


def initial(state: Facts, rng: np.ndarray) -> None:
    """Nothing: the initial states are those of `Rules.deals`."""


def player(state: Facts) -> int:
    """ρ."""
    return history_at(state).player


def legal(state: Facts, actions: np.ndarray) -> int:
    """A(s)."""
    count = history_at(state).count
    for k in range(count):
        actions[k] = choice_at(state, k).action
    return count


def apply(state: Facts, action: int) -> None:
    """f."""
    state.number = choice_of(state, action).child


def rewards(state: Facts, out: np.ndarray) -> None:
    """μ."""
    out[0], out[1] = history_at(state).rewards[0], history_at(state).rewards[1]


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    """The ⌣ᵢ."""
    choice = choice_of(state, action)
    moves[0], moves[1] = choice.moves[0], choice.moves[1]


def chance(state: Facts, probabilities: np.ndarray) -> None:
    """π₀."""
    for k in range(history_at(state).count):
        probabilities[k] = choice_at(state, k).probability
