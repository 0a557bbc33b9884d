"""The specifications, by name."""

from typing import Any

from icarus.algebra import Enhancement, argmax, epsilon_greedy, gibbs, parsing, rave_weight, reply, roulette, ucb1
from icarus.specs.amaf import AMAF, AMAF_STRICT, RAVE, RAVE_STRICT, amaf, rave
from icarus.specs.baseline import BASELINE, baseline
from icarus.specs.epic import EPIC, epic
from icarus.specs.lgr import LGR, LGRF
from icarus.specs.mast import MAST, TO_MAST, mast, to_mast
from icarus.specs.nast import NAST, NAST1, NAST2, NAST3, nast

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
}
_FUNCTIONS: dict[str, Any] = {
    "baseline": baseline,
    "amaf": amaf,
    "rave": rave,
    "mast": mast,
    "to_mast": to_mast,
    "nast": nast,
    "epic": epic,
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
    "EPIC",
    "LGR",
    "LGRF",
    "MAST",
    "NAST",
    "NAST1",
    "NAST2",
    "NAST3",
    "RAVE",
    "RAVE_STRICT",
    "SPECIFICATIONS",
    "TO_MAST",
    "amaf",
    "argmax",
    "baseline",
    "epic",
    "epsilon_greedy",
    "gibbs",
    "mast",
    "nast",
    "parse",
    "rave",
    "rave_weight",
    "reply",
    "roulette",
    "to_mast",
    "ucb1",
]
