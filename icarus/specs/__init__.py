"""The specifications, by name: what is listed here is known to `parse`, and to `from icarus import …`."""

from collections.abc import Callable

from icarus.algebra import *
from icarus.algebra import parsing
from icarus.algebra.weights import WeightFunction
from icarus.specs.amaf import *
from icarus.specs.at_once import *
from icarus.specs.bandits import *
from icarus.specs.baseline import *
from icarus.specs.epic import *
from icarus.specs.knowledge import *
from icarus.specs.mast import *
from icarus.specs.playouts import *
from icarus.specs.replies import *

__all__ = [
    "AMAF", "AMAF_STRICT", "BASELINE", "BOUNDED_GRAVE", "BOUNDED_PROGRESSIVE_HISTORY", "BOUNDED_UCB1_TUNED", "CMC",
    "DECISIVE", "DISCOUNTED_HISTORY", "DISCOUNTED_UCB", "EPIC", "FAST", "FPU", "GRAVE", "IMPLICIT_MINIMAX", "KL_UCB",
    "LGR", "LGRF", "LGRF2", "LGRF_SIGNED", "MAST", "MAST_BATCH_DECAY", "MAST_SIMULATION_DECAY", "MCTS_SOLVER",
    "NAST", "NAST1", "NAST2", "NAST3", "NST", "PAST", "PPA", "PROGRESSIVE_BIAS", "PROGRESSIVE_HISTORY",
    "PROGRESSIVE_UNPRUNING", "PROGRESSIVE_WIDENING", "PUCT", "RAVE", "RAVE_STRICT", "REGRET_MATCHING",
    "RELATIVE_BONUS", "SCORE_BOUNDS", "SPECIFICATIONS", "THOMPSON", "TO_MAST", "UCB1_TUNED", "argmax",
    "epsilon_greedy", "gibbs", "parse", "rave_weight", "reply", "roulette", "ucb1",
]  # fmt: skip

Name = Enhancement | WeightFunction | Callable  # what a strategy written as text may mention
NAMES: dict[str, Name] = {name: value for name, value in globals().items() if name in __all__}
SPECIFICATIONS = {name: value for name, value in NAMES.items() if isinstance(value, Enhancement)}


def parse(text: str, /, **names: Name) -> Enhancement:
    """The strategy that a text describes: `parse("RAVE >> (MAST + NAST2)/2")`; `parse(str(strategy)) == strategy`.

    Args:
        names: enhancements, weights or factories of your own that the text may name.

    Raises:
        ValueError: with the position of what cannot be understood, and what would be right.
    """
    return parsing.parse(text, NAMES | names)
