"""Best responses and exploitability against OpenSpiel's, on uniform and on random policies, and by hand."""

import attrs
import numpy as np
import pyspiel
import pytest

from icarus import BASELINE, Agent, games
from icarus.equilibrium.policies import best_response, exploitability, normalise, tabulate, uniform_policy
from icarus.equilibrium.tree import tree_of
from icarus.kernel import CHANCE
from tests.equilibrium.openspiel import random_probabilities, referee, their_random_policy
from tests.marks import slow_after

EXACT = 1e-9
SMALL = ["kuhn-poker", "leduc-poker", "liars-dice(faces=3)", "goofspiel(cards=3)", "goofspiel(cards=4)"]
LARGER = ["goofspiel(cards=5)", "goofspiel(cards=4, descending=1)"]
SLOW = ["liars-dice"]
compared = pytest.mark.parametrize("name", [*SMALL, *LARGER, *slow_after(0, SLOW)])


@compared
def test_the_uniform_policy_is_as_exploitable_as_openspiel_says(name):
    theirs = referee(name)
    result = exploitability(games.load(name), None)
    policy = pyspiel.UniformRandomPolicy(theirs)
    assert result.nash_conv == pytest.approx(pyspiel.nash_conv(theirs, policy), abs=EXACT)
    assert result.exploitability == pytest.approx(pyspiel.exploitability(theirs, policy), abs=EXACT)


# Their policies are Python, slow in games of this size.
@pytest.mark.parametrize("name", [*SMALL, LARGER[1], *slow_after(0, [LARGER[0], *SLOW])])
def test_a_random_policy_is_as_exploitable_as_openspiel_says(name):
    theirs, game = referee(name), games.load(name)
    policy = their_random_policy(name)
    result = exploitability(game, random_probabilities)
    assert result.nash_conv == pytest.approx(pyspiel.nash_conv(theirs, policy), abs=EXACT)
    values = pyspiel.expected_returns(theirs.new_initial_state(), policy, -1, True)
    assert result.values == pytest.approx(values, abs=EXACT)


# Kuhn's equilibria, a parameter apart: how often each information state bets or calls.
def kuhn_equilibrium(alpha):
    bets = {
        (0, 0, ()): alpha,
        (0, 0, ((True, 0), (False, 1))): 0,
        (0, 1, ()): 0,
        (0, 1, ((True, 0), (False, 1))): alpha + 1 / 3,
        (0, 2, ()): 3 * alpha,
        (0, 2, ((True, 0), (False, 1))): 1,
        (1, 0, ((False, 0),)): 1 / 3,
        (1, 0, ((False, 1),)): 0,
        (1, 1, ((False, 0),)): 0,
        (1, 1, ((False, 1),)): 1 / 3,
        (1, 2, ((False, 0),)): 1,
        (1, 2, ((False, 1),)): 1,
    }
    return {key: [1 - bet, bet] for key, bet in bets.items()}


@pytest.mark.parametrize("alpha", [0, 1 / 6, 1 / 3])
def test_kuhns_equilibria_cannot_be_exploited(alpha):
    result = exploitability(games.load("kuhn-poker"), kuhn_equilibrium(alpha))
    assert result.nash_conv == pytest.approx(0, abs=1e-15)
    assert result.values == pytest.approx((-1 / 18, 1 / 18), abs=1e-15)


def test_a_best_response_gets_what_it_promises_and_no_other_pure_policy_more():
    game = games.load("kuhn-poker")
    tree = tree_of(game)
    for player in range(2):
        response = best_response(game, random_probabilities, player)
        assert exploitability(game, response.policy).values[player] == pytest.approx(response.value, abs=1e-12)
        info_sets = [number for number in tree.decisions if tree.sets[number]["player"] == player]
        worth = []
        for choices in np.ndindex(*(2,) * len(info_sets)):
            pure = tabulate(tree, random_probabilities)
            for number, choice in zip(info_sets, choices, strict=True):
                pure.at(number)[:] = [1 - choice, choice]
            worth.append(exploitability(game, pure).values[player])
        assert max(worth) == pytest.approx(response.value, abs=1e-12)


def test_the_responder_s_own_policy_does_not_matter():
    game = games.load("leduc-poker")
    for player in range(2):
        pair = [random_probabilities, random_probabilities]
        pair[player] = None
        against = best_response(game, pair, player).value
        assert against == pytest.approx(best_response(game, random_probabilities, player).value, abs=1e-12)


# -------------------------------------------------------------------------------------------------------------- policies


def test_the_kinds_of_policies_say_the_same():
    game = games.load("leduc-poker")
    tree = tree_of(game)
    written = tabulate(tree, random_probabilities)
    listed = {key: list(row.values()) for key, row in written.table().items()}
    policies = [written, written.table(), listed, (random_probabilities, written), lambda state: written(state)]
    expected = exploitability(game, random_probabilities)
    assert all(exploitability(game, policy) == expected for policy in policies)


def test_an_agent_plays_each_action_as_often_as_he_visits_it():
    game = games.load("kuhn-poker")
    agent = Agent(BASELINE, iterations=200)
    tree = tree_of(game)
    written = tabulate(tree, agent, seed=4)
    for number in tree.decisions.tolist():
        searched = agent.search(tree.state_of(number), (4, number))
        assert written.at(number) == pytest.approx(searched.visits / searched.visits.sum())
    assert exploitability(game, agent, seed=4) == exploitability(game, written)


def test_weights_become_probabilities_and_chance_keeps_its_own():
    tree = tree_of(games.load("leduc-poker"))
    weights = np.arange(len(tree.slots), dtype=float)
    policy = normalise(tree, weights)
    for number, info_set in enumerate(tree.sets):
        slots = slice(info_set["slot"], info_set["slot"] + info_set["count"])
        right = (
            tree.slots["probability"][slots] if info_set["player"] == CHANCE else weights[slots] / weights[slots].sum()
        )
        assert policy.at(number) == pytest.approx(right)
    assert (normalise(tree, 0 * weights).probabilities == uniform_policy(tree).probabilities).all()


def test_what_both_gain_together_need_not_be_0():
    """In chips from 0 to 4 each player of Kuhn poker gains 2 more than in chips from -2 to 2."""
    kuhn = games.load("kuhn-poker")
    moved, usual = (
        exploitability(game, kuhn_equilibrium(0.2)) for game in (attrs.evolve(kuhn, utilities=(0, 4)), kuhn)
    )
    assert moved.values == pytest.approx((2 - 1 / 18, 2 + 1 / 18))
    for player in range(2):
        assert moved.best_responses[player] == pytest.approx(usual.best_responses[player] + 2)
        assert best_response(attrs.evolve(kuhn, utilities=(0, 4)), None, player).value == pytest.approx(
            best_response(kuhn, None, player).value + 2
        )
