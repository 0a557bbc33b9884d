"""icarus: information capture and reuse strategies in Monte Carlo tree search.

An enhancement of MCTS is a value of seven parts (Powley, Cowling and Whitehouse, 2014); `>>`, `+ /` and `^` compose enhancements;
one compiled playout loop runs any composition with MO-ISMCTS on card, board and dice games.
"""

import icarus.starting  # noqa: F401  (the first of all)
from icarus import games
from icarus.algebra import *  # noqa: F403
from icarus.algebra import __all__ as _of_algebra
from icarus.audit import audit
from icarus.discovery.discover import discover, discovered
from icarus.engine.inspect import notes_of
from icarus.engine.match import Agent, GameLog, play
from icarus.engine.result import Result, RootStatistics, greatest_value, most_visits, secure_child
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
from icarus.engine.search import SearchExhausted, SearchInterrupted, search
from icarus.equilibrium import best_response, exploitability
from icarus.kernel import Game, PythonGame, State, in_python
from icarus.learning.generations import learn
from icarus.specs import *  # noqa: F403
from icarus.specs import __all__ as __all__  # mypy reads no `+= specs.__all__`
from icarus.specs.at_once import EXP3
from icarus.version import VERSION as __version__
from icarus.views import tree_page as _tree_page
from icarus.views.shown import FRAMES, show_playout, show_records

# what lies above results, and through which they draw and look at themselves
Result.pages = _tree_page
Result.look_for_notes = staticmethod(notes_of)
for _kind, _frame in FRAMES.items():
    _kind._repr_html_ = _frame  # type: ignore[attr-defined]

__all__ = [
    *__all__,
    *_of_algebra,
    "EXP3", "MO_ISMCTS", "SO_ISMCTS", "SO_ISMCTS_POM", "Agent", "CheatingEnsembleUCT", "CheatingUCT", "DeterminizedUCT",
    "Game", "GameLog", "PythonGame", "Result", "RootStatistics", "Scheme", "SearchExhausted", "SearchInterrupted",
    "State", "__version__", "audit", "best_response", "discover", "discovered", "exploitability", "games",
    "greatest_value", "in_python", "learn", "most_visits", "parse_scheme", "play", "search", "secure_child", "show_playout",
    "show_records",
]  # fmt: skip
