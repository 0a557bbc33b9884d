"""Liar's Dice: hand-made positions, OpenSpiel in lock-step, and rolls drawn uniformly."""

import itertools
import random
from collections import Counter

import pyspiel
import pytest
from scipy.stats import chisquare

from icarus.games.liars_dice import FACES, LIAR, liars_dice
from icarus.kernel.contract import facts_of
from icarus.kernel.state import State
from tests.marks import slow_after

UNLIKELY = 1e-4  # a chi-square test with a smaller p fails


def rolled(first, second, bids=""):
    """The game with dice written like "2★", after bids written like "1×2, liar", each of them legal."""
    state = liars_dice(len(first), len(second)).new_initial_state()
    for player, roll in enumerate((first, second)):
        facts_of(state.data).faces[player, : len(roll)] = ["12345★".index(face) for face in roll]
    state = State(state.game, state.data)
    for name in filter(None, bids.split(", ")):
        state.apply_action(state.string_to_action(name.replace("×", " × ")))
    return state


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
    assert state.is_terminal() and state.returns() == [float(holds), float(not holds)]


def test_every_roll_is_equally_likely():
    counts = Counter(tuple(sum(dice(liars_dice(1, 2).new_initial_state(seed)), [])) for seed in range(8 * FACES**3))
    assert chisquare([counts[roll] for roll in itertools.product(range(FACES), repeat=3)]).pvalue > UNLIKELY


@pytest.mark.parametrize("numbers", [(0, 1), (1, 9), (-1, 1), (1, 1.5), ("2", 2), (True, 1), (1, None)])
def test_other_numbers_of_dice_are_refused(numbers):
    with pytest.raises(ValueError, match="integer from 1 to 8") as refusal:
        liars_dice(*numbers)
    assert any(repr(number) in str(refusal.value) for number in numbers)


def lock_step_with_openspiel(number, games):
    theirs = pyspiel.load_game(f"liars_dice(numdice={number})")
    liar = theirs.num_distinct_actions() - 1
    for seed in range(games):
        state, referee = liars_dice(number, number).new_initial_state(seed), theirs.new_initial_state()
        choose = random.Random(seed)
        for face in sum(dice(state), []):
            referee.apply_action(face)
        while not referee.is_terminal():
            assert state.current_player() == referee.current_player()
            assert [liar if action == LIAR else action for action in state.legal_actions()] == referee.legal_actions()
            highest = 1 + state.legal_actions()[0] + choose.randrange(6)  # most bids are near the last, for long games
            action = choose.choice([action for action in state.legal_actions() if action <= highest or action == LIAR])
            referee.apply_action(liar if action == LIAR else action)
            state.apply_action(action)
        assert state.is_terminal() and state.returns() == [(value + 1) / 2 for value in referee.returns()]


@pytest.mark.parametrize("games", slow_after(1, [150, 2000]))
@pytest.mark.parametrize("number", [1, 2, 5])
def test_random_games_agree_with_openspiel(number, games):
    lock_step_with_openspiel(number, games)


# ------------------------------------------------------------------------------------------------------- determinization


@pytest.mark.parametrize(
    ("first", "second", "bids", "observer"),
    [("1", "2", "", 0), ("1", "2", "1×5", 1), ("24", "5", "1×4, 2×4", 1), ("2", "★5", "3×★", 0)],
)
def test_a_determinization_rolls_the_other_players_dice_uniformly(first, second, bids, observer):
    state = rolled(first, second, bids)
    hidden = len((first, second)[1 - observer])
    drawn = Counter()
    for seed in range(25 * FACES**hidden):
        world = state.determinize(observer, seed)
        assert dice(world)[observer] == dice(state)[observer]
        assert world.facts.bid == state.facts.bid and world.legal_actions() == state.legal_actions()
        drawn[tuple(dice(world)[1 - observer])] += 1
    assert chisquare([drawn[roll] for roll in itertools.product(range(FACES), repeat=hidden)]).pvalue > UNLIKELY


def test_the_table_is_drawn_as_players_see_it():
    assert str(rolled("2★", "2", "1×2, 3×2")) == "player 0: 2 ★; player 1: 2\nplayer 1 has bid 3 × 2, player 0 to act"
    assert str(rolled("2★", "2", "1×2, 3×2, liar")).endswith("player 1 has bid 3 × 2, player 0 has called")
    assert str(rolled("2★", "2")).endswith("\nplayer 0 to act")
