"""Game trees: their sizes by the rules, what their information sets hold, and games that have none."""

import itertools
import math

import attrs
import numpy as np
import pyspiel
import pytest

from icarus import games
from icarus.equilibrium import best_response, exploitability, tabulate
from icarus.equilibrium.arrays import NOTHING
from icarus.equilibrium.deals import deals_of, information_state
from icarus.equilibrium.growth import estimate_size
from icarus.equilibrium.tree import GameTree, refuse_unless_walkable, tree_of
from icarus.equilibrium.walk import Walk
from icarus.kernel import CHANCE, NO_DEAL, TERMINAL, below
from icarus.kernel.game import Game
from tests.games.states import every_state

SMALL = ["kuhn-poker", "leduc-poker", "goofspiel(cards=3)", "liars-dice(faces=3)"]
small = pytest.mark.parametrize("game", [games.load(name) for name in SMALL], ids=str)


def all_states(game):
    """Every state of a game, deal by deal, as plain Python walks it."""
    from icarus.kernel.game import State

    for k in range(len(tree_of(game).deals)):
        yield from every_state(State(game, tree_of(game).deals.states[k : k + 1].copy()))


@small
def test_a_tree_holds_every_history_once(game):
    states = list(all_states(game))
    tree = tree_of(game)
    assert len(tree.nodes) == len(states) + 1  # and the one before the deal
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


@small
def test_the_state_given_for_an_information_set_is_in_it(game):
    tree = tree_of(game)
    assert all(tree.set_at(tree.state_of(number)) == number for number in tree.decisions.tolist())


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


def test_goofspiel_has_as_many_ends_as_orders_of_both_hands():
    for cards in (2, 3, 4):
        assert len(tree_of(games.load("goofspiel", cards=cards)).ends) == math.factorial(cards) ** 2


@small
def test_chance_s_part_in_all_ends_sums_to_its_share(game):
    tree = tree_of(game)
    weights = np.zeros(len(tree.nodes))
    weights[0] = 1.0
    for node, (number, child) in enumerate(tree.nodes.tolist()):  # a parent comes before its children
        if number >= 0:
            info_set = tree.sets[number]
            odds = tree.slots["probability"][info_set["slot"] : info_set["slot"] + info_set["count"]]
            weights[child : child + info_set["count"]] = weights[node] * (odds if info_set["player"] == CHANCE else 1.0)
    ended = tree.nodes["set"] == -1
    assert weights[ended] == pytest.approx(tree.ends["chance_reach"][tree.nodes["child"][ended]], abs=1e-15)


@pytest.mark.parametrize("name", ["leduc-poker", "generic-poker", "goofspiel(cards=5)"])
def test_the_size_of_a_game_is_estimated_before_its_tree_is_grown(name):
    game = games.load(name)
    tree, size = tree_of(game), estimate_size(Walk(game, deals_of(game)), deals_of(game))
    assert size.histories == pytest.approx(len(tree.nodes), rel=0.2)
    fewest = (
        0.25 if game.name == "goofspiel" else 0.8
    )  # one history shows fewer results than all that a player holds possible
    assert fewest * len(tree.decisions) < size.information_states < 1.2 * len(tree.decisions)


def test_where_bids_are_all_that_differs_the_estimate_is_exact():
    game = games.load("liars-dice")
    size = estimate_size(Walk(game, deals_of(game)), deals_of(game))
    assert (size.histories, size.information_states) == (len(tree_of(game).nodes) - 1, len(tree_of(game).decisions))


def test_a_game_too_large_is_refused_with_its_estimated_number_of_information_states():
    # the paper counts 352 million information sets in LD(2, 2)
    with pytest.raises(ValueError, match=r"too large for a complete walk: it has about 3.5e\+08 information states"):
        GameTree(games.load("liars-dice(first=2, second=2)"))
    with pytest.raises(ValueError, match="phantom-mnk is too large"):
        GameTree(games.load("phantom-mnk"))


def test_a_game_beyond_counting_is_refused_at_once():
    # its number of histories is not a number of 64 bits: the estimate never ended
    with pytest.raises(
        ValueError, match=r"checkers is too large for a complete walk: it has more than 1e\+30 histories"
    ):
        refuse_unless_walkable(games.load("checkers"))


def test_more_than_two_players_are_refused_with_the_theorems_that_need_two():
    with pytest.raises(
        ValueError, match=r"knockout-whist\(players=3\) has 3 players: best responses .* two-player zero-sum"
    ):
        GameTree(games.load("knockout-whist(players=3)"))


def generous(state, out):
    out[0], out[1] = 1.0, 1.0


def test_a_general_sum_game_is_refused():
    with pytest.raises(ValueError, match="do not always sum to 1"):
        GameTree(attrs.evolve(games.load("kuhn-poker"), rewards=generous))


def knowing(state, actions):
    actions[0], actions[1] = 0, 1
    return 1 if state.cards[1] == 2 else 2


def test_a_game_that_shows_players_less_than_they_know_is_refused():
    with pytest.raises(ValueError, match="player 0 of kuhn-poker has different legal actions after the same moves"):
        GameTree(attrs.evolve(games.load("kuhn-poker"), legal=knowing))


def test_what_is_no_game_or_no_state_of_it_is_refused():
    for wrong in ("kuhn-poker", pyspiel.load_game("kuhn_poker")):
        with pytest.raises(TypeError, match="a game must be a Game"):
            exploitability(wrong, None)
    tree = tree_of(games.load("kuhn-poker"))
    with pytest.raises(ValueError, match="is not a state of kuhn-poker"):
        tree.set_at(games.load("leduc-poker").new_initial_state(1))
    assert (
        tree.set_of(0, 7, ())
        == tree.set_of(0, 1, ((True, 5),))
        == tree.set_of(0, 1, ((False, 0),))
        == tree.set_of(1, 1, ())
        == NOTHING
    )


def test_a_tree_is_told_by_its_size():
    assert repr(tree_of(games.load("kuhn-poker"))) == "<tree of kuhn-poker: 55 histories, 12 information sets>"
    assert list(itertools.islice(tree_of(games.load("kuhn-poker")).information_states(), 2)) == [
        (0, 0, ()),
        (1, 1, ((False, 0),)),
    ]


STATE = np.dtype([("coin", np.int64), ("rounds", np.int64), ("calls", np.int64)], align=True)


def toss(state, rng):
    state.coin = below(rng, 2)


def deal_toss(state, index):
    state.coin = index
    return 0.5 if index < 2 else NO_DEAL


def sees_nothing(state, perspective):
    return 0


def caller(state):
    if state.rounds == 2:
        return TERMINAL
    return 1 if state.rounds == 0 and state.coin == 1 else 0


def either(state, actions):
    actions[0], actions[1] = 0, 1
    return 2


def call(state, action):
    state.rounds += 1
    state.calls = action


def guessed(state, rewards):
    rewards[0] = 1.0 if state.calls == state.coin else 0.0
    rewards[1] = 1.0 - rewards[0]


def test_a_player_s_own_action_is_told_from_the_other_s_of_the_same_number():
    # a hidden coin says who calls first; then player 0 guesses it: his own first call tells it, whatever was called
    functions = {
        "initial": toss,
        "deal": deal_toss,
        "deal_observation": sees_nothing,
        "player": caller,
        "legal": either,
    }
    game = Game(
        name="coin",
        players=2,
        utilities=(-1, 1),
        state=STATE,
        max_legal=2,
        apply=call,
        rewards=guessed,
        text=str,
        action_text=str,
        **functions,
    )
    tree = GameTree(game)
    best = best_response(tree, None, 0)
    assert best.value == 1.0
    again = tabulate(tree, best.policy.table())
    assert exploitability(tree, (again, None)).values[0] == 1.0  # it was -0.5
    assert len(best.policy.table()) == len(tree.decisions) == len(set(tree.information_states()))
    assert [tree.set_of(*key) for key in tree.information_states()] == tree.decisions.tolist()
