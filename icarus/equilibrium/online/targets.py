"""What a search aims at: the part of a game tree that agrees with a match so far, by its information set or by public actions."""

import functools

import numpy as np

from icarus.compiler.kernels.pointers import address_of, call2, call4, copy_items
from icarus.equilibrium.tree.arrays import END_SET, PLAYERS
from icarus.equilibrium.tree.kernel import kernel
from icarus.equilibrium.tree.tree import GameTree, walk_of

INFORMATION_SET, PUBLIC_SUBGAME = "information set", "public subgame"
TARGETS = (INFORMATION_SET, PUBLIC_SUBGAME)
OUTSIDE, ON_THE_WAY, INSIDE = range(3)  # of a history: it cannot come to the target any more, still can, has done so


@kernel("marks of a target")
def mark(
    nodes: np.ndarray, sets: np.ndarray, parents: np.ndarray, starts: np.ndarray, marks: np.ndarray, stack: np.ndarray
) -> int:
    """Mark what follows the histories in which the target begins as inside, what comes before as on the way.

    Args:
        starts: these histories.
        stack: room for the children of all histories on a path.
    """
    for start in starts:
        stack[0], height = start, 1
        while height > 0:
            height -= 1
            node = stack[height]
            marks[node] = INSIDE
            if nodes[node].set != END_SET:
                for k in range(sets[nodes[node].set].count):
                    stack[height] = nodes[node].child + k
                    height += 1
        node = parents[start]
        while node >= 0 and marks[node] == OUTSIDE:
            marks[node] = ON_THE_WAY
            node = parents[node]
    return 0


@kernel("public subgames")
def first_agreeing(
    nodes: np.ndarray,
    sets: np.ndarray,
    slots: np.ndarray,
    public: np.ndarray,
    target_actions: np.ndarray,
    starts: np.ndarray,
    stack: np.ndarray,
    agreed: np.ndarray,
) -> int:
    """The first histories on each path whose public actions are the wanted ones; returns how many there are.

    Args:
        starts: room for them. [nodes]
        stack, agreed: room for the children of all histories on a path, and how many public actions each shares with the wanted ones.
    """
    count, height = 0, 1
    stack[0], agreed[0] = 0, 0
    while height > 0:
        height -= 1
        node, so_far = stack[height], agreed[height]
        if so_far == len(target_actions):
            starts[count] = node
            count += 1
        elif nodes[node].set != END_SET:
            info_set = sets[nodes[node].set]
            for k in range(info_set.count):
                child = nodes[node].child + k
                if not public[child] or slots[info_set.slot + k].action == target_actions[so_far]:
                    stack[height], agreed[height] = child, so_far + public[child]
                    height += 1
    return count


@kernel("reach of a target")
def reach_of_target(nodes: np.ndarray, sets: np.ndarray, policy: np.ndarray, marks: np.ndarray) -> float:
    """The probability of coming to the target where all play by a policy."""
    reach_probabilities, total = np.zeros(len(nodes)), 0.0
    reach_probabilities[0] = 1.0
    if marks[0] == INSIDE:
        return 1.0
    for node in range(len(nodes)):
        if marks[node] == ON_THE_WAY:
            info_set = sets[nodes[node].set]
            for k in range(info_set.count):
                child = nodes[node].child + k
                reach_probabilities[child] = reach_probabilities[node] * policy[info_set.slot + k]
                if marks[child] == INSIDE:
                    total += reach_probabilities[child]
    return total


@kernel("public actions of a game")
def find_public(
    walks: np.ndarray,
    nodes: np.ndarray,
    sets: np.ndarray,
    slots: np.ndarray,
    dealt: np.ndarray,
    states: np.ndarray,
    public: np.ndarray,
) -> int:
    """Mark each history whose last action everybody saw, by a walk over all of them; a deal is private.

    Args:
        states: room for the states along a path. [depth + 1, words]
    """
    walk, moves = walks[0], np.empty(PLAYERS, np.int64)
    path, tried = np.zeros(len(states), np.int64), np.zeros(len(states), np.int64)
    depth = 0
    while depth >= 0:
        node = path[depth]
        if nodes[node].set == END_SET or tried[depth] == sets[nodes[node].set].count:
            depth -= 1
            continue
        k, info_set = tried[depth], sets[nodes[node].set]
        tried[depth] += 1
        child, state, next_state = nodes[node].child + k, states[depth], states[depth + 1]
        if depth == 0:
            copy_items(next_state, dealt[k])
        else:
            action = slots[info_set.slot + k].action
            moves[:] = action
            if walk.observe != 0:
                call4(walk.observe, (address_of(state), action, address_of(moves), PLAYERS))
            public[child] = 1
            for player in range(PLAYERS):
                if player != info_set.player and moves[player] != action:
                    public[child] = 0
            copy_items(next_state, state)
            call2(walk.apply, (address_of(next_state), action))
        depth += 1
        path[depth], tried[depth] = child, 0
    return 0


@functools.lru_cache(maxsize=4)
def public_actions(tree: GameTree) -> np.ndarray:
    """For each history whether its last action is public: everybody sees it as the very action that it is. [nodes]

    Chance's outcomes in mid-game are public on the same terms (the definition says so; the paper's example leaves the flop out).
    """
    dealt, public = tree.rules.deals.words, np.zeros(len(tree.nodes), np.uint8)
    states = np.zeros((tree.depth + 1, dealt.shape[1]), np.int64)
    find_public(walk_of(tree.rules.game), tree.nodes, tree.sets, tree.slots, dealt, states, public)
    return public


def target_of(tree: GameTree, number: int, target: str) -> np.ndarray:
    """OUTSIDE, ON_THE_WAY or INSIDE for each history, where a search in an information set aims at the target. [nodes]

    Args:
        number: of the information set.
        target: INFORMATION_SET, the histories in it and after; PUBLIC_SUBGAME, all with the same public actions.
    """
    marks, room = np.zeros(len(tree.nodes), np.uint8), tree.depth * int(tree.sets["count"].max()) + 1
    stack = np.empty(room, np.int64)
    if target == INFORMATION_SET:
        starts = tree.histories_of(number)
    else:
        public, target_actions = public_actions(tree), []
        for node, slot in tree.path_to(int(tree.sets[number]["node"])):
            if public[node]:
                target_actions.append(int(tree.slots[slot]["action"]))
        starts = np.empty(len(tree.nodes), np.int64)
        agreed = np.empty(room, np.int64)
        count = first_agreeing(
            *(tree.nodes, tree.sets, tree.slots, public, np.array(target_actions, np.int64), starts, stack, agreed)
        )
        starts = starts[:count]
    mark(tree.nodes, tree.sets, tree.parents, starts, marks, stack)
    return marks
