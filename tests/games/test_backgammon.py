"""Backgammon against hand-made positions, a brute force over whole turns, and OpenSpiel."""

import random
import re
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from icarus.games.backgammon import BACKGAMMON, BAR, CHECKERS_EACH, OFF, POINTS, survey
from icarus.kernel import CHANCE, State, facts_of
from tests.games.scenes import apply_texts, legal_texts

X, O = 0, 1  # noqa: E741
LONGEST_TURN = 4


def position(mover: dict[int, int], opponent: dict[int, int], to_roll: int = X) -> State:
    """Before a roll of one player: {point: checkers} of his and of the opponent, each by his own numbers; the rest is off."""
    state = BACKGAMMON.new_initial_state()
    facts = facts_of(state.data)
    facts.points[:] = 0
    for player, placed in ((to_roll, mover), (1 - to_roll, opponent)):
        for point, checkers in placed.items():
            facts.points[player, point] = checkers
        facts.points[player, OFF] = CHECKERS_EACH - sum(placed.values())
    assert not any(mover.get(point) and opponent.get(BAR - point) for point in range(1, BAR)), (
        "both on one point"
    )
    survey(facts)
    facts.player, facts.actor = to_roll, CHANCE
    return state


def checkers(state: State, player: int) -> dict[int, int]:
    """{point: checkers} of a player by his own numbers, without those borne off."""
    return {
        point: int(count)
        for point, count in enumerate(state.facts.points[player])
        if count and point != OFF
    }


# ------------------------------------------------------------------------------------------------------------------ rolls


def test_the_opening_roll_is_thirty_equal_outcomes_without_doubles():
    state = BACKGAMMON.new_initial_state()
    assert state.current_player() == CHANCE
    outcomes = {
        state.action_to_string(action): probability
        for action, probability in state.chance_outcomes()
    }
    assert outcomes == {
        f"opening roll {x}{o}": 1 / 30 for x in range(1, 7) for o in range(1, 7) if x != o
    }


@pytest.mark.parametrize(("roll", "beginner"), [("63", X), ("36", O), ("21", X), ("56", O)])
def test_the_higher_die_begins_and_plays_both(roll, beginner):
    state = apply_texts(BACKGAMMON.new_initial_state(), f"opening roll {roll}")
    assert state.current_player() == beginner
    assert {action // POINTS + 1 for action in state.legal_actions()} == {int(die) for die in roll}


def test_other_rolls_have_twenty_one_outcomes_doubles_half_as_likely():
    state = position({6: 15}, {6: 15})
    outcomes = {
        state.action_to_string(action): probability
        for action, probability in state.chance_outcomes()
    }
    assert outcomes == {
        f"roll {high}{low}": (1 if high == low else 2) / 36
        for high in range(1, 7)
        for low in range(1, high + 1)
    }
    assert sum(outcomes.values()) == pytest.approx(1)


# ------------------------------------------------------------------------------------------------------------- usual moves


def test_a_blot_that_is_hit_goes_to_the_bar():
    state = apply_texts(position({10: 2, 3: 13}, {19: 1, 2: 14}), "roll 41", "10/6*")
    assert checkers(state, O) == {2: 14, BAR: 1}
    assert checkers(state, X) == {10: 1, 6: 1, 3: 13}


# ----------------------------------------------------------------------------------------------------------------- the bar


def test_a_player_who_cannot_enter_has_no_decision():
    closed = dict.fromkeys(range(1, 7), 2)
    for roll in [action for action, _ in position({BAR: 1, 13: 14}, closed).chance_outcomes()]:
        state = position({BAR: 1, 13: 14}, closed)
        state.apply_action(roll)
        assert state.current_player() == CHANCE
        assert str(state).endswith("O to roll")


# ------------------------------------------------------------------------------------------------- the law of the whole turn


def test_a_move_that_makes_the_other_die_unplayable_is_illegal():
    # the 5 can be played 8/3 only, 24/19 being blocked, so the 6 must not be played 8/2
    state = apply_texts(position({24: 1, 8: 1, 2: 13}, {6: 2, 5: 13}), "roll 65")
    assert legal_texts(state) == {"24/18", "8/3"}


def test_the_larger_die_is_played_where_only_one_can_be():
    # 20/14 and 20/15 are open, but both dice together end on the blocked 9
    state = apply_texts(position({20: 1}, {16: 2, 1: 13}), "roll 65")
    assert legal_texts(state) == {"20/14"}
    assert apply_texts(state, "20/14").current_player() == CHANCE


# ------------------------------------------------------------------------------------------------------------- bearing off


def test_a_larger_die_bears_off_from_the_highest_point_only():
    assert legal_texts(apply_texts(position({4: 2, 2: 2}, {1: 15}), "roll 65")) == {
        "4/off[6]",
        "4/off[5]",
    }
    assert legal_texts(apply_texts(position({5: 2, 2: 2}, {1: 15}), "roll 63")) == {
        "5/off[6]",
        "5/2",
    }


# ----------------------------------------------------------------------------------------------- invariants of random games


def test_no_checker_is_lost_and_the_kept_sets_fit_the_points():
    choose = random.Random(76)
    for _ in range(10):
        state = BACKGAMMON.new_initial_state()
        while not state.is_terminal():
            state.apply_action(choose.choice(state.legal_actions()))
            facts = facts_of(state.data)
            assert facts.points.min() >= 0
            assert facts.points.sum(axis=1).tolist() == [CHECKERS_EACH] * 2
            assert not (facts.points[X, 1:BAR] * facts.points[O, BAR - 1 : 0 : -1]).any()
            fresh = state.clone()
            survey(facts_of(fresh.data))
            assert fresh.data == state.data


# ------------------------------------------------------------------------------------------------------------ whole turns


def turns(state: State, player: int) -> dict[tuple[int, ...], bytes]:
    """For each way in which `player` may play the roll, its actions and the checkers on points and bar after it."""
    kernels, ways = BACKGAMMON.kernels(), {}
    actions = np.zeros(BACKGAMMON.max_legal, np.int64)

    def go_on(data: np.ndarray, path: tuple[int, ...]) -> None:
        if data["actor"][0] != player:
            ways[path] = data["points"][0, :, 1:].tobytes()
            return
        count = kernels.legal(data.ctypes.data, actions.ctypes.data)
        for action in actions[:count].tolist():
            after = data.copy()
            kernels.apply(after.ctypes.data, action)
            go_on(after, (*path, action))

    go_on(state.data, ())
    return ways


def brute_force(
    mover: list[int], opponent: list[int], dice: list[int]
) -> set[tuple[tuple[int, int], ...]]:
    """All ways to play the dice by the letter of the law, as (point left, die) in order."""
    ways = set(_sequences(mover, opponent, dice))
    longest = max(len(way) for way in ways)
    ways = {way for way in ways if len(way) == longest}
    if longest == 1:
        largest = max(die for ((_, die),) in ways)
        ways = {way for way in ways if way[0][1] == largest}
    return ways


def _sequences(
    mover: list[int], opponent: list[int], dice: list[int]
) -> Iterator[tuple[tuple[int, int], ...]]:
    stuck = True
    for die in set(dice):
        for source in range(1, POINTS):
            if _possible(mover, opponent, source, die):
                stuck = False
                after, hit = list(mover), list(opponent)
                after[source] -= 1
                target = max(source - die, OFF)
                after[target] += 1
                if target > OFF and hit[25 - target] == 1:
                    hit[25 - target], hit[BAR] = 0, hit[BAR] + 1
                rest = list(dice)
                rest.remove(die)
                yield from (((source, die), *way) for way in _sequences(after, hit, rest))
    if stuck:
        yield ()


def _possible(mover: list[int], opponent: list[int], source: int, die: int) -> bool:
    if mover[source] == 0 or (mover[BAR] and source != BAR):
        return False
    if source > die:
        return opponent[25 - (source - die)] < 2
    at_home = not any(mover[7:])
    return at_home and (source == die or not any(mover[source + 1 :]))


HOME_OR_ANYWHERE = st.integers(1, 6) | st.integers(1, BAR)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    own_placed=st.dictionaries(HOME_OR_ANYWHERE, st.integers(1, 2), min_size=1, max_size=6),
    opposed=st.dictionaries(st.integers(1, 24), st.integers(1, 2), max_size=7),
    dice=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    to_roll=st.sampled_from([X, O]),
)
def test_every_way_to_play_a_roll_is_one_that_the_law_allows(own_placed, opposed, dice, to_roll):
    low, high = sorted(dice)
    other_placed = {BAR: 1} | {
        point: count for point, count in opposed.items() if BAR - point not in own_placed
    }
    state = apply_texts(position(own_placed, other_placed, to_roll), f"roll {high}{low}")
    mover, opponent = (
        [placed.get(point, 0) for point in range(POINTS)] for placed in (own_placed, other_placed)
    )
    expected = brute_force(mover, opponent, [high] * LONGEST_TURN if high == low else [high, low])
    ours = {
        tuple((action % POINTS, action // POINTS + 1) for action in path)
        for path in turns(state, to_roll)
    }
    assert ours == expected


# --------------------------------------------------------------------------------------------------------------- OpenSpiel

THEIR_BAR = 100
OUR_POINTS = range(1, BAR)
THEIR_PLACES = [
    *((X, 24 - point) for point in OUR_POINTS),
    (X, THEIR_BAR),
    *((O, point - 1) for point in OUR_POINTS),
    (O, THEIR_BAR),
]


def their_position(state):
    return bytes(state.board(player, place) for player, place in THEIR_PLACES)


def their_turns(state, player):
    """The positions that OpenSpiel's player reaches by a whole turn (a double is two of its decisions), with a state for each."""
    reached = {}
    for action in state.legal_actions():
        child = state.child(action)
        reached.setdefault((their_position(child), child.current_player()), child)
    ends = {}
    for (place, actor), child in reached.items():
        ends.update(their_turns(child, player) if actor == player else {place: child})
    return ends


def roll_text(state, outcome: int) -> str:
    """OpenSpiel's roll in our notation: the larger die first, at the opening that of X first."""
    written = state.action_to_string(CHANCE, outcome)
    small, large = sorted(re.search(r"roll: (\d)(\d)", written).groups())
    if "starts" not in written:
        return f"roll {large}{small}"
    return (
        f"opening roll {large}{small}" if "X starts" in written else f"opening roll {small}{large}"
    )


def compare_with_openspiel(games: int, seed: int) -> int:
    """Play random games on both; returns the number of turns compared."""
    referee = pytest.importorskip("pyspiel").load_game(
        "backgammon", {"max_player_turns": 1_000_000}
    )
    choose = random.Random(seed)
    compared = 0
    for _ in range(games):
        ours, theirs = BACKGAMMON.new_initial_state(), referee.new_initial_state()
        while not theirs.is_terminal():
            assert ours.is_chance_node()
            assert theirs.is_chance_node()
            outcomes, weights = zip(*theirs.chance_outcomes(), strict=True)
            outcome = choose.choices(outcomes, weights)[0]
            apply_texts(ours, roll_text(theirs, outcome))
            theirs.apply_action(outcome)
            player = theirs.current_player()
            our_ends = {end: path for path, end in turns(ours, player).items()}
            their_ends = their_turns(theirs, player)
            assert our_ends.keys() == their_ends.keys()
            end = choose.choice(sorted(our_ends))
            for action in our_ends[end]:
                ours.apply_action(action)
            theirs = their_ends[end]
            compared += 1
        assert ours.is_terminal()
        assert ours.returns() == [(value + 1) / 2 for value in theirs.returns()]
    return compared


def test_openspiel_rolls_with_the_same_probabilities():
    theirs = pytest.importorskip("pyspiel").load_game("backgammon").new_initial_state()
    for ours in (BACKGAMMON.new_initial_state(), position({6: 15}, {6: 15})):
        expected: dict[str, float] = {}
        for outcome, probability in theirs.chance_outcomes():
            text = roll_text(theirs, outcome)
            expected[text] = expected.get(text, 0) + probability
        actual = {
            ours.action_to_string(action): probability
            for action, probability in ours.chance_outcomes()
        }
        assert actual == pytest.approx(expected)
        while not theirs.is_chance_node() or theirs.is_initial_state():
            theirs.apply_action(theirs.legal_actions()[0])


def test_openspiel_reaches_the_same_positions_by_whole_turns_in_random_games():
    assert compare_with_openspiel(games=4, seed=100) > 4 * 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_openspiel_reaches_the_same_positions_by_whole_turns_in_two_thousand_random_games(seed):
    assert compare_with_openspiel(games=500, seed=seed) > 500 * 30
