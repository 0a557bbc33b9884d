"""Schemes: the searches of the information-set family, as two choices made within Algorithm 1.

All of Cowling, Powley and Whitehouse (2012) is one loop. A scheme says how the root state of an iteration is drawn, and whose
observations histories are made of; every composition of enhancements works with each.
"""

import functools
import re
from typing import TypeVar

import attrs

from icarus import checks
from icarus.kernel.game import AnyGame

G = TypeVar("G", bound=AnyGame)
MOST_TREES = 10_000  # of one search
MOST_VIEWS = 32  # games with one observer that are kept
LATEST = 1_000_000_000  # cut-off
SHOWN = 100  # characters of what is refused

# the root state of an iteration
FRESH = "a fresh determinization"
ONCE = "one determinization"
TRUE = "the true state"
GONE = "a scheme of earlier versions, whose rows are read but not played"
# observers
EACH_PLAYER = "each player"
EVERY_ACTION = "an observer of every action"
ROOT_PLAYER = "the root player"

_EXP3, _CUTOFF = " with EXP3", " with cutoff="
_DIGITS = r"\d{1,600}"  # of a number; Python reads thousands of them as no integer


@functools.lru_cache(MOST_VIEWS)
def _with_one_observer(game: G) -> G:
    """A game in whose histories everybody sees every action. It is the same object each time, so that what is cached for it is found."""
    return attrs.evolve(game, observe=None, recall=None)


@attrs.frozen(repr=False, cache_hash=True)
class Scheme:
    """How a search draws its root states, and who observes its histories.

    Attributes:
        name: as written in Python and on the command line.
        root: FRESH, a determinization for each iteration; ONCE, one for each tree; or TRUE, the state itself, including hidden facts.
        observer: EACH_PLAYER, every history as the player who made its last action observed it; EVERY_ACTION, as sequences of actions;
            or ROOT_PLAYER, as the root player observed it: policies then choose among moves, and uniformly among the actions of a move.
        trees: the number of searches, each with its own records, that share the iterations; the visits of their roots are summed.
        exp3: whether EXP3 decides in the tree where a game marks choices as simultaneous.
        tree_parameter: the name of the parameter that gives `trees`; empty if there is always one tree.
        cutoff: the number of actions of simulation after which a playout ends, with the game's heuristic as its rewards; None if it
            continues to the end of the game. A playout has at least one action, that of the root.

    Raises:
        ValueError: a root or an observer that is none, or several trees without `tree_parameter`.
    """

    name: str
    root: str = FRESH
    observer: str = EACH_PLAYER
    trees: int = 1
    exp3: bool = False
    tree_parameter: str = attrs.field(default="", eq=False)
    cutoff: int | None = None

    def __attrs_post_init__(self) -> None:
        observers = EACH_PLAYER, EVERY_ACTION, ROOT_PLAYER
        checks.one_of("the root of a scheme", self.root, (FRESH, ONCE, TRUE, GONE))
        checks.one_of("the observer of a scheme", self.observer, observers)
        if self.trees != 1 and not self.tree_parameter:
            raise ValueError(
                f"trees of a scheme is {self.trees}; a scheme of several trees names by tree_parameter what gives their number"
            )

    @property
    def cheats(self) -> bool:
        """Whether the search uses facts hidden from its player."""
        return self.root == TRUE

    def view(self, game: G) -> G:
        """A game with the observers of the scheme: each player, or a single one."""
        return game if self.observer == EACH_PLAYER else _with_one_observer(game)

    def uses_exp3(self, game: AnyGame) -> bool:
        """Whether EXP3 decides anything in the searches of a game."""
        return self.exp3 and game.simultaneous is not None

    def with_exp3(self) -> "Scheme":
        """The same scheme with EXP3 instead of the tree policy at simultaneous decisions (section III-C1)."""
        return attrs.evolve(self, exp3=True)

    def with_cutoff(self, cutoff: int | None) -> "Scheme":
        """The same scheme with playouts cut off after so many actions of simulation; itself for None.

        Raises:
            ValueError: `cutoff` is not an integer of at least 0.
        """
        if cutoff is None:
            return self
        return attrs.evolve(self, cutoff=checks.integer("cutoff", cutoff, least=0, most=LATEST))

    def __str__(self) -> str:
        number = f"({self.tree_parameter}={self.trees})" if self.tree_parameter else ""
        cut = "" if self.cutoff is None else f"{_CUTOFF}{self.cutoff}"
        return f"{self.name}{number}{_EXP3 if self.exp3 else ''}{cut}"

    __repr__ = __str__

    def label(self, strategy: object) -> str:
        """The text of a search by a strategy; the default scheme is omitted."""
        return str(strategy) if self == MO_ISMCTS else f"{strategy} by {self.describe()}"

    def describe(self) -> str:
        """The text of the scheme wherever its results are shown: a scheme that cheats says so."""
        return f"{self} (cheating: it sees what is hidden)" if self.cheats else str(self)


MO_ISMCTS = Scheme("MO_ISMCTS")
SO_ISMCTS = Scheme("SO_ISMCTS", observer=EVERY_ACTION)
SO_ISMCTS_POM = Scheme("SO_ISMCTS_POM", observer=ROOT_PLAYER)
CheatingUCT = Scheme("CheatingUCT", TRUE, EVERY_ACTION)


def DeterminizedUCT(determinizations: int = 40) -> Scheme:
    """UCT on so many determinizations drawn before the search, each with records of its own (section IV-D).

    Raises:
        ValueError: no integer of at least 1.
    """
    return _of_trees("DeterminizedUCT", ONCE, "determinizations", determinizations)


def CheatingEnsembleUCT(trees: int = 40) -> Scheme:
    """UCT on the true state in so many independent trees (section IV-C).

    Raises:
        ValueError: no integer of at least 1.
    """
    return _of_trees("CheatingEnsembleUCT", TRUE, "trees", trees)


def _of_trees(name: str, root: str, parameter: str, trees: int) -> Scheme:
    number = checks.integer(parameter, trees, least=1, most=MOST_TREES)
    return Scheme(name, root, EVERY_ACTION, number, tree_parameter=parameter)


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        MO_ISMCTS,
        SO_ISMCTS,
        SO_ISMCTS_POM,
        DeterminizedUCT(),
        CheatingUCT,
        CheatingEnsembleUCT(),
    )
}
# those of earlier versions, too, which rows name
_ALL = SCHEMES | {"RIS_ISMCTS": Scheme("RIS_ISMCTS", GONE)}


def parse_scheme(text: str) -> Scheme:
    """The scheme written so: "SO_ISMCTS", "DeterminizedUCT(40)", "MO_ISMCTS with EXP3", "MO_ISMCTS with cutoff=20"; str(scheme) reads back.

    Raises:
        ValueError: there is no such scheme; the message lists the known schemes. TypeError: it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a scheme must be a str, such as 'MO_ISMCTS', not {text!r}")
    uncut, cut, depth = text.strip().partition(_CUTOFF)
    quoted = repr(checks.excerpt(text, SHOWN))
    if cut and not re.fullmatch(_DIGITS, depth):
        raise ValueError(f"{quoted} is not a scheme; write a cut-off as in 'MO_ISMCTS{_CUTOFF}20'")
    exp3 = uncut.endswith(_EXP3)
    parts = re.fullmatch(
        rf"(\w+)(?:\((?:(\w+)\s*=\s*)?(-?{_DIGITS})\))?", uncut.removesuffix(_EXP3).rstrip()
    )
    if parts is None or parts[1] not in _ALL:
        raise ValueError(
            f"{quoted} is not a scheme; known schemes: {', '.join(map(str, SCHEMES.values()))}; each may be followed by '{_EXP3.strip()}'"
        )
    name, parameter, number = parts.groups()
    scheme = _ALL[name]
    if number is not None:
        if not scheme.tree_parameter or parameter not in (None, scheme.tree_parameter):
            raise ValueError(f"{quoted} is not a scheme; write {name} as {scheme}")
        trees = checks.integer(scheme.tree_parameter, int(number), least=1, most=MOST_TREES)
        scheme = attrs.evolve(scheme, trees=trees)
    return (scheme.with_exp3() if exp3 else scheme).with_cutoff(int(depth) if cut else None)
