"""Game trees of two-player zero-sum games, whole, in memory."""

import functools
import random
from collections.abc import Iterator
from typing import NoReturn, TypeAlias

import numpy as np

from icarus.checks import integer
from icarus.equilibrium import growth
from icarus.equilibrium.arrays import END, NODE, NOTHING, PLAYERS, SET, SLOT, VIEW, Arrays
from icarus.equilibrium.deals import InformationState, Moves, deals_of, dealt_state, information_state
from icarus.equilibrium.growth import Walk, refuse_unless_two_players, with_walk
from icarus.kernel import CHANCE
from icarus.kernel.functions import Kernels
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import PythonGame, check_is_state
from icarus.kernel.state import PlayedGame, State

GameOrTree: TypeAlias = "AnyGame | GameTree"
LARGEST = 20_000_000  # histories of a tree; each takes about 20 bytes
LARGEST_IN_PYTHON = 1_000_000  # of a PythonGame, which is asked at each
_FEW = 1 << 10  # histories on a path that there is room for
SMALL = 1 << 13  # rows that a walk begins with
MORE = 4  # times as many, where they are not enough; rows that are never used take no memory
WALKS = 100  # random ones, that tell how large a game is
CERTAIN = 10  # times the limit: who is estimated to be larger is refused before his tree is grown


class GameTree:
    """All histories of a game and what its players know at each, as arrays.

    Args:
        largest: the most histories; None for 20 million, or a million of a `PythonGame`.

    Attributes:
        game: whose tree it is, a `Game` or a `PythonGame`.
        nodes, sets, slots, views, ends: of NODE, SET, SLOT, VIEW and END; see `icarus.equilibrium.arrays`.
        deals: the initial states.

    Raises:
        ValueError: the game has not two players, is not zero-sum, has hidden deals, is too large, or does not show players their
            legal actions; an answer of a `PythonGame` is invalid; `largest` is not a positive integer. TypeError: no game.
    """

    def __init__(self, game: AnyGame, largest: int | None = None) -> None:
        refuse_unless_two_players(game)
        largest = largest_of(game) if largest is None else integer("largest", largest, 1)
        self.game, self.deals = game, deals_of(game)
        self._arrays = {"nodes": NODE, "sets": SET, "slots": SLOT, "views": VIEW, "ends": END}
        with_walk(game, self.deals, lambda walk: self._begin(walk, largest))

    def _begin(self, walk: Walk, largest: int) -> None:
        """Grow the tree from the deals on."""
        self._walk = walk.settings
        rows = max(min(SMALL, largest), 2 * len(self.deals) + walk.room)
        for name, dtype in self._arrays.items():
            setattr(self, name, np.zeros(rows, dtype))
        self._index_views(rows)
        self._grow(walk, largest)

    game: PlayedGame
    nodes: np.ndarray
    sets: np.ndarray
    slots: np.ndarray
    views: np.ndarray
    ends: np.ndarray

    def _grow(self, walk: Walk, largest: int) -> None:
        observations, dealt = self.deals.observations, walk.dealt
        frames, states = np.zeros(_FEW, growth.FRAME), np.zeros((_FEW, dealt.shape[1]), np.int64)
        self._add_deals(frames)
        rows = len(self.nodes)
        scratch = [np.zeros(walk.room + PLAYERS, kind) for kind in (np.int64, np.float64)]
        while True:
            tree = growth.Growth(walk.settings, self.nodes, self.sets, self.slots, self.views, self._index, self.ends)
            status = walk.call(growth.grow, tree, frames, states, dealt, observations, *scratch)
            if self._walk["nodes"][0] > largest:
                refuse_as_too_large(self.game, "more than the limit", largest)
            if status in (growth.COMPLETE, growth.UNEQUAL, growth.NOT_CONSTANT):
                break
            if status == growth.MORE_DEPTH:
                frames, states = _lengthen(frames), _lengthen(states)
                continue
            if len(self.nodes) <= rows:
                refuse_unless_walkable(self.game, largest)
            name = list(self._arrays)[status - 1]
            setattr(self, name, _lengthen(getattr(self, name)))
            if name == "views":
                self._index_views(len(self.views))
        for name in self._arrays:
            setattr(self, name, getattr(self, name)[: self._walk[name][0]])
        self._refuse_unless_sound(status)

    def _add_deals(self, frames: np.ndarray) -> None:
        """The history before the deal, where both players have seen nothing."""
        count = len(self.deals)
        for player in range(PLAYERS):
            self.views[player] = (NOTHING, NOTHING, NOTHING, player, 0)
        self.slots[:count]["action"], self.slots[:count]["probability"] = range(count), self.deals.probabilities
        self.sets[0] = (CHANCE, count, 0, NOTHING, 0)
        self.nodes[0] = (0, 1, 0)
        frames[0] = (0, 0, 0, (0, 1), 1.0)
        walk = self._walk
        walk["nodes"], walk["sets"], walk["slots"], walk["views"], walk["ends"] = count + 1, 1, count, PLAYERS, 0
        walk["depth"], walk["deepest"] = 0, 1

    def _index_views(self, rows: int) -> None:
        """An index with room for so many views, and those there are entered."""
        self._index = np.full(1 << (growth.SPREAD * rows - 1).bit_length(), NOTHING, np.int32)
        growth.reindex(self.views, int(self._walk["views"][0]), self._index)

    def _refuse_unless_sound(self, status: int) -> None:
        if status == growth.NOT_CONSTANT:
            raise ValueError(
                f"the rewards of {self.game} do not always sum to 1: best responses bound the distance from an equilibrium, and "
                "counterfactual regret minimization reaches one, in zero-sum games only"
            )
        if status == growth.UNEQUAL:
            info_set = self.sets[self._walk["unsound_set"][0]]
            raise ValueError(
                f"player {info_set['player']} of {self.game} has different legal actions after the same moves, so he knows more "
                f"than `observe` shows him; first found after: {self.state_of(int(self._walk['unsound_set'][0])).history_str()!r}"
            )

    @property
    def arrays(self) -> Arrays:
        return Arrays(*(getattr(self, name) for name in self._arrays))

    @property
    def depth(self) -> int:
        """Actions in the longest history, the deal among them."""
        return int(self._walk["deepest"][0])

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(getattr(self, name).nbytes for name in self._arrays) + self._index.nbytes

    @functools.cached_property
    def decisions(self) -> np.ndarray:
        """The information sets of the players, chance's left out: their numbers."""
        return np.flatnonzero(self.sets["player"] != CHANCE)

    def state_of(self, number: int) -> State:
        """A state in an information set: at the first history that was found there."""
        node, actions = int(self.sets[number]["node"]), list[int]()
        while node != 0:
            above = self.nodes[self.nodes[node]["parent"]]
            actions.append(int(self.slots[self.sets[above["set"]]["slot"] + node - above["child"]]["action"]))
            node = int(self.nodes[node]["parent"])
        state = dealt_state(self.game, self.deals, actions[-1])
        for action in actions[-2::-1]:
            state.apply_action(action)
        return state

    def actions(self, number: int) -> tuple[int, ...]:
        """The legal actions in an information set, in the game's order."""
        return tuple(self.slots["action"][self.slots_of(number)].tolist())

    def slots_of(self, number: int) -> slice:
        """The slots of an information set, by its number."""
        info_set = self.sets[number]
        return slice(int(info_set["slot"]), int(info_set["slot"] + info_set["count"]))

    def set_of(self, player: int, observation: int, moves: Moves) -> int:
        """The information set of an information state (see `information_state`); NOTHING if there is none."""
        view = growth.locate_view(self.views, self._index, player, observation, NOTHING)
        for is_own, move in moves:
            if view == NOTHING:
                break
            view = self._continue_view(view, is_own, int(move))
        return NOTHING if view == NOTHING else int(self.views[view]["set"])

    def _continue_view(self, view: int, is_own: bool, move: int) -> int:
        """The view after one more move; NOTHING if there is none."""
        number = int(self.views[view]["set"])
        if not is_own or number == NOTHING:
            return NOTHING if is_own else growth.locate_view(self.views, self._index, view, move, NOTHING)
        slots = self.slots_of(number)
        rows = (
            growth.locate_view(self.views, self._index, view, move, slot) for slot in range(slots.start, slots.stop)
        )
        return next((row for row in rows if row != NOTHING), NOTHING)

    def set_at(self, state: State) -> int:
        """The number of the information set that a state of the game is in.

        Raises:
            ValueError: no player is to move in it, or it is of another game. TypeError: no state.
        """
        check_is_state("an information set", state)
        if state.current_player() < 0 or str(state.game) != str(self.game):
            raise ValueError(f"{state!r} is not a state of {self.game} in which a player is to move")
        number = self.set_of(*information_state(state))
        if number == NOTHING:
            raise ValueError(f"{state!r} is not reached by any deal of {self.game}")
        return number

    def information_states(self) -> Iterator[InformationState]:
        """What the player to move knows, as `information_state` says it, for each of `decisions`, in their order."""
        for number in self.decisions:
            view, moves = self.views[self.sets[number]["last_view"]], []
            while view["parent"] != NOTHING:
                moves.append((bool(view["slot"] != NOTHING), int(view["move"])))
                view = self.views[view["parent"]]
            yield int(view["player"]), moves[-1][1], tuple(reversed(moves[:-1]))

    def __repr__(self) -> str:
        return f"<tree of {self.game}: {len(self.nodes)} histories, {len(self.decisions)} information sets>"


def _lengthen(array: np.ndarray) -> np.ndarray:
    """A copy with more rows."""
    longer = np.zeros((MORE * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def refuse_unless_walkable(game: AnyGame, largest: int | None = None) -> None:
    """Refuse a game whose tree cannot be had, before any of it is grown: by random walks after its deals (Knuth, 1975).

    Raises:
        ValueError: not two players, deals in secret, or too large. TypeError: no game.
    """
    refuse_unless_two_players(game)
    deals, luck, histories = deals_of(game), random.Random(0), 0.0
    for _ in range(WALKS):
        state, weight = dealt_state(game, deals, luck.randrange(len(deals))), len(deals) / WALKS
        while not state.is_terminal():
            actions = state.legal_actions()
            weight *= len(actions)
            histories += weight
            state.apply_action(luck.choice(actions))
    limit = largest_of(game) if largest is None else largest
    if histories > CERTAIN * limit:
        refuse_as_too_large(game, f"about {histories:.0g}", limit)


def largest_of(game: AnyGame) -> int:
    """The most histories of a tree, if nothing else is said."""
    return LARGEST_IN_PYTHON if isinstance(game, PythonGame) else LARGEST


def refuse_as_too_large(game: AnyGame, about: str, limit: int) -> NoReturn:
    """Refuse a game by what is known of its size."""
    raise ValueError(f"{game} is too large for a complete walk: it has {about} histories; the limit is {limit:,}")


def tree_of(game: GameOrTree) -> GameTree:
    """The tree of a game, or the tree itself. The last few are kept, until a global that a `Game` uses is bound to another value.

    Raises:
        ValueError, TypeError: as for a `GameTree`.
    """
    if isinstance(game, GameTree):
        return game
    refuse_unless_two_players(game)
    return _kept_tree(game, game.kernels() if isinstance(game, Game) else None)


@functools.lru_cache(maxsize=4)
def _kept_tree(game: AnyGame, kernels: Kernels | None) -> GameTree:
    """The tree of a game as its functions are compiled now."""
    return GameTree(game)
