"""Algorithm 1, lines 5-17: the one compiled loop. It is compiled once and runs every game with every composition."""

import functools
from typing import Any

import numpy as np
from numba import types

from icarus.compiler.atomic import atomic_add, atomic_load, atomic_store
from icarus.compiler.entries import compiled
from icarus.compiler.pointers import array_at, call3, call7, record_at
from icarus.compiler.rng import WORDS
from icarus.engine.arena import ARENA, DONE, MORE_ROWS, MORE_UPDATES, SHARED
from icarus.engine.lowering import COMPONENT
from icarus.engine.playout import begin, play, simulate_unseen
from icarus.kernel import below, helper
from icarus.kernel.history import PLAYOUT
from icarus.kernel.theta import TABLE, UPDATES

_INT, _REAL, _WORD, _COUNT = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.uint64), np.dtype(np.int32)

FULLEST = 0.6  # share of a table's rows that may be used


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


_USED: int = TABLE.fields["used"][1]  # type: ignore[index]
_RESERVED: int = TABLE.fields["reserved"][1]  # type: ignore[index]
_STOP: int = SHARED.fields["stop"][1]  # type: ignore[index]


@helper
def backpropagated(a: Any) -> None:
    """Line 17: update the information of every captured record, in order."""
    updates = record_at(a.updates, UPDATES)
    components = array_at(a.component, a.components, COMPONENT)
    call3(a.rewards, (a.state, a.reward, a.players))
    for c in range(a.components):
        component = components[c]
        offset = 8 * component.first
        call7(
            component.backpropagation,
            (
                component.table,
                updates.records + offset,
                updates.contexts + offset,
                component.count,
                a.reward,
                a.players,
                component.backpropagation_parameters,
            ),
        )


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
