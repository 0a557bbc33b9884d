"""The specifications, by name."""

from typing import Any

from icarus.algebra import Enhancement, argmax, epsilon_greedy, gibbs, parsing, rave_weight, reply, roulette, ucb1
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
from icarus.specs.fast import FAST, fast
from icarus.specs.first_play_urgency import FPU, fpu
from icarus.specs.grave import GRAVE, grave
from icarus.specs.implicit_minimax import IMPLICIT_MINIMAX, implicit_minimax
from icarus.specs.kl_ucb import KL_UCB
from icarus.specs.lgr import LGR, LGRF
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

SPECIFICATIONS: dict[str, Enhancement] = {
    "BASELINE": BASELINE,
    "AMAF": AMAF,
    "AMAF_STRICT": AMAF_STRICT,
    "RAVE": RAVE,
    "RAVE_STRICT": RAVE_STRICT,
    "MAST": MAST,
    "TO_MAST": TO_MAST,
    "LGR": LGR,
    "LGRF": LGRF,
    "NAST": NAST,
    "NAST1": NAST1,
    "NAST2": NAST2,
    "NAST3": NAST3,
    "EPIC": EPIC,
    "FPU": FPU,
    "UCB1_TUNED": UCB1_TUNED,
    "KL_UCB": KL_UCB,
    "PROGRESSIVE_HISTORY": PROGRESSIVE_HISTORY,
    "GRAVE": GRAVE,
    "LGRF2": LGRF2,
    "NST": NST,
    "THOMPSON": THOMPSON,
    "MAST_SIMULATION_DECAY": MAST_SIMULATION_DECAY,
    "MAST_BATCH_DECAY": MAST_BATCH_DECAY,
    "PPA": PPA,
    "CMC": CMC,
    "DISCOUNTED_UCB": DISCOUNTED_UCB,
    "DISCOUNTED_HISTORY": DISCOUNTED_HISTORY,
    "RELATIVE_BONUS": RELATIVE_BONUS,
    "PROGRESSIVE_BIAS": PROGRESSIVE_BIAS,
    "PROGRESSIVE_UNPRUNING": PROGRESSIVE_UNPRUNING,
    "PROGRESSIVE_WIDENING": PROGRESSIVE_WIDENING,
    "PUCT": PUCT,
    "IMPLICIT_MINIMAX": IMPLICIT_MINIMAX,
    "DECISIVE": DECISIVE,
    "PAST": PAST,
    "FAST": FAST,
    "REGRET_MATCHING": REGRET_MATCHING,
    "MCTS_SOLVER": MCTS_SOLVER,
    "SCORE_BOUNDS": SCORE_BOUNDS,
    "BOUNDED_UCB1_TUNED": BOUNDED_UCB1_TUNED,
    "BOUNDED_PROGRESSIVE_HISTORY": BOUNDED_PROGRESSIVE_HISTORY,
    "BOUNDED_GRAVE": BOUNDED_GRAVE,
}
_FUNCTIONS: dict[str, Any] = {
    "baseline": baseline,
    "amaf": amaf,
    "rave": rave,
    "mast": mast,
    "to_mast": to_mast,
    "nast": nast,
    "epic": epic,
    "fpu": fpu,
    "progressive_history": progressive_history,
    "grave": grave,
    "ucb1_tuned": ucb1_tuned,
    "nst": nst,
    "mast_simulation_decay": mast_simulation_decay,
    "mast_batch_decay": mast_batch_decay,
    "ppa": ppa,
    "cmc": cmc,
    "discounted_ucb": discounted_ucb,
    "discounted_history": discounted_history,
    "relative_bonus": relative_bonus,
    "progressive_bias": progressive_bias,
    "progressive_unpruning": progressive_unpruning,
    "progressive_widening": progressive_widening,
    "puct": puct,
    "implicit_minimax": implicit_minimax,
    "decisive": decisive,
    "anti_decisive": anti_decisive,
    "past": past,
    "fast": fast,
    "regret_matching": regret_matching,
    "mcts_solver": mcts_solver,
    "score_bounds": score_bounds,
    "bounded_ucb1_tuned": bounded_ucb1_tuned,
    "bounded_progressive_history": bounded_progressive_history,
    "bounded_grave": bounded_grave,
    "rave_weight": rave_weight,
    "ucb1": ucb1,
    "gibbs": gibbs,
    "epsilon_greedy": epsilon_greedy,
    "roulette": roulette,
}


def parse(text: str, /, **names: Any) -> Enhancement:
    """The strategy that a text describes: `parse("RAVE >> (MAST + NAST2)/2")`; `parse(str(strategy)) == strategy`.

    Args:
        names: enhancements, weights or factories of your own that the text may name.

    Raises:
        ValueError: with the position of what cannot be understood, and what would be right.
    """
    return parsing.parse(text, {**SPECIFICATIONS, **_FUNCTIONS, **names})


__all__ = [
    "AMAF",
    "AMAF_STRICT",
    "BASELINE",
    "BOUNDED_GRAVE",
    "BOUNDED_PROGRESSIVE_HISTORY",
    "BOUNDED_UCB1_TUNED",
    "CMC",
    "DECISIVE",
    "DISCOUNTED_HISTORY",
    "DISCOUNTED_UCB",
    "EPIC",
    "FAST",
    "FPU",
    "GRAVE",
    "IMPLICIT_MINIMAX",
    "KL_UCB",
    "LGR",
    "LGRF",
    "LGRF2",
    "MAST",
    "MAST_BATCH_DECAY",
    "MAST_SIMULATION_DECAY",
    "MCTS_SOLVER",
    "NAST",
    "NAST1",
    "NAST2",
    "NAST3",
    "NST",
    "PAST",
    "PPA",
    "PROGRESSIVE_BIAS",
    "PROGRESSIVE_HISTORY",
    "PROGRESSIVE_UNPRUNING",
    "PROGRESSIVE_WIDENING",
    "PUCT",
    "RAVE",
    "RAVE_STRICT",
    "REGRET_MATCHING",
    "RELATIVE_BONUS",
    "SCORE_BOUNDS",
    "SPECIFICATIONS",
    "THOMPSON",
    "TO_MAST",
    "UCB1_TUNED",
    "amaf",
    "anti_decisive",
    "argmax",
    "baseline",
    "bounded_grave",
    "bounded_progressive_history",
    "bounded_ucb1_tuned",
    "cmc",
    "decisive",
    "discounted_history",
    "discounted_ucb",
    "epic",
    "epsilon_greedy",
    "fast",
    "fpu",
    "gibbs",
    "grave",
    "implicit_minimax",
    "mast",
    "mast_batch_decay",
    "mast_simulation_decay",
    "mcts_solver",
    "nast",
    "nst",
    "parse",
    "past",
    "ppa",
    "progressive_bias",
    "progressive_history",
    "progressive_unpruning",
    "progressive_widening",
    "puct",
    "rave",
    "rave_weight",
    "regret_matching",
    "relative_bonus",
    "reply",
    "roulette",
    "score_bounds",
    "to_mast",
    "ucb1",
    "ucb1_tuned",
]
