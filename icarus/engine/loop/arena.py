"""The arena: all that the compiled loop works on, as records of addresses and numbers."""

import numpy as np

from icarus.engine.program.lowering import COMPONENT, LEAF, PROGRAM
from icarus.kernel.history import STEP

DONE, MORE_STEPS, MORE_UPDATES, MORE_ROWS, INTERRUPTED, TOO_LONG, MORE_LINKS = range(7)  # why the loop returns
GAME = np.dtype(
    [  # the game: the addresses of its functions, 0 where it has none, and its sizes
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
        ("observe_for_root", np.int64),  # `observe`, where the root player's eyes see for all; else 0
        ("features", np.int64),  # these three where anybody reads them
        ("action_features", np.int64),
        ("heuristic", np.int64),
        ("players", np.int64),
        ("perspectives", np.int64),
        ("max_legal", np.int64),
        ("max_length", np.int64),
        ("cutoff", np.int64),  # actions of simulation after which a playout is cut off; NEVER where none is
    ],
    align=True,
)
ROOT = np.dtype(
    [  # the root, I_root in Algorithm 1
        ("state", np.int64),  # address of its words
        ("state_words", np.int64),
        ("observer", np.int64),  # for whom it is determinized, and address of what he knows
        ("beliefs", np.int64),
        ("player", np.int64),  # who is to move
        ("actions", np.int64),  # addresses: what he may play, and how often each was selected
        ("visits", np.int64),
        ("count", np.int64),  # of these actions
        ("label", np.int64),  # of the episode in which the root lies
        ("episode", np.int64),  # the record of its position-in-episode
        ("episodes", np.int64),  # address of the key of that position for each perspective
        (
            "last",
            np.int64,
        ),  # who acted last, in which column he sees, and whether a determinization may change what he saw
        ("last_perspective", np.int64),
        ("last_recalled", np.int64),
    ],
    align=True,
)
COMPOSITION = np.dtype(
    [  # the lowered composition: addresses of its arrays, and what anybody reads of a playout
        ("component", np.int64),
        ("components", np.int64),  # their number
        ("program", np.int64),
        ("alternative", np.int64),
        ("leaf", np.int64),
        ("weight", np.int64),
        ("steps_in_simulation", np.int64),
        ("moves_in_simulation", np.int64),
        ("keys_in_simulation", np.int64),
        ("episodes", np.int64),
        ("features_in_tree", np.int64),  # tables of what the game tells, as bits
        ("features_in_simulation", np.int64),
        ("has_priors", np.int64),  # whether records enter a table when a policy first asks about them
        ("row_words", np.int64),  # of the baseline's table: 64-bit words in a row, and which of its 32-bit numbers is n
        ("visits_column", np.int64),
        ("vote", np.int64),  # address of the machine code of a majority vote, 0 where there is none, and of this arena
        ("arena", np.int64),
    ],
    align=True,
)
BUFFERS = np.dtype(
    [  # addresses of what a playout is made in
        ("state", np.int64),
        ("playout", np.int64),  # a PLAYOUT with room for so many steps, and for so many legal actions of all steps
        ("step_capacity", np.int64),
        ("legal_capacity", np.int64),
        ("poll_at", np.int64),  # before this step there is room, and the interrupt flag is not polled
        ("updates", np.int64),
        ("votes", np.int64),  # [terms, max_legal], where votes are taken
        ("links", np.int64),  # room for so many links of `icarus.engine.loop.parent_links`
        ("link_capacity", np.int64),
        ("rng", np.int64),
        ("rng_before", np.int64),  # where the playout under way began
        ("reward", np.int64),  # [players]; all that follow but the last two: [max_legal]
        ("rows", np.int64),  # the rows of the baseline's records of the children
        ("records", np.int64),
        ("values", np.int64),
        ("total", np.int64),
        ("actions", np.int64),  # behind the moves that the root player sees
        ("classes", np.int64),  # the move of each of these
        ("observed", np.int64),  # [players]
        ("recalled", np.int64),  # [RECALLED]
        ("ahead", np.int64),  # a state to look ahead in, and [players or features of actions] of what is told there
        ("evaluation", np.int64),
        ("weight", np.int64),  # [1]
    ],
    align=True,
)
COUNTS = np.dtype(
    [  # what has been counted
        ("iterations", np.int64),
        ("depth", np.int64),
        ("phase_steps", np.int64, (3,)),
        ("links", np.int64),  # those that are kept
    ],
    align=True,
)
PENDING = np.dtype(
    [  # what is counted as soon as the playout under way has been backpropagated
        ("depth", np.int64),
        ("phase_steps", np.int64, (3,)),
        ("selected", np.int64),  # the place of the action selected at the root
        ("too_long", np.int64),  # whether the playout has more actions than the game may have
        ("cut", np.int64),  # whether it was cut off before the end of the game
        ("links", np.int64),  # those of the playout included
    ],
    align=True,
)
ARENA = np.dtype(
    [
        ("game", GAME),
        ("root", ROOT),
        ("composition", COMPOSITION),
        ("buffers", BUFFERS),
        ("counts", COUNTS),
        ("pending", PENDING),
        ("full_component", np.int64),  # whose table had no room
        ("shared", np.int64),  # address of the SHARED structure; 0 where one thread is all
        ("interrupt_flag", np.int64),  # address of `interrupts.INTERRUPT_FLAG`
        ("flag_at_start", np.int64),  # what it was when the loop started; another value has the loop return
    ],
    align=True,
)
SHARED = np.dtype(
    [  # what threads that share their records agree on
        ("iterations", np.int64),  # playouts begun or made by all of them; the first field, where `claim_playout` adds
        ("stop", np.int64),  # whether all are to return before their next playout
    ],
    align=True,
)
ANY = -1
NEVER = 1 << 40
COMPONENT_BYTES, PROGRAM_BYTES, LEAF_BYTES = COMPONENT.itemsize, PROGRAM.itemsize, LEAF.itemsize
STEP_BYTES = STEP.itemsize
