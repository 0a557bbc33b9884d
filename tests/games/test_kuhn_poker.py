"""Kuhn poker: every hand against OpenSpiel, the value of the game, and deals drawn uniformly."""

import itertools
import random
from collections import Counter

import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare

from icarus.games.kuhn_poker import BET, KUHN_POKER, PASS
from icarus.kernel import CHANCE
from icarus.kernel.contract import facts_of
from icarus.kernel.state import State
from tests.games.states import every_state

UNLIKELY = 1e-4  # a chi-square test with a smaller p fails
DEALS = list(itertools.permutations("JQK", 2))


def dealt(first, second, text=""):
    """The hand with these cards after actions written like "pass bet", each of them legal."""
    state = KUHN_POKER.new_initial_state()
    facts_of(state.data).cards[:] = "JQK".index(first), "JQK".index(second)
    state = State(KUHN_POKER, state.data)
    for name in text.split():
        state.apply_action(state.string_to_action(name))
    return state


EVERY_STATE = [state for deal in DEALS for state in every_state(dealt(*deal))]


@pytest.mark.parametrize(
    ("text", "gain"),
    [
        ("pass pass", 1),
        ("bet call", 2),
        ("pass bet call", 2),  # K against Q: the higher card takes the pot
        ("bet fold", 1),
        ("pass bet fold", -1),  # who folds loses his ante, whatever his card
    ],
)
def test_the_pot_goes_to_the_higher_card_or_to_who_did_not_fold(text, gain):
    state = dealt("K", "Q", text)
    assert state.is_terminal() and state.returns() == [(2 + gain) / 4, (2 - gain) / 4]
    lower = dealt("Q", "K", text)
    assert lower.returns() == (state.returns() if "fold" in text else state.returns()[::-1])


def test_each_deal_is_equally_likely():
    counts = Counter(tuple(KUHN_POKER.new_initial_state(seed).facts.cards.tolist()) for seed in range(3000))
    assert len(counts) == 6 and chisquare(list(counts.values())).pvalue > UNLIKELY


def counterpart(state):
    """The same hand in OpenSpiel."""
    referee = pyspiel.load_game("kuhn_poker").new_initial_state()
    for action in (*state.facts.cards.tolist(), *(action for _, action in state.history)):
        referee.apply_action(action)
    return referee


def compare(state, referee):
    assert state.is_terminal() == referee.is_terminal()
    if state.is_terminal():
        assert state.returns() == [(value + 2) / 4 for value in referee.returns()]
    else:
        assert state.current_player() == referee.current_player()
        assert state.legal_actions() == referee.legal_actions() == [PASS, BET]


def test_every_hand_agrees_with_openspiel():
    for state in EVERY_STATE:
        compare(state, counterpart(state))


def test_random_hands_agree_with_openspiel_all_along():
    choose = random.Random(1)
    for seed in range(500):
        state = KUHN_POKER.new_initial_state(seed)
        referee = counterpart(state)
        while not state.is_terminal():
            compare(state, referee)
            action = choose.choice(state.legal_actions())
            state.apply_action(action)
            referee.apply_action(action)
        compare(state, referee)


def expected_reward(state, strategies):
    """Player 0's reward when each player bets (or calls) with a probability for his card and what has been done."""
    if state.is_terminal():
        return state.returns()[0]
    player = state.current_player()
    card, done = "JQK"[state.facts.cards[player]], "".join("pb"[action] for _, action in state.history)
    bets, value = strategies[player][card, done], 0.0
    for action, probability in ((PASS, 1 - bets), (BET, bets)):
        child = state.clone()
        child.apply_action(action)
        value += probability * expected_reward(child, strategies)
    return value


@pytest.mark.parametrize("alpha", [0, 1 / 6, 1 / 3])
def test_kuhns_equilibria_lose_an_eighteenth_for_the_first_player(alpha):
    first = {
        ("J", ""): alpha,
        ("J", "pb"): 0,
        ("Q", ""): 0,
        ("Q", "pb"): alpha + 1 / 3,
        ("K", ""): 3 * alpha,
        ("K", "pb"): 1,
    }
    second = {("J", "p"): 1 / 3, ("J", "b"): 0, ("Q", "p"): 0, ("Q", "b"): 1 / 3, ("K", "p"): 1, ("K", "b"): 1}
    value = sum(expected_reward(dealt(*deal), (first, second)) for deal in DEALS) / 6
    assert value == pytest.approx((-1 / 18 + 2) / 4, abs=1e-12)


def test_a_determinization_deals_the_other_player_either_card_that_the_observer_lacks():
    for state in EVERY_STATE:
        shown = state.is_terminal() and not state.facts.folded
        for observer in range(2):
            card, opponent_card = state.facts.cards[observer], state.facts.cards[1 - observer]
            drawn = Counter()
            for seed in range(60):
                world = state.determinize(observer, seed).facts
                assert world.cards[observer] == card and world.paid.tolist() == state.facts.paid.tolist()
                drawn[int(world.cards[1 - observer])] += 1
            if shown:
                assert set(drawn) == {int(opponent_card)}, "the cards have been shown"
            else:
                assert set(drawn) == {0, 1, 2} - {int(card)} and chisquare(list(drawn.values())).pvalue > UNLIKELY
        assert (state.determinize(CHANCE, 1).data == state.data).all()


def test_the_table_is_drawn_as_players_see_it():
    assert str(dealt("Q", "K", "pass bet")) == "player 0: Q, paid 1; player 1: K, paid 2\nplayer 0 to act"
    assert str(dealt("Q", "K", "pass bet fold")).endswith("player 0 has folded")
    assert str(dealt("Q", "K", "bet call")).endswith("the cards are shown")
    assert {action: dealt("Q", "K", "bet").action_to_string(action) for action in (PASS, BET)} == {
        PASS: "fold",
        BET: "call",
    }
    assert np.array_equal(dealt("Q", "K").facts.cards, [1, 2])
