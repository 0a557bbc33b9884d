"""What a walk over all of a game calls: the functions of a `Game` by their addresses, those of a `PythonGame` called back."""

import ctypes
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np

from icarus.checks import count_text
from icarus.compiler.functions import DISABLED
from icarus.engine.python_games import ROOM, CalledBack, MoreActions
from icarus.equilibrium.arrays import PLAYERS
from icarus.equilibrium.deals import Deals
from icarus.kernel.contract import StateData
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import PythonGame

T = TypeVar("T")
Actions: TypeAlias = "tuple[Actions, int] | None"  # that of the actions before, and the last one
SHOWN = 50  # actions in a message
WIDE = 1 << 32  # the first number of a state of a walk that keeps many at once
FUNCTIONS = ("player", "legal", "apply", "rewards", "observe", "chance")
WALK = np.dtype(
    [
        *((name, np.int64) for name in FUNCTIONS),
        ("max_legal", np.int64),
        ("low", np.float64),  # the utility at a reward of 0
        ("range", np.float64),  # and how much more at one of 1
        *((name, np.int64) for name in ("nodes", "sets", "slots", "views", "ends")),  # used so far
        ("depth", np.int64),  # of the frame at work; -1 when all is done
        ("deepest", np.int64),  # actions in the longest history, the deal among them
        ("unsound_set", np.int64),  # the set whose actions differ between its histories
    ],
    align=True,
)


class _Asked(CalledBack):
    """A `PythonGame` whose states are numbers: of a deal, then of the depth on the path, so that those on the path alone are kept.

    Attributes:
        wide: whether states of one depth are kept together, each with a number of its own.
        path: of the actions that led to the state asked about.
    """

    def __init__(self, game: PythonGame, deals: Deals, room: int) -> None:
        super().__init__(game, room)
        self.deals, self.wide, self.path = len(deals), False, None
        self._found: dict[int, tuple[StateData, Actions]] = {k: (state, None) for k, state in enumerate(deals.states)}

    path: Actions

    def state(self, address: int) -> StateData:
        data, self.path = self._found[int(self._numbers(address)[0])]
        return data

    def _numbers(self, address: int) -> np.ndarray:
        """[number, depth] of a state."""
        memory: Any = (ctypes.c_int64 * 2).from_address(int(address))
        return np.frombuffer(memory, np.int64)

    def _apply(self, state: int, action: int) -> int:
        numbers, child = self._numbers(state), self.game.copy(self.state(state))
        self.game.apply(child, int(action))
        self.path, depth = (self.path, int(action)), int(numbers[1]) + 1
        if depth > self.game.max_length:
            most = count_text(self.game.max_length, "action")
            raise ValueError(f"{self.place} {self.game} continues beyond its max_length of {most}")
        numbers[:] = WIDE + len(self._found) if self.wide else self.deals + depth, depth
        self._found[int(numbers[0])] = child, self.path
        return 0

    def forget(self) -> None:
        """Let go of the states of a wide walk."""
        self._found = {number: each for number, each in self._found.items() if number < WIDE}

    @property
    def place(self) -> str:
        """Where in the game this is, for messages."""
        path, actions = self.path, list[int]()
        while path is not None:
            path, action = path
            actions.append(action)
        actions.reverse()
        if len(actions) > SHOWN:
            return f"after {len(actions)} actions, the last of them {actions[-SHOWN:]}"
        return f"after the actions {actions}"


class Walk:
    """The functions of a game as a walk calls them.

    Attributes:
        settings: [1] of WALK.
        dealt: the initial states. [deals, words]
        room: for how many legal actions there is room.
    """

    def __init__(self, game: AnyGame, deals: Deals, room: int = ROOM) -> None:
        refuse_unless_two_players(game)
        self.game, self.settings = game, np.zeros(1, WALK)
        self._asked = _Asked(game, deals, room) if isinstance(game, PythonGame) else None
        functions = game.kernels() if isinstance(game, Game) else self._asked
        for name in FUNCTIONS:
            self.settings[name] = functions.address(name)  # type: ignore[union-attr]
        low, high = game.utilities
        self.settings["max_legal"] = game.max_legal if isinstance(game, Game) else room
        self.settings["low"], self.settings["range"] = low, high - low
        numbers = np.stack([np.arange(len(deals)), np.zeros(len(deals), np.int64)], 1)
        self.dealt = deals.words if isinstance(game, Game) else numbers

    @property
    def room(self) -> int:
        return int(self.settings["max_legal"][0]) if self._asked is None else self._asked.room

    def call(self, kernel: Callable, *arguments: object, wide: bool = False) -> Any:
        """What compiled code returns that walks the game; or what a function of the game has raised.

        Args:
            wide: whether the walk keeps states of one depth together, and none when it is done.
        """
        if self._asked is None:
            return kernel(*arguments)
        called_back = self._asked
        called_back.kept.clear()
        called_back.wide = wide
        try:
            result = kernel(*arguments)
        except SystemError:
            if not called_back.kept:
                raise
        if wide:
            called_back.forget()
        if called_back.kept:
            error = called_back.kept[0]
            error.add_note(f"in {self.game} {called_back.place}")
            raise error
        return result


def with_walk(game: AnyGame, deals: Deals, use: Callable[[Walk], T]) -> T:
    """What is made of a walk over a game, with as much room for legal actions as it needs."""
    walk = Walk(game, deals)
    while True:
        try:
            return use(walk)
        except MoreActions:
            walk = Walk(game, deals, walk.room)


def refuse_unless_two_players(game: object) -> None:
    """Refuse what is not a game, or one to which the theorems about two-player zero-sum games do not apply."""
    if not isinstance(game, AnyGame):
        raise TypeError(f"a game must be a Game, such as games.load('leduc-poker'), or a PythonGame, not {game!r}")
    if game.players != PLAYERS:
        raise ValueError(
            f"{game} has {count_text(game.players, 'player')}: best responses bound the distance from an equilibrium, and "
            "counterfactual regret minimization reaches one, in two-player zero-sum games only"
        )
    if DISABLED:
        raise RuntimeError(f"{game} cannot be walked, because NUMBA_DISABLE_JIT is set; unset it")
