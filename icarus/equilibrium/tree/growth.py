"""The growth of a game tree: a walk over all histories, compiled, which stops where an array is full and goes on when it has room."""

import functools
from typing import Any, NamedTuple

import numpy as np

from icarus.compiler.kernels.kernel import compiled
from icarus.compiler.kernels.pointers import address_of, array_at, call1, call2, call3, call4, matrix_at
from icarus.compiler.lazy import numba, types
from icarus.equilibrium.tree.arrays import END, END_SET, NODE, NOTHING, SET, SLOT, VIEW
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, helper, inlined, mix

WHOLE, MORE_NODES, MORE_SETS, MORE_SLOTS, MORE_VIEWS, MORE_ENDS, MORE_DEPTH, UNEQUAL, NOT_CONSTANT = range(9)
PLAYERS = 2
COMPARED = 64  # as many of the latest sets of chance are compared with a new one
WALK = np.dtype(
    [
        *((name, np.int64) for name in ("player", "legal", "apply", "rewards", "observe", "chance")),
        ("max_legal", np.int64),
        ("low", np.float64),  # the gain at a reward of 0
        ("range", np.float64),  # and how much more at one of 1
        *((name, np.int64) for name in ("nodes", "sets", "slots", "views", "ends")),  # used so far
        ("depth", np.int64),  # of the frame at work; -1 when all is done
        ("deepest", np.int64),  # actions in the longest history, the deal among them
        ("culprit", np.int64),  # the set where the game is found to be none
    ],
    align=True,
)
FRAME = np.dtype(
    [  # a history on the path
        ("node", np.int64),
        ("set", np.int64),
        ("next", np.int64),  # the child to be grown
        ("known", np.int64, (PLAYERS,)),
        ("luck", np.float64),
    ],
    align=True,
)
_WORD, _ROW, _REAL = np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.float64)
SPREAD = 2  # rows of the index for each view
ALIKE = 1e-9  # rewards that sum to 1 do so this nearly


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


class Tree(NamedTuple):
    """The arrays of a tree that grows, and where it stands."""

    walk: Any
    nodes: np.ndarray
    sets: np.ndarray
    slots: np.ndarray
    views: np.ndarray
    places: np.ndarray
    ends: np.ndarray


@inlined
def continued(tree: Tree, parent: int, move: int, slot: int) -> int:
    """The view that continues another by a move, entered where it is new."""
    i = find_view(tree.views, tree.places, parent, move, slot)
    if tree.places[i] == NOTHING:
        row = tree.walk.views
        tree.places[i] = row
        view = tree.views[row]
        view.parent, view.move, view.slot, view.set = parent, move, slot, NOTHING
        view.player = tree.views[parent].player
        tree.walk.views += 1
    return tree.places[i]


@inlined
def new_set(tree: Tree, player: int, actions: np.ndarray, count: int) -> int:
    """One more information set with these actions."""
    walk = tree.walk
    one = tree.sets[walk.sets]
    one.player, one.count, one.slot, one.known, one.node = player, count, walk.slots, NOTHING, NOTHING
    for k in range(count):
        tree.slots[walk.slots + k].action = actions[k]
    walk.slots += count
    walk.sets += 1
    return walk.sets - 1


@inlined
def same_actions(tree: Tree, one: Any, actions: np.ndarray, count: int) -> bool:
    """Whether an information set has just these actions."""
    if one.count != count:
        return False
    for k in range(count):
        if tree.slots[one.slot + k].action != actions[k]:
            return False
    return True


@helper
def chance_set(tree: Tree, actions: np.ndarray, count: int, odds: np.ndarray) -> int:
    """The set of chance with these outcomes: an earlier one where that is near."""
    compared, i = 0, tree.walk.sets - 1
    while i > 0 and compared < COMPARED:
        one = tree.sets[i]
        if one.player == CHANCE:
            compared += 1
            if same_actions(tree, one, actions, count):
                same = True
                for k in range(count):
                    same = same and tree.slots[one.slot + k].probability == odds[k]
                if same:
                    return i
        i -= 1
    found = new_set(tree, CHANCE, actions, count)
    for k in range(count):
        tree.slots[tree.sets[found].slot + k].probability = odds[k]
    return found


@inlined
def player_set(tree: Tree, row: int, actions: np.ndarray, count: int) -> int:
    """The information set of a view; NOTHING where other actions were legal in it before."""
    view = tree.views[row]
    if view.set == NOTHING:
        found = new_set(tree, view.player, actions, count)
        tree.sets[found].known, view.set = row, found
    elif not same_actions(tree, tree.sets[view.set], actions, count):
        tree.walk.culprit = view.set
        return NOTHING
    return view.set


@inlined
def room(tree: Tree, frames: np.ndarray) -> int:
    """Which array may be too small for one more history; WHOLE if none."""
    walk = tree.walk
    if walk.nodes + walk.max_legal > len(tree.nodes):
        return MORE_NODES
    if walk.sets + 1 > len(tree.sets):
        return MORE_SETS
    if walk.slots + walk.max_legal > len(tree.slots):
        return MORE_SLOTS
    if walk.views + PLAYERS > len(tree.views) or SPREAD * (walk.views + PLAYERS) > len(tree.places):
        return MORE_VIEWS
    if walk.ends + 1 > len(tree.ends):
        return MORE_ENDS
    return MORE_DEPTH if walk.depth + 2 > len(frames) else WHOLE


@inlined
def play(tree: Tree, frame: Any, below: Any, slot: int, here: np.ndarray, there: np.ndarray, moves: np.ndarray) -> None:
    """Make the action of a slot in a copy of the state, and have both players see it."""
    walk, action = tree.walk, tree.slots[slot].action
    mover = tree.sets[frame.set].player
    for player in range(PLAYERS):
        moves[player] = action
    if walk.observe != 0:
        call4(walk.observe, (address_of(here), action, address_of(moves), PLAYERS))
    for i in range(len(here)):  # an assignment of slices would ask first whether they overlap
        there[i] = here[i]
    call2(walk.apply, (address_of(there), action))
    for player in range(PLAYERS):
        below.known[player] = frame.known[player]
        if player == mover or moves[player] != UNSEEN:
            own = slot if player == mover else NOTHING
            below.known[player] = continued(tree, frame.known[player], moves[player], own)


@inlined
def end(tree: Tree, below: Any, there: np.ndarray, rewards: np.ndarray) -> int:
    """Enter a terminal history; NOT_CONSTANT where its rewards do not sum to 1."""
    walk = tree.walk
    call3(walk.rewards, (address_of(there), address_of(rewards), PLAYERS))
    one, node = tree.ends[walk.ends], tree.nodes[below.node]
    one.known[0], one.known[1] = below.known[0], below.known[1]
    one.gain, one.luck = walk.low + walk.range * rewards[0], below.luck
    node.set, node.child = END_SET, walk.ends
    walk.ends += 1
    return WHOLE if abs(rewards[0] + rewards[1] - 1.0) < ALIKE else NOT_CONSTANT


@inlined
def open_up(tree: Tree, below: Any, mover: int, there: np.ndarray, actions: np.ndarray, odds: np.ndarray) -> int:
    """Enter a history in which someone is to act, with room for its children; UNEQUAL where its view had other actions."""
    walk, node = tree.walk, tree.nodes[below.node]
    count = call2(walk.legal, (address_of(there), address_of(actions)))
    if mover == CHANCE:
        odds[:count] = 1.0 / count
        if walk.chance != 0:
            call2(walk.chance, (address_of(there), address_of(odds)))
        own_set = chance_set(tree, actions, count, odds)
    else:
        own_set = player_set(tree, below.known[mover], actions, count)
        if own_set == NOTHING:
            return UNEQUAL
    if tree.sets[own_set].node == NOTHING:
        tree.sets[own_set].node = below.node
    node.set, node.child = own_set, walk.nodes
    walk.nodes += count
    below.set, below.next = own_set, 0
    walk.depth += 1
    walk.deepest = max(walk.deepest, walk.depth + 1)
    return WHOLE


def grow(
    walks: np.ndarray,
    nodes: np.ndarray,
    sets: np.ndarray,
    slots: np.ndarray,
    views: np.ndarray,
    index: np.ndarray,
    ends: np.ndarray,
    frames: np.ndarray,
    states: np.ndarray,
    dealt: np.ndarray,
    seen: np.ndarray,
    words: np.ndarray,
    reals: np.ndarray,
) -> int:
    """Go on with the walk until all is done or something is missing; the frame of the deals is there from the start.

    Args:
        words: room for legal actions and what each player sees. [max_legal + players]
        reals: room for chance's probabilities and rewards. [max_legal + players]
    """
    walk = array_at(address_of(walks), 1, WALK)[0]
    tree = Tree(  # views that own nothing: counting references at each use would take longer than the walk
        walk,
        array_at(address_of(nodes), len(nodes), NODE),
        array_at(address_of(sets), len(sets), SET),
        array_at(address_of(slots), len(slots), SLOT),
        array_at(address_of(views), len(views), VIEW),
        array_at(address_of(index), len(index), _ROW),
        array_at(address_of(ends), len(ends), END),
    )
    frames = array_at(address_of(frames), len(frames), FRAME)
    states = matrix_at(address_of(states), states.shape[0], states.shape[1], _WORD)
    most = walk.max_legal
    actions, odds = array_at(address_of(words), most, _WORD), array_at(address_of(reals), most, _REAL)
    moves = array_at(address_of(words) + 8 * most, PLAYERS, _WORD)
    rewards = array_at(address_of(reals) + 8 * most, PLAYERS, _REAL)
    status = WHOLE
    while walk.depth >= 0 and status == WHOLE:
        frame = frames[walk.depth]
        one, k = tree.sets[frame.set], frame.next
        if k == one.count:
            walk.depth -= 1
            continue
        status = room(tree, frames)
        if status != WHOLE:
            break
        frame.next += 1
        below, there = frames[walk.depth + 1], states[walk.depth + 1]
        below.node, below.luck, slot = tree.nodes[frame.node].child + k, frame.luck, one.slot + k
        if walk.depth == 0:
            there[:] = dealt[k]
            for player in range(PLAYERS):
                below.known[player] = continued(tree, frame.known[player], seen[k, player], NOTHING)
        else:
            play(tree, frame, below, slot, states[walk.depth], there, moves)
        if one.player == CHANCE:
            below.luck *= tree.slots[slot].probability
        mover = call1(walk.player, (address_of(there),))
        status = (
            end(tree, below, there, rewards) if mover == TERMINAL else open_up(tree, below, mover, there, actions, odds)
        )
    return status


def reindexed(views: np.ndarray, used: int, index: np.ndarray) -> int:
    """Enter all views into an empty, larger index."""
    for row in range(PLAYERS, used):
        view = views[row]
        index[find_view(views, index, view.parent, view.move, view.slot)] = row
    return 0


def located(views: np.ndarray, index: np.ndarray, parent: int, move: int, slot: int) -> int:
    """The row of the view that continues another by a move, or NOTHING."""
    return index[find_view(views, index, parent, move, slot)]


def rows(dtype: np.dtype) -> Any:
    """The compiler's type of an array of records."""
    return numba.from_dtype(dtype)[::1]


@functools.cache
def growth() -> Any:
    """`grow` as machine code."""
    tables, words = [rows(dtype) for dtype in (WALK, NODE, SET, SLOT, VIEW)], types.int64[:, ::1]
    room = (types.int64[::1], types.float64[::1])
    return compiled(
        grow,
        types.int64(*tables, types.int32[::1], rows(END), rows(FRAME), words, words, words, *room),
        "growth of a game tree",
    )


@functools.cache
def reindexing() -> Any:
    """`reindexed` as machine code."""
    return compiled(reindexed, types.int64(rows(VIEW), types.int64, types.int32[::1]), "index of views")


@functools.cache
def location() -> Any:
    """`located` as machine code."""
    words = (types.int64,) * 3
    return compiled(located, types.int64(rows(VIEW), types.int32[::1], *words), "search for a view")
