"""Search: that a seed fixes everything, budgets, refusals, Ctrl-C, threads, errors in slots, and what may not be known."""

import contextlib
import gc
import json
import math
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chisquare

from examples.sequential_halving import HALVING, last_one
from icarus import (
    Agent,
    Game,
    GameLog,
    Result,
    RootStatistics,
    SearchExhausted,
    SearchInterrupted,
    State,
    games,
    greatest_value,
    most_visits,
    play,
    search,
    secure_child,
)
from icarus.algebra import (
    ACTION,
    HISTORY,
    MOVE,
    NOTHING,
    PLAYER,
    Enhancement,
    capture,
    initial,
    weight,
)
from icarus.compiler.rng import seeded
from icarus.engine import lowering as lowering_module, match as levels, tables as tables_module
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.lowering import LoweredStrategy
from icarus.engine.match import DecisionLog
from icarus.engine.result import recommend, sum_statistics
from icarus.engine.scheme import MO_ISMCTS, SO_ISMCTS
from icarus.engine.search import run_within
from icarus.engine.tables import SMALLEST, RecordTable, capacity_for, parts_of, parts_text
from icarus.kernel import (
    CHANCE,
    FILTER_SHARE,
    FULLEST,
    NO_ACTION,
    TERMINAL,
    UNLIMITED,
    history_record,
    mix,
    record,
    update,
)
from icarus.ladder import read_ladder
from icarus.specs import BASELINE, EPIC, LGR, MAST, NAST, NAST2, RAVE, gibbs, parse, ucb1
from icarus.specs.at_once import EXP3
from icarus.specs.baseline import children
from tests import toy
from tests.marks import both_engines, slow_if
from tests.test_toy import after

running_module = sys.modules["icarus.engine.compiled_search"]
EVERYTHING = parse("RAVE >> (MAST + NAST2 + LGRF + EPIC)/4")


def whist() -> State:
    return games.load("knockout-whist(players=3)").new_initial_state(seed=3)


def same(first: Result, second: Result) -> bool:
    """Whether two results agree in every field but the clock."""
    names = {field.alias for field in attrs.fields(Result)} - {
        "seconds",
        "state",
        "records",
        "statistics",
    } | {"values"}
    plain = all(
        np.array_equal(getattr(first, name), getattr(second, name), equal_nan=name == "values")
        if isinstance(getattr(first, name), np.ndarray)
        else getattr(first, name) == getattr(second, name)
        for name in names
    )
    return (
        plain
        and np.array_equal(first.state.data, second.state.data)
        and list(first.records) == list(second.records)
        and all(
            np.array_equal(first.records[part].rows, second.records[part].rows)
            for part in first.records
        )
    )


# --------------------------------------------------------------------------------------------------------------- one seed


@pytest.mark.parametrize(
    "stops", [(1, 7, 200), (1, 2, 3, 200), tuple(range(1, 201)), (200, 200), (150, 10, 200)]
)
def test_the_result_does_not_depend_on_where_the_search_paused(stops):
    whole, paused = CompiledSearch(whist(), EVERYTHING, 5), CompiledSearch(whist(), EVERYTHING, 5)
    whole.run(200)
    for stop in stops:
        paused.run(stop)
    assert same(whole.result(), paused.result())


def test_what_any_mean_would_have_accepted_is_accepted_as_if_one_had_asked():
    strategy = parse("BASELINE >> MAST")
    unasked, asked = CompiledSearch(whist(), strategy, 5), CompiledSearch(whist(), strategy, 5)
    unasked.run(500)
    assert asked.program.term["least"].max() > 0.36
    asked.program.term["least"] = 0
    asked.run(500)
    assert same(asked.result(), unasked.result())


def test_a_strategy_is_lowered_once_for_all_its_searches_and_an_equal_one_by_itself():
    game, strategy, equal = games.load("othello"), parse("RAVE >> MAST"), parse("RAVE >> MAST")
    first, again, third = (
        CompiledSearch(game.new_initial_state(), each) for each in (strategy, strategy, equal)
    )
    assert strategy == equal
    assert first.program is again.program is not third.program
    # where its tables are, each search says for itself
    assert not first.program.component["table"].any()


def test_a_search_that_has_found_no_room_is_remembered_as_others_are(monkeypatch):
    monkeypatch.setattr(running_module, "_UPDATES", 1)
    state = games.load("othello").new_initial_state()
    strategy = parse("BASELINE >> MAST")
    lowered = list[object]()
    monkeypatch.setattr(
        lowering_module,
        "LoweredStrategy",
        lambda *what: lowered.append(what) or LoweredStrategy(*what),
    )
    first = search(state, strategy, iterations=3000, seed=1)
    again = CompiledSearch(state, strategy)
    assert len(lowered) == 1
    assert [table.capacity for table in again.tables] == [
        capacity_for(len(each), SMALLEST) for each in first.records.values()
    ]


@pytest.mark.parametrize("name", ["othello", "hearts"])
def test_the_result_does_not_depend_on_the_room_that_a_search_begins_with(name, monkeypatch):
    state = games.load(name).new_initial_state(seed=1)
    roomy = search(state, parse(str(EVERYTHING)), iterations=60, seed=8)
    monkeypatch.setattr(tables_module, "SMALLEST", FILTER_SHARE)
    monkeypatch.setattr(running_module, "_STEPS", 1)
    monkeypatch.setattr(running_module, "_UPDATES", 1)
    narrow = search(state, parse(str(EVERYTHING)), iterations=60, seed=8)
    assert narrow.memory != roomy.memory
    assert same(attrs.evolve(narrow, memory=roomy.memory), roomy)


@both_engines
def test_nobody_can_write_to_what_a_search_returns(engine):
    result = search(whist(), BASELINE >> MAST, iterations=20, seed=5, engine=engine)
    records = result.records["MAST"]
    arrays: list[Any] = [result.visits, result.values, result.policy, records.rows]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    for row in (records.initial, records[next(iter(records))]):
        with pytest.raises(ValueError, match="read-only"):
            row["visits"] = 99
    with pytest.raises(ValueError, match="read-only"):
        result.records["BASELINE"][()]["reward"][0] = 99


def test_records_of_a_component_that_is_none_are_refused_with_the_names_of_those_that_are():
    records = search(whist(), BASELINE >> MAST, iterations=1).records
    with pytest.raises(
        KeyError,
        match="no component of the strategy is called MATS; its components: BASELINE, MAST",
    ):
        records["MATS"]
    assert records.get("MATS") is None
    assert list(records) == ["BASELINE", "MAST"]


@pytest.mark.parametrize("parts", [2**70, -(2**70), (2**64, 0)])
def test_no_record_has_a_key_or_a_part_of_more_than_64_bits(parts):
    records = search(after(toy.BRANCHES), MAST, iterations=20, seed=1).records["MAST"]
    assert (0, 0) in records
    assert parts not in records


# ---------------------------------------------------------------------------------------------------------------- budgets


def test_a_search_ends_when_its_time_is_up():
    state = games.load("othello").new_initial_state()
    search(state, BASELINE, iterations=50)  # everything is loaded
    for seconds in (0.05, 0.2):
        started, worked = time.perf_counter(), time.thread_time()
        result = search(state, BASELINE, seconds=seconds)
        elapsed, worked = time.perf_counter() - started, time.thread_time() - worked
        assert seconds <= result.seconds <= elapsed
        assert worked < seconds + 0.3  # which other work on the machine does not lengthen
    assert result.iterations > 50


def test_progress_is_told_in_order_and_to_the_end():
    reports: list[tuple[int, float]] = []
    state = games.load("othello").new_initial_state()
    result = search(
        state,
        BASELINE,
        iterations=20_000,
        progress=lambda iterations, elapsed: reports.append((iterations, elapsed)),
    )
    assert reports[-1][0] == 20_000
    assert reports == sorted(reports)
    assert all(0 < elapsed <= result.seconds for _, elapsed in reports)
    silent = search(state, BASELINE, iterations=20_000)
    assert same(result, silent)


def test_an_exception_in_progress_surfaces_as_itself():
    def stop(iterations: int, elapsed: float) -> None:
        raise ArithmeticError("enough")

    with pytest.raises(ArithmeticError, match="enough"):
        search(after(toy.BRANCHES), BASELINE, iterations=10_000, progress=stop)


# --------------------------------------------------------------------------------------------------------------- refusals


def ended() -> State:
    return after(toy.BRANCHES, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, r"needs a budget: iterations=5000 or seconds=1\.0"),
        ({"iterations": 0}, ValueError, "iterations is 0; it must be an integer of at least 1"),
        ({"seconds": 0}, ValueError, "seconds is 0; it must be a real number above 0"),
        (
            {"iterations": 5, "seed": -1},
            ValueError,
            "seed is -1; it must be an integer of at least 0",
        ),
        ({"iterations": 5, "seed": ()}, ValueError, r"seed is \(\)"),
        (
            {"iterations": 5, "state": toy.BRANCHES},
            TypeError,
            r"search needs a State, such as games\.load\('hearts'\)\.new_initial_state\(\), not <game toy-branches",
        ),
        (
            {"iterations": 5, "strategy": "RAVE >> MAST"},
            TypeError,
            "a strategy must be an Enhancement, .*, not 'RAVE >> MAST'",
        ),
        (
            {"iterations": 5, "strategy": MAST + NAST2},
            ValueError,
            r"the weights of the strategy \(MAST \+ NAST2\) sum to 2, not to 1; did you mean \(MAST \+ NAST2\)/2\?",
        ),
        (
            {"iterations": 5, "state": ended},
            ValueError,
            "no decision to search for: the game has ended",
        ),
        (
            {"iterations": 5, "state": lambda: after(toy.DICE, 0)},
            ValueError,
            r"chance acts here: apply one of chance_outcomes\(\)",
        ),
    ],
)
def test_bad_input_is_refused_with_what_would_be_right(arguments, error, message):
    state = arguments.get("state", lambda: after(toy.BRANCHES))
    strategy = arguments.get("strategy", MAST)
    budget = {name: value for name, value in arguments.items() if name not in ("state", "strategy")}
    with pytest.raises(error, match=message):
        search(state() if callable(state) else state, strategy, **budget)


# ----------------------------------------------------------------------------------------------------------------- Ctrl-C


@contextlib.contextmanager
def ctrl_c(delay: float) -> Iterator[list[float]]:
    """Ctrl-C after a delay; gives the processor time that this process had used by then."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(delay, send)
    timer.start()
    try:
        yield sent
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, previous)


@pytest.mark.parametrize("seconds", [60, 1e308])
def test_ctrl_c_is_answered_at_once_with_what_was_found(seconds):
    state = games.load("othello").new_initial_state()
    search(state, EVERYTHING, iterations=10)
    with ctrl_c(0.1) as sent, pytest.raises(SearchInterrupted) as caught:
        search(state, EVERYTHING, seconds=seconds, seed=2)
    answered = time.process_time() - sent[0]
    result = caught.value.result
    assert answered < 0.2
    assert result.iterations == result.visits.sum() > 10
    assert str(caught.value) == f"search interrupted after {result.iterations} iterations"
    assert isinstance(caught.value, KeyboardInterrupt)
    whole = search(state, EVERYTHING, iterations=result.iterations, seed=2)
    assert same(result, whole)


def test_ctrl_c_loses_nothing_while_a_table_grows(monkeypatch):
    state, growths = games.load("othello").new_initial_state(), []
    growth = tables_module.growth()

    def interrupted(*arguments: int) -> None:
        growths.append(arguments[-1])
        if len(growths) == 4:
            raise KeyboardInterrupt
        growth(*arguments)

    monkeypatch.setattr(tables_module, "SMALLEST", 64)
    monkeypatch.setattr(tables_module, "growth", lambda: interrupted)
    with pytest.raises(SearchInterrupted) as caught:
        search(state, attrs.evolve(BASELINE), iterations=10_000, seed=2)
    result = caught.value.result
    again = search(state, BASELINE, iterations=result.iterations, seed=2)
    assert np.array_equal(result.records["BASELINE"].rows, again.records["BASELINE"].rows)


# ---------------------------------------------------------------------------------------------------------------- threads


def test_searches_in_several_threads_do_not_disturb_each_other():
    results: dict[int, Result] = {}
    state = games.load("othello").new_initial_state()

    def find_out(seed: int) -> None:
        results[seed] = search(state, EVERYTHING, iterations=400, seed=seed)

    threads = [threading.Thread(target=find_out, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, result in results.items():
        assert same(result, search(state, EVERYTHING, iterations=400, seed=seed))
    assert len(results) == 3


# --------------------------------------------------------------------------------------------------- errors in a user's slot


@weight
def leaves_the_interval(rewards, visits, availability):
    """½, but 1.5 at five visits"""
    return 1.5 if visits == 5 else 0.5


@weight
def half(rewards, visits, availability):
    """½"""
    return 0.5


@weight
def half_for_now(rewards, visits, availability):
    """½, but ¼ at five visits"""
    return 0.25 if visits == 5 else 0.5


@pytest.mark.parametrize(
    "strategy",
    [
        leaves_the_interval * MAST + (1 - leaves_the_interval) * BASELINE,
        leaves_the_interval * RAVE.components[0] ^ (1 - leaves_the_interval) * BASELINE,
    ],
)
def test_a_weight_that_leaves_the_unit_interval_during_a_search_is_an_error(strategy):
    with pytest.raises(ValueError, match=r"weight function .* outside \[0, 1\]"):
        search(after(toy.BRANCHES), strategy, iterations=100)


def test_weights_that_stop_summing_to_one_during_a_search_are_an_error():
    with pytest.raises(ValueError, match="sum"):
        search(after(toy.BRANCHES), half * MAST + half_for_now * BASELINE, iterations=100)


# ------------------------------------------------------------------------------------------------------------ the result


def test_the_result_is_what_the_search_counted():
    result = search(after(toy.BRANCHES), BASELINE, iterations=400, seed=3)
    assert result.actions == (0, 1, 2)
    assert result.policy.tolist() == (result.visits / 400).tolist()
    base = result.records["BASELINE"]
    for action, value in zip(result.actions, result.values, strict=True):
        assert value == base[(0, (action,))]["reward"][0] / base[(0, (action,))]["visits"]
    assert result.value == result.values[result.actions.index(result.action)]
    assert result.depth == 3
    assert result.seed == 3
    assert str(result.strategy) == "BASELINE"
    assert sum(result.phase_steps.values()) > 400
    assert result.memory > base.rows.nbytes


def test_the_result_counts_records_that_components_share_once():
    state = after(toy.BRANCHES)
    for strategy in (BASELINE, BASELINE >> BASELINE(ucb1(1.0))):
        result = search(state, strategy, iterations=40, seed=3)
        assert f", {len(result.records['BASELINE'])} records\n" in str(result)


def test_the_result_prints_a_row_for_each_action_the_most_visited_first():
    result = search(after(toy.BRANCHES), BASELINE, iterations=400, seed=3)
    head, titles, *rows = str(result).splitlines()
    assert head.startswith("toy-branches(tree=0), player 0, BASELINE: 400 iterations in ")
    assert titles.split() == ["action", "visits", "share", "value"]
    assert rows[0].split()[:2] == [str(result.action), "*"]
    shown = [int(row.replace("*", " ").split()[1]) for row in rows]
    assert shown == sorted(result.visits.tolist(), reverse=True)
    assert repr(result) == f"<search result: {result.action} after 400 iterations>"


# ------------------------------------------------------------------------------------------------------- hidden information


def looking_alike(game: Game, most: int) -> list[list[State]]:
    """Sets of states that the player to move cannot tell apart."""
    tree = toy.ALL_TOYS.index(game)
    sets: dict[tuple, list[State]] = {}
    for row in toy.ROWS:
        if row.tree == tree and row.node.player >= 0:
            sets.setdefault((row.node.player, row.information_of(row.node.player)), []).append(
                after(game, *row.actions(), deal=row.deal)
            )
    several = [states for states in sets.values() if len(states) > 1]
    return several[:: max(1, len(several) // most)]


@pytest.mark.parametrize(
    ("game", "strategy"),
    [  # each game with two strategies, with all of them with --slow
        pytest.param(game, strategy, marks=slow_if((i + j) % 2))
        for i, game in enumerate([toy.CARD, toy.SECRETS, toy.THICKETS[0]])
        for j, strategy in enumerate([EVERYTHING, EPIC, BASELINE >> LGR, EPIC(gibbs(0.5))])
    ],
    ids=str,
)
def test_swapping_the_hidden_facts_changes_nothing(game, strategy):
    alike = looking_alike(game, most=8)
    assert alike
    for states in alike:
        first, *others = [search(state, strategy, iterations=25, seed=11) for state in states]
        for result in others:
            assert same(first, attrs.evolve(result, state=first.state))


# ----------------------------------------------------------------------------------- several threads for one search


SEVERAL = pytest.mark.parametrize("threads", [2, 3])
SOON = 60.0  # seconds, on a busy machine


def othello() -> State:
    return games.load("othello").new_initial_state()


@pytest.fixture(autouse=True)
def no_thread_is_left_over():
    def running() -> set[threading.Thread]:
        """All but the one that hears of signals, of which there is one for a process."""
        return {thread for thread in threading.enumerate() if thread.name != "icarus-interrupts"}

    before = running()
    yield
    end = time.monotonic() + SOON
    while running() - before and time.monotonic() < end:  # one may just begin or end
        time.sleep(0.01)
    assert running() <= before


@SEVERAL
@pytest.mark.parametrize("root", [othello, whist])
def test_searches_from_one_root_agree_whenever_seed_and_number_of_threads_do(root, threads):
    first, second = (
        search(root(), EVERYTHING, iterations=301, seed=(4, 2), threads=threads) for _ in range(2)
    )
    assert same(attrs.evolve(first, parts=()), attrs.evolve(second, parts=()))
    assert len(first.parts) == len(second.parts) == threads
    assert all(same(mine, its) for mine, its in zip(first.parts, second.parts, strict=True))


@pytest.mark.parametrize(
    ("seed", "key", "are_one"),
    [(7, (7, 0), True), (2**32 + 5, (5, 1), True), (7, (0, 7), False), ((0, 7), (7, 7), False)],
)
def test_which_seeds_are_one_is_as_the_docstring_says(seed, key, are_one):
    assert (seeded(seed).tolist() == seeded(key).tolist()) == are_one


def test_the_seed_of_a_result_stays_when_the_caller_s_list_goes_on():
    seed = [1, 2]
    results = [search(othello(), BASELINE, iterations=9, seed=seed, threads=n) for n in (1, 2)]
    seed.append(3)
    assert [result.seed for result in results] == [(1, 2), (1, 2)]


def test_the_searches_from_one_root_are_those_of_seeds_of_their_own():
    together = search(whist(), EVERYTHING, iterations=301, seed=9, threads=2)
    alone = [
        search(whist(), EVERYTHING, iterations=iterations, seed=(9, thread))
        for thread, iterations in enumerate((151, 150))
    ]
    assert all(same(part, single) for part, single in zip(together.parts, alone, strict=True))
    assert alone[0].visits.tolist() != alone[1].visits.tolist()


@SEVERAL
def test_what_the_searches_from_one_root_found_is_summed(threads):
    result = search(othello(), EVERYTHING, iterations=1000, seed=2, threads=threads)
    parts = result.parts
    shown = [int(re.search(r", (\d+) records\n", str(each))[1]) for each in (result, *parts)]
    assert shown[0] == sum(shown[1:])
    assert (
        result.iterations == result.visits.sum() == sum(part.iterations for part in parts) == 1000
    )
    assert result.visits.tolist() == sum(part.visits for part in parts).tolist()
    assert result.policy.tolist() == (result.visits / 1000).tolist()
    assert result.visits[result.actions.index(result.action)] == result.visits.max()
    assert result.depth == max(part.depth for part in parts)
    assert all(
        steps == sum(part.phase_steps[phase] for part in parts)
        for phase, steps in result.phase_steps.items()
    )
    assert result.memory == sum(part.memory for part in parts)
    assert (result.threads, result.seed) == (threads, 2)
    assert f", {threads} threads: 1000 iter" in str(result)
    for action, value in zip(result.actions, result.values, strict=True):
        rows = [part.records["BASELINE"][(0, (action,))] for part in parts]
        assert value == pytest.approx(
            sum(row["reward"][0] for row in rows) / sum(row["visits"] for row in rows), rel=1e-12
        )
    assert all(
        np.array_equal(result.records[name].rows, parts[0].records[name].rows)
        for name in result.records
    )


# ----------------------------------------------------- line 18 by other rules, the budget that slots read, Sequential Halving


RNG = np.array([1, 2, 3, 4], np.uint64)


def root(visits: list[int], rewards: list[float]) -> RootStatistics:
    count = len(visits)
    bounds = np.zeros(count), np.ones(count)
    return RootStatistics(
        tuple(range(count)), np.array(visits), np.array(rewards), np.array(visits, float), *bounds
    )


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
def test_each_rule_recommends_by_hand(rule, action):
    assert recommend(root([100, 81, 1, 0], [50, 48.6, 1, 0]), rule, RNG) == action


def test_an_action_that_is_proved_to_be_worse_is_recommended_by_no_rule():
    statistics = attrs.evolve(
        root([9, 1], [9, 0]), lower=np.array([0.0, 1.0]), upper=np.array([0.5, 1.0])
    )
    assert {
        recommend(statistics, rule, RNG) for rule in (most_visits, greatest_value, secure_child)
    } == {1}
    # not by pairs of actions, for which there is no memory
    assert not root([1] * 100_000, [0] * 100_000).dominated.any()


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=5,
    )
)
def test_an_action_is_dominated_where_another_is_at_least_as_good_and_may_be_better(bounds):
    lower, upper = np.array([(min(pair), max(pair)) for pair in bounds]).T
    statistics = attrs.evolve(root([1] * len(bounds), [0] * len(bounds)), lower=lower, upper=upper)
    better = [
        any(lower[j] >= upper[i] and upper[j] > lower[i] for j in range(len(bounds)))
        for i in range(len(bounds))
    ]
    assert statistics.dominated.tolist() == better


@both_engines
def test_a_result_is_by_its_rule_and_says_so(engine):
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    results = [
        search(state, BASELINE, iterations=60, seed=1, engine=engine, recommendation=rule)
        for rule in (most_visits, greatest_value, partial(secure_child, margin=0.5))
    ]
    assert all((result.visits == results[0].visits).all() for result in results)
    assert results[1].value == np.nanmax(results[1].values)
    assert "by greatest_value:" in str(results[1])
    assert "by secure_child(margin=0.5):" in str(results[2])
    assert ", by " not in str(results[0]).split(":")[0]


def test_agents_and_several_trees_take_a_rule_and_wrong_ones_are_refused():
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    agent = Agent(BASELINE, iterations=40, threads=2, recommendation=greatest_value)
    result = agent.search(state, 3)
    assert result.value == np.nanmax(result.values)
    assert str(agent).endswith(", greatest_value)")
    with pytest.raises(TypeError, match="recommendation is 'most'; it must be a function"):
        search(state, BASELINE, iterations=5, recommendation="most")
    for scores, text in ((np.ones(1), "[1.0]"), (["a", "b"], "['a', 'b']")):
        with pytest.raises(ValueError) as refusal:
            search(state, BASELINE, iterations=5, recommendation=lambda _, scores=scores: scores)
        message = (
            f"the recommendation <lambda> gave {text}; it must give a number for each of 2 actions"
        )
        assert str(refusal.value) == message


def test_the_earlier_iterations_of_all_threads_are_told():
    state = games.load("othello").new_initial_state()
    first = search(state, BASELINE, iterations=20, threads=2)
    assert search(state, BASELINE, iterations=4, threads=2, records=first).earlier_iterations == 20


def test_sequential_halving_is_that_of_the_textbook():
    """Karnin, Koren and Somekh (2013), Algorithm 1, playout for playout: which actions may be tried next, and which is left."""
    state, budget = games.load("othello").new_initial_state(), 200
    running = CompiledSearch(state, HALVING >> MAST, 7)
    running.expect(budget)
    running.run(1)
    arms, before = list(range(len(state.legal_actions()))), sum_statistics([running.root()])
    rounds, pulls, iterations = math.ceil(math.log2(len(arms))), [0] * len(arms), 1
    gains = [0.0] * len(arms)
    for _ in range(rounds):
        each = (budget - 1) // (len(arms) * rounds)
        goal = [pulls[arm] + each for arm in range(len(pulls))]
        while any(pulls[arm] < goal[arm] for arm in arms):
            iterations += 1
            running.run(iterations)
            now = sum_statistics([running.root()])
            (arm,) = np.flatnonzero(now.playouts - before.playouts)
            assert arm in arms
            assert pulls[arm] == min(pulls[candidate] for candidate in arms)
            pulls[arm] += 1
            gains[arm] += now.rewards[arm] - before.rewards[arm]
            before = now
        arms = sorted(arms, key=lambda arm: -gains[arm] / pulls[arm])[: math.ceil(len(arms) / 2)]
    assert len(arms) == 1
    assert iterations > budget // 2
    running.run(budget)
    assert running.root().playouts.astype(int).tolist() == [
        count + (budget - iterations) * (arm in arms) for arm, count in enumerate(pulls)
    ]
    assert running.result(recommendation=last_one).action == state.legal_actions()[arms[0]]


@pytest.mark.parametrize("name", ["visits", "rewards", "playouts", "lower", "upper"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_rule_of_recommendation_cannot_change_what_was_found(name, threads):
    def spoiling(root):
        getattr(root, name)[0] = 0

    with pytest.raises(ValueError, match="read-only"):
        search(
            games.load("othello").new_initial_state(),
            BASELINE,
            iterations=20,
            threads=threads,
            recommendation=spoiling,
        )


@capture(reads_simulation=False, writes_simulation=False)
def capture_what_is_left(history, updates):
    update(updates, record(history.budget - history.iteration, 0), 0)


LEFT = attrs.evolve(MAST, name="LEFT", capture=capture_what_is_left)


def left_in(result: Result) -> list[list[int]]:
    """Of each thread, how many iterations were left at each, the last one first."""
    return [
        [k for k in range(200) if record(k, 0) in part.records["LEFT"]]
        for part in result.parts or [result]
    ]


def test_budget_and_iteration_count_alike_in_threads_and_with_records_of_an_earlier_search():
    state = games.load("othello").new_initial_state()
    first = search(state, BASELINE >> LEFT, iterations=101, threads=2)
    assert left_in(first) == [list(range(1, 52)), list(range(1, 51))]
    second = search(state, BASELINE >> LEFT, iterations=160, threads=2, records=first)
    assert left_in(second) == [list(range(1, 81))] * 2


class Clocked:
    """A search that makes an iteration every 10 ms of a clock that only it moves."""

    def __init__(self, clock: list[float]) -> None:
        self.clock, self.iterations, self.expected = clock, 0, list[int]()

    def run(self, iterations: int) -> None:
        self.clock[0] += (iterations - self.iterations) / 100
        self.iterations = iterations


@pytest.mark.parametrize(
    ("iterations", "seconds", "total"), [(50, None, 50), (None, 2.0, 200), (150, 2.0, 150)]
)
def test_the_budget_is_what_was_given_or_what_the_clock_lets_expect(
    iterations, seconds, total, monkeypatch
):
    clock = [0.0]
    monkeypatch.setattr("icarus.engine.search.time.perf_counter", lambda: clock[0])
    running = Clocked(clock)
    run_within(running, iterations, seconds, 0.0, expect=running.expected.append)
    assert running.iterations == pytest.approx(total, abs=2)
    assert all(
        budget == pytest.approx(total, abs=2) for budget in running.expected if budget != UNLIMITED
    )
    # The first is told before any iteration, when the clock says nothing yet.
    assert running.expected[0] == (iterations or UNLIMITED)
    assert seconds is None or len(running.expected) > 5


# -------------------- θ in memory: growth, initial information, and looking records up by their parts.


def numbered_rows(table: RecordTable, keys: Iterable[int]) -> np.ndarray:
    """Rows of these keys, each with information that tells it from others."""
    rows = np.zeros(len(list(keys)), table.dtype)
    rows["record"], rows["visits"], rows["reward"] = (
        list(keys),
        range(len(rows)),
        np.arange(len(rows)) / 8,
    )
    return rows


def held(table: RecordTable) -> dict[int, tuple]:
    return {
        int(row["record"]): (float(row["reward"]), int(row["visits"])) for row in table.rows[1:]
    }


# ---------------------------------------------------------------------------------------------------------------- growth


@settings(max_examples=30, deadline=None)
@given(
    st.sets(st.integers(-(2**63), 2**63 - 1).filter(bool), min_size=1, max_size=300),
    st.integers(0, 5000),
)
def test_growth_keeps_every_record_and_every_mark(keys, room):
    table = RecordTable(MAST, toy.BRANCHES)
    table.insert_rows(numbered_rows(table, sorted(keys)))
    table.filter_visits()
    assert not table.visit_filter.any()
    assert len(table.visit_filter) == table.capacity // FILTER_SHARE
    marks = np.unpackbits(table.visit_filter, bitorder="little")
    marks[[key & (len(marks) - 1) for key in keys]] = 1
    table.visit_filter[:] = np.packbits(marks, bitorder="little")
    before = table.capacity
    table.grow(room)
    assert held(table) == {key: (i / 8, i) for i, key in enumerate(sorted(keys))}
    # without gaps
    assert table.used == len(keys)
    assert table.rows["record"][1:].tolist() == sorted(keys)
    assert table.capacity >= 2 * before
    assert table.capacity & (table.capacity - 1) == 0
    assert table.used + room <= FULLEST * table.capacity
    longer = np.unpackbits(table.visit_filter, bitorder="little")
    assert len(longer) == table.capacity
    assert longer.mean() == marks.mean()
    assert table.descriptor.visit_filter == table.visit_filter.ctypes.data
    assert longer[[key & (len(longer) - 1) for key in keys]].all()
    assert table.nbytes <= table.rows.nbytes + table.entries.nbytes + len(table.visit_filter)


def test_records_of_one_place_of_the_index_are_all_found():
    table, keys = RecordTable(MAST, toy.BRANCHES), [key << 20 for key in range(1, 400)]
    for key in keys[:3]:
        table.insert_rows(numbered_rows(table, [key]))
    table.insert_rows(numbered_rows(table, keys))
    assert all(table.find(key)["visits"] == i for i, key in enumerate(keys))
    assert table.find(1 << 62) is None
    assert table.used == len(keys)
    assert table.capacity == 2048


@pytest.mark.parametrize("room", [1 << 32, 1 << 62])
def test_a_table_that_would_not_fit_is_refused_at_once_and_stays_as_it_was(room):
    table = RecordTable(MAST, games.load("othello"))
    table.insert_rows(numbered_rows(table, range(1, 200)))
    before = table.rows.copy()
    with pytest.raises(MemoryError, match="a table has 4294967295 rows at most"):
        table.grow(room)
    assert table.capacity == SMALLEST
    assert (table.rows == before).all()


def test_the_memory_of_a_search_is_free_when_its_result_is():
    def tables() -> int:
        return sum(type(each) is RecordTable for each in gc.get_objects())  # asks no weak proxy

    gc.collect()
    before = tables()
    search(games.load("othello").new_initial_state(), EPIC, iterations=300)
    # The errors that asked for room do not hold it until garbage is collected; what other tests have left may go.
    assert tables() <= before


@pytest.mark.parametrize("name", ["othello", "hearts", "lotr-confrontation"])
def test_what_a_filter_says_is_new_has_no_records(name, monkeypatch):
    state, choices = games.load(name).new_initial_state(seed=2), np.random.default_rng(2)
    for _ in range(6):  # in the middle of an episode
        state.apply_action(int(choices.choice(state.legal_actions())))
    found = [
        search(state, strategy, iterations=500, seed=2)
        for strategy in (EPIC, RAVE >> EPIC, RAVE >> NAST)
    ]
    filter_visits = RecordTable.filter_visits
    monkeypatch.setattr(
        RecordTable,
        "filter_visits",
        lambda table, everywhere: filter_visits(table, everywhere=True),
    )
    for result in found:
        # about every action everywhere
        asked = search(state, result.strategy, iterations=500, seed=2)
        assert (asked.visits == result.visits).all()
        assert (asked.values == result.values).all()


def test_memory_that_runs_out_ends_a_search_and_keeps_what_was_found(monkeypatch):
    def limited(table: RecordTable, rows: np.ndarray, more: np.ndarray, *room: int) -> None:
        if room[0] > 1 << 16:
            raise MemoryError
        hold(table, rows, more, *room)

    hold = RecordTable._hold
    monkeypatch.setattr(RecordTable, "_hold", limited)
    with pytest.raises(SearchExhausted, match="memory has run out") as ended:
        search(games.load("othello").new_initial_state(), BASELINE, iterations=10**6, seed=1)
    assert ended.value.result.visits.sum() == ended.value.result.iterations > 100


@pytest.mark.parametrize("cause", [MemoryError, KeyboardInterrupt])
def test_what_ends_a_search_early_is_pickled_with_what_was_found(cause):
    def progress(iterations: int, seconds: float) -> None:
        raise cause

    with pytest.raises((SearchExhausted, SearchInterrupted)) as ended:
        search(toy.CHAIN.new_initial_state(), BASELINE, iterations=10**6, progress=progress)
    read = pickle.loads(pickle.dumps(ended.value))
    assert type(read) is type(ended.value)
    assert str(read) == str(ended.value)
    assert (read.result.visits == ended.value.result.visits).all()


# --------------------------------------------------------------------------------------------------- initial information


def after_one(
    strategy: Enhancement, *actions: int, game=toy.CHAIN, iterations: int = 1
) -> CompiledSearch:
    search = CompiledSearch(after(game, *actions), strategy, 3)
    search.run(iterations)
    return search


def test_a_record_starts_from_the_common_initial_information():
    # Below ⟨0, pass, 2⟩ all is forced and the reward is 1: one playout adds 1 to q and to n of (pass, 0) and of (1, 0).
    optimist = attrs.evolve(MAST, name="OPTIMIST", initial=initial(reward=3, visits=4))
    records = after_one(optimist, 0, toy.PASS, 2).records()["OPTIMIST"]
    assert {(row["reward"], row["visits"]) for row in records.rows} == {(4.0, 5)}
    assert len(records) == 2
    assert (records.initial["reward"], records.initial["visits"]) == (3.0, 4)


def test_given_records_start_from_their_own_information_before_anything_is_updated():
    hints = {(1, 0): {"reward": 8, "visits": 9}, (7, 0): {"reward": 2}}
    prepared = attrs.evolve(MAST, name="PREPARED", initial=initial(hints, visits=1))
    records = after_one(prepared, 0, toy.PASS, 2).records()["PREPARED"]
    stats = {
        parts: (records[parts]["reward"], records[parts]["visits"])
        for parts in [(1, 0), (7, 0), (toy.PASS, 0)]
    }
    # (1, 0): 8 + 1 of 9 + 1. (7, 0) never happens and its other field is the common one. (pass, 0): 0 + 1 of 1 + 1.
    assert stats == {(1, 0): (9.0, 10), (7, 0): (2.0, 1), (toy.PASS, 0): (1.0, 2)}
    assert len(records) == 3


def test_a_policy_reads_the_initial_information_of_records_it_has_never_seen():
    # The given mean of action 1 is 1 where every other action starts with 0: the first playout takes it.
    biased = attrs.evolve(
        MAST,
        name="BIASED",
        policy=ucb1(0).over(MAST.policy.source),
        initial=initial({(1, 0): {"reward": 5, "visits": 5}}, visits=5),
    )
    for seed in range(8):
        search = CompiledSearch(after(toy.BRANCHES), biased, seed)
        search.run(1)
        assert search.result().action == 1


def test_given_records_of_every_space_are_keyed_as_the_search_keys_them():
    hints = {
        "BASE": attrs.evolve(
            BASELINE, name="BASE", initial=initial({(): {"visits": 10}, (0, (9,)): {"visits": 20}})
        ),
        "POSITION": attrs.evolve(
            EPIC, name="POSITION", initial=initial({(0, 0, (0, 9)): {"visits": 30}})
        ),
        "GRAM": attrs.evolve(NAST2, name="GRAM", initial=initial({(9, 1, 0): {"visits": 40}})),
        "REPLY": attrs.evolve(
            LGR, name="REPLY", initial=initial({(9, 0): {"reply": 5}}, reply=NO_ACTION)
        ),
    }
    # ⟨0, pass, 0⟩ of the chain: pass, 1 and the reward 0; the second playout expands ⟨pass⟩.
    tables = {}
    for name, strategy in hints.items():
        search = after_one(strategy, 0, toy.PASS, 0, iterations=2)
        tables[name] = search.records()[name]
    assert tables["BASE"][()]["visits"] == 12
    assert tables["BASE"][(0, (9,))]["visits"] == 21
    assert tables["POSITION"][(0, 0, (0, 9))]["visits"] == 32
    assert tables["GRAM"][(9, 1, 0)]["visits"] == 42
    assert tables["REPLY"][(9, 0)]["reply"] == 5


# -------------------------------------------------------------------------------------------------- records by their parts


def test_records_of_every_kind_are_looked_up_by_their_parts():
    # ⟨0, pass, 2⟩ of the chain, then pass and 1: everything is forced and the reward is 1.
    search = after_one((BASELINE >> MAST) >> (NAST2 >> LGR) >> EPIC, 0, toy.PASS, 2, iterations=3)
    records = search.records()
    assert records["BASELINE"][()]["visits"] == 3
    assert records["BASELINE"][(0, (9,))]["visits"] == 2
    assert records["BASELINE"][(0, (9, 1))]["visits"] == 1
    assert records["MAST"][(9, 0)]["reward"] == 3.0
    assert records["NAST2"][(9, 1, 0)]["visits"] == 3
    assert records["LGR"][(9, 0)]["reply"] == 1
    assert records["EPIC"][(0, 0, (2,))]["visits"] == 3
    assert records["EPIC"][(0, 0, (2, 9, 1))]["availability"] == 3


@pytest.mark.parametrize(
    ("strategy", "absent"),
    [
        (BASELINE, (0, (8,))),
        (MAST, (8, 0)),
        (MAST, (9, 1)),
        (NAST2, (1, 9, 0)),
        (LGR, (1, 0)),
        (EPIC(ucb1()), (1, 0, (2,))),
        (NAST(3), (2, 9, 1, 0)),
    ],
)
def test_an_absent_record_is_a_key_error(strategy, absent):
    records = after_one(strategy, 0, toy.PASS, 2).records()[str(strategy)]
    with pytest.raises(KeyError, match="has no record .*: the search has not updated it"):
        records[absent]
    assert records.get(absent) is None
    assert absent not in records
    assert (1, 2, 3, 4, 5) not in records
    assert "x" not in records


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((7, 1), "(a7, player 1) or (a7, a1)"),
        ((7, -1), "(a7, chance) or (a7, a-1)"),
        ((7, 2), "(a7, a2)"),
        ((7,), "(7)"),
    ],
)
def test_a_record_of_a_union_is_told_in_the_words_of_each_space_that_may_have_it(parts, text):
    space = ACTION * PLAYER | ACTION * ACTION | NOTHING
    assert parts_text(parts, space, toy.KUHN, "a{}".format) == text


@pytest.mark.parametrize(
    ("strategy", "parts"),
    [(MAST, (9, 0, 1)), (MAST, (9,)), (MAST, "e6"), (BASELINE, (9, 0)), (EPIC(ucb1()), (0, (2,)))],
)
def test_parts_of_no_record_are_refused(strategy, parts):
    records = after_one(strategy, 0, toy.PASS, 2).records()[str(strategy)]
    with pytest.raises(ValueError, match=f"is not a record of {re.escape(str(strategy.records))}"):
        records[parts]


def test_components_that_differ_in_their_policy_only_share_a_table():
    greedy = attrs.evolve(BASELINE, name="GREEDY", policy=ucb1(0.0).over(children))
    search = after_one(BASELINE >> greedy, 0, toy.PASS, 2, iterations=5)
    assert len(search.tables) == 1
    records = search.records()
    assert np.array_equal(records["GREEDY"].rows, records["BASELINE"].rows)


@pytest.mark.parametrize("own", [BASELINE, EXP3], ids=str)
def test_a_variant_of_a_component_that_the_search_has_needs_another_name(own):
    variant = attrs.evolve(own, initial=initial(reward=0.5, visits=1))
    state = games.load("goofspiel").new_initial_state()
    message = f"{own} of {own} >> MAST is not the {own} that the search itself has; rename it"
    with pytest.raises(ValueError, match=message):
        search(state, variant >> MAST, iterations=2, scheme=SO_ISMCTS.with_exp3())
    prior = attrs.evolve(variant, name="PRIOR") >> MAST
    assert {*search(state, prior, iterations=2).records} >= {"BASELINE", "PRIOR", "MAST"}


def test_the_parts_of_records_of_moves_and_a_player_are_found_by_their_keys():
    made_of = {
        ACTION * PLAYER: (7, 3),
        MOVE**2 * PLAYER: (64, -1, 0),
        MOVE**3 * PLAYER: (0, 5, 5, -1),
    }
    others = [history_record(0, 1, (5,)), mix(record(7, 3), 70), 12345]
    keys = np.array([record(*parts) for parts in made_of.values()] + others)
    for space, parts in made_of.items():
        assert parts_of(keys, space, 4, range(65)) == {record(*parts): parts}
    assert parts_of(keys, HISTORY | ACTION * PLAYER, 4, range(65)) == {record(7, 3): (7, 3)}


# -------------------- Games between agents: what the seed fixes, who sits where, and what is written down of each decision.


QUICK, OTHER = Agent(BASELINE, iterations=12), Agent(RAVE >> MAST, iterations=20)
WHIST = games.load("knockout-whist(players=3)")


def timeless(log: GameLog) -> GameLog:
    """A log without its clocks."""
    decisions = tuple(attrs.evolve(decision, seconds=0.0) for decision in log.decisions)
    return attrs.evolve(log, seconds=0.0, decisions=decisions)


def watched(
    game: Game, agents: list[Agent], seed
) -> tuple[GameLog, list[tuple[State, int | None, DecisionLog | None]]]:
    """A game, and copies of all that a watcher was told."""
    events: list[tuple[State, int | None, DecisionLog | None]] = []
    log = play(
        game,
        agents,
        seed=seed,
        watch=lambda state, action, decision: events.append((state.clone(), action, decision)),
    )
    return log, events


# ------------------------------------------------------------------------------------------------------------- the seed


@pytest.mark.parametrize(
    "game", [WHIST, games.load("othello"), toy.DICE, toy.THREE, toy.CHAIN, *toy.THICKETS], ids=str
)
def test_the_same_seed_gives_the_same_game(game):
    agents = [QUICK, OTHER, QUICK, OTHER][: game.players]
    first, second = (timeless(play(game, agents, seed=(3, 1))) for _ in range(2))
    assert first == second


def test_the_deal_follows_from_the_seed_and_not_from_the_agents():
    for seed in range(3):
        first, second = (
            watched(WHIST, agents, seed)[1][0][0] for agents in ([QUICK] * 3, [OTHER, QUICK, OTHER])
        )
        assert np.array_equal(first.data, second.data)
    deals = [watched(WHIST, [QUICK] * 3, seed)[1][0][0].data.tobytes() for seed in range(3)]
    assert len(set(deals)) == 3


def test_chance_follows_from_the_seed_and_not_from_the_agents():
    # The rolls of backgammon come one after the other, whatever is played between them.
    backgammon, rolls = games.load("backgammon"), []
    for agents in ([Agent(BASELINE, iterations=1)] * 2, [Agent(BASELINE, iterations=2)] * 2):
        log = play(backgammon, agents, seed=7)
        rolls.append([action for player, action in log.actions if player == CHANCE])
    common = min(map(len, rolls))
    assert common > 10
    assert rolls[0][:common] == rolls[1][:common]


def test_chance_keeps_to_its_probabilities():
    # Whoever takes 0 rolls 7, 8, 9 with 0.2, 0.5, 0.3; 1 always shows 7.
    rolled = {7: 0, 8: 0, 9: 0}
    for seed in range(200):
        first = [
            action
            for player, action in play(
                toy.DICE, [Agent(BASELINE, iterations=1)] * 2, seed=seed
            ).actions
        ][:2]
        if first[0] == 0:
            rolled[first[1]] += 1
    total = sum(rolled.values())
    assert total > 60
    assert (
        chisquare(
            [rolled[face] for face in (7, 8, 9)], [0.2 * total, 0.5 * total, 0.3 * total]
        ).pvalue
        > 1e-4
    )


def positions(log: GameLog) -> list[tuple[State, int]]:
    """Each state of a game of Othello with the action played there."""
    state, decisions = games.load("othello").new_initial_state(), []
    for _, action in log.actions:
        decisions.append((state.clone(), action))
        state.apply_action(action)
    return decisions


# ------------------------------------------------------------------------------------------------------------ the log


def test_a_record_is_the_game_as_it_was_played():
    log = play(games.load("othello"), [QUICK, OTHER], seed=9)
    state = games.load("othello").new_initial_state()
    for player, action in log.actions:
        assert state.current_player() == player
        state.apply_action(action)
    assert state.is_terminal()
    assert log.returns == tuple(state.returns())
    assert (log.game, log.seed) == ("othello", 9)
    assert log.agents == ("BASELINE (12 iterations)", "RAVE >> MAST (20 iterations)")
    assert log.seconds > sum(decision.seconds for decision in log.decisions) > 0


def test_a_decision_without_a_choice_is_not_searched():
    log = play(toy.CHAIN, [QUICK], seed=1)
    assert [decision.legal > 1 for decision in log.decisions] == [True, False, True, False, False]
    for decision in log.decisions:
        if decision.legal == 1:
            assert (
                decision.iterations,
                decision.visits,
                decision.value,
                decision.depth,
                decision.seconds,
            ) == (0, 0, 0.0, 0, 0.0)


# ------------------------------------------------------------------------------------------------------------ the watcher


@pytest.mark.parametrize("game", [toy.DICE, toy.CHAIN, WHIST], ids=str)
def test_a_watcher_is_told_of_every_action_before_it_is_done_and_of_the_end(game):
    log, events = watched(game, [QUICK] * game.players, 6)
    assert len(events) == len(log.actions) + 1
    for (player, action), (state, shown, decision) in zip(log.actions, events, strict=False):
        assert (state.current_player(), shown) == (player, action)
        assert (decision is None) == (player == CHANCE)
        assert decision is None or (decision.player, decision.action) == (player, action)
    last, shown, decision = events[-1]
    assert last.current_player() == TERMINAL
    assert shown is None
    assert decision is None
    assert tuple(last.returns()) == log.returns
    assert [decision for _, _, decision in events if decision is not None] == list(log.decisions)


# -------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_wrong_number_of_agents_is_refused(number):
    with pytest.raises(ValueError, match=f"othello needs 2 agents, not {number}"):
        play(games.load("othello"), [QUICK] * number)


def test_what_is_no_game_and_what_is_no_list_of_agents_is_refused_in_a_sentence():
    with pytest.raises(
        TypeError, match=r"play needs a Game, such as games.load\('othello'\), not 'othello'"
    ):
        play("othello", [QUICK] * 2)
    with pytest.raises(TypeError, match="play needs a list of agents, one for each seat, not "):
        play(games.load("othello"), QUICK)


def test_a_class_in_place_of_an_agent_and_a_number_in_place_of_a_watcher_are_refused():
    kuhn, agent = games.load("kuhn-poker"), Agent(BASELINE, iterations=5)
    made_first = r"an agent must be .*, or a policy: <class .*> is a class, .* must be made first"
    with pytest.raises(TypeError, match=made_first):
        play(kuhn, [Agent, Agent])
    with pytest.raises(TypeError, match="watch is 3; it must be a function of"):
        play(kuhn, [agent, agent], watch=3)


def test_a_seated_player_has_one_seat_and_one_game():
    agent = Agent(BASELINE, iterations=5, move_decay=1)
    whist = games.load("knockout-whist(players=2)")
    player = agent.seated(whist)
    with pytest.raises(ValueError, match="is one player, seated twice, with one memory"):
        play(whist, [player, player])
    with pytest.raises(
        ValueError, match=r"seated at knockout-whist\(players=2\) has no records of othello"
    ):
        play(games.load("othello"), [player, agent])
    with pytest.raises(TypeError, match="play needs a Game"):
        agent.seated("othello")


@pytest.mark.parametrize(
    "text",
    [
        "Agent(RAVE >> MAST, iterations=5)",
        "Agent(BASELINE, seconds=0.5, cutoff=3)",
        "Agent(BASELINE, seconds=2)",
        "Agent(MAST, iterations=8, threads=2, recommendation=greatest_value)",
        "Agent(BASELINE, iterations=8, scheme=SO_ISMCTS, move_decay=0.5)",
    ],
)
def test_an_agent_is_shown_as_it_is_called(text):
    names = {
        "Agent": Agent,
        "BASELINE": BASELINE,
        "MAST": MAST,
        "RAVE": RAVE,
        "SO_ISMCTS": SO_ISMCTS,
    }
    assert repr(eval(text, names | {"greatest_value": greatest_value})) == text


def test_numbers_of_numpy_are_pythons_own_in_a_search():
    agent = Agent(BASELINE, iterations=np.int32(7), seconds=np.float32(0.5), threads=np.int8(1))
    assert repr(agent) == "Agent(BASELINE, iterations=7, seconds=0.5)"
    agent = Agent(BASELINE, seconds=1, cutoff=np.int64(4), move_decay=np.float64(0.5), game_decay=1)
    shown = "Agent(BASELINE, seconds=1, cutoff=4, move_decay=0.5, game_decay=1)"
    assert repr(agent) == shown


def test_a_cut_off_is_a_part_of_the_scheme_however_it_is_given():
    agent = Agent(BASELINE, iterations=5, cutoff=3)
    by_scheme = Agent(BASELINE, iterations=5, scheme=MO_ISMCTS.with_cutoff(3))
    assert agent == by_scheme == attrs.evolve(agent, cutoff=None)
    assert hash(agent) == hash(by_scheme)
    without = attrs.evolve(agent, cutoff=None, scheme=MO_ISMCTS)
    assert without == Agent(BASELINE, iterations=5) != agent


# -------------------- Levels of strength: as many as a game's measured agents allow, refused where they have not been measured.


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """A game whose levels are 1 to 8 iterations."""
    rows = [{"agent": {"strategy": "MAST", "iterations": level}} for level in range(1, 9)]
    path = tmp_path / "levels.json"
    path.write_text(json.dumps({"games": {"othello": rows}}))
    monkeypatch.setattr(levels, "DATA", path)


def test_a_level_is_an_agent_of_its_game(measured):
    assert str(Agent.at_level("othello", 3)) == "MAST (3 iterations)"
    assert Agent.at_level(games.load("othello"), 8).iterations == 8
    with pytest.raises(
        ValueError, match="a level of othello is 9; it must be an integer from 1 to 8"
    ):
        Agent.at_level("othello", 9)
    game = games.load("othello")
    once, again = (play(game, [Agent.at_level(game, 1)] * 2, seed=5).actions for _ in range(2))
    assert once == again


def test_a_game_without_measured_levels_is_refused(measured):
    with pytest.raises(
        ValueError,
        match="hearts has no measured levels; these games have: othello; icarus describe hearts --to DIR measures",
    ):
        Agent.at_level("hearts", 3)


def test_levels_of_a_file_and_its_mistakes(tmp_path):
    rows = [{"agent": {"strategy": "MAST", "iterations": level}} for level in range(1, 9)]
    (tmp_path / "levels.json").write_text(
        json.dumps({"games": {"knockout-whist(players=3)": rows}})
    )
    whist = games.load("knockout-whist(players=3)")
    assert Agent.at_level(whist, 5, levels=tmp_path) == Agent.at_level(
        whist, 5, levels=str(tmp_path / "levels.json")
    )
    with pytest.raises(
        ValueError,
        match=r"othello has no measured levels; .*levels.json has those of: knockout-whist\(players=3\)",
    ):
        Agent.at_level("othello", 1, levels=tmp_path / "levels.json")
    with pytest.raises(ValueError, match="nothing cannot be read: No such file or directory"):
        Agent.at_level(whist, 1, levels=tmp_path / "nothing")
    contents = ["[]", "{", '{"games": {}}', '{"games": 3}']
    strange = {"agent": {"strategy": "MAST", "iterations": 5, "foo": 1}}
    for wrong in ([], "abc", {"a": 1}, [{"x": 1}], [{"agent": {"iterations": 5}}], [strange]):
        contents.append(json.dumps({"games": {"othello": wrong}}))
    for content in contents:
        (tmp_path / "levels.json").write_text(content)
        with pytest.raises(
            ValueError,
            match="levels.json does not have the levels of a game, as icarus describe writes them",
        ):
            Agent.at_level("othello", 1, levels=tmp_path)


FAR = {"backgammon": [5, 7, 8], "checkers": [3, 10, 11], "hearts": [3]}


def test_shipped_levels_are_the_stronger_the_more_they_search_and_evenly_far_apart():
    """Each 75 to 125 Elo above the one below, as measured, the first above random play; of those of FAR, intervals reach it."""
    measured = json.loads(levels.DATA.read_text())["games"]
    names = "othello 9, dou-di-zhu 7, knockout-whist 3, lotr-confrontation 8, backgammon 9, checkers 13, hearts 3"
    assert ", ".join(f"{game} {len(rows)}" for game, rows in measured.items()) == names
    for game, shipped in measured.items():
        assert levels.levels_of(game) == shipped
        budgets = [Agent.at_level(game, level).iterations for level in range(1, len(shipped) + 1)]
        assert budgets == sorted(budgets)
        far = [row["level"] for row in shipped if not 75 <= row["step"]["elo"] <= 125]
        assert far == FAR.get(game, []), game
        assert all(row["step"]["high"] >= 75 for row in shipped), game
        assert all(row["step"]["low"] <= 125 for row in shipped), game
        rungs = {rung.name: rung.rating for rung in read_ladder(game).rungs}
        # each level is an opponent of the ladder, with the same rating
        for level, row in enumerate(shipped, 1):
            rating = rungs[str(Agent.at_level(game, level))]
            assert [row[name] for name in ("elo", "low", "high", "games")] == list(
                attrs.astuple(rating)
            )


def test_a_game_with_other_parameters_has_levels_of_its_own_or_none():
    with pytest.raises(ValueError, match=r"knockout-whist\(players=2\) has no measured levels"):
        levels.levels_of(games.load("knockout-whist(players=2)"))
