"""icarus: information capture and reuse strategies in Monte Carlo tree search.

An enhancement of MCTS is a value of seven parts (Powley, Cowling and Whitehouse, 2014); `>>`, `+ /` and `^` compose enhancements;
one compiled playout loop runs any composition with MO-ISMCTS on card, board and dice games.
"""

from typing import TYPE_CHECKING

import icarus.starting  # noqa: F401  (the first of all)
from icarus import games
from icarus.algebra import (
    ACTION,
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
    Enhancement,
    LastReply,
    RewardsVisits,
    RewardsVisitsAvailability,
    RewardVisits,
    RewardVisitsAvailability,
    backpropagation,
    candidates,
    capture,
    information,
    initial,
    initial_information,
    linear,
    majority,
    maxilinear,
    sequential,
    values,
    weight,
)
from icarus.audit import audit
from icarus.discovery.discover import discover, discovered
from icarus.engine.match import Agent, GameLog, play
from icarus.engine.result import (
    Result,
    RootStatistics,
    SearchExhausted,
    SearchInterrupted,
    greatest_value,
    most_visits,
    secure_child,
)
from icarus.engine.scheme import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
    Scheme,
    parse_scheme,
)
from icarus.engine.search import search
from icarus.equilibrium import best_response, exploitability
from icarus.kernel.game import Game
from icarus.kernel.python_game import PythonGame, in_python
from icarus.kernel.state import State
from icarus.specs import *  # noqa: F403
from icarus.specs import __all__ as __all__  # mypy reads no `+= specs.__all__`
from icarus.version import version
from icarus.views.shown import show_playout, show_records
from icarus.views.tree_page import TreePages

Result.pages = TreePages()  # `views` lies above `engine`; results draw themselves through it

__version__: str
if not TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        """`__version__`, found when it is first asked for."""
        if name != "__version__":
            raise AttributeError(f"module 'icarus' has no attribute {name!r}")
        return version()


__all__ = [
    *__all__,
    "ACTION", "COUNT", "ESTIMATE", "ESTIMATES", "HISTORY", "LIMIT", "MOVE", "MO_ISMCTS", "NOTHING", "NUMBER",
    "PLAYER", "POSITION", "REAL", "REAL_COUNT", "REPLY", "REWARD", "REWARDS", "SO_ISMCTS",
    "SO_ISMCTS_POM", "VISIT_OR_AVAILABLE", "Agent", "CheatingEnsembleUCT", "CheatingUCT", "DeterminizedUCT", "Enhancement", "Game",
    "GameLog", "LastReply", "PythonGame", "Result", "RewardVisits", "RewardVisitsAvailability", "RewardsVisits",
    "RewardsVisitsAvailability", "RootStatistics", "Scheme", "SearchExhausted", "SearchInterrupted", "State",
    "__version__", "audit", "backpropagation", "best_response", "candidates", "capture", "discover", "discovered",
    "exploitability", "games", "greatest_value", "in_python", "information", "initial", "initial_information",
    "linear", "majority", "maxilinear", "most_visits", "parse_scheme", "play", "search", "secure_child",
    "sequential", "show_playout", "show_records", "values", "weight",
]  # fmt: skip
