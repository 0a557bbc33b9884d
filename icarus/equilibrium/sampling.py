"""Online Outcome Sampling, compiled: Algorithm 1 of Lanctot, Lisý and Bowling (2015) on states of a game, and what it aims at.

What is learned is found by the key of all that the player to move has observed. A traversal adds one information set at most.

Readings. Line 6 returns x as it came, which biases the regrets where chance acts in mid-game; here it is multiplied by ρ₂, as a
player's probability is in line 19. Line 12 begins the playout with the probabilities after the action drawn, s′. Players are
taken to choose uniformly beyond the tree: that probability is in x as in l. Where every action that stays in the target has
the probability 0, the targeted scenario draws one of them uniformly. Line 12's u counts from the middle between the lowest and the
highest utility, which is 0 in the papers' games.

An action stays in the target if what it shows continues what must be seen. Hidden actions may make that impossible later on. A
history in which no action stays is dead: it is noted, and counts as outside from then on. The sample in which that is found goes on by Φ
in either scenario, so that it has no bias.
"""

from typing import NamedTuple

import numpy as np

from icarus.compiler import address_of, array_kernel, call, copy_items
from icarus.equilibrium.cfr import match_regrets
from icarus.equilibrium.walk import (
    COMPLETE,
    MORE_ROOM,
    PLAYERS,
    TOO_LONG,
    draw,
    is_shown,
    key_after,
    place_of,
    play_to_end,
    player_of,
    show,
    write_chance,
    write_legal,
    write_rewards,
)
from icarus.kernel import CHANCE, TERMINAL, inlined, mix, structure, uniform

SMALLEST = 1 << 12  # information sets and slots of a store, to begin with
INFORMATION_SET, PUBLIC_SUBGAME = "information set", "public subgame"
TARGETS = (INFORMATION_SET, PUBLIC_SUBGAME)
# in place of the player whose observations a target is made of: all see its actions; no mover has this number, chance neither
EVERYBODY = -2
OUTSIDE = -1  # in place of a position in the target
# rows of what is known of deals: probabilities, and their sums up to each
_ALL, _TARGETED, _SUMS_OF_ALL, _SUMS_OF_TARGETED = range(4)
DEAD = 1 << 16  # dead histories that are remembered, at most


class Sampler:
    """How a search samples, and where a sample has come to."""

    delta: float  # δ, the probability that an iteration aims at the target
    exploration: float  # ε of the sampling
    regret_exploration: float  # γ of the regret matching
    target_set: int  # the key of the information set searched for, whose visits are counted
    observer: int  # the player whose observations the target is made of, or EVERYBODY
    goal: int  # moves of the target
    max_length: int  # actions in a game, at most
    head: int  # steps in the tree
    sampled: float  # l: the probability that a sample comes there


class SampledStep:
    """A step of a sampled history in the tree."""

    mover: int
    slot: int  # of the first of the actions
    count: int  # of them
    k: int  # the action drawn
    # π₋ᵢ: the probability that the other player and chance do their part up to here
    others_reach: float
    probability: float  # σ(I, a), or the probability of an outcome of chance
    sampled: float  # δ s₁ + (1 − δ) s₂: the probability that a sample comes here


SAMPLER, STEP = map(structure, (Sampler, SampledStep))


class Store(NamedTuple):
    """What is learned."""

    keys: np.ndarray  # of information sets; see `place_of`
    first: np.ndarray  # the slot of the first action of each; those of the others follow
    regrets: np.ndarray  # cumulative [slots]
    sums: np.ndarray  # weights of the average policy [slots]
    used: np.ndarray  # information sets, and slots. [2]


class Sampling(NamedTuple):
    """A game, what is learned about it, and what is aimed at."""

    store: Store
    walk: np.ndarray  # [1] of WALK
    sampler: np.ndarray  # [1] of SAMPLER
    dealt: np.ndarray  # the states after the deals. [deals, words]
    deal_keys: np.ndarray  # of what each player knows after a deal. [deals, players]
    deals: np.ndarray  # [4, deals]
    # the moves that lead to it. [goal + 1, (whether it is the observer's own action, the move)]
    target: np.ndarray
    dead: np.ndarray  # keys of dead histories, each at a place of its own. [DEAD]
    visits: np.ndarray  # of the information set searched for. [actions]
    rng: np.ndarray
    # the indices of the actions from the deal to an end; empty where they are drawn
    forced: np.ndarray
    path: np.ndarray
    state: np.ndarray
    actions: np.ndarray
    positions: np.ndarray  # in the target after each action, or OUTSIDE. [actions]
    moves: np.ndarray  # the move by which each player sees an action. [players]
    keys: np.ndarray  # of what each player knows. [players]
    sigma: np.ndarray  # σ where the sample is. [actions]
    weights: np.ndarray  # Φ over the actions that stay in the target. [actions]
    rewards: np.ndarray


@inlined
def first_slot(store: Store, key: int, count: int) -> int:
    """The first slot of an information set, which is added where it is new."""
    place = place_of(store.keys, key)
    if store.keys[place] == 0:
        store.keys[place], store.first[place] = key, store.used[1]
        store.used[0] += 1
        store.used[1] += count
    return store.first[place]


@inlined
def current_policy(tree: Sampling, slot: int, count: int) -> None:
    """σ of an information set, with γ of the uniform policy mixed in."""
    gamma = tree.sampler[0].regret_exploration
    match_regrets(tree.store.regrets[slot:], count, gamma, tree.sigma)


@inlined
def draw_action(tree: Sampling, count: int, exploration: float) -> int:
    """Line 8, or 5: the index of an action, by Φ."""
    point = uniform(tree.rng)
    if point < exploration:
        return int(point / exploration * count)
    # the rest of the interval, stretched to [0, 1)
    return draw(tree.sigma, count, (point - exploration) / (1.0 - exploration))


@inlined
def make(tree: Sampling, mover: int, action: int) -> int:
    """Make an action that both players observe; returns who is to move."""
    show(tree.walk[0], tree.state, action, tree.moves)
    for player in range(PLAYERS):
        tree.keys[player] = key_after(tree.keys[player], player, mover, action, tree.moves)
    call(tree.walk[0].apply, (address_of(tree.state), action))
    return player_of(tree.walk[0], tree.state)


@inlined
def is_next(tree: Sampling, position: int, is_own: int, move: int) -> bool:
    """Whether a move is the one that the target has at a position."""
    return (
        position < tree.sampler[0].goal
        and tree.target[position, 0] == is_own
        and tree.target[position, 1] == move
    )


@inlined
def position_after(tree: Sampling, mover: int, action: int, position: int) -> int:
    """How many moves of the target are made after an action, which both players have been shown; OUTSIDE where it leaves the target."""
    observer = tree.sampler[0].observer
    moves = tree.moves
    stays = True
    is_public = observer == EVERYBODY and moves[0] == moves[1] == action
    # first that the action is made, as far as the observer knows it; then what else he is shown of it
    if is_public or observer == mover:
        stays = is_next(tree, position, 1, action)
        position += 1
    if observer != EVERYBODY and is_shown(moves, observer, mover, action):
        stays = stays and is_next(tree, position, 0, moves[observer])
        position += 1
    return position if stays else OUTSIDE


@inlined
def narrow(
    tree: Sampling, mover: int, count: int, exploration: float, position: int, history: int
) -> bool:
    """Into `weights`: Φ normalized to one over the actions that stay in the target, 0 for the others; False where none stays.

    Args:
        history: its key.
    """
    total = 0.0
    staying = 0
    even = exploration / count
    rest = 1.0 - exploration
    for k in range(count):
        action = tree.actions[k]
        show(tree.walk[0], tree.state, action, tree.moves)
        after = position_after(tree, mover, action, position)
        child = mix(history, action)
        if tree.dead[child & (DEAD - 1)] == child:
            after = OUTSIDE
        tree.positions[k] = after
        tree.weights[k] = even + rest * tree.sigma[k] if after != OUTSIDE else 0.0
        total += tree.weights[k]
        staying += after != OUTSIDE
    for k in range(count):
        if total > 0.0:
            tree.weights[k] /= total
        else:  # Φ is 0 for all that stay: uniform among them
            tree.weights[k] = 1.0 / staying if tree.positions[k] != OUTSIDE else 0.0
    if staying == 0:
        tree.dead[history & (DEAD - 1)] = history
    return staying > 0


@inlined
def deal(tree: Sampling, targeted: bool) -> int:
    """Begin with a deal: its index."""
    sums = tree.deals[_SUMS_OF_TARGETED if targeted else _SUMS_OF_ALL]
    k = int(np.searchsorted(sums, uniform(tree.rng), side="right"))
    if len(tree.forced) > 0:
        k = tree.forced[0]
    copy_items(tree.state, tree.dealt[k])
    copy_items(tree.keys, tree.deal_keys[k])
    return k


@inlined
def go_through_tree(tree: Sampling, player: int, targeted: bool) -> None:
    """Lines 1-17 down to the first information set that is new, which is added, with an action made in it.

    s₁ and s₂, the probabilities of the sample in either scenario, and the rest of where it is are kept in local variables: this is
    where most of the time goes.
    """
    sampler = tree.sampler[0]
    used = tree.store.used[0]
    deal_index = deal(tree, targeted)
    depth = 0
    delta = sampler.delta
    s1 = tree.deals[_TARGETED, deal_index]
    s2 = tree.deals[_ALL, deal_index]
    others_reach = tree.deals[_ALL, deal_index]
    aims = s1 > 0.0  # whether the target is not reached yet, and still can be
    position = 0
    history = deal_index
    mover = player_of(tree.walk[0], tree.state)
    while mover != TERMINAL and tree.store.used[0] == used and depth < sampler.max_length:
        count = write_legal(tree.walk[0], tree.state, tree.actions)
        slot = 0
        key = 0
        exploration = sampler.exploration if mover == player else 0.0
        if mover == CHANCE:
            write_chance(tree.walk[0], tree.state, count, tree.sigma)
        else:
            key = tree.keys[mover]
            slot = first_slot(tree.store, key, count)
            current_policy(tree, slot, count)
        if (
            aims
            and position == sampler.goal
            and (sampler.observer == EVERYBODY or sampler.observer == mover)
        ):
            aims = False  # inside the target both scenarios draw by Φ
        if aims:  # writes `weights` and `positions` of the actions
            aims = narrow(tree, mover, count, exploration, position, history)
        if len(tree.forced) > 0:
            k = tree.forced[depth + 1]
        elif targeted and aims:
            k = draw(tree.weights, count, uniform(tree.rng))
        else:
            k = draw_action(tree, count, exploration)
        step, probability = tree.path[depth], tree.sigma[k]
        step.mover = mover
        step.slot = slot
        step.count = count
        step.k = k
        step.others_reach = others_reach
        step.probability = probability
        step.sampled = delta * s1 + (1.0 - delta) * s2
        sampled = exploration / count + (1.0 - exploration) * probability
        s1 *= tree.weights[k] if aims else sampled
        s2 *= sampled
        if aims:
            aims = s1 > 0.0
            position = tree.positions[k]
            history = mix(history, tree.actions[k])
        if mover != player:
            others_reach *= probability
        if key == sampler.target_set and mover != CHANCE:
            tree.visits[k] += 1
        mover = make(tree, mover, tree.actions[k])
        depth = depth + 1
    if aims and mover == TERMINAL:
        tree.dead[history & (DEAD - 1)] = history
    sampler.head = depth
    sampler.sampled = delta * s1 + (1.0 - delta) * s2


@inlined
def play_out(tree: Sampling) -> int:
    """Line 12: to the end of the game by uniform choice; what has come in the way, or COMPLETE."""
    rules = tree.walk[0]
    depth = tree.sampler[0].head
    for k in tree.forced[depth + 1 :]:
        write_legal(rules, tree.state, tree.actions)
        call(rules.apply, (address_of(tree.state), tree.actions[k]))
    left = tree.sampler[0].max_length - depth
    if not play_to_end(rules, tree.state, left, tree.actions, tree.sigma, tree.rng):
        return TOO_LONG
    return write_rewards(rules, tree.state, tree.rewards)


@inlined
def update(tree: Sampling, player: int) -> None:
    """Lines 18-28 in each information set of the head, from the last to the first."""
    rules = tree.walk[0]
    # x / (probability of the tail)
    tail = 1.0
    # from the middle of the scale: a constant, which changes no game, would be noise as great as itself
    utility = rules.low + rules.range * tree.rewards[0] - (rules.low + rules.range / 2.0)
    value = (utility if player == 0 else -utility) / tree.sampler[0].sampled  # u / l
    for depth in range(tree.sampler[0].head - 1, -1, -1):
        step = tree.path[depth]
        reach = tail * step.probability
        slot = step.slot
        if step.mover == player:
            factor = value * step.others_reach  # W
            for k in range(step.count):
                tree.store.regrets[slot + k] -= reach * factor
            tree.store.regrets[slot + step.k] += tail * factor
        elif step.mover != CHANCE:
            factor = step.others_reach / step.sampled
            current_policy(tree, slot, step.count)
            for k in range(step.count):
                tree.store.sums[slot + k] += factor * tree.sigma[k]
        tail = reach


@inlined
def traverse(tree: Sampling, player: int, targeted: bool) -> int:
    """A traversal for a player, in either scenario; COMPLETE, or what has ended it."""
    go_through_tree(tree, player, targeted)
    status = play_out(tree)
    if status == COMPLETE:
        update(tree, player)
    return status


@array_kernel("online outcome sampling")
def sample_online(tree: Sampling, counters: np.ndarray, count: int) -> int:
    """So many iterations, each a scenario and a traversal for either player; COMPLETE, or what has ended it.

    Args:
        counters: [1] of PROGRESS.
    """
    progress, store = counters[0], tree.store
    for _ in range(count):
        sets, slots = 2 * (store.used[0] + PLAYERS), store.used[1] + 2 * len(tree.actions)
        if sets > len(store.keys) or slots > len(store.sums):
            return MORE_ROOM
        targeted = uniform(tree.rng) < tree.sampler[0].delta
        for player in range(PLAYERS):
            status = traverse(tree, player, targeted)
            if status != COMPLETE:
                return status
            progress.depth = max(progress.depth, tree.sampler[0].head)
        progress.iterations += 1
    return COMPLETE


@array_kernel("growth of a store")
def move_sets(store: Store, larger: Store) -> int:
    """Enter all information sets into a store without one."""
    for i in range(len(store.keys)):
        key = store.keys[i]
        if key != 0:
            place = place_of(larger.keys, key)
            larger.keys[place], larger.first[place] = key, store.first[i]
    return 0


def empty_store(sets: int = SMALLEST, slots: int = SMALLEST) -> Store:
    """An empty store; there is room for less than `sets` information sets, since `keys` is a hash table."""
    integers, reals = np.zeros((2, sets), np.int64), np.zeros((2, slots))
    return Store._make([*integers, *reals, np.zeros(2, np.int64)])


def larger_store(store: Store) -> Store:
    """A store with the same content and twice the room."""
    larger = empty_store(2 * len(store.keys), 2 * len(store.sums) + SMALLEST)
    for new, old in zip(larger[2:], store[2:], strict=True):
        new[: len(old)] = old
    move_sets(store, larger)
    return larger
