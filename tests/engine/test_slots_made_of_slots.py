"""Slots that call the slots of other enhancements: compiled and in plain Python the same, and a sentence where it cannot be."""

from typing import Any

import attrs
import pytest

from icarus import (
    BASELINE,
    LGRF,
    MAST,
    NAST2,
    RAVE,
    Enhancement,
    argmax,
    backpropagation,
    capture,
    games,
    gibbs,
    search,
    values,
)
from icarus.compiler.digest import attributes_read, digest
from icarus.compiler.functions import CompilationError
from icarus.engine.lowering import lower
from icarus.kernel import SELECTION, SIMULATION
from icarus.testing import Decision, HistoryExample
from tests import toy
from tests.test_documented_examples import example
from tests.test_toy import after

BIASED = example("biased").BIASED
capture_mast = MAST.capture


@capture
def capture_again(history: Any, updates: Any) -> None:
    """ξ_MAST(h)"""
    MAST.capture(history, updates)


@capture
def capture_by_slot(history: Any, updates: Any) -> None:
    """ξ_MAST(h)"""
    capture_mast(history, updates)


@backpropagation(averages=True)
def add_again(stats: Any, context: int, rewards: Any) -> None:
    """as MAST's"""
    MAST.backpropagation(stats, context, rewards)


@values
def means_again(history: Any, theta: Any, legal: Any, out: Any) -> None:
    """v_MAST"""
    MAST.values(history, theta, legal, out)


AGAIN = attrs.evolve(
    MAST, name="AGAIN", capture=capture_again, backpropagation=add_again, policy=gibbs(1.0).over(means_again)
)
PLAIN_GIBBS = attrs.evolve(MAST, name="AGAIN", policy=gibbs(1.0).over(means_again))


def result_of(strategy: Enhancement, engine: str | None = None, iterations: int = 40) -> Any:
    return search(after(toy.THICKETS[0]), BASELINE >> strategy, iterations=iterations, seed=2, engine=engine)


def test_an_enhancement_made_of_the_slots_of_another_is_the_other() -> None:
    result, expected = result_of(AGAIN), result_of(PLAIN_GIBBS)
    assert (result.visits == expected.visits).all()
    assert (result.records["AGAIN"].rows == expected.records["AGAIN"].rows).all()
    by_slot = result_of(attrs.evolve(AGAIN, capture=capture_by_slot))
    assert (result.records["AGAIN"].rows == by_slot.records["AGAIN"].rows).all()
    assert len(result.records["AGAIN"]) > 3


def test_both_engines_call_the_slots_of_others() -> None:
    state = games.load("othello").new_initial_state()
    for strategy in (BASELINE >> AGAIN, BIASED >> AGAIN):
        fast, slow = (
            search(state, strategy, iterations=25, seed=1, engine=engine) for engine in ("compiled", "python")
        )
        assert (fast.visits == slow.visits).all()
        for name, records in fast.records.items():
            assert (records.rows == slow.records[name].rows).all()


def test_the_values_of_another_are_his_ucb1_over_the_records_of_whoever_asks() -> None:
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
    # MAST's capture told to stop before the simulation is TO-MAST's.
    from icarus import specs

    bound = specs.TO_MAST.capture

    @capture
    def through(history: Any, updates: Any) -> None:
        """ξ_TO_MAST(h)"""
        bound(history, updates)

    example = HistoryExample(
        [Decision(0, (4, 5), 4, phase=SELECTION), Decision(1, (5, 6), 5, phase=SIMULATION)], players=2
    )
    assert example.capture(attrs.evolve(MAST, name="THROUGH", capture=through)) == example.capture(specs.TO_MAST)
    assert len(example.capture(specs.TO_MAST)) == 1


def test_what_a_called_slot_reads_is_read_by_the_one_that_calls() -> None:
    assert {"steps", "player"} <= attributes_read(capture_again.function)
    assert "keys" in attributes_read(BIASED.policy.source.function)
    program = lower(games.load("othello"), BASELINE >> attrs.evolve(NAST2, capture=capture_grams))
    assert program.moves_in_simulation


@capture
def capture_grams(history: Any, updates: Any) -> None:
    """ξ_NAST2(h)"""
    NAST2.capture(history, updates)


def test_machine_code_is_named_by_the_slots_that_it_calls() -> None:
    def digest_of(source: Enhancement) -> str:
        @capture
        def calling(history: Any, updates: Any) -> None:
            """another's ξ"""
            source.capture(history, updates)

        return digest(calling.function)

    assert digest_of(MAST) == digest_of(MAST) != digest_of(NAST2)


@capture
def capture_composition(history: Any, updates: Any) -> None:
    """none"""
    RAVE.capture(history, updates)


@capture
def capture_policy(history: Any, updates: Any) -> None:
    """none"""
    MAST.policy(history, updates)


@values
def ask_candidates(history: Any, theta: Any, legal: Any, out: Any) -> None:
    """none"""
    LGRF.candidates(history, legal, out)


@values
def ask_ucb1(history: Any, theta: Any, legal: Any, out: Any) -> None:
    """UCB1, of which MAST's records know too little"""
    BASELINE.values(history, theta, legal, out)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"capture": capture_composition},
            "RAVE is a composition, whose components have slots of their own: call AMAF.capture",
        ),
        (
            {"capture": capture_policy},
            "MAST.policy cannot be called in a slot; capture, backpropagation, candidates, values can",
        ),
        ({"policy": argmax().over(ask_candidates)}, "the policy of LGRF names no candidates; call LGRF.values"),
        ({"policy": argmax().over(ask_ucb1)}, "availability"),
    ],
)
def test_what_cannot_be_called_is_told_in_a_sentence(changed: dict[str, Any], message: str) -> None:
    for engine in (None, "python")[: 1 + (message != "availability")]:  # Python would first have to meet a record of θ
        with pytest.raises((CompilationError, AttributeError)) as refused:
            result_of(attrs.evolve(MAST, name="WRONG", **changed), engine)
        assert message in str(refused.value) and "\n" not in str(refused.value)


def test_slots_are_called_in_python_too() -> None:
    example = HistoryExample([Decision(0, (4, 5), 4)], players=2)
    BASELINE.candidates(example.history, [4, 5], records := [0, 0])
    assert records[0] != records[1] != 0
    with pytest.raises(AttributeError, match="RAVE is a composition"):
        _ = RAVE.values
