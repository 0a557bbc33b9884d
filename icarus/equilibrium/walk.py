"""What a walk over a game needs: its functions for compiled code, what players see of a move, and sentences of refusal."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

import numpy as np

from icarus.checks import count_text
from icarus.compiler import address_of, call, call_compiled, copy_items
from icarus.engine.compiled_search import ROOM, CalledBack, MoreActions
from icarus.equilibrium.deals import Deals
from icarus.kernel import (
    CHANCE,
    TERMINAL,
    UNSEEN,
    AnyGame,
    Game,
    PythonGame,
    Row,
    inlined,
    mix,
    uniform,
)

T = TypeVar("T")
PLAYERS = 2
NOTHING = -1
TOLERANCE = 1e-9  # rewards that sum to 1 do so this nearly
COMPLETE, MORE_ROOM, TOO_LONG, UNEQUAL, NOT_CONSTANT = range(5)  # what a walk has come to
THEOREMS = "best responses bound the distance from an equilibrium, and counterfactual regret minimization reaches one, in"
SHOWN = 50  # actions in a message
FUNCTIONS = ("player", "legal", "apply", "rewards", "observe", "chance")
# The addresses of functions; for how many legal actions there is room; the utility at a reward of 0, and how much more at one of 1.
_ADDRESSES = [(name, np.int64) for name in (*FUNCTIONS, "max_legal")]
WALK = np.dtype([*_ADDRESSES, ("low", np.float64), ("range", np.float64)], align=True)


@inlined
def player_of(walk: Row, state: np.ndarray) -> int:
    """Who is to move."""
    return call(walk.player, (address_of(state),))


@inlined
def write_legal(walk: Row, state: np.ndarray, actions: np.ndarray) -> int:
    """The legal actions; returns how many there are."""
    return call(walk.legal, (address_of(state), address_of(actions)))


@inlined
def write_rewards(walk: Row, state: np.ndarray, rewards: np.ndarray) -> int:
    """The rewards of two players at an end; COMPLETE, or NOT_CONSTANT where they do not sum to 1."""
    call(walk.rewards, (address_of(state), address_of(rewards), PLAYERS))
    return COMPLETE if abs(rewards[0] + rewards[1] - 1.0) < TOLERANCE else NOT_CONSTANT


@inlined
def show(walk: Row, state: np.ndarray, action: int, moves: np.ndarray) -> None:
    """Write the move by which each player sees an action that is about to be made."""
    for player in range(PLAYERS):
        moves[player] = action
    if walk.observe != 0:
        call(walk.observe, (address_of(state), action, address_of(moves), PLAYERS))


@inlined
def play(
    walk: Row, state: np.ndarray, action: int, following: np.ndarray, moves: np.ndarray
) -> None:
    """Make an action in a copy of a state, and write the move by which each player sees it."""
    show(walk, state, action, moves)
    copy_items(following, state)
    call(walk.apply, (address_of(following), action))


@inlined
def is_shown(moves: np.ndarray, player: int, mover: int, action: int) -> bool:
    """Whether a player sees something of a move, beside that the action is his own."""
    return moves[player] != UNSEEN and (player != mover or moves[player] != action)


@inlined
def write_chance(walk: Row, state: np.ndarray, count: int, out: np.ndarray) -> None:
    """The probabilities of chance's outcomes."""
    for k in range(count):
        out[k] = 1.0 / count
    if walk.chance != 0:
        call(walk.chance, (address_of(state), address_of(out)))


@inlined
def draw(weights: np.ndarray, count: int, point: float) -> int:
    """The index of an action, by weights that sum to 1 and a number below 1."""
    last = 0
    for k in range(count):
        if weights[k] > 0.0:
            last = k
            point -= weights[k]
            if point < 0.0:
                break
    return last


@inlined
def play_to_end(
    walk: Row, state: np.ndarray, left: int, actions: np.ndarray, reals: np.ndarray, rng: np.ndarray
) -> bool:
    """To the end of the game by uniform choice, in so many actions at most; returns whether it has come."""
    mover = player_of(walk, state)
    while mover != TERMINAL and left > 0:
        count = write_legal(walk, state, actions)
        if mover == CHANCE:
            write_chance(walk, state, count, reals)
            k = draw(reals, count, uniform(rng))
        else:
            k = int(uniform(rng) * count)
        call(walk.apply, (address_of(state), actions[k]))
        mover = player_of(walk, state)
        left = left - 1
    return mover == TERMINAL


@inlined
def next_key(key: int, is_own: int, move: int) -> int:
    """The key of what a player knows after one more move: his own action, or what he is shown. The first is that of the deal, after the key
    player + 1.
    """
    return mix(key, 2 * move + is_own)


@inlined
def key_after(key: int, player: int, mover: int, action: int, moves: np.ndarray) -> int:
    """The key of what a player knows after an action, of which each player sees a move."""
    if mover == player:
        key = next_key(key, 1, action)
    return next_key(key, 0, moves[player]) if is_shown(moves, player, mover, action) else key


@inlined
def place_of(keys: np.ndarray, key: int) -> int:
    """Where a key stands in an open hash table of [2^m] keys, or would; there is 0."""
    mask = len(keys) - 1
    i = key & mask
    # unsigned: never counted from the end
    while keys[np.uint64(i)] != key and keys[np.uint64(i)] != 0:
        i = (i + 1) & mask
    return i


class _Asked(CalledBack):
    """A `PythonGame` for compiled code, which knows its states by numbers: first those of the deals, then one for each depth of the path.

    So the states of the path alone are kept.
    """

    def __init__(self, game: PythonGame, deals: Deals, room: int) -> None:
        super().__init__(game, room)
        self._deals = len(deals)
        self._depth = 0
        self._path = list[int]()
        self._objects = dict(enumerate(deals.states))

    def state(self, address: int) -> Any:
        self._depth = max(ctypes.c_int64.from_address(int(address)).value - self._deals + 1, 0)
        return super().state(address)

    def _apply(self, state: int, action: int) -> int:
        child = self.game.ask("copy", self.state(state))
        self.game.ask("apply", child, int(action))
        self._path[self._depth :] = [int(action)]
        self._depth += 1
        if self._depth > self.game.max_length:
            raise ValueError(f"{self.place} {self.game} {_too_long(self.game)}")
        self.hold(state, child, self._deals + self._depth - 1)
        return 0

    @property
    def place(self) -> str:
        """Where in the game this is, for messages."""
        actions = self._path[: self._depth]
        if len(actions) > SHOWN:
            return f"after {len(actions)} actions, the last of them {actions[-SHOWN:]}"
        return f"after the actions {actions}"


class Walk:
    """The functions of a game as a walk calls them.

    Args:
        room: for how many legal actions, of a `PythonGame`.

    Attributes:
        settings: [1] of WALK.
        dealt: the initial states. [deals, words]
    """

    def __init__(self, game: AnyGame, deals: Deals, room: int = ROOM) -> None:
        self.game = game
        self._asked = _Asked(game, deals, room) if isinstance(game, PythonGame) else None
        functions: Any = self._asked or game.kernels()  # type: ignore[attr-defined]
        # A state of a `PythonGame` stays in `_Asked`, and goes by its number; the first ones are the deals.
        self.dealt = deals.words if isinstance(game, Game) else np.arange(len(deals)).reshape(-1, 1)
        low, high = game.utilities
        addresses = map(functions.address, FUNCTIONS)
        self.settings = np.array([(*addresses, self.room, low, high - low)], WALK)

    @property
    def room(self) -> int:
        """For how many legal actions there is room; after `MoreActions`, for how many there must be."""
        functions: Any = self._asked or self.game
        return functions.max_legal

    def scratch(self) -> Iterator[np.ndarray]:
        """Room for legal actions and what each player sees, and for probabilities and rewards."""
        return (np.zeros(self.room + PLAYERS, kind) for kind in (np.int64, np.float64))

    def call(self, kernel: Callable, *arguments: object) -> Any:
        """Call compiled code that walks the game; an error in a function of the game has a note of where it was."""
        if self._asked is None:
            return kernel(*arguments)
        try:
            return call_compiled(self._asked.kept, kernel, *arguments)
        except BaseException as error:
            error.add_note(f"in {self.game} {self._asked.place}")
            raise


def with_walk(game: AnyGame, deals: Deals, use: Callable[[Walk], T]) -> T:
    """The result of `use` for a walk over a game, with as much room for legal actions as the game needs."""
    walk = Walk(game, deals)
    while True:
        try:
            return use(walk)
        except MoreActions:
            walk = Walk(game, deals, walk.room)


def refuse_as_unsound(game: AnyGame, status: int, player: int = 0, where: str = "") -> NoReturn:
    """Refuse a game by what a walk has returned.

    Args:
        player: whose legal actions differ.
        where: it was seen.
    """
    if status == NOT_CONSTANT:
        raise ValueError(
            f"the rewards of {game} do not always sum to 1: {THEOREMS} zero-sum games only"
        )
    if status == UNEQUAL:
        what = "has different legal actions after the same moves, so he knows more than `observe` shows him"
        raise ValueError(f"player {player} of {game} {what}{where}")
    raise ValueError(f"{game} {_too_long(game)}")


def _too_long(game: AnyGame) -> str:
    return f"continues beyond its max_length of {count_text(game.max_length, 'action')}"


def refuse_unless_two_players(game: object) -> None:
    """Refuse what is not a game, or one to which the theorems about two-player zero-sum games do not apply."""
    if not isinstance(game, AnyGame):
        raise TypeError(
            f"a game must be a Game, such as games.load('leduc-poker'), or a PythonGame, not {game!r}"
        )
    if game.players != PLAYERS:
        raise ValueError(
            f"{game} has {count_text(game.players, 'player')}: {THEOREMS} two-player zero-sum games only"
        )
