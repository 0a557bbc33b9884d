"""What slots of one's own may read: θ and μ in captures, the iteration, the search's own generator; and what is refused to them."""

import random
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import (
    BASELINE,
    COUNT,
    MAST,
    NAST2,
    REWARD,
    Enhancement,
    argmax,
    backpropagation,
    candidates,
    capture,
    games,
    information,
    initial,
    search,
    ucb1,
    values,
)
from icarus.algebra import ACTION, PLAYER, Space
from icarus.compiler.digest import attributes_read
from icarus.compiler.functions import CompilationError
from icarus.engine.lowering import lower
from icarus.kernel import CHANCE, MAX_PLAYERS, SELECTION, child, find, helper, record, uniform, update
from icarus.testing import Decision, HistoryExample
from tests import naive, toy
from tests import naive_catalogue as twins
from tests.audit import test_contract as contract
from tests.conftest import Toys
from tests.engine.test_twin import agree, starts
from tests.test_documents import example
from tests.test_toy import after


@values
def drawn(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
    """u + q/n with u from the search's own generator"""
    player = history.steps[-1].player
    for i in range(len(legal)):
        stats = find(theta, record(legal[i], player))
        out[i] = uniform(history.rng) + (stats.reward / stats.visits if stats.visits > 0 else 0.0)


@capture
def capture_surprises(history: Any, theta: Any, updates: Any) -> None:
    """⟨((a_i, ρ_i), (ρ_i, iteration + 1 if μ is far from q/n, else 0))⟩"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            stats = find(theta, record(step.action, step.player))
            expected = stats.reward / stats.visits if stats.visits > 0 else 0.5
            weight = history.iteration + 1 if abs(history.rewards[step.player] - expected) > 0.25 else 0
            update(updates, record(step.action, step.player), weight * MAX_PLAYERS + step.player)


@backpropagation
def backpropagate_surprises(stats: Any, context: int, rewards: np.ndarray) -> None:
    """(q + μ_ρ, n + 1, s + weight)"""
    stats.reward += rewards[context % MAX_PLAYERS]
    stats.visits += 1
    stats.surprise += context // MAX_PLAYERS


SURPRISES = Enhancement(
    name="SURPRISES",
    records=ACTION * PLAYER,
    information=information(reward=REWARD, visits=COUNT, surprise=COUNT),
    initial=initial(),
    policy=argmax().over(drawn),
    contexts=Space(("ℕ₀",)) * PLAYER,
    capture=capture_surprises,
    backpropagation=backpropagate_surprises,
)


def test_a_capture_reads_theta_rewards_and_the_iteration_by_hand() -> None:
    example = HistoryExample([Decision(0, (4, 5), 4), Decision(1, (6,), 6)], rewards=(1.0, 0.5), iteration=6)
    records = {(4, 0): {"reward": 9.0, "visits": 10}}
    assert example.capture(SURPRISES, records) == [
        (record(4, 0), 0),
        (record(6, 1), 1),
    ]  # as expected, and ½ where nothing is known
    assert example.capture(SURPRISES) == [(record(4, 0), 7 * MAX_PLAYERS), (record(6, 1), 1)]
    assert capture_surprises.reads_theta and not MAST.capture.reads_theta


def test_draws_of_a_policy_are_fixed_by_the_seed() -> None:
    example = HistoryExample([Decision(0, (4, 5, 6))], seed=3)
    same, different = HistoryExample([Decision(0, (4, 5, 6))], seed=3), HistoryExample([Decision(0, (4, 5, 6))], seed=4)
    first = example.values(SURPRISES)
    assert first == same.values(SURPRISES) != different.values(SURPRISES)
    assert example.values(SURPRISES) != first  # the next three numbers
    state = games.load("othello").new_initial_state()
    first_result, second_result = (search(state, SURPRISES >> BASELINE, iterations=300, seed=5) for _ in range(2))
    assert first_result.visits.tolist() == second_result.visits.tolist()


@pytest.mark.parametrize("number", range(3))
def test_engine_and_twin_agree_on_what_slots_may_read(number: int, toys: Toys) -> None:
    strategy, twin = [
        (SURPRISES, twins.surprises()),
        (BASELINE >> SURPRISES, naive.Sequential(naive.baseline(), twins.surprises())),
        ((MAST + SURPRISES) / 2, naive.Linear([(0.5, naive.mast()), (0.5, twins.surprises())])),
    ][number]
    for place, game in toys:
        agree(starts(game, place), strategy, twin, 40, seed=number)


@helper
def tossed() -> float:
    return np.random.random()


def a_function_that_draws(how: str) -> Any:
    """A values function of numbers that no seed of a search fixes."""
    if how == "np.random":

        def noisy(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
            for i in range(len(legal)):
                out[i] = np.random.random()
    elif how == "a helper":

        def noisy(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
            for i in range(len(legal)):
                out[i] = tossed()
    else:

        def noisy(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
            for i in range(len(legal)):
                out[i] = random.random()

    return values(noisy)


@pytest.mark.parametrize("engine", ["compiled", "python"])
@pytest.mark.parametrize("how", ["np.random", "a helper", "random"])
def test_a_slot_that_draws_from_elsewhere_is_refused(how: str, engine: str) -> None:
    strategy = attrs.evolve(MAST, name="NOISY", policy=argmax().over(a_function_that_draws(how)))
    message = "noisy draws from (np.)?random, which no seed fixes; .* uniform\\(rng\\)"
    with pytest.raises(ValueError, match=message):
        search(games.load("othello").new_initial_state(), BASELINE >> strategy, iterations=10, engine=engine)


@candidates
def at_root(history: Any, legal: np.ndarray, records: np.ndarray) -> None:
    """The record of each action at the root"""
    for i in range(len(legal)):
        records[i] = child(history, 0, legal[i])


def test_a_policy_over_the_baseline_s_records_is_asked_in_simulation() -> None:
    rooted = attrs.evolve(BASELINE, name="ROOTED", policy=ucb1(0.7).over(at_root))
    state = games.load("othello").new_initial_state()
    results = [search(state, strategy, iterations=100, seed=1) for strategy in (BASELINE, BASELINE >> rooted)]
    assert results[0].values.tolist() != results[1].values.tolist()


take, list_legal = helper(contract.apply), helper(contract.legal)
ANOTHER_PILE = np.zeros(1, contract.STATE)[0]


@capture
def capture_on_own_states(history: Any, updates: Any) -> None:
    """Plays on a state that it makes, and looks at one that its module made."""
    actions, states = np.zeros(8, np.int64), np.zeros(2, contract.STATE)
    state = states[1]
    state.left = 5
    take(state, 3)
    update(updates, record(list_legal(states[1], actions), list_legal(ANOTHER_PILE, actions)), 0)


def test_a_slot_may_call_a_game_s_functions_on_states_of_its_own_in_both_engines() -> None:
    state, strategy = contract.NIM.new_initial_state(1), attrs.evolve(MAST, name="PLAYS", capture=capture_on_own_states)
    keys = [
        search(state, strategy, iterations=3, engine=engine).records["PLAYS"].rows["record"].tolist()
        for engine in ("compiled", "python")
    ]
    assert keys[0] == keys[1] == [record(2, 0)]


# -------------------- Slots that call other slots by their names: compiled and in plain Python the same, and a sentence where it cannot be.


BIASED = example("biased").BIASED
capture_mast, add_mast, capture_nast2 = MAST.capture, MAST.backpropagation, NAST2.capture


@capture
def capture_again(history: Any, updates: Any) -> None:
    """ξ_MAST(h)"""
    capture_mast(history, updates)


@backpropagation(averages=True)
def add_again(stats: Any, context: int, rewards: Any) -> None:
    """as MAST's"""
    add_mast(stats, context, rewards)


AGAIN = attrs.evolve(MAST, name="AGAIN", capture=capture_again, backpropagation=add_again)


def result_of(strategy: Enhancement, iterations: int = 40) -> Any:
    return search(after(toy.THICKETS[0]), BASELINE >> strategy, iterations=iterations, seed=2)


def test_an_enhancement_made_of_the_slots_of_another_is_the_other() -> None:
    result, expected = result_of(AGAIN), result_of(MAST)
    assert (result.visits == expected.visits).all()
    assert (result.records["AGAIN"].rows == expected.records["MAST"].rows).all()
    assert len(result.records["AGAIN"]) > 3


def test_the_values_of_another_are_over_the_records_of_whoever_asks() -> None:
    example = HistoryExample([Decision(0, (4, 5), 4, phase=SELECTION), Decision(1, (5, 6), None)], players=2)
    records = {
        (1, (4, 5)): {"reward": [1, 3], "visits": 4, "availability": 9},
        (1, (4, 6)): {"reward": [2, 2], "visits": 4, "availability": 9},
    }
    alone = example.values(BASELINE, records)
    assert alone[0] == pytest.approx(3 / 4 + 0.7 * (2.1972246 / 4) ** 0.5)
    assert example.values(BIASED, records) == alone
    biased = example.values(BIASED, {**records, (6, 1): {"reward": [0, 3], "visits": 6}})
    assert biased == [alone[0], pytest.approx(alone[1] + 0.5 * 3 / 6 / (4 + 1))]


@capture
def capture_grams(history: Any, updates: Any) -> None:
    """ξ_NAST2(h)"""
    capture_nast2(history, updates)


def test_what_a_called_slot_reads_is_read_by_the_one_that_calls() -> None:
    assert {"steps", "player"} <= attributes_read(capture_again.function)
    assert "keys" in attributes_read(BIASED.policy.source.function)
    program = lower(games.load("othello"), BASELINE >> attrs.evolve(NAST2, capture=capture_grams))
    assert program.reads["moves_in_simulation"]


@capture
def capture_by_enhancement(history: Any, updates: Any) -> None:
    """none"""
    MAST.capture(history, updates)


def test_a_slot_is_not_called_as_a_part_of_its_enhancement() -> None:
    with pytest.raises(CompilationError) as refused:
        result_of(attrs.evolve(MAST, name="WRONG", capture=capture_by_enhancement))
    message = "a slot calls others by their names, such as capture_mast = MAST.capture, not MAST.capture"
    assert message in str(refused.value) and "\n" not in str(refused.value)
