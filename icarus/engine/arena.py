"""The arena: all that the compiled loop works on, as structures of addresses and numbers."""

from typing import Annotated, NamedTuple, TypeAlias

import numpy as np

from icarus.kernel.contract import Address, structure
from icarus.kernel.history import STEP

DONE, MORE_STEPS, MORE_UPDATES, MORE_ROWS, TOO_LONG = range(5)  # why the loop returns
# The mixtures: of selection and expansion, of simulation, and of simultaneous decisions.
TREE, IN_SIMULATION, SIMULTANEOUS = range(3)
ANY = -1  # the index of an action drawn uniformly
NEVER = 1 << 40
ByPhase: TypeAlias = Annotated[np.ndarray, np.int64, 3]  # a number for each of SELECTION, EXPANSION and SIMULATION


class GameAddresses:
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


class SearchRoot:
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


class LoweredArrays:
    """The lowered composition, and what its slots read of a playout."""

    component: Address  # [components] of COMPONENT
    components: int
    mixture: Address  # arrays of MIXTURE, TERM, LEAF and WEIGHT
    term: Address
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
    votes: Address  # [terms, max_legal], where votes are taken
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
    recalled: Address  # [MAX_EPISODE_MOVES]
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

    game: GameAddresses
    root: SearchRoot
    composition: LoweredArrays
    buffers: Buffers
    counts: Counts
    pending: Pending
    full_component: int  # whose table had no room
    running: Address  # of the kernel of the slot that runs, and of which component it is; 0 while none does
    running_component: int


class Component:
    """What has a table of its own: the baseline first, then the enhancements of the strategy."""

    capture: Address  # of its kernel
    capture_parameters: Address
    backpropagation: Address  # of its kernel
    backpropagation_parameters: Address
    table: Address  # of its TABLE
    first: int  # the first of its updates in the present playout
    count: int  # and their number


class Mixture(NamedTuple):
    """A linear mixture of terms, of which one is drawn at each decision."""

    first_term: int
    terms: int
    constant: int  # 1 where the weights are constants, of which the algebra has seen that they sum to 1


class Term(NamedTuple):
    """A maxilinear mixture of leaves with the rule that chooses by it; or a majority vote."""

    first_weight: int
    weights: int  # of the term in its mixture
    first_leaf: int
    leaves: int  # of a majority vote: the mixtures of the voters
    rule: int  # RULE_… of `icarus.algebra.policy`
    parameter: float  # of the rule: τ or ε
    of_tree_only: int  # 1 where it is uniform unless a player has decided in the tree at a history that he cannot tell from this one


class Leaf(NamedTuple):
    """The policy of one component."""

    first_weight: int
    weights: int  # of the leaf in its term
    kernel: Address  # of the values of actions
    component: int  # whose table it reads
    parameters: Address
    uniform: int  # 1 where its value is +∞ for every action, and is not computed
    by_row: int  # 1 where it takes the rows that the loop has found, and not keys


class WeightFactor(NamedTuple):
    """One factor of a weight, which is their product: a constant, λ, or 1 − λ."""

    constant: float
    kernel: Address  # of λ; 0 for a constant
    parameters: Address
    complement: int  # 1 for 1 − λ
    component: int  # whose records λ is asked about: the baseline's of the history, or those of a bandit over members


COMPONENT, MIXTURE, TERM, LEAF, WEIGHT = map(structure, (Component, Mixture, Term, Leaf, WeightFactor))
ARENA = structure(Arena)
COMPONENT_BYTES, MIXTURE_BYTES, LEAF_BYTES = COMPONENT.itemsize, MIXTURE.itemsize, LEAF.itemsize
STEP_BYTES = STEP.itemsize
