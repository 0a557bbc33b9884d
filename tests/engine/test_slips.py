"""Slips inside slots, each made on purpose: a sentence before anything runs, not another result."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from scipy import stats

from icarus import AMAF, BASELINE, EPIC, MAST, NAST2, Enhancement, capture, games, initial, search
from icarus.compiler.messages import CompilationError
from icarus.compiler.rng import seeded
from icarus.engine.lowering import lowered
from icarus.engine.plain import PlainTable
from icarus.engine.plain_choice import Composed, Decision
from icarus.kernel import record, update
from icarus.specs import LGRF2
from icarus.testing import Decision as Made
from icarus.testing import Played
from tests import toy
from tests.test_toy import after


def state() -> Any:
    return games.load("othello").new_initial_state()


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        (
            lambda: attrs.evolve(MAST, initial=initial(visits=1.5)),
            "initial of MAST sets visits to 1.5; it must be an integer",
        ),
        (lambda: attrs.evolve(MAST, initial=initial(reward=float("nan"))), "sets reward to nan; it must be a number"),
        (lambda: given(MAST, (3,)), r"is given \(3,\), which is no record of A × "),
        (lambda: given(MAST, (3, 0, 1)), r"is given \(3, 0, 1\), which is no record of A × "),
        (lambda: given(MAST, (3, 0.5)), r"is given \(3, 0.5\), which is no record"),
        (lambda: given(MAST, 3), "is given 3, which is no record"),
        (lambda: given(AMAF, (0, 4)), r"is given \(0, 4\), which is no record of M\*"),
        (lambda: given(EPIC, (0, (4, 5))), "which is no record of E × M"),
        (lambda: given(NAST2, (4, 0)), "which is no record of M.2 × "),
        (lambda: attrs.evolve(LGRF2, initial=initial(given={(1, 2, 3, 4): {"reply": 3}})), "which is no record of M.2"),
    ],
)
def test_initial_information_that_makes_no_sense_is_refused_when_it_is_declared(slip: Callable, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        slip()


def given(enhancement: Enhancement, parts: Any) -> Enhancement:
    return attrs.evolve(enhancement, initial=initial(given={parts: {"visits": 1}}))


def test_initial_information_that_makes_sense_is_taken() -> None:
    for enhancement, parts in [
        (MAST, (3, 0)),
        (AMAF, ()),
        (AMAF, (0, (4, 5))),
        (EPIC, (0, 1, (4,))),
        (NAST2, (4, 5, 1)),
    ]:
        assert given(enhancement, parts).initial.given[0][0] == parts


@capture
def capture_by_place(history: Any, updates: Any) -> None:
    """⟨(the last move, 0)⟩, read by its place"""
    moves = history[1]
    update(updates, record(moves[-1, 0], 0), 0)


@capture
def capture_unpacked(history: Any, updates: Any) -> None:
    """⟨(the last move, 0)⟩, read by its place"""
    _, moves, *_ = history
    update(updates, record(moves[-1, 0], 0), 0)


@capture
def capture_a_real(history: Any, updates: Any) -> None:
    """A real context, which compiled code would cut down to 0."""
    update(updates, record(history.steps[0].action, 0), 0.5)


@pytest.mark.parametrize("engine", ["compiled", "python"])
@pytest.mark.parametrize("slot", [capture_by_place, capture_unpacked])
def test_a_part_of_a_history_taken_by_its_place_is_refused(slot: Any, engine: str) -> None:
    strategy = attrs.evolve(MAST, name="BY_PLACE", capture=slot)
    told = f"{slot.name} takes a part of the history by its place, as in history.1.; take it by its name, history.moves"
    with pytest.raises(ValueError, match=told):
        search(state(), BASELINE >> strategy, iterations=10, engine=engine)


def test_a_real_context_is_refused_by_the_compiler_too() -> None:
    strategy = attrs.evolve(MAST, name="REAL_CONTEXT", capture=capture_a_real)
    with pytest.raises(CompilationError, match="capture_a_real cannot be compiled: .*takes integers, not float64"):
        search(state(), BASELINE >> strategy, iterations=10)


def test_what_is_known_to_begin_with_is_read_in_simulation_too() -> None:
    prior = attrs.evolve(AMAF, name="PRIOR", initial=initial(visits=1, reward=0.5))
    strategy = BASELINE >> (0.5 * prior ^ 0.5 * NAST2)
    one, other = (search(state(), strategy, iterations=60, seed=2, engine=engine) for engine in ("compiled", "python"))
    assert one.visits.tolist() == other.visits.tolist()
    program = lowered(games.load("othello"), strategy)
    assert not program.leaf["unread"][-2:].any()
    assert lowered(games.load("othello"), BASELINE >> (0.5 * AMAF ^ 0.5 * NAST2)).leaf["unread"][-2]


def test_gibbs_weighs_means_above_1_that_were_given() -> None:
    generous = attrs.evolve(MAST, name="GENEROUS", initial=initial(given={(4, 0): {"reward": 3.0, "visits": 1}}))
    made = Played([Made(0, (4, 5))])
    game = games.load("othello")
    rng = seeded(1)
    composed = Composed(generous, False, game, PlainTable, rng)
    drawn = [composed.decided(0, Decision(made.history, np.array([4, 5]), 0)) for _ in range(3000)]
    weight = np.exp([3.0, 1.0])
    expected = 3000 * weight / weight.sum()
    assert stats.chisquare(np.bincount(drawn, minlength=2), expected).pvalue > 0.001
    compiled, plain = (
        search(after(toy.BRANCHES), generous, iterations=40, seed=3, engine=e) for e in ("compiled", "python")
    )
    assert compiled.visits.tolist() == plain.visits.tolist()
