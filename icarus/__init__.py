"""icarus: information capture and reuse strategies in Monte Carlo tree search.

An enhancement of MCTS is a value of seven parts (Powley, Cowling and Whitehouse, 2014); `>>`, `+ /` and `^` compose enhancements;
one compiled playout loop runs any composition with MO-ISMCTS on card, board and dice games.
"""
from importlib.metadata import PackageNotFoundError, version

from icarus import games
from icarus.enhancement import Enhancement, linear, maxilinear, sequential
from icarus.game import Game, State
from icarus.match import Agent, GameRecord, play
from icarus.policy import weight
from icarus.scheme import MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingEnsembleUCT, CheatingUCT, DeterminizedUCT, Scheme, parse_scheme
from icarus.search import Result, SearchInterrupted, search
from icarus.slots import backpropagation, candidates, capture, values
from icarus.specs import parse

try:
    __version__ = version("icarus")
except PackageNotFoundError:                       # the sources used in place, not installed
    __version__ = "0.1.0"

__all__ = [
    "MO_ISMCTS", "SO_ISMCTS", "SO_ISMCTS_POM", "Agent", "CheatingEnsembleUCT", "CheatingUCT", "DeterminizedUCT", "Enhancement", "Game",
    "GameRecord", "Result", "Scheme", "SearchInterrupted", "State", "__version__", "backpropagation", "candidates", "capture", "games",
    "linear", "maxilinear", "parse", "parse_scheme", "play", "search", "sequential", "values", "weight",
]
