"""θ_initial told by a function of the state in which a policy first asks about a record: engine, plain engine and naive twin."""

from typing import Any

import attrs
import numpy as np
import pytest

from icarus import BASELINE, MAST, Enhancement, argmax, games, gibbs, initial, initial_information, search, ucb1, values
from icarus.compiler.functions import CompilationError
from icarus.engine.compiled_search import CompiledSearch
from icarus.kernel import lookahead_at
from icarus.specs.baseline import children
from icarus.testing import Decision, HistoryExample
from tests import naive, toy
from tests.conftest import Toys
from tests.engine.test_twin import agree, starts
from tests.naive_catalogue import Twin

WORTH = 4  # visits that the heuristic is worth


@initial_information
def nudge(history: Any, i: int, stats: Any, visits: int = WORTH) -> None:
    """(n lookahead of a, n, n) for [h # a]~"""
    lookahead = lookahead_at(history, len(history.steps) - 1)
    for player in range(len(stats.reward)):
        stats.reward[player] = visits * lookahead[i, player]
    stats.visits = visits
    stats.availability = visits


NUDGED = attrs.evolve(BASELINE, name="NUDGED", initial=initial(nudge), policy=ucb1(0.5).over(children))

SOFT = attrs.evolve(NUDGED, name="SOFT", policy=gibbs().over(children))


class Nudged(Twin):
    """The naive twin: a record holds its lookahead as soon as a policy asks about it."""

    def values(self, leaf, theta, h):
        i, player, v = h.t, h.players[h.t], []
        for a in h.legals[i]:
            record = h.extended(i, a)
            if record not in theta:
                theta[record] = tuple(WORTH * prospect for prospect in h.lookahead(i, a)), WORTH, WORTH
        for a in h.legals[i]:
            q, n, m = theta[h.extended(i, a)]
            v.append(naive.upper_confidence(q[player], n, m, leaf.rule.parameter))
        return v


naive.CATALOGUE["nudged"] = Nudged()
TWIN = naive.Leaf("nudged", naive.ucb1(0.5))


@pytest.mark.parametrize("alone", [True, False])
def test_engine_and_twin_agree_where_records_begin_with_the_lookahead(alone: bool, toys: Toys) -> None:
    strategy = NUDGED if alone else NUDGED >> MAST
    twin = TWIN if alone else naive.Sequential(TWIN, naive.mast())
    for number, game in toys:
        agree(starts(game, number), strategy, twin, 40, seed=number)


def test_initial_information_by_hand() -> None:
    lookahead = {4: (0.25, 0.75), 5: (1.0, 0.0)}
    example = HistoryExample([Decision(0, (4, 5), lookahead=lookahead)], players=2)
    assert example.priors(NUDGED) == [
        {"reward": [1.0, 3.0], "visits": 4, "availability": 4},
        {"reward": [4.0, 0.0], "visits": 4, "availability": 4},
    ]
    assert example.priors(BASELINE)[0] == {"reward": [0.0, 0.0], "visits": 0, "availability": 0}


@pytest.mark.parametrize("strategy", [NUDGED, BASELINE >> (SOFT + NUDGED) / 2], ids=str)
def test_a_playout_that_finds_no_room_leaves_no_record_that_it_would_not_have_asked_about(
    strategy: Enhancement,
) -> None:
    small, large = (CompiledSearch(games.load("othello").new_initial_state(), strategy, 7) for _ in range(2))
    for table in large.tables:
        table.grow(20_000)
    for running in (small, large):
        running.run(20)
    for name, records in small.records().items():
        assert np.array_equal(records.rows, large.records()[name].rows)


@values
def flat(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
    """all 0"""
    out[:] = 0.0


def test_a_policy_over_values_or_single_actions_is_refused() -> None:
    with pytest.raises(
        ValueError, match="the initial information of X is given by nudge.*must use a @candidates function"
    ):
        attrs.evolve(BASELINE, name="X", initial=initial(nudge), policy=argmax().over(flat))
    with pytest.raises(ValueError, match="asked about all legal actions at once"):
        attrs.evolve(MAST, name="X", initial=initial(nudge))


def test_a_game_without_a_heuristic_is_refused() -> None:
    with pytest.raises(ValueError, match="nudge of NUDGED reads history.lookahead, but .* has no heuristic"):
        search(attrs.evolve(toy.BRANCHES, heuristic=None).new_initial_state(), NUDGED, iterations=10)


@initial_information
def cutting(history: Any, i: int, stats: Any) -> None:
    """half a visit"""
    stats.visits = 0.5


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_real_for_a_count_is_refused(engine: str) -> None:
    strategy = attrs.evolve(BASELINE, name="CUT", initial=initial(cutting))
    with pytest.raises((CompilationError, TypeError), match="a float|the float 0.5"):
        search(toy.BRANCHES.new_initial_state(), strategy, iterations=10, engine=engine)
