"""Game trees of two-player zero-sum games, whole, in memory: histories, information sets, the players' views, and ends as arrays."""

import functools
import random
from collections.abc import Iterator
from typing import Annotated, NamedTuple, NoReturn, TypeAlias

import numpy as np

from icarus.checks import integer
from icarus.compiler import array_kernel, copy_items
from icarus.equilibrium.deals import (
    InformationState,
    NotEnumerable,
    deals_of,
    dealt_state,
    information_state,
)
from icarus.equilibrium.walk import (
    COMPLETE,
    MORE_ROOM,
    NOTHING,
    PLAYERS,
    TOO_LONG,
    UNEQUAL,
    Walk,
    is_shown,
    play,
    player_of,
    refuse_as_unsound,
    refuse_unless_two_players,
    with_walk,
    write_chance,
    write_legal,
    write_rewards,
)
from icarus.kernel import (
    CHANCE,
    TERMINAL,
    AnyGame,
    Game,
    GameOfState,
    Kernels,
    Short,
    State,
    inlined,
    structure,
)
from icarus.kernel.python_game import PythonGame, check_is_state

GameOrTree: TypeAlias = "AnyGame | GameTree"
LARGEST = 20_000_000  # histories of a tree; each takes about 20 bytes
LARGEST_IN_PYTHON = 1_000_000  # of a PythonGame, which is asked at each
# histories: a tree is begun in arrays for so many, since nearly all that are made have no more
SMALL = 1 << 13
WALKS = 100  # random ones, that tell how large a game is
CERTAIN = 10  # times the limit: who is estimated to be larger is refused before his tree is grown
ForEach: TypeAlias = Annotated[np.ndarray, np.int32, PLAYERS]  # a number for each player


class Node:
    """A history after which somebody acts."""

    parent: Short  # the history before, or NOTHING before the deal
    action: int  # the last one; of the deal its index


class InfoSet:
    """Histories that the player to move cannot tell apart."""

    player: Short
    count: Short  # of actions
    slot: Short  # of the first action; those of the others follow
    last_view: Short  # of the player
    node: Short  # the first history found in it


class PlayerView:
    """All that a player has observed: the view before, and one move more."""

    parent: Short  # an earlier row, or NOTHING
    slot: Short  # of the action, where the move is the player's own; else NOTHING
    set: Short  # in which the player is to move with this view, or NOTHING
    player: Short  # whose view it is
    child: Short  # the newest view that continues it, or 0
    sibling: Short  # one that continues the same, or 0
    move: int  # the last one observed; after the root, what the player observes of the deal


class End:
    """A terminal history."""

    views: ForEach  # the last of each player
    utility: float  # of player 0, in the units of the game
    chance_reach: float  # the probability of all that chance did


class Arrays(NamedTuple):
    """A whole tree, as compiled code takes it."""

    nodes: np.ndarray
    sets: np.ndarray
    slots: np.ndarray  # the action of each
    views: np.ndarray
    ends: np.ndarray


class Growing:
    """Where the growth of a tree stands: what is used of its arrays, and its path."""

    nodes: int
    sets: int
    slots: int
    views: int
    ends: int
    depth: int  # of the frame at work; -1 when all is done
    deepest: int  # actions in the longest history, the deal among them
    unsound: int  # the set whose actions differ between its histories


class Frame:
    """A history on the path."""

    node: int
    mover: int
    count: int  # of the actions
    slot: int  # of the first one, where a player moves
    next: int  # the child to be grown
    views: Annotated[np.ndarray, np.int64, PLAYERS]
    chance_reach: float


NODE, SET, VIEW, END, GROWING, FRAME = map(
    structure, (Node, InfoSet, PlayerView, End, Growing, Frame)
)
SLOT = np.dtype(np.int64)
VIEWS = PLAYERS + 1  # that an action can add: the mover's own, and what each player is shown


class Growth(NamedTuple):
    """A tree that grows, and what its walk works with."""

    walk: np.ndarray  # [1] of WALK
    growing: np.ndarray  # [1] of GROWING
    tree: Arrays
    frames: np.ndarray
    states: np.ndarray  # [frames, words]
    words: np.ndarray  # room for legal actions and what each player sees
    reals: np.ndarray  # room for probabilities and rewards


@inlined
def continue_view(growth: Growth, parent: int, move: int, slot: int) -> int:
    """The view that continues another by a move, entered where it is new."""
    views = growth.tree.views
    growing, before = growth.growing[0], views[parent]
    # the views that continue the other are a list of siblings
    row = before.child
    while row != 0 and (views[row].move != move or views[row].slot != slot):
        row = views[row].sibling
    if row == 0:
        row = growing.views
        view = views[row]
        view.parent = parent
        view.move = move
        view.slot = slot
        view.set = NOTHING
        view.player = before.player
        # the newest is the first of the list
        view.sibling = before.child
        before.child = row
        growing.views += 1
    return row


@inlined
def player_set(growth: Growth, row: int, actions: np.ndarray, count: int) -> int:
    """The information set of a view; NOTHING where other actions were legal in it before."""
    tree, growing = growth.tree, growth.growing[0]
    view = tree.views[row]
    if view.set == NOTHING:
        view.set = growing.sets
        info_set = tree.sets[view.set]
        info_set.player = view.player
        info_set.count = count
        info_set.slot = growing.slots
        info_set.last_view = row
        info_set.node = growing.nodes
        for k in range(count):
            tree.slots[growing.slots + k] = actions[k]
        growing.slots += count
        growing.sets += 1
    info_set = tree.sets[view.set]
    same = info_set.count == count
    for k in range(count if same else 0):
        same = same and tree.slots[info_set.slot + k] == actions[k]
    growing.unsound = view.set
    return view.set if same else NOTHING


@inlined
def grow_child(growth: Growth, frame: Frame, child: Frame) -> int:
    """Make the action that is next in a copy of the state, and have both players see it; returns the action."""
    rules = growth.walk[0]
    depth = growth.growing[0].depth
    state = growth.states[depth]
    moves = growth.words[rules.max_legal :]
    k = frame.next
    if frame.mover == CHANCE:
        count = write_legal(rules, state, growth.words)
        action = growth.words[k]
        write_chance(rules, state, count, growth.reals)
        child.chance_reach *= growth.reals[k]
    else:
        action = growth.tree.slots[frame.slot + k]
    play(rules, state, action, growth.states[depth + 1], moves)
    for player in range(PLAYERS):
        if player == frame.mover:
            child.views[player] = continue_view(growth, child.views[player], action, frame.slot + k)
        if is_shown(moves, player, frame.mover, action):
            child.views[player] = continue_view(growth, child.views[player], moves[player], NOTHING)
    return action


@inlined
def add_history(growth: Growth, frame: Frame, child: Frame, action: int, state: np.ndarray) -> int:
    """Enter a history, and go on from there; NOT_CONSTANT where rewards do not sum to 1, UNEQUAL where a view had other actions."""
    rules, growing = growth.walk[0], growth.growing[0]
    child.mover = player_of(rules, state)
    if child.mover == TERMINAL:
        end = growth.tree.ends[growing.ends]
        status = write_rewards(rules, state, growth.reals)
        copy_items(end.views, child.views)
        end.utility = rules.low + rules.range * growth.reals[0]
        end.chance_reach = child.chance_reach
        growing.ends += 1
        return status
    node = growth.tree.nodes[growing.nodes]
    node.parent = frame.node
    node.action = action
    child.node = growing.nodes
    child.next = 0
    child.count = write_legal(rules, state, growth.words)
    if child.mover != CHANCE:
        number = player_set(growth, child.views[child.mover], growth.words, child.count)
        if number == NOTHING:
            return UNEQUAL
        child.slot = growth.tree.sets[number].slot
    growing.nodes += 1
    growing.depth += 1
    growing.deepest = max(growing.deepest, growing.depth + 1)
    return COMPLETE


@array_kernel("growth of a game tree")
def grow(
    growth: Growth,
    dealt: np.ndarray,
    observations: np.ndarray,
    probabilities: np.ndarray,
    largest: int,
) -> int:
    """Walk over all histories, if they are no more than the largest number; the frame of the deals is there from the start."""
    growing = growth.growing[0]
    frames = growth.frames
    status = COMPLETE
    most_slots = len(growth.tree.slots) - growth.walk[0].max_legal
    while growing.depth >= 0 and status == COMPLETE:
        depth = growing.depth
        frame = frames[depth]
        k = frame.next
        if k == frame.count:
            growing.depth -= 1
            continue
        if growing.nodes + growing.ends == largest or growing.slots > most_slots:
            return MORE_ROOM
        if depth + 2 > len(frames):
            return TOO_LONG
        child = frames[depth + 1]
        state = growth.states[depth + 1]
        action = k
        child.chance_reach = frame.chance_reach
        copy_items(child.views, frame.views)
        if depth == 0:
            copy_items(state, dealt[k])
            child.chance_reach = probabilities[k]
            for player in range(PLAYERS):
                child.views[player] = continue_view(
                    growth, player, observations[k, player], NOTHING
                )
        else:
            action = grow_child(growth, frame, child)
        frame.next += 1
        status = add_history(growth, frame, child, action, state)
    return status


class GameTree:
    """All histories of a game and what its players know at each, as arrays.

    Args:
        largest: the most histories; None for 20 million, or a million of a `PythonGame`.

    Attributes:
        game: whose tree it is, a `Game` or a `PythonGame`.
        nodes, sets, slots, views, ends: its `arrays`, of NODE, SET, SLOT, VIEW and END.
        depth: actions in the longest one, the deal among them.
        deals: the initial states.

    Raises:
        ValueError: the game has not two players, is not zero-sum, has hidden deals, is too large, or does not show players their
            legal actions; an answer of a `PythonGame` is invalid; `largest` is not a positive integer. TypeError: no game.
    """

    def __init__(self, game: AnyGame, largest: int | None = None) -> None:
        refuse_unless_two_players(game)
        limits = (
            (SMALL, _largest_of(game)) if largest is None else (integer("largest", largest, 1),)
        )
        self.game = game
        self.deals = deals_of(game)
        for limit in limits:
            if with_walk(game, self.deals, functools.partial(self._grow, limit)):
                return
            if limit != limits[-1]:
                refuse_unless_walkable(game)
        _refuse_as_too_large(game, "more than the limit", limits[-1])

    game: GameOfState

    def _grow(self, largest: int, rules: Walk) -> bool:
        """Grow the tree in arrays for `largest` histories, where unused rows take no memory. Returns whether it has no more."""
        growing = np.zeros(1, GROWING)
        deals = self.deals
        depth = min(self.game.max_length, largest) + 3
        rows = largest + rules.room + PLAYERS
        kinds = {NODE: rows, SET: rows, SLOT: rows, VIEW: rows * VIEWS, END: rows}
        arrays = Arrays._make(np.zeros(count, kind) for kind, count in kinds.items())
        states = np.zeros((depth, rules.dealt.shape[1]), np.int64)
        frames = np.zeros(depth, FRAME)
        frames["count"][0] = len(deals)
        frames["views"][0] = range(PLAYERS)
        arrays.nodes["parent"][0] = NOTHING
        for player in range(PLAYERS):
            arrays.views[player] = (NOTHING, NOTHING, NOTHING, player, 0, 0, 0)
        growing["nodes"] = growing["deepest"] = 1
        growing["views"] = PLAYERS
        growth = Growth(rules.settings, growing, arrays, frames, states, *rules.scratch())
        status = rules.call(
            grow, growth, rules.dealt, deals.observations, deals.probabilities, largest
        )
        self.depth = int(growing["deepest"][0])
        pairs = zip(Arrays._fields, arrays, strict=True)
        self.arrays = Arrays._make(array[: growing[name][0]] for name, array in pairs)
        self.nodes, self.sets, self.slots, self.views, self.ends = self.arrays
        if status == UNEQUAL:
            number = int(growing["unsound"][0])
            where = f"; first found after: {self.state_of(number).history_str()!r}"
            refuse_as_unsound(self.game, status, int(self.sets[number]["player"]), where)
        if status not in (COMPLETE, MORE_ROOM):
            refuse_as_unsound(self.game, status)
        return bool(status == COMPLETE)

    @property
    def histories(self) -> int:
        """The number of histories, terminal ones among them."""
        return len(self.nodes) + len(self.ends)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def decisions(self) -> np.ndarray:
        """The numbers of the information sets."""
        return np.arange(len(self.sets))

    def state_of(self, number: int) -> State:
        """The state in an information set after the first history that was found there."""
        node = self.nodes[self.sets[number]["node"]]
        actions = []
        while node["parent"] != NOTHING:
            actions.append(int(node["action"]))
            node = self.nodes[node["parent"]]
        return dealt_state(self.game, self.deals, actions.pop(), reversed(actions))

    def actions(self, number: int) -> tuple[int, ...]:
        """The legal actions in an information set, in the game's order."""
        return tuple(self.slots[self.slots_of(number)].tolist())

    def slots_of(self, number: int) -> slice:
        """The slots of an information set, by its number."""
        info_set = self.sets[number]
        return slice(int(info_set["slot"]), int(info_set["slot"] + info_set["count"]))

    @functools.cached_property
    def _numbers(self) -> dict[InformationState, int]:
        return {state: number for number, state in enumerate(self.information_states())}

    def set_at(self, state: State) -> int:
        """The number of the information set that a state of the game is in.

        Raises:
            ValueError: no player is to move in it, or it is of another game. TypeError: no state.
        """
        check_is_state("an information set", state)
        if state.current_player() < 0 or str(state.game) != str(self.game):
            raise ValueError(
                f"{state!r} is not a state of {self.game} in which a player is to move"
            )
        number = self._numbers.get(information_state(state), NOTHING)
        if number == NOTHING:
            raise ValueError(f"{state!r} is not reached by any deal of {self.game}")
        return number

    def information_states(self) -> Iterator[InformationState]:
        """What the player to move knows, as `information_state` says it, for each of `decisions`, in their order."""
        for row in self.sets["last_view"]:
            view, moves = self.views[row], []
            while view["parent"] != NOTHING:
                moves.append((bool(view["slot"] != NOTHING), int(view["move"])))
                view = self.views[view["parent"]]
            yield int(view["player"]), moves[-1][1], tuple(reversed(moves[:-1]))

    def __repr__(self) -> str:
        return (
            f"<tree of {self.game}: {self.histories} histories, {len(self.sets)} information sets>"
        )


def refuse_unless_walkable(game: AnyGame) -> None:
    """Refuse a game whose tree would be too large, by an estimate of its size from random walks (Knuth, 1975).

    Raises:
        ValueError: not two players, deals in secret, too large, or without an end. TypeError: no game.
    """
    refuse_unless_two_players(game)
    deals = deals_of(game)
    limit = _largest_of(game)
    luck = random.Random(0)
    histories = 0.0
    for _ in range(WALKS):
        state = dealt_state(game, deals, luck.randrange(len(deals)))
        weight = len(deals) / WALKS
        while actions := state.legal_actions():
            if len(state.history) >= game.max_length:
                refuse_as_unsound(game, TOO_LONG)
            weight *= len(actions)
            histories += weight
            if histories > CERTAIN * limit:
                _refuse_as_too_large(game, f"about {histories:.0g}", limit)
            state.apply_action(luck.choice(actions))


def _largest_of(game: AnyGame) -> int:
    """The most histories that the tree of a game may have by default."""
    return LARGEST_IN_PYTHON if isinstance(game, PythonGame) else LARGEST


def _refuse_as_too_large(game: AnyGame, about: str, limit: int) -> NoReturn:
    """Refuse a game of about so many histories."""
    size = f"it has {about} histories; the limit is {limit:,}"
    raise NotEnumerable(f"{game} is too large for a complete walk: {size}")


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
