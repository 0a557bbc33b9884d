"""Slots that call other slots by their names: compiled and in plain Python the same, and a sentence where it cannot be."""

from typing import Any

import attrs
import pytest

from icarus import BASELINE, MAST, NAST2, TO_MAST, Enhancement, backpropagation, capture, games, search
from icarus.compiler.digest import attributes_read, digest
from icarus.compiler.functions import CompilationError
from icarus.engine.lowering import lower
from icarus.kernel import SELECTION, SIMULATION
from icarus.testing import Decision, HistoryExample
from tests import toy
from tests.test_documented_examples import example
from tests.test_toy import after

BIASED = example("biased").BIASED
capture_mast, add_mast, capture_nast2 = MAST.capture, MAST.backpropagation, NAST2.capture


@capture
def capture_again(history: Any, updates: Any) -> None:
    """ξ_MAST(h)"""
    capture_mast(history, updates)


@capture
def capture_to_mast(history: Any, updates: Any) -> None:
    """ξ_TO_MAST(h): the parameters that are bound are those of the slot."""
    of_tree(history, updates)


of_tree = TO_MAST.capture


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


def test_both_engines_call_the_slots_of_others() -> None:
    state = games.load("othello").new_initial_state()
    fast, slow = (
        search(state, BIASED >> AGAIN, iterations=25, seed=1, engine=engine) for engine in ("compiled", "python")
    )
    assert (fast.visits == slow.visits).all()
    for name, records in fast.records.items():
        assert (records.rows == slow.records[name].rows).all()


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


def test_a_slot_is_called_with_the_parameters_that_are_bound() -> None:
    example = HistoryExample(
        [Decision(0, (4, 5), 4, phase=SELECTION), Decision(1, (5, 6), 5, phase=SIMULATION)], players=2
    )
    assert example.capture(attrs.evolve(MAST, capture=capture_to_mast)) == example.capture(TO_MAST)
    assert len(example.capture(TO_MAST)) == 1


@capture
def capture_grams(history: Any, updates: Any) -> None:
    """ξ_NAST2(h)"""
    capture_nast2(history, updates)


def test_what_a_called_slot_reads_is_read_by_the_one_that_calls() -> None:
    assert {"steps", "player"} <= attributes_read(capture_again.function)
    assert "keys" in attributes_read(BIASED.policy.source.function)
    program = lower(games.load("othello"), BASELINE >> attrs.evolve(NAST2, capture=capture_grams))
    assert program.reads["moves_in_simulation"]


def test_machine_code_is_named_by_the_slots_that_it_calls() -> None:
    def digest_of(source: Enhancement) -> str:
        called = source.capture

        @capture
        def calling(history: Any, updates: Any) -> None:
            """another's ξ"""
            called(history, updates)

        return digest(calling.function)

    assert digest_of(MAST) == digest_of(MAST) != digest_of(NAST2)


@capture
def capture_by_enhancement(history: Any, updates: Any) -> None:
    """none"""
    MAST.capture(history, updates)


def test_a_slot_is_not_called_as_a_part_of_its_enhancement() -> None:
    with pytest.raises(CompilationError) as refused:
        result_of(attrs.evolve(MAST, name="WRONG", capture=capture_by_enhancement))
    message = "a slot calls others by their names, such as capture_mast = MAST.capture, not MAST.capture"
    assert message in str(refused.value) and "\n" not in str(refused.value)
