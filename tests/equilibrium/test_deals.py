"""Deals in the open: each game's list of deals against what its `initial` draws, and what players see of them."""

import itertools
from collections import Counter

import pytest
from scipy.stats import chisquare

from icarus import games
from icarus.equilibrium.deals import deal_observation, deals_of, information_state

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
def test_a_player_sees_the_same_of_every_determinization(game):
    for seed, player in itertools.product(range(20), range(2)):
        state = game.new_initial_state(seed)
        kernels, drawn = game.kernels(), state.determinize(player, seed)
        assert kernels.deal_observation(drawn.data.ctypes.data, player) == deal_observation(state, player)


def test_the_numbers_of_deals_are_those_of_the_rules():
    numbers = {"kuhn-poker": 6, "leduc-poker": 9, "liars-dice": 36, "liars-dice(first=2, second=2)": 441}
    assert {name: len(deals_of(games.load(name))) for name in numbers} == numbers


def test_an_information_state_is_what_its_player_saw_of_the_deal_and_of_the_moves():
    state = games.load("kuhn-poker").new_initial_state(3)
    cards = state.facts.cards.tolist()
    assert information_state(state) == (0, cards[0], ())
    state.apply_action(1)
    assert information_state(state) == (1, cards[1], ((False, 1),))
