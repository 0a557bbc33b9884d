"""The specifications, by name: what is imported here is known to `parse`, and to `from icarus import …`."""

from collections.abc import Callable
from inspect import isfunction

from icarus.algebra import (
    Enhancement,
    adaptive,
    argmax,
    epsilon_greedy,
    gibbs,
    parsing,
    rave_weight,
    reply,
    roulette,
    ucb1,
)
from icarus.algebra.weights import WeightFunction
from icarus.specs.amaf import AMAF, AMAF_STRICT, RAVE, RAVE_STRICT
from icarus.specs.baseline import BASELINE
from icarus.specs.catalogue import (
    BOUNDED_GRAVE,
    BOUNDED_PROGRESSIVE_HISTORY,
    BOUNDED_UCB1_TUNED,
    CMC,
    DECISIVE,
    DISCOUNTED_HISTORY,
    DISCOUNTED_UCB,
    FAST,
    FPU,
    GRAVE,
    IMPLICIT_MINIMAX,
    KL_UCB,
    MAST_BATCH_DECAY,
    MAST_SIMULATION_DECAY,
    MCTS_SOLVER,
    PAST,
    PPA,
    PROGRESSIVE_BIAS,
    PROGRESSIVE_HISTORY,
    PROGRESSIVE_UNPRUNING,
    PROGRESSIVE_WIDENING,
    PUCT,
    REGRET_MATCHING,
    RELATIVE_BONUS,
    SCORE_BOUNDS,
    THOMPSON,
    UCB1_TUNED,
    anti_decisive,
    bounded,
)
from icarus.specs.epic import EPIC
from icarus.specs.family import family
from icarus.specs.mast import MAST, TO_MAST
from icarus.specs.replies import LGR, LGRF, LGRF2, LGRF_SIGNED, NAST, NAST1, NAST2, NAST3, NST

Name = Enhancement | WeightFunction | Callable  # what a strategy written as text may mention

SPECIFICATIONS = {name: value for name, value in globals().items() if isinstance(value, Enhancement) and name.isupper()}
FACTORIES: dict[str, Name] = {
    name: value
    for name, value in globals().items()
    if isinstance(value, WeightFunction | Enhancement)
    and not name.isupper()
    or (isfunction(value) and value is not isfunction)
}


def parse(text: str, /, **names: Name) -> Enhancement:
    """The strategy that a text describes: `parse("RAVE >> (MAST + NAST2)/2")`; `parse(str(strategy)) == strategy`.

    Args:
        names: enhancements, weights or factories of your own that the text may name.

    Raises:
        ValueError: with the position of what cannot be understood, and what would be right.
    """
    return parsing.parse(text, {**SPECIFICATIONS, **FACTORIES, **names})


__all__ = [
    "AMAF", "AMAF_STRICT", "BASELINE", "BOUNDED_GRAVE", "BOUNDED_PROGRESSIVE_HISTORY", "BOUNDED_UCB1_TUNED", "CMC",
    "DECISIVE", "DISCOUNTED_HISTORY", "DISCOUNTED_UCB", "EPIC", "FACTORIES", "FAST", "FPU", "GRAVE",
    "IMPLICIT_MINIMAX", "KL_UCB", "LGR", "LGRF", "LGRF2", "LGRF_SIGNED", "MAST", "MAST_BATCH_DECAY",
    "MAST_SIMULATION_DECAY", "MCTS_SOLVER", "NAST", "NAST1", "NAST2", "NAST3", "NST", "PAST", "PPA",
    "PROGRESSIVE_BIAS", "PROGRESSIVE_HISTORY", "PROGRESSIVE_UNPRUNING", "PROGRESSIVE_WIDENING", "PUCT", "RAVE",
    "RAVE_STRICT", "REGRET_MATCHING", "RELATIVE_BONUS", "SCORE_BOUNDS", "SPECIFICATIONS", "THOMPSON", "TO_MAST",
    "UCB1_TUNED", "adaptive", "anti_decisive", "argmax", "bounded", "epsilon_greedy", "family", "gibbs", "parse",
    "rave_weight", "reply", "roulette", "ucb1",
]  # fmt: skip
