"""Online Outcome Sampling, compiled: Algorithm 1 of Lanctot, Lisý and Bowling (2015) over the arrays of a game tree.

Readings. Line 6 returns x as it came, which biases the regrets where chance acts in mid-game; here it is multiplied by ρ₂, as a
player's probability is in line 19. Line 12 begins the playout with the probabilities after the action drawn, s′. Who plays on by a
tail policy is taken to follow it there: its probability is in x as in l and cancels. Where every action that stays in the target has
the probability 0, the targeted scenario draws one of them uniformly.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from icarus.algebra.policy import RULE_ARGMAX, RULE_EPSILON_GREEDY, RULE_GIBBS, RULE_UNIFORM
from icarus.compiler.kernels.kernel import compiled
from icarus.compiler.kernels.pointers import address_of, array_at, matrix_at
from icarus.compiler.lazy import types
from icarus.equilibrium.online.targets import INSIDE, ON_THE_WAY, OUTSIDE
from icarus.equilibrium.solvers.control import CONTROL, is_interrupted
from icarus.equilibrium.solvers.mccfr import draw_slot, gain_of
from icarus.equilibrium.tree.arrays import END, END_SET, NODE, SET
from icarus.equilibrium.tree.growth import PLAYERS, rows
from icarus.kernel import CHANCE, inlined, uniform

SETTINGS = np.dtype(
    [
        ("delta", np.float64),  # δ, the probability that an iteration aims at the target
        ("exploration", np.float64),  # ε of the sampling
        ("regret_exploration", np.float64),  # γ of the regret matching
        ("weight", np.float64),  # 1/w_T, with which the probabilities of a sample begin
        ("aimed", np.int64),  # the information set searched for, whose visits are counted
        ("rule", np.int64),  # of the tail policy
        ("parameter", np.float64),  # its temperature or ε
        ("beyond", np.int64),  # whether actions beyond the tree are recorded for it
        ("low", np.float64),  # the gain at a reward of 0
        ("range", np.float64),  # and how much more at one of 1
    ],
    align=True,
)
STEP = np.dtype(
    [  # of a sampled history
        ("set", np.int64),
        ("slot", np.int64),  # of the action drawn
        ("others", np.float64),  # π₋ᵢ: the probability that the other player and chance do their part up to here
        ("own", np.float64),  # σ(I, a), or the probability of an outcome of chance
        ("sampled", np.float64),  # δ s₁ + (1 − δ) s₂: the probability that a sample comes here
    ],
    align=True,
)
PLACE = np.dtype(
    [  # where a sample has come to
        ("node", np.int64),
        ("mark", np.int64),  # how it stands to the target
        ("targeted", np.float64),  # s₁, its probability in the targeted scenario
        ("untargeted", np.float64),  # s₂
        ("others", np.float64),  # π₋ᵢ
        ("head", np.int64),  # steps in the tree; those after them are the tail
        ("depth", np.int64),  # steps in all
    ],
    align=True,
)


_REAL, _WORD, _RNG = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64)
_BYTE, _KIND = np.dtype(np.uint8), np.dtype(np.int32)


class Sampling(NamedTuple):
    """A tree, what is learned about it, and what is aimed at."""

    nodes: np.ndarray
    sets: np.ndarray
    ends: np.ndarray
    regrets: np.ndarray
    sums: np.ndarray
    updates: np.ndarray
    visits: np.ndarray
    odds: np.ndarray
    known: np.ndarray
    marks: np.ndarray
    deals: np.ndarray
    kinds: np.ndarray
    totals: np.ndarray
    settings: Any
    rng: np.ndarray
    path: np.ndarray
    sigma: np.ndarray
    weights: np.ndarray


@inlined
def match(of: Sampling, one: Any, depth: int) -> None:
    """σ of an information set into a row: the policy of its regrets, with γ of the uniform one mixed in; chance's probabilities."""
    if one.player == CHANCE:
        for k in range(one.count if depth > 0 else 0):  # deals are drawn otherwise
            of.sigma[depth, k] = of.odds[one.slot + k]
        return
    total, gamma = 0.0, of.settings.regret_exploration
    for k in range(one.count):
        of.sigma[depth, k] = max(of.regrets[one.slot + k], 0.0)
        total += of.sigma[depth, k]
    even, scale = (gamma if total > 0.0 else 1.0) / one.count, (1.0 - gamma) / total if total > 0.0 else 0.0
    for k in range(one.count):
        of.sigma[depth, k] = even + scale * of.sigma[depth, k]


@inlined
def narrow(of: Sampling, at: Any, one: Any, explored: float) -> None:
    """Into `weights`: Φ normalized to one over the actions that do not leave the target, 0 for the others."""
    total, staying, even, kept = 0.0, 0, explored / one.count, 1.0 - explored
    first = of.nodes[at.node].child
    for k in range(one.count):
        stays = of.marks[first + k] != OUTSIDE
        of.weights[k] = even + kept * of.sigma[at.depth, k] if stays else 0.0
        total += of.weights[k]
        staying += stays
    for k in range(one.count):
        if total > 0.0:
            of.weights[k] /= total
        else:
            of.weights[k] = 1.0 / staying if of.marks[first + k] != OUTSIDE else 0.0


@inlined
def drawn_by_weights(of: Sampling, count: int, total: float) -> int:
    """An index drawn in proportion to `weights`."""
    point, last = uniform(of.rng) * total, 0
    for k in range(count):
        if of.weights[k] > 0.0:
            last = k
            point -= of.weights[k]
            if point < 0.0:
                break
    return last


@inlined
def drawn_deal(of: Sampling, row: int) -> int:
    """The index of a deal, by bisection: row 1 of the sums where the sample is aimed, else row 0."""
    point, low, high = uniform(of.rng), 0, of.deals.shape[1] - 1
    while low < high:
        middle = (low + high) // 2
        if point < of.deals[row, middle]:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def aimed_at(of: Sampling, at: Any, k: int) -> float:
    """The probability of an action in the targeted scenario, on the way to the target."""
    if at.depth > 0:
        return of.weights[k]
    return of.deals[1, k] - (of.deals[1, k - 1] if k > 0 else 0.0)


@inlined
def drawn(of: Sampling, at: Any, one: Any, explored: float, narrowed: bool) -> int:
    """Line 8, or 5: the index of an action, by Φ; where the sample is aimed, by Φ over those that stay in the target."""
    if at.depth == 0:
        return drawn_deal(of, 1 if narrowed else 0)
    if narrowed:
        return drawn_by_weights(of, one.count, 1.0)
    point = uniform(of.rng)
    if point < explored:
        return int(point / explored * one.count)
    point = (point - explored) / (1.0 - explored)
    for k in range(one.count - 1):
        point -= of.sigma[at.depth, k]
        if point < 0.0:
            return k
    return one.count - 1


@inlined
def advance(of: Sampling, at: Any, one: Any, k: int, explored: float) -> None:
    """Make an action: enter it in the path, and go on with the probabilities s′; those of σ are the caller's."""
    slot, delta, step = one.slot + k, of.settings.delta, of.path[at.depth]
    own = of.sigma[at.depth, k] if at.depth > 0 else of.odds[slot]
    step.set, step.slot, step.others, step.own = of.nodes[at.node].set, slot, at.others, own
    step.sampled = delta * at.targeted + (1.0 - delta) * at.untargeted
    chance = explored / one.count + (1.0 - explored) * own
    at.node = of.nodes[at.node].child + k
    if at.mark == ON_THE_WAY:
        at.targeted *= aimed_at(of, at, k)
        at.mark = of.marks[at.node]
    elif at.mark == INSIDE:
        at.targeted *= chance
    at.untargeted *= chance
    at.depth += 1


@inlined
def go_through_tree(of: Sampling, at: Any, player: int, targeted: bool, forced: np.ndarray) -> None:
    """Lines 1-17 down to the first information set that is new, which is added, with an action made in it."""
    new = False
    while not new and of.nodes[at.node].set != END_SET:
        number = of.nodes[at.node].set
        one = of.sets[number]
        explored = of.settings.exploration if one.player == player else 0.0
        match(of, one, at.depth)
        if one.player != CHANCE:
            new = of.known[number] == 0
            of.known[number] = 1
        if at.mark == ON_THE_WAY and at.depth > 0:
            narrow(of, at, one, explored)
        narrowed = targeted and at.mark == ON_THE_WAY
        k = forced[at.depth] if len(forced) > 0 else drawn(of, at, one, explored, narrowed)
        advance(of, at, one, k, explored)
        if one.player != player:
            at.others *= of.path[at.depth - 1].own
        if number == of.settings.aimed:
            of.visits[k] += 1
    at.head = at.depth


@inlined
def worth_in_tail(of: Sampling, slot: int) -> float:
    """v(a) = q/n, 1 if n = 0, of the action in a slot (MAST-4)."""
    row = of.kinds[slot]
    return of.totals[row, 0] / of.totals[row, 1] if of.totals[row, 1] > 0.0 else 1.0


@inlined
def weigh_tail(of: Sampling, one: Any) -> float:
    """Into `weights`: in proportion to the probabilities of the tail policy; returns their sum."""
    settings, best, total = of.settings, -math.inf, 0.0
    for k in range(one.count):
        of.weights[k] = worth_in_tail(of, one.slot + k)
        best = max(best, of.weights[k])
    for k in range(one.count):
        value = of.weights[k]
        if settings.rule == RULE_GIBBS:
            of.weights[k] = math.exp((value - best) / settings.parameter)
        elif settings.rule in (RULE_EPSILON_GREEDY, RULE_ARGMAX):
            of.weights[k] = 1.0 if value == best else 0.0
        total += of.weights[k]
    return total


@inlined
def drawn_in_tail(of: Sampling, one: Any) -> int:
    """A slot drawn by the tail policy; by chance's probabilities where it acts."""
    if one.player == CHANCE:
        return draw_slot(of.odds, one, of.rng)
    uniformly = of.settings.rule == RULE_UNIFORM
    if of.settings.rule == RULE_EPSILON_GREEDY:
        uniformly = uniform(of.rng) < of.settings.parameter
    total = 0.0 if uniformly else weigh_tail(of, one)
    if total == 0.0:
        return one.slot + int(uniform(of.rng) * one.count)
    return one.slot + drawn_by_weights(of, one.count, total)


@inlined
def play_out(of: Sampling, at: Any, forced: np.ndarray) -> None:
    """Line 12: to the end of the game by the tail policy."""
    while of.nodes[at.node].set != END_SET:
        one = of.sets[of.nodes[at.node].set]
        slot = one.slot + forced[at.depth] if len(forced) > 0 else drawn_in_tail(of, one)
        of.path[at.depth].set, of.path[at.depth].slot = of.nodes[at.node].set, slot
        at.node = of.nodes[at.node].child + slot - one.slot
        at.depth += 1


@inlined
def learn(of: Sampling, at: Any, player: int) -> None:
    """Lines 18-28 in each information set of the head, from the last to the first."""
    delta, tail = of.settings.delta, 1.0  # x / (probability of the tail)
    gain = gain_of(of.ends[of.nodes[at.node].child], player)
    worth = gain / (delta * at.targeted + (1.0 - delta) * at.untargeted)  # u / l
    for depth in range(at.head - 1, -1, -1):
        step = of.path[depth]
        one, whole = of.sets[step.set], tail * step.own
        if one.player == player:
            factor = worth * step.others  # W
            for slot in range(one.slot, one.slot + one.count):
                of.regrets[slot] -= whole * factor
            of.regrets[step.slot] += tail * factor
        elif one.player != CHANCE:
            factor = step.others / step.sampled
            for k in range(one.count):
                of.sums[one.slot + k] += factor * of.sigma[depth, k]
            of.updates[step.set] += 1
        tail = whole


@inlined
def record_for_tail(of: Sampling, at: Any) -> None:
    """MAST-6 and -7: the reward of each player for his actions, those beyond the tree only where they count."""
    reward = (of.ends[of.nodes[at.node].child].gain - of.settings.low) / of.settings.range
    for depth in range(at.depth if of.settings.beyond else at.head):
        step = of.path[depth]
        mover = of.sets[step.set].player
        if mover != CHANCE:
            row = of.kinds[step.slot]
            of.totals[row, 0] += reward if mover == 0 else 1.0 - reward
            of.totals[row, 1] += 1.0


@inlined
def traverse(of: Sampling, at: Any, player: int, targeted: bool, forced: np.ndarray) -> None:
    """One call of OOS from the root, with updates for a player; along a given path where there is one."""
    weight = of.settings.weight
    at.mark = of.marks[0]
    at.node, at.targeted, at.untargeted, at.others, at.depth = 0, weight, weight, 1.0, 0
    go_through_tree(of, at, player, targeted, forced)
    play_out(of, at, forced)
    learn(of, at, player)
    if of.settings.rule != RULE_UNIFORM:
        record_for_tail(of, at)


def sample_online(
    nodes: np.ndarray,
    sets: np.ndarray,
    ends: np.ndarray,
    regrets: np.ndarray,
    sums: np.ndarray,
    updates: np.ndarray,
    visits: np.ndarray,
    odds: np.ndarray,
    known: np.ndarray,
    marks: np.ndarray,
    deals: np.ndarray,
    kinds: np.ndarray,
    totals: np.ndarray,
    settings: np.ndarray,
    control: np.ndarray,
    rng: np.ndarray,
    path: np.ndarray,
    sigma: np.ndarray,
    weights: np.ndarray,
    forced: np.ndarray,
    count: int,
) -> int:
    """So many iterations, each a scenario and a traversal for either player; or, if a path is forced, one along it for player `count`.

    Ctrl-C ends it after an iteration.

    Args:
        updates: [sets] of the average policy, counted.
        odds: [slots] probabilities of chance's outcomes.
        visits: [actions] of the information set searched for.
        sigma: room for σ along a path. [depth, actions]
        deals: [2, deals] sums of the probabilities of the deals up to each: all of them, and those that stay in the target, normalized.
        forced: the indices of the actions from the deal to an end; empty to draw them.
        control: told how many iterations were made.
    """
    of = Sampling(  # views that own nothing: counting references at each use would take longer than the sampling
        array_at(address_of(nodes), len(nodes), NODE),
        array_at(address_of(sets), len(sets), SET),
        array_at(address_of(ends), len(ends), END),
        array_at(address_of(regrets), len(regrets), _REAL),
        array_at(address_of(sums), len(sums), _REAL),
        array_at(address_of(updates), len(updates), _WORD),
        array_at(address_of(visits), len(visits), _WORD),
        array_at(address_of(odds), len(odds), _REAL),
        array_at(address_of(known), len(known), _BYTE),
        array_at(address_of(marks), len(marks), _BYTE),
        matrix_at(address_of(deals), deals.shape[0], deals.shape[1], _REAL),
        array_at(address_of(kinds), len(kinds), _KIND),
        matrix_at(address_of(totals), totals.shape[0], totals.shape[1], _REAL),
        array_at(address_of(settings), 1, SETTINGS)[0],
        array_at(address_of(rng), len(rng), _RNG),
        array_at(address_of(path), len(path), STEP),
        matrix_at(address_of(sigma), sigma.shape[0], sigma.shape[1], _REAL),
        array_at(address_of(weights), len(weights), _REAL),
    )
    at, going = np.zeros(1, PLACE)[0], array_at(address_of(control), 1, CONTROL)[0]
    if len(forced) > 0:
        traverse(of, at, count, uniform(rng) < settings[0].delta, forced)
        return 0
    for _ in range(count):
        targeted = uniform(rng) < settings[0].delta
        for player in range(PLAYERS):
            traverse(of, at, player, targeted, forced)
            going.deepest = max(going.deepest, at.head)
        going.made += 1
        if is_interrupted(going):
            break
    return 0


@functools.cache
def online_sampling() -> Any:
    """`sample_online` as machine code."""
    reals, words, bytes_ = types.float64[::1], types.int64[::1], types.uint8[::1]
    table = types.float64[:, ::1]
    tables = (rows(NODE), rows(SET), rows(END))
    learned = (reals, reals, words, words, reals, bytes_, bytes_, table, types.int32[::1], table)
    rest = (rows(SETTINGS), rows(CONTROL), types.uint64[::1], rows(STEP), table, reals, words, types.int64)
    return compiled(sample_online, types.int64(*tables, *learned, *rest), "online outcome sampling")
