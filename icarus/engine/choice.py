"""How a decision is made: random choices, rules over values, and the mixtures of a composition."""

import math

import numpy as np

from icarus.algebra.policy import (
    RULE_ARGMAX,
    RULE_EPSILON_GREEDY,
    RULE_GIBBS,
    RULE_GIBBS_OF_MEANS,
    RULE_REPLY,
    RULE_ROULETTE,
    RULE_UNIFORM,
    RULE_VOTE,
    UNVISITED,
)
from icarus.algebra.weights import TOLERANCE
from icarus.compiler.digest import kernel_cache
from icarus.compiler.kernel import CompiledFunction
from icarus.compiler.memory import WORD_BYTES, array_at, call, struct_at, unlikely
from icarus.compiler.rng import RNG_WORDS
from icarus.engine.arena import (
    ANY,
    ARENA,
    COMPONENT,
    COMPONENT_BYTES,
    LEAF,
    LEAF_BYTES,
    MIXTURE,
    MIXTURE_BYTES,
    TERM,
    WEIGHT,
    Arena,
    Leaf,
    Term,
)
from icarus.kernel import below, helper, inlined, uniform
from icarus.kernel.history import PLAYOUT, STEP
from icarus.kernel.theta import TABLE, visit_filter_at

_INT, _WORD, _REAL = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)
WRONG_WEIGHT = "a weight function returned a number outside [0, 1]"
MEAN_ABOVE_ONE = "averages=True is declared where rewards are added up, but a mean is above 1"


class WeightError(ValueError):
    """Weights, or values that are taken for weights, that are none for the information that was met."""


@inlined
def pick_best(values: np.ndarray, count: int, rng: np.ndarray) -> int:
    """U[arg max]: the index of a greatest value, ties broken uniformly."""
    most, ties = values[0], 1
    first = 0
    for i in range(1, count):
        if values[i] > most:
            most, ties, first = values[i], 1, i
        elif values[i] == most:
            ties += 1
    if ties > 1:
        skip = below(rng, ties)
        while skip > 0:
            first += 1
            if values[first] == most:
                skip -= 1
    return first


@inlined
def pick_in_proportion(weights: np.ndarray, count: int, rng: np.ndarray) -> int:
    """An index drawn with probability proportional to its weight; uniformly where all weights are 0."""
    total = 0.0
    for i in range(count):
        total += weights[i]
    if total == 0.0:
        return below(rng, count)
    rest = uniform(rng) * total
    for i in range(count):
        rest -= weights[i]
        if rest < 0:
            return i
    return count - 1


@inlined
def pick_by_roulette(values: np.ndarray, count: int, rng: np.ndarray) -> int:
    """`pick_in_proportion` to the values of a policy; uniformly among those that are +∞, if there are any.

    Raises:
        WeightError: one is negative.
    """
    most = 0.0
    for i in range(count):
        if values[i] < 0.0:
            raise WeightError("roulette() met a negative value; none may be negative")
        most = max(most, values[i])
    return pick_best(values, count, rng) if most == np.inf else pick_in_proportion(values, count, rng)


@inlined
def pick_outcome(probabilities: np.ndarray, count: int, rng: np.ndarray) -> int:
    """The index of an outcome of π₀."""
    point, upto = uniform(rng), 0.0
    for i in range(count):
        upto += probabilities[i]
        if point < upto:
            return i
    return count - 1


@inlined
def follow_rule(rule: int, parameter: float, values: np.ndarray, count: int, rng: np.ndarray) -> int:
    """The index that a rule chooses among values."""
    if rule == RULE_ARGMAX:
        return pick_best(values, count, rng)
    if rule == RULE_GIBBS:
        most = values[0]
        for i in range(1, count):
            most = max(most, values[i])
        if abs(most) == np.inf:
            return pick_best(values, count, rng)
        for i in range(count):  # scaled by e^(-most/τ), so that no temperature is too low
            values[i] = math.exp((values[i] - most) / parameter)
        return pick_in_proportion(values, count, rng)
    if rule == RULE_EPSILON_GREEDY:
        return below(rng, count) if uniform(rng) < parameter else pick_best(values, count, rng)
    if rule == RULE_ROULETTE:
        return pick_by_roulette(values, count, rng)
    if rule == RULE_REPLY:
        for i in range(count):
            if values[i] > 0:
                return i
    return below(rng, count)


@helper
def weight_of(a: Arena, first: int, count: int, record: int) -> float:
    """The value of a weight at the history with this baseline record.

    Raises:
        WeightError: a weight function left [0, 1].
    """
    weights, weight = array_at(a.composition.weight, first + count, WEIGHT), 1.0
    for i in range(first, first + count):
        value = weights[i].constant
        if weights[i].kernel != 0:
            bandit = weights[i].component  # the baseline is asked about a history, a bandit about a player
            component = struct_at(a.composition.component + bandit * COMPONENT_BYTES, COMPONENT)
            about = a.buffers.playout if bandit else record
            a.running, a.running_component = weights[i].kernel, bandit
            call(weights[i].kernel, (component.table, about, a.buffers.weight, weights[i].parameters))
            a.running = 0
            value = array_at(a.buffers.weight, 1, _REAL)[0]
            if unlikely(not 0.0 <= value <= 1.0):
                raise WeightError(WRONG_WEIGHT)
            if weights[i].complement:
                value = 1.0 - value
        weight *= value
    return weight


@helper
def sum_values(a: Arena, term: Term, legal: int, count: int, record: int) -> None:
    """The values that an term's rule chooses among: those of its leaf, or the weighted sum of several (COMB⊕-4)."""
    leaves = array_at(a.composition.leaf, term.first_leaf + term.leaves, LEAF)
    values, total = array_at(a.buffers.values, count, _REAL), array_at(a.buffers.total, count, _REAL)
    weights = 0.0
    for i in range(count):
        total[i] = 0.0
    for j in range(term.first_leaf, term.first_leaf + term.leaves):
        leaf = leaves[j]
        weight = weight_of(a, leaf.first_weight, leaf.weights, record)
        weights += weight
        if weight > 0.0 and leaf.uniform:
            for i in range(count):
                total[i] = np.inf
        elif weight > 0.0:  # 0 · ∞ is 0
            ask_policy(a, leaf, legal, count)
            for i in range(count):
                total[i] += weight * values[i]
    if unlikely(abs(weights - 1.0) > TOLERANCE):
        raise WeightError("the weights of ^ do not sum to 1 for the visits met in this search")
    for i in range(count):
        values[i] = total[i]


@inlined
def ask_policy(a: Arena, leaf: Leaf, legal: int, count: int) -> None:
    """Have the policy of one component write its values."""
    component = struct_at(a.composition.component + leaf.component * COMPONENT_BYTES, COMPONENT)
    records = a.buffers.rows if leaf.by_row else a.buffers.records
    a.running_component = leaf.component
    a.running = leaf.kernel
    arguments = a.buffers.playout, component.table, legal, count, records, a.buffers.values, leaf.parameters
    if unlikely(call(leaf.kernel, arguments) != 0):
        a.full_component, a.pending.short, a.buffers.last_step = leaf.component, 1, -1
    a.running = 0


@inlined
def choose(a: Arena, role: int, legal: int, count: int, record: int, rng: np.ndarray) -> int:
    """The index of the action that the policy α of a mixture chooses; ANY where it is uniform by definition."""
    j = draw_term(a, role, record, rng)
    term = array_at(a.composition.term, j + 1, TERM)[j]
    if term.rule == RULE_UNIFORM:
        return ANY
    if term.of_tree_only and not may_be_in_tree(a):
        return below(rng, count)  # all values are equal
    if term.rule == RULE_GIBBS_OF_MEANS:
        return choose_by_acceptance(
            a, struct_at(a.composition.leaf + term.first_leaf * LEAF_BYTES, LEAF), term.parameter, legal, count, rng
        )
    if term.rule == RULE_VOTE:
        index = call(a.composition.vote, (a.composition.arena, j, legal, count, record))
        return below(rng, count) if index == ANY else index
    write_values(a, term, legal, count, record)
    return follow_rule(term.rule, term.parameter, array_at(a.buffers.values, count, _REAL), count, rng)


@inlined
def draw_term(a: Arena, role: int, record: int, rng: np.ndarray) -> int:
    """One term of a mixture, drawn with its weight (COMB⁺-4)."""
    mixture = struct_at(a.composition.mixture + role * MIXTURE_BYTES, MIXTURE)
    last = mixture.first_term + mixture.terms - 1
    terms = array_at(a.composition.term, last + 1, TERM)
    j = mixture.first_term
    if mixture.terms > 1:
        point, upto, choice = uniform(rng), 0.0, -1
        for j in range(mixture.first_term, last + 1):
            upto += weight_of(a, terms[j].first_weight, terms[j].weights, record)
            if point < upto and choice < 0:
                choice = j
                if mixture.constant:
                    return j
        if unlikely(abs(upto - 1.0) > TOLERANCE):
            raise WeightError("the weights of + do not sum to 1 for the visits met in this search")
        j = choice if choice >= 0 else last
    return j


@inlined
def write_values(a: Arena, term: Term, legal: int, count: int, record: int) -> None:
    """Write the values that an term's rule chooses among."""
    if term.leaves == 1:
        ask_policy(a, struct_at(a.composition.leaf + term.first_leaf * LEAF_BYTES, LEAF), legal, count)
    else:
        sum_values(a, term, legal, count, record)


def vote(arena: int, j: int, legal: int, count: int, record: int) -> int:
    """The index that a majority vote, term j, chooses, ties broken uniformly; ANY where nobody has a vote."""
    a, cast = struct_at(arena, ARENA), 0
    votes = array_at(a.buffers.votes + WORD_BYTES * j * a.game.max_legal, count, _REAL)
    for i in range(count):
        votes[i] = 0.0
    rng = array_at(a.buffers.rng, RNG_WORDS, _WORD)
    term = array_at(a.composition.term, j + 1, TERM)[j]
    for voter in range(term.first_leaf, term.first_leaf + term.leaves):
        index = vote_of(a, draw_term(a, voter, record, rng), legal, count, record, rng)
        if index != ANY:
            votes[index] += 1.0
            cast += 1
    return pick_best(votes, count, rng) if cast > 0 else ANY


@helper
def vote_of(a: Arena, j: int, legal: int, count: int, record: int, rng: np.ndarray) -> int:
    """The index that a voter votes for by term j; ANY where that is uniform over all legal actions."""
    term = array_at(a.composition.term, j + 1, TERM)[j]
    values = array_at(a.buffers.values, count, _REAL)
    if term.rule == RULE_UNIFORM:
        return ANY
    if term.rule == RULE_VOTE:
        return call(a.composition.vote, (a.composition.arena, j, legal, count, record))
    if term.of_tree_only and not may_be_in_tree(a):
        return ANY
    write_values(a, term, legal, count, record)
    for i in range(1, count):
        if values[i] != values[0]:
            return follow_rule(term.rule, term.parameter, values, count, rng)
    return ANY


@kernel_cache
def vote_kernel() -> CompiledFunction:
    """`vote` as machine code, which calls itself by its address where a vote is taken within a vote."""
    return CompiledFunction(vote, 5, "the majority vote")


@inlined
def may_be_in_tree(a: Arena) -> bool:
    """Whether the player to move may have decided in the tree at a history that looks the same to him; False is certain."""
    playout = struct_at(a.buffers.playout, PLAYOUT)
    last, perspectives = playout.length - 1, playout.perspectives
    step = array_at(playout.steps, last + 1, STEP)[last]
    key = array_at(playout.keys, (last + 1) * perspectives, _INT)[last * perspectives + step.perspective]
    table = struct_at(struct_at(a.composition.component, COMPONENT).table, TABLE)
    return visit_filter_at(table, key)[0] != 0


@inlined
def is_accepted(point: float, x: float) -> bool:
    """Whether a number drawn from [0, 1) is below e^x, for x ≤ 0."""
    above = 1.0 + x + x * x / 2.0  # 1 + x + x²/2 + x³/6 ≤ e^x ≤ 1 + x + x²/2 for x ≤ 0 decides
    return point < above and (point < above + x * x * x / 6.0 or point < math.exp(x))  # mostly, at less cost


@inlined
def choose_by_acceptance(a: Arena, leaf: Leaf, parameter: float, legal: int, count: int, rng: np.ndarray) -> int:
    """An index by Gibbs from mean rewards, of which none is above 1: drawn uniformly until one is accepted with e^((v - 1)/τ).

    It takes the values of one or two actions instead of all; where as many as there are have been refused, of all.
    """
    values = array_at(a.buffers.values, count, _REAL)
    for _ in range(count):
        i = below(rng, count)
        ask_policy(a, leaf, legal + WORD_BYTES * i, 1)
        x, point = (values[0] - UNVISITED) / parameter, uniform(rng)
        if is_accepted(point, x):
            if x > 0.0:
                raise WeightError(MEAN_ABOVE_ONE)
            return i
    ask_policy(a, leaf, legal, count)
    return follow_rule(RULE_GIBBS, parameter, values, count, rng)
