"""Game theory of two-player zero-sum games: whole trees, best responses and exploitability, regret minimization."""

from icarus.equilibrium.cfr import CFR, CFRPlus, near_equilibrium
from icarus.equilibrium.deals import Deals, deals_of, information_state
from icarus.equilibrium.policies import (
    BestResponse,
    Exploitability,
    TabularPolicy,
    best_response,
    exploitability,
    stitch,
    tabulate,
)
from icarus.equilibrium.response import local_best_response
from icarus.equilibrium.search import OOS, NearEquilibrium, OOSSearch, Uniform
from icarus.equilibrium.tree import GameTree

__all__ = [
    "CFR", "OOS", "BestResponse", "CFRPlus", "Deals", "Exploitability", "GameTree", "NearEquilibrium", "OOSSearch", "TabularPolicy",
    "Uniform", "best_response", "deals_of", "exploitability", "information_state", "local_best_response", "near_equilibrium", "stitch",
    "tabulate",
]  # fmt: skip
