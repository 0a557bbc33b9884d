"""The growth of a game tree: a walk over all histories, compiled, which stops where an array is full and goes on when it has room."""

import ctypes
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from icarus.checks import count_text
from icarus.compiler.memory import address_of, call, copy_items
from icarus.engine.compiled_search import ROOM, CalledBack, MoreActions
from icarus.equilibrium.arrays import END_SET, NOTHING, PLAYERS, InfoSet, kernel
from icarus.equilibrium.deals import Deals
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, helper, inlined, mix
from icarus.kernel.contract import StateData, structure
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import PythonGame

COMPLETE, MORE_NODES, MORE_SETS, MORE_SLOTS, MORE_VIEWS, MORE_ENDS, MORE_DEPTH, UNEQUAL, NOT_CONSTANT = range(9)
COMPARED = 64  # as many of the latest sets of chance are compared with a new one


class Frame:
    """A history on the path."""

    node: int
    set: int
    next: int  # the child to be grown
    views: Annotated[np.ndarray, np.int64, PLAYERS]
    chance_reach: float


FRAME = structure(Frame)
VIEWS = PLAYERS + 1  # that an action can add: the mover's own, and what each player is shown
SPREAD = 2  # rows of the index for each view
TOLERANCE = 1e-9  # rewards that sum to 1 do so this nearly


@inlined
def find_view(views: np.ndarray, index: np.ndarray, parent: int, move: int, slot: int) -> int:
    """The place in the index of the view that continues another by a move: of its row, or empty where there is none yet."""
    mask = len(index) - 1
    i = mix((parent << 32) ^ slot, move) & mask
    while index[i] != NOTHING:
        view = views[index[i]]
        if view.parent == parent and view.move == move and view.slot == slot:
            break
        i = (i + 1) & mask
    return i


class Growth(NamedTuple):
    """The arrays of a tree that grows, and where it stands."""

    walk: np.ndarray  # [1] of WALK
    nodes: np.ndarray
    sets: np.ndarray
    slots: np.ndarray
    views: np.ndarray
    view_index: np.ndarray
    ends: np.ndarray


@inlined
def continue_view(tree: Growth, parent: int, move: int, slot: int) -> int:
    """The view that continues another by a move, entered where it is new."""
    i = find_view(tree.views, tree.view_index, parent, move, slot)
    if tree.view_index[i] == NOTHING:
        row = tree.walk[0].views
        tree.view_index[i] = row
        view = tree.views[row]
        view.parent, view.move, view.slot, view.set = parent, move, slot, NOTHING
        view.player = tree.views[parent].player
        tree.walk[0].views += 1
    return tree.view_index[i]


@inlined
def new_set(tree: Growth, player: int, actions: np.ndarray, count: int) -> int:
    """One more information set with these actions."""
    walk = tree.walk[0]
    info_set = tree.sets[walk.sets]
    info_set.player, info_set.count, info_set.slot = player, count, walk.slots
    info_set.last_view, info_set.node = NOTHING, NOTHING
    for k in range(count):
        tree.slots[walk.slots + k].action = actions[k]
    walk.slots += count
    walk.sets += 1
    return walk.sets - 1


@inlined
def same_actions(tree: Growth, info_set: InfoSet, actions: np.ndarray, count: int) -> bool:
    """Whether an information set has just these actions."""
    same = info_set.count == count
    for k in range(count if same else 0):
        same = same and tree.slots[info_set.slot + k].action == actions[k]
    return same


@helper
def chance_set(tree: Growth, actions: np.ndarray, count: int, probabilities: np.ndarray) -> int:
    """The set of chance with these outcomes: an earlier one where that is near."""
    compared, i = 0, tree.walk[0].sets - 1
    while i > 0 and compared < COMPARED:
        info_set = tree.sets[i]
        if info_set.player == CHANCE:
            compared += 1
            if same_actions(tree, info_set, actions, count):
                same = True
                for k in range(count):
                    same = same and tree.slots[info_set.slot + k].probability == probabilities[k]
                if same:
                    return i
        i -= 1
    number = new_set(tree, CHANCE, actions, count)
    for k in range(count):
        tree.slots[tree.sets[number].slot + k].probability = probabilities[k]
    return number


@inlined
def player_set(tree: Growth, row: int, actions: np.ndarray, count: int) -> int:
    """The information set of a view; NOTHING where other actions were legal in it before."""
    view = tree.views[row]
    if view.set == NOTHING:
        number = new_set(tree, view.player, actions, count)
        tree.sets[number].last_view, view.set = row, number
    elif not same_actions(tree, tree.sets[view.set], actions, count):
        tree.walk[0].unsound_set = view.set
        return NOTHING
    return view.set


@inlined
def full_array(tree: Growth, frames: np.ndarray) -> int:
    """Which array may be too small for one more history; COMPLETE if none."""
    walk = tree.walk[0]
    if walk.nodes + walk.max_legal > len(tree.nodes):
        return MORE_NODES
    if walk.sets + 1 > len(tree.sets):
        return MORE_SETS
    if walk.slots + walk.max_legal > len(tree.slots):
        return MORE_SLOTS
    if walk.views + VIEWS > len(tree.views) or SPREAD * (walk.views + VIEWS) > len(tree.view_index):
        return MORE_VIEWS
    if walk.ends + 1 > len(tree.ends):
        return MORE_ENDS
    return MORE_DEPTH if walk.depth + 2 > len(frames) else COMPLETE


@inlined
def play(
    tree: Growth, frame: Frame, child: Frame, slot: int, state: np.ndarray, next_state: np.ndarray, moves: np.ndarray
) -> None:
    """Make the action of a slot in a copy of the state, and have both players see it."""
    walk, action = tree.walk[0], tree.slots[slot].action
    mover = tree.sets[frame.set].player
    for player in range(PLAYERS):
        moves[player] = action
    if walk.observe != 0:
        call(walk.observe, (address_of(state), action, address_of(moves), PLAYERS))
    for i in range(len(state)):  # an assignment of slices would ask first whether they overlap
        next_state[i] = state[i]
    call(walk.apply, (address_of(next_state), action))
    for player in range(PLAYERS):
        child.views[player] = frame.views[player]
        if player == mover:
            child.views[player] = continue_view(tree, child.views[player], action, slot)
        if moves[player] != UNSEEN and (player != mover or moves[player] != action):
            child.views[player] = continue_view(tree, child.views[player], moves[player], NOTHING)


@inlined
def add_end(tree: Growth, child: Frame, next_state: np.ndarray, rewards: np.ndarray) -> int:
    """Enter a terminal history; NOT_CONSTANT where its rewards do not sum to 1."""
    walk = tree.walk[0]
    call(walk.rewards, (address_of(next_state), address_of(rewards), PLAYERS))
    end, node = tree.ends[walk.ends], tree.nodes[child.node]
    end.views[0], end.views[1] = child.views[0], child.views[1]
    end.utility, end.chance_reach = walk.low + walk.range * rewards[0], child.chance_reach
    node.set, node.child = END_SET, walk.ends
    walk.ends += 1
    return COMPLETE if abs(rewards[0] + rewards[1] - 1.0) < TOLERANCE else NOT_CONSTANT


@inlined
def add_decision(
    tree: Growth, child: Frame, mover: int, next_state: np.ndarray, actions: np.ndarray, probabilities: np.ndarray
) -> int:
    """Enter a history in which someone is to act, with room for its children; UNEQUAL where its view had other actions."""
    walk, node = tree.walk[0], tree.nodes[child.node]
    count = call(walk.legal, (address_of(next_state), address_of(actions)))
    if mover == CHANCE:
        probabilities[:count] = 1.0 / count
        if walk.chance != 0:
            call(walk.chance, (address_of(next_state), address_of(probabilities)))
        number = chance_set(tree, actions, count, probabilities)
    else:
        number = player_set(tree, child.views[mover], actions, count)
        if number == NOTHING:
            return UNEQUAL
    if tree.sets[number].node == NOTHING:
        tree.sets[number].node = child.node
    node.set, node.child = number, walk.nodes
    walk.nodes += count
    child.set, child.next = number, 0
    walk.depth += 1
    walk.deepest = max(walk.deepest, walk.depth + 1)
    return COMPLETE


@kernel("growth of a game tree")
def grow(
    tree: Growth,
    frames: np.ndarray,
    states: np.ndarray,
    dealt: np.ndarray,
    observations: np.ndarray,
    words: np.ndarray,
    reals: np.ndarray,
) -> int:
    """Go on with the walk until all is done or something is missing; the frame of the deals is there from the start.

    Args:
        words: room for legal actions and what each player sees. [max_legal + players]
        reals: room for chance's probabilities and rewards. [max_legal + players]
    """
    walk = tree.walk[0]
    most = walk.max_legal
    actions, moves = words[:most], words[most:]
    probabilities, rewards = reals[:most], reals[most:]
    status = COMPLETE
    while walk.depth >= 0 and status == COMPLETE:
        frame = frames[walk.depth]
        info_set, k = tree.sets[frame.set], frame.next
        if k == info_set.count:
            walk.depth -= 1
            continue
        status = full_array(tree, frames)
        if status != COMPLETE:
            break
        frame.next += 1
        child, next_state = frames[walk.depth + 1], states[walk.depth + 1]
        child.node, child.chance_reach, slot = tree.nodes[frame.node].child + k, frame.chance_reach, info_set.slot + k
        tree.nodes[child.node].parent = frame.node
        if walk.depth == 0:
            copy_items(next_state, dealt[k])
            for player in range(PLAYERS):
                child.views[player] = continue_view(tree, frame.views[player], observations[k, player], NOTHING)
        else:
            play(tree, frame, child, slot, states[walk.depth], next_state, moves)
        if info_set.player == CHANCE:
            child.chance_reach *= tree.slots[slot].probability
        mover = call(walk.player, (address_of(next_state),))
        status = (
            add_end(tree, child, next_state, rewards)
            if mover == TERMINAL
            else add_decision(tree, child, mover, next_state, actions, probabilities)
        )
    return status


@kernel("index of views")
def reindex(views: np.ndarray, used: int, index: np.ndarray) -> int:
    """Enter all views into an empty, larger index."""
    for row in range(PLAYERS, used):
        view = views[row]
        index[find_view(views, index, view.parent, view.move, view.slot)] = row
    return 0


@kernel("search for a view")
def locate_view(views: np.ndarray, index: np.ndarray, parent: int, move: int, slot: int) -> int:
    """The row of the view that continues another by a move, or NOTHING."""
    return index[find_view(views, index, parent, move, slot)]


# ---------------------------------------------------------------------------------------- what a walk over a game calls


T = TypeVar("T")
Actions: TypeAlias = "tuple[Actions, int] | None"  # that of the actions before, and the last one
SHOWN = 50  # actions in a message
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
        path: of the actions that led to the state asked about.
    """

    def __init__(self, game: PythonGame, deals: Deals, room: int) -> None:
        super().__init__(game, room)
        self.deals, self.path = len(deals), None
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
        numbers, child = self._numbers(state), self.game.ask("copy", self.state(state))
        self.game.ask("apply", child, int(action))
        self.path, depth = (self.path, int(action)), int(numbers[1]) + 1
        if depth > self.game.max_length:
            most = count_text(self.game.max_length, "action")
            raise ValueError(f"{self.place} {self.game} continues beyond its max_length of {most}")
        numbers[:] = self.deals + depth, depth
        self._found[int(numbers[0])] = child, self.path
        return 0

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

    def call(self, kernel: Callable, *arguments: object) -> Any:
        """What compiled code returns that walks the game; or what a function of the game has raised."""
        if self._asked is None:
            return kernel(*arguments)
        raised = self._asked.kept
        raised.clear()
        try:
            result = kernel(*arguments)
        except SystemError:
            if not raised:
                raise
        if raised:
            raised[0].add_note(f"in {self.game} {self._asked.place}")
            raise raised[0]
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
