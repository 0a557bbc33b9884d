"""How exploitable a search is, by full stitching (Lanctot, Lisý and Bowling, 2015).

Full stitching searches in every information set. Each search comes after those in the sets of the same player that lead there, and what it
learns is kept for those below alone.

Of an `Agent`, who begins anew at each decision, the visits at the root are taken; of searches over the whole tree, Online Outcome
Sampling, the weights of the average policy.
"""

from collections.abc import Callable

import numpy as np

from icarus import checks
from icarus.engine.match import Player, is_player
from icarus.engine.search import SeatedPlayer, check_callable
from icarus.equilibrium.policies import TabularPolicy, question_to, uniform_policy
from icarus.equilibrium.search import OOSSearch
from icarus.equilibrium.tree import GameOrTree, GameTree, tree_of
from icarus.equilibrium.walk import NOTHING


def own_predecessors(tree: GameTree) -> np.ndarray:
    """For each information set the one in which the same player last moved before, or NOTHING. [sets]"""
    before = np.full(len(tree.sets), NOTHING, np.int64)
    for number in tree.decisions:
        row = int(tree.views[tree.sets[number]["last_view"]]["parent"])
        while row != NOTHING and tree.views[row]["set"] == NOTHING:
            row = int(tree.views[row]["parent"])
        before[number] = NOTHING if row == NOTHING else int(tree.views[row]["set"])
    return before


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
    if not is_player(agent):
        raise TypeError(f"{agent!r} cannot search; it must be an Agent, such as Agent(OOS(), iterations=1000)")
    check_callable("progress", progress, "a function of (parts done, parts in all)")
    tree, seed = tree_of(game), checks.integer("seed", seed, 0)
    before, followers = own_predecessors(tree), dict[int, list[int]]()
    for number in tree.decisions.tolist():
        followers.setdefault(int(before[number]), []).append(number)
    result = uniform_policy(tree)

    def search_from(number: int, seated: SeatedPlayer) -> None:
        if tree.sets[number]["count"] > 1:
            result.at(number)[:] = question_to(seated)(tree.state_of(number), (seed, number))
        below = followers.get(number, [])
        learned = seated.memory() if isinstance(seated, OOSSearch) and len(below) > 1 else None
        for i, follower in enumerate(below):
            if learned is not None and i > 0:
                seated.recall(learned)  # type: ignore[attr-defined]  # who has learned has a memory
            search_from(follower, seated)

    parts = followers.get(NOTHING, [])
    for done, part in enumerate(parts):
        if progress is not None:
            progress(done, len(parts))
        search_from(part, agent.seated(tree.game))
    return result
