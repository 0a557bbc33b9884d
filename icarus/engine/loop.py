"""Algorithm 1, lines 5-17, compiled once for every game and every composition.

Nothing is updated or counted during a playout, so a playout that runs out of room is simply abandoned: the generator is put back
to where the playout began, Python gives more room, and the same playout is run again.

Randomness is drawn in the order in which Algorithm 1 needs it: the determinization; then for each decision with more than one legal
action the term of a linear mixture, if there is more than one, and what the rule draws. Gibbs over mean rewards draws an index and a number
to accept it, until one is accepted or as many as there are actions have been refused; only then from all.
"""

from typing import NamedTuple

import numpy as np

from icarus.algebra.weights import TOLERANCE
from icarus.compiler.digest import kernel_cache
from icarus.compiler.kernel import CompiledFunction
from icarus.compiler.memory import WORD_BYTES, array_at, call, matrix_at, struct_at, unlikely
from icarus.compiler.rng import RNG_WORDS
from icarus.engine.arena import (
    ANY,
    ARENA,
    COMPONENT,
    DONE,
    IN_SIMULATION,
    MORE_ROWS,
    MORE_STEPS,
    MORE_UPDATES,
    NEVER,
    SIMULTANEOUS,
    STEP_BYTES,
    TOO_LONG,
    TREE,
    Arena,
    Component,
)
from icarus.engine.choice import choose, pick_outcome
from icarus.engine.slot_kernels import FIRST, is_checked
from icarus.kernel import (
    CHANCE,
    EXPANSION,
    SELECTION,
    SIMULATION,
    TERMINAL,
    UNSEEN,
    below,
    extended,
    helper,
    inlined,
    mix,
)
from icarus.kernel.contract import MAX_EPISODE_MOVES
from icarus.kernel.features import ACTION_FEATURES, ENDINGS, FEATURES, LOOKAHEAD, are_rewards
from icarus.kernel.history import PLAYOUT, STEP, Playout, Step, episode_key
from icarus.kernel.theta import TABLE, UPDATES, has_room_for, index_at, row_index, visit_filter_at

_INT, _WORD, _COUNT = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.int32)
_REAL = np.dtype(np.float64)
_NO_ROOM = -1
NO_ACTIONS = "the legal function of a game gave no legal action at a state that is not terminal"
WRONG_PLAYER = "the player function of a game gave a number that is not a player, neither CHANCE nor TERMINAL"
OTHER_PLAYER = "a determinization changed the player to move, or ended the game"
OTHER_ACTIONS = "a determinization changed the legal actions of the player to move"
WRONG_RECALL = f"the recall function of a game gave a number of moves that is not from 0 to {MAX_EPISODE_MOVES}"


class DeterminizationError(ValueError):
    """A determinization that is none of the state: not the function asked last is wrong, but `determinize`."""


@inlined
def legal_actions(a: Arena, legal: int) -> int:
    """A(s), written to an address; returns their number."""
    count = call(a.game.legal, (a.buffers.state, legal))
    if unlikely(np.uint64(count - 1) >= np.uint64(a.game.max_legal)):  # one comparison for both ends
        refuse_number(count)
    if unlikely(is_checked(a.counts.iterations)):
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
def is_choice(a: Arena, count: int) -> np.bool:
    """Whether so many actions are more than one, and may be; if not, there must be 1."""
    return np.uint64(count - 2) < np.uint64(a.game.max_legal - 1)


@helper
def refuse_number(count: int) -> None:
    """Say what is wrong with a number of legal actions."""
    if count < 1:
        raise ValueError(NO_ACTIONS)
    raise ValueError("the legal function of a game gave more legal actions than its max_legal")


@inlined
def player_to_move(a: Arena) -> int:
    """ρ(s), as the game tells it; whether it may be so, `acts` and `check_end` say."""
    return call(a.game.player, (a.buffers.state,))


@inlined
def acts(a: Arena, player: int) -> np.bool:
    """Whether this is a player or CHANCE: if not, the playout is at its end, and `check_end` is to be asked."""
    # One comparison for both ends, CHANCE before player 0.
    return np.uint64(player - CHANCE) <= np.uint64(a.game.players)


@inlined
def check_end(player: int) -> None:
    """Refuse what is neither a player nor CHANCE nor TERMINAL."""
    if player != TERMINAL:
        raise ValueError(WRONG_PLAYER)


@inlined
def recalled_moves(a: Arena, perspective: int) -> int:
    """What a perspective has seen of the episode, as the state tells it, written to a buffer; returns how many moves."""
    count = call(a.game.recall, (a.buffers.state, perspective, a.buffers.recalled, MAX_EPISODE_MOVES))
    if count < 0 or count > MAX_EPISODE_MOVES:
        raise ValueError(WRONG_RECALL)
    return count


@inlined
def step_at(playout: Playout, t: int) -> Step:
    """Step t of a playout."""
    return struct_at(playout.steps + t * STEP_BYTES, STEP)


@inlined
def has_room(a: Arena, playout: Playout, t: int) -> bool:
    """Whether there is room for step t and the one after it.

    There is none where records that were asked about found no room: what would be chosen without them is not what the playout is to be.
    """
    return t <= a.buffers.last_step and playout.legal_length + a.game.max_legal <= a.buffers.legal_capacity


@inlined
def perspective_of(a: Arena, player: int) -> int:
    """The column of a player's eyes."""
    if a.game.perspectives == 1:
        return 0
    return a.game.players if player == CHANCE else player


@helper
def root_index(a: Arena, action: int) -> int:
    """The place of an action among those of the root."""
    actions = array_at(a.root.actions, a.root.count, _INT)
    for i in range(a.root.count):
        if actions[i] == action:
            return i
    raise DeterminizationError(OTHER_ACTIONS)


# ----------------------------------------------------- where the root player sees for all: what looks alike is one move


@inlined
def is_grouped(a: Arena, player: int) -> bool:
    """Whether a player's actions are given as the moves that the root player sees."""
    return a.game.observe_for_root != 0 and player != a.root.player


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
def group_by_observation(a: Arena, legal: int, count: int) -> int:
    """Replace the legal actions by the moves that the root player sees, each once, and keep the actions; returns the number of moves."""
    moves, actions = array_at(legal, count, _INT), array_at(a.buffers.actions, count, _INT)
    observed = array_at(a.buffers.observed, a.game.players, _INT)
    for i in range(count):
        actions[i] = moves[i]
        for player in range(a.game.players):
            observed[player] = actions[i]
        call(a.game.observe_for_root, (a.buffers.state, actions[i], a.buffers.observed, a.game.players))
        moves[i] = observed[a.root.player]
    return group(moves, array_at(a.buffers.classes, count, _INT), count)


@helper
def choose_in_class(a: Arena, player: int, index: int, count: int, rng: np.ndarray) -> int:
    """The index of the action that is played, where the root player sees a move: any of its observation class."""
    if player == CHANCE:
        return index
    classes, size = array_at(a.buffers.classes, count, _INT), 0
    for i in range(count):
        size += classes[i] == index
    skip, i = below(rng, size) if size > 1 else 0, 0
    while classes[i] != index or skip > 0:
        skip -= classes[i] == index
        i += 1
    return i


# ------------------------------------------------------------------------- line 12: h # a, as every perspective sees it


@inlined
def has_simple_moves(a: Arena) -> bool:
    """Whether one perspective sees actions as they are, and of him only the keys in the tree are read."""
    reading = a.composition
    return (
        a.game.perspectives == 1
        and a.game.observe_for_root == 0
        and not reading.keys_in_simulation
        and not reading.episodes
    )


@inlined
def append_simply(playout: Playout, t: int, step: Step) -> None:
    """`append` in the tree, where moves are simple."""
    keys, moves = array_at(playout.keys, t + 2, _INT), array_at(playout.moves, t + 2, _INT)
    moves[t + 1], keys[t + 1] = step.action, mix(keys[t], step.action)
    step_at(playout, t + 1).record = extended(keys[t], step.player, step.action)


@helper
def append(a: Arena, playout: Playout, t: int, step: Step, in_tree: bool) -> None:
    """Line 12: append the action of step t to the history, as every perspective sees it; called before the state changes."""
    perspectives, following = a.game.perspectives, step_at(playout, t + 1)
    moves = matrix_at(playout.moves, t + 2, perspectives, _INT)
    for perspective in range(perspectives):
        moves[t + 1, perspective] = step.action
    if a.game.observe != 0:
        observed = playout.moves + WORD_BYTES * (t + 1) * perspectives
        call(a.game.observe, (a.buffers.state, step.action, observed, a.game.players))
    if in_tree or a.composition.keys_in_simulation:
        keys = matrix_at(playout.keys, t + 2, perspectives, _INT)
        following.record = extended(keys[t, step.perspective], step.player, step.action)
        extend_keys(keys, moves, t, perspectives)
    if a.composition.episodes:
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
def label_episode(a: Arena, playout: Playout, t: int) -> None:
    """Begin a new episode at step t where the state reached has a label (section 5.1) and a slot reads episodes."""
    if a.composition.episodes and a.game.episode != 0:
        label = call(a.game.episode, (a.buffers.state,))
        if label >= 0:
            episodes = matrix_at(playout.episodes, t + 1, a.game.perspectives, _INT)
            for perspective in range(a.game.perspectives):
                episodes[t, perspective] = episode_key(label, perspective)


# ---------------------------------------------------------------------------- what the game tells of states and actions


@helper
def evaluate_step(a: Arena, playout: Playout, t: int, step: Step, actions: int, tables: int) -> None:
    """What the game tells of the state at step t, and of what is legal there.

    Args:
        actions: how many are legal; others than the root player may have fewer moves.
    """
    if tables & FEATURES:
        evaluate_state(a, playout, t)
    if tables & ACTION_FEATURES:
        table = rows_of(playout.action_features, step, playout.action_features_width)
        if step.player != CHANCE:
            for i in range(actions):
                call(a.game.action_features, (a.buffers.state, action_at(a, playout, step, i), a.buffers.evaluation))
                add_evaluation(a, table, edge_of(a, step, i))
            take_means(a, table, step, actions)
    if tables & (LOOKAHEAD | ENDINGS):
        lookahead = rows_of(playout.lookahead, step, playout.lookahead_width)
        endings = rows_of(playout.endings, step, playout.endings_width)
        for i in range(actions):
            look_ahead(a, action_at(a, playout, step, i), lookahead, endings, edge_of(a, step, i))
        take_means(a, lookahead, step, actions)
        take_means(a, endings, step, actions)


@helper
def evaluate_state(a: Arena, playout: Playout, t: int) -> None:
    """The features of the state at step t."""
    call(a.game.features, (a.buffers.state, playout.features + WORD_BYTES * t * playout.features_width))


@helper
def look_ahead(a: Arena, action: int, lookahead: np.ndarray, endings: np.ndarray, edge: int) -> None:
    """Add what may be expected after an action, and how the game ends where it does, to the rows of its edge."""
    words = a.root.state_words
    state, ahead = array_at(a.buffers.state, words, _INT), array_at(a.buffers.ahead, words, _INT)
    for i in range(words):
        ahead[i] = state[i]
    call(a.game.apply, (a.buffers.ahead, action))
    if call(a.game.player, (a.buffers.ahead,)) == TERMINAL:
        rewards_at(a, a.buffers.ahead, a.buffers.evaluation)
        add_evaluation(a, lookahead, edge)
        add_evaluation(a, endings, edge)
    else:
        for j in range(endings.shape[1]):
            endings[edge, j] = np.nan
        if lookahead.shape[1] > 0:
            call(a.game.heuristic, (a.buffers.ahead, a.buffers.evaluation))
            add_evaluation(a, lookahead, edge)


@helper
def rewards_at(a: Arena, state: int, out: int) -> None:
    """μ of a terminal state, both given by their addresses; what one state has left is not the next one's."""
    rewards = array_at(out, a.game.players, _REAL)
    rewards[:] = np.nan
    call(a.game.rewards, (state, out, a.game.players))
    if unlikely(not are_rewards(rewards)):
        raise ValueError("the rewards function of a game did not write a number from 0 to 1 for each player")


@inlined
def rows_of(table: int, step: Step, width: int) -> np.ndarray:
    """The rows of a step's edges in a table, all 0."""
    rows = matrix_at(table + WORD_BYTES * step.first * width, step.count, width, _REAL)
    for i in range(step.count):
        for j in range(width):
            rows[i, j] = 0.0
    return rows


@inlined
def action_at(a: Arena, playout: Playout, step: Step, i: int) -> int:
    """A legal action, as it is."""
    if is_grouped(a, step.player):
        return array_at(a.buffers.actions, i + 1, _INT)[i]
    return array_at(playout.legal + WORD_BYTES * step.first, i + 1, _INT)[i]


@inlined
def edge_of(a: Arena, step: Step, i: int) -> int:
    """The place of a legal action among those of the history; of its observation class, where actions are grouped."""
    return array_at(a.buffers.classes, i + 1, _INT)[i] if is_grouped(a, step.player) else i


@inlined
def add_evaluation(a: Arena, table: np.ndarray, edge: int) -> None:
    """Add what was just told to the row of an edge."""
    row = array_at(a.buffers.evaluation, table.shape[1], _REAL)
    for j in range(table.shape[1]):
        table[edge, j] += row[j]


@inlined
def take_means(a: Arena, table: np.ndarray, step: Step, actions: int) -> None:
    """Divide the row of each edge by how many actions look so."""
    if is_grouped(a, step.player):
        classes = array_at(a.buffers.classes, actions, _INT)
        for edge in range(step.count):
            size = 0
            for i in range(actions):
                size += classes[i] == edge
            for j in range(table.shape[1]):
                table[edge, j] /= size


# ---------------------------------------------------------------------------------------------- lines 6-14: one playout


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


@helper
def begin(a: Arena, rng: np.ndarray) -> None:
    """Lines 7-9: the empty history, at a determinization drawn from the root's information set."""
    words = a.root.state_words
    root, state = array_at(a.root.state, words, _INT), array_at(a.buffers.state, words, _INT)
    for i in range(words):
        state[i] = root[i]
    if a.game.determinize != 0:
        call(a.game.determinize, (a.buffers.state, a.root.observer, a.root.beliefs, a.buffers.rng))
        if unlikely(call(a.game.player, (a.buffers.state,)) != a.root.player):
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
            moves = array_at(a.buffers.recalled, MAX_EPISODE_MOVES, _INT)
            count = recalled_moves(a, perspective)
            key = episode_key(root.label, perspective)
            for i in range(count):
                if root.last_recalled and perspective == root.last_perspective and i == count - 1:
                    step.episode = extended(key, root.last, moves[i])
                key = mix(key, moves[i])
            episodes[perspective] = key


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
        index, action = decide(a, mixture_in_tree(a, step), playout, step, count, rng)  # line 11
        in_tree = baseline.visits[rows[index]] > 0
        if simple:
            append_simply(playout, t, step)  # line 12
        else:
            append(a, playout, t, step, True)
        call(a.game.apply, (a.buffers.state, action))  # line 13
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
        step_at(playout, t).choice = call(a.game.simultaneous, (a.buffers.state,)) if player_to_move(a) >= 0 else 0
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
        call(a.game.apply, (a.buffers.state, action))  # line 13
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
        count, index = call(a.game.legal, (a.buffers.state, legal)), 0
        if unlikely(a.counts.iterations < FIRST) and 0 < count <= a.game.max_legal:
            check_actions(actions, count)
        if is_choice(a, count):
            index = choose_for_chance(a, count, rng) if player == CHANCE else below(rng, count)
        elif count != 1:
            refuse_number(count)
        call(a.game.apply, (a.buffers.state, actions[index]))
        steps += 1


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
    if table.visit_filter != 0:
        visit_filter_at(table, key)[0] = 1
    for i in range(step.count):
        row = row_index(baseline.entries, baseline.records, extended(key, player, legal[i]))
        rows[i] = row
        if baseline.visits[np.uint64(row)] == 0:
            phase = EXPANSION
    return phase


@inlined
def mixture_in_tree(a: Arena, step: Step) -> int:
    """The mixture that decides in the tree: another one where several players choose at once and EXP3 is to decide then."""
    if a.game.simultaneous == 0:
        return TREE
    step.choice, step.probability = call(a.game.simultaneous, (a.buffers.state,)), 1.0
    return SIMULTANEOUS if step.choice > 0 else TREE


@inlined
def decide(a: Arena, role: int, playout: Playout, step: Step, actions: int, rng: np.ndarray) -> tuple[int, int]:
    """Line 11: choose the action of a step by one of the mixtures, or by π₀.

    Returns:
        Its place among the step's legal actions, and the action that is played, of all that look so to the root player.
    """
    count, legal, index = step.count, playout.legal + WORD_BYTES * step.first, 0
    if step.player == CHANCE:
        index = choose_for_chance(a, actions, rng) if actions > 1 else 0
    elif count > 1:
        index = choose(a, role, legal, count, step.record, rng)
        if role == SIMULTANEOUS:
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
        call(a.game.chance, (a.buffers.state, a.buffers.values))
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


# ------------------------------------------------------------------------------------------------- lines 5-17: the loop


def run(arena: int, iterations: int) -> int:
    """Lines 5-17: run until so many iterations have been made in all; DONE, or what there is no room for."""
    a = struct_at(arena, ARENA)
    rng = array_at(a.buffers.rng, RNG_WORDS, _WORD)
    before = array_at(a.buffers.rng_before, RNG_WORDS, _WORD)
    while a.counts.iterations < iterations:  # line 5
        for i in range(RNG_WORDS):
            before[i] = rng[i]
        status = play_out(a, rng)  # lines 6-14
        if status == DONE:
            status = capture(a)  # line 16
        if status != DONE:
            for i in range(RNG_WORDS):
                rng[i] = before[i]
            return status
        backpropagation(a)  # lines 16-17
        count_playout(a)
    return DONE


@helper
def capture(a: Arena) -> int:
    """Line 16: μ(s), and ξ(s_root, h), the updates of every component; DONE, or what there is no room for."""
    updates = struct_at(a.buffers.updates, UPDATES)
    components = array_at(a.composition.component, a.composition.components, COMPONENT)
    if a.pending.cut:
        call(a.game.heuristic, (a.buffers.state, a.buffers.reward))
    else:
        rewards_at(a, a.buffers.state, a.buffers.reward)
    struct_at(a.buffers.playout, PLAYOUT).players = a.game.players
    updates.count = 0
    for c in range(a.composition.components):
        component = components[c]
        component.first = updates.count
        a.running, a.running_component = component.capture, c
        call(component.capture, (a.buffers.playout, component.table, a.buffers.updates, component.capture_parameters))
        a.running = 0
        component.count = updates.count - component.first
        table = struct_at(component.table, TABLE)
        if not has_room_for(table.used + component.count, table.capacity):
            a.full_component = c
            return MORE_ROWS
    return MORE_UPDATES if updates.count > updates.capacity else DONE


@helper
def backpropagation(a: Arena) -> None:
    """Lines 16-17: update the information of every captured record, in order."""
    components = array_at(a.composition.component, a.composition.components, COMPONENT)
    for c in range(a.composition.components):
        a.running_component = c
        backpropagate(a, components[c])
    a.running = 0


@inlined
def backpropagate(a: Arena, component: Component) -> None:
    """Line 17 for the records that one component has captured."""
    updates, offset = struct_at(a.buffers.updates, UPDATES), WORD_BYTES * component.first
    a.running = component.backpropagation
    arguments = (
        component.table,
        updates.records + offset,
        updates.contexts + offset,
        component.count,
        a.buffers.reward,
        a.game.players,
        component.backpropagation_parameters,
    )
    call(component.backpropagation, arguments)


@helper
def count_playout(a: Arena) -> None:
    """Count a playout that has been made: its selection at the root, which line 18 asks for, its steps and its depth."""
    array_at(a.root.visits, a.root.count, _INT)[a.pending.selected] += 1
    for phase in range(3):
        a.counts.phase_steps[phase] += a.pending.phase_steps[phase]
    a.counts.depth = max(a.counts.depth, a.pending.depth)
    a.counts.iterations += 1


@kernel_cache
def loop() -> CompiledFunction:
    """The loop as machine code: loop()(arena address, iterations) -> status."""
    return CompiledFunction(run, 2, "the playout loop")


def run_raw(arena: int, playouts: int) -> int:
    """So many determinized, uniformly random playouts without any search; returns their number of steps, -TOO_LONG if one does not end."""
    a = struct_at(arena, ARENA)
    rng, steps = array_at(a.buffers.rng, RNG_WORDS, _WORD), 0
    legal = struct_at(a.buffers.playout, PLAYOUT).legal
    for _ in range(playouts):
        begin(a, rng)
        count = simulate_unrecorded(a, legal, 0, NEVER, rng)
        if count < 0:
            return -TOO_LONG
        steps += count
        call(a.game.rewards, (a.buffers.state, a.buffers.reward, a.game.players))
    return steps


@kernel_cache
def raw_loop() -> CompiledFunction:
    """Random playouts as machine code: raw_loop()(arena address, playouts) -> steps."""
    return CompiledFunction(run_raw, 2, "random playouts")
