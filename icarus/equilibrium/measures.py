"""How exploitable a search is (Lanctot, Lisý and Bowling, 2015): by full stitching, or by the aggregate method.

Full stitching searches in every information set. Each search comes after those in the sets of the same player that lead there, and what it
learns is kept for those below alone.

The aggregate method (Lisý, Lanctot and Bowling, 2015) adds up what the searches of many matches have learned, in either seat against
uniform choice: each adds all that is known by then of its information set and of those that follow. The authors' program leaves out
information sets with fewer than 20 updates, which the text does not tell; so it is done here.

Of an `Agent`, who begins anew at each decision, the visits at the root are taken; of searches over the whole tree, Online Outcome
Sampling, the weights of the average policy.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from icarus import checks
from icarus.engine.match import Player, is_player
from icarus.engine.search import SearchResult, SeatedPlayer, check_callable
from icarus.equilibrium.arrays import NOTHING
from icarus.equilibrium.growth import PLAYERS
from icarus.equilibrium.policies import (
    Exploitability,
    TabularPolicy,
    checked_probabilities,
    exploitability,
    normalise,
    uniform_policy,
)
from icarus.equilibrium.search import OOSSearch
from icarus.equilibrium.tree import GameOrTree, GameTree, tree_of

STITCHING, AGGREGATE = "stitching", "aggregate"
FEWEST = 20  # updates of an information set that counts


def own_predecessors(tree: GameTree) -> np.ndarray:
    """For each information set the one in which the same player last moved before, or NOTHING. [sets]"""
    before = np.full(len(tree.sets), NOTHING, np.int64)
    for number in tree.decisions:
        row = int(tree.views[tree.sets[number]["last_view"]]["parent"])
        while row != NOTHING and tree.views[row]["set"] == NOTHING:
            row = int(tree.views[row]["parent"])
        before[number] = NOTHING if row == NOTHING else int(tree.views[row]["set"])
    return before


def refuse_unless_it_searches(agent: object) -> None:
    """Refuse what is not a player of a match.

    Raises:
        TypeError: `agent` is not an Agent.
    """
    if not is_player(agent):
        raise TypeError(f"{agent!r} cannot search; it must be an Agent, such as Agent(OOS(), iterations=1000)")


def stitch(
    game: GameOrTree, agent: Player, *, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> TabularPolicy:
    """The policy of an agent by full stitching: its policy in each information set, by a search there; uniform without a choice.

    Args:
        agent: an Agent, or another with `seated(game)` and `search(state, seed)`.
        seed: of the searches; each information set has a stream of its own.
        progress: called with (parts done, parts in all); a part is what follows on one of a player's first information sets.

    Raises:
        ValueError, TypeError: as for a `GameTree`; no agent; `progress` is no function.
    """
    refuse_unless_it_searches(agent)
    check_callable("progress", progress, "a function of (parts done, parts in all)")
    tree, seed = tree_of(game), checks.integer("seed", seed, 0)
    before, followers = own_predecessors(tree), dict[int, list[int]]()
    for number in tree.decisions.tolist():
        followers.setdefault(int(before[number]), []).append(number)
    result = uniform_policy(tree)

    def search_from(number: int, seated: SeatedPlayer) -> None:
        if tree.sets[number]["count"] > 1:
            answer = seated.search(tree.state_of(number), (seed, number)).policy
            result.at(number)[:] = checked_probabilities(tree, number, answer)
        memory, below = _memory(seated), followers.get(number, [])
        learned = memory.memory() if memory is not None and len(below) > 1 else None
        for i, follower in enumerate(below):
            if memory is not None and learned is not None and i > 0:
                memory.recall(learned)
            search_from(follower, seated)

    parts = followers.get(NOTHING, [])
    for done, part in enumerate(parts):
        if progress is not None:
            progress(done, len(parts))
        search_from(part, agent.seated(tree.game))
    return result


class Aggregate:
    """The aggregate method under way: `play` can be called repeatedly.

    Args:
        agent: an Agent, or another with `seated(game)` and `search(state, seed)`.
        seed: of the matches and the searches.

    Attributes:
        tree: of the game.
        matches, searches: made so far; a match in either seat counts one.
        weights: the sum of the results of all searches for each action. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no agent.
    """

    def __init__(self, game: GameOrTree, agent: Player, *, seed: int = 0) -> None:
        refuse_unless_it_searches(agent)
        self.tree = tree_of(game)
        self.agent, self.seed = agent, checks.integer("seed", seed, 0)
        self.matches, self.searches, self.weights = 0, 0, np.zeros(len(self.tree.slots))
        self._before = own_predecessors(self.tree)

    def play(self, matches: int) -> None:
        """Play so many more matches. One that Ctrl-C or an error ends counts nothing.

        Raises:
            ValueError: `matches` is not a positive integer.
        """
        for _ in range(checks.integer("matches", matches, 1)):
            searches, weights = self.searches, self.weights.copy()
            try:
                for player in range(PLAYERS):
                    self._play_in_seat(player, (self.seed, self.matches, player))
            except BaseException:
                self.searches, self.weights = searches, weights
                raise
            self.matches += 1

    def _play_in_seat(self, player: int, key: tuple[int, ...]) -> None:
        """A match of the agent against uniform choice."""
        seated = self.agent.seated(self.tree.game)
        policies: dict[int, np.ndarray] = {}
        for number in self._path(np.random.default_rng(key), policies):
            info_set = self.tree.sets[number]
            if info_set["player"] == player and info_set["count"] > 1:
                result = self._search(seated, number, key)
                policies[number] = result.policy
                included, memory = self._at_or_after(number), _memory(seated)
                if memory is None:
                    self._add(self._at_root(number, result), included)
                else:
                    self._add(memory.sums, included & (memory.updates >= FEWEST))

    def _path(self, rng: np.random.Generator, policies: Mapping[int, np.ndarray]) -> Iterator[int]:
        """The information sets of the players along a match; where no policy is given in time, they choose uniformly."""
        tree, node = self.tree, 0
        while (number := int(tree.nodes[node]["set"])) >= 0:
            info_set = tree.sets[number]
            probabilities: np.ndarray | None = tree.slots["probability"][tree.slots_of(number)]
            if info_set["player"] >= 0:
                yield number
                probabilities = policies.get(number)
            if probabilities is None:
                k = rng.integers(info_set["count"])
            else:
                k = rng.choice(len(probabilities), p=probabilities / probabilities.sum())
            node = int(tree.nodes[node]["child"]) + int(k)

    def _search(self, seated: SeatedPlayer, number: int, key: tuple[int, ...]) -> SearchResult:
        self.searches += 1
        return seated.search(self.tree.state_of(number), (*key, number))

    def _at_root(self, number: int, result: SearchResult) -> np.ndarray:
        """The visits of a search that leaves no tree behind. [slots]"""
        visits = np.zeros(len(self.tree.slots))
        visits[self.tree.slots_of(number)] = result.visits
        return visits

    def _add(self, weights: np.ndarray, included: np.ndarray) -> None:
        """Add weights of the slots in the information sets that count."""
        slots = np.repeat(included, self.tree.sets["count"])
        self.weights[slots] += weights[slots]

    def _at_or_after(self, number: int) -> np.ndarray:
        """The information sets that the same player comes to from one of his, itself among them. [sets]"""
        before, reached = np.arange(len(self.tree.sets)), np.zeros(len(self.tree.sets), bool)
        while (before != NOTHING).any():
            reached |= before == number
            before = np.where(before == NOTHING, NOTHING, self._before[before])
        return reached

    @property
    def policy(self) -> TabularPolicy:
        """The policy of all matches together; uniform where no search was made."""
        return normalise(self.tree, self.weights)

    def exploitability(self) -> Exploitability:
        """How far this policy is from an equilibrium."""
        return exploitability(self.tree, self.policy)


def _memory(seated: SeatedPlayer) -> OOSSearch | None:
    """What a player has learned; None of one who keeps no tree."""
    memory = getattr(seated, "memory", None)
    return memory if isinstance(memory, OOSSearch) else None
