"""How exploitable a search is, by full stitching (Lanctot, Lisý and Bowling, 2015): a search in every information set.

Each comes after the searches in those of the same player that lead there, and what it learns is kept for those below alone.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from icarus import checks
from icarus.engine.match import Player, is_player
from icarus.engine.validation import check_callable
from icarus.equilibrium.tree.arrays import NOTHING
from icarus.equilibrium.tree.policies import TabularPolicy, checked_probabilities, uniform_policy
from icarus.equilibrium.tree.tree import GameOrTree, GameTree, tree_of
from icarus.kernel import CHANCE

Part = Mapping[int, Sequence[float]]  # by the number of an information set, the probabilities of its actions


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


class Stitching:
    """Full stitching under way, in parts that do not depend on one another: each begins where a player moves for the first time.

    Args:
        agent: an Agent, or another with `seated(game)` and `search(state, seed)`.
        seed: of the searches; each information set has a stream of its own.

    Attributes:
        tree: of the game.
        parts: the first information sets, by number.
        searches: made so far.
        probabilities: of every action, uniform where no search was made yet. [slots]

    Raises:
        ValueError, TypeError: as for a `GameTree`; no agent.
    """

    def __init__(self, game: GameOrTree, agent: Player, *, seed: int = 0) -> None:
        refuse_unless_it_searches(agent)
        self.tree = tree_of(game)
        self.agent, self.seed = agent, checks.integer("seed", seed, 0)
        before = own_predecessors(self.tree)
        self._after: dict[int, list[int]] = {}
        for number in self.tree.decisions.tolist():
            self._after.setdefault(int(before[number]), []).append(number)
        self.parts, self.searches = tuple(self._after.get(NOTHING, ())), 0
        self.probabilities = uniform_policy(self.tree).probabilities

    def search(self, part: int) -> dict[int, list[float]]:
        """Search in the information sets of a part; returns what is played in each where there is a choice.

        Raises:
            ValueError: `part` is not one of `parts`.
        """
        if part not in self.parts:
            raise ValueError(f"part is {part!r}; it must be one of `parts`, which begin with {self.parts[0]}")
        seated, result = self.agent.seated(self.tree.game), {}
        memory = getattr(seated, "memory", None)

        def below(number: int) -> None:
            if self.tree.sets[number]["count"] > 1:
                result[number] = seated.search(self.tree.state_of(number), (self.seed, number)).policy.tolist()
                self.searches += 1
            after = self._after.get(number, [])
            memory_before = memory.memory() if memory is not None and len(after) > 0 else None
            for i, follower in enumerate(after):
                if memory is not None and memory_before is not None and i > 0:
                    memory.recall(memory_before)
                below(follower)

        below(part)
        self.enter(result)
        return result

    def enter(self, result: Part) -> None:
        """Enter what was found in a part, now or in an earlier run.

        Raises:
            ValueError: a number of no information set of a player, or what are not probabilities of its actions.
        """
        for key, probabilities in result.items():
            number = int(key)
            if not 0 <= number < len(self.tree.sets) or self.tree.sets[number]["player"] == CHANCE:
                raise ValueError(f"{key!r} is not the number of an information set of a player in {self.tree.game}")
            self.probabilities[self.tree.slots_of(number)] = checked_probabilities(self.tree, number, probabilities)

    @property
    def policy(self) -> TabularPolicy:
        """The whole policy."""
        return TabularPolicy(self.tree, self.probabilities)


def stitch(
    game: GameOrTree, agent: Player, *, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> TabularPolicy:
    """The policy of an agent by full stitching: its policy in each information set, by a search there.

    Args:
        seed: of the searches.
        progress: called with (parts done, parts in all).

    Raises:
        ValueError, TypeError: as for `Stitching`; `progress` is no function.
    """
    check_callable("progress", progress, "a function of (parts done, parts in all)")
    stitching = Stitching(game, agent, seed=seed)
    for done, part in enumerate(stitching.parts):
        if progress is not None:
            progress(done, len(stitching.parts))
        stitching.search(part)
    return stitching.policy
