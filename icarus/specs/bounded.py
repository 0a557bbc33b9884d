"""Score bounds (Cazenave and Saffidine, 2010) with other selections than UCB1: UCB1-Tuned, progressive history, GRAVE.

Each is what it is without them, but that records of a history and a player bound what that player is sure to get there, as in
SCORE_BOUNDS: what is proved best is played, and what is proved to be no better than another action is not.

Readings: those of SCORE_BOUNDS and of the selection. There are no weights of the bounds here.
"""

import numpy as np

from icarus.algebra import (
    ACTION,
    COUNT,
    HISTORY,
    LIMIT,
    PLAYER,
    REWARDS,
    Enhancement,
    Space,
    argmax,
    backpropagation,
    capture,
    information,
    initial,
    values,
)
from icarus.checks import integer
from icarus.kernel import History, Row, Theta, Updates, helper
from icarus.specs.baseline import EXPLORATION as OF_BASELINE
from icarus.specs.grave import BIAS, GRAVE, LEAST, estimates
from icarus.specs.progressive_history import INFLUENCE, PROGRESSIVE_HISTORY, biased
from icarus.specs.score_bounds import SCORE_BOUNDS, ask_for_proofs, cut, tightened
from icarus.specs.ucb1_tuned import EXPLORATION as OF_VARIANCE
from icarus.specs.ucb1_tuned import UCB1_TUNED, tuned
from icarus.specs.variants import nonnegative, variant

BOUNDS = {"lower": LIMIT, "upper": LIMIT}
TUNED = information(reward=REWARDS, squares=REWARDS, visits=COUNT, availability=COUNT, **BOUNDS)
OF_GRAVE = information(reward=REWARDS, visits=COUNT, reward_as_first=REWARDS, visits_as_first=COUNT, **BOUNDS)
write_tuned, write_biased, write_estimates = helper(tuned.function), helper(biased.function), helper(estimates.function)

# ------------------------------------------------------------------------------------------------------------- UCB1-Tuned


@values(uniform_in_simulation=True)
def bounded_tuned(
    history: History, theta: Theta, legal: np.ndarray, out: np.ndarray, exploration: float = OF_VARIANCE
) -> None:
    """v of UCB1-Tuned, but +∞ if l ≥ max u, else −1 if u ≤ max l, for θ([h # a]~, ρ) = (·, ·, ·, ·, l, u)"""
    write_tuned(history, theta, legal, out, exploration)
    cut(history, theta, legal, out)


@backpropagation
def backpropagate_tuned(stats: Row, context: int, rewards: np.ndarray) -> None:
    """ω of UCB1-Tuned; (·, ·, ·, ·, max{l, ψ}, min{u, ψ}) of the bound ψ"""
    if not tightened(stats, context):
        UCB1_TUNED.backpropagation(stats, context, rewards)


BOUNDED_UCB1_TUNED = Enhancement(
    name="BOUNDED_UCB1_TUNED",
    records=HISTORY | HISTORY * PLAYER,  # SB-Tuned-1
    information=TUNED,  # SB-Tuned-2
    initial=initial(upper=1.0),  # SB-Tuned-3
    policy=argmax().over(bounded_tuned),  # SB-Tuned-4
    contexts=SCORE_BOUNDS.contexts,  # SB-Tuned-5
    capture=SCORE_BOUNDS.capture,  # SB-Tuned-6
    backpropagation=backpropagate_tuned,  # SB-Tuned-7
)


def bounded_ucb1_tuned(exploration: float = OF_VARIANCE) -> Enhancement:
    """UCB1-Tuned with score bounds, and another constant than √2 in the bound of the variance.

    Raises:
        ValueError: it is negative.
    """
    parameters = nonnegative("bounded_ucb1_tuned", exploration=exploration)
    policy = argmax().over(bounded_tuned(**parameters))
    return variant(BOUNDED_UCB1_TUNED, "bounded_ucb1_tuned", *parameters.values(), policy=policy)


# ---------------------------------------------------------------------------------------------------- progressive history


@values(uniform_in_simulation=True)
def bounded_biased(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    influence: float = INFLUENCE,
    exploration: float = OF_BASELINE,
) -> None:
    """v of progressive history, but +∞ if l ≥ max u, else −1 if u ≤ max l, for θ([h # a]~, ρ) = (·, ·, ·, l, u)"""
    write_biased(history, theta, legal, out, influence, exploration)
    cut(history, theta, legal, out)


@capture(proves=True)
def capture_actions_and_proofs(history: History, theta: Theta, updates: Updates) -> None:
    """ξ of progressive history # the bounds of ξ of SCORE_BOUNDS"""
    PROGRESSIVE_HISTORY.capture(history, updates)
    ask_for_proofs(history, theta, updates)


BOUNDED_PROGRESSIVE_HISTORY = Enhancement(
    name="BOUNDED_PROGRESSIVE_HISTORY",
    records=HISTORY | ACTION * PLAYER | HISTORY * PLAYER,  # SB-PH-1
    information=SCORE_BOUNDS.information,  # SB-PH-2
    initial=initial(upper=1.0),  # SB-PH-3
    policy=argmax().over(bounded_biased),  # SB-PH-4
    contexts=SCORE_BOUNDS.contexts,  # SB-PH-5
    capture=capture_actions_and_proofs,  # SB-PH-6
    backpropagation=SCORE_BOUNDS.backpropagation,  # SB-PH-7
)


def bounded_progressive_history(influence: float = INFLUENCE, exploration: float = OF_BASELINE) -> Enhancement:
    """Progressive history with score bounds, and another influence W or exploration constant.

    Raises:
        ValueError: one of them is negative.
    """
    parameters = nonnegative("bounded_progressive_history", influence=influence, exploration=exploration)
    policy = argmax().over(bounded_biased(**parameters))
    return variant(BOUNDED_PROGRESSIVE_HISTORY, "bounded_progressive_history", *parameters.values(), policy=policy)


# ------------------------------------------------------------------------------------------------------------------ GRAVE


@values(uniform_in_simulation=True)
def bounded_estimates(
    history: History,
    theta: Theta,
    legal: np.ndarray,
    out: np.ndarray,
    least: int = LEAST,
    bias: float = BIAS,
    exploration: float = 0.0,
) -> None:
    """v of GRAVE, but +∞ if l ≥ max u, else −1 if u ≤ max l, for θ([h # a]~, ρ) = (·, ·, ·, ·, l, u)"""
    write_estimates(history, theta, legal, out, least, bias, exploration)
    cut(history, theta, legal, out)


@capture(proves=True)
def capture_first_and_proofs(history: History, theta: Theta, updates: Updates) -> None:
    """ξ of GRAVE # the bounds of ξ of SCORE_BOUNDS"""
    GRAVE.capture(history, updates)
    ask_for_proofs(history, theta, updates)


@backpropagation
def backpropagate_estimates(stats: Row, context: int, rewards: np.ndarray) -> None:
    """ω of GRAVE; (·, ·, ·, ·, max{l, ψ}, min{u, ψ}) of the bound ψ"""
    if not tightened(stats, context):
        GRAVE.backpropagation(stats, context, rewards)


BOUNDED_GRAVE = Enhancement(
    name="BOUNDED_GRAVE",
    records=HISTORY | HISTORY * PLAYER,  # SB-GRAVE-1
    information=OF_GRAVE,  # SB-GRAVE-2
    initial=initial(upper=1.0),  # SB-GRAVE-3
    policy=argmax().over(bounded_estimates),  # SB-GRAVE-4
    contexts=Space(("{ψ_first, ψ_visit} ∪ [0, 1] ∪ [0, 1]",)),  # SB-GRAVE-5
    capture=capture_first_and_proofs,  # SB-GRAVE-6
    backpropagation=backpropagate_estimates,  # SB-GRAVE-7
)


def bounded_grave(least: int = LEAST, bias: float = BIAS, exploration: float = 0.0) -> Enhancement:
    """GRAVE with score bounds, and another number of visits that an ancestor must exceed, another bias, or exploration.

    Raises:
        ValueError: one of them is negative.
    """
    least = integer("least of bounded_grave", least, least=0)
    parameters = nonnegative("bounded_grave", bias=bias, exploration=exploration)
    policy = argmax().over(bounded_estimates(least=least, **parameters))
    return variant(BOUNDED_GRAVE, "bounded_grave", least, *parameters.values(), policy=policy)
