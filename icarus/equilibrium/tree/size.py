"""How large a game is, estimated before any memory is spent: Knuth's random walks (1975), made by strata as Chen did (1992).

Histories of one length that have the same player to move and as many legal actions are a stratum. One of them, drawn in proportion to
what it stands for, stands for all; so a walk goes down a few histories of each length at once. Where a game is regular, as bids are,
the estimate hardly varies.
"""

import attrs
import numpy as np

from icarus.compiler.kernels.atomic import is_interrupted
from icarus.compiler.kernels.pointers import address_of, call1, call2, call4, copy_items
from icarus.compiler.kernels.rng import seeded
from icarus.equilibrium.tree.arrays import PLAYERS
from icarus.equilibrium.tree.control import Control, new_control, run_interruptibly
from icarus.equilibrium.tree.deals import Deals
from icarus.equilibrium.tree.kernel import kernel
from icarus.kernel import TERMINAL, below, helper, inlined, uniform
from icarus.kernel.contract import Fields
from icarus.kernel.game import AnyGame

WALKS = 20  # of each kind
COUNTLESS = 1e30  # histories; more are not counted
ALL_HISTORIES = -2  # in place of a player whose views are counted


@attrs.frozen
class Size:
    """Estimated numbers of histories, and of information states of both players together."""

    histories: float
    information_states: float


@inlined
def representatives(observations: np.ndarray, choices: np.ndarray, count: int, rng: np.ndarray) -> int:
    """Of each different value an index that has it, drawn uniformly, put to the front of `choices`; returns how many there are."""
    different = 0
    for i in range(count):
        equal, row = 1, different
        for j in range(i):
            equal += observations[j] == observations[i]
        for k in range(different):
            if observations[choices[k]] == observations[i]:
                row = k
        if row == different:
            different += 1
        if below(rng, equal) == 0:
            choices[row] = i
    return different


@inlined
def next_moves(
    walk: Fields,
    address: int,
    mover: int,
    perspective: int,
    actions: np.ndarray,
    observations: np.ndarray,
    choices: np.ndarray,
    rng: np.ndarray,
) -> int:
    """Of each thing that a perspective may see next an action, as indices in `choices`; returns how many there are."""
    count = call2(walk.legal, (address, address_of(actions)))
    if walk.observe == 0 or perspective in (mover, ALL_HISTORIES):
        for i in range(count):
            choices[i] = i
        return count
    moves = np.empty(PLAYERS, np.int64)
    for i in range(count):
        moves[:] = actions[i]
        call4(walk.observe, (address, actions[i], address_of(moves), PLAYERS))
        observations[i] = moves[perspective]
    return representatives(observations, choices, count, rng)


@helper
def measure(walks: np.ndarray, start: np.ndarray, perspective: int, rng: np.ndarray, control: Control) -> float:
    """The number of a perspective's information states, or of all histories, after one deal, by one walk; at most about COUNTLESS."""
    walk, total = walks[0], 0.0
    strata = (PLAYERS + 1) * (walk.max_legal + 1)
    states, next_states = np.empty((strata, len(start)), np.int64), np.empty((strata, len(start)), np.int64)
    weights, state = np.zeros(strata), np.empty(len(start), np.int64)
    actions, spare = np.empty(walk.max_legal, np.int64), np.empty(walk.max_legal, np.int64)
    choices, observations = np.empty(walk.max_legal, np.int64), np.empty(walk.max_legal, np.int64)
    states[0], weights[0] = start, 1.0
    while weights.sum() > 0.0 and total < COUNTLESS and not is_interrupted(control):
        next_weights = np.zeros(strata)
        for i in range(strata):
            if weights[i] == 0.0:
                continue
            address = address_of(states[i])
            mover = call1(walk.player, (address,))
            if perspective in (mover, ALL_HISTORIES):
                total += weights[i]
            for k in range(next_moves(walk, address, mover, perspective, actions, observations, choices, rng)):
                copy_items(state, states[i])
                call2(walk.apply, (address_of(state), actions[choices[k]]))
                next_mover = call1(walk.player, (address_of(state),))
                if next_mover == TERMINAL:
                    total += weights[i] if perspective == ALL_HISTORIES else 0.0
                    continue
                count = call2(walk.legal, (address_of(state), address_of(spare)))
                j = (next_mover + 1) * (walk.max_legal + 1) + count
                next_weights[j] += weights[i]
                if uniform(rng) * next_weights[j] < weights[i]:
                    next_states[j] = state
        states, next_states, weights = next_states, states, next_weights
    return total


@kernel("size of a game")
def measure_some(
    walks: np.ndarray,
    starts: np.ndarray,
    perspective: int,
    rng: np.ndarray,
    sizes: np.ndarray,
    control: np.ndarray,
    count: int,
) -> int:
    """A walk after each of so many deals, from the first that has none yet; Ctrl-C ends it within a walk, which then counts as none.

    Args:
        sizes: what each walk comes to. [starts]
        control: counts the walks made.
    """
    progress = control[0]
    for _ in range(count):
        i = progress.iterations
        sizes[i] = measure(walks, starts[i], perspective, rng, progress)
        if is_interrupted(progress):
            break
        progress.iterations += 1
    return 0


def refuse_if_too_large(game: AnyGame, largest: int, histories: float, information_states: float | None = None) -> None:
    """Refuse a game that is estimated to have more than so many histories."""
    if histories > largest:
        states = "" if information_states is None else f"{information_states:.2g} information states in "
        about = f"about {states}{histories:.2g} histories"
        if histories >= COUNTLESS:
            about = f"more than {COUNTLESS:.0g} histories"
        raise ValueError(f"{game} is too large for a complete walk: it has {about}; the limit is {largest:,} histories")


def estimate_size(walk: np.ndarray, deals: Deals) -> Size:
    """The size of a game, by walks with a fixed seed.

    What a player may see next is told by one history in place of all that he holds possible; where what one shows differs from what
    another does, as in Goofspiel, there are some times more information states.

    Args:
        walk: [1] of `growth.WALK` with the functions of the game.
    """
    rng, deal_rng, words = seeded(0), np.random.default_rng(0), deals.words

    def mean(observations: np.ndarray, perspective: int) -> float:
        """For the deals that look different to a perspective, each drawn as often as any other."""
        _, classes, counts = np.unique(observations, return_inverse=True, return_counts=True)
        choices = deal_rng.integers(len(counts), size=WALKS)
        row = np.cumsum(counts)[choices] - 1 - deal_rng.integers(counts[choices])
        deal_numbers = np.argsort(classes, kind="stable")[row]
        starts, sizes, control = words[deal_numbers], np.zeros(WALKS), new_control()
        run_interruptibly(
            control, WALKS, lambda left: measure_some(walk, starts, perspective, rng, sizes, control, left)
        )
        return len(counts) * float(sizes.mean())

    views = [mean(deals.observations[:, player], player) for player in range(PLAYERS)]
    return Size(mean(np.arange(len(deals)), ALL_HISTORIES), sum(views))
