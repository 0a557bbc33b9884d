"""What captures promise not to do, checked in every playout of a search with ICARUS_DEBUG=1."""

import numpy as np

from icarus.compiler.kernels.pointers import array_at, call4, copy_items, struct_at
from icarus.compiler.kernels.rng import RNG_WORDS
from icarus.engine.loop.arena import Arena
from icarus.engine.program.promises import KEYLESS
from icarus.engine.program.structures import Component
from icarus.kernel import NO_RECORD, History, child, helper, legal_at
from icarus.kernel.history import EMPTY_HISTORY, PLAYOUT, history_at
from icarus.kernel.theta import UPDATES, UpdateBuffer

_INT, _WORD = np.dtype(np.int64), np.dtype(np.uint64)


@helper
def check_promises(a: Arena, component: Component) -> None:
    """Check the updates that a component's capture function has just asked for.

    Raises:
        ValueError: it reads steps of the simulation, or names records of histories beyond the tree, and is declared not to.
    """
    updates = struct_at(a.buffers.updates, UPDATES)
    if updates.count > updates.capacity:  # the playout is run again with more room
        return
    if updates.count < component.first:
        raise ValueError(
            "a capture function removed updates that others had requested; it may only request updates, by update(…)"
        )
    records = array_at(updates.records, updates.capacity, _INT)[component.first : updates.count]
    for key in records:
        if key == NO_RECORD:
            raise ValueError(KEYLESS)
    if component.writes_simulation == 0:
        history = history_at(a.buffers.playout)
        for i in range(len(records)):
            if not is_near_tree(history, a.pending.depth, records[i]):
                raise ValueError(
                    "a capture function declared with writes_simulation=False names a record beyond the tree and its children"
                )
    if component.reads_simulation == 0 and looks_beyond(a, component, updates, records):
        raise ValueError("a capture function declared with reads_simulation=False reads steps of the simulation")


@helper
def is_near_tree(history: History, depth: int, key: int) -> bool:
    """Whether a record is of a history at which the playout chose in the tree, or of a child of one.

    The expanded history is such a child. Its own children are not: what the loop knows of where records are does not reach them.
    """
    if key == EMPTY_HISTORY:
        return True
    for i in range(depth + 1):
        if history.steps[i].record == key:
            return True
        if i < depth:
            for action in legal_at(history, i):
                if child(history, i, action) == key:
                    return True
    return False


@helper
def looks_beyond(a: Arena, component: Component, updates: UpdateBuffer, records: np.ndarray) -> bool:
    """Whether a capture function makes other updates where the simulation is cut off, as it is where no slot reads it."""
    playout, rng = struct_at(a.buffers.playout, PLAYOUT), array_at(a.buffers.rng, RNG_WORDS, _WORD)
    records_before, count, length, rng_before = records.copy(), updates.count, playout.length, rng.copy()
    contexts = array_at(updates.contexts, updates.capacity, _INT)[component.first : count]
    contexts_before = contexts.copy()
    playout.length = min(length, max(a.pending.depth + 1, 2))
    updates.count = component.first
    call4(component.capture, (a.buffers.playout, component.table, a.buffers.updates, component.capture_parameters))
    differs = updates.count != count or (records != records_before).any() or (contexts != contexts_before).any()
    copy_items(records, records_before)
    copy_items(contexts, contexts_before)
    copy_items(rng, rng_before)
    playout.length, updates.count = length, count
    return differs
