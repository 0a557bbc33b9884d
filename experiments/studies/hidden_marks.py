"""CFR+ in Phantom m,n,k: what happens is summed by the orders of marks, of which there are far fewer than histories.

A player sees his own marks, in order, and which of his tries have failed. What two players have seen is of one game if the failed tries of
each fit the marks of the other. So with one order of marks all that the one may have seen goes together with all that the other may: there
are two sums where a walk over histories has all products. Phantom (3,3,3) has 9,829,101,024 histories and 255,168 orders of marks.
"""

import itertools
from collections import namedtuple
from typing import Any

import numba
import numpy as np

from experiments.studies.public_trees import AlternatingCFR
from icarus.equilibrium.walk import PLAYERS
from icarus.kernel import AnyGame, Game

FAILED, MARKED = range(2)  # what a try may come to
MOST_SQUARES, MOST_SETS = 9, 4_000_000  # information sets of a player
PHANTOM = "phantom-mnk"
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))  # rows and columns from a mark of a line to the next
BYTES = 72  # of memory for each square of an information set

# A sequence is an information set and a try. `lines`: bits of the marks that win. `barred`: bits of the squares that are not tried.
# [players, sets] `then`: the set that a try leads to, by what it comes to; 0 if there is none. [players, sets, squares, 2]
# `sets`: how many have been met. [players] `fitting`, `sizes`: by the number of marks, the sets that fit, and how many. `tried`: the square
# of the mark that follows. `reach`: of sequences, by the policy. [players, sets, squares] `worth`: of one player's. [sets, squares]
Orders = namedtuple("Orders", "lines barred then sets fitting sizes tried reach worth")


@numba.njit(error_model="numpy")
def follow(orders: Any, marks: tuple[int, int], depth: int, player: int) -> None:
    """Add to the worth of a player's sequences what he wins where games end, weighed by the other's reach.

    Args:
        marks: bits of those of who is to move, and of the other's.
        depth: how many there are.
    """
    mine, theirs = marks
    mover = depth % PLAYERS
    squares = orders.then.shape[2]
    sets = fit(orders, marks, depth)
    # the sequences of the other that end with the last mark
    before = orders.fitting[depth - 1, : orders.sizes[depth - 1] if depth > 0 else 0]
    last = orders.tried[depth - 1]
    reached = 0.0 if depth > 0 else 1.0
    if mover == player:
        for number in before:
            reached += orders.reach[1 - player, number, last]
    lost = 0.0
    for square in range(squares):
        if (mine | theirs) >> square & 1:
            continue
        orders.tried[depth] = square
        after = mine | 1 << square
        if (orders.lines & after == orders.lines).any():
            for number in sets:
                if mover == player:
                    orders.worth[number, square] += reached
                else:
                    lost += orders.reach[mover, number, square]
        elif after | theirs != (1 << squares) - 1:
            follow(orders, (theirs, after), depth + 1, player)
    if lost > 0.0:
        for number in before:
            orders.worth[number, last] -= lost


@numba.njit(error_model="numpy")
def fit(orders: Any, marks: tuple[int, int], depth: int) -> np.ndarray:
    """The information sets of who is to move that fit an order of marks: each after his own last mark, and after tries that fail."""
    mine, theirs = marks
    mover = depth % PLAYERS
    sets = orders.fitting[depth]
    count = 1
    if depth >= PLAYERS:
        count, last = orders.sizes[depth - PLAYERS], orders.tried[depth - PLAYERS]
        for i in range(count):
            sets[i] = met(orders, mover, orders.fitting[depth - PLAYERS, i], last, MARKED, mine)
    i = 0
    while i < count:
        for square in range(orders.then.shape[2]):
            if (theirs & ~orders.barred[mover, sets[i]]) >> square & 1:
                sets[count] = met(orders, mover, sets[i], square, FAILED, 1 << square)
                count += 1
        i += 1
    orders.sizes[depth] = count
    return sets[:count]


@numba.njit(error_model="numpy")
def met(orders: Any, player: int, number: int, square: int, outcome: int, squares: int) -> int:
    """The information set after a try in another; one that is met for the first time bars these squares too.

    Raises:
        ValueError: there are too many.
    """
    if orders.then[player, number, square, outcome] == 0:
        if orders.sets[player] == MOST_SETS:
            raise ValueError("the game has over 4,000,000 information sets of a player")
        orders.barred[player, orders.sets[player]] = orders.barred[player, number] | squares
        orders.then[player, number, square, outcome] = orders.sets[player]
        orders.sets[player] += 1
    return orders.then[player, number, square, outcome]


@numba.njit(error_model="numpy")
def write_policy(weights: np.ndarray, barred: int, policy: np.ndarray) -> None:
    """The policy of an information set in proportion to weights, uniform where they are 0. All: [squares]"""
    total = weights.sum()
    count = 0
    for square in range(len(policy)):
        count += not barred >> square & 1
    for square in range(len(policy)):
        uniform = 0.0 if barred >> square & 1 else 1.0 / count
        policy[square] = weights[square] / total if total > 0.0 else uniform


@numba.njit(error_model="numpy")
def play(orders: Any, player: int, weights: np.ndarray) -> None:
    """Write the reach of a player's sequences by the policy that goes with weights. [sets, squares]"""
    reach = orders.reach[player]
    policy = np.zeros(weights.shape[1])
    reach[0, 0] = 1.0
    for number in range(orders.sets[player]):
        write_policy(weights[number], orders.barred[player, number], policy)
        # written by the sequence that leads here, at the place of the set's first sequence
        reach_of_set = reach[number, 0]
        reach[number] = reach_of_set * policy
        for square in range(len(policy)):
            for after in orders.then[player, number, square]:
                if after > 0:
                    reach[after, 0] = reach[number, square]


@numba.njit(error_model="numpy")
def learn(orders: Any, player: int, regrets: np.ndarray, sums: np.ndarray, weight: float) -> float:
    """What the game is worth to a player by his policy, whose regrets and sums change; at weight 0 by the best response instead."""
    policy = np.zeros(regrets.shape[1])
    worth = orders.worth
    values = np.zeros(len(regrets))
    for number in range(orders.sets[player] - 1, -1, -1):
        write_policy(regrets[number], orders.barred[player, number], policy)
        value = 0.0
        best = -np.inf
        for square in range(len(policy)):
            if not orders.barred[player, number] >> square & 1:
                for after in orders.then[player, number, square]:
                    worth[number, square] += values[after] if after > 0 else 0.0
                value += policy[square] * worth[number, square]
                best = max(best, worth[number, square])
        values[number] = value if weight > 0.0 else best
        for square in range(len(policy) if weight > 0.0 else 0):
            if not orders.barred[player, number] >> square & 1:
                regrets[number, square] = max(
                    regrets[number, square] + worth[number, square] - value, 0.0
                )
                sums[number, square] += weight * orders.reach[player, number, square]
    return values[0]


class OrdersCFR(AlternatingCFR):
    """CFR+ over the information sets of Phantom on at most nine squares.

    Args:
        power, gigabytes: as those of `PublicCFR`.

    Raises:
        ValueError: it is too large.
    """

    def __init__(self, game: AnyGame, power: int = 1, gigabytes: float = 6.0) -> None:
        super().__init__(game, power)
        assert isinstance(game, Game)
        columns, rows, in_a_row = game.initial_arguments().tolist()
        if (squares := columns * rows) > MOST_SQUARES:
            raise ValueError(
                f"{game} is too large: it has {squares} squares; the most are {MOST_SQUARES}"
            )
        lines = list[int]()
        last = in_a_row - 1
        for row, column, (down, right) in itertools.product(range(rows), range(columns), STEPS):
            if row + last * down < rows and 0 <= column + last * right < columns:
                places = [(row + k * down) * columns + column + k * right for k in range(in_a_row)]
                lines.append(sum(1 << place for place in places))
        shape = (PLAYERS, MOST_SETS, squares)
        small = np.zeros((2, squares), int)
        fitting = np.zeros((squares, 1 << 12), int)  # no order of marks has more
        rooms = fitting, *small, np.zeros(shape), np.zeros(shape[1:])
        sets = np.zeros(shape[:2], np.int16), np.zeros((*shape, 2), np.int32), np.ones(PLAYERS, int)
        orders = Orders(np.array(lines), *sets, *rooms)
        follow(orders, (0, 0), 0, 0)
        count = int(orders.sets.max())
        self.take(1e-9 * count * squares * BYTES, gigabytes)
        barred, then, reach = (
            each[:, :count].copy() for each in (orders.barred, orders.then, orders.reach)
        )
        self._orders = orders._replace(
            barred=barred, then=then, reach=reach, worth=orders.worth[:count].copy()
        )
        self.learned = np.zeros((2, *reach.shape))

    def traverse(self, player: int, weight: float) -> float:
        """Add a player's regrets, and his policy with a weight to the average; if it is 0, return the gain of his best response to it."""
        regrets, sums = self.learned
        for each in range(PLAYERS):
            play(self._orders, each, (regrets if weight > 0 else sums)[each])
        self._orders.worth[:] = 0.0
        if weight > 0:
            regrets[player] *= self.discount
        follow(self._orders, (0, 0), 0, player)
        return float(learn(self._orders, player, regrets[player], sums[player], weight))
