"""What every game must keep: the games of the list, some with other parameters, and the toys. Listing a game tests it."""

import functools
import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import Game, State, games, in_python
from icarus.audit import audit
from icarus.audit.lockstep import compare
from icarus.compiler.kernel import MachineCode
from icarus.games.dou_di_zhu import cards_of
from icarus.kernel.functions import FUNCTIONS
from tests import toy
from tests.marks import slow_if
from tests.test_documents import example

VARIANTS = [
    "knockout-whist(players=2)",
    "knockout-whist(players=7)",
    "lotr-confrontation(random_setup=1)",
    "hearts(threshold=1)",
]
WHOLE = {str(game): game for game in map(games.load, [*games.names(), *VARIANTS])}
TOYS = {str(game): game for game in toy.ALL_TOYS}
LISTED = {**WHOLE, **TOYS}

MOST_ACTIONS = 20_000  # of any random game
ROOM = 4096  # more moves than any episode has
WHOLE_GAMES, TOY_GAMES = 1, 8  # random games looked at
LOOKED_AT = 25  # states of a game where a check costs a replay of its history

each_game = pytest.mark.parametrize("game", LISTED.values(), ids=str)
# What is audited with --slow alone runs the same code as hearts(threshold=1), knockout-whist of two and lotr-confrontation. Toys:
# test_hidden.py.
LONG = {"hearts", "knockout-whist", *VARIANTS[1:3]}
each_audited_game = pytest.mark.parametrize(
    "game",
    [pytest.param(game, marks=slow_if(name in LONG)) for name, game in WHOLE.items()],
    ids=WHOLE,
)


def equal_deals(state):
    """Deals of single cards, among those to the three hands, that a state of Dou Di Zhu with its mere ranks stands for."""
    return 1 / math.prod(
        math.factorial(count) for hand in state.hands for count in Counter(cards_of(hand)).values()
    )


MULTIPLICITY: dict[str, Callable[[Any], float]] = {"dou-di-zhu": equal_deals}


def test_the_rules_of_a_game_are_told_by_the_module_that_has_its_deal():
    own, phantom = example("second_chance").GAME, games.load("phantom-mnk")
    deal = functools.partial(own.initial)
    for game in (attrs.evolve(own, name="cards"), attrs.evolve(own, initial=deal)):
        assert games.rules_of(game) == games.rules_of(own)
        assert games.rules_of(game).startswith("second-chance: ")
    assert games.rules_of(in_python(phantom)) == games.rules_of(phantom)


# -------------------------------------------------------------------------------------------------------------- random games


@functools.cache
def played(game: Game) -> list[list[State]]:
    """Random games, each as all of its states."""
    trajectories = []
    for seed in range(TOY_GAMES if str(game) in TOYS else WHOLE_GAMES):
        luck, state = random.Random(seed), game.new_initial_state(seed)
        states = [state]
        while not state.is_terminal() and len(states) <= MOST_ACTIONS:
            state = state.clone()
            state.apply_action(luck.choice(state.legal_actions()))
            states.append(state)
        trajectories.append(states)
    return trajectories


def here_and_there(game: Game) -> list[State]:
    """Some states of each random game, the first and the last among them."""
    chosen = []
    for states in played(game):
        some = random.Random(len(states)).sample(states, min(LOOKED_AT, len(states)))
        chosen += [states[0], *some, states[-1]]
    return chosen


def undecided(states: list[State]) -> list[State]:
    return [state for state in states if not state.is_terminal()]


# ------------------------------------------------------------------------------------------------------------ Definition 1


@each_game
def test_random_games_end_with_a_reward_from_0_to_1_for_each_player(game):
    for states in played(game):
        assert states[-1].is_terminal(), f"no end after {MOST_ACTIONS} actions"
        rewards = states[-1].returns()
        assert len(rewards) == game.players
        assert all(0 <= reward <= 1 for reward in rewards)


@each_game
def test_no_function_of_a_game_needs_the_compiler_when_it_runs(game):
    """It would be compiled twice, and each process that plays would load the compiler."""
    kernels = [
        kernel for name in FUNCTIONS if (kernel := getattr(game.kernels(), name)) is not None
    ]
    assert len(kernels) >= 5
    assert all(isinstance(kernel._code, MachineCode) for kernel in kernels)


@each_game
def test_an_action_that_is_not_legal_is_refused_and_the_legal_ones_are_named(game):
    for state in undecided(here_and_there(game)):
        legal, before = state.legal_actions(), state.data.copy()
        with pytest.raises(ValueError, match="is not legal here") as refused:
            state.apply_action(max(legal) + 1)
        assert str(max(legal) + 1) in str(refused.value)
        assert f"{legal[0]} ({state.action_to_string(legal[0])})" in str(refused.value)
        assert (state.data == before).all()
    end = played(game)[0][-1]
    with pytest.raises(ValueError, match="has ended"):
        end.apply_action(0)


# ---------------------------------------------------------------------------------------------------------- states and texts


@each_game
def test_a_clone_lives_its_own_life(game):
    for state in undecided(here_and_there(game)):
        record, history = state.data.copy(), list(state.history)
        clone = state.clone()
        clone.apply_action(clone.legal_actions()[-1])
        assert (state.data == record).all()
        assert state.history == history
        second_clone = state.clone()
        second_clone.data[:] = 0
        assert (state.data == record).all()
        assert len(clone.history) == len(history) + 1


@each_game
def test_a_history_played_again_leads_to_the_same_state(game):
    for seed, states in enumerate(played(game)):
        again = game.new_initial_state(seed)
        assert (again.data == states[0].data).all()
        for state in states[1:]:
            again.apply_action(state.history[-1][1])
            assert (again.data == state.data).all()
            assert again.history == state.history
        assert again.history_str() == states[-1].history_str()


@each_game
def test_actions_are_written_distinctly_and_read_back(game):
    for state in undecided(here_and_there(game)):
        legal = state.legal_actions()
        written = [state.action_to_string(action) for action in legal]
        assert len(set(written)) == len(legal)
        assert [state.string_to_action(text) for text in written] == legal
        assert all(text == text.strip() != "" for text in written)
        with pytest.raises(ValueError, match="is not legal here"):
            state.string_to_action("no such action")


@each_game
def test_every_state_can_be_drawn(game):
    for state in here_and_there(game):
        assert str(state).strip()
        assert str(state) == str(state.clone())


# ------------------------------------------------------------------------------------------------------------ what is seen


@each_game
def test_recall_repeats_what_each_perspective_has_seen_since_the_episode_began(game):
    moves = np.zeros(ROOM, np.int64)
    for state in here_and_there(game):
        episode_moves = state.position_in_episode().moves
        if game.recall is None:
            assert len(set(episode_moves)) == 1, (
                "moves inside an episode are hidden from someone: the game needs recall"
            )
            continue
        for perspective in range(game.players + 1):
            count = game.kernels().recall(
                state.data.ctypes.data, perspective, moves.ctypes.data, ROOM
            )
            assert tuple(moves[:count].tolist()) == episode_moves[perspective], (
                perspective,
                state.history_str(),
            )


@each_audited_game
def test_determinizations_pass_the_audit(game, few_ways):
    multiplicity = MULTIPLICITY.get(game.name)
    report = audit(game, games=1, determinizations=10, seed=1, multiplicity=multiplicity)
    assert report.passed, str(report)
    assert report.perfect == (game.determinize is None)
    if not report.perfect:
        assert all(report[name].passed for name in ("player", "actions", "view", "again", "swap"))
        assert (report["legal"].passed, report["history"].passed) == (game.retrace is not None,) * 2


@pytest.mark.slow
@each_game
def test_a_hundred_thousand_determinizations_pass_the_audit(game):
    if game.determinize is None:
        pytest.skip("nothing to determinize")
    report = audit(
        game,
        games=10 if str(game) in WHOLE else 100,
        seed=2,
        multiplicity=MULTIPLICITY.get(game.name),
    )
    assert report.passed, str(report)
    assert report.determinizations >= 100_000
    assert report["truth"].passed, str(report)
    assert report["uniform"].passed, str(report)


# ------------------------------------------------------------------------------------------- compiled and as plain Python


@each_game
def test_plain_python_says_what_the_machine_code_says(game):
    assert compare(game, lambda state: State(in_python(game), state.data.copy()), games=1).passed
