"""Game trees: their sizes by the rules, what their information sets hold, and games that have none."""

import numpy as np
import pytest

from icarus import games
from icarus.equilibrium import best_response, exploitability, tabulate
from icarus.equilibrium.deals import information_state
from icarus.equilibrium.tree import GameTree, tree_of
from icarus.kernel import NO_DEAL, TERMINAL, below
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


def generous(state, out):
    out[0], out[1] = 1.0, 1.0


def knowing(state, actions):
    actions[0], actions[1] = 0, 1
    return 1 if state.cards[1] == 2 else 2


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
