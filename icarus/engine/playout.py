"""Algorithm 1, lines 7-14: one playout, from a determinization of the root to the end of the game.

Nothing is updated during a playout, so a playout that runs out of room is simply abandoned: the generator is put back to
where the playout began, Python gives more room, and the same playout is run again.

Randomness is drawn in the order in which Algorithm 1 needs it: the determinization; then for each decision with more than one
legal action the alternative of a linear mixture, if there is more than one, and what the rule draws. Gibbs over mean rewards draws an
index and a number to accept it, until one is accepted or as many as there are actions have been refused; only then from all.
"""

from typing import Any

import numpy as np

from icarus.compiler.pointers import array_at, call1, call2, call4, record_at
from icarus.engine.arena import ANY, DONE, MORE_STEPS, RECALLED, STEP_SIZE
from icarus.engine.choice import decided, drawn
from icarus.engine.lowering import AT_ONCE, COMPONENT, SIMULATED, TREE
from icarus.kernel import (
    CHANCE,
    EXPANSION,
    NO_RECORD,
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
from icarus.kernel.history import EMPTY_HISTORY, PLAYOUT, STEP, episode_key, root_key
from icarus.kernel.theta import TABLE

_INT, _REAL, _WORD, _COUNT = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.uint64), np.dtype(np.int32)


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
        record_at(playout.steps + (t + 1) * STEP_SIZE, STEP).record = extended(
            keys[here + step.viewer], step.player, step.action
        )
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
    steps, keys = (
        array_at(playout.steps, a.step_capacity + 1, STEP),
        array_at(playout.keys, (a.step_capacity + 1) * a.viewers, _INT),
    )
    places = array_at(a.places, a.max_legal, _INT)
    moves = array_at(playout.moves, (a.step_capacity + 1) * a.viewers, _INT)
    # One viewer who sees actions as they are, and of whom only the keys in the tree are read: `advance` in a few words.
    plain = a.viewers == 1 and a.look == 0 and not a.keys_in_simulation and not a.episodes_read
    t, used, depth = 0, 0, 0
    in_tree = (
        visits_at(a, baseline, place_in(a, baseline, EMPTY_HISTORY)) > 0
    )  # the first playout of all expands the empty history
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
