"""Parent links: which history each record of the tree continues, so that a later search can find the records below its root.

The key of a history is made of the key of its parent and of one part more, and tells of neither. So a search notes, before a record of
the tree is inserted, its parent's key and the part; and for each such key, in the perspective whose key it is, the moves that lead to it.
`icarus.engine.records.rerooting` follows these links from a new root.
"""

import numpy as np

from icarus.compiler.kernels.pointers import WORD_BYTES, array_at, matrix_at, struct_at
from icarus.engine.loop.arena import DONE, MORE_LINKS, Arena
from icarus.engine.loop.playout import Baseline, baseline_of
from icarus.kernel import EXPANSION, SIMULATION, UNSEEN, helper, mix
from icarus.kernel.history import PLAYOUT, STEP, part_of
from icarus.kernel.theta import row_index

_INT = np.dtype(np.int64)
MOVE, RECORD = 0, 1  # kinds of links: a perspective's history continued by a move; and by an action, whose record it is
LINK = 3  # numbers of a link: the key that is continued, the part that continues it, and the kind


@helper
def add_link(links: np.ndarray, count: int, key: int, part: int, kind: int) -> int:
    """Note one more link; returns how many there are. Without room they are only counted."""
    if count < len(links):
        links[count, 0], links[count, 1], links[count, 2] = key, part, kind
    return count + 1


@helper
def add_moves(steps: np.ndarray, keys: np.ndarray, moves: np.ndarray, t: int, links: np.ndarray, count: int) -> int:
    """Note the moves by which the player of step t came there from his last decision, or from the root; returns the number of links.

    What led to that decision was noted when the records of its actions were.
    """
    perspective, first = steps[t].perspective, t - 1
    while first >= 0 and steps[first].perspective != perspective:
        first -= 1
    for i in range(max(first, 0) + 1, t + 1):
        if moves[i, perspective] != UNSEEN:
            count = add_link(links, count, keys[i - 1, perspective], moves[i, perspective], MOVE)
    return count


@helper
def is_inserted(baseline: Baseline, key: int) -> bool:
    """Whether the baseline's table holds a record."""
    return row_index(baseline.entries, baseline.records, key) != 0


@helper
def parent_links_of(
    steps: np.ndarray, keys: np.ndarray, moves: np.ndarray, legal: np.ndarray, baseline: Baseline, links: np.ndarray
) -> int:
    """Note the links of the records that a finished playout adds to the tree; returns how many.

    Args:
        steps, keys, moves, legal: as in `History`.
        baseline: its table, before the playout is backpropagated.
        links: room for them. [room, LINK]
    """
    count, t = 0, 0
    while t < len(steps) - 1 and steps[t].phase != SIMULATION:
        step = steps[t]
        if step.phase == EXPANSION:  # elsewhere all actions have visits, and so records
            key, led = keys[t, step.perspective], False
            for i in range(step.first, step.first + step.count):
                part = part_of(step.player, legal[i])
                if not is_inserted(baseline, mix(key, part)):
                    if not led:
                        count, led = add_moves(steps, keys, moves, t, links, count), True
                    count = add_link(links, count, key, part, RECORD)
        t += 1
    return count


@helper
def add_parent_links(a: Arena) -> int:
    """Note the links of the playout under way behind those that are kept; DONE or MORE_LINKS."""
    playout, buffers = struct_at(a.buffers.playout, PLAYOUT), a.buffers
    length, perspectives = playout.length, playout.perspectives
    a.pending.links = a.counts.links + parent_links_of(
        array_at(playout.steps, length, STEP),
        matrix_at(playout.keys, length, perspectives, _INT),
        matrix_at(playout.moves, length, perspectives, _INT),
        array_at(playout.legal, playout.legal_length, _INT),
        baseline_of(a),
        matrix_at(
            buffers.links + WORD_BYTES * LINK * a.counts.links, buffers.link_capacity - a.counts.links, LINK, _INT
        ),
    )
    return DONE if a.pending.links <= buffers.link_capacity else MORE_LINKS
