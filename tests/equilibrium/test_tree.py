"""Game trees: their sizes by the rules, what their information sets hold, and games that have none."""

import itertools
from collections import Counter

import attrs
import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare

from icarus import BASELINE, Agent, games
from icarus.compiler import seeded
from icarus.engine.match import PLAYS, VISIT_SHARES
from icarus.equilibrium.cfr import CFR, CFRPlus
from icarus.equilibrium.deals import deal_observation, deals_of, information_state
from icarus.equilibrium.policies import (
    best_response,
    exploitability,
    normalise,
    tabulate,
    uniform_policy,
)
from icarus.equilibrium.tree import tree_of
from icarus.kernel import State
from tests.equilibrium.openspiel import (
    ours_of,
    pairs,
    random_probabilities,
    referee,
    their_random_policy,
)
from tests.games.scenes import UNLIKELY, every_state
from tests.marks import slow_after

SMALL = ["kuhn-poker", "leduc-poker", "goofspiel(cards=3)", "liars-dice(faces=3)"]
small = pytest.mark.parametrize("game", [games.load(name) for name in SMALL], ids=str)


def all_states(game):
    """Every state of a game, deal by deal, as plain Python walks it."""
    for k in range(len(tree_of(game).deals)):
        yield from every_state(State(game, tree_of(game).deals.states[k].copy()))


@small
def test_a_tree_holds_every_history_once(game):
    states = list(all_states(game))
    tree = tree_of(game)
    assert tree.histories == len(states) + 1  # and the one before the deal
    assert len(tree.nodes) == tree.histories - len(tree.ends)
    assert len(tree.ends) == sum(state.is_terminal() for state in states)


@small
def test_an_information_set_is_all_that_its_player_knows(game):
    tree = tree_of(game)
    keys = {}
    for state in all_states(game):
        if state.current_player() >= 0:
            number = tree.set_at(state)
            assert tree.actions(number) == tuple(state.legal_actions())
            assert keys.setdefault(number, information_state(state)) == information_state(state)
    assert len(keys) == len(set(keys.values())) == len(tree.decisions)
    assert sorted(keys.values()) == sorted(tree.information_states())


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        ("kuhn-poker", 12),
        ("leduc-poker", 288),  # by rank; 936 where suits count
        ("liars-dice", 24_576),
        ("goofspiel(cards=4)", 738),
    ],
)
def test_the_numbers_of_information_sets_are_the_known_ones(name, sets):
    assert len(tree_of(games.load(name)).decisions) == sets


# -------------------- Deals in the open: each game's list of deals against what its `initial` draws, and what players see of them.


DRAWS = 2000
DEALING = [
    "kuhn-poker",
    "leduc-poker",
    "generic-poker",
    "generic-poker(ranks=4, copies=1)",
    "liars-dice",
    "liars-dice(first=2, second=1)",
    "liars-dice(first=1, second=2, faces=3)",
]
dealing = pytest.mark.parametrize("game", [games.load(name) for name in DEALING], ids=str)


@dealing
def test_initial_draws_each_deal_as_often_as_its_probability_says(game):
    deals = deals_of(game)
    expected = {
        tuple(observations): p
        for observations, p in zip(deals.observations.tolist(), deals.probabilities, strict=True)
    }
    assert len(expected) == len(deals), "two deals look the same to both players"
    drawn, data, rng = Counter(), np.zeros(1, game.state), seeded(1)
    kernels, parameters = game.kernels(), game.initial_arguments()
    address, words = data.ctypes.data, (rng.ctypes.data, parameters.ctypes.data)
    for _ in range(DRAWS):
        data[:] = np.zeros(1, game.state)
        kernels.initial(address, *words)
        drawn[kernels.deal_observation(address, 0), kernels.deal_observation(address, 1)] += 1
    possible = [observations for observations, probability in expected.items() if probability > 0]
    assert set(drawn) <= set(possible)
    assert (
        chisquare(
            [drawn[observations] for observations in possible],
            [DRAWS * expected[observations] for observations in possible],
        ).pvalue
        > UNLIKELY
    )


@dealing
def test_a_player_sees_the_same_of_every_determinization(game):
    for seed, player in itertools.product(range(20), range(2)):
        state = game.new_initial_state(seed)
        kernels, drawn = game.kernels(), state.determinize(player, seed)
        assert kernels.deal_observation(drawn.data.ctypes.data, player) == deal_observation(
            state, player
        )


def test_the_numbers_of_deals_are_those_of_the_rules():
    numbers = {
        "kuhn-poker": 6,
        "leduc-poker": 9,
        "liars-dice": 36,
        "liars-dice(first=2, second=2)": 441,
    }
    assert {name: len(deals_of(games.load(name))) for name in numbers} == numbers


def test_an_information_state_is_what_its_player_saw_of_the_deal_and_of_the_moves():
    state = games.load("kuhn-poker").new_initial_state(3)
    cards = state.facts.cards.tolist()
    assert information_state(state) == (0, cards[0], ())
    state.apply_action(1)
    assert information_state(state) == (1, cards[1], ((False, 1),))


# -------------------- Best responses and exploitability against OpenSpiel's, on uniform and on random policies, and by hand.


EXACT = 1e-9
compared = pytest.mark.parametrize(
    "name",
    [
        *(*SMALL, "goofspiel(cards=4)", "goofspiel(cards=4, descending=1)"),
        *slow_after(0, ["goofspiel(cards=5)", "liars-dice"]),
    ],
)


@compared
def test_the_uniform_policy_is_as_exploitable_as_openspiel_says(name):
    theirs = referee(name)
    result = exploitability(games.load(name), None)
    policy = pyspiel.UniformRandomPolicy(theirs)
    assert result.nash_conv == pytest.approx(pyspiel.nash_conv(theirs, policy), abs=EXACT)
    assert result.exploitability == pytest.approx(pyspiel.exploitability(theirs, policy), abs=EXACT)


@compared
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
    return lambda state: [1 - bets[information_state(state)], bets[information_state(state)]]


@pytest.mark.parametrize("alpha", [0, 1 / 6, 1 / 3])
def test_kuhns_equilibria_cannot_be_exploited(alpha):
    result = exploitability(games.load("kuhn-poker"), kuhn_equilibrium(alpha))
    assert 0 <= result.nash_conv <= 1e-15
    assert min(result.improvements) >= 0
    assert result.values == pytest.approx((-1 / 18, 1 / 18), abs=1e-15)


def test_a_best_response_gets_what_it_promises_and_no_other_pure_policy_more():
    game = games.load("kuhn-poker")
    tree = tree_of(game)
    for player in range(2):
        response = best_response(game, random_probabilities, player)
        assert exploitability(game, response.policy).values[player] == pytest.approx(
            response.value, abs=1e-12
        )
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
        assert against == pytest.approx(
            best_response(game, random_probabilities, player).value, abs=1e-12
        )


# -------------------------------------------------------------------------------------------------------------- policies


def test_the_kinds_of_policies_say_the_same():
    game = games.load("kuhn-poker")
    tree = tree_of(game)
    written = tabulate(tree, random_probabilities)
    table = written.table()
    policies = [
        written,
        lambda state: table[information_state(state)],
        (random_probabilities, written),
        written.__call__,
    ]
    expected = exploitability(game, random_probabilities)
    assert all(exploitability(game, policy) == expected for policy in policies)


@pytest.mark.parametrize("play", PLAYS)
def test_an_agent_plays_what_he_recommends_or_as_often_as_he_visits_it(play):
    game, agent = games.load("kuhn-poker"), Agent(BASELINE, iterations=200)
    tree = tree_of(game)
    written = tabulate(tree, agent, (4, 0), play=play)
    for number in tree.decisions.tolist():
        searched = agent.search(tree.state_of(number), (4, 0, number))
        shares = searched.visits / searched.visits.sum()
        recommended = [float(action == searched.action) for action in searched.actions]
        assert written.at(number) == pytest.approx(shares if play == VISIT_SHARES else recommended)
    measured = exploitability(game, agent, seed=4, seeds=1, play=play)
    assert measured.estimate == exploitability(game, written).estimate


def test_weights_become_probabilities():
    tree = tree_of(games.load("leduc-poker"))
    weights = np.arange(len(tree.slots), dtype=float)
    policy = normalise(tree, weights)
    for number in tree.decisions:
        assert policy.at(number) == pytest.approx(
            weights[tree.slots_of(number)] / weights[tree.slots_of(number)].sum()
        )
    assert (normalise(tree, 0 * weights).probabilities == uniform_policy(tree).probabilities).all()


def test_what_both_gain_together_need_not_be_0():
    """In chips from 0 to 4 each player of Kuhn poker gains 2 more than in chips from -2 to 2."""
    kuhn = games.load("kuhn-poker")
    moved, usual = (
        exploitability(game, kuhn_equilibrium(0.2))
        for game in (attrs.evolve(kuhn, utilities=(0, 4)), kuhn)
    )
    assert moved.values == pytest.approx((2 - 1 / 18, 2 + 1 / 18))
    for player in range(2):
        assert moved.best_responses[player] == pytest.approx(usual.best_responses[player] + 2)
        assert best_response(
            attrs.evolve(kuhn, utilities=(0, 4)), None, player
        ).value == pytest.approx(best_response(kuhn, None, player).value + 2)


# -------------------- CFR and CFR+: the values of the games, OpenSpiel's regrets and averages, and equilibria to play against.


VALUES = {
    "kuhn-poker": -1 / 18,
    "leduc-poker": -0.0856064,
    "liars-dice": -0.0271317829,
    "generic-poker": -0.1113530880,
}
ITERATIONS = {"kuhn-poker": 500, "leduc-poker": 1000, "liars-dice": 100, "generic-poker": 200}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("solver", [CFR, CFRPlus])
def test_the_average_policy_closes_in_on_the_value_of_the_game(name, solver):
    cfr = solver(games.load(name))
    cfr.run(ITERATIONS[name])
    distance = cfr.exploitability()
    most, least = distance.best_responses[0], -distance.best_responses[1]
    assert least - 1e-7 <= VALUES[name] <= most + 1e-7  # what each player can be held to
    assert (
        most - least
        < {"kuhn-poker": 0.01, "leduc-poker": 0.1, "liars-dice": 0.5, "generic-poker": 1.5}[name]
    )


def test_the_average_policy_is_measured_as_the_table_that_it_is(monkeypatch):
    solver = CFR(games.load("kuhn-poker"))
    solver.run(7)
    asked = exploitability(solver.game, solver.policy_at)
    monkeypatch.setattr(CFR, "policy_at", pytest.fail)  # which takes seconds in a larger game
    assert solver.exploitability() == asked


@pytest.mark.parametrize(("name", "places"), [("kuhn-poker", 5), ("leduc-poker", 4)])
def test_the_value_comes_out_to_the_digits_that_a_second_allows(name, places):
    solver = CFRPlus(games.load(name))
    solver.run(20_000)
    assert solver.exploitability().values[0] == pytest.approx(VALUES[name], abs=10.0**-places)


@pytest.mark.parametrize("name", ["kuhn-poker", "goofspiel(cards=3)", "liars-dice(faces=3)"])
@pytest.mark.parametrize(
    ("solver", "theirs"), [(CFR, pyspiel.CFRSolver), (CFRPlus, pyspiel.CFRPlusSolver)]
)
def test_the_average_policy_is_openspiels_after_the_same_iterations(name, solver, theirs):
    ours, their_solver = solver(games.load(name)), theirs(referee(name))
    ours.run(20)
    for _ in range(20):
        their_solver.evaluate_and_update_policy()
    policy, average = their_solver.tabular_average_policy(), ours.average
    for state, their_state in pairs(name):
        right = dict(policy.action_probabilities(their_state.information_state_string()))
        mixed = dict(zip(state.legal_actions(), average(state), strict=True))
        assert {
            ours_of(state, action, their_state): p for action, p in right.items()
        } == pytest.approx(mixed, abs=EXACT)


def test_going_on_is_the_same_as_going_through():
    at_once, in_parts = CFRPlus(games.load("leduc-poker")), CFRPlus(games.load("leduc-poker"))
    at_once.run(30)
    for part in (1, 9, 20):
        in_parts.make(part)
    assert (at_once.regrets == in_parts.regrets).all()
    assert (at_once.sums == in_parts.sums).all()
    assert in_parts.iterations == 30
    assert repr(in_parts) == "<CFRPlus in leduc-poker after 30 iterations>"


def test_regrets_of_plus_do_not_fall_below_0():
    solver = CFRPlus(games.load("leduc-poker"))
    solver.run(50)
    assert (solver.regrets >= 0).all()
    assert solver.regrets.any()
