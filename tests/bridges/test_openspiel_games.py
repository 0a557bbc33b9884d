"""icarus's games as OpenSpiel's, and its agents as bots, by OpenSpiel's own tests."""

import random

import attrs
import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots

from examples.nim import NIM
from icarus import BASELINE, Agent, games, in_python
from icarus.bridges.openspiel import Bot, register_game, register_games
from tests.audit.test_contract import COIN
from tests.marks import slow_after

SHIPPED = dict(games.GAMES)  # before a test has loaded a file with games of its own
NAMES = [f"icarus_{name.replace('-', '_')}" for name in SHIPPED]
LONG = [  # their copies are replayed, all of the game at each step
    f"icarus_{name}"
    for name in ("backgammon", "dou_di_zhu", "hearts", "knockout_whist", "lotr_confrontation", "othello")
]


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    """Not when the file is imported, which every worker does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("icarus.bridges.openspiel.GAMES", SHIPPED)
        register_games()


@pytest.mark.parametrize("name", [*(name for name in NAMES if name not in LONG), *slow_after(0, LONG)])
def test_openspiel_s_random_simulation_passes(name) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_icarus_s_own_to_its_end_and_its_history_says_everything(name) -> None:
    game, luck = pyspiel.load_game(name), random.Random(5)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert sum(chances) == pytest.approx(1)
            action = luck.choices(outcomes, chances)[0]
            assert action < game.max_chance_outcomes()
        else:
            action = luck.choice(state.legal_actions())
            assert action < game.num_distinct_actions()
        state.apply_action(action)
    again = Bot(Agent(BASELINE, iterations=5), 0).taken_up(state)
    assert again.returns() == state.returns()
    assert min(state.returns()) >= 0 and max(state.returns()) <= 1


def test_exploitability_is_exact_where_a_game_lists_its_deals() -> None:
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    game, original = pyspiel.load_game("icarus_kuhn_poker"), pyspiel.load_game("kuhn_poker")
    actual, expected = (exploitability.nash_conv(each, UniformRandomPolicy(each)) for each in (game, original))
    scale = original.max_utility() - original.min_utility()  # rewards are from 0 to 1
    assert actual == pytest.approx(expected / scale, abs=1e-9)


@pytest.mark.parametrize(
    "name", ["icarus_kuhn_poker", "icarus_phantom_mnk(columns=3,rows=3,in_a_row=3)", "kuhn_poker", "tic_tac_toe"]
)
def test_agents_play_as_bots_in_openspiel_s_evaluation(name) -> None:
    game = pyspiel.load_game(name)
    bots = [Bot(Agent(BASELINE, iterations=15), seat, seed=seat) for seat in range(2)]
    returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(1))
    assert sum(returns) == pytest.approx(game.utility_sum())


def test_a_bot_goes_on_from_any_state_and_is_sure_of_what_it_plays() -> None:
    state = pyspiel.load_game("icarus_goofspiel").new_initial_state()
    state.apply_action(state.legal_actions()[0])
    bot = Bot(Agent(BASELINE, iterations=50), 1)
    bot.restart_at(state), bot.inform_action(state, 0, 1)
    policy, action = bot.step_with_policy(state)
    assert dict(policy)[action] == 1 and sum(share for _, share in policy) == 1
    assert bot.get_policy(state) == policy and bot.step(state) == action
    with pytest.raises(ValueError, match="the bot plays seat 0, but player 1 is to act"):
        Bot(Agent(BASELINE, iterations=50), 0).step(state)


@pytest.mark.parametrize(
    "game",
    [
        attrs.evolve(NIM, actions=18),
        attrs.evolve(COIN, actions=4),
        in_python(attrs.evolve(NIM, name="sticks", actions=18)),
    ],
    ids=["compiled", "chance", "python"],
)
def test_a_game_of_one_s_own_goes_to_openspiel(game) -> None:
    name = register_game(game, constant_sum=True)
    assert name == "icarus_" + game.name.replace("-", "_") == register_game(game)  # told twice, the same
    loaded = pyspiel.load_game(name)
    pyspiel.random_sim_test(loaded, num_sims=3, serialize=False, verbose=False)
    bots = [Bot(Agent(BASELINE, iterations=30), seat) for seat in range(2)]
    assert sum(evaluate_bots.evaluate_bots(loaded.new_initial_state(), bots, np.random.RandomState(1))) == 1


def test_a_game_that_does_not_number_its_actions_or_takes_another_s_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nim has no upper bound of its action numbers; give Game\(actions="):
        register_game(NIM)
    with pytest.raises(ValueError, match="OpenSpiel knows another game by the name icarus_othello"):
        register_game(attrs.evolve(NIM, name="othello", actions=18))


def test_an_action_beyond_the_number_of_actions_is_refused() -> None:
    """OpenSpiel would write beyond its mask of legal actions."""
    state = pyspiel.load_game(register_game(attrs.evolve(NIM, name="narrow-nim", actions=3))).new_initial_state()
    with pytest.raises(
        ValueError, match=r"narrow-nim has the legal action \d+, but `actions` is 3; give Game\(actions="
    ):
        state.legal_actions_mask()


def test_what_is_no_game_or_no_agent_is_refused() -> None:
    with pytest.raises(TypeError, match="register_game needs a Game, such as games.load\\('othello'\\), not 'othello'"):
        register_game("othello")
    for agent in (BASELINE, Agent):
        with pytest.raises(TypeError, match="an agent must be an Agent\\(strategy, iterations=…\\), not "):
            Bot(agent, 0)


@pytest.mark.parametrize("slip", [{"player": -1}, {"player": "0"}, {"seed": -1}, {"seed": (1, 2)}])
def test_a_bot_has_a_seat_and_a_seed(slip) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(slip))} is .*; it must be an integer of at least 0"):
        Bot(Agent(BASELINE, iterations=5), **{"player": 0} | slip)
