"""Algorithm 1, lines 5-17: the one compiled loop. It is compiled once and runs every game with every composition."""

import functools

import numpy as np

from icarus.compiler.kernel import Kernel
from icarus.compiler.memory import WORD_BYTES, array_at, call2, call3, call4, call7, struct_at
from icarus.compiler.rng import RNG_WORDS
from icarus.engine.loop.arena import ARENA, DONE, MORE_ROWS, MORE_UPDATES, NEVER, TOO_LONG, Arena
from icarus.engine.loop.features import rewards_at
from icarus.engine.loop.playout import begin, play_out, simulate_unrecorded
from icarus.engine.program.structures import COMPONENT
from icarus.kernel import helper
from icarus.kernel.history import PLAYOUT
from icarus.kernel.theta import TABLE, UPDATES, has_room_for

_INT, _WORD = np.dtype(np.int64), np.dtype(np.uint64)


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
        call2(a.game.heuristic, (a.buffers.state, a.buffers.reward))
    else:
        rewards_at(a, a.buffers.state, a.buffers.reward)
    struct_at(a.buffers.playout, PLAYOUT).players = a.game.players
    updates.count = 0
    for c in range(a.composition.components):
        component = components[c]
        component.first = updates.count
        a.running, a.running_component = component.capture, c
        call4(component.capture, (a.buffers.playout, component.table, a.buffers.updates, component.capture_parameters))
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
    updates = struct_at(a.buffers.updates, UPDATES)
    components = array_at(a.composition.component, a.composition.components, COMPONENT)
    for c in range(a.composition.components):
        component = components[c]
        offset = WORD_BYTES * component.first
        a.running, a.running_component = component.backpropagation, c
        call7(
            component.backpropagation,
            (
                component.table,
                updates.records + offset,
                updates.contexts + offset,
                component.count,
                a.buffers.reward,
                a.game.players,
                component.backpropagation_parameters,
            ),
        )
    a.running = 0


@helper
def count_playout(a: Arena) -> None:
    """Count a playout that has been made: its selection at the root, which line 18 asks for, its steps and its depth."""
    array_at(a.root.visits, a.root.count, _INT)[a.pending.selected] += 1
    for phase in range(3):
        a.counts.phase_steps[phase] += a.pending.phase_steps[phase]
    a.counts.depth = max(a.counts.depth, a.pending.depth)
    a.counts.iterations += 1


# ---------------------------------------------------------------------------------------------------------- machine code


@functools.cache
def loop() -> Kernel:
    """The loop as machine code: loop()(arena address, iterations) -> status."""
    return Kernel(run, 2, "the playout loop")


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
        call3(a.game.rewards, (a.buffers.state, a.buffers.reward, a.game.players))
    return steps


@functools.cache
def raw_loop() -> Kernel:
    """Random playouts as machine code: raw_loop()(arena address, playouts) -> steps."""
    return Kernel(run_raw, 2, "random playouts")
