"""Online Outcome Sampling as a search in a match, and the player who plays by it."""

from collections.abc import Sequence

import attrs
import numpy as np

from icarus.equilibrium.control import go_on
from icarus.equilibrium.oos import AVERAGE, OOS
from icarus.equilibrium.outcome import STEP, online_sampling
from icarus.equilibrium.policies import TabularPolicy, normalised
from icarus.equilibrium.searching import TreeAgent, TreeSearch
from icarus.equilibrium.targets import INSIDE, OUTSIDE, reaching, target_of
from icarus.equilibrium.tree import GameTree
from icarus.kernel.game import Game


class OnlineSearch(TreeSearch):
    """Online Outcome Sampling in one match: `run` may be called at each decision, and what was learned stays.

    Memory begins empty: the first information set of a match enters it with the first sample. `make` without a `run` before it is
    outcome sampling of the whole game.

    Attributes:
        tree: of the game.
        scheme: the settings.
        iterations: made so far in all, each a pair of traversals.
        regrets, sums: cumulative regrets, and weights of the average policy. [slots]
        known: whether an information set is in memory. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no settings.
    """

    LEARNED = ("regrets", "sums", "known", "totals")

    def __init__(self, game: Game | GameTree, scheme: OOS | None = None, *, seed: int | Sequence[int] = 0) -> None:
        scheme = OOS() if scheme is None else scheme
        if not isinstance(scheme, OOS):
            raise TypeError(f"{scheme!r} are no settings; they are OOS(target=…, delta=…, …)")
        super().__init__(game, scheme, seed)
        tree, widest = self.tree, len(self._visits)
        self.regrets = np.zeros(len(tree.slots))
        self._kinds, self.totals = np.zeros(0, np.int32), np.zeros((0, 2))
        if scheme.tail is not None:
            self._kinds, self.totals = _kinds_of(tree)
        self._settings, self._weights = scheme.settings(tree.game), np.zeros(widest)
        self._path, self._sigma = np.zeros(tree.depth, STEP), np.zeros((tree.depth, widest))
        self._marks = np.full(len(tree.nodes), INSIDE, np.uint8)
        self._deals = _sums_of_deals(tree, self._marks)
        online_sampling()  # compiled before a clock runs

    def aim(self, number: int) -> None:
        """Aim at the target that an information set has."""
        if number != self.aimed:
            self._marks, self.aimed = target_of(self.tree, number, self.scheme.target), number
            self._deals = _sums_of_deals(self.tree, self._marks)
            self._settings["aimed"] = number
        if self.scheme.compensation:
            tree, delta = self.tree, self.scheme.delta
            reached = reaching()(tree.nodes, tree.sets, self.average.probabilities, self._marks)
            self._settings["weight"] = 1 / (1 - delta + delta / reached) if reached > 0 else 1.0

    def sample(self, iterations: int, forced: Sequence[int] = ()) -> None:
        """So many iterations at the target; or one traversal along a path, for player `iterations`, which counts as none."""
        tree = self.tree
        online_sampling()(
            *(tree.nodes, tree.sets, tree.ends, self.regrets, self.sums, self._visits, self._odds, self.known),
            *(self._marks, self._deals, self._kinds, self.totals, self._settings, self._control, self._rng),
            *(self._path, self._sigma, self._weights, np.array(forced, np.int64), iterations),
        )

    def make(self, iterations: int, forced: Sequence[int] = ()) -> None:
        """Make so many iterations at the target; or one traversal along a path, for player `iterations`."""
        if len(forced) > 0:
            self.sample(iterations, forced)
        else:
            go_on(self._control, iterations, self.sample)

    def weights(self) -> np.ndarray:
        """What the policy to play from is in proportion to, the average one or the current one of the regrets. [slots]"""
        return self.sums if self.scheme.play == AVERAGE else np.maximum(self.regrets, 0)

    @property
    def weight(self) -> float:
        """w_T: the factor on all updates of the search under way."""
        return float(1 / self._settings["weight"][0])

    @property
    def current(self) -> TabularPolicy:
        """The policy of the regrets."""
        return normalised(self.tree, np.maximum(self.regrets, 0.0))


def _kinds_of(tree: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """For each slot the row of its (player, action), and an empty row (q, n) for each of these."""
    movers = np.repeat(tree.sets["player"], tree.sets["count"]).astype(np.int64)
    pairs, kinds = np.unique(np.stack([movers, tree.slots["action"]], 1), axis=0, return_inverse=True)
    return kinds.reshape(-1).astype(np.int32), np.zeros((len(pairs), 2))


def _sums_of_deals(tree: GameTree, marks: np.ndarray) -> np.ndarray:
    """[2, deals]: the sums of the probabilities up to each deal; in row 1 of those that do not leave the target, normalized."""
    probabilities = tree.deals.probabilities
    aimed = probabilities * (marks[1 : 1 + len(probabilities)] != OUTSIDE)
    if not aimed.any():  # nothing is aimed at yet
        aimed = probabilities
    sums = np.stack([np.cumsum(probabilities), np.cumsum(aimed / aimed.sum())])
    last = [len(probabilities) - 1, int(np.flatnonzero(aimed)[-1])]
    for row in range(2):
        sums[row, last[row] :] = 1.0
    return sums


@attrs.frozen(str=False)
class OOSAgent(TreeAgent):
    """A player who searches by Online Outcome Sampling, and in a match remembers what he has found; for `play` and beside `Agent`.

    Raises:
        TypeError: the scheme are no settings. ValueError: no positive budget.
    """

    scheme: OOS = attrs.field(factory=OOS, validator=attrs.validators.instance_of(OOS))

    def begin(self, game: Game | GameTree, seed: int | Sequence[int] = 0) -> OnlineSearch:
        """A search that has learned nothing yet."""
        return OnlineSearch(game, self.scheme, seed=seed)
