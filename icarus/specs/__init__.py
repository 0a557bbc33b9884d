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
from icarus.specs.amaf import AMAF, AMAF_STRICT, RAVE, RAVE_STRICT, amaf, rave
from icarus.specs.baseline import BASELINE, baseline
from icarus.specs.bounded import (
    BOUNDED_GRAVE,
    BOUNDED_PROGRESSIVE_HISTORY,
    BOUNDED_UCB1_TUNED,
    bounded_grave,
    bounded_progressive_history,
    bounded_ucb1_tuned,
)
from icarus.specs.cmc import CMC, cmc
from icarus.specs.decisive import DECISIVE, anti_decisive, decisive
from icarus.specs.discounted_history import DISCOUNTED_HISTORY, discounted_history
from icarus.specs.discounted_ucb import DISCOUNTED_UCB, discounted_ucb
from icarus.specs.epic import EPIC, epic
from icarus.specs.family import family
from icarus.specs.fast import FAST, fast
from icarus.specs.first_play_urgency import FPU, fpu
from icarus.specs.grave import GRAVE, grave
from icarus.specs.implicit_minimax import IMPLICIT_MINIMAX, implicit_minimax
from icarus.specs.kl_ucb import KL_UCB
from icarus.specs.lgr import LGR, LGRF, LGRF_SIGNED
from icarus.specs.lgrf2 import LGRF2
from icarus.specs.mast import MAST, TO_MAST, mast, to_mast
from icarus.specs.mast_decay import MAST_BATCH_DECAY, MAST_SIMULATION_DECAY, mast_batch_decay, mast_simulation_decay
from icarus.specs.nast import NAST, NAST1, NAST2, NAST3, nast
from icarus.specs.nst import NST, nst
from icarus.specs.past import PAST, past
from icarus.specs.ppa import PPA, ppa
from icarus.specs.progressive_bias import PROGRESSIVE_BIAS, progressive_bias
from icarus.specs.progressive_history import PROGRESSIVE_HISTORY, progressive_history
from icarus.specs.progressive_unpruning import (
    PROGRESSIVE_UNPRUNING,
    PROGRESSIVE_WIDENING,
    progressive_unpruning,
    progressive_widening,
)
from icarus.specs.puct import PUCT, puct
from icarus.specs.regret_matching import REGRET_MATCHING, regret_matching
from icarus.specs.relative_bonus import RELATIVE_BONUS, relative_bonus
from icarus.specs.score_bounds import MCTS_SOLVER, SCORE_BOUNDS, mcts_solver, score_bounds
from icarus.specs.thompson import THOMPSON
from icarus.specs.ucb1_tuned import UCB1_TUNED, ucb1_tuned

Name = Enhancement | WeightFunction | Callable  # what a strategy written as text may mention

SPECIFICATIONS = {name: value for name, value in globals().items() if isinstance(value, Enhancement)}
FACTORIES: dict[str, Name] = {
    name: value
    for name, value in globals().items()
    if isinstance(value, WeightFunction) or (isfunction(value) and value is not isfunction)
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
    "UCB1_TUNED", "adaptive", "amaf", "anti_decisive", "argmax", "baseline", "bounded_grave",
    "bounded_progressive_history", "bounded_ucb1_tuned", "cmc", "decisive", "discounted_history", "discounted_ucb",
    "epic", "epsilon_greedy", "family", "fast", "fpu", "gibbs", "grave", "implicit_minimax", "mast",
    "mast_batch_decay", "mast_simulation_decay", "mcts_solver", "nast", "nst", "parse", "past", "ppa",
    "progressive_bias", "progressive_history", "progressive_unpruning", "progressive_widening", "puct", "rave",
    "rave_weight", "regret_matching", "relative_bonus", "reply", "roulette", "score_bounds", "to_mast", "ucb1",
    "ucb1_tuned",
]  # fmt: skip
