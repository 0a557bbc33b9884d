"""The arena: all that the compiled loop works on, as records of addresses and numbers."""

import numpy as np

from icarus.engine.lowering import COMPONENT, LEAF, PROGRAM
from icarus.kernel.history import STEP

DONE, MORE_STEPS, MORE_UPDATES, MORE_ROWS = 0, 1, 2, 3  # why the loop returns
ARENA = np.dtype(
    [
        # the game's functions
        ("player", np.int64),
        ("legal", np.int64),
        ("apply", np.int64),
        ("rewards", np.int64),
        ("observe", np.int64),
        ("chance", np.int64),
        ("determinize", np.int64),
        ("episode", np.int64),
        ("recall", np.int64),
        ("simultaneous", np.int64),  # 0 where EXP3 does not decide
        ("look", np.int64),  # `observe`, where the root player's eyes see for all; else 0
        ("players", np.int64),
        ("viewers", np.int64),
        ("max_legal", np.int64),
        # the root
        ("root", np.int64),
        ("state", np.int64),
        ("state_words", np.int64),
        ("observer", np.int64),
        ("beliefs", np.int64),
        ("root_player", np.int64),
        ("root_label", np.int64),
        ("root_episodes", np.int64),
        ("root_episode", np.int64),
        ("recalled", np.int64),
        ("root_last", np.int64),
        ("root_last_viewer", np.int64),
        ("root_last_recalled", np.int64),
        ("root_actions", np.int64),
        ("root_visits", np.int64),
        ("root_count", np.int64),
        # the lowered composition
        ("component", np.int64),
        ("components", np.int64),
        ("program", np.int64),
        ("term", np.int64),
        ("leaf", np.int64),
        ("factor", np.int64),
        ("records_simulation", np.int64),
        ("moves_in_simulation", np.int64),
        ("keys_in_simulation", np.int64),
        ("episodes_read", np.int64),
        ("baseline_row", np.int64),
        ("baseline_visits", np.int64),  # bytes of a row, and where n is in it
        # buffers
        ("playout", np.int64),
        ("updates", np.int64),
        ("step_capacity", np.int64),
        ("legal_capacity", np.int64),
        ("places", np.int64),
        ("records", np.int64),
        ("values", np.int64),
        ("total", np.int64),
        ("reward", np.int64),
        ("number", np.int64),
        ("actions", np.int64),
        ("alike", np.int64),
        ("looks", np.int64),
        ("rng", np.int64),
        ("rng_before", np.int64),
        # what has happened
        ("iterations", np.int64),
        ("depth", np.int64),
        ("phase_steps", np.int64, (3,)),
        ("full_component", np.int64),
        ("shared", np.int64),  # address of the SHARED record; 0 where one thread is all
    ],
    align=True,
)
SHARED = np.dtype(
    [  # what threads that share their records agree on
        ("iterations", np.int64),  # playouts begun or made by all of them; the first field, where `begun` adds
        ("stop", np.int64),  # whether all are to return before their next playout
    ],
    align=True,
)
ANY = -1
COMPONENT_SIZE, PROGRAM_SIZE, LEAF_SIZE = COMPONENT.itemsize, PROGRAM.itemsize, LEAF.itemsize
RECALLED = 4096  # no episode has more moves before a root than this
STEP_SIZE = STEP.itemsize
