"""Game theory of two-player zero-sum games: whole trees, best responses and exploitability, regret minimization."""

from icarus.equilibrium.measures.aggregate import Aggregate
from icarus.equilibrium.measures.full_stitching import Stitching, stitch
from icarus.equilibrium.online.ismcts import ISMCTS, ISMCTSSearch
from icarus.equilibrium.online.near_equilibrium import NearEquilibrium
from icarus.equilibrium.online.oos import OOS, OOSSearch
from icarus.equilibrium.online.parsing import parse_algorithm
from icarus.equilibrium.online.result import OnlineResult
from icarus.equilibrium.online.tree_search import online_search
from icarus.equilibrium.solvers.best_response import BestResponse, Exploitability, best_response, exploitability
from icarus.equilibrium.solvers.cfr import CFR, CFRPlus, near_equilibrium
from icarus.equilibrium.solvers.mccfr import MCCFR
from icarus.equilibrium.tree.deals import Deals, deals_of, information_state
from icarus.equilibrium.tree.policies import TabularPolicy, tabulate
from icarus.equilibrium.tree.tree import GameTree

__all__ = [
    "CFR", "ISMCTS", "MCCFR", "OOS", "Aggregate", "BestResponse", "CFRPlus", "Deals", "Exploitability", "GameTree",
    "ISMCTSSearch", "NearEquilibrium", "OOSSearch", "OnlineResult", "Stitching", "TabularPolicy", "best_response",
    "deals_of", "exploitability", "information_state", "near_equilibrium", "online_search", "parse_algorithm",
    "stitch", "tabulate",
]  # fmt: skip
