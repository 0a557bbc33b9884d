"""Game theory of two-player zero-sum games: whole trees, best responses and exploitability, regret minimization."""

from icarus.equilibrium.measures.aggregate import Aggregate
from icarus.equilibrium.measures.stitching import Stitching, stitched
from icarus.equilibrium.online.ismcts import ISMCTS, BanditSearch, ISMCTSAgent, parse_ismcts
from icarus.equilibrium.online.oos import OOS, OnlineSearch, OOSAgent, parse_oos
from icarus.equilibrium.online.searching import OnlineResult
from icarus.equilibrium.solvers.best_response import BestResponse, Exploitability, best_response, exploitability
from icarus.equilibrium.solvers.cfr import CFR, CFRPlus, near_equilibrium
from icarus.equilibrium.solvers.mccfr import MCCFR
from icarus.equilibrium.solvers.reference import NearEquilibrium, parse_near_equilibrium
from icarus.equilibrium.tree.deals import Deals, deals_of, information_state
from icarus.equilibrium.tree.policies import TabularPolicy, tabular
from icarus.equilibrium.tree.tree import GameTree

__all__ = [
    "CFR",
    "ISMCTS",
    "MCCFR",
    "OOS",
    "Aggregate",
    "BanditSearch",
    "BestResponse",
    "CFRPlus",
    "Deals",
    "Exploitability",
    "GameTree",
    "ISMCTSAgent",
    "NearEquilibrium",
    "OOSAgent",
    "OnlineResult",
    "OnlineSearch",
    "Stitching",
    "TabularPolicy",
    "best_response",
    "deals_of",
    "exploitability",
    "information_state",
    "near_equilibrium",
    "parse_ismcts",
    "parse_near_equilibrium",
    "parse_oos",
    "stitched",
    "tabular",
]
