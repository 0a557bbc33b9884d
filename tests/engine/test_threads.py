"""Several threads for one search: what they sum, how they stop, and what is refused."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import Agent, Enhancement, SearchInterrupted, State, backpropagation, capture, games, parse, search, values
from icarus.algebra import ACTION, COUNT, NOTHING, argmax, information, initial
from icarus.kernel import SIMULATION, History, Theta, Updates, find, update
from icarus.specs import BASELINE, MAST
from tests import toy
from tests.engine.test_search import same
from tests.test_toy import after

EVERYTHING = parse("RAVE >> (MAST + NAST2 + LGRF + EPIC)/4")
SEVERAL = pytest.mark.parametrize("threads", [2, 3])
SOON = 5.0  # seconds


def othello() -> State:
    return games.load("othello").new_initial_state()


def whist() -> State:
    return games.load("knockout-whist(players=3)").new_initial_state(seed=3)


@pytest.fixture(autouse=True)
def no_thread_is_left_over() -> Iterator[None]:
    def running() -> set[threading.Thread]:
        """All but the one that hears of signals, of which there is one for a process."""
        return {thread for thread in threading.enumerate() if thread.name != "icarus-interrupts"}

    before = running()
    yield
    end = time.monotonic() + SOON
    while running() - before and time.monotonic() < end:  # one may just begin or end
        time.sleep(0.01)
    assert running() <= before


# ------------------------------------------------------------------------------------------------------------- the roots


@SEVERAL
@pytest.mark.parametrize("root", [othello, whist])
def test_searches_from_one_root_agree_whenever_seed_and_number_of_threads_do(root: Any, threads: int) -> None:
    first, second = (search(root(), EVERYTHING, iterations=301, seed=(4, 2), threads=threads) for _ in range(2))
    assert same(attrs.evolve(first, parts=()), attrs.evolve(second, parts=()))
    assert len(first.parts) == len(second.parts) == threads
    assert all(same(mine, its) for mine, its in zip(first.parts, second.parts, strict=True))


def test_the_searches_from_one_root_are_those_of_seeds_of_their_own() -> None:
    together = search(whist(), EVERYTHING, iterations=301, seed=9, threads=2)
    alone = [
        search(whist(), EVERYTHING, iterations=iterations, seed=(9, thread))
        for thread, iterations in enumerate((151, 150))
    ]
    assert all(same(part, single) for part, single in zip(together.parts, alone, strict=True))
    assert alone[0].visits.tolist() != alone[1].visits.tolist()


@SEVERAL
def test_what_the_searches_from_one_root_found_is_summed(threads: int) -> None:
    result = search(othello(), EVERYTHING, iterations=1000, seed=2, threads=threads)
    parts = result.parts
    assert result.iterations == result.visits.sum() == sum(part.iterations for part in parts) == 1000
    assert result.visits.tolist() == sum(part.visits for part in parts).tolist()  # type: ignore[union-attr]
    assert result.policy.tolist() == (result.visits / 1000).tolist()
    assert result.visits[result.actions.index(result.action)] == result.visits.max()
    assert result.depth == max(part.depth for part in parts)
    assert all(steps == sum(part.phase_steps[phase] for part in parts) for phase, steps in result.phase_steps.items())
    assert result.memory == sum(part.memory for part in parts)
    assert (result.threads, result.seed) == (threads, 2) and f", {threads} threads: 1000 iter" in str(result)
    for action, value in zip(result.actions, result.values, strict=True):
        rows = [part.records["BASELINE"][(0, (action,))] for part in parts]
        assert value == pytest.approx(
            sum(row["reward"][0] for row in rows) / sum(row["visits"] for row in rows), rel=1e-12
        )
    assert all(np.array_equal(result.records[name].rows, parts[0].records[name].rows) for name in result.records)


@capture
def capture_steps(history: History, updates: Updates) -> None:
    """⟨(1, ψ)⟩ # ⟨(2 + a_i, ψ) : i > 0⟩"""
    update(updates, 1, 0)
    for step in history.steps[:-1]:
        update(updates, 2 + step.action, 0)


@backpropagation
def count(stats: Any, context: int, rewards: np.ndarray) -> None:
    """n + 1"""
    stats.visits += 1


@values
def no_matter(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """0"""
    for i in range(len(legal)):
        out[i] = 0.0 * find(theta, 1).visits


COUNTING = Enhancement(
    "COUNTING", ACTION, information(visits=COUNT), initial(), argmax().over(no_matter), NOTHING, capture_steps, count
)


# --------------------------------------------------------------------------------------------------------- budgets and ends


@SEVERAL
def test_several_threads_make_as_many_iterations_as_were_asked_for(threads: int) -> None:
    for iterations in (1, 2, 7, 8, 9, 500):
        result = search(after(toy.BRANCHES), BASELINE, iterations=iterations, threads=threads)
        assert result.iterations == iterations == result.visits.sum()


@contextlib.contextmanager
def ctrl_c(delay: float) -> Iterator[None]:
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, previous)


def test_ctrl_c_ends_all_threads_and_gives_what_they_found() -> None:
    search(othello(), BASELINE, iterations=50, threads=2)
    started = time.perf_counter()
    with ctrl_c(0.15), pytest.raises(SearchInterrupted) as caught:
        search(othello(), BASELINE, seconds=60, threads=2)
    assert time.perf_counter() - started < 10
    result = caught.value.result
    assert result.iterations == result.visits.sum() > 50


class Refused(Exception):
    """An exception of one's own."""


@values
def failing_values(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """raises once record 1 has been updated often enough"""
    for i in range(len(legal)):
        out[i] = 0.0
    if find(theta, 1).visits >= 40:
        raise Refused("the values of this action are unknown")


@capture
def failing_capture(history: History, updates: Updates) -> None:
    """raises in long playouts"""
    if len(history.steps) > 3 and history.steps[0].phase != SIMULATION:
        raise Refused("this playout is not captured")


@backpropagation
def failing_backpropagation(stats: Any, context: int, rewards: np.ndarray) -> None:
    """divides by the visits that are left"""
    stats.visits += 1
    stats.visits += 0 * (6 // (40 - stats.visits) if stats.visits <= 40 else 6 // 0)


@pytest.mark.parametrize(
    ("slot", "error", "message"),
    [
        ({"policy": argmax().over(failing_values)}, Refused, "the values of this action are unknown"),
        ({"capture": failing_capture}, Refused, "this playout is not captured"),
        ({"backpropagation": failing_backpropagation}, ZeroDivisionError, "division by zero"),
    ],
)
def test_an_exception_in_one_thread_ends_the_others_and_surfaces_as_itself(
    slot: dict[str, Any], error: type[Exception], message: str
) -> None:
    broken = attrs.evolve(COUNTING, name="BROKEN", **slot)
    with pytest.raises(error, match=message) as caught:
        search(othello(), broken, iterations=10**9, threads=2)
    assert type(caught.value) is error


def test_an_exception_in_progress_surfaces_as_itself_from_several_threads() -> None:
    def stop(iterations: int, elapsed: float) -> None:
        raise ArithmeticError("enough")

    with pytest.raises(ArithmeticError, match="enough"):
        search(after(toy.BRANCHES), BASELINE, iterations=10_000, progress=stop, threads=2)


# --------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threads": 0}, "threads is 0; it must be an integer from 1 to 1024"),
        ({"threads": -2}, "threads is -2"),
        ({"threads": 1.5}, r"threads is 1\.5"),
        ({"threads": True}, "threads is True"),
        ({"threads": "2"}, "threads is '2'"),
        ({"threads": None}, "threads is None"),
    ],
)
def test_bad_threads_are_refused_with_what_would_be_right(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(after(toy.BRANCHES), MAST, iterations=5, **arguments)
    with pytest.raises(ValueError, match=message):
        Agent(MAST, iterations=5, **arguments)


# ------------------------------------------------------------------------------------------------------------------ agents


def test_an_agent_searches_in_several_threads() -> None:
    agent = Agent(MAST, iterations=30, threads=2)
    assert str(agent) == "MAST (30 iterations, 2 threads)"
    result = agent.search(whist(), 3)
    expected = search(whist(), MAST, iterations=30, seed=3, threads=2)
    assert same(attrs.evolve(result, parts=()), attrs.evolve(expected, parts=()))
