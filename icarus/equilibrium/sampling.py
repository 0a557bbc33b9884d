"""Online Outcome Sampling, compiled: Algorithm 1 of Lanctot, Lisý and Bowling (2015) over the arrays of a game tree, and what it aims at.

Readings. Line 6 returns x as it came, which biases the regrets where chance acts in mid-game; here it is multiplied by ρ₂, as a
player's probability is in line 19. Line 12 begins the playout with the probabilities after the action drawn, s′. Players are
taken to choose uniformly beyond the tree: that probability is in x as in l. Where every action that stays in the target has
the probability 0, the targeted scenario draws one of them uniformly.
"""

from typing import NamedTuple

import numpy as np

from icarus.equilibrium.arrays import END_SET, PLAYERS, Arrays, InfoSet, kernel
from icarus.equilibrium.tree import GameTree
from icarus.kernel import CHANCE, inlined, uniform
from icarus.kernel.contract import structure

INFORMATION_SET, PUBLIC_SUBGAME = "information set", "public subgame"
TARGETS = (INFORMATION_SET, PUBLIC_SUBGAME)
OUTSIDE, ON_THE_WAY, INSIDE = range(3)  # of a history: it cannot come to the target any more, still can, has done so


@kernel("marks of a target")
def mark(tree: Arrays, parents: np.ndarray, starts: np.ndarray, marks: np.ndarray, stack: np.ndarray) -> int:
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
            if tree.nodes[node].set != END_SET:
                for k in range(tree.sets[tree.nodes[node].set].count):
                    stack[height] = tree.nodes[node].child + k
                    height += 1
        node = parents[start]
        while node >= 0 and marks[node] == OUTSIDE:
            marks[node] = ON_THE_WAY
            node = parents[node]
    return 0


@kernel("public subgames")
def first_agreeing(
    tree: Arrays, target_actions: np.ndarray, starts: np.ndarray, stack: np.ndarray, agreed: np.ndarray
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
        elif tree.nodes[node].set != END_SET:
            info_set = tree.sets[tree.nodes[node].set]
            for k in range(info_set.count):
                child = tree.nodes[node].child + k
                public = tree.nodes[child].public
                if public == 0 or tree.slots[info_set.slot + k].action == target_actions[so_far]:
                    stack[height], agreed[height] = child, so_far + public
                    height += 1
    return count


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
        path = tree.path_to(int(tree.sets[number]["node"]))
        slots = [slot for node, slot in path if tree.nodes[node]["public"]]
        starts, agreed = np.empty(len(tree.nodes), np.int64), np.empty(room, np.int64)
        starts = starts[
            : first_agreeing(tree.arrays, tree.slots["action"][slots].astype(np.int64), starts, stack, agreed)
        ]
    mark(tree.arrays, tree.parents, starts, marks, stack)
    return marks


class SamplingSettings:
    """How a search samples."""

    delta: float  # δ, the probability that an iteration aims at the target
    exploration: float  # ε of the sampling
    regret_exploration: float  # γ of the regret matching
    target_set: int  # the information set searched for, whose visits are counted


class SampledStep:
    """A step of a sampled history."""

    set: int
    slot: int  # of the action drawn
    others_reach: float  # π₋ᵢ: the probability that the other player and chance do their part up to here
    probability: float  # σ(I, a), or the probability of an outcome of chance
    sampled: float  # δ s₁ + (1 − δ) s₂: the probability that a sample comes here


class Cursor:
    """Where a sample has come to."""

    node: int
    sampled: float  # l: the probability that a sample comes here, in the tree
    head: int  # steps in the tree; those after them are the tail
    depth: int  # steps in all


SETTINGS, STEP, CURSOR = map(structure, (SamplingSettings, SampledStep, Cursor))


MANY = -1  # in place of the only action that stays in the target


class Sampling(NamedTuple):
    """A tree, what is learned about it, and what is aimed at."""

    nodes: np.ndarray
    sets: np.ndarray
    ends: np.ndarray
    regrets: np.ndarray
    sums: np.ndarray
    updates: np.ndarray  # of the average policy, counted. [sets]
    visits: np.ndarray  # of the information set searched for. [actions]
    chance_policy: np.ndarray  # probabilities of chance's outcomes. [slots]
    in_memory: np.ndarray
    marks: np.ndarray
    deals: np.ndarray  # sums of their probabilities up to each: of all, and of those in the target. [2, deals]
    settings: np.ndarray  # [1] of SETTINGS
    rng: np.ndarray
    path: np.ndarray
    sigma: np.ndarray  # room for σ along a path. [depth, actions]
    weights: np.ndarray


@inlined
def current_policy(tree: Sampling, player: int, slot: int, count: int, depth: int) -> None:
    """σ of an information set into a row: the policy of its regrets, with γ of the uniform one mixed in; chance's probabilities."""
    if player == CHANCE:
        for k in range(count):
            tree.sigma[depth, k] = tree.chance_policy[slot + k]
        return
    total, gamma = 0.0, tree.settings[0].regret_exploration
    for k in range(count):
        tree.sigma[depth, k] = max(tree.regrets[slot + k], 0.0)
        total += tree.sigma[depth, k]
    even, scale = (gamma if total > 0.0 else 1.0) / count, (1.0 - gamma) / total if total > 0.0 else 0.0
    for k in range(count):
        tree.sigma[depth, k] = even + scale * tree.sigma[depth, k]


@inlined
def only_action(tree: Sampling, child: int, count: int) -> int:
    """The only action that stays in the target; MANY where there are more."""
    only = MANY
    for k in range(count):
        if tree.marks[child + k] != OUTSIDE:
            if only != MANY:
                return MANY
            only = k
    return only


@inlined
def targeted_policy(tree: Sampling, child: int, count: int, depth: int, exploration: float) -> None:
    """Into `weights`: Φ normalized to one over the actions that do not leave the target, 0 for the others."""
    total, staying, even, rest = 0.0, 0, exploration / count, 1.0 - exploration
    for k in range(count):
        stays = tree.marks[child + k] != OUTSIDE
        tree.weights[k] = even + rest * tree.sigma[depth, k] if stays else 0.0
        total += tree.weights[k]
        staying += stays
    for k in range(count):
        if total > 0.0:
            tree.weights[k] /= total
        else:
            tree.weights[k] = 1.0 / staying if tree.marks[child + k] != OUTSIDE else 0.0


@inlined
def draw_deal(tree: Sampling, row: int) -> int:
    """The index of a deal, by bisection: row 1 of the sums where the sample is aimed, else row 0."""
    point, low, high = uniform(tree.rng), 0, tree.deals.shape[1] - 1
    while low < high:
        middle = (low + high) // 2
        if point < tree.deals[row, middle]:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def draw_action(tree: Sampling, count: int, depth: int, exploration: float) -> int:
    """Line 8, or 5: the index of an action, by Φ."""
    point = uniform(tree.rng)
    if point < exploration:
        return int(point / exploration * count)
    point = (point - exploration) / (1.0 - exploration)
    for k in range(count - 1):
        point -= tree.sigma[depth, k]
        if point < 0.0:
            return k
    return count - 1


@inlined
def draw_in_target(tree: Sampling, count: int, only: int) -> int:
    """The index of an action, by Φ over those that stay in the target. A single one too takes a number of the generator."""
    point, last = uniform(tree.rng), only
    for k in range(count if only == MANY else 0):
        if tree.weights[k] > 0.0:
            last = k
            point -= tree.weights[k]
            if point < 0.0:
                break
    return last


@inlined
def enter(tree: Sampling, depth: int, number: int, slot: int, others_reach: float, sampled: float) -> None:
    """Enter an action in the path; σ of the information set is in its row already, but for the deal."""
    step = tree.path[depth]
    step.set, step.slot, step.others_reach, step.sampled = number, slot, others_reach, sampled


@inlined
def deal(tree: Sampling, targeted: bool, forced_path: np.ndarray) -> int:
    """The deal, which is the first action of a path: its index."""
    on_the_way = tree.marks[0] == ON_THE_WAY
    k = forced_path[0] if len(forced_path) > 0 else draw_deal(tree, 1 if targeted and on_the_way else 0)
    enter(tree, 0, 0, k, 1.0, 1.0)
    tree.path[0].probability = tree.chance_policy[k]
    return k


@inlined
def go_through_tree(tree: Sampling, cursor: Cursor, player: int, targeted: bool, forced_path: np.ndarray) -> None:
    """Lines 1-17 down to the first information set that is new, which is added, with an action made in it.

    s₁ and s₂, the probabilities of the sample in either scenario, and the rest of where it is are kept in local variables: this is
    where most of the time goes.
    """
    delta, k, depth, new = tree.settings[0].delta, deal(tree, targeted, forced_path), 1, False
    others_reach, s1, s2 = tree.chance_policy[k], 1.0, 1.0
    if tree.marks[0] == ON_THE_WAY:
        s1 *= tree.deals[1, k] - (tree.deals[1, k - 1] if k > 0 else 0.0)
    elif tree.marks[0] == INSIDE:
        s1 *= others_reach
    s2 *= others_reach
    node = tree.nodes[0].child + k
    number, mark = tree.nodes[node].set, tree.marks[node] if tree.marks[0] == ON_THE_WAY else tree.marks[0]
    while not new and number != END_SET:
        mover, slot, count = tree.sets[number].player, tree.sets[number].slot, tree.sets[number].count
        exploration, child, only = 0.0, tree.nodes[node].child, MANY
        if mover == player:
            exploration = tree.settings[0].exploration
        current_policy(tree, mover, slot, count, depth)
        if mover != CHANCE:
            new = tree.in_memory[number] == 0
            tree.in_memory[number] = 1
        if mark == ON_THE_WAY:
            only = only_action(tree, child, count)
            if only == MANY:
                targeted_policy(tree, child, count, depth, exploration)
        if len(forced_path) > 0:
            k = forced_path[depth]
        elif targeted and mark == ON_THE_WAY:
            k = draw_in_target(tree, count, only)
        else:
            k = draw_action(tree, count, depth, exploration)
        enter(tree, depth, number, slot + k, others_reach, delta * s1 + (1.0 - delta) * s2)
        probability = tree.sigma[depth, k]
        tree.path[depth].probability = probability
        sampled = exploration / count + (1.0 - exploration) * probability
        s2 *= sampled
        node = child + k
        if mark == INSIDE:
            s1 *= sampled
        elif mark == ON_THE_WAY:
            s1 *= tree.weights[k] if only == MANY else (1.0 if k == only else 0.0)
            mark = tree.marks[node]
        if mover != player:
            others_reach *= probability
        if number == tree.settings[0].target_set:
            tree.visits[k] += 1
        depth, number = depth + 1, tree.nodes[node].set
    cursor.node, cursor.head, cursor.depth, cursor.sampled = node, depth, depth, delta * s1 + (1.0 - delta) * s2


@inlined
def draw_in_tail(tree: Sampling, info_set: InfoSet) -> int:
    """A slot drawn uniformly; by chance's probabilities where it acts."""
    point = uniform(tree.rng)
    if info_set.player != CHANCE:
        return info_set.slot + int(point * info_set.count)
    for slot in range(info_set.slot, info_set.slot + info_set.count - 1):
        point -= tree.chance_policy[slot]
        if point < 0.0:
            return slot
    return info_set.slot + info_set.count - 1


@inlined
def play_out(tree: Sampling, cursor: Cursor, forced_path: np.ndarray) -> None:
    """Line 12: to the end of the game by uniform choice."""
    while tree.nodes[cursor.node].set != END_SET:
        info_set = tree.sets[tree.nodes[cursor.node].set]
        slot = info_set.slot + forced_path[cursor.depth] if len(forced_path) > 0 else draw_in_tail(tree, info_set)
        tree.path[cursor.depth].set, tree.path[cursor.depth].slot = tree.nodes[cursor.node].set, slot
        cursor.node = tree.nodes[cursor.node].child + slot - info_set.slot
        cursor.depth += 1


@inlined
def update(tree: Sampling, cursor: Cursor, player: int) -> None:
    """Lines 18-28 in each information set of the head, from the last to the first."""
    tail = 1.0  # x / (probability of the tail)
    utility = tree.ends[tree.nodes[cursor.node].child].utility
    value = (utility if player == 0 else -utility) / cursor.sampled  # u / l
    for depth in range(cursor.head - 1, -1, -1):
        step = tree.path[depth]
        info_set, reach = tree.sets[step.set], tail * step.probability
        mover, first, count = info_set.player, info_set.slot, info_set.count
        if mover == player:
            factor = value * step.others_reach  # W
            for slot in range(first, first + count):
                tree.regrets[slot] -= reach * factor
            tree.regrets[step.slot] += tail * factor
        elif mover != CHANCE:
            factor = step.others_reach / step.sampled
            for k in range(count):
                tree.sums[first + k] += factor * tree.sigma[depth, k]
            tree.updates[step.set] += 1
        tail = reach


@inlined
def traverse(tree: Sampling, cursor: Cursor, player: int, targeted: bool, forced_path: np.ndarray) -> None:
    """One call of OOS from the root, with updates for a player; along a given path where there is one."""
    go_through_tree(tree, cursor, player, targeted, forced_path)
    play_out(tree, cursor, forced_path)
    update(tree, cursor, player)


@kernel("online outcome sampling")
def sample_online(tree: Sampling, counters: np.ndarray, forced_path: np.ndarray, count: int) -> int:
    """So many iterations, each a scenario and a traversal for either player; or, if a path is forced, one along it for player `count`.

    Args:
        counters: [1] of PROGRESS.
        forced_path: the indices of the actions from the deal to an end; empty to draw them.
    """
    progress, cursor = counters[0], np.zeros(1, CURSOR)[0]
    delta = tree.settings[0].delta
    if len(forced_path) > 0:
        traverse(tree, cursor, count, uniform(tree.rng) < delta, forced_path)
        return 0
    for _ in range(count):
        targeted = uniform(tree.rng) < delta
        for player in range(PLAYERS):
            traverse(tree, cursor, player, targeted, forced_path)
            progress.depth = max(progress.depth, cursor.head)
        progress.iterations += 1
    return 0
