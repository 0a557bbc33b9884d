"""II-Goofspiel: hand-made positions, OpenSpiel in lock-step on rules and information, and bids drawn uniformly."""

import itertools
from collections import Counter

import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare

from icarus.compiler import rng
from icarus.games.goofspiel import FIRST_WON, NO_RESULT, SECOND_WON, TIED, goofspiel
from icarus.games.goofspiel import determinize as redraw
from icarus.kernel import CHANCE, CONTINUES, helper
from tests.games.states import random_walk

UNLIKELY = 1e-4  # a chi-square test with a smaller p fails


def bidden(cards, bids):
    """The game after bids [round 1 of player 0, of player 1, round 2 …], each of them legal."""
    state = goofspiel(cards).new_initial_state()
    for bid in bids:
        state.apply_action(bid)
    return state


# ------------------------------------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize(
    ("bids", "reward"),
    [
        ([1, 2, 2, 3, 3, 1], 0.5),  # 1 + 2 points against 3
        ([2, 1, 1, 3, 3, 2], 1.0),  # 1 + 3 points against 2
        ([2, 1, 3, 2, 1, 3], 0.5),
        ([3, 3, 1, 1, 2, 2], 0.5),  # equal bids leave all points to nobody
        ([3, 3, 1, 2, 2, 1], 1.0),  # 3 points against 2
        ([1, 1, 3, 2, 2, 3], 0.0),  # 2 points against 3
    ],
)
def test_the_higher_bid_takes_the_points_of_the_round_and_more_points_win(bids, reward):
    state = bidden(3, bids)
    assert state.is_terminal() and state.returns() == [reward, 1 - reward]


@pytest.mark.parametrize("cards", [1, 14, 0, -2, 6.0, "6", True, None])
def test_other_numbers_of_cards_are_refused(cards):
    with pytest.raises(ValueError, match="integer from 2 to 13") as refusal:
        goofspiel(cards)
    assert repr(cards) in str(refusal.value)


def openspiel(cards):
    return pyspiel.load_game(f"goofspiel(imp_info=True,num_cards={cards},points_order=ascending,returns_type=win_loss)")


def lock_step_with_openspiel(cards, games):
    """OpenSpiel bids at once, and bids the last card by itself; returns how often a player's view was met again."""
    theirs, views, again = openspiel(cards), ({}, {}), 0
    for seed in range(games):
        referee = theirs.new_initial_state()
        for state in random_walk(goofspiel(cards).new_initial_state(), seed):
            bids = [action - 1 for _, action in state.history]
            if len(bids) % 2 == 0 and bids and not referee.is_terminal():
                referee.apply_actions(bids[-2:])
            if referee.is_terminal():
                assert len(state.legal_actions()) <= 1
                continue
            mover = state.current_player()
            assert [action - 1 for action in state.legal_actions()] == referee.legal_actions(mover)
            moves, description = state.moves(mover), referee.information_state_string(mover)
            again += moves in views[mover]
            assert views[mover].setdefault(moves, description) == description
        assert referee.is_terminal() and state.returns() == [(value + 1) / 2 for value in referee.returns()]
    for view in views:
        assert len(set(view.values())) == len(view), (
            "what OpenSpiel tells apart, the moves tell apart, and the other way round"
        )
    return again


@pytest.mark.parametrize(("cards", "games"), [(2, 50), (4, 120), (6, 60), (13, 15)])
def test_random_games_agree_with_openspiel_on_rules_and_on_what_each_player_knows(cards, games):
    assert lock_step_with_openspiel(cards, games) > games


@pytest.mark.slow
def test_many_long_random_games_agree_with_openspiel():
    assert lock_step_with_openspiel(13, 2000) > 2000


# ------------------------------------------------------------------------------------------------- what each player sees


def test_of_the_others_bids_a_player_sees_the_results():
    state = bidden(4, [2, 2, 4, 1, 1, 3, 3])
    assert state.moves(0) == (2, TIED, 4, FIRST_WON, 1, SECOND_WON, 3)
    assert state.moves(1) == (NO_RESULT, 2, TIED, 1, FIRST_WON, 3, SECOND_WON)
    assert state.moves(CHANCE) == (2, 2, 4, 1, 1, 3, 3)
    assert not {TIED, FIRST_WON, SECOND_WON, NO_RESULT} & set(goofspiel(13).new_initial_state().legal_actions())


def test_an_episode_is_a_round_labelled_with_its_points():
    state = bidden(4, [2, 2, 4, 1])
    label = state.game.kernels().episode
    assert label(state.data.ctypes.data) == 3 and state.position_in_episode().moves == ((), (), ())
    state.apply_action(3)
    assert label(state.data.ctypes.data) == CONTINUES
    assert state.position_in_episode().moves == ((3,), (FIRST_WON,), (3,))


# ------------------------------------------------------------------------------------------------------- determinization


def results(bids):
    """Who took the points of each finished round: 1 for player 0, -1 for player 1, 0 for nobody."""
    return [(first > second) - (first < second) for first, second in zip(bids[0], bids[1], strict=False)]


def agreeing_bids(state, observer):
    """The other's bids in every order of his cards that leads to the results that both know."""
    bids = [[action for who, action in state.history if who == player] for player in range(2)]
    outcomes = results(bids)
    for order in itertools.permutations(range(1, int(state.facts.cards) + 1), len(bids[1 - observer])):
        bids[1 - observer] = order
        if results(bids) == outcomes:
            yield order


determinize = helper(redraw)


@helper
def draw_bids(state, observer, beliefs, generator, bids):
    for i in range(len(bids)):
        determinize(state, observer, beliefs, generator)
        for k in range(bids.shape[1]):
            bids[i, k] = state.bids[1 - observer, k]


def drawn_bids(state, observer, count, seed=1):
    """How often each sequence of the other's bids is drawn, `beliefs` being prepared once."""
    bids = np.zeros((count, sum(who != observer for who, _ in state.history)), np.int8)
    draw_bids(state.data.copy()[0], observer, state.beliefs(observer)[0], rng.seeded(seed), bids)
    return Counter(map(tuple, bids.tolist()))


def test_the_bids_that_agree_with_two_lost_rounds_are_those_one_counts_by_hand():
    assert set(drawn_bids(bidden(4, [1, 2, 2, 3]), 0, 500)) == {(2, 3), (2, 4), (3, 4), (4, 3)}


@pytest.mark.parametrize(("cards", "seeds"), [(2, 2), (3, 4), (5, 3), (6, 2)])
def test_determinization_is_uniform_over_the_bids_that_agree_with_all_results(cards, seeds):
    most = 0
    for seed in range(seeds):
        for state in random_walk(goofspiel(cards).new_initial_state(), seed):
            for observer in range(2):
                agreeing = list(agreeing_bids(state, observer))
                drawn = drawn_bids(state, observer, 30 * len(agreeing))
                assert set(drawn) <= set(agreeing)
                assert len(agreeing) == 1 or chisquare([drawn[order] for order in agreeing]).pvalue > UNLIKELY
                most = max(most, len(agreeing))
    assert most > cards or cards == 2, "more than the bid that waits for its result is open"


def test_thirteen_cards_are_drawn_uniformly_too():
    lost = [
        (1, 13),
        (2, 12),
        (3, 11),
        (4, 10),
        (5, 9),
        (13, 6),
        (12, 5),
        (11, 3),
        (10, 2),
        (9, 1),
    ]  # three rounds to go
    state = bidden(13, [bid for pair in lost for bid in pair])
    drawn = drawn_bids(state, 0, 20_000)
    for order in drawn:
        assert len(set(order)) == 10
        assert all(
            (own_bid < opponent_bid) == (own_bid < bid)
            for (own_bid, opponent_bid), bid in zip(lost, order, strict=True)
        )
    assert len(drawn) > 19_000, "of millions, hardly any is drawn twice"


def test_the_table_is_drawn_as_players_see_it():
    assert str(bidden(4, [1, 2, 2, 3, 4])) == "\n".join(
        [
            "round 3 of 4, points at stake: 3; ahead: player 1 by 3",
            "player 0: 3, has bid 1 2, and now 4",
            "player 1: 1 4, has bid 2 3",
            "player 1 to bid",
        ]
    )
    assert str(bidden(2, [1, 1, 2, 2])) == "the end; level\nplayer 0: -, has bid 1 2\nplayer 1: -, has bid 1 2"
