"""What the author of a slot or a game calls from compiled code, from one place: `from icarus.kernel import …`."""

from icarus.compiler.functions import helper, inlined
from icarus.compiler.memory import append_bits, lowest_bit, popcount
from icarus.compiler.rng import below, shuffle, uniform
from icarus.kernel.contract import *
from icarus.kernel.history import *
from icarus.kernel.theta import *

__all__ = [
    "AVAILABLE", "CHANCE", "CONTINUES", "EXPANSION", "MAX_PLAYERS", "NO_ACTION", "NO_DEAL", "NO_RECORD", "SELECTION",
    "SIMULATION", "TERMINAL", "UNLABELLED", "UNSEEN", "VISIT", "Array", "Facts", "History", "Row", "Theta", "Updates",
    "action_features_at", "append_bits", "below", "child", "child_in_episode", "endings_at", "expanded_at",
    "extended", "find", "helper", "inlined", "legal_at", "lowest_bit", "mix", "ngram", "observed", "popcount",
    "lookahead_at", "record", "reward_of", "shuffle", "uniform", "update",
]  # fmt: skip
