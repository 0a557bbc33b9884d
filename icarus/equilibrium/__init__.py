"""Game theory of two-player zero-sum games: whole trees, best responses and exploitability, regret minimization."""

from icarus.equilibrium.best_response import BestResponse, Exploitability, best_response, exploitability
from icarus.equilibrium.cfr import CFR, CFRPlus, near_equilibrium
from icarus.equilibrium.deals import Deals, deals_of, information_state
from icarus.equilibrium.mccfr import MCCFR
from icarus.equilibrium.online import OOS, OnlineResult, OnlineSearch, OOSAgent, parse_oos
from icarus.equilibrium.policies import TabularPolicy, tabular
from icarus.equilibrium.tree import GameTree

__all__ = [
    "CFR",
    "MCCFR",
    "OOS",
    "BestResponse",
    "CFRPlus",
    "Deals",
    "Exploitability",
    "GameTree",
    "OOSAgent",
    "OnlineResult",
    "OnlineSearch",
    "TabularPolicy",
    "best_response",
    "deals_of",
    "exploitability",
    "information_state",
    "near_equilibrium",
    "parse_oos",
    "tabular",
]
