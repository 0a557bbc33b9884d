"""Games as PettingZoo's environments: its own tests, and by name the games that other bridges cut short."""

import copy
import random
import warnings

import attrs
import numpy as np
import pytest

pytest.importorskip("pettingzoo")
from gymnasium import spaces
from pettingzoo.test import api_test, seed_test

from examples.nim import NIM
from icarus import BASELINE, Agent, PythonGame, games
from icarus.bridges import openspiel, pettingzoo
from icarus.kernel import CHANCE, TERMINAL
from tests.marks import slow_after

OPENSPIEL = [
    "kuhn_poker",
    "leduc_poker",
    "openspiel hearts",
    "tic_tac_toe",
    "liars_dice(numdice=2)",
]


def env_of(name):
    if name.partition("(")[0] in games.names() or "-" in name:
        return pettingzoo.env(name)
    return pettingzoo.env(openspiel.game(name.removeprefix("openspiel ")))


def played(env, luck, steps=10_000):
    """Rewards of each agent when a random game is over, and whether anything was truncated."""
    totals, truncated = dict.fromkeys(env.possible_agents, 0.0), False
    for _ in range(steps):
        if not env.agents:
            break
        name = env.agent_selection
        observation, reward, over, cut, info = env.last()
        truncated = truncated or cut
        totals[name] += reward * (over or cut)
        assert (observation["action_mask"] == info["action_mask"]).all()
        env.step(None if over or cut else int(luck.choice(np.flatnonzero(info["action_mask"]))))
    return totals, truncated


@pytest.mark.parametrize(
    "name",
    slow_after(
        5, ["kuhn-poker", "goofspiel", "othello", "kuhn_poker", "leduc_poker", "knockout-whist"]
    ),
)
def test_pettingzoo_s_own_tests_pass(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(env_of(name), num_cycles=60, verbose_progress=False)
        seed_test(lambda: env_of(name), num_cycles=20)


@pytest.mark.parametrize(
    "name",
    [*OPENSPIEL, *(name for name in games.names() if name != "hearts"), "hearts(threshold=1)"],
)
def test_no_game_is_truncated_before_its_end_and_all_get_their_rewards(name):
    env = env_of(name)
    env.reset(seed=3)
    totals, truncated = played(env, random.Random(4))
    assert not truncated
    assert not env.agents
    assert env.state_of_game.is_terminal()
    assert list(totals.values()) == pytest.approx(env.state_of_game.returns())


def test_a_game_that_chance_ends_at_once_pays_its_rewards():
    game = PythonGame(
        name="natural",
        players=2,
        actions=2,
        initial=lambda rng: [],
        player=lambda state: TERMINAL if state else CHANCE,
        legal=lambda state: [0, 1],
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [1.0, 0.25],
    )
    env = pettingzoo.env(game)
    env.reset(seed=0)
    paid = {}
    for agent in env.agent_iter():
        _, paid[agent], is_over, _, _ = env.last()
        assert is_over
        env.step(None)
    assert list(paid.values()) == [1.0, 0.25]


def test_a_reset_keeps_the_parameters_of_the_game():
    env = env_of("liars_dice(numdice=2)")
    for seed in (1, None):
        env.reset(seed=seed)
        assert "numdice=2" in str(env.state_of_game.data.get_game())
        assert env.state_of_game.data.get_game().get_parameters()["numdice"] == 2
        assert len(env.state_of_game.data.history()) == 4  # two dice each


@pytest.mark.parametrize(
    "name", ["kuhn-poker", "phantom-mnk", "knockout-whist", "kuhn_poker", "leduc_poker"]
)
def test_a_copy_of_a_running_game_goes_on_as_the_game_itself(name):
    env = env_of(name)
    env.reset(seed=7)
    env.step(int(np.flatnonzero(env.last()[4]["action_mask"])[0]))
    clone = copy.deepcopy(env)
    assert str(clone.state_of_game) == str(env.state_of_game)
    assert clone.state_of_game is not env.state_of_game
    assert played(clone, random.Random(1)) == played(env, random.Random(1))


def test_an_observation_shows_only_what_the_seat_sees():
    """Player 0 sees the same, whichever of the two other cards player 1 holds."""
    env, texts_by_card = pettingzoo.env("kuhn-poker"), {}
    for seed in range(30):
        env.reset(seed=seed)
        cards = env.state_of_game.facts.cards
        texts_by_card.setdefault(int(cards[0]), set()).add(
            env.observe("player_0")["observation"].tobytes()
        )
    assert len(texts_by_card) == 3
    assert all(len(texts) == 1 for texts in texts_by_card.values())


def test_agents_are_policies():
    env, policy = pettingzoo.env("goofspiel"), pettingzoo.policy(Agent(BASELINE, iterations=30))
    env.reset(seed=1)
    for _ in env.agent_iter():
        *_, over, cut, _info = env.last()
        env.step(None if over or cut else policy(env))
    assert env.state_of_game.is_terminal()


def test_a_game_of_openspiel_s_is_observed_by_its_own_tensor():
    def encode(state, seat):
        return np.array(state.data.information_state_tensor(seat), np.float32)

    space = spaces.Box(-np.inf, np.inf, (30,), np.float32)
    env = pettingzoo.env(openspiel.game("leduc_poker"), encode=encode, space=space)
    env.reset(seed=3)
    for action in (1, 1):
        seat = env.possible_agents.index(env.agent_selection)
        expected = env.state_of_game.data.information_state_tensor(seat)
        assert env.last()[0]["observation"].tolist() == expected
        assert len(expected) == 30
        env.step(action)
    assert env.observation_space("player_0")["observation"].shape == (30,)
    words = pettingzoo.env("leduc-poker").observation_space("player_0")["observation"]
    assert words.shape == (pettingzoo.BYTES,)


def begun(name="othello", **settings):
    env = pettingzoo.env(name, **settings)
    env.reset(seed=1)
    return env


def gone():
    """An environment whose agents are all gone."""
    env = begun("kuhn-poker")
    for agent in env.agent_iter():
        is_over = env.terminations[agent]
        env.step(None if is_over else env.running_state().legal_actions()[0])
    return env


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pettingzoo.env("othello").step(3), "there is no game yet: call reset first"),
        (lambda: pettingzoo.env("othello").last(), "there is no game yet: call reset first"),
        (lambda: gone().step(None), "the game is over for all agents: call reset for another"),
        (lambda: gone().last(), "the game is over for all agents: call reset for another"),
        (lambda: begun().step(0), "action 0 is not legal here"),
        (lambda: begun().step(np.float32(19.7)), r"action .*19.7.* is not legal here"),
        (lambda: begun().step("d3"), "action 'd3' is not legal here; legal: "),
        (lambda: begun().reset(seed=-1), "seed is -1; it must be an integer of at least 0"),
        (
            lambda: pettingzoo.env(NIM),
            r"nim has no upper bound of its action numbers; give Game\(actions=",
        ),
        (
            lambda: begun(attrs.evolve(NIM, actions=3)),
            r"nim has the legal action \d+, but `actions` is 3; give Game",
        ),
        (
            lambda: pettingzoo.env("othello", encode=lambda state, seat: np.zeros(1)),
            "give both encode and space",
        ),
        (
            lambda: pettingzoo.env(BASELINE),
            r"an environment needs a Game, such as games.load\('othello'\), not BASE",
        ),
        (
            lambda: pettingzoo.policy(BASELINE),
            r"an agent must be an Agent\(strategy, iterations=…\), not BASELINE",
        ),
        (
            lambda: pettingzoo.policy(Agent(BASELINE, iterations=5), seed="x"),
            "seed is 'x'; it must be an integer",
        ),
        (
            lambda: pettingzoo.policy(Agent(BASELINE, iterations=5))(None),
            "needs an environment of icarus.bridges.pettingzoo.env, not None",
        ),
        (
            lambda: pettingzoo.env("kuhn-poker", encode=5, space=spaces.Discrete(2)),
            "encode is 5; it must be a function of a state and a seat",
        ),
    ],
)
def test_a_mistake_is_told_in_a_sentence(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()
