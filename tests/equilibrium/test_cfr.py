"""CFR and CFR+: the values of the games, OpenSpiel's regrets and averages, and equilibria to play against."""

import numpy as np
import pyspiel
import pytest

from icarus import games
from icarus.equilibrium.cfr import CFR, CFRPlus
from icarus.kernel import CHANCE
from tests.equilibrium.openspiel import ours_of, pairs, referee

VALUES = {"kuhn-poker": -1 / 18, "leduc-poker": -0.0856064, "liars-dice": -0.0271317829, "generic-poker": -0.1113530880}
ITERATIONS = {"kuhn-poker": 20_000, "leduc-poker": 5000, "liars-dice": 200, "generic-poker": 500}
EXACT = 1e-9


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("solver", [CFR, CFRPlus])
def test_the_average_policy_closes_in_on_the_value_of_the_game(name, solver):
    cfr = solver(games.load(name))
    cfr.run(ITERATIONS[name])
    distance = cfr.exploitability()
    most, least = distance.best_responses[0], -distance.best_responses[1]
    assert least - 1e-7 <= VALUES[name] <= most + 1e-7  # what each player can be held to
    assert most - least < {"kuhn-poker": 0.01, "leduc-poker": 0.1, "liars-dice": 0.5, "generic-poker": 1.5}[name]


@pytest.mark.parametrize(("name", "places"), [("kuhn-poker", 5), ("leduc-poker", 4)])
def test_the_value_comes_out_to_the_digits_that_a_second_allows(name, places):
    solver = CFRPlus(games.load(name))
    solver.run(20_000)
    assert solver.exploitability().values[0] == pytest.approx(VALUES[name], abs=10.0**-places)


@pytest.mark.parametrize("name", ["kuhn-poker", "goofspiel(cards=3)", "liars-dice(faces=3)"])
@pytest.mark.parametrize(("solver", "theirs"), [(CFR, pyspiel.CFRSolver), (CFRPlus, pyspiel.CFRPlusSolver)])
def test_the_average_policy_is_openspiels_after_the_same_iterations(name, solver, theirs):
    ours, their_solver = solver(games.load(name)), theirs(referee(name))
    ours.run(20)
    for _ in range(20):
        their_solver.evaluate_and_update_policy()
    policy, average = their_solver.tabular_average_policy(), ours.average
    for state, their_state in pairs(name):
        right = dict(policy.action_probabilities(their_state.information_state_string()))
        mixed = dict(zip(state.legal_actions(), average(state), strict=True))
        assert {ours_of(state, action, their_state): p for action, p in right.items()} == pytest.approx(
            mixed, abs=EXACT
        )


def test_going_on_is_the_same_as_going_through():
    at_once, in_parts = CFRPlus(games.load("leduc-poker")), CFRPlus(games.load("leduc-poker"))
    at_once.run(30)
    for part in (1, 9, 20):
        in_parts.run(part)
    assert (at_once.regrets == in_parts.regrets).all() and (at_once.sums == in_parts.sums).all()
    assert in_parts.iterations == 30 and repr(in_parts) == "<CFRPlus in leduc-poker after 30 iterations>"


def test_chance_learns_nothing_and_regrets_of_plus_do_not_fall_below_0():
    solver = CFRPlus(games.load("leduc-poker"))
    solver.run(50)
    tree = solver.tree
    chance = np.repeat(tree.sets["player"] == CHANCE, tree.sets["count"])
    assert (solver.regrets[chance] == 0).all() and (solver.sums[chance] == 0).all()
    assert (solver.regrets >= 0).all()
    assert (solver.current.probabilities[chance] == tree.slots["probability"][chance]).all()
