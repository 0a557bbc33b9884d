"""Line 18 by other rules, the budget that slots read, and Sequential Halving, which needs both."""

import math
from functools import partial
from typing import Any

import attrs
import numpy as np
import pytest

from examples.sequential_halving import HALVING, last_one
from icarus import BASELINE, MAST, Agent, RootStatistics, games, greatest_value, most_visits, search, secure_child
from icarus.compiler.plain_python import interpret
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.result import recommend
from icarus.engine.search import run_within
from icarus.kernel.history import UNLIMITED
from icarus.specs import MCTS_SOLVER
from tests import toy
from tests.test_toy import after

RNG = np.array([1, 2, 3, 4], np.uint64)


def root(visits: list[int], rewards: list[float]) -> RootStatistics:
    count = len(visits)
    bounds = np.zeros(count), np.ones(count)
    return RootStatistics(tuple(range(count)), np.array(visits), np.array(rewards), np.array(visits, float), *bounds)


@pytest.mark.parametrize(
    ("rule", "action"),
    [
        (most_visits, 0),
        (greatest_value, 2),  # 0.5, 0.6, 1, and one that was never played
        (secure_child, 1),  # 0.5 − 1/10, 0.6 − 1/9, 1 − 1
        (partial(secure_child, margin=0.1), 2),
        (lambda statistics: np.array([0.0, 0.0, 0.0, 1.0]), 3),
    ],
)
def test_each_rule_recommends_by_hand(rule: Any, action: int) -> None:
    assert recommend(root([100, 81, 1, 0], [50, 48.6, 1, 0]), rule, RNG) == action


def test_an_action_that_is_proved_to_be_worse_is_recommended_by_no_rule() -> None:
    statistics = attrs.evolve(root([9, 1], [9, 0]), lower=np.array([0.0, 1.0]), upper=np.array([0.5, 1.0]))
    assert {recommend(statistics, rule, RNG) for rule in (most_visits, greatest_value, secure_child)} == {1}


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_result_is_by_its_rule_and_says_so(engine: str) -> None:
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    results = [
        search(state, BASELINE, iterations=60, seed=1, engine=engine, recommendation=rule)
        for rule in (most_visits, greatest_value, partial(secure_child, margin=0.5))
    ]
    assert all((result.visits == results[0].visits).all() for result in results)
    assert results[1].value == np.nanmax(results[1].values) and "by greatest_value:" in str(results[1])
    assert "by secure_child(margin=0.5):" in str(results[2]) and ", by " not in str(results[0]).split(":")[0]


def test_agents_and_several_trees_take_a_rule_and_wrong_ones_are_refused() -> None:
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    agent = Agent(BASELINE, iterations=40, threads=2, recommendation=greatest_value)
    result = agent.search(state, 3)
    assert result.value == np.nanmax(result.values) and str(agent).endswith(", greatest_value)")
    with pytest.raises(TypeError, match="recommendation is 'most'; it must be a function"):
        search(state, BASELINE, iterations=5, recommendation="most")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gave \\[1.0\\]; it must give a number for each of 2 actions"):
        search(state, BASELINE, iterations=5, recommendation=lambda statistics: np.ones(1))
    for wrong, shown in ((None, "None"), (["a", "b"], r"\['a', 'b'\]")):
        with pytest.raises(ValueError, match=f"gave {shown}; it must give a number for each of 2 actions"):
            search(state, BASELINE, iterations=5, recommendation=lambda statistics, wrong=wrong: wrong)
    with pytest.raises(ValueError, match="it cannot be used with greatest_value"):
        Agent(BASELINE, iterations=5, recommendation=greatest_value, preference=lambda state, action: 0)


@pytest.mark.parametrize("plain", [None, interpret])
def test_sequential_halving_is_that_of_the_textbook(plain: Any) -> None:
    """Karnin, Koren and Somekh (2013), Algorithm 1, playout for playout: which actions may be tried next, and which is left."""
    state, budget = after(toy.BRANCHES), 100
    if plain is None:
        state, budget = games.load("othello").new_initial_state(), 400
        for text in ("d3", "c5", "f6", "f5"):
            state.apply_action(state.string_to_action(text))
    running = CompiledSearch(state, HALVING >> MAST, 7, plain=plain)
    running.expect(budget)
    running.run(1)
    arms, before = list(range(len(state.legal_actions()))), running.root()
    rounds, pulls, iterations = math.ceil(math.log2(len(arms))), [0] * len(arms), 1
    gains = [0.0] * len(arms)
    for _ in range(rounds):
        each = (budget - 1) // (len(arms) * rounds)
        goal = [pulls[arm] + each for arm in range(len(pulls))]
        while any(pulls[arm] < goal[arm] for arm in arms):
            iterations += 1
            running.run(iterations)
            now = running.root()
            (arm,) = np.flatnonzero(now.playouts - before.playouts)
            assert arm in arms and pulls[arm] == min(pulls[candidate] for candidate in arms)
            pulls[arm] += 1
            gains[arm] += now.rewards[arm] - before.rewards[arm]
            before = now
        arms = sorted(arms, key=lambda arm: -gains[arm] / pulls[arm])[: math.ceil(len(arms) / 2)]
    assert len(arms) == 1 and iterations > budget // 2
    running.run(budget)
    assert running.root().playouts.astype(int).tolist() == [
        count + (budget - iterations) * (arm in arms) for arm, count in enumerate(pulls)
    ]
    assert running.result(recommendation=last_one).action == state.legal_actions()[arms[0]]


class Clocked:
    """A search that makes an iteration every 10 ms of a clock that only it moves."""

    def __init__(self, clock: list[float]) -> None:
        self.clock, self.iterations, self.expected = clock, 0, [UNLIMITED]

    def run(self, iterations: int) -> None:
        self.clock[0] += (iterations - self.iterations) / 100
        self.iterations = iterations


@pytest.mark.parametrize(("iterations", "seconds", "total"), [(50, None, 50), (None, 2.0, 200), (150, 2.0, 150)])
def test_the_budget_is_what_was_given_or_what_the_clock_lets_expect(
    iterations: int | None, seconds: float | None, total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("icarus.engine.search.time.perf_counter", lambda: clock[0])
    running = Clocked(clock)
    run_within(running, iterations, seconds, 0.0, expect=running.expected.append)
    assert running.iterations == pytest.approx(total, abs=2)
    assert all(budget == pytest.approx(total, abs=2) for budget in running.expected if budget != UNLIMITED)
    assert running.expected[1] == (iterations or UNLIMITED) and (seconds is None or len(running.expected) > 5)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_proved_to_be_worse_is_not_preferred(threads: int) -> None:
    for seed in range(
        5
    ):  # of the actions 0 and 1, each visited as often, the first is proved to win, the second to draw
        result = search(toy.CHAIN.new_initial_state(), MCTS_SOLVER, iterations=18 * threads, seed=seed, threads=threads)
        assert result.action == result.preferred(lambda _, action: action) == 0
