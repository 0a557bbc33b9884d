"""Generic poker and Leduc: hand-made positions, every hand of Leduc against OpenSpiel, deals, and refusals."""

import itertools
from collections import Counter

import pyspiel
import pytest
from scipy.stats import chisquare

from icarus.games.generic_poker import CALL, FOLD, LEDUC_POKER, NO_TABLE, generic_poker
from icarus.kernel import CHANCE
from icarus.kernel.contract import facts_of
from icarus.kernel.game import State

UNLIKELY = 1e-4  # a chi-square test with a smaller p fails


def dealt(game, first, second, text=""):
    """The hand with these ranks (1 is the lowest) after actions written like "bet 2, call, 3", each of them legal."""
    state = game.new_initial_state()
    facts_of(state.data).cards[:] = first - 1, second - 1
    state = State(game, state.data)
    for name in filter(None, text.split(", ")):
        state.apply_action(state.string_to_action(name))
    return state


def legal_texts(state):
    return [state.action_to_string(action) for action in state.legal_actions()]


def gain(state):
    """What player 0 has won, in chips."""
    most = state.game.utilities[1]
    assert sum(state.returns()) == pytest.approx(1, abs=1e-12)
    return round(2 * most * state.returns()[0] - most, 9)


@pytest.mark.parametrize(
    ("cards", "text", "chips"),
    [
        ((1, 2), "check, check, 3, check, check", -1),  # the higher rank
        ((1, 2), "check, check, 1, check, check", 1),  # the rank of the table before any other
        ((3, 2), "bet 4, call, 2, check, check", -5),
        ((2, 2), "bet 4, call, 2, bet 8, call", 0),  # equal ranks share the pot
        ((3, 1), "bet 2, fold", 1),
        ((1, 3), "bet 2, raise 4, fold", -3),
        ((1, 3), "check, bet 4, raise 2, raise 4, call, 1, check, bet 4, raise 8, raise 4, call", 27),
        ((1, 3), "check, bet 4, raise 2, raise 4, call, 1, check, bet 4, raise 8, raise 4, fold", -23),
        ((3, 1), "check, check, 2, bet 4, fold", 1),
    ],
)
def test_the_pot_goes_to_the_rank_of_the_table_to_the_higher_rank_or_to_who_did_not_fold(cards, text, chips):
    state = dealt(generic_poker(), *cards, text)
    assert state.is_terminal() and gain(state) == chips


def test_a_bet_may_be_called_raised_twice_or_folded_to_and_nobody_folds_without_one():
    game = generic_poker()
    assert legal_texts(dealt(game, 1, 2)) == ["check", "bet 2", "bet 4"]
    assert legal_texts(dealt(game, 1, 2, "check, bet 2")) == ["fold", "call", "raise 2", "raise 4"]
    assert legal_texts(dealt(game, 1, 2, "bet 2, raise 4")) == ["fold", "call", "raise 2", "raise 4"]
    assert legal_texts(dealt(game, 1, 2, "bet 2, raise 4, raise 2")) == ["fold", "call"]
    assert legal_texts(dealt(game, 1, 2, "bet 2, call, 3")) == ["check", "bet 4", "bet 8"]


def test_a_rank_comes_on_the_table_as_often_as_its_cards_are_left():
    assert dealt(generic_poker(), 1, 1, "check, check").chance_outcomes() == [(0, 1 / 7), (1, 3 / 7), (2, 3 / 7)]
    assert dealt(generic_poker(copies=2), 1, 1, "check, check").chance_outcomes() == [(1, 1 / 2), (2, 1 / 2)]
    assert dealt(generic_poker(copies=1), 1, 3, "check, check").chance_outcomes() == [(1, 1.0)]


def test_the_most_that_can_be_paid_is_what_a_reward_of_1_stands_for():
    for game in (generic_poker(), generic_poker(raises=0), LEDUC_POKER):
        state = dealt(game, 3, 1)
        while not state.is_terminal():  # the last action is the largest bet or raise, or a call
            state.apply_action(state.legal_actions()[-1 if state.current_player() != CHANCE else 0])
        assert abs(gain(state)) == game.utilities[1] == -game.utilities[0]


def every_pair(state, referee):
    """A hand of Leduc and OpenSpiel's, all along every way to play it."""
    yield state, referee
    for action in state.legal_actions():
        child, theirs = state.clone(), referee.clone()
        # OpenSpiel's cards are single ones: of a rank, the first that has not been dealt
        card = action * 2 + [*state.facts.cards].count(action) if state.is_chance_node() else action
        child.apply_action(action)
        theirs.apply_action(card)
        yield from every_pair(child, theirs)


def test_every_hand_of_leduc_agrees_with_openspiel():
    count = 0
    for first, second in itertools.product(range(3), repeat=2):
        referee = pyspiel.load_game("leduc_poker").new_initial_state()
        referee.apply_action(first * 2)
        referee.apply_action(second * 2 + (first == second))
        for ours, theirs in every_pair(dealt(LEDUC_POKER, first + 1, second + 1), referee):
            count += 1
            assert ours.is_terminal() == theirs.is_terminal()
            if ours.is_terminal():
                assert gain(ours) == theirs.returns()[0]
            elif ours.is_chance_node():
                chances = Counter()
                for card, probability in theirs.chance_outcomes():
                    chances[card // 2] += probability
                assert dict(ours.chance_outcomes()) == pytest.approx(chances, abs=1e-12)
            else:
                assert ours.current_player() == theirs.current_player()
                assert ours.legal_actions() == theirs.legal_actions()
    assert count > 1000


@pytest.mark.parametrize("text", ["", "bet 2, call", "bet 2, call, 2"])
def test_a_determinization_deals_single_cards_uniformly(text):
    state, drawn = dealt(generic_poker(copies=2), 1, 2, text), Counter()
    for seed in range(3000):
        world = state.determinize(0, seed).facts
        assert world.cards[0] == 0 and world.table == state.facts.table
        drawn[int(world.cards[1])] += 1
    remaining = [2 - (rank == 0) - (rank == state.facts.table) for rank in range(3)]
    expected = [3000 * count / sum(remaining) for count in remaining]
    assert chisquare([drawn[rank] for rank in range(3)], expected).pvalue > UNLIKELY


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ranks": 1}, "ranks of generic-poker"),
        ({"copies": 9}, "copies of generic-poker is 9"),
        ({"raises": -1}, "raises of generic-poker is -1"),
        ({"sizes": 1.0}, "sizes of generic-poker is 1.0"),
        ({"ranks": 2, "copies": 1}, "two hands and the table need three cards"),
    ],
)
def test_other_numbers_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        generic_poker(**parameters)


def test_the_table_is_drawn_as_players_see_it():
    game = generic_poker()
    assert (
        str(dealt(game, 2, 1, "bet 2, call, 1"))
        == "player 0: 2, paid 3; player 1: 1, paid 3; table: 1\nplayer 0 to act"
    )
    assert str(dealt(game, 2, 1, "bet 2, fold")).endswith("player 1 has folded")
    assert str(dealt(game, 2, 1, "check, check")).endswith("the table is dealt a card")
    assert dealt(game, 2, 1).facts.table == NO_TABLE
    assert [dealt(game, 2, 1, "bet 2").action_to_string(action) for action in (FOLD, CALL)] == ["fold", "call"]
    assert (str(LEDUC_POKER), str(game)) == ("leduc-poker", "generic-poker")
