"""The arena: all that the compiled loop works on, as structures of addresses and numbers."""

from typing import Annotated, TypeAlias

import numpy as np

from icarus.engine.program.structures import COMPONENT, LEAF, PROGRAM
from icarus.kernel.history import STEP
from icarus.kernel.structures import Address, structure

DONE, MORE_STEPS, MORE_UPDATES, MORE_ROWS, TOO_LONG = range(5)  # why the loop returns
ByPhase: TypeAlias = Annotated[np.ndarray, np.int64, 3]  # a number for each of SELECTION, EXPANSION and SIMULATION


class Game:
    """The game: the addresses of its functions, 0 where it has none, and its sizes."""

    player: Address
    legal: Address
    apply: Address
    rewards: Address
    observe: Address
    chance: Address
    determinize: Address
    episode: Address
    recall: Address
    simultaneous: Address  # 0 also where no rule reads which decisions are simultaneous
    observe_for_root: Address  # `observe`, where the root player's perspective is that of all; else 0
    features: Address  # these three where a slot reads them
    action_features: Address
    heuristic: Address
    players: int  # κ
    perspectives: int  # 1, or κ + 1 where something is hidden
    max_legal: int
    max_length: int  # actions of a playout
    cutoff: int  # actions of simulation after which a playout is cut off; NEVER where none is


class Root:
    """The root, I_root in Algorithm 1."""

    state: Address  # [state_words] of 64 bits
    state_words: int
    observer: int  # for whom it is determinized
    beliefs: Address  # what he knows, as `prepare` of the game has written it
    player: int  # who is to move
    actions: Address  # [count]: what he may play
    visits: Address  # [count]: how often each was selected
    count: int
    keys: Address  # [perspectives]: of the empty history
    record: int  # of the empty history
    label: int  # of the episode in which the root lies
    episode: int  # the record of its position-in-episode
    episodes: Address  # [perspectives]: the key of that position
    last: int  # who acted last
    last_perspective: int  # in which column he sees
    last_recalled: int  # 1 where a determinization may change what he saw


class Composition:
    """The lowered composition, and what its slots read of a playout."""

    component: Address  # [components] of COMPONENT
    components: int
    program: Address  # arrays of PROGRAM, ALTERNATIVE, LEAF and WEIGHT
    alternative: Address
    leaf: Address
    weight: Address
    steps_in_simulation: int  # 1 where a slot reads the steps, moves, or keys of the simulation, or episodes
    moves_in_simulation: int
    keys_in_simulation: int
    episodes: int
    features_in_tree: int  # feature tables, as bits of `icarus.kernel.features`
    features_in_simulation: int
    row_words: int  # 64-bit words in a row of the baseline's table
    visits_column: int  # which of its 32-bit numbers is n
    vote: Address  # of the kernel of a majority vote; 0 where there is none
    arena: Address  # of this arena, for that kernel


class Buffers:
    """What a playout is made in."""

    state: Address  # [state_words]
    playout: Address  # a PLAYOUT with room for so many steps, and for so many legal actions of all steps
    step_capacity: int
    legal_capacity: int
    last_step: int  # beyond which there is no room
    updates: Address  # an UPDATES
    votes: Address  # [alternatives, max_legal], where votes are taken
    rng: Address  # the generator, and its state before the playout under way: [RNG_WORDS]
    rng_before: Address
    reward: Address  # [players]
    rows: Address  # [max_legal]: the rows of the baseline's records of the children
    records: Address  # [max_legal]: keys, values and sums of values of actions
    values: Address
    total: Address
    actions: Address  # [max_legal]: the legal actions, where the root player sees classes of them
    classes: Address  # [max_legal]: the index of the observation class of each
    observed: Address  # [players]: how each sees an action
    recalled: Address  # [RECALLED]
    ahead: Address  # [state_words]: a state to look ahead in
    evaluation: Address  # [players or features of actions]: what the game has just said of it
    weight: Address  # [1]


class Counts:
    """What has been counted."""

    iterations: int
    earlier_iterations: int  # of the searches with whose records this one begins
    depth: int  # actions from the root to the deepest history in the tree
    phase_steps: ByPhase  # decisions made


class Pending:
    """What is counted as soon as the playout under way has been backpropagated."""

    depth: int
    phase_steps: ByPhase
    selected: int  # the index of the action at the root
    too_long: int  # 1 where the playout has more actions than the game may have
    cut: int  # 1 where it was cut off before the end of the game
    short: int  # 1 where a table had no room for records that a policy asked about first: the playout is not to go on


class Arena:
    """All of it, for one root."""

    game: Game
    root: Root
    composition: Composition
    buffers: Buffers
    counts: Counts
    pending: Pending
    full_component: int  # whose table had no room
    running: Address  # of the kernel of the slot that runs, and of which component it is; 0 while none does
    running_component: int


ARENA = structure(Arena)
ANY = -1  # the index of an action drawn uniformly
NEVER = 1 << 40
COMPONENT_BYTES, PROGRAM_BYTES, LEAF_BYTES = COMPONENT.itemsize, PROGRAM.itemsize, LEAF.itemsize
STEP_BYTES = STEP.itemsize
