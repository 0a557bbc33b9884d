"""Best responses by beliefs: those of the tree, to policies stored in whole, in part or not at all; known values of large games."""

import functools
import itertools
import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from icarus import exploitability, games
from icarus.equilibrium import beliefs
from icarus.equilibrium.beliefs import ResponseWalk, StoredPolicy
from icarus.equilibrium.policies import tabulate
from icarus.equilibrium.tree import tree_of
from icarus.equilibrium.walk import NOTHING, next_key, place_of
from tests.equilibrium.openspiel import random_probabilities

SMALL = ["kuhn-poker", "leduc-poker", "liars-dice(faces=3)", "liars-dice(first=2, second=1, faces=2)", "goofspiel(cards=4)",
         "phantom-mnk(columns=2, rows=3, in_a_row=2)"]  # fmt: skip
PLACES = 1 << 14
EXAMPLE = Path(__file__).parents[2] / "examples/dark_hex.py"


class Kept:
    """A policy with a table of keys, in which a share of the information sets is kept, and as the tree has it."""

    def __init__(self, tree, share):
        self.written, random = tabulate(tree, random_probabilities), np.random.default_rng(0)
        keys, forgotten = {NOTHING: 0}, {NOTHING: False}
        table = np.zeros((2, PLACES), np.int64)
        # parents first
        for row, (parent, slot, number, player, _, _, move) in enumerate(tree.views.tolist()):
            keys[row] = (
                player + 1 if parent == NOTHING else next_key(keys[parent], slot != NOTHING, move)
            )
            forgotten[row] = forgotten[parent] or (number != NOTHING and random.random() > share)
            if forgotten[row] and number != NOTHING:
                self.written.at(number)[:] = 1 / tree.sets[number]["count"]
            elif number != NOTHING:
                table[:, place_of(table[0], keys[row])] = keys[row], tree.sets[number]["slot"]
        self.stored_policy = StoredPolicy(*table, 3 * self.written.probabilities)


@pytest.mark.parametrize("share", [0, 0.8, 1])
@pytest.mark.parametrize("name", SMALL)
def test_best_responses_by_beliefs_are_those_of_the_tree(name, share):
    game = games.load(name)
    policy = Kept(tree_of(game), share)
    by_tree = exploitability(tree_of(game), policy.written)
    by_beliefs = exploitability(game, policy)
    assert by_beliefs.best_responses == pytest.approx(by_tree.best_responses, abs=1e-12)
    assert by_beliefs.values == pytest.approx(by_tree.values, abs=1e-12)


# -------------------- Liar's Dice by hand: of an opponent who bids at random nothing is learned, so the last bid is all that counts.


def liars_dice_responses(dice, faces):
    rolls = Counter(tuple(sorted(roll)) for roll in itertools.product(range(faces), repeat=dice))
    last = 2 * dice * faces - 1

    def mean(values):
        return sum(values) / len(values)

    def response(player, own):
        def holds(bid):  # what the bidder expects
            wins = sum(
                n
                for roll, n in rolls.items()
                if sum(x in (bid % faces, faces - 1) for x in own + roll) > bid // faces
            )
            return 2 * wins / faces**dice - 1

        @functools.cache
        def value(bid, mover):
            sign = 1 if mover == player else -1
            worth = [value(following, 1 - mover) for following in range(bid + 1, last + 1)]
            worth += [-sign * holds(bid)] if bid >= 0 else []
            return max(worth) if mover == player else mean(worth)

        return value(-1, 0)

    return [
        sum(n * response(player, own) for own, n in rolls.items()) / faces**dice
        for player in range(2)
    ]


DICE = [(1, 6, 1.56148864638448), (2, 5, 1.78119526), (2, 6, 1.83732966)]


@pytest.mark.parametrize(("dice", "faces", "nash_conv"), DICE)
def test_the_uniform_policy_of_liars_dice(dice, faces, nash_conv):
    found = exploitability(
        games.load(f"liars-dice(first={dice}, second={dice}, faces={faces})"), None
    )
    assert found.best_responses == pytest.approx(liars_dice_responses(dice, faces), abs=1e-12)
    assert found.nash_conv == pytest.approx(nash_conv, abs=1e-8)


# -------------------- Dark Hex 3, whose best responses exp-a-spiel prints, and phantom tic-tac-toe.


KNOWN = [
    (runpy.run_path(str(EXAMPLE))["DARK_HEX"], (0.333684 + 0.666318, 1.166488 - 0.333684), 1 / 3),
    (
        games.load("phantom-mnk(columns=3, rows=3, in_a_row=3)"),
        (0.953125, 0.6243386243),
        0.2968253968,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "best_responses", "value"), KNOWN, ids=str)
def test_the_uniform_policy_of_phantom_games(game, best_responses, value):
    found = exploitability(game, None)
    assert found.best_responses == pytest.approx(best_responses, abs=5e-6)
    assert found.values[0] == pytest.approx(value)


# ------------------------------------------------------------------------------------------------------ on the way


def test_ctrl_c_loses_nothing(monkeypatch):
    monkeypatch.setattr(beliefs, "AT_ONCE", 50)
    walk, shares = ResponseWalk(games.load("leduc-poker"), 0), []

    def progress(share):
        shares.append(share)
        if len(shares) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        walk.run(progress)
    assert walk.run(progress) == pytest.approx((2.0875, -0.078125))
    assert shares == sorted(shares)
    assert 0 < shares[4] < 1
    assert shares[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("limit", "few", "sentence"),
    [("MOST", 5000, "think of 16,"), ("FIRST", 1 << 16, "of a best response is done")],
)
def test_a_walk_that_is_out_of_reach_is_refused(monkeypatch, limit, few, sentence):
    monkeypatch.setattr(beliefs, limit, few)
    with pytest.raises(ValueError, match=f"phantom-mnk is too large: .*{sentence}"):
        exploitability(games.load("phantom-mnk"), None)
