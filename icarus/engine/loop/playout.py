"""Algorithm 1, lines 6-14: one playout, from a determinization of the root to the end of the game.

Nothing is updated or counted during a playout, so a playout that runs out of room is simply abandoned: the generator is put back
to where the playout began, Python gives more room, and the same playout is run again.

Randomness is drawn in the order in which Algorithm 1 needs it: the determinization; then for each decision, where the scheme has each
player draw what is hidden from him, another determinization; and with more than one legal action the alternative of a linear mixture,
if there is more than one, and what the rule draws. Gibbs over mean rewards draws an index and a number to accept it, until one is
accepted or as many as there are actions have been refused; only then from all.
"""

from typing import NamedTuple

import numpy as np

from icarus.algebra.weights import TOLERANCE
from icarus.compiler.memory import WORD_BYTES, array_at, call1, call2, call4, matrix_at, struct_at, unlikely
from icarus.engine.loop.arena import ANY, DONE, MORE_ROWS, MORE_STEPS, TOO_LONG, Arena
from icarus.engine.loop.choice import choose, pick_outcome
from icarus.engine.loop.features import evaluate_state, evaluate_step
from icarus.engine.loop.histories import append, append_simply, has_simple_moves, label_episode
from icarus.engine.loop.observation_classes import choose_in_class, group_by_observation, is_grouped
from icarus.engine.loop.steps import (
    OTHER_PLAYER,
    DeterminizationError,
    acts,
    check_actions,
    check_end,
    has_room,
    is_choice,
    legal_actions,
    perspective_of,
    player_to_move,
    recalled_moves,
    refuse_number,
    root_index,
    step_at,
)
from icarus.engine.program.mixtures import IN_SIMULATION, SIMULTANEOUS, TREE
from icarus.engine.program.promises import FIRST, is_checked
from icarus.engine.program.structures import COMPONENT
from icarus.kernel import CHANCE, EXPANSION, SELECTION, SIMULATION, UNSEEN, below, extended, helper, inlined, mix
from icarus.kernel.constants import RECALLED
from icarus.kernel.features import FEATURES
from icarus.kernel.history import PLAYOUT, STEP, Playout, Step, episode_key
from icarus.kernel.theta import TABLE, decided_at, index_at, row_index

_INT, _REAL, _COUNT = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.int32)
_NO_ROOM = -1


@helper
def play_out(a: Arena, rng: np.ndarray) -> int:
    """Lines 6-14: one playout; DONE, or why it could not be made."""
    begin(a, rng)  # lines 7-9
    t = selection(a, rng)  # lines 10-14, as long as the history is in the tree: selection and expansion
    ended = t != _NO_ROOM and simulation(a, rng, t) != _NO_ROOM  # lines 10-14, to the end of the game
    playout = struct_at(a.buffers.playout, PLAYOUT)
    if a.pending.short:
        return MORE_ROWS
    if not ended:
        return TOO_LONG if a.pending.too_long or playout.length >= a.game.max_length else MORE_STEPS
    a.pending.depth, a.pending.selected = t, root_index(a, struct_at(playout.steps, STEP).action)
    return DONE


# ------------------------------------------------------------------------------------------------ lines 7-9: the beginning


@helper
def begin(a: Arena, rng: np.ndarray) -> None:
    """Lines 7-9: the empty history, at a determinization drawn from the root's information set."""
    words = a.root.state_words
    root, state = array_at(a.root.state, words, _INT), array_at(a.buffers.state, words, _INT)
    for i in range(words):
        state[i] = root[i]
    if a.game.determinize != 0:
        call4(a.game.determinize, (a.buffers.state, a.root.observer, a.root.beliefs, a.buffers.rng))
        if unlikely(call1(a.game.player, (a.buffers.state,)) != a.root.player):
            raise DeterminizationError(OTHER_PLAYER)
    playout, perspectives = struct_at(a.buffers.playout, PLAYOUT), a.game.perspectives
    playout.length, playout.legal_length = 1, 0
    playout.players, playout.iteration = 0, a.counts.earlier_iterations + a.counts.iterations
    keys, moves = array_at(playout.keys, perspectives, _INT), array_at(playout.moves, perspectives, _INT)
    root_keys = array_at(a.root.keys, perspectives, _INT)
    for perspective in range(perspectives):
        keys[perspective] = root_keys[perspective]
        moves[perspective] = UNSEEN
    struct_at(playout.steps, STEP).record = a.root.record
    for phase in range(3):
        a.pending.phase_steps[phase] = 0
    a.pending.too_long = a.pending.cut = a.pending.short = 0
    a.buffers.last_step = min(a.buffers.step_capacity - 2, a.game.max_length - 1)
    if a.composition.episodes:
        start_episodes(a, playout)


@helper
def start_episodes(a: Arena, playout: Playout) -> None:
    """The root's position-in-episode, which began before the root, by what each perspective has seen in this determinization."""
    perspectives, root = a.game.perspectives, a.root
    episodes, at_root = array_at(playout.episodes, perspectives, _INT), array_at(root.episodes, perspectives, _INT)
    step = struct_at(playout.steps, STEP)
    step.episode = root.episode
    for perspective in range(perspectives):
        episodes[perspective] = at_root[perspective]
        if a.game.recall != 0:
            moves = array_at(a.buffers.recalled, RECALLED, _INT)
            count = recalled_moves(a, perspective)
            key = episode_key(root.label, perspective)
            for i in range(count):
                if root.last_recalled and perspective == root.last_perspective and i == count - 1:
                    step.episode = extended(key, root.last, moves[i])
                key = mix(key, moves[i])
            episodes[perspective] = key


# ------------------------------------------------------------------------------------- lines 10-14: one action after another


class Baseline(NamedTuple):
    """The index of the baseline's table, and the columns that tell the phase; the width of its rows depends on the number of players."""

    records: np.ndarray  # [rows] of keys
    visits: np.ndarray  # [rows] of n
    entries: np.ndarray


@inlined
def baseline_of(a: Arena) -> Baseline:
    """The baseline's table: that of the first component."""
    table, words = struct_at(struct_at(a.composition.component, COMPONENT).table, TABLE), a.composition.row_words
    return Baseline(
        matrix_at(table.rows, table.capacity, words, _INT)[:, 0],
        matrix_at(table.rows, table.capacity, 2 * words, _COUNT)[:, a.composition.visits_column],
        index_at(table),
    )


@inlined
def selection(a: Arena, rng: np.ndarray) -> int:
    """Lines 10-14 in the tree: decisions by selection, and those by expansion, until one leads to a history without visits.

    Returns:
        How many actions have been appended (t_e in Base-6, where the game did not end before), or _NO_ROOM.
    """
    playout, baseline, simple, t = struct_at(a.buffers.playout, PLAYOUT), baseline_of(a), has_simple_moves(a), 0
    rows = array_at(a.buffers.rows, a.game.max_legal, _INT)
    # The first playout expands the empty history.
    in_tree = baseline.visits[row_index(baseline.entries, baseline.records, a.root.record)] > 0
    while in_tree:
        player = player_to_move(a)
        if not acts(a, player):
            check_end(player)
            break
        if not has_room(a, playout, t):
            return _NO_ROOM
        step, count = step_at(playout, t), open_step(a, playout, t, player)
        if a.composition.features_in_tree:
            evaluate_step(a, playout, t, step, count, a.composition.features_in_tree)
        step.phase = phase_in_tree(a, baseline, playout, t, step, rows)
        a.pending.phase_steps[step.phase] += 1
        index, action = decide(a, program_in_tree(a, step), playout, step, count, rng)  # line 11
        in_tree = baseline.visits[rows[index]] > 0
        if simple:
            append_simply(playout, t, step)  # line 12
        else:
            append(a, playout, t, step, True)
        call2(a.game.apply, (a.buffers.state, action))  # line 13
        t += 1
        label_episode(a, playout, t)
    return t


@inlined
def simulation(a: Arena, rng: np.ndarray, t: int) -> int:
    """Lines 10-14 after the expansion, from step t to the end of the game, or until it is cut off; DONE or _NO_ROOM."""
    playout, simple, reading = struct_at(a.buffers.playout, PLAYOUT), has_simple_moves(a), a.composition
    appended = reading.keys_in_simulation or reading.moves_in_simulation or reading.episodes
    end = max(t + a.game.cutoff, 1)  # the root's action is always played
    if reading.features_in_tree & FEATURES:
        evaluate_state(a, playout, t)  # the expanded one is of the tree
    if a.game.simultaneous != 0:
        step_at(playout, t).choice = call1(a.game.simultaneous, (a.buffers.state,)) if player_to_move(a) >= 0 else 0
    while True:
        player = player_to_move(a)
        if not acts(a, player):
            check_end(player)
            break
        if t >= end:
            a.pending.cut = 1
            break
        if not has_room(a, playout, t):
            return _NO_ROOM
        if t > 0 and not reading.steps_in_simulation:
            legal = playout.legal + WORD_BYTES * playout.legal_length
            unseen = simulate_unrecorded(a, legal, t, end, rng)
            if unseen == _NO_ROOM:
                return _NO_ROOM
            a.pending.phase_steps[SIMULATION] += unseen
            break
        step, count = step_at(playout, t), open_step(a, playout, t, player)
        if reading.features_in_simulation:
            evaluate_step(a, playout, t, step, count, reading.features_in_simulation)
        step.phase = SIMULATION
        a.pending.phase_steps[SIMULATION] += 1
        _, action = decide(a, IN_SIMULATION, playout, step, count, rng)  # line 11
        if simple:
            array_at(playout.moves, t + 2, _INT)[t + 1] = step.action  # line 12
        elif appended:
            append(a, playout, t, step, False)
        call2(a.game.apply, (a.buffers.state, action))  # line 13
        t += 1
        label_episode(a, playout, t)
    last = step_at(playout, t)
    last.phase, last.player = SIMULATION, player
    playout.length = t + 1
    if reading.features_in_simulation & FEATURES:
        evaluate_state(a, playout, t)
    return DONE


@helper
def simulate_unrecorded(a: Arena, legal: int, t: int, end: int, rng: np.ndarray) -> int:
    """Uniform simulation that no slot reads, from step t until it is cut off at `end`; returns its number of steps, _NO_ROOM where it
    is not to go on."""
    actions, steps, last = array_at(legal, a.game.max_legal, _INT), 0, min(end, a.game.max_length)
    while True:
        player = player_to_move(a)
        if not acts(a, player):
            check_end(player)
            return steps
        if t + steps >= last:
            a.pending.cut = end == last
            a.pending.too_long = end != last
            return steps if end == last else _NO_ROOM
        count, index = call2(a.game.legal, (a.buffers.state, legal)), 0
        if unlikely(a.counts.iterations < FIRST) and 0 < count <= a.game.max_legal:
            check_actions(actions, count)
        if is_choice(a, count):
            index = choose_for_chance(a, count, rng) if player == CHANCE else below(rng, count)
        elif count != 1:
            refuse_number(count)
        call2(a.game.apply, (a.buffers.state, actions[index]))
        steps += 1


# --------------------------------------------------------------------------------------------------- the steps of a playout


@inlined
def open_step(a: Arena, playout: Playout, t: int, player: int) -> int:
    """Begin step t with what is legal, for others as the root player sees it where his eyes see for all; returns how many actions are."""
    step, first = step_at(playout, t), playout.legal_length
    legal = playout.legal + WORD_BYTES * first
    count = legal_actions(a, legal)
    step.player, step.perspective, step.first, step.count = player, perspective_of(a, player), first, count
    if is_grouped(a, player):
        step.count = group_by_observation(a, legal, count)
    playout.length, playout.legal_length = t + 1, first + step.count
    return count


@inlined
def phase_in_tree(a: Arena, baseline: Baseline, playout: Playout, t: int, step: Step, rows: np.ndarray) -> int:
    """The phase of a decision in the tree: selection where all children have visits. Finds the rows of their records."""
    perspectives, player, phase = a.game.perspectives, step.player, SELECTION
    key = array_at(playout.keys, (t + 1) * perspectives, _INT)[t * perspectives + step.perspective]
    legal = array_at(playout.legal + WORD_BYTES * step.first, step.count, _INT)
    table = struct_at(struct_at(a.composition.component, COMPONENT).table, TABLE)
    if table.decided != 0:
        decided_at(table, key)[0] = 1
    for i in range(step.count):
        row = row_index(baseline.entries, baseline.records, extended(key, player, legal[i]))
        rows[i] = row
        if baseline.visits[np.uint64(row)] == 0:
            phase = EXPANSION
    return phase


@inlined
def program_in_tree(a: Arena, step: Step) -> int:
    """The program that decides in the tree: another one where several players choose at once and EXP3 is to decide then."""
    if a.game.simultaneous == 0:
        return TREE
    step.choice, step.probability = call1(a.game.simultaneous, (a.buffers.state,)), 1.0
    return SIMULTANEOUS if step.choice > 0 else TREE


@inlined
def decide(a: Arena, stage: int, playout: Playout, step: Step, actions: int, rng: np.ndarray) -> tuple[int, int]:
    """Line 11: choose the action of a step by one of the programs, or by π₀.

    Returns:
        Its place among the step's legal actions, and the action that is played, of all that look so to the root player.
    """
    count, legal, index = step.count, playout.legal + WORD_BYTES * step.first, 0
    if step.player == CHANCE:
        index = choose_for_chance(a, actions, rng) if actions > 1 else 0
    elif count > 1:
        index = choose(a, stage, legal, count, step.record, rng)
        if stage == SIMULTANEOUS:
            step.probability = array_at(a.buffers.values, count, _REAL)[index]
    index = below(rng, count) if index == ANY else index
    if is_grouped(a, step.player):
        behind = choose_in_class(a, step.player, index, actions, rng)
        index = array_at(a.buffers.classes, actions, _INT)[behind]
        action = array_at(a.buffers.actions, actions, _INT)[behind]
        step.action = array_at(legal, count, _INT)[index]
    else:
        action = array_at(legal, count, _INT)[index]
        step.action = action
    return index, action


@inlined
def choose_for_chance(a: Arena, count: int, rng: np.ndarray) -> int:
    """The index of an outcome of a chance state."""
    probabilities = array_at(a.buffers.values, count, _REAL)
    if a.game.chance != 0:
        call2(a.game.chance, (a.buffers.state, a.buffers.values))
        if is_checked(a.counts.iterations):
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
