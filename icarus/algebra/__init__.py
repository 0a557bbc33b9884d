"""Enhancements as values (Definition 5), and the operators that compose them (Specification 6)."""

from icarus.algebra.enhancement import (
    Composition,
    Enhancement,
    Sum,
    adaptive,
    linear,
    majority,
    maxilinear,
    sequential,
    with_alias,
)
from icarus.algebra.information import (
    ACTION,
    ACTIONS,
    COUNT,
    ESTIMATE,
    ESTIMATES,
    HISTORY,
    LIMIT,
    MOVE,
    NOTHING,
    NUMBER,
    PLAYER,
    POSITION,
    REAL,
    REAL_COUNT,
    REPLY,
    REWARD,
    REWARDS,
    VISIT_OR_AVAILABLE,
    Domain,
    Information,
    Initial,
    LastReply,
    RewardsVisits,
    RewardsVisitsAvailability,
    RewardVisits,
    RewardVisitsAvailability,
    Space,
    information,
    initial,
)
from icarus.algebra.policy import Policy, Rule, argmax, check_rule, epsilon_greedy, gibbs, reply, roulette, ucb1
from icarus.algebra.slots import backpropagation, candidates, capture, initial_information, values
from icarus.algebra.weights import Weight, rave_weight, weight

__all__ = [
    "ACTION", "ACTIONS", "COUNT", "ESTIMATE", "ESTIMATES", "HISTORY", "LIMIT", "MOVE", "NOTHING", "NUMBER",
    "PLAYER", "POSITION", "REAL", "REAL_COUNT", "REPLY", "REWARD", "REWARDS", "VISIT_OR_AVAILABLE",
    "Composition", "Domain", "Enhancement", "Information", "Initial", "LastReply", "Policy", "RewardVisits",
    "RewardVisitsAvailability", "RewardsVisits", "RewardsVisitsAvailability", "Rule", "Space", "Sum", "Weight",
    "adaptive", "argmax", "backpropagation", "candidates", "capture", "check_rule", "epsilon_greedy", "gibbs",
    "information", "initial", "initial_information", "linear", "majority", "maxilinear", "rave_weight", "reply",
    "roulette", "sequential", "ucb1", "values", "weight", "with_alias",
]  # fmt: skip
