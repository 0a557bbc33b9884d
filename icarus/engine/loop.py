"""Algorithm 1, lines 5-17: the workspace, decisions and playouts, compiled once for every game and every composition.

Nothing is updated or counted during a playout, so one that finds no room is simply given up by an exception (`NoRoom`): Python puts the
generator back to where the playout began, gives more room, and the same playout is made again.

Randomness is drawn in the order in which Algorithm 1 needs it: the determinization; then for each decision with more than one legal
action the term of a linear mixture, if there is more than one, and what the rule draws. Gibbs over mean rewards draws an index and a number
to accept it, until one is accepted or as many as there are actions have been refused; only then from all.
"""

import math
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np

from icarus.algebra import TOLERANCE, policy
from icarus.compiler import RNG_WORDS, CompiledFunction, below, uniform
from icarus.compiler.digest import kernel_cache
from icarus.compiler.memory import WORD_BYTES, array_at, call, matrix_at, struct_at, unlikely
from icarus.kernel import (
    CHANCE,
    EXPANSION,
    SELECTION,
    SIMULATION,
    TERMINAL,
    UNSEEN,
    extended,
    helper,
    inlined,
    mix,
)
from icarus.kernel.contract import MAX_EPISODE_MOVES, Address, structure
from icarus.kernel.features import ACTION_FEATURES, ENDINGS, FEATURES, LOOKAHEAD, are_rewards
from icarus.kernel.history import PLAYOUT, STEP, Playout, Step, episode_key
from icarus.kernel.theta import (
    TABLE,
    UPDATES,
    UpdateBuffer,
    has_room_for,
    index_at,
    is_marked,
    mark,
    row_index,
)

_INT, _WORD, _COUNT = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.int32)
_REAL = np.dtype(np.float64)
# The mixtures: of selection and expansion, of simulation, and of simultaneous decisions.
TREE, IN_SIMULATION, SIMULTANEOUS = range(3)
FIRST, INTERVAL = 100, 16  # a search checks in its first iterations, and in every 16th
NOWHERE = -1  # in place of a table whose filter tells where somebody has decided
ANY = -1  # the index of an action drawn uniformly
NEVER = 1 << 40
# A number for each of SELECTION, EXPANSION and SIMULATION.
ByPhase: TypeAlias = Annotated[np.ndarray, np.int64, 3]


class GameAddresses:
    """The game: the addresses of its functions, 0 where it has none, and its sizes."""

    player: Address
    legal: Address
    apply: Address
    rewards: Address
    observe: Address
    chance: Address
    determinize: Address
    episode: Address
    recall: Address
    simultaneous: Address  # 0 also where no rule reads which decisions are simultaneous
    simulate: Address  # uniform steps of players in one call, where a game is called back; else 0
    observe_for_root: Address  # `observe`, where the root player's eyes see for all; else 0
    features: Address  # these three where a slot reads them
    action_features: Address
    heuristic: Address
    players: int  # κ
    perspectives: int  # 1, or κ + 1 where something is hidden
    max_legal: int
    max_length: int  # actions of a playout
    cutoff: int  # actions of simulation after which a playout is cut off; NEVER where none is


class SearchRoot:
    """The root, I_root in Algorithm 1."""

    state: Address  # [state_words] of 64 bits
    state_words: int
    observer: int  # for whom it is determinized
    beliefs: Address  # what he knows, as `prepare` of the game has written it
    player: int  # who is to move
    actions: Address  # [count]: what he may play
    visits: Address  # [count]: how often each was selected
    count: int
    keys: Address  # [perspectives]: of the empty history
    record: int  # of the empty history
    label: int  # of the episode in which the root lies
    episode: int  # the record of its position-in-episode
    episodes: Address  # [perspectives]: the key of that position
    before: int  # the key, for who acted last, of the position before his action
    last: int  # who acted last
    last_perspective: int  # in which column he sees
    last_recalled: int  # 1 where a determinization may change what he saw


class LoweredArrays:
    """The lowered composition, and what its slots read of a playout."""

    component: Address  # [components] of COMPONENT
    components: int
    mixture: Address  # arrays of MIXTURE, TERM, LEAF and WEIGHT
    term: Address
    leaf: Address
    weight: Address
    # 1 where a slot reads the steps, moves, or keys of the simulation, or episodes.
    steps_in_simulation: int
    moves_in_simulation: int
    keys_in_simulation: int
    episodes: int
    features_in_tree: int  # feature tables, as bits of `icarus.kernel.features`
    features_in_simulation: int
    row_words: int  # 64-bit words in a row of the baseline's table
    visits_column: int  # which of its 32-bit numbers is n
    vote: Address  # of the kernel of a majority vote; 0 where there is none
    workspace: Address  # of this one, for that kernel


class Buffers:
    """What a playout is made in."""

    state: Address  # [state_words]
    playout: Address  # a PLAYOUT with room for so many steps, and legal actions of all of them
    step_capacity: int
    legal_capacity: int
    last_step: int  # beyond which there is no room
    updates: Address  # an UPDATES
    votes: Address  # [terms, max_legal], where votes are taken
    rng: Address  # the generator, and its state before the playout under way: [RNG_WORDS]
    rng_before: Address
    reward: Address  # [players]
    rows: Address  # [max_legal]: the rows of the baseline's records of the children
    records: Address  # [max_legal]: keys, values and sums of values of actions
    values: Address
    total: Address
    actions: Address  # [max_legal]: the legal actions, where the root player sees classes of them
    classes: Address  # [max_legal]: the index of the observation class of each
    observed: Address  # [players]: how each sees an action
    recalled: Address  # [MAX_EPISODE_MOVES]
    ahead: Address  # [state_words]: a state to look ahead in
    evaluation: Address  # [players or features of actions]: what the game has just said of it
    weight: Address  # [1]


class Counts:
    """Playouts, depth and decisions of a search so far."""

    iterations: int
    earlier_iterations: int  # of the searches with whose records this one begins
    depth: int  # actions from the root to the deepest history in the tree
    phase_steps: ByPhase  # decisions made


class Pending:
    """What is counted as soon as the playout under way has been backpropagated."""

    depth: int
    phase_steps: ByPhase
    selected: int  # the index of the action at the root
    cut: int  # 1 where it was cut off before the end of the game


class Workspace:
    """All of it, for one root."""

    game: GameAddresses
    root: SearchRoot
    composition: LoweredArrays
    buffers: Buffers
    counts: Counts
    pending: Pending
    playout: Playout
    updates: UpdateBuffer
    running: Address  # of the kernel of the slot that runs, and of which component it is; 0 while none does
    running_component: int


class Component:
    """What has a table of its own: the baseline first, then the enhancements of the strategy."""

    capture: Address  # of its kernel
    capture_parameters: Address
    backpropagation: Address  # of its kernel
    backpropagation_parameters: Address
    table: Address  # of its TABLE
    first: int  # the first of its updates in the present playout
    count: int  # and their number


class Mixture(NamedTuple):
    """A linear mixture of terms, of which one is drawn at each decision."""

    first_term: int
    terms: int
    constant: int  # 1 where the weights are constants, which the algebra knows to sum to 1


class Term(NamedTuple):
    """A maxilinear mixture of leaves with the rule that chooses by it; or a majority vote."""

    first_weight: int
    weights: int  # of the term in its mixture
    first_leaf: int
    leaves: int  # of a majority vote: the mixtures of the voters
    rule: int  # RULE_… of `icarus.algebra.policy`
    parameter: float  # of the rule: τ or ε
    new: int  # by which component's filter it is uniform where nobody has decided; NOWHERE where it is not
    least: float = 0.0  # the probability with which Gibbs from mean rewards accepts any, e^(-1/τ)


class Leaf(NamedTuple):
    """The policy of one component."""

    first_weight: int
    weights: int  # of the leaf in its term
    kernel: Address  # of the values of actions
    component: int  # whose table it reads
    parameters: Address
    uniform: int  # 1 where its value is +∞ for every action, and is not computed
    by_row: int  # 1 where it takes the rows that the loop has found, and not keys


class WeightFactor(NamedTuple):
    """One factor of a weight, which is their product: a constant, λ, or 1 − λ."""

    constant: float
    kernel: Address  # of λ; 0 for a constant
    parameters: Address
    complement: int  # 1 for 1 − λ


COMPONENT, MIXTURE, TERM, LEAF, WEIGHT = map(
    structure, (Component, Mixture, Term, Leaf, WeightFactor)
)
WORKSPACE = structure(Workspace)
COMPONENT_BYTES, MIXTURE_BYTES, LEAF_BYTES = COMPONENT.itemsize, MIXTURE.itemsize, LEAF.itemsize
STEP_BYTES = STEP.itemsize


class NoRoom(Exception):
    """A playout finds no room: it is given up, and made again when there is more."""


class MoreSteps(NoRoom):
    """For its steps, or for what is legal there."""


class MoreUpdates(NoRoom):
    """For the updates of its records."""


class MoreRows(NoRoom):
    """In the table of the component whose slot ran last."""


class EndlessPlayout(Exception):
    """A playout has more actions than the game may have."""


class WeightError(ValueError):
    """Weights, or values that are taken for weights, that are none for the information that was met."""


class DeterminizationError(ValueError):
    """A determinization that is none of the state: not the function asked last is wrong, but `determinize`."""


@inlined
def is_checked(iteration: int) -> bool:
    """Whether what a game and slots give is checked in this iteration, at little cost in the mean."""
    return iteration < FIRST or iteration % INTERVAL == 0


# -------------------------------------------------- how a decision is made: random choices, rules over values, mixtures


@inlined
def pick_best(values: np.ndarray, count: int, rng: np.ndarray) -> int:
    """U[arg max]: the index of a greatest value, ties broken uniformly. Which is greatest is selected, since nobody could guess it."""
    most, ties, first = values[0], 1, 0
    for i in range(1, count):
        value = values[i]
        is_greater = value > most
        ties = 1 if is_greater else ties + (value == most)
        first = i if is_greater else first
        most = value if is_greater else most
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
    return (
        pick_best(values, count, rng) if most == np.inf else pick_in_proportion(values, count, rng)
    )


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
def follow_rule(
    rule: int, parameter: float, values: np.ndarray, count: int, rng: np.ndarray
) -> int:
    """The index that a rule chooses among values."""
    if rule == policy.RULE_ARGMAX:
        return pick_best(values, count, rng)
    if rule == policy.RULE_GIBBS:
        most = values[0]
        for i in range(1, count):
            most = max(most, values[i])
        if abs(most) == np.inf:
            return pick_best(values, count, rng)
        for i in range(count):  # scaled by e^(-most/τ), so that no temperature is too low
            values[i] = math.exp((values[i] - most) / parameter)
        return pick_in_proportion(values, count, rng)
    if rule == policy.RULE_EPSILON_GREEDY:
        return below(rng, count) if uniform(rng) < parameter else pick_best(values, count, rng)
    if rule == policy.RULE_ROULETTE:
        return pick_by_roulette(values, count, rng)
    if rule == policy.RULE_REPLY:
        for i in range(count):
            if values[i] > 0:
                return i
    return below(rng, count)


@helper
def weight_of(w: Workspace, first: int, count: int, record: int) -> float:
    """The value of a weight at the history with this baseline record.

    Raises:
        WeightError: a weight function left [0, 1].
    """
    weights, weight = array_at(w.composition.weight, first + count, WEIGHT), 1.0
    for i in range(first, first + count):
        value = weights[i].constant
        if weights[i].kernel != 0:
            w.running, w.running_component = weights[i].kernel, 0  # of the baseline
            table = struct_at(w.composition.component, COMPONENT).table
            call(weights[i].kernel, (table, record, w.buffers.weight, weights[i].parameters))
            w.running = 0
            value = array_at(w.buffers.weight, 1, _REAL)[0]
            if unlikely(not 0.0 <= value <= 1.0):
                raise WeightError("a weight function returned a number outside [0, 1]")
            if weights[i].complement:
                value = 1.0 - value
        weight *= value
    return weight


@helper
def sum_values(w: Workspace, term: Term, legal: int, count: int, record: int) -> None:
    """The values that a term's rule chooses among, where it has several leaves: their weighted sum (COMB⊕-4)."""
    leaves = array_at(w.composition.leaf, term.first_leaf + term.leaves, LEAF)
    values = array_at(w.buffers.values, count, _REAL)
    total = array_at(w.buffers.total, count, _REAL)
    weights = 0.0
    for i in range(count):
        total[i] = 0.0
    for j in range(term.first_leaf, term.first_leaf + term.leaves):
        leaf = leaves[j]
        weight = weight_of(w, leaf.first_weight, leaf.weights, record)
        weights += weight
        if weight > 0.0 and leaf.uniform:
            for i in range(count):
                total[i] = np.inf
        elif weight > 0.0:  # 0 · ∞ is 0
            ask_policy(w, leaf, legal, count)
            for i in range(count):
                value = weight * values[i]
                # A positive weight on +∞ is +∞, beside −∞ too: their sum would be NaN.
                if max(value, total[i]) == np.inf:
                    total[i] = np.inf
                else:
                    total[i] += value
    if unlikely(abs(weights - 1.0) > TOLERANCE):
        raise WeightError("the weights of ^ do not sum to 1 for the visits met in this search")
    for i in range(count):
        values[i] = total[i]


@inlined
def ask_policy(w: Workspace, leaf: Leaf, legal: int, count: int) -> None:
    """Have the policy of one component write its values."""
    component = struct_at(w.composition.component + leaf.component * COMPONENT_BYTES, COMPONENT)
    records = w.buffers.rows if leaf.by_row else w.buffers.records
    w.running_component = leaf.component
    w.running = leaf.kernel
    values, parameters = w.buffers.values, leaf.parameters
    playout = w.buffers.playout
    call(leaf.kernel, (playout, component.table, legal, count, records, values, parameters))
    w.running = 0


@inlined
def choose(w: Workspace, role: int, legal: int, count: int, record: int, rng: np.ndarray) -> int:
    """The index of the action that the policy α of a mixture chooses; ANY where it is uniform by definition."""
    j = draw_term(w, role, record, rng)
    term = array_at(w.composition.term, j + 1, TERM)[j]
    if term.rule == policy.RULE_UNIFORM:
        return ANY
    if term.new >= 0 and is_new(w, term.new):
        return below(rng, count)  # all values are equal
    if term.rule == policy.RULE_GIBBS_OF_MEANS:
        return choose_by_acceptance(w, term, legal, count, rng)
    if term.rule == policy.RULE_VOTE:
        index = call(w.composition.vote, (w.composition.workspace, j, legal, count, record))
        return below(rng, count) if index == ANY else index
    write_values(w, term, legal, count, record)
    values = array_at(w.buffers.values, count, _REAL)
    return follow_rule(term.rule, term.parameter, values, count, rng)


@inlined
def draw_term(w: Workspace, role: int, record: int, rng: np.ndarray) -> int:
    """One term of a mixture, drawn with its weight (COMB⁺-4).

    Constant weights are known to sum to 1. Others are added up to the end, also behind the term that is drawn, to check that they do.
    """
    mixture = struct_at(w.composition.mixture + role * MIXTURE_BYTES, MIXTURE)
    last = mixture.first_term + mixture.terms - 1
    terms = array_at(w.composition.term, last + 1, TERM)
    j = mixture.first_term
    if mixture.terms > 1:
        point, upto, choice = uniform(rng), 0.0, -1
        for j in range(mixture.first_term, last + 1):
            upto += weight_of(w, terms[j].first_weight, terms[j].weights, record)
            if point < upto and choice < 0:
                choice = j
                if mixture.constant:
                    return j
        if unlikely(abs(upto - 1.0) > TOLERANCE):
            raise WeightError("the weights of + do not sum to 1 for the visits met in this search")
        j = choice if choice >= 0 else last
    return j


@inlined
def write_values(w: Workspace, term: Term, legal: int, count: int, record: int) -> None:
    """Write the values that a term's rule chooses among."""
    leaf = struct_at(w.composition.leaf + term.first_leaf * LEAF_BYTES, LEAF)
    if term.rule == policy.RULE_GIBBS_OF_MEANS:  # its kernel is asked about one action at a time
        values = array_at(w.buffers.values, count, _REAL)
        for i in range(count - 1, -1, -1):
            ask_policy(w, leaf, legal + WORD_BYTES * i, 1)
            values[i] = values[0]
    elif term.leaves == 1:
        ask_policy(w, leaf, legal, count)
    else:
        sum_values(w, term, legal, count, record)


def vote(workspace: int, j: int, legal: int, count: int, record: int) -> int:
    """The index that a majority vote, term j, chooses, ties broken uniformly; ANY where nobody has a vote."""
    w, cast = struct_at(workspace, WORKSPACE), 0
    votes = array_at(w.buffers.votes + WORD_BYTES * j * w.game.max_legal, count, _REAL)
    for i in range(count):
        votes[i] = 0.0
    rng = array_at(w.buffers.rng, RNG_WORDS, _WORD)
    term = array_at(w.composition.term, j + 1, TERM)[j]
    for voter in range(term.first_leaf, term.first_leaf + term.leaves):
        index = vote_of(w, draw_term(w, voter, record, rng), legal, count, record, rng)
        if index != ANY:
            votes[index] += 1.0
            cast += 1
    return pick_best(votes, count, rng) if cast > 0 else ANY


@helper
def vote_of(w: Workspace, j: int, legal: int, count: int, record: int, rng: np.ndarray) -> int:
    """The index that a voter votes for by term j; ANY where that is uniform over all legal actions."""
    term = array_at(w.composition.term, j + 1, TERM)[j]
    values = array_at(w.buffers.values, count, _REAL)
    if term.rule == policy.RULE_UNIFORM:
        return ANY
    if term.rule == policy.RULE_VOTE:
        return call(w.composition.vote, (w.composition.workspace, j, legal, count, record))
    if term.new >= 0 and is_new(w, term.new):
        return ANY
    write_values(w, term, legal, count, record)
    for i in range(1, count):
        if values[i] != values[0]:
            return follow_rule(term.rule, term.parameter, values, count, rng)
    return ANY


@kernel_cache
def vote_kernel() -> CompiledFunction:
    """`vote` as machine code, which calls itself by its address where a vote is taken within a vote."""
    return CompiledFunction(vote, 5, "the majority vote")


@inlined
def is_new(w: Workspace, component: int) -> bool:
    """Whether nobody has yet decided at what looks like the present history to the player to move.

    A Bloom filter tells: True is certain, False may be wrong.

    Args:
        component: whose filter tells: the baseline's, which comes first, of histories in the tree, another's of positions-in-episode.
    """
    playout = struct_at(w.buffers.playout, PLAYOUT)
    last, perspectives = playout.length - 1, playout.perspectives
    keys = playout.keys if component == 0 else playout.episodes
    column = array_at(playout.steps, last + 1, STEP)[last].perspective
    key = array_at(keys, (last + 1) * perspectives, _INT)[last * perspectives + column]
    table = struct_at(w.composition.component + component * COMPONENT_BYTES, COMPONENT).table
    return not is_marked(struct_at(table, TABLE), key)


@helper
def mark_positions(w: Workspace, address: Address) -> None:
    """Note at which positions-in-episode somebody has decided: captures name what may be played there, and the move to the root."""
    playout, table = struct_at(w.buffers.playout, PLAYOUT), struct_at(address, TABLE)
    perspectives, steps = playout.perspectives, array_at(playout.steps, playout.length, STEP)
    keys = array_at(playout.episodes, playout.length * perspectives, _INT)
    mark(table, w.root.before)
    for t in range(playout.length - 1):
        mark(table, keys[t * perspectives + steps[t].perspective])


@inlined
def is_accepted(point: float, x: float) -> bool:
    """Whether a number drawn from [0, 1) is below e^x, for x ≤ 0."""
    # 1 + x + x²/2 + x³/6 ≤ e^x ≤ 1 + x + x²/2 for x ≤ 0 decides mostly, at less cost.
    above = 1.0 + x + x * x / 2.0
    return point < above and (point < above + x * x * x / 6.0 or point < math.exp(x))


@inlined
def choose_by_acceptance(w: Workspace, term: Term, legal: int, count: int, rng: np.ndarray) -> int:
    """An index by Gibbs from mean rewards in [0, 1]: drawn uniformly until one is accepted with e^((v - 1)/τ).

    It takes the values of one or two actions instead of all, or of none where any would be accepted; where as many as there are have been
    refused, of all.
    """
    leaf = struct_at(w.composition.leaf + term.first_leaf * LEAF_BYTES, LEAF)
    values = array_at(w.buffers.values, count, _REAL)
    for _ in range(count):
        i = below(rng, count)
        point = uniform(rng)
        if point < term.least and not is_checked(w.counts.iterations):
            return i
        ask_policy(w, leaf, legal + WORD_BYTES * i, 1)
        x = (values[0] - policy.UNVISITED) / term.parameter
        if is_accepted(point, x):
            if x > 0.0:
                raise WeightError(
                    "bounded_mean=True is declared where rewards are added up, but a mean is above 1"
                )
            return i
    write_values(w, term, legal, count, NOWHERE)
    return follow_rule(policy.RULE_GIBBS, term.parameter, values, count, rng)


# ------------------------------------------------------------------------------------------------------ what a game says


NO_ACTIONS = "the legal function of a game gave no legal action at a state that is not terminal"
WRONG_PLAYER = (
    "the player function of a game gave a number that is not a player, neither CHANCE nor TERMINAL"
)
OTHER_PLAYER = "a determinization changed the player to move, or ended the game"
OTHER_ACTIONS = "a determinization changed the legal actions of the player to move"
WRONG_RECALL = f"the recall function of a game gave a number of moves that is not from 0 to {MAX_EPISODE_MOVES}"


@inlined
def legal_actions(w: Workspace, legal: int) -> int:
    """A(s), written to an address; returns their number."""
    count = call(w.game.legal, (w.buffers.state, legal))
    # One comparison for both ends.
    if unlikely(np.uint64(count - 1) >= np.uint64(w.game.max_legal)):
        refuse_number(count)
    if unlikely(is_checked(w.counts.iterations)):
        check_actions(array_at(legal, count, _INT), count)
    return count


@helper
def check_actions(actions: np.ndarray, count: int) -> None:
    """Refuse legal actions that are negative, or the same. Who is greater than all before him, or has other last bits, is neither."""
    greatest, last_bits = -1, np.uint64(0)
    for i in range(count):
        bit = np.uint64(1) << np.uint64(actions[i] & 63)
        if actions[i] > greatest:
            greatest = actions[i]
        elif actions[i] < 0 or last_bits & bit != np.uint64(0):
            refuse_action(actions, i)
        last_bits |= bit


@helper
def refuse_action(actions: np.ndarray, i: int) -> None:
    """Refuse the i-th action if it is negative, or one of those before it."""
    if actions[i] < 0:
        raise ValueError("the legal function of a game gave a negative action")
    for j in range(i):
        if actions[i] == actions[j]:
            raise ValueError("the legal function of a game gave an action twice")


@inlined
def is_choice(w: Workspace, count: int) -> np.bool:
    """Whether so many actions are more than one, and may be; if not, there must be 1."""
    return np.uint64(count - 2) < np.uint64(w.game.max_legal - 1)


@helper
def refuse_number(count: int) -> None:
    """Say what is wrong with a number of legal actions."""
    if count < 1:
        raise ValueError(NO_ACTIONS)
    raise ValueError("the legal function of a game gave more legal actions than its max_legal")


@inlined
def player_to_move(w: Workspace) -> int:
    """ρ(s), as the game tells it; whether it may be so, `acts` and `check_end` say."""
    return call(w.game.player, (w.buffers.state,))


@inlined
def acts(w: Workspace, player: int) -> np.bool:
    """Whether this is a player or CHANCE: if not, the playout is at its end, and `check_end` is to be asked."""
    # One comparison for both ends, CHANCE before player 0.
    return np.uint64(player - CHANCE) <= np.uint64(w.game.players)


@inlined
def check_end(player: int) -> None:
    """Refuse what is neither a player nor CHANCE nor TERMINAL."""
    if player != TERMINAL:
        raise ValueError(WRONG_PLAYER)


@inlined
def recalled_moves(w: Workspace, perspective: int) -> int:
    """What a perspective has seen of the episode, as the state tells it, written to a buffer; returns how many moves."""
    count = call(
        w.game.recall, (w.buffers.state, perspective, w.buffers.recalled, MAX_EPISODE_MOVES)
    )
    if count < 0 or count > MAX_EPISODE_MOVES:
        raise ValueError(WRONG_RECALL)
    return count


@inlined
def step_at(playout: Playout, t: int) -> Step:
    """Step t of a playout."""
    return struct_at(playout.steps + t * STEP_BYTES, STEP)


@inlined
def need_room(w: Workspace, playout: Playout, t: int) -> None:
    """Give the playout up unless there is room for step t and the one after it."""
    if unlikely(
        t > w.buffers.last_step
        or playout.legal_length + w.game.max_legal > w.buffers.legal_capacity
    ):
        refuse_step(w, t)


@helper
def refuse_step(w: Workspace, t: int) -> None:
    """Give a playout up at step t."""
    if t >= w.game.max_length:
        raise EndlessPlayout
    raise MoreSteps


@inlined
def perspective_of(w: Workspace, player: int) -> int:
    """The column of a player's eyes."""
    if w.game.perspectives == 1:
        return 0
    return w.game.players if player == CHANCE else player


@helper
def root_index(w: Workspace, action: int) -> int:
    """The place of an action among those of the root."""
    actions = array_at(w.root.actions, w.root.count, _INT)
    for i in range(w.root.count):
        if actions[i] == action:
            return i
    raise DeterminizationError(OTHER_ACTIONS)


# ----------------------------------------------------- where the root player sees for all: what looks alike is one move


@inlined
def is_grouped(w: Workspace, player: int) -> bool:
    """Whether a player's actions are given as the moves that the root player sees."""
    return w.game.observe_for_root != 0 and player != w.root.player


@inlined
def group(moves: np.ndarray, classes: np.ndarray, count: int) -> int:
    """Keep each of `count` moves once, in front, and write the index that each action's move has there; returns how many there are."""
    distinct = 0
    for i in range(count):
        move, classes[i] = moves[i], 0
        while classes[i] < distinct and moves[classes[i]] != move:
            classes[i] += 1
        if classes[i] == distinct:
            moves[distinct] = move
            distinct += 1
    return distinct


@helper
def group_by_observation(w: Workspace, legal: int, count: int) -> int:
    """Replace the legal actions by the moves that the root player sees, each once, and keep the actions; returns the number of moves."""
    moves, actions = array_at(legal, count, _INT), array_at(w.buffers.actions, count, _INT)
    observed = array_at(w.buffers.observed, w.game.players, _INT)
    for i in range(count):
        actions[i] = moves[i]
        for player in range(w.game.players):
            observed[player] = actions[i]
        call(
            w.game.observe_for_root,
            (w.buffers.state, actions[i], w.buffers.observed, w.game.players),
        )
        moves[i] = observed[w.root.player]
    return group(moves, array_at(w.buffers.classes, count, _INT), count)


@helper
def choose_in_class(w: Workspace, player: int, index: int, count: int, rng: np.ndarray) -> int:
    """The index of the action that is played, where the root player sees a move: any of its observation class."""
    if player == CHANCE:
        return index
    classes, size = array_at(w.buffers.classes, count, _INT), 0
    for i in range(count):
        size += classes[i] == index
    skip, i = below(rng, size) if size > 1 else 0, 0
    while classes[i] != index or skip > 0:
        skip -= classes[i] == index
        i += 1
    return i


# ------------------------------------------------------------------------- line 12: h # a, as every perspective sees it


@inlined
def append(w: Workspace, playout: Playout, t: int, step: Step, in_tree: bool) -> None:
    """Line 12: append the action of step t to the history, as every perspective sees it; called before the state changes."""
    if w.game.perspectives == 1 and w.game.observe_for_root == 0:  # all see actions as they are
        keys, moves = array_at(playout.keys, t + 2, _INT), array_at(playout.moves, t + 2, _INT)
        player, action, following = step.player, step.action, step_at(playout, t + 1)
        moves[t + 1] = action
        if in_tree or w.composition.keys_in_simulation:
            keys[t + 1] = mix(keys[t], action)
            following.record = extended(keys[t], player, action)
        if w.composition.episodes:
            episodes = array_at(playout.episodes, t + 2, _INT)
            episodes[t + 1] = mix(episodes[t], action)
            following.episode = extended(episodes[t], player, action)
    else:
        append_observed(w, playout, t, step, in_tree)


@helper
def append_observed(w: Workspace, playout: Playout, t: int, step: Step, in_tree: bool) -> None:
    """`append` where perspectives see different moves, or where positions in episodes are read."""
    perspectives, following = w.game.perspectives, step_at(playout, t + 1)
    moves = matrix_at(playout.moves, t + 2, perspectives, _INT)
    for perspective in range(perspectives):
        moves[t + 1, perspective] = step.action
    if w.game.observe != 0:
        observed = playout.moves + WORD_BYTES * (t + 1) * perspectives
        call(w.game.observe, (w.buffers.state, step.action, observed, w.game.players))
    if in_tree or w.composition.keys_in_simulation:
        keys = matrix_at(playout.keys, t + 2, perspectives, _INT)
        following.record = extended(keys[t, step.perspective], step.player, step.action)
        extend_keys(keys, moves, t, perspectives)
    if w.composition.episodes:
        episodes = matrix_at(playout.episodes, t + 2, perspectives, _INT)
        following.episode = extended(episodes[t, step.perspective], step.player, step.action)
        extend_keys(episodes, moves, t, perspectives)


@inlined
def extend_keys(keys: np.ndarray, moves: np.ndarray, t: int, perspectives: int) -> None:
    """The keys of the history of t + 1 actions in the eyes of each perspective, from those of t actions and the moves that they saw."""
    for perspective in range(perspectives):
        key, move = keys[t, perspective], moves[t + 1, perspective]
        keys[t + 1, perspective] = key if move == UNSEEN else mix(key, move)


@inlined
def label_episode(w: Workspace, playout: Playout, t: int) -> None:
    """Begin a new episode at step t where the state reached has a label (section 5.1) and a slot reads episodes."""
    if w.composition.episodes and w.game.episode != 0:
        label = call(w.game.episode, (w.buffers.state,))
        if label >= 0:
            episodes = matrix_at(playout.episodes, t + 1, w.game.perspectives, _INT)
            for perspective in range(w.game.perspectives):
                episodes[t, perspective] = episode_key(label, perspective)


# ---------------------------------------------------------------------------- what the game tells of states and actions


@helper
def evaluate_step(
    w: Workspace, playout: Playout, t: int, step: Step, actions: int, tables: int
) -> None:
    """What the game tells of the state at step t, and of what is legal there.

    Args:
        actions: how many are legal; others than the root player may have fewer moves.
    """
    if tables & FEATURES:
        evaluate_state(w, playout, t)
    if tables & ACTION_FEATURES:
        table = rows_of(playout.action_features, step, playout.action_features_width)
        if step.player != CHANCE:
            for i in range(actions):
                call(
                    w.game.action_features,
                    (w.buffers.state, action_at(w, playout, step, i), w.buffers.evaluation),
                )
                add_evaluation(w, table, edge_of(w, step, i))
            take_means(w, table, step, actions)
    if tables & (LOOKAHEAD | ENDINGS):
        lookahead = rows_of(playout.lookahead, step, playout.lookahead_width)
        endings = rows_of(playout.endings, step, playout.endings_width)
        for i in range(actions):
            look_ahead(w, action_at(w, playout, step, i), lookahead, endings, edge_of(w, step, i))
        take_means(w, lookahead, step, actions)
        take_means(w, endings, step, actions)


@helper
def evaluate_state(w: Workspace, playout: Playout, t: int) -> None:
    """The features of the state at step t."""
    call(
        w.game.features,
        (w.buffers.state, playout.features + WORD_BYTES * t * playout.features_width),
    )


@helper
def look_ahead(
    w: Workspace, action: int, lookahead: np.ndarray, endings: np.ndarray, edge: int
) -> None:
    """Add what may be expected after an action, and how the game ends where it does, to the rows of its edge."""
    words = w.root.state_words
    state, ahead = array_at(w.buffers.state, words, _INT), array_at(w.buffers.ahead, words, _INT)
    for i in range(words):
        ahead[i] = state[i]
    call(w.game.apply, (w.buffers.ahead, action))
    if call(w.game.player, (w.buffers.ahead,)) == TERMINAL:
        rewards_at(w, w.buffers.ahead, w.buffers.evaluation)
        add_evaluation(w, lookahead, edge)
        add_evaluation(w, endings, edge)
    else:
        for j in range(endings.shape[1]):
            endings[edge, j] = np.nan
        if lookahead.shape[1] > 0:
            call(w.game.heuristic, (w.buffers.ahead, w.buffers.evaluation))
            add_evaluation(w, lookahead, edge)


@helper
def rewards_at(w: Workspace, state: int, out: int) -> None:
    """μ of a terminal state, both given by their addresses; what one state has left is not the next one's."""
    rewards = array_at(out, w.game.players, _REAL)
    rewards[:] = np.nan
    call(w.game.rewards, (state, out, w.game.players))
    if unlikely(not are_rewards(rewards)):
        raise ValueError(
            "the rewards function of a game did not write a number from 0 to 1 for each player"
        )


@inlined
def rows_of(table: int, step: Step, width: int) -> np.ndarray:
    """The rows of a step's edges in a table, all 0."""
    rows = matrix_at(table + WORD_BYTES * step.first * width, step.count, width, _REAL)
    for i in range(step.count):
        for j in range(width):
            rows[i, j] = 0.0
    return rows


@inlined
def action_at(w: Workspace, playout: Playout, step: Step, i: int) -> int:
    """A legal action, as it is."""
    if is_grouped(w, step.player):
        return array_at(w.buffers.actions, i + 1, _INT)[i]
    return array_at(playout.legal + WORD_BYTES * step.first, i + 1, _INT)[i]


@inlined
def edge_of(w: Workspace, step: Step, i: int) -> int:
    """The place of a legal action among those of the history; of its observation class, where actions are grouped."""
    return array_at(w.buffers.classes, i + 1, _INT)[i] if is_grouped(w, step.player) else i


@inlined
def add_evaluation(w: Workspace, table: np.ndarray, edge: int) -> None:
    """Add what was just told to the row of an edge."""
    row = array_at(w.buffers.evaluation, table.shape[1], _REAL)
    for j in range(table.shape[1]):
        table[edge, j] += row[j]


@inlined
def take_means(w: Workspace, table: np.ndarray, step: Step, actions: int) -> None:
    """Divide the row of each edge by how many actions look so."""
    if is_grouped(w, step.player):
        classes = array_at(w.buffers.classes, actions, _INT)
        for edge in range(step.count):
            size = 0
            for i in range(actions):
                size += classes[i] == edge
            for j in range(table.shape[1]):
                table[edge, j] /= size


# ---------------------------------------------------------------------------------------------- lines 6-14: one playout


@helper
def play_out(w: Workspace, rng: np.ndarray) -> None:
    """Lines 6-14: one playout."""
    begin(w, rng)  # lines 7-9
    t = selection(w, rng)  # lines 10-14 in the tree: selection and expansion
    simulation(w, rng, t)  # lines 10-14, to the end of the game
    playout = struct_at(w.buffers.playout, PLAYOUT)
    w.pending.depth, w.pending.selected = t, root_index(w, struct_at(playout.steps, STEP).action)


@helper
def begin(w: Workspace, rng: np.ndarray) -> None:
    """Lines 7-9: the empty history, at a determinization drawn from the root's information set."""
    words = w.root.state_words
    root, state = array_at(w.root.state, words, _INT), array_at(w.buffers.state, words, _INT)
    for i in range(words):
        state[i] = root[i]
    if w.game.determinize != 0:
        call(w.game.determinize, (w.buffers.state, w.root.observer, w.root.beliefs, w.buffers.rng))
        if unlikely(call(w.game.player, (w.buffers.state,)) != w.root.player):
            raise DeterminizationError(OTHER_PLAYER)
    playout, perspectives = struct_at(w.buffers.playout, PLAYOUT), w.game.perspectives
    playout.length, playout.legal_length = 1, 0
    playout.players, playout.iteration = 0, w.counts.earlier_iterations + w.counts.iterations
    keys = array_at(playout.keys, perspectives, _INT)
    moves = array_at(playout.moves, perspectives, _INT)
    root_keys = array_at(w.root.keys, perspectives, _INT)
    for perspective in range(perspectives):
        keys[perspective] = root_keys[perspective]
        moves[perspective] = UNSEEN
    struct_at(playout.steps, STEP).record = w.root.record
    for phase in range(3):
        w.pending.phase_steps[phase] = 0
    w.pending.cut = 0
    w.buffers.last_step = min(w.buffers.step_capacity - 2, w.game.max_length - 1)
    if w.composition.episodes:
        start_episodes(w, playout)


@helper
def start_episodes(w: Workspace, playout: Playout) -> None:
    """The root's position-in-episode, which began before the root, by what each perspective has seen in this determinization.

    The move that led to the root may look different in this determinization to who made it. Then the record of the root's position is
    made anew of what he sees now: of the key before his last move (`root.before`), and of that move.
    """
    perspectives, root = w.game.perspectives, w.root
    episodes = array_at(playout.episodes, perspectives, _INT)
    at_root = array_at(root.episodes, perspectives, _INT)
    step = struct_at(playout.steps, STEP)
    step.episode = root.episode
    for perspective in range(perspectives):
        episodes[perspective] = at_root[perspective]
        if w.game.recall != 0:
            moves = array_at(w.buffers.recalled, MAX_EPISODE_MOVES, _INT)
            count = recalled_moves(w, perspective)
            key = episode_key(root.label, perspective)
            for i in range(count):
                # his last move, behind the key of all those before it
                if root.last_recalled and perspective == root.last_perspective and i == count - 1:
                    step.episode = extended(key, root.last, moves[i])
                    root.before = key
                key = mix(key, moves[i])
            episodes[perspective] = key


class Baseline(NamedTuple):
    """The index of the baseline's table, and the columns that tell the phase; the width of its rows depends on the number of players."""

    records: np.ndarray  # [rows] of keys
    visits: np.ndarray  # [rows] of n
    entries: np.ndarray


@inlined
def baseline_of(w: Workspace) -> Baseline:
    """The baseline's table: that of the first component."""
    table = struct_at(struct_at(w.composition.component, COMPONENT).table, TABLE)
    words = w.composition.row_words
    return Baseline(
        matrix_at(table.rows, table.capacity, words, _INT)[:, 0],
        matrix_at(table.rows, table.capacity, 2 * words, _COUNT)[:, w.composition.visits_column],
        index_at(table),
    )


@inlined
def selection(w: Workspace, rng: np.ndarray) -> int:
    """Lines 10-14 in the tree: decisions by selection, and those by expansion, until one leads to a history without visits.

    Returns:
        How many actions have been appended (t_e in Base-6, where the game did not end before).
    """
    playout, baseline, t = struct_at(w.buffers.playout, PLAYOUT), baseline_of(w), 0
    rows = array_at(w.buffers.rows, w.game.max_legal, _INT)
    # The first playout expands the empty history.
    in_tree = baseline.visits[row_index(baseline.entries, baseline.records, w.root.record)] > 0
    while in_tree:
        player = player_to_move(w)
        if not acts(w, player):
            check_end(player)
            break
        need_room(w, playout, t)
        step, count = step_at(playout, t), open_step(w, playout, t, player)
        if w.composition.features_in_tree:
            evaluate_step(w, playout, t, step, count, w.composition.features_in_tree)
        step.phase = phase_in_tree(w, baseline, playout, t, step, rows)
        w.pending.phase_steps[step.phase] += 1
        index, action = decide(w, mixture_in_tree(w, step), playout, step, count, rng)  # line 11
        in_tree = baseline.visits[rows[index]] > 0
        append(w, playout, t, step, True)  # line 12
        call(w.game.apply, (w.buffers.state, action))  # line 13
        t += 1
        label_episode(w, playout, t)
    return t


@inlined
def simulation(w: Workspace, rng: np.ndarray, t: int) -> None:
    """Lines 10-14 after the expansion, from step t to the end of the game, or until it is cut off."""
    playout, reading = struct_at(w.buffers.playout, PLAYOUT), w.composition
    appended = reading.keys_in_simulation or reading.moves_in_simulation or reading.episodes
    end = max(t + w.game.cutoff, 1)  # the root's action is always played
    if reading.features_in_tree & FEATURES:
        evaluate_state(w, playout, t)  # the expanded one is of the tree
    if w.game.simultaneous != 0:
        step_at(playout, t).choice = (
            call(w.game.simultaneous, (w.buffers.state,)) if player_to_move(w) >= 0 else 0
        )
    while True:
        player = player_to_move(w)
        if not acts(w, player):
            check_end(player)
            break
        if t >= end:
            w.pending.cut = 1
            break
        need_room(w, playout, t)
        if t > 0 and not reading.steps_in_simulation:
            legal = playout.legal + WORD_BYTES * playout.legal_length
            w.pending.phase_steps[SIMULATION] += simulate_unrecorded(w, legal, t, end, rng)
            break
        step, count = step_at(playout, t), open_step(w, playout, t, player)
        if reading.features_in_simulation:
            evaluate_step(w, playout, t, step, count, reading.features_in_simulation)
        step.phase = SIMULATION
        w.pending.phase_steps[SIMULATION] += 1
        _, action = decide(w, IN_SIMULATION, playout, step, count, rng)  # line 11
        if appended:
            append(w, playout, t, step, False)  # line 12
        call(w.game.apply, (w.buffers.state, action))  # line 13
        t += 1
        label_episode(w, playout, t)
    last = step_at(playout, t)
    last.phase, last.player = SIMULATION, player
    playout.length = t + 1
    if reading.features_in_simulation & FEATURES:
        evaluate_state(w, playout, t)


@helper
def simulate_unrecorded(w: Workspace, legal: int, t: int, end: int, rng: np.ndarray) -> int:
    """Uniform simulation that no slot reads, from step t until it is cut off at `end`; returns its number of steps."""
    actions, steps, last = array_at(legal, w.game.max_legal, _INT), 0, min(end, w.game.max_length)
    while True:
        if unlikely(w.game.simulate != 0):
            steps += call(w.game.simulate, (w.buffers.state, w.buffers.rng, last - t - steps))
        player = player_to_move(w)
        if not acts(w, player):
            check_end(player)
            return steps
        if t + steps >= last:
            if end > last:
                raise EndlessPlayout
            w.pending.cut = 1
            return steps
        count, index = call(w.game.legal, (w.buffers.state, legal)), 0
        if unlikely(w.counts.iterations < FIRST) and 0 < count <= w.game.max_legal:
            check_actions(actions, count)
        if is_choice(w, count):
            index = choose_for_chance(w, count, rng) if player == CHANCE else below(rng, count)
        elif count != 1:
            refuse_number(count)
        call(w.game.apply, (w.buffers.state, actions[index]))
        steps += 1


@inlined
def open_step(w: Workspace, playout: Playout, t: int, player: int) -> int:
    """Begin step t with what is legal, for others as the root player sees it where his eyes see for all; returns how many actions are."""
    step, first = step_at(playout, t), playout.legal_length
    legal = playout.legal + WORD_BYTES * first
    count = legal_actions(w, legal)
    step.player, step.perspective = player, perspective_of(w, player)
    step.first, step.count = first, count
    if is_grouped(w, player):
        step.count = group_by_observation(w, legal, count)
    playout.length, playout.legal_length = t + 1, first + step.count
    return count


@inlined
def phase_in_tree(
    w: Workspace, baseline: Baseline, playout: Playout, t: int, step: Step, rows: np.ndarray
) -> int:
    """The phase of a decision in the tree: selection where all children have visits. Finds the rows of their records.

    It also notes in the filter that somebody decides here, for `is_new`.
    """
    perspectives, player, phase = w.game.perspectives, step.player, SELECTION
    key = array_at(playout.keys, (t + 1) * perspectives, _INT)[t * perspectives + step.perspective]
    legal = array_at(playout.legal + WORD_BYTES * step.first, step.count, _INT)
    table = struct_at(struct_at(w.composition.component, COMPONENT).table, TABLE)
    if table.visit_filter != 0:
        mark(table, key)
    for i in range(step.count):
        row = row_index(baseline.entries, baseline.records, extended(key, player, legal[i]))
        rows[i] = row
        if baseline.visits[np.uint64(row)] == 0:
            phase = EXPANSION
    return phase


@inlined
def mixture_in_tree(w: Workspace, step: Step) -> int:
    """The mixture that decides in the tree: another one where several players choose at once and EXP3 is to decide then."""
    if w.game.simultaneous == 0:
        return TREE
    step.choice, step.probability = call(w.game.simultaneous, (w.buffers.state,)), 1.0
    return SIMULTANEOUS if step.choice > 0 else TREE


@inlined
def decide(
    w: Workspace, role: int, playout: Playout, step: Step, actions: int, rng: np.ndarray
) -> tuple[int, int]:
    """Line 11: choose the action of a step by one of the mixtures, or by π₀.

    Returns:
        Its place among the step's legal actions, and the action that is played, of all that look so to the root player.
    """
    count, legal, index = step.count, playout.legal + WORD_BYTES * step.first, 0
    if step.player == CHANCE:
        index = choose_for_chance(w, actions, rng) if actions > 1 else 0
    elif count > 1:
        index = choose(w, role, legal, count, step.record, rng)
        if role == SIMULTANEOUS:
            step.probability = array_at(w.buffers.values, count, _REAL)[index]
    index = below(rng, count) if index == ANY else index
    if is_grouped(w, step.player):
        behind = choose_in_class(w, step.player, index, actions, rng)
        index = array_at(w.buffers.classes, actions, _INT)[behind]
        action = array_at(w.buffers.actions, actions, _INT)[behind]
        step.action = array_at(legal, count, _INT)[index]
    else:
        action = array_at(legal, count, _INT)[index]
        step.action = action
    return index, action


@inlined
def choose_for_chance(w: Workspace, count: int, rng: np.ndarray) -> int:
    """The index of an outcome of a chance state."""
    probabilities = array_at(w.buffers.values, count, _REAL)
    if w.game.chance != 0:
        call(w.game.chance, (w.buffers.state, w.buffers.values))
        if is_checked(w.counts.iterations):
            check_outcomes(probabilities, count)
    else:
        for i in range(count):
            probabilities[i] = 1.0 / count
    return pick_outcome(probabilities, count, rng)


@helper
def check_outcomes(probabilities: np.ndarray, count: int) -> None:
    """Refuse probabilities of chance that are negative, or do not sum to 1."""
    total = 0.0
    for i in range(count):
        if probabilities[i] < 0.0:
            raise ValueError("the chance function of a game gave a negative probability")
        total += probabilities[i]
    if not abs(total - 1.0) <= TOLERANCE:
        raise ValueError("the chance function of a game gave probabilities that do not sum to 1")


# ------------------------------------------------------------------------------------------------- lines 5-17: the loop


def run(workspace: int, iterations: int) -> int:
    """Lines 5-17: run until so many iterations have been made in all."""
    w = struct_at(workspace, WORKSPACE)
    rng = array_at(w.buffers.rng, RNG_WORDS, _WORD)
    before = array_at(w.buffers.rng_before, RNG_WORDS, _WORD)
    while w.counts.iterations < iterations:  # line 5
        for i in range(RNG_WORDS):
            before[i] = rng[i]
        play_out(w, rng)  # lines 6-14
        capture(w)  # line 16
        backpropagation(w)  # lines 16-17
        count_playout(w)
    return 0


@helper
def capture(w: Workspace) -> None:
    """Line 16: μ(s), and ξ(s_root, h), the updates of every component; or no room for them in a table or the buffer."""
    updates = struct_at(w.buffers.updates, UPDATES)
    components = array_at(w.composition.component, w.composition.components, COMPONENT)
    if w.pending.cut:
        call(w.game.heuristic, (w.buffers.state, w.buffers.reward))
    else:
        rewards_at(w, w.buffers.state, w.buffers.reward)
    struct_at(w.buffers.playout, PLAYOUT).players = w.game.players
    updates.count = 0
    for c in range(w.composition.components):
        component = components[c]
        component.first = updates.count
        w.running, w.running_component = component.capture, c  # whose error it would be
        call(
            component.capture,
            (w.buffers.playout, component.table, w.buffers.updates, component.capture_parameters),
        )
        w.running = 0
        component.count = updates.count - component.first
        table = struct_at(component.table, TABLE)
        # The baseline's filter has been marked in the tree, by `phase_in_tree`; the others' are marked now.
        if c > 0 and table.visit_filter != 0:
            mark_positions(w, component.table)
        if not has_room_for(table.used + component.count, table.capacity):
            raise MoreRows
    if unlikely(updates.count > updates.capacity):
        raise MoreUpdates


@helper
def backpropagation(w: Workspace) -> None:
    """Lines 16-17: update the information of every captured record, in order."""
    components = array_at(w.composition.component, w.composition.components, COMPONENT)
    for c in range(w.composition.components):
        w.running_component = c
        backpropagate(w, components[c])
    w.running = 0


@inlined
def backpropagate(w: Workspace, component: Component) -> None:
    """Line 17 for the records that one component has captured."""
    updates, offset = struct_at(w.buffers.updates, UPDATES), WORD_BYTES * component.first
    records, contexts = updates.records + offset, updates.contexts + offset
    count, mu, players = component.count, w.buffers.reward, w.game.players
    parameters = component.backpropagation_parameters
    w.running = component.backpropagation
    call(w.running, (component.table, records, contexts, count, mu, players, parameters))


@helper
def count_playout(w: Workspace) -> None:
    """Count a playout that has been made: its selection at the root, which line 18 asks for, its steps and its depth."""
    array_at(w.root.visits, w.root.count, _INT)[w.pending.selected] += 1
    for phase in range(3):
        w.counts.phase_steps[phase] += w.pending.phase_steps[phase]
    w.counts.depth = max(w.counts.depth, w.pending.depth)
    w.counts.iterations += 1


@kernel_cache
def compiled_loop() -> CompiledFunction:
    """The loop as machine code: compiled_loop()(address of a workspace, iterations)."""
    return CompiledFunction(run, 2, "the playout loop")
