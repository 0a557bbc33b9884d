"""Algorithm 1, lines 5-17: the one compiled loop. It is compiled once and runs every game with every composition.

All it works on is described by one ARENA record: addresses of the game's functions, of the lowered composition and of buffers.
Nothing is updated during a playout, so a playout that runs out of room is simply abandoned: the generator is put back to
where the playout began, Python gives more room, and the same playout is run again.

Randomness is drawn in the order in which Algorithm 1 needs it: the determinization; then for each decision with more than one
legal action the alternative of a linear mixture, if there is more than one, and what the rule draws. Gibbs over mean rewards draws an
index and a number to accept it, until one is accepted or as many as there are actions have been refused; only then from all.
"""
import functools
import math
from typing import Any

import numpy as np
from numba import types

from icarus.atomic import atomic_add, atomic_load, atomic_store
from icarus.enhancement import TOLERANCE
from icarus.game import CHANCE, TERMINAL, UNSEEN
from icarus.history import (
    EMPTY_HISTORY,
    EXPANSION,
    PLAYOUT,
    SELECTION,
    SIMULATION,
    STEP,
    episode_key,
    extended,
    mix,
    root_key,
)
from icarus.information import NO_RECORD, TABLE, UPDATES
from icarus.jit import array_at, call1, call2, call3, call4, call7, compiled, helper, inlined, record_at
from icarus.lowering import AT_ONCE, COMPONENT, FACTOR, LEAF, PROGRAM, SIMULATED, TERM, TREE
from icarus.policy import ARGMAX, EPSILON_GREEDY, GIBBS, GIBBS_OF_MEANS, REPLY, ROULETTE, UNIFORM, UNVISITED
from icarus.rng import WORDS, below, uniform

DONE, MORE_STEPS, MORE_UPDATES, MORE_ROWS = 0, 1, 2, 3        # why the loop returns
FULLEST = 0.6                                                 # share of a table's rows that may be used

ARENA = np.dtype([
    # the game's functions
    ("player", np.int64), ("legal", np.int64), ("apply", np.int64), ("rewards", np.int64), ("observe", np.int64),
    ("chance", np.int64), ("determinize", np.int64), ("episode", np.int64), ("recall", np.int64),
    ("simultaneous", np.int64),                                   # 0 where EXP3 does not decide
    ("look", np.int64),                                           # `observe`, where the root player's eyes see for all; else 0
    ("players", np.int64), ("viewers", np.int64), ("max_legal", np.int64),
    # the root
    ("root", np.int64), ("state", np.int64), ("state_words", np.int64), ("observer", np.int64), ("beliefs", np.int64),
    ("root_player", np.int64),
    ("root_label", np.int64), ("root_episodes", np.int64), ("root_episode", np.int64), ("recalled", np.int64),
    ("root_last", np.int64), ("root_last_viewer", np.int64), ("root_last_recalled", np.int64),
    ("root_actions", np.int64), ("root_visits", np.int64), ("root_count", np.int64),
    # the lowered composition
    ("component", np.int64), ("components", np.int64), ("program", np.int64), ("term", np.int64), ("leaf", np.int64),
    ("factor", np.int64), ("records_simulation", np.int64), ("moves_in_simulation", np.int64),
    ("keys_in_simulation", np.int64), ("episodes_read", np.int64),
    ("baseline_row", np.int64), ("baseline_visits", np.int64),    # bytes of a row, and where n is in it
    # buffers
    ("playout", np.int64), ("updates", np.int64), ("step_capacity", np.int64), ("legal_capacity", np.int64),
    ("places", np.int64), ("records", np.int64), ("values", np.int64), ("total", np.int64), ("reward", np.int64), ("number", np.int64),
    ("actions", np.int64), ("alike", np.int64), ("looks", np.int64),
    ("rng", np.int64), ("rng_before", np.int64),
    # what has happened
    ("iterations", np.int64), ("depth", np.int64), ("phase_steps", np.int64, (3,)), ("full_component", np.int64),
    ("shared", np.int64),                                         # address of the SHARED record; 0 where one thread is all
], align=True)
SHARED = np.dtype([                       # what threads that share their records agree on
    ("iterations", np.int64),             # playouts begun or made by all of them; the first field, where `begun` adds
    ("stop", np.int64),                   # whether all are to return before their next playout
], align=True)

_INT, _REAL, _WORD, _COUNT = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.uint64), np.dtype(np.int32)


# ------------------------------------------------------------------------------------------------------- random choices

@inlined
def best(values: np.ndarray, count: int, rng: np.ndarray) -> int:
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
def proportional(weights: np.ndarray, count: int, rng: np.ndarray) -> int:
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
def drawn(probabilities: np.ndarray, count: int, rng: np.ndarray) -> int:
    """The index of an outcome of π₀."""
    point, upto = uniform(rng), 0.0
    for i in range(count):
        upto += probabilities[i]
        if point < upto:
            return i
    return count - 1


@inlined
def chosen(rule: int, parameter: float, values: np.ndarray, count: int, rng: np.ndarray) -> int:
    """The index that a rule chooses among values."""
    if rule == ARGMAX:
        return best(values, count, rng)
    if rule == GIBBS:
        most = values[0]
        for i in range(1, count):
            most = max(most, values[i])
        if most == np.inf:
            return best(values, count, rng)
        for i in range(count):                                # scaled by e^(-most/τ), so that no temperature is too low
            values[i] = math.exp((values[i] - most) / parameter)
        return proportional(values, count, rng)
    if rule == EPSILON_GREEDY:
        return below(rng, count) if uniform(rng) < parameter else best(values, count, rng)
    if rule == ROULETTE:
        return proportional(values, count, rng)
    if rule == REPLY:
        for i in range(count):
            if values[i] > 0:
                return i
    return below(rng, count)


# ------------------------------------------------------------------------------------------------------- the composition

class WeightError(ValueError):
    """Weights that are no weights for the information that was met."""


@helper
def weight_of(a: Any, first: int, count: int, record: int) -> float:
    """The value of a weight at the history with this baseline record.

    Raises:
        WeightError: a weight function left [0, 1].
    """
    factors, component = array_at(a.factor, first + count, FACTOR), record_at(a.component, COMPONENT)
    weight = 1.0
    for i in range(first, first + count):
        value = factors[i].constant
        if factors[i].entry != 0:
            call4(factors[i].entry, (component.table, record, a.number, factors[i].parameters))
            value = array_at(a.number, 1, _REAL)[0]
            if not 0.0 <= value <= 1.0:
                raise WeightError("a weight function returned a number outside [0, 1]")
            if factors[i].complement:
                value = 1.0 - value
        weight *= value
    return weight


@helper
def weighted_values(a: Any, term: Any, legal: int, count: int, record: int) -> None:
    """The values that a term's rule chooses among: those of its leaf, or the weighted sum of several (COMB⊕-4)."""
    leaves = array_at(a.leaf, term.first_leaf + term.leaves, LEAF)
    values, total = array_at(a.values, count, _REAL), array_at(a.total, count, _REAL)
    weights = 0.0
    for i in range(count):
        total[i] = 0.0
    for j in range(term.first_leaf, term.first_leaf + term.leaves):
        leaf = leaves[j]
        weight = weight_of(a, leaf.first_factor, leaf.factors, record)
        weights += weight
        if weight > 0.0 and leaf.unread:
            for i in range(count):
                total[i] = np.inf
        elif weight > 0.0:                                    # 0 · ∞ is 0
            ask(a, leaf, legal, count)
            for i in range(count):
                total[i] += weight * values[i]
    if abs(weights - 1.0) > TOLERANCE and a.shared == 0:      # other threads may have visited the record between two weights
        raise WeightError("the weights of ^ do not sum to 1 for the visits met in this search")
    for i in range(count):
        values[i] = total[i]


@inlined
def ask(a: Any, leaf: Any, legal: int, count: int) -> None:
    """Have the policy of one component write its values."""
    component = record_at(a.component + leaf.component * COMPONENT_SIZE, COMPONENT)
    records = a.places if leaf.placed else a.records
    call7(leaf.entry, (a.playout, component.table, legal, count, records, a.values, leaf.parameters))


@inlined
def decided(a: Any, which: int, legal: int, count: int, record: int, rng: np.ndarray) -> int:
    """The index of the action that the policy α of a program chooses; ANY where it is uniform by definition."""
    program = record_at(a.program + which * PROGRAM_SIZE, PROGRAM)
    last = program.first_term + program.terms - 1
    terms = array_at(a.term, last + 1, TERM)
    j = program.first_term
    if program.terms > 1:
        point, upto, drawn_term = uniform(rng), 0.0, -1
        for j in range(program.first_term, last + 1):
            upto += weight_of(a, terms[j].first_factor, terms[j].factors, record)
            if point < upto and drawn_term < 0:
                drawn_term = j
        if abs(upto - 1.0) > TOLERANCE and a.shared == 0:
            raise WeightError("the weights of + do not sum to 1 for the visits met in this search")
        j = drawn_term if drawn_term >= 0 else last
    term = terms[j]
    if term.rule == UNIFORM:
        return ANY
    if term.rule == GIBBS_OF_MEANS:
        return accepted(a, record_at(a.leaf + term.first_leaf * LEAF_SIZE, LEAF), term.parameter, legal, count, rng)
    if term.leaves == 1:
        ask(a, record_at(a.leaf + term.first_leaf * LEAF_SIZE, LEAF), legal, count)
    else:
        weighted_values(a, term, legal, count, record)
    return chosen(term.rule, term.parameter, array_at(a.values, count, _REAL), count, rng)


@inlined
def accepted(a: Any, leaf: Any, parameter: float, legal: int, count: int, rng: np.ndarray) -> int:
    """An index by Gibbs from mean rewards, of which none is above 1: drawn uniformly until one is accepted with e^((v - 1)/τ).

    It takes the values of one or two actions instead of all; where as many as there are have been refused, of all.
    """
    values = array_at(a.values, count, _REAL)
    for _ in range(count):
        i = below(rng, count)
        ask(a, leaf, legal + 8 * i, 1)
        x, point = (values[0] - UNVISITED) / parameter, uniform(rng)
        above = 1.0 + x + x * x / 2.0                                     # 1 + x + x²/2 + x³/6 ≤ e^x ≤ 1 + x + x²/2 for x ≤ 0 decides
        if point < above and (point < above + x * x * x / 6.0 or point < math.exp(x)):       # mostly, at less cost
            return i
    ask(a, leaf, legal, count)
    return chosen(GIBBS, parameter, values, count, rng)


ANY = -1
COMPONENT_SIZE, PROGRAM_SIZE, LEAF_SIZE = COMPONENT.itemsize, PROGRAM.itemsize, LEAF.itemsize


# ---------------------------------------------------------------------------------------------------------- one playout

@inlined
def place_in(a: Any, baseline: Any, key: int) -> int:
    """The row of a baseline record, that of the initial information where there is none. Its width depends on the number of players."""
    mask = baseline.capacity - 1
    i = key & mask
    while True:
        found = array_at(baseline.rows + i * a.baseline_row, 1, _INT)[0]
        if found == key:
            return i
        if found == NO_RECORD:
            return baseline.capacity
        i = (i + 1) & mask


@inlined
def visits_at(a: Any, baseline: Any, place: int) -> int:
    """n of the baseline record in a row."""
    return array_at(baseline.rows + place * a.baseline_row + a.baseline_visits, 1, _COUNT)[0]


@inlined
def environment_choice(a: Any, count: int, rng: np.ndarray) -> int:
    """The index of an outcome of a chance state."""
    probabilities = array_at(a.values, count, _REAL)
    if a.chance != 0:
        call2(a.chance, (a.state, a.values))
    else:
        for i in range(count):
            probabilities[i] = 1.0 / count
    return drawn(probabilities, count, rng)


@helper
def begin(a: Any, rng: np.ndarray) -> None:
    """Lines 7-9: the empty history, at a determinization drawn from the root's information set."""
    root, state = array_at(a.root, a.state_words, _INT), array_at(a.state, a.state_words, _INT)
    for i in range(a.state_words):
        state[i] = root[i]
    if a.determinize != 0:
        call4(a.determinize, (a.state, a.observer, a.beliefs, a.rng))
    playout = record_at(a.playout, PLAYOUT)
    keys, moves = array_at(playout.keys, a.viewers, _INT), array_at(playout.moves, a.viewers, _INT)
    for viewer in range(a.viewers):
        keys[viewer] = root_key(viewer)
        moves[viewer] = UNSEEN
    step = record_at(playout.steps, STEP)
    step.record = EMPTY_HISTORY
    if a.episodes_read:
        begin_episodes(a, playout)


@helper
def begin_episodes(a: Any, playout: Any) -> None:
    """The root's position-in-episode, which began before the root, by what each viewer has seen in this determinization."""
    episodes, at_root = array_at(playout.episodes, a.viewers, _INT), array_at(a.root_episodes, a.viewers, _INT)
    step = record_at(playout.steps, STEP)
    step.episode = a.root_episode
    for viewer in range(a.viewers):
        episodes[viewer] = at_root[viewer]
        if a.recall != 0:
            moves = array_at(a.recalled, RECALLED, _INT)
            count = call4(a.recall, (a.state, viewer, a.recalled, RECALLED))
            key = episode_key(a.root_label, viewer)
            for i in range(count):
                if a.root_last_recalled and viewer == a.root_last_viewer and i == count - 1:
                    step.episode = extended(key, a.root_last, moves[i])
                key = mix(key, moves[i])
            episodes[viewer] = key


RECALLED = 4096                                               # no episode has more moves before a root than this


@helper
def advance(a: Any, t: int, step: Any, in_tree: bool) -> None:
    """Line 12: append the action of step t to the history, as every viewer sees it; called before the state changes."""
    playout = record_at(a.playout, PLAYOUT)
    viewers, here, there = a.viewers, t * a.viewers, (t + 1) * a.viewers
    moves = array_at(playout.moves, there + viewers, _INT)
    for viewer in range(viewers):
        moves[there + viewer] = step.action
    if a.observe != 0:
        call4(a.observe, (a.state, step.action, playout.moves + 8 * there, a.players))
    if in_tree or a.keys_in_simulation:
        keys = array_at(playout.keys, there + viewers, _INT)
        record_at(playout.steps + (t + 1) * STEP_SIZE, STEP).record = extended(keys[here + step.viewer], step.player, step.action)
        for viewer in range(viewers):
            move = moves[there + viewer]
            keys[there + viewer] = keys[here + viewer] if move == UNSEEN else mix(keys[here + viewer], move)
    if a.episodes_read:
        episodes = array_at(playout.episodes, there + viewers, _INT)
        following = record_at(playout.steps + (t + 1) * STEP_SIZE, STEP)
        following.episode = extended(episodes[here + step.viewer], step.player, step.action)
        for viewer in range(viewers):
            move = moves[there + viewer]
            episodes[there + viewer] = episodes[here + viewer] if move == UNSEEN else mix(episodes[here + viewer], move)


@helper
def label_episode(a: Any, t: int) -> None:
    """Begin a new episode at step t where the state reached has a label (section 5.1)."""
    label = call1(a.episode, (a.state,))
    if label >= 0:
        playout = record_at(a.playout, PLAYOUT)
        episodes = array_at(playout.episodes, (t + 1) * a.viewers, _INT)
        for viewer in range(a.viewers):
            episodes[t * a.viewers + viewer] = episode_key(label, viewer)


STEP_SIZE = STEP.itemsize


@helper
def simulate_unseen(a: Any, legal: int, rng: np.ndarray) -> int:
    """Uniform simulation that nobody looks at; returns its number of steps."""
    actions, steps = array_at(legal, a.max_legal, _INT), 0
    while True:
        player = call1(a.player, (a.state,))
        if player == TERMINAL:
            return steps
        count = call2(a.legal, (a.state, legal))
        index = 0
        if count > 1:
            index = environment_choice(a, count, rng) if player == CHANCE else below(rng, count)
        elif count < 1:
            raise ValueError("a game gave no legal action at a state that is not terminal")
        call2(a.apply, (a.state, actions[index]))
        steps += 1


@inlined
def viewer_of(a: Any, player: int) -> int:
    """The column of a player's eyes."""
    if a.viewers == 1:
        return 0
    return a.players if player == CHANCE else player


@helper
def grouped(a: Any, legal: int, count: int) -> int:
    """Replace the legal actions by the moves that the root player sees, each once, and keep the actions; returns the number of moves."""
    moves, actions = array_at(legal, count, _INT), array_at(a.actions, count, _INT)
    alike, looks = array_at(a.alike, count, _INT), array_at(a.looks, a.players, _INT)
    distinct = 0
    for i in range(count):
        actions[i] = moves[i]
        for player in range(a.players):
            looks[player] = actions[i]
        call4(a.look, (a.state, actions[i], a.looks, a.players))
        alike[i] = 0
        while alike[i] < distinct and moves[alike[i]] != looks[a.root_player]:
            alike[i] += 1
        if alike[i] == distinct:
            moves[distinct] = looks[a.root_player]
            distinct += 1
    return distinct


@helper
def behind_move(a: Any, player: int, index: int, count: int, rng: np.ndarray) -> int:
    """The index of the action that is played, where the root player sees a move: any of those that look so."""
    if player == CHANCE:
        return index
    if index == ANY:
        return below(rng, count)
    alike, same = array_at(a.alike, count, _INT), 0
    for i in range(count):
        same += alike[i] == index
    skip, i = below(rng, same) if same > 1 else 0, 0
    while alike[i] != index or skip > 0:
        skip -= alike[i] == index
        i += 1
    return i


@helper
def count_root(a: Any, action: int) -> None:
    """Count the selection of an action at the root."""
    actions, visits = array_at(a.root_actions, a.root_count, _INT), array_at(a.root_visits, a.root_count, _INT)
    for i in range(a.root_count):
        if actions[i] == action:
            visits[i] += 1
            return
    raise ValueError("a determinization changed the legal actions of the player to move")


@helper
def play(a: Any, rng: np.ndarray) -> int:
    """Lines 7-14: one playout; DONE, or MORE_STEPS if there was no room for it."""
    begin(a, rng)
    playout, baseline = record_at(a.playout, PLAYOUT), record_at(record_at(a.component, COMPONENT).table, TABLE)
    steps, keys = array_at(playout.steps, a.step_capacity + 1, STEP), array_at(playout.keys, (a.step_capacity + 1) * a.viewers, _INT)
    places = array_at(a.places, a.max_legal, _INT)
    moves = array_at(playout.moves, (a.step_capacity + 1) * a.viewers, _INT)
    # One viewer who sees actions as they are, and of whom only the keys in the tree are read: `advance` in a few words.
    plain = a.viewers == 1 and a.look == 0 and not a.keys_in_simulation and not a.episodes_read
    t, used, depth = 0, 0, 0
    in_tree = visits_at(a, baseline, place_in(a, baseline, EMPTY_HISTORY)) > 0       # the first playout of all expands the empty history
    while True:
        player = call1(a.player, (a.state,))
        if player == TERMINAL:
            break
        if t + 1 >= a.step_capacity or used + a.max_legal > a.legal_capacity:
            return MORE_STEPS
        legal = playout.legal + 8 * used
        if t > 0 and not in_tree and not a.records_simulation:
            a.phase_steps[SIMULATION] += simulate_unseen(a, legal, rng)
            break
        count = call2(a.legal, (a.state, legal))
        if count < 1:
            raise ValueError("a game gave no legal action at a state that is not terminal")
        actions, step = array_at(legal, count, _INT), steps[t]
        step.player, step.viewer, step.first, step.count = player, viewer_of(a, player), used, count
        many, disguised = count, a.look != 0 and player != a.root_player
        if disguised:
            count = grouped(a, legal, many)
            step.count = count
        used += count
        playout.length, playout.legal_length = t + 1, used

        step.phase = SIMULATION
        if in_tree:
            step.phase = SELECTION
            key = keys[t * a.viewers + step.viewer]
            for i in range(count):
                places[i] = place_in(a, baseline, extended(key, player, actions[i]))
                if visits_at(a, baseline, places[i]) == 0:
                    step.phase = EXPANSION
        a.phase_steps[step.phase] += 1
        which = TREE if in_tree else SIMULATED
        if in_tree and a.simultaneous != 0:
            step.choice, step.probability = call1(a.simultaneous, (a.state,)), 1.0
            if step.choice > 0:
                which = AT_ONCE

        index = 0
        if player == CHANCE:
            index = environment_choice(a, many, rng) if many > 1 else 0
        elif count > 1:
            index = decided(a, which, legal, count, step.record, rng)
            if which == AT_ONCE:
                step.probability = array_at(a.values, count, _REAL)[index]
        if disguised:
            behind = behind_move(a, player, index, many, rng)
            index, played = array_at(a.alike, many, _INT)[behind], array_at(a.actions, many, _INT)[behind]
        else:
            index = below(rng, count) if index == ANY else index
            played = actions[index]
        step.action = actions[index]

        if t == 0:
            count_root(a, step.action)
        if in_tree:
            depth = t + 1
            in_tree = visits_at(a, baseline, places[index]) > 0
            if plain:
                moves[t + 1], keys[t + 1] = step.action, mix(keys[t], step.action)
                steps[t + 1].record = extended(keys[t], player, step.action)
            else:
                advance(a, t, step, True)
        elif plain:
            moves[t + 1] = step.action
        elif a.keys_in_simulation or a.moves_in_simulation or a.episodes_read:
            advance(a, t, step, False)
        call2(a.apply, (a.state, played))
        t += 1
        if a.episodes_read and a.episode != 0:
            label_episode(a, t)
    steps[t].phase = SIMULATION
    playout.length, playout.legal_length = t + 1, used
    a.depth = max(a.depth, depth)
    return DONE


# ------------------------------------------------------------------------------------------------------ backpropagation

@helper
def captured(a: Any) -> int:
    """Line 16: the updates of every component; DONE, or what there is no room for."""
    updates = record_at(a.updates, UPDATES)
    components = array_at(a.component, a.components, COMPONENT)
    updates.count = 0
    for c in range(a.components):
        component = components[c]
        component.first = updates.count
        call3(component.capture, (a.playout, a.updates, component.capture_parameters))
        component.count = updates.count - component.first
        table = record_at(component.table, TABLE)
        if table.used + component.count > FULLEST * table.capacity:
            a.full_component = c
            return MORE_ROWS
    return MORE_UPDATES if updates.count > updates.capacity else DONE


@helper
def begun(a: Any, iterations: int) -> bool:
    """Whether to make another playout: so many in all, of all threads that share their records."""
    if a.shared == 0:
        return a.iterations < iterations
    if atomic_load(a.shared + _STOP) != 0:
        return False
    if atomic_add(a.shared, 1) < iterations:
        return True
    atomic_add(a.shared, -1)
    return False


@helper
def abandoned(a: Any) -> None:
    """Have all threads return, and another playout made for one that ran out of room."""
    atomic_add(a.shared, -1)
    atomic_store(a.shared + _STOP, 1)


@helper
def reserved(a: Any) -> int:
    """Reserve rows for as many records as were captured, in tables that other threads fill too; DONE or MORE_ROWS."""
    components = array_at(a.component, a.components, COMPONENT)
    for c in range(a.components):
        address, count = components[c].table, components[c].count
        rows = count + atomic_add(address + _RESERVED, count)
        if rows + atomic_load(address + _USED) > FULLEST * record_at(address, TABLE).capacity:
            unreserve(a, c + 1)
            a.full_component = c
            return MORE_ROWS
    return DONE


@helper
def unreserve(a: Any, count: int) -> None:
    """Give back what was reserved for the first `count` components."""
    components = array_at(a.component, count, COMPONENT)
    for c in range(count):
        atomic_add(components[c].table + _RESERVED, -components[c].count)


_USED: int = TABLE.fields["used"][1]              # type: ignore[index]
_RESERVED: int = TABLE.fields["reserved"][1]      # type: ignore[index]
_STOP: int = SHARED.fields["stop"][1]             # type: ignore[index]


@helper
def backpropagated(a: Any) -> None:
    """Line 17: update the information of every captured record, in order."""
    updates = record_at(a.updates, UPDATES)
    components = array_at(a.component, a.components, COMPONENT)
    call3(a.rewards, (a.state, a.reward, a.players))
    for c in range(a.components):
        component = components[c]
        offset = 8 * component.first
        call7(component.backpropagation, (component.table, updates.records + offset, updates.contexts + offset, component.count,
                                          a.reward, a.players, component.backpropagation_parameters))


def run(arena: int, iterations: int) -> int:
    """Lines 5-17: run until so many iterations have been made in all; DONE, or what there is no room for."""
    a = record_at(arena, ARENA)
    rng, before = array_at(a.rng, WORDS, _WORD), array_at(a.rng_before, WORDS, _WORD)
    visits = array_at(a.root_visits, a.root_count, _INT)
    visits_before = array_at(a.root_visits + 8 * a.root_count, a.root_count, _INT)
    while begun(a, iterations):
        for i in range(WORDS):
            before[i] = rng[i]
        for i in range(a.root_count):
            visits_before[i] = visits[i]
        selection, expansion, simulation, depth = a.phase_steps[0], a.phase_steps[1], a.phase_steps[2], a.depth
        status = play(a, rng)
        if status == DONE:
            status = captured(a)
        if status == DONE and a.shared != 0:
            status = reserved(a)
        if status != DONE:
            for i in range(WORDS):
                rng[i] = before[i]
            for i in range(a.root_count):
                visits[i] = visits_before[i]
            a.phase_steps[0], a.phase_steps[1], a.phase_steps[2], a.depth = selection, expansion, simulation, depth
            if a.shared != 0:
                abandoned(a)
            return status
        backpropagated(a)
        if a.shared != 0:
            unreserve(a, a.components)
        a.iterations += 1
    return DONE


@functools.cache
def loop() -> Any:
    """The loop as machine code: loop()(arena address, iterations) -> status."""
    return compiled(run, types.int64(types.int64, types.int64), "the playout loop")


def draw_below(rng: int, bound: int) -> int:
    """A uniform integer in 0 … bound−1 from the generator at an address."""
    return below(array_at(rng, WORDS, _WORD), bound)


@functools.cache
def tie_break() -> Any:
    """`draw_below` as machine code, for line 18."""
    return compiled(draw_below, types.int64(types.int64, types.int64), "the draw among equals")


def run_raw(arena: int, playouts: int) -> int:
    """So many determinized, uniformly random playouts without any search; returns their number of steps."""
    a = record_at(arena, ARENA)
    rng, steps = array_at(a.rng, WORDS, _WORD), 0
    legal = record_at(a.playout, PLAYOUT).legal
    for _ in range(playouts):
        begin(a, rng)
        steps += simulate_unseen(a, legal, rng)
        call3(a.rewards, (a.state, a.reward, a.players))
    return steps


@functools.cache
def raw_loop() -> Any:
    """Random playouts as machine code: raw_loop()(arena address, playouts) -> steps."""
    return compiled(run_raw, types.int64(types.int64, types.int64), "random playouts")
