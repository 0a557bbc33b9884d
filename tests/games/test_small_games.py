"""Kuhn and generic poker, Liar's Dice and Goofspiel: rules by hand, OpenSpiel in lock-step, draws counted."""

import functools
import itertools
import random
from collections import Counter

import pyspiel
import pytest
from scipy.stats import chisquare

from icarus.games.generic_poker import LEDUC_POKER, generic_poker
from icarus.games.goofspiel import FIRST_WON, NO_RESULT, SECOND_WON, TIED, goofspiel
from icarus.games.kuhn_poker import BET, KUHN_POKER, PASS
from icarus.games.liars_dice import FACES, LIAR, liars_dice
from icarus.kernel import CHANCE, State, facts_of
from tests.games.scenes import (
    UNLIKELY,
    apply_texts,
    draws,
    every_state,
    legal_texts,
    met_again,
    random_walk,
)
from tests.marks import slow_after

DEALS = list(itertools.permutations("JQK", 2))


def dealt_of_kuhn_poker(first, second, text=""):
    """The hand with these cards after actions written like "pass bet", each of them legal."""
    state = KUHN_POKER.new_initial_state()
    facts_of(state.data).cards[:] = "JQK".index(first), "JQK".index(second)
    return apply_texts(State(KUHN_POKER, state.data), *text.split())


@functools.cache
def every_state_of_kuhn_poker():
    return [state for deal in DEALS for state in every_state(dealt_of_kuhn_poker(*deal))]


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
    state = dealt_of_kuhn_poker("K", "Q", text)
    assert state.is_terminal()
    assert state.returns() == [(2 + gain) / 4, (2 - gain) / 4]
    lower = dealt_of_kuhn_poker("Q", "K", text)
    assert lower.returns() == (state.returns() if "fold" in text else state.returns()[::-1])


def counterpart(state):
    """The same hand in OpenSpiel."""
    referee = pyspiel.load_game("kuhn_poker").new_initial_state()
    for action in (*state.facts.cards.tolist(), *(action for _, action in state.history)):
        referee.apply_action(action)
    return referee


def compare(state, referee):
    assert state.is_terminal() == referee.is_terminal()
    if state.is_terminal():
        assert gain(state) == referee.returns()[0]
    else:
        assert state.current_player() == referee.current_player()
        assert state.legal_actions() == referee.legal_actions()


def test_every_hand_agrees_with_openspiel():
    assert dealt_of_kuhn_poker("K", "Q").legal_actions() == [PASS, BET]
    for state in every_state_of_kuhn_poker():
        compare(state, counterpart(state))


def test_a_determinization_deals_the_other_player_either_card_that_the_observer_lacks():
    for state in every_state_of_kuhn_poker():
        shown = state.is_terminal() and not state.facts.folded
        for observer in range(2):
            card, opponent_card = state.facts.cards[observer], state.facts.cards[1 - observer]
            worlds = draws(state, observer, 60)
            assert (worlds["cards"][:, observer] == card).all()
            assert (worlds["paid"] == state.facts.paid).all()
            drawn = Counter(worlds["cards"][:, 1 - observer].tolist())
            if shown:
                assert set(drawn) == {int(opponent_card)}, "the cards have been shown"
            else:
                assert set(drawn) == {0, 1, 2} - {int(card)}
                assert chisquare(list(drawn.values())).pvalue > UNLIKELY
        assert (state.determinize(CHANCE, 1).data == state.data).all()


# -------------------- Generic poker and Leduc: hand-made positions, every hand of Leduc against OpenSpiel, deals, and refusals.


def dealt_of_generic_poker(game, first, second, text=""):
    """The hand with these ranks (1 is the lowest) after actions written like "bet 2, call, 3", each of them legal."""
    state = game.new_initial_state()
    facts_of(state.data).cards[:] = first - 1, second - 1
    return apply_texts(State(game, state.data), *filter(None, text.split(", ")))


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
        (
            (1, 3),
            "check, bet 4, raise 2, raise 4, call, 1, check, bet 4, raise 8, raise 4, call",
            27,
        ),
        (
            (1, 3),
            "check, bet 4, raise 2, raise 4, call, 1, check, bet 4, raise 8, raise 4, fold",
            -23,
        ),
        ((3, 1), "check, check, 2, bet 4, fold", 1),
    ],
)
def test_the_pot_goes_to_the_rank_of_the_table_to_the_higher_rank_or_to_who_did_not_fold(
    cards, text, chips
):
    state = dealt_of_generic_poker(generic_poker(), *cards, text)
    assert state.is_terminal()
    assert gain(state) == chips


@pytest.mark.parametrize(
    ("text", "legal"),
    [
        ("", "check, bet 2, bet 4"),
        ("check, bet 2", "fold, call, raise 2, raise 4"),
        ("bet 2, raise 4", "fold, call, raise 2, raise 4"),
        ("bet 2, raise 4, raise 2", "fold, call"),
        ("bet 2, call, 3", "check, bet 4, bet 8"),
    ],
)
def test_a_bet_may_be_called_raised_twice_or_folded_to_and_nobody_folds_without_one(text, legal):
    state = dealt_of_generic_poker(generic_poker(), 1, 2, text)
    assert legal_texts(state) == set(legal.split(", "))


def every_pair(state, referee):
    """A hand of Leduc and OpenSpiel's, all along every way to play it."""
    yield state, referee
    for action in state.legal_actions():
        child, theirs = state.clone(), referee.clone()
        # OpenSpiel's cards are single ones: of a rank, the first that has not been dealt_of_generic_poker
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
        for ours, theirs in every_pair(
            dealt_of_generic_poker(LEDUC_POKER, first + 1, second + 1), referee
        ):
            count += 1
            if ours.is_chance_node():
                chances = Counter()
                for card, probability in theirs.chance_outcomes():
                    chances[card // 2] += probability
                assert dict(ours.chance_outcomes()) == pytest.approx(chances, abs=1e-12)
            else:
                compare(ours, theirs)
    assert count > 1000


@pytest.mark.parametrize("text", ["", "bet 2, call", "bet 2, call, 2"])
def test_a_determinization_deals_single_cards_uniformly(text):
    state = dealt_of_generic_poker(generic_poker(copies=2), 1, 2, text)
    worlds = draws(state, 0, 3000)
    assert (worlds["cards"][:, 0] == 0).all()
    assert (worlds["table"] == state.facts.table).all()
    drawn = Counter(worlds["cards"][:, 1].tolist())
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


# -------------------- Liar's Dice: hand-made positions, OpenSpiel in lock-step, and rolls drawn uniformly.


def rolled(first, second, bids=""):
    """The game with dice written like "2★", after bids written like "1×2, liar", each of them legal."""
    state = liars_dice(len(first), len(second)).new_initial_state()
    for player, roll in enumerate((first, second)):
        facts_of(state.data).faces[player, : len(roll)] = ["12345★".index(face) for face in roll]
    texts = filter(None, bids.replace("×", " × ").split(", "))
    return apply_texts(State(state.game, state.data), *texts)


def dice(state):
    """Each player's dice, in order."""
    return [state.facts.faces[player, : state.facts.dice[player]].tolist() for player in range(2)]


# ------------------------------------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize(
    ("first", "second", "bid", "holds"),
    [
        ("2", "2", "2×2", True),
        ("2", "3", "2×2", False),
        ("2", "3", "1×2", True),
        ("2", "★", "2×2", True),  # a star counts as any face
        ("★", "★", "2×4", True),
        ("2", "★", "2×★", False),  # but no face as a star
        ("2", "★", "1×★", True),
        ("23", "2★5", "3×2", True),
        ("23", "2★5", "4×2", False),
        ("23", "2★5", "1×1", True),  # more than were bid
        ("44444444", "4444444★", "16×4", True),
    ],
)
def test_if_the_bid_holds_the_bidder_wins_and_otherwise_the_caller(first, second, bid, holds):
    state = rolled(first, second, f"{bid}, liar")
    assert state.is_terminal()
    assert state.returns() == [float(holds), float(not holds)]


def test_every_bid_has_a_text_that_is_read():
    state = liars_dice(8, 8, 10).new_initial_state()
    for action in state.legal_actions():
        assert state.string_to_action(state.action_to_string(action)) == action
    assert state.action_to_string(159) == "16 × ★"


@pytest.mark.parametrize(
    "numbers", [(0, 1), (1, 9), (-1, 1), (1, 1.5), ("2", 2), (True, 1), (1, None)]
)
def test_other_numbers_of_dice_are_refused(numbers):
    with pytest.raises(ValueError, match="integer from 1 to 8") as refusal:
        liars_dice(*numbers)
    assert any(repr(number) in str(refusal.value) for number in numbers)


@pytest.mark.parametrize("games", slow_after(1, [150, 2000]))
@pytest.mark.parametrize("number", [1, 2, 5])
def test_random_games_agree_with_openspiel(number, games):
    theirs = pyspiel.load_game(f"liars_dice(numdice={number})")
    liar = theirs.num_distinct_actions() - 1
    for seed in range(games):
        state = liars_dice(number, number).new_initial_state(seed)
        referee = theirs.new_initial_state()
        choose = random.Random(seed)
        for face in sum(dice(state), []):
            referee.apply_action(face)
        while not referee.is_terminal():
            assert state.current_player() == referee.current_player()
            assert [
                liar if action == LIAR else action for action in state.legal_actions()
            ] == referee.legal_actions()
            # most bids are near the last, for long games
            highest = 1 + state.legal_actions()[0] + choose.randrange(6)
            action = choose.choice(
                [action for action in state.legal_actions() if action <= highest or action == LIAR]
            )
            referee.apply_action(liar if action == LIAR else action)
            state.apply_action(action)
        assert state.is_terminal()
        assert state.returns() == [(value + 1) / 2 for value in referee.returns()]


# ------------------------------------------------------------------------------------------------------- determinization


@pytest.mark.parametrize(
    ("first", "second", "bids", "observer"),
    [("1", "2", "", 0), ("1", "2", "1×5", 1), ("24", "5", "1×4, 2×4", 1), ("2", "★5", "3×★", 0)],
)
def test_a_determinization_rolls_the_other_players_dice_uniformly(first, second, bids, observer):
    state = rolled(first, second, bids)
    hidden = len((first, second)[1 - observer])
    worlds = draws(state, observer, 25 * FACES**hidden)
    assert (worlds["faces"][:, observer] == state.facts.faces[observer]).all()
    assert (worlds["bid"] == state.facts.bid).all()
    assert (worlds["dice"] == state.facts.dice).all()
    drawn = Counter(map(tuple, worlds["faces"][:, 1 - observer, :hidden].tolist()))
    assert (
        chisquare([drawn[roll] for roll in itertools.product(range(FACES), repeat=hidden)]).pvalue
        > UNLIKELY
    )


# -------------------- II-Goofspiel: hand-made positions, OpenSpiel in lock-step on rules and information, and bids drawn uniformly.


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
    assert state.is_terminal()
    assert state.returns() == [reward, 1 - reward]


@pytest.mark.parametrize("cards", [1, 14, 0, -2, 6.0, "6", True, None])
def test_other_numbers_of_cards_are_refused(cards):
    with pytest.raises(ValueError, match="integer from 2 to 13") as refusal:
        goofspiel(cards)
    assert repr(cards) in str(refusal.value)


def openspiel(cards):
    return pyspiel.load_game(
        f"goofspiel(imp_info=True,num_cards={cards},points_order=ascending,returns_type=win_loss)"
    )


@pytest.mark.parametrize(("cards", "games"), [(2, 50), (4, 120), (6, 60), (13, 15)])
def test_random_games_agree_with_openspiel_on_rules_and_on_what_each_player_knows(cards, games):
    """OpenSpiel bids at once, and bids the last card by itself."""
    theirs, views = openspiel(cards), []
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
            views.append((mover, state.moves(mover), referee.information_state_string(mover)))
        assert referee.is_terminal()
        assert state.returns() == [(value + 1) / 2 for value in referee.returns()]
    assert met_again(views) > games


# ------------------------------------------------------------------------------------------------- what each player sees


def test_of_the_others_bids_a_player_sees_the_results():
    state = bidden(4, [2, 2, 4, 1, 1, 3, 3])
    assert state.moves(0) == (2, TIED, 4, FIRST_WON, 1, SECOND_WON, 3)
    assert state.moves(1) == (NO_RESULT, 2, TIED, 1, FIRST_WON, 3, SECOND_WON)
    assert state.moves(CHANCE) == (2, 2, 4, 1, 1, 3, 3)
    assert not {TIED, FIRST_WON, SECOND_WON, NO_RESULT} & set(
        goofspiel(13).new_initial_state().legal_actions()
    )


# ------------------------------------------------------------------------------------------------------- determinization


def results(bids):
    """Who took the points of each finished round: 1 for player 0, -1 for player 1, 0 for nobody."""
    return [
        (first > second) - (first < second) for first, second in zip(bids[0], bids[1], strict=False)
    ]


def agreeing_bids(state, observer):
    """The other's bids in every order of his cards that leads to the results that both know."""
    bids = [[action for who, action in state.history if who == player] for player in range(2)]
    outcomes = results(bids)
    for order in itertools.permutations(
        range(1, int(state.facts.cards) + 1), len(bids[1 - observer])
    ):
        bids[1 - observer] = order
        if results(bids) == outcomes:
            yield order


def drawn_bids(state, observer, count):
    """How often each sequence of the other's bids is drawn."""
    number = sum(who != observer for who, _ in state.history)
    bids = draws(state, observer, count)["bids"][:, 1 - observer, :number]
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
                assert (
                    len(agreeing) == 1
                    or chisquare([drawn[order] for order in agreeing]).pvalue > UNLIKELY
                )
                most = max(most, len(agreeing))
    assert most > cards or cards == 2, "more than the bid that waits for its result is open"


GOING_ON = """\
round 3 of 4; ahead: player 1 by 3
player 0: 3
player 1: 1 4
player 0 has bid: 1 2 4
player 1 has bid: 2 3
player 0 has won: -
player 1 has won: 1 2
at stake: 3
player 1 to bid"""
OVER = """\
the end; level
player 0: -
player 1: -
player 0 has bid: 1 2
player 1 has bid: 1 2
player 0 has won: -
player 1 has won: -"""


def test_the_table_is_drawn_as_players_see_it():
    assert str(bidden(4, [1, 2, 2, 3, 4])) == GOING_ON
    assert str(bidden(2, [1, 1, 2, 2])) == OVER
