"""What the author of a slot or a game calls from compiled code, from one place: `from icarus.kernel import …`."""

from icarus.compiler import (
    append_bits,
    below,
    helper,
    inlined,
    lowest_bit,
    popcount,
    shuffle,
    uniform,
)
from icarus.kernel.contract import *
from icarus.kernel.evaluation import Evaluation, read_evaluation
from icarus.kernel.features import *
from icarus.kernel.functions import *
from icarus.kernel.game import *
from icarus.kernel.history import *
from icarus.kernel.python_game import *
from icarus.kernel.state import *
from icarus.kernel.theta import *

__all__ = [
    "AVAILABLE", "CHANCE", "CONTINUES", "EXPANSION", "MAX_PLAYERS", "NO_ACTION", "NO_DEAL", "NO_RECORD", "SELECTION",
    "SIMULATION", "TERMINAL", "UNLABELLED", "UNSEEN", "VISIT", "Array", "Facts", "History", "Row", "Theta", "Updates",
    "action_features_at", "append_bits", "below", "child", "child_in_episode", "endings_at", "expanded_at",
    "extended", "find", "helper", "inlined", "legal_at", "lowest_bit", "mix", "ngram", "observed", "popcount",
    "lookahead_at", "record", "reward_of", "shuffle", "uniform", "update",
]  # fmt: skip
