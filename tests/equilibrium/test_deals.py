"""Deals in the open: each game's list of deals against what its `initial` draws, and what players see of them."""

import itertools
from collections import Counter

import attrs
import numpy as np
import pytest
from scipy.stats import chisquare

from icarus import games
from icarus.equilibrium.deals import deal_observation, deals_of, information_state
from icarus.kernel import below

UNLIKELY = 1e-4  # a chi-square test with a smaller p fails
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
        tuple(observations): p for observations, p in zip(deals.observations.tolist(), deals.probabilities, strict=True)
    }
    assert len(expected) == len(deals), "two deals look the same to both players"
    drawn = Counter()
    for seed in range(DRAWS):
        state = game.new_initial_state(seed)
        drawn[deal_observation(state, 0), deal_observation(state, 1)] += 1
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
def test_a_deal_is_a_state_like_those_that_initial_makes(game):
    deals = deals_of(game)
    hidden = {"cards", "faces"}
    initial = game.new_initial_state(1).data
    for name in set(game.state.names) - hidden:
        assert (deals.states[name] == initial[name]).all(), name


@dealing
def test_a_player_sees_the_same_of_every_determinization(game):
    for seed, player in itertools.product(range(20), range(2)):
        state = game.new_initial_state(seed)
        kernels, drawn = game.kernels(), state.determinize(player, seed)
        assert kernels.deal_observation(drawn.data.ctypes.data, player) == deal_observation(state, player)


def test_the_numbers_of_deals_are_those_of_the_rules():
    numbers = {"kuhn-poker": 6, "leduc-poker": 9, "liars-dice": 36, "liars-dice(first=2, second=2)": 441}
    assert {name: len(deals_of(games.load(name))) for name in numbers} == numbers


def test_a_game_without_a_deal_begins_in_a_single_way():
    deals = deals_of(games.load("goofspiel(cards=4)"))
    assert len(deals) == 1 and deals.probabilities.tolist() == [1.0]
    assert (deals.states == games.load("goofspiel(cards=4)").new_initial_state(5).data).all()


def test_a_secret_deal_is_refused_with_the_functions_that_are_missing():
    secret = attrs.evolve(games.load("kuhn-poker"), deal=None, deal_observation=None)
    with pytest.raises(
        ValueError, match=r"kuhn-poker has hidden deals: .*deal\(state, index, .*deal_observation\(state, perspective\)"
    ):
        deals_of(secret)
    with pytest.raises(ValueError, match="hearts has hidden deals"):
        deals_of(games.load("hearts"))


def unsure(state, index):
    return 0.3 if index < 3 else -1.0


def test_probabilities_that_do_not_sum_to_1_are_refused():
    with pytest.raises(ValueError, match="the 3 deals of kuhn-poker sum to 0.8999"):
        deals_of(attrs.evolve(games.load("kuhn-poker"), deal=unsure))


@pytest.mark.parametrize("probability", [-0.5, float("nan"), -2.0])
def test_a_deal_has_a_probability(probability):
    game = attrs.evolve(games.load("kuhn-poker"), deal=lambda state, index: probability)
    with pytest.raises(ValueError, match=r"deal of kuhn-poker .* returned .*; it must be a probability, or NO_DEAL"):
        deals_of(game)


def test_deals_of_probability_0_that_do_not_end_are_refused():
    game = attrs.evolve(games.load("kuhn-poker"), deal=lambda state, index: 1 / 6 if index < 6 else 0.0)
    with pytest.raises(
        ValueError, match="100001 deals of kuhn-poker in a row have the probability 0; deal must return NO_DEAL"
    ):
        deals_of(game)


def test_a_deal_without_what_players_see_of_it_is_refused():
    with pytest.raises(ValueError, match="a function deal but no deal_observation"):
        attrs.evolve(games.load("kuhn-poker"), deal_observation=None)
    with pytest.raises(ValueError, match="a function deal_observation but no deal"):
        attrs.evolve(games.load("kuhn-poker"), deal=None)


def test_an_information_state_is_what_its_player_saw_of_the_deal_and_of_the_moves():
    state = games.load("kuhn-poker").new_initial_state(3)
    cards = state.facts.cards.tolist()
    assert information_state(state) == (0, cards[0], ())
    state.apply_action(1)
    assert information_state(state) == (1, cards[1], ((False, 1),))


def test_below_is_what_a_dealer_draws_with():
    # the sign that a game has hidden deals is that its `initial` moved the generator on
    rng = np.arange(1, 5, dtype=np.uint64)
    before = rng.copy()
    below(rng, 6)
    assert (rng != before).any()
