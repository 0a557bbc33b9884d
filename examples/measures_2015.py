"""The measurements of Lanctot, Lisý and Bowling (2015): NashConv of a search from the deal, by full stitching, and by aggregate methods.

python -m examples.measures_2015 rows.jsonl root liars-dice "OOS()" "ISMCTS()" --iterations 100000
python -m examples.measures_2015 rows.jsonl aggregate-aamas liars-dice "WeightedOOS(delta=0.5)" "ISMCTS()" --iterations 20000
"""

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from experiments.run import provenance
from experiments.studies.equilibrium_2015 import AGGREGATE_AAMAS, ROOT, STITCHING, StudyRow, table
from icarus import Agent, State, exploitability, games, play
from icarus.arena.ledger import Ledger
from icarus.arena.player import RandomPlayer, parse_strategy
from icarus.commands.console import make_program, print_text, run_main
from icarus.engine.search import SearchResult
from icarus.equilibrium import GameTree, OOSSearch, stitch
from icarus.equilibrium.beliefs import key_of
from icarus.equilibrium.policies import PolicyLike, normalise, own_predecessors
from icarus.equilibrium.tree import tree_of
from icarus.equilibrium.walk import NOTHING, PLAYERS
from icarus.kernel import AnyGame
from icarus.load_files import load_file

AGGREGATES = ("aggregate", AGGREGATE_AAMAS)
EXAMPLE = Path(__file__).with_name("ismcts_2015.py")


class Aggregate:
    """What the searches of many matches have learned, added up over the information sets of a tree: the papers' aggregate method.

    Of AAAI's workshop matches are of uniform choice; the first search of a player in a match adds all that it has learned, a later one
    what it has learned about the information sets from its own on. Of AAMAS one player takes the actions of his searches, against
    uniform choice; each adds all that is known by then of its information set and of those that follow. (That program leaves out sets
    with fewer than 20 updates, of which the text does not tell.)
    """

    def __init__(self, tree: GameTree, agent: Agent, plays: bool) -> None:
        self.tree, self.agent, self.plays = tree, agent, plays
        self.searches = 0
        self.weights = np.zeros(len(tree.slots))
        self._before = own_predecessors(tree)
        keys = np.array([*map(key_of, tree.information_states())])
        self._order = np.argsort(keys)
        self._keys = keys[self._order]

    def play(self, match: int, seed: int) -> None:
        """A match, in either seat where the player takes his own actions."""
        for seat in range(PLAYERS if self.plays else 1):
            players: list[Any] = [Added(self) for _ in range(PLAYERS)]
            if self.plays:
                players[1 - seat] = RandomPlayer()
            play(self.tree.game, players, seed=(seed, match, seat))

    def learned(self, search: OOSSearch) -> np.ndarray:
        """The weights of a search. [slots]"""
        store, sets = search.store, self.tree.sets
        weights = np.zeros(len(self.weights))
        places = np.flatnonzero(store.keys)
        numbers = self._order[np.searchsorted(self._keys, store.keys[places])]
        for k in range(int(sets["count"].max())):
            has = sets["count"][numbers] > k
            weights[sets["slot"][numbers[has]] + k] = store.sums[store.first[places[has]] + k]
        return weights * getattr(search, "scale", 1.0)

    def add(self, weights: np.ndarray, state: State, is_all: bool) -> None:
        """Add weights of the information sets of the player to move: of all, or from the state's own on."""
        included = self.tree.sets["player"] == state.current_player()
        if not is_all:
            number, before = self.tree.set_at(state), np.arange(len(self._before))
            included = before == number
            while (before != NOTHING).any():  # a step back from each set
                before = np.where(before == NOTHING, NOTHING, self._before[before])
                included |= before == number
        self.weights += weights * np.repeat(included, self.tree.sets["count"])
        self.searches += 1


@attrs.define
class Added:
    """A player of a match whose searches are added up."""

    whole: Aggregate
    inner: Any = None
    before: Any = None

    def seated(self, game: AnyGame) -> "Added":
        return attrs.evolve(self, inner=self.whole.agent.seated(game))

    def search(self, state: State, seed: Sequence[int]) -> SearchResult:
        result = self.inner.search(state, seed)
        learned = self.whole.learned(self.inner)
        is_first, plays = self.before is None, self.whole.plays
        since = learned if is_first or plays else learned - self.before
        self.whole.add(since, state, is_first and not plays)
        self.before = learned
        return result if plays else RandomPlayer().search(state, seed)


def measure(
    out: Path, method: str, game: str, players: list[str], iterations: int = 10_000, seeds: int = 10, matches: int = 500
) -> None:
    """Measure NashConv as the papers do, a row for each seed and player, and print the means; go on where a file ends.

    The method is root (one search from the deal), stitching, aggregate (of AAAI) or aggregate-aamas; where nothing was learned, choice is
    uniform. Players may be those of examples/ismcts_2015.py."""
    load_file(EXAMPLE)
    name = f"{method} of {matches} matches" if method in AGGREGATES else method
    with Ledger(out, ("game", "player", "method", "iterations", "seed")) as ledger:
        for seed, player in itertools.product(range(seeds), players):
            agent = Agent(parse_strategy(player, {}), iterations=iterations)
            row: StudyRow = {"game": str(games.load(game)), "player": str(agent.strategy)}
            row |= {"method": name, "iterations": iterations, "seed": seed}
            if row not in ledger:
                ledger.keep(row | _measured(games.load(game), agent, method, matches, seed))
        same = [row for row in ledger.rows.values() if row["method"] == name]
        titles = {str(parse_strategy(player, {})): player for player in players}
        print_text(table(same, {game: game}, titles))


def _measured(game: AnyGame, agent: Agent, method: str, matches: int, seed: int) -> StudyRow:
    started = time.process_time()
    policy: PolicyLike
    if method == ROOT:
        learned = agent.strategy.begin(game, seed)  # type: ignore[union-attr]
        learned.make(agent.iterations)
        policy, searches = learned, 1
    elif method == STITCHING:
        policy = stitch(game, agent, seed=seed)
        searches = len(tree_of(game).sets)
    else:
        whole = Aggregate(tree_of(game), agent, method == AGGREGATE_AAMAS)
        for match in range(matches):
            whole.play(match, seed)
        policy, searches = normalise(whole.tree, whole.weights), whole.searches
    spent = {"searches": searches, "processor_seconds": round(time.process_time() - started, 3)}
    found = {"nash_conv": exploitability(game, policy).nash_conv}
    return found | spent | {"provenance": provenance()}


app = make_program((measure,), "The measurements of 2015.")

if __name__ == "__main__":
    run_main(app, "measures_2015")
