"""NashConv in games whose trees nobody holds: of what Online Outcome Sampling has learned from the deal on, exact, by iterations.

    python -m experiments.studies.large_games learned experiments/runs/equilibrium/learned.jsonl
    python -m experiments.studies.large_games curve experiments/runs/equilibrium/learned.jsonl

The average policy is uniform where nothing is stored. Both players' best responses walk over beliefs (`icarus.equilibrium.beliefs`). A
search by ISMCTS has no such policy: it knows its own dice, and each decision of a match is another search.

    python -m experiments.studies.large_games value values.jsonl "generic-poker(ranks=4, copies=6, raises=4, sizes=4)"

The value of a game is between what best responses to the average policy of CFR+ leave to each player, whatever that policy is. Where all
players see every action after the deal, a history is public; what it takes are numbers for each type of a player, that is, for each deal
that he can tell apart.
"""

import itertools
import math
import time
from collections import namedtuple
from pathlib import Path
from typing import Any, TypeAlias

import numba
import numpy as np

from experiments.commands import print_table
from experiments.run import provenance
from experiments.statistics import student_mean
from experiments.studies.equilibrium_2015 import rows_of
from icarus import exploitability, games
from icarus.arena.ledger import GameRow, Ledger, key_of
from icarus.commands.console import make_program, print_note, progress_of, run_main
from icarus.equilibrium import OOSSearch, deals_of
from icarus.equilibrium.walk import PLAYERS, refuse_unless_two_players
from icarus.kernel import CHANCE, TERMINAL, AnyGame, Game, StateData
from icarus.views.document import Table

SEEDS = 10
KEY = ("game", "player", "iterations", "seed")
LARGE = {
    "liars-dice(first=2, second=1)": (10_000, 100_000, 1_000_000, 10_000_000),
    "liars-dice(first=2, second=2)": (10_000, 100_000, 1_000_000),
}


def learned(out: Path, seeds: int = SEEDS) -> None:
    """Measure what outcome sampling has learned, a row for each seed and budget, and go on where a file ends."""
    with Ledger(out, KEY) as ledger:
        for game, seed in itertools.product(LARGE, range(seeds)):
            search = OOSSearch(games.load(game), seed=seed)
            for iterations in LARGE[game]:
                row: GameRow = {"game": game, "player": "OOS", "iterations": iterations, "seed": seed}
                started = time.process_time()
                search.run(iterations)
                if key_of(row, KEY) in ledger.rows:
                    continue
                between = time.process_time()
                distance = exploitability(search.game, search)
                row |= {"nash_conv": distance.nash_conv, "best_responses": distance.best_responses}
                row |= {"sets": int(search.store.used[0]), "sampling": round(between - started, 2)}
                row |= {"walking": round(time.process_time() - between, 2), "provenance": provenance()}
                ledger.keep(row)


def curve(rows: Path) -> None:
    """Print NashConv by iterations: the mean over seeds with its 95 % interval."""
    values: dict[tuple[str, int], list[float]] = {}
    for row in rows_of(rows.parent, rows.name):
        values.setdefault((row["game"], row["iterations"]), []).append(row["nash_conv"])
    means = {key: student_mean(each, 0.0, math.inf) for key, each in values.items() if len(each) > 1}
    lines = tuple(
        (game, f"{iterations:,}", f"{mean.value:.3f} ± {mean.half:.3f}", str(len(values[game, iterations])))
        for (game, iterations), mean in means.items()
    )
    print_table(Table("NashConv by iterations; 95 % intervals", ("game", "iterations", "NashConv", "seeds"), lines))


# ------------------------------------------------------------------------------------------------------------- values by CFR+

BLOCK = 1 << 14  # rows of a subtree that is followed in all its histories at once
SINGLE = 1 << 26  # numbers, of which more are kept in single precision
MOST = 1 << 18  # nodes
NAMES = ("chooser", "count", "first", "size", "histories", "start", "place", "met")
States: TypeAlias = dict[int, StateData]  # by deal


# A node of a public tree: what follows in all histories that go on in the same way. A row is a number for each type, in each history of a
# block. `chooser`: the player; CHANCE also where a single action is legal; TERMINAL. `count`: of actions, each with a row where a player
# chooses. `first`: of `children`; at an end the matrix, and `factor` of it. `size`: rows, of all that follows. `histories`: of the block
# that begins here, when it is come to from above all blocks; else 0. `start`: of the block's numbers. `place`: of the block in `passed`.
# `met`: histories so far.
NODE = np.dtype([("factor", float), *((name, int) for name in NAMES)])

# A public tree, and what CFR+ has learned. `children`: node, and how many rows behind its parent's its own begin. [children, 2]
# `matrices`: utilities, weighed by the probabilities of deals and chance. [ends, players, types, the other's types] `sums`: weights of the
# average policy. `passed`: to and from blocks: the player's reach, the other's, and values. `reach`, `values`: rows by depth. `policies`:
# [depth, actions, row].
PublicTree = namedtuple("PublicTree", "nodes children matrices regrets sums passed reach values policies")


@numba.njit(error_model="numpy")
def follow(
    tree: Any, read: np.ndarray, at: tuple[int, ...], reach: tuple[int, int], player: int, weight: float
) -> None:
    """Tell what a subtree is worth to a player, whose regrets and average policy change; if the weight is 0, to his best response.

    Args:
        read: the numbers in proportion to which players act.
        at: the node, its first number, its depth, and how many histories are followed; 0 above all blocks, where it is one.
        reach: rows of `tree.reach`, the player's own and the other's.
    """
    (number, base, depth, together), types, times = at, tree.matrices.shape[2], max(at[3], 1)
    node, values, worth, row = tree.nodes[number], tree.values[depth], tree.values[depth + 1], types * times
    if together == 0 and node.histories > 0:
        given = tree.passed[node.place : node.place + 3 * types * node.histories].reshape((3, types, node.histories))
        for i in range(types):
            given[0, i, node.met], given[1, i, node.met] = tree.reach[reach[0], i], tree.reach[reach[1], i]
            values[i] = given[2, i, node.met]
        node.met += 1
        return
    own, learns, shape = node.chooser == player, weight > 0.0, (node.count if node.chooser >= 0 else 0, row)
    values[:row] = -np.inf if own and not learns else 0.0
    if node.chooser == TERMINAL:
        for i, j in np.ndindex(types, types):
            utility = node.factor * tree.matrices[node.first, player, i, j]
            out, other = values[i * times : (i + 1) * times], tree.reach[reach[1], j * times : (j + 1) * times]
            for k in range(times):
                out[k] += utility * other[k]
        return
    numbers = read[base : base + shape[0] * row].reshape(shape)
    regrets, sums = (
        tree.regrets[base : base + shape[0] * row].reshape(shape),
        tree.sums[base : base + shape[0] * row].reshape(shape),
    )
    worth[:row] = 0.0
    for k in range(shape[0]):
        for i in range(row):
            worth[i] += numbers[k, i]
    for k in range(shape[0]):
        policy = tree.policies[depth, k]
        for i in range(row):
            policy[i] = numbers[k, i] / worth[i] if worth[i] > 0.0 else 1.0 / node.count
    for k in range(node.count):
        child, below, policy, reached = (
            tree.children[node.first + k],
            reach,
            tree.policies[depth, k],
            tree.reach[reach[0 if own else 1]],
        )
        if shape[0] > 0:
            below, into = (
                (depth + PLAYERS, reach[1]) if own else (reach[0], depth + PLAYERS),
                tree.reach[depth + PLAYERS],
            )
            for i in range(row):
                into[i] = reached[i] * policy[i]
        follow(tree, read, (child[0], base + child[1] * row, depth + 1, together), below, player, weight)
        if own and learns:
            for i in range(row):
                values[i] += policy[i] * worth[i]
                regrets[k, i] += worth[i]
            for i in range(row):
                sums[k, i] += weight * reached[i] * policy[i]
        else:
            for i in range(row):
                values[i] = values[i] + worth[i] if not own else max(values[i], worth[i])
    for k in range(shape[0] if own and learns else 0):
        for i in range(row):
            regrets[k, i] = max(regrets[k, i] - values[i], 0.0)


class PublicCFR:
    """CFR+ over the public tree of a game in which all players see every action after the deal.

    Args:
        power: of the number of an iteration, by which the average policy weighs it.
        gigabytes: of memory, at most.

    Raises:
        ValueError: some action is hidden or depends on the deal, or the tree is too large.
    """

    def __init__(self, game: AnyGame, power: float = 1.0, gigabytes: float = 6.0) -> None:
        refuse_unless_two_players(game)
        if not isinstance(game, Game) or game.observe is not None:
            raise ValueError(f"{game} has no public tree: players are shown something else than each action")
        self.game, self.power, self.iterations, deals = game, power, 0, deals_of(game)
        self._types = [np.unique(seen, return_inverse=True)[1] for seen in deals.observations.T]
        self._known: dict[tuple[str, bytes], tuple[int, int, int]] = {}
        self._nodes, self._children, self._matrices = list[tuple](), list[tuple[int, int]](), dict[bytes, np.ndarray]()
        _, rows, depth = self._grow({k: deals.states[k : k + 1] for k in range(len(deals))}, deals.probabilities)
        nodes, children = np.array(self._nodes, NODE), np.array(self._children)
        types, paths, place = int(np.max(self._types)) + 1, np.eye(1, len(nodes), len(nodes) - 1, dtype=int)[0], 0
        end = rows * types if nodes[-1]["size"] > BLOCK else 0
        for node, count in zip(nodes[::-1], paths[::-1], strict=True):  # parents first
            if node["size"] > BLOCK:
                np.add.at(paths, children[node["first"] : node["first"] + node["count"], 0], count)
            elif count > 0 and node["chooser"] != TERMINAL:
                node["histories"], node["start"], node["place"] = count, end, place
                end, place = end + node["size"] * types * count, place + 3 * types * count
        kind = np.dtype(float if end <= SINGLE else np.float32)
        self.bytes = 2 * end * kind.itemsize
        if self.bytes > gigabytes * 1e9:
            raise ValueError(
                f"{game} is too large: it takes {self.bytes / 1e9:.2f} GB, and the limit is {gigabytes:g} GB"
            )
        self._blocks, passed = np.flatnonzero(nodes["histories"]), np.zeros(place)
        regrets, sums = np.zeros((2, end), kind)
        shape = depth + 1, max(1, nodes["count"].max()), types * max(nodes["histories"].max(), 1)
        rooms = np.ones((shape[0] + PLAYERS, shape[2])), np.zeros((shape[0], shape[2])), np.zeros(shape)
        self._tree = PublicTree(nodes, children, np.array([*self._matrices.values()]), regrets, sums, passed, *rooms)

    def _grow(self, states: States, weights: np.ndarray) -> tuple[int, int, int]:
        """The node after a public history, its rows and its depth, by the states after possible deals and the weights of all."""
        key, ask = (repr([state.tolist() for state in states.values()]), weights.tobytes()), self.game.ask
        if key in self._known:
            return self._known[key]
        mover, *others = {ask("player", state) for state in states.values()}
        legal = {k: () if mover == TERMINAL else tuple(ask("legal", state)) for k, state in states.items()}
        if others or (mover != CHANCE and len({*legal.values()}) > 1) or len(self._nodes) > MOST:
            raise ValueError(
                f"{self.game} has no public tree: who acts, or how, depends on the deal, or it is too large"
            )
        actions, below = sorted({action for each in legal.values() for action in each}), list[tuple[int, int, int]]()
        for action in actions:
            then = weights.copy()
            for k, state in states.items() if mover == CHANCE else ():
                then[k] *= dict(zip(legal[k], ask("chance", state), strict=True)).get(action, 0.0)
            after = {k: state.copy() for k, state in states.items() if then[k] > 0}
            for state in after.values():
                ask("apply", state, action)
            below.append(self._grow(after, then))
        chooser = mover if mover == TERMINAL or len(actions) > 1 else CHANCE
        rows = len(actions) if chooser >= 0 else 0
        sizes, first = [self._nodes[number][4] for number, _, _ in below], len(self._children)
        size = rows + sum(sizes)
        for (number, behind, _), its_size in zip(below, sizes, strict=True):
            self._children.append((number, rows))
            rows += behind if its_size > BLOCK or size <= BLOCK else 0
        last = self._end(states, weights) if mover == TERMINAL else (first, 0.0)
        self._nodes.append((last[1], chooser, len(actions), last[0], size, 0, 0, 0, 0))
        self._known[key] = len(self._nodes) - 1, rows, 1 + max((depth for _, _, depth in below), default=0)
        return self._known[key]

    def _end(self, states: States, weights: np.ndarray) -> tuple[int, float]:
        """The matrix of an end and its factor."""
        utilities, (low, high) = np.zeros([1 + max(map(np.max, self._types))] * PLAYERS), self.game.utilities
        for k, state in states.items():
            gain = low + (high - low) * self.game.ask("rewards", state)[0]
            utilities[self._types[0][k], self._types[1][k]] += weights[k] * gain
        factor = float(utilities.flat[np.abs(utilities).argmax()]) or 1.0
        utilities /= factor
        key = (utilities.round(9) + 0.0).tobytes()
        self._matrices.setdefault(key, np.stack((utilities, -utilities.T)))
        return [*self._matrices].index(key), factor

    def _traverse(self, player: int, weight: float) -> float:
        """Follow all that is above the blocks, to know who comes there; then the blocks; then again what is above, with their values."""
        tree, types = self._tree, self._tree.matrices.shape[2]
        read = tree.regrets if weight > 0 else tree.sums
        for blocks, added in ((self._blocks, 0.0), ((), weight)):
            tree.nodes["met"], tree.reach[:PLAYERS] = 0, 1.0
            follow(tree, read, (len(tree.nodes) - 1, 0, 0, 0), (0, 1), player, added)
            for number in blocks:
                node = tree.nodes[number]
                together, row = int(node["histories"]), types * int(node["histories"])
                given = tree.passed[node["place"] : node["place"] + 3 * row].reshape(3, row)
                tree.reach[:PLAYERS, :row] = given[:2]
                follow(tree, read, (int(number), int(node["start"]), 0, together), (0, 1), player, weight)
                given[2] = tree.values[0, :row]
        return float(tree.values[0, :types].sum())

    def run(self, iterations: int) -> None:
        """Make so many more iterations: the players in turn, each against the other's newest policy."""
        for _ in range(iterations):
            for player in range(PLAYERS):
                self._traverse(player, (self.iterations + 1.0) ** self.power)
            self.iterations += 1

    def best_responses(self) -> tuple[float, float]:
        """The greatest expected gain of each player against the other's average policy."""
        return self._traverse(0, 0.0), self._traverse(1, 0.0)


def value(out: Path, game: str, iterations: int = 1000, gigabytes: float = 6.0) -> None:
    """Bracket the value of a game for player 0 by CFR+ with quadratic averages: a row after 1, 2, 4, … iterations, and after the last."""
    cfr, started = PublicCFR(games.load(game), 2.0, gigabytes), time.process_time()
    print_note(f"{game}: {cfr.bytes / 1e9:.2f} GB, {len(cfr._tree.nodes):,} nodes")
    with Ledger(out, ("game", "iterations")) as ledger, progress_of("iterations", iterations) as show:

        def keep() -> None:
            row: GameRow = {"game": game, "iterations": cfr.iterations}
            if key_of(row, ledger.fields) not in ledger.rows:
                first, second = cfr.best_responses()
                row |= {"nash_conv": first + second, "bracket": (-second, first)}
                ledger.keep(row | {"seconds": round(time.process_time() - started), "provenance": provenance()})
                print_note(f"after {cfr.iterations} iterations the value is from {-second:.6f} to {first:.6f}")

        try:
            while cfr.iterations < iterations:
                cfr.run(1)
                show(cfr.iterations)
                if cfr.iterations.bit_count() == 1:
                    keep()
        finally:
            keep()


app = make_program((learned, curve, value), "NashConv beyond small games.")

if __name__ == "__main__":
    run_main(app, "large_games")
