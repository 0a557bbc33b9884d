"""ISMCTS as Lanctot, Lisý and Bowling (2015) compare with it: a bandit in every information set of a whole game tree.

What a player saw of the deal is part of his information sets, his own and the other's alike, and the tree is kept in a match. (In
MO-ISMCTS, which `search` runs, the nodes of the other players do not tell their hands apart, and each decision begins anew.)
"""

import functools
from collections.abc import Sequence

import attrs
import numpy as np

from icarus import checks
from icarus.equilibrium.online import bandits
from icarus.equilibrium.online.tree_search import OnlineAlgorithm, TreeSearch
from icarus.equilibrium.tree.arrays import NOTHING
from icarus.equilibrium.tree.tree import GameOrTree, GameTree
from icarus.kernel.game import Game

# The papers': C = 2 max u, where gains go from −max u to max u; γ = 0.2.
EXPLORATION = {bandits.UCB1: 1.0, bandits.REGRET_MATCHING: 0.2}


@attrs.frozen(kw_only=True, repr=False)
class ISMCTS(OnlineAlgorithm):
    """ISMCTS over a whole game tree, with a bandit in every information set.

    Attributes:
        selection: the bandit: "UCB1", "regret matching" (from rewards over their probabilities; Hart and Mas-Colell, 2000) or "EXP3".
        exploration: c of UCB1, for rewards between 0 and 1, or γ of regret matching, how much of the uniform policy is mixed in; None for
            1.0 and 0.2, as in the papers. EXP3 takes none: its γ falls with the trials (Cowling, Powley and Whitehouse, 2012, eq. 5).

    The policy to play from is the share of the visits, with regret matching and EXP3 the mean of the policies, exploration left out.

    Raises:
        ValueError: a setting has an invalid value.
    """

    selection: str = bandits.UCB1
    exploration: float | None = None

    def __attrs_post_init__(self) -> None:
        checks.one_of("selection", self.selection, bandits.SELECTIONS)
        if self.exploration is not None:
            if self.selection == bandits.EXP3:
                raise ValueError(
                    f"exploration is {self.exploration!r}; EXP3 has no such setting, because it computes its own from the trials"
                )
            most = 1 if self.selection == bandits.REGRET_MATCHING else 1e9
            checks.real("exploration", self.exploration, 0, most, above=self.selection == bandits.REGRET_MATCHING)

    def begin(self, game: GameOrTree, seed: int | Sequence[int] = 0) -> "ISMCTSSearch":
        """A search that has learned nothing yet."""
        return ISMCTSSearch(game, self, seed=seed)

    def settings(self, game: Game) -> np.ndarray:
        """[1] of BANDIT."""
        settings, (low, high) = np.zeros(1, bandits.BANDIT), game.utilities
        settings["selection"], settings["target_set"] = bandits.SELECTIONS.index(self.selection), NOTHING
        settings["exploration"] = EXPLORATION.get(self.selection, 0.0) if self.exploration is None else self.exploration
        settings["low"], settings["range"] = low, high - low
        return settings


@functools.lru_cache(maxsize=4)
def _parts_of_chance(tree: GameTree) -> np.ndarray:
    """The probability that chance does its part to come to each history. [nodes]"""
    reach_probabilities = np.zeros(len(tree.nodes))
    bandits.reach_by_chance(tree.nodes, tree.sets, tree.slots["probability"].copy(), reach_probabilities)
    return reach_probabilities


class ISMCTSSearch(TreeSearch):
    """ISMCTS over a whole game tree in one match: `run` may be called at each decision, and the tree stays.

    A search begins with the histories of the information set searched for, each as likely as chance makes it, whatever the players
    did. `make` without a `run` before it searches from the deal.

    Attributes:
        tree: of the game.
        algorithm: the settings.
        arms: what the bandits have learned. [slots] of ARM
        in_memory: whether an information set is. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no settings.
    """

    algorithm: ISMCTS
    LEARNED = ("_learned", "in_memory")

    def __init__(self, game: GameOrTree, algorithm: ISMCTS | None = None, *, seed: int | Sequence[int] = 0) -> None:
        algorithm = ISMCTS() if algorithm is None else algorithm
        if not isinstance(algorithm, ISMCTS):
            raise TypeError(f"the settings must be ISMCTS(selection=…, exploration=…), not {algorithm!r}")
        super().__init__(game, algorithm, seed)
        tree = self.tree
        self._learned = np.zeros((len(tree.slots), len(bandits.ARM.names or ())))  # numpy copies records slowly
        self._set_views()
        self._settings = algorithm.settings(tree.game)
        self._path, self._sigma = np.zeros(tree.depth, bandits.TRIAL), np.zeros(len(self._visits))
        self._starts, self._shares = np.zeros(1, np.int64), np.ones(1)
        bandits.search_by_bandits.prepare(*self._arguments(0))  # compiled before a clock runs

    def _set_views(self) -> None:
        self.arms = self._learned.view(bandits.ARM)[:, 0]
        self.sums = self.arms["weight"]

    def __setstate__(self, state: dict[str, object]) -> None:
        """A copy, or what was pickled: its views are of its own array."""
        vars(self).update(state)
        self._set_views()

    def aim(self, number: int) -> None:
        """Begin with the histories of an information set."""
        self._starts = self.tree.histories_of(number)
        self._shares = np.cumsum(_parts_of_chance(self.tree)[self._starts])
        self._shares = self._shares / self._shares[-1]
        self._shares[-1] = 1.0
        self.target_set = number
        self._settings["target_set"] = number

    def sample(self, iterations: int) -> None:
        """At most so many iterations in compiled code."""
        bandits.search_by_bandits(*self._arguments(iterations))

    def _arguments(self, iterations: int) -> tuple[object, ...]:
        tree = self.tree
        arrays = bandits.Bandits(
            *(tree.nodes, tree.sets, tree.ends, self.arms, self.in_memory, self._visits, self._chance_policy),
            *(self._settings, self._rng, self._path, self._sigma),
        )
        return arrays, self._starts, self._shares, self._control, iterations

    @property
    def updates(self) -> np.ndarray:
        """How often the average policy was updated in each information set: the trials of its bandit. [sets]"""
        return np.add.reduceat(self.arms["trials"], self.tree.sets["slot"])

    def values_in(self, number: int) -> np.ndarray:
        """The mean reward after each action of an information set, by UCB1; nan where it was not tried."""
        if self.algorithm.selection != bandits.UCB1:
            return super().values_in(number)
        arms = self.arms[self.tree.slots_of(number)]
        return np.divide(arms["score"], arms["trials"], out=np.full(len(arms), np.nan), where=arms["trials"] > 0)
