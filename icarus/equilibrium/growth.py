"""The growth of a game tree: a walk over all histories, compiled, which stops where an array is full and goes on when it has room."""

from typing import Annotated, NamedTuple

import attrs
import numpy as np

from icarus.compiler.memory import address_of, call, copy_items
from icarus.compiler.rng import seeded
from icarus.equilibrium.arrays import END_SET, NOTHING, PLAYERS, InfoSet, kernel
from icarus.equilibrium.deals import Deals
from icarus.equilibrium.walk import Walk
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, below, helper, inlined, mix, uniform
from icarus.kernel.contract import Fields, structure
from icarus.kernel.game import AnyGame, Game

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
    if info_set.count != count:
        return False
    for k in range(count):
        if tree.slots[info_set.slot + k].action != actions[k]:
            return False
    return True


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


# How large a game is, estimated before memory is spent: Knuth's random walks (1975), made by strata as Chen did (1992).
# Histories of one length that have the same player to move and as many legal actions are a stratum. One of them, drawn in proportion
# to what it stands for, stands for all; so a walk goes down a few histories of each length at once.


WALKS, WALKS_IN_PYTHON = 20, 4  # of each kind
COUNTLESS = 1e30  # histories; more are not counted
ALL_HISTORIES = -2  # in place of a player whose views are counted


@attrs.frozen
class Size:
    """Estimated numbers of histories, and of information states of both players together."""

    histories: float
    information_states: float


@inlined
def representatives(observations: np.ndarray, choices: np.ndarray, count: int, rng: np.ndarray) -> int:
    """Of each different value an index that has it, drawn uniformly, put to the front of `choices`; returns how many there are."""
    different = 0
    for i in range(count):
        equal, row = 1, different
        for j in range(i):
            equal += observations[j] == observations[i]
        for k in range(different):
            if observations[choices[k]] == observations[i]:
                row = k
        if row == different:
            different += 1
        if below(rng, equal) == 0:
            choices[row] = i
    return different


@inlined
def next_moves(
    walk: Fields,
    address: int,
    mover: int,
    perspective: int,
    actions: np.ndarray,
    observations: np.ndarray,
    choices: np.ndarray,
    rng: np.ndarray,
) -> int:
    """Of each thing that a perspective may see next an action, as indices in `choices`; returns how many there are."""
    count = call(walk.legal, (address, address_of(actions)))
    if walk.observe == 0 or perspective in (mover, ALL_HISTORIES):
        for i in range(count):
            choices[i] = i
        return count
    moves = np.empty(PLAYERS, np.int64)
    for i in range(count):
        moves[:] = actions[i]
        call(walk.observe, (address, actions[i], address_of(moves), PLAYERS))
        observations[i] = moves[perspective]
    return representatives(observations, choices, count, rng)


@kernel("size of a game")
def measure(walks: np.ndarray, start: np.ndarray, perspective: int, rng: np.ndarray, sizes: np.ndarray) -> int:
    """The number of a perspective's information states, or of all histories, after a deal, into `sizes`; at most about COUNTLESS."""
    walk, total = walks[0], 0.0
    strata = (PLAYERS + 1) * (walk.max_legal + 1)
    states, next_states = np.empty((strata, len(start)), np.int64), np.empty((strata, len(start)), np.int64)
    weights, state = np.zeros(strata), np.empty(len(start), np.int64)
    actions, spare = np.empty(walk.max_legal, np.int64), np.empty(walk.max_legal, np.int64)
    choices, observations = np.empty(walk.max_legal, np.int64), np.empty(walk.max_legal, np.int64)
    states[0], weights[0] = start, 1.0
    while weights.sum() > 0.0 and total < COUNTLESS:
        next_weights = np.zeros(strata)
        for i in range(strata):
            if weights[i] == 0.0:
                continue
            address = address_of(states[i])
            mover = call(walk.player, (address,))
            if perspective in (mover, ALL_HISTORIES):
                total += weights[i]
            for k in range(next_moves(walk, address, mover, perspective, actions, observations, choices, rng)):
                copy_items(state, states[i])
                call(walk.apply, (address_of(state), actions[choices[k]]))
                next_mover = call(walk.player, (address_of(state),))
                if next_mover == TERMINAL:
                    total += weights[i] if perspective == ALL_HISTORIES else 0.0
                    continue
                count = call(walk.legal, (address_of(state), address_of(spare)))
                j = (next_mover + 1) * (walk.max_legal + 1) + count
                next_weights[j] += weights[i]
                if uniform(rng) * next_weights[j] < weights[i]:
                    next_states[j] = state
        states, next_states, weights = next_states, states, next_weights
    sizes[0] = total
    return 0


def refuse_if_too_large(game: AnyGame, largest: int, histories: float, information_states: float | None = None) -> None:
    """Refuse a game that is estimated to have more than so many histories."""
    if histories > largest:
        states = "" if information_states is None else f"{information_states:.2g} information states in "
        about = f"about {states}{histories:.2g} histories"
        if histories >= COUNTLESS:
            about = f"more than {COUNTLESS:.0g} histories"
        raise ValueError(f"{game} is too large for a complete walk: it has {about}; the limit is {largest:,} histories")


def estimate_size(walk: Walk, deals: Deals) -> Size:
    """The size of a game, by walks with a fixed seed.

    What a player may see next is told by one history in place of all that he holds possible; where what one shows differs from what
    another does, as in Goofspiel, there are some times more information states.
    """
    rng, deal_rng, walks = (
        seeded(0),
        np.random.default_rng(0),
        WALKS if isinstance(walk.game, Game) else WALKS_IN_PYTHON,
    )

    def mean(observations: np.ndarray, perspective: int) -> float:
        """For the deals that look different to a perspective, each drawn as often as any other."""
        _, classes, counts = np.unique(observations, return_inverse=True, return_counts=True)
        choices = deal_rng.integers(len(counts), size=walks)
        row = np.cumsum(counts)[choices] - 1 - deal_rng.integers(counts[choices])
        sizes = np.zeros((walks, 1))
        for number, size in zip(np.argsort(classes, kind="stable")[row], sizes, strict=True):
            walk.call(measure, walk.settings, walk.dealt[number], perspective, rng, size, wide=True)
        return len(counts) * float(sizes.mean())

    views = [mean(deals.observations[:, player], player) for player in range(PLAYERS)]
    return Size(mean(np.arange(len(deals)), ALL_HISTORIES), sum(views))
