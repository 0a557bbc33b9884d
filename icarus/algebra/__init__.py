"""Enhancements as values (Definition 5), and the operators that compose them (Specification 6)."""

from icarus.algebra.enhancement import *
from icarus.algebra.information import *
from icarus.algebra.policy import *
from icarus.algebra.slots import *
from icarus.algebra.weights import *

__all__ = [
    "ACTION", "ACTIONS", "COUNT", "ESTIMATE", "ESTIMATES", "HISTORY", "LIMIT", "MOVE", "NOTHING", "NUMBER",
    "PLAYER", "POSITION", "REAL", "REAL_COUNT", "REPLY", "REWARD", "REWARDS", "VISIT_OR_AVAILABLE",
    "Backpropagation", "Candidates", "Capture", "Composition", "Count", "Domain", "Enhancement", "Fraction",
    "Information", "Initial", "LastReply", "Policy", "Positive", "Range", "RewardVisits",
    "RewardVisitsAvailability", "RewardsVisits", "RewardsVisitsAvailability", "Rule", "Space", "UnnormalizedMixture", "Values",
    "Weight", "argmax", "backpropagation", "candidates", "capture", "check_rule", "epsilon_greedy",
    "gibbs", "information", "initial", "initial_information", "rave_weight",
    "reply", "roulette", "ucb1", "values", "weight", "with_alias",
]  # fmt: skip
