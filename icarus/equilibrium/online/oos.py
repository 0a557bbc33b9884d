"""Online Outcome Sampling (Lanctot, Lisý and Bowling, 2015): its settings, and the search in a match."""

from collections.abc import Sequence

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.policy import RULE_ARGMAX, RULE_EPSILON_GREEDY, RULE_GIBBS, RULE_ROULETTE, RULE_UNIFORM
from icarus.equilibrium.online.outcome_sampling import SETTINGS, STEP, Sampling, sample_online
from icarus.equilibrium.online.targets import INFORMATION_SET, INSIDE, OUTSIDE, TARGETS, reach_of_target, target_of
from icarus.equilibrium.online.tree_search import OnlineAlgorithm, TreeSearch
from icarus.equilibrium.tree.arrays import NOTHING
from icarus.equilibrium.tree.tree import GameOrTree, GameTree
from icarus.kernel.game import Game
from icarus.specs import MAST, TO_MAST, parse

AVERAGE, CURRENT = "average", "current"
_TAIL_RULES = (RULE_GIBBS, RULE_EPSILON_GREEDY, RULE_ROULETTE, RULE_ARGMAX)


def _checked_tail(value: object) -> Enhancement | None:
    """The policy of the playouts beyond the tree; text is parsed."""
    tail = parse(value) if isinstance(value, str) else value
    if tail is None:
        return None
    if isinstance(tail, Enhancement) and len(tail.components) == 1:
        same_kind = tail.policy.source == MAST.policy.source and tail.backpropagation == MAST.backpropagation
        if same_kind and tail.policy.rule.code in _TAIL_RULES and tail.capture in (MAST.capture, TO_MAST.capture):
            return tail
    raise ValueError(
        f"tail is {value!r}; it must be None for uniform choice, or MAST or TO_MAST with a rule other than UCB1, such as "
        "mast(epsilon_greedy(0.2))"
    )


@attrs.frozen(kw_only=True, repr=False)
class OOS(OnlineAlgorithm):
    """How Online Outcome Sampling searches (Lanctot, Lisý and Bowling, 2015).

    Attributes:
        target: "information set" (IST): what agrees with all that the searching player knows; or "public subgame" (PST): what agrees
            with the actions that everybody saw.
        delta: δ, the probability that an iteration aims at the target. With 1 convergence is lost.
        exploration: ε of the sampling.
        regret_exploration: γ, the share of the uniform policy in regret matching.
        compensation: the factor w_T of the version of AAMAS 2015 on all updates of a search, so that samples made before the match came
            to the target do not outweigh those made since: w_T = (1 − δ) + δ / π̄(Z_sub), how much more often the target is reached by
            aiming than by the average policy (as the text defines it: the printed formula is 1 for IST).
        tail: the policy beyond the tree: None for uniform choice, or MAST or TO_MAST by Gibbs, ε-greedy, roulette or argmax.
        play: the "average" policy, or the "current" one of the regrets.

    Raises:
        ValueError: a setting has an invalid value.
    """

    target: str = INFORMATION_SET
    delta: float = 0.9
    exploration: float = 0.4
    regret_exploration: float = 0.01
    compensation: bool = False
    tail: Enhancement | None = attrs.field(default=None, converter=_checked_tail)
    play: str = AVERAGE

    def __attrs_post_init__(self) -> None:
        checks.one_of("target", self.target, TARGETS)
        checks.one_of("play", self.play, (AVERAGE, CURRENT))
        checks.one_of("compensation", self.compensation, (True, False))
        checks.real("delta", self.delta, 0, 1)
        checks.real("exploration", self.exploration, 0, 1, above=True)
        checks.real("regret_exploration", self.regret_exploration, 0, 1)

    def begin(self, game: GameOrTree, seed: int | Sequence[int] = 0) -> "OOSSearch":
        """A search that has learned nothing yet."""
        return OOSSearch(game, self, seed=seed)

    def settings(self, game: Game) -> np.ndarray:
        """[1] of SETTINGS."""
        settings, (low, high) = np.zeros(1, SETTINGS), game.utilities
        for name in ("delta", "exploration", "regret_exploration"):
            settings[name] = getattr(self, name)
        settings["target_set"] = NOTHING
        settings["weight"], settings["low"], settings["range"] = 1.0, low, high - low
        settings["rule"] = RULE_UNIFORM if self.tail is None else self.tail.policy.rule.code
        if self.tail is not None:
            settings["parameter"] = next((value for _, value in self.tail.policy.rule.parameters), 0.0)
            settings["beyond"] = self.tail.capture == MAST.capture
        return settings


class OOSSearch(TreeSearch):
    """Online Outcome Sampling in one match: `run` may be called at each decision, and what was learned stays.

    Memory begins empty: the first information set of a match enters it with the first sample. `make` without a `run` before it is
    outcome sampling of the whole game.

    Attributes:
        tree: of the game.
        algorithm: the settings.
        iterations: made so far in all, each a pair of traversals.
        regrets, sums: cumulative regrets, and weights of the average policy. [slots]
        in_memory: whether an information set is. [sets]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no settings.
    """

    algorithm: OOS
    LEARNED = ("regrets", "sums", "_updates", "in_memory", "totals")

    def __init__(self, game: GameOrTree, algorithm: OOS | None = None, *, seed: int | Sequence[int] = 0) -> None:
        algorithm = OOS() if algorithm is None else algorithm
        if not isinstance(algorithm, OOS):
            raise TypeError(f"the settings must be OOS(target=…, delta=…, …), not {algorithm!r}")
        super().__init__(game, algorithm, seed)
        tree, widest = self.tree, len(self._visits)
        self.regrets, self._updates = np.zeros(len(tree.slots)), np.zeros(len(tree.sets), np.int64)
        self._kinds, self.totals = np.zeros(0, np.int32), np.zeros((0, 2))
        if algorithm.tail is not None:
            self._kinds, self.totals = _kinds_of(tree)
        self._settings, self._weights = algorithm.settings(tree.game), np.zeros(widest)
        self._path, self._sigma = np.zeros(tree.depth, STEP), np.zeros((tree.depth, widest))
        self._marks = np.full(len(tree.nodes), INSIDE, np.uint8)
        self._deals = _sums_of_deals(tree, self._marks)
        sample_online.prepare(*self._arguments(0))  # compiled before a clock runs

    def aim(self, number: int) -> None:
        """Aim at the target that an information set has."""
        if number != self.target_set:
            self._marks, self.target_set = target_of(self.tree, number, self.algorithm.target), number
            self._deals = _sums_of_deals(self.tree, self._marks)
            self._settings["target_set"] = number
        if self.algorithm.compensation:
            tree, delta = self.tree, self.algorithm.delta
            target_reach = reach_of_target(tree.nodes, tree.sets, self.average.probabilities, self._marks)
            self._settings["weight"] = 1 / (1 - delta + delta / target_reach) if target_reach > 0 else 1.0

    def sample(self, iterations: int, forced_path: Sequence[int] = ()) -> None:
        """So many iterations at the target; or one traversal along a path, for player `iterations`, which counts as none."""
        sample_online(*self._arguments(iterations, forced_path))

    def _arguments(self, iterations: int, forced_path: Sequence[int] = ()) -> tuple[object, ...]:
        tree = self.tree
        arrays = Sampling(
            *(tree.nodes, tree.sets, tree.ends, self.regrets, self.sums, self._updates, self._visits),
            *(self._chance_policy, self.in_memory, self._marks, self._deals, self._kinds, self.totals, self._settings),
            *(self._rng, self._path, self._sigma, self._weights),
        )
        return arrays, self._control, np.array(forced_path, np.int64), iterations

    def make(self, iterations: int, forced_path: Sequence[int] = ()) -> None:
        """Make so many iterations at the target; or one traversal along a path, for player `iterations`."""
        if len(forced_path) > 0:
            self.sample(iterations, forced_path)
        else:
            super().make(iterations)

    def weights(self) -> np.ndarray:
        """What the policy to play from is in proportion to, the average one or the current one of the regrets. [slots]"""
        return self.sums if self.algorithm.play == AVERAGE else np.maximum(self.regrets, 0)

    @property
    def updates(self) -> np.ndarray:
        """How often the average policy was updated in each information set. [sets]"""
        return self._updates

    @property
    def weight(self) -> float:
        """w_T: the factor on all updates of the search under way."""
        return float(1 / self._settings["weight"][0])


def _kinds_of(tree: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """For each slot the row of its (player, action), and an empty row (q, n) for each of these."""
    movers = np.repeat(tree.sets["player"], tree.sets["count"]).astype(np.int64)
    pairs, kinds = np.unique(np.stack([movers, tree.slots["action"]], 1), axis=0, return_inverse=True)
    return kinds.reshape(-1).astype(np.int32), np.zeros((len(pairs), 2))


def _sums_of_deals(tree: GameTree, marks: np.ndarray) -> np.ndarray:
    """[2, deals]: the sums of the probabilities up to each deal; in row 1 of those that do not leave the target, normalized."""
    probabilities = tree.deals.probabilities
    target_set = probabilities * (marks[1 : 1 + len(probabilities)] != OUTSIDE)
    if not target_set.any():  # nothing is aimed at yet
        target_set = probabilities
    sums = np.stack([np.cumsum(probabilities), np.cumsum(target_set / target_set.sum())])
    last = [len(probabilities) - 1, int(np.flatnonzero(target_set)[-1])]
    for row in range(2):
        sums[row, last[row] :] = 1.0
    return sums
