"""Algorithm 1, lines 5-17: the one compiled loop. It is compiled once and runs every game with every composition."""

import functools

import numpy as np

from icarus.compiler.kernels.atomic import atomic_add, atomic_load, atomic_store
from icarus.compiler.kernels.functions import DEBUG
from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.kernels.pointers import WORD_BYTES, array_at, call2, call3, call4, call7, offset_of, struct_at
from icarus.compiler.kernels.rng import RNG_WORDS
from icarus.engine.loop.arena import ARENA, DONE, MORE_ROWS, MORE_UPDATES, NEVER, SHARED, TOO_LONG, Arena
from icarus.engine.loop.features import rewards_at
from icarus.engine.loop.parent_links import add_parent_links
from icarus.engine.loop.playout import begin, play_out, simulate_unrecorded
from icarus.engine.loop.promises import check_promises
from icarus.engine.program.structures import COMPONENT
from icarus.kernel import helper
from icarus.kernel.history import PLAYOUT
from icarus.kernel.theta import TABLE, UPDATES, has_room_for

_INT, _WORD = np.dtype(np.int64), np.dtype(np.uint64)
_USED, _RESERVED, _STOP = offset_of(TABLE, "used"), offset_of(TABLE, "reserved"), offset_of(SHARED, "stop")


def run(arena: int, iterations: int) -> int:
    """Lines 5-17: run until so many iterations have been made in all; DONE, or what there is no room for."""
    a = struct_at(arena, ARENA)
    rng = array_at(a.buffers.rng, RNG_WORDS, _WORD)
    before = array_at(a.buffers.rng_before, RNG_WORDS, _WORD)
    while claim_playout(a, iterations):  # line 5
        for i in range(RNG_WORDS):
            before[i] = rng[i]
        status = play_out(a, rng)  # lines 6-14
        if status == DONE:
            status = capture(a)  # line 16
        if status == DONE and a.buffers.link_capacity > 0:
            status = add_parent_links(a)
        if status == DONE and a.shared != 0:
            status = reserve_rows(a)
        if status != DONE:
            for i in range(RNG_WORDS):
                rng[i] = before[i]
            if a.shared != 0:
                abandon_playout(a)
            return status
        backpropagation(a)  # lines 16-17
        if a.shared != 0:
            release_rows(a, a.composition.components)
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
        if DEBUG:
            check_promises(a, component)
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
    a.counts.links = a.pending.links
    a.counts.iterations += 1


# -------------------------------------------------------------------------------------- threads that share their records


@helper
def claim_playout(a: Arena, iterations: int) -> bool:
    """Whether to make another playout: so many in all, of all threads that share their records."""
    if a.shared == 0:
        return a.counts.iterations < iterations
    if atomic_load(a.shared + _STOP) != 0:
        return False
    if atomic_add(a.shared, 1) < iterations:
        return True
    atomic_add(a.shared, -1)
    return False


@helper
def abandon_playout(a: Arena) -> None:
    """Have all threads return, and another playout made for one that ran out of room."""
    atomic_add(a.shared, -1)
    atomic_store(a.shared + _STOP, 1)


@helper
def reserve_rows(a: Arena) -> int:
    """Reserve rows for as many records as were captured, in tables that other threads fill too; DONE or MORE_ROWS."""
    components = array_at(a.composition.component, a.composition.components, COMPONENT)
    for c in range(a.composition.components):
        address, count = components[c].table, components[c].count
        rows = count + atomic_add(address + _RESERVED, count)
        if not has_room_for(rows + atomic_load(address + _USED), struct_at(address, TABLE).capacity):
            release_rows(a, c + 1)
            a.full_component = c
            return MORE_ROWS
    return DONE


@helper
def release_rows(a: Arena, count: int) -> None:
    """Give back what was reserved for the first `count` components."""
    components = array_at(a.composition.component, count, COMPONENT)
    for c in range(count):
        atomic_add(components[c].table + _RESERVED, -components[c].count)


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
