"""CFR+ over the public tree of a game.

Where all players see every action after the deal, a history is public; what CFR+ takes are numbers for each type of a player, that is, for
each deal that he can tell apart. So the tree may be far larger than one of all histories.
"""

from collections import namedtuple
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

from icarus.arena.ledger import write_whole
from icarus.equilibrium import deals_of
from icarus.equilibrium.walk import PLAYERS, refuse_unless_two_players
from icarus.kernel import CHANCE, TERMINAL, AnyGame, Game, StateData

BLOCK = 1 << 14  # rows of a subtree that is followed in all its histories at once
SINGLE = 1 << 26  # numbers, of which more are kept in single precision
MOST = 1 << 18  # nodes
TOGETHER = 1024  # numbers of a row, so that all rows of a path stay in the processor's cache


# A node of a public tree: what follows in all histories that go on in the same way. A row is a number for each type, in each history of a
# block. `chooser`: the player; CHANCE also where a single action is legal; TERMINAL. `count`: of actions, each with a row where a player
# chooses. `first`: of `children`; at an end of `utilities`. `size`: rows, of all that follows. `histories`: of the block that begins here,
# where it is come to from above all blocks; else 0. `start`: of the block's numbers. `place`: of the block in `passed`. `met`: histories so
# far.
NODE = np.dtype(
    [
        (name, int)
        for name in ("chooser", "count", "first", "size", "histories", "start", "place", "met")
    ]
)


class PublicNode(NamedTuple):
    """A node while the tree grows.

    Attributes:
        chooser, first, size: as those of NODE; actions: its `count`.
        rows: of it and of all that follows, but for blocks that begin there.
        depth: of the tree from here on.
    """

    chooser: int
    actions: int
    first: int
    size: int
    rows: int
    depth: int


# A public tree, and what CFR+ has learned. `children`: node, and how many rows behind its parent's its own begin. [children, 2]
# `utilities`: weighed by the probabilities of deals and chance. [ends, players, types, the other's types] `sums`: weights of the
# average policy. `passed`: to and from blocks: the player's reach, the other's, and values. `reach`, `values`, `totals` (of the weights of
# all actions), `policies` (of one action): rows by depth.
PublicTree = namedtuple(
    "PublicTree", "nodes children utilities regrets sums passed reach values totals policies"
)


@numba.njit(error_model="numpy")
def follow(
    tree: Any,
    at: tuple[int, ...],
    reach: tuple[int, int],
    player: int,
    weight: float,
    discount: float,
) -> None:
    """Tell what a subtree is worth to a player, whose regrets and average policy change.

    Args:
        weight: of the policy in the average. At 0 and below nothing changes: the player responds best to the other's average policy at 0,
            to the other's newest policy below.
        discount: of the regrets before.
        at: the node, its first number, its depth, and how many histories are followed together; 0 stands for the one above all blocks.
        reach: rows of `tree.reach`, the player's own and the other's.
    """
    number, base, depth, together = at
    types = tree.utilities.shape[2]
    times = max(together, 1)
    node = tree.nodes[number]
    row = types * times
    nothing = type(weight)(0)  # a number of another precision would make a loop three times as slow
    learns = weight > nothing
    is_own = node.chooser == player
    count = node.count if node.chooser >= 0 else 0
    values, worth = tree.values[depth, :row], tree.values[depth + 1, :row]
    if together == 0 and node.histories > 0:
        for i in range(row):
            place = node.place + node.met + i * node.histories
            for side in range(PLAYERS):
                tree.passed[side, place] = tree.reach[reach[side], i]
            values[i] = tree.passed[PLAYERS, place]
        node.met += 1
        return
    if node.chooser == TERMINAL:
        shape = (types, times)
        opposing = tree.reach[reach[1], :row].reshape(shape)
        np.dot(tree.utilities[node.first, player], opposing, values.reshape(shape))
        return
    values[:] = -np.inf if is_own and not learns else 0.0
    numbers = slice(base, base + count * row)
    regrets = tree.regrets[numbers].reshape((count, row))
    sums = tree.sums[numbers].reshape((count, row))
    weights = regrets if weight != 0.0 else sums
    totals, policy = tree.totals[depth, :row], tree.policies[depth, :row]
    totals[:] = nothing
    uniform = type(weight)(1 / max(count, 1))
    for k in range(count):
        totals += weights[k]
    reached = tree.reach[reach[0 if is_own else 1], :row]
    passed = tree.reach[depth + PLAYERS, :row]
    below = reach
    if count:
        below = (depth + PLAYERS, reach[1]) if is_own else (reach[0], depth + PLAYERS)
    for k in range(node.count):
        child = tree.children[node.first + k]
        for i in range(row if count else 0):
            policy[i] = weights[k, i] / totals[i] if totals[i] > nothing else uniform
            passed[i] = reached[i] * policy[i]
        then = child[0], base + child[1] * row, depth + 1, together
        follow(tree, then, below, player, weight, discount)
        if not is_own:
            values += worth
        elif not learns:
            for i in range(row):
                values[i] = max(values[i], worth[i])
        else:
            for i in range(row):
                values[i] += policy[i] * worth[i]
                regrets[k, i] = discount * regrets[k, i] + worth[i]
                sums[k, i] += weight * passed[i]
    for k in range(count if learns and is_own else 0):
        for i in range(row):
            regrets[k, i] = max(regrets[k, i] - values[i], nothing)


class PublicCFR:
    """CFR+ over the public tree of a game in which all players see every action after the deal; the players learn in turn.

    Args:
        game: a game of two players.
        power: of the number of an iteration, by which the average policy weighs it.
        gigabytes: of memory, at most.

    Attributes:
        gigabytes: of memory that it takes.
        discounts: whether regrets count less with each iteration after them (Brown and Sandholm, 2019, with α = 1.5).
        learned: regrets, and sums of the weights of the average policy. [2, numbers]

    Raises:
        ValueError: some action is hidden or depends on the deal, or the tree is too large.
    """

    layout = f"rows of {TOGETHER}"  # the order in which what is learned stands in a file
    discounts = False
    discount = 1.0

    def __init__(self, game: AnyGame, power: int = 1, gigabytes: float = 6.0) -> None:
        refuse_unless_two_players(game)
        if not isinstance(game, Game) or game.observe is not None:
            raise ValueError(
                f"{game} has no public tree: players are shown something else than each action"
            )
        self.game = game
        self.power = power
        self.iterations = 0
        deals = deals_of(game)
        self._types = np.transpose(
            [np.unique(column, return_inverse=True)[1] for column in deals.observations.T]
        )
        self._known: dict[tuple[bytes, ...], int] = {}
        self._nodes = list[PublicNode]()
        self._children = list[tuple[int, int]]()
        self._ends = list[np.ndarray]()
        self._grow(dict(enumerate(deals.states)), deals.probabilities)
        root = self._nodes[-1]
        # the last four fields are filled in where blocks begin
        nodes = np.array([(*node[:4], 0, 0, 0, 0) for node in self._nodes], NODE)
        children = np.array(self._children)
        types = int(self._types.max()) + 1
        histories = np.zeros(len(nodes), int)  # that lead to a node without entering a block
        histories[-1] = 1
        place = 0
        end = root.rows * types if root.size > BLOCK else 0
        for node, count in zip(nodes[::-1], histories[::-1], strict=True):  # parents first
            if node["size"] > BLOCK:
                below = children[node["first"] : node["first"] + node["count"], 0]
                np.add.at(histories, below, count)
            elif count > 0 and node["chooser"] != TERMINAL:
                # a block begins here
                node["histories"] = count
                node["start"] = end
                node["place"] = place
                end += node["size"] * types * count
                place += types * count
        precision = np.dtype(float if end <= SINGLE else np.float32)
        self.gigabytes = 2e-9 * end * precision.itemsize
        if self.gigabytes > gigabytes:
            raise ValueError(
                f"{game} is too large: it takes {self.gigabytes:.2f} GB; the limit is {gigabytes:g} GB"
            )
        self._blocks = np.flatnonzero(nodes["histories"]).tolist()
        passed = np.zeros((PLAYERS + 1, place), precision)
        self.learned = np.zeros((2, end), precision)
        rooms = np.zeros((4, root.depth + 3, types * max(TOGETHER // types, 1)), precision)
        ends = np.array(self._ends, precision)
        self._tree = PublicTree._make((nodes, children, ends, *self.learned, passed, *rooms))

    def _grow(self, states: dict[int, StateData], weights: np.ndarray) -> int:
        """The number of the node after a public history, by the states after possible deals and the weights of all."""
        facts = [state[name].tobytes() for state in states.values() for name in state.dtype.names]
        key = (*facts, weights.tobytes())
        if key not in self._known:
            self._nodes.append(self._expand(states, weights))
            self._known[key] = len(self._nodes) - 1
        return self._known[key]

    def _expand(self, states: dict[int, StateData], weights: np.ndarray) -> PublicNode:
        mover = self._mover(states)
        if mover == TERMINAL:
            self._ends.append(self._utilities(states, weights))
            return PublicNode(TERMINAL, 0, len(self._ends) - 1, 0, 0, 1)
        legal = {k: tuple(self.game.ask("legal", state)) for k, state in states.items()}
        if mover != CHANCE and len({*legal.values()}) > 1:
            raise self._refused()
        actions = sorted(set().union(*legal.values()))
        below = list[int]()
        for action in actions:
            then = weights.copy()
            if mover == CHANCE:
                for k, state in states.items():
                    chances = dict(zip(legal[k], self.game.ask("chance", state), strict=True))
                    then[k] *= chances.get(action, 0.0)
            after = {k: state.copy() for k, state in states.items() if then[k] > 0}
            for state in after.values():
                self.game.ask("apply", state, action)
            below.append(self._grow(after, then))
        own_rows = len(actions) if mover >= 0 and len(actions) > 1 else 0
        size = own_rows + sum(self._nodes[number].size for number in below)
        first, next_row = len(self._children), own_rows
        for number in below:
            self._children.append((number, next_row))
            # the rows of a block that begins there stand elsewhere
            if self._nodes[number].size > BLOCK or size <= BLOCK:
                next_row += self._nodes[number].rows
        depth = 1 + max(self._nodes[number].depth for number in below)
        chooser = mover if own_rows > 0 else CHANCE
        return PublicNode(chooser, len(actions), first, size, next_row, depth)

    def _mover(self, states: dict[int, StateData]) -> int:
        mover, *others = {self.game.ask("player", state) for state in states.values()}
        if others or len(self._nodes) > MOST:
            raise self._refused()
        return int(mover)

    def _refused(self) -> ValueError:
        return ValueError(
            f"{self.game} has no public tree: who may do what depends on the deal, or it is too large"
        )

    def _utilities(self, states: dict[int, StateData], weights: np.ndarray) -> np.ndarray:
        """What an end is worth to either player, weighed by the probabilities of deals. [players, types, the other's types]"""
        low, high = self.game.utilities
        utilities = np.zeros([self._types.max() + 1] * PLAYERS)
        for k, state in states.items():
            reward = self.game.ask("rewards", state)[0]
            utilities[*self._types[k]] += weights[k] * (low + (high - low) * reward)
        return np.stack((utilities, -utilities.T))

    def write(self, path: Path) -> None:
        """Keep what is learned in a file, which is whole at any time."""
        arrays: dict[str, Any] = {
            "game": str(self.game),
            "iterations": self.iterations,
            self.layout: self.learned,
        }
        write_whole(path, lambda file: np.savez(file, **arrays))

    def read(self, path: Path) -> None:
        """Go on from what was kept.

        Raises:
            ValueError: it was learned in another game, or by a version that orders it in another way.
        """
        with np.load(path) as archive:
            if str(archive["game"]) != str(self.game):
                raise ValueError(
                    f"{path} keeps what was learned in {archive['game']}, not in {self.game}"
                )
            if self.layout not in archive:
                raise ValueError(
                    f"{path} was kept by another version; give another file, to begin anew"
                )
            self.iterations = int(archive["iterations"])
            self.learned[:] = archive[self.layout]

    def run(self) -> None:
        """Make one more iteration, each player against the other's newest policy."""
        if self.discounts:
            self.discount = 1 - 1 / (1 + self.iterations**1.5)
        self.iterations += 1
        for player in range(PLAYERS):
            self.traverse(player, float(self.iterations) ** self.power)

    def traverse(self, player: int, weight: float) -> float:
        """Add a player's regrets, and his policy with a weight to the average; if it is 0, return the gain of his best response to it."""
        self._follow_above(player, -weight)  # nothing changes but who comes to each block
        for block in self._blocks:
            self._follow_block(block, player, weight)
        self._follow_above(player, weight)  # with the values of the blocks
        return float(self._tree.values[0, : self._tree.utilities.shape[2]].sum())

    def _follow_above(self, player: int, weight: float) -> None:
        """Follow all that is above the blocks."""
        root = len(self._nodes) - 1, 0, 0, 0
        self._tree.nodes["met"] = 0
        self._tree.reach[:PLAYERS] = 1.0
        self._follow(root, player, weight)

    def _follow_block(self, block: int, player: int, weight: float) -> None:
        """Follow a block in all its histories, as many at once as rows have room for."""
        tree = self._tree
        types = tree.utilities.shape[2]
        together = tree.reach.shape[1] // types
        _, _, _, size, histories, start, place, _ = tree.nodes[block].tolist()
        passed = tree.passed[:, place : place + types * histories]
        passed = passed.reshape(PLAYERS + 1, types, histories)
        for first in range(0, histories, together):
            part = passed[:, :, first : first + together]
            at = block, start + size * types * first, 0, part.shape[2]
            row = types * part.shape[2]
            tree.reach[:PLAYERS, :row] = part[:PLAYERS].reshape(PLAYERS, row)
            self._follow(at, player, weight)
            part[PLAYERS] = tree.values[0, :row].reshape(part.shape[1:])

    def _follow(self, at: tuple[int, int, int, int], player: int, weight: float) -> None:
        number = self.learned.dtype.type
        follow(self._tree, at, (0, 1), player, number(weight), number(self.discount))
