"""How exploitable a search is: full stitching and the aggregate method of Lanctot, Lisý and Bowling (2015).

Full stitching searches in every information set, after the searches in those of the same player that lead there, and keeps what
is learned for those below alone. The aggregate method adds up what the searches of many matches have learned. Matches are played by
uniform choice. Of an `Agent`, who begins anew at each decision, the visits at the root are taken; of searches over the whole tree, Online
Outcome Sampling and ISMCTS, the weights of the average policy.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from icarus import checks
from icarus.equilibrium.arrays import NOTHING
from icarus.equilibrium.best_response import Exploitability, exploitability
from icarus.equilibrium.growth import PLAYERS
from icarus.equilibrium.policies import MISSING, UNIFORM, TabularPolicy, completed, uniform_policy
from icarus.equilibrium.searching import TreeSearch
from icarus.equilibrium.tree import GameTree, tree_of
from icarus.kernel.game import Game

Part = Mapping[int, Sequence[float]]  # by the number of an information set, the probabilities of its actions


def own_predecessors(tree: GameTree) -> np.ndarray:
    """For each information set the one in which the same player last moved before, or NOTHING. [sets]"""
    before = np.full(len(tree.sets), NOTHING, np.int64)
    for number in tree.decisions:
        row = int(tree.views[tree.sets[number]["known"]]["parent"])
        while row != NOTHING and tree.views[row]["set"] == NOTHING:
            row = int(tree.views[row]["parent"])
        before[number] = NOTHING if row == NOTHING else int(tree.views[row]["set"])
    return before


class Stitching:
    """Full stitching under way, in parts that do not depend on one another: each begins where a player moves for the first time.

    Args:
        agent: an Agent, an OOSAgent, or another with `seated(game)` and `search(state, seed)`.
        seed: of the searches; each information set has a stream of its own.

    Attributes:
        tree: of the game.
        parts: the first information sets, by number.
        searches: made so far.
        probabilities: of every action, uniform where nobody has searched yet. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no agent.
    """

    def __init__(self, game: Game | GameTree, agent: Any, *, seed: int = 0) -> None:
        if not callable(getattr(agent, "seated", None)):
            raise TypeError(f"{agent!r} does not search; it must be an Agent or an OOSAgent")
        self.tree = game if isinstance(game, GameTree) else tree_of(game)
        self.agent, self.seed = agent, checks.integer("seed", seed, 0)
        before = own_predecessors(self.tree)
        self._after: dict[int, list[int]] = {}
        for number in self.tree.decisions.tolist():
            self._after.setdefault(int(before[number]), []).append(number)
        self.parts, self.searches = tuple(self._after.get(NOTHING, ())), 0
        self.probabilities = uniform_policy(self.tree).probabilities

    def search(self, part: int) -> dict[int, list[float]]:
        """Search in the information sets of a part; returns what is played in each where there is a choice."""
        seated, found = self.agent.seated(self.tree.game), {}
        memory = getattr(seated, "memory", None)

        def below(number: int) -> None:
            if self.tree.sets[number]["count"] > 1:
                found[number] = seated.search(self.tree.state_of(number), (self.seed, number)).policy.tolist()
                self.searches += 1
            after = self._after.get(number, [])
            kept = memory.memory() if memory is not None and len(after) > 0 else None
            for i, other in enumerate(after):
                if memory is not None and kept is not None and i > 0:
                    memory.recall(kept)
                below(other)

        below(part)
        self.enter(found)
        return found

    def enter(self, found: Part) -> None:
        """Enter what was found in a part, now or in an earlier run.

        Raises:
            ValueError: not as many probabilities as an information set has actions.
        """
        for number, given in found.items():
            one = self.tree.sets[int(number)]
            if len(given) != one["count"]:
                raise ValueError(
                    f"{len(given)} probabilities in an information set of {self.tree.game} with {one['count']} actions"
                )
            self.probabilities[one["slot"] : one["slot"] + one["count"]] = given

    @property
    def policy(self) -> TabularPolicy:
        """The whole policy."""
        return TabularPolicy(self.tree, self.probabilities)


def stitched(
    game: Game | GameTree, agent: Any, *, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> TabularPolicy:
    """The policy of an agent by full stitching: what he would play in each information set, were it reached.

    Args:
        seed: of the searches.
        progress: called with (parts done, parts in all).

    Raises:
        ValueError, TypeError: as for `Stitching`.
    """
    stitching = Stitching(game, agent, seed=seed)
    for done, part in enumerate(stitching.parts):
        if progress is not None:
            progress(done, len(stitching.parts))
        stitching.search(part)
    return stitching.policy


class Aggregate:
    """The aggregate method under way: `play` may be called as often as one likes.

    Args:
        agent: as for `Stitching`.
        missing: what is played where no search has been: "uniform", or "a fixed random action".
        seed: of the matches and the searches.

    Attributes:
        tree: of the game.
        matches, searches: made so far.
        weights: what all searches have found of each action. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no agent; no such way.
    """

    def __init__(self, game: Game | GameTree, agent: Any, *, missing: str = UNIFORM, seed: int = 0) -> None:
        if not callable(getattr(agent, "seated", None)):
            raise TypeError(f"{agent!r} does not search; it must be an Agent or an OOSAgent")
        if missing not in MISSING:
            raise ValueError(f"missing is {missing!r}; it must be {MISSING[0]!r} or {MISSING[1]!r}")
        self.tree = game if isinstance(game, GameTree) else tree_of(game)
        self.agent, self.missing, self.seed = agent, missing, checks.integer("seed", seed, 0)
        self.matches, self.searches, self.weights = 0, 0, np.zeros(len(self.tree.slots))
        self._before = own_predecessors(self.tree)
        self._owner = np.repeat(self.tree.sets["player"], self.tree.sets["count"])

    def play(self, matches: int) -> None:
        """Play so many more matches."""
        for _ in range(checks.integer("matches", matches, 1)):
            self._match((self.seed, self.matches))
            self.matches += 1

    def _match(self, key: tuple[int, int]) -> None:
        seated = [self.agent.seated(self.tree.game) for _ in range(PLAYERS)]
        searched = [False] * PLAYERS
        for number in self._path(np.random.default_rng(key)):
            one = self.tree.sets[number]
            if one["count"] > 1:
                player = int(one["player"])
                gained = self._gained(seated[player], number, (*key, number))
                below = self._owner == player
                if searched[player]:
                    below &= np.repeat(self._at_or_after(number), self.tree.sets["count"])
                self.weights[below] += gained[below]
                searched[player] = True
                self.searches += 1

    def _path(self, luck: np.random.Generator) -> Iterator[int]:
        """The information sets of the players along a match of uniform choice."""
        tree, node = self.tree, 0
        while (number := int(tree.nodes[node]["set"])) >= 0:
            one, k = tree.sets[number], 0
            if one["player"] < 0:
                odds = tree.slots["probability"][one["slot"] : one["slot"] + one["count"]]
                k = int(luck.choice(len(odds), p=odds / odds.sum()))
            else:
                yield number
                k = int(luck.integers(one["count"]))
            node = int(tree.nodes[node]["child"]) + k

    def _gained(self, seated: Any, number: int, seed: tuple[int, ...]) -> np.ndarray:
        """What one search adds to the weights of each action. [slots]"""
        state, memory = self.tree.state_of(number), getattr(seated, "memory", None)
        if isinstance(memory, TreeSearch):
            before = memory.sums.copy()
            seated.search(state, seed)
            return memory.sums - before
        gained, one = np.zeros(len(self.tree.slots)), self.tree.sets[number]
        gained[one["slot"] : one["slot"] + one["count"]] = seated.search(state, seed).visits
        return gained

    def _at_or_after(self, number: int) -> np.ndarray:
        """The information sets that the same player comes to from one of his, itself among them. [sets]"""
        before, reached = np.arange(len(self.tree.sets)), np.zeros(len(self.tree.sets), bool)
        while (before != NOTHING).any():
            reached |= before == number
            before = np.where(before == NOTHING, NOTHING, self._before[before])
        return reached

    @property
    def policy(self) -> TabularPolicy:
        """The policy of all matches together."""
        return completed(self.tree, self.weights, self.missing, self.seed)

    def exploitability(self) -> Exploitability:
        """How far this policy is from an equilibrium."""
        return exploitability(self.tree, self.policy)
